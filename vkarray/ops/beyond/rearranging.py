"""Insertion, deletion, trimming, resizing and turning of arrays, with NumPy's names. What can be a view is one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core import layout
from ...core.array import ArrayLike, VkArray, default_dtype, empty, operations
from ...core.dtypes import bool_
from ...kernels.array_like import takes_lists
from ...kernels.compact import coordinates
from ...kernels.conversion import cast
from ...kernels.faults import WrongValue, check_values
from ...kernels.host_values import Limit
from ...kernels.overriding import or_own_array
from ...kernels.planned import planned
from ...kernels.rows import check_array
from .. import creation
from ..elementwise import less
from ..indexing import setitem, take
from ..manipulation import concat, flip, moveaxis, permute_dims, reshape, stack, tile
from ..searching import searchsorted
from ..sorting import argsort
from .arguments import flattened, indices_of, values_for
from .splitting import along

# -- insertion and deletion -------------------------------------------------------------------------------------


def _places(function: str, obj: Any, x: VkArray, length: int) -> tuple[VkArray, bool]:
    """Places along an axis as an array, and whether it is a mask. Raises ValueError for more than 1 dimension."""
    places = indices_of(function, list(range(*obj.indices(length))) if isinstance(obj, slice) else obj, x, IndexError)
    if places.ndim > 1 and function == "insert":
        raise ValueError(f"{function}: expected places of 1 dimension, got shape {places._shape}.")
    return places, _is_mask(obj)


def _is_mask(obj: Any) -> bool:
    """Whether a key is a list or an array of bools."""
    if isinstance(obj, (list, tuple)):
        return bool(obj) and all(isinstance(one, bool) for one in obj)
    return getattr(obj, "dtype", None) == bool_


def _is_single(obj: Any) -> bool:
    """Whether a key is one integer."""
    return (not isinstance(obj, slice) and not hasattr(obj, "__len__")) or getattr(obj, "ndim", None) == 0


_PLACE = WrongValue(IndexError, "insert: place {value} is out of bounds for an axis of length {length}.")


@planned
def insert(arr: ArrayLike, obj: Any, values: Any, axis: int | None = None) -> VkArray:
    """The array with values before some of its places along an axis.

    Parameters: arr; obj (an integer, a slice, or a list or array of integers or bools); values (an array, number or list
    that broadcasts to the places, converted to the type of arr); axis (None: of the flattened array). Returns a new array.
    Raises IndexError for a place or an axis out of range, ValueError for places of more than 1 dimension and values that do
    not fit.
    Method: element i moves up by the number of places up to i.
    """
    x, axis = flattened(arr, axis, "insert")
    length = x._shape[axis]
    if _is_single(obj):
        return _inserted(x, layout.as_integer(obj, "insert", "obj"), values, axis, True)
    if isinstance(obj, (list, tuple)) and all(type(one) is int for one in obj):
        Limit(_PLACE, -length, length, length=length).check(obj)
        if len(obj) == 1:
            return _inserted(x, obj[0], values, axis, False)
    places, is_mask = _places("insert", obj, x, length)
    if is_mask:
        (places,) = coordinates(cast(places, bool_))
    if places.size == 1:
        return _inserted(x, int(places[0].item()), values, axis, False)
    index, count = places._dtype, places.size
    check_values(_PLACE, places, -length, length, length=length)
    places = operations["where"](less(places, 0), places + length, places)
    order = argsort(places)
    ordered = take(places, order, axis=0)
    targets = empty((count,), index, x._device)
    setitem(targets, order, ordered + creation.arange(count, dtype=index, device=x._device), distinct=True)
    own = creation.arange(length, dtype=index, device=x._device)
    result = empty((*x._shape[:axis], length + count, *x._shape[axis + 1 :]), x._dtype, x._device)
    before = (slice(None),) * axis
    setitem(result, (*before, targets), values_for("insert", values, x), distinct=True)
    setitem(result, (*before, own + searchsorted(ordered, own, side="right")), x, distinct=True)
    return result


def _inserted(x: VkArray, place: int, values: Any, axis: int, single: bool) -> VkArray:
    """The array with values before one place, as many as they are long along the axis."""
    length = x._shape[axis]
    if not -length <= place <= length:
        raise IndexError(f"insert: place {place} is out of bounds for axis {axis} of length {length}.")
    place += length if place < 0 else 0
    values = values_for("insert", values, x)
    missing = max(x.ndim - values.ndim, 0)
    values = values._view((1,) * missing + values._shape, (0,) * missing + values._strides)
    if single:  # x[:, place, :] = values, where the values have no dimension for the place
        values = moveaxis(values, 0, axis)
    count = values._shape[axis]
    result = empty((*x._shape[:axis], length + count, *x._shape[axis + 1 :]), x._dtype, x._device)
    along(result, axis, slice(0, place))[...] = along(x, axis, slice(0, place))
    along(result, axis, slice(place, place + count))[...] = values
    along(result, axis, slice(place + count, None))[...] = along(x, axis, slice(place, None))
    return result


def _gone(obj: Any, axis: int, length: int) -> int:
    """A place along an axis that `delete` leaves out, counted from the front."""
    place = layout.as_integer(obj, "delete", "obj")
    if not -length <= place < length:
        raise IndexError(f"delete: place {place} is out of bounds for axis {axis} of length {length}.")
    return place + length if place < 0 else place


@planned
def delete(arr: ArrayLike, obj: Any, axis: int | None = None) -> VkArray:
    """The array without some of its places along an axis.

    Parameters: arr; obj (an integer, a slice, or a list or array of integers, or of bools, one for each place); axis (None:
    of the flattened array). Returns a new array; waits for the device where places may be named twice.
    Raises IndexError for a place or an axis out of range, ValueError for a mask of another length.
    """
    x, axis = flattened(arr, axis, "delete")
    obj = or_own_array(obj)
    length = x._shape[axis]
    if isinstance(obj, bool):
        raise ValueError(f"delete: expected a mask of length {length}, got {obj}.")
    if _is_single(obj):
        place = _gone(obj, axis, length)
        obj = slice(place, place + 1)
    if isinstance(obj, slice):
        gone = range(*obj.indices(length))
        if abs(gone.step) == 1 or len(gone) < 2:
            first, last = (min(gone), max(gone) + 1) if gone else (0, 0)
            return concat([along(x, axis, slice(0, first)), along(x, axis, slice(last, None))], axis=axis)
    if isinstance(obj, (list, tuple)) and all(isinstance(one, int) and not isinstance(one, bool) for one in obj):
        gone_places = {_gone(one, axis, length) for one in obj}
        rest = [place for place in range(length) if place not in gone_places]
        return take(x, creation.asarray(rest, dtype=default_dtype("int", x._device), device=x._device), axis=axis)
    kept = creation.full((length,), True, dtype=bool_, device=x._device)
    if isinstance(obj, slice):
        kept[obj] = False
    else:
        places, is_mask = _places("delete", obj, x, length)
        if is_mask and places._shape != (length,):
            raise ValueError(f"delete: expected a mask of length {length}, got shape {places._shape}.")
        kept[cast(places, bool_) if is_mask else reshape(places, (-1,))] = False
    return take(x, coordinates(kept)[0], axis=axis)


# -- other lengths ----------------------------------------------------------------------------------------------


@planned
def resize(a: ArrayLike, new_shape: int | Sequence[int]) -> VkArray:
    """A new array with another shape, filled with the elements in C order, over and over where they are too few.

    Parameters: a; new_shape. Returns zeros where a has no elements. Raises ValueError for a negative length.
    """
    shape = creation.as_shape(new_shape, "resize", "new_shape")
    size = math.prod(shape)
    if a.size == 0 or size == 0:
        return creation.zeros(shape, dtype=a._dtype, device=a._device)
    flat = reshape(a, (-1,))
    if size > a.size:
        flat = tile(flat, (-(-size // a.size),))
    return reshape(along(flat, 0, slice(size)), shape, copy=True)


@takes_lists
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: int | Sequence[int] | None = None) -> VkArray:
    """A view without the zeros at the edges: the smallest box that has all that is not zero.

    Parameters: filt; trim ("f" from the front, "b" from the back, or both); axis (those to be trimmed, all by default).
    Waits for the device. Raises ValueError for another trim, IndexError for an axis out of range.
    """
    check_array("trim_zeros", filt)
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise ValueError(f"trim_zeros: unexpected character(s) in `trim`; expected 'f', 'b' or both, got {trim!r}.")
    axes = layout.normalize_axes(axis, filt.ndim, "trim_zeros")
    if not axes:
        return filt
    places = coordinates(cast(filt, bool_))
    if places[0].size == 0:
        return filt[tuple(slice(0, 0) if one in axes else slice(None) for one in range(filt.ndim))]
    edges = stack([operations[name](own) for own in places for name in ("min", "max")]).tolist()
    key = [slice(None)] * filt.ndim
    for one in axes:
        start, stop = edges[2 * one], edges[2 * one + 1] + 1
        key[one] = slice(start if "f" in trim.lower() else None, stop if "b" in trim.lower() else None)
    return filt[tuple(key)]


# -- turning ----------------------------------------------------------------------------------------------------


@planned
def rot90(m: ArrayLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> VkArray:
    """A view of the array turned by k quarters in the plane of two axes, from the first towards the second.

    Raises ValueError unless there are two different axes that the array has.
    """
    axes = layout.as_integers(axes, "rot90", "axes")
    if len(axes) != 2 or not all(-m.ndim <= one < m.ndim for one in axes) or axes[0] % m.ndim == axes[1] % m.ndim:
        raise ValueError(f"rot90: expected two different axes of an array of {m.ndim} dimensions, got {axes}.")
    first, second = (one % m.ndim for one in axes)
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    k = layout.as_integer(k, "rot90", "k") % 4
    if k % 2 == 0:
        return flip(m, axis=(first, second)) if k else m[...]
    return permute_dims(flip(m, axis=second), order) if k == 1 else flip(permute_dims(m, order), axis=second)


def _flipped(function: str, m: VkArray, axis: int) -> VkArray:
    if m.ndim <= axis:
        raise ValueError(f"{function}: expected at least {axis + 1} dimensions, got shape {m._shape}.")
    return flip(m, axis=axis)


@planned
def fliplr(m: ArrayLike) -> VkArray:
    """A view with the second dimension in reverse order. Raises ValueError for fewer than 2 dimensions."""
    return _flipped("fliplr", m, 1)


@planned
def flipud(m: ArrayLike) -> VkArray:
    """A view with the first dimension in reverse order. Raises ValueError for an array of 0 dimensions."""
    return _flipped("flipud", m, 0)


@planned
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> VkArray:
    """A view with one axis moved before the axis `start`. Raises IndexError for an axis out of range."""
    axis = layout.normalize_axis(axis, a.ndim, "rollaxis")
    start = layout.normalize_axis(start, a.ndim, "rollaxis") if start != a.ndim else a.ndim
    order = [one for one in range(a.ndim) if one != axis]
    order.insert(start - (axis < start), axis)
    return permute_dims(a, order)
