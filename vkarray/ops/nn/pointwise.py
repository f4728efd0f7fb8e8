"""Elementwise formulas beyond the standard's: what networks and their gradients need. Rows without a public function."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from ...array import VkArray, empty, is_supported
from ...dtypes import CATEGORIES, DType, bool_
from ...shaders import Variant
from .. import launch
from ..launch import Operation
from ..rows import Row

FORMULAS: dict[str, Row] = {}


def _formula(operands: int, name: str, category: str, expression: str | dict[str, str], **options: Any) -> Row:
    row = FORMULAS[name] = Row(name, operands, category, expression, "", **options)
    return row


add_scaled = _formula(3, "add_scaled", "numeric", {"complex floating": "a + vx_multiply(c, b)", "else": "a + c * b"},
                      library="arithmetic")  # fmt: skip
truncated_divide = _formula(2, "truncated_divide", "real numeric", "vx_truncated_divide(a, b)", library="/pointwise")
fmod = _formula(2, "fmod", "real numeric", "vx_fmod(a, b)", library="/pointwise")

sigmoid = _formula(1, "sigmoid", "real floating", "vx_sigmoid(a)", library="/pointwise")
sigmoid_backward = _formula(2, "sigmoid_backward", "real floating", "a * (T(1) - b) * b")
tanh_backward = _formula(2, "tanh_backward", "real floating", "a * (T(1) - b * b)")
relu = _formula(1, "relu", "real numeric", {"integer": "max(a, T(0))", "else": "vx_relu(a)"}, library="/pointwise")
threshold_backward = _formula(3, "threshold_backward", "real numeric", "b <= c ? T(0) : a")


@functools.cache
def masked_scale_operation(dtype: DType) -> Operation:
    """a * c where b is true, 0 elsewhere (dropout and its gradient)."""
    return Operation(f"masked scale {dtype}", "b ? a * c : T(0)", (dtype, bool_, dtype), dtype, dtype)


def masked_scale(x: VkArray, mask: VkArray, scale: float) -> VkArray:
    """x * scale where the mask, of the same shape, is true, 0 elsewhere."""
    factor = launch.constant(scale, x._dtype, x._device)
    result = empty(x._shape, x._dtype, x._device)
    return launch.elementwise(masked_scale_operation(x._dtype), (x, mask, factor), result)


def _operations() -> Iterator[Operation]:
    for row in FORMULAS.values():
        yield from (row.operation(dtype) for dtype in row.accepted())
    yield from (masked_scale_operation(dtype) for dtype in CATEGORIES["real floating"])


def variants(device: Any) -> Iterator[Variant]:
    """The shaders of all formulas on their types, for the archive."""
    for operation in _operations():
        if all(is_supported(one, device) for one in (*operation.inputs, operation.result)):
            for flat in (True, False):
                yield operation.variant(device, flat)
