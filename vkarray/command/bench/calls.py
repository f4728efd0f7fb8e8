"""What a call costs: every kind of call on arrays so small that the host's work is what takes time, and transfers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..libraries import Library
from .work import CUDA, Check, Goal, Sizes, Values, Work, ahead_of_vulkan, factors, host_result, of_rows, whole

_ON_CPU = 10  # times fewer calls, where the host computes as well

# What a call of a library gets: its functions, then the inputs.
Function = Callable[..., Any]


# -- how calls are repeated -------------------------------------------------------------------------------------------


def _independent(function: Function, calls: int) -> Function:
    """The same call again and again: the device may do them side by side."""

    def run(xp: Any, *arrays: Any) -> Any:
        for _ in range(calls):
            result = function(xp, *arrays)
        return result

    return run


def _dependent(function: Function, calls: int) -> Function:
    """Each call gets the last one's result in place of the first array."""

    def run(xp: Any, x: Any, *others: Any) -> Any:
        for _ in range(calls):
            x = function(xp, x, *others)
        return x

    return run


def _in_place(function: Function, calls: int) -> Function:
    """As `_dependent`, on a copy of the first array, which the calls change."""
    run = _dependent(function, calls)
    return lambda xp, x, *others: run(xp, xp.copy(x), *others)


class Call(NamedTuple):
    """One call. Without a check, what the same function gives with NumPy's functions and arrays is right."""

    text: str
    inputs: tuple[Values, ...]
    function: Function
    check: Check | None = None
    goals: tuple[Goal, ...] = ()  # besides those of the kind
    on_host: bool = False  # the inputs stay NumPy arrays


class Kind(NamedTuple):
    """Calls that are timed alike: so many as one, repeated in one way."""

    name: str
    rows: tuple[Call, ...]
    goals: tuple[Goal, ...] = (Goal("CuPy", 0.7),)
    calls: int = 300
    repeated: Callable[[Function, int], Function] = _independent


def _at_most(microseconds: float) -> Goal:
    return Goal("vkarray", seconds=microseconds * 1e-6, kind="gpu")


# -- the arrays -------------------------------------------------------------------------------------------------------

