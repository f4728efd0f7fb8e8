"""Run ONNX's own tests of operators and write docs/onnx-tests.md: `python tests/onnx_suite/run.py`.

It lists the cases of the installed package anew, for the tests, before it runs them: some minutes on one processor.
"""

from __future__ import annotations

import collections
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

import onnx  # noqa: E402
from onnx_suite import cases  # noqa: E402

PAGE = HERE.parent.parent / "docs" / "onnx-tests.md"
ROUNDING = "numbers that differ by rounding: the last place of float16, and noise of 2e-7 where 0 is right"
OTHERWISE = "numbers that differ from the text of the operator, which vkarray, PyTorch and ONNX Runtime follow"
RANDOM = "random numbers of another generator, of which types and shapes are the same"


def outcome(case: Any) -> str:
    """Nothing for a case that passes, else why not."""
    if why := cases.reason(case) or (ROUNDING if case.name in cases.ROUNDED else ""):
        return why
    cases.check(case)
    return RANDOM if cases.is_random(case.name) else OTHERWISE if case.name in cases.OTHERWISE else ""


def main() -> None:
    """Write the list and the page."""
    cases.write()
    of_operators: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    every: collections.Counter[str] = collections.Counter()
    for module, names in cases.names().items():
        for name in names:
            case = cases.of_module(module)[name]
            own = next((one for one in cases.of_module(module).values() if "_expanded" not in one.name), case)
            operators = [node.op_type for node in own.model.graph.node]
            operator = operators[0] if len(set(operators)) == 1 else module.rpartition(".")[2]
            found = outcome(case)
            of_operators[operator][found] += 1
            every[found] += 1
    files = collections.Counter(outcome(cases.of_folder(name, folder)) for name, folder in cases.in_files().items())
    PAGE.write_text(page(of_operators, every, files))


def share(found: collections.Counter[str]) -> str:
    """How many pass."""
    total = found.total()
    return f"{found['']} of {total} ({found[''] / total:.0%})"


def page(of_operators: Any, every: collections.Counter[str], files: collections.Counter[str]) -> str:
    """The text of the page."""
    known = every.total() - every[cases.TYPES]
    lines = [
        "# ONNX's tests", "",
        f"The tests of the package onnx {onnx.__version__}, each a model of one operator with inputs and results, run with "
        f"`vkarray.onnx.load`: {every['']} of {every.total()} ({every[''] / every.total():.1%}) pass; without those of types that "
        f"vkarray does not have, {every['']} of {known} ({every[''] / known:.1%}). Of its models in files {share(files)} pass. "
        "`tests/test_onnx_backend.py` runs each of them. `python tests/onnx_suite/run.py` writes this page.",
        "", "| Why tests fail | Tests | Models in files |", "| --- | --- | --- |",
    ]  # fmt: skip
    reasons = sorted((every | files).keys() - {""}, key=lambda why: -every[why])
    lines += [f"| {why} | {every[why]} | {files[why]} |" for why in reasons]
    lines += ["", "| Operator | Pass | Others for |", "| --- | --- | --- |"]
    for operator, found in sorted(of_operators.items()):
        others = "; ".join(f"{why} ({count})" for why, count in found.items() if why)
        lines.append(f"| {operator} | {share(found)} | {others} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
