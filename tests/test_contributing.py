"""The recipes of CONTRIBUTING.md, carried out as written."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.kernels import reductions, rows
from vkarray.ops import reducing, ufunc
from vkarray.shaders import files
from vkarray.shaders import source as shaders

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def recipe(heading: str) -> str:
    """The section of CONTRIBUTING.md with this heading."""
    return TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def blocks(language: str, text: str) -> list[str]:
    """The fenced blocks of a language that are indented as parts of a list."""
    found = re.findall(rf"^   ```{language}\n(.*?)^   ```", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r"^   ", "", block, flags=re.MULTILINE) for block in found]


def forget_sources() -> None:
    for value in (*vars(files).values(), *vars(shaders).values()):
        if hasattr(value, "cache_clear"):
            value.cache_clear()


@pytest.fixture
def add_row() -> Iterator[Callable[[str], Callable[..., vx.VkArray]]]:
    """Carries out a line such as `name = unary(...)`; the registry is restored afterwards."""
    before = dict(rows.ROWS)

    def add(line: str) -> Callable[..., vx.VkArray]:
        names: dict[str, Any] = {"unary": ufunc.unary, "binary": ufunc.binary}
        exec(line, names)
        return names[line.partition(" = ")[0]]

    yield add
    rows.ROWS.clear()
    rows.ROWS.update(before)


@pytest.fixture
def shader_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the shaders that the package uses during the test."""
    shutil.copytree(files.source_folder(), tmp_path / "glsl")
    monkeypatch.setattr(files, "PACKAGE", tmp_path / "vkarray")
    forget_sources()
    yield tmp_path / "glsl"
    monkeypatch.undo()
    forget_sources()


def test_one_row_makes_a_function(add_row: Callable[[str], Callable[..., vx.VkArray]]) -> None:
    twice = add_row('twice = unary("twice", "numeric", "a + a", "Each element, doubled.")')
    assert "twice" in rows.ROWS
    assert twice.__doc__.startswith("Each element, doubled.")
    values = np.arange(24).reshape(4, 6)
    for name in ("int8", "uint16", "float16", "float32", "complex64"):
        x = values.astype(name)
        assert np.array_equal(np.asarray(twice(vx.asarray(x)[::-1, ::2])), x[::-1, ::2] * 2)
    with pytest.raises(TypeError, match=r"^twice: expected numeric .*got bool"):
        twice(vx.ones(2, dtype=vx.bool))


@pytest.mark.parametrize("name", [dtype.name for dtype in supported([vx.float16, vx.float32, vx.float64])])
def test_library_function_as_written(
    name: str, add_row: Callable[[str], Callable[..., vx.VkArray]], shader_copy: Path
) -> None:
    text = recipe("Add an elementwise operation in three steps")
    (row,) = blocks("text", text)
    bodies = blocks("glsl", text)
    paths = re.findall(r"`glsl/(lib/\w+/\w+\.glsl)`", text)
    assert len(paths) == len(bodies) == 2
    for path, body in zip(paths, bodies, strict=True):
        text = (shader_copy / path).read_text(encoding="utf-8")
        before_guard, guard, after = text.rpartition("#endif")
        (shader_copy / path).write_text(f"{before_guard}{body}{guard}{after}", encoding="utf-8")
    frac = add_row(row)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -1.75, 2.25, 1e3 + 0.125, -6e4, np.inf, -np.inf, np.nan]
    x = np.asarray(special, dtype=name)
    result = np.asarray(frac(vx.asarray(x)))
    expected = np.modf(x)[0]
    assert result.dtype == expected.dtype
    assert np.array_equal(result, expected, equal_nan=True)
    assert np.array_equal(np.signbit(result), np.signbit(expected))


def test_reduction_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "REDUCTIONS", dict(reductions.REDUCTIONS))
    (row,) = blocks("text", recipe("Add a reduction"))
    names: dict[str, Any] = {"reduction": reducing.reduction, "math": math}
    exec(row, names)
    rms = names["rms"]
    assert rms.__doc__.startswith("The root of the mean of the squares over axes")
    x = np.random.default_rng(1).normal(size=(5, 300, 7)).astype("float32")
    for axis in (None, 0, 1, (0, 2)):
        expected = np.sqrt(np.mean(x.astype("float64") ** 2, axis=axis))
        np.testing.assert_allclose(np.asarray(rms(vx.asarray(x), axis=axis)), expected, rtol=1e-6)
    assert rms(vx.asarray(x), axis=1, keepdims=True).shape == (5, 1, 7)
    assert np.isnan(np.asarray(rms(vx.zeros((0, 2)), axis=0))).all()
    with pytest.raises(TypeError, match=r"^rms: expected real floating"):
        rms(vx.ones(2, dtype=vx.int32))


@pytest.mark.parametrize("name", [dtype.name for dtype in supported([vx.float16, vx.float32, vx.float64])])
def test_kernel_family_as_written(name: str, shader_copy: Path) -> None:
    text = recipe("Add a kernel family")
    (shader,), (module,) = blocks("glsl", text), blocks("py", text)
    (shader_path,) = re.findall(r"`glsl/(\w+\.comp)`", text)
    (module_path,) = re.findall(r"`(vkarray/ops/\w+/\w+)\.py`", text)
    (shader_copy / shader_path).write_text(shader, encoding="utf-8")
    package = module_path.rpartition("/")[0].replace("/", ".")
    names: dict[str, Any] = {"__name__": module_path.replace("/", "."), "__package__": package}
    exec(module, names)
    polyval = names["polyval"]
    rng = np.random.default_rng(2)
    p, x = (rng.integers(-3, 4, size).astype(name) for size in (4, (9, 50)))
    for _ in range(3):  # by itself, watched, by its plan
        for given in (x, x[::-1, ::3], x[:0], -x):
            result = np.asarray(polyval(vx.asarray(p), vx.asarray(given)))
            assert result.dtype == x.dtype
            np.testing.assert_array_equal(result, np.polyval(p, given))
    assert [variant.label for variant in names["variants"](vx.asarray(x).device)]
    with pytest.raises(ValueError, match=r"^polyval: expected coefficients of 1 dimension"):
        polyval(vx.asarray(x), vx.asarray(x))
    with pytest.raises(TypeError, match=r"^polyval: expected real floating"):
        polyval(vx.ones(2, dtype=vx.int32), vx.ones(2, dtype=vx.int32))


def test_every_row_is_in_the_namespace() -> None:
    missing = [name for name in rows.ROWS if not callable(getattr(vx, name, None))]
    assert not missing, f"vkarray/__init__.py lacks {missing}"
