"""The accuracy report: it covers every function, its bounds hold, and it catches functions that are wrong."""

from __future__ import annotations

import cmath
import itertools
import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.__main__ import main
from vkarray.command import accuracy
from vkarray.command.accuracy import exact, measure, samples
from vkarray.command.accuracy.formats import format_of
from vkarray.ops.rows import ROWS

DOCUMENT = Path(__file__).parent.parent / "docs" / "accuracy.md"


def test_all_functions_are_within_their_bounds(tmp_path, capsys):
    status = main(["accuracy", "--samples", "2000", "--verify", "5", "--json", str(tmp_path / "report.json")])
    output = capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert status == 0, "\n".join(line for line in output.splitlines() if "EXCEEDED" in line)
    measured = {(one["function"], one["dtype"]) for one in report["measurements"]}
    floating = [dtype for dtype in vx.dtypes.DTYPES.values() if "floating" in dtype.kind]
    wanted = {
        (name, dtype.name) for name, row in ROWS.items() for dtype in supported(row.accepted()) if dtype in floating
    }
    assert measured == wanted
    assert report["header"]["device"] in output
    assert all(one["within"] and one["verified"] for one in report["measurements"])


def off_by_units(units):
    """sin, too large by some units in the last place."""

    def function(x):
        result = vx.sin(x)
        for _ in range(units):
            result = vx.where(result == 0, result, vx.nextafter(result, 10 * vx.sign(result)))
        return result

    return function


@pytest.mark.parametrize("dtype", supported([vx.float16, vx.float32, vx.float64]), ids=str)
@pytest.mark.parametrize("units", [1, 2, 1000])
def test_a_wrong_last_place_is_caught(dtype, units):
    measured = measure.sampled(ROWS["sin"], dtype, 5000, 5, off_by_units(units))
    assert units - 0.51 <= measured.error <= 2 * units + 0.51  # at a power of 2 the units after it are twice as large
    assert not measured.within
    assert measured.verified


@pytest.mark.parametrize("dtype", supported([vx.complex64, vx.complex128]), ids=str)
def test_a_wrong_complex_result_is_caught(dtype):
    factor = 1 + 8 * vx.finfo(dtype).eps
    measured = measure.sampled(ROWS["exp"], dtype, 5000, 5, lambda z: vx.exp(z) * factor)
    assert 7 < measured.error < 10 or measured.error == math.inf
    assert not measured.within


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("positive", lambda x: x + 0.0),  # the sign of zero
        ("tanh", lambda x: vx.where(vx.isnan(x), vx.ones_like(x), vx.tanh(x))),  # NaN
        ("exp", lambda x: vx.exp(vx.minimum(x, vx.asarray(88.0, dtype=x.dtype)))),  # overflow
        ("log", lambda x: vx.log(vx.where(x == 0, vx.ones_like(x), x))),  # a pole
        ("sin", lambda x: vx.where(vx.abs(x) > 1e6, vx.zeros_like(x), vx.sin(x))),  # huge arguments
        ("asinh", lambda x: vx.where(vx.abs(x) < 1e-37, vx.zeros_like(x), vx.asinh(x))),  # small ones
        ("signbit", lambda x: x < 0),
    ],
)
def test_wrong_special_values_are_caught(name, function):
    assert measure.sampled(ROWS[name], vx.float32, 2000, 5).within
    assert measure.sampled(ROWS[name], vx.float32, 2000, 5, function).error > 1


def test_a_wrong_special_case_of_a_complex_function_is_caught():
    measured = measure.sampled(ROWS["sqrt"], vx.complex64, 100, 5, lambda z: vx.exp(vx.log(z) / 2))
    assert measured.error == math.inf
    assert not measured.within


def test_exceeding_a_bound_gives_status_1(monkeypatch, capsys):
    monkeypatch.setattr(measure, "bound", lambda row, dtype: 0.25)
    assert main(["accuracy", "exp", "--dtype", "float32", "--samples", "1000"]) == 1
    output = capsys.readouterr().out
    assert re.search(r"^exp +float32 +0\.\d+ ULP +bound 0\.25 +EXCEEDED +at ", output, re.MULTILINE)
    assert output.endswith("1 measured, 1 exceed their bound\n  exp of float32\n")


def test_unknown_function_is_named(capsys):
    assert main(["accuracy", "sinus"]) == 2
    assert (
        "no elementwise function of floating-point numbers is called sinus. There are: add, " in capsys.readouterr().err
    )


def test_missing_mpmath_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mpmath", None)
    exact.mpmath.cache_clear()
    try:
        assert main(["accuracy", "sin"]) == 1
    finally:
        exact.mpmath.cache_clear()
    assert "mpmath, which is not installed. Run: pip install mpmath" in capsys.readouterr().err


def test_all_float32_of_a_part(monkeypatch, capsys):
    """The exhaustive run, on the first blocks of its inputs: subnormals and small numbers."""
    monkeypatch.setattr(measure, "_BLOCK", 2**18)
    monkeypatch.setattr(measure, "_ALL", 2**20)
    measured = measure.all_float32(ROWS["expm1"], vx.float32, lambda part: None)
    assert measured.samples == 2**20
    assert measured.error <= 0.5
    monkeypatch.setattr(measure.reference, "expected", lambda row, dtype, operands: operands[0] + 2.0**-148)
    assert measure.all_float32(ROWS["positive"], vx.float32, lambda part: None).error >= 1


def test_samples_reach_everywhere():
    (values,) = samples.operands("sin", 1, vx.float32, 20_000)
    finite = np.abs(values[np.isfinite(values) & (values != 0)])
    assert set(np.frexp(finite)[1]) >= set(range(-148, 129))
    assert np.isnan(values).any()
    assert np.isinf(values).any()
    assert {True, False} <= set(np.signbit(values[values == 0]).tolist())
    assert np.any(finite == np.float32(np.pi))
    (all_values,) = samples.operands("sin", 1, vx.bfloat16, 10)
    assert all_values.size == 2**16


@pytest.mark.parametrize(
    "name", ["acos", "acosh", "asin", "asinh", "atan", "atanh", "sqrt", "log", "log10", "sin", "tanh"]
)
def test_true_values_take_the_side_of_branch_cuts_from_signed_zeros(name):
    """cmath follows C99."""
    zeros, others = (0.0, -0.0), (0.5, -0.5, 3.0, -3.0)
    for x, y in [*itertools.product(zeros, others), *itertools.product(others, zeros)]:
        true = complex(exact.true_value(name, [complex(x, y)]))
        assert true == pytest.approx(getattr(cmath, name)(complex(x, y)), rel=1e-13, abs=1e-15), (x, y)


def test_true_values_of_hard_arguments():
    assert float(exact.true_value("sin", [1e22])) == -0.8522008497671888
    assert float(exact.true_value("logaddexp", [-1.0, math.log(-math.expm1(-1.0))])) == pytest.approx(
        -4.9e-17, rel=0.02
    )
    assert float(exact.true_value("remainder", [1e308, 3.0])) == math.fmod(1e308, 3.0)
    assert float(exact.true_value("expm1", [1e-310])) == 1e-310
    third = exact.true_value("divide", [1.0, 3.0])
    assert exact.error(1 / 3, third, format_of(vx.float64), 0.0) == pytest.approx(1 / 3)


def test_documented_table_is_of_the_functions_there_are():
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert rows == [row.name for row in accuracy.measurable([])]
    assert "**" not in "".join(re.findall(r"^\| `\w+` \|.*$", text, re.MULTILINE)), "a figure exceeds its bound"
