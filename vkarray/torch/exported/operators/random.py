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


@row("rand", "rand.generator")
def _rand(call: Any, size: Sizes, **options: Any) -> Any:
    return _uniform(call, size)


@row("rand_like", "rand_like.generator")
def _rand_like(call: Any, x: Any, **options: Any) -> Any:
    return _uniform(call, x.shape)


@row("randn", "randn.generator")
def _randn(call: Any, size: Sizes, **options: Any) -> Any:
    return _standard_normal(call, size)


@row("randn_like", "randn_like.generator")
def _randn_like(call: Any, x: Any, **options: Any) -> Any:
    return _standard_normal(call, x.shape)


@row("normal_functional")
def _normal_like(call: Any, x: Any, mean: float = 0.0, std: float = 1.0, **options: Any) -> Any:
    return _standard_normal(call, x.shape) * std + mean


@row(
    "randint", "randint.low", "randint_like", "randint_like.low_dtype",
    "randint.generator", "randint.low_generator", "randint_like.generator", "randint_like.low_generator_dtype",
)  # fmt: skip
def _integers(call: Any, *given: Any, **options: Any) -> Any:
    *bounds, size = (*given[1:], given[0].shape) if call.name == "randint_like" else given
    low, high = bounds if len(bounds) == 2 else (0, *bounds)
    return _whole(call, low, high, size)


def _whole(call: Any, low: int, high: int, size: Sizes) -> Any:
    drawn = call.dtype if vx.isdtype(call.dtype, "integral") else vx.int32
    return vx.random.integers(low, high, size=tuple(size), dtype=drawn)


@row("random", "random.to", "random.from")
def _overwritten(call: Any, x: Any, *bounds: Any, **options: Any) -> Any:
    """Integers from 0, or between bounds; without any, all that the type holds exactly."""
    if not bounds:
        digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "bool": 1}
        bounds = (1 << digits[x.dtype.name] if x.dtype.name in digits else vx.iinfo(x.dtype).max,)
    low, high = bounds if len(bounds) == 2 else (0, *bounds)
    if high is None:
        high = vx.iinfo(x.dtype).max
    whole = vx.random.integers(low, high, size=tuple(x.shape), dtype=vx.int64 if high >= 1 << 31 else vx.int32)
    return vx.astype(whole, x.dtype)


@row("randperm", "randperm.generator")
def _permutation(call: Any, count: Any, **options: Any) -> Any:
    return vx.random.permutation(vx.arange(count, dtype=call.dtype))


def _normal(call: Any, size: Sizes, *, mean: float, std: float, **options: Any) -> Any:
    return _standard_normal(call, size) * std + mean


def _between(call: Any, size: Sizes, *, low: float, high: float, **options: Any) -> Any:
    return _uniform(call, size) * (high - low) + low


for _name, _function in (("normal", _normal), ("uniform", _between)):
    ROWS[getattr(torch.ops.prims, _name).default] = Row(_function, "", None)


@row("poisson")
def _poisson(call: Any, rates: Any, *_: Any, **options: Any) -> Any:
    return vx.random.poisson(_wide(rates))


@row("binomial")
def _binomial(call: Any, counts: Any, shares: Any, *_: Any, **options: Any) -> Any:
    return vx.random.binomial(vx.astype(counts, vx.int32), _wide(shares))


@row("_standard_gamma")
def _gamma(call: Any, shapes: Any, *_: Any, **options: Any) -> Any:
    shapes = _wide(shapes)
    return vx.random.standard_gamma(shapes, dtype=shapes.dtype)


@row("_sample_dirichlet")
def _dirichlet(call: Any, shapes: Any, *_: Any, **options: Any) -> Any:
    found = _gamma(call, shapes)
    return found / vx.sum(found, axis=-1, keepdims=True)


@row("bernoulli", "bernoulli.Tensor")
def _chosen(call: Any, x: Any, shares: Any = None, **options: Any) -> Any:
    shares = _wide(x if shares is None else shares)
    return vx.random.random(tuple(x.shape), dtype=shares.dtype) < shares


@row("multinomial")
def _places(call: Any, weights: Any, count: int, replacement: bool = False, **options: Any) -> Any:
    """Without replacement those of the largest weights times what exponential variates have as inverses (Efraimidis and Spirakis,
    Information Processing Letters 97, 2006); with it, where sums of weights exceed a part of all of them."""
    weights = _wide(weights)
    if not replacement:
        waiting = vx.random.standard_exponential(tuple(weights.shape), dtype=weights.dtype) / weights
        return vx.argsort(waiting, axis=-1)[..., :count]
    sums = vx.cumulative_sum(weights, axis=-1)
    parts = vx.random.random((*weights.shape[:-1], count), dtype=weights.dtype) * sums[..., -1:]
    found = vx.sum(parts[..., None] >= sums[..., None, :], axis=-1)
    return vx.minimum(found, weights.shape[-1] - 1)


def _wide(x: Any) -> Any:
    """An array in a type that numbers are drawn in."""
    return x if x.dtype.name in _WIDE else vx.astype(x, vx.float32)


def _drops(call: Any, *given: Any, **options: Any) -> str | None:
    return (
        "it draws random numbers as layers do in training. Call model.eval() before, or give the numbers as an argument"
    )


@row("native_dropout", "bernoulli.p", "rrelu_with_noise_functional", limit=_drops)
def _dropped(call: Any, *given: Any, **options: Any) -> Any:
    raise NotImplementedError(_drops(call))
