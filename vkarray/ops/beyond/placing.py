"""Putting elements into arrays, with NumPy's names: `put`, `place`, `copyto` and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, default_dtype, operations
from ...kernels.array_like import takes_lists
from ...kernels.conversion import cast
from ...kernels.faults import WrongValue, check_values
from ...kernels.gather import IndexArray, IndexRule
from ...kernels.host_values import are_right
from ...kernels.planned import planned, recordable
from ...kernels.rows import check_array
from ...kernels.scatter import scatter
from .. import creation
from ..data_type import can_cast
from ..elementwise import clip, floor_divide, less, remainder
from ..indexing import take
from ..manipulation import broadcast_to, reshape
from .arguments import array_of, index_type, indices_of, values_for

# -- indices ----------------------------------------------------------------------------------------------------

_MODES: dict[str, Callable[[VkArray, int], VkArray]] = {
    "raise": lambda indices, length: indices,
    "wrap": lambda indices, length: are_right(remainder(indices, length)),
    "clip": lambda indices, length: are_right(clip(indices, 0, length - 1)),
}


def in_mode(function: str, indices: VkArray, length: int, mode: str) -> VkArray:
    """Indices into an axis of a length: those out of range as the mode says. Raises ValueError for another mode."""
    if mode not in _MODES:
        raise ValueError(f"{function}: expected mode 'raise', 'wrap' or 'clip', got {mode!r}.")
    return _MODES[mode](indices, length) if length else indices


def counted_from_front(fault: WrongValue, indices: VkArray, length: int, negative: bool = True) -> VkArray:
    """The indices, negative ones counted from the front; one out of range raises the fault's error at the next read of a value."""
    check_values(fault, indices, -length if negative else 0, length - 1, length=length)
    return are_right(operations["where"](less(indices, 0), indices + length, indices)) if negative else indices


def coordinates_of(places: VkArray, shape: layout.Shape) -> tuple[VkArray, ...]:
    """The coordinates of places counted in C order."""
    steps = layout.contiguous_strides(shape)
    found = (remainder(floor_divide(places, step), max(n, 1)) for n, step in zip(shape, steps, strict=True))
    return tuple(map(are_right, found))


_PUT = IndexRule("put", place="an array of {length} elements")
_PLACE = WrongValue(IndexError, "put: place {value} is out of bounds for an array of {length} elements.")


def put_flat(x: VkArray, places: VkArray, values: VkArray) -> None:
    """Set the elements at places counted in C order; the values are taken over and over."""
    count = places.size
    if count == 0 or values.size == 0:
        return
    places, values = reshape(places, (-1,)), over_and_over(values, count)
    strides = layout.reshaped_strides(x._shape, x._strides, (x.size,))
    if strides is not None:
        flat = x._view((x.size,), strides)
        scatter(_PUT, flat, (count,), (0,), [IndexArray(places, 0, x.size, strides[0])], values, last=True)
    else:
        x[coordinates_of(counted_from_front(_PLACE, places, x.size), x._shape)] = values


def over_and_over(values: VkArray, count: int) -> VkArray:
    """So many elements in one dimension: those given, in C order, from the first on again and again."""
    size = values.size
    if size == 1:
        return broadcast_to(reshape(values, (1,)), (count,))
    flat = reshape(values, (-1,))
    if size >= count:
        return flat[:count]
    return take(flat, remainder(creation.arange(count, device=values._device), size), axis=0)


# -- putting ----------------------------------------------------------------------------------------------------


@takes_lists
def put(a: VkArray, ind: ArrayLike, v: Any, mode: str = "raise") -> None:
    """Set the elements at places of the flattened array, in place.

    Parameters: a; ind (integers); v (values, taken over and over where there are fewer; floats are cut off in an array of
    integers); mode ("raise", or "wrap" and "clip", which take all integers).
    Raises TypeError for what is no array and for other types, ValueError for another mode, IndexError for a place out of
    range, at the next read of a value where the device alone knows the places.
    """
    check_array("put", a)
    places = in_mode("put", indices_of("put", ind, a), a.size, mode)
    values = values_for("put", v, a)
    if a.size == 0 and places.size:
        raise IndexError("put: an array without elements has no places.")
    _put(a, places, values)


@planned
def _put(a: VkArray, places: VkArray, values: VkArray) -> None:
    put_flat(a, places, values)


_PUT_ALONG_AXIS = IndexRule("put_along_axis")


