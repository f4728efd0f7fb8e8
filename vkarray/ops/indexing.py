"""Indexing: `x[key]`, `x[key] = value`, and the standard's `take` and `take_along_axis`."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..core import dtypes, layout, promotion
from ..core.array import ArrayLike, VkArray, array_in, default_dtype, is_supported, operations
from ..core.dtypes import CATEGORIES, DType, as_dtype
from ..core.key import Advanced, Selection, check_index, expand, select
from ..core.layout import Shape
from ..core.operators import is_sequence
from ..kernels import compact, launch
from ..kernels.conversion import cast, cast_operation
from ..kernels.gather import IndexArray, IndexRule, gather
from ..kernels.gather import variants as gather_variants
from ..kernels.launch import Operation
from ..kernels.overriding import own_array
from ..kernels.planned import kept, planned, recorded, recorder, tracer, watches
from ..kernels.scalars import Scalar
from ..kernels.scatter import scatter
from ..shaders.source import Shader
from . import creation

if TYPE_CHECKING:
    from ..kernels.launch import Device

_ALL = slice(None)
_KEPT = 256  # lists of so many integers in keys that are kept on the device, at most, and of so many integers each
_COUNTED = 1 << 12  # indices of a NumPy array up to which the host looks whether they are distinct

GETITEM, SETITEM = IndexRule("getitem"), IndexRule("setitem")
_TAKE, _TAKE_ALONG_AXIS = IndexRule("take"), IndexRule("take_along_axis")


# -- keys -------------------------------------------------------------------------------------------------------


def _entries(key: Any, x: VkArray, function: str) -> list[Any]:
    """A key as a list of integers, slices, None and `Advanced`, one or none for each dimension of x."""
    items = key if isinstance(key, tuple) else (key,)
    return expand([_entry(item, x, function) for item in items], x.ndim, function)


def _entry(item: Any, x: VkArray, function: str) -> Any:
    if item is None or item is Ellipsis or type(item) is int or type(item) is slice:
        return item
    if isinstance(item, bool):
        return _truth(item, x)
    limits, distinct = None, False
    if type(item) is not VkArray:
        if type(item).__module__ == "numpy" and getattr(item, "ndim", None) == 0:
            return _entry(item.item(), x, function)
        if (own := own_array(item)) is not None:
            return _entry(own, x, function)
        if isinstance(item, (list, tuple, range)) or hasattr(item, "__array__"):
            limits, distinct = _known(item)
            if limits is not None and isinstance(item, (list, tuple, range)) and len(item) <= _KEPT:
                item = _index_array(tuple(item), x._device)
            else:
                item = _uploaded(item, x)
        elif hasattr(item, "__index__"):
            return item.__index__()
        elif is_sequence(item):
            return _entry(list(item), x, function)
        else:
            raise IndexError(
                f"{function}: an index must be an integer, a slice, `...`, None, or an array (or list) of integers or "
                f"bools, got {type(item).__name__} ({item!r:.60}).{layout.integer_remedy(item)}"
            )
    dtype = item._dtype
    if dtype not in CATEGORIES["integer or boolean"]:
        raise IndexError(
            f"{function}: an index array must hold integers or bools, got {dtype}. Convert it with astype."
        )
    if item._device is not x._device:
        raise ValueError(
            f"{function}: the index array is on the device {item._device}, the array on {x._device}. "
            f"Move one with x.to_device(device)."
        )
    if item._shape == () and dtype is dtypes.bool_:
        return _truth(bool(item), x)
    if item._shape == () and not (watches and tracer() is not None):
        return _known_index(item)
    if dtype is dtypes.bool_:
        return Advanced(item, item.ndim)
    return Advanced(item, 1, limits, distinct)


def _known_index(item: VkArray) -> int:
    return int(item)


def _known(item: Any) -> tuple[tuple[int, int] | None, bool]:
    """The smallest and the largest of indices on the host, so that one out of range is told at once; whether they are distinct."""
    values = item
    if isinstance(item, (list, tuple, range)):
        if not item or any(type(one) is not int for one in item):
            return None, False
        low, high = min(item), max(item)
    else:
        values = item.__array__()
        if not values.size or values.dtype.kind not in "iu":
            return None, False
        low, high = int(values.min()), int(values.max())
        values = values.ravel().tolist() if values.size <= _COUNTED else ()
    return (low, high), (low >= 0 or high < 0) and bool(values) and len(set(values)) == len(values)


def _truth(value: bool, x: VkArray) -> Advanced:
    """A single bool: an index array of one element, or of none, that steps over no dimension."""
    zero = launch.constant(0, dtypes.int32, x._device)
    return Advanced(zero._view((int(value),), (0,)), 0)


@kept(maxsize=_KEPT)
def _index_array(values: tuple[int, ...], device: Device) -> VkArray:
    """The integers of a key as an array, which calls share, so that they can have a plan."""
    return creation.asarray(list(values), device=device)


def _uploaded(item: Any, x: VkArray) -> VkArray:
    """A list or NumPy array in a key, on the device of x: a key is not data, so no one is surprised by the copy."""
    dtype = None
    if type(item).__module__ == "numpy" and hasattr(item, "dtype"):
        dtype = as_dtype(item.dtype, "index")
        if dtype in CATEGORIES["integer"] and not is_supported(dtype, x._device):
            low, high = promotion.integer_range(dtypes.int32)
            item = item.clip(low if dtype.category == "signed integer" else 0, high)  # out of range stays out of range
            dtype = dtypes.int32
    array = creation.asarray(item, dtype=dtype, device=x._device)
    if array.size == 0 and dtype is None:
        return cast(array, default_dtype("int", x._device))  # the type of an empty list says nothing
    return array


def _fitted_masks(entries: Sequence[Any], shape: Shape, function: str) -> list[Any]:
    """The entries, with masks of the shape that they index; one with lengths of 0 instead selects nothing, as in NumPy.

    Raises IndexError for a mask that does not fit.
    """
    axis = 0
    fitted = []
    for entry in entries:
        if type(entry) is Advanced:
            mask, wanted = entry.array, shape[axis : axis + entry.consumes]
            if mask._dtype is dtypes.bool_ and mask._shape != wanted:
                if len(wanted) != mask.ndim or any(
                    own not in (0, length) for own, length in zip(mask._shape, wanted, strict=True)
                ):
                    raise IndexError(
                        f"{function}: a mask of shape {mask._shape} does not fit the dimensions it indexes, which have "
                        f"shape {wanted} (from axis {axis} of an array of shape {shape})."
                    )
                entry = entry._replace(array=creation.zeros(wanted, dtype=dtypes.bool_, device=mask._device))
            axis += entry.consumes
        elif entry is not None and entry is not Ellipsis:
            axis += 1
        fitted.append(entry)
    return fitted


def _single_mask(entries: Sequence[Any]) -> int | None:
    """The position of the mask in a key whose only array is a mask beside slices, integers and None; else None."""
    arrays = [position for position, entry in enumerate(entries) if type(entry) is Advanced]
    if len(arrays) == 1 and entries[arrays[0]].array._dtype is dtypes.bool_:
        return arrays[0]
    return None


def _indices(entries: Sequence[Any], x: VkArray, function: str) -> tuple[Selection, Shape, list[IndexArray]]:
    """What expanded entries with arrays select: the view, the shape of the selection, and the index arrays."""
    without_masks: list[Any] = []
    for entry in entries:
        if type(entry) is Advanced and entry.array._dtype is dtypes.bool_:
            without_masks += [Advanced(array, 1) for array in compact.coordinates(entry.array)]
        else:
            without_masks.append(entry)
    selection = select(without_masks, x._shape, x._strides, function)
    for one, entry in zip(
        selection.indexed, (entry for entry in without_masks if type(entry) is Advanced), strict=True
    ):
        for index in entry.limits or ():
            check_index(index, one.axis, one.length, function)
    shapes = [one.array._shape for one in selection.indexed]
    try:
        common = layout.broadcast_shapes(shapes, function)
    except ValueError:
        raise IndexError(
            f"{function}: the index arrays have shapes {' and '.join(map(str, shapes))}, which do not broadcast together. "
            f"Give them shapes that do, such as (n, 1) and (m,) for every pair of n and m indices."
        ) from None
    place = selection.place
    after = len(selection.shape) - place
    indices = []
    for one in selection.indexed:
        array = one.array
        indices.append(
            IndexArray(
                array._view(array._shape + (1,) * after, array._strides + (0,) * after),
                one.axis,
                one.length,
                one.stride,
            )
        )
    return selection, selection.shape[:place] + common + selection.shape[place:], indices


def _has_ellipsis(key: tuple[Any, ...]) -> bool:
    return any(one is Ellipsis for one in key)


def _is_basic(entries: Sequence[Any]) -> bool:
    return not any(type(entry) is Advanced for entry in entries)


# -- reading and writing ----------------------------------------------------------------------------------------


@recorded
def getitem(x: VkArray, key: Any, /, *, rule: IndexRule = GETITEM) -> VkArray:
    """`x[key]`: a view of x for integers, slices, `...` and None, a copy when the key has index arrays or masks.

    An integer for each dimension gives a value of its own, an array of 0 dimensions; `x[i, ...]` gives a view.
    Index arrays (integer arrays, lists) broadcast against each other and select element by element; a mask (bool array)
    stands for the indices of its true elements. Their dimensions come where they stand in the key, or first when a
    slice, `...` or None separates them, as in NumPy. A mask makes the host wait for the number of its true elements.
    Raises IndexError for too many indices, a mask of another shape, an index out of range (for index arrays at the next
    read of a value) and what is no index, TypeError for a slice of other numbers than integers. `rule` is for those who index
    in the name of another function.
    Standard: array object, `__getitem__`.
    """
    if watches and (recording := recorder()) is not None:
        return recording.call(getitem, (x, key), {"rule": rule})
    if type(key) is int and x._shape:
        row = _row(x, key, "getitem")
        return row if row._shape else _value(row)
    entries = key if isinstance(key, tuple) else (key,)
    found = _selected(x, *entries) if rule is GETITEM else _selected(x, *entries, rule=rule)
    if not found._shape and _has_ellipsis(entries):
        found._is_place = True
    return found


@planned
def _value(x: VkArray) -> VkArray:
    """An element as a value of its own."""
    return launch.copy(x)


def _row(x: VkArray, index: int, function: str) -> VkArray:
    """A view of one element along the first axis. Raises IndexError for one out of range."""
    shape, strides = x._shape, x._strides
    first = check_index(index, 0, shape[0], function)
    return array_in(
        x._buffer, x._offset + first * strides[0], shape[1:], strides[1:], x._dtype, x._device, x._contiguous or None
    )


@planned
def _selected(x: VkArray, *key: Any, rule: IndexRule = GETITEM) -> VkArray:
    entries = _entries(key, x, "getitem")
    if _is_basic(entries):
        selection = select(entries, x._shape, x._strides, "getitem")
        view = x._view(selection.shape, selection.strides, selection.offset)
        return view if view._shape or _has_ellipsis(key) else launch.copy(view)
    _check_view(entries)
    entries = _fitted_masks(entries, x._shape, "getitem")
    if _single_mask(entries) is not None and len(entries) == 1:
        return compact.compress(x, entries[0].array)
    selection, shape, indices = _indices(entries, x, "getitem")
    return gather(rule, *_walk(x, selection, shape), indices)


def _check_view(entries: Sequence[Any]) -> None:
    """Raise TraceError for a view whose place is not known; elements, and what other arrays of indices select, are copies."""
    arrays = [entry.array for entry in entries if type(entry) is Advanced]
    is_element = len(arrays) + sum(type(entry) is int for entry in entries) == len(entries)
    if not is_element and all(array._shape == () for array in arrays):
        _known_index(arrays[0])


def _walk(x: VkArray, selection: Selection, shape: Shape) -> tuple[VkArray, Shape, layout.Strides]:
    """The array from the first element of a selection on, the selection's shape, and the strides that walk it."""
    place = selection.place
    common = len(shape) - len(selection.shape)
    strides = selection.strides[:place] + (0,) * common + selection.strides[place:]
    return x._view(x._shape, x._strides, selection.offset), shape, strides


