"""A few of NumPy's own tests pass with vkarray in the place of NumPy; `numpy_suite/run.py` runs them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from reference import module_at, supported

import vkarray as vx


def test_a_file_of_numpys_tests(tmp_path, monkeypatch) -> None:
    if not supported([vx.float64]):
        pytest.skip("the device has no shaderFloat64, so results are not of NumPy's types")
    run = module_at(Path(__file__).parent / "numpy_suite" / "run.py")
    if not (run.NUMPY / "fft" / "tests").exists():
        pytest.skip("this NumPy came without its tests")
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    results = run.run("fft/tests/test_helper.py")
    assert len(results) == 8
    assert all(result["passed"] for result in results), results
