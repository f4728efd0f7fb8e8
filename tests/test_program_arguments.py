"""Arguments of every kind, and NumPy's functions and numbers, in programs that are made, saved and loaded."""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkarray as vx


class Colour(enum.Enum):
    RED = 1


@dataclass
class State:
    x: Any


class Text(str):
    pass


def array(shape: Any = (3, 4), dtype: Any = "float32") -> vx.VkArray:
    return vx.asarray((np.random.default_rng(0).standard_normal(shape) * 3).astype(dtype))


def told(value: Any) -> Any:
    """What can be compared of a nest: types, shapes and bits."""
    if isinstance(value, vx.VkArray):
        return value.dtype.name, value.shape, np.asarray(value).tobytes()
    if isinstance(value, dict):
        return [(name, told(one)) for name, one in value.items()]
    if isinstance(value, (tuple, list)):
        return [told(one) for one in value]
    return type(value), value.tobytes() if isinstance(value, np.generic) else repr(value)


def again(program: vx.Program, folder: Path) -> vx.Program:
    program.save(folder / "again.vkp", targets=())
    return vx.load_program(folder / "again.vkp")


# -- kinds of arguments -------------------------------------------------------------------------------------------------------

KEPT: dict[str, Callable[[], Any]] = {
    **{
        f"numpy {one.__name__}": (lambda one=one: one(1.5))
        for one in (np.float16, np.float32, np.float64, np.complex64)
    },
    **{f"numpy {one.__name__}": (lambda one=one: one(1)) for one in (np.bool_, np.int8, np.uint64)},
    "NaN of numpy": lambda: np.float32("nan"),
    "-0.0 of numpy": lambda: np.float64(-0.0),
    "NaN": lambda: float("nan"),
    "complex": lambda: 1 - 2j,
    "slice": lambda: slice(1, None, 2),
    "slices": lambda: (slice(0, 2), [Ellipsis, slice(None)]),
    "type": lambda: vx.float32,
    "types of numpy": lambda: [np.float32, np.dtype("int8")],
    "classes": lambda: (float, bool),
    "device": lambda: vx.ones(1).device,
    "text": lambda: "text",
    "nothing": lambda: [None, (), {}],
    "nest": lambda: {"a": [array(2), {"b": (array(()), 2.5)}], "c": array((0, 2))},
}
REFUSED: dict[str, Callable[[], Any]] = {
    "bytes": lambda: b"bytes",
    "frozenset": lambda: frozenset((1, 2)),
    "Colour": lambda: Colour.RED,
    "State": lambda: State(array(2)),
    "Text": lambda: Text("text"),
    "OrderedDict": lambda: collections.OrderedDict(a=array(2)),
    "keys": lambda: {1: array(2)},
    "deque": lambda: collections.deque([array(2)]),
    "SimpleNamespace": lambda: types.SimpleNamespace(a=array(2)),
    "generator of random numbers": lambda: vx.random.default_rng(1),
}


def beside(x: Any, other: Any) -> Any:
    return x * 2


def returned(x: Any, other: Any) -> Any:
    return other, x + 1


@pytest.mark.parametrize("function", [beside, returned])
@pytest.mark.parametrize("kind", KEPT)
def test_files_hold_arguments(kind: str, function: Callable[..., Any], tmp_path: Path) -> None:
    program = vx.Program(function, (array(), KEPT[kind]()))
    loaded = again(program, tmp_path)
    if "types of numpy" in kind:  # which files hold as the library's own
        assert told(loaded(array(), KEPT[kind]())[-1]) == told(function(array(), KEPT[kind]())[-1])
        return
    for one in (program, loaded):
        assert told(one(array(), KEPT[kind]())) == told(function(array(), KEPT[kind]()))


@pytest.mark.parametrize("kind", REFUSED)
def test_files_refuse_arguments(kind: str, tmp_path: Path) -> None:
    program = vx.Program(beside, (array(), REFUSED[kind]()))
    if kind != "generator of random numbers":  # which is another one in another call
        assert told(program(array(), REFUSED[kind]())) == told(beside(array(), None))
    with pytest.raises(TypeError, match=f"save: a file of a program cannot hold .*{kind}.* among its arguments"):
        program.save(tmp_path / "refused.vkp")


@pytest.mark.parametrize(
    ("made", "called"),
    [
        (np.float32(2), np.float32(3)),
        (np.float32(2), np.float64(2)),
        (np.float64(0.0), np.float64(-0.0)),
        (vx.float32, np.float64),
        (np.int8, vx.int16),
        (slice(1, 2), slice(1, None)),
        ("a", "b"),
        (None, 2),
        ({1: "a"}, {1.0: "a"}),
        (frozenset([1]), frozenset([True])),
    ],
    ids=str,
)
def test_other_arguments_are_named(made: Any, called: Any, tmp_path: Path) -> None:
    program = vx.Program(beside, (array(), made))
    in_files = not isinstance(made, (dict, frozenset))
    for one in (program, again(program, tmp_path)) if in_files else (program,):
        with pytest.raises((TypeError, ValueError), match="beside: "):
            one(array(), called)


