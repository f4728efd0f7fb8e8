"""Diagonals, triangles and Vandermonde's matrix, with NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, available, default_dtype, operations
from ...core.dtypes import DType, as_dtype
from ...kernels import faults, launch
from ...kernels.compact import coordinates
from ...kernels.conversion import cast
from ...kernels.launch import as_device
from ...kernels.planned import planned, recordable, tracer, unwatched
from ...kernels.rows import check_array
from .. import creation
from ..elementwise import greater_equal
from ..manipulation import broadcast_to, flip, reshape
from .placing import put


@planned
def diag(v: ArrayLike, k: int = 0) -> VkArray:
    """A matrix with the elements of v on diagonal k, or, for a matrix v, a view of its diagonal k.

    Raises ValueError unless v has 1 or 2 dimensions.
    """
    if v.ndim not in (1, 2):
        raise ValueError(f"diag: expected 1 or 2 dimensions, got shape {v._shape}.")
    k = layout.as_integer(k, "diag", "k")
    if v.ndim == 2:
        return operations["diagonal"](v, k, 0, 1)
    length = v.size + abs(k)
    result = creation.zeros((length, length), dtype=v._dtype, device=v._device)
    if v.size:
        place = result._view(v._shape, (length + 1,), max(k, 0) + max(-k, 0) * length)
        launch.elementwise(launch.copy_operation(v._dtype), (v,), place)
    return result


@planned
def diagflat(v: ArrayLike, k: int = 0) -> VkArray:
    """A matrix with the elements of v, in C order, on diagonal k.

    Raises TypeError for a k that is no integer.
    """
    return diag(reshape(v, (-1,)), k)


@planned(creates=True)
def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DType | None = None, *, like: Any = None, device: Any = None
) -> VkArray:  # fmt: skip
    """A matrix with ones on diagonal k and below, and zeros above.

    Parameters: N, M (rows, and columns, as many by default); k; dtype (the default floating type by default). A negative
    number is 0. Raises TypeError for what is no integer.
    """
    rows = max(layout.as_integer(N, "tri", "N"), 0)
    columns = rows if M is None else max(layout.as_integer(M, "tri", "M"), 0)
    k = layout.as_integer(k, "tri", "k")
    target = as_device(device)
    wanted = default_dtype("float", target) if dtype is None else as_dtype(dtype, "tri")
    down = creation.arange(rows, dtype=dtypes.int32, device=target)
    across = creation.arange(-k, columns - k, dtype=dtypes.int32, device=target)
    return operations["astype"](greater_equal(reshape(down, (rows, 1)), across), wanted)


@planned
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> VkArray:
    """Vandermonde's matrix: the powers of the elements of x as columns, the highest first unless `increasing`.

    Parameters: x (numeric or bool, 1 dimension); N (the number of columns, that of the elements by default). Returns an
    array of the type of x, for short integers and bool of the default integer type. Raises ValueError for another rank and
    a negative N.
    Method: cumulative products.
    """
    if x.ndim != 1:
        raise ValueError(f"vander: expected 1 dimension, got shape {x._shape}.")
    columns = x.size if N is None else layout.as_integer(N, "vander", "N")
    if columns < 0:
        raise ValueError(f"vander: expected 0 columns or more, got {columns}.")
    dtype = promotion.promote(x._dtype, default_dtype("int", x._device))
    x = cast(x, dtype if promotion.is_double([x._dtype]) else available(dtype, x._device))
    factors = creation.ones((x.size, columns), dtype=x._dtype, device=x._device)
    factors[:, 1:] = broadcast_to(reshape(x, (-1, 1)), (x.size, max(columns - 1, 0)))
    powers = operations["cumulative_prod"](factors, axis=1)
    return powers if increasing else flip(powers, axis=1)


_NO_DIAGONAL = "expected an array at least 2-d, with dimensions of equal length"


@recordable
def fill_diagonal(a: VkArray, val: Any, wrap: bool = False) -> None:
    """Set the main diagonal of an array in place.

    Parameters: a (2 dimensions, or more of one length); val (a number, or an array or list, which is taken over and over);
    wrap (go on below with the first column where a tall matrix has a diagonal no more).
    Raises ValueError for other shapes, TypeError for what is no array.
    """
    shape = check_array("fill_diagonal", a)._shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ValueError(f"fill_diagonal: {_NO_DIAGONAL}, got shape {shape}.")
    step = sum(layout.contiguous_strides(shape))
    end = a.size if wrap or len(shape) > 2 else min(a.size, shape[1] * shape[1])
    put(a, creation.arange(0, end, step, device=a._device), val)


# -- indices of diagonals and triangles -------------------------------------------------------------------------


def diag_indices(n: int, ndim: int = 2, *, device: Any = None) -> tuple[VkArray, ...]:
    """The indices of the main diagonal of an array of `ndim` dimensions of length n.

    Raises TypeError for what is no integer.
    """
    return (creation.arange(layout.as_integer(n, "diag_indices", "n"), device=device),) * ndim


@recordable
def diag_indices_from(arr: VkArray) -> tuple[VkArray, ...]:
    """The indices of the main diagonal of an array. Raises ValueError unless it has 2 dimensions or more, of one length."""
    check_array("diag_indices_from", arr)
    if arr.ndim < 2 or len(set(arr._shape)) > 1:
        raise ValueError(f"diag_indices_from: {_NO_DIAGONAL}, got shape {arr._shape}.")
    return diag_indices(arr._shape[0], arr.ndim, device=arr._device)


def _of_no_values(function: Callable[[], tuple[VkArray, ...]], device: Any = None) -> tuple[VkArray, ...]:
    """What a function of no arrays returns. Where that is compiled, it is called while it is traced."""
    if tracer() is None:
        return function()
    where = launch.as_device(device)
    check = faults.kept_check(where)  # of the trace, which has no values that could be told now
    with unwatched():
        faults.keep_check(where, None)
        try:
            found = function()
        finally:
            faults.keep_check(where, check)
    return tuple(map(launch.copy, found))


@recordable
def tril_indices(n: int, k: int = 0, m: int | None = None, *, device: Any = None) -> tuple[VkArray, ...]:
    """The indices of the elements on diagonal k and below, in a matrix of n rows and m columns (n by default).

    Waits for the device, for their number. Raises TypeError for what is no integer.
    """
    return _of_no_values(lambda: coordinates(tri(n, m, k, dtypes.bool_, device=device)), device)


@recordable
def triu_indices(n: int, k: int = 0, m: int | None = None, *, device: Any = None) -> tuple[VkArray, ...]:
    """The indices of the elements on diagonal k and above, in a matrix of n rows and m columns (n by default).

    Waits for the device, for their number. Raises TypeError for what is no integer.
    """
    return _of_no_values(
        lambda: coordinates(operations["logical_not"](tri(n, m, k - 1, dtypes.bool_, device=device))), device
    )


def _of_matrix(function: str, arr: Any) -> VkArray:
    if check_array(function, arr).ndim != 2:
        raise ValueError(f"{function}: expected 2 dimensions, got shape {arr._shape}.")
    return arr


@recordable
def tril_indices_from(arr: VkArray, k: int = 0) -> tuple[VkArray, ...]:
    """`tril_indices` for a matrix. Raises ValueError for another rank."""
    rows, columns = _of_matrix("tril_indices_from", arr)._shape
    return tril_indices(rows, k, columns, device=arr._device)


@recordable
def triu_indices_from(arr: VkArray, k: int = 0) -> tuple[VkArray, ...]:
    """`triu_indices` for a matrix. Raises ValueError for another rank."""
    rows, columns = _of_matrix("triu_indices_from", arr)._shape
    return triu_indices(rows, k, columns, device=arr._device)


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[VkArray, ...]:
    """The indices of what a function such as `triu` leaves of a matrix of ones of n rows and columns.

    Parameters: n; mask_func (called with the matrix and k); k. Raises what the function raises.
    """
    return _of_no_values(lambda: operations["nonzero"](mask_func(creation.ones((n, n), dtype=dtypes.int32), k)))
