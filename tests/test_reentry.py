"""Code that computes with arrays in the middle of code that does: signal handlers, finalizers, the garbage collector."""

from __future__ import annotations

import gc
import os
import random
import secrets
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from strikes import FILES, Strike

import vkarray as vx
from vkarray.core import checks
from vkarray.kernels import faults, gather, launch, planned
from vkarray.shaders import source as shaders

HOST = np.arange(1000, dtype=np.int32)
ABOVE = {module.__file__ for module in (checks, shaders, gather, launch)} | {
    str(Path(vx.__file__).with_name("core") / "array.py")
}
TRACING = {str(path) for name in ("graph", "core") for path in Path(vx.__file__).with_name(name).glob("*.py")} | {
    __file__
}
EVERY = 60  # about so many places from one that is tried to the next


def outer(x: vx.VkArray, step: int) -> None:
    """Kernels, an upload, a deferred check and reads."""
    y = x * step + vx.asarray(HOST)
    z = vx.take(y[::-1], vx.asarray([0, 999]))
    y += 1
    assert z.tolist() == [999 * step + 999, 0]
    assert int(vx.sum(y, dtype=vx.int32)) == int((HOST * (step + 1) + 1).sum())
    np.testing.assert_array_equal(np.asarray(y), HOST * (step + 1) + 1)


def inner(x: vx.VkArray, step: int) -> None:
    """Other kernels and constants on the same memory; what is read is right, and most is not read."""
    y = (x - step) * 3
    assert vx.take(y, vx.asarray([1])).tolist() == [3 - 3 * step]
    vx.asarray(HOST) ^ x
    assert vx.max(y).tolist() == 3 * (999 - step)


def test_other_code_at_every_place() -> None:
    x, place, failures = vx.asarray(HOST), 0, []
    outer(x, 1)
    inner(x, 1)

    def strike() -> None:
        try:
            inner(x, place)
        except BaseException as error:
            failures.append(error)

    while True:
        place += 2
        try:
            with Strike(place, strike, FILES | ABOVE) as striking:
                outer(x, place)
        except AssertionError as error:
            raise AssertionError(f"with other code at {striking.where}") from error
        assert not failures, f"at {striking.where}: {failures}"
        if striking.where is None:
            break
    assert place > 300, "the sweep is over before it has begun"


def busy(x: vx.VkArray, until) -> None:
    """Compute until then, with a thread beside."""
    stop, failures = threading.Event(), []

    def beside() -> None:
        try:
            while not stop.is_set():
                outer(x, 5)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=beside)
    thread.start()
    try:
        for step in range(5000):
            if step % 4 == 0:
                planned.forget()  # calls that plans repeat make few objects, for which the collector would come
            outer(x, step % 100)
            if until():
                break
    finally:
        stop.set()
        thread.join()
    assert not failures, failures


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
def test_signal_handler_that_computes() -> None:
    x, failures, generator = vx.asarray(HOST), [], random.Random(1)
    calls, over = 0, False

    def handler(*_: object) -> None:
        nonlocal calls
        if over:  # once more would end the process, which handles the signal no longer by then
            return
        calls += 1
        try:
            inner(x, calls)
        except BaseException as error:
            failures.append(error)
        signal.setitimer(signal.ITIMER_REAL, generator.uniform(1e-4, 3e-3))

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-3)
        busy(x, lambda: calls >= 150 or failures)
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not failures, failures
    assert calls >= 50


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no signals of users")
def test_handlers_compile_while_a_program_is_made() -> None:
    x, seen = vx.asarray(HOST[:9]), []
    increased = vx.compile(lambda x: x + 1)

    def function(x):
        y = x * 2
        os.kill(os.getpid(), signal.SIGUSR1)
        return y

    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(increased(vx.ones(9)).tolist()))
    try:
        faults.keep_check(x.device, None)  # that of another call, which the trace in the handler would go on with
        program = vx.Program(function, (x,))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert np.array_equal(np.asarray(program(x)), HOST[:9] * 2)
    assert seen == [[2.0] * 9]


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no signals of users")
@pytest.mark.parametrize("options", [{}, {"dynamic": {"x": {0: vx.Dim("n", max=64)}}}], ids=["fixed", "dynamic"])
@pytest.mark.parametrize("given", [(), (3,)], ids=["arrays", "numbers"])
def test_errors_of_handlers_end_a_trace(options: dict[str, object], given: tuple[int, ...]) -> None:
    """Such as one that limits the time of a call: the function is not run once more without it."""

    class Late(Exception):
        pass

    def handler(*_: object) -> None:
        raise Late

    calls = []

    def function(x, *numbers):
        calls.append("called")
        y = x * 2
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGUSR1)
            sum(range(1000))  # where it strikes at the latest
        return y + sum(numbers)

    compiled, x = vx.compile(function, **options), vx.asarray(HOST[:9])
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(Late):
            compiled(x, *given)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert calls == ["called"]
    assert np.array_equal(np.asarray(compiled(x, *given)), HOST[:9] * 2 + sum(given))


class Cycle:
    """What the garbage collector alone finds, with a finalizer that computes."""

    calls = 0
    failures: list[BaseException] = []  # noqa: RUF012 - of the class

    def __init__(self, x: vx.VkArray) -> None:
        self.x, self.me = x, self

    def __del__(self) -> None:
        Cycle.calls += 1
        try:
            inner(self.x, Cycle.calls)
        except BaseException as error:
            Cycle.failures.append(error)


