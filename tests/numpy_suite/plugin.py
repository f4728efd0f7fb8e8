"""A pytest plugin that puts vkarray in the place of NumPy in the modules of NumPy's own tests.

Modules are imported with NumPy, so that tables of cases can be made; then what they call NumPy is exchanged. A test counts if it
uses what was exchanged.
"""

from __future__ import annotations

import json
import os
import signal
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import numpy.testing
import pytest

import vkarray

SECONDS = 30  # for a test
CALLING = (
    "assert_raises",
    "assert_raises_regex",
    "assert_warns",
    "assert_no_warnings",
)  # they give arguments to functions


KEYS = ("mgrid", "ogrid", "r_", "c_", "s_", "index_exp")  # objects that are indexed

SUPPORTED = {*vkarray.__array_namespace_info__().dtypes(), "float16"}


class Standin(types.ModuleType):
    """A module of vkarray's under the name of NumPy's; what it lacks is missing."""

    used = False

    def __init__(self, ours: types.ModuleType, others: dict[str, Any] | None = None) -> None:
        super().__init__(ours.__name__)
        self.__dict__.update(_ours=ours, _others=others or {})

    def __getattr__(self, name: str) -> Any:
        Standin.used = True
        return self._others[name] if name in self._others else getattr(self._ours, name)


class Checks(types.ModuleType):
    """`numpy.testing`, whose functions take arrays of vkarray's."""

    def __getattr__(self, name: str) -> Any:
        return checking(getattr(numpy.testing, name))


def checking(function: Any) -> Any:
    """A function of NumPy's that takes arrays of vkarray's as its own."""
    if not isinstance(function, types.FunctionType) or function.__name__ in CALLING:
        return function

    def call(*args: Any, **options: Any) -> Any:
        return function(
            *map(vkarray.testing._host, args), **{name: vkarray.testing._host(one) for name, one in options.items()}
        )

    return call


NAMESPACE = Standin(
    vkarray,
    {
        "linalg": Standin(vkarray.linalg), "fft": Standin(vkarray.fft), "random": Standin(vkarray.random),
        "testing": Checks("testing"),
        "exceptions": Standin(vkarray.exceptions, {**vars(numpy.exceptions), **vars(vkarray.exceptions)}),
    },
)  # fmt: skip
MODULES: dict[str, Any] = {
    "numpy": NAMESPACE, "numpy._core": NAMESPACE, "numpy._core.umath": NAMESPACE, "numpy._core.numeric": NAMESPACE,
    "numpy.linalg": NAMESPACE.linalg, "numpy.fft": NAMESPACE.fft, "numpy.random": NAMESPACE.random,
    "numpy.testing": NAMESPACE.testing,
}  # fmt: skip


def exchanges() -> dict[int, Any]:
    """What stands for the functions of NumPy, by their identity; types of elements stay NumPy's, which vkarray takes."""
    found: dict[int, Any] = {}
    for module in ("", "linalg", "fft", "random"):
        theirs, ours = (getattr(package, module) if module else package for package in (numpy, vkarray))
        for name, value in vars(theirs).items():
            is_type = isinstance(value, type) and issubclass(value, numpy.generic)
            stands = callable(value) or name in KEYS
            if stands and not name.startswith("_") and not is_type and id(value) not in found:
                found[id(value)] = getattr(ours, name, missing(name))
    found[id(numpy.exceptions.AxisError)] = vkarray.exceptions.AxisError
    return found


def missing(name: str) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        raise AttributeError(f"module 'vkarray' has no attribute {name!r}")

    return call


def exchange(module: types.ModuleType, functions: dict[int, Any]) -> set[str]:
    """Exchange what a module of tests has of NumPy; returns the names of functions."""
    names = set()
    for name, value in list(vars(module).items()):
        if isinstance(value, types.ModuleType) and value.__name__ in MODULES:
            setattr(module, name, MODULES[value.__name__])
        elif id(value) in functions:
            names.add(name)
            setattr(module, name, functions[id(value)])
        elif str(getattr(value, "__module__", "")).startswith("numpy.testing"):
            setattr(module, name, checking(value))
        elif isinstance(value, type) and value.__module__ == module.__name__:
            for attribute, one in list(vars(value).items()):
                if type(one) in (numpy.ndarray, list, tuple, dict):
                    setattr(value, attribute, data(one, module.__name__, functions))
                elif id(one) in functions:
                    setattr(value, attribute, staticmethod(functions[id(one)]))
        else:
            setattr(module, name, data(value, module.__name__, functions))
    return names


def data(value: Any, module: str, functions: dict[int, Any]) -> Any:
    """NumPy's arrays as vkarray's, where it has their type; also those in lists, and in objects of a module's classes."""
    if type(value) is numpy.ndarray:
        return vkarray.asarray(value) if value.dtype.isnative and value.dtype.name in SUPPORTED else value
    if type(value) in (list, tuple):
        return type(value)(data(one, module, functions) for one in value)
    if type(value) is dict:
        return {functions.get(id(key), key): data(one, module, functions) for key, one in value.items()}
    if type(value).__module__ == module and hasattr(value, "__dict__"):
        for name, one in list(vars(value).items()):
            setattr(value, name, data(one, module, functions))
    return functions.get(id(value), value)


def names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from names_in(one)


class Suite:
    """What the plugin knows of a run, and the file it writes to, a line for each test."""

    def __init__(self, path: str) -> None:
        self.done: set[str] = set()  # in runs before this one, which a test of NumPy's own C ended
        if os.path.exists(path):
            with open(path, encoding="utf-8") as before:
                self.done = {json.loads(line)["test"] for line in before}
        self.file = open(path, "a", encoding="utf-8")  # noqa: SIM115
        self.names: dict[str, set[str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid not in self.done]
        functions = exchanges()
        for module in {
            item.module.__name__: item.module for item in items if isinstance(item, pytest.Function)
        }.values():
            self.names[module.__name__] = exchange(module, functions)
        for item in items:
            if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
                params = item.callspec.params
                params.update({name: data(one, "", functions) for name, one in params.items()})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Function) -> Iterator[None]:
        used = set(names_in(item.function.__code__)) if hasattr(item.function, "__code__") else set()
        Standin.used = bool(used & self.names.get(item.module.__name__, set()))

        def stop(*_: Any) -> None:
            raise TimeoutError(f"more than {SECONDS} seconds")

        print(json.dumps({"test": item.nodeid}), file=self.file, flush=True)
        signal.signal(signal.SIGALRM, stop)
        signal.alarm(SECONDS)
        try:
            with vkarray.config(default_float="float64"):
                return (yield)
        finally:
            signal.alarm(0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> Iterator[Any]:
        report = yield
        if report.when == "call" and report.outcome != "skipped" and Standin.used and not hasattr(report, "wasxfail"):
            error = call.excinfo
            text = f"{error.typename}: {error.value}" if error else ""
            line = {
                "test": item.nodeid,
                "passed": report.passed,
                "error": text if len(text) < 600 else f"{text[:300]} ... {text[-300:]}",
                "statement": statement(item, error),
            }
            print(json.dumps(line), file=self.file, flush=True)
        return report


def statement(item: pytest.Item, error: pytest.ExceptionInfo | None) -> str:
    """The statement of a test that failed."""
    own = [entry for entry in error.traceback if entry.path == item.path] if error else []
    return str(own[-1].statement).strip()[:300] if own else ""


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Suite(os.environ["NUMPY_SUITE_RESULTS"]), "numpy_suite")
