"""`vkarray.compile`: what objects may hold and keep, and nests too deep to follow."""

from __future__ import annotations

import ctypes
import functools
import importlib
import io
import logging
import queue
import random
import re
import socket
import sqlite3
import threading
import zlib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from csv import writer
from typing import Any

import numpy as np
import pytest
from compiled import array, seen, traced

import vkarray as vx
from vkarray import configuration
from vkarray.graph import nest


def test_objects_may_hold_what_is_not_read(tmp_path):
    class Trainer:
        def __init__(self, file):
            self.weight, self.file, self.batches = array(seed=1), file, iter([array()])
            self.log, self.done = logging.getLogger("tests"), threading.Event()
            self.waiting = queue.Queue()

        @vx.compile
        def step(self, x):
            self.log.debug("traced")
            return x * self.weight

    with (tmp_path / "log").open("w") as file:
        one = Trainer(file)
        for seed in (1, 2):
            one.weight = array(seed=seed)
            assert seen(one.step(array())) == seen(array() * one.weight)
    settings = configuration.current()
    assert len(Trainer.step.explain().programs) == (settings.compile and not settings.compare)


class Holder:
    def __init__(self, held: Any) -> None:
        self.weight, self.held = array(seed=1), held

    @vx.compile
    def step(self, x: vx.ndarray) -> Any:
        return x * self.weight


HELD = {
    "bytes in a file": io.BytesIO,
    "compressor": zlib.compressobj,
    "connection": lambda: sqlite3.connect(":memory:"),
    "lines of text": lambda: io.TextIOWrapper(io.BytesIO()),
    "lock": threading.RLock,
    "match": lambda: re.match("(a)", "a"),
    "socket": socket.socket,
    "text in a file": io.StringIO,
    "writer": lambda: writer(io.StringIO()),
}


@pytest.mark.parametrize("held", HELD)
def test_objects_may_hold_what_is_written_in_c(held):
    one = Holder(HELD[held]())
    for _ in range(2):
        assert seen(one.step(array())) == seen(array() * one.weight)
    getattr(one.held, "close", int)()


# Modules whose types are written in C, in ways that differ between the versions of Python.
MODULES = ("_csv", "_io", "_queue", "_socket", "_sqlite3", "_ssl", "_struct", "_thread", "datetime")


@pytest.mark.parametrize("module", MODULES)
def test_types_that_are_written_in_c_are_not_taken_apart(module):
    public = [one for name, one in vars(importlib.import_module(module)).items() if not name.startswith("__")]
    kinds = [one for one in public if isinstance(one, type)]
    assert kinds
    for kind in kinds:
        containers = issubclass(kind, tuple(nest.KINDS)) or issubclass(kind, (tuple, list, dict))
        assert containers or nest.kind_of(kind) is None, kind


@pytest.mark.parametrize("value", [ctypes.c_int(1), memoryview(bytearray(2)), [(ctypes.c_int * 3)()]])
def test_arguments_that_cannot_be_compared_are_named(value):
    with pytest.raises(TypeError, match="which holds no arrays and cannot be compared with that of another call"):
        vx.compile(lambda x, value: x)(array(), value)


# -- what objects keep --------------------------------------------------------------------------------------------------------


def test_properties_that_are_computed_once():
    class Half:
        def __init__(self, value):
            self.value = value

        @functools.cached_property
        def half(self):
            return self.value / 2

        @vx.compile
        def times(self, x):
            return x * self.half

    half = Half(array(seed=1))
    for _ in range(2):
        assert seen(half.times(array())) == seen(array() * (half.value / 2))
    assert seen(half.half) == seen(half.value / 2)
    assert seen(half.times(array())) == seen(array() * (half.value / 2))


KEPT: dict[str, Callable[[], Any]] = {
    "array": lambda: array(),
    "ones": lambda: vx.ones((5, 7)),
    "expression": lambda: array() * 2,
    "nest": lambda: ({"a": [vx.zeros((5, 7))]}, 2)[0]["a"][0],
    "number": lambda: 3,
}


@pytest.mark.parametrize("kind", KEPT)
def test_properties_that_are_computed_while_tracing(kind):
    """They are computed while a function is traced, and afterwards, outside of it, as if they had not been."""

    class Object:
        name = "without arrays"

        @functools.cached_property
        def kept(self):
            return KEPT[kind]()

        @functools.cached_property
        def nest(self):
            return {"kept": [self.kept]}, 2

        @vx.compile
        def times(self, x):
            return x * self.kept + self.nest[0]["kept"][0]

    one = Object()
    expected = seen(array() * KEPT[kind]() + KEPT[kind]())
    for _ in range(3):
        assert seen(one.times(array())) == expected
    assert seen(array() * one.kept + one.nest[0]["kept"][0]) == expected
    assert seen(one.times(array())) == expected


