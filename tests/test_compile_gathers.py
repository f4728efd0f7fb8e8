"""What index arrays read, in compiled functions: the same kernels compute what follows, with the bits of kernels of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference import supported
from test_compile_scans import bits
from test_matmul import values_of

import vkarray as vx

TYPES = supported([vx.int8, vx.float16, vx.bfloat16, vx.float32, vx.float64, vx.complex64])
# Functions of a table x, indices i of its rows, an array y of the shape of what they read, and a number n; and how many kernels.
READ: dict[str, tuple[Callable[..., Any], int]] = {
    "a number": (lambda x, i, y, n: x[i] * n, 1),
    "an array": (lambda x, i, y, n: x[i] - y, 1),
    "a row": (lambda x, i, y, n: x[i] * n + y[0], 1),
    "a column": (lambda x, i, y, n: x[i] + y[:, :1], 2),
    "two arrays": (lambda x, i, y, n: (x[i] - y) * y[:1], 1),
    "along the last axis": (lambda x, i, y, n: vx.take(x, i, axis=1) * n, 1),
    "of two dimensions": (lambda x, i, y, n: vx.take(x, vx.reshape(i, (2, 2)), axis=0) + y[:2], 1),
    "indices that are computed": (lambda x, i, y, n: x[(i + 1) % 3] * y, 2),
    "one after the other": (lambda x, i, y, n: (x[i] * n)[i] + n, 2),
    "two of them": (lambda x, i, y, n: x[i] * n + x[i - 1], 3),
    "read twice": (lambda x, i, y, n: (lambda z: (z, z * n))(x[i]), 2),
    "elements along rows": (lambda x, i, y, n: vx.take_along_axis(x, i[:, None], axis=0)[:, 0] * n, 2),
}


def given(dtype: Any, seed: int) -> tuple[Any, ...]:
    x, y = (vx.asarray(values_of(dtype, shape, seed + k), dtype=dtype) for k, shape in enumerate(((9, 6), (4, 6))))
    return x, vx.asarray([1, -2, 0, 3]), y


@pytest.mark.parametrize("name", READ)
def test_the_bits_of_kernels_of_their_own(name: str) -> None:
    function, kernels = READ[name]
    for dtype in TYPES:
        compiled = vx.compile(function)
        for seed in range(2):
            arrays = given(dtype, seed)
            found, expected = (one(*arrays, 2 + seed) for one in (compiled, function))
            wide = [[vx.astype(one, vx.float32) if one.dtype is vx.bfloat16 else one for one in (
                made if isinstance(made, tuple) else (made,))] for made in (found, expected)]  # fmt: skip
            assert [bits(one) for one in wide[0]] == [bits(one) for one in wide[1]], dtype
        if dtype is vx.float32:
            told = compiled.explain()  # of a program for each number that reaches no kernel
            assert told.kernels == kernels * len(told.programs)


def test_indices_out_of_range() -> None:
    """They are told as without `vkarray.compile`, also where nothing reads the result."""
    x, _, y = given(vx.float32, 0)
    for function in (lambda x, i, y: x[i] * 2 + y, lambda x, i, y: (x[i] * 2, y)[1]):
        compiled = vx.compile(function)
        np.asarray(compiled(x, vx.asarray([0, 1, 2, 3]), y))
        for one in (function, compiled, compiled):
            with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 of length 9"):
                np.asarray(one(x, vx.asarray([0, 9, 2, 3]), y))


def test_indices_that_take_no_arrays_come_after_a_gather() -> None:
    """They are computed while the function is traced, when its own indices have not been checked yet."""

    def pairs(x: vx.VkArray) -> list[vx.VkArray]:
        first = vx.take(x, vx.triu_indices(4, 1)[0], axis=0)
        return [first, vx.take(x, vx.tril_indices(4, -1)[1], axis=0)]

    x = vx.reshape(vx.arange(12, dtype=vx.float32), (4, 3))
    for one, expected in zip(vx.compile(pairs)(x), pairs(x), strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(expected))
