"""Random numbers, and what draws them."""

from __future__ import annotations

import struct
from typing import Any

import vkarray as vx

from ..interpreter import Call, described_dtype, shape_of
from ..table import FLOAT32, operator
from ..types import dtype_of


def _generator(call: Call, seed: float | None) -> Any:
    """The library's generator, or one of a seed, which draws the same in every call."""
    if seed is None:
        return vx.random
    return vx.random.default_rng(struct.unpack("<I", struct.pack("<f", seed))[0], device=call.runner.device)


def _dtype(number: int | None, like: Any) -> Any:
    return described_dtype(like) if number is None else dtype_of(number, "the attribute 'dtype'")


@operator("RandomNormal")
def _normal(
    call: Call, *, shape: Any, dtype: int = 1, mean: float = 0.0, scale: float = 1.0, seed: float | None = None
) -> Any:
    return call.cast(_generator(call, seed).normal(mean, scale, size=tuple(shape)), _dtype(dtype, None))


@operator("RandomNormalLike", shape_only=True)
def _normal_like(
    call: Call, x: Any, *, dtype: int | None = None, mean: float = 0.0, scale: float = 1.0, seed: float | None = None
) -> Any:
    return call.cast(_generator(call, seed).normal(mean, scale, size=shape_of(x)), _dtype(dtype, x))


@operator("RandomUniform")
def _uniform(
    call: Call, *, shape: Any, dtype: int = 1, high: float = 1.0, low: float = 0.0, seed: float | None = None
) -> Any:
    return call.cast(_generator(call, seed).uniform(low, high, size=tuple(shape)), _dtype(dtype, None))


@operator("RandomUniformLike", shape_only=True)
def _uniform_like(
    call: Call, x: Any, *, dtype: int | None = None, high: float = 1.0, low: float = 0.0, seed: float | None = None
) -> Any:
    return call.cast(_generator(call, seed).uniform(low, high, size=shape_of(x)), _dtype(dtype, x))


@operator("Bernoulli", since=15)
def _bernoulli(call: Call, p: Any, *, dtype: int | None = None, seed: float | None = None) -> Any:
    """True with a probability: ONNX's own function for it is true with one minus that."""
    drawn = _generator(call, seed).uniform(0.0, 1.0, size=p.shape)
    return call.cast(drawn < call.cast(p, drawn.dtype), _dtype(dtype, p))


@operator("Multinomial", half=FLOAT32)
def _multinomial(call: Call, x: Any, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None) -> Any:
    """Classes drawn by the logarithms of their probabilities: the largest of these with Gumbel noise."""
    drawn = _generator(call, seed).uniform(0.0, 1.0, size=(x.shape[0], sample_size, x.shape[1]))
    noise = -vx.log(-vx.log(call.cast(drawn, x.dtype)))
    return call.cast(vx.argmax(x[:, None] + noise, axis=-1), _dtype(dtype, None))


@operator("Dropout")
def _keep(call: Call, x: Any, *, ratio: float = 0.5) -> Any:
    return x, vx.ones(x.shape, dtype=vx.bool, device=x.device)


@operator("Dropout", since=12, host=(1, 2))
def _drop(call: Call, x: Any, ratio: Any = None, training: Any = None, *, seed: int | None = None) -> Any:
    share = 0.5 if ratio is None else float(ratio.reshape(-1)[0])
    if training is None or not training.reshape(-1)[0] or share == 0:
        return _keep(call, x)
    generator = vx.random if seed is None else vx.random.default_rng(seed, device=call.runner.device)
    kept = generator.uniform(0.0, 1.0, size=x.shape) >= share
    return vx.where(kept, call.cast(x / (1 - share), x.dtype), vx.zeros_like(x)), kept
