"""A few of SciPy's and scikit-learn's own tests pass with vkarray; `array_api_suites/run.py` runs them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from reference import module_at, supported

import vkarray as vx


@pytest.mark.parametrize(
    ("file", "fewest"), [("scipy/fft/tests/test_helper.py", 20), ("sklearn/utils/tests/test_optimize.py", 2)]
)
def test_a_file_of_tests(file: str, fewest: int, tmp_path, monkeypatch) -> None:
    if not supported([vx.float64]):
        pytest.skip("the device has no shaderFloat64, and these tests compute in float64")
    run = module_at(Path(__file__).parent / "array_api_suites" / "run.py")
    if not (run.PACKAGES / file).exists():
        pytest.skip("this library came without its tests")
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    run.run(file, "vkarray")
    found = run.results(file, "vkarray")
    assert run.failed(found) == {}
    passed = [test for test, result in found.items() if result["outcome"] == "passed"]
    assert len(passed) >= fewest, found  # versions of the libraries differ by a test
