"""Values that come from no tensor: fills, ranges."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ...core import dtypes
from ...core.array import VkArray, is_supported
from ...core.dtypes import CATEGORIES, DType
from ...kernels import launch
from ...ops import creation as vx
from ...ops.elementwise import pow as power
from ..device import chosen
from ..dispatch import limits, table
from ..dispatch.plans import planned
from ..dispatch.pointwise import number
from ..dispatch.table import direct
from ..tensors.storage import FROM_TORCH, array_of
from ..tensors.transfer import assign


def fill(array: VkArray, value: Any) -> VkArray:
    """Set all elements to a Python number."""
    dtype = array._dtype
    scalar = launch.scalar(number(value, dtype), dtype, array._device)
    return launch.elementwise(launch.copy_operation(dtype), (scalar,), array)


def _fill_number(tensor: Tensor, value: Any) -> Tensor:  # elements may share memory: they all get one value
    limits.check_number(value, FROM_TORCH[tensor.dtype])
    fill(array_of(tensor), value if tensor.is_complex() or tensor.dtype is torch.bool else value.real)
    return tensor


def _fill_tensor(tensor: Tensor, value: Tensor) -> Tensor:
    if value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    if value.is_cpu:
        return _fill_number(tensor, value.item())
    table.check_target(tensor)
    assign(array_of(tensor), array_of(value))
    return tensor


def _zero(tensor: Tensor) -> Tensor:
    return _fill_number(tensor, 0)


direct("fill_.Scalar", planned(_fill_number))
direct("fill_.Tensor", planned(_fill_tensor))
direct("zero_", planned(_zero))


def into(out: Tensor, array: VkArray) -> Tensor:
    """An argument `out`, resized where it has another shape, with the values of an array."""
    assign(array_of(table.resized(out, array._shape)), array)
    return out


@functools.lru_cache(maxsize=1024, typed=True)
def _arange_length(start: Any, end: Any, step: Any, dtype: torch.dtype) -> int:
    """How many elements `arange` has. Raises PyTorch's errors."""
    out = torch.empty(0, dtype=dtype, device="meta")
    length: int = torch.ops.aten.arange.start_out(start, end, step, out=out).numel()
    return length


def _arange(start: Any, end: Any, step: Any = 1, *, out: Tensor) -> Tensor:
    length = _arange_length(start, end, step, out.dtype)
    dtype = FROM_TORCH[out.dtype]
    if dtype in CATEGORIES["integer"]:
        start, step = int(start), int(step)
    array = vx.arithmetic_progression(start, step, length, dtype, chosen(out.device))
    return into(out, array)


def _linspace(start: Any, end: Any, steps: int, *, out: Tensor) -> Tensor:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if FROM_TORCH[out.dtype] in CATEGORIES["integer"]:
        start, end = int(start), int(end)
    return into(out, vx.linspace(start, end, steps, dtype=_spacing_dtype(out), device=chosen(out.device)))


def _eye(n: int, m: int | None = None, *, out: Tensor) -> Tensor:
    for length in (n, n if m is None else m):
        if length < 0:
            raise RuntimeError(f"n must be greater or equal to 0, got {length}")
    return into(out, vx.eye(n, n if m is None else m, dtype=FROM_TORCH[out.dtype], device=chosen(out.device)))


def _logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Tensor) -> Tensor:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if FROM_TORCH[out.dtype] in CATEGORIES["integer"]:
        start, end = int(start), int(end)
    exponents = vx.linspace(start, end, steps, dtype=_spacing_dtype(out), device=chosen(out.device))
    return into(out, power(base, exponents))


def _spacing_dtype(out: Tensor) -> DType:
    """The type to space values in: that of the result, float64 for integers where the device has it."""
    dtype = FROM_TORCH[out.dtype]
    if dtype in CATEGORIES["floating-point"] and dtype.bits > 16:
        return dtype
    wide = dtype in CATEGORIES["integer"] and is_supported(dtypes.float64, chosen(out.device))
    return dtypes.float64 if wide else dtypes.float32


def _zeros(
    size: Sequence[int], *, dtype: torch.dtype | None = None, layout: torch.layout | None = None, device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:  # fmt: skip
    """PyTorch's zeros without memory, for derivatives that are 0: here they have some."""
    return torch.zeros(size, dtype=dtype, device=device or "vulkan")


direct("_efficientzerotensor", _zeros)
direct("linspace.out", _linspace)
direct("logspace.out", _logspace)
direct("arange.start_out", _arange)
direct("eye.out eye.m_out", _eye)
