"""The methods that NumPy's arrays have beside the standard's: NumPy's names, defaults and order of arguments.

No mathematics: each calls `operations`, the table that `vkarray.ops` fills by name. Where a function of the standard does
the same, its documentation holds; `axis` may be given by position, as in NumPy. `numpy.sum(x)` and other reductions of
NumPy's call these methods, with `out` and `dtype`: the result is an array of vkarray's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .array import VkArray
    from .dtypes import DType

    Axis = int | tuple[int, ...] | None

# Name of an operation -> its function; filled by `vkarray.ops`.
operations: dict[str, Callable[..., Any]] = {}


def _only_none(method: str, **given: Any) -> None:
    """Raise TypeError for an `out` or `dtype` that a method has only because `numpy.sum(x)` and the like pass it."""
    for name, value in given.items():
        if value is not None:
            remedy = "Write target[...] = result." if name == "out" else "Convert the array with astype."
            raise TypeError(f"{method}: expected {name}=None, got {value!r:.60}. {remedy}")


class Methods:
    """The methods of `VkArray` that carry names of NumPy's."""

    __slots__ = ()

    # -- shape --------------------------------------------------------------------------------------------------

    def reshape(self, *shape: Any, copy: bool | None = None) -> VkArray:
        """The elements with another shape, given as one tuple or as integers (see `vkarray.reshape`)."""
        return operations["reshape"](self, shape[0] if len(shape) == 1 else shape, copy=copy)

    def flatten(self) -> VkArray:
        """A copy of the elements in C order, in one dimension."""
        return operations["flatten"](self)

    def ravel(self) -> VkArray:
        """The elements in C order, in one dimension: a view where the strides allow it."""
        return operations["ravel"](self)

    def squeeze(self, axis: Axis = None) -> VkArray:
        """A view without dimensions of length 1, all of them by default (see `vkarray.squeeze`)."""
        return operations["squeeze"](self, axis)

    def transpose(self, *axes: Any) -> VkArray:
        """A view with the dimensions in another order, given as a tuple or as integers; reversed by default."""
        return operations["transpose"](self, *axes)

    def swapaxes(self, axis1: int, axis2: int) -> VkArray:
        """A view with two dimensions in each other's place. Raises IndexError for an axis out of range."""
        return operations["swapaxes"](self, axis1, axis2)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> VkArray:
        """A view of the diagonals of the matrices that two dimensions make, along a new last dimension.

        `offset` counts from the main diagonal, to the right. Raises ValueError for fewer than 2 dimensions and for one
        axis named twice, IndexError for an axis out of range.
        """
        return operations["diagonal"](self, offset, axis1, axis2)

    # -- reductions ---------------------------------------------------------------------------------------------

    def sum(
        self, axis: Axis = None, dtype: DType | None = None, out: None = None, *, keepdims: bool = False
    ) -> VkArray:
        """The sum of the elements over axes (see `vkarray.sum`)."""
        _only_none("sum", out=out)
        return operations["sum"](self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(
        self, axis: Axis = None, dtype: DType | None = None, out: None = None, *, keepdims: bool = False
    ) -> VkArray:
        """The product of the elements over axes (see `vkarray.prod`)."""
        _only_none("prod", out=out)
        return operations["prod"](self, axis=axis, dtype=dtype, keepdims=keepdims)

    def mean(self, axis: Axis = None, dtype: None = None, out: None = None, *, keepdims: bool = False) -> VkArray:
        """The arithmetic mean over axes (see `vkarray.mean`)."""
        _only_none("mean", dtype=dtype, out=out)
        return operations["mean"](self, axis=axis, keepdims=keepdims)

    def std(
        self, axis: Axis = None, dtype: None = None, out: None = None, *, ddof: float = 0, keepdims: bool = False
    ) -> VkArray:
        """The standard deviation over axes; `ddof` is the `correction` of `vkarray.std`."""
        _only_none("std", dtype=dtype, out=out)
        return operations["std"](self, axis=axis, correction=ddof, keepdims=keepdims)

    def var(
        self, axis: Axis = None, dtype: None = None, out: None = None, *, ddof: float = 0, keepdims: bool = False
    ) -> VkArray:
        """The variance over axes; `ddof` is the `correction` of `vkarray.var`."""
        _only_none("var", dtype=dtype, out=out)
        return operations["var"](self, axis=axis, correction=ddof, keepdims=keepdims)

    def min(self, axis: Axis = None, out: None = None, *, keepdims: bool = False) -> VkArray:
        """The smallest element over axes; NaN if there is one (see `vkarray.min`)."""
        _only_none("min", out=out)
        return operations["min"](self, axis=axis, keepdims=keepdims)

    def max(self, axis: Axis = None, out: None = None, *, keepdims: bool = False) -> VkArray:
        """The largest element over axes; NaN if there is one (see `vkarray.max`)."""
        _only_none("max", out=out)
        return operations["max"](self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, out: None = None, *, keepdims: bool = False) -> VkArray:
        """The place of the first smallest element, in the flattened array by default (see `vkarray.argmin`)."""
        _only_none("argmin", out=out)
        return operations["argmin"](self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, out: None = None, *, keepdims: bool = False) -> VkArray:
        """The place of the first largest element, in the flattened array by default (see `vkarray.argmax`)."""
        _only_none("argmax", out=out)
        return operations["argmax"](self, axis=axis, keepdims=keepdims)

    def any(self, axis: Axis = None, out: None = None, *, keepdims: bool = False) -> VkArray:
        """Whether any element over axes is true (see `vkarray.any`)."""
        _only_none("any", out=out)
        return operations["any"](self, axis=axis, keepdims=keepdims)

    def all(self, axis: Axis = None, out: None = None, *, keepdims: bool = False) -> VkArray:
        """Whether all elements over axes are true (see `vkarray.all`)."""
        _only_none("all", out=out)
        return operations["all"](self, axis=axis, keepdims=keepdims)

    def cumsum(self, axis: int | None = None, dtype: DType | None = None, out: None = None) -> VkArray:
        """The sums up to each element along an axis, of the flattened array by default (see `vkarray.cumulative_sum`)."""
        _only_none("cumsum", out=out)
        return operations["cumsum"](self, axis, dtype)

    def cumprod(self, axis: int | None = None, dtype: DType | None = None, out: None = None) -> VkArray:
        """The products up to each element along an axis, of the flattened array by default."""
        _only_none("cumprod", out=out)
        return operations["cumprod"](self, axis, dtype)

    # -- elements -----------------------------------------------------------------------------------------------

    @property
    def real(self) -> VkArray:
        """The real parts: a view, the array itself when it is not complex."""
        return operations["real_view"](self)

    @property
    def imag(self) -> VkArray:
        """The imaginary parts: a view; zeros for an array that is not complex."""
        return operations["imag_view"](self)

    def conj(self) -> VkArray:
        """The complex conjugate of each element (see `vkarray.conj`)."""
        return operations["conj"](self)

    conjugate = conj

    def round(self, decimals: int = 0, out: None = None) -> VkArray:
        """Each element rounded to `decimals` places after the point (before it when negative), halves to even.

        As NumPy's: x * 10**decimals rounded, divided by 10**decimals, each step rounded to the dtype.
        """
        _only_none("round", out=out)
        return operations["round_decimals"](self, decimals)

    def clip(self, min: Any = None, max: Any = None, out: None = None) -> VkArray:
        """Each element limited to [min, max] (see `vkarray.clip`)."""
        _only_none("clip", out=out)
        return operations["clip"](self, min, max)

    def astype(self, dtype: DType, copy: bool = True) -> VkArray:
        """The elements converted to `dtype` (see `vkarray.astype`)."""
        return operations["astype"](self, dtype, copy=copy)

    def copy(self) -> VkArray:
        """A contiguous copy."""
        return operations["copy"](self)

    def __copy__(self) -> VkArray:
        return operations["copy"](self)

    def __deepcopy__(self, memo: dict[int, Any]) -> VkArray:
        return operations["copy"](self)

    def take(self, indices: Any, axis: int | None = None) -> VkArray:
        """The elements at `indices` (an array, a list or an integer) along an axis, of the flattened array by default."""
        return operations["take"](self, indices, axis)

    def repeat(self, repeats: int | Sequence[int] | VkArray, axis: int | None = None) -> VkArray:
        """Each element repeated along an axis, of the flattened array by default (see `vkarray.repeat`)."""
        return operations["repeat"](self, repeats, axis)

    def nonzero(self) -> tuple[VkArray, ...]:
        """The indices of the elements that are not zero, one array per dimension (see `vkarray.nonzero`)."""
        return operations["nonzero"](self)

    def argsort(self, axis: int | None = -1) -> VkArray:
        """The places of the elements in sorted order along an axis, of the flattened array for None."""
        return operations["argsort"](
            operations["ravel"](self) if axis is None else self, axis=-1 if axis is None else axis
        )

    def searchsorted(self, v: Any, side: str = "left", sorter: VkArray | None = None) -> VkArray:
        """The places in this ascending array where the elements of v belong (see `vkarray.searchsorted`)."""
        return operations["searchsorted"](self, v, side=side, sorter=sorter)

    def dot(self, other: Any) -> VkArray:
        """The dot product (see `vkarray.dot`)."""
        return operations["dot"](self, other)

    # -- in place -----------------------------------------------------------------------------------------------

    def fill(self, value: Any) -> None:
        """Set every element to a Python scalar, or to an array that broadcasts. Raises as `x[...] = value` does."""
        operations["setitem"](self, ..., value)

    def sort(self, axis: int = -1) -> None:
        """Sort the elements along an axis in place (see `vkarray.sort`)."""
        operations["setitem"](self, ..., operations["sort"](self, axis=axis))

    # -- values on the host -------------------------------------------------------------------------------------

    def item(self, *indices: Any) -> Any:
        """One element as a Python scalar: the only one, the one with a number in C order, or the one at indices.

        Raises ValueError without indices for other than one element and for too few indices, IndexError for an index
        out of range and for too many.
        """
        return operations["item"](self, *indices)

    def tolist(self) -> Any:
        """The elements as nested lists of Python scalars."""
        return operations["tolist"](self)
