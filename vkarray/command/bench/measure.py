"""Check a work in every library, then time it in alternation: device time and host time apart."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import FeatureError, OutOfMemoryError
from ..libraries import Library
from .work import Values, Work

_TOO_LONG = 30  # times the patience: one such call, and a library is left out
_HOST_BYTES = 12 << 30  # inputs that are kept between works


@dataclass
class Result:
    """What one library took for one work: medians in seconds per call, None where no device clock was asked."""

    chapter: str
    work: str
    library: str
    rounds: int
    host_seconds: float
    device_seconds: float | None
    unit: str
    host: float
    device: float | None


class Store:
    """Inputs on the host and in every library, made once for all works that share them."""

    def __init__(self) -> None:
        self._host: dict[Values, np.ndarray] = {}
        self._device: dict[tuple[str, Values], Any] = {}

    def host(self, values: Values) -> np.ndarray:
        """The values as NumPy has them."""
        flat = _flat(values)
        if flat not in self._host:
            made = flat.make()
            if sum(array.nbytes for array in self._host.values()) + made.nbytes > _HOST_BYTES:
                self._host.clear()
                self._device.clear()
            self._host[flat] = made
        return self._host[flat].reshape(values.shape)

    def device(self, values: Values, library: Library) -> Any:
        """The values in a library."""
        key, host = (library.home, values), self.host(values)
        if key not in self._device:
            flat = (library.home, _flat(values))
            if flat != key and flat in self._device:
                self._device[key] = library.functions.reshape(self._device[flat], values.shape)
            else:
                array = library.array(host)
                bfloat16 = values.dtype == "bfloat16"
                self._device[key] = library.functions.astype(array, "bfloat16") if bfloat16 else array
        return self._device[key]


def _flat(values: Values) -> Values:
    """The same values in one dimension, where their kind does not depend on the shape."""
    if values.kind in ("definite", "symmetric"):
        return values
    count = int(np.prod(values.shape))
    return Values(values.kind, (count,), values.seed, values.dtype, values.high)


@dataclass
class _Turn:
    """A library that has a work right, and its times so far."""

    library: Library
    call: Callable[[], Any]
    host: list[float]
    device: list[float]
    spent: float


class Measurement:
    """Measures works, and keeps what was left out and whether vkarray was wrong."""

    def __init__(self, libraries: list[Library], rounds: int, patience: float) -> None:
        self.libraries, self.rounds, self.patience = libraries, rounds, patience
        self.store = Store()
        self.left_out: list[str] = []
        self.wrong = False

    def measure(self, chapter: str, work: Work) -> list[Result]:
        """Check and time one work in every library, taking turns until the rounds or a library's time are over."""
        able = [library for library in self.libraries if _takes(library, work)]
        turns = [turn for library in able if (turn := self._check(work, library)) is not None]
        for number in range(self.rounds + 1):  # the first round warms up
            for turn in turns:
                if turn.spent < self.patience or not (turn.host or number > 1):
                    self._time(work, turn, keep=number > 0)
        return [_result(chapter, work, turn) for turn in turns]

    def _check(self, work: Work, library: Library) -> _Turn | None:
        values = tuple(self.store.host(each) for each in work.inputs)
        mine = library is self.libraries[0]
        try:
            arrays = values if work.on_host else [self.store.device(each, library) for each in work.inputs]
            call = _bind(work, library, arrays)
            result, seconds = _timed(library, call)  # compiles
            if work.program or seconds < _TOO_LONG * self.patience:
                result, seconds = _timed(library, call)
            right = work.check(library, result, values)
        except Exception as error:  # whatever a library raises for what it cannot do; the others are still measured
            self.wrong |= mine and not isinstance(error, (FeatureError, OutOfMemoryError))
            self._leave_out(work, library, f"{type(error).__name__}: {error}")
            return None
        if not right:
            self.wrong |= mine
            self._leave_out(work, library, "the result is wrong; not timed")
            return None
        if seconds > _TOO_LONG * self.patience:
            self._leave_out(work, library, f"one call took {seconds:.1f} s")
            return None
        turn = _Turn(library, call, [], [], seconds)
        if seconds > self.patience:  # this call has to do
            turn.host.append(seconds)
        return turn

    def _leave_out(self, work: Work, library: Library, reason: str) -> None:
        self.left_out.append(f"{work.name}, {library.name}: {' '.join(reason.split())[:160]}")
        print(f"  left out: {self.left_out[-1]}", flush=True)

    def _time(self, work: Work, turn: _Turn, keep: bool) -> None:
        start = time.perf_counter()
        _, seconds = _timed(turn.library, turn.call)
        on_device = turn.library.device_seconds(turn.call) if work.clock == "device" else None
        turn.spent += time.perf_counter() - start
        if keep:
            turn.host.append(seconds)
            if on_device is not None:
                turn.device.append(on_device)


def _timed(library: Library, call: Callable[[], Any]) -> tuple[Any, float]:
    """The result of a call, and the time until it is there."""
    start = time.perf_counter()
    result = call()
    library.finish(result)
    return result, time.perf_counter() - start


def _takes(library: Library, work: Work) -> bool:
    """Whether a library has a turn at a work: one that is a form of another library has it at programs alone."""
    return work.program if library.name != library.home else library.does_all or work.common


def _bind(work: Work, library: Library, arrays: Any) -> Callable[[], Any]:
    run, functions = work.run, library.functions
    if not work.program:
        return lambda: run(functions, *arrays)

    def of_arrays(*given: Any) -> Any:
        return run(functions, *given)

    program = library.program(of_arrays)
    return lambda: program(*arrays)


def _result(chapter: str, work: Work, turn: _Turn) -> Result:
    host = statistics.median(turn.host) / work.calls
    device = statistics.median(turn.device) / work.calls if turn.device else None
    figure = None if device is None else work.figure(device)
    return Result(
        chapter, work.name, turn.library.name, len(turn.host), host, device, work.unit, work.figure(host), figure
    )
