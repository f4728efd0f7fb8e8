"""Arrays of no dimensions in keys of compiled functions: elements whose place only the device knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiled import outcome, traced

import vkarray as vx

ROW = slice(None)


def assigned(key: Callable[[Any, Any], Any], value: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def function(x, m, i, j):
        m[key(i, j)] = value(x, m)
        return m + 0

    return function


READ: dict[str, Callable[..., Any]] = {
    "place of the least": lambda x, m, i, j: x[vx.argmin(x)], "element": lambda x, m, i, j: x[i] * 2,
    "of a matrix": lambda x, m, i, j: m[i, j] + 1, "beside an integer": lambda x, m, i, j: (m[i, 2], m[1, j]),
    "negative": lambda x, m, i, j: m[-i, j], "beside a list": lambda x, m, i, j: (m[i, [0, 1]], m[[0, 2], j]),
    "beside places": lambda x, m, i, j: m[i, vx.argsort(x)[:4]], "loop": lambda x, m, i, j: sum(x[k] for k in vx.arange(3)),
    "unsigned": lambda x, m, i, j: x[i.astype("uint8")],
}  # fmt: skip
WRITTEN: dict[str, Callable[..., Any]] = {
    "row": assigned(lambda i, j: i, lambda x, m: x[:6]), "column": assigned(lambda i, j: (ROW, j), lambda x, m: x[:5]),
    "element": assigned(lambda i, j: (i, j), lambda x, m: x[0]), "part": assigned(lambda i, j: (i, slice(1, 4)), lambda x, m: 7),
    "last": assigned(lambda i, j: (..., j), lambda x, m: 2.5), "more": assigned(lambda i, j: (i, j), lambda x, m: m[1, 1] + 1),
}  # fmt: skip
VIEWS: dict[str, Callable[..., Any]] = {
    "row": lambda x, m, i: m[i], "column": lambda x, m, i: m[:, i], "place": lambda x, m, i: x[i, ...],
    "axis": lambda x, m, i: x[i, None],
}  # fmt: skip


def given() -> tuple[vx.VkArray, ...]:
    x = vx.asarray(np.array([3, 1, 2, 0, 5, 4, 6], np.float32))
    return x, vx.asarray(np.arange(30, dtype=np.float32).reshape(5, 6)), vx.asarray(3), vx.asarray(-2)


@traced
@pytest.mark.parametrize("name", [*(f"read {name}" for name in READ), *(f"written {name}" for name in WRITTEN)])
def test_elements_are_those_of_the_function(name: str) -> None:
    kind, _, case = name.partition(" ")
    function = (READ if kind == "read" else WRITTEN)[case]
    compiled = vx.compile(function)
    for _ in range(2):
        assert outcome(compiled, given()) == outcome(function, given())
    assert compiled.explain().programs[0].reason == ""


@traced
@pytest.mark.parametrize("name", VIEWS)
def test_views_are_refused(name: str) -> None:
    """They would be of a part that is not known."""
    with pytest.raises(vx.TraceError, match=r"x\[i\] is a view of x.* write vkarray\.take\(x, i, axis=0\) for a copy"):
        vx.compile(VIEWS[name])(*given()[:3])


@traced
def test_an_index_out_of_range_is_told() -> None:
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 of length 7"):
        np.asarray(vx.compile(lambda x, i: x[i])(given()[0], vx.asarray(7)))