@recorded
def setitem(x: VkArray, key: Any, value: Any, /, *, rule: IndexRule = SETITEM, distinct: bool = False) -> None:
    """`x[key] = value`: value (an array, a number, a list or a NumPy array) is broadcast into the selection and cast to x's dtype.

    The keys are those of `getitem`. Texts are read as numbers, None as NaN. An element that is selected several times takes the
    last of its values, as in NumPy.
    `distinct` is for those who know that the key names no element several times.
    Floats are truncated for an integer type. Raises IndexError as `getitem` does, TypeError for complex numbers in a real array,
    ValueError for NaN in an integer one, OverflowError for a Python integer out of range, ValueError for a value that does
    not broadcast into the selection.
    Standard: array object, `__setitem__`.
    """
    if watches and (recording := recorder()) is not None:
        recording.call(setitem, (x, key, value), {"rule": rule, "distinct": distinct})
    elif type(key) is int and x._shape:
        _assign(_row(x, key, "setitem"), value, x._shape, x._strides)
    else:
        _assign_at(x, key, value, rule, distinct)


@planned(integers=True)
def _assign(target: VkArray, value: Any, shape: Shape, strides: layout.Strides) -> None:
    """Write a value into a view of an array of that shape and strides."""
    value = _as_value(value, target)
    if layout.has_internal_overlap(shape, strides):
        raise ValueError("setitem: elements of the target share memory (a broadcast view). Copy it first.")
    if type(value) is VkArray:
        value = _broadcastable(value, target._shape)
    launch.elementwise(cast_operation(value._dtype, target._dtype), (value,), target)


