"""Row programs of `vkarray.compile`: reductions of rows, and what is computed of the same rows, in one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from compiled import array, check, traced
from reference import supported
from validator import complaint, needs_validator

import vkarray as vx
from vkarray import configuration
from vkarray.core.array import VkArray
from vkarray.graph import borders
from vkarray.kernels import expressions, launch, reduction_run, row_program
from vkarray.kernels.expressions import Expression

DTYPES = supported(vx.core.dtypes.DTYPES.values())
FLOATS = supported((vx.float16, vx.bfloat16, vx.float32, vx.float64))
Function = Callable[..., Any]


def numbers(dtype: Any = vx.float32, shape: tuple[int, ...] = (5, 9), seed: int = 0) -> VkArray:
    """Ordinary numbers, zeros of both signs and infinities. Which of two NaNs a sum is, drivers choose."""
    made = array(dtype, shape, seed)
    return vx.where(vx.isnan(made), vx.asarray(1, dtype=dtype), made)


def kept(function: Function) -> Function:
    """A reduction of the last axis that keeps it."""
    return lambda x: function(x, axis=-1, keepdims=True)


def softmax(x):
    powers = vx.exp(x - kept(vx.max)(x))
    return powers / kept(vx.sum)(powers)


def log_softmax(x):
    moved = x - kept(vx.max)(x)
    return moved - vx.log(kept(vx.sum)(vx.exp(moved)))


def logsumexp(x):
    most = vx.max(x, axis=-1)
    return most + vx.log(vx.sum(vx.exp(x - vx.expand_dims(most, -1)), axis=-1))


def layer_norm(x, weight, bias):
    centered = x - kept(vx.mean)(x)
    return centered / vx.sqrt(kept(vx.mean)(centered * centered) + 1e-5) * weight + bias


def layer_norm_of_variance(x, weight, bias):
    return (x - kept(vx.mean)(x)) / vx.sqrt(kept(vx.var)(x) + 1e-5) * weight + bias


def rms_norm(x, weight, bias):
    return x / vx.sqrt(kept(vx.mean)(x * x) + 1e-5) * weight


def variance(x):
    return vx.mean((x - kept(vx.mean)(x)) ** 2, axis=-1)


def unit(x):
    return x / vx.sqrt(kept(vx.sum)(x * x))


def nearest(x):
    distances = vx.abs(x - x[:1] * 2)
    return vx.argmin(distances, axis=-1), vx.min(distances, axis=-1)


def attention(x):
    places = vx.arange(x.shape[-1])
    seen = places[:, None] >= places[None, :]
    return softmax(vx.where(seen[: x.shape[-2], :], x * 0.25, -vx.inf))


def several(x):
    most = vx.max(x, axis=-1)
    total = kept(vx.sum)(x)
    return most, total, x * total, most * 2, vx.exp(x - total)


# Functions of one array, and the dispatches that they take.
PROGRAMS: dict[str, tuple[Function, int]] = {
    "softmax": (softmax, 1), "log_softmax": (log_softmax, 1), "logsumexp": (logsumexp, 1), "variance": (variance, 1),
    "unit": (unit, 1), "nearest": (nearest, 1), "attention": (attention, 1), "several": (several, 1),
    "kept": (lambda x: vx.sqrt(kept(vx.sum)(x * x)), 1),
    "not kept": (lambda x: x - vx.mean(x, axis=-1)[..., None], 1),
    "two of a row": (lambda x: (vx.max(x, axis=-1), vx.min(x, axis=-1)), 1),
    "spread": (lambda x: (x - kept(vx.min)(x)) / (kept(vx.max)(x) - kept(vx.min)(x)), 1),
    "of a strided array": (lambda x: softmax(x[..., ::2]), 1),
    "of a reversed array": (lambda x: x[..., ::-1] - kept(vx.sum)(x), 1),
    "of rows backwards": (lambda x: x[::-1] - kept(vx.sum)(x[::-1]), 1),
    "of columns": (lambda x: vx.exp(x - vx.max(x, axis=-2, keepdims=True)), 1),
    "of both axes": (lambda x: x - vx.mean(x, axis=(-2, -1), keepdims=True), 1),
    "of a mean": (lambda x: vx.mean(logsumexp(x) - x[..., 0]), 2),
    "of columns next": (lambda x: vx.sum(x * kept(vx.sum)(x), axis=-2), 2),
    "of walked arrays": (lambda x: vx.sum(abs(x[:, None] - x[None]), axis=-1), 1),
    "a nearest row": (lambda x: nearest(vx.sum((x[:, None] - x[None, 1:4]) ** 2, axis=-1)), 2),
    "other rows": (lambda x: kept(vx.sum)(x) + vx.sum(x, axis=0), 2),
    "a square": (lambda x: x[..., :5] - vx.max(x[..., :5], axis=-1), 2),
    "again": (lambda x: softmax(softmax(x)), 1),
}  # fmt: skip
# Functions of an array whose last axis is short, and the dispatches that they take.
SHORT: dict[str, tuple[Function, int]] = {
    "lengths": (lambda x: vx.sqrt(vx.sum(x * x, axis=-1)), 1),
    "distances": (lambda x: vx.sum((x[:, None] - x[None]) ** 2, axis=-1), 1),
    "nearest": (lambda x: nearest(vx.sum((x[:, None] - x[None, :7]) ** 2, axis=-1)), 2),
    "what is read again": (lambda x: x / vx.sum(x * x, axis=-1, keepdims=True), 1),
    "what is stored": (lambda x: (lambda y: (y, vx.sum(y, axis=-1)))(x * x), 2),
    "of numbers in memory": (lambda x: vx.sum(x, axis=-1) * 2, 1),
    "first axis": (lambda x: vx.sum(x.T * x.T + 1, axis=0), 1),
    "means": (lambda x: vx.mean(x * x + 1, axis=-1) + vx.mean(x, axis=-1), 1),
    "products": (lambda x: vx.prod(x - 0.5, axis=-1), 1),
}  # fmt: skip
# Of an array, a weight and a bias.
WEIGHTED = {function.__name__: function for function in (layer_norm, layer_norm_of_variance, rms_norm)}
# With elements that one invocation has, that some of a subgroup or a workgroup have, and what is left over.
SHAPES = (
    (5, 7), (3, 1), (9, 3), (20, 12), (2, 3, 33), (1, 130), (3, 1000), (2, 4096), (2, 4100), (1, 16384), (70, 64),
)  # fmt: skip


def dispatches(function: Function, *given: Any) -> int:
    compiled = vx.compile(function)
    compiled(*given)
    return compiled.explain().kernels


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    """Of a type each, in turn: a kernel of several reductions takes a CPU driver half a second."""
    check(PROGRAMS[name][0], lambda: (numbers(FLOATS[[*PROGRAMS].index(name) % len(FLOATS)]),))


@traced
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_few_kernels(name):
    function, kernels = PROGRAMS[name]
    assert dispatches(function, vx.empty((5, 9), dtype=FLOATS[[*PROGRAMS].index(name) % len(FLOATS)])) == kernels


@pytest.mark.parametrize("name", SHORT)
def test_short_rows(name):
    """A row of one element to more than a kernel can read."""
    function, kernels = SHORT[name]
    for length in (1, 3, 8, 33):
        x = numbers(vx.float32, (20, length))
        check(function, lambda x=x: (x,))
        if length in (3, 8):
            assert dispatches(function, x) == kernels, length


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape):
    """Of ordinary numbers: what is not finite would spread over whole rows."""
    host = np.random.default_rng(0).standard_normal(shape)
    dtype = FLOATS[SHAPES.index(shape) % len(FLOATS)]
    check(softmax, lambda: (vx.asarray(host, dtype=dtype),))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights(name, dtype):
    """A weight has an element for each place in a row, a bias an element for each row, which may be of another type."""
    check(WEIGHTED[name], lambda: (numbers(dtype, (6, 40)), numbers(dtype, (40,)), numbers(shape=(6, 1))))


REDUCTIONS = ("sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax", "argmin", "count_nonzero")


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    """Each reduction of some of the types, in turn: of an array and of an expression, with and without the axis."""

    def function(x):
        reduce = getattr(vx, name)
        first = reduce(x, axis=-1, keepdims=True)
        return first == first, reduce(vx.where(x == first, x, x), axis=-1), x == vx.astype(first, x.dtype)

    for dtype in DTYPES[REDUCTIONS.index(name) % 4 :: 4]:
        try:
            function(array(dtype))
        except TypeError:
            continue
        except vx.FeatureError:  # uint32 beside places, which are int32 where there is no int64
            assert dtype is vx.uint32
            assert not supported([vx.int64])
            continue
        check(function, lambda dtype=dtype: (array(dtype, (4, 37)),))


SPECIAL = {
    "infinite": (np.inf, 1.0, 2.0), "minus infinity": (-np.inf,) * 3, "not a number": (np.nan, 1.0, -np.inf),
    "zeros": (0.0, -0.0, 0.0), "minus zeros": (-0.0,) * 3,
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name):
    rows = np.asarray([SPECIAL[name], (1.0, 2.0, 3.0)])
    for dtype in FLOATS[1:3]:
        check(lambda x: (softmax(x), *several(x)), lambda dtype=dtype: (vx.asarray(rows, dtype=dtype),))


@pytest.mark.parametrize("shape", [(0, 3), (0, 1), (2, 0)], ids=str)
def test_no_elements(shape):
    check(lambda x: x - kept(vx.sum)(x), lambda: (vx.zeros(shape),))


def test_what_is_changed_later_is_no_part():
    def function(x, y):
        total = vx.sum(x, axis=-1, keepdims=True)
        moved = x - total
        y += moved
        x[...] = moved * 2
        return moved + y, total + x

    check(function, lambda: (array(), array(seed=1)))


def test_numbers_are_read_in_each_call():
    calls = [lambda factor=factor: (array(), factor) for factor in (2.0, 3.0)]
    check(lambda x, factor: softmax(x * factor) + vx.sum(x, axis=-1, keepdims=True) * factor, *calls)


@traced
def test_explanation():
    function = vx.compile(softmax)
    function(vx.ones((5, 7)))
    told = str(function.explain())
    for part in ("one kernel over (5, 7) by rows along (1,)", "max float32", "exp float32", "in 1 dispatch;"):
        assert part in told


@traced
@pytest.mark.parametrize("axis", [1, 0])
def test_rows_and_columns_are_standardised_by_one_kernel_on_gpus(axis):
    with vx.config(profile=(*configuration.current().profile, "gpu")):
        device = vx.asarray(0).device
    x = numbers(vx.float32, (40, 50)).to_device(device)

    def standardised(x):
        centred = x - vx.mean(x, axis=axis, keepdims=True)
        return centred / vx.mean(centred * centred, axis=axis, keepdims=True)

    compiled = vx.compile(standardised)
    assert np.asarray(compiled(x)).tobytes() == np.asarray(standardised(x)).tobytes()
    assert "in 1 dispatch;" in str(compiled.explain())


@traced
def test_states_of_many_reductions_fit_shared_memory():
    """Kernels of columns have many invocations, each with a state of each reduction."""
    with vx.config(profile=(*configuration.current().profile, "gpu")):
        device = vx.asarray(0).device
    x = numbers(FLOATS[-1], (40, 50)).to_device(device)

    def extremes(x):
        found = [reduce(x, axis=0, keepdims=True) for reduce in (vx.max, vx.min, vx.argmax, vx.argmin, vx.sum, vx.prod)]
        return [x * one for one in found]

    compiled = vx.compile(extremes)
    for found, expected in zip(compiled(x), extremes(x), strict=True):
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


@traced
@needs_validator
@pytest.mark.parametrize("name", ["softmax", "several", "nearest", "of columns", "variance"])
def test_kernels_are_valid(name, monkeypatch):
    made = []
    real = row_program.code

    def code(*given):
        made.append(real(*given))
        return made[-1]

    monkeypatch.setattr(row_program, "code", code)
    row_program._kernel.cache_clear()
    for dtype in FLOATS:
        vx.compile(PROGRAMS[name][0])(array(dtype, (5, 9)))
    assert made
    for one in made:
        assert not complaint(one)


@traced
@pytest.mark.parametrize("shape", [(5, 9), (3, 300), (2, 1100)], ids=str)
@pytest.mark.parametrize("name", ["softmax", "several", "nearest", "variance", "sum", "std"])
def test_one_call_for_the_elements_of_a_pack(name, shape, device, monkeypatch):
    """Where registers are few, kernels of long expressions compute the elements of a pack by one call in a loop."""
    function = PROGRAMS[name][0] if name in PROGRAMS else lambda x: getattr(vx, name)(vx.exp(x))
    dtype = FLOATS[sum(shape) % len(FLOATS)]
    monkeypatch.setattr(launch, "uses_shared_memory", lambda device: True)
    monkeypatch.setattr(reduction_run, "uses_shared_memory", lambda device: True)
    monkeypatch.setattr(expressions, "TIMES", 1 << 30)
    asked = []
    for module in (reduction_run, row_program):
        monkeypatch.setattr(module, "TAKES_SINGLE_PACKS", {device.limits.registers})
    real = Expression.is_long
    monkeypatch.setattr(Expression, "is_long", lambda self, device: asked.append(self) or real(self, device))
    check(function, lambda: (numbers(dtype, shape),))
    assert asked, "no kernel was asked for by the length of its expression"


@pytest.mark.parametrize("name", ["var", "std"])
def test_a_spread_of_zeros_is_no_negative_zero(name):
    """Where the driver knows that all elements are 0, as eagerly, where it does not."""

    def spread(a):
        return getattr(vx, name)(a != a, axis=0), getattr(vx, name)(vx.astype(a - a, vx.uint8), axis=0)

    with mock.patch.dict(borders.LEAST, cpu=0, gpu=0):
        found = vx.compile(spread)(vx.asarray([5, 7, 5]))
    for one in found:
        assert float(one) == 0
        assert not np.signbit(np.asarray(one))