@pytest.mark.parametrize("other", [np.ones(3), bytearray(b"a")], ids=lambda one: type(one).__name__)
def test_arguments_that_cannot_be_compared(other: Any) -> None:
    for make in (lambda: vx.Program(beside, (array(), other)), lambda: vx.compile(beside)(array(), other)):
        with pytest.raises(TypeError, match=f"beside: got an argument of type {type(other).__name__}"):
            make()


def weighted(x: Any, w: Any, factor: Any = 2.0, *, shift: Any = 0.0) -> Any:
    return x @ w["w"] * factor + shift


CALLS: dict[str, Callable[[Any, Any], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "by place": lambda x, w: ((x, w, 3.0), {"shift": 1.0}),
    "the last by name": lambda x, w: ((x, w), {"shift": 1.0, "factor": 3.0}),
    "nests by name": lambda x, w: ((x,), {"w": w, "factor": 3.0, "shift": 1.0}),
    "all by name": lambda x, w: ((), {"factor": 3.0, "w": w, "shift": 1.0, "x": x}),
}
WRONG_CALLS: dict[str, Callable[[Any, Any], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    r"VkArray, dict, factor=": lambda x, w: ((x, w), {"factor": 3.0}),
    r"VkArray, dict, float, float": lambda x, w: ((x, w, 3.0, 1.0), {}),
    r"VkArray, w=, shift=": lambda x, w: ((x,), {"w": w, "shift": 1.0}),
    r"VkArray, dict, float, shift=, other=": lambda x, w: ((x, w, 3.0), {"shift": 1.0, "other": 1.0}),
    r"VkArray, dict, float, x=, shift=, an argument twice": lambda x, w: ((x, w, 3.0), {"x": x, "shift": 1.0}),
    r"dict, x=, factor=, shift=, an argument twice": lambda x, w: ((w,), {"x": x, "factor": 3.0, "shift": 1.0}),
    r"nothing": lambda x, w: ((), {}),
}


def test_arguments_by_name(tmp_path: Path) -> None:
    x, w = array(), {"w": array((4, 2))}
    program = vx.Program(weighted, (x, w, 2.0), {"shift": 0.0})
    for one in (program, again(program, tmp_path)):
        for call in CALLS.values():
            args, kwargs = call(x, w)
            assert told(one(*args, **kwargs)) == told(weighted(*args, **kwargs))
        for text, call in WRONG_CALLS.items():
            args, kwargs = call(x, w)
            expected = rf"weighted: got {text}; expected 4 arguments \(shift by name\), which hold 4 inputs: x: "
            with pytest.raises(TypeError, match=expected):
                one(*args, **kwargs)


@pytest.mark.parametrize("args", [array(), "text", 3, None], ids=lambda one: type(one).__name__)
def test_arguments_are_a_tuple(args: Any) -> None:
    with pytest.raises(TypeError, match=f"Program: got arguments of type {type(args).__name__}. Expected a tuple"):
        vx.Program(beside, args)


# -- NumPy's functions and numbers --------------------------------------------------------------------------------------------


def in_lists(x: Any) -> Any:
    nest = {"a": [x * 2], "b": x[0] + 0}
    nest["a"][0] += 1
    nest["b"] *= x[1]
    return nest


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "number on the left": lambda x: (np.float32(2) - x, np.float64(2) * x, np.sqrt(2) / x, np.int64(3) + x),
    "number on the right": lambda x: (x - np.float32(2), x * np.float64(2), x // np.int8(2)),
    "comparison": lambda x: (np.float32(0) < x, x >= np.float64(1), x == np.float32(0)),
    "elementwise": lambda x: (np.exp(x), np.maximum(x, 0), np.hypot(x, x.T.T), np.where(x > 0, x, np.float32(1))),
    "into": lambda x: np.multiply(x + 0, 2, out=x + 0),
    "methods": lambda x: (np.add.reduce(x), np.multiply.outer(x[0], x[1]), np.maximum.accumulate(x, axis=1)),
    "reductions": lambda x: (np.sum(x, axis=0), np.mean(x), np.argmax(x, axis=1), np.clip(x, -1, np.float32(1))),
    "joining": lambda x: (np.concatenate([x, x * 2]), np.stack([x[0], x[1]]), np.reshape(x, -1)),
    "products": lambda x: (np.dot(x, x.T), np.einsum("ij,kj->ik", x, x), np.matmul(x.T, x)),
    "modules": lambda x: (np.linalg.norm(x, axis=1), np.fft.fft(x)),
    "constants": lambda x: (np.multiply(x, np.arange(12.0, dtype=np.float32).reshape(3, 4)), np.add(vx.ones(4), x)),
    "length": lambda x: (x / np.sqrt(x.shape[0]), x / np.sqrt((x + 1).shape[1]), x * np.log2((x @ x.T).shape[0])),
    "length and number": lambda x: (
        x * (np.float32(2) * (x + 1).shape[1]), x * ((x + 1).shape[0] ** np.float64(2)), x + ((x + 1).shape[0] + np.int64(2)),
        x * (np.float64(2) * (x + 1).shape[0]), x * np.float64((x + 1).shape[0]), x * np.minimum((x + 1).shape[0], 2),
    ),
    "length and array": lambda x: x + vx.asarray((np.arange(4) * (x + 1).shape[1]).astype("float32")),
    "array of length": lambda x: (vx.asarray(np.arange((x + 1).shape[1])), vx.asarray(np.array([(x + 1).shape[0], 2]))),
    "length of arrays": lambda x: (np.multiply((x + 1).shape[0], x), np.power(x, (x + 1).shape[0])),
    "lists": in_lists,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpys_functions_in_programs(name: str, tmp_path: Path) -> None:
    function = FUNCTIONS[name]
    expected = told(function(array()))
    program = vx.Program(function, (array(),))
    for one in (program, again(program, tmp_path), vx.compile(function)):
        assert told(one(array())) == expected


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpys_functions_of_dynamic_shapes(name: str) -> None:
    function = FUNCTIONS[name]
    compiled = vx.compile(lambda x: function(x), dynamic={"x": {0: vx.Dim("n", max=8)}})
    for n in (3, 5, 3):
        if name == "constants" and n != 3:
            continue
        assert told(compiled(array((n, 4)))) == told(function(array((n, 4))))


_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "ge", "eq")


@pytest.mark.parametrize("name", _OPERATORS)
@pytest.mark.parametrize("number", [3, 2.5, 1 - 2j], ids=repr)
def test_numpys_numbers_and_arguments(number: Any, name: str) -> None:
    own = getattr(operator, name)

    def function(x: Any, n: Any) -> Any:
        found = []
        others = (np.float64(2), np.float32(2), np.complex128(2), np.int64(2))
        for other, turned in itertools.product(others, (False, True)):
            try:
                found.append(x * (own(other, n) if turned else own(n, other)))
            except TypeError:  # of complex numbers
                found.append(x)
        return found

    assert told(vx.compile(function)(array(), number)) == told(function(array(), number))
    assert told(vx.Program(function, (array(), number))(array(), number)) == told(function(array(), number))


# -- objects whose methods become programs ------------------------------------------------------------------------------------


class Counter:
    def __init__(self) -> None:
        self.weight, self.calls, self.inner, self.me = array(), 0, State(None), self

    @functools.cached_property
    def twice(self) -> Any:
        return self.weight * 2

    def adds(self, x: Any) -> Any:
        self.calls += 1
        self.weight += 1
        return x * self.weight + self.twice

    def keeps(self, x: Any) -> Any:
        self.last = x * 2
        return x

    def keeps_within(self, x: Any) -> Any:
        self.inner.x = [x + 1]
        return x

    def __call__(self, x: Any) -> Any:
        self.weight = x
        return x


SETTING = {"keeps": "Counter.last", "keeps_within": "State.x", "__call__": "Counter.weight"}


@pytest.mark.parametrize("name", SETTING)
def test_methods_that_keep_arrays_are_told(name: str) -> None:
    one = Counter()
    before, within = dict(vars(one)), dict(vars(one.inner))
    function = one if name == "__call__" else getattr(one, name)
    for _ in range(2):
        with pytest.raises(
            vx.TraceError, match=f"keeps an array in {SETTING[name]}, which a compiled function does not set"
        ):
            vx.Program(function, (array(),))
        assert list(vars(one)) == list(before)
        assert all(value is before[key] for key, value in vars(one).items())
        assert vars(one.inner) == within


def test_methods_change_the_arrays_of_their_object() -> None:
    one, other = Counter(), Counter()
    program = vx.Program(one.adds, (array(),))
    for _ in range(3):
        other.__dict__.pop("twice", None)  # of which no program keeps what it was
        assert told(program(array())) == told(other.adds(array()))
    assert told(one.weight) == told(other.weight)
    assert told(one.twice) == told(one.weight * 2)


# Programs of a function, and calls by the names of inputs or without what is fixed.
def scaled(x: vx.VkArray, mode: str, factor: float) -> vx.VkArray:
    return x * factor if mode == "scaled" else x


def test_what_is_fixed_may_be_left_out(tmp_path: Path) -> None:
    x = array()
    program = vx.Program(scaled, (x, "scaled", 2.0))
    for one in (program, again(program, tmp_path)):
        calls = (one(x, "scaled", 3.0), one(x, factor=3.0), one(x=x, factor=3.0))
        assert all(told(found) == told(x * 3.0) for found in calls)
        with pytest.raises(TypeError, match=r"expected 3 arguments, which hold 2 inputs: x: .* may be left out\.$"):
            one(x)
        with pytest.raises(ValueError, match="expected 'scaled' among its arguments"):
            one(x, "other", 3.0)


def test_inputs_of_nests_by_their_names(tmp_path: Path) -> None:
    given = {"a": array(), "b": array() * 2}
    for names in (None, ["first", "second"]):
        program = vx.Program(lambda d: d["a"] - d["b"], (given,), inputs=names)
        for one in (program, again(program, tmp_path)):
            by_name = dict(zip((each.name for each in one.inputs), given.values(), strict=True))
            assert told(one(**by_name)) == told(one(given)) == told(given["a"] - given["b"])


def test_numbers_that_are_returned_may_be_others(tmp_path: Path) -> None:
    program = vx.Program(lambda x, n: {"out": x * n, "n": n}, (array(), 3))
    for one in (program, again(program, tmp_path)):
        for number in (4, -7):
            found = one(array(), number)
            assert found["n"] == number
            assert told(found["out"]) == told(array() * number)


def chosen(x: vx.VkArray, reverse: bool = False, axis: int = 0, *, times: float = 1.0) -> vx.VkArray:
    return (vx.flip(x, axis=axis) if reverse else x) * times


WAYS_TO_CALL: dict[str, Callable[[vx.Program, vx.VkArray], vx.VkArray]] = {
    "by place": lambda program, x: program(x, True, 1, times=3.0),
    "by name": lambda program, x: program(x=x, reverse=True, axis=1, times=3.0),
    "some by place": lambda program, x: program(x, True, axis=1, times=3.0),
    "without what is fixed": lambda program, x: program(x, times=3.0),
    "without a number that decides": lambda program, x: program(x, reverse=True, times=3.0),
    "inputs alone": lambda program, x: program(times=3.0, x=x),
}
WAYS_TO_MAKE: dict[str, Callable[[vx.VkArray], vx.Program]] = {
    "by place": lambda x: vx.Program(chosen, (x, True, 1), {"times": 2.0}),
    "by name": lambda x: vx.Program(chosen, (), {"times": 2.0, "axis": 1, "reverse": True, "x": x}),
    "with names of inputs": lambda x: vx.Program(
        chosen, (x,), {"reverse": True, "axis": 1, "times": 2.0}, inputs=["picture", "side", "gain"]
    ),
}


@pytest.mark.parametrize("made", WAYS_TO_MAKE)
@pytest.mark.parametrize("call", WAYS_TO_CALL)
def test_arguments_come_as_the_function_takes_them(made: str, call: str, tmp_path: Path) -> None:
    x = array()
    program = WAYS_TO_MAKE[made](x)
    for one in (program, again(program, tmp_path)):
        assert told(WAYS_TO_CALL[call](one, x)) == told(chosen(x, True, 1, times=3.0))


REFUSED_CALLS: dict[str, tuple[Callable[[vx.Program, vx.VkArray], vx.VkArray], type[Exception], str]] = {
    "twice": (lambda program, x: program(x, x=x, times=3.0), TypeError, "an argument twice; expected 4 arguments"),
    "unknown": (lambda program, x: program(x, times=3.0, other=1), TypeError, "got VkArray, times=, other=; expected"),
    "too many": (lambda program, x: program(x, True, 1, 3.0), TypeError, r"expected 4 arguments \(times by name\)"),
    "missing": (lambda program, x: program(x), TypeError, "reverse, axis may be left out"),
    "another truth": (lambda program, x: program(x, False, times=3.0), ValueError, "expected True among"),
    "another number": (lambda program, x: program(x, axis=0, times=3.0), ValueError, "made for 1"),
}


@pytest.mark.parametrize("name", REFUSED_CALLS)
def test_arguments_that_the_function_does_not_take_are_told(name: str, tmp_path: Path) -> None:
    call, error, match = REFUSED_CALLS[name]
    x = array()
    program = WAYS_TO_MAKE["by place"](x)
    for one in (program, again(program, tmp_path)):
        with pytest.raises(error, match=match):
            call(one, x)
