"""Kernels that read their elements as texels, as they do on CPU drivers, give the bits of those that do not."""

from __future__ import annotations

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.command.catalogue import elementwise_operations
from vkarray.core.dtypes import DTYPES
from vkarray.kernels import defines, launch, planned, reduction_run, reductions, texels
from vkarray.kernels.product import blocks, packs
from vkarray.kernels.product.tiles import CPU_TILES
from vkarray.ops.searching import where_operation

DTYPES_OF_A_WORD = [dtype for dtype in supported(DTYPES.values()) if dtype.itemsize <= 4]
DTYPES_OF_TEXELS = [dtype for dtype in supported(DTYPES.values()) if dtype.itemsize <= 8]
CASES = [
    (name, dtype)
    for name in ("sum", "var", "argmax", "count_nonzero")
    for dtype in DTYPES_OF_TEXELS
    if reductions.REDUCTIONS[name].accepts(dtype) and (name != "var" or dtype.category == "real floating")
]


def values_of(dtype, shape) -> vx.VkArray:
    values = np.random.default_rng(1).standard_normal(shape) * 30
    return vx.astype(vx.asarray(values.astype(np.float32)), dtype) if dtype is not vx.bool else vx.asarray(values > 0)


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_texels_do_not_change_a_bit(name, dtype, monkeypatch):
    """Whole arrays, rows, columns, and parts of these that begin where a texel does or not; of whole blocks and others."""
    array, strips = values_of(dtype, (17, 2056)), values_of(dtype, (3, 1 << 15))
    views = [
        (array, None), (array, 1), (array[3:, 512:], 1), (array[:, 1024:1536], None), (array[1:, 8:], 1), (array[0], 0),
        (strips, None), (strips, 1), (strips[:, 16384:], 1), (strips[:, 16:], 1), (array[1:, 5:138], 1),
        (array, 0), (array[:, ::5], None),
    ]  # fmt: skip
    monkeypatch.setattr(reduction_run, "uses_shared_memory", lambda device: False)
    used, results, dispatch = [], [], launch.dispatch

    def watched(variant, *args, **named):
        used.append("TEXELS" in dict(variant.defines))
        dispatch(variant, *args, **named)

    monkeypatch.setattr(launch, "dispatch", watched)
    for few in (0, 1 << 60):
        monkeypatch.setattr(texels, "_FEW_BYTES", few)
        planned.forget()  # how calls were done before
        results.append([np.asarray(getattr(vx, name)(view, axis=axis)).tobytes() for view, axis in views])
        assert any(used) == (few == 0 and reductions.Reduction.has_texels(array.device, dtype))
        used.clear()
    assert results[0] == results[1]


COLUMNS = {
    "whole": lambda x: x,
    "every second row": lambda x: x[::2],
    "columns from a texel on": lambda x: x[:, 4:204],
    "columns from its midst on": lambda x: x[:, 1:201],
    "columns of no whole texel": lambda x: x[:, :203],
    "rows backward": lambda x: x[::-1],
    "a stack": lambda x: x.reshape((4, 150, 208)),
}


@pytest.mark.parametrize("layout", COLUMNS)
@pytest.mark.parametrize("dtype", [vx.float32, vx.float64], ids=str)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_columns_that_are_added_up_at_once_have_the_same_bits(name, dtype, layout, monkeypatch):
    if not supported([dtype]):
        pytest.skip(f"the device has no {dtype}")
    x = COLUMNS[layout](values_of(dtype, (600, 208)))
    function = getattr(vx, name)
    calls = [lambda: function(x, axis=-2), lambda: vx.compile(function)(x * 2, axis=-2), lambda: function(x, axis=0)]
    planned.forget()  # how calls were done before
    got = [np.asarray(call()).tobytes() for call in calls]
    monkeypatch.setattr(reduction_run.Run, "_lies_across", lambda *_: False)
    planned.forget()
    assert got == [np.asarray(call()).tobytes() for call in calls]


@pytest.fixture
def run(monkeypatch, device):
    """A function that runs flat kernels as on a CPU driver, short arrays too; it returns the result's bytes and who read texels."""
    monkeypatch.setattr(launch, "_FEW", 1024)
    monkeypatch.setitem(launch.FLAT, "cpu", launch.FlatSizes(128, 1, 2, 2))
    monkeypatch.setattr(type(device.limits), "kind", "cpu")
    dispatch, names = device.dispatch, []
    monkeypatch.setattr(device, "dispatch", lambda kernel, *rest: (names.append(kernel.name), dispatch(kernel, *rest)))

    def call(operation, inputs, as_texels, result=None):
        monkeypatch.setattr(texels, "_FEW_BYTES", 0 if as_texels else 1 << 60)
        monkeypatch.setattr(operation, "kernels", {})
        shape = np.broadcast_shapes(*(x.shape for x in inputs))
        result = vx.empty(shape, dtype=operation.result) if result is None else result
        names.clear()
        launch.elementwise(operation, inputs, result)
        return np.asarray(result).tobytes(), [name for name in names if "(texels)" in name]

    return call


