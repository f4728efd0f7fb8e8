"""Lengths that follow from dimensions: of arguments they are checked, of results they are told, at all lengths within bounds."""

from __future__ import annotations

import functools
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkarray as vx
from vkarray.graph.lengths import MOST, Derived
from vkarray.programs import container
from vkarray.programs.container import Container

A, B = vx.Dim("a", max=24), vx.Dim("b", min=0, max=9)

# How the length of an argument is written, what it is told as, and what it is.
LENGTHS: dict[str, tuple[Any, Any]] = {
    "a + b": (A + B, lambda a, b: a + b),
    "a + 1": (A + 1, lambda a, b: a + 1),
    "2*a": (2 * A, lambda a, b: 2 * a),
    "a // 2 + 1": (A // 2 + 1, lambda a, b: a // 2 + 1),
    "3*(a + b) - 2": (3 * (A + B) - 2, lambda a, b: 3 * (a + b) - 2),
    "a % 4": (A % 4, lambda a, b: a % 4),
    "30 - a": (30 - A, lambda a, b: 30 - a),
    "a - (b - 9)": (A - (B - 9), lambda a, b: a - (b - 9)),
    "max(a, b)": (Derived("max", A, B), max),
}


def ends(x, y, z):
    return vx.concat([x, y, z]) * 2, vx.sum(z)


@pytest.mark.parametrize("told", LENGTHS)
def test_arguments_have_the_lengths_that_follow(told: str, tmp_path: Path) -> None:
    length, count = LENGTHS[told]
    assert str(length) == told
    dynamic = {"x": {0: A}, "y": {0: B}, "z": {0: length}}
    program = vx.Program(ends, (vx.ones(5), vx.ones(4), vx.ones(count(5, 4))), dynamic=dynamic)
    assert program.inputs[2].shape == (length,)
    program.save(tmp_path / "model.vkp", targets=())
    loaded = vx.load_program(tmp_path / "model.vkp")
    assert loaded.inputs == program.inputs
    assert loaded.outputs == program.outputs
    compiled = vx.compile(ends, dynamic=dynamic)
    for a, b in ((5, 4), (1, 0), (24, 9), (2, 9), (7, 3)):
        args = [vx.arange(n, dtype=vx.float32) for n in (a, b, count(a, b))]
        for one in (program, loaded, compiled):
            for found, expected in zip(one(*args), ends(*args), strict=True):
                assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
            with pytest.raises(
                ValueError, match=rf"dimension 0 of z has length {count(a, b) + 1}; expected .* for a = "
            ):
                one(*args[:2], vx.ones(count(a, b) + 1))
    for a, b in ((25, 3), (0, 3), (3, 10)):
        for one in (program, loaded, compiled):
            with pytest.raises(ValueError, match=r"dimension 0 of [xy] has length"):
                one(vx.ones(a), vx.ones(b), vx.ones(max(count(a, b), 0)))


# What the lengths of results are called, where they vary with a alone and with both.
RESULTS: dict[str, Any] = {
    "a": lambda x, y: x + 1,
    "a + b": lambda x, y: vx.concat([x, y]),
    "2*a + 3": lambda x, y: vx.concat([x, x, vx.ones(3)]),
    "a // 2 + 1": lambda x, y: vx.ones(x.shape[0] // 2 + 1),
    "(a + 1) // 2": lambda x, y: x[::2],
    "(a + b + 2) // 3": lambda x, y: vx.concat([x, y])[::3],
    "a - 1": lambda x, y: x[1:],
    "3*a // 2": lambda x, y: vx.ones(x.shape[0] * 3 // 2),
    "?": lambda x, y: vx.reshape(x[:, None] * x[None, :], (-1,)),
    "7": lambda x, y: vx.ones(7),
}


@pytest.mark.parametrize("told", RESULTS)
@pytest.mark.parametrize("made_with", [(5, 4), (24, 9), (1, 0)])
def test_lengths_of_results_are_told(told: str, made_with: tuple[int, int]) -> None:
    function, (a, b) = RESULTS[told], made_with
    program = vx.Program(function, (vx.ones(a), vx.ones(b)), dynamic={"x": {0: A}, "y": {0: B}})
    (length,) = program.outputs[0].shape
    assert length is None if told == "?" else str(program.outputs[0]).startswith(f"output: ({told},)")
    if isinstance(length, (vx.Dim, Derived)):
        for a, b in itertools.product((1, 2, 23, 24), (0, 5, 9)):
            expected = length.at({A: a, B: b}) if isinstance(length, Derived) else a
            assert function(vx.ones(a), vx.ones(b)).shape == (expected,)


def test_length_of_no_argument_is_told() -> None:
    dynamic = {"x": {0: 2 * A}}
    for make in (vx.compile(lambda x: x, dynamic=dynamic), lambda x: vx.Program(lambda x: x, (x,), dynamic=dynamic)):
        with pytest.raises(ValueError, match=r"is to have the length 2\*a, and no argument has the length a itself"):
            make(vx.ones(4))


def test_lengths_are_divided_by_numbers() -> None:
    for divide in (lambda: A // 0, lambda: A % B, lambda: A // -2):
        with pytest.raises(ValueError, match="expected a number of 1 or more"):
            divide()
    with pytest.raises(TypeError):
        A + 0.5
    longest = functools.reduce(lambda length, one: length + one, [1] * MOST, A)
    with pytest.raises(ValueError, match=f"more than {MOST} operations"):
        longest * 2


# What stands for a length in a file, and why it is refused.
DAMAGED: dict[str, tuple[Any, str]] = {
    "an unknown operation": (["exec", {"dimension": 0}, 1], "is no length"),
    "a division by zero": (["//", {"dimension": 0}, 0], "expected a number of 1 or more"),
    "a division by a dimension": (["%", 5, {"dimension": 0}], "expected a number of 1 or more"),
    "an unknown dimension": (["+", {"dimension": 4}, 1], "there is no dimension 4"),
    "one of no input": (["+", {"dimension": 2}, 1], "no input has the dimensions"),
    "a negative number": (["+", {"dimension": 0}, -1], "-1 is no length"),
    "two parts": (["+", 1], "is no length"),
    "a text": ("a + b", "is no length"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_lengths_of_files_are_checked(name: str, tmp_path: Path) -> None:
    dynamic, path = {"x": {0: A}, "y": {0: B}, "z": {0: A + B}}, tmp_path / "model.vkp"
    vx.Program(ends, (vx.ones(5), vx.ones(4), vx.ones(9)), dynamic=dynamic).save(path, targets=())
    parts: dict[str, Any] = {part: bytes(held) for part, held in Container(path).parts.items()}
    table = json.loads(parts["program"])
    table["dimensions"].append({"name": "c", "min": 1, "max": 4})
    damaged, told = DAMAGED[name]
    table["inputs"][2]["shape"] = [{"derived": damaged}]
    container.write(path, parts | {"program": json.dumps(table).encode()})
    with pytest.raises(vx.ProgramError, match=told):
        vx.load_program(path)
