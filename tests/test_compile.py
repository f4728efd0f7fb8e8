"""`vkarray.compile`: what it makes of a function gives the same bits, leaves the same arguments, and raises the same errors."""

from __future__ import annotations

import dataclasses
import functools
import math
import shutil
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
from reference import random_values, special_values, supported

import vkarray as vx
from vkarray import configuration
from vkarray._vk import faults
from vkarray._vk.watch import watches
from vkarray.core.array import VkArray
from vkarray.kernels import fused
from vkarray.kernels.conversion import cast_operation
from vkarray.kernels.expressions import Expression, Step
from vkarray.kernels.fused import Input
from vkarray.kernels.launch import has_texels
from vkarray.kernels.rows import ROWS
from vkarray.nn.optimizers import of_lists

DTYPES = supported(vx.core.dtypes.DTYPES.values())
traced = pytest.mark.skipif(
    configuration.current().compare, reason="functions run as they are while results are compared"
)


def seen(value: Any) -> Any:
    """All that a caller can see of a result."""
    if isinstance(value, dict):
        return type(value), [(name, seen(one)) for name, one in value.items()]
    if isinstance(value, (tuple, list)):
        return type(value), [seen(one) for one in value]
    if type(value) is VkArray:
        host = np.array(value)
        if host.dtype.kind in "fc":  # the sign of a NaN that an operation makes depends on how its operands are ordered
            parts = host.reshape(-1).view(host.real.dtype)
            parts[np.isnan(parts)] = np.nan
        return value.dtype.name, value.shape, value.strides, hasattr(value, "_is_place"), host.tobytes()
    if hasattr(value, "__dict__"):
        return type(value), seen(vars(value))
    return type(value), repr(value)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a call does: its results, its arguments after it, or its error."""
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return seen(found), seen(arguments)


def check(function: Callable[..., Any], *calls: Callable[[], tuple[Any, ...]], programs: int | None = None) -> None:
    """Compare a function with what is compiled of it, for arguments that are made anew for each."""
    compiled = vx.compile(function)
    for place, make in enumerate((*calls, calls[0])):
        assert outcome(compiled, make()) == outcome(function, make()), f"call {place}"
    assert not watches
    if programs is not None and not configuration.current().compare:
        assert len(compiled.explain().programs) == programs


def array(dtype: Any = vx.float32, shape: tuple[int, ...] = (5, 7), seed: int = 0) -> VkArray:
    """Ordinary numbers, zeros of both signs and what is not finite."""
    size = math.prod(shape)
    special = special_values(dtype)
    values = np.concatenate([special, random_values(dtype, 40, seed)]).astype(special.dtype)
    return vx.asarray(np.resize(np.random.default_rng(seed).permutation(values), size).reshape(shape), dtype=dtype)


# -- every operation ------------------------------------------------------------------------------------------------------


def rows_of(dtype: Any) -> list[Any]:
    return [row for row in ROWS.values() if dtype in row.accepted()]


@pytest.mark.skipif(shutil.which("spirv-val") is None, reason="spirv-val is not installed")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_linked_kernels_are_valid(dtype, device, tmp_path):
    """Kernels of all rows and conversions of a type, some at a time, flat and strided."""
    rows = [row.operation(dtype) for row in rows_of(dtype)]
    targets = [one for one in DTYPES if one is not dtype and not (dtype.kind == "c" and one.kind in "iuf")]
    operations = [*rows, *(cast_operation(dtype, other) for other in targets)]
    for first in range(0, len(operations), fused.RESULTS):
        part = operations[first : first + fused.RESULTS]
        steps = tuple(Step(one, tuple(range(len(one.inputs)))) for one in part)
        results = tuple((3 + number, one.result) for number, one in enumerate(part))
        flat = first // fused.RESULTS % 2 == 0
        kinds = [("walked", "one", "immediate"), ("memory", "memory", "memory")][flat]
        if not flat and dtype.itemsize == 4 and has_texels(device):
            kinds = ("words 0", "held", "immediate")
        if dtype is vx.complex128:  # whose bits are more than a field has
            kinds = (kinds[0], "one", kinds[0])
        inputs = tuple(Input(kind, dtype) for kind in kinds)
        path = tmp_path / "kernel.spv"
        strip = fused.Strip(1 if flat else 4, frozenset(range(len(results))[:1] if results[0][1].itemsize == 4 else ()))
        path.write_bytes(fused.code(Expression((dtype,) * 3, steps, results), inputs, flat, 1, device, strip))
        command = ["spirv-val", "--scalar-block-layout", "--target-env", "vulkan1.2", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{[one.label for one in part]}: {done.stderr}"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_in_chains(dtype):
    """A part of the rows on each type, so that each row is met with several: the result is stored, and used on."""
    rows = rows_of(dtype)[DTYPES.index(dtype) % 6 :: 6]

    def function(*given):
        return [(made, vx.equal(made, made)) for row in rows for made in (row(*given[: row.operands]),)]

    size = 64
    check(function, lambda: tuple(array(dtype, (size,), seed) for seed in range(3)), programs=1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_conversions(dtype):
    targets = [one for one in DTYPES if not (dtype.kind == "c" and one.kind in "iuf")]

    def function(x):
        return [vx.equal(vx.astype(vx.astype(x[::-1], one), one), 1) for one in targets]

    check(function, lambda: (array(dtype, (70,)),))


# -- layouts, views and places ------------------------------------------------------------------------------------------


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


# -- reductions, products and the rest ---------------------------------------------------------------------------------


WHOLE: dict[str, Callable[[VkArray, VkArray], Any]] = {
    "normalised": lambda a, b: (a - vx.mean(a, axis=1, keepdims=True)) / (vx.std(a, axis=1, keepdims=True) + 1),
    "product": lambda a, b: (a * 2) @ (b + 1).T, "scan": lambda a, b: vx.cumulative_sum(a * b, axis=0) * 2,
    "sorted": lambda a, b: vx.sort(a + b, axis=1)[:, ::-1], "arg": lambda a, b: vx.argmax(a - b, axis=0) + 1,
    "gathered": lambda a, b: vx.take(a * 2, vx.asarray([1, 0, -1]), axis=0) + 1,
    "made": lambda a, b: vx.linspace(0, 1, 7) * a + vx.eye(5, 7),
    "einsum": lambda a, b: vx.einsum("ij,kj->ik", a, b), "distances": lambda a, b: vx.sum((a[:, None] - b[None]) ** 2, axis=-1),
    "constants": lambda a, b: a + vx.asarray([1, 2, 3, 4, 5, 6, 7]) + vx.asarray(np.arange(7, dtype=np.float32)),
    "transform": lambda a, b: vx.fft.ifft(vx.fft.fft(a) * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_not_elementwise(name):
    hosts = [np.random.default_rng(k).standard_normal((5, 7)) for k in (0, 1)]
    check(WHOLE[name], lambda: tuple(vx.asarray(host, dtype=vx.float32) for host in hosts), programs=1)


def test_more_operands_than_a_kernel_has():
    def function(*given):
        total, every = given[0], []
        for one in given[1:]:
            total = vx.where(one > 0, total, one * 2) + vx.clip(one, -0.5, 0.5)
            every.append(total)
        return every

    check(function, lambda: tuple(array(shape=(9,), seed=k) for k in range(30)), programs=1)


# -- numbers ------------------------------------------------------------------------------------------------------------


# A function of an array and a number, and how many programs it takes for all of these numbers.
NUMBERS: dict[str, tuple[Callable[[VkArray, Any], Any], tuple[Any, ...], int]] = {
    "product": (lambda x, n: x * n, (2.0, 3.5, -0.0, math.nan, math.inf, 1e-45), 1),
    "from the left": (lambda x, n: n * x - (n + x), (2.0, -1.5), 1), "whole": (lambda x, n: x + n, (1, 2, -3), 1),
    "complex": (lambda x, n: x * n, (1j, 2 - 1j), 1), "bool": (lambda x, n: x * n, (True, False), 2),
    "of several types": (lambda x, n: x * n, (2, 2.0, 2j, True), 4), "power": (lambda x, n: x**n, (2.0, 3.0), 1),
    "branch": (lambda x, n: x * 2 if n > 1 else x, (0.5, 2.0, 3.0), 3), "axis": (lambda x, n: vx.sum(x * 2, axis=n), (0, 1, -1), 3),
    "shape": (lambda x, n: x[:n] * n, (1, 2), 2), "range": (lambda x, n: x * n + sum(range(n)), (2, 3), 2),
    "math": (lambda x, n: x * n + math.sqrt(n), (2.0, 3.0), 2), "float": (lambda x, n: x * n + 2.5 * n, (2, 3), 2),
    "NumPy": (lambda x, n: x * n + float(np.exp(n)), (2.0, 3.0), 2), "text": (lambda x, n: (x * n, f"{n}"), (2.0, 3.0), 2),
    "index": (lambda x, n: x * n + [5, 6, 7][n], (1, 2), 2), "array": (lambda x, n: x * n + vx.asarray(n), (2.0, 3.0), 2),
    "returned": (lambda x, n: (x * n, n), (2.0, 3.0), 2),
    "in a list": (lambda x, n: x * n + vx.asarray([n, n + 1, 2, 3, 4, 5, 6]), (2, 3), 2),
    "bounds beyond the type": (lambda x, n: (vx.clip(vx.astype(x, vx.uint8), -n, n), vx.astype(x, vx.int8) < n), (3, 1000), 2),
    "clip": (lambda x, n: vx.clip(x, -n, n), (2.0, 3.0), 2), "full": (lambda x, n: x * vx.full((5, 7), n), (2.0, 3.0), 1),
    "where": (lambda x, n: vx.where(x > n, x, n), (0.5, 3.0), 1), "assigned": (lambda x, n: x.__setitem__(0, n), (0.5, 3.0), 1),
    "in place": (lambda x, n: x.__iadd__(n), (0.5, 3), 2), "roll": (lambda x, n: vx.roll(x, n) * n, (1, 2), 2),
    "arange": (lambda x, n: vx.arange(7) * n + x, (1, 2), 1),
    "NumPy's scalar": (lambda x, n: x / n, (np.float32(0.0), np.float32(-0.0)), 2),
    "beyond the type": (lambda x, n: vx.astype(x, vx.int8) + n, (1, 1000, -5), 1),
    "too large": (lambda x, n: x + n, (1, 10**400, 2), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name):
    function, numbers, programs = NUMBERS[name]
    check(function, *[lambda number=number: (array(), number) for number in (*numbers, *numbers)], programs=programs)


def test_bounds_and_comparisons_beyond_a_type():
    check(
        lambda x: (vx.clip(x, -1, 300), x < 1000, x == -1),
        lambda: (vx.asarray([0, 1, 255], dtype=vx.uint8),),
        programs=1,
    )


@traced
def test_numbers_vary_without_being_traced_again():
    calls = []

    def function(x, *, scale):
        calls.append(1)
        return x * scale

    compiled = vx.compile(function)
    for scale in (1.0, 2.0, 3.5):
        assert compiled(vx.asarray([2.0]), scale=scale).tolist() == [2 * scale]
    assert len(calls) == 1


# -- nests, methods and closures ---------------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: Any
    second: Any


class Plain(tuple):
    __slots__ = ()


@dataclasses.dataclass
class State:
    value: Any
    name: str = "state"


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: Any


class Layer:
    def __init__(self, weight: Any, scale: Any = 2.0) -> None:
        self.weight, self.scale, self.inner = weight, scale, None

    @vx.compile
    def applied(self, x: VkArray) -> VkArray:
        return x * self.weight * self.scale if self.inner is None else self.inner.applied(x) * self.weight


def _layer(*values: Any) -> Layer:
    made = Layer(*values)
    made.inner = Layer(array(seed=3), 0.5)
    return made


NESTS: dict[str, Callable[[VkArray], Any]] = {
    "tuple": lambda x: (x, (x, None)), "list": lambda x: [x, [x], []], "dictionary": lambda x: {"a": x, "b": {"c": x, 1: 2.0}},
    "named tuple": lambda x: Pair(x, Pair(x, "text")), "subclass of tuple": lambda x: Plain((x, x)),
    "dataclass": lambda x: State(x),
    "frozen dataclass": lambda x: Frozen([x]), "object": lambda x: Layer(x), "ordered": lambda x: OrderedDict(b=x, a=x),
    "of everything": lambda x: {"a": (State([x, None]), Pair(x, 3), True, "text", vx.float32, ...)},
}  # fmt: skip


def arrays_in(value: Any) -> list[VkArray]:
    if type(value) is VkArray:
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else vars(value).values() if (
        hasattr(value, "__dict__")) else ()  # fmt: skip
    return [one for part in parts for one in arrays_in(part)]


@pytest.mark.parametrize("nest", NESTS)
def test_nests(nest):
    check(lambda given: [one * 2 for one in arrays_in(given)], lambda: (NESTS[nest](array()),))
    check(lambda x: NESTS[nest](x * 2), lambda: (array(),))
    check(lambda given: given, lambda: (NESTS[nest](array()),))


def test_methods_see_what_their_object_holds():
    x, layer = array(), Layer(array(seed=1))
    for scale in (2.0, 3.0):
        layer.scale = scale
        assert seen(layer.applied(x)) == seen(x * layer.weight * scale)
    layer.weight = array(seed=2)
    assert seen(layer.applied(x)) == seen(x * layer.weight * 3.0)
    layer = _layer(array(seed=1))
    assert seen(layer.applied(x)) == seen(x * layer.inner.weight * 0.5 * layer.weight)
    settings = State(None)
    plain = vx.compile(lambda x, settings: x * 2 if settings.name == "double" else x)
    assert seen(plain(x, settings)) == seen(x)
    settings.name = "double"
    assert seen(plain(x, settings)) == seen(x * 2)


def test_arguments_by_name_and_by_default():
    function = vx.compile(lambda a, b=2.0, *rest, scale=None, **others: (a * b, rest, scale, others))
    x = array()
    for args, names in (
        ((x,), {}),
        ((x, x), {}),
        ((x, 2.0, x), {"scale": x}),
        ((x,), {"scale": 3, "other": x}),
        ((x,), {"b": x}),
    ):
        assert seen(function(*args, **names)) == seen(function.function(*args, **names))


def test_closures():
    held, table = array(seed=4), [array(seed=5)]
    function = vx.compile(lambda x: x * held + table[0])
    check(lambda x: x * held + table[0], lambda: (array(),))
    assert seen(function(held)) == seen(held * held + table[0])
    held += 1
    assert seen(function(array())) == seen(array() * held + table[0])

    def written(x):
        x += 1
        return held * 2

    def counting(x):
        held.__iadd__(1)
        return x + held

    for one in (written, counting):
        compiled = vx.compile(one)
        for argument in (array(), array(), held):
            before = held[...] * 1
            results = []
            for way in (one, compiled):
                held[...] = before
                given = held if argument is held else array()
                results.append((seen(way(given)), seen(given), seen(held)))
            assert results[0] == results[1]


def test_compiled_functions_nest():
    inner = vx.compile(lambda x, n: {"result": x * n})
    check(
        lambda x, n: inner(x, n)["result"] + inner(x * 2, 3)["result"],
        lambda: (array(), 2.0),
        lambda: (array(), 3.0),
        programs=1,
    )
    assert vx.compile(inner) is inner
    assert inner.__name__ == "<lambda>"

    class Class:
        @classmethod
        @vx.compile
        def of_class(cls, x):
            return x * 2

        @staticmethod
        @vx.compile
        def static(x):
            return x * 3

    assert seen((Class.of_class(array()), Class().static(array()))) == seen((array() * 2, array() * 3))


def test_threads():
    function = vx.compile(lambda x, n: (vx.sum(x * n, axis=1), x[::-1] + n))
    given = [array(shape=(5 + k % 3, 7), seed=k) for k in range(8)]
    barrier = threading.Barrier(8)

    def work(number):
        barrier.wait()
        return [seen(function(given[number], float(k))) for k in range(20)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(8)))
    assert found == [[seen(function.function(x, float(k))) for k in range(20)] for x in given]


# -- errors -------------------------------------------------------------------------------------------------------------


def _branched(x: VkArray) -> VkArray:
    return x if x[0, 0] > 0 else -x


READS: dict[str, Callable[[VkArray], Any]] = {
    "float": lambda x: float(x[0, 0]), "int": lambda x: int(x[0, 0]), "bool": lambda x: bool(x[0, 0] > 0), "branch": _branched,
    "tolist": lambda x: x.tolist(), "item": lambda x: x[0, 0].item(), "NumPy": lambda x: np.asarray(x), "text": lambda x: f"{x}",
    "print": lambda x: print(x), "nonzero": lambda x: vx.nonzero(x), "unique": lambda x: vx.unique_values(x),
    "mask": lambda x: x[x > 0], "index": lambda x: [1, 2, 3][vx.argmax(x)],
    "range": lambda x: list(range(vx.argmax(x))), "DLPack": lambda x: x.__dlpack__(),
    "host's DLPack": lambda x: np.from_dlpack(x), "svd": lambda x: vx.linalg.svd(x),
    "iterator": lambda x: [float(y[0]) for y in x], "complex": lambda x: complex(x[0, 0]),
}  # fmt: skip


@traced
@pytest.mark.parametrize("name", READS)
def test_values_cannot_be_read(name):
    compiled = vx.compile(READS[name])
    line = READS[name].__code__.co_firstlineno + (READS[name] is _branched)
    with pytest.raises(vx.TraceError, match=rf"test_compile\.py:{line}.*vkarray\.where"):
        compiled(array())
    assert not watches
    with vx.config(compile=False), np.errstate(all="ignore"):
        outcome(compiled, (array(),))
    assert seen(vx.compile(lambda x: x + 1)(array())) == seen(array() + 1)


@pytest.mark.parametrize(
    "function", [vx.tril, vx.triu, vx.fft.fft, lambda x: vx.tril(x, k=1), lambda x: vx.fft.rfft(x, axis=0)]
)
def test_what_calls_share_belongs_to_no_trace(function):
    """Tables that are made at the first use, in a function that is compiled, serve others too."""
    x = array(shape=(11, 13))
    with np.errstate(all="ignore"):
        assert outcome(vx.compile(lambda x: function(x * 1)), (x,)) == outcome(lambda x: function(x * 1), (x,))


@traced
def test_steps_of_optimizers_say_that_they_cannot_be_traced():
    parameters, gradients = [vx.ones((3,))], [vx.ones((3,))]
    with pytest.raises(vx.TraceError, match="addresses"):
        vx.compile(lambda one, other: of_lists("add", [one, other]))(parameters, gradients)


def test_forms_can_be_read():
    check(
        lambda x: (len(x), x.shape, x.ndim, x.size, x.dtype, [row * 2 for row in x], x.nbytes, x.strides),
        lambda: (array(),),
    )


@traced
def test_an_array_that_escapes_is_no_array():
    kept = []
    function = vx.compile(lambda x: kept.append(x * 2) or x + 1)
    assert seen(function(array())) == seen(array() + 1)
    for use in (lambda: kept[0] + 1, lambda: float(kept[0][0, 0]), lambda: vx.sum(kept[0]), lambda: np.asarray(kept[0]),
                lambda: vx.compile(lambda x: x + kept[0])(array())):  # fmt: skip
        with pytest.raises(vx.TraceError, match="belongs to a function that was traced"):
            use()
        assert seen(function(array())) == seen(array() + 1)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
def test_errors_of_the_function(kind):
    wrong = [True]

    def function(x, n):
        made = x * n
        if wrong[0]:
            raise kind("said so")
        return made + 1

    compiled = vx.compile(function)
    for _ in range(2):
        with pytest.raises(kind, match="said so"):
            compiled(array(), 2.0)
        assert not watches
    wrong.clear()
    wrong.append(False)
    assert seen(compiled(array(), 2.0)) == seen(array() * 2.0 + 1)


@traced
def test_what_a_trace_cannot_keep():
    def appended(given):
        given.append(given[0] * 2)

    def named(given):
        given.weight = given.weight * 2

    def reshaped(x):
        x.shape = (7, 5)
        return x * 2

    for function, given in ((appended, [array()]), (named, Layer(array())), (reshaped, array())):
        with pytest.raises(vx.TraceError, match="changes"):
            vx.compile(function)(given)
    with pytest.raises(TypeError, match="<lambda>: got an argument of type ndarray"):
        vx.compile(lambda x: x)(np.ones(3))
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TypeError, match="<lambda>"):
        vx.compile(lambda x: x)(endless)
    with pytest.raises(TypeError, match="compile: expected a function, got 3"):
        vx.compile(3)


@pytest.mark.parametrize("when", ["now", "later"])
def test_an_index_out_of_range(when, device):
    function = vx.compile(lambda x, places: vx.take(x * 2, places, axis=0) + 1)
    right, wrong = vx.asarray([0, 4]), vx.asarray([0, 5])
    with vx.config(check=when):
        for _ in range(2):
            assert seen(function(array(), right)) == seen(vx.take(array() * 2, right, axis=0) + 1)
            with pytest.raises(IndexError, match="5"):
                np.asarray(function(array(), wrong))
        assert seen(function(array(), right)) == seen(vx.take(array() * 2, right, axis=0) + 1)


# -- what it tells ------------------------------------------------------------------------------------------------------


@traced
def test_explanation():
    function = vx.compile(lambda a, b: (a * b + 1, vx.sum(a * b)))
    assert str(function.explain()).endswith(": 0 programs")
    function(array(), array())
    told = str(function.explain())
    for part in (
        "1 program",
        "multiply float32",
        "add float32",
        "test_compile.py:",
        "one kernel over (5, 7)",
        "1 repeated",
    ):
        assert part in told
    assert function.explain().kernels < 4


@traced
def test_chains_are_one_kernel():
    def chain(x):
        for _ in range(10):
            x = vx.sin(x) * 0.5 + 1
        return x

    compiled = vx.compile(chain)
    compiled(array())
    assert compiled.explain().kernels == 1


@traced
def test_numbers_take_no_places_of_arrays():
    """A number that returns has one place; a kernel that has none left becomes two."""

    def polynomial(x, numbers):
        value = x
        for number in numbers:
            value = value * x + number / 7
        return value

    for numbers, kernels in (([1, 2, 3] * 40, 1), (range(40), 2)):
        function = functools.partial(polynomial, numbers=tuple(numbers))
        check(function, lambda: (array(),))
        compiled = vx.compile(function)
        compiled(array())
        assert compiled.explain().kernels == kernels


@traced
def test_many_signatures_are_told_once():
    function = vx.compile(lambda x, n: x[:n] * 2)
    with pytest.warns(UserWarning, match=r"has been traced for 17 signatures.*numbers decide") as told:
        _ = [function(vx.zeros((40,)), n) for n in range(30)]
    assert len(told) == 1
    function = vx.compile(lambda x: x * 2)
    with pytest.warns(UserWarning, match="shapes, types or strides of arrays") as told:
        _ = [function(vx.zeros((n,))) for n in range(30)]
    assert len(told) == 1


def test_functions_can_run_as_they_are():
    calls = []
    function = vx.compile(lambda x: calls.append(1) or x * 2)
    with vx.config(compile=False):
        for _ in range(3):
            assert seen(function(array())) == seen(array() * 2)
    assert len(calls) == 3
    assert vx.compile()(lambda x: x + 1)(vx.asarray(1)).tolist() == 2


@traced
@pytest.mark.parametrize("aside", [False, True])
def test_a_function_runs_as_it_is_where_the_driver_cannot_make_its_kernel(device, aside, monkeypatch):
    def function(x, y):
        return vx.where(x > y, x * 0.12345 - y, x + 0.54321)

    def raising(*_):
        raise vx.VulkanError("refused", "VK_ERROR_UNKNOWN")

    x, y = array(seed=1), array(seed=2)
    wanted = seen(function(x, y))
    compiled = vx.compile(function)
    with faults.inject(-13, "vkCreateComputePipelines"):  # VK_ERROR_UNKNOWN
        if aside:  # a thread has tried before
            monkeypatch.setattr(type(x.device), "makes_aside", lambda device: True)
            monkeypatch.setattr(x.device.functions_aside, "vkCreateComputePipelines", raising)
        assert seen(compiled(x, y)) == wanted
    assert "runs as it is, since the driver cannot make a kernel of it" in str(compiled.explain())
    assert seen(compiled(x, y)) == wanted
