"""How transforms are planned: passes, radices, and workgroups that keep to the limits of a device."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import vkarray as vx
from vkarray.ops.fourier import lengths, transform


def test_lengths_are_split_into_few_factors():
    for n in [*range(1, 200), 360360, 2**20, 3**10, 13**4]:
        if lengths.prime_factors(n) is None:
            assert any(n % prime == 0 for prime in range(17, n + 1))
            continue
        factors = lengths.split(n, 16)
        assert np.prod(factors) == n
        assert max(factors) <= 16
    assert lengths.split(2**20, 16) == (16,) * 5
    assert lengths.split(1000, 16) == (10, 10, 10)


def test_smooth_lengths():
    for least in range(1, 3000):
        found = lengths.smooth_length(least)
        assert found >= least
        assert lengths.prime_factors(found) is not None
        assert found <= max(least * 1.25, 16)


class Limited:
    """As much of a GPU as the plan of a transform asks for."""

    def __init__(self, shared_bytes: int, invocations: int, registers: str = "large") -> None:
        self.limits = dataclasses.replace(
            vx.asarray(0).device.limits, is_cpu=False, max_shared_memory_size=shared_bytes, registers=registers,
            max_workgroup_invocations=invocations, max_workgroup_size=(invocations,) * 3,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", [vx.complex64, vx.complex128], ids=str)
@pytest.mark.parametrize(
    ("kibibytes", "invocations", "registers"),
    [(16, 128, "large"), (32, 256, "large"), (48, 1024, "large"), (48, 1024, "middle"), (16, 128, "small")],
)
def test_workgroups_keep_to_the_limits(kibibytes, invocations, registers, dtype):
    gpu = Limited(kibibytes * 1024, invocations, registers)
    held = transform._values(dtype, gpu)
    smooth = [
        n for n in [*range(1, 5000, 3), 2**12, 2**20, 2**24, 3**10, 5**5, 13**5, 360360] if lengths.prime_factors(n)
    ]
    for length, columns in itertools.product(smooth, (False, True)):
        passes = transform._passes(length, columns, dtype, gpu)
        assert np.prod(passes) == length
        for part in passes:
            line = transform._line(part, columns, dtype, gpu)
            assert np.prod(line.radices) == part
            assert max(line.radices) <= (25 if part in transform._RADICES else 16)
            assert len(line.radices) <= 5
            values = max(held, *line.radices)
            assert all(radix * -(-part // (radix * line.members)) <= values for radix in line.radices)
            assert line.lines >= 1
            assert line.lines * line.members <= invocations
            shared_bytes = line.lines * transform._shared_bytes(part, dtype, held)
            assert shared_bytes <= gpu.limits.max_shared_memory_size
    # What a device of the usual limits does in one pass.
    if (kibibytes, registers, dtype) == (48, "large", vx.complex64):
        assert transform._passes(8192, False, dtype, gpu) == (8192,)
        assert transform._passes(2**24, False, dtype, gpu) == (256, 256, 256)
        # Measured best: 16 lines side by side, and workgroups of 128 to 256.
        assert [transform._line(n, True, dtype, gpu).lines for n in (512, 256, 128, 64)] == [8, 16, 16, 32]
        assert [transform._line(n, False, dtype, gpu).lines for n in (8192, 2048, 1024)] == [1, 1, 2]


def test_neighbours_meet_different_banks():
    """The elements of a line have places of their own in shared memory, and with gaps 32 neighbours put theirs into 32 banks."""
    smooth = [n for n in [*range(17, 2000), 2187, 3000, 3125, 5000, 6561] if lengths.prime_factors(n)]
    gapped = 0
    for length in (n for n in smooth if not lengths.is_power_of_two(n)):
        radices = transform._radices(length)
        before = 1
        for radix, gap in zip(radices[:-1], transform._gaps(radices), strict=True):
            block = before * radix
            results = np.arange(length // radix)
            first = results // before * (block + gap) + results % before
            places = first[:, None] + before * np.arange(radix)
            assert len(np.unique(places)) == length
            assert places.max() < transform._pitch(length)
            if gap:
                gapped += 1
                assert np.array_equal(first % 32, results % 32)
            before = block
        assert length <= transform._pitch(length) <= length * 13 / 12 + 1
        assert transform._pitch(length) % 2 == 1
    assert gapped > 50


def test_large_lines_are_fetched_ahead():
    """Sets of lines: only of lines with so many invocations that few workgroups fit a multiprocessor, and only of many lines."""
    gpu = Limited(48 * 1024, 1024)

    def sets(length: int, lines: int) -> int:
        return transform._sets(length, transform._line(length, False, vx.complex64, gpu), lines)

    assert [sets(length, 2**20) for length in (1000, 2048, 2187, 4096, 5000, 6561, 8192)] == [1, 1, 1, 8, 1, 8, 8]
    assert [sets(8192, lines) for lines in (1, 8191, 8192)] == [1, 1, 8]
