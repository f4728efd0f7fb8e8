"""Dynamic dimensions of `vkarray.compile`: one trace for all lengths, and for each the bits of the function itself."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from compiled import outcome, traced

import vkarray as vx
from vkarray import configuration
from vkarray._vk.kernel import Kernel
from vkarray.core.array import VkArray

MAX = 130
LENGTHS = (7, 1, 2, 3, 64, 129, 130, 4, 7)  # the first one is traced


def matrix(length: int, columns: int = 6, seed: int = 0, dtype: Any = np.float32) -> VkArray:
    values = np.random.default_rng(seed + length).standard_normal((length, columns)) * 4
    return vx.asarray(values.astype(dtype))


@dataclasses.dataclass
class Pair:
    first: Any
    second: Any


def centred(x):
    return x - vx.mean(x, axis=0)


def in_place(x):
    x[1:] += 1
    x *= 2
    return x


def softmax(axis):
    def function(x):
        powers = vx.exp(x - vx.max(x, axis=axis, keepdims=True))
        return powers / vx.sum(powers, axis=axis, keepdims=True)

    return function


def filled(x):
    made = vx.zeros((x.shape[0] + 1, *x.shape[1:]))
    made[1:] = x
    return made


def normalized(x):
    count = x.size
    total = vx.sum(x) / count
    return (x - total) / (vx.sum((x - total) ** 2) / (count - 1)) ** 0.5


# Functions of a matrix whose rows are dynamic.
FUNCTIONS: dict[str, Callable[[VkArray], Any]] = {
    "elementwise": lambda x: vx.sin(x) * 2 + 1,
    "broadcast with a row": lambda x: (x + 1) * x[:1],
    "broadcast with a column": lambda x: x * x[:, :1] - x[:, 2:3],
    "broadcast with itself": lambda x: x[:, None, 0] - x[None, :, 1],
    "sum of rows": lambda x: vx.sum(x * x, axis=1),
    "sum of columns": lambda x: vx.sum(x * x, axis=0),
    "sum": lambda x: vx.sum(x * 2),
    "several reductions": lambda x: (vx.max(x, axis=0), vx.min(x), vx.any(x > 9, axis=1), vx.argmax(x, axis=0)),
    "mean": lambda x: (vx.mean(x), vx.mean(x, axis=0), vx.mean(x, axis=1)),
    "variance": lambda x: (vx.var(x, axis=0), vx.std(x * 2, axis=1)),
    "centred": centred,
    "normalized": normalized,
    "softmax of rows": softmax(1),
    "softmax of columns": softmax(0),
    "product": lambda x: vx.tanh(x @ vx.ones((6, 5))),
    "product over the dimension": lambda x: x.T @ x,
    "product with itself": lambda x: x @ x.T,
    "batch of products": lambda x: x.reshape(-1, 2, 3) @ vx.ones((3, 2)),
    "einsum": lambda x: vx.einsum("bi,bj->bij", x, x),
    "concat": lambda x: vx.concat([x, x[:1], x * 2]) + 1,
    "stack": lambda x: vx.stack([x, -x], axis=1),
    "all but the first": lambda x: x[1:] * 2,
    "all but the last": lambda x: x[:-1] - 1,
    "differences": lambda x: x[1:] - x[:-1],
    "every other": lambda x: x[::2] + x[::2],
    "backwards": lambda x: x[::-1] * 2 + x,
    "last": lambda x: x[-1] + x[x.shape[0] - 1],
    "half": lambda x: x[: x.shape[0] // 2] * 2,
    "flat": lambda x: x.reshape(-1) + 1,
    "reshaped": lambda x: x.reshape(x.shape[0] * 2, 3) * x.reshape((x.shape[0] * 2, -1)),
    "reshaped by -1": lambda x: vx.reshape(x, (-1, 3)),
    "transposed": lambda x: x.T * 2 + 1,
    "roll": lambda x: vx.roll(x, 1, axis=0) + x,
    "cumulative sum": lambda x: vx.cumulative_sum(x, axis=0),
    "cumulative sum of all": lambda x: vx.cumulative_sum(x.ravel() * 2),
    "sort": lambda x: (vx.sort(x, axis=0), vx.argsort(x[:, 0])),
    "take": lambda x: vx.take(x, vx.asarray([0, 0]), axis=0),
    "gather": lambda x: x[vx.argsort(x[:, 0])],
    "where": lambda x: vx.where(x > 0, x, 0.5 * x),
    "length as a number": lambda x: (vx.sum(x, axis=0) / x.shape[0], x * x.shape[0], x.shape[0] * 2 + 1),
    "root of a length": lambda x: x / x.shape[0] ** 0.5,
    "arange": lambda x: x + vx.arange(x.shape[0], dtype=vx.float32)[:, None],
    "arange of more": lambda x: vx.arange(1, 2 * x.shape[0], 3),
    "linspace": lambda x: vx.linspace(0.0, 1.0, x.shape[0])[:, None] * x,
    "full": lambda x: vx.full(x.shape, 2.0) * x + vx.zeros_like(x) + vx.ones(x.shape[0])[:, None],
    "filled": filled,
    "broadcast_to": lambda x: vx.broadcast_to(x[:1], x.shape) + 0,
    "triangle": lambda x: vx.tril(x @ x.T),
    "constant": lambda x: x + vx.asarray([1.0, 2, 3, 4, 5, 6]),
    "in place": in_place,
    "itself": lambda x: (x, x),
    "shape": lambda x: x.shape,
    "nothing": lambda x: (None, "text", {"a": [x + 1]}),
    "type": lambda x: x.astype(vx.float16) if x.dtype == vx.float32 and x.ndim == 2 else x,
    "ufunc": lambda x: (vx.add.reduce(x, axis=0), vx.maximum(x, 0, out=x)),
    "repeat": lambda x: vx.repeat(x, 2, axis=0) + vx.tile(x, (2, 1)),
    "pad": lambda x: vx.pad(x, ((1, 2), (0, 0))),
    "flags": lambda x: vx.flip(x, axis=0),
}  # fmt: skip


def check(
    function: Callable[..., Any], dynamic: Any, make: Callable[[int], tuple[Any, ...]], lengths: tuple[int, ...] = LENGTHS
) -> Any:  # fmt: skip
    """Compare a function with what is compiled of it for several lengths. Returns what is compiled."""
    compiled = vx.compile(function, dynamic=dynamic)
    for length in lengths:
        for _ in range(2):
            assert outcome(compiled, make(length)) == outcome(function, make(length)), f"length {length}"
    return compiled


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    calls = []

    def counted(x):
        calls.append("traced")
        return FUNCTIONS[name](x)

    compiled = vx.compile(counted, dynamic={"x": {0: vx.Dim("rows", max=MAX)}})
    for length in LENGTHS:
        for _ in range(2):
            expected = outcome(FUNCTIONS[name], (matrix(length),))
            assert outcome(compiled, (matrix(length),)) == expected, f"length {length}"
    if not configuration.current().compare:
        assert len(calls) == 1, compiled.explain()
        assert len(compiled.explain().programs) == 1


# Which lengths are taken as numbers, or lead elsewhere.
def by_range(x):
    total = vx.zeros(6)
    for row in range(x.shape[0]):
        total = total + x[row] * row
    return total


DECIDING: dict[str, tuple[Callable[[VkArray], Any], int]] = {  # and how often each is traced for lengths of 3, 5, 1, 8
    "branch": (lambda x: x * 2 if x.shape[0] > 4 else x + 1, 2),
    "one": (lambda x: vx.squeeze(x, axis=0) if x.shape[0] == 1 else x, 2),
    "truth": (lambda x: x * 2 if x.shape[0] % 2 else x, 2),
    "range": (by_range, 4),
    "len": (lambda x: x * len(x), 4),
    "rows": (lambda x: sum(row * 2 for row in x), 4),
    "float": (lambda x: x / float(x.shape[0]), 4),
    "list": (lambda x: vx.concat([x] * x.shape[0]), 4),
    "min": (lambda x: x[: min(x.shape[0], 4)], 2),
    "unstack": (lambda x: vx.unstack(x)[0] + 1, 4),
    "text": (lambda x: {f"of {x.shape[0]}": x + 1}, 4),
    "error": (lambda x: _halves(x) * 2, 2),
}  # fmt: skip


def _halves(x):
    try:
        return x.reshape(2, -1)
    except ValueError:
        return x


@pytest.mark.parametrize("name", DECIDING)
def test_decisions(name):
    function, count = DECIDING[name]
    compiled = check(function, {"x": [vx.Dim("rows", max=16), None]}, lambda n: (matrix(n, 5 if name == "error" else 6),),
                     (3, 5, 1, 8, 3, 8))  # fmt: skip
    if not configuration.current().compare:
        assert len(compiled.explain().programs) == count, compiled.explain()
        assert "rows from 1 to 16, so far " in str(compiled.explain())


@traced
def test_decisions_are_told():
    compiled = vx.compile(lambda x: x[: x.shape[0] // 2] * len(x), dynamic={"x": {0: vx.Dim("n", max=16)}})
    compiled(vx.ones(4))
    compiled(vx.ones(6))
    assert re.search(r"traced again since .*test_dynamic\.py:\d+ gives 4, and here 6", str(compiled.explain()))


# -- bounds ---------------------------------------------------------------------------------------------------------------------


@traced
def test_bounds_are_told():
    compiled = vx.compile(lambda x, y=None: x * 2, dynamic={"x": {0: vx.Dim("batch", min=2, max=64)}})
    compiled(vx.ones((2, 3))), compiled(vx.ones((64, 3)))
    for length, bound in ((65, "max=64"), (1, "min=2"), (0, "min=2")):
        with pytest.raises(
            ValueError, match=rf"dimension 0 of x has length {length}, .*'batch'.*{bound}.* compile with"
        ):
            compiled(vx.ones((length, 3)))
    with vx.config(compile=False):
        assert compiled(vx.ones((65, 3))).shape == (65, 3)


@traced
def test_one_dimension_has_one_length():
    batch = vx.Dim("batch", max=64)
    compiled = vx.compile(lambda x, y: x.sum() + y.sum(), dynamic={"x": {0: batch}, "y": {1: batch}})
    compiled(vx.ones((3, 2)), vx.ones((2, 3)))
    told = "dimension 0 of x has length 4 and dimension 1 of y has length 5, and both are the dimension 'batch'"
    with pytest.raises(ValueError, match=told):
        compiled(vx.ones((4, 2)), vx.ones((2, 5)))


@traced
@pytest.mark.parametrize(
    ("dynamic", "error", "told"),
    [
        ([1], TypeError, "by the names of"),
        ({"z": {0: vx.Dim("n")}}, ValueError, "names 'z', which is no parameter of .*Name one of these: x, y"),
        ({"x": {0: vx.Dim("n", max=2)}, "y": {0: vx.Dim("n", max=3)}}, ValueError, "have one name"),
        ({"x": {2: vx.Dim("n")}}, ValueError, r"dimension 2 of x, whose shape is \(3, 4\)"),
        ({"x": {0: 4}}, TypeError, "gives 0: 4 for the array x"),
        ({"x": (vx.Dim("n"),)}, ValueError, "1 entries for x, which has 2"),
        ({"x": vx.Dim("n")}, TypeError, "Expected a dictionary or a sequence"),
        ({"y": {0: vx.Dim("n")}}, ValueError, "names y, which is 5. Name arguments that are arrays"),
    ],
)
def test_what_dynamic_may_be(dynamic, error, told):
    with pytest.raises(error, match=told):
        vx.compile(lambda x, y: x, dynamic=dynamic)(vx.ones((3, 4)), 5)


def test_dimensions():
    assert vx.Dim("n", max=4) == vx.Dim("n", max=4) != vx.Dim("n")
    assert repr(vx.Dim("n", min=0)) == "Dim('n', min=0, max=None)"
    for options in ({"min": -1}, {"max": 0}, {"min": 5, "max": 4}):
        with pytest.raises(ValueError, match="has no length between"):
            vx.Dim("n", **options)
    with pytest.raises(TypeError, match="expected a name"):
        vx.Dim(3)
    for bounds in ({"min": 1.5}, {"max": 2.5}, {"max": "3"}):
        with pytest.raises(TypeError, match=r"Dim: 'n' has .*\. Give whole numbers"):
            vx.Dim("n", **bounds)


def test_lengths_of_nothing():
    dynamic = {"x": {0: vx.Dim("n", min=0, max=9)}}
    for name in ("elementwise", "broadcast with a column", "sum of rows", "sum of columns", "softmax of rows", "product",
                 "concat", "flat", "cumulative sum", "filled", "in place", "triangle"):  # fmt: skip
        check(FUNCTIONS[name], dynamic, lambda n: (matrix(n),), (5, 0, 1, 9, 0))


# -- arguments ------------------------------------------------------------------------------------------------------------------


def several(x, tree, *, pair, factor=2.0):
    tree["out"][...] = x * factor
    return [tree["list"][0] + x, pair.first @ pair.second, x[: tree["list"][0].shape[0] // 2]]


def test_nested_arguments():
    batch, depth = vx.Dim("batch", max=64), vx.Dim("depth", max=32)
    dynamic = {
        "x": {0: batch}, "tree": {"list": [{0: batch}, None], "out": {-2: batch}},
        "pair": {"first": {0: batch, 1: depth}, "second": (depth, None)},
    }  # fmt: skip

    def call(function, n, k, factor):
        tree = {"list": [matrix(n), matrix(3)], "out": matrix(n)}
        found = function(matrix(n), tree, pair=Pair(matrix(n, k), matrix(k, 4)), factor=factor)
        return [np.asarray(one).tobytes() for one in (*found, tree["out"])]

    compiled = vx.compile(several, dynamic=dynamic)
    for n, k, factor in ((3, 4, 2.0), (1, 4, 2.0), (3, 1, 3.0), (64, 32, 2.0), (7, 9, 0.5), (3, 4, -1.0)):
        assert call(compiled, n, k, factor) == call(several, n, k, factor)
    assert configuration.current().compare or len(compiled.explain().programs) == 1


def test_several_axes_and_other_shapes():
    rows, columns = vx.Dim("rows", max=64), vx.Dim("columns", max=64)
    shapes = [(5, 6), (1, 6), (5, 1), (1, 1), (2, 3), (64, 64), (33, 17), (3, 64)]
    for function, count in (
        (softmax(1), 1), (softmax(0), 1), (lambda x: x.T @ x, 1), (lambda x: x.reshape(-1) * 2, 1), (normalized, 1),
        (lambda x: x[1:, :-1] - x[:-1, 1:], 1), (lambda x: vx.sum(x * x), 1), (lambda x: x / x.shape[0] + x.shape[1], 1),
    ):  # fmt: skip
        compiled = vx.compile(function, dynamic={"x": {0: rows, 1: columns}})
        for shape in shapes:
            x = matrix(shape[0], shape[1])
            if x.size > 1 or function is not normalized:
                assert outcome(compiled, (x,)) == outcome(function, (matrix(*shape),)), shape
        assert configuration.current().compare or len(compiled.explain().programs) == count
    compiled = vx.compile(lambda x, y: x + y, dynamic={"x": {0: rows}})
    for shape in ((3, 4), (5, 4), (5, 2), (7, 2)):  # another static length is another trace
        assert compiled(vx.ones(shape), vx.ones(shape[1])).shape == shape
    assert configuration.current().compare or len(compiled.explain().programs) == 2


def test_views_and_shared_memory():
    def function(x, y):
        x += 1
        return y * 2 + x[: y.shape[0]]

    def make(n):
        whole = vx.asarray(np.arange(200.0, dtype=np.float32))
        return whole[10 : 10 + n], whole[12 : 12 + n // 2]

    check(function, {"x": {0: vx.Dim("n", max=64)}, "y": {0: vx.Dim("half", min=0)}}, make, (8, 3, 2, 64, 9))
    every = {"x": {0: vx.Dim("n", max=64)}}
    check(lambda x: vx.sum(x, axis=0) + x[-1], every, lambda n: (matrix(2 * n)[::2],), (8, 1, 2, 3))
    check(lambda x: vx.sum(x, axis=0) + x[-1], every, lambda n: (vx.ones((1, 6)) + matrix(6, n).T,), (8, 1, 2, 3))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bool", "float16", "complex64", "int64"])
def test_types(dtype):
    def function(x):
        return (
            x[1:] == x[:-1],
            vx.sum(x, axis=0),
            vx.concat([x, x]),
            vx.cumulative_sum(x + x, axis=0),
            vx.mean(x.real, axis=0),
        )

    check(function, {"x": {0: vx.Dim("n", max=64)}}, lambda n: (matrix(n).astype(dtype),), (5, 1, 2, 64, 33))  # fmt: skip


def test_numbers():
    def function(x, factor, times):
        for _ in range(times):
            x = x * factor + x.shape[0] * factor
        return x if factor < 9 else -x

    compiled = vx.compile(function, dynamic={"x": {0: vx.Dim("n", max=64)}})
    for n, factor, times in ((3, 2.0, 2), (4, 2.0, 2), (4, 3.5, 2), (4, 11.0, 2), (5, 11.0, 1), (3, 2, 2), (6, 0.5, 2)):
        assert outcome(compiled, (matrix(n), factor, times)) == outcome(function, (matrix(n), factor, times))


def test_methods_and_arrays_from_elsewhere():
    offset = vx.ones(6)

    class Layer:
        def __init__(self):
            self.weight = matrix(6, 6)

        def forward(self, x):
            return vx.tanh(x @ self.weight) + offset * x.shape[0]

    Layer.compiled = vx.compile(Layer.forward, dynamic={"x": {0: vx.Dim("n", max=64)}})
    layer = Layer()
    for n in (3, 1, 64, 17):
        assert outcome(layer.compiled, (matrix(n),)) == outcome(layer.forward, (matrix(n),))
    assert configuration.current().compare or len(Layer.compiled.explain().programs) == 1


def test_random_numbers():
    generators = [vx.random.default_rng(1), vx.random.default_rng(1)]

    def drawing(own):
        def function(x):
            return (
                x + vx.random.normal(size=x.shape) * 2,
                own.uniform(size=3),
                own.integers(0, x.shape[0], size=x.shape[0]),
            )

        return function

    functions = [drawing(one) for one in generators]
    compiled = vx.compile(functions[1], dynamic={"x": {0: vx.Dim("n", max=64)}})
    for n in (4, 8, 1, 64, 4, 8):
        vx.random.seed(n)
        expected = outcome(functions[0], (matrix(n),))
        vx.random.seed(n)
        assert outcome(compiled, (matrix(n),)) == expected
    assert configuration.current().compare or {one.reason for one in compiled.explain().programs} == {""}


@traced
def test_values_are_not_read():
    compiled = vx.compile(lambda x: x / 2 if vx.max(x) > 1 else x, dynamic={"x": {0: vx.Dim("n")}})
    with pytest.raises(vx.TraceError, match=r"reads values on the host at .*test_dynamic\.py"):
        compiled(vx.ones(3))


@traced
def test_functions_without_a_tape():
    def function(x):
        return vx.sum(x.flat[1:3]) + x  # the object `flat` is none that a tape may hold

    compiled = vx.compile(function, dynamic={"x": {0: vx.Dim("n", max=64)}})
    for n in (4, 8, 4):
        assert outcome(compiled, (matrix(n),)) == outcome(function, (matrix(n),))
    assert len(compiled.explain().programs) == 2
    assert "no tape can hold it" in str(compiled.explain())


@traced
def test_configuration_that_changes():
    def function(x):
        with vx.config(default_float="float64"):
            made = vx.ones(x.shape[0])
        return made, x + 1

    compiled = vx.compile(function, dynamic={"x": {0: vx.Dim("n", max=64)}})
    for n in (4, 8, 4):
        assert outcome(compiled, (matrix(n),)) == outcome(function, (matrix(n),))


def test_numpys_functions_and_numbers():
    def function(x):
        return np.exp(x) * np.float32(2), np.float64(2) * x.shape[0] * x, np.sum(x, axis=0), np.concatenate([x, x])

    check(function, {"x": {0: vx.Dim("n", max=64)}}, lambda n: (matrix(n),), (4, 8, 1, 4))


def test_kernels_of_users():
    doubled = vx.ElementwiseKernel("float32 x", "float32 z", "z = x * 2", "doubled")

    def function(x):
        return doubled(x + 1) - 1

    compiled = check(function, {"x": {0: vx.Dim("n", max=64)}}, lambda n: (matrix(n),), (4, 8, 1, 4))
    assert configuration.current().compare or {one.reason for one in compiled.explain().programs} == {""}


@traced
def test_stand_ins_end_with_the_trace():
    queue = SimpleQueue()  # lists and dictionaries are looked into, and refused

    def function(x):
        queue.put((x, x.shape[0]))
        return x + 1

    vx.compile(function, dynamic={"x": {0: vx.Dim("n", max=64)}})(vx.ones(3))
    array, length = queue.get()
    for use in (lambda: array + 1, lambda: length + 1, lambda: array.shape):
        with pytest.raises(vx.TraceError, match="was traced, and has no values outside of it"):
            use()


# -- what a new length costs ----------------------------------------------------------------------------------------------------


@traced
def test_lengths_share_kernels(monkeypatch):
    made = []
    original = Kernel.__init__

    def counting(self, *args, **kwargs):
        original(self, *args, **kwargs)
        made.append(self.name)

    monkeypatch.setattr(Kernel, "__init__", counting)
    for name in (
        "elementwise",
        "softmax of rows",
        "softmax of columns",
        "centred",
        "product",
        "differences",
        "concat",
        "sort",
    ):
        compiled = vx.compile(FUNCTIONS[name], dynamic={"x": {0: vx.Dim("rows", max=1024)}})
        for length in (20, 24, 18, 16):
            compiled(matrix(length))
        made.clear()
        for length in (17, 19, 21, 22, 23, 25, 26, 28):
            compiled(matrix(length))
        assert not made, name


@traced
def test_lengths_are_recorded_once():
    def function(x):
        for _ in range(4):
            x = vx.sort(x, axis=0) * 2 - vx.cumulative_sum(x, axis=0)
        return x

    compiled = vx.compile(function, dynamic={"x": {0: vx.Dim("n", max=64)}})
    found = [compiled(matrix(n)) for n in (8, 9, 8, 9)]
    assert np.array_equal(found[0], found[2])
    assert np.array_equal(found[1], found[3])
    recorded = [one.program.recorded for known in compiled._known.values() for one in known.plans.values()]
    assert len(recorded) == 2
    assert all(one is not None for one in recorded)
