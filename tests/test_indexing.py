"""Indexing against NumPy: generated keys on arrays of all layouts, assignment, take, nonzero, and every error."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.core import key, layout
from vkarray.core.dtypes import CATEGORIES, DTYPES
from vkarray.kernels import compact, faults, planned
from vkarray.ops import indexing
from vkarray.shaders.source import spirv

SUPPORTED = [dtype for dtype in supported(DTYPES.values()) if dtype is not vx.bfloat16]
INTEGERS = supported(dtype for dtype in DTYPES.values() if dtype in CATEGORIES["integer"])
INDEX = np.dtype(vx.asarray(0).dtype.name)  # int64, or int32 where the device has none


def numbered(shape, dtype="int32"):
    """A NumPy array of different values, where the dtype has enough of them."""
    count = int(np.prod(shape))
    values = np.arange(1, count + 1)
    return (values % 2 if dtype == "bool" else values).astype(dtype).reshape(shape)


def views(values):
    """An array in several layouts, each as a NumPy array and the vkarray array that views memory in the same way."""
    yield values, vx.asarray(values)
    if values.ndim:
        yield values[::-1], vx.asarray(values)[::-1]
        yield values[..., ::2], vx.asarray(values)[..., ::2]
        yield values.T, vx.permute_dims(vx.asarray(values), tuple(range(values.ndim))[::-1])


def check(result, expected):
    assert result.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(result), expected)


class Keys:
    """Random keys that fit a shape, with the same key for NumPy and for vkarray."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def shape(self, most=5):
        return tuple(self.random.choice((0, 1, 2, 3, 4) if self.random.random() < 0.2 else (1, 2, 3, 4))
                     for _ in range(self.random.randint(0, most)))  # fmt: skip

    def slice(self, length):
        def bound():
            return self.random.choice((None, self.random.randint(-length - 2, length + 2)))

        return slice(bound(), bound(), self.random.choice((None, 1, 2, 3, -1, -2)))

    def integers(self, length, common):
        """Indices of a shape that broadcasts to `common`."""
        shape = tuple(self.random.choice((1, n)) if n else 0 for n in common[self.random.randint(0, len(common)) :])
        count = int(np.prod(shape))
        if count and not length:
            return None
        values = [self.random.randint(-length, length - 1) for _ in range(count)]
        array = np.asarray(values, self.random.choice((INDEX, "int32", "int8"))).reshape(shape)
        return array if shape else array[None]

    def bools(self, shape, true):
        """A mask with a given number of true elements, or None."""
        count = int(np.prod(shape))
        if count < true:
            return None
        values = [True] * true + [False] * (count - true)
        self.random.shuffle(values)
        return np.asarray(values, bool).reshape(shape)

    def key(self, shape):
        """A key of integers, slices, None, `...`, index arrays and masks."""
        common = tuple(self.random.choice((1, 2, 3, 0) if self.random.random() < 0.1 else (1, 2, 3))
                       for _ in range(self.random.randint(1, 2)))  # fmt: skip
        entries = []
        axis = 0
        end = self.random.randint(0, len(shape))
        kinds = ["integer", "slice", "slice", "None", "array", "array", "mask", "bool"]
        while axis < end:
            kind = self.random.choice(kinds)
            length = shape[axis]
            if kind == "slice":
                entries.append(self.slice(length))
            elif kind == "None":
                entries.append(None)
                continue
            elif kind == "bool":
                if self.random.random() < 0.3:
                    entries.append(self.random.random() < 0.8)
                continue
            elif kind == "integer" and length:
                entries.append(self.random.randint(-length, length - 1))
            elif kind == "array" and (array := self.integers(length, common)) is not None:
                entries.append(array)
            elif kind == "mask":
                rank = self.random.randint(1, end - axis)
                mask = self.bools(shape[axis : axis + rank], common[-1])
                if mask is None:
                    continue
                entries.append(mask)
                axis += rank
                continue
            else:
                entries.append(slice(None))
            axis += 1
        if self.random.random() < 0.5 or (end < len(shape) and self.random.random() < 0.5):
            place = self.random.choice((0, len(entries)))
            if end == len(shape):
                place = self.random.randint(0, len(entries))
            # Indices after the ellipsis belong to the last axes; they were drawn for the first ones.
            if place == len(entries) or end == len(shape):
                entries.insert(place, Ellipsis)
        return tuple(entries)


