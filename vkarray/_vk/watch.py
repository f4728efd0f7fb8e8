"""Watching what a thread asks of devices, so that it can be asked again: plans are made of what was seen."""

from __future__ import annotations

import functools
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from .. import device_caches

if TYPE_CHECKING:
    from .memory import Buffer


class Watch:
    """What one thread has asked for: dispatches, memory, and why that cannot be asked again for other arguments, if so."""

    __slots__ = ("allocated", "caller", "code", "dispatches", "handlers", "limits", "reason")
    traces = False  # whether it takes what is asked for in place of the device, which then does nothing
    varies = False  # whether that is done again for other lengths of dimensions
    records = False  # whether it takes calls of functions, too

    def __init__(self, frame: FrameType | None = None, function: Any = None) -> None:
        """`frame` is that of the code which calls the function that is watched."""
        self.dispatches: list[Any] = []
        self.allocated: list[Buffer] = []
        self.limits: list[tuple[Any, Any]] = []  # of values, that kernels tell of; None for values that are right
        self.reason: str | None = None
        self.handlers: set[CodeType | None] | None = None  # of signals, once that is asked for
        self.caller, self.code = None if frame is None else frame.f_code, getattr(function, "__code__", None)

    def add(self, dispatch: Any) -> None:
        """Note a dispatch, unless other code makes it: a signal handler or a finalizer, which strikes in the middle."""
        self.dispatches.append(dispatch)
        frame = None if self.caller is None else sys._getframe(1)
        while frame is not None and frame.f_code is not self.caller:
            if frame.f_code is not self.code and frame.f_globals.get("__name__", "").partition(".")[0] not in _OWN:
                self.refuse("other code computes in the middle of it")
            frame = frame.f_back

    def refuse(self, reason: str) -> None:
        """Note why what was asked for depends on more than a plan knows. The first reason stays."""
        self.reason = self.reason or reason


_OWN = ("vkarray", "torch", "functools", "contextlib")  # packages whose functions are parts of calls

Function = TypeVar("Function", bound=Callable[..., Any])

watches: dict[int, Watch] = {}  # by thread; nearly always empty, which is cheap to ask
after_waits: list[Callable[[Any], None]] = []  # what the layers above do when a caller has waited for a device


# What begins to trace: code that was called before is none that strikes in the middle. See `begins`.
_begins: set[CodeType] = set()


def begins(function: Function) -> Function:
    """Mark a function that sets a watch which traces."""
    _begins.add(function.__code__)
    return function


def current() -> Watch | None:
    """The watch over this thread; none in a signal handler or a finalizer that strikes where it traces."""
    watch = watches.get(threading.get_ident())
    return None if watch is not None and watch.traces and _is_struck(watch) else watch


def is_of_handler(error: BaseException) -> bool:
    """Whether a signal handler has raised an error, such as one that limits the time of a call."""
    handlers, traceback = _handlers(), error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in handlers:
            return True
        traceback = traceback.tb_next
    return False


def _handlers() -> set[CodeType | None]:
    return {_code(signal.getsignal(number)) for number in signal.valid_signals()}


def _is_struck(watch: Watch) -> bool:
    """Whether a signal handler or a finalizer runs in the middle of what is traced."""
    if watch.handlers is None:
        watch.handlers = _handlers()
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code not in _begins:
        code = frame.f_code
        if code in watch.handlers or code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def _code(handler: Any) -> CodeType | None:
    """The code of a signal handler, where it has such."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    if not callable(handler):  # SIG_DFL, SIG_IGN, None
        return None
    function = getattr(handler, "__func__", handler)
    return getattr(function, "__code__", None) or getattr(type(handler).__call__, "__code__", None)


def refuse(reason: str) -> None:
    """Tell the watch over this thread, if there is one, why no plan can repeat what comes now."""
    watch = current()
    if watch is not None:
        watch.refuse(reason)


@contextmanager
def unwatched() -> Iterator[None]:
    """A part of a call that belongs to no plan."""
    thread = threading.get_ident()
    watch = watches.pop(thread, None)
    try:
        yield
    finally:
        if watch is not None:
            watches[thread] = watch


def kept(maxsize: int) -> Callable[[Function], Function]:
    """A function whose arrays are made once and shared by calls: they belong to no call that is watched."""

    def decorate(function: Function) -> Function:
        @device_caches.lru_cache(maxsize)
        @functools.wraps(function)
        def made(*arguments: Any) -> Any:
            with unwatched():
                return function(*arguments)

        return made  # type: ignore[return-value]

    return decorate


EVERY_THREAD = 0  # in place of a thread: who hears of calls in all of them


def recorder() -> Any:
    """Who takes calls of functions in this thread, `call(function, args, kwargs)`: a watch, or an observer."""
    watch = current()
    if watch is None:
        return observer()
    return watch if watch.records else None


def observer() -> Any:
    """Who hears of calls in all threads, unless this one is in a call already: a watch is none of its business."""
    thread = threading.get_ident()
    found: Any = None if thread in watches else watches.get(EVERY_THREAD)
    return None if found is None else found.takes(thread)


def recorded(function: Function) -> Function:
    """Mark a function that asks `recorder` first: these are the functions that a tape, and a file of a program, may name."""
    function.is_recorded = True  # type: ignore[attr-defined]
    return function


def tracer() -> Any:
    """The watch over this thread, if it takes what is asked for in place of the device."""
    watch = current()
    return watch if watch is not None and watch.traces else None
