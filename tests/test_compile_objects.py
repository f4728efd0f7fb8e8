"""`vkarray.compile`: what objects may hold and keep, and nests too deep to follow."""

from __future__ import annotations

import ctypes
import functools
import importlib
import io
import logging
import queue
import re
import socket
import sqlite3
import threading
import zlib
from collections.abc import Callable
from csv import writer
from typing import Any

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
        assert containers or nest._kind_of(kind) is None, kind


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


@pytest.mark.parametrize("error", [None, KeyError])
def test_objects_stay_as_they_were(error):
    class Object:
        def __init__(self):
            self.name, self.gone = "before", "here"

        @vx.compile
        def changed(self, x):
            self.last, self.name = x * 2, f"after {x.ndim}"
            del self.gone
            if error is not None:
                raise error
            return x

    one = Object()
    if configuration.current().compile and not configuration.current().compare:
        for _ in range(2):
            with pytest.raises(error or vx.TraceError):
                one.changed(array())
            assert vars(one) == {"name": "before", "gone": "here"}


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
