"""Several devices: their tests run in a process that finds each driver twice, so that a machine needs one device only."""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import vkarray.torch  # noqa: F401 - makes the device
from vkarray.torch import device, guard

TESTS = Path(__file__).with_name("several_devices.py")


def manifests() -> list[Path]:
    """The files that tell Vulkan's loader of drivers."""
    named = os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES")
    if named:
        return [Path(one) for one in named.split(os.pathsep)]
    return [Path(one) for folder in ("/usr/share", "/etc") for one in glob.glob(f"{folder}/vulkan/icd.d/*.json")]


def listed_twice(folder: Path) -> str:
    """Those files and their copies, as the loader's variable wants them. It passes over a file that is named twice."""
    found = manifests()
    for number, one in enumerate(manifests()):
        told = json.loads(one.read_text(encoding="utf-8"))
        library = Path(told["ICD"]["library_path"])
        if len(library.parts) > 1:  # else a name for the system to look for
            told["ICD"]["library_path"] = str((one.parent / library).resolve())
        copy = folder / f"{number}-{one.name}"
        copy.write_text(json.dumps(told), encoding="utf-8")
        found.append(copy)
    return os.pathsep.join(map(str, found))


def test_two_devices(tmp_path):
    drivers = listed_twice(tmp_path)
    environment = {**os.environ, "VK_DRIVER_FILES": drivers, "VK_ICD_FILENAMES": drivers}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(TESTS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 100, done.stdout


# -- where PyTorch is not built as expected ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("_HEADER", "include/c10/core/Stream.h", "declares other functions"),
        ("_HEADER", "include/c10/no_such_file.h", "No such file"),
        ("_CLASS", b"N2at15AnotherGuardImplE", "is a N5torch3acc17PythonDeviceGuardE"),
        ("_library", lambda name: object(), "has no attribute"),
        ("_functions", lambda *_: {"countOfDevices": None}, "lacks countOfDevices"),
    ],
)
def test_an_unexpected_build_of_pytorch_has_one_device(monkeypatch, name, value, reason):
    monkeypatch.setattr(guard, name, value)
    refusal = guard.install(lambda: 3, SimpleNamespace(index=2))
    assert reason in refusal
    assert torch.__version__ in refusal
    assert torch.accelerator.current_device_index() == 0, "a guard that was refused stayed"


def test_a_guard_that_answers_otherwise_is_taken_back(monkeypatch):
    functions = guard._functions
    monkeypatch.setattr(guard, "_functions", lambda count, current: functions(count, SimpleNamespace(index=5)))
    assert "where {'number': 3" in guard.install(lambda: 3, SimpleNamespace(index=5))
    assert torch.accelerator.current_device_index() == 0


def test_one_device_is_left_without_a_guard(monkeypatch):
    monkeypatch.setattr(device, "_refusal", "this build is not as expected.")
    description = next(one for one in device._vk.enumerate_devices() if one.is_default)
    listed = [description, replace(description, index=description.index + 1, is_default=False)]
    monkeypatch.setattr(device._vk, "enumerate_devices", lambda: listed)
    with pytest.warns(RuntimeWarning, match=r"not as expected\. torch\.vulkan has one of 2 devices"):
        assert device._found() == [description.index]
