"""`vkarray.compile`: a function of arrays that is traced once for each signature, and then repeated without its Python code."""

from __future__ import annotations

import functools
import struct
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, NamedTuple, TypeVar, overload

from .. import _vk, configuration
from .._vk import watch
from .._vk.watch import watches
from ..core import checks
from ..core.array import VkArray, array_in
from ..core.tokens import Noticed, Token, stand_in
from ..errors import TraceError
from ..kernels import faults
from ..kernels.plan import Refused, WritesShared
from ..kernels.planned import ByValue
from ..kernels.signature import Look, sharing
from . import dimensions, generators, keeping, nest
from .dimensions import Dim, Dynamic
from .executable import Executable, pointers
from .explain import Explanation, Told
from .remedies import warn
from .stand_ins import STANDS, Unrecorded
from .tape import Mismatch, Tape
from .trace import Trace, Value
from .ways import Once, Played, Taped

Function = TypeVar("Function", bound=Callable[..., Any])
MANY = 16  # signatures of one function, after which it says what changes
MOST = 256  # signatures that are kept
TAPES = 8  # of one form of arguments, after which each other size is traced


class Traced:
    """A program with the nest that it returns, in which numbers stand for its arrays; and the tape that it is of, if any."""

    __slots__ = ("form", "program", "reason", "sizes", "tape")

    def __init__(self, form: Any, program: Executable | None, reason: str = "") -> None:
        self.form, self.program, self.reason = form, program, reason
        self.tape: Tape | None = None
        self.sizes: dict[Dim, int] = {}


class Raised(Exception):
    """What a function has raised while it was traced: it is to raise that where it runs."""


