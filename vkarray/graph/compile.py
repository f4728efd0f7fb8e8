"""`vkarray.compile`: a function of arrays that is traced once for each signature, and then repeated without its Python code."""

from __future__ import annotations

import functools
import struct
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

from .. import _vk, configuration
from .._vk import watch
from .._vk.watch import watches
from ..core import checks
from ..core.array import VkArray, array_in
from ..core.tokens import Noticed, Token, stand_in
from ..errors import TraceError
from ..kernels import faults
from ..kernels.plan import Refused
from ..kernels.planned import ByValue
from ..kernels.signature import sharing
from . import nest
from .explain import Explanation
from .program import Program, pointers
from .trace import Trace, Value

Function = TypeVar("Function", bound=Callable[..., Any])
MANY = 16  # signatures of one function, after which it says what changes
MOST = 256  # signatures that are kept


class Traced:
    """A program with the nest that it returns, in which numbers stand for its arrays."""

    __slots__ = ("form", "program", "reason")

    def __init__(self, form: Any, program: Program | None, reason: str = "") -> None:
        self.form, self.program, self.reason = form, program, reason


class Compiled:
    """A function whose calls run as programs. Made by `vkarray.compile`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = getattr(function, "__qualname__", type(function).__name__)
        self._known: dict[tuple[Any, ...], ByValue] = {}
        self.streams: dict[Any, None] = {}  # of random numbers, which it draws from
        self._lock = threading.RLock()
        self._told = False

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method: the instance is the first argument."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns for these arguments. Raises what the function raises, and TraceError."""
        settings = configuration.current()
        if not settings.compile or settings.compare or (watches and watch.current() is not None):
            return self.function(*args, **kwargs)
        key: list[Any] = [settings.default_float, settings.check, settings.debug >= 3]
        arrays: list[VkArray] = []
        scalars: list[Any] = []
        try:
            nest.note((args, kwargs) if kwargs else args, key, arrays, scalars)
        except (TypeError, RecursionError) as error:  # of what holds itself
            raise TypeError(f"{self.name}: {error}") from None
        device = arrays[0]._device if arrays else _vk.open_device(None)
        key.append(device)
        buffers, addresses = pointers(arrays)
        if len(buffers) > 1:
            key.append(sharing(buffers, addresses))
        signature = (*key, *self.places())
        known = self._known.get(signature)
        found: Traced | None = (known.find(scalars) or None) if known is not None else None
        if found is None:
            found = self._trace(key, arrays, scalars, args, kwargs, device)
        if found.program is None or not found.program.constants.isdisjoint(map(id, buffers)):
            return self.function(*args, **kwargs)
        try:
            results = found.program(buffers, addresses, scalars, arrays)
        except (OverflowError, struct.error):  # its type cannot hold a number: the function says it in its own words
            return self.function(*args, **kwargs)
        if found.program.checked and checks.are_waiting(device) and faults.tells_at_once(device):
            checks.run(device)
        return _filled(found.form, results)

    def explain(self) -> Explanation:
        """What the programs of this function do: nodes, kernels, what was fused, memory. Printed, it is a text."""
        return Explanation(
            self.name,
            [(found.program, found.reason) for known in self._known.values() for found in known.plans.values()],
        )

    def places(self) -> Iterator[int]:
        """Where in a block of words each stream of random numbers is."""
        return (stream.position % 4 for stream in self.streams)

    # -- tracing

    def _trace(
        self, key: list[Any], arrays: Sequence[VkArray], scalars: Sequence[Any], args: tuple[Any, ...],
        kwargs: dict[str, Any], device: Any,
    ) -> Traced:  # fmt: skip
        with self._lock:
            noticed = Noticed()
            try:
                made = self.traced(arrays, args, kwargs, device, noticed, len(scalars), stand_in)
            except Exception:
                if not scalars:
                    raise
                # Perhaps of code that takes nothing but Python's own numbers.
                noticed = Noticed()
                made = self.traced(arrays, args, kwargs, device, noticed, len(scalars), _itself)
                noticed.decide = set(range(len(scalars)))
            signature = (*key, *self.places())
            if made.program is not None:  # a number that reaches no kernel may have decided
                noticed.decide |= set(range(len(scalars))) - made.program.scalars
            if len(self._known) >= MOST:
                self._known.clear()
            before = self._known.get(signature)
            places = frozenset(noticed.decide) | (frozenset(before.places) if before is not None else frozenset())
            if before is None or places != frozenset(before.places):
                self._known[signature] = before = ByValue(places)
            before.put(scalars, made)
            self._tell_of_many(signature)
            return made

    def traced(
        self, arrays: Sequence[VkArray], args: tuple[Any, ...], kwargs: dict[str, Any], device: Any, noticed: Noticed,
        numbers: int, number: Callable[..., Any],
    ) -> Traced:  # fmt: skip
        """A program of the function. `numbers` is how many of its arguments are numbers, `number` gives what stands for each."""
        trace, thread = Trace(self.name, noticed, numbers), threading.get_ident()
        values: dict[int, Any] = {}
        given: list[VkArray] = []
        count = 0

        def leaf(value: Any) -> Any:
            nonlocal count
            if type(value) is not VkArray:
                count += 1
                return number(value, count - 1, noticed)
            buffer = value._buffer
            memory: Any = values.get(id(buffer))
            if memory is None:
                memory = values[id(buffer)] = Value(device, buffer.nbytes, True, buffer.address)
            array = array_in(
                memory, value._offset, value._shape, value._strides, value._dtype, value._device, value._contiguous
            )  # fmt: skip
            if hasattr(value, "_is_place"):
                array._is_place = True
            given.append(array)
            return array

        copies: list[tuple[Any, list[Any]]] = []
        given_args = tuple(nest.rebuilt(value, leaf, copies) for value in args)
        given_kwargs = {name: nest.rebuilt(value, leaf, copies) for name, value in kwargs.items()}
        looks = [(one, (one._buffer, one._shape)) for one in given]
        kept = faults.kept_check(device)
        check = kept or faults.renewed_check(device)
        try:
            watches[thread] = trace
            found = self.function(*given_args, **given_kwargs)
        finally:
            watches.pop(thread, None)
            trace.end()
            if kept is None:
                faults.keep_check(device, None)
        self.streams.update(dict.fromkeys(trace.streams))
        if any(place >= numbers for place in noticed.decide):
            raise TraceError(
                f"{self.name} draws more random numbers at once than a program can. Draw them outside, and give the arrays as "
                "arguments."
            )
        for changed in nest.changed(copies):
            raise TraceError(
                f"{self.name} changes an argument of type {type(changed).__name__}, which a compiled function does not keep. "
                "Return what is new; arrays may be assigned into."
            )
        for one, before in looks:
            if (one._buffer, one._shape) != before:
                raise TraceError(
                    f"{self.name} changes the shape of an argument in place, which a compiled function does not keep. Return a "
                    "view of the other shape."
                )
        results: list[VkArray] = []

        def result(value: Any) -> Any:
            if isinstance(value, Token):
                noticed.decide.add(value.place)
                return value.plain
            if type(value) is not VkArray:
                return value
            results.append(value)
            return nest.Place(len(results) - 1)

        form = nest.rebuilt(found, result)
        try:
            program = Program(trace, device, given, results, check.array._buffer, noticed.limits)
        except Refused as reason:
            return Traced(form, None, str(reason))
        return Traced(form, program)

    def _tell_of_many(self, signature: tuple[Any, ...]) -> None:
        """Warn once of a function that is traced again and again."""
        count = sum(len(known.plans) for known in self._known.values())
        if count > MANY and not self._told:
            self._told = True
            differing = [known for known in self._known if len(known) == len(signature)]
            places = {
                place
                for other in differing
                for place, (a, b) in enumerate(zip(other, signature, strict=True))
                if a != b
            }
            varied = sorted({type(signature[place]).__name__ for place in places})
            numbers = sum(len(known.plans) > 1 for known in self._known.values())
            names = ("shapes, types or strides of arrays" if name == "Look" else name for name in varied)
            why = [f"what varies: {', '.join(names)}"] if varied else []
            if numbers:
                why.insert(0, "numbers decide what it does, such as those that shapes or branches depend on")
            warnings.warn(
                f"{self.name} has been traced for {count} signatures ({'; '.join(why)}); each takes time and memory. Give such "
                "numbers as arrays, or keep shapes the same.",
                stacklevel=4,
            )


