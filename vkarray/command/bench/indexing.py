"""Indexing, sorting and sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .work import Sizes, Values, Work, by_rows, cuda, host_result, whole


def _is_sorted(result: np.ndarray, a: np.ndarray) -> bool:
    """In order, and of the same elements: as integers, their sum and the sum of their squares agree (modulo 2^64)."""
    if result.shape != a.shape or result.dtype != a.dtype or not np.all(result[..., :-1] <= result[..., 1:]):
        return False
    bits = [x.view(np.uint32).astype(np.uint64) for x in (result, a)]
    return bool(
        np.array_equal(bits[0].sum(-1), bits[1].sum(-1))
        and np.array_equal((bits[0] ** 2).sum(-1), (bits[1] ** 2).sum(-1))
    )


_SORTED = host_result(_is_sorted)


def _sorts(index: np.ndarray, a: np.ndarray) -> bool:
    """A permutation that sorts stably: equal elements in their order."""
    if index.shape != a.shape or not np.array_equal(np.bincount(index, minlength=a.size), np.ones(a.size, np.int64)):
        return False
    there = a[index]
    return bool(np.all((there[:-1] < there[1:]) | ((there[:-1] == there[1:]) & (index[:-1] < index[1:]))))


def _scattered(result: np.ndarray, target: np.ndarray, index: np.ndarray, values: np.ndarray) -> bool:
    """Every place named once has its value; of several values for a place, any may win."""
    del target
    places, first, count = np.unique(index[: 1 << 16], return_index=True, return_counts=True)
    there = np.isin(index, places)
    named = np.bincount(index[there], minlength=result.size)[places]
    once = (named == 1) & (count == 1)
    return bool(np.array_equal(result[places[once]], values[first[once]]))


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter."""
    n, many, few = sizes.elements, max(16, sizes.elements // 4), max(16, sizes.elements // 16)
    a, mask = Values("uniform", (n,)), Values("mask", (n,), 2, "bool")
    values, other = Values("uniform", (many,), 3), Values("uniform", (many,), 4)
    index = Values("integers", (many,), 5, "int64", high=many)
    yield Work(
        "nonzero", "nonzero(m)", (mask,), lambda xp, m: xp.nonzero(m),
        host_result(lambda found, m: np.array_equal(found, np.flatnonzero(m))), cuda(1.0), 5 * n, bound="copy",
    )  # fmt: skip
    yield Work(
        "mask", "a[m]", (a, mask), lambda xp, a, m: a[m],
        host_result(lambda found, a, m: np.array_equal(found, a[m])), cuda(1.0), 7 * n, bound="copy",
    )  # fmt: skip
    yield Work(
        "take", "take(a, i), i random", (values, index), lambda xp, a, i: xp.take(a, i),
        by_rows(lambda rows, a, i: a[i[rows]], 0.0), cuda(1.0), many, "million/s",
    )  # fmt: skip
    yield Work(
        "scatter", "a[i] = b, i random", (other, index, values), lambda xp, a, i, b: xp.put(a, i, b),
        host_result(_scattered), cuda(1.0), many, "million/s",
    )  # fmt: skip
    yield from of_vector(many)
    integers = Values("integers", (many,), 6, "int32", high=1 << 30)
    yield Work(
        "sort int32", "sort(a), int32", (integers,), lambda xp, a: xp.sort(a), _SORTED, cuda(0.7), many, "million/s"
    )
    rows = Values("uniform", (max(1, many // 1024), min(many, 1024)), 3)
    yield Work(
        "sort rows", "sort(A, axis=1), rows of 1024", (rows,), lambda xp, a: xp.sort(a), _SORTED,
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
    yield Work("sort", "sort(a), float32", values, lambda xp, a: xp.sort(a), _SORTED, cuda(0.7), n, "million/s")
    yield Work(
        "argsort",
        "argsort(a), float32, stable",
        values,
        lambda xp, a: xp.argsort(a),
        host_result(_sorts),
        cuda(0.7),
        n,
        "million/s",
    )