def test_finalizers_that_compute() -> None:
    x, before, generator = vx.asarray(HOST), gc.get_threshold(), random.Random(1)
    Cycle.calls, Cycle.failures = 0, []

    def found(phase: str, _: dict[str, int]) -> None:
        if phase == "start" and not Cycle.failures:
            Cycle(x)  # for the next turn
            gc.set_threshold(generator.randrange(1, 60), 1, 1)

    gc.callbacks.append(found)
    try:
        gc.freeze()  # so that it looks at little
        gc.set_threshold(37, 1, 1)
        busy(x, lambda: Cycle.calls >= 150 or Cycle.failures)
    finally:
        gc.callbacks.remove(found)
        gc.set_threshold(*before)
        gc.unfreeze()
        gc.collect()
    assert not Cycle.failures, Cycle.failures
    assert Cycle.calls > 20, "hardly a finalizer ran"  # a slow machine has time for few


def test_reading_inside_a_call_does_not_wait_for_a_thread_that_runs_checks(device) -> None:
    """A finalizer strikes in a call, which holds the gate; who runs checks holds their lock, and needs the gate."""
    x, held, over, values = vx.asarray(HOST), threading.Event(), threading.Event(), []

    def run_checks() -> None:
        with checks.of(device).lock:
            held.set()
            over.wait(60)

    def read() -> None:
        held.wait(60)
        with device.gate:
            values.append(x.tolist())

    threads = [threading.Thread(target=target, daemon=True) for target in (run_checks, read)]
    for thread in threads:
        thread.start()
    threads[1].join(30)
    over.set()
    assert values == [HOST.tolist()], "the read waits for ever"


def new_variant() -> shaders.Shader:
    """A shader that nobody has compiled yet, in an earlier run neither."""
    x = vx.asarray([1], dtype=vx.int32)
    operation = launch.Operation("new", f"a + {secrets.randbelow(2**31)}", (vx.int32,), vx.int32, vx.int32)
    return operation.variant(x.device, flat=True)


def test_signal_handler_that_needs_the_shader_which_is_being_made(monkeypatch) -> None:
    variant, other, make, made = new_variant(), new_variant(), shaders.spirv_of_source, []

    def struck(*arguments):
        if len(made) < 2:
            made.append(None)
            made.extend([shaders.spirv(variant), shaders.spirv(other)])
        return make(*arguments)

    monkeypatch.setattr(shaders, "spirv_of_source", struck)
    assert shaders.spirv(variant) == made[-2]
    assert shaders.spirv(other) == made[-1]
    assert not shaders._making


def test_thread_does_not_wait_for_ever_for_the_shader_that_another_makes(device, monkeypatch) -> None:
    """One makes it and needs the device on the way, in a signal handler; the other has the device."""
    variant, make, started, ended = new_variant(), shaders.spirv_of_source, threading.Event(), []
    monkeypatch.setattr(shaders, "PATIENCE_SECONDS", 0.1)

    def struck(*arguments):
        if threading.current_thread() is maker:
            started.set()
            vx.asarray(HOST, device=device).tolist()
        return make(*arguments)

    monkeypatch.setattr(shaders, "spirv_of_source", struck)
    maker = threading.Thread(target=lambda: ended.append(shaders.spirv(variant)), daemon=True)
    with device.gate:
        maker.start()
        started.wait(10)
        code = shaders.spirv(variant)
    maker.join(10)
    assert ended == [code]


def test_shader_that_did_not_compile_is_tried_again(monkeypatch) -> None:
    variant, make = new_variant(), shaders.spirv_of_source

    def struck(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(shaders, "spirv_of_source", struck)
    with pytest.raises(KeyboardInterrupt):
        shaders.spirv(variant)
    monkeypatch.setattr(shaders, "spirv_of_source", make)
    assert shaders.spirv(variant)


class Ends:
    """Computes when it is dropped."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work

    def __del__(self) -> None:
        self.work()


@pytest.mark.parametrize("how", ["signal handler", "finalizer"])
def test_other_code_while_a_function_is_traced(how: str) -> None:
    """What it does is done at once, and is no part of the program."""
    x, other, count = vx.asarray(HOST), vx.asarray(HOST), vx.zeros(3)
    expected = float(np.sum(np.sort(HOST) * 2 + 1))
    handled, failures, finished, place = 0, [], False, 0
    generator = random.Random(1)

    def work() -> None:
        nonlocal count, handled
        handled += 1
        try:
            count += 1  # in a program it would be counted in each call
            assert float(vx.sum(other * handled)) == pytest.approx(float(HOST.sum()) * handled)
        except BaseException as error:
            failures.append(error)

    def strike() -> None:
        if how == "finalizer":
            Ends(work)
        else:
            signal.raise_signal(signal.SIGINT)

    while not finished:
        place += generator.randrange(1, 2 * EVERY)
        compiled = vx.compile(lambda x: vx.sum(vx.sort(x) * 2 + 1))
        planned.forget()
        before = signal.signal(signal.SIGINT, lambda *_: work())
        try:
            with Strike(place, strike, TRACING) as striking:
                found = compiled(x)
        finally:
            signal.signal(signal.SIGINT, before)
        finished = striking.where is None
        for value in (found, compiled(x), compiled(x)):
            assert float(value) == pytest.approx(expected), striking.where
        assert not failures, (striking.where, failures)
        assert float(count[0]) == handled, striking.where
    assert handled > 20
