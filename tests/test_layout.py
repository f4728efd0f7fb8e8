"""Shapes and strides as pure integer functions, against NumPy's own arithmetic."""

from __future__ import annotations

import functools
import itertools
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.lib.stride_tricks import as_strided

from vkarray.core import layout

run = settings(max_examples=300, deadline=None)
SHAPES = st.lists(st.integers(0, 5), max_size=5).map(tuple)
FULL_SHAPES = st.lists(st.integers(1, 5), max_size=5).map(tuple)
STEPS = st.integers(-9, 9) | st.sampled_from([2**31, -(2**33)])  # some longer than 32 bits hold
SLICES = st.builds(slice, *[st.none() | st.integers(-6, 6)] * 2, st.none() | st.integers(-3, 3).filter(bool))


@st.composite
def views(draw, shapes=FULL_SHAPES) -> np.ndarray:
    """A view of an int64 array: sliced, permuted, broadcast."""
    shape = draw(shapes)
    array = np.arange(math.prod(shape)).reshape(shape)
    array = array[tuple(draw(SLICES) for _ in shape)]
    array = array.transpose(draw(st.permutations(range(array.ndim))))
    if draw(st.booleans()):
        array = np.broadcast_to(array, (draw(st.integers(1, 3)), *array.shape))
    return array


