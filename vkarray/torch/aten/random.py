"""Random numbers on the device, by vkarray's counter-based generator: the same seed gives the same bits everywhere."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import dtypes, promotion
from ...core.array import VkArray, empty
from ...core.dtypes import CATEGORIES, DType
from ...kernels import launch
from ...kernels.conversion import cast
from ...nn import pointwise as nn
from ...nn.dropout import dropout
from ...ops import elementwise as vx
from ...ops.beyond.random import Generator
from .. import device as devices
from ..dispatch import limits, table
from ..dispatch.fallback import Unsupported
from ..dispatch.pointwise import elementwise
from ..dispatch.table import direct, native
from ..seeds import current
from ..tensors.storage import FROM_TORCH, array_of
from ..tensors.transfer import assign
from . import creation

# Bits of the numbers in [0, 1) of types that have fewer than float32: more would be rounded up to 1.
_BITS = {dtypes.float16: 11, dtypes.bfloat16: 8}

# -- numbers ----------------------------------------------------------------------------------------------------------


def _drawn_in(dtype: DType) -> DType:
    return dtype if dtype in (dtypes.float32, dtypes.float64) else dtypes.float32


def generator_of(tensor: Tensor, given: Any) -> Generator:
    """What draws the numbers of a tensor."""
    return current(devices.chosen(tensor.device), given)


def _uniforms(tensor: Tensor, dtype: DType, given: Any) -> VkArray:
    """Numbers in [0, 1) of a real floating type, as many as a tensor has elements."""
    bits, drawn, shape = _BITS.get(dtype), generator_of(tensor, given), tuple(tensor.shape)
    if bits is None:
        return drawn.random(shape, dtype=dtype)
    numbers = cast(drawn.integers(0, 1 << bits, size=shape, dtype=dtypes.int32), dtypes.float32)
    return cast(vx.multiply(numbers, 2.0**-bits), dtype)


def _filled(tensor: Tensor, numbers: VkArray) -> Tensor:
    table.check_target(tensor)
    assign(array_of(tensor), numbers)
    return tensor


def _check_floating(name: str, tensor: Tensor) -> DType:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        scalar = table.SCALAR_NAMES.get(tensor.dtype, str(tensor.dtype))
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar}'")
    return FROM_TORCH[tensor.dtype]


def _uniform(tensor: Tensor, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Tensor:
    dtype = _check_floating("check_uniform_bounds", tensor)
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")
    if tensor.is_complex():
        _uniform(torch.view_as_real(tensor), low, high, generator=generator)
        return tensor
    numbers = _uniforms(tensor, dtype, generator)
    if (low, high) != (0, 1):
        numbers = vx.add(vx.multiply(numbers, float(high - low)), float(low))
    return _filled(tensor, numbers)


def _normal(tensor: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    dtype = _check_floating("normal_kernel_cpu", tensor)
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if tensor.is_complex():
        _normal(torch.view_as_real(tensor), mean, std * 0.5**0.5, generator=generator)
        return tensor
    return _filled(
        tensor,
        generator_of(tensor, generator).normal(float(mean), float(std), tuple(tensor.shape), dtype=_drawn_in(dtype)),
    )


def _exponential(tensor: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    dtype = _check_floating("exponential_", tensor)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _filled(
        tensor, generator_of(tensor, generator).exponential(1 / lambd, tuple(tensor.shape), dtype=_drawn_in(dtype))
    )


def _integers(tensor: Tensor, low: int, high: int, given: Any) -> Tensor:
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    dtype = FROM_TORCH[tensor.dtype]
    info = torch.finfo(tensor.dtype) if tensor.is_floating_point() else None
    least, most = (info.min, info.max) if info else (0, 1) if dtype is dtypes.bool_ else promotion.integer_range(dtype)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise RuntimeError(f"random_: {name} is out of bounds for {dtype}, got {bound}")
    wide = dtypes.uint64 if high > 1 << 63 else dtypes.int64
    narrow = low >= -(1 << 31) and high <= 1 << 31
    numbers = generator_of(tensor, given).integers(
        low, high, size=tuple(tensor.shape), dtype=dtypes.int32 if narrow else wide
    )
    return _filled(tensor, numbers)


def _limit(dtype: DType) -> int:
    """One more than the largest integer that `random_` makes without bounds."""
    if dtype in CATEGORIES["integer or boolean"]:
        return 2 if dtype is dtypes.bool_ else promotion.integer_range(dtype)[1] + 1
    return 1 << {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}[dtype.name]


def _random(tensor: Tensor, *, generator: Any = None) -> Tensor:
    return _integers(tensor, 0, _limit(FROM_TORCH[tensor.dtype]), generator)


def _random_from(tensor: Tensor, low: int, high: int | None, *, generator: Any = None) -> Tensor:
    return _integers(tensor, low, _limit(FROM_TORCH[tensor.dtype]) if high is None else high, generator)


def _random_to(tensor: Tensor, high: int, *, generator: Any = None) -> Tensor:
    return _random_from(tensor, 0, high, generator=generator)


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")


def _bernoulli_number(tensor: Tensor, p: float = 0.5, *, generator: Any = None) -> Tensor:
    _check_probability(p)
    return _filled(tensor, vx.less(generator_of(tensor, generator).random(tuple(tensor.shape)), p))


def _bernoulli_into(tensor: Tensor, p: Tensor, *, generator: Any = None) -> Tensor:
    text = "bernoulli: expected probabilities in [0, 1], got {value}."
    probabilities = array_of(p)
    limits.check_within(text, p, 0, 1)
    dtype = _drawn_in(probabilities._dtype)
    numbers = generator_of(tensor, generator).random(tuple(tensor.shape), dtype=dtype)
    return _filled(tensor, vx.less(numbers, cast(probabilities, dtype)))


def _bernoulli(p: Tensor, *, generator: Any = None) -> Tensor:
    return _bernoulli_into(torch.empty_like(p), p, generator=generator)


def _bernoulli_out(p: Tensor, *, generator: Any = None, out: Tensor) -> Tensor:
    return _bernoulli_into(table.resized(out, p.shape), p, generator=generator)


def _permutation(n: int, *, generator: Any = None, out: Tensor) -> Tensor:
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got{n}")
    return creation.into(out, generator_of(out, generator).permutation(n))


direct("uniform_", _uniform)
direct("normal_", _normal)
direct("exponential_", _exponential)
direct("random_", _random)
direct("random_.from", _random_from)
direct("random_.to", _random_to)
direct("bernoulli_.float", _bernoulli_number)
direct("bernoulli_.Tensor", _bernoulli_into)
direct("bernoulli", _bernoulli)
direct("bernoulli.out", _bernoulli_out)
direct("randperm.generator_out", _permutation)

# -- dropout ----------------------------------------------------------------------------------------------------------


class _MaskedScale:
    """The first operand times the third where the second is true, 0 elsewhere."""

    result = "same"
    types = (None, dtypes.bool_, None)

    def operation(self, compute: DType) -> launch.Operation:
        """The operation for the type of the first operand."""
        return nn.masked_scale_operation(compute)


MASKED_SCALE = _MaskedScale()


def _dropout(x: VkArray, p: float, train: bool | None) -> tuple[VkArray, VkArray]:
    if train is False or p == 0:
        return launch.copy(x), creation.fill(empty(x._shape, dtypes.bool_, x._device), True)
    if not 0 <= p <= 1:
        raise RuntimeError(f"native_dropout expects p to be in [0, 1], but got p={p}")
    if x._dtype.category != "real floating":
        raise Unsupported(f"dropout of {x._dtype}")
    return dropout(x, p, current(x._device))


native("native_dropout", _dropout, state=True)
elementwise("native_dropout_backward", lambda grad, mask, scale: (MASKED_SCALE, grad, mask, scale))