def uploaded(entries):
    return tuple(vx.asarray(entry) if isinstance(entry, np.ndarray) else entry for entry in entries)


@pytest.mark.parametrize("seed", range(40))
def test_generated_keys_read_as_numpy(seed):
    keys = Keys(seed)
    for _ in range(12):
        for values, array in views(numbered(keys.shape())):
            entries = keys.key(values.shape)
            try:
                expected = values[entries]
            except IndexError:
                with pytest.raises(IndexError):
                    np.asarray(array[uploaded(entries)])
                continue
            check(array[uploaded(entries)], expected)


@pytest.mark.parametrize("seed", range(40))
def test_generated_keys_write_as_numpy(seed):
    keys = Keys(seed + 1000)
    for _ in range(8):
        for values, array in views(numbered(keys.shape())):
            entries = keys.key(values.shape)
            try:
                selected = values[entries].shape
            except IndexError:
                continue
            # Every place that one element is written from holds the same value, so that the order does not matter.
            shape = keys.random.choice(((), (1,), selected, selected[-1:], (1, *selected)))
            new = np.full(shape, -7, np.int32) if _repeats(values, entries) else -numbered(shape)
            expected = values.copy()
            expected[entries] = np.broadcast_to(new[0] if new.ndim > len(selected) else new, selected)
            array[uploaded(entries)] = (
                -7 if shape == () and keys.random.random() < 0.5 and np.all(new == -7) else vx.asarray(new)
            )
            check(array, expected)


def _repeats(values, entries):
    """Whether a key selects an element twice."""
    places = np.arange(values.size).reshape(values.shape)[entries].ravel()
    return len(set(places.tolist())) < places.size


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_every_dtype_is_moved_bit_for_bit(dtype):
    values = numbered((5, 4), dtype.name)
    array = vx.asarray(values)
    rows = [3, -1, 0]
    check(array[vx.asarray(rows)], values[rows])
    check(array[:, vx.asarray([1])], values[:, [1]])
    mask = np.arange(20).reshape(5, 4) % 3 == 0
    check(array[vx.asarray(mask)], values[mask])
    array[vx.asarray(rows), vx.asarray([0, 1, 2])] = array[0, 1:]
    values[rows, [0, 1, 2]] = values[0, 1:].copy()
    array[vx.asarray(mask)] = array[1, 1]
    values[mask] = values[1, 1]
    array[vx.asarray(~mask)] = array[vx.asarray(~mask)][::-1]
    values[~mask] = values[~mask][::-1]
    check(array, values)


def test_nan_payloads_and_negative_zero_survive():
    bits = np.asarray([0x7FC12345, 0x80000000, 0x7F800001, 0xFFFFFFFF, 1], np.uint32)
    array = vx.asarray(bits.view(np.float32))
    order = [4, 2, 0, 1, 3]
    assert np.asarray(array[vx.asarray(order)]).view(np.uint32).tolist() == bits[order].tolist()
    mask = np.asarray([True, False, True, True, False])
    assert np.asarray(array[vx.asarray(mask)]).view(np.uint32).tolist() == bits[mask].tolist()


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_index_arrays_of_every_integer_dtype(dtype):
    values = numbered((7, 3))
    array = vx.asarray(values)
    check(array[vx.asarray([6, 0, 2], dtype=dtype)], values[[6, 0, 2]])
    highest = int(np.iinfo(dtype.name).max)
    with pytest.raises(IndexError, match=r"getitem: index \d+ is out of bounds for axis 0 of length 7"):
        np.asarray(array[vx.asarray([highest], dtype=dtype)])
    if dtype.category == "signed integer":
        check(vx.take(array, vx.asarray([-1, -7], dtype=dtype), axis=0), values[[-1, -7]])


