"""Plans: a call whose signature comes again does what the function without plans does, bit for bit."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import plan_cases
import pytest
from plan_cases import CALLS, LAYOUTS, Maker
from reference import supported

import vkarray as vx
from vkarray import configuration
from vkarray._vk.watch import Watch, watches
from vkarray.core.tokens import Token
from vkarray.kernels import planned
from vkarray.kernels.rows import ROWS

pytestmark = pytest.mark.skipif(
    configuration.current().compare, reason="no call has a plan while results are compared with NumPy's"
)
FUNCTIONS = plan_cases.functions()
DTYPES = (vx.float32, vx.int32, vx.complex64, vx.bool, vx.float16, vx.float64, vx.uint8, vx.bfloat16, vx.int64)


@pytest.fixture(scope="module", autouse=True)
def few_objects() -> None:
    """What is there by now is no token of these calls: looking for those passes over it."""
    gc.collect()
    gc.freeze()


def seen(value: Any, bases: list[vx.VkArray], undefined: bool) -> Any:
    """All that a caller can see of a result; of an array also of which argument it is a view."""
    if isinstance(value, (tuple, list)):
        return (type(value), *(seen(one, bases, undefined) for one in value))
    if type(value) is not vx.VkArray:
        return value
    shared = [place for place, base in enumerate(bases) if base._buffer is value._buffer]
    assert all(type(one) is int for one in (*value._shape, *value._strides, value._offset)), "a token is left"
    content = None if undefined and not shared else np.asarray(value).tobytes()
    return value.dtype, value._shape, value._strides, value._offset if shared else 0, shared, content


def outcome(function: Any, arguments: tuple[Any, ...], bases: list[vx.VkArray], undefined: bool = False) -> Any:
    """What a call does: its results, the memory of its arguments after it, and its error, deferred ones included."""
    names = arguments[-1] if type(arguments[-1]) is dict else {}
    arguments = arguments[:-1] if names else arguments
    try:
        found = function(*arguments, **names)
        given = [place for place, one in enumerate(arguments) if one is found]
        return given, seen(found, bases, undefined), *(np.asarray(base).tobytes() for base in bases)
    except Exception as error:
        return type(error), str(error)


def shown(value: Any) -> str:
    """A number in words: Python writes no integers of more than 4,300 digits."""
    return f"an integer of {value.bit_length()} bits" if type(value) is int and abs(value) >> 999 else repr(value)


def without_plans(function: Any, *arguments: Any) -> Any:
    """What a call does where neither the function nor those that it calls have plans."""
    thread = threading.get_ident()
    try:
        watches[thread] = Watch()
        return outcome(function.__wrapped__, *arguments)
    finally:
        watches.pop(thread)


def test_every_planned_function_has_calls() -> None:
    assert sorted(set(FUNCTIONS) - set(CALLS)) == [], "give these functions calls in plan_cases.CALLS"
    assert sorted(set(CALLS) - set(FUNCTIONS)) == [], "these functions have no plans"


@pytest.mark.parametrize("name", CALLS)
def test_repeated_calls(name: str) -> None:
    function, undefined = FUNCTIONS[name], name in ("from_shape.empty", "from_shape.empty_like")
    plans, seed, succeeded = plan_cases.plans_of(function), 0, 0
    repeated = plans.repeated
    others = [DTYPES[4 + (list(CALLS).index(name) + step) % 5] for step in (0, 1)]  # each function has some of them
    for dtype in supported((*DTYPES[:4], *others)):
        first = dtype is vx.float32
        for place, call in enumerate(CALLS[name]):
            for layout in LAYOUTS if first else (LAYOUTS[(place + dtype.bits) % 5],):
                for _ in range(5 if first else 4):
                    seed += 1
                    ways = []
                    for way in (outcome, without_plans):
                        maker = Maker(seed, dtype, layout)
                        try:
                            arguments = call(maker)
                        except TypeError:  # of no such type
                            break
                        ways.append(way(function, arguments, maker.bases, undefined))
                    if ways:
                        assert ways[0] == ways[1], f"call {place} of {dtype}, {layout}"
                        succeeded += type(ways[0][0]) is list
    assert succeeded > 3
    assert plans.repeated > repeated, plans.reasons
    gc.collect()
    left = [one for one in gc.get_objects() if issubclass(type(one), Token)]  # their own `__class__` may warn
    assert not left, "a scalar of a call that was watched outlives it"


def test_every_row_of_several_operands_has_calls_with_scalars() -> None:
    rows = [name for name, row in ROWS.items() if row.operands > 1]
    assert [name for name in rows if f"rows.{name}" not in plan_cases.SCALARS] == []


# What is filled has as many elements as the scalar says: these calls get no large ones.
SIZES = {("from_shape.full", 2): 300, ("ranges.arange", 0): 300, ("ranges.arange", 1): 300, ("ranges.arange", 3): 300,
         ("ranges.spaced", 3): 300, ("ndarray.around", 0): 300}  # fmt: skip


@pytest.mark.parametrize("kind", plan_cases.VALUES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", plan_cases.SCALARS)
def test_scalars_of_one_signature(name: str, kind: type) -> None:
    function = FUNCTIONS[name]
    other = (vx.float16, vx.int32, vx.float64, vx.uint64)[list(plan_cases.SCALARS).index(name) % 4]
    for dtype in supported((vx.float32, vx.int8, vx.complex64, other)):
        for place, call in enumerate(plan_cases.SCALARS[name]):
            largest = SIZES.get((name, place))
            for maker in plan_cases.MAKERS[kind]:
                planned.forget()
                for value in (maker, maker, *plan_cases.VALUES[kind]):
                    if largest is not None and abs(value) > largest:
                        continue
                    ways = []
                    for way in (outcome, without_plans):
                        made = Maker(7, dtype, "contiguous")
                        ways.append(way(function, call(made, value), made.bases))
                    assert ways[0] == ways[1], f"call {place} of {dtype}: {shown(value)} after {maker!r}"
