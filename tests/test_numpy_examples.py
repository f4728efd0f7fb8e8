"""The examples in NumPy's docstrings print with vkarray what they print with NumPy, but for reasons that are listed."""

from __future__ import annotations

import numpy_examples
import pytest
from reference import supported

import vkarray as vx


def test_what_differs_has_a_reason() -> None:
    if not supported([vx.float64]):
        pytest.skip("the device has no shaderFloat64, so printed types are not NumPy's")
    found = numpy_examples.everything()
    every = [example.same for examples in found.values() for example in examples]
    assert len(every) > 1500
    assert sum(every) >= 0.9 * len(every)
    different = {name for name, examples in found.items() if not all(example.same for example in examples)}
    assert different == set(" ".join(numpy_examples.REASONS.values()).split())
