"""Caches of what follows from devices: all of them forget devices that were closed."""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

import vkarray as vx
from vkarray import _vk, device_caches

PACKAGE = Path(vx.__file__).parent
FOLDERS = ("_vk", "core", "graph", "io", "kernels", "nn", "ops", "programs", "shaders")


def _asked_of_devices() -> list[Any]:
    """The functions with a cache, of all modules, that have a device among their parameters."""
    found = []
    for path in (one for folder in FOLDERS for one in (PACKAGE / folder).rglob("*.py")):
        if "cache" not in path.read_text():
            continue
        name = ".".join(("vkarray", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        module = importlib.import_module(name)
        for node in ast.walk(ast.parse(path.read_text())):
            function = getattr(module, node.name, None) if isinstance(node, ast.FunctionDef) else None
            if hasattr(function, "cache_clear") and "device" in str(inspect.signature(function)).lower():
                found.append(function)
    return found


def test_caches_that_are_asked_of_devices_are_emptied() -> None:
    """Else closed devices would stay in memory."""
    device = _vk.open_device(None)
    found = _asked_of_devices()
    assert len(found) > 30
    known = {id(getattr(clear, "__self__", None)) for clear in device_caches._clear}
    known |= {id(getattr(clear, "__self__", None)) for clear in vx.kernels.kernel_caches._clear}
    assert [function.__qualname__ for function in found if id(function) not in known] == []
    assert device.open


def test_closed_devices_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_caches, "MOST_CLOSED", 2)
    x = vx.arange(100, dtype="float32")

    def total() -> float:
        return float(vx.sum(vx.sort(x * 2) + 1))

    expected = total()
    before = sum(type(one) is _vk.Device and not one.open for one in gc.get_objects())
    for _ in range(8):
        with vx.config(profile=("phone",)):
            y = vx.arange(100, dtype="float32")
            assert float(vx.sum(vx.sort(y * 2) + 1)) == expected
            y.device.close()
        del y
        assert total() == expected
    gc.collect()
    left = sum(type(one) is _vk.Device and not one.open for one in gc.get_objects())
    assert left <= before + 3, "closed devices stay in memory"


def test_a_cache_answers_as_functools_does() -> None:
    asked = []

    @device_caches.lru_cache(1)
    def double(x: int) -> int:
        asked.append(x)
        return 2 * x

    assert [double(1), double(1), double(2), double(1)] == [2, 2, 4, 2]
    assert asked == [1, 2, 1]
    assert isinstance(double, functools._lru_cache_wrapper)