@planned
def put_along_axis(arr: VkArray, indices: ArrayLike, values: Any, axis: int | None) -> None:
    """Set, in place, for each position of `indices` the element at the same position but for the index along the axis.

    Parameters: arr; indices (integers, of the rank of arr; the other axes broadcast against those of arr); values (they
    broadcast to the indices); axis (None: of the flattened array).
    Raises ValueError for another rank and shapes that do not broadcast, IndexError for indices that are no integers, for an
    axis out of range and, at the next read of a value, for an index out of range.
    """
    check_array("put_along_axis", arr)
    given = array_of("put_along_axis", indices, arr)
    if given._dtype.kind not in "iu":
        raise IndexError(f"put_along_axis: expected indices of integers, got {given._dtype}.")
    values = values_for("put_along_axis", values, arr)
    if axis is None:
        if given.ndim != 1:
            raise ValueError(
                f"put_along_axis: expected indices of a single dimension for axis None, got {given._shape}."
            )
        put_flat(arr, index_type(given), broadcast_to(values, given._shape))
        return
    axis = layout.normalize_axis(axis, arr.ndim, "put_along_axis")
    if given.ndim != arr.ndim:
        raise ValueError(f"put_along_axis: expected indices of {arr.ndim} dimensions, got shape {given._shape}.")
    own = (*arr._shape[:axis], 1, *arr._shape[axis + 1 :])
    shape = layout.broadcast_shapes([own, (*given._shape[:axis], 1, *given._shape[axis + 1 :])], "put_along_axis")
    shape = (*shape[:axis], given._shape[axis], *shape[axis + 1 :])
    strides = layout.broadcast_strides(own, (*arr._strides[:axis], 0, *arr._strides[axis + 1 :]), shape)
    where = [IndexArray(given, axis, arr._shape[axis], arr._strides[axis])]
    scatter(_PUT_ALONG_AXIS, arr, shape, strides, where, broadcast_to(values, shape), last=True)


def _mask_for(function: str, mask: Any, arr: VkArray) -> VkArray:
    """A mask in the shape of an array that has as many elements. Raises ValueError for another number."""
    mask = cast(array_of(function, mask, arr), dtypes.bool_)
    if mask.size != arr.size:
        raise ValueError(f"{function}: expected a mask of {arr.size} elements, got shape {mask._shape}.")
    return reshape(mask, arr._shape)


def _safe_values(function: str, values: Any, target: VkArray) -> VkArray:
    """`values_for`, where an array has to have a type that the target's holds. Raises TypeError for another."""
    if type(values) is VkArray:
        operations["check_casting"](values, target._dtype, "safe")
    return values_for(function, values, target)


@planned
def putmask(a: VkArray, /, mask: Any, values: Any) -> None:
    """Set, in place, the elements where a mask is true to the values in the same places, which are repeated to the size of a.

    Parameters: a; mask (as many elements as a has); values (of a type that that of a holds).
    Raises ValueError for a mask of another size, TypeError for another type.
    """
    mask = _mask_for("putmask", mask, check_array("putmask", a))
    values = _safe_values("putmask", values, a)
    if values.size and a.size:
        a[...] = operations["where"](mask, reshape(over_and_over(values, a.size), a._shape), a)


@planned
def place(arr: VkArray, mask: Any, vals: Any) -> None:
    """Set, in place, the elements where a mask is true to the values in turn, which are repeated as often as it takes.

    Parameters: arr; mask (as many elements as arr has); vals (of a type that that of arr holds).
    Raises ValueError for a mask of another size and for no values where the mask is true, TypeError for another type.
    """
    mask = _mask_for("place", mask, check_array("place", arr))
    values = _safe_values("place", vals, arr)
    if arr.size == 0:
        return
    if values.size == 0:
        if bool(operations["any"](mask)):
            raise ValueError(
                "place: Cannot insert from an empty array; expected values for the true elements of the mask."
            )
        return
    numbers = operations["cumulative_sum"](index_type(reshape(mask, (-1,)))) - 1
    chosen = take(reshape(values, (-1,)), remainder(numbers, values.size), axis=0)
    arr[...] = operations["where"](mask, reshape(chosen, arr._shape), arr)


@recordable
def copyto(dst: VkArray, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Copy values into an array, in place.

    Parameters: dst; src (an array, number or list that broadcasts to dst); casting (what may become of types); where (a
    bool array that broadcasts to dst: copy there only). Raises TypeError for a type that the casting does not allow,
    ValueError for shapes that do not broadcast.
    """
    check_array("copyto", dst)
    if promotion.is_scalar(src) and not hasattr(src, "dtype"):
        kind = promotion.KIND_NAMES[promotion.scalar_kind(src)]
        fits = kind == "int" and dst._dtype.kind != "b"  # its value is looked at instead
        if not fits and not can_cast(default_dtype(kind, dst._device), dst._dtype, casting):
            raise TypeError(f"copyto: a Python {kind} cannot be copied to {dst._dtype} with casting={casting!r}.")
        src = values_for("copyto", src, dst)
    else:
        src = array_of("copyto", src, dst)
        operations["check_casting"](src, dst._dtype, casting)
        src = cast(src, dst._dtype)
    if where is not True:
        src = operations["where"](operations["mask"]("copyto", where, dst), src, dst)
    operations["setitem"](dst, ..., src)


operations.update(put=put)
