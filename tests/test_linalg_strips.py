"""How a GPU factors large matrices, on any device and from the first row on: test_linalg_solve and test_linalg_qr again.

Strips are narrower than those of a GPU, for a CPU takes long to compile as many unrolled loops; one test takes a strip of
a GPU as it is.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import test_linalg_qr as of_qr
import test_linalg_solve as of_solve
from reference import flushes_subnormals, normal_values
from test_linalg_qr import (  # noqa: F401 - pytest runs them again
    test_agrees_with_numpy_up_to_phases,
    test_deficient_rank,
    test_nan_and_infinity,
    test_range,
    test_shapes,
    test_subnormal_numbers,
)
from test_linalg_solve import (  # noqa: F401
    test_cholesky_factors_of_all_sizes,
    test_cholesky_of_stacks_and_hard_matrices,
    test_cholesky_reads_one_triangle_of_any_layout,
    test_determinants,
    test_determinants_do_not_overflow_on_the_way,
    test_hard_matrices,
    test_layouts,
    test_matrices_that_are_not_positive_definite,
    test_nan_goes_on_into_the_result,
    test_permutations_have_exact_determinants,
    test_right_hand_sides_broadcast_against_matrices,
    test_singular_matrices,
    test_solutions_of_all_sizes,
    test_stacks,
    test_stacks_are_cut_where_32_bit_indices_end,
    test_subnormal_pivots_are_not_zero,
)  # fmt: skip

import vkarray as vx
from vkarray.command import catalogue
from vkarray.kernels import launch
from vkarray.kernels.launch import kernel as remembered_kernel
from vkarray.ops.linalg import lu, qr, triangular
from vkarray.shaders import source as shaders

STRIPS = {
    lu: {4: ((4, 4), (8, 4)), 8: ((4, 4),), 16: ((4, 4),)},
    qr: {4: ((16, 4), (16, 8)), 8: ((16, 4),), 16: ((16, 4),)},
}


@pytest.fixture(autouse=True)
def as_on_a_gpu(device, monkeypatch) -> set[str]:
    """All matrices are factored as a GPU does; the templates that were used."""
    for module, table in STRIPS.items():
        monkeypatch.setitem(module._STRIPS, device.limits.registers, table)
        monkeypatch.setitem(module._STRIPS_FROM, device.limits.kind, 1)
        monkeypatch.setitem(module._STRIP_SIZES, device.limits.registers, (128,))
    monkeypatch.setitem(triangular.TILES_FROM, device.limits.kind, 1)
    used = set()
    original = launch.kernel
    monkeypatch.setattr(
        launch,
        "kernel",
        lambda variant, *given, **named: used.add(variant.template) or original(variant, *given, **named),
    )
    return used


@pytest.mark.needs(max_workgroup_invocations=256, max_shared_memory_size=32 << 10)
def test_the_templates_of_a_gpu_are_used(device, as_on_a_gpu) -> None:
    a = of_solve.definite(vx.float32, (40, 40))
    of_solve.solve(a, a)
    vx.linalg.cholesky(vx.asarray(a))
    of_qr.check(vx.asarray(a), a)
    wanted = {"linalg/triangular_tiles", "linalg/cholesky_tiles", "linalg/qr_strips"}
    others = {"linalg/cholesky", "linalg/qr_panel"}
    if device.features >= lu._STRIP_FEATURES:  # by which strips of LU look for pivots
        wanted |= {"linalg/lu_strips", "linalg/lu_arrange"}
        others |= {"linalg/lu_panel", "linalg/triangular"}
    assert as_on_a_gpu >= wanted
    assert not as_on_a_gpu & others


def test_dispatches_do_not_grow_with_the_stack(device, monkeypatch) -> None:
    names = []
    original = device.dispatch
    monkeypatch.setattr(
        device, "dispatch", lambda kernel, *given: names.append(kernel.name) or original(kernel, *given)
    )
    for call in (*of_solve.CALLS.values(), vx.linalg.qr):
        counts = []
        for batch in (2, 50):
            x = vx.asarray(of_solve.definite(vx.float32, (batch, 40, 40)))
            names.clear()
            call(x)
            counts.append(sum(name.startswith("linalg") for name in names))
        assert counts[0] == counts[1] > 0


def test_the_archive_has_every_shader_that_is_used(device, monkeypatch) -> None:
    monkeypatch.undo()
    strips = {
        strip(dtype, kind(*own), device)
        for module, strip, kind in ((lu, lu._strips_variant, lu.Strip), (qr, qr._strips_variant, qr.Strip))
        for dtype in of_solve.FACTORED
        for rows in module._STRIPS.values()
        for own in rows[dtype.itemsize]
    }
    tiles = {
        triangular.tiles_variant(template, dtype, device, rows[dtype.itemsize])
        for template in ("linalg/triangular_tiles", "linalg/cholesky_tiles")
        for dtype in of_solve.FACTORED
        for rows in triangular.TILES.values()
    }
    assert strips | tiles <= {variant for family in catalogue.FAMILIES for variant in family(device)}


def test_strips_as_on_a_gpu(device, monkeypatch) -> None:
    monkeypatch.setitem(lu._STRIPS, device.limits.registers, {4: ((4, 16),)})
    monkeypatch.setitem(lu._STRIP_SIZES, device.limits.registers, (64,))
    monkeypatch.setitem(qr._STRIPS, device.limits.registers, {4: ((16, 16),)})
    a = normal_values(vx.float32, (150, 150))
    of_solve.check_solution(a, of_solve.solve(a, a[:, :2]), a[:, :2], vx.float32)
    of_qr.check(vx.asarray(a), a)


def test_every_candidate_of_a_pivot_is_compared_whatever_the_driver_says_of_subgroups(device, monkeypatch) -> None:
    """Mesa's compiler for Intel's GPUs takes gl_SubgroupSize for 32, where 8 or 16 invocations of a subgroup run."""
    if not device.features >= lu._STRIP_FEATURES:
        pytest.skip(
            f"{device.name} lacks {sorted(lu._STRIP_FEATURES - device.features)}, by which strips look for pivots"
        )
    resolved = shaders.resolve

    def with_wide_subgroups(variant: shaders.Variant) -> str:
        return resolved(variant).replace("gl_SubgroupSize", "1024u")

    monkeypatch.setattr(shaders, "resolve", with_wide_subgroups)
    monkeypatch.setattr(shaders, "_compiled", {})
    monkeypatch.setattr(launch, "kernel", remembered_kernel.__wrapped__)
    order = np.random.default_rng(0).permutation(100)
    a = (np.eye(100)[order] + 1e-3).astype(np.float32)  # its transpose is factored
    factors = lu.factor(vx.asarray(a)[None].mT)
    assert np.array_equal(np.asarray(factors.rows_of)[0], order), (
        "rows were chosen that do not hold the largest element"
    )


def test_devices_that_lack_what_strips_need(device) -> None:
    def like(features=device.features | lu._STRIP_FEATURES, **limits) -> SimpleNamespace:
        names = ("kind", "registers", "max_workgroup_invocations", "max_workgroup_size", "max_shared_memory_size")
        own = {name: getattr(device.limits, name) for name in names}
        return SimpleNamespace(features=features, limits=SimpleNamespace(**{**own, **limits}))

    for lacking in (like(max_workgroup_invocations=64), like(max_shared_memory_size=1024)):
        assert not triangular.takes_tiles(100, lacking)
        assert qr.strip_of(100, 100, vx.float32, lacking) is None
    for lacking in (like(features=frozenset()), like(max_workgroup_invocations=16)):
        assert lu._strip_of(100, vx.float32, lacking) is None
    plenty = like(max_workgroup_invocations=1024, max_shared_memory_size=64 << 10)
    assert lu._strip_of(100, vx.float32, plenty) is not None
    assert qr.strip_of(100, 100, vx.float32, like()) is not None
    assert lu._strip_of(10**6, vx.float32, like()) is qr.strip_of(10**6, 100, vx.float32, like()) is None


@pytest.mark.parametrize("magnitude", [1e-42, 1e-38, 1e38])
def test_pivots_without_a_reciprocal(magnitude) -> None:
    """Elements whose reciprocals overflow or vanish, in matrices that need exchanges."""
    if flushes_subnormals(vx.float32):
        return
    order = np.random.default_rng(0).permutation(90)
    a = (np.eye(90)[order] * magnitude).astype(np.float32)
    a[order == 0] *= 0.5
    x = of_solve.solve(a, a[:, :5])
    np.testing.assert_allclose(x, np.eye(90)[:, :5], rtol=1e-6, atol=0)
    square = np.diag(np.full(90, magnitude, np.float32))
    square[1, 0] = square[0, 1] = magnitude / 2
    factor = np.asarray(vx.linalg.cholesky(vx.asarray(square))).astype(np.float64)
    np.testing.assert_allclose(factor @ factor.T, square, rtol=1e-6, atol=2e-45)  # a subnormal number or so


def test_equal_candidates_for_a_pivot_give_the_uppermost() -> None:
    signs = np.random.default_rng(1).choice(np.array([-1, 1], np.float32), (150, 150))
    factors = lu.factor(vx.asarray(signs)[None].mT)
    order = np.asarray(factors.rows_of)[0]
    assert order[0] == 0
    assert sorted(order) == list(range(150))
