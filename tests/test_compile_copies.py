"""Copies in compiled functions: those of what stays as it is are left out, and results and arguments are the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from compiled import array, check, traced

import vkarray as vx

Function = Callable[..., Any]


def copy(x: Any) -> Any:
    return vx.asarray(x, copy=True)


def copy_is_written(x):
    y = copy(vx.cumulative_sum(x, axis=1))
    y[1:] = 3
    return y * 2


def source_is_written(x):
    y = vx.cumulative_sum(x, axis=1)
    z = copy(y)
    y[1:] = 3
    return z + y


def source_is_written_before(x):
    y = vx.cumulative_sum(x, axis=1)
    y[1:] = 3
    z = copy(y)
    return z + y


def argument_is_written(x):
    z = copy(x)
    x[...] = 1
    return vx.cumulative_sum(z, axis=0)


def both_are_returned(x):
    y = vx.cumulative_sum(x, axis=1)
    return y, copy(y)


# Functions of a matrix, and how many of their operations are not needed.
CASES: dict[str, tuple[Function, int]] = {
    "a copy": (lambda x: vx.cumulative_sum(copy(vx.cumulative_sum(x, axis=1)), axis=0), 1),
    "a copy of a copy": (lambda x: vx.sort(copy(copy(vx.cumulative_sum(x, axis=1))), axis=0), 2),
    "another shape": (lambda x: vx.sort(copy(vx.reshape(vx.cumulative_sum(x, axis=1), (2, 3, 8))), axis=0), 1),
    "a view of a copy": (lambda x: copy(vx.cumulative_sum(x, axis=1))[1:, ::-2] * 2, 1),
    "between products": (lambda x: copy(x @ vx.matrix_transpose(x)) @ copy(x * 2), 2),
    "a product of a flipped copy": (lambda x: (lambda p: p @ vx.flip(copy(p)).T * 1)(vx.pad(x, 1)), 1),
    "a sum of a flipped copy": (lambda x: vx.sum(vx.flip(copy(vx.pad(x, 1))), axis=1) * 2, 1),
    "a copy of a view": (lambda x: vx.sort(copy(vx.cumulative_sum(x, axis=1)[1:]), axis=0), 0),
    "a copy in another order": (lambda x: vx.sort(copy(vx.cumulative_sum(x, axis=1).T), axis=0), 0),
    "another type": (lambda x: vx.sort(vx.astype(vx.cumulative_sum(x, axis=1), vx.int32), axis=0), 0),
    "a copy of an argument": (lambda x: vx.cumulative_sum(copy(x), axis=0), 0),
    "a copy that is written": (copy_is_written, 0),
    "a source that is written": (source_is_written, 0),
    "a source that was written": (source_is_written_before, 1),
    "an argument that is written": (argument_is_written, 0),
    "a copy that is returned": (both_are_returned, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_same_results(name: str) -> None:
    check(CASES[name][0], *(lambda seed=seed: (array(vx.float32, (6, 8), seed),) for seed in range(3)))


@traced
@pytest.mark.parametrize("name", CASES)
def test_what_is_not_needed(name: str) -> None:
    function, left_out = CASES[name]
    compiled = vx.compile(function)
    compiled(array(vx.float32, (6, 8), 1))
    assert f"; {left_out} not needed" in str(compiled.explain())