def test_keys_from_lists_and_numpy():
    values = numbered((4, 5))
    array = vx.asarray(values)
    for entries in ([1, 2], np.asarray([3, 0]), ([0, 1], [[2], [3]]), [], [True, False, True, False], np.int64(2),
                    (np.asarray([True] * 4), 1), np.bool_(True), (True, [1])):  # fmt: skip
        check(array[entries], values[entries])
    check(array[vx.asarray(2)], values[2])
    check(array[vx.asarray(True)], values[True])
    check(array[vx.asarray(1) : vx.asarray(3)], values[1:3])


def test_views_share_memory_and_copies_do_not():
    array = vx.asarray(numbered((3, 4)))
    view, copied = array[1:, ::2], array[vx.asarray([0, 1])]
    array[...] = 0
    assert np.asarray(view).sum() == 0
    assert np.asarray(copied).sum() == 36


def test_source_and_target_that_overlap():
    values = numbered((6,))
    array = vx.asarray(values)
    array[1:] = array[:-1]
    values[1:] = values[:-1].copy()
    array[vx.asarray([0, 5])] = array[vx.asarray([5, 0])]
    values[[0, 5]] = values[[5, 0]]
    array[::2][vx.asarray([2, 1, 0])] = array[3:]
    values[::2][[2, 1, 0]] = values[3:].copy()
    check(array, values)
    order = vx.asarray([2, 0, 1])
    order[order] = vx.asarray([5, 6, 7])
    check(order, np.asarray([6, 7, 5]))


def test_mask_of_the_array_itself():
    array = vx.asarray([True, False, True])
    array[array] = False
    check(array, np.zeros(3, bool))


@pytest.mark.parametrize(
    "shape", [(0,), (1,), (63,), (64,), (65,), (4096,), (4097,), (3, 5, 7), (2, 0, 3), (70, 70)], ids=str
)
def test_nonzero(shape):
    values = numbered(shape) % 3
    for expected, array in views(values):
        result = vx.nonzero(array)
        assert len(result) == len(shape)
        for ours, theirs in zip(result, np.nonzero(expected), strict=True):
            assert ours.dtype is vx.asarray(0).dtype
            check(ours, theirs)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_nonzero_of_every_dtype(dtype):
    values = (numbered((50,)) % 3).astype(dtype.name)
    check(vx.nonzero(vx.asarray(values))[0], np.nonzero(values)[0])


@pytest.mark.parametrize("shape", [(1000,), (10, 100), (7, 11, 13), (1000, 1)], ids=str)
def test_compaction_in_parts(shape):
    """Masks longer than 2**30 come in parts; here the parts are short."""
    values = numbered(shape)
    mask = values % 7 < 3
    array, device_mask = vx.asarray(values), vx.asarray(mask)
    check(compact.compress(array, device_mask, part=192), values[mask])
    for ours, theirs in zip(compact.coordinates(device_mask, part=192), np.nonzero(mask), strict=True):
        check(ours, theirs)


@pytest.mark.parametrize("shape", [(1,), (2047,), (2049,), (70_001,), (300, 50), (3, 5, 7, 11)], ids=str)
@pytest.mark.parametrize("shared", [False, True])
def test_compaction_with_and_without_shared_memory(shared, shape, device, monkeypatch):
    if shared and device.limits.max_workgroup_invocations < 256:
        pytest.skip(f"{device.name}: maxComputeWorkGroupInvocations is below the 256 of the kernels with shared memory")
    monkeypatch.setattr(compact, "uses_shared_memory", lambda device: shared)
    planned.forget()  # plans with the other kernels
    for share in (0.0, 0.01, 0.5, 1.0):
        mask = np.random.default_rng(3).random(shape) <= share
        values = numbered(shape)
        check(vx.asarray(values)[vx.asarray(mask)], values[mask])
        for ours, theirs in zip(vx.nonzero(vx.asarray(mask)), np.nonzero(mask), strict=True):
            check(ours, theirs)
    planned.forget()


