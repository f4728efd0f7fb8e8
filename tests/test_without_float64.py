"""Devices without 64-bit floating point: integers take the default floating type there, in every function.

Each public function that gives a result for integers on a device with float64 gives the same one without, in fewer bits.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.array import VkArray

REPLACED = {vx.float64: vx.float32, vx.complex128: vx.complex64}
NAMESPACES = {"": vx, "linalg.": vx.linalg, "fft.": vx.fft}
FUNCTIONS = {
    prefix + name: function
    for prefix, namespace in NAMESPACES.items()
    for name, function in sorted(vars(namespace).items())
    if callable(function) and not name.startswith("_") and not inspect.isclass(function)
    if not isinstance(function, dtypes.DType)
}
INTEGERS = [dtype for dtype in supported(dtypes.DTYPES.values()) if "integer" in dtype.category]
# Columns, a positive definite matrix, and what stands beside an array of integers.
VALUES = {"vector": [1, 2, 3, 5], "matrix": [[4, 1, 0], [1, 3, 1], [0, 1, 2]]}
BESIDE = {"nothing": None, "itself": ..., "a float": 0.5, "float32": vx.float32}


def calls(dtype: dtypes.DType) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Operands on the device in force, each with a name."""
    for kind, values in VALUES.items():
        x = vx.asarray(values, dtype=dtype)
        for name, other in BESIDE.items():
            second = vx.astype(x, other) if isinstance(other, dtypes.DType) else x if other is ... else other
            yield f"{dtype} {kind} beside {name}", (x,) if other is None else (x, second)


Result = tuple[dtypes.DType, np.ndarray]


def results(function: Any, dtype: dtypes.DType) -> dict[str, list[Result] | str]:
    """What each call gives: types and values of arrays, or the error."""
    found: dict[str, list[Result] | str] = {}
    for name, operands in calls(dtype):
        try:
            made = function(*operands)
            listed = made if isinstance(made, tuple | list) else [made]
            found[name] = [(one.dtype, np.asarray(one)) for one in listed if isinstance(one, VkArray)]
        except (TypeError, ValueError, IndexError, OverflowError, AttributeError, vx.FeatureError) as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def close(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether the values agree as far as the shorter type goes, up to the signs of vectors."""
    ours, theirs = (np.abs(one.astype(np.complex128)) for one in (found, expected))
    return ours.shape == theirs.shape and np.allclose(ours, theirs, 1e-4, 1e-4, equal_nan=True)


@pytest.mark.skipif(not supported([vx.float64]), reason="the device has no float64 to compare with")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_integers_take_the_default_floating_type(name):
    for dtype in INTEGERS if name in ("divide", "exp", "mean", "var") else [vx.int32]:
        wanted = results(FUNCTIONS[name], dtype)
        with vx.config(disable={"shaderFloat64"}):
            found = results(FUNCTIONS[name], dtype)
        for call, expected in wanted.items():
            ours = found[call]
            if isinstance(expected, str):
                assert isinstance(ours, str), f"{name} of {call}: a result without float64, else {expected}"
                continue
            assert not isinstance(ours, str), f"{name} of {call}: {ours}"
            for (own, values), (other, exact) in zip(ours, expected, strict=True):
                assert own is REPLACED.get(other, other), f"{name} of {call} has the type {own}, not that of {other}"
                if name not in ("empty", "empty_like", "linalg.eig"):  # undefined; vectors of any phase
                    assert close(values, exact), f"{name} of {call}:\n{values}\n{exact}"


def test_a_type_asked_for_by_name_is_never_replaced():
    with vx.config(disable={"shaderFloat64"}):
        x = vx.asarray([1, 2, 3])
        for call in (
            lambda: vx.astype(x, vx.float64), lambda: vx.zeros(2, dtype=vx.float64), lambda: vx.sum(x, dtype=vx.float64),
            lambda: vx.asarray(np.ones(2)),
        ):  # fmt: skip
            with pytest.raises(vx.FeatureError, match="float64"):
                call()
