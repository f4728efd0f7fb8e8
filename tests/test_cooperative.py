"""Products by cooperative matrices: which ones take them, what they give, and that the shipped SPIR-V is of these sources.

On a device without cooperative matrices the same products are checked, on the path that they take there. Mesa 26 gives
llvmpipe fragments of 8 x 8 x 8; a tile of the tests' own takes them where the compiler knows cooperative matrices.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from reference import supported
from test_matmul import check, values_of

import vkarray as vx
from vkarray._vk.subgroups import SubgroupSizes
from vkarray.command import catalogue, tuned
from vkarray.kernels import tuning
from vkarray.kernels.product import blocks, cooperative, fragments, parts, strategies
from vkarray.kernels.product.cooperative import TILES, Tile
from vkarray.kernels.product.epilogue import Epilogue
from vkarray.shaders import compiler, files, shipped
from vkarray.shaders import source as shaders

HALVES = supported([vx.float16, vx.bfloat16])
SMALL = {
    "plain": Tile((32, 32), 16, (16, 16), (8, 8, 8), 8, 0, 264, 1.0),
    "ahead": Tile((32, 64), 16, (16, 32), (8, 8, 8), 8, 0, 264, 1.0, "ahead"),
    "packed": Tile((32, 64), 16, (16, 32), (8, 8, 8), 8, 0, 264, 1.0, "packed"),
    "mixed": Tile((32, 64), 64, (16, 32), (8, 8, 8), 8, 0, 264, 1.0, "mixed"),
}


class Described(NamedTuple):
    """What a choice depends on of a device."""

    limits: Any
    features: frozenset[str]
    description: Any


def compiler_is_new() -> bool:
    found = re.search(r":(\d+)\.", compiler.version())
    return found is not None and int(found[1]) >= 16


@pytest.fixture(params=[*range(len(TILES["large"]))])
def tile(request, device, monkeypatch):
    """Makes a row of the table the only one, for small products too."""
    row = TILES["large"][request.param]._replace(least=0)
    monkeypatch.setitem(TILES, "large", (row,))
    if compiler_is_new():
        monkeypatch.setitem(TILES, "cpu", (SMALL[row.form],))
    cooperative.choose_tile.cache_clear()
    yield row
    cooperative.choose_tile.cache_clear()


# -- the shipped modules ----------------------------------------------------------------------------------------------


def test_shipped_modules_are_those_of_the_sources() -> None:
    expected = {}
    for variant in catalogue.shipped_variants():
        source = shaders.resolve(variant)
        name = shipped.shipped()["files"].get(shaders.digest(source))
        assert name, f"{variant.label}: the source has changed; run python -m vkarray.command.compile_shipped"
        expected[name] = source, variant
    folder = files.source_folder() / "compiled"
    assert sorted(expected) == sorted(path.name for path in folder.glob("*.spv"))
    if compiler.version() == shipped.shipped()["compiler"]:
        for name, (source, variant) in expected.items():
            assert (folder / name).read_bytes() == compiler.compile_glsl(source, variant.label), name


# -- which products ---------------------------------------------------------------------------------------------------


@pytest.fixture
def able(device):
    """A description of a GPU with cooperative matrices, for decisions alone."""
    fragments = frozenset((name, 16, 16, 16) for name in ("float16", "bfloat16"))
    limits = dataclasses.replace(
        device.limits, is_cpu=False, cooperative_matrices=fragments, subgroup_size=32, min_subgroup_size=32,
        max_subgroup_size=32, max_shared_memory_size=49152, max_workgroup_invocations=1024, registers="large",
    )  # fmt: skip
    features = frozenset(feature for names in cooperative.FEATURES.values() for feature in (*names, "shaderInt16"))
    return Described(limits, features, device.description)


def changed(able, **limits):
    return able._replace(limits=dataclasses.replace(able.limits, **limits))


def test_tiles_follow_the_shape(able) -> None:
    small, least = TILES["large"][-2:]
    for dtype in (vx.float16, vx.bfloat16):
        assert cooperative.choose_tile(able, (4096, 4096), 4096, dtype)[0].form == "mixed"
        assert cooperative.choose_tile(able, (4095, 4099), 4096, dtype)[0].form == "packed"
        assert cooperative.choose_tile(able, (8, 4096, 4096), 4096, dtype)[0].form == "mixed"
        assert cooperative.choose_tile(able, (256, 256, 256), 4096, dtype)[0].form == "ahead"
        assert cooperative.choose_tile(able, (64, 64), 64, dtype) == (least, 1)
        assert cooperative.choose_tile(able, (128, 768), 768, dtype) == (least, 1)
        assert cooperative.choose_tile(able, (64, 1024), 4096, dtype) == (small, 16)
        assert cooperative.choose_tile(able, (512, 3072), 768, dtype) == (small, 1)
        assert cooperative.choose_tile(able, (1, 4096), 4096, dtype) is None
    assert cooperative.choose_tile(able, (4096, 4096), 4096, vx.float32) is None


def test_tuning_chooses_among_the_rows_that_fit(able) -> None:
    for tile in TILES["large"]:
        with tuning.trying(cooperative.FAMILY, tile.label):
            assert cooperative.choose_tile(able, (4096, 4096), 4096, vx.bfloat16) == (tile, 1)
    problems = list(tuned._halves(able))
    assert problems
    for problem in problems:
        labels = tuned._cooperative_tiles(able, problem)
        assert set(labels) <= {tile.label for tile in TILES["large"]}
        (m, k), (_, n) = problem.shapes
        assert labels[0] == cooperative.choose_tile(able, (m, n), k, vx.float16)[0].label


def test_devices_without_what_the_kernel_needs_are_left_alone(able) -> None:
    shape = (4096, 4096)
    assert cooperative.choose_tile(able._replace(features=frozenset()), shape, 4096, vx.float16) is None
    for limits in (
        {"cooperative_matrices": frozenset()}, {"min_subgroup_size": 8}, {"max_shared_memory_size": 8192},
        {"max_workgroup_invocations": 64}, {"is_cpu": True},
    ):  # fmt: skip
        assert cooperative.choose_tile(changed(able, **limits), shape, 4096, vx.float16) is None


def test_every_row_of_the_table_divides_evenly() -> None:
    for row in (*(row for rows in TILES.values() for row in rows), *SMALL.values()):
        for length, part, fragment in zip((*row.shape, row.depth), (*row.part, row.depth), row.fragment, strict=True):
            assert length % part == part % fragment == 0
            assert length * row.depth // cooperative.LANES % row.invocations == 0 or length == row.depth
        if row.form == "ahead":  # half a tile of a, and a tile of b, are as deep as a fragment
            assert row.depth == 2 * row.fragment[2]
            assert all(length * row.fragment[2] // cooperative.LANES % row.invocations == 0 for length in row.shape)
        assert row.shared_bytes <= 49152


@pytest.mark.parametrize(
    ("view", "copied"),
    [
        (lambda x: x, False), (lambda x: x.mT, False), (lambda x: x[:, 8:29], False), (lambda x: x[::2, :3], False),
        (lambda x: x[:, 3:], True), (lambda x: x[:, ::2], True), (lambda x: x[::-1], True), (lambda x: x[:, :1], False),
        (lambda x: x[::-1].mT, True),
    ],
)  # fmt: skip
def test_only_what_lies_in_no_packs_is_copied(view, copied) -> None:
    host = np.arange(40 * 48).reshape(40, 48) % 1000
    array = view(vx.asarray(host, dtype=vx.float16))
    packs = cooperative._in_packs(array)
    assert (packs is not array) == copied
    assert cooperative._side_by_side(packs) is not None
    np.testing.assert_array_equal(np.asarray(packs), view(np.asarray(host, np.float16)))


# -- results ----------------------------------------------------------------------------------------------------------

SHAPES = [
    ((32, 16), (16, 32)), ((64, 64), (64, 64)), ((65, 1), (1, 64)), ((130, 37), (37, 129)), ((70, 300), (300, 90)),
    ((3, 64, 24), (24, 72)), ((64, 24), (3, 24, 72)), ((2, 1, 66, 24), (3, 24, 67)), ((5, 64, 8), (8, 64)),
    ((64, 0), (0, 64)), ((0, 64), (64, 64)), ((0, 64, 64), (64, 64)),
]  # fmt: skip


def cut_sums(monkeypatch, shortest: int) -> None:
    """Lets parts of sums be so short."""
    for module in (cooperative, fragments):
        monkeypatch.setattr(module, "_SHORTEST_PART", shortest)


def multiply(dtype, first, second) -> None:
    got = vx.matmul(vx.asarray(first, dtype=dtype), vx.asarray(second, dtype=dtype))
    check(got, np.matmul, first, second, dtype, first.shape[-1])


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_shapes(dtype, tile) -> None:
    for first, second in SHAPES:
        multiply(dtype, values_of(dtype, first, 1), values_of(dtype, second, 2))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_layouts(dtype, tile) -> None:
    first, second = values_of(dtype, (136, 160), 3), values_of(dtype, (160, 144), 4)
    for view_first, view_second in [
        (lambda x: x.mT[:, :128], lambda x: x[:128]), (lambda x: x[:, :144], lambda x: x[:144].mT[:, :99]),
        (lambda x: x[::-1, ::2], lambda x: x[::2, ::-1]), (lambda x: x[1:, 1:], lambda x: x[1:, 3:]),
        (lambda x: x[:, 8:99], lambda x: x[8:99]), (lambda x: x[::2], lambda x: x[:, ::2]),
    ]:  # fmt: skip
        host_first, host_second = view_first(first), view_second(second)
        k = min(host_first.shape[-1], host_second.shape[-2])
        got = view_first(vx.asarray(first, dtype=dtype))[:, :k] @ view_second(vx.asarray(second, dtype=dtype))[:k]
        check(got, np.matmul, host_first[:, :k], host_second[:k], dtype, k)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_an_array_times_its_own_transpose(dtype, tile) -> None:
    first = values_of(dtype, (72, 104), 5)
    array = vx.asarray(first, dtype=dtype)
    check(array.mT @ array, np.matmul, first.T, first, dtype, 72)
    check(array @ array.mT, np.matmul, first, first.T, dtype, 104)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_parts_of_the_summed_dimension(dtype, tile, monkeypatch) -> None:
    cut_sums(monkeypatch, 64)
    for first, second in [((64, 200), (200, 64)), ((65, 203), (203, 67)), ((2, 64, 200), (2, 200, 64))]:
        multiply(dtype, values_of(dtype, first, 6), values_of(dtype, second, 7))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_tiles_that_are_left_are_cut_into_parts(dtype, tile, device, monkeypatch) -> None:
    cut_sums(monkeypatch, 64)
    monkeypatch.setattr(parts, "_LEFT_PART", 64)
    kind = device.limits.tier
    monkeypatch.setitem(TILES, kind, tuple(row._replace(at_once=4) for row in TILES[kind]))
    cooperative.choose_tile.cache_clear()
    (rows, columns) = TILES[kind][0].shape if TILES[kind] else (32, 64)
    for m, k in [(4 * rows + 3, 200), (9 * rows, 131)]:  # one or two waves, and a tile more
        multiply(dtype, values_of(dtype, (m, k), 12), values_of(dtype, (k, columns), 13))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_nan_and_infinity_stay_in_their_rows_and_columns(dtype, tile) -> None:
    first, second = values_of(dtype, (65, 37), 8), values_of(dtype, (37, 70), 9)
    first[3, 5], first[7, 36], second[4, 9] = np.inf, np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        expected = first.astype(np.float64) @ second.astype(np.float64)
    got = np.asarray(vx.asarray(first, dtype=dtype) @ vx.asarray(second, dtype=dtype)).astype(np.float64)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(expected))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_extremes(dtype, tile) -> None:
    info = vx.finfo(dtype)
    ones = np.ones((64, 40), np.float64)
    largest = vx.asarray(ones * info.max, dtype=dtype)
    assert vx.all(vx.isinf(largest @ vx.ones((40, 64), dtype=dtype)))
    smallest = info.smallest_normal * info.eps if dtype is vx.float16 else info.smallest_normal
    kept = vx.asarray(ones * smallest, dtype=dtype) @ vx.eye(40, 64, dtype=dtype)
    np.testing.assert_array_equal(np.asarray(kept).astype(np.float64)[:, :40], smallest)
    # Exact sums that float16 or bfloat16 alone would lose, halfway cases to even, one rounding.
    halfway = np.zeros((64, 40))
    halfway[:, 0], halfway[:, 1], halfway[1, 2] = 1, info.eps / 2, info.eps / 4
    rounded = np.asarray(vx.asarray(halfway, dtype=dtype) @ vx.ones((40, 64), dtype=dtype)).astype(np.float64)
    assert rounded[0, 0] == 1
    assert rounded[1, 0] == 1 + info.eps


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_row_is_added_before_sums_are_rounded(dtype, tile, device, monkeypatch) -> None:
    """Sums cut into parts take it once, also when a dispatch does not reach all parts; it may lie in any way."""
    for shortest, reach, (stack, m, k, n) in [
        (512, None, ((), 65, 37, 129)), (512, None, ((3,), 64, 24, 72)), (64, None, ((), 70, 200, 64)),
        (64, 30000, ((2,), 64, 200, 64)),
    ]:  # fmt: skip
        cut_sums(monkeypatch, shortest)
        if reach is not None:
            monkeypatch.setattr(cooperative, "_reach", lambda array, reach=reach: reach)
        first, second, row = (values_of(dtype, shape, 11) for shape in ((*stack, m, k), (*stack, k, n), (n,)))
        operands = vx.asarray(first, dtype=dtype), vx.asarray(second, dtype=dtype)
        for view in (lambda x: x, lambda x: x[::-1], lambda x: x[:1]):
            result = vx.empty((*stack, m, n), dtype=dtype)
            strategies.multiply(*operands, result, Epilogue(bias=view(vx.asarray(row, dtype=dtype)), wide=True))
            # The row is one more product, by ones.
            whole = np.concatenate([first, np.ones((*stack, m, 1), first.dtype)], -1)
            rows = np.concatenate([second, np.broadcast_to(view(row), (*stack, 1, n))], -2)
            check(result, np.matmul, whole, rows, dtype, k + 1)


def test_a_device_with_fragments_uses_them(tile, device, monkeypatch) -> None:
    """Where a row of the table fits the device, nothing is converted."""
    size = max(tile.shape)
    chosen = cooperative.choose_tile(device, (size, size), size, vx.float16)
    if chosen is not None:
        monkeypatch.setattr(blocks, "cast", None)
        multiply(vx.float16, values_of(vx.float16, (size, size)), values_of(vx.float16, (size, size)))
    if not device.limits.is_cpu and ("float16", *tile.fragment) in device.limits.cooperative_matrices:
        assert device.limits.max_subgroup_size != tile.subgroup or chosen is not None


def test_a_stack_times_one_matrix_counts_as_one_product(monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(cooperative, "choose_tile", lambda device, shape, k, dtype: seen.append(shape))
    for first, second in [((3, 64, 24), (24, 72)), ((2, 64, 24), (2, 24, 72)), ((64, 24), (2, 24, 72))]:
        multiply(vx.float16, values_of(vx.float16, first), values_of(vx.float16, second))
    assert seen == [(192, 72), (2, 64, 72), (2, 64, 72)]


def test_the_same_bits_every_time(tile) -> None:
    first, second = (vx.asarray(values_of(vx.float16, (130, 130), seed)) for seed in (1, 2))
    assert vx.all(first @ second == first @ second)


def test_products_beyond_the_reach_of_indices_take_the_other_path(tile, monkeypatch) -> None:
    monkeypatch.setattr(cooperative, "_reach", lambda array: 64 * 64)
    seen = []
    whole = blocks.choose_tile
    monkeypatch.setattr(blocks, "choose_tile", lambda *operands: (seen.append(1), whole(*operands))[1])
    multiply(vx.float16, values_of(vx.float16, (80, 80)), values_of(vx.float16, (80, 80)))
    assert seen == [1]


def test_fragments_of_other_shapes_and_sizes_of_subgroups(able) -> None:
    """By what a device lists: RDNA3's 16 x 16 with subgroups of 32, which have to be asked for, and Intel's 8 x 16 with 16."""
    features, shape = able.features, (1024, 1024)
    for registers, fragment, sizes, subgroup in (
        ("middle", (16, 16, 16), SubgroupSizes(32, 64, (32, 64), 1 << 31, True), 32),
        ("small", (8, 16, 16), SubgroupSizes(16, 32, (16, 32), 64, True), 16),
    ):
        listed = frozenset({("float16", *fragment)})
        described = changed(able, registers=registers, cooperative_matrices=listed, subgroups=sizes)
        own = described.limits.subgroups.size(sizes.most, registers, 1024)
        described = changed(described, subgroup_size=own, min_subgroup_size=own, max_subgroup_size=own)
        chosen, _ = cooperative.choose_tile(described._replace(features=features), shape, 1024, vx.float16)
        assert (chosen.fragment, chosen.subgroup) == (fragment, subgroup)
        assert chosen.form != "ahead", "it spills there"
        fixed = sizes._replace(required=())
        other = changed(described, subgroups=fixed, subgroup_size=64, min_subgroup_size=8, max_subgroup_size=64)
        assert cooperative.choose_tile(other, shape, 1024, vx.float16) is None