def test_compacted_arrays_keep_little_more_than_they_need():
    mask = np.zeros(40_000, bool)
    mask[-1] = True
    kept = [vx.ones((40_000,)), vx.asarray(mask)]
    before = kept[0].device.memory_statistics()["bytes_in_use"]
    kept += [kept[0][kept[1]] for _ in range(4)] + [vx.nonzero(kept[1])[0] for _ in range(4)]
    assert kept[0].device.memory_statistics()["bytes_in_use"] < before + (1 << 16)
    assert {one._buffer.nbytes for one in kept[2:]} == {4, kept[-1].itemsize}


@pytest.mark.parametrize("fill", [False, True])
def test_masks_of_one_value(fill):
    mask = np.full((300, 300), fill)
    values = numbered(mask.shape)
    check(vx.asarray(values)[vx.asarray(mask)], values[mask])
    check(vx.nonzero(vx.asarray(mask))[1], np.nonzero(mask)[1])


def test_arrays_beyond_32_bit_offsets_are_moved_in_parts(monkeypatch):
    """Selections of more elements than one dispatch reaches come in parts; here a dispatch reaches few."""
    slices = layout.index_slices
    monkeypatch.setattr(layout, "index_slices", lambda shape, operands, limit=40: slices(shape, operands, limit))
    values = numbered((6, 9, 5))
    array = vx.asarray(values)
    rows, columns = np.asarray([5, 0, -2, 3], INDEX), np.asarray([[8], [1], [-9]], INDEX)
    pairs = (rows[:, None], slice(None), rows[1:2])
    for entries in ((rows,), (slice(None), rows), (rows, columns), pairs, (slice(None, None, -2), rows)):
        check(array[entries], values[entries])
        array[entries] = -array[entries]
        values[entries] = -values[entries]
    check(array, values)


@pytest.mark.parametrize("value", [2**32 + 1, -(2**32) - 1])
def test_numpy_indices_of_64_bits_never_wrap(value):
    with pytest.raises(IndexError, match="is out of bounds for axis 0 of length 3"):
        np.asarray(vx.asarray(numbered((3,)))[np.asarray([value])])


def test_more_workgroups_than_one_dimension_holds(few_workgroups):
    count = 64 * 256 + 5
    values = (np.arange(count) % 251).astype(np.uint8)
    order = np.arange(count, dtype=np.int32)[::-1] // 2
    array = vx.asarray(values, device=few_workgroups)
    check(vx.take(array, vx.asarray(order, device=few_workgroups)), values[order])
    mask = values > 200
    chosen = vx.asarray(mask, device=few_workgroups)
    check(array[chosen], values[mask])
    check(vx.nonzero(array)[0], np.nonzero(values)[0])
    array[chosen] = vx.asarray(values[mask][::-1], device=few_workgroups)
    values[mask] = values[mask][::-1]
    check(array, values)


@pytest.mark.parametrize("shape", [(6,), (4, 6), (3, 4, 5), (2, 3, 2, 4)], ids=str)
def test_take(shape):
    for values, array in views(numbered(shape)):
        for axis in range(-values.ndim, values.ndim):
            length = values.shape[axis]
            for indices in ([0], [length - 1, 0, -1, -length], [], [[0, -1], [-1, 0]]):
                host = np.asarray(indices, INDEX)
                check(vx.take(array, vx.asarray(host), axis=axis), np.take(values, host, axis))
    flat = vx.asarray(numbered((5,)))
    check(vx.take(flat, vx.asarray([2, 2])), np.asarray([3, 3]))