@planned(integers=True)
def _assign_at(x: VkArray, key: Any, value: Any, rule: IndexRule, distinct: bool) -> None:
    entries = _entries(key, x, "setitem")
    if _is_basic(entries):
        _as_value(value, x)  # whose errors come first
        selection = select(entries, x._shape, x._strides, "setitem")
        _assign(x._view(selection.shape, selection.strides, selection.offset), value, x._shape, x._strides)
        return
    value = _as_value(value, x)
    if layout.has_internal_overlap(x._shape, x._strides):
        raise ValueError("setitem: elements of the target share memory (a broadcast view). Copy it first.")
    entries = _fitted_masks(entries, x._shape, "setitem")
    position = _single_mask(entries)
    if position is not None and (type(value) is Scalar or value.size == 1):
        _set_where(x, entries, position, value if type(value) is Scalar else cast(value, x._dtype)._view((), ()))
        return
    value = value.array if type(value) is Scalar else cast(value, x._dtype)
    selection, shape, indices = _indices(entries, x, "setitem")
    choices = math.prod(shape) // max(1, math.prod(selection.shape))
    distinct = (
        distinct
        or position is not None
        or any(type(entry) is Advanced and entry.distinct and entry.array.size == choices for entry in entries)
    )
    scatter(rule, *_walk(x, selection, shape), indices, _broadcastable(value, shape), last=not distinct)


