"""Long functions: kernels are made within windows of so many operations, whatever these are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compiled import outcome, traced
from test_dynamic import FUNCTIONS, matrix

import vkarray as vx
from vkarray.graph import regions


def long(x: Any) -> Any:
    """Chains, sums, rows, views and assignments, one after the other."""
    total = vx.zeros(6)
    for number in range(12):
        y = (x * (number + 1) - vx.max(x, axis=1, keepdims=True)) / 3
        rows = vx.exp(y) / vx.sum(vx.exp(y), axis=1, keepdims=True)
        total[number % 6] = vx.sum(rows * x) + total[0]
        x = x + rows - total
        x[1:, 2] = x[:-1, 3] * 2
    return x, total


@traced
@pytest.mark.parametrize("window", [1, 2, 5, 17])
@pytest.mark.parametrize("name", ["long", *FUNCTIONS])
def test_windows_of_any_length_give_the_same_bits(name: str, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "WINDOW", window)
    function = long if name == "long" else FUNCTIONS[name]
    for length in (7, 64):
        assert outcome(vx.compile(function), (matrix(length),)) == outcome(function, (matrix(length),))


def test_windows_end_after_work_that_is_not_elementwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "WINDOW", 8)

    class Node:
        def __init__(self, operation: object) -> None:
            self.operation = operation

    for kinds in ("e" * 30, "eeeeereeee" * 3, "r" * 20, "eeeeeeer", "", "eeereeeeeeee"):
        windows = list(regions._windows([Node(None if kind == "r" else kind) for kind in kinds]))  # type: ignore[misc]
        assert [number for window in windows for number in window] == list(range(len(kinds)))
        assert all(0 < len(window) <= 8 for window in windows)
        for window in windows[:-1]:
            assert kinds[window.stop - 1] == "r" or "r" not in kinds[window.start + 4 : window.start + 8]


@traced
def test_a_function_of_a_thousand_operations() -> None:
    def function(x: Any) -> Any:
        for number in range(500):
            x = x * 0.5 + number % 7
        return x

    x = vx.asarray(np.linspace(-1, 1, 9, dtype=np.float32))
    assert outcome(vx.compile(function), (x,)) == outcome(function, (x,))
