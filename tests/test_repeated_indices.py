"""Indices that name an element several times: assignments leave the last value, and `ufunc.at` counts each of them, as in NumPy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.core import layout
from vkarray.core.dtypes import DTYPES
from vkarray.kernels import launch

NAMES = [dtype.name for dtype in supported(DTYPES.values()) if dtype is not vx.bfloat16]
# Elements along the axis, and choices of indices: few are compared with each other, many compete for places.
SIZES = [(5, 3), (50, 40), (50, 64), (50, 65), (7, 1000), (1, 300), (3, 20000), (1 << 17, 1 << 14)]


def integers(rng, low, high, shape):
    return rng.integers(low, high, shape).astype(vx.asarray(0).dtype.name)


def keys(rng, length, count):
    """Shapes of arrays, and keys that name elements of them several times."""
    i, j = integers(rng, -length, length, count), integers(rng, 0, 3, count)
    yield "elements", (length,), lambda a: a(i)
    yield "rows", (length, 3), lambda a: a(i)
    yield "columns", (3, length), lambda a: (slice(None), a(i))
    yield "some columns", (4, length, 2), lambda a: (slice(None, None, -2), a(i), slice(1))
    yield "pairs", (3, length), lambda a: (a(j), a(i))
    yield "pairs apart", (3, 2, length), lambda a: (a(j), slice(None), a(i))
    yield "a table", (3, length), lambda a: (a(np.array([[0], [2], [0]], i.dtype)), a(i))
    yield "a block", (length, 2), lambda a: a(i[: count // 2 * 2].reshape(2, -1))


@pytest.mark.needs("shaderInt64")  # arrays beyond the reach of offsets of 32 bits, as the test makes these seem
def test_parts_that_offsets_reach_leave_the_last_value_too(monkeypatch):
    """Dispatches are cut along the axis that reaches farthest: each looks as far on as its own part is long."""
    rng, sent, dispatch = np.random.default_rng(1), [], launch.dispatch

    def noted(*arguments, **options):
        sent.append(arguments[3])
        return dispatch(*arguments, **options)

    monkeypatch.setattr(layout, "OFFSET_LIMIT", 1000)
    monkeypatch.setattr(launch, "dispatch", noted)
    for rows, columns, count, step in [(3, 200, 8, 1), (2, 300, 5, 100), (4, 90, 12, 70)]:
        i = integers(rng, 0, rows, count)
        values = rng.integers(1, 1 << 30, (count, columns)).astype("int32")
        expected, x = np.zeros((rows, columns), "int32"), vx.zeros((rows, columns * step), dtype=vx.int32)[:, ::step]
        expected[i] = values
        x[vx.asarray(i)] = vx.asarray(values)
        np.testing.assert_array_equal(np.asarray(x), expected)
    parts = [fields for fields in sent if fields.get("later")]
    assert len(parts) > 3
    assert all(fields["later"] == math.prod(fields["table"][1 : fields["rank"]]) for fields in parts)


def assigned(shape, key, values, convert, make):
    x = make(np.zeros(shape, values.dtype))
    x[key(convert)] = convert(values)
    return np.asarray(x)


@pytest.mark.parametrize(("length", "count"), SIZES)
def test_assignment_leaves_the_last_value(length, count):
    rng = np.random.default_rng(length + count)
    for name, shape, key in keys(rng, length, count):
        selected = np.zeros(shape, np.int8)[key(np.asarray)].shape
        for some in (selected, (*(1,) * (len(selected) - 1), *selected[-1:])):
            values = rng.integers(1, 1 << 30, some).astype("int32")
            expected = assigned(shape, key, values, np.asarray, np.asarray)
            for convert in (vx.asarray, np.asarray):
                found = assigned(shape, key, values, convert, vx.asarray)
                np.testing.assert_array_equal(found, expected, err_msg=f"{name}: {shape}, values of {some}")


@pytest.mark.parametrize("dtype", NAMES)
def test_assignment_of_all_types(dtype):
    rng = np.random.default_rng(1)
    for count in (40, 400):
        for length, others in ((6, ()), (6, (4,))):
            i = integers(rng, 0, length, count)
            values = rng.integers(0, 100, (count, *others)).astype(dtype)
            expected = assigned((length, *others), lambda a, i=i: a(i), values, np.asarray, np.asarray)
            found = assigned((length, *others), lambda a, i=i: a(i), values, vx.asarray, vx.asarray)
            np.testing.assert_array_equal(found, expected, err_msg=f"{count} of {length} x {others}")


@pytest.mark.parametrize(("length", "count"), SIZES)
@pytest.mark.parametrize("axis", [0, 1])
def test_put_leaves_the_last_value(length, count, axis):
    rng = np.random.default_rng(length + count)
    i, values = integers(rng, 0, length, (count, 3)), rng.integers(0, 1 << 30, (count, 3)).astype("int32")
    i, values = (i.T, values.T) if axis else (i, values)
    shape = (3, length) if axis else (length, 3)
    found, expected = vx.zeros(shape, dtype=vx.int32), np.zeros(shape, np.int32)
    for module, x in ((np, expected), (vx, found)):
        convert = module.asarray
        module.put_along_axis(x, convert(i), convert(values), axis)
        module.put(x.T, convert(i[0]), convert(values[0]))
    np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("count", [40, 4000])
def test_compiled_functions_leave_the_last_value(count):
    rng = np.random.default_rng(2)
    i, values = integers(rng, 0, 9, count), rng.integers(0, 1000, count).astype("float32")

    @vx.compile
    def function(x, i, values):
        x = x + 1
        x[i] = values * 2
        return x

    x = np.zeros(9, "float32") + 1
    x[i] = values * 2
    for _ in range(3):
        found = function(vx.zeros(9, dtype=vx.float32), vx.asarray(i), vx.asarray(values))
        np.testing.assert_array_equal(np.asarray(found), x)


def test_indices_out_of_range_are_told():
    def assign(count):
        x = vx.zeros(5)
        x[vx.asarray([0] * count + [7])] = vx.arange(count + 1)
        int(x[0])  # where values are not known at once

    for count in (10, 1000):
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 of length 5"):
            assign(count)


FUNCTIONS = (
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "fmax",
    "bitwise_xor",
    "logical_or",
    "negative",
    "square",
)
SECONDS = (2, 1.5, True, "int32", "uint8", "float32", "bool")


@pytest.mark.parametrize(
    "dtype", sorted({"bool", "int8", "uint32", "int64", "float16", "float32", "complex64"} & set(NAMES))
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_at_counts_each_value(name, dtype):
    rng = np.random.default_rng(3)
    cases = ((rng.integers(0, 4, 9),), (rng.integers(0, 4, 9), rng.integers(0, 3, 9)), (slice(1, 3), [0, 0, 2]))
    cases = (*cases, (np.array([True, False, True, True]),))
    one = getattr(np, name).nin == 1
    tolerance = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 1e-12)
    for key, second in itertools.product(cases, (None,) if one else SECONDS):
        start = rng.integers(1, 4, (4, 3)).astype(dtype)
        if name == "subtract" and start.dtype.kind == "u" and second in (1.5, "float32"):
            continue  # C leaves open which unsigned integer a negative floating-point number becomes
        if isinstance(second, str):
            second = rng.integers(1, 3, start[key].shape).astype(second)
        common = start.dtype if one else np.result_type(start, second)
        if common.name in DTYPES and not supported([DTYPES[common.name]]):
            continue
        results = []
        for module in (np, vx):
            x = module.asarray(start.copy())
            convert = module.asarray if isinstance(second, np.ndarray) else (lambda value: value)
            try:
                with np.errstate(all="ignore"):
                    getattr(module, name).at(x, key, *(() if one else (convert(second),)))
            except TypeError:
                results.append(TypeError)
            else:
                results.append(np.asarray(x))
        expected, found = results
        assert (expected is TypeError) == (found is TypeError), (key, second)
        if found is not TypeError:
            np.testing.assert_allclose(found, expected, tolerance, err_msg=f"{key} {second!r}")


def test_at_takes_many_values_for_one_element():
    rng = np.random.default_rng(4)
    i, values = integers(rng, 0, 5, 100_000), rng.integers(-1000, 1000, 100_000).astype("int32")
    for name in ("add", "subtract", "multiply", "maximum", "minimum"):
        expected, found = np.ones(5, "int32"), vx.ones(5, dtype=vx.int32)
        getattr(np, name).at(expected, i, values)
        getattr(vx, name).at(found, vx.asarray(i), vx.asarray(values))
        np.testing.assert_array_equal(np.asarray(found), expected, err_msg=name)