def _set_where(x: VkArray, entries: Sequence[Any], position: int, value: VkArray | Scalar) -> None:
    """Assign one value where a mask is true: no element needs to know its place among the true ones."""
    mask = entries[position].array
    kept = [*entries[:position], *[_ALL] * mask.ndim, *entries[position + 1 :]]
    selection = select(kept, x._shape, x._strides, "setitem")
    view = x._view(selection.shape, selection.strides, selection.offset)
    after = sum(entry is None or type(entry) is slice for entry in entries[position + 1 :])
    mask = mask._view(mask._shape + (1,) * after, mask._strides + (0,) * after)
    launch.elementwise(_masked_copy(launch.copy_operation(x._dtype).result), (view, mask, value), view)


@functools.cache
def _masked_copy(moved: DType) -> Operation:
    return Operation(f"masked copy {moved}", "b ? c : a", (moved, dtypes.bool_, moved), moved, moved)


def _as_value(value: Any, x: VkArray) -> VkArray | Scalar:
    """What is assigned, as an operand on the device of `x` whose kind fits."""
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if type(value) is VkArray:
        if value._device is not x._device:
            raise ValueError(
                f"setitem: the value is on the device {value._device}, the array on {x._device}. "
                f"Move one with x.to_device(device)."
            )
        _check_real(value._dtype.kind == "c", value._dtype.name, x._dtype)
        return value
    if is_sequence(value) or isinstance(value, str) or hasattr(value, "__array__"):
        dtype = (
            x._dtype if type(creation.first_leaf(value)) is str else None
        )  # a text is read as a number of the array's type
        return _as_value(creation.asarray(value, dtype=dtype, device=x._device), x)
    if value is None and x._dtype.kind in "fc":
        value = math.nan
    if not promotion.is_scalar(value):
        raise TypeError(
            f"setitem: expected an array, a number or a list as value, got {type(value).__name__}. "
            f"Convert it with vkarray.asarray."
        )
    kind = promotion.scalar_kind(value)
    _check_real(kind == 3, "a Python complex", x._dtype)
    if x._dtype is dtypes.bool_:
        value = bool(value)
    elif kind == 2 and x._dtype.kind in "iu":
        value = promotion.whole(value, "setitem", x._dtype)
    promotion.check_scalar_range("setitem", value, x._dtype)
    return launch.scalar(value, x._dtype, x._device)


