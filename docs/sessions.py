"""An executed example for each function: from the table `examples.toml`, or made from small arguments.

A docstring's own example comes before both. What is shown is what the code gave on the device where the pages are made.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import itertools
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import vkarray as vx

# Arguments that are tried in turn, for a function that the table does not name: pairs of arrays, then an array and numbers.
_ARRAYS = (
    ("vx.asarray([0.25, 0.5, 1.0])", "vx.asarray([1.0, 0.5, 2.0])"),
    ("vx.asarray([1.0, 2.0, 4.0])", "vx.asarray([3.0, 1.0, 2.0])"),
    ("vx.asarray([6, 3, 5])", "vx.asarray([2, 3, 1])"),
    ("vx.asarray([True, True, False])", "vx.asarray([True, False, False])"),
    ("vx.asarray([1 + 2j, 3 - 1j])", "vx.asarray([2 + 0j, 1j])"),
    ("vx.asarray([[2.0, 1.0], [1.0, 3.0]])", "vx.asarray([[1.0, 0.0], [2.0, 1.0]])"),
)
_NUMBERS = (("0", "1"), ("1", "2"), ("2", "3"))
_OF_DISTRIBUTIONS = (("2.0", "1.0", "3.0"), ("0.5", "1.0", "2.0"), ("5", "0.5", "4"), ("5", "3", "4"))


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """The lines of code by module and function."""
    return tomllib.loads(Path(__file__).with_name("examples.toml").read_text(encoding="utf-8"))


def _statements(code: str) -> Iterator[str]:
    """The statements of a text; a line that is indented belongs to the one before."""
    held = ""
    for line in code.strip().splitlines():
        if held and not line.startswith((" ", ")", "]", "}")):
            yield held
            held = ""
        held = f"{held}\n{line}" if held else line
    yield held


def run(code: str) -> str:
    """A session in the interpreter: each statement behind its prompt, and what it printed or gave. Its files are removed."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _shown(code)


def _shown(code: str) -> str:
    names: dict[str, Any] = {"vx": vx, "np": np}
    shown: list[str] = []
    for statement in _statements(code):
        shown.append(">>> " + statement.replace("\n", "\n... "))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                value = eval(statement, names)
            except SyntaxError:
                exec(statement, names)
            except vx.FeatureError as error:
                print(f"vkarray.errors.FeatureError: {error}")
            else:
                if value is not None:
                    print(repr(value))
        shown += printed.getvalue().splitlines()
    return "\n".join(shown)


def _attempts(call: str, function: Callable[..., Any]) -> Iterator[str]:
    """Calls of a function with arguments that it may take."""
    parameters = inspect.signature(function).parameters.values()
    count = sum(each.default is each.empty and each.kind in _POSITIONAL for each in parameters)
    if call.startswith("vx.random."):
        size = ["size=3"] if any(each.name == "size" for each in parameters) else []
        for numbers in _OF_DISTRIBUTIONS:
            yield f"vx.random.seed(1)\n{call}({', '.join([*numbers[:count], *size])})"
    lists = [list(arrays) for arrays in _ARRAYS] + [[first, *numbers] for first, _ in _ARRAYS for numbers in _NUMBERS]
    yield from (f"{call}({', '.join(arguments[:count])})" for arguments in lists if len(arguments) >= count)


_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)


def made(call: str, function: Callable[..., Any]) -> str | None:
    """An example of small arguments that the function takes, whose results are finite; None where none is found."""
    for code in _attempts(call, function):
        with contextlib.suppress(Exception):
            shown = run(code)
            if not any(word in shown for word in ("nan", "inf", "Error", "<")) and not shown.splitlines()[
                -1
            ].startswith(">"):
                return shown
    return None


def example(module: str, name: str) -> str | None:
    """The example of a function of `vkarray` or one of its namespaces; None for one that has none."""
    space = module.rpartition(".")[2]
    code = table().get(space, {}).get(name)
    if code is not None:
        return run(code)
    owner = vx if module == "vkarray" else getattr(vx, space)
    twins = (each for each in table().get(space, {}) if getattr(owner, each) is getattr(owner, name))
    for twin in itertools.islice(twins, 1):  # another name of the same function
        return run(table()[space][twin].replace(f".{twin}(", f".{name}("))
    return made("vx." + name if owner is vx else f"vx.{space}.{name}", getattr(owner, name))
