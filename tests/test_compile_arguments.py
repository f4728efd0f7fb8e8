"""`vkarray.compile`: nests of arguments, methods, closures, and compiled functions in functions and threads."""

from __future__ import annotations

import copy
import dataclasses
import functools
import gc
import operator
import pickle
import threading
import warnings
import weakref
from collections import Counter, OrderedDict, UserDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from compiled import array, check, seen, traced

import vkarray as vx
from vkarray.core.array import VkArray


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


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, x: Any) -> Any:
        return self.times(x)

    def times(self, x: Any) -> Any:
        return x * self.value


class OfSlotted(Slotted):
    name = "with attributes besides"

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.other = value


class Labelled(list[Any]):
    def __init__(self, value: Any) -> None:
        super().__init__([value])
        self.value = value


class ByAttribute(dict[str, Any]):
    def __init__(self, **items: Any) -> None:
        super().__init__(items)
        self.__dict__ = self

    def update(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError


def _layer(*values: Any) -> Layer:
    made = Layer(*values)
    made.inner = Layer(array(seed=3), 0.5)
    return made


NESTS: dict[str, Callable[[VkArray], Any]] = {
    "tuple": lambda x: (x, (x, None)), "list": lambda x: [x, [x], []], "dictionary": lambda x: {"a": x, "b": {"c": x, 1: 2.0}},
    "named tuple": lambda x: Pair(x, Pair(x, "text")), "subclass of tuple": lambda x: Plain((x, x)),
    "dataclass": lambda x: State(x),
    "frozen dataclass": lambda x: Frozen([x]), "object": lambda x: Layer(x), "ordered": lambda x: OrderedDict(b=x, a=x),
    "object with slots": lambda x: Slotted(x), "slots and attributes": lambda x: OfSlotted(x),
    "namespace": lambda x: SimpleNamespace(a=[x]), "queue": lambda x: deque([x, x], maxlen=2),
    "subclass of list": lambda x: Labelled(x), "attributes of items": lambda x: ByAttribute(value=x),
    "user's dictionary": lambda x: UserDict(a=x), "read-only dictionary": lambda x: MappingProxyType({"a": x}),
    "counter": lambda x: [x, Counter("aab")], "slice": lambda x: [x, slice(0, 3)],
    "views of a dictionary": lambda x: [x, list({"a": x}.items()), {"a": x}.values()],
    "of everything": lambda x: {"a": (State([x, None]), Pair(x, 3), True, "text", vx.float32, ...)},
}  # fmt: skip


def arrays_in(value: Any) -> list[VkArray]:
    if type(value) is VkArray:
        return [value]
    if isinstance(value, (dict, MappingProxyType)):
        parts: Any = value.values()
    elif isinstance(value, (tuple, list, deque)):
        parts = value
    else:
        slots = [value.value] if isinstance(value, Slotted) else []
        parts = slots + list(getattr(value, "__dict__", {}).values())
    return [one for part in parts for one in arrays_in(part)]


@pytest.mark.parametrize("nest", NESTS)
def test_nests(nest):
    check(lambda given: [one * 2 for one in arrays_in(given)], lambda: (NESTS[nest](array()),))
    check(lambda x: NESTS[nest](x * 2), lambda: (array(),))
    check(lambda given: given, lambda: (NESTS[nest](array()),))


# Arguments that hold an array, and what is computed with them.
HOLDERS: dict[str, tuple[Callable[[VkArray], Any], Callable[[Any, VkArray], Any]]] = {
    "slots": (Slotted, lambda given, x: given(x)), "slots and attributes": (OfSlotted, lambda given, x: given(x) + given.other),
    "method": (lambda one: Slotted(one).times, lambda given, x: given(x)),
    "compiled method": (lambda one: Layer(one).applied, lambda given, x: given(x)),
    "object with a compiled method": (lambda one: SimpleNamespace(loss=Layer(one).applied), lambda given, x: given.loss(x)),
    "partial": (lambda one: functools.partial(vx.add, one), lambda given, x: given(x)),
    "subclass of list": (Labelled, lambda given, x: x * given[0] + given.value),
    "view": (lambda one: {"a": one}.values(), lambda given, x: x * next(iter(given))),
    "view of items": (lambda one: {"a": one}.items(), lambda given, x: x * dict(given)["a"]),
    "attributes of items": (lambda one: ByAttribute(value=one), lambda given, x: x * given.value),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLDERS)
def test_what_holds_arrays_is_no_constant(name):
    made, function = HOLDERS[name]
    check(function, *(lambda seed=seed: (made(array(seed=seed)), array()) for seed in (1, 2)), programs=1)


# Values that are equal, and that code can tell apart.
EQUAL: dict[str, Callable[[Any], Any]] = {
    "set": lambda one: {one}, "frozenset": lambda one: frozenset([one, 5]), "key": lambda one: {one: 1.0},
    "key of several": lambda one: {(one, "a"): 1.0}, "set of several": lambda one: {(one, 2)},
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_equal_arguments_that_differ(name):
    def function(x, given):
        one = min(given)
        return x * (one[0] if isinstance(one, tuple) else one)

    numbers = (1, 1.0, True, 0.0, -0.0)
    check(function, *(lambda one=one: (array(vx.int32, (3,)), EQUAL[name](one)) for one in numbers), programs=5)


def test_ranges_that_differ():
    check(lambda x, r: x[r.start : r.stop], *(lambda stop=stop: (array(), range(0, stop, 2)) for stop in (3, 4)))


@traced
def test_a_set_that_changes_is_told():
    def function(x, met):
        met.add(x.ndim)
        return x

    met = {"before"}
    with pytest.raises(vx.TraceError, match="changes an argument of type set"):
        vx.compile(function)(array(), met)
    assert met == {"before"}


def test_results_that_can_be_changed_are_new_in_each_call():
    def function(x):
        return x, {1, 2}, [np.arange(3), bytearray(b"a")], {}

    compiled = vx.compile(function)
    for _ in range(3):
        found = compiled(array())
        assert seen(found) == seen(function(array()))
        found[1].add(3)
        found[2][0][:] = 9
        found[2][1].append(0)
        found[3]["new"] = 1


@traced
@pytest.mark.parametrize("dynamic", [None, {"x": {0: vx.Dim("n")}}])
def test_iterators_are_refused(dynamic):
    def yields(x):
        yield x * 2

    for function in (yields, lambda x: map(vx.sin, [x]), lambda x: {"a": [zip([x], [x], strict=True)]}, reversed):
        compiled = vx.compile(lambda x, function=function: function(x), dynamic=dynamic)
        for _ in range(2):
            with pytest.raises(vx.TraceError, match=r"iterator, which computes after the trace.*\. Return a list"):
                compiled(array())
    for given in (yields(1), iter([array()]), [enumerate([array()])]):
        with pytest.raises(TypeError, match=r"got an iterator, .* Give a list"):
            vx.compile(lambda x: next(x[0] if isinstance(x, list) else x))(given)


def test_objects_that_are_called_are_arguments():
    x = array()
    for way in (lambda one: one, lambda one: one.times):
        one = OfSlotted(array(seed=1))
        compiled = vx.compile(way(one))
        for value in (array(seed=1), array(seed=2), 2.0, 3.0):
            one.value = value
            assert seen(compiled(x)) == seen(x * value)
        assert len(compiled.explain().programs) == 2
        assert "Slotted" in repr(compiled)
        assert vx.compile(compiled) is compiled
        program = vx.Program(compiled, (x,))  # of which what the object holds is a constant
        one.value = 4.0
        assert seen(program(x)) == seen(x * 3.0)
        varying = vx.compile(compiled, dynamic={"x": {0: vx.Dim("n")}})
        assert [seen(varying(x[:n])) for n in (1, 4)] == [seen(x[:n] * 4.0) for n in (1, 4)]
    assert "multiply" in str(_called(Layer(array())).explain())


def _called(layer: Layer) -> Any:
    layer.applied(array())
    return layer.applied


def test_methods_are_equal_as_others_are():
    one, other = Layer(array()), Layer(array())
    assert one.applied == one.applied
    assert hash(one.applied) == hash(one.applied)
    assert one.applied != other.applied
    assert one.applied != Layer.applied


@traced
def test_generators_of_random_numbers_come_back(monkeypatch):
    monkeypatch.setattr("vkarray.graph.compile.MOST", 8)
    noisy = vx.compile(lambda generator, x: x + generator.normal(size=2))
    known = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many signatures
        for seed in range(20):
            generator = vx.random.default_rng(seed)
            expected = seen(vx.random.default_rng(seed).normal(size=2))
            assert seen(noisy(generator, vx.zeros(2))) == expected
            known.append(weakref.ref(generator.bit_generator))
    del generator
    gc.collect()
    assert sum(one() is not None for one in known) <= 8


def test_functions_can_be_copied_by_name():
    assert copy.deepcopy([_doubled])[0] is _doubled
    assert pickle.loads(pickle.dumps(_doubled)) is _doubled


@vx.compile
def _doubled(x):
    return x * 2


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
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    results.append((seen(way(given)), seen(given), seen(held)))
                assert not told or "counting runs as it is in each call" in str(told[0].message)
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


# -- what variables hold ------------------------------------------------------------------------------------------------------


def test_variables_may_have_no_values_yet():
    function = vx.compile(lambda x: later(x) if x.ndim > 1 else x * 2)
    assert seen(function(array(shape=(3,)))) == seen(array(shape=(3,)) * 2)

    def later(x):
        return x + 1

    assert seen(function(array())) == seen(array() + 1)


def test_variables_may_hold_what_refers_to_itself():
    kept = None

    def function(x):
        nonlocal kept
        kept = SimpleNamespace(name="kept")
        kept.itself = [kept]
        return x * 2

    assert seen(vx.compile(function)(array())) == seen(array() * 2)
    assert kept.itself[0] is kept


_total: Any = None


@traced
def test_variables_stay_as_they_were():
    global _total
    _total = inner = array(seed=2)

    def of_module(x):
        global _total
        _total = _total + x
        return _total

    def around(x):
        nonlocal inner
        inner = [inner, {"a": x * 2}]
        return x

    def in_another(x):
        def add():
            global _total
            _total = x + 1

        add()
        return x

    before = _total
    for function, name in ((of_module, "_total"), (around, "inner"), (in_another, "_total")):
        for _ in range(2):
            with pytest.raises(
                vx.TraceError, match=f"keeps an array in {name}, which a compiled function does not set"
            ):
                vx.compile(function)(array())
            assert _total is before
            assert inner is before


def test_array_that_is_returned_twice_is_one():
    def function(x):
        y = x + 1
        return y, [y, x, x], y.T

    one, (again, given, twice), turned = vx.compile(function)(array())
    assert one is again
    assert given is twice
    one += 1
    assert seen(turned) == seen(one.T)


BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift", "lt", "eq", "append",
)  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_numbers_decide_types_as_they_do_eagerly(name):
    """Called with each in turn: a number may decide the type of a result, as the exponent 2 of bools does, or raise an error."""
    function = getattr(operator, name, None) or getattr(vx, name)
    for dtype in (vx.bool, vx.int8, vx.uint32, vx.float32):
        calls = [lambda one=one, dtype=dtype: (vx.asarray([1, 0, 3], dtype=dtype), one) for one in
                 (2, 5, 0, 1, -1, 300, 1 << 40, 1 << 63, 2.0, 0.5, 1e300, 1j, True)]  # fmt: skip
        check(function, *calls)