@pytest.mark.parametrize("shape", [(6,), (4, 6), (3, 4, 5)], ids=str)
def test_take_along_axis(shape):
    keys = Keys(7)
    for values, array in views(numbered(shape)):
        for axis in range(-values.ndim, values.ndim):
            length = values.shape[axis]
            for broadcast in (False, True):
                taken = [1 if broadcast else n for n in values.shape]
                taken[axis] = 3
                host = np.asarray(
                    [keys.random.randint(-length, length - 1) for _ in range(np.prod(taken))], INDEX
                ).reshape(taken)
                check(vx.take_along_axis(array, vx.asarray(host), axis=axis), np.take_along_axis(values, host, axis))
    both = vx.take_along_axis(vx.asarray(numbered((2, 1))), vx.asarray(numbered((1, 3)) * 0), axis=1)
    check(both, np.asarray([[1] * 3, [2] * 3]))


def test_rows_move_as_larger_elements():
    """Rows whose length allows it are copied up to 16 bytes at a time; offsets that do not, one element at a time."""
    values = numbered((9, 24), "uint8")
    order = np.asarray([8, 0, 3, -1], INDEX)
    for start, stop in itertools.product(range(5), (16, 20, 23, 24)):
        array = vx.asarray(values)
        check(vx.take(array[:, start:stop], vx.asarray(order), axis=0), values[order, start:stop])
        array[vx.asarray(order[:2]), start:stop] = array[4:6, start:stop]
        expected = values.copy()
        expected[order[:2], start:stop] = values[4:6, start:stop]
        check(array, expected)


def test_many_dimensions():
    values = numbered((1, 2) * 8)
    array = vx.asarray(values)
    entries = (slice(None), [1, 0, 1]) * 8
    check(array[entries], values[entries])


# -- errors -----------------------------------------------------------------------------------------------------

BAD_KEYS = [
    ((0, 0, 0), IndexError, "getitem: too many indices: the key indexes 3 dimensions, the array has 2."),
    ((Ellipsis, Ellipsis), IndexError, "getitem: a key may contain only one ellipsis (`...`), this one has more."),
    (3, IndexError, "getitem: index 3 is out of bounds for axis 0 of length 3; expected -3 to 2."),
    ((0, -5), IndexError, "getitem: index -5 is out of bounds for axis 1 of length 4; expected -4 to 3."),
    (1.0, IndexError, "getitem: an index must be an integer, a slice, `...`, None, or an array (or list) of integers or bools, "
                     "got float (1.0). Divide with //, or convert it with int."),
    ("a", IndexError, "got str ('a')."),
    ([1.5], IndexError, "getitem: an index array must hold integers or bools, got float32. Convert it with astype."),
    ([True, False], IndexError, "getitem: a mask of shape (2,) does not fit the dimensions it indexes, which have shape (3,) "
                                "(from axis 0 of an array of shape (3, 4))."),
    (([0, 1], [0, 1, 2]), IndexError, "getitem: the index arrays have shapes (2,) and (3,), which do not broadcast together."),
]  # fmt: skip


@pytest.mark.parametrize(("entries", "error", "text"), BAD_KEYS, ids=[repr(row[0]) for row in BAD_KEYS])
def test_bad_keys(entries, error, text):
    array = vx.asarray(numbered((3, 4)))
    with pytest.raises(error) as caught:
        array[entries]
    assert text in str(caught.value)
    with pytest.raises(error, match=r"setitem: |setitem.*got"):
        array[entries] = 0


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (np.nan, ValueError, "setitem: NaN is no int32."),
        (1j, TypeError, "setitem: a Python complex does not fit"),
        (2**31, OverflowError, "setitem: the Python integer 2147483648 is out of bounds for int32"),
        ([1, 2], ValueError, "setitem: a value of shape (2,) does not broadcast into the selection of shape"),
        (np.zeros(2, np.float32), ValueError, "setitem: a value of shape (2,) does not broadcast into the selection of shape"),
        ([[1], [2, 3]], ValueError, "unequal lengths"),
        (None, TypeError, "got NoneType."),
        (vx.asarray([1j]), TypeError, "setitem: complex64 does not fit into an array of int32 without losing its imaginary part."),
        (vx.asarray([1, 2, 3]), ValueError, "setitem: a value of shape (3,) does not broadcast into the selection of shape"),
    ],
    ids=["nan", "complex", "large", "list", "numpy", "ragged", "None", "complex array", "shape"],
)  # fmt: skip
def test_bad_values(value, error, text):
    array = vx.asarray(numbered((3, 4)))
    for entries in (slice(0, 2), vx.asarray([0, 1])):
        with pytest.raises(error) as caught:
            array[entries] = value
        assert text in str(caught.value)
    check(array, numbered((3, 4)))


