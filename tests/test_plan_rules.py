"""Plans: what they share and must not repeat, what strikes in the middle of them, and how many are kept."""

from __future__ import annotations

import math
import operator
import threading
from pathlib import Path

import numpy as np
import pytest
from plan_cases import plans_of
from strikes import Strike

import vkarray as vx
from vkarray import _vk, configuration
from vkarray._vk import watch
from vkarray._vk.pointer import Pointer
from vkarray._vk.watch import Watch
from vkarray.core import tokens
from vkarray.core.array import VkArray
from vkarray.core.tokens import Noticed, Token, token, within
from vkarray.kernels import dispatch as dispatches
from vkarray.kernels import faults, planned, signature, tuning
from vkarray.kernels.plan import STEPS, Plan, Refused

pytestmark = pytest.mark.skipif(
    configuration.current().compare, reason="no call has a plan while results are compared with NumPy's"
)
CALLS = 5


def repeated() -> int:
    return planned.statistics()["repeated"]


@pytest.fixture
def repeats():
    """At the end, a plan must have repeated a call."""
    before = repeated()
    yield
    assert repeated() > before, [plans.reasons for plans in planned.Plans.all if plans.reasons]


def numbers(first: int, count: int = 8) -> tuple[np.ndarray, VkArray]:
    host = np.arange(first, first + count, dtype=np.float32)
    return host, vx.asarray(host)


# -- memory that is shared ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("repeats")
def test_operands_that_share_memory() -> None:
    for call in range(CALLS):
        host, x = numbers(call)
        other = vx.asarray(host[::-1].copy())
        assert (x + x).tolist() == (host + host).tolist()
        assert (x + other).tolist() == (host + host[::-1]).tolist()
        assert (x[:-1] + x[1:]).tolist() == (host[:-1] + host[1:]).tolist()
        assert (x[1:] + x[:-1]).tolist() == (host[:-1] + host[1:]).tolist()
        assert (x[:6] + x[2:]).tolist() == (host[:6] + host[2:]).tolist()
        assert vx.where(x > 3, x, -x).tolist() == np.where(host > 3, host, -host).tolist()


@pytest.mark.usefixtures("repeats")
@pytest.mark.parametrize(("target", "source"), [(slice(1, None), slice(-1)), (slice(-1), slice(1, None)),
                                            (slice(None), slice(None, None, -1)), (slice(4), slice(4, None))])  # fmt: skip
def test_in_place_with_overlapping_views(target: slice, source: slice) -> None:
    for call in range(CALLS):
        host, x = numbers(call)
        part, expected = x[target], host.copy()
        part += x[source]
        expected[target] += host[source]
        assert x.tolist() == expected.tolist()
        x[target] = x[source]
        expected[target] = expected[source].copy()
        assert x.tolist() == expected.tolist()


@pytest.mark.usefixtures("told_later")
def test_out_of_place_indices_are_found_each_time() -> None:
    for call in range(2 * CALLS):
        host, x = numbers(call)
        bad = call % 2 == 1
        found = vx.take(x, vx.asarray([1, 80 if bad else 7]))
        if bad:
            with pytest.raises(IndexError, match="take"):
                found.tolist()
        else:
            assert found.tolist() == [host[1], host[7]]


VIEWS = {
    "reshape": lambda x: vx.reshape(x, (4, 2)),
    "transpose": lambda x: vx.reshape(x, (2, 4)).T,
    "slice": lambda x: x[2:6:2],
    "reverse": lambda x: vx.flip(x),
    "expand": lambda x: vx.expand_dims(x, axis=0),
    "part": lambda x: x[3, ...],
    "unstack": lambda x: vx.unstack(vx.reshape(x, (2, 4)))[1],
    "same": lambda x: vx.astype(x, vx.float32, copy=False),
}


@pytest.mark.usefixtures("repeats")
@pytest.mark.parametrize("name", VIEWS)
def test_views_are_views_of_their_argument(name: str) -> None:
    for call in range(CALLS):
        host, whole = numbers(10 * call, 20)
        for first in (0, 8, 4):
            x = whole[first : first + 8]
            view = VIEWS[name](x)
            assert view._buffer is whole._buffer
            places = np.asarray(view).reshape(-1)
            view[...] = -1.0
            changed = np.isin(host, places)
            host[changed] = -1
            assert np.asarray(whole).tolist() == host.tolist()
            whole[...] = vx.asarray(np.arange(10 * call, 10 * call + 20, dtype=np.float32))
            host[:] = np.arange(10 * call, 10 * call + 20)