def _itself(value: complex, *_: Any) -> complex:
    return value


def _filled(form: Any, results: Sequence[VkArray]) -> Any:
    """The nest with its arrays."""
    return results[form] if type(form) is nest.Place else nest.mapped(form, lambda part: _filled(part, results))


@overload
def compile(function: Function) -> Function: ...


@overload
def compile() -> Callable[[Function], Function]: ...


def compile(function: Any = None) -> Any:
    """A function of arrays as a program: traced once for each signature, its operations fused into few kernels.

    Parameters: function (takes and returns arrays in any nest of tuples, lists, dictionaries, dataclasses and None).
    Returns a function that computes the same bits. Its first call with arguments of new shapes, types or strides traces the
    function with arrays that have no values; later ones run none of its Python code. Python's numbers may vary, unless shapes,
    axes or branches depend on them: then the function is traced for each. What it does besides, such as printing, happens when it
    is traced. Arrays that it takes from elsewhere than its arguments stay those of the first call.
    Raises TraceError where the function reads values of arrays, TypeError for a function that cannot be called.
    `with vkarray.config(compile=False):` runs the function as it is; `explain()` of what is returned tells what was fused.
    """
    if function is None:
        return compile
    if not callable(function):
        raise TypeError(f"compile: expected a function, got {function!r:.60}.")
    return function if isinstance(function, Compiled) else Compiled(function)
