"""Indexing: `x[key]`, `x[key] = value`, and the standard's `take` and `take_along_axis`."""

from __future__ import annotations

from typing import Any

from .. import layout, promotion
from ..array import VkArray, operations
from ..dtypes import CATEGORIES, DType
from . import launch
from .key import Selection, expand, select
from .rows import cast_operation

_KIND_ORDER = {
    "bool": 0, "signed integer": 1, "unsigned integer": 1, "real floating": 2, "complex floating": 3,
}  # fmt: skip
_SCALAR_NAMES = ("bool", "int", "float", "complex")


def _entries(key: Any, function: str) -> list[Any]:
    """A key as a list of integers, slices, None and `...`."""
    return [_entry(item, function) for item in (key if type(key) is tuple else (key,))]


def _entry(item: Any, function: str) -> Any:
    if item is None or item is Ellipsis or type(item) is int or type(item) is slice:
        return item
    if hasattr(item, "__index__"):
        return item.__index__()
    raise TypeError(
        f"{function}: an index must be an integer, a slice, `...`, None, or an array (or list) of integers or bools, "
        f"got {type(item).__name__}."
    )


def _select(x: VkArray, key: Any, function: str) -> Selection:
    return select(expand(_entries(key, function), x.ndim, function), x._shape, x._strides, function)


def getitem(x: VkArray, key: Any, /) -> VkArray:
    """`x[key]`: a view of x for integers, slices, `...` and None."""
    selection = _select(x, key, "getitem")
    return x._view(selection.shape, selection.strides, selection.offset)


def setitem(x: VkArray, key: Any, value: Any, /) -> None:
    """`x[key] = value`: value (an array or a Python scalar) is broadcast into the selection and cast to x's dtype.

    Raises IndexError as `getitem` does, TypeError for a value of a higher kind than x's, OverflowError for a Python
    integer out of range, ValueError for a shape that does not broadcast into the selection.
    """
    selection = _select(x, key, "setitem")
    value = _as_value(value, x)
    if layout.has_internal_overlap(x._shape, x._strides):
        raise ValueError("setitem: elements of the target share memory (a broadcast view). Copy it first.")
    value = _broadcastable(value, selection.shape)
    operation = cast_operation(value._dtype, x._dtype)
    launch.elementwise(operation, (value,), x._view(selection.shape, selection.strides, selection.offset))


def _as_value(value: Any, x: VkArray) -> VkArray:
    """What is assigned, as an array on the device of `x` whose kind fits."""
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if type(value) is VkArray:
        if value._device is not x._device:
            raise ValueError(
                f"setitem: the value is on the device {value._device}, the array on {x._device}. "
                f"Move one with x.to_device(device)."
            )
        _check_kind(_KIND_ORDER[value._dtype.kind], value._dtype.name, x._dtype)
        return value
    if not promotion.is_scalar(value):
        raise TypeError(
            f"setitem: expected a vkarray array or a Python scalar as value, got {type(value).__name__}. "
            f"Convert it with vkarray.asarray."
        )
    kind = promotion.scalar_kind(value)
    _check_kind(kind, f"a Python {_SCALAR_NAMES[kind]}", x._dtype)
    if x._dtype in CATEGORIES["integer"]:
        promotion.check_scalar_range("setitem", value, x._dtype)
    return launch.constant(value, x._dtype, x._device)


def _check_kind(kind: int, described: str, dtype: DType) -> None:
    """Raise TypeError when a value would lose its kind (NumPy's rule "same_kind", with all integers of one kind)."""
    if kind > _KIND_ORDER[dtype.kind]:
        raise TypeError(
            f"setitem: {described} does not fit into an array of {dtype} without losing its kind. "
            f"Convert the value with vkarray.astype(value, vkarray.{dtype})."
        )


def _broadcastable(value: VkArray, shape: layout.Shape) -> VkArray:
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


operations.update(getitem=getitem, setitem=setitem)
