"""Indexing, sorting and sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .work import Check, Sizes, Values, Work, by_rows, cuda, host_result, of_rows, whole

_CHUNK = 1 << 16


def _positions(rows: slice, mask: np.ndarray) -> np.ndarray:
    """`np.flatnonzero(mask)[rows]` without finding all the others."""
    padded = np.zeros(-(-mask.size // _CHUNK) * _CHUNK, bool)
    padded[: mask.size] = mask
    before = np.concatenate(([0], np.cumsum(np.count_nonzero(padded.reshape(-1, _CHUNK), axis=1))))
    first, last = np.searchsorted(before, rows.start, "right") - 1, np.searchsorted(before, rows.stop, "left")
    found = np.flatnonzero(padded[first * _CHUNK : last * _CHUNK]) + first * _CHUNK
    return found[rows.start - before[first] : rows.stop - before[first]]


def _chosen(reference: Callable[..., Any]) -> Check:
    """`by_rows` for what a mask, the last input, chooses."""
    rows = by_rows(reference, 0.0)
    return lambda library, result, inputs: (
        tuple(result.shape) == (np.count_nonzero(inputs[-1]),) and rows(library, result, inputs)
    )


def _sorts(indices: bool) -> Check:
    """Whether a result is the sorted input, or the indices that sort it stably."""
    known: list[np.ndarray] = []  # the input of a work is the same for every library

    def check(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
        (a,) = inputs
        if not known:
            known.append(np.sort(a))

        def reference(rows: slice, a: np.ndarray) -> np.ndarray:
            index = library.part(result, rows)
            there = a[index]
            ascending = (there[:-1] < there[1:]) | ((there[:-1] == there[1:]) & (index[:-1] < index[1:]))
            right = np.array_equal(there, known[0][rows]) and bool(np.all(ascending))
            return index if right else index - 1

        return by_rows(reference if indices else lambda rows, a: known[0][rows], 0.0)(library, result, inputs)

    return check


def _scattered(result: np.ndarray, target: np.ndarray, index: np.ndarray, values: np.ndarray) -> bool:
    some = slice(0, 1 << 20)
    return result.shape == target.shape and np.array_equal(result[index[some]], values[some])


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter."""
    n, many, few = sizes.elements, max(16, sizes.elements // 4), max(16, sizes.elements // 16)
    a, mask = Values("uniform", (n,)), Values("mask", (n,), 2, "bool")
    values, other = Values("uniform", (many,), 3), Values("uniform", (many,), 4)
    index = Values("permutation", (many,), 5, "int64")
    yield Work(
        "nonzero", "nonzero(m)", (mask,), lambda xp, m: xp.nonzero(m),
        _chosen(_positions), cuda(1.0), 5 * n, bound="copy",
    )  # fmt: skip
    yield Work(
        "mask", "a[m]", (a, mask), lambda xp, a, m: a[m],
        _chosen(lambda rows, a, m: a[_positions(rows, m)]), cuda(1.0), 7 * n, bound="copy",
    )  # fmt: skip
    yield Work(
        "take", "take(a, i), i a permutation", (values, index), lambda xp, a, i: xp.take(a, i),
        by_rows(lambda rows, a, i: a[i[rows]], 0.0), cuda(1.0), many, "million/s",
    )  # fmt: skip
    yield Work(
        "scatter", "a[i] = b, i a permutation", (other, index, values), lambda xp, a, i, b: xp.put(a, i, b),
        host_result(_scattered), cuda(1.0), many, "million/s",
    )  # fmt: skip
    yield from of_vector(many)
    integers = Values("integers", (many,), 6, "int32", high=1 << 30)
    yield Work(
        "sort int32",
        "sort(a), int32",
        (integers,),
        lambda xp, a: xp.sort(a),
        _sorts(False),
        cuda(0.7),
        many,
        "million/s",
    )
    rows = Values("uniform", (max(1, many // 1024), min(many, 1024)), 3)
    yield Work(
        "sort rows", "sort(A, axis=1), rows of 1024", (rows,), lambda xp, a: xp.sort(a), of_rows(np.sort, 0.0),
        cuda(0.7), many, "million/s",
    )  # fmt: skip
    repeated = Values("integers", (few,), 7, "int32", high=max(2, few // 16))
    yield Work(
        "unique", "unique_values(a), int32", (repeated,), lambda xp, a: xp.unique_values(a), whole(np.unique, 0.0),
        cuda(0.7), few, "million/s",
    )  # fmt: skip
    edges, wanted = Values("sorted", (max(2, few // 16),), 8), Values("uniform", (few,), 9)
    yield Work(
        "searchsorted", "searchsorted(edges, a)", (edges, wanted), lambda xp, e, a: xp.searchsorted(e, a),
        by_rows(lambda rows, e, a: np.searchsorted(e, a[rows]), 0.0), cuda(0.7), few, "million/s",
    )  # fmt: skip


def of_vector(n: int) -> Iterator[Work]:
    """The rows that sort one vector of random numbers."""
    values = (Values("uniform", (n,), 3),)
    yield Work("sort", "sort(a), float32", values, lambda xp, a: xp.sort(a), _sorts(False), cuda(0.7), n, "million/s")
    yield Work(
        "argsort",
        "argsort(a), float32, stable",
        values,
        lambda xp, a: xp.argsort(a),
        _sorts(True),
        cuda(0.7),
        n,
        "million/s",
    )
