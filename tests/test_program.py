"""Programs: made by tracing, called, saved and loaded; the same bits as the function itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkarray as vx


def values(shape: Any, seed: int = 0, dtype: Any = np.float32) -> vx.VkArray:
    return vx.asarray((np.random.default_rng(seed).standard_normal(shape) * 3).astype(dtype))


def same(found: Any, expected: Any) -> None:
    """The same nest with the same bits."""
    if isinstance(expected, dict):
        assert isinstance(found, dict)
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, (tuple, list)):
        assert isinstance(found, (tuple, list))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    if not isinstance(expected, vx.VkArray):
        assert type(found) is type(expected)
        assert found == expected
        return
    assert found.dtype is expected.dtype
    assert found.shape == expected.shape
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


def loaded(program: vx.Program, folder: Path, **options: Any) -> vx.Program:
    program.save(folder / "model.vkp")
    return vx.load_program(folder / "model.vkp", **options)


def layer(x, w):
    return vx.maximum(x @ w + 1, 0)


def test_saved_program_has_the_same_bits(tmp_path: Path) -> None:
    batch = vx.Dim("batch", max=64)
    w = values((4, 3), 1)
    program = vx.Program(layer, (values((2, 4)), w), dynamic={"x": {0: batch}}, name="layer")
    again = loaded(program, tmp_path)
    assert (
        str(again)
        == str(program)
        == "<Program layer: x: (batch, 4) float32, w: (4, 3) float32 -> output: (batch, 3) float32>"
    )
    assert again.inputs == program.inputs
    assert again.outputs == program.outputs
    for length in (1, 2, 63, 64):
        x = values((length, 4), length)
        same(program(x, w), layer(x, w))
        same(again(x, w), layer(x, w))


def test_weights_are_constants(tmp_path: Path) -> None:
    w, b = values((4, 3), 1), np.arange(3, dtype=np.float32)

    def function(x):
        return {"sum": x @ w + vx.asarray(b), "half": (w.T * 0.5, 2)}

    program = vx.Program(function, (values((2, 4)),))
    again = loaded(program, tmp_path)
    x = values((2, 4), 5)
    same(program(x), function(x))
    same(again(x), function(x))
    assert [one.name for one in again.outputs] == ["sum", "half[0]"]


WRONG: dict[str, tuple[Callable[[], tuple[Any, ...]], type[Exception], str]] = {
    "type": (lambda: (values((2, 4)), values((4, 3), dtype=np.float16)), TypeError, "w has the type float16; expected float32"),
    "no array": (lambda: (1.0, values((4, 3))), TypeError, r"x is of type float; expected an array, \(batch, 4\) float32"),
    "NumPy's": (lambda: (np.ones((2, 4), "f4"), values((4, 3))), TypeError, "x is of type ndarray; expected an array"),
    "rank": (lambda: (values(4), values((4, 3))), ValueError, r"x has the shape \(4,\); expected \(batch, 4\)"),
    "length": (lambda: (values((2, 5)), values((4, 3))), ValueError, r"x has the shape \(2, 5\); expected \(batch, 4\)"),
    "bound": (lambda: (values((65, 4)), values((4, 3))), ValueError, "dimension 0 of x has length 65; expected batch from 1 to 64"),
    "count": (lambda: (values((2, 4)),), TypeError, "its arguments are 1 in a tuple. Expected 2 in a tuple"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name: str) -> None:
    arguments, error, text = WRONG[name]
    program = vx.Program(layer, (values((2, 4)), values((4, 3))), dynamic={"x": {0: vx.Dim("batch", max=64)}})
    with pytest.raises(error, match=text):
        program(*arguments())