class Call(NamedTuple):
    """A call of a function: its arguments, and the arrays and numbers among them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    arrays: Sequence[VkArray]
    scalars: Sequence[Any]
    device: Any


def switches(settings: configuration.Configuration) -> list[Any]:
    """The beginning of all signatures of programs: the switches that decide what their kernels do."""
    return [configuration.default_float(), settings.check, settings.debug >= 3, settings.contract, settings.approximate]


class Compiled:
    """A function whose calls run as programs. Made by `vkarray.compile`."""

    most: int | None = None  # bytes that a program may take

    def __init__(self, function: Callable[..., Any], dynamic: Mapping[str, Any] | None = None) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = getattr(function, "__qualname__", type(function).__name__)
        self.profiled_name = f"compile({self.name})"
        self._known: dict[tuple[Any, ...], ByValue] = {}
        self.streams: dict[Any, None] = {}  # of random numbers, which it draws from
        self._dynamic = None if dynamic is None else Dynamic(function, dynamic)
        self._tapes: dict[tuple[Any, ...], list[Tape]] = {}
        self._lock = threading.RLock()
        self._told = False

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method: the instance is the first argument."""
        return self if instance is None else Bound(self, instance)

    def __repr__(self) -> str:
        return f"<compiled function {self.name}>"

    def __reduce__(self) -> str:  # as functions do: by name
        return self.name

    def __deepcopy__(self, memo: Any) -> Compiled:
        return self

    def __getattr__(self, name: str) -> Any:  # of what neither it nor its function has
        remedy = (
            f" A file is of a program: vkarray.Program({self.__name__}, args).save(path)." if name == "save" else ""
        )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}.{remedy}", name=name, obj=self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns for these arguments. Raises what the function raises, and TraceError."""
        if watches and (observing := watch.observer()) is not None:
            return observing.call(self, args, kwargs)
        settings = configuration.current()
        if not settings.compile or settings.compare or (watches and watch.current() is not None):
            return self.function(*args, **kwargs)
        key = switches(settings)
        arrays: list[VkArray] = []
        scalars: list[Any] = []
        try:
            nest.note((args, kwargs) if kwargs else args, key, arrays, scalars)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        except RecursionError:
            raise nest.endless(self.name, "an argument") from None
        device = arrays[0]._device if arrays else _vk.open_device(None)
        key.append(device)
        buffers, addresses = pointers(arrays)
        shared = _sharing(arrays, buffers, addresses) if len(buffers) > 1 else None
        known = self._known.get((*key, shared, *self.places()))
        found: Traced | None = (known.find(scalars) or None) if known is not None else None
        if found is None:
            try:
                found = self._trace(key, shared, Call(args, kwargs, arrays, scalars, device))
            except Raised as error:
                raised = error.__cause__
        if found is None:
            result = self.function(*args, **kwargs)  # what it has done to arguments before its error is kept
            warn(f"{self.name} runs as it is, since it raised {type(raised).__name__} while it was traced: {raised}")
            return result
        if found.program is None or not found.program.constants.isdisjoint(map(id, buffers)):
            return self.function(*args, **kwargs)
        try:
            results = found.program(buffers, addresses, scalars, arrays)
        except (OverflowError, struct.error):  # its type cannot hold a number: the function says it in its own words
            return self.function(*args, **kwargs)
        if found.program.checked and checks.are_waiting(device) and faults.tells_at_once(device):
            checks.run(device)
        return nest.filled(found.form, results, scalars)

    @property
    def plain(self) -> Callable[..., Any]:
        """The function itself."""
        return self.function

    @property
    def dynamic(self) -> Mapping[str, Any] | None:
        """Its dimensions whose lengths may vary, as they were given."""
        return None if self._dynamic is None else self._dynamic.given

    def explain(self) -> Explanation:
        """What the programs of this function do: nodes, kernels, what was fused, memory. Printed, it is a text."""
        found = [one for known in self._known.values() for one in known.plans.values()]
        return Explanation(
            self.name,
            [Told(group[0].program, group[0].reason, [one.sizes for one in group]) for group in _by_tape(found)],
        )

    def places(self) -> Iterator[int]:
        """Where in a block of words each stream of random numbers is."""
        return (stream.position % 4 for stream in self.streams)

    # -- tracing

    def _trace(self, key: Sequence[Any], shared: Any, call: Call) -> Traced:
        with self._lock:
            if len(self._known) >= MOST:
                self._known.clear()
                self.streams = {}
            made, noticed = self._made(key, call)
            signature = (*key, shared, *self.places())
            numbers = set(range(len(call.scalars)))
            if made.program is not None:  # a number that reaches no kernel may have decided
                noticed.decide |= numbers - made.program.scalars
            before = self._known.get(signature)
            places = frozenset(noticed.decide) | (frozenset(before.places) if before is not None else frozenset())
            if before is None or places != frozenset(before.places):
                self._known[signature] = before = ByValue(places)
            before.put(call.scalars, made)
            self._tell_of_many(signature)
            return made

    def _made(self, key: Sequence[Any], call: Call) -> tuple[Traced, Noticed]:
        """A program for a call of a new signature, and what was noticed of numbers."""
        return self._of_tape(key, call) if self._dynamic is not None else self._attempt(call, Once(self.function))

    def _attempt(self, call: Call, way: Once) -> tuple[Traced, Noticed]:
        """A program of the function, and what was noticed of numbers."""
        noticed = Noticed()
        try:
            return self.traced(call, noticed, stand_in, way), noticed
        except Exception as error:
            # What the function has not raised, such as a fault while kernels are made, is not tried again.
            is_other = way.calls and not isinstance(error, (Raised, TraceError))
            if not call.scalars or is_other or watch.is_of_handler(error):
                raise
        # Perhaps of code that takes nothing but Python's own numbers.
        noticed = Noticed()
        made = self.traced(call, noticed, _itself, way.again())
        noticed.decide = set(range(len(call.scalars)))
        return made, noticed

    def _of_tape(self, key: Sequence[Any], call: Call) -> tuple[Traced, Noticed]:
        """The same by a tape where there is one for other sizes, else by a new one."""
        axes = self._dynamic.axes(call.args, call.kwargs)  # type: ignore[union-attr]
        sizes = dimensions.check(self.name, call.arrays, axes)
        each = iter(call.arrays)
        form = tuple(dimensions.form_of(next(each), axes) if type(one) is Look else one for one in key)
        if len(self._tapes) >= MOST:
            self._tapes.clear()
        tapes, reason = self._tapes.setdefault(form, []), ""
        for tape in tapes:
            if tape.key(call.scalars) != tape.decided:
                continue
            noticed = Noticed()
            try:
                made = self.traced(call, noticed, stand_in, Played(tape))
            except Mismatch as mismatch:
                reason = str(mismatch)
                continue
            except Exception as error:  # which the function raises in its own words
                if watch.is_of_handler(error):
                    raise
                continue
            noticed.decide |= tape.decide
            made.tape, made.sizes = tape, sizes
            return made, noticed
        if len(tapes) >= TAPES:
            reason = f"its tapes do not hold for it: {reason}"
        else:
            way = Taped(self.name, self.function, axes)
            try:
                made, noticed = self._attempt(call, way)
            except Unrecorded as error:
                reason = f"no tape can hold it: {error}"
            except (
                Exception
            ) as error:  # of the function, which raises it again, or of code that takes nothing but arrays
                if watch.is_of_handler(error):
                    raise
                reason = f"no tape can hold it: {type(error).__name__}: {error}"
            else:
                way.tape.decide_by(noticed.decide, call.scalars)
                made.tape, made.sizes, made.reason = way.tape, sizes, reason
                tapes.append(way.tape)
                return made, noticed
        made, noticed = self._attempt(call, Once(self.function))
        made.reason, made.sizes = made.reason or reason, sizes
        return made, noticed

    @watch.begins
    def traced(self, call: Call, noticed: Noticed, number: Callable[..., Any], way: Once) -> Traced:
        """A program of the function. `number` gives what stands for each number among the arguments."""
        trace = Trace(self.name, noticed, len(call.scalars), self.most, way.rows is not None)
        thread, device = threading.get_ident(), call.device
        values: dict[int, Any] = {}
        given: list[VkArray] = []
        numbers: list[Any] = []
        same: dict[int, tuple[VkArray, Any]] = {}  # what stands for arrays that are given again

        def leaf(value: Any) -> Any:
            if type(value) is not VkArray:
                numbers.append(number(value, len(numbers), noticed))
                return numbers[-1]
            if way.calls and id(value) in same:
                array, stand = same[id(value)]
                given.append(array)
                return stand
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
            same[id(value)] = array, way.argument(value, array)
            return same[id(value)][1]

        copies: list[tuple[Any, dict[Any, Any]]] = []
        try:
            if nest.has_passing((call.args, call.kwargs)):
                raise TypeError(
                    f"{self.name}: got an iterator, which gives something else in each call. Give a list or a tuple."
                )
            given_args = tuple(nest.rebuilt(value, leaf, copies) for value in call.args)
            given_kwargs = {name: nest.rebuilt(value, leaf, copies) for name, value in call.kwargs.items()}
        except RecursionError:
            raise nest.endless(self.name, "an argument") from None
        objects, variables = keeping.objects_of(self.function), keeping.variables_of(self.function)
        drawing = generators.found((call.args, call.kwargs), [one.before for one in variables]) if way.calls else []
        looks = [(one, (one._buffer, one._shape)) for one in given]
        kept = faults.kept_check(device)
        outer = watches.get(thread)  # of what a signal handler strikes that gets here
        with watch.unwatched():
            check = kept or faults.renewed_check(device)
        try:
            watches[thread] = trace
            found = way.results(trace, given, numbers, given_args, given_kwargs)
        except Exception as error:
            if way.calls and not isinstance(error, TraceError) and not watch.is_of_handler(error):
                raise Raised from error
            raise
        finally:
            _ = watches.pop(thread, None) if outer is None else watches.update({thread: outer})
            trace.end()
            if kept is None:
                faults.keep_check(device, None)
            drawn = generators.put_back(drawing)
            changed = list(keeping.changed(copies))
            keeping.put_back(copies, _is_traced)
            kept_in = keeping.take_back(objects, _is_traced) + keeping.set_back(variables, _is_traced)
        self.streams = self.streams | dict.fromkeys(trace.streams)  # another one, since other threads may go through it
        if any(place >= len(numbers) for place in noticed.decide):
            raise TraceError(
                f"{self.name} draws more random numbers at once than a program can. Draw them outside, and give the arrays as "
                "arguments."
            )
        if drawn:
            raise TraceError(
                f"{self.name} draws from a {drawn}, whose numbers would be the same in each call. Draw from vkarray.random, or "
                "give the numbers as arguments."
            )
        if changed:
            raise TraceError(
                f"{self.name} changes an argument of type {type(changed[0]).__name__}, which a compiled function does not keep. "
                "Return what is new; arrays may be assigned into."
            )
        if kept_in:
            raise TraceError(
                f"{self.name} keeps an array in {kept_in[0]}, which a compiled function does not set. Return what is new; arrays "
                "may be assigned into."
            )
        if trace.refused and way.runs:
            warn(f"{trace.refused} The function has caught this error, and its program is of what it does then.")
        for one, before in looks:
            if (one._buffer, one._shape) != before:
                raise TraceError(
                    f"{self.name} changes the shape of an argument in place, which a compiled function does not keep. Return a "
                    "view of the other shape."
                )
        results: list[VkArray] = []
        places: dict[int, int] = {}  # an array that is returned twice is one array

        def result(value: Any) -> Any:
            if isinstance(value, Token):
                return nest.Passed(value.place) if value.place < len(call.scalars) else value.decided()
            if type(value) is not VkArray:
                return value
            place = places.setdefault(id(value), len(results))
            if place == len(results):
                results.append(value)
            return nest.Place(place)

        try:
            form = nest.rebuilt(found, result)
        except RecursionError:
            raise nest.endless(self.name, "what it returns") from None
        if nest.has_passing(form):
            raise TraceError(
                f"{self.name} returns a generator or another iterator, which computes after the trace and is used up by the first "
                "call. Return a list or a tuple."
            )
        try:
            program = Executable(trace, device, given, results, check.array._buffer, noticed.limits, way.rows)
        except Refused as reason:
            if isinstance(reason, WritesShared) and way.calls:
                warn(
                    f"{self.name} runs as it is in each call, since {reason}. Give arrays that it assigns into as arguments."
                )
            return Traced(form, None, str(reason))
        return Traced(form, program)

    def _tell_of_many(self, signature: tuple[Any, ...]) -> None:
        """Warn once of a function that is traced again and again."""
        count = len(_by_tape(one for known in self._known.values() for one in known.plans.values()))
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


