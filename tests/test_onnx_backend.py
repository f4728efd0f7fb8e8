"""ONNX's own tests of operators: each case of the package `onnx` is a test here."""

from __future__ import annotations

import json
from typing import Any

import pytest

import vkarray as vx

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

from onnx_suite import cases

CASES = [(module, name) for module, names in cases.names().items() for name in names]


@pytest.mark.parametrize(("module", "name"), CASES, ids=[name.removeprefix("test_") for _, name in CASES])
def test_case(module: str, name: str) -> None:
    case = cases.of_module(module)[name]
    if cases.reason(case):
        with pytest.raises((NotImplementedError, ValueError), match=r"^(onnx\.load|node)"):
            cases.check(case)
        return
    _skip_without_types(case)
    cases.check(case, *cases.ROUNDED.get(name, ()))


def _skip_without_types(case: Any) -> None:
    if lacks := cases.lacking(case):
        pytest.skip(f"{vx.asarray(0).device!r} has no {lacks}, which the model names")


FOLDERS = cases.in_files()


@pytest.mark.parametrize("name", FOLDERS)
def test_case_of_files(name: str) -> None:
    case = cases.of_folder(name, FOLDERS[name])
    if cases.reason(case):
        with pytest.raises((NotImplementedError, ValueError), match=r"^(onnx\.load|node)"):
            cases.check(case)
        return
    _skip_without_types(case)
    cases.check(case)


def test_list_is_that_of_the_package() -> None:
    content = json.loads(cases.LIST.read_text())
    assert content["onnx"] == onnx.__version__, "python tests/onnx_suite/run.py lists the cases of another version"
    assert {module: names for module in cases.modules() if (names := sorted(cases.of_module(module)))} == content[
        "cases"
    ]


def test_table_names_cases() -> None:
    names = {name for _, name in CASES} | set(FOLDERS)
    patterns = [one for patterns in (*cases.REASONS.values(), cases.RANDOM) for one in patterns]
    patterns += [*cases.ROUNDED, *cases.OTHERWISE]
    stale = [one for one in patterns if not any(cases._matches(name, (one,)) for name in names)]
    assert not stale, f"rows that name no case: {stale}"