def _check_real(is_complex: bool, described: str, dtype: DType) -> None:
    """Raise TypeError when a complex value would lose its imaginary part."""
    if is_complex and dtype.kind not in "cb":
        raise TypeError(
            f"setitem: {described} does not fit into an array of {dtype} without losing its imaginary part. "
            f"Assign vkarray.real(value)."
        )


def _broadcastable(value: VkArray, shape: Shape) -> VkArray:
    """`value` without leading dimensions of length 1 that `shape` lacks. Raises ValueError where it does not broadcast."""
    own, strides = value._shape, value._strides
    while len(own) > len(shape) and own[0] == 1:
        own, strides = own[1:], strides[1:]
    fits = len(own) <= len(shape) and all(
        length in (1, wanted) for length, wanted in zip(reversed(own), reversed(shape), strict=False)
    )
    if not fits:
        raise ValueError(
            f"setitem: a value of shape {value._shape} does not broadcast into the selection of shape {shape}. "
            f"Reshape it, or select as many elements as it has."
        )
    return value if own is value._shape else value._view(own, strides)


# -- functions of the standard ----------------------------------------------------------------------------------


def _check_arrays(function: str, x: VkArray, indices: VkArray, error: type[Exception] = TypeError) -> None:
    """Raise TypeError unless both are arrays, `error` unless the second is of integers, ValueError for different devices."""
    for name, array in (("x", x), ("indices", indices)):
        if type(array) is not VkArray:
            raise TypeError(
                f"{function}: expected a vkarray array as {name}, got {type(array).__name__}. Use vkarray.asarray."
            )
    promotion.check_category(function, indices._dtype, "integer", error)
    if x._device is not indices._device:
        raise ValueError(
            f"{function}: x is on the device {x._device}, the indices on {indices._device}. "
            f"Move one with x.to_device(device)."
        )


