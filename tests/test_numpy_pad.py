"""`pad` in all its modes, compared with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference import supported

import vkarray as vx


def bordered(row: Any, widths: tuple[int, int], axis: int, options: dict[str, Any]) -> None:
    row[: widths[0]] = options.get("padder", 10)
    row[len(row) - widths[1] :] = 7 + axis


MODES: list[tuple[Any, dict[str, Any]]] = [
    *((mode, {}) for mode in ("maximum", "minimum", "mean", "median", "reflect", "symmetric", "edge", "wrap", "constant")),
    *((mode, {"stat_length": count}) for mode in ("maximum", "mean", "median") for count in (1, ((1, 2),), 9)),
    *((mode, {"reflect_type": kind}) for mode in ("reflect", "symmetric") for kind in ("odd", "even")),
    (bordered, {}), (bordered, {"padder": 3}), ("linear_ramp", {"end_values": ((1, 2),)}), ("middle", {}),
    ("constant", {"end_values": 3}), ("edge", {"stat_length": 1}),
]  # fmt: skip
WIDTHS = (0, 1, (2, 3), 12, {-1: (1, 2)}, {0: 2}, [[1, 2]], ((1, 1), (1, 1), (1, 1), (1, 1)))
SHAPES = ((5,), (1,), (2, 3), (4, 1, 2), (0,), (0, 2))
TYPES = supported([vx.float64, vx.float32, vx.int32, vx.uint8, vx.bool])


def outcome(function: Any, *args: Any, **options: Any) -> Any:
    try:
        return function(*args, **options)
    except (TypeError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize(("mode", "options"), MODES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_pad(dtype: Any, mode: Any, options: dict[str, Any]) -> None:
    if dtype is vx.bool and mode in ("mean", "median", "linear_ramp"):
        pytest.skip("the mean of booleans is no boolean; NumPy takes any that is not zero for true")
    for shape in SHAPES:
        values = (np.arange(np.prod(shape)).reshape(shape) * 7 % 11).astype(dtype.name)
        for widths in WIDTHS:
            expected = outcome(np.pad, values, widths, mode, **options)
            got = outcome(vx.pad, vx.asarray(values), widths, mode, **options)
            if isinstance(expected, type):
                assert got is expected, (shape, widths)
            else:
                assert got.dtype == dtype
                np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-5, err_msg=f"{shape} {widths}")


def test_what_stands_for_an_array() -> None:
    assert vx.pad([1, 2], 1).tolist() == [0, 1, 2, 0]
    assert vx.pad(vx.asarray([1, 2]), vx.asarray([1, 0])).tolist() == [0, 1, 2]
    assert vx.pad(3, 1).tolist() == 3