def strides_of(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


def offsets(shape, strides) -> np.ndarray:
    """The offset of every element in C order."""
    parts = [np.arange(length) * stride for length, stride in zip(shape, strides, strict=True)]
    total = np.zeros((), np.int64)
    for part in parts:
        total = total[..., None] + part
    return total.reshape(-1)


@run
@given(SHAPES)
def test_contiguous_strides(shape):
    strides = layout.contiguous_strides(shape)
    np.testing.assert_array_equal(offsets(shape, strides), np.arange(math.prod(shape)))
    assert layout.is_contiguous(shape, strides)


@run
@given(views())
def test_is_contiguous(array):
    assert layout.is_contiguous(array.shape, strides_of(array)) == array.flags.c_contiguous


@run
@given(st.lists(SHAPES, min_size=1, max_size=4))
def test_broadcast_shapes(shapes):
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(ValueError, match=r"^here: shapes .* could not be broadcast"):
            layout.broadcast_shapes(shapes, "here")
    else:
        assert layout.broadcast_shapes(shapes, "here") == expected


@run
@given(FULL_SHAPES, st.data())
def test_broadcast_strides(target, data):
    kept = data.draw(st.integers(0, len(target)))
    shape = tuple(data.draw(st.sampled_from([1, length])) for length in target[kept:])
    array = np.arange(math.prod(shape)).reshape(shape)
    strides = layout.broadcast_strides(shape, strides_of(array), target)
    np.testing.assert_array_equal(
        array.reshape(-1)[offsets(target, strides)], np.broadcast_to(array, target).reshape(-1)
    )


@run
@given(st.data())
def test_collapse_keeps_the_order_of_elements(data):
    shape = data.draw(FULL_SHAPES)
    operands = [tuple(data.draw(st.integers(-30, 30)) for _ in shape), layout.contiguous_strides(shape)]
    collapsed, strides = layout.collapse(shape, operands)
    for before, after in zip(operands, strides, strict=True):
        np.testing.assert_array_equal(offsets(shape, before), offsets(collapsed, after))
    again, _ = layout.collapse(collapsed, strides)
    assert again == collapsed


@run
@given(FULL_SHAPES)
def test_collapse_makes_contiguous_arrays_flat(shape):
    collapsed, strides = layout.collapse(shape, [layout.contiguous_strides(shape)] * 3)
    assert collapsed == (math.prod(shape),)
    assert all(stride in ((1,), (0,)) for stride in strides)


@st.composite
def reshapes(draw):
    array = draw(views())
    factors, size = [], array.size
    while size > 1:
        factor = draw(st.sampled_from([n for n in range(2, size + 1) if size % n == 0]))
        factors.append(factor)
        size //= factor
    ones = [1] * draw(st.integers(0, 2))
    return array, tuple(draw(st.permutations(factors + ones)))


@run
@given(reshapes())
def test_reshaped_strides(case):
    array, target = case
    if array.size == 0:
        target = (0,)
    strides = layout.reshaped_strides(array.shape, strides_of(array), target)
    # NumPy makes a view where it can, which shows in shared memory.
    reshaped = array.reshape(target)
    has_view = np.shares_memory(reshaped, array) if array.size else True
    if strides is None:
        assert not has_view
    else:
        assert has_view or array.size <= 1
        np.testing.assert_array_equal(offsets(target, strides), offsets(array.shape, strides_of(array)))


@run
@given(st.data())
def test_offset_range(data):
    shape = data.draw(SHAPES)
    strides = tuple(data.draw(st.integers(-30, 30)) for _ in shape)
    reached = offsets(shape, strides)
    expected = (reached.min(), reached.max()) if reached.size else (0, -1)
    assert layout.offset_range(shape, strides) == expected


@run
@given(st.data())
def test_has_internal_overlap_misses_nothing(data):
    shape = data.draw(FULL_SHAPES)
    strides = tuple(data.draw(st.integers(-30, 30)) for _ in shape)
    reached = offsets(shape, strides)
    if len(set(reached)) < len(reached):
        assert layout.has_internal_overlap(shape, strides)


@run
@given(views())
def test_views_without_repeated_elements_have_no_overlap(array):
    repeated = array.size != len(set(array.reshape(-1)))
    assert layout.has_internal_overlap(array.shape, strides_of(array)) == repeated


@run
@given(st.data())
def test_index_slices_cover_every_element_once(data):
    shape = data.draw(FULL_SHAPES)
    operands = [tuple(data.draw(STEPS) for _ in shape), layout.contiguous_strides(shape)]
    limit = data.draw(st.integers(9, 200))
    covered: list[tuple[int, int]] = []
    for part, taken, starts in layout.index_slices(shape, operands, limit):
        ranges = [layout.offset_range(part, strides) for strides in taken]
        assert math.prod(part) <= limit
        assert max(high - low for low, high in ranges) < limit
        assert all(abs(stride) <= limit for strides in taken for stride in strides)
        columns = [start + offsets(part, strides) for start, strides in zip(starts, taken, strict=True)]
        covered += zip(*(column.tolist() for column in columns), strict=True)
    columns = [offsets(shape, strides).tolist() for strides in operands]
    assert sorted(covered) == sorted(zip(*columns, strict=True))


@run
@given(st.data())
def test_row_slices_cover_every_chunk_once(data):
    shape = data.draw(st.lists(st.integers(1, 5), max_size=3).map(tuple))
    length, chunk = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 9))
    strides = tuple(data.draw(STEPS) for _ in shape)
    steps = (1, data.draw(st.integers(-5, 5)))
    operands = [layout.contiguous_strides(shape), strides]
    limit = chunk * 6
    chunks = -(-length // chunk)
    seen = []
    for row, part, taken, starts, first, count in layout.row_slices(shape, operands, length, steps, chunk, limit):
        # Rows are numbered in C order, so those of a part follow each other.
        inner = offsets(part, layout.contiguous_strides(part)) + row
        np.testing.assert_array_equal(offsets(part, taken[0]) + starts[0], inner)
        np.testing.assert_array_equal(offsets(part, taken[1]) + starts[1], offsets(shape, strides)[inner])
        assert all(abs(stride) <= limit for strides in taken for stride in strides)
        elements = min(length, count * chunk)
        assert math.prod(part) * elements <= limit
        for strides_, step in zip(taken, steps, strict=True):
            low, high = layout.offset_range(part, strides_)
            assert high - low + (elements - 1) * abs(step) < limit
        seen += itertools.product(inner.tolist(), range(first, first + count))
    assert sorted(seen) == list(itertools.product(range(math.prod(shape)), range(chunks)))


@run
@given(st.integers(-8, 8), st.integers(0, 6))
def test_normalize_axis(axis, rank):
    if -rank <= axis < rank:
        assert layout.normalize_axis(axis, rank, "here") == range(rank)[axis]
        assert layout.normalize_axis(np.int64(axis), rank, "here") == range(rank)[axis]
    else:
        with pytest.raises(IndexError, match=f"^here: axis {axis} is out of range"):
            layout.normalize_axis(axis, rank, "here")


def test_normalize_axes():
    assert layout.normalize_axes(None, 3, "here") == (0, 1, 2)
    assert layout.normalize_axes(-1, 3, "here") == (2,)
    assert layout.normalize_axes((2, -3), 3, "here") == (2, 0)
    assert layout.normalize_axes(range(2), 3, "here") == (0, 1)
    with pytest.raises(ValueError, match="names a dimension twice"):
        layout.normalize_axes((0, -3), 3, "here")
    with pytest.raises(
        TypeError,
        match=r"^here: expected an integer or a sequence of integers as axis, got 1\.5\. Divide with //, or convert it with int\.$",
    ):
        layout.normalize_axes(1.5, 3, "here")


@run
@given(st.data())
def test_sort_by_stride(data):
    shape = data.draw(FULL_SHAPES)
    strides = tuple(data.draw(st.integers(-30, 30)) for _ in shape)
    places = tuple(range(len(shape)))
    new_shape, new_strides, (order,) = layout.sort_by_stride(shape, strides, places)
    assert [abs(stride) for stride in new_strides] == sorted(map(abs, strides), reverse=True)
    assert new_shape == tuple(shape[place] for place in order)
    assert new_strides == tuple(strides[place] for place in order)
    assert sorted(order) == list(places)


# Strides of one array, of which parts are cut, or views with axes of other lengths.
KINDS = st.sampled_from(
    [(12, 1), (12, 4, 1), (24, 1), (36, 11, 1), (12, 11, 1), (1, 12), (2,), (1,), (12, 2), (-12, 1)]
)


@st.composite
def boxes(draw) -> layout.Box:
    strides = draw(KINDS)
    return layout.Box(draw(st.integers(40, 70)), tuple(draw(st.integers(1, 3)) for _ in strides), strides, 4)


@settings(max_examples=2000, deadline=None)
@given(boxes(), boxes())
def test_parts_that_are_apart_have_nothing_in_common(one, other):
    places = [set((box.offset + offsets(box.shape, box.strides)).tolist()) for box in (one, other)]
    found = layout.apart(one, other)
    assert found == layout.apart(other, one)
    assert not (found and places[0] & places[1])


def test_the_edges_of_a_matrix_and_its_inside_are_apart():
    rows, columns = 7, 9
    box = functools.partial(layout.Box, itemsize=4)
    parts = [
        box(columns + 1, (rows - 2, columns - 2), (columns, 1)),
        box(0, (2, 1, columns), ((rows - 1) * columns, columns, 1)),  # the first and the last row
        box(columns, (rows - 2, 2, 1), (columns, columns - 1, 1)),  # and columns, but for their ends
    ]
    assert all(layout.apart(one, other) for one, other in itertools.combinations(parts, 2))
    whole = box(0, (rows, columns), (columns, 1))
    assert not any(layout.apart(whole, one) for one in parts)
    assert layout.apart(box(0, (4,), (2,)), box(1, (4,), (2,)))
    assert not layout.apart(parts[0], parts[0]._replace(offset=0, itemsize=2))


def test_as_strided_agrees_with_offsets():
    """The helper of this file itself, against NumPy."""
    base = np.arange(100)
    view = as_strided(base[50:], (3, 4), (-80, 8))
    np.testing.assert_array_equal(view.reshape(-1), 50 + offsets((3, 4), (-10, 1)))
