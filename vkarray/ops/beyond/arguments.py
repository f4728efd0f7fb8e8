"""What functions named after NumPy's do with their arguments before they compute."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import VkArray, check_supported, default_dtype, operations
from ...core.dtypes import CATEGORIES, DType
from ...core.operators import is_sequence
from ...kernels.array_like import as_like
from ...kernels.conversion import cast
from ...kernels.rows import as_array, check_array
from .. import creation
from ..manipulation import reshape


def array_of(function: str, value: Any, like: VkArray) -> VkArray:
    """An array as it is, or a number, list or scalar of NumPy's as an array of its default type on the device of another array.

    Raises TypeError for anything else, NumPy's arrays among it.
    """
    if type(value) is VkArray:
        return value
    if type(value) in (bool, float, complex) or (type(value) is int and abs(value) < 1 << 63):
        kind = promotion.KIND_NAMES[promotion.scalar_kind(value)]
        return as_array(function, value, default_dtype(kind, like._device), like)
    return check_array(function, as_like(value, like._device, True))


def arrays_of(function: str, values: Iterable[Any]) -> list[VkArray]:
    """`array_of` for several values, on the device of the first array among them."""
    listed = list(values)
    first = next((value for value in listed if type(value) is VkArray), None)
    if first is None:
        return [check_array(function, as_like(value, None, True)) for value in listed]
    return [array_of(function, value, first) for value in listed]


def sequence(function: str, values: Any) -> list[Any]:
    """The members of a sequence, or the rows of an array. Raises TypeError for anything else."""
    if type(values) is not VkArray and not is_sequence(values):
        raise TypeError(
            f"{function}: arrays to stack must be a sequence, such as a list or tuple, got {type(values).__name__}. Make a "
            "list of it."
        )
    return list(values)


def values_for(function: str, values: Any, target: VkArray) -> VkArray:
    """What is assigned to elements of an array, in its type: floats are cut off in an array of integers, as NumPy does.

    Raises TypeError for complex numbers in a real array and for what is no number, OverflowError for a Python integer out
    of range.
    """
    dtype = target._dtype
    if type(values) is VkArray:
        promotion.check_category(function, values._dtype, _TAKES.get(dtype.kind, "real"))
        return cast(values, dtype)
    if promotion.is_scalar(values) and not hasattr(values, "dtype"):
        kind = promotion.KIND_NAMES[promotion.scalar_kind(values)]
        if kind == "complex" and dtype.kind not in "cb":
            raise TypeError(f"{function}: a Python complex does not fit into an array of {dtype}. Take its real part.")
        if dtype is dtypes.bool_:
            values = bool(values)
        elif kind == "float" and dtype.kind in "iu":
            values = promotion.whole(values, function, dtype)
        return as_array(function, values, dtype, target)
    if not is_sequence(values) and not promotion.is_scalar(values):
        return cast(array_of(function, values, target), dtype)
    return creation.asarray(values, dtype=dtype, device=target._device)


_TAKES = {"b": "all", "c": "all"}  # which types an array of a kind takes; others take real ones


def indices_of(function: str, indices: Any, like: VkArray, error: type[Exception] = TypeError) -> VkArray:
    """Indices as an array of integers on the device of another array: lists and NumPy's arrays of them too, as in keys.

    Raises `error` for other types.
    """
    if type(indices) is not VkArray:
        indices = creation.asarray(indices, device=like._device)
    if indices.size == 0 and indices._dtype.kind == "f":  # the type of an empty list says nothing
        indices = cast(indices, default_dtype("int", like._device))
    promotion.check_category(function, indices._dtype, "integer or boolean", error)
    return index_type(indices)


def index_type(x: VkArray) -> VkArray:
    """Integers (or bools) in a type that can count elements: unsigned ones that are as wide stay, as they may be out of range."""
    wanted = default_dtype("int", x._device)
    return x if x._dtype.kind == "u" and x._dtype.bits >= wanted.bits else cast(x, wanted)


def cast_for(function: str, x: VkArray, dtype: DType | None, casting: str) -> VkArray:
    """x in another type, where one is asked for. Raises TypeError where the casting does not allow it."""
    if dtype is None:
        return x
    wanted = dtypes.as_dtype(dtype, function)
    operations["check_casting"](x, wanted, casting)
    check_supported(wanted, x._device, function)
    return cast(x, wanted)


def is_integer(x: VkArray) -> bool:
    """Whether an array has integers or bools."""
    return x._dtype in CATEGORIES["integer or boolean"]


def with_dimension(x: VkArray) -> VkArray:
    """An array of 0 dimensions as one of a single element; others as they are."""
    return x if x.ndim else x._view((1,), (0,))


def flattened(x: VkArray, axis: int | None, function: str) -> tuple[VkArray, int]:
    """An array and an axis of it: the array in one dimension for None. Raises IndexError for an axis out of range.

    A number beside arrays of other parameters is an array of one element.
    """
    x = check_array(function, as_like(x, None, True))
    if axis is None:
        return (x if x.ndim == 1 else reshape(x, (-1,))), 0
    return x, layout.normalize_axis(axis, x.ndim, function)
