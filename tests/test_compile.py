"""`vkarray.compile`: what it makes of a function gives the same bits, leaves the same arguments, and raises the same errors."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from compiled import DTYPES, array, check, outcome, seen, traced
from validator import complaint, needs_validator

import vkarray as vx
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

# -- every operation ------------------------------------------------------------------------------------------------------


def rows_of(dtype: Any) -> list[Any]:
    return [row for row in ROWS.values() if dtype in row.accepted()]


@needs_validator
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_linked_kernels_are_valid(dtype, device):
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
        several = 4 if results[0][1].itemsize == 4 else 1
        strip = fused.Strip(1 if flat else 4, (several, *[2 if one.itemsize == 4 else 1 for _, one in results[1:]]))
        code = fused.code(Expression((dtype,) * 3, steps, results), inputs, flat, 1, device, strip)
        assert not complaint(code), [one.label for one in part]


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
    "returned": (lambda x, n: (x * n, n), (2.0, 3.0), 1),
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


# -- errors -------------------------------------------------------------------------------------------------------------


def _branched(x: VkArray) -> VkArray:
    return x if x[0, 0] > 0 else -x


WHERE, OUTSIDE, DIVIDED = "vkarray.where", "outside of the function", "go on in another one"
# What reads values, and what the error says to write instead.
READS: dict[str, tuple[Callable[[VkArray], Any], str]] = {
    "float": (lambda x: float(x[0, 0]), OUTSIDE), "int": (lambda x: int(x[0, 0]), OUTSIDE),
    "bool": (lambda x: bool(x[0, 0] > 0), WHERE), "branch": (_branched, WHERE), "tolist": (lambda x: x.tolist(), OUTSIDE),
    "item": (lambda x: x[0, 0].item(), "number as an argument"), "NumPy": (lambda x: np.asarray(x), OUTSIDE),
    "text": (lambda x: f"{x}", OUTSIDE), "print": (lambda x: print(x), OUTSIDE), "nonzero": (lambda x: vx.nonzero(x), "mask"),
    "unique": (lambda x: vx.unique_values(x), "mask"), "mask": (lambda x: x[x > 0], "mask"),
    "counts": (lambda x: vx.bincount(vx.astype(x[0], vx.int32), minlength=9), "vkarray.histogram"),
    "mask that is known": (lambda x: x[np.eye(5, 7, dtype=bool)], "mask that is known"),
    "index": (lambda x: [1, 2, 3][vx.argmax(x)], "number as an argument"),
    "slice": (lambda x: x[: vx.argmax(x)], "number as an argument"),
    "range": (lambda x: list(range(vx.argmax(x))), "number as an argument"), "DLPack": (lambda x: x.__dlpack__(), OUTSIDE),
    "host's DLPack": (lambda x: np.from_dlpack(x), OUTSIDE), "svd": (lambda x: vx.linalg.svd(x), DIVIDED),
    "pseudo-inverse": (lambda x: vx.linalg.pinv(x), DIVIDED), "closeness": (lambda x: vx.allclose(x, x), "vkarray.isclose"),
    "iterator": (lambda x: [float(y[0]) for y in x], OUTSIDE), "complex": (lambda x: complex(x[0, 0]), OUTSIDE),
    "seed": (lambda x: vx.random.seed(3), "with a seed"),
    "no seed": (lambda x: vx.random.default_rng().normal(size=3), "give it a seed"),
}  # fmt: skip


@traced
@pytest.mark.parametrize("name", READS)
def test_values_cannot_be_read(name):
    function, instead = READS[name]
    compiled = vx.compile(function)
    line = function.__code__.co_firstlineno + (function is _branched)
    with pytest.raises(vx.TraceError, match=rf"test_compile\.py:{line},.* traced\. .*{re.escape(instead)}"):
        compiled(array())
    assert not watches
    with vx.config(compile=False), np.errstate(all="ignore"):
        outcome(compiled, (array(),))
    assert seen(vx.compile(lambda x: x + 1)(array())) == seen(array() + 1)


@traced
@pytest.mark.parametrize("dynamic", [None, {"x": {0: vx.Dim("n")}}])
def test_an_error_that_the_function_catches_is_told(dynamic):
    def function(x):
        try:
            return x * float(x[0])
        except Exception:
            return x * 2

    compiled = vx.compile(function, dynamic=dynamic)
    line = function.__code__.co_firstlineno + 2
    with pytest.warns(
        UserWarning, match=rf"reads values on the host at .*:{line},.* The function has caught this error"
    ):
        compiled(vx.ones(3))
    compiled(vx.ones(3))
    if dynamic is not None:
        compiled(vx.ones(4))
        with pytest.warns(UserWarning, match="has caught this error"):
            program = vx.Program(function, (vx.ones(3),), dynamic=dynamic)
        program(vx.ones(3))


@pytest.mark.parametrize(
    "function", [vx.tril, vx.triu, vx.fft.fft, lambda x: vx.tril(x, k=1), lambda x: vx.fft.rfft(x, axis=0)]
)
def test_what_calls_share_belongs_to_no_trace(function):
    """Tables that are made at the first use, in a function that is compiled, serve others too."""
    x = array(shape=(11, 13))
    with np.errstate(all="ignore"):
        assert outcome(vx.compile(lambda x: function(x * 1)), (x,)) == outcome(lambda x: function(x * 1), (x,))


@pytest.mark.parametrize("shape", [(1 << 62, 5), (1 << 45, 5)])
@pytest.mark.parametrize("function", [vx.zeros, vx.ones, lambda shape: vx.broadcast_to(vx.ones(1), shape) + 1])
def test_arrays_that_no_memory_holds_are_told_at_once(function, shape):
    for way in (function, vx.compile(function)):
        with pytest.raises(vx.OutOfMemoryError, match="smaller parts"):
            way(shape)


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
    nest = [[]]
    kept = nest[0]
    function = vx.compile(lambda x: nest[0].append(x * 2) or x + 1)
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

    for function, given in ((appended, [array()]), (named, SimpleNamespace(weight=array())), (reshaped, array())):
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
    with faults.inject(-13, "vkCreateComputePipelines", repeat=True):  # VK_ERROR_UNKNOWN
        if aside:  # a thread has tried before
            monkeypatch.setattr(type(x.device), "makes_aside", lambda device: True)
            monkeypatch.setattr(x.device.functions_aside, "vkCreateComputePipelines", raising)
        assert seen(compiled(x, y)) == wanted
    assert "runs as it is, since the driver cannot make a kernel of it" in str(compiled.explain())
    assert seen(compiled(x, y)) == wanted
