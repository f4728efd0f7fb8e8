"""Products of matrices and vectors on every numeric type and layout, in every kernel, against wider arithmetic."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from reference import WIDER, host_dtype, random_values, roll, supported

import vkarray as vx
from vkarray.command import catalogue
from vkarray.core import layout
from vkarray.core.dtypes import CATEGORIES
from vkarray.kernels import launch, planned
from vkarray.kernels.product import blocks, dot_packs, packs, parts, strategies, sums
from vkarray.kernels.product.tiles import CPU_TILES, GPU_TILES, Tile

NUMERIC = supported(CATEGORIES["numeric"])
FLOATING = [dtype for dtype in NUMERIC if dtype in CATEGORIES["floating-point"]]
ONE_PER_TYPE = supported(
    [vx.int8, vx.uint32, vx.int64, vx.float16, vx.float32, vx.float64, vx.complex64, vx.complex128]
)

# Shapes of x1 and x2: vectors, stacks, broadcasting, lengths around the sizes of blocks and tiles, and none at all.
SHAPES = [
    ((4,), (4,)), ((4,), (4, 7)), ((6, 4), (4,)), ((3, 4), (4, 5)), ((1, 4), (4, 1)), ((2, 1), (1, 3)),
    ((2, 3, 4), (4, 5)), ((4, 5), (2, 5, 3)), ((2, 1, 3, 4), (5, 4, 3)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)),
    ((17, 33), (33, 9)), ((65, 70), (70, 67)), ((130, 20), (20, 33)), ((9, 300), (300, 40)), ((40, 300), (300, 9)),
    ((3, 5000), (5000, 2)), ((5000,), (5000,)),
    ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((3, 2), (2, 0)), ((0,), (0,)), ((0, 2, 3), (3, 2)),
]  # fmt: skip


def values_of(dtype, shape, seed: int = 0) -> np.ndarray:
    """Ordinary numbers; integers from the whole range."""
    generator = np.random.default_rng(seed)
    if dtype in CATEGORIES["integer"]:
        return random_values(dtype, int(np.prod(shape)), seed).reshape(shape)
    values = generator.standard_normal(shape)
    if dtype.category == "complex floating":
        values = values + 1j * generator.standard_normal(shape)
    values = values.astype(host_dtype(dtype))
    return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32) if dtype is vx.bfloat16 else values


def check(got: vx.VkArray, function, first: np.ndarray, second: np.ndarray, dtype, length: int) -> None:
    """Integers are equal modulo 2^n; others are within the bound of a sum of `length` products in any order."""
    assert got.dtype is dtype
    host = np.asarray(got)
    if dtype in CATEGORIES["integer"]:
        expected = function(first, second)
        assert host.shape == expected.shape
        np.testing.assert_array_equal(host, expected)
        return
    wide = WIDER[dtype.name]
    expected = function(first.astype(wide), second.astype(wide))
    size = function(np.abs(first.astype(wide)), np.abs(second.astype(wide)))
    unit = vx.finfo(vx.float32 if dtype.bits < 32 else dtype).eps / 2
    bound = (length + 3) * (3 if dtype.category == "complex floating" else 1) * unit * size
    if dtype.bits < 32:
        bound = bound + vx.finfo(dtype).eps / 2 * np.abs(expected) + vx.finfo(dtype).smallest_normal
    assert host.shape == expected.shape
    assert np.all(np.abs(host - expected) <= bound)


def multiply(dtype, first: np.ndarray, second: np.ndarray, view_first=lambda x: x, view_second=lambda x: x) -> None:
    """Check matmul of views, taken in the same way of host and device arrays."""
    got = vx.matmul(view_first(vx.asarray(first, dtype=dtype)), view_second(vx.asarray(second, dtype=dtype)))
    host_first, host_second = view_first(first), view_second(second)
    check(got, np.matmul, host_first, host_second, dtype, host_first.shape[-1])


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_shapes(dtype) -> None:
    for first, second in SHAPES:
        multiply(dtype, values_of(dtype, first, 1), values_of(dtype, second, 2))


def layouts():
    """Pairs of views of a (40, 52) and a (52, 40) array."""
    return [
        (lambda x: x, lambda x: x), (lambda x: x.T[:, :36], lambda x: x.T[:36]), (lambda x: x[::-1, ::2], lambda x: x[::2, ::-1]),
        (lambda x: x[1:, 1:], lambda x: x[1:, 3:]), (lambda x: x[:, :5], lambda x: x[:5]), (lambda x: x[:1], lambda x: x),
        (lambda x: x, lambda x: x[:, 1]), (lambda x: x[3], lambda x: x[:, ::3]),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_layouts(dtype) -> None:
    first, second = values_of(dtype, (40, 52), 3), values_of(dtype, (52, 40), 4)
    for view_first, view_second in layouts():
        multiply(dtype, first, second, view_first, view_second)


def test_broadcast_views_are_multiplied_without_copies() -> None:
    first, second = values_of(vx.float32, (3, 1, 5, 4)), values_of(vx.float32, (2, 4, 6))
    stack = vx.broadcast_to(vx.asarray(first), (3, 2, 5, 4))
    check(vx.matmul(stack, vx.asarray(second)), np.matmul, first, second, vx.float32, 4)


# -- every kernel, whatever the device -----------------------------------------------------------------------------


@pytest.fixture
def only(monkeypatch, device):
    """A function that makes products take one row of the tables, with sums in so many parts."""

    def choose(tile: Tile, parts: int = 1) -> None:
        roll(monkeypatch, device)
        monkeypatch.setattr(blocks, "choose_tile", lambda *_, **__: (tile, parts))
        monkeypatch.setattr(blocks, "_SHORTEST_PART", 16)
        for kind in ("cpu", "gpu"):
            monkeypatch.setitem(sums._BUSY, kind, 1 << 20 if parts > 1 else 1)
            monkeypatch.setitem(sums._SHORTEST_PART, kind, 16)
        planned.forget()  # how calls were done before

    return choose


# Compiling a large tile takes llvmpipe up to half a minute: one type and few layouts of operands are enough for it there.
SMALL_TILES = [
    tile for tile in (*GPU_TILES, *CPU_TILES) if max(1, tile.depth // 4) * tile.block[0] * tile.block[1] <= 64
]
LARGE_TILES = [tile for tile in (*GPU_TILES, *CPU_TILES) if tile not in SMALL_TILES]


@pytest.mark.parametrize("dtype", ONE_PER_TYPE, ids=str)
@pytest.mark.parametrize("tile", SMALL_TILES, ids=lambda tile: f"{tile.template}-{tile.shape[0]}x{tile.shape[1]}")
def test_every_tile(tile, dtype, only, device) -> None:
    if not blocks.runs(tile, device, dtype):
        assert tile not in (GPU_TILES[-1], CPU_TILES[-1])
        return
    only(tile)
    for first, second in [((3, 4), (4, 5)), ((70, 37), (37, 68)), ((2, 33, 64), (64, 32))]:
        multiply(dtype, values_of(dtype, first, 5), values_of(dtype, second, 6))
    first, second = values_of(dtype, (40, 52), 7), values_of(dtype, (52, 40), 8)
    for view_first, view_second in layouts()[: 5 if dtype is vx.float32 else 2]:
        multiply(dtype, first, second, view_first, view_second)


@pytest.mark.parametrize("tile", LARGE_TILES, ids=lambda tile: f"{tile.template}-{tile.shape[0]}x{tile.shape[1]}")
def test_large_tiles(tile, only, device) -> None:
    dtype = vx.float64 if tile.itemsize == 8 and vx.float64 in NUMERIC else vx.float32
    if blocks.runs(tile, device, dtype):
        only(tile)
        for m, k, n in [(150, 37, 130), (70, 5, 66)]:  # several steps, and the last one alone
            multiply(dtype, values_of(dtype, (m, k), 9), values_of(dtype, (k, n), 10))


@pytest.mark.parametrize(
    "tile", [GPU_TILES[0], next(tile for tile in GPU_TILES if not tile.peeled)], ids=["peeled", "not"]
)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.mT], ids=["rows", "columns"])
def test_large_tiles_of_packs(tile, view, only, device) -> None:
    if blocks.runs(tile, device, vx.float32):
        only(tile)
        shapes = ((136, 40), (40, 132)) if view(np.ones((1, 2))).shape == (1, 2) else ((40, 136), (132, 40))
        first, second = values_of(vx.float32, shapes[0], 9), values_of(vx.float32, shapes[1], 10)
        multiply(vx.float32, first, second, view, view)


@pytest.mark.parametrize("dtype", ONE_PER_TYPE, ids=str)
@pytest.mark.parametrize("tile", [GPU_TILES[-2], GPU_TILES[-1]], ids=lambda tile: tile.template)
def test_parts_of_the_summed_dimension(tile, dtype, only, device) -> None:
    if not blocks.runs(tile, device, dtype):
        pytest.skip(f"{device.name} has too little shared memory for {tile.shape} of {dtype}")
    only(tile, parts=100)
    for first, second in [
        ((20, 100), (100, 24)),
        ((2, 3, 90), (90, 4)),
        ((3, 200), (200,)),
        ((200,), (200,)),
        ((97,), (97, 9)),
    ]:
        multiply(dtype, values_of(dtype, first, 11), values_of(dtype, second, 12))


@pytest.mark.parametrize(
    ("first", "second"), [((155, 100), (100, 30)), ((3, 2, 20, 90), (3, 2, 90, 24)), ((5, 9, 64), (64, 9))]
)
def test_few_tiles_that_are_left_are_cut_into_parts(first, second, only, device, monkeypatch) -> None:
    """Five or six tiles on a device for four: one or two are left, whose sums are cut into four or two parts."""
    only(GPU_TILES[-2]._replace(at_once=4))
    monkeypatch.setattr(parts, "_LEFT_PART", 25)
    seen = []
    whole = blocks._multiply
    monkeypatch.setattr(
        blocks, "_multiply", lambda tile, part, one: (seen.append(one.result.shape), whole(tile, part, one))[1]
    )
    multiply(vx.float32, values_of(vx.float32, first, 11), values_of(vx.float32, second, 12))
    assert [shape[0] for shape in seen] == {(155, 100): [1, 4], (3, 2, 20, 90): [1, 2], (5, 9, 64): [1]}[first]


@pytest.mark.parametrize("dtype", supported([vx.int32, vx.float32, vx.float64]), ids=str)
def test_large_products_move_packs(dtype, only, device, monkeypatch) -> None:
    """Odd lengths and slices are copied into packs, and what lies beside a slice has no part in the product."""
    only(GPU_TILES[-2])
    monkeypatch.setattr(packs, "_LEAST", dict.fromkeys(("cpu", "gpu"), (16, 16, 8)))
    monkeypatch.setattr(packs, "_FEW_PRODUCTS", 0)
    monkeypatch.setattr(packs, "_TURN_FROM", 64)
    for m, k, n in [(65, 37, 67), (64, 40, 66), (33, 41, 36)]:
        wide, high = values_of(dtype, (m, k + 6), 26), values_of(dtype, (k + 5, n), 27)
        if dtype is not vx.int32:
            wide[:, :3] = wide[:, k + 3 :] = high[k:] = np.nan
        for first, second in [(0, 0), (1, 0), (0, 1), (1, 1)]:
            x = vx.asarray(np.ascontiguousarray(wide.T)).mT if first else vx.asarray(wide)
            y = vx.asarray(np.ascontiguousarray(high.T)).mT if second else vx.asarray(high)
            check(x[:, 3 : k + 3] @ y[:k], np.matmul, wide[:, 3 : k + 3], high[:k], dtype, k)
    aligned = vx.zeros((32, 40), dtype=dtype), vx.zeros((40, 48), dtype=dtype)
    assert all(same is x for same, x in zip(packs.in_packs(*aligned, 4), aligned, strict=True))


@pytest.mark.parametrize("few", [0, 1 << 14], ids=["alone", "shared"])
@pytest.mark.parametrize("dtype", supported([vx.int32, vx.uint32, vx.float32]), ids=str)
def test_rows_side_by_side_are_added_in_packs(dtype, few, monkeypatch) -> None:
    taken = []
    sum_parts = dot_packs.sum_parts
    monkeypatch.setattr(dot_packs, "sum_parts", lambda *operands: (taken.append(operands), sum_parts(*operands))[1])
    monkeypatch.setattr(dot_packs, "SHORTEST_PART", 16)
    for kind in ("cpu", "gpu"):
        monkeypatch.setitem(dot_packs.BUSY, kind, 64)
    monkeypatch.setattr(dot_packs, "_FEW", few)
    for shape, runs in [((37, 64), 2), ((700, 12), 2), ((9, 1024), 1), ((1, 4), 1), ((0, 8), 0), ((20, 9), 0)]:
        first, second = values_of(dtype, shape[:1], 28), values_of(dtype, shape, 29)
        taken.clear()
        multiply(dtype, first, second)
        assert len(taken) == runs
        multiply(dtype, second, first, lambda x: x.T, lambda x: x[::-1])
    first, second = values_of(dtype, (40,), 30), values_of(dtype, (40, 20), 31)
    for columns, runs in [(slice(4, 20), 2), (slice(3, 19), 0), (slice(0, 20, 5), 0)]:
        taken.clear()
        multiply(dtype, first, second, view_second=lambda x, columns=columns: x[:, columns])
        assert len(taken) == runs


@pytest.mark.parametrize("dtype", supported([vx.float16, vx.bfloat16]), ids=str)
def test_parts_of_16_bit_sums_are_added_in_packs(dtype, only, device, monkeypatch) -> None:
    only(CPU_TILES[-1], parts=100)
    for kind in ("cpu", "gpu"):
        monkeypatch.setitem(dot_packs.BUSY, kind, 64)
    multiply(dtype, values_of(dtype, (20, 100), 11), values_of(dtype, (100, 24), 12))


@pytest.mark.parametrize("dtype", supported([vx.float32, vx.float16, vx.bfloat16]), ids=str)
def test_any_number_of_parts_is_added_in_order_and_rounded_once(dtype, monkeypatch) -> None:
    for kind in ("cpu", "gpu"):
        monkeypatch.setitem(dot_packs.BUSY, kind, 64)
    monkeypatch.setattr(dot_packs, "_FEW", 0)
    for count in (1, 2, 3, 4, 5, 9, 16, 17, 33):
        host = values_of(vx.float32, (count, 6, 20), 40 + count)
        host[0, 0, :5] = np.inf, -np.inf, np.nan, -0.0, 70000.0
        result = vx.empty((6, 20), dtype=dtype)
        sums.sum_partial(vx.asarray(host), result)
        expected = np.zeros((6, 20), np.float32)
        for part in host:
            expected += part
        rounded = vx.astype(vx.asarray(expected), dtype)
        np.testing.assert_array_equal(*(np.asarray(vx.astype(x, vx.float32)) for x in (result, rounded)))


def test_dispatches_are_cut_where_32_bit_indices_end(monkeypatch) -> None:
    monkeypatch.setattr(layout, "INDEX_LIMIT", 250)
    for dtype in supported([vx.int32, vx.float16, vx.float32]):
        for first, second in [
            ((3, 20, 70), (70, 30)),
            ((5, 9, 8), (5, 8, 11)),
            ((40, 600), (600,)),
            ((3000,), (3000,)),
        ]:
            multiply(dtype, values_of(dtype, first, 13), values_of(dtype, second, 14))
        wide = values_of(dtype, (60, 100), 15)
        multiply(dtype, wide, wide, lambda x: x[:, ::7], lambda x: x[::4, ::3])


def test_parts_leave_indices_for_rows_and_columns(monkeypatch) -> None:
    # The limits of indices, 2**18 times smaller.
    monkeypatch.setattr(layout, "INDEX_LIMIT", 1 << 10)
    monkeypatch.setattr(layout, "OFFSET_LIMIT", (1 << 13) - 16)
    for dtype in supported([vx.uint8, vx.int16, vx.float16, vx.complex64]):
        for first, second in [((4, 3000), (3000, 16)), ((3, 40, 9), (9, 300)), ((3000,), (3000,)), ((40, 300), (300,))]:
            multiply(dtype, values_of(dtype, first, 13), values_of(dtype, second, 14))


@pytest.mark.parametrize("invocations", [128, 192])
@pytest.mark.parametrize("length", [300, 3000])
def test_small_workgroups_of_graphics_processors(device, monkeypatch, request, invocations, length) -> None:
    limits = dataclasses.replace(
        device.limits, is_cpu=False, max_workgroup_invocations=invocations, max_workgroup_size=(invocations,) * 3
    )
    monkeypatch.setattr(device, "limits", limits)
    monkeypatch.setattr(launch, "kernel", launch.kernel.__wrapped__)  # kernels of the true limits are kept
    for choose in (sums.choose_lanes, blocks.choose_tile):  # forget what was chosen for the true limits
        choose.cache_clear()
        request.addfinalizer(choose.cache_clear)
    first, second = values_of(vx.int32, (5, length), 18), values_of(vx.int32, (5, length), 19)
    got = vx.vecdot(vx.asarray(first), vx.asarray(second))
    np.testing.assert_array_equal(np.asarray(got), (first * second).sum(axis=1, dtype=np.int32))
    multiply(vx.int32, first, second[0])


def test_more_than_65535_workgroups() -> None:
    count = 65_536 * 32 + 5
    first, second = values_of(vx.float32, (count, 2), 16), values_of(vx.float32, (2, 2), 17)
    multiply(vx.float32, first, second)
    got = np.asarray(vx.vecdot(vx.asarray(first), vx.asarray(second[0])))
    np.testing.assert_allclose(got, first @ second[0], rtol=1e-4, atol=1e-5)


def test_every_row_of_the_tables_divides_evenly() -> None:
    for tile in GPU_TILES:
        if tile.template == "product/matmul_tiled":
            taken = [dtype for dtype in CATEGORIES["numeric"] if tile.takes(parts.compute_itemsize(dtype))]
            for lanes in {packs.pack_of(dtype)[1] for dtype in taken}:
                assert all(
                    size % block == 0 and block % lanes == 0 for size, block in zip(tile.shape, tile.block, strict=True)
                )
                assert tile.depth % lanes == 0
                assert all(size * tile.depth % (lanes * tile.workgroup_size) == 0 for size in tile.shape)
            # The rectangles of 32 invocations that product/matmul_tiled.comp has.
            rows, columns = (size // block for size, block in zip(tile.shape, tile.block, strict=True))
            assert tile.block[1] % 2 == 0
            assert columns % min(8, columns) == rows % (32 // min(8, columns)) == 0


@pytest.mark.needs(registers="large")
@pytest.mark.parametrize(
    ("shape", "k", "dtype", "expected", "parts"),
    [
        ((8192, 8192), 8192, vx.float32, (64, 128), 1), ((2048, 2048), 2048, vx.float32, (128, 128), 1),
        ((1024, 1024), 1024, vx.float32, (64, 128), 3), ((4096, 4096), 4096, vx.float64, (128, 128), 1),
        ((1024, 1024), 1024, vx.float64, (128, 128), 4), ((2048, 64, 64), 64, vx.float32, (64, 64), 1),
        ((65536, 64), 64, vx.float32, (64, 64), 1), ((4096, 32, 32), 32, vx.float32, (32, 32), 1),
        ((1 << 20, 16), 16, vx.float32, (64, 16), 1), ((5, 5), 5, vx.float32, (4, 4), 1),
        ((1 << 16, 8, 8), 8, vx.float32, (4, 4), 1), ((4096, 4096), 4096, vx.complex128, (32, 32), 1),
        ((197, 768), 3072, vx.float32, (64, 128), 16), ((32, 32), 1 << 20, vx.float32, (32, 32), 768),
    ],
)  # fmt: skip
def test_tiles_that_waste_little_are_chosen(device, monkeypatch, shape, k, dtype, expected, parts) -> None:
    limits = dataclasses.replace(
        device.limits, is_cpu=False, max_shared_memory_size=48 << 10, max_workgroup_invocations=1024
    )
    monkeypatch.setattr(device, "limits", limits)
    blocks.choose_tile.cache_clear()
    tile, found = blocks.choose_tile(device, shape, k, dtype)
    blocks.choose_tile.cache_clear()
    assert (tile.shape, found) == (expected, parts)


def test_the_set_of_variants_is_closed(device, only) -> None:
    listed = set(strategies.variants(device))
    for dtype in NUMERIC:
        source = dtype if dtype.bits >= 32 or dtype.category != "real floating" else vx.float32
        for shape in [(4, 4), (40, 40), (20, 300), (300, 20), (1000, 1000), (8192, 8192)]:
            tile, _ = blocks.choose_tile(device, shape, 1000, source)
            for target in (dtype, sums.partial_dtype(dtype)):
                assert blocks.matmul_variant(tile, source, target, device) in listed
    assert listed <= set(catalogue.standard_variants())


# -- values --------------------------------------------------------------------------------------------------------


def test_repeated_calls_give_the_same_bits() -> None:
    for first, second in [((70, 300), (300, 68)), ((3, 9000), (9000,))]:
        a, b = vx.asarray(values_of(vx.float32, first, 18)), vx.asarray(values_of(vx.float32, second, 19))
        expected = np.asarray(vx.matmul(a, b))
        for _ in range(3):
            np.testing.assert_array_equal(np.asarray(vx.matmul(a, b)), expected)


@pytest.mark.parametrize("dtype", [dtype for dtype in FLOATING if dtype.category == "real floating"], ids=str)
def test_nan_and_infinity_stay_in_their_rows_and_columns(dtype) -> None:
    first, second = np.ones((20, 33), host_dtype(dtype)), np.ones((33, 18), host_dtype(dtype))
    first[3, 32], first[19, 0], second[5, 17] = np.nan, np.inf, -np.inf
    got = np.asarray(vx.matmul(vx.asarray(first, dtype=dtype), vx.asarray(second, dtype=dtype)))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got, first @ second)


def test_sums_of_16_bit_floats_are_rounded_once() -> None:
    ones = np.ones((20, 4000), np.float16)
    np.testing.assert_array_equal(np.asarray(vx.matmul(vx.asarray(ones), vx.asarray(ones).T)), np.full((20, 20), 4000))


def test_types_promote() -> None:
    first = vx.asarray(np.ones((2, 3), np.int8))
    assert vx.matmul(first, vx.asarray(np.ones((3, 2), np.uint8))).dtype is vx.int16
    assert (first @ vx.asarray(np.ones(3, np.float32))).dtype is vx.float32


def test_in_place_product() -> None:
    x = vx.asarray(np.arange(4.0, dtype=np.float32).reshape(2, 2))
    same = x
    x @= vx.asarray(np.array([[0, 1], [1, 0]], np.float32))
    assert x is same
    np.testing.assert_array_equal(np.asarray(x), [[1, 0], [3, 2]])


# -- vecdot, tensordot, matrix_transpose -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_vecdot(dtype) -> None:
    for first, second, axis in [
        ((5,), (5,), -1), ((3, 5), (5,), -1), ((2, 3, 5), (3, 5), -1), ((4, 5), (4, 5), -2), ((4, 1), (2, 4, 3), -2),
        ((3, 4000), (3, 4000), -1), ((0,), (0,), -1), ((3, 0), (3, 0), -1), ((0, 3), (0, 3), -1), ((70, 3), (70, 3), -2),
    ]:  # fmt: skip
        a, b = values_of(dtype, first, 20), values_of(dtype, second, 21)
        got = vx.vecdot(vx.asarray(a, dtype=dtype), vx.asarray(b, dtype=dtype), axis=axis)
        check(got, lambda x, y, axis=axis: np.sum(np.conj(x) * y, axis=axis, dtype=x.dtype), a, b, dtype, first[axis])


@pytest.mark.parametrize("dtype", ONE_PER_TYPE, ids=str)
def test_tensordot(dtype) -> None:
    for first, second, axes, length in [
        ((3, 4, 5), (4, 5, 6), 2, 20), ((3, 4), (4, 5), 1, 4), ((3, 4), (2, 5), 0, 1), ((), (2, 3), 0, 1),
        ((3, 4, 5), (4, 3, 2), ((0, 1), (1, 0)), 12), ((3, 4, 5), (5, 3, 2), ([-1, -3], [0, -2]), 15),
        ((2, 3), (2, 3), ((0, 1), (0, 1)), 6), ((3, 0), (0, 2), 1, 0), ((0, 3), (3, 2), 1, 3),
    ]:  # fmt: skip
        a, b = values_of(dtype, first, 22), values_of(dtype, second, 23)
        got = vx.tensordot(vx.asarray(a, dtype=dtype), vx.asarray(b, dtype=dtype), axes=axes)
        check(got, lambda x, y, axes=axes: np.tensordot(x, y, axes=axes), a, b, dtype, length)


def test_tensordot_copies_only_what_no_view_has() -> None:
    a, b = values_of(vx.float32, (6, 5, 4), 24), values_of(vx.float32, (4, 6, 3), 25)
    got = vx.tensordot(vx.asarray(a)[::2, :, ::-1], vx.asarray(b)[:, ::2], axes=((2, 0), (0, 1)))
    check(got, lambda x, y: np.tensordot(x, y, axes=((2, 0), (0, 1))), a[::2, :, ::-1], b[:, ::2], vx.float32, 12)


def test_matrix_transpose_is_a_view() -> None:
    values = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    x = vx.asarray(values)
    transposed = vx.matrix_transpose(x)
    assert transposed._buffer is x._buffer
    np.testing.assert_array_equal(np.asarray(transposed), np.swapaxes(values, 1, 2))


# -- errors --------------------------------------------------------------------------------------------------------


def array(*shape: int, dtype=vx.float32) -> vx.VkArray:
    return vx.zeros(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: vx.matmul(array(2, 3), array(4, 5)), ValueError,
         "matmul: shapes (2, 3) and (4, 5) do not match: the last dimension of x1 (3) and the second to last dimension "
         "of x2 (4) differ. Transpose or reshape one of them."),
        (lambda: vx.matmul(array(2, 3), array(4)), ValueError,
         "matmul: shapes (2, 3) and (4,) do not match: the last dimension of x1 (3) and the only dimension of x2 (4) "
         "differ. Transpose or reshape one of them."),
        (lambda: vx.matmul(array(2, 3, 4), array(3, 4, 5)), ValueError,
         "matmul: shapes (2, 3, 4) and (3, 4, 5) do not match: the stacks (2,) and (3,) do not broadcast. Reshape or "
         "slice one of them."),
        (lambda: vx.matmul(array(), array(3)), ValueError,
         "matmul: expected arrays of at least 1 dimension, got shapes () and (3,). Use * to scale an array."),
        (lambda: array(3) @ 2.0, TypeError,
         "matmul: expected two arrays, got the Python scalar 2.0. Use * to scale an array."),
        (lambda: vx.vecdot(array(3), array(4)), ValueError,
         "vecdot: shapes (3,) and (4,) do not match: the lengths 3 and 4 in dimension -1 differ."),
        (lambda: vx.vecdot(array(2, 3), array(3), axis=-2), IndexError,
         "vecdot: axis -2 is out of range for shapes (2, 3) and (3,); expected -1 to -1, counted from the last dimension."),
        (lambda: vx.vecdot(array(), array(3)), ValueError,
         "vecdot: expected arrays of at least 1 dimension, got shapes () and (3,)."),
        (lambda: vx.tensordot(array(2, 3), array(2, 3), axes=1), ValueError,
         "tensordot: shapes (2, 3) and (2, 3) do not match: dimension 1 of x1 has length 3, dimension 0 of x2 has 2."),
        (lambda: vx.tensordot(array(2), array(2), axes=2), ValueError,
         "tensordot: axes=2 is out of range for shapes (2,) and (2,); expected 0 to 1, or two sequences of axes."),
        (lambda: vx.tensordot(array(2), array(2), axes=((0,), ())), ValueError,
         "tensordot: expected as many axes of x1 as of x2, got (0,) and ()."),
        (lambda: vx.tensordot(array(2), array(2), axes="ab c"), TypeError,
         "tensordot: expected axes as an integer or as two sequences of integers, got 'ab c'."),
        (lambda: vx.matrix_transpose(array(3)), ValueError,
         "matrix_transpose: expected at least 2 dimensions, got 1 (shape (3,))."),
    ],
)  # fmt: skip
def test_errors_name_the_shapes(call, kind, text) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(text)
