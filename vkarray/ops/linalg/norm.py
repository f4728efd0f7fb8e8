"""Norms of vectors and matrices."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, array_in, empty, floating, is_supported
from ...core.dtypes import REAL_OF, DType
from ...kernels import launch
from ...kernels.conversion import cast
from ...kernels.planned import planned
from ...kernels.reductions import Reduction, checked, with_kept_axes
from ...kernels.rows import check_array
from ...shaders.source import Shader
from .. import elementwise, searching, statistical
from ..manipulation import moveaxis
from .svd import singular_values

if TYPE_CHECKING:
    from ...kernels.launch import Device

# The largest magnitude, and the root of the sum of squares of elements that are multiplied by `center` first.
_LARGEST = Reduction("norm", "real floating", "vx_maximum(a, b)", map="abs(a)", empty=0, library="arithmetic")
_ROOT = Reduction("norm", "real floating", "a + b", map="(a * center) * (a * center)", finish="vx_sqrt(a)", empty=0,
                  centered=True, library="power")  # fmt: skip
_REALS = (dtypes.float32, dtypes.float64)


@functools.cache
def _scale(dtype: DType) -> launch.Operation:
    return launch.Operation(f"norm scale {dtype}", "vx_inverse_scale(a)", (dtype,), dtype, dtype, "/norm")


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of all types that the device supports."""
    for dtype in _REALS:
        if is_supported(dtype, device):
            yield from _scale(dtype).variants(device)
            for made in (_LARGEST, _ROOT):
                yield from made.variants_of(device, (dtype, dtype, dtype))


def _floating(name: str, x: Any) -> tuple[VkArray, DType]:
    """x in the type to compute in (float32 for 16-bit types, float64 for integers), and the real type of the norm."""
    check_array(name, x)
    dtype = floating(x)
    return cast(x, dtypes.float32 if dtype.bits == 16 else dtype), REAL_OF.get(dtype, dtype)


def _plain(ord: Any) -> Any:
    """An order as a number of Python's, also where it is an array of 0 dimensions."""
    return ord.item() if type(ord) is VkArray and not ord._shape else ord


@planned
def vector_norm(
    x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: float | None = 2
) -> VkArray:
    """The norm of vectors: (sum of abs(x) ** ord) ** (1 / ord).

    Parameters: x (numeric); axis (None for all, an integer or a tuple: their elements are one vector); keepdims (keep the
    axes, with length 1); ord (a real number; infinity for the largest magnitude, -infinity for the smallest, 0 for the
    number of elements that are not 0; None is 2, as for `norm`).
    Returns an array of the real type of x; float64 for integers.
    Raises TypeError for other types, ValueError for an order that is no real number and for orders below 0 of no elements,
    IndexError for an axis out of range.
    Method: elements are scaled by a power of 2 first, so that powers do not overflow or vanish; sums as in `sum`.
    Standard: linear algebra functions, `vector_norm`.
    """
    x, result = _floating("vector_norm", x)
    axes = checked("vector_norm", x, axis)
    ord = 2 if ord is None else _plain(ord)
    if isinstance(ord, bool) or not isinstance(ord, (int, float)) or math.isnan(ord):
        raise ValueError(f"vector_norm: expected a real number or infinity as ord, got {ord!r}.")
    return cast(with_kept_axes(_norm(x, axes, float(ord)), x, axes, keepdims), result)


def _norm(x: VkArray, axes: tuple[int, ...], order: float) -> VkArray:
    if order == 0:
        return cast(searching.count_nonzero(x, axis=axes), REAL_OF.get(x._dtype, x._dtype))
    if order == 2:
        return _euclidean(x, axes)
    magnitudes = elementwise.abs(x)
    if order == 1:
        return statistical.sum(magnitudes, axis=axes)
    if order == math.inf:
        return _LARGEST.run(magnitudes, axes)
    extreme = _LARGEST.run(magnitudes, axes) if order > 0 else statistical.min(magnitudes, axis=axes)
    if order == -math.inf:
        return extreme
    scale = _apply(_scale(extreme._dtype), extreme)
    powers = (magnitudes * with_kept_axes(scale, x, axes, True)) ** order
    return statistical.sum(powers, axis=axes) ** (1 / order) / scale