def test_values_are_cast_to_the_target():
    array = vx.asarray(numbered((4,), "float32"))
    array[0] = True
    array[1] = 7
    array[2] = np.float64(2.5)
    array[vx.asarray([3])] = vx.asarray([9], dtype=vx.int16)
    check(array, np.asarray([1, 7, 2.5, 9], np.float32))


def test_broadcast_view_is_not_written_to():
    view = vx.broadcast_to(vx.asarray([1, 2]), (3, 2))
    with pytest.raises(ValueError, match="elements of the target share memory"):
        view[0] = 1


@pytest.mark.usefixtures("told_later")
@pytest.mark.parametrize(
    ("run", "text"),
    [
        (lambda x, i: x[i], "getitem: index 4 is out of bounds for axis 0 of length 3; expected -3 to 2."),
        (lambda x, i: x[:, -i - 1], "getitem: index -5 is out of bounds for axis 1 of length 4; expected -4 to 3."),
        (lambda x, i: x[0:0][i], "getitem: index 2 is out of bounds for axis 0 of length 0; the axis is empty."),
        (lambda x, i: vx.take(x, i, axis=0), "take: index 4 is out of bounds for axis 0 of length 3"),
        (lambda x, i: vx.take_along_axis(x, i[:, None], axis=1), "take_along_axis: index 4 is out of bounds for axis 1"),
        (lambda x, i: x.__setitem__(i, 0) or x, "setitem: index 4 is out of bounds for axis 0 of length 3"),
    ],
    ids=["getitem", "negative", "empty", "take", "take_along_axis", "setitem"],
)  # fmt: skip
def test_index_array_out_of_range_raises_at_the_next_read(run, text):
    array = vx.asarray(numbered((3, 4)))
    result = run(array, vx.asarray([2, 4, 1]))
    with pytest.raises(IndexError) as caught:
        np.asarray(result)
    assert text in str(caught.value)
    np.asarray(result)  # the error was raised once; what could be read or written, was


@pytest.mark.usefixtures("told_later")
def test_writing_out_of_range_leaves_everything_else_alone():
    whole = vx.asarray(numbered((10,)))
    part = whole[3:6]
    part[vx.asarray([0, 3, -4, 2, 1_000_000_000])] = vx.asarray([-1, -2, -3, -4, -5])
    expected = numbered((10,))
    expected[[3, 5]] = [-1, -4]
    with pytest.raises(IndexError, match="setitem: index"):
        np.asarray(whole)
    check(whole, expected)


@pytest.mark.parametrize("form", ["list", "NumPy's array", "array"])
def test_index_out_of_range_is_told_at_the_call(form, device):
    array = vx.asarray(numbered((3, 4)))
    index = {"list": [0, 3], "NumPy's array": np.array([0, 3]), "array": vx.asarray([0, 3])}[form]
    if form == "array" and device.limits.host_memory != "cached":
        pytest.skip(f"the host does not see the memory of {device.name} cached: it is told at the next read")
    for _ in range(4):  # as it is, watched and by a plan
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 of length 3"):
            array[index]
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 of length 3"):
            array[index] = 1