def test_results_that_are_arguments_and_several_results() -> None:
    made = planned.planned(lambda x, y: [y, x + y])
    one = planned.planned(lambda x: [x + 1])
    nothing = planned.planned(lambda x: (None, x))
    for call in range(CALLS):
        (_, x), (_, y) = numbers(call), numbers(call + 3)
        first, second = made(x, y)
        assert first is y
        assert second.tolist() == [2 * call + 3 + 2 * place for place in range(8)]
        (only,) = one(x)
        assert only.tolist() == [call + 1 + place for place in range(8)]
        assert nothing(x)[1] is x
    assert plans_of(made).repeated == plans_of(one).repeated == plans_of(nothing).repeated == CALLS - 2


@pytest.mark.usefixtures("repeats")
def test_in_place_touches_its_own_memory_alone() -> None:
    whole = vx.asarray(np.arange(64 * 7, dtype=np.float32))
    expected = np.asarray(whole).copy()
    for call in range(7):
        part = whole[64 * call + 8 : 64 * call + 40]
        part *= float(call)
        part[3] = 5.0
        part[vx.asarray([0, 7])] = -2.0
        expected[64 * call + 8 : 64 * call + 40] *= call
        expected[[64 * call + 11, 64 * call + 8, 64 * call + 15]] = 5, -2, -2
        assert np.asarray(whole).tolist() == expected.tolist()


# -- what is never repeated ---------------------------------------------------------------------------------------------


def test_functions_that_read_values_read_them_each_time() -> None:
    for call in range(CALLS):
        host, x = numbers(call)
        repeating = vx.asarray(host % (call + 2))
        assert vx.unique_values(repeating).size == call + 2
        assert vx.nonzero(x)[0].size == 8 - (call == 0)
        assert vx.asarray(host)[x > call].size == 7
        assert int(x[1]) == call + 1
        assert bool(vx.all(x > 0.5)) == (call > 0)
        assert vx.arange(float(x[2])).size == call + 2
        assert vx.full((2,), x[3]).tolist() == [call + 3] * 2


def test_random_numbers_go_on() -> None:
    draws = [vx.random.default_rng(3) for _ in range(2)]
    first = [draws[0].random(5).tolist() for _ in range(2 * CALLS)]
    assert len({tuple(one) for one in first}) == 2 * CALLS
    planned.forget()
    again = []
    for _ in range(2 * CALLS):
        planned.forget()
        again.append(draws[1].random(5).tolist())
    assert first == again