def test_objects_stay_as_they_were():
    class Object:
        def __init__(self):
            self.name, self.gone = "before", "here"

        @vx.compile
        def changed(self, x):
            self.last, self.name = x * 2, f"after {x.ndim}"
            del self.gone
            return x

    one = Object()
    if configuration.current().compile and not configuration.current().compare:
        for _ in range(2):
            with pytest.raises(vx.TraceError):
                one.changed(array())
            assert vars(one) == {"name": "before", "gone": "here"}


def test_an_error_leaves_what_was_done_before_it():
    """To arrays, objects and random numbers, as where the function runs as it is."""

    class Object:
        calls = 0

        def changed(self, x, error):
            x += vx.random.uniform(size=x.shape)
            self.last, self.calls = x * 2, self.calls + 1
            if error is not None:
                raise error
            return x @ vx.ones(x.shape[-1] + 1)

    for error in (KeyError, None):
        found = []
        for compiled in (False, True):
            one, x = Object(), vx.ones((2, 3))
            function = vx.compile(one.changed) if compiled else one.changed
            vx.random.seed(5)
            for _ in range(2):
                with pytest.raises(error or ValueError):
                    function(x, error)
            found.append((one.calls, seen(one.last), seen(x), seen(vx.random.uniform(size=2))))
        assert found[0] == found[1], error


def test_what_only_the_trace_cannot_do_is_said():
    """A function whose trace raises what its calls do not runs as it is, and says so."""

    def named(x, names=None):
        return x + (1 if type(x._buffer).__name__ == "Value" and names["no"] else 2)

    if configuration.current().compile and not configuration.current().compare:
        with pytest.warns(UserWarning, match="named runs as it is, since it raised TypeError while it was traced"):
            assert seen(vx.compile(named)(vx.ones(2))) == seen(vx.ones(2) + 2)


class Named:
    """Equal by its name, which is not all that it has."""

    def __init__(self, name, factor):
        self.name, self.factor = name, factor

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def times(self, x):
        return x * self.factor


class Unit(float):
    """A number with an attribute."""

    def __new__(cls, value, unit):
        made = super().__new__(cls, value)
        made.unit = unit
        return made


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (Named.times, [(Named("a", 2.0), vx.ones(2)), (Named("a", 3.0), vx.ones(2))]),
        (lambda x, q: x * q if q.unit == "C" else -x, [(vx.ones(2), Unit(2, "C")), (vx.ones(2), Unit(2, "K"))]),
        (lambda q: (sum(q), q.maxlen), [(deque([vx.ones(2)], most),) for most in (4, 2, None)]),
        (lambda q: q, [(deque([vx.ones(2)], most),) for most in (4, 2, None)]),
    ],
    ids=["equal objects", "numbers with attributes", "lengths of queues", "queues"],
)
def test_what_equality_does_not_tell(function, calls):
    compiled = vx.compile(function)
    for given in calls:
        expected, found = function(*given), compiled(*given)
        assert seen(found) == seen(expected)
        assert getattr(found, "maxlen", None) == getattr(expected, "maxlen", None)


def test_an_object_that_is_equal_to_what_it_was():
    one = Named("a", 2.0)
    times = vx.compile(one.times)
    for one.factor in (2.0, 7.0):
        assert seen(times(vx.ones(2))) == seen(one.times(vx.ones(2)))


def test_an_attribute_that_cannot_be_compared():
    with pytest.raises(TypeError, match="of type Unit, whose attribute unit cannot be compared"):
        vx.compile(lambda x, q: x * q)(vx.ones(2), Unit(2, [1]))


def test_the_same_array_twice():
    """It is one object, and where it is told by others."""

    def told(a, b):
        a += 1
        return a * 10 if a is b else a * b

    def once(arrays):
        return sum({id(one): one for one in arrays}.values())

    compiled, summed = vx.compile(told), vx.compile(once)
    for make in (lambda a: (a, a), lambda a: (a, a[:]), lambda a: (a, vx.ones(2)), lambda a: (a, a)):
        assert seen(compiled(*make(vx.ones(2)))) == seen(told(*make(vx.ones(2))))
        given = make(vx.ones(2))
        assert seen(summed(given)) == seen(once(given))