class Bound(functools.partial[Any]):
    """A compiled function as the method of an object, which is its first argument. It has what the function has besides."""

    func: Compiled

    def __getattr__(self, name: str) -> Any:
        return getattr(self.func, name)

    def __repr__(self) -> str:
        return repr(self.func)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bound) and self.func is other.func and self.args[0] is other.args[0]

    def __hash__(self) -> int:
        return hash((self.func, id(self.args[0])))

    @property
    def plain(self) -> Any:
        """The method itself."""
        return MethodType(self.func.function, *self.args)


nest.KINDS[Bound] = nest.Kind(nest.named("func", "args"), lambda value, parts: Bound(parts[0], *parts[1]))


def _sharing(arrays: Sequence[VkArray], buffers: Sequence[Any], addresses: Sequence[int]) -> Any:
    """Which arrays share memory with one before them, and which are the same array."""
    shared = sharing(buffers, addresses)
    if shared is None:
        return None
    ids = [*map(id, arrays)]
    return shared, tuple(map(ids.index, ids))


def _is_traced(value: Any) -> bool:
    """Whether a value means nothing outside of the function that is traced."""
    return (
        type(value) in STANDS or isinstance(value, Token) or (type(value) is VkArray and type(value._buffer) is Value)
    )


def _by_tape(traced: Iterable[Traced]) -> list[list[Traced]]:
    """Programs of one tape together."""
    found: dict[int, list[Traced]] = {}
    for one in traced:
        found.setdefault(id(one.tape or one), []).append(one)
    return list(found.values())


