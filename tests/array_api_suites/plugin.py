"""A pytest plugin that runs SciPy's and scikit-learn's tests of the array API standard with a namespace that they do not know.

The variable ARRAY_API_NAMESPACE names it: vkarray, or array_api_strict to compare with.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

NAME = os.environ["ARRAY_API_NAMESPACE"]
SECONDS = 400  # for a test: one of SciPy's compares 2**20 elements one by one


def combinations(include_numpy_namespaces: bool = True) -> Iterator[tuple[str, None, str]]:
    """What scikit-learn's tests run with: names of a namespace, a device and a floating type."""
    yield from ((NAME, None, dtype) for dtype in ("float64", "float32"))


def namespaces(include_numpy_namespaces: bool = True) -> list[str]:
    return [NAME]


def _needs_laziness(item: pytest.Item) -> bool:
    """Whether a test is for libraries alone that compute lazily: SciPy skips it with each of the others, by name."""
    reasons = (str(mark.kwargs.get("reason", "")) for mark in item.iter_markers("skip_xp_backends"))
    return "lazy backends only" in reasons


class Suite:
    """The file that the plugin writes to, a line for each test."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "a", encoding="utf-8")  # noqa: SIM115

    @pytest.hookimpl(tryfirst=True)
    def pytest_generate_tests(self, metafunc: Any) -> None:
        """SciPy's fixture `xp` gives the namespace alone."""
        for fixture in metafunc._arg2fixturedefs.get("xp", ()):
            known = fixture.func.__globals__.get("xp_known_backends")
            if known is not None:
                known.add(NAME)
                fixture.params = (pytest.param(importlib.import_module(NAME), id=NAME),)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if NAME in item.nodeid.rpartition("::")[2] and not _needs_laziness(item)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        def stop(*_: Any) -> None:
            raise TimeoutError(f"more than {SECONDS} seconds")

        signal.signal(signal.SIGALRM, stop)
        signal.alarm(SECONDS)
        try:
            return (yield)
        finally:
            signal.alarm(0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> Iterator[Any]:
        report = yield
        if (report.when == "call" or not report.passed) and not hasattr(report, "wasxfail"):
            error = call.excinfo
            text = f"{error.typename}: {error.value}" if error else ""
            line = {"test": item.nodeid.replace(NAME, "xp"), "outcome": report.outcome, "error": text[:600]}
            if report.failed:
                line["where"] = [f"{entry.path}:{entry.lineno + 1}" for entry in error.traceback[-6:]]
            print(json.dumps(line), file=self.file, flush=True)
        return report


def pytest_configure(config: pytest.Config) -> None:
    if NAME == "vkarray":
        from vkarray.ops.inspection import Info

        devices = Info.devices
        Info.devices = lambda self: list(devices(self))  # SciPy's tests add a list to it, which it was before 2025.12
    try:
        from sklearn.utils import _array_api
    except ImportError:
        pass
    else:
        _array_api.yield_namespace_device_dtype_combinations = combinations
        _array_api.yield_namespaces = namespaces
    config.pluginmanager.register(Suite(os.environ["ARRAY_API_RESULTS"]), "array_api_suite")
