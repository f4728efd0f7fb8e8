"""Scans in compiled functions: their kernels compute what they scan, with the bits of kernels of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference import supported
from test_matmul import values_of

import vkarray as vx

TYPES = supported([vx.int8, vx.float16, vx.float32, vx.complex64])
SHAPES = ((7,), (5, 300), (3, 4, 5), (9000,))
SCANS: dict[str, Callable[..., Any]] = {
    "a sum": lambda x, y, n: vx.cumulative_sum(x * y + n, axis=0),
    "a product": lambda x, y, n: vx.cumulative_prod(x - y, axis=-1),
    "with its initial value": lambda x, y, n: vx.cumulative_sum(x * n, axis=-1, include_initial=True),
    "as another type": lambda x, y, n: vx.cumulative_sum(x != y, axis=-1),
    "broadcast": lambda x, y, n: vx.cumulative_sum(x * y[..., :1] + n, axis=0),
    "of a view": lambda x, y, n: vx.cumulative_sum((x + y).T, axis=-1),
    "of a part": lambda x, y, n: vx.cumulative_sum((x + y)[1:], axis=0),
    "backwards": lambda x, y, n: vx.cumulative_sum(vx.flip(x + y, axis=-1), axis=-1),
    "twice": lambda x, y, n: vx.cumulative_sum(vx.cumulative_sum(x + y, axis=0) * y, axis=-1),
    "of what is returned": lambda x, y, n: (lambda z: (z, vx.cumulative_sum(z, axis=0)))(x + y),
    "and then a chain": lambda x, y, n: vx.cumulative_sum(x + y, axis=0) * n - x,
}  # fmt: skip


def bits(found: Any) -> list[bytes]:
    found = found if isinstance(found, tuple) else (found,)
    return [np.where(host == host, host, 0).tobytes() for host in map(np.asarray, found)]


@pytest.mark.parametrize("name", SCANS)
def test_the_bits_of_kernels_of_their_own(name: str) -> None:
    function = SCANS[name]
    for dtype in TYPES:
        for shape in SHAPES:
            compiled = vx.compile(function)
            for seed in range(2):
                x, y = (vx.asarray(values_of(dtype, shape, 2 * seed + k), dtype=dtype) for k in range(2))
                assert bits(compiled(x, y, 3 + seed)) == bits(function(x, y, 3 + seed)), (dtype, shape)


def test_what_is_scanned_is_not_stored() -> None:
    compiled = vx.compile(SCANS["a sum"])
    x = vx.ones((5, 300))
    compiled(x, x, 2)
    assert compiled.explain().kernels == 1


def test_into_a_part() -> None:
    """The rest of what a scan is written to stays."""

    def function(x: vx.VkArray, y: vx.VkArray) -> vx.VkArray:
        z = y * 2
        vx.cumsum(x * 3, out=z[::2])
        return z

    x, y = vx.arange(4.0), vx.arange(8.0)
    assert bits(vx.compile(function)(x, y)) == bits(function(x, y))