def operations_on_words(device) -> dict[str, launch.Operation]:
    """Those whose inputs are read as texels, by label."""
    operations = [*elementwise_operations(), *map(where_operation, (vx.float32, vx.int32))]
    return {
        operation.label: operation
        for operation in operations
        if all(dtype in supported([dtype]) for dtype in (*operation.inputs, operation.result, operation.compute))
        and operation.as_texels(device)
    }


def bits_of(operation, count) -> list[vx.VkArray]:
    """Inputs of random bits: NaN, infinities and subnormal numbers are among them."""
    words = np.random.default_rng(2).integers(0, 1 << 32, (len(operation.inputs), count), np.uint32)
    return [
        vx.asarray(row > 1 << 31 if dtype is vx.bool else row.view(dtype.name))
        for row, dtype in zip(words, operation.inputs, strict=True)
    ]


def test_operations_on_texels(device, run):
    """Short expressions on float32, and some others: what differs between operations of the same inputs is the expression."""
    operations = operations_on_words(device)
    assert bool(operations) == all(feature in device.features for feature in defines.TEXEL_FEATURES)
    others = "add int32", "less uint32", "less float32", "divide float32", "where float32", "where int32", "exp float32"
    for label, operation in operations.items():
        if (operation.library is None and operation.compute is vx.float32) or label in others:
            inputs = bits_of(operation, 2565)
            expected, plain = run(operation, inputs, False)
            result, used = run(operation, inputs, True)
            assert (result, plain, used) == (expected, [], [f"{label} (texels)"]), label


@pytest.mark.parametrize("label", ["add float32", "where float32", "astype float32 to int16"])
def test_layouts_on_texels(label, device, run):
    operation = operations_on_words(device).get(label)
    if operation is None:
        return
    inputs = bits_of(operation, 4096)
    for offset, count, wanted in (
        (0, 4096, True),
        (64, 2048, True),
        (4, 1500, None),
        (3, 2048, False),
        (0, 1000, False),
    ):
        views = [x[offset : offset + count] for x in inputs]
        expected, _ = run(operation, views, False)
        result, used = run(operation, views, True)
        assert result == expected
        assert wanted in (bool(used), None)  # some devices want texels to begin at multiples of more than 16 bytes
        if operation.inputs[-1] is operation.result:  # in place
            target = vx.asarray(views[-1], copy=True)
            assert run(operation, [*views[:-1], target], True, target)[0] == expected
    for places in range(1, 1 << len(inputs)):  # inputs of one element
        views = [x[9] if places >> k & 1 else x for k, x in enumerate(inputs)]
        expected, _ = run(operation, views, False)
        result, used = run(operation, views, True)
        assert result == expected
        assert bool(used) == any(views[k].ndim for k in operation.as_texels(device))


@pytest.fixture
def only(monkeypatch, device):
    """A function that makes products take one row of the tables, on a device that works like a CPU."""
    monkeypatch.setattr(type(device.limits), "kind", "cpu")

    def choose(tile):
        monkeypatch.setattr(blocks, "choose_tile", lambda *_, **__: (tile, 1))
        planned.forget()  # how calls were done before

    return choose


@pytest.fixture
def both_ways(monkeypatch, device):
    """A function that returns the bytes of what another makes without texels and with them, and whether any were read."""
    dispatch, names = device.dispatch, []
    monkeypatch.setattr(device, "dispatch", lambda kernel, *rest: (names.append(kernel.name), dispatch(kernel, *rest)))

    def call(make):
        results = []
        for few in (1 << 60, 0):
            monkeypatch.setattr(packs, "_FEW_PRODUCTS", few)
            planned.forget()  # how calls were done before
            names.clear()
            results.append(np.asarray(make()).tobytes())
        return (*results, any("(texels)" in name for name in names))

    return call


# The shapes of two matrices, with stacks, and in which layouts they are read as texels: 1 for a matrix that is turned.
EVERY = {(0, 0), (0, 1), (1, 0), (1, 1)}
PRODUCTS = [
    ((36, 20), (20, 52), EVERY),
    ((35, 8), (8, 41), {(0, 1)}),
    ((3, 40, 24), (3, 24, 16), EVERY),
    ((20, 7), (7, 20), set()),
]
# The largest tile takes SwiftShader ten seconds to compile: one type and layout of it.
TYPES = supported([vx.float32, vx.int32, vx.uint32, vx.float64, vx.int64, vx.uint64, vx.complex64])
TILES = [(CPU_TILES[0], vx.float32), *((tile, dtype) for tile in CPU_TILES[1:] for dtype in TYPES)]