# Calls whose wrong values stand in the program.
GIVEN = {
    "take": lambda x: vx.take(x, [3], axis=0),
    "take of NumPy's": lambda x: x.take([99]),
    "put": lambda x: vx.put(x, [99], 1),
    "choose": lambda x: vx.choose([5, 0, 1, 0], [x[0], x[1]]),
    "compress": lambda x: vx.compress([True] * 9, x, axis=0),
    "searchsorted": lambda x: vx.searchsorted(x[0], 1, sorter=[9, 1, 2, 3]),
    "unravel_index": lambda x: vx.unravel_index(9, (2, 3)),
    "unravel_index of a list": lambda x: vx.unravel_index([1, 9], (2, 3)),
    "ravel_multi_index": lambda x: vx.ravel_multi_index(([1], [9]), (2, 3)),
    "add.at": lambda x: vx.add.at(x, [99], 1),
    "integer power": lambda x: vx.pow([2, 3], [1, -1]),
    "insert": lambda x: vx.insert(x, [99], 1),
}


@pytest.mark.parametrize("name", GIVEN)
def test_wrong_values_that_the_host_gives_are_told_at_the_call(name, monkeypatch):
    """Also where the host does not see the device's memory."""
    monkeypatch.setattr(faults, "tells_at_once", lambda device: False)
    x = vx.asarray(numbered((3, 4)))
    vx.take(x, vx.asarray([99]))  # of these the device alone knows
    with pytest.raises(IndexError):
        float(x[0, 0])
    for _ in range(4):
        with pytest.raises((IndexError, ValueError)):
            GIVEN[name](x)
        np.asarray(x)  # nothing is left to tell


def test_an_error_that_comes_later_names_the_line(told_later):
    array = vx.asarray(numbered((3, 4)))
    for _ in range(4):
        chosen = array[vx.asarray([0, 3])]
        with pytest.raises(IndexError, match=rf"It was asked for at .*{Path(__file__).name}:\d+\."):
            np.asarray(chosen)


def test_arguments_of_take():
    array = vx.asarray(numbered((3, 4)))
    index = vx.asarray([0])
    for call, error, text in (
        (lambda: vx.take(array, index, axis=0, mode="round"), ValueError, "take: expected mode"),
        (lambda: vx.take(array, index, axis=2), IndexError, "axis 2 is out of range"),
        (lambda: vx.take(array, vx.asarray([0.0]), axis=0), TypeError, "take: expected integer"),
        (lambda: vx.take(array, "x", axis=0), ValueError, "invalid literal for int()"),
        (lambda: vx.take_along_axis(array, index), ValueError, "take_along_axis: expected indices of the rank of x"),
        (lambda: vx.take_along_axis(array, vx.asarray(numbered((2, 1)))), ValueError, "take_along_axis: shapes"),
        (lambda: vx.nonzero(vx.asarray(1)), ValueError, "nonzero: expected at least 1 dimension"),
    ):
        with pytest.raises(error) as caught:
            call()
        assert text in str(caught.value)


def test_keys_are_integers_in_and_integers_out():
    entries = key.expand([key.Advanced("i", 1), Ellipsis, None, 1], 4, "getitem")
    selection = key.select(entries, (2, 3, 4, 5), (60, 20, 5, 1), "getitem")
    assert selection.shape == (3, 4, 1)
    assert selection.strides == (20, 5, 0)
    assert selection.offset == 1
    assert selection.indexed == (key.IndexedAxis("i", 0, 2, 60),)
    assert selection.place == 0


def test_the_set_of_variants_is_closed(device):
    variants = set(indexing.variants(device))
    assert len(variants) <= 100  # a third of them gathers that compute what they read
    for variant in variants:
        assert spirv(variant)


def test_in_place_operators_through_keys():
    values = numbered((4, 3), "float32")
    array = vx.asarray(values)
    array[vx.asarray([0, 2])] += 1
    values[[0, 2]] += 1
    array[array > 5] *= 2
    values[values > 5] *= 2
    check(array, values)
    assert indexing.getitem(array, 0).shape == (3,)
