"""What stands for an array as NumPy takes it: ranges, deques, `array.array`, memoryviews, user's lists, `x.flat`, other objects."""

from __future__ import annotations

import array
import collections
from collections.abc import Callable
from typing import Any

import pytest
from against_numpy import compare

import vkarray as vx

pytestmark = pytest.mark.usefixtures("numpy_types")


class Given:
    """An object that stands for an array by `__array__`."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)


class Items:
    """An object with a length and items by number, as Python's older sequences are."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, place: int) -> int:
        return (1, 2)[place]


SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "range": lambda n: range(1, 3),
    "deque": lambda n: collections.deque([1, 2]),
    "array": lambda n: array.array("h", [1, 2]),
    "memoryview": lambda n: memoryview(array.array("i", [1, 2])),
    "user's list": lambda n: collections.UserList([1, 2]),
    "flat": lambda n: n.arange(4).reshape(2, 2)[1:, ::-1].flat,
    "object": lambda n: Given(n.asarray([1, 2])),
    "items": lambda n: Items(),
    "deque of arrays": lambda n: collections.deque([n.arange(2), n.arange(1, 3)]),
    "deque of elements": lambda n: collections.deque([n.arange(3)[1], n.arange(3)[2]]),
}
CALLS = (
    "n.asarray(s)", "n.shape(s)", "n.size(s)", "n.ndim(s)", "n.sqrt(s)", "n.add(s, 1)", "n.where(s, s, 0)", "n.clip(s, 1, 1)",
    "n.sum(s)", "n.mean(s)", "n.max(s)", "n.std(s)", "n.median(s)", "n.any(s)", "n.cumsum(s)", "n.argmax(s)", "n.nanmean(s)",
    "n.sort(s)", "n.unique(s)", "n.isin(s, s)", "n.flip(s)", "n.tile(s, 2)", "n.reshape(s, (-1,))", "n.append(s, s)",
    "n.concatenate([s, s])", "n.stack([s, s])", "n.hstack(s)", "n.vstack(s)", "n.column_stack(s)", "n.dot(s, s)", "n.outer(s, s)",
    "n.eye(2) @ s", "n.ones(2) * s", "s * n.ones(2)", "n.arange(2) >= s", "n.full((3, 2), s)", "n.zeros_like(s)", "n.diff(s)",
    "n.histogram([0, 1, 2], s)",
    "n.percentile([1, 2, 5], s)", "n.interp(1.5, s, s)", "n.digitize(1, s)", "n.searchsorted([0, 2], s)",
    "n.repeat([1, 2], s)", "n.split(n.arange(5), s)", "n.delete(n.arange(5), s)", "n.arange(5)[s]", "n.take(n.arange(5), s)",
    "n.linalg.norm(s)", "n.fft.fft(s)", "n.polyval(s, 2)", "n.array_equal(s, s)", "n.add.reduce(s)", "n.meshgrid(s)",
)  # fmt: skip
# What NumPy takes of one dimension alone, slices although it cannot, or iterates over twice.
WITHOUT = {
    "deque of arrays": ("interp", "digitize", "searchsorted", "histogram", "polyval", "split", "repeat"),
    "memoryview": ("flip",),
    "flat": ("hstack", "vstack", "column_stack"),
    "object": ("hstack", "vstack", "column_stack"),
    "items": ("hstack", "vstack", "column_stack"),
}


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("call", CALLS)
def test_sequences_stand_for_arrays(call: str, name: str) -> None:
    if call.partition("(")[0].rpartition(".")[2] in WITHOUT.get(name, ()):
        pytest.skip(f"NumPy's {call} does not take a {name}")
    compare(lambda n: eval(call, {"n": n, "s": SEQUENCES[name](n)}))


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("statement", ["x[:] = s", "x[1] = s", "x[...] += s", "x.flat = s", "x += s", "n.copyto(x, s)"])
def test_sequences_are_assigned(statement: str, name: str) -> None:
    def assigned(n: Any) -> Any:
        x = n.zeros((2, 2))
        exec(statement, {"n": n, "x": x, "s": SEQUENCES[name](n)})
        return x

    compare(assigned)


@pytest.mark.parametrize("name", [name for name in SEQUENCES if name != "deque of arrays"])
def test_sequences_are_chosen_from(name: str) -> None:
    given = SEQUENCES[name](vx)
    assert set(vx.random.choice(given, 50).tolist()) == set(vx.asarray(given).tolist())
    assert sorted(vx.random.permutation(given).tolist()) == sorted(vx.asarray(given).tolist())
    assert vx.random.normal(given, 1).shape == (2,)
    assert vx.random.randint(0, given).shape == (2,)


@pytest.mark.parametrize("given", [{1, 2}, {1: 2}.values(), {1: 2}.keys()])
def test_what_has_no_order_is_none(given: Any) -> None:
    for function in (vx.asarray, vx.sum, vx.sqrt, vx.unique):
        with pytest.raises(TypeError, match=r"got .*\. Make a list of it\.$"):
            function(given)
