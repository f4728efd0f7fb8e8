"""Ordinary NumPy programs give with vkarray what they give with NumPy: values, types and shapes.

Each module of `programs` has a function `main(np)` that returns named results. It runs with NumPy, and with vkarray for each
default floating type: with float64 types equal NumPy's, with float32 what NumPy computes in float64 may be of 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import module_at

import vkarray as vx

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
SHORTER = {"float64": "float32", "complex128": "complex64"}
_BYTES = ["storageBuffer8BitAccess"]  # of views of bytes, whose elements are of one byte
NEEDS = {"bit_tricks": _BYTES, "hashing": _BYTES}
# How far results may be from NumPy's, relatively to themselves and to the greatest of their array.
TOLERANCE = {"float64": (1e-9, 1e-10), "float32": (2e-3, 2e-4)}


def program(path: Path) -> Callable[[Any], dict[str, Any]]:
    return module_at(path).main


def differences(got: Any, expected: Any, name: str, default: str) -> Iterator[str]:
    """What differs between a result and NumPy's, a line for each."""
    if isinstance(expected, (np.ndarray, np.generic)):
        yield from array_differences(got, expected, name, default)
    elif type(got) is not type(expected) and not isinstance(expected, tuple):
        yield f"{name}: {got!r} is of type {type(got).__name__}, {expected!r} of type {type(expected).__name__}"
    elif isinstance(expected, dict):
        if list(got) != list(expected):
            yield f"{name}: keys {list(got)}, NumPy's {list(expected)}"
        else:
            for key in expected:
                yield from differences(got[key], expected[key], f"{name}[{key!r}]", default)
    elif isinstance(expected, (list, tuple)):
        if len(got) != len(expected):
            yield f"{name}: {len(got)} of them, NumPy's {len(expected)}"
        else:
            for place, (one, other) in enumerate(zip(got, expected, strict=True)):
                yield from differences(one, other, f"{name}[{place}]", default)
    elif isinstance(expected, float):
        yield from value_differences(np.asarray(got), np.asarray(expected), name, default)
    elif got != expected:
        yield f"{name}: {got!r}, NumPy's {expected!r}"


def array_differences(got: Any, expected: Any, name: str, default: str) -> Iterator[str]:
    if not isinstance(got, vx.ndarray):
        yield f"{name}: {got!r} is of type {type(got).__name__}, not an array"
        return
    types = {expected.dtype.name} | ({SHORTER.get(expected.dtype.name, "")} if default == "float32" else set())
    if got.dtype.name not in types:
        yield f"{name}: of type {got.dtype}, NumPy's {expected.dtype}"
    if got.shape != expected.shape:
        yield f"{name}: of shape {got.shape}, NumPy's {expected.shape}"
    else:
        yield from value_differences(np.asarray(got), np.asarray(expected), name, default)


def value_differences(got: np.ndarray, expected: np.ndarray, name: str, default: str) -> Iterator[str]:
    relative, absolute = TOLERANCE[default] if expected.dtype.kind in "fc" else (0, 0)
    finite = np.abs(expected[np.isfinite(expected)])
    if not np.allclose(got, expected, rtol=relative, atol=absolute * finite.max(initial=0), equal_nan=True):
        yield f"{name}: {got!r}, NumPy's {expected!r}"


@pytest.mark.needs("int64")  # NumPy's integers
@pytest.mark.parametrize("default", [pytest.param("float64", marks=pytest.mark.needs("float64")), "float32"])
@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=pytest.mark.needs(*NEEDS.get(path.stem, ())), id=path.stem) for path in PROGRAMS]
)
def test_program_gives_what_it_gives_with_numpy(path: Path, default: str) -> None:
    main = program(path)
    expected = main(np)
    with vx.config(default_float=default, check="now"):  # programs catch errors where they call
        got = main(vx)
        different = list(differences(got, expected, path.stem, default))
    assert not different, "\n" + "\n".join(different)