WRONG = {
    "shapes": (lambda: vx.ones((3,)) + vx.ones((4,)), ValueError),
    "type": (lambda: vx.ones((3,)) + "4", TypeError),
    "category": (lambda: vx.bitwise_and(vx.ones((3,)), vx.ones((3,))), TypeError),
    "axis": (lambda: vx.sum(vx.ones((3,)), axis=4), IndexError),
    "integer": (lambda: vx.ones((3,), dtype=vx.int8) + 300, OverflowError),
    "huge integer": (lambda: vx.ones((3,)) + 10**5000, OverflowError),
    "length": (lambda: vx.zeros((-1,)), ValueError),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_come_again(name: str) -> None:
    call, error = WRONG[name]
    told = set()
    for _ in range(CALLS):
        with pytest.raises(error) as raised:
            call()
        told.add(str(raised.value))
    assert len(told) == 1


def test_other_tuning_and_other_modes_forget_or_pass_plans() -> None:
    x = vx.ones((8,))
    for _ in range(3):
        x + 1
    with tuning.trying("none", ""):
        assert planned.statistics()["signatures"] == 0
    for _ in range(3):
        x + 1
    before = repeated()
    with vx.config(compare=True):
        x + 1
    assert repeated() == before


@pytest.mark.usefixtures("repeats")
def test_every_dispatch_of_a_plan_is_told(capfd) -> None:
    x = vx.ones((8,))
    told = []
    for _ in range(4):
        capfd.readouterr()
        with vx.config(debug=2):
            y = vx.std(x + 1)
            y.device.synchronize()
        told.append([line.split(" ")[0] for line in capfd.readouterr().err.splitlines()])
    assert told[1] == told[2] == told[3]
    assert len(told[3]) >= 2


def test_arrays_of_several_devices() -> None:
    """The second one is the same device with guard bytes, or without."""
    host, x = numbers(3)
    with vx.config(guard=not configuration.current().guard):
        other = _vk.open_device()
    try:
        assert other is not x.device
        for call in range(CALLS):
            y = vx.asarray(host + call, device=other)
            assert (y + y).tolist() == (2 * (host + call)).tolist()
            assert (x + x).tolist() == (2 * host).tolist()
            for made in (vx.empty((3,), device=other), vx.empty_like(x, device=other), vx.zeros((3,), device=other),
                         vx.full_like(x, 2.0, device=other)):  # fmt: skip
                assert made.device is other
                assert made._buffer.device is other
                made[...] = 4.0
                assert set(made.tolist()) == {4.0}
            with pytest.raises(ValueError, match="different devices"):
                x + y
        other.synchronize()  # which looks at the guard bytes
    finally:
        other.close()
    for _ in range(3):
        with pytest.raises(vx.DeviceError, match="closed"):
            (y + y).tolist()
        with pytest.raises(vx.DeviceError, match="closed"):
            vx.empty_like(y)


@pytest.mark.parametrize(
    "text", ["vx.zeros((2, 3), device=other)", "vx.arange(5, device=other)", "generator.random((2, 3))"]
)
def test_what_is_made_on_another_device_has_a_plan(text: str) -> None:
    with vx.config(guard=not configuration.current().guard):
        other = _vk.open_device()
    try:
        assert other is not _vk.open_device()
        call = eval(f"lambda: {text}", {"vx": vx, "other": other, "generator": vx.random.default_rng(0, device=other)})
        for _ in range(CALLS):
            call()
        repeated = planned.statistics()["repeated"]
        made = call()
        assert planned.statistics()["repeated"] > repeated
        assert made.device is other
        made.tolist()
    finally:
        other.close()


def test_barriers_are_checked_in_repeated_calls() -> None:
    host, _ = numbers(3)
    with vx.config(check_barriers=True):
        device = _vk.open_device()
    try:
        for call in range(CALLS):
            y = vx.asarray(host + call, device=device)
            y += vx.std(y) * 0
            y[1:] = y[:-1]
            expected = host + call
            expected[1:] = expected[:-1].copy()
            assert y.tolist() == expected.tolist()
        device.synchronize()
    finally:
        device.close()


# -- what strikes in the middle -----------------------------------------------------------------------------------------

# CPython lets nothing in between the last call of a `try` block and the first one of its `finally`.
NO_PLACES = [
    f"planned.py:{number} (line)"
    for number, line in enumerate(Path(planned.__file__).read_text().splitlines(), 1)
    if line.lstrip().startswith("_ = watches.pop(thread")
]
ROUND = {planned.__file__, watch.__file__, dispatches.__file__, signature.__file__, faults.__file__, tokens.__file__}


def struck(hit, sweep=4000) -> None:
    """A function is called four times, with something at each place in turn; its results are right, then and later."""
    place, failures = 0, []
    while place < sweep:
        place += 1
        planned.forget()
        _, x = numbers(1)
        found = []
        try:
            with Strike(place, lambda x=x: hit(x), ROUND) as striking:
                for call in range(4):
                    found.append(vx.take(x * float(call), vx.asarray([2, 5])))
        except KeyboardInterrupt:
            assert hit is interrupt
        if striking.where in NO_PLACES:
            watch.watches.clear()
        assert not watch.watches, striking.where
        for call, one in enumerate(found):
            if one.tolist() != [3.0 * call, 6.0 * call]:
                failures.append((striking.where, call))
        for call in range(3):
            _, y = numbers(call)
            found = vx.take(y * 2.0, vx.asarray([2, 5])).tolist()
            if found != [2.0 * call + 4, 2.0 * call + 10] or (hit is in_place and marked.tolist() != [at[0]] * 4):
                failures.append((striking.where, found, marked.tolist()))
        assert not failures, failures
        if striking.where is None:
            break
    assert place > 100, "the sweep is over before it has begun"
    assert repeated(), "no plan was made after all"


def interrupt(_: VkArray) -> None:
    raise KeyboardInterrupt


marked, at = vx.zeros((4,)), [0]


def in_place(_: VkArray) -> None:
    """A plan that had noted this would do it in each call."""
    global marked
    marked += 1.0
    at[0] += 1


# Python prints, and does not raise, what strikes while it closes a generator.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("hit", [interrupt, in_place])
def test_strikes_at_every_place(hit) -> None:
    struck(hit)


def test_other_code_in_a_watched_call_leaves_no_trace() -> None:
    """Memory of the caller that a signal handler writes, and that of the arguments themselves."""
    _, counter = numbers(0, 4)

    class Finalizer:
        def __init__(self, x: VkArray) -> None:
            self.x = x

        def __del__(self) -> None:
            operator.iadd(counter, 1.0)
            operator.iadd(self.x, 1.0)

    @planned.planned
    def function(x: VkArray, factor: float) -> VkArray:
        result = vx.multiply(x, factor)
        if strikes:
            strikes.pop()
        return vx.add(result, x)

    for call in range(CALLS):
        host, x = numbers(call)
        strikes = [Finalizer(x)] if call in (0, 1) else []
        found = function(x, 2.0).tolist()
        assert found == (2 * host + host + bool(call < 2)).tolist()
        assert counter.tolist() == (np.arange(4) + min(call + 1, 2)).tolist()
        assert x.tolist() == (host + (call < 2)).tolist()
    assert "other code computes in the middle of it" in plans_of(function).reasons
    assert plans_of(function).repeated


def test_threads_share_plans() -> None:
    failures: list[object] = []

    def work(number: int) -> None:
        try:
            for call in range(60):
                host, x = numbers(number * 100 + call, 8 + call % 3)
                x += 1.0
                found = vx.sum(x * float(call)).tolist(), vx.sort(-x).tolist()
                if found != (float((host + 1).sum() * call), sorted((-host - 1).tolist())):
                    failures.append((number, call, found))
                if call % 20 == number:
                    planned.forget()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert not watch.watches


# -- views --------------------------------------------------------------------------------------------------------------


def test_views_that_are_repeated_lie_in_their_own_array() -> None:
    host = np.arange(60, dtype=np.float32)
    calls = [
        lambda x: x[1:], lambda x: x[::-1], lambda x: x[-2:, None], lambda x: x[..., :2], lambda x: x.reshape((2, -1)),
        lambda x: x[1:3].view("int16"),
    ]  # fmt: skip
    for call in calls:
        seen = repeated()
        for first in 4 * list(range(0, 50, 7)):
            values, whole = host.copy(), vx.asarray(host)
            wanted, found = call(values[first : first + 8]), call(whole[first : first + 8])
            assert found.tolist() == wanted.tolist()
            assert found._look in (None, signature.look_of(found._view(found.shape, found.element_strides)))
            found[...] = 1
            wanted[...] = 1
            assert whole.tolist() == values.tolist()
        assert repeated() > seen


# -- how many are kept --------------------------------------------------------------------------------------------------


def kept() -> int:
    """Signatures, values and dispatches of all plans."""
    found = 0
    for plans in planned.Plans.all:
        for one in (*plans.values(), *plans.older.values()):
            for plan in one.plans.values() if type(one) is planned.ByValue else (one,):
                found += 1 + getattr(plan, "steps", 0)
    return found


def test_plans_are_bounded(monkeypatch) -> None:
    monkeypatch.setattr(planned, "GENERATION", 200)
    for length in range(1, 150):
        for _ in range(3):
            x = vx.zeros((length,))
            x += 2.0
            vx.arange(length % 70)
        assert vx.sum(x).tolist() == 2.0 * length
        assert kept() <= 2 * (200 + planned.VALUES + STEPS)


def test_what_is_used_is_kept(monkeypatch) -> None:
    monkeypatch.setattr(planned, "GENERATION", 60)
    x = vx.ones((3,))
    for length in range(1, 200):
        before = planned.statistics()["watched"]
        vx.sign(x)
        assert length < 3 or planned.statistics()["watched"] == before
        vx.zeros((length,))


def test_signatures_tell_values_of_other_types_apart() -> None:
    def key_of(value: object) -> tuple:
        key: list = []
        assert signature.note((value, 1), key, [], [], False)
        return tuple(key)

    values = [
        (1, 2), (True, 2), [1, 2], (1, 2, 1), (1,), 1, True, (), ((1, 2),), (1, None), slice(1, 2), slice(True, 2),
        slice(None, 1, 2), slice(1, 2, 1), slice(1, None, 2), (slice(1, 2),), "12", None,
    ]  # fmt: skip
    keys = [key_of(value) for value in values]
    for place, (value, key) in enumerate(zip(values, keys, strict=True)):
        assert key == key_of(value)
        assert key not in keys[:place], value


def test_values_that_come_once_are_not_watched() -> None:
    vx.arange(3)
    vx.arange(3)
    before = planned.statistics()["watched"]
    for length in range(100, 300):
        vx.arange(length)
    assert planned.statistics()["watched"] <= before + 1


def test_nan_that_decides_is_one_value() -> None:
    x = vx.ones((3,), dtype=vx.complex64)
    function = planned.planned(lambda x, value: x if value != value else x + value)
    for _ in range(20):
        assert function(x, float("nan")) is x
    assert plans_of(function).repeated >= 16


# -- tokens -------------------------------------------------------------------------------------------------------------

USES = {
    "sum": lambda a, b: a + b, "difference of a number": lambda a, _: 2.5 - a, "power": lambda a, _: 2**a,
    "negative": lambda a, _: -a, "comparison": lambda a, b: a < b, "equality": lambda a, _: a == 3, "truth": lambda a, _: bool(a),
    "hash": lambda a, _: hash(a), "text": lambda a, _: str(a), "format": lambda a, _: f"{a}",
    "representation": lambda a, _: repr(a),
    "float": lambda a, _: float(a), "int": lambda a, _: int(a), "complex": lambda a, _: complex(a), "absolute": lambda a, _: abs(a),
    "rounding": lambda a, _: round(a), "floor": lambda a, _: math.floor(a), "maximum": lambda a, b: max(a, b),
    "key": lambda a, _: {3: 1}.get(a), "member": lambda a, _: a in (1, 2), "quotient": lambda a, b: divmod(a, b),
}  # fmt: skip


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("use", USES)
def test_tokens_notice(use: str, kind: type) -> None:
    for values in ((3, 4), (4, 3)):
        noticed = Noticed()
        USES[use](*(token(kind(value), place, noticed) for place, value in enumerate(values)))
        wanted = {0, 1} if use in ("sum", "comparison", "maximum", "quotient") else {0}
        if use == "difference of a number" and kind is int:
            continue  # C computes it: see `token`
        assert noticed.decide == wanted


def test_tokens_do_not_notice_what_decides_nothing() -> None:
    noticed = Noticed()
    a, b, c = (token(value, place, noticed) for place, value in enumerate((3, 2.5, 1j)))
    assert (tokens.plain(a), tokens.plain(b), tokens.plain(c), tokens.plain(7)) == (3, 2.5, 1j, 7)
    assert type(tokens.plain(a)) is int
    assert isinstance(a, int) and isinstance(b, float) and isinstance(c, complex) and isinstance(c, Token)  # noqa: PT018
    assert [type(one).__name__ for one in (a, b, c)] == ["int", "float", "complex"]
    assert within(a, 0, 5) and not within(a, 4, 10) and within(7, 7, 7)  # noqa: PT018
    assert not noticed.decide
    assert noticed.limits == {0: (4, 5)}


# -- what a plan refuses ------------------------------------------------------------------------------------------------


def watched(function) -> Watch:
    """What a function asks of the device."""
    seen, thread = Watch(), threading.get_ident()
    watch.watches[thread] = seen
    try:
        function()
    finally:
        watch.watches.pop(thread)
    return seen


def given(*arrays: VkArray) -> list[Pointer]:
    return [dispatches.pointer(array) for array in arrays]


def test_refusals(device) -> None:
    x, y = vx.ones((8,)), vx.ones((8,))
    cases = {
        "it reads values on the host": (lambda: float(x[0]), [x]),
        "it writes from the host": (lambda: vx.asarray(np.ones(3, np.float32)), [x]),
        "it copies memory": (lambda: device.copy(x._buffer, 0, y._buffer, 0, 16), [x]),
        "it writes to memory that calls share": (lambda: operator.iadd(y, x), [x]),
    }
    for reason, (function, arrays) in cases.items():
        function()
        with pytest.raises(Refused) as refused:
            Plan(watched(function), device, given(*arrays), None)
        assert str(refused.value) == reason
    seen = watched(lambda: vx.negative(x))
    seen.dispatches *= STEPS + 1
    with pytest.raises(Refused, match=f"more than {STEPS} dispatches"):
        Plan(seen, device, given(x), None)
    plan = Plan(watched(lambda: vx.add(x, y)), device, given(x), None)
    assert plan.constants == [y._buffer]
    with pytest.raises(Refused, match="a result lies in memory that calls share"):
        plan.keep([plan.number(y._buffer)])
    with pytest.raises(Refused, match="several devices"):
        Plan(watched(lambda: vx.add(x, y)), object(), given(x), None)


def test_temporary_memory_lives_no_longer_than_its_steps(device) -> None:
    x = vx.ones((8,))
    plan = Plan(watched(lambda: vx.negative(vx.abs(x))), device, given(x), None)
    first, second = plan.steps
    assert [number for number, _ in first.takes] == list(second.reads) == [1]
    assert [number for number, _ in second.takes] == list(second.writes) == [2]
    assert (first.drops, set(second.drops)) == ((), {1, 2})
    plan.keep([2])
    assert plan.steps[1].drops == (1,)
