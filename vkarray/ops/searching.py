"""Searching functions of the standard (`nonzero` has its own file)."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, overload

from ..core import dtypes, layout, promotion
from ..core.array import (
    ArrayLike,
    VkArray,
    check_supported,
    default_dtype,
    empty,
    is_supported,
    operations,
    storage_itemsize,
)
from ..core.dtypes import CATEGORIES, DType
from ..kernels import launch
from ..kernels.conversion import cast, elementwise
from ..kernels.dispatch import pointer
from ..kernels.planned import planned
from ..kernels.reductions import Reduction, checked, row, with_kept_axes
from ..kernels.rows import as_array, as_operand, check_operands, common_dtype
from ..shaders.source import Shader, Variant
from .indexing import take
from .reducing import Join, document, reduction

if TYPE_CHECKING:
    from ..kernels.launch import Device

_SEARCH = {"types": "index", "indexed": True, "library": "/statistics"}
_ARGMAX = row(
    "argmax", "real numeric", {"integer": "a > b", "else": "vx_is_larger(a, b)"}, order="vx_argmax", **_SEARCH
)
_ARGMIN = row(
    "argmin", "real numeric", {"integer": "a < b", "else": "vx_is_smaller(a, b)"}, order="vx_argmin", **_SEARCH
)


def _place(made: Reduction, x: VkArray, axis: int | None, out: VkArray | None, keepdims: bool) -> VkArray:
    if isinstance(axis, (tuple, list)):
        raise TypeError(
            f"{made.name}: expected one axis or None, got {axis!r}. Reshape x to search several axes at once."
        )
    axes = checked(made.name, x, axis)
    if x._dtype is dtypes.bool_:
        x = cast(x, dtypes.uint8)
    if x._dtype.kind == "c":
        result = operations[f"complex.{made.name}"](x, axis, keepdims)
    else:
        result = with_kept_axes(made.run(x, axes), x, axes, keepdims)
    return result if out is None else operations["write"](made.name, out, result)


@planned
def argmax(x: ArrayLike, /, axis: int | None = None, out: VkArray | None = None, *, keepdims: bool = False) -> VkArray:
    return _place(_ARGMAX, x, axis, out, keepdims)


@planned
def argmin(x: ArrayLike, /, axis: int | None = None, out: VkArray | None = None, *, keepdims: bool = False) -> VkArray:
    return _place(_ARGMIN, x, axis, out, keepdims)


document(
    argmax,
    _ARGMAX,
    "The place of the first largest element along an axis; of the first NaN if there is one.",
    "searching",
)
document(
    argmin,
    _ARGMIN,
    "The place of the first smallest element along an axis; of the first NaN if there is one.",
    "searching",
)

count_nonzero = reduction("count_nonzero", "all", "a + b", "The number of elements over axes that are not 0 (NaN is not).",
                          "searching", types="count", map="vx_to_{state}(vx_to_bool(a))", empty=0,
                          join=Join("add", 0))  # fmt: skip


# -- where ------------------------------------------------------------------------------------------------------


@functools.cache
def where_operation(dtype: DType) -> launch.Operation:
    """The choice between elements of one type; they are moved as their bits."""
    moved = launch.copy_operation(dtype).result
    return launch.Operation(f"where {dtype}", "a ? b : c", (dtypes.bool_, moved, moved), moved, moved)


@planned(integers=True)
def _chosen(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> VkArray:
    """`where` of three arguments."""
    check_operands("where", (condition, x1, x2))
    if type(condition) is not VkArray:
        condition = launch.constant(bool(condition), dtypes.bool_, (x1 if type(x1) is VkArray else x2)._device)
    if type(x1) is VkArray or type(x2) is VkArray:
        dtype = common_dtype("where", (x1, x2))
    else:
        kind = max(promotion.scalar_kind(x1), promotion.scalar_kind(x2))
        dtype = default_dtype(promotion.KIND_NAMES[kind], condition._device)
    check_supported(dtype, condition._device, "where", (x1, x2))
    chosen = (one if type(one) is VkArray else as_operand("where", one, dtype, condition) for one in (x1, x2))
    operands = (condition, *chosen)
    shape = layout.broadcast_shapes([operand._shape for operand in operands], "where")
    result = empty(shape, dtype, condition._device)
    return elementwise(where_operation(dtype), operands, result, (dtypes.bool_, dtype, dtype), dtype)


@overload
def where(condition: ArrayLike, /) -> tuple[VkArray, ...]: ...


@overload
def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> VkArray: ...


def where(condition: ArrayLike, x1: ArrayLike = None, x2: ArrayLike = None, /) -> VkArray | tuple[VkArray, ...]:
    """The elements of x1 where the condition is true, those of x2 elsewhere; with the condition alone, `nonzero` of it.

    Parameters: condition (bool, or what is true where it is not 0); x1, x2 (arrays of any dtype, numbers or lists); all on one
    device, broadcast together. Returns an array of the promoted dtype of x1 and x2 (for two numbers the default dtype of their
    kind), or a tuple of arrays of indices.
    Raises TypeError for other types, ValueError for shapes that do not broadcast or different devices, and for one of x1 and x2.
    Standard: searching functions, `where`.
    """
    if x1 is None and x2 is None:
        return operations["nonzero"](condition)
    if x1 is None or x2 is None:
        raise ValueError("where: expected both x1 and x2, or neither of them.")
    return _chosen(condition, x1, x2)


# -- searchsorted -----------------------------------------------------------------------------------------------


def _sorted_variant(dtype: DType, device: Device) -> Variant:
    integer = dtype in CATEGORIES["integer"]
    result = default_dtype("int", device)
    defines = [
        ("PRECEDES", "a < b" if integer else "vx_precedes(a, b)"),
        ("A_BYTES", str(storage_itemsize(dtype, device))),
        *launch.operand_defines("A", dtype), *launch.operand_defines("R", result), *launch.compute_defines(dtype),
        *launch.feature_defines((dtype, result), device),
        ("LIBRARY", launch.library_path(None if integer else "/statistics", dtype)),
    ]  # fmt: skip
    return Variant("index/search_sorted", tuple(defines), f"searchsorted {dtype}")


@planned
def searchsorted(
    x1: ArrayLike, x2: ArrayLike, /, side: str = "left", sorter: ArrayLike | None = None
) -> VkArray:  # fmt: skip
    """The places in the ascending x1 where the elements of x2 belong.

    Parameters: x1 (numeric or bool, 1 dimension, ascending with NaN last); x2 (an array or a Python scalar); side
    ("left": before equal elements, "right": after them); sorter (integers that sort x1, when x1 is not sorted).
    Returns an array of the default integer dtype and the shape of x2.
    Raises TypeError for other types, ValueError for another rank or side, or a sorter of another shape.
    Method: binary search, in the promoted dtype of x1 and x2.
    Standard: searching functions, `searchsorted`.
    """
    checked("searchsorted", x1, None)
    check_operands("searchsorted", (x1, x2))
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: expected side 'left' or 'right', got {side!r}.")
    if x1.ndim != 1:
        raise ValueError(f"searchsorted: expected x1 of 1 dimension, got shape {x1._shape}.")
    if sorter is not None:
        checked("searchsorted", sorter, None)
        if sorter._shape != x1._shape:
            raise ValueError(f"searchsorted: expected a sorter of the shape of x1, {x1._shape}, got {sorter._shape}.")
        x1 = take(x1, sorter)
    dtype = common_dtype("searchsorted", (x1, x2))
    if dtype.kind == "c":
        return operations["complex.searchsorted"](x1, x2, side)
    dtype = dtypes.uint8 if dtype is dtypes.bool_ else dtype
    promotion.check_category("searchsorted", dtype, "real numeric")
    check_supported(dtype, x1._device, "searchsorted", (x1, x2))
    keys, values = (launch.contiguous(as_array("searchsorted", operand, dtype, x1)) for operand in (x1, x2))
    device = x1._device
    result = empty(values._shape, default_dtype("int", device), device)
    variant = _sorted_variant(dtype, device)
    count = math.prod(values._shape)
    for first in range(0, count, layout.INDEX_LIMIT):
        part = min(count - first, layout.INDEX_LIMIT)
        fields = {
            "keys": keys,
            "values": pointer(values, first),
            "results": pointer(result, first),
            "key_count": x1._shape[0],
            "value_count": part,
            "right": int(side == "right"),
        }
        launch.dispatch(variant, device, launch.groups_for(part, device.limits), fields, writes=("results",))
    return result


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of `where` and `searchsorted`, for the archive."""
    for dtype in dtypes.DTYPES.values():
        if is_supported(dtype, device):
            yield from where_operation(dtype).variants(device)
            if dtype in CATEGORIES["real numeric"]:
                yield _sorted_variant(dtype, device)


operations.update(
    argmax=argmax, argmin=argmin, count_nonzero=count_nonzero, searchsorted=searchsorted, where=_chosen
)  # fmt: skip
