"""The methods that NumPy's arrays have beside the standard's: NumPy's names, defaults and order of arguments.

No mathematics: each calls `operations`, the table that `vkarray.ops` fills by name. Where a function of the standard does
the same, its documentation holds; `axis` may be given by position, as in NumPy. `numpy.sum(x)` and other reductions of
NumPy's call these methods, with `out` and `dtype`: the result is an array of vkarray's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import layout

if TYPE_CHECKING:
    from .array import VkArray

    Axis = int | tuple[int, ...] | None

# Name of an operation -> its function; filled by `vkarray.ops`.
operations: dict[str, Callable[..., Any]] = {}


class Methods:
    """The methods of `VkArray` that carry names of NumPy's."""

    __slots__ = ()

    # -- shape --------------------------------------------------------------------------------------------------

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> VkArray:
        """The elements with another shape, given as one tuple or as integers (see `vkarray.reshape`)."""
        return operations["reshape"](self, shape[0] if len(shape) == 1 else shape, order, copy=copy)

    def flatten(self, order: str = "C") -> VkArray:
        """A copy of the elements in one dimension (see `vkarray.ravel`)."""
        return operations["copy"](operations["ravel"](self, order))

    def ravel(self, order: str = "C") -> VkArray:
        """The elements in one dimension: a view where the strides allow it (see `vkarray.ravel`)."""
        return operations["ravel"](self, order)

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Give the array another shape in place: it takes new memory with its elements first and zeros after them."""
        operations["resize_in_place"](self, shape[0] if len(shape) == 1 else shape)

    def view(self, dtype: Any = None, type: Any = None) -> VkArray:
        """A view of the same memory, as elements of another type when `dtype` is given.

        Raises ValueError where the last dimension cannot be divided so, TypeError for a device that stores the types otherwise.
        """
        return operations["view"](self, dtype)

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
        self, axis: Axis = None, dtype: Any = None, out: VkArray | None = None, keepdims: bool = False, **options: Any
    ) -> VkArray:
        """The sum of the elements over axes (see `vkarray.sum`)."""
        return operations["sum"](self, axis, dtype, out, keepdims, **options)

    def prod(
        self, axis: Axis = None, dtype: Any = None, out: VkArray | None = None, keepdims: bool = False, **options: Any
    ) -> VkArray:
        """The product of the elements over axes (see `vkarray.prod`)."""
        return operations["prod"](self, axis, dtype, out, keepdims, **options)

    def mean(
        self, axis: Axis = None, dtype: Any = None, out: VkArray | None = None, keepdims: bool = False, **options: Any
    ) -> VkArray:
        """The arithmetic mean over axes (see `vkarray.mean`)."""
        return operations["mean"](self, axis, dtype, out, keepdims, **options)

    def std(
        self,
        axis: Axis = None,
        dtype: Any = None,
        out: VkArray | None = None,
        ddof: float = 0.0,
        keepdims: bool = False,
        **options: Any,
    ) -> VkArray:
        """The standard deviation over axes (see `vkarray.std`)."""
        return operations["std"](self, axis, dtype, out, ddof, keepdims, **options)

    def var(
        self,
        axis: Axis = None,
        dtype: Any = None,
        out: VkArray | None = None,
        ddof: float = 0.0,
        keepdims: bool = False,
        **options: Any,
    ) -> VkArray:
        """The variance over axes (see `vkarray.var`)."""
        return operations["var"](self, axis, dtype, out, ddof, keepdims, **options)

    def min(self, axis: Axis = None, out: VkArray | None = None, keepdims: bool = False, **options: Any) -> VkArray:
        """The smallest element over axes; NaN if there is one (see `vkarray.min`)."""
        return operations["min"](self, axis, out, keepdims, **options)

    def max(self, axis: Axis = None, out: VkArray | None = None, keepdims: bool = False, **options: Any) -> VkArray:
        """The largest element over axes; NaN if there is one (see `vkarray.max`)."""
        return operations["max"](self, axis, out, keepdims, **options)

    def any(self, axis: Axis = None, out: VkArray | None = None, keepdims: bool = False, **options: Any) -> VkArray:
        """Whether any element over axes is true (see `vkarray.any`)."""
        return operations["any"](self, axis, out, keepdims, **options)

    def all(self, axis: Axis = None, out: VkArray | None = None, keepdims: bool = False, **options: Any) -> VkArray:
        """Whether all elements over axes are true (see `vkarray.all`)."""
        return operations["all"](self, axis, out, keepdims, **options)

    def argmin(self, axis: int | None = None, out: VkArray | None = None, *, keepdims: bool = False) -> VkArray:
        """The place of the first smallest element, in the flattened array by default (see `vkarray.argmin`)."""
        return operations["argmin"](self, axis, out, keepdims=keepdims)

    def argmax(self, axis: int | None = None, out: VkArray | None = None, *, keepdims: bool = False) -> VkArray:
        """The place of the first largest element, in the flattened array by default (see `vkarray.argmax`)."""
        return operations["argmax"](self, axis, out, keepdims=keepdims)

    def cumsum(self, axis: int | None = None, dtype: Any = None, out: VkArray | None = None) -> VkArray:
        """The sums up to each element along an axis, of the flattened array by default."""
        return operations["cumsum"](self, axis, dtype, out)

    def cumprod(self, axis: int | None = None, dtype: Any = None, out: VkArray | None = None) -> VkArray:
        """The products up to each element along an axis, of the flattened array by default."""
        return operations["cumprod"](self, axis, dtype, out)

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: VkArray | None = None
    ) -> VkArray:
        """The sum along the diagonals (see `vkarray.trace`)."""
        return operations["trace"](self, offset, axis1, axis2, dtype, out)

    # -- elements -----------------------------------------------------------------------------------------------

    @property
    def real(self) -> VkArray:
        """The real parts: a view, the array itself when it is not complex. What is assigned goes there."""
        return operations["real_view"](self)

    @real.setter
    def real(self, value: Any) -> None:
        operations["setitem"](operations["real_view"](self), ..., value)

    @property
    def imag(self) -> VkArray:
        """The imaginary parts: a view; zeros for an array that is not complex. What is assigned goes there."""
        return operations["imag_view"](self)

    @imag.setter
    def imag(self, value: Any) -> None:
        dtype = self.dtype  # type: ignore[attr-defined]
        if dtype.kind != "c":
            raise TypeError(f"imag: an array of {dtype} has no imaginary parts. Convert it with astype.")
        operations["setitem"](operations["imag_view"](self), ..., value)

    def conj(self, out: VkArray | None = None) -> VkArray:
        """The complex conjugate of each element (see `vkarray.conj`); the array itself where it is not complex."""
        result: Any = operations["conj"](self) if self.dtype.kind == "c" else self  # type: ignore[attr-defined]
        return result if out is None else operations["write"]("conj", out, result)

    conjugate = conj

    def round(self, decimals: int = 0, out: VkArray | None = None) -> VkArray:
        """Each element rounded to `decimals` places after the point (before it when negative), halves to even.

        As NumPy's: x * 10**decimals rounded, divided by 10**decimals, each step rounded to the dtype.
        """
        return operations["round_decimals"](self, decimals, out)

    def clip(self, min: Any = None, max: Any = None, out: VkArray | None = None, **options: Any) -> VkArray:
        """Each element limited to [min, max] (see `vkarray.clip`)."""
        return operations["clip"](self, min, max, out, **options)

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> VkArray:  # fmt: skip
        """The elements converted to `dtype` (see `vkarray.astype`); order and subok change nothing.

        Raises TypeError where `casting` ("no", "equiv", "safe", "same_kind", "unsafe") does not allow it.
        """
        layout.as_order("astype", order)
        if casting != "unsafe":
            operations["check_casting"](self, dtype, casting)
        return operations["astype"](self, dtype, copy=copy)

    def copy(self, order: str = "C") -> VkArray:
        """A contiguous copy; the order of memory is always C's."""
        layout.as_order("copy", order)
        return operations["copy"](self)

    def byteswap(self, inplace: bool = False) -> VkArray:
        """The array with the bytes of each element in the other order: a new one, or with `inplace` the same.

        Raises TypeError for a device that has no elements of one byte.
        """
        return operations["byteswap"](self, inplace)

    def compress(self, condition: Any, axis: int | None = None, out: VkArray | None = None) -> VkArray:
        """The slices along an axis for which the condition is true (see `vkarray.compress`)."""
        return operations["compress"](condition, self, axis, out)

    def choose(self, *choices: Any, out: VkArray | None = None, mode: str = "raise") -> VkArray:
        """The elements of the arrays, or of one sequence of them, that this array's integers name (see `vkarray.choose`)."""
        return operations["choose"](self, choices[0] if len(choices) == 1 else choices, out, mode)

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Set the elements at places of the flattened array (see `vkarray.put`)."""
        operations["put"](self, indices, values, mode)

    def __copy__(self) -> VkArray:
        return operations["copy"](self)

    def __deepcopy__(self, memo: dict[int, Any]) -> VkArray:
        return operations["copy"](self)

    def take(
        self, indices: Any, axis: int | None = None, out: VkArray | None = None, mode: str = "raise"
    ) -> VkArray:  # fmt: skip
        """The elements at `indices` along an axis, of the flattened array by default (see `vkarray.take`)."""
        return operations["take"](self, indices, axis, out, mode)

    def repeat(self, repeats: int | Sequence[int] | VkArray, axis: int | None = None) -> VkArray:
        """Each element repeated along an axis, of the flattened array by default (see `vkarray.repeat`)."""
        return operations["repeat"](self, repeats, axis)

    def nonzero(self) -> tuple[VkArray, ...]:
        """The indices of the elements that are not zero, one array per dimension (see `vkarray.nonzero`)."""
        return operations["nonzero"](self)

    def argsort(
        self, axis: int | None = -1, kind: str | None = None, order: None = None, *, stable: bool = True
    ) -> VkArray:
        """The places of the elements in sorted order along an axis, of the flattened array for None (see `vkarray.argsort`)."""
        return operations["argsort"](self, axis, kind, order, stable=stable)

    def argpartition(self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None) -> VkArray:
        """The places of the elements such that the kth is where it would be sorted (see `vkarray.argpartition`)."""
        return operations["argpartition"](self, kth, axis)

    def searchsorted(self, v: Any, side: str = "left", sorter: VkArray | None = None) -> VkArray:
        """The places in this ascending array where the elements of v belong (see `vkarray.searchsorted`)."""
        return operations["searchsorted"](self, v, side=side, sorter=sorter)

    def dot(self, b: Any, out: VkArray | None = None) -> VkArray:
        """The dot product (see `vkarray.dot`)."""
        return operations["dot"](self, b, out)

    # -- in place -----------------------------------------------------------------------------------------------

    def fill(self, value: Any) -> None:
        """Set every element to a Python scalar, or to an array that broadcasts. Raises as `x[...] = value` does."""
        operations["setitem"](self, ..., value)

    def sort(self, axis: int = -1, kind: str | None = None, order: None = None, *, stable: bool = True) -> None:
        """Sort the elements along an axis in place (see `vkarray.sort`)."""
        operations["setitem"](self, ..., operations["sort"](self, axis=axis))

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: None = None) -> None:
        """Sort in place so far that the kth element is where it would be sorted: wholly (see `vkarray.partition`)."""
        operations["setitem"](self, ..., operations["partition"](self, kth, axis))

    def setflags(self, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None:
        """Raises ValueError for write=False: arrays of a device can always be written to."""
        if write is not None and not write:
            raise ValueError("setflags: arrays of a device can always be written to. Give away a copy instead.")

    # -- values on the host -------------------------------------------------------------------------------------

    def item(self, *indices: Any) -> Any:
        """One element as a Python scalar: the only one, the one with a number in C order, or the one at indices.

        Raises ValueError without indices for other than one element and for too few indices, IndexError for an index
        out of range and for too many.
        """
        return operations["item"](self, *indices)

    def is_integer(self) -> bool:
        """Whether the only element is an integer, as of Python's numbers. Raises ValueError for other than one element."""
        return float(self.item()).is_integer()

    def as_integer_ratio(self) -> tuple[int, int]:
        """The only element as a fraction, as of Python's numbers. Raises ValueError for other than one element."""
        return self.item().as_integer_ratio()

    def bit_count(self) -> int:
        """The bits set in the only element, as of Python's integers. Raises ValueError for other than one element."""
        return self.item().bit_count()

    def tolist(self) -> Any:
        """The elements as nested lists of Python scalars."""
        return operations["tolist"](self)

    def tobytes(self, order: str = "C") -> bytes:
        """The elements in C order as NumPy stores them; bfloat16 as float32."""
        return operations["to_numpy"](self).tobytes(order)

    def __bytes__(self) -> bytes:
        """The same as `tobytes()`."""
        return self.tobytes()

    def tofile(self, file: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file (see `numpy.ndarray.tofile`)."""
        operations["to_numpy"](self).tofile(file, sep, format)

    def dump(self, file: Any) -> None:
        """Pickle the array to a file."""
        operations["to_numpy"](self).dump(file)

    def dumps(self) -> bytes:
        """The array pickled as a NumPy array."""
        return operations["to_numpy"](self).dumps()

    @property
    def flat(self) -> Any:
        """The elements in C order: an object to iterate over, to index and to assign to."""
        return operations["flat"](self)

    @flat.setter
    def flat(self, values: Any) -> None:
        operations["flat"](self)[:] = values

    @property
    def flags(self) -> Any:
        """What is known of the memory: `c_contiguous`, `f_contiguous`, `writeable` and so on, by name or as keys."""
        return operations["flags"](self)


for _name, _method in vars(Methods).items():
    if callable(_method):
        _method.__qualname__ = f"VkArray.{_name}"  # errors of Python's own name what the user called
