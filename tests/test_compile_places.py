"""`vkarray.compile`: layouts and views of what it reads, and places that it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from compiled import DTYPES, array, check, traced
from reference import supported

import vkarray as vx
from vkarray.core.array import VkArray

LAYOUTS: dict[str, Callable[[Any], VkArray]] = {
    "contiguous": lambda t: array(t), "reversed": lambda t: vx.flip(array(t)), "transposed": lambda t: array(t, (7, 5)).T,
    "sliced": lambda t: array(t, (10, 14))[::2, 1::2], "broadcast": lambda t: vx.broadcast_to(array(t, (1, 7)), (5, 7)),
    "one element": lambda t: vx.broadcast_to(array(t, (1, 1)), (5, 7)), "column": lambda t: array(t, (5, 1)),
    "of no dimensions": lambda t: array(t, ()), "misaligned": lambda t: array(t, (36,))[1:].reshape((5, 7)),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    dtype = DTYPES[list(LAYOUTS).index(layout) * 5 % len(DTYPES)]
    for one in dict.fromkeys((vx.float32, dtype)):
        larger = vx.where if one.kind == "c" else lambda _, a, b: vx.maximum(a, b)
        check(
            lambda a, b, larger=larger: (vx.equal(a, b), larger(a == b, a, b), vx.where(a == b, b, a)),
            lambda t=one: (LAYOUTS[layout](t), array(t, seed=1)),
        )


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (1,), (1, 1), ()], ids=str)
def test_layouts_of_few_elements(shape):
    check(lambda a, b: (a + b, (a * 2)[..., None], vx.sum(a - b), vx.reshape(a, (-1,)) if a.size else a),
          lambda: (array(shape=shape), array(shape=shape, seed=1)))  # fmt: skip


# Inputs that an invocation has several elements of, in pairs or not, at the ends of rows too.
STRIPS: dict[str, Callable[[VkArray, VkArray], Any]] = {
    "stencil": lambda a, b: a[1:-1, 1:-1] * b[:-2, 1:-1] - a[2:, 1:-1] + a[:-2, 1:-1] - b[1:-1, 2:] + b[1:-1, :-2],
    "odd rows": lambda a, b: a[:, 1:] * b[:, :-1] - a[:, 1:],
    "one axis": lambda a, b: (a.reshape(-1)[3:] * b.reshape(-1)[:-3] + a.reshape(-1)[1:-2],),
    "column and row": lambda a, b: (a * b[:, :1] - b[:1] * a[:, 1:2], a * 2),
    "reversed": lambda a, b: a[::-1, ::-1] * b - a[:, ::-1] * b[::-1],
    "transposed": lambda a, b: a.T * b.T[::-1] + a[:, :1].T,
    "two thirds": lambda a, b: a[:, ::3] * b[:, 1::3] - a[:, ::3],
    "short rows": lambda a, b: a[:, 1:6] * b[:, 2:7] + a[:, :5],
    "three axes": lambda a, b: a.reshape((10, 7, -1))[1:, :, 1:] * b.reshape((10, 7, -1))[:-1, :, 1:] - b[0, 1:, None, None][:9],
    "assigned": lambda a, b: (a.__setitem__((slice(1, -1), slice(2, None)), (b[2:, 1:-1] + b[:-2, :-2]) * b[1:-1, 2:]), a),
}  # fmt: skip


@pytest.mark.parametrize("name", STRIPS)
@pytest.mark.parametrize("dtype", [one for one in DTYPES if str(one) in ("float32", "int8", "float16", "int64", "complex64")],
                         ids=str)  # fmt: skip
def test_strips(name, dtype):
    check(STRIPS[name], lambda: (array(dtype, (70, 262)), array(dtype, (70, 262), seed=1)))


def _filled(a: VkArray, *parts: tuple[Any, VkArray]) -> VkArray:
    made = vx.zeros_like(a)
    for key, value in parts:
        made[key] = value
    return made


# Arrays that are made of views of others, and which kernels read them or write their parts.
PIECES: dict[str, Callable[[VkArray, VkArray], Any]] = {
    "torus": lambda a, b: sum((vx.roll(a, k, axis=axis) for k in (1, -1) for axis in (0, 1)), start=b) * 2,
    "both axes": lambda a, b: vx.roll(a, (2, -3), axis=(0, 1)) * b, "flat": lambda a, b: vx.roll(a, 5) + b,
    "rolled twice": lambda a, b: vx.roll(vx.roll(a, 1, axis=0), 2, axis=0) - b,
    "of a result": lambda a, b: (vx.roll(a * b, 1, axis=0) - a * b, vx.roll(vx.exp(a), 1, axis=1) * 2),
    "returned too": lambda a, b: (rolled := vx.roll(a, 1, axis=0), rolled * b),
    "views of it": lambda a, b: [vx.roll(a, 2, axis=1)[key] * 2 for key in (
        (slice(1, 4), slice(None, None, 2)), (slice(None, None, -1), slice(None, None, -3)), 1, (slice(None), 2), (3, 4))],
    "transposed": lambda a, b: vx.roll(a, 2, axis=1).T * b.T + vx.roll(b, 1, axis=0).T,
    "broadcast": lambda a, b: vx.roll(a[:1], 1, axis=1) * b + vx.roll(a[:, :1], -1, axis=0),
    "source overwritten": lambda a, b: (rolled := vx.roll(a, 1, axis=0), a.__setitem__(0, b[1]), rolled * a)[2],
    "into its source": lambda a, b: a.__iadd__(vx.roll(a, 1, axis=0)), "bits": lambda a, b: vx.roll(a, 1, axis=0) == b,
    "joined": lambda a, b: vx.concat([a, b * 2, a[:1]]) * vx.concat([b[:1], a, b]),
    "columns": lambda a, b: vx.concat([a * b, a - b], axis=1), "stacked": lambda a, b: vx.stack([a, b]) - b,
    "halves": lambda a, b: vx.concat([a[:, 3:] * b[:, 3:], a[:, :4] + b[:, :4]], axis=1) * 2,
    "many": lambda a, b: vx.concat([a[k : k + 1] for k in range(5)] * 4) * 2,
    "rows of it": lambda a, b: vx.sum(vx.roll(a, 1, axis=1) * b, axis=1),
    "scanned": lambda a, b: vx.cumulative_sum(vx.roll(a, 1, axis=0) * 2, axis=0),
    "overlapping parts": lambda a, b: _filled(a, (slice(None, 3), a[:3]), (slice(2, None), b[2:])) * 2,
    "parts left": lambda a, b: _filled(a, (slice(1, None), a[1:])) * b, "in turn": lambda a, b: _filled(
        a, (slice(0, 2), a[:2] * b[:2]), (slice(3, 5), a[:2] - b[:2]), (slice(1, 3), a[:2] + b[:2])),
    "again": lambda a, b: _filled(a, (slice(0, 2), a[:2] * 2), (slice(2, 4), a[:2] + 1), (slice(0, 2), a[:2] * 3)),
    "numbered": lambda a, b: vx.roll(vx.arange(7), 2) * a + vx.tril(vx.roll(b, 1, axis=0)),
}  # fmt: skip


@pytest.mark.parametrize("name", PIECES)
def test_pieces(name):
    for one in (vx.float32, vx.int16):
        check(PIECES[name], lambda one=one: (array(one), array(one, seed=1)))


@traced
def test_what_is_made_of_pieces_is_not_stored():
    compiled = vx.compile(PIECES["torus"])
    compiled(array(), array(seed=1))
    assert compiled.explain().kernels <= 9
    compiled = vx.compile(PIECES["columns"])
    compiled(array(), array(seed=1))
    assert compiled.explain().kernels == 1


VIEWS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda y: y[1:4, ::2] * 2, "reversed": lambda y: y[::-1, ::-2] + 1, "row": lambda y: y[2] - y[-1],
    "element": lambda y: y[2, 3] * y, "transposed": lambda y: y.T * y.T, "new axes": lambda y: y[:, None] - y[None],
    "flat": lambda y: vx.reshape(y, (-1,)) + 1, "other axes": lambda y: vx.reshape(y, (7, 5)) * 2, "flip": lambda y: vx.flip(y) + y,
    "broadcast": lambda y: vx.broadcast_to(y, (3, 5, 7)) * 2, "roll": lambda y: vx.roll(y, 2) + y,
    "stencil": lambda y: y[1:-1, 1:-1] + y[2:, 1:-1] + y[:-2, 1:-1] + y[1:-1, 2:] + y[1:-1, :-2],
    "view of a view": lambda y: y[1:].T[::2, ::-1] * 3, "diagonal": lambda y: vx.linalg.diagonal(y) + 1,
    "joined": lambda y: vx.concat([y * 2, y[:1]]), "stacked": lambda y: vx.stack([y, y + 1])[1, ::2],
    "returned alone": lambda y: y[::2, 1:], "returned twice": lambda y: (y, y, y[1:]), "lower": lambda y: vx.tril(y * 2),
    "expanded": lambda y: vx.expand_dims(y, axis=1) * y, "empty": lambda y: (y[:0], y[5:] + 1),
    "sum": lambda y: vx.sum(y[::-2] * y[::2]),
    "all": lambda y: y[...], "repeated": lambda y: vx.repeat(y, 2, axis=0) + 1,
    "window": lambda y: vx.sum(vx.stack([y[k : k + 3] for k in range(3)]) * 2, axis=0),
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_results(view):
    """Of what may never be stored."""
    check(lambda a, b: VIEWS[view](a * b + 1), lambda: (array(), array(seed=1)), programs=1)


def _written(a: VkArray, b: VkArray, *steps: Callable[[VkArray, VkArray], Any]) -> Any:
    return [step(a, b) for step in steps]


def assign(key: Any, value: Callable[[VkArray, VkArray], Any]) -> Callable[[VkArray, VkArray], Any]:
    def run(a: VkArray, b: VkArray) -> Any:
        a[key] = value(a, b)
        return a * 1

    return run


def in_place(name: str, key: Any = ...) -> Callable[[VkArray, VkArray], Any]:
    def run(a: VkArray, b: VkArray) -> Any:
        part = a[key]
        return getattr(part, name)(b[key] * 2) if name != "fill" else part.fill(3)

    return run


PLACES: dict[str, list[Callable[[VkArray, VkArray], Any]]] = {
    "operators": [in_place("__iadd__"), in_place("__imul__"), in_place("__isub__")], "filled": [in_place("fill")],
    "into a slice": [assign(slice(1, 3), lambda a, b: b[:2])],
    "into a column": [assign((slice(None), 2), lambda a, b: b[:, 1] + 1)],
    "a number": [assign((..., slice(None, None, 2)), lambda a, b: 7)], "shifted": [assign(slice(1, None), lambda a, b: a[:-1])],
    "shifted sums": [assign(slice(1, None), lambda a, b: a[:-1] + a[1:])], "reversed": [assign(..., lambda a, b: a[::-1])],
    "part by part": [assign(slice(0, 2), lambda a, b: b[:2]), assign(slice(2, 5), lambda a, b: a[:3] * 2)],
    "twice": [assign(..., lambda a, b: b), assign(..., lambda a, b: a + b), lambda a, b: a - b],
    "read between": [lambda a, b: a + 1, in_place("__iadd__"), lambda a, b: a + 1, in_place("__iadd__"), lambda a, b: a + 1],
    "by a mask": [lambda a, b: a.__setitem__(a > 0, 5), lambda a, b: a + b], "out": [lambda a, b: vx.add(a, b, out=a)],
    "by places": [lambda a, b: a.__setitem__(vx.asarray([0, 3]), b[:2])],
    "into both": [in_place("__iadd__"), lambda a, b: b.__iadd__(a)],
    "exchanged": [assign(slice(0, 2), lambda a, b: a[2:4]), assign(slice(2, 4), lambda a, b: a[0:2])],
}  # fmt: skip
SHARED: dict[str, Callable[[], tuple[VkArray, VkArray]]] = {
    "apart": lambda: (array(), array(seed=1)), "the same": lambda: (array(),) * 2,
    "overlapping": lambda: (lambda x: (x[:5], x[1:]))(array(shape=(6, 7))),
    "transposed": lambda: (lambda x: (x, x.T))(array(shape=(5, 5))),
    "reversed": lambda: (lambda x: (x, x[::-1]))(array()),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_places_that_are_written(place):
    for name, make in SHARED.items():
        check(lambda a, b: _written(a, b, *PLACES[place]), make)
        if name == "apart":  # into what the function has made, and a view of an argument
            check(lambda a, b: _written(a * 1, b, *PLACES[place]), make)
            check(lambda a, b: _written(a[:, 1:], b[:, :-1], *PLACES[place]), make)


def test_zeros_that_a_compiler_knows_keep_their_signs():
    """CPU drivers would compute x * 0.0 as 0.0, of whatever x, where they know that it is 0."""

    def function(x, k):
        zeros = [k - k, k != k, k ^ k, vx.isnan(k)]
        return [[x * vx.astype(zero, one) for one in (vx.float16, vx.float32, vx.complex64)] for zero in zeros]

    for dtype in supported((vx.int8, vx.uint32, vx.int64)):
        check(function, lambda dtype=dtype: (array(shape=(9,)), vx.ones((9,), dtype=dtype)))


def test_places_of_no_dimensions():
    def function(a, b):
        a += 1
        total = vx.sum(b)
        total += 1
        zero = vx.zeros(())
        zero += b[0, 0]
        return a, total, zero, a[()]

    check(function, lambda: (vx.asarray(3.0), array()), lambda: (array()[0, 0], array()))
    check(lambda x: (x, x.T, [x, x[1:]], x), lambda: (array(),))