@pytest.mark.parametrize(("tile", "dtype"), TILES, ids=lambda one: getattr(one, "label", str(one)))
def test_products_of_texels(tile, dtype, only, device, both_ways):
    """Both operands along k or not; last tiles that are not full, stacks, one matrix for a stack, and lengths that do not do."""
    only(tile)
    aligned = device.limits.min_texel_buffer_offset_alignment <= 16
    for a_shape, b_shape, wanted in PRODUCTS:
        for turned in EVERY if tile.shape[0] <= 8 else [(0, 0)]:
            a, b = (
                vx.asarray(x.mT, copy=True).mT if turn else x
                for x, turn in zip((values_of(dtype, a_shape), values_of(dtype, b_shape)), turned, strict=True)
            )
            plain, result, used = both_ways(lambda a=a, b=b: a @ b)
            assert result == plain
            assert used == (turned in wanted)
    first, second = values_of(dtype, (4, 32, 48)), values_of(dtype, (48, 64))
    for a, b in ((first[:, 8:, 16:], second[16:, 32:]), (first[1:, :, 4:44], second[8:, :48])):
        plain, result, used = both_ways(lambda a=a, b=b: a @ b)
        assert result == plain
        assert used or not aligned


@pytest.mark.parametrize("upper", [False, True])
def test_products_of_texels_are_subtracted(upper, only, device, both_ways):
    only(CPU_TILES[1])
    matrix = values_of(vx.float32, (80, 80))

    def subtracted():
        target = vx.asarray(matrix, copy=True)
        blocks.subtract_product(target[32:, :32], target[:32, 32:], target[32:, 32:], upper)
        return vx.triu(target[32:, 32:]) if upper else target

    plain, result, used = both_ways(subtracted)
    assert result == plain
    assert used or device.limits.min_texel_buffer_offset_alignment > 16


# The shapes of stacks of a and b, and of the matrices (m, k, n).
ODD = {
    "matrices": ((), (), (33, 37, 41)),
    "rows that do not begin at packs": ((), (), (20, 64, 49)),
    "sums that do not end with packs": ((), (), (32, 35, 64)),
    "stacks": ((3,), (3,), (17, 36, 19)),
    "stacks of two axes": ((2, 3), (2, 3), (17, 19, 16)),
    "one matrix for a stack": ((3, 1), (3, 4), (16, 18, 21)),
}


@pytest.mark.parametrize("turned", [False, True], ids=["by rows", "by columns"])
@pytest.mark.parametrize("case", ODD)
def test_odd_matrices_are_copied_for_texels(case, turned, only, monkeypatch, both_ways):
    """With the same bits as without copies, and only where sums and results are long enough."""
    only(CPU_TILES[1])
    stack, other, (m, k, n) = ODD[case]
    first = values_of(vx.float32, (*stack, m, k + 1))[..., 1:]
    second = values_of(vx.float32, (*other, n, k)).mT if turned else values_of(vx.float32, (*other, k, n))
    monkeypatch.setitem(packs._LEAST, "cpu", (m + 1, n, k))
    plain, result, used = both_ways(lambda: first @ second)
    assert not used
    monkeypatch.setitem(packs._LEAST, "cpu", (m, n, k))
    copied, result, used = both_ways(lambda: first @ second)
    assert used
    assert copied == result == plain


@pytest.mark.parametrize("dtype", [one for one in DTYPES_OF_A_WORD if one.itemsize == 4], ids=str)
def test_fused_kernels_read_words_of_texels(dtype, device, monkeypatch):
    """Views that begin anywhere in a texel, share a buffer or have one of their own, more of them than there are bindings."""
    found, original = [], texels.binding_of_views

    def binding(views, number, reads):
        found.append(len(views))
        return original(views, number, reads)

    monkeypatch.setattr(texels, "binding_of_views", binding)
    arrays = [values_of(dtype, (19, 173 + k)) for k in range(10)]
    results = []
    for few in (0, 1 << 60):
        monkeypatch.setattr(texels, "_FEW_BYTES", few)
        for first in range(5):
            function = vx.compile(
                lambda *given, first=first: [
                    given[0][2:, first : first + 160] + given[0][:-2, :160] - one[1:-1, 1:161] for one in given
                ]
            )
            results.append([np.asarray(one).tobytes() for one in function(*arrays)])
            assert results[-1] == [np.asarray(one).tobytes() for one in function(*arrays)]
    assert results[:5] == results[5:]
    if device.limits.is_cpu and launch.has_texels(device):
        assert max(found) > 1
