"""Functions of one float32 argument on all 2^32 of them: errors against the engine's float64 functions, and digests."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ... import _vk, arange, asarray, uint32
from ...core.array import VkArray, array_in
from ...core.dtypes import float32
from ...kernels.rows import Row
from . import digest, engine, measure, peers, reference

ALL = 2**32
_GROUP = 2**15  # of each so many results the worst one is looked at more closely
_AHEAD = 2  # blocks that may wait to be examined

Progress = Callable[[float], None]


def has(row: Row) -> bool:
    """Whether a row can be measured so."""
    return row.operands == 1 and float32 in row.accepted()


def errors(row: Row, others: Sequence[peers.Source], progress: Progress) -> tuple[list[measure.Measurement], str]:
    """Measure a row, and what is beside it, on all inputs; gives the measurements and the digest of the row's results.

    Of the results of each group the worst is kept, and the largest errors of these are computed exactly. `progress` is
    told the part done.
    """
    sources = [peers.OnDevice("vkarray", row), *others]
    digests = []
    kept: list[list[Any]] = [[] for _ in sources]
    for found in _examined(row, sources, True, progress):
        digests.append(found[0])
        for mine, one in zip(kept, found[1:], strict=True):
            mine.append([engine.on_host(part) for part in one])
    measurements = []
    for source, found in zip(sources, kept, strict=True):
        operand, got, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
        wanted = reference.expected(row, float32, [operand])
        if source is sources[0]:
            measured = measure.settled(row, float32, [operand], got, wanted, 0)
            wrong = int(counts.sum()) if measured.wrong else 0
        else:
            measured = measure.settled_peer(source.name, row, float32, [operand], got, wanted, 0)
            wrong = int(counts.sum())
        measurements.append(replace(measured, samples=ALL, wrong=wrong))
    return measurements, digest.text(digest.total(digests))


def digest_alone(row: Row, progress: Progress) -> str:
    """The digest of a row's results for all inputs."""
    found = _examined(row, [peers.OnDevice("vkarray", row)], False, progress)
    return digest.text(digest.total(one for one, *_ in found))


def _examined(row: Row, sources: Sequence[peers.Source], errors_too: bool, progress: Progress) -> Iterator[list[Any]]:
    """What `_examine` finds in each chunk. While one block is examined, the sources compute the next."""
    at = engine.best(ALL)
    inputs_from = _inputs(at.block)

    def begun(start: int) -> list[Callable[[], Any]]:
        inputs = inputs_from(start)
        return [source.begin(at, start, inputs) for source in sources]

    waiting: deque[Callable[[], list[list[Any]]]] = deque()
    try:
        following = begun(0)
        for start in range(0, ALL, at.block):
            finishes, following = following, begun(start + at.block) if start + at.block < ALL else []
            results = [finish() for finish in finishes]
            for first in range(0, at.block, at.piece):
                parts = [one[first : first + at.piece] for one in results]
                waiting.append(at.submit(_examine, at, row, start + first, parts, errors_too))
            while len(waiting) > _AHEAD * math.ceil(at.block / at.piece):
                yield from waiting.popleft()()
            progress((start + at.block) / ALL)
        while waiting:
            yield from waiting.popleft()()
    finally:
        at.close()


def _inputs(count: int) -> Callable[[int], VkArray]:
    """What gives the inputs from a number on, on the device measured: copied there where that costs little, else computed."""
    device = _vk.open_device()
    if device.limits.host_memory == "cached":
        bits = np.arange(count, dtype=np.uint32)
        block = np.empty_like(bits)
        return lambda start: asarray(np.add(bits, np.uint32(start), out=block).view(np.float32))
    places = arange(count, dtype=uint32)

    def computed(start: int) -> VkArray:
        found = places + start
        return array_in(found._buffer, found._offset, found._shape, found._strides, float32, device)

    return computed


def _examine(at: engine.Host, row: Row, start: int, results: list[Any], errors_too: bool) -> list[list[Any]]:
    """The digest of the first results, then for each of them the worst ones; all that for each chunk."""
    found = []
    with np.errstate(all="ignore"):
        for first in range(0, results[0].size, at.chunk):
            parts = [one[first : first + at.chunk] for one in results]
            inputs = at.inputs(start + first, parts[0].size)
            found.append([digest.of(inputs, parts[0])])
            if errors_too:
                found[-1] += _worst_of_all(at, row, inputs, parts)
    return found


def _worst_of_all(at: engine.Host, row: Row, inputs: Any, results: list[Any]) -> Iterator[tuple[Any, Any, Any]]:
    operand, expected = inputs.view(np.float32), at.reference(row, inputs)
    for number, got in enumerate(results):
        error = at.errors(row, got, expected)
        if number == 0 and measure.hangs_on_subnormals(row, float32):
            error = np.where(measure.decided(row, float32, [operand], expected), error, 0.0)
        yield _worst(at, operand, got, error)


def _worst(at: engine.Host, operand: Any, got: Any, error: Any) -> tuple[Any, Any, Any]:
    """Operands and results of the largest error and of the largest finite one of each group, and the number of infinite
    ones."""
    infinite = np.isinf(error)
    groups = error.reshape(-1, min(_GROUP, error.size))
    firsts = at.inputs(0, groups.shape[0]).astype(np.int64) * groups.shape[1]
    finite = np.where(infinite, -1.0, error).reshape(groups.shape)
    chosen = np.concatenate([groups.argmax(axis=1) + firsts, finite.argmax(axis=1) + firsts])
    return operand[chosen], got[chosen], infinite.sum().reshape(1)
