"""Calls of public functions as a profile sees them: the outermost ones of each thread, by their public names."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .._vk.watch import EVERY_THREAD, watches
from ..core.array import VkArray
from ..core.methods import operations
from . import work

MOST = 8  # arguments that are told
_NUMBERS = (bool, int, float, complex, str, type(None))
PACKAGE = __package__.partition(".")[0]
_SPACES = ("linalg", "fft", "random")


class Call:
    """A call: its operation, its arguments as texts, when it began, and the bytes of the arrays among its arguments."""

    __slots__ = ("arguments", "begin", "number", "operation", "operations", "sizes")

    def __init__(self, operation: str, arguments: list[str], sizes: dict[int, int], number: int) -> None:
        self.operation, self.arguments, self.sizes, self.number = operation, arguments, sizes, number
        self.operations = 0  # on floating-point numbers, where the call tells them and not its kernels
        self.begin = time.perf_counter_ns()


class Listener(Protocol):
    """Who hears of calls."""

    def begun(self, call: Call) -> None:
        """A call begins in this thread."""

    def ended(self, call: Call) -> None:
        """It is over."""


class Calls:
    """Stands in the table of watches, for all threads, while somebody listens."""

    traces = records = False

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self.inside: set[int] = set()  # threads in a call
        self.lock = threading.RLock()
        self.count = 0
        self.names: dict[int, str] = {}  # by the identity of functions
        self.codes: dict[int, str] = {}  # by that of their code

    def listen(self, listener: Listener) -> None:
        """Tell a listener of calls from now on."""
        with self.lock:
            if not self.names:
                self.names, self.codes = _names()
            if not self.listeners:
                self.inside.clear()  # of calls in whose end Ctrl-C has struck
            self.listeners = [*self.listeners, listener]
            watches[EVERY_THREAD] = self  # type: ignore[assignment]

    def leave(self, listener: Listener) -> None:
        """Tell it no more."""
        with self.lock:
            self.listeners = [other for other in self.listeners if other is not listener]
            if not self.listeners:
                watches.pop(EVERY_THREAD, None)

    def takes(self, thread: int) -> Calls | None:
        """The object itself for a call that is in no other one."""
        return None if thread in self.inside else self

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], fixed: bool = False
    ) -> Any:
        """What a call returns. (`fixed` is for tapes.)"""
        thread, listeners, call = threading.get_ident(), self.listeners, None
        try:
            self.inside.add(thread)
            values = _flat((*args, *kwargs.values()))
            self.count += 1
            call = Call(self.name(function), list(map(_told, values[:MOST])), work.sizes(values), self.count)
            for listener in listeners:
                listener.begun(call)
            found = function(*args, **kwargs)
            if call.operation in work.OF_CALLS:
                call.operations = work.operations_of_call(call.operation, args, kwargs, found)
            return found
        finally:
            self.inside.discard(thread)
            if call is not None:
                for listener in listeners:
                    listener.ended(call)

    def name(self, function: Any) -> str:
        """The public name of a function; one that has none is called what it calls itself."""
        own = getattr(function, "profiled_name", None)
        if own is not None:
            return str(own)
        names, owner = self.names, getattr(function, "__self__", None)
        return names.get(id(function)) or names.get(id(owner)) or self.calling() or _qualified(function)

    def calling(self) -> str | None:
        """The outermost public function on the stack that calls vkarray's own: some only call others in this table."""
        frame, found = sys._getframe(1), None
        while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
            found = self.codes.get(id(frame.f_code), found)
            frame = frame.f_back  # type: ignore[assignment]
        return found


def _qualified(function: Any) -> str:
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", type(function).__name__)
    space = next((space for space in _SPACES if f".{space}." in f"{module}."), None)
    return f"{space}.{name}" if space else str(name)


def _names() -> tuple[dict[int, str], dict[int, str]]:
    """The names of the namespace by the identity of functions, with those that they wrap, and of the code of those in Python."""
    top = sys.modules[PACKAGE]
    spaces = [("", top), *((f"{space}.", getattr(top, space)) for space in _SPACES)]
    public = [(prefix + name, getattr(space, name)) for prefix, space in spaces for name in space.__all__]
    kinds = [("VkArray", VkArray), *((name, kind) for name, kind in public if isinstance(kind, type))]
    methods = [
        (f"{name}.{own}", value)
        for name, kind in kinds
        for base in kind.__mro__[:-1]
        for own, value in vars(base).items()
        if base.__module__.startswith(PACKAGE)
    ]
    forms = {form: name for name in operations for form in (name, f"__{name}__") if hasattr(VkArray, form)}
    own = [(f"VkArray.{form}", operations[name]) for form, name in forms.items()]
    names: dict[int, str] = {}
    codes: dict[int, str] = {}
    for name, value in (*public, *own, *methods):
        if not callable(value) or isinstance(value, type):
            continue
        for one in (value, getattr(value, "call", None), getattr(value, "__wrapped__", None)):
            if one is not None:
                names.setdefault(id(one), name)
        code = getattr(value, "__code__", None)
        if code is not None and code.co_name == value.__name__:  # others are of a function that makes many
            codes.setdefault(id(code), name)
    return names, codes


def _flat(values: Sequence[Any]) -> list[Any]:
    """The values, with those of lists and tuples of arrays in their places."""
    found: list[Any] = []
    for value in values:
        if type(value) in (list, tuple) and value and hasattr(value[0], "shape"):
            found += value
        else:
            found.append(value)
    return found


def _told(value: Any) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{str(dtype).removeprefix('torch.')}{list(shape)}"
    return f"{value!r:.40}" if isinstance(value, _NUMBERS) else type(value).__name__


CALLS = Calls()
