"""Sums of the same elements in one kernel of `vkarray.compile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiled import check, traced
from reference import supported
from validator import complaint, needs_validator

import vkarray as vx
from vkarray.core.array import VkArray
from vkarray.kernels import prologue

Function = Callable[..., Any]
FLOATS = supported((vx.float32, vx.float64))
SHAPES = ((5000,), (70_001,), (3, 4500), (33_000, 3), (1 << 18,))


def numbers(dtype: Any, shape: tuple[int, ...], seed: int) -> VkArray:
    return vx.asarray(np.random.default_rng(seed).standard_normal(shape), dtype=dtype)


def moments(x, y):
    return vx.sum(x), vx.mean(x * x), vx.sum(x * y)


def correlation(x, y):
    x, y = x - vx.mean(x), y - vx.mean(y)
    return vx.sum(x * y) / vx.sqrt(vx.sum(x * x) * vx.sum(y * y))


def many(x, y):
    return [vx.sum(x * factor + y) for factor in range(6)]


def of_others(x, y):
    return vx.sum(x * 2), vx.sum(y * 3)


def of_another(x, y):
    return vx.sum(y * y * vx.sum(x * x)), vx.max(x * x)


def stored_too(x, y):
    found = x * y
    return found, vx.sum(found), vx.sum(found * found)


def changed_between(x, y):
    total = vx.sum(x * x)
    x[...] = y
    return total, vx.sum(x * y)


# Functions of two arrays, and the kernels that read these, of float32.
PROGRAMS: dict[str, tuple[Function, int]] = {
    "moments": (moments, 1), "correlation": (correlation, 3), "many": (many, 2), "of others": (of_others, 2),
    "of another": (of_another, 3), "stored too": (stored_too, 2), "changed between": (changed_between, 2),
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, dtype):
    check(PROGRAMS[name][0], lambda: (numbers(dtype, (20_000,), 0), numbers(dtype, (20_000,), 1)))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape):
    """Of all axes, and of one that other axes follow or come before."""
    dtype = FLOATS[SHAPES.index(shape) % len(FLOATS)]
    for axis in (None, *range(len(shape))):

        def function(x, y, axis=axis):
            return vx.sum(x * y, axis=axis), vx.mean(x + y, axis=axis), vx.sum(y, axis=axis)

        check(function, lambda: (numbers(dtype, shape, 0), numbers(dtype, shape, 1)))


@traced
@pytest.mark.parametrize("name", PROGRAMS)
def test_arrays_are_read_once(name):
    compiled = vx.compile(PROGRAMS[name][0])
    compiled(numbers(vx.float32, (1 << 16,), 0), numbers(vx.float32, (1 << 16,), 1))
    (told,) = compiled.explain().programs
    long = [
        one
        for one in told.program.dispatches
        if "states" not in one.kernel.name and sum(m.nbytes for m in one.reads) > 200_000
    ]
    assert len(long) == PROGRAMS[name][1], str(compiled.explain())


@needs_validator
def test_kernels_are_valid(monkeypatch):
    made = []
    linked = prologue.fused.code_around
    monkeypatch.setattr(prologue.fused, "code_around", lambda *given: made.append(linked(*given)) or made[-1])
    vx.compile(lambda x, y: (*moments(x, y), vx.sum(x * 3.5 - y)))(*(numbers(vx.float32, (9_001,), k) for k in (0, 1)))
    assert made
    for code in made:
        assert not complaint(code)