_N = 64
_X, _Y = (Values("uniform", (_N, _N), seed) for seed in (0, 1))
_V, _W = (Values("uniform", (_N,), seed) for seed in (0, 1))
_ROW, _COLUMN, _ROWS = Values("uniform", (1, _N), 2), Values("uniform", (_N, 1), 3), Values("uniform", (3, _N), 4)
_SIGNS = Values("signs", (_N, _N), 5)  # with which x *= y may be repeated for ever
_INTEGERS = Values("integers", (_N, _N), 6, "int32", high=1000)
_INDEX, _INDICES = (Values("integers", shape, 7, "int64", high=_N) for shape in ((_N // 2,), (_N, _N)))
_MASK, _OTHER_MASK, _MASK_OF_V = (
    Values("mask", shape, seed, "bool") for shape, seed in (((_N, _N), 8), ((_N, _N), 9), ((_N,), 8))
)
_COMPLEX = Values("uniform", (_N,), 10, "complex64")
_STACK, _OTHER_STACK = (Values("uniform", (8, 16, 16), seed) for seed in (0, 1))
_GENERAL, _DEFINITE, _RIGHT = Values("normal", (8, 8), 11), Values("definite", (8, 8), 12), Values("normal", (8, 1), 13)
_SCALARS = Values("uniform", ()), Values("uniform", (), 1)


def _has_shape(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
    return bool(library.host(result).shape == (_N, _N))


def _drawn(mean: float, deviation: float) -> Check:
    """Whether random numbers have this mean and deviation: 0.1 is 6 standard errors of the mean of 4,096 normal ones."""

    def check(found: np.ndarray) -> bool:
        near = abs(found.mean() - mean) < 0.1 and abs(found.std() - deviation) < 0.1
        return found.shape == (_N, _N) and found.dtype == np.float32 and bool(near)

    return host_result(check)


# -- the calls --------------------------------------------------------------------------------------------------------

# fmt: off
_KINDS = (
    Kind("view", (
        Call("reshape(x, (16, 256))", (_X,), lambda xp, x: xp.reshape(x, (16, 256))),
        Call("x.T", (_X,), lambda xp, x: x.T),
        Call("permute_dims(s, (2, 0, 1))", (_STACK,), lambda xp, s: xp.permute_dims(s, (2, 0, 1))),
        Call("x[1:]", (_X,), lambda xp, x: x[1:]),
        Call("x[:, ::2]", (_X,), lambda xp, x: x[:, ::2]),
        Call("x[3]", (_X,), lambda xp, x: x[3]),
        Call("broadcast_to(row, (64, 64))", (_ROW,), lambda xp, row: xp.broadcast_to(row, (_N, _N))),
        Call("expand_dims(x, axis=1)", (_X,), lambda xp, x: xp.expand_dims(x, axis=1)),
        Call("squeeze(row, axis=0)", (_ROW,), lambda xp, row: xp.squeeze(row, axis=0)),
    ), goals=(_at_most(2),)),
    Kind("creation", (
        Call("zeros((64, 64))", (), lambda xp: xp.zeros((_N, _N), dtype=xp.float32)),
        Call("ones((64, 64))", (), lambda xp: xp.ones((_N, _N), dtype=xp.float32)),
        Call("full((64, 64), 2.0)", (), lambda xp: xp.full((_N, _N), 2.0, dtype=xp.float32)),
        Call("arange(64)", (), lambda xp: xp.arange(_N, dtype=xp.int32)),
        Call("linspace(0.0, 1.0, 64)", (), lambda xp: xp.linspace(0.0, 1.0, _N, dtype=xp.float32)),
        Call("eye(64)", (), lambda xp: xp.eye(_N, dtype=xp.float32)),
        Call("empty_like(x)", (_X,), lambda xp, x: xp.empty_like(x), _has_shape),
        Call("copy of x", (_X,), lambda xp, x: xp.copy(x)),
    )),
    Kind("scalar", (
        Call("x * 2.0", (_X,), lambda xp, x: x * 2.0),
        Call("2.0 - x", (_X,), lambda xp, x: 2.0 - x),
        Call("x + 1", (_X,), lambda xp, x: x + 1),
        Call("x ** 2", (_X,), lambda xp, x: x ** 2),
        Call("where(x > 0.5, x, 0)", (_X,), lambda xp, x: xp.where(x > 0.5, x, 0)),
        Call("clip(x, 0.25, 0.75)", (_X,), lambda xp, x: xp.clip(x, 0.25, 0.75)),
    )),
    Kind("function", (
        Call("-x", (_X,), lambda xp, x: -x),
        Call("exp(x)", (_X,), lambda xp, x: xp.exp(x)),
        Call("maximum(x, y)", (_X, _Y), lambda xp, x, y: xp.maximum(x, y)),
        Call("where(mask, x, y)", (_MASK, _X, _Y), lambda xp, mask, x, y: xp.where(mask, x, y)),
    )),
    Kind("comparison", (
        Call("x < y", (_X, _Y), lambda xp, x, y: x < y),
        Call("x == y", (_X, _Y), lambda xp, x, y: x == y),
        Call("x > 0.5", (_X,), lambda xp, x: x > 0.5),
        Call("mask & other", (_MASK, _OTHER_MASK), lambda xp, mask, other: mask & other),
    )),
    Kind("in place", (
        Call("x += 1", (_X,), lambda xp, x: operator.iadd(x, 1)),
        Call("x *= y", (_X, _SIGNS), lambda xp, x, y: operator.imul(x, y)),
        Call("x[3] = 1", (_X,), lambda xp, x: xp.put(x, 3, 1)),
        Call("x[1:4] = y", (_X, _ROWS), lambda xp, x, y: xp.put(x, slice(1, 4), y)),
        Call("x[mask] = 0", (_X, _MASK), lambda xp, x, mask: xp.put(x, mask, 0)),
    ), repeated=_in_place),
    Kind("types", (
        Call("int32 + float32", (_INTEGERS, _X), lambda xp, i, x: i + x),
        Call("astype(x, int32)", (_X,), lambda xp, x: xp.astype(x, "int32")),
        Call("astype(i, float32)", (_INTEGERS,), lambda xp, i: xp.astype(i, "float32")),
    )),
    Kind("layout", (
        Call("row + column", (_ROW, _COLUMN), lambda xp, row, column: row + column),
        Call("x + row", (_X, _ROW), lambda xp, x, row: x + row),
        Call("x.T + y", (_X, _Y), lambda xp, x, y: x.T + y),
        Call("x[:, ::2] + y[:, ::2]", (_X, _Y), lambda xp, x, y: x[:, ::2] + y[:, ::2]),
    )),
    Kind("reduction", (
        Call("sum(x)", (_X,), lambda xp, x: xp.sum(x)),
        Call("sum(x, axis=0)", (_X,), lambda xp, x: xp.sum(x, axis=0)),
        Call("sum(x, axis=1)", (_X,), lambda xp, x: xp.sum(x, axis=1)),
        Call("max(x)", (_X,), lambda xp, x: xp.max(x)),
        Call("argmax(x, axis=1)", (_X,), lambda xp, x: xp.argmax(x, axis=1)),
        Call("mean(x)", (_X,), lambda xp, x: xp.mean(x)),
        Call("var(x, axis=0)", (_X,), lambda xp, x: xp.var(x, axis=0)),
        Call("all(mask)", (_MASK,), lambda xp, mask: xp.all(mask)),
    )),
    Kind("scan", (
        Call("cumulative_sum(v)", (_V,), lambda xp, v: xp.cumulative_sum(v, axis=0)),
        Call("cumulative_sum(x, axis=1)", (_X,), lambda xp, x: xp.cumulative_sum(x, axis=1)),
    )),
    Kind("product", (
        Call("x @ y", (_X, _Y), lambda xp, x, y: x @ y),
        Call("x @ v", (_X, _V), lambda xp, x, v: x @ v),
        Call("s @ t of 8 x 16 x 16", (_STACK, _OTHER_STACK), lambda xp, s, t: s @ t),
        Call("vecdot(x, y)", (_X, _Y), lambda xp, x, y: xp.vecdot(x, y)),
        Call("tensordot(x, y, axes=1)", (_X, _Y), lambda xp, x, y: xp.tensordot(x, y, axes=1)),
        Call("einsum('ij,kj->ik', x, y)", (_X, _Y), lambda xp, x, y: xp.einsum("ij,kj->ik", x, y)),
    )),
    Kind("gather", (
        Call("x[i]", (_X, _INDEX), lambda xp, x, i: x[i]),
        Call("take(v, i)", (_V, _INDEX), lambda xp, v, i: xp.take(v, i)),
        Call("take_along_axis(x, i, axis=1)", (_X, _INDICES), lambda xp, x, i: xp.take_along_axis(x, i, axis=1)),
    )),
    Kind("joining", (
        Call("concat((x, y), axis=0)", (_X, _Y), lambda xp, x, y: xp.concat((x, y), axis=0)),
        Call("stack((x, y), axis=0)", (_X, _Y), lambda xp, x, y: xp.stack((x, y), axis=0)),
    )),
    Kind("sorting", (
        Call("sort(x)", (_X,), lambda xp, x: xp.sort(x)),
        Call("argsort(v)", (_V,), lambda xp, v: xp.argsort(v)),
    )),
    Kind("transform", (
        Call("fft(z)", (_COMPLEX,), lambda xp, z: xp.fft.fft(z)),
        Call("rfft(v)", (_V,), lambda xp, v: xp.fft.rfft(v)),
    )),
    Kind("8 x 8", (
        Call("solve(a, b)", (_DEFINITE, _RIGHT), lambda xp, a, b: xp.linalg.solve(a, b)),
        Call("inv(a)", (_DEFINITE,), lambda xp, a: xp.linalg.inv(a)),
        Call("det(a)", (_DEFINITE,), lambda xp, a: xp.linalg.det(a)),
        Call("cholesky(a)", (_DEFINITE,), lambda xp, a: xp.linalg.cholesky(a)),
        Call("qr(a)", (_GENERAL,), lambda xp, a: tuple(xp.linalg.qr(a)), factors(lambda q, r, a: (q @ r, a))),
    ), calls=50),
    Kind("random", (
        Call("uniform((64, 64))", (), lambda xp: xp.uniform((_N, _N)), _drawn(0.5, 12**-0.5)),
        Call("normal((64, 64))", (), lambda xp: xp.normal((_N, _N)), _drawn(0.0, 1.0)),
    )),
    Kind("waiting", (  # the host needs what the device computes
        Call("float(sum(x))", (_X,), lambda xp, x: float(xp.sum(x)), goals=(_at_most(40),)),
        Call("x[mask]", (_X, _MASK), lambda xp, x, mask: x[mask]),
        Call("nonzero(mask)", (_MASK_OF_V,), lambda xp, mask: xp.nonzero(mask)),
    ), calls=100),
    Kind("transfer", (
        Call("asarray(a) of a NumPy array", (_X,), lambda xp, a: xp.upload(a), on_host=True),
        Call("np.asarray(x)", (_X,), lambda xp, x: xp.download(x), goals=(_at_most(30),)),
    ), goals=(), calls=100),
)
# fmt: on

_SUMS = tuple(
    Call(f"x + y of {n} x {n}", (Values("uniform", (n, n)), Values("uniform", (n, n), 1)), lambda xp, x, y: x + y)
    for n in (8, 64, 256)
)
_ALL = (*_KINDS, Kind("independent", _SUMS), Kind("dependent", _SUMS, repeated=_dependent))


def _work(name: str, text: str, call: Call, calls: int, repeated: Callable[[Function, int], Function]) -> Work:
    run = repeated(call.function, calls)
    check = call.check or whole(partial(run, Library().functions), 1e-5, 1e-5)
    return Work(
        name, text, call.inputs, run, check, call.goals, unit="µs", clock="host", calls=calls, on_host=call.on_host
    )


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter."""
    for kind in _ALL:
        calls = kind.calls // _ON_CPU if sizes.on_cpu else kind.calls
        for call in kind.rows:
            row = call._replace(goals=kind.goals + call.goals)
            yield _work(f"{kind.name}: {call.text}", f"{calls} calls", row, calls, kind.repeated)
    goals = (Goal("CuPy", 1.0), *ahead_of_vulkan())
    add = Call("add(v, w)", (_V, _W), lambda xp, v, w: xp.add(v, w), goals=goals)
    work = _work("eager", "v + w of 64 elements, each call needing the last", add, 1000, _dependent)
    yield replace(work, common=True)
    value = Call("float(x + y)", _SCALARS, lambda xp, x, y: float(x + y), goals=(Goal(CUDA, 0.5),))
    yield _work("value", "float(x + y) of 0 dimensions", value, 100, _independent)
    n = max(1, sizes.elements // 4)
    array = (Values("uniform", (n,)),)
    yield Work(
        "upload", "ordinary host memory to the device", array, lambda xp, a: xp.upload(a), of_rows(np.asarray, 0.0),
        (Goal(CUDA, 1.0),), 4 * n, clock="host", on_host=True,
    )  # fmt: skip
    yield Work(
        "download", "the device to ordinary host memory", array, lambda xp, a: xp.download(a),
        of_rows(np.asarray, 0.0), (Goal(CUDA, 1.0),), 4 * n, clock="host",
    )  # fmt: skip
