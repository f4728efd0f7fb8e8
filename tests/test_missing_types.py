"""Devices without types of 64 bits: what takes their place, and errors that name what was called and what leads to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkarray as vx


@pytest.fixture(autouse=True)
def _without_64_bits() -> Iterator[None]:
    before = vx.asarray(0).device
    with vx.config(profile=("phone",)):
        device = vx.asarray(0).device
        yield
        device.close()
    assert before.open


def names() -> dict[str, Any]:
    return {
        "vx": vx, "np": np, "f": vx.asarray([1.5, 2.0]), "i": vx.asarray([2**30, 3], dtype="int32"),
        "u": vx.ones(2, dtype="uint32"), "m": vx.ones((2, 2)),
    }  # fmt: skip


# Expressions, and what the message begins with: the function that is called, not one that it calls in turn.
CALLS = {
    "vx.mean(f, dtype='float64')": "mean", "f.mean(dtype='float64')": "mean", "vx.var(f, dtype='float64')": "var",
    "vx.std(f, dtype='int64')": "std", "f.std(dtype='complex128')": "std", "vx.nanmean(f, dtype='float64')": "nanmean",
    "vx.nanvar(f, dtype='float64')": "nanvar", "vx.cov(f, dtype='float64')": "cov",
    "vx.einsum('i,i->i', f, f, dtype='float64')": "einsum", "vx.geomspace(1, 2, 3, dtype='complex128')": "geomspace",
    "vx.logspace(1, 2, 3, dtype='float64')": "logspace", "vx.eye(3, dtype='float64')": "eye",
    "vx.identity(3, dtype='float64')": "identity", "vx.indices((2, 2), dtype='int64')": "indices",
    "vx.tri(3, dtype='float64')": "tri", "vx.matmul(m, m, dtype='float64')": "matmul",
    "vx.divide(f, f, dtype='float64')": "divide", "vx.add(f, f, dtype='float64')": "add",
    "vx.multiply.outer(f, f, dtype='float64')": "multiply.outer", "vx.add.reduce(f, dtype='float64')": "add.reduce",
    "vx.add.accumulate(f, dtype='float64')": "add.accumulate", "vx.fromiter([1], dtype='float64')": "fromiter",
    "vx.frombuffer(bytes(8), dtype='int64')": "frombuffer", "vx.trace(m, dtype='float64')": "trace",
    "vx.linalg.trace(m, dtype='float64')": "trace", "vx.nansum(f, dtype='float64')": "nansum",
    "vx.cumprod(f, dtype='float64')": "cumprod", "vx.nancumsum(f, dtype='float64')": "nancumsum",
    "f.astype('float64')": "astype", "vx.zeros(2, dtype='int64')": "zeros", "vx.ones_like(f, dtype='int64')": "ones_like",
    "vx.asarray([1], dtype='int64')": "asarray", "vx.arange(3, dtype='int64')": "arange",
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_errors_name_what_was_called(call: str) -> None:
    with pytest.raises(vx.FeatureError, match=rf"^{CALLS[call]}: the device .* has no shader(Float|Int)64 .* Ask for "):
        eval(call, names())


PROMOTING = {
    "i + u": "add", "i < u": "less", "vx.where(f > 0, i, u)": "where", "vx.concat([i, u])": "concat", "i @ u": "matmul",
    "vx.isin(i, u)": "isin", "vx.searchsorted(i, u)": "searchsorted",
}  # fmt: skip


@pytest.mark.parametrize("call", PROMOTING)
def test_errors_name_the_types_that_lead_to_another(call: str) -> None:
    expected = (
        rf"^{PROMOTING[call]}: int32 with uint32 leads to int64, and the device .* Convert one of them \(astype\)"
    )
    with pytest.raises(vx.FeatureError, match=expected):
        eval(call, names())


@pytest.mark.parametrize("default", ["float32", "float64"])
@pytest.mark.parametrize(("python", "name"), [(int, "int32"), (float, "float32"), (complex, "complex64")])
def test_types_of_python_are_those_of_its_numbers(python: type, name: str, default: str) -> None:
    with vx.config(default_float=default):
        for made in (vx.zeros(2, dtype=python), vx.zeros(2, dtype=python.__name__), vx.ones(2).astype(complex).real):
            assert made.dtype.name in (name, "float32")
        assert vx.zeros(2, dtype=python).dtype is vx.asarray(python(1)).dtype
    assert vx.iinfo(int).bits == 32


def test_scalars_of_numpy_that_are_too_large_count_as_pythons() -> None:
    large = np.int64(2**40)
    x = names()
    assert (x["f"] * large).tolist() == [1.5 * 2**40, 2.0 * 2**40]
    assert (large * x["f"]).dtype is vx.float32
    assert (x["i"] < large).tolist() == [True, True]
    assert (x["i"] == large).tolist() == [False, False]
    assert (x["u"] != np.uint64(2**63)).tolist() == [True, True]
    assert (x["i"] * np.int64(2)).dtype is vx.int32
    with pytest.raises(OverflowError, match=r"^multiply: the Python integer 1099511627776 is out of bounds for int32"):
        x["i"] * large


def test_programs_tell_the_types_that_they_return_there(tmp_path: Path) -> None:
    def function(x: vx.VkArray) -> tuple[Any, ...]:
        return vx.sum(x), vx.argmax(x), x * 2, vx.astype(x, "float32")

    x = vx.asarray([1, 5, 2], dtype="int32")
    vx.Program(function, (x,)).save(tmp_path / "phone.vkp")
    with vx.config(profile=()):
        wide = vx.asarray([1, 5, 2], dtype="int32")
        vx.Program(function, (wide,)).save(tmp_path / "wide.vkp")
        loaded = [vx.load_program(tmp_path / name) for name in ("phone.vkp", "wide.vkp")]
        expected = [one.dtype for one in function(wide)]
        for program in loaded:
            assert [one.dtype for one in program.outputs] == [one.dtype for one in program(wide)] == expected
    for name in ("phone.vkp", "wide.vkp"):
        program = vx.load_program(tmp_path / name)
        types = [one.dtype.name for one in program.outputs]
        assert types == [one.dtype.name for one in program(x)] == ["int32", "int32", "int32", "float32"]