def _euclidean(x: VkArray, axes: tuple[int, ...]) -> VkArray:
    if x._dtype.category == "complex floating":  # real and imaginary parts as a further dimension
        strides = (*(2 * stride for stride in x._strides), 1)
        axes = (*axes, x.ndim)
        x = array_in(x._buffer, 2 * x._offset, (*x._shape, 2), strides, REAL_OF[x._dtype], x._device)
    scale = _apply(_scale(x._dtype), _LARGEST.run(x, axes))
    return _ROOT.run(x, axes, center=scale) / scale


def _apply(operation: launch.Operation, x: VkArray) -> VkArray:
    return launch.elementwise(operation, (x,), empty(x._shape, operation.result, x._device))


def _singular(x: VkArray) -> VkArray:
    return singular_values("matrix_norm", x)


def _sums(x: VkArray, axis: int) -> VkArray:
    return statistical.sum(elementwise.abs(x), axis=axis)


def _largest(x: VkArray) -> VkArray:
    return _LARGEST.run(x, (x.ndim - 1,))


def _smallest(x: VkArray) -> VkArray:
    return statistical.min(x, axis=-1)


# The norm of each matrix of a stack, by order.
_MATRIX_NORMS: dict[Any, Callable[[VkArray], VkArray]] = {
    "fro": lambda x: _norm(x, (x.ndim - 2, x.ndim - 1), 2),
    "nuc": lambda x: statistical.sum(_singular(x), axis=-1),
    1: lambda x: _largest(_sums(x, -2)),
    -1: lambda x: _smallest(_sums(x, -2)),
    2: lambda x: _largest(_singular(x)),
    -2: lambda x: _smallest(_singular(x)),
    math.inf: lambda x: _largest(_sums(x, -1)),
    -math.inf: lambda x: _smallest(_sums(x, -1)),
}  # fmt: skip


@planned
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> VkArray:
    """The norm of each matrix.

    Parameters: x (numeric) of shape (..., M, N); keepdims (keep the last two dimensions, with length 1); ord: "fro" (or
    None) for the root of the sum of squares, "nuc" for the sum of the singular values, 1 and -1 for the largest and the
    smallest sum of magnitudes of a column, infinity and -infinity of a row, 2 and -2 for the largest and the smallest
    singular value.
    Returns an array of the real type of x; float64 for integers.
    Raises ValueError for fewer than 2 dimensions, another order, and orders below 0 of no elements, TypeError for other
    types. Standard: linear algebra functions, `matrix_norm`.
    """
    x, result = _floating("matrix_norm", x)
    if x.ndim < 2:
        raise ValueError(
            f"matrix_norm: expected a matrix or a stack of matrices, shape (..., M, N); got shape {x.shape}."
        )
    ord = _plain(ord)
    function = (
        _MATRIX_NORMS.get("fro" if ord is None else ord) if isinstance(ord, (int, float, str, type(None))) else None
    )
    if function is None:
        raise ValueError(f"matrix_norm: expected ord of {', '.join(map(repr, _MATRIX_NORMS))}, got {ord!r}.")
    axes: Sequence[int] = (x.ndim - 2, x.ndim - 1)
    return cast(with_kept_axes(function(x), x, axes, keepdims), result)


@planned
def norm(
    x: ArrayLike, ord: float | str | None = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> VkArray:  # fmt: skip
    """The norm of vectors or of matrices, as NumPy has it.

    Parameters: x (numeric); ord (of `vector_norm`, or of `matrix_norm` where two axes are meant; None for the root of the sum of
    squares); axis (an integer for vectors, a pair for matrices, None for all elements: without ord these are one vector, with it x
    has 1 or 2 dimensions); keepdims (keep the axes, with length 1).
    Returns an array of the real type of x; float64 for integers.
    Raises ValueError for another order or number of axes, IndexError for an axis out of range, TypeError for other types.
    """
    check_array("norm", x)
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    axes = layout.normalize_axes(axis, x.ndim, "norm")
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"norm: expected a number as ord of vectors, got {ord!r}.")
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(f"norm: expected 1 axis or 2, got {len(axes)} (shape {x._shape}). Name them with axis.")
    result = matrix_norm(moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    return with_kept_axes(result, x, axes, keepdims)