@planned
def take(x: ArrayLike, indices: ArrayLike, /, *, axis: int | None = None) -> VkArray:
    """The elements of x at `indices` along an axis.

    Parameters: x (any dtype); indices (integers of any shape, negative ones count from the end); axis (may be left out
    when x has 1 dimension). Returns an array of shape x.shape[:axis] + indices.shape + x.shape[axis + 1:].
    Raises TypeError for indices that are no integers, ValueError for a missing axis, IndexError for an axis out of range
    and, at the next read of a value, for an index out of range. Standard: indexing functions, `take`.
    """
    return take_by(_TAKE, x, indices, axis)


def take_by(rule: IndexRule, x: VkArray, indices: VkArray, axis: int | None = None) -> VkArray:
    """`take`, in the name of a function with a rule of its own for indices out of range."""
    _check_arrays("take", x, indices)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis may be left out for an array of 1 dimension, x has {x.ndim}. Give axis=.")
        axis = 0
    axis = layout.normalize_axis(axis, x.ndim, "take")
    before, after = slice(0, axis), slice(axis + 1, None)
    trailing = x.ndim - axis - 1
    array = indices._view(indices._shape + (1,) * trailing, indices._strides + (0,) * trailing)
    return gather(
        rule, x, x._shape[before] + indices._shape + x._shape[after],
        x._strides[before] + (0,) * indices.ndim + x._strides[after],
        [IndexArray(array, axis, x._shape[axis], x._strides[axis])],
    )  # fmt: skip


@planned
def take_along_axis(x: ArrayLike, /, indices: ArrayLike, axis: int | None = -1) -> VkArray:
    """For each position of `indices`, the element of x at the same position but for the index along the axis.

    Parameters: x (any dtype); indices (integers, of the rank of x; the other axes broadcast against those of x); axis.
    Returns an array of the broadcast shape, along the axis as long as `indices`.
    Raises IndexError for indices that are no integers, ValueError for another rank or shapes that do not broadcast,
    IndexError for an axis out of range and, at the next read of a value, for an index out of range.
    Standard: indexing functions, `take_along_axis`.
    """
    if axis is None:
        x, axis = operations["ravel"](x), 0
    return take_along_axis_by(_TAKE_ALONG_AXIS, x, indices, axis)


def take_along_axis_by(rule: IndexRule, x: VkArray, indices: VkArray, axis: int) -> VkArray:
    """`take_along_axis`, in the name of a function with a rule of its own for indices out of range."""
    if type(indices) is VkArray and indices._dtype is dtypes.bool_:
        raise IndexError("take_along_axis: indices must be integers, got bool. Use x[indices], or vkarray.where.")
    _check_arrays("take_along_axis", x, indices, IndexError if rule is _TAKE_ALONG_AXIS else TypeError)
    axis = layout.normalize_axis(axis, x.ndim, "take_along_axis")
    if indices.ndim != x.ndim:
        raise ValueError(
            f"take_along_axis: expected indices of the rank of x, {x.ndim}, got shape {indices._shape} for x of shape "
            f"{x._shape}."
        )
    # The axis itself takes no part in broadcasting: x is walked along it by the indices alone.
    own = (*x._shape[:axis], 1, *x._shape[axis + 1 :])
    shape = layout.broadcast_shapes([own, (*indices._shape[:axis], 1, *indices._shape[axis + 1 :])], "take_along_axis")
    shape = (*shape[:axis], indices._shape[axis], *shape[axis + 1 :])
    strides = layout.broadcast_strides(own, (*x._strides[:axis], 0, *x._strides[axis + 1 :]), shape)
    return gather(rule, x, shape, strides, [IndexArray(indices, axis, x._shape[axis], x._strides[axis])])


def variants(device: Device) -> Iterator[Shader]:
    """All variants of indexing that a device can meet."""
    yield from gather_variants(device)
    yield from compact.variants(device)
    for dtype in dtypes.DTYPES.values():
        if is_supported(dtype, device):
            yield from _masked_copy(launch.copy_operation(dtype).result).variants(device)


operations.update(getitem=getitem, setitem=setitem)