def test_numbers_as_keys():
    def keyed(x, v):
        return {v: x}, {v}, frozenset([v]), {(v, 1): x}, {"nest": {v: v}}

    def counted(x, v):
        return Counter({("a", 1): v, v: 3}), OrderedDict([(("b", v), x), ("a", x)]), defaultdict(list, {(1, 2): [x]})

    for number in (2.0, 3.0, 2):
        assert seen(vx.compile(counted)(vx.ones(2), number)) == seen(counted(vx.ones(2), number))
        found = vx.compile(keyed)(vx.ones(2), number)
        assert seen(found) == seen(keyed(vx.ones(2), number))
        assert type(next(iter(found[0]))) is type(next(iter(found[1]))) is type(number)


# -- nests too deep -----------------------------------------------------------------------------------------------------------


def error_of(call: Callable[[], Any]) -> str:
    try:
        call()
    except TypeError as error:
        return str(error)
    return ""


@traced
@pytest.mark.parametrize("levels", [100, 250, 300, 400, 500, 900, 2000])
def test_nests_are_followed_or_refused(levels):
    def deep(x: Any) -> Any:
        for _ in range(levels):
            x = [x]
        return x

    x = array()
    calls = {
        "an argument": lambda: vx.compile(lambda x, held: x + 1)(x, deep(x)),
        "what it returns": lambda: vx.compile(deep)(x),
        "what it returns, of any length": lambda: vx.compile(deep, dynamic={"x": {0: vx.Dim("n")}})(x),
        "what it returns, as a program": lambda: vx.Program(deep, (x,)),
    }
    for which, call in calls.items():
        told = error_of(call)  # no RecursionError, which would not say of what
        if levels == 100:
            assert told == "", which
        elif told or levels == 2000:
            assert f"{which.partition(',')[0]} holds itself, or is a nest too deep to follow" in told, which


@traced
@pytest.mark.parametrize(
    "make", [random.Random, np.random.default_rng, np.random.RandomState], ids=lambda one: one.__name__
)
def test_numbers_of_other_generators_are_refused(make):
    """Their state is as it was; one that is not drawn from is of no matter."""
    generator, untouched = make(3), make(3)
    drawn = (lambda x, r: x * r.random()) if make is random.Random else (lambda x, r: x * r.uniform())
    for function, given in ((drawn, (generator,)), (lambda x: drawn(x, generator), ())):
        with pytest.raises(vx.TraceError, match=r"draws from a .*, whose numbers would be the same in each call"):
            vx.compile(function)(vx.ones(2), *given)
    assert drawn(1.0, generator) == drawn(1.0, untouched)
    assert seen(vx.compile(lambda x, r: x + 1)(vx.ones(2), generator)) == seen(vx.ones(2) + 1)


@traced
def test_arrays_from_elsewhere_that_are_written_to_are_told():
    held = vx.zeros(3)

    def pushed(x):
        held[0] = x
        return held * 1

    compiled = vx.compile(pushed)
    with pytest.warns(
        UserWarning, match="pushed runs as it is in each call, since it writes to memory that calls share"
    ):
        assert seen(compiled(vx.asarray(1.0))) == seen(pushed(vx.asarray(1.0)))
    assert seen(compiled(vx.asarray(3.0))) == seen(pushed(vx.asarray(3.0)))


def _appending():
    log = []
    return log, lambda x: log.append(x + 1)


def _of_a_dictionary():
    cache = {}
    return cache, lambda x: cache.setdefault("table", x * 2)


def _of_a_default():
    def called(x, held=[]):  # noqa: B006
        held.append(x * 2)

    return called.__defaults__[0], called


@traced
@pytest.mark.parametrize("make", [_appending, _of_a_dictionary, _of_a_default])
def test_what_is_kept_in_lists_is_refused(make):
    """An array that a trace has made means nothing later."""
    held, function = make()
    for _ in range(2):
        with pytest.raises(
            vx.TraceError, match=r"keeps an array in (log|cache|held), which a compiled function does not set"
        ):
            vx.compile(function)(vx.ones(2))
        assert not held


def test_numbers_that_are_returned_decide_nothing():
    """One program serves for all, whatever the nest; as keys and after arithmetic their values decide."""
    x = vx.ones(3)

    def step(state):
        return {"w": state["w"] - state["lr"], "lr": state["lr"], "more": [(state["lr"],), None]}

    compiled = vx.compile(step)
    for number in (0.5, -0.0, 2.5, float("inf")):
        found = compiled({"w": x, "lr": number})
        assert (found["lr"], found["more"]) == (number, [(number,), None])
        assert str(found["lr"]) == str(number)
        assert np.array_equal(np.asarray(found["w"]), np.asarray(step({"w": x, "lr": number})["w"]))
    assert len(compiled.explain().programs) == 1
    keyed = vx.compile(lambda x, n: ({n: x}, {n}, n + 1, x * n))
    for number in (2, 3):
        found = keyed(x, number)
        assert (list(found[0]), found[1], found[2]) == ([number], {number}, number + 1)
