"""Random numbers: those of `vkarray.random`, others in each call. What drops elements in training stays refused."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch

import vkarray as vx

from ....core.dtypes import REAL_OF
from ..table import ROWS, Row, row

Sizes = Sequence[Any]
_WIDE = ("float32", "float64")


def _drawn(call: Any, function: Any, size: Sizes) -> Any:
    """Numbers of a function of `vkarray.random`, in the type of the result or of its parts where it draws that one, else in
    float32."""
    dtype = REAL_OF.get(call.dtype, call.dtype)
    draw = functools.partial(function, size=tuple(size), dtype=dtype if dtype.name in _WIDE else vx.float32)
    return draw() + 1j * draw() if call.dtype.kind == "c" else draw()


def _uniform(call: Any, size: Sizes) -> Any:
    """Numbers from 0 to below 1, which a short type may not round up to 1; so are both parts of complex ones."""
    found = _drawn(call, vx.random.random, size)
    if call.dtype.name in _WIDE or call.dtype.kind == "c":
        return found
    steps = 1 / vx.finfo(call.dtype).eps
    return vx.floor(found * steps) / steps


def _standard_normal(call: Any, size: Sizes) -> Any:
    """Numbers of variance 1, which both parts of complex ones share."""
    found = _drawn(call, vx.random.standard_normal, size)
    return found * math.sqrt(0.5) if call.dtype.kind == "c" else found


@row("rand")
def _rand(call: Any, size: Sizes, **options: Any) -> Any:
    return _uniform(call, size)


@row("rand_like")
def _rand_like(call: Any, x: Any, **options: Any) -> Any:
    return _uniform(call, x.shape)


@row("randn")
def _randn(call: Any, size: Sizes, **options: Any) -> Any:
    return _standard_normal(call, size)


@row("randn_like")
def _randn_like(call: Any, x: Any, **options: Any) -> Any:
    return _standard_normal(call, x.shape)


@row("normal_functional")
def _normal_like(call: Any, x: Any, mean: float = 0.0, std: float = 1.0, **options: Any) -> Any:
    return _standard_normal(call, x.shape) * std + mean


@row("randint", "randint.low", "randint_like", "randint_like.low_dtype")
def _integers(call: Any, *given: Any, **options: Any) -> Any:
    *bounds, size = (*given[1:], given[0].shape) if call.name == "randint_like" else given
    low, high = bounds if len(bounds) == 2 else (0, *bounds)
    drawn = call.dtype if vx.isdtype(call.dtype, "integral") else vx.int32
    return vx.random.integers(low, high, size=tuple(size), dtype=drawn)


@row("randperm")
def _permutation(call: Any, count: Any, **options: Any) -> Any:
    return vx.random.permutation(vx.arange(count, dtype=call.dtype))


def _normal(call: Any, size: Sizes, *, mean: float, std: float, **options: Any) -> Any:
    return _standard_normal(call, size) * std + mean


def _between(call: Any, size: Sizes, *, low: float, high: float, **options: Any) -> Any:
    return _uniform(call, size) * (high - low) + low


for _name, _function in (("normal", _normal), ("uniform", _between)):
    ROWS[getattr(torch.ops.prims, _name).default] = Row(_function, "", None)


def _drops(call: Any, *given: Any, **options: Any) -> str | None:
    return (
        "it draws random numbers as layers do in training. Call model.eval() before, or give the numbers as an argument"
    )


@row("native_dropout", "bernoulli", "bernoulli.p", "bernoulli.Tensor", "rrelu_with_noise_functional", limit=_drops)
def _dropped(call: Any, *given: Any, **options: Any) -> Any:
    raise NotImplementedError(_drops(call))