def _itself(value: complex, *_: Any) -> complex:
    return value


@overload
def compile(function: Function, *, dynamic: Mapping[str, Any] | None = None) -> Function: ...


@overload
def compile(*, dynamic: Mapping[str, Any] | None = None) -> Callable[[Function], Function]: ...


def compile(function: Any = None, *, dynamic: Mapping[str, Any] | None = None) -> Any:
    """A function of arrays as a program: traced once for each signature, its operations fused into few kernels.

    Parameters: function (takes and returns arrays in any nest of tuples, lists, dictionaries, dataclasses and None; of a method, or
    an object that can be called, the object is an argument); dynamic (the
    dimensions whose lengths may vary without another trace: by the name of a parameter its axes with a `Dim` each, such as
    `{"x": {0: Dim("batch", max=64)}}`, or a nest of such like that of the argument).
    Returns a function that computes the same bits. Its first call with arguments of new shapes, types or strides traces the
    function with arrays that have no values; later ones run none of its Python code. Python's numbers may vary, unless shapes,
    axes or branches depend on them: then the function is traced for each. What it does besides, such as printing, happens when it
    is traced. Arrays that it takes from elsewhere than its arguments stay those of the first call.
    Raises TraceError where the function reads values of arrays, TypeError for a function that cannot be called, ValueError for
    what `dynamic` names and there is not. Calls raise ValueError for lengths out of a dimension's bounds, and for two of one
    dimension that differ.
    `with vkarray.config(compile=False):` runs the function as it is; `explain()` of what is returned tells what was fused.
    """
    if function is None:
        return lambda function: compile(function, dynamic=dynamic)
    if not callable(function):
        raise TypeError(f"compile: expected a function, got {function!r:.60}.")
    if isinstance(function, Bound):
        return function if dynamic is None else compile(function.plain, dynamic=dynamic)
    if isinstance(function, Compiled):
        return function if dynamic is None else Compiled(function.function, dynamic)
    if isinstance(function, MethodType):
        return Bound(compile(function.__func__, dynamic=dynamic), function.__self__)
    called = type(function).__call__
    if isinstance(called, (FunctionType, Compiled)) and nest.parts_of(function) is not None:
        return Bound(compile(called, dynamic=dynamic), function)
    return Compiled(function, dynamic)
