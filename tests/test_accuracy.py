"""The accuracy report: it covers every function, its bounds hold, and it catches functions that are wrong."""

from __future__ import annotations

import argparse
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
from vkarray.command.accuracy import digest, engine, exact, exhaustive, measure, reference, samples
from vkarray.command.accuracy.formats import format_of
from vkarray.core import dtypes
from vkarray.kernels.rows import ROWS

DOCUMENT = Path(__file__).parent.parent / "docs" / "accuracy.md"


def test_all_functions_are_within_their_bounds(tmp_path, capsys):
    status = main(["accuracy", "--samples", "2000", "--verify", "5", "--json", str(tmp_path / "report.json")])
    output = capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert status == 0, "\n".join(line for line in output.splitlines() if "EXCEEDED" in line)
    measured = {(one["function"], one["dtype"]) for one in report["measurements"]}
    floating = [dtype for dtype in dtypes.DTYPES.values() if "floating" in dtype.category]
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


@pytest.fixture
def few_inputs(monkeypatch):
    """The first 2^18 of all float32 numbers, which are subnormal, in several blocks."""
    monkeypatch.setattr(exhaustive, "ALL", 2**18)
    for kind in (engine.Host, engine.Cuda):
        monkeypatch.setattr(kind, "block", 2**16)


def quietly(part):
    """No progress."""


def test_all_float32_of_a_part(few_inputs, monkeypatch):
    (measured,), _ = exhaustive.errors(ROWS["expm1"], [], quietly)
    assert measured.samples == 2**18
    assert measured.error <= 0.5
    monkeypatch.setattr(reference, "expected", lambda row, dtype, operands: operands[0].astype("float64") + 2.0**-148)
    (measured,), _ = exhaustive.errors(ROWS["positive"], [], quietly)
    assert measured.error >= 1


def engines(inputs):
    return [engine.Host(inputs)] + ([engine.Cuda(inputs, engine.cupy())] if engine.cupy() else [])


def test_engines_count_the_same_errors():
    """The reference rounded, and at times moved: every engine finds the places."""
    start, count = 0x3F800000 - 2**15, 2**16
    inputs = np.arange(start, start + count, dtype=np.uint32)
    got = np.log(inputs.view(np.float32).astype(np.float64)).astype(np.float32)
    got[1000] = np.nextafter(got[1000], np.float32(9))
    got[5000] = np.nan
    found = []
    for at in engines(count):
        for chunk in (2**12, 2**16):
            at.chunk = chunk
            parts = exhaustive._examine(at, ROWS["log"], start, [at.received(got.copy())], True)
            digests, kept = zip(*parts, strict=True)
            operand, results, wrong = (
                np.concatenate([engine.on_host(one) for one in column]) for column in zip(*kept, strict=True)
            )
            assert {1000, 5000} <= set((operand.view(np.uint32) - start).tolist())
            assert np.isnan(results).any()
            found.append((digest.total(digests), int(wrong.sum())))
        at.close()
    assert len(set(found)) == 1
    assert found[0][1] == 1


@pytest.mark.parametrize("name", ["floor", "isnan", "log", "reciprocal", "sign", "signbit", "sqrt"])
@pytest.mark.parametrize("start", [0, 0x3F7FF000, 0x7F7FF000, 0x80000000, 0xFF7FF000], ids=hex)
def test_engines_know_special_values(name, start):
    """Around zero, 1 and infinity, with subnormals and NaNs."""
    bits = np.arange(start, start + 2**13, dtype=np.uint32)
    for at in engines(2**13):
        with np.errstate(all="ignore"):
            got = getattr(np, name)(bits.view(np.float32).astype(np.float64))
            got = got.astype(np.float32) if got.dtype != np.bool_ else got
            results = got if type(at) is engine.Host else at.cupy.asarray(got)
            errors = at.errors(ROWS[name], results, at.reference(ROWS[name], at.inputs(start, bits.size)))
        assert engine.on_host(errors).max() <= 0.5
        at.close()


def test_digest_is_what_is_documented():
    def mixed(number):
        number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
        return number ^ number >> 31

    inputs, bits = [0, 1, 2**31, 2**32 - 1], [0, 0x80000000, 0x3F800000, 0x7FC00000]
    wanted = sum(mixed(one << 32 | result) for one, result in zip(inputs, bits, strict=True)) % 2**64
    arrays = np.array(inputs, np.uint32), np.array(bits, np.uint32).view(np.float32)
    assert int(digest.of(*arrays)) == wanted
    assert digest.total(digest.of(arrays[0][part], arrays[1][part]) for part in (slice(3, 4), slice(0, 3))) == wanted
    payload = np.array([0, 0x80000000, 0x3F800000, 0xFF800001], np.uint32).view(np.float32)
    assert int(digest.of(arrays[0], payload)) == wanted
    for changed in ([0, 0, 0x3F800000, 0x7FC00000], [0x80000000, 0, 0x3F800000, 0x7FC00000]):
        assert int(digest.of(arrays[0], np.array(changed, np.uint32).view(np.float32))) != wanted
    assert digest.of(arrays[0], np.array([False, True, False, True])) == digest.total(
        mixed(one << 32 | result) for one, result in zip(inputs, [0, 1, 0, 1], strict=True)
    )


