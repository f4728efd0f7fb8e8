"""`vkarray.compile`: nests of arguments, methods, closures, and compiled functions in functions and threads."""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest
from compiled import array, check, seen

import vkarray as vx
from vkarray.core.array import VkArray


class Pair(NamedTuple):
    first: Any
    second: Any


class Plain(tuple):
    __slots__ = ()


@dataclasses.dataclass
class State:
    value: Any
    name: str = "state"


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: Any


class Layer:
    def __init__(self, weight: Any, scale: Any = 2.0) -> None:
        self.weight, self.scale, self.inner = weight, scale, None

    @vx.compile
    def applied(self, x: VkArray) -> VkArray:
        return x * self.weight * self.scale if self.inner is None else self.inner.applied(x) * self.weight


def _layer(*values: Any) -> Layer:
    made = Layer(*values)
    made.inner = Layer(array(seed=3), 0.5)
    return made


NESTS: dict[str, Callable[[VkArray], Any]] = {
    "tuple": lambda x: (x, (x, None)), "list": lambda x: [x, [x], []], "dictionary": lambda x: {"a": x, "b": {"c": x, 1: 2.0}},
    "named tuple": lambda x: Pair(x, Pair(x, "text")), "subclass of tuple": lambda x: Plain((x, x)),
    "dataclass": lambda x: State(x),
    "frozen dataclass": lambda x: Frozen([x]), "object": lambda x: Layer(x), "ordered": lambda x: OrderedDict(b=x, a=x),
    "of everything": lambda x: {"a": (State([x, None]), Pair(x, 3), True, "text", vx.float32, ...)},
}  # fmt: skip


def arrays_in(value: Any) -> list[VkArray]:
    if type(value) is VkArray:
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else vars(value).values() if (
        hasattr(value, "__dict__")) else ()  # fmt: skip
    return [one for part in parts for one in arrays_in(part)]


@pytest.mark.parametrize("nest", NESTS)
def test_nests(nest):
    check(lambda given: [one * 2 for one in arrays_in(given)], lambda: (NESTS[nest](array()),))
    check(lambda x: NESTS[nest](x * 2), lambda: (array(),))
    check(lambda given: given, lambda: (NESTS[nest](array()),))


def test_methods_see_what_their_object_holds():
    x, layer = array(), Layer(array(seed=1))
    for scale in (2.0, 3.0):
        layer.scale = scale
        assert seen(layer.applied(x)) == seen(x * layer.weight * scale)
    layer.weight = array(seed=2)
    assert seen(layer.applied(x)) == seen(x * layer.weight * 3.0)
    layer = _layer(array(seed=1))
    assert seen(layer.applied(x)) == seen(x * layer.inner.weight * 0.5 * layer.weight)
    settings = State(None)
    plain = vx.compile(lambda x, settings: x * 2 if settings.name == "double" else x)
    assert seen(plain(x, settings)) == seen(x)
    settings.name = "double"
    assert seen(plain(x, settings)) == seen(x * 2)


def test_arguments_by_name_and_by_default():
    function = vx.compile(lambda a, b=2.0, *rest, scale=None, **others: (a * b, rest, scale, others))
    x = array()
    for args, names in (
        ((x,), {}),
        ((x, x), {}),
        ((x, 2.0, x), {"scale": x}),
        ((x,), {"scale": 3, "other": x}),
        ((x,), {"b": x}),
    ):
        assert seen(function(*args, **names)) == seen(function.function(*args, **names))


def test_closures():
    held, table = array(seed=4), [array(seed=5)]
    function = vx.compile(lambda x: x * held + table[0])
    check(lambda x: x * held + table[0], lambda: (array(),))
    assert seen(function(held)) == seen(held * held + table[0])
    held += 1
    assert seen(function(array())) == seen(array() * held + table[0])

    def written(x):
        x += 1
        return held * 2

    def counting(x):
        held.__iadd__(1)
        return x + held

    for one in (written, counting):
        compiled = vx.compile(one)
        for argument in (array(), array(), held):
            before = held[...] * 1
            results = []
            for way in (one, compiled):
                held[...] = before
                given = held if argument is held else array()
                results.append((seen(way(given)), seen(given), seen(held)))
            assert results[0] == results[1]


def test_compiled_functions_nest():
    inner = vx.compile(lambda x, n: {"result": x * n})
    check(
        lambda x, n: inner(x, n)["result"] + inner(x * 2, 3)["result"],
        lambda: (array(), 2.0),
        lambda: (array(), 3.0),
        programs=1,
    )
    assert vx.compile(inner) is inner
    assert inner.__name__ == "<lambda>"

    class Class:
        @classmethod
        @vx.compile
        def of_class(cls, x):
            return x * 2

        @staticmethod
        @vx.compile
        def static(x):
            return x * 3

    assert seen((Class.of_class(array()), Class().static(array()))) == seen((array() * 2, array() * 3))


def test_threads():
    function = vx.compile(lambda x, n: (vx.sum(x * n, axis=1), x[::-1] + n))
    given = [array(shape=(5 + k % 3, 7), seed=k) for k in range(8)]
    barrier = threading.Barrier(8)

    def work(number):
        barrier.wait()
        return [seen(function(given[number], float(k))) for k in range(20)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(8)))
    assert found == [[seen(function.function(x, float(k))) for k in range(20)] for x in given]
