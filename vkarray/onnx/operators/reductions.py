"""Reductions, running sums, and normalized exponentials."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import vkarray as vx

from ...nn import softmax as nn
from ..interpreter import Call
from ..table import FLOAT32, INSIDE, WIDEST, axes_of, axis_of, operator

_Reduction = Callable[[Call, Any, tuple[int, ...], bool], Any]


def _least(call: Call, x: Any, sign: int) -> Any:
    if x.dtype == bool:
        return sign < 0
    if x.dtype.name.startswith(("int", "uint")):
        return (np.iinfo(x.dtype.name).min, np.iinfo(x.dtype.name).max)[sign > 0]
    return sign * np.inf


def _extreme(name: str, sign: int) -> _Reduction:
    def reduce(call: Call, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
        if x.dtype == bool:
            return getattr(call.xp, {"max": "any", "min": "all"}[name])(x, axis=axes, keepdims=keepdims)
        if any(x.shape[axis] == 0 for axis in axes):
            shape = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape) if keepdims or axis not in axes)
            return call.xp.full(shape, _least(call, x, sign), dtype=x.dtype)
        return getattr(call.xp, name)(x, axis=axes, keepdims=keepdims)

    return reduce


def _summed(call: Call, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return call.xp.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)


def _mean(call: Call, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if x.dtype.name.startswith(("int", "uint")):
        count = math.prod(x.shape[axis] for axis in axes)
        return call.cast(call.xp.trunc(_summed(call, x, axes, keepdims) / count), x.dtype)
    return call.xp.mean(x, axis=axes, keepdims=keepdims)


def _log_sum_exp(call: Call, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if x.dtype.name.startswith(("int", "uint")):
        return call.cast(_log_sum_exp(call, call.cast(x, vx.float32), axes, keepdims), x.dtype)
    if 0 in x.shape:
        return call.xp.log(_summed(call, call.xp.exp(x), axes, keepdims))
    largest = call.xp.max(x, axis=axes, keepdims=True)
    finite = call.xp.where(call.xp.isfinite(largest), largest, call.xp.zeros_like(largest))
    found = call.xp.log(_summed(call, call.xp.exp(x - finite), axes, True)) + finite
    return found if keepdims else call.xp.squeeze(found, axis=axes)


# Each also with the axes as an input, from the version on that is named.
_REDUCTIONS: dict[str, tuple[int, _Reduction]] = {
    "ReduceMax": (18, _extreme("max", -1)),
    "ReduceMin": (18, _extreme("min", 1)),
    "ReduceSum": (13, _summed),
    "ReduceMean": (18, _mean),
    "ReduceProd": (18, lambda call, x, axes, keepdims: call.xp.prod(x, axis=axes, keepdims=keepdims, dtype=x.dtype)),
    "ReduceL1": (18, lambda call, x, axes, keepdims: _summed(call, call.xp.abs(x), axes, keepdims)),
    "ReduceL2": (
        18,
        lambda call, x, axes, keepdims: call.cast(call.xp.sqrt(_summed(call, x * x, axes, keepdims)), x.dtype),
    ),
    "ReduceSumSquare": (18, lambda call, x, axes, keepdims: _summed(call, x * x, axes, keepdims)),
    "ReduceLogSum": (
        18,
        lambda call, x, axes, keepdims: call.cast(call.xp.log(_summed(call, x, axes, keepdims)), x.dtype),
    ),
    "ReduceLogSumExp": (18, _log_sum_exp),
}


def _by_attribute(reduction: _Reduction) -> Callable[..., Any]:
    def function(call: Call, x: Any, *, axes: Any = None, keepdims: int = 1) -> Any:
        chosen = tuple(axes_of(axes or range(x.ndim), x.ndim))
        return reduction(call, x, chosen, bool(keepdims))

    return function


def _by_input(reduction: _Reduction) -> Callable[..., Any]:
    def function(call: Call, x: Any, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        if (axes is None or not axes.size) and noop_with_empty_axes:
            return reduction(call, x[None], (0,), False)  # what it does to each element
        chosen = None if axes is None or not axes.size else axes.reshape(-1).tolist()
        return _by_attribute(reduction)(call, x, axes=chosen, keepdims=keepdims)

    return function


for _name, (_since, _reduction) in _REDUCTIONS.items():
    _half = WIDEST if _name in ("ReduceMax", "ReduceMin") else FLOAT32
    operator(_name, numpy=True, half=_half)(_by_attribute(_reduction))
    operator(_name, since=_since, host=(1,), numpy=True, half=_half)(_by_input(_reduction))


def _place(name: str) -> Callable[..., Any]:
    def function(call: Call, x: Any, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Any:
        axis = axis_of(axis, x.ndim)
        if select_last_index:
            found = (
                x.shape[axis]
                - 1
                - getattr(call.xp, name)(call.xp.flip(x, axis=axis), axis=axis, keepdims=bool(keepdims))
            )
        else:
            found = getattr(call.xp, name)(x, axis=axis, keepdims=bool(keepdims))
        return call.cast(found, call.int64)

    return function


operator("ArgMax", numpy=True)(_place("argmax"))
operator("ArgMin", numpy=True)(_place("argmin"))


def _running(name: str) -> Callable[..., Any]:
    def function(call: Call, x: Any, axis: Any, *, exclusive: int = 0, reverse: int = 0) -> Any:
        along = axis_of(int(axis.reshape(())), x.ndim)
        given = call.xp.flip(x, axis=along) if reverse else x
        if exclusive:
            key = (slice(None),) * along
            first = call.xp.full_like(given[(*key, slice(0, 1))], name == "cumulative_prod")
            given = call.xp.concat([first, given[(*key, slice(0, -1))]], axis=along)
        found = getattr(call.xp, name)(given, axis=along, dtype=x.dtype)
        return call.xp.flip(found, axis=along) if reverse else found

    return function


operator("CumSum", since=11, host=(1,), numpy=True, half=FLOAT32)(_running("cumulative_sum"))
operator("CumProd", since=26, host=(1,), numpy=True, half=FLOAT32)(_running("cumulative_prod"))


def _hardest(call: Call, x: Any, *, axis: int = -1) -> Any:
    axis = axis_of(axis, x.ndim)
    places = vx.argmax(x, axis=axis, keepdims=True)
    shape = [1] * x.ndim
    shape[axis] = -1
    return vx.astype(places == vx.reshape(call.array(range(x.shape[axis]), "int64"), tuple(shape)), x.dtype)


def _softmax(call: Call, x: Any, *, axis: int = -1) -> Any:
    return nn.softmax(x, axis=axis_of(axis, x.ndim))


def _log_softmax(call: Call, x: Any, *, axis: int = -1) -> Any:
    return nn.log_softmax(x, axis=axis_of(axis, x.ndim))


def _of_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """As before version 13: of all that follows an axis at once."""

    def rows(call: Call, x: Any, *, axis: int = 1) -> Any:
        axis = axis_of(axis, x.ndim)
        flat = vx.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))
        return vx.reshape(function(call, flat, axis=-1), x.shape)

    return rows


for _name, _function, _half in (
    ("Softmax", _softmax, INSIDE), ("LogSoftmax", _log_softmax, FLOAT32), ("Hardmax", _hardest, WIDEST),
):  # fmt: skip
    operator(_name, half=_half)(_of_rows(_function))
    operator(_name, since=13, half=_half)(_function)
