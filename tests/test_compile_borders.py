"""Arrays of `vkarray.compile` that are copied or filled, and of which blocks are then assigned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from compiled import array, check, traced

import vkarray as vx
from vkarray.graph import borders

Function = Callable[..., Any]


def heat(x):
    new = vx.asarray(x, copy=True)
    new[1:-1, 1:-1] = x[1:-1, 1:-1] + 0.2 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    return new


def assigned(key: Any, made: Function = lambda x: vx.asarray(x, copy=True)) -> Function:
    """A function that assigns a part of a copy."""

    def run(x):
        new = made(x)
        new[key] = x[key] * 2 + 1
        return new

    return run


def read_before(x):
    new = vx.asarray(x, copy=True)
    total = vx.sum(new, axis=0)
    new[1:-1] = x[1:-1] * 2
    return new, total


def of_itself(x):
    new = vx.asarray(x, copy=True)
    new[1:-1] *= 2
    return new


def changed_later(x):
    new = vx.asarray(x, copy=True)
    new[1:-1] = x[1:-1] * 2
    x[...] = 3
    return new


def twice(x):
    new = vx.zeros_like(x)
    new[:, 1:] = x[:, 1:] * 2
    new[1:, :] = x[1:, :] * 3
    return new * 1


# Functions of a matrix, and the dispatches that they take.
PROGRAMS: dict[str, tuple[Function, int]] = {
    "heat": (heat, 3),
    "one side": (assigned((slice(1, None),)), 2),
    "two corners": (assigned((slice(1, -2), slice(None, -1))), 4),
    "all": (assigned(...), 1),
    "little": (assigned((slice(1, 2),)), 2),
    "every second": (assigned((slice(None, None, 2),)), 2),
    "zeros": (assigned((slice(1, -1), slice(2, -2)), vx.zeros_like), 3),
    "other numbers": (assigned((slice(2, -2),), lambda x: vx.full_like(x, 7)), 2),
    "of a view": (lambda x: assigned((slice(1, -1), slice(1, -1)))(x.T[::-1]), 3),
    "read before": (read_before, 3),
    "of itself": (of_itself, 2),
    "changed later": (changed_later, 3),
    "twice": (twice, 4),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [vx.float32, vx.float16, vx.bool], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, dtype, monkeypatch):
    monkeypatch.setattr(borders, "LEAST", {"cpu": 0, "gpu": 0})
    check(PROGRAMS[name][0], lambda: (array(dtype, (9, 12)),))


@traced
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_few_dispatches(name, monkeypatch):
    monkeypatch.setattr(borders, "LEAST", {"cpu": 0, "gpu": 0})
    compiled = vx.compile(PROGRAMS[name][0])
    compiled(vx.ones((9, 12)))
    assert compiled.explain().kernels == PROGRAMS[name][1], str(compiled.explain())


@traced
def test_small_arrays_are_copied():
    """A dispatch more costs more than it saves."""
    compiled = vx.compile(heat)
    compiled(vx.ones((9, 12)))
    assert compiled.explain().kernels == 2


def test_a_long_recurrence_stores_more_than_a_kernel_has_places_for() -> None:
    """Kernels that follow read parts of it that were not to be stored, as of the attention of RWKV."""

    def recurrence(x: vx.VkArray, w: vx.VkArray) -> vx.VkArray:
        found = []
        a = b = vx.zeros_like(x[:, 0])
        largest = a - 1e38
        for place in range(x.shape[1]):
            k = x[:, place]
            most = vx.maximum(largest, k + w)
            old, new = vx.exp(largest - most), vx.exp(k + w - most)
            found.append((old * a + new * k) / (old * b + new))
            most = vx.maximum(largest + w, k)
            old, new = vx.exp(largest + w - most), vx.exp(k - most)
            a, b, largest = old * a + new * k, old * b + new, most
        return vx.stack(found, axis=1)

    x = vx.reshape(vx.sin(vx.arange(144, dtype=vx.float32)), (2, 9, 8))
    w = vx.cos(vx.arange(8, dtype=vx.float32))
    assert vx.compile(recurrence)(x, w).tobytes() == recurrence(x, w).tobytes()
