"""Biases, activations and residuals in the kernels of products: the bits are those of kernels of their own, in every strategy."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from reference import roll, supported
from test_cooperative import SMALL, TILES, compiler_is_new, cut_sums
from test_matmul import values_of

import vkarray as vx
from vkarray.kernels import planned
from vkarray.kernels.product import blocks, cooperative, dot_packs, packs, strategies, sums
from vkarray.kernels.product.epilogue import Epilogue
from vkarray.kernels.product.tiles import CPU_TILES, GPU_TILES, Tile
from vkarray.kernels.rows import ROWS
from vkarray.nn import pointwise

TYPES = supported([vx.int8, vx.float16, vx.bfloat16, vx.float32, vx.complex64])
ACTIVATIONS = {
    "relu": pointwise.relu, "gelu": pointwise.gelu, "silu": pointwise.silu, "tanh": ROWS["tanh"], "sigmoid": pointwise.sigmoid,
}  # fmt: skip
# What an epilogue adds, by its shape: a bias, and a residual.
ADDED = {
    "a row": ("row", None), "a column": ("column", None), "a matrix": (None, "whole"), "a number and a matrix": ("number", "whole"),
}  # fmt: skip
LAYOUTS = {
    "in order": lambda x: x,
    "backwards": lambda x: vx.asarray(x[..., ::-1], copy=True)[..., ::-1],
    "turned": lambda x: vx.asarray(x.mT, copy=True).mT if x.ndim > 1 else x,
    "in steps": lambda x: vx.repeat(x, 2, axis=-1)[..., ::2],
}


class Way(NamedTuple):
    """A strategy, or a form of one: the tile that is the only one, whether long sums are cut, and the shapes that it takes."""

    tile: Tile | None
    parts: bool
    shapes: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


MATRICES = (((37, 20), (20, 44)), ((3, 33, 24), (24, 16)), ((2, 3, 18, 8), (3, 8, 20)))
LINES = (((5, 33), (33, 1)), ((1, 70), (70, 64)), ((3, 1, 20), (3, 20, 12)))
WAYS = {
    "rows": Way(None, False, LINES),
    "rows, in parts": Way(None, True, LINES),
    "tiles": Way(GPU_TILES[-2], False, MATRICES),
    "tiles, in parts": Way(GPU_TILES[-2], True, MATRICES[:2]),
    "blocks": Way(CPU_TILES[-1], False, MATRICES),
    "blocks, in parts": Way(CPU_TILES[-1], True, MATRICES[:2]),
}


@pytest.fixture
def way(request, monkeypatch, device):
    """Makes one way the only one."""
    name = request.param
    chosen = WAYS[name]
    roll(monkeypatch, device)
    if chosen.tile is not None:
        monkeypatch.setattr(blocks, "choose_tile", lambda *_, **__: (chosen.tile, 100 if chosen.parts else 1))
    monkeypatch.setattr(blocks, "_SHORTEST_PART", 16)
    for kind in ("cpu", "gpu"):
        monkeypatch.setitem(sums._BUSY, kind, 1 << 20 if chosen.parts else 1)
        monkeypatch.setitem(sums._SHORTEST_PART, kind, 16)
        monkeypatch.setitem(dot_packs.BUSY, kind, 64)
        monkeypatch.setitem(packs._LEAST, kind, (16, 16, 8))
    monkeypatch.setattr(packs, "_FEW_PRODUCTS", 0)
    return chosen


def numbers(dtype, shape, seed: int, view=lambda x: x) -> vx.VkArray:
    return view(vx.asarray(values_of(dtype, shape, seed), dtype=dtype))


def bits(x: vx.VkArray) -> np.ndarray:
    """The bits of an array; all NaN are one."""
    host = np.asarray(x)
    host = np.where(host != host, np.array(np.nan, host.dtype), host) if host.dtype.kind in "fc" else host
    return np.ascontiguousarray(host).view(np.uint8)


def one_by_one(a, b, epilogue: Epilogue) -> vx.VkArray:
    """The product and the steps after it, each stored."""
    dtype = a.dtype
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    product = strategies.multiply(a, b, vx.empty(shape, dtype=vx.float32 if epilogue.wide else dtype))
    if epilogue.bias is not None and epilogue.wide:
        product = vx.astype(product + vx.astype(epilogue.bias, vx.float32), dtype)
    elif epilogue.bias is not None:
        product = product + epilogue.bias
    if epilogue.activation is not None:
        product = epilogue.activation(product)
    return product if epilogue.residual is None else product + epilogue.residual


def check(monkeypatch, a, b, epilogue: Epilogue, fused: bool = True) -> None:
    expected = one_by_one(a, b, epilogue)
    result = vx.empty(expected.shape, dtype=a.dtype)
    with monkeypatch.context() as patched:
        if fused:
            patched.setattr(Epilogue, "apply", None)  # nobody asks for kernels of their own
        strategies.multiply(a, b, result, epilogue)
    np.testing.assert_array_equal(bits(result), bits(expected))


def added(dtype, shape, kind: str | None, seed: int, view=lambda x: x) -> vx.VkArray | None:
    """An array that broadcasts to a result of this shape."""
    shapes = {"row": shape[-1:], "column": (shape[-2], 1), "number": (1,), "whole": shape}
    return None if kind is None else numbers(dtype, shapes[kind], seed, view)


def result_shape(first, second) -> tuple[int, ...]:
    return (*np.broadcast_shapes(first[:-2], second[:-2]), first[-2], second[-1])


def is_folded(first, second) -> bool:
    """Whether the rows of a stack are those of one product, beside which a column for each of its matrices does not lie."""
    return len(first) > len(second)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_the_bits_of_kernels_of_their_own(way, dtype, device, monkeypatch) -> None:
    if way.tile is not None and not blocks.fits(way.tile, device, way.tile.shape, dtype):
        pytest.skip(f"{device.name} has no room for {way.tile.label} of {dtype}")
    for first, second in way.shapes:
        a, b, shape = numbers(dtype, first, 1), numbers(dtype, second, 2), result_shape(first, second)
        for bias, residual in ADDED.values():
            epilogue = Epilogue(added(dtype, shape, bias, 3), None, added(dtype, shape, residual, 4))
            check(monkeypatch, a, b, epilogue, fused=bias != "column" or not is_folded(first, second))
        if dtype in (vx.float16, vx.bfloat16):
            check(monkeypatch, a, b, Epilogue(added(dtype, shape, "row", 3), wide=True))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", supported([vx.float16, vx.float32]), ids=str)
@pytest.mark.parametrize("way", ["rows", "tiles", "blocks, in parts"], indirect=True)
def test_layouts(way, dtype, layout, monkeypatch) -> None:
    view = LAYOUTS[layout]
    for first, second in way.shapes[:2]:
        a, b, shape = numbers(dtype, first, 1, view), numbers(dtype, second, 2, view), result_shape(first, second)
        for bias, residual in (("row", "whole"), ("column", None)):
            epilogue = Epilogue(added(dtype, shape, bias, 3, view), None, added(dtype, shape, residual, 4, view))
            check(monkeypatch, a, b, epilogue, fused=False)


@pytest.mark.parametrize(("way", "name"), [*zip(itertools.cycle(WAYS), ACTIVATIONS)], indirect=["way"])
def test_activations(way, name, monkeypatch) -> None:
    for dtype in supported([vx.float16, vx.float32]):
        (first, second), *_ = way.shapes
        a, b, shape = numbers(dtype, first, 1), numbers(dtype, second, 2), result_shape(first, second)
        for bias, residual in (("row", None), (None, None), ("row", "whole")):
            epilogue = Epilogue(added(dtype, shape, bias, 3), ACTIVATIONS[name], added(dtype, shape, residual, 4))
            check(monkeypatch, a, b, epilogue)


@pytest.mark.parametrize(("way", "linked"), [("tiles", 0), ("tiles, in parts", 1)], indirect=["way"])
def test_large_products_take_costly_steps_where_their_parts_are_added(way, linked, monkeypatch) -> None:
    """Linked to the products themselves, such steps make large ones slower."""
    monkeypatch.setattr(strategies, "_LARGE", 64)
    (first, second), *_ = way.shapes
    a, b, shape = numbers(vx.float32, first, 1), numbers(vx.float32, second, 2), result_shape(first, second)
    seen = []
    apply = Epilogue.apply
    monkeypatch.setattr(Epilogue, "apply", lambda *operands: (seen.append(1), apply(*operands)))
    epilogue = Epilogue(added(vx.float32, shape, "row", 3), ACTIVATIONS["gelu"], added(vx.float32, shape, "whole", 4))
    check(monkeypatch, a, b, epilogue, fused=False)
    assert len(seen) == 1 - linked


def test_what_no_kernel_takes_is_added_by_kernels_of_their_own(monkeypatch) -> None:
    """Numbers of another type, and what cannot be walked as the rows of a stack are when one matrix multiplies it."""
    a, b = numbers(vx.float32, (3, 20, 30), 6), numbers(vx.float32, (30, 16), 7)
    seen = []
    apply = Epilogue.apply
    monkeypatch.setattr(Epilogue, "apply", lambda *operands: (seen.append(1), apply(*operands)))
    check(monkeypatch, a, b, Epilogue(numbers(vx.float32, (3, 1, 16), 8)), fused=False)
    check(monkeypatch, a, b, Epilogue(residual=numbers(vx.float32, (20, 16), 8)), fused=False)
    assert seen == [1, 1]


@pytest.mark.parametrize("steps", [{}, {"activation": pointwise.relu}])
@pytest.mark.parametrize("fused", [True, False])
def test_the_result_may_be_the_residual(steps, fused, monkeypatch) -> None:
    a, b, c = (numbers(vx.float32, shape, 9) for shape in ((20, 30), (30, 16), (20, 16)))
    epilogue = Epilogue(residual=c, **steps)
    expected = one_by_one(a, b, epilogue)
    if not fused:
        monkeypatch.setattr(strategies, "_takes_steps", lambda product: False)
    strategies.multiply(a, b, c, epilogue)
    np.testing.assert_array_equal(bits(c), bits(expected))


@pytest.mark.parametrize("shortest", [512, 64], ids=["whole", "parts"])
@pytest.mark.parametrize("form", SMALL)
@pytest.mark.parametrize("dtype", supported([vx.float16, vx.bfloat16]), ids=str)
def test_fragments(dtype, form, shortest, monkeypatch) -> None:
    """Where the device has no fragments the same products take other strategies."""
    if compiler_is_new():
        monkeypatch.setitem(TILES, "cpu", (SMALL[form],))
    cut_sums(monkeypatch, shortest)
    cooperative.choose_tile.cache_clear()
    planned.forget()
    for first, second in (((65, 200), (200, 67)), ((3, 64, 24), (24, 72))):
        a, b, shape = numbers(dtype, first, 1), numbers(dtype, second, 2), result_shape(first, second)
        row, whole = added(dtype, shape, "row", 3), added(dtype, shape, "whole", 4)
        check(monkeypatch, a, b, Epilogue(row, wide=True))
        check(monkeypatch, a, b, Epilogue(added(dtype, shape, "row", 3, LAYOUTS["in steps"]), residual=whole))
    check(monkeypatch, a, b, Epilogue(residual=LAYOUTS["turned"](whole)), fused=False)
    check(monkeypatch, a, b, Epilogue(row, pointwise.gelu, whole))
    cooperative.choose_tile.cache_clear()