@pytest.mark.parametrize("name", ["sqrt", "signbit"])
def test_digest_hangs_on_no_sizes_of_blocks(name, few_inputs, monkeypatch):
    first = exhaustive.digest_alone(ROWS[name], quietly)
    for kind in (engine.Host, engine.Cuda):
        monkeypatch.setattr(kind, "block", 2**18)
        monkeypatch.setattr(kind, "chunk", 2**13)
    assert exhaustive.digest_alone(ROWS[name], quietly) == first
    bits = np.arange(2**18, dtype=np.uint32)
    with np.errstate(all="ignore"):
        assert first == digest.text(int(digest.of(bits, getattr(np, name)(bits.view(np.float32)))))


def test_compare_names_what_differs(few_inputs, tmp_path, capsys):
    file = tmp_path / "first.json"
    assert main(["accuracy", "exp", "atan", "--digests", "--json", str(file)]) == 0
    assert "0 measured" in capsys.readouterr().out
    again = ["accuracy", "atan", "exp", "sqrt", "--digests", "--compare", str(file)]
    assert main(again) == 0
    output = capsys.readouterr().out
    assert re.search(r"^exp +float32 +digest [0-9a-f]{16}  the same$", output, re.MULTILINE)
    assert re.search(r"^sqrt +float32 +digest [0-9a-f]{16}  not compared$", output, re.MULTILINE)
    assert output.endswith(f"2 digests compared with {file}, 0 differ\n")
    content = json.loads(file.read_text(encoding="utf-8"))
    content["digests"]["exp"] = "0" * 16
    file.write_text(json.dumps(content), encoding="utf-8")
    assert main(again) == 1
    output = capsys.readouterr().out
    assert "DIFFERS from 0000000000000000" in output
    assert output.endswith("1 differ\n  exp\n")
    assert main(["accuracy", "sqrt", "--digests", "--compare", str(file)]) == 1  # nothing in common proves nothing
    file.write_text("{}", encoding="utf-8")
    assert main(again) == 1
    assert f"{file} is not a whole report of this command" in capsys.readouterr().err


def test_peers_are_measured_in_the_same_way(few_inputs, tmp_path):
    json_file, markdown = tmp_path / "a.json", tmp_path / "a.md"
    options = ["--peers", "--dtype", "float32", "--json", str(json_file), "--markdown", str(markdown)]
    assert main(["accuracy", "exp", "pow", "floor", *options, "--samples", "2000", "--verify", "5"]) == 0
    found = {(one["function"], one["library"]): one for one in json.loads(json_file.read_text("utf-8"))["measurements"]}
    assert {library for name, library in found if name == "pow"} >= {"vkarray", "NumPy", "GLSL"}
    assert {library for name, library in found if name == "floor"} == {"vkarray"}
    assert 0.5 < found["exp", "NumPy"]["error"] < 4
    assert found["exp", "NumPy"]["wrong"] == 0
    assert re.search(r"^\| exp \| [\d,]+ \| 0\.\d+ \| [0-9.]+ \|", markdown.read_text("utf-8"), re.MULTILINE)
    assert main(["accuracy", "atan", *options, "--all-float32"]) == 0
    content = json.loads(json_file.read_text("utf-8"))
    assert {one["library"] for one in content["measurements"]} >= {"vkarray", "NumPy", "GLSL"}
    assert all(one["samples"] == 2**18 for one in content["measurements"])
    assert f"`{content['digests']['atan']}`" in markdown.read_text("utf-8")
    assert "GLSL exp" not in ROWS


def test_a_peers_wrong_special_values_are_counted():
    (operands,) = samples.operands("exp", 1, vx.float32, 2000)

    @np.errstate(all="ignore")
    def zero_for_nan(x):
        return np.where(np.isnan(x), np.float32(0), np.exp(x))

    measured = measure.sampled_peer("other", zero_for_nan, ROWS["exp"], vx.float32, 2000, 5)
    assert measured.wrong == np.isnan(operands).sum()
    assert 0.5 < measured.error < 4
    assert measured.within

    def all_wrong(x):
        return np.where(np.isnan(x), np.float32(0), np.float32(np.nan))

    measured = measure.sampled_peer("other", all_wrong, ROWS["exp"], vx.float32, 2000, 5)
    assert measured.error == math.inf
    assert measured.wrong == operands.size


def test_an_interrupted_run_keeps_what_it_has_measured(tmp_path, monkeypatch):
    measured = measure.sampled

    def interrupted(row, *rest):
        if row.name == "log":
            raise KeyboardInterrupt
        return measured(row, *rest)

    monkeypatch.setattr(measure, "sampled", interrupted)
    file = tmp_path / "a.json"
    with pytest.raises(KeyboardInterrupt):
        accuracy.run(_arguments(["exp", "log", "--dtype", "float32", "--samples", "1000", "--json", str(file)]))
    assert [one["function"] for one in json.loads(file.read_text("utf-8"))["measurements"]] == ["exp"]


def _arguments(options):
    parser = argparse.ArgumentParser()
    accuracy.add_arguments(parser)
    return parser.parse_args(options)


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
    assert "**" not in "".join(re.findall(r"^\|.*$", text, re.MULTILINE)), "a figure exceeds its bound"
