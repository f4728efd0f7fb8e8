"""Reductions that read their elements as texels, as they do on CPU drivers, give the bits of those that do not."""

from __future__ import annotations

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.dtypes import DTYPES
from vkarray.ops import launch, reductions

DTYPES_OF_A_WORD = [dtype for dtype in supported(DTYPES.values()) if dtype.itemsize <= 4]
CASES = [
    (name, dtype)
    for name in ("sum", "var", "argmax", "count_nonzero")
    for dtype in DTYPES_OF_A_WORD
    if reductions.REDUCTIONS[name].accepts(dtype) and (name != "var" or dtype.kind == "real floating")
]


def values_of(dtype, shape) -> vx.VkArray:
    values = np.random.default_rng(1).standard_normal(shape) * 30
    return vx.astype(vx.asarray(values.astype(np.float32)), dtype) if dtype is not vx.bool else vx.asarray(values > 0)


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_texels_do_not_change_a_bit(name, dtype, monkeypatch):
    """Whole arrays, rows, and parts of both that begin where a texel does or not; with and without a part of a strip."""
    array, strips = values_of(dtype, (17, 2056)), values_of(dtype, (3, 1 << 15))
    views = [
        (array, None), (array, 1), (array[3:, 512:], 1), (array[:, 1024:1536], None), (array[1:, 8:], 1), (array[0], 0),
        (strips, None), (strips, 1), (strips[:, 16384:], 1), (strips[:, 16:], 1),
    ]  # fmt: skip
    monkeypatch.setattr(reductions, "uses_shared_memory", lambda device: False)
    used, results, dispatch = [], [], launch.dispatch

    def watched(variant, *args):
        used.append("TEXELS" in dict(variant.defines))
        dispatch(variant, *args)

    monkeypatch.setattr(launch, "dispatch", watched)
    for few in (0, 1 << 60):
        monkeypatch.setattr(launch, "_FEW_BYTES", few)
        results.append([np.asarray(getattr(vx, name)(view, axis=axis)).tobytes() for view, axis in views])
        assert any(used) == (few == 0 and reductions.Reduction.has_words(array.device, dtype))
        used.clear()
    assert results[0] == results[1]
