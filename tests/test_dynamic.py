"""Dynamic dimensions of `vkarray.compile`: one trace for all lengths, and for each the bits of the function itself."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_compile import outcome, traced

import vkarray as vx
from vkarray import configuration
from vkarray.core.array import VkArray

MAX = 130
LENGTHS = (7, 1, 2, 3, 64, 129, 130, 4, 7)  # the first one is traced


def matrix(length: int, columns: int = 6, seed: int = 0, dtype: Any = np.float32) -> VkArray:
    values = np.random.default_rng(seed + length).standard_normal((length, columns)) * 4
    return vx.asarray(values.astype(dtype))


@dataclasses.dataclass
class Pair:
    first: Any
    second: Any


def centred(x):
    return x - vx.mean(x, axis=0)


def in_place(x):
    x[1:] += 1
    x *= 2
    return x


def softmax(axis):
    def function(x):
        powers = vx.exp(x - vx.max(x, axis=axis, keepdims=True))
        return powers / vx.sum(powers, axis=axis, keepdims=True)

    return function


def filled(x):
    made = vx.zeros((x.shape[0] + 1, *x.shape[1:]))
    made[1:] = x
    return made


def normalized(x):
    count = x.size
    total = vx.sum(x) / count
    return (x - total) / (vx.sum((x - total) ** 2) / (count - 1)) ** 0.5


# Functions of a matrix whose rows are dynamic.
FUNCTIONS: dict[str, Callable[[VkArray], Any]] = {
    "elementwise": lambda x: vx.sin(x) * 2 + 1,
    "broadcast with a row": lambda x: (x + 1) * x[:1],
    "broadcast with a column": lambda x: x * x[:, :1] - x[:, 2:3],
    "broadcast with itself": lambda x: x[:, None, 0] - x[None, :, 1],
    "sum of rows": lambda x: vx.sum(x * x, axis=1),
    "sum of columns": lambda x: vx.sum(x * x, axis=0),
    "sum": lambda x: vx.sum(x * 2),
    "several reductions": lambda x: (vx.max(x, axis=0), vx.min(x), vx.any(x > 9, axis=1), vx.argmax(x, axis=0)),
    "mean": lambda x: (vx.mean(x), vx.mean(x, axis=0), vx.mean(x, axis=1)),
    "variance": lambda x: (vx.var(x, axis=0), vx.std(x * 2, axis=1)),
    "centred": centred,
    "normalized": normalized,
    "softmax of rows": softmax(1),
    "softmax of columns": softmax(0),
    "product": lambda x: vx.tanh(x @ vx.ones((6, 5))),
    "product over the dimension": lambda x: x.T @ x,
    "product with itself": lambda x: x @ x.T,
    "batch of products": lambda x: x.reshape(-1, 2, 3) @ vx.ones((3, 2)),
    "einsum": lambda x: vx.einsum("bi,bj->bij", x, x),
    "concat": lambda x: vx.concat([x, x[:1], x * 2]) + 1,
    "stack": lambda x: vx.stack([x, -x], axis=1),
    "all but the first": lambda x: x[1:] * 2,
    "all but the last": lambda x: x[:-1] - 1,
    "differences": lambda x: x[1:] - x[:-1],
    "every other": lambda x: x[::2] + x[::2],
    "backwards": lambda x: x[::-1] * 2 + x,
    "last": lambda x: x[-1] + x[x.shape[0] - 1],
    "half": lambda x: x[: x.shape[0] // 2] * 2,
    "flat": lambda x: x.reshape(-1) + 1,
    "reshaped": lambda x: x.reshape(x.shape[0] * 2, 3) * x.reshape((x.shape[0] * 2, -1)),
    "reshaped by -1": lambda x: vx.reshape(x, (-1, 3)),
    "transposed": lambda x: x.T * 2 + 1,
    "roll": lambda x: vx.roll(x, 1, axis=0) + x,
    "cumulative sum": lambda x: vx.cumulative_sum(x, axis=0),
    "cumulative sum of all": lambda x: vx.cumulative_sum(x.ravel() * 2),
    "sort": lambda x: (vx.sort(x, axis=0), vx.argsort(x[:, 0])),
    "take": lambda x: vx.take(x, vx.asarray([0, 0]), axis=0),
    "gather": lambda x: x[vx.argsort(x[:, 0])],
    "where": lambda x: vx.where(x > 0, x, 0.5 * x),
    "length as a number": lambda x: (vx.sum(x, axis=0) / x.shape[0], x * x.shape[0], x.shape[0] * 2 + 1),
    "root of a length": lambda x: x / x.shape[0] ** 0.5,
    "arange": lambda x: x + vx.arange(x.shape[0], dtype=vx.float32)[:, None],
    "arange of more": lambda x: vx.arange(1, 2 * x.shape[0], 3),
    "linspace": lambda x: vx.linspace(0.0, 1.0, x.shape[0])[:, None] * x,
    "full": lambda x: vx.full(x.shape, 2.0) * x + vx.zeros_like(x) + vx.ones(x.shape[0])[:, None],
    "filled": filled,
    "broadcast_to": lambda x: vx.broadcast_to(x[:1], x.shape) + 0,
    "triangle": lambda x: vx.tril(x @ x.T),
    "constant": lambda x: x + vx.asarray([1.0, 2, 3, 4, 5, 6]),
    "in place": in_place,
    "itself": lambda x: (x, x),
    "shape": lambda x: x.shape,
    "nothing": lambda x: (None, "text", {"a": [x + 1]}),
    "type": lambda x: x.astype(vx.float16) if x.dtype == vx.float32 and x.ndim == 2 else x,
    "ufunc": lambda x: (vx.add.reduce(x, axis=0), vx.maximum(x, 0, out=x)),
    "repeat": lambda x: vx.repeat(x, 2, axis=0) + vx.tile(x, (2, 1)),
    "pad": lambda x: vx.pad(x, ((1, 2), (0, 0))),
    "flags": lambda x: vx.flip(x, axis=0),
}  # fmt: skip


def check(
    function: Callable[..., Any], dynamic: Any, make: Callable[[int], tuple[Any, ...]], lengths: tuple[int, ...] = LENGTHS
) -> Any:  # fmt: skip
    """Compare a function with what is compiled of it for several lengths. Returns what is compiled."""
    compiled = vx.compile(function, dynamic=dynamic)
    for length in lengths:
        for _ in range(2):
            assert outcome(compiled, make(length)) == outcome(function, make(length)), f"length {length}"
    return compiled


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    calls = []

    def counted(x):
        calls.append(x)
        return FUNCTIONS[name](x)

    compiled = vx.compile(counted, dynamic={"x": {0: vx.Dim("rows", max=MAX)}})
    for length in LENGTHS:
        for _ in range(2):
            expected = outcome(FUNCTIONS[name], (matrix(length),))
            assert outcome(compiled, (matrix(length),)) == expected, f"length {length}"
    if not configuration.current().compare:
        assert len(calls) == 1, compiled.explain()
        assert len(compiled.explain().programs) == 1


# Which lengths are taken as numbers, or lead elsewhere.
def by_range(x):
    total = vx.zeros(6)
    for row in range(x.shape[0]):
        total = total + x[row] * row
    return total


DECIDING: dict[str, tuple[Callable[[VkArray], Any], int]] = {  # and how often each is traced for lengths of 3, 5, 1, 8
    "branch": (lambda x: x * 2 if x.shape[0] > 4 else x + 1, 2),
    "one": (lambda x: vx.squeeze(x, axis=0) if x.shape[0] == 1 else x, 2),
    "truth": (lambda x: x * 2 if x.shape[0] % 2 else x, 2),
    "range": (by_range, 4),
    "len": (lambda x: x * len(x), 4),
    "rows": (lambda x: sum(row * 2 for row in x), 4),
    "float": (lambda x: x / float(x.shape[0]), 4),
    "list": (lambda x: vx.concat([x] * x.shape[0]), 4),
    "min": (lambda x: x[: min(x.shape[0], 4)], 2),
    "unstack": (lambda x: vx.unstack(x)[0] + 1, 4),
    "text": (lambda x: {f"of {x.shape[0]}": x + 1}, 4),
    "error": (lambda x: _halves(x) * 2, 2),
}  # fmt: skip


def _halves(x):
    try:
        return x.reshape(2, -1)
    except ValueError:
        return x


@pytest.mark.parametrize("name", DECIDING)
def test_decisions(name):
    function, count = DECIDING[name]
    compiled = check(function, {"x": [vx.Dim("rows", max=16), None]}, lambda n: (matrix(n, 5 if name == "error" else 6),),
                     (3, 5, 1, 8, 3, 8))  # fmt: skip
    if not configuration.current().compare:
        assert len(compiled.explain().programs) == count, compiled.explain()
        assert "rows from 1 to 16, so far " in str(compiled.explain())


@traced
def test_decisions_are_told():
    compiled = vx.compile(lambda x: x[: x.shape[0] // 2] * len(x), dynamic={"x": {0: vx.Dim("n", max=16)}})
    compiled(vx.ones(4))
    compiled(vx.ones(6))
    assert re.search(r"traced again since .*test_dynamic\.py:\d+ gives 4, and here 6", str(compiled.explain()))
