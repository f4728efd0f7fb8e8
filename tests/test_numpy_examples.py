"""The examples in NumPy's docstrings print with vkarray what they print with NumPy, but for reasons that are listed."""

from __future__ import annotations

import numpy_examples
import pytest
from reference import supported

import vkarray as vx


@pytest.fixture(scope="module")
def found() -> dict[str, list[numpy_examples.Example]]:
    if not supported([vx.float64]):
        pytest.skip("the device has no shaderFloat64, so printed types are not NumPy's")
    return numpy_examples.everything()


def test_nine_of_ten_examples_print_the_same(found) -> None:
    every = [example.same for examples in found.values() for example in examples]
    assert len(every) > 1500
    assert sum(every) >= 0.9 * len(every)


def test_what_differs_has_a_reason(found) -> None:
    different = {name for name, examples in found.items() if not all(example.same for example in examples)}
    assert different == set(" ".join(numpy_examples.REASONS.values()).split())
