"""A tape as a function of arrays and numbers, which runs as other compiled functions do: traced, fused, recorded, replayed."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from .. import _vk, configuration
from .._vk.watch import begins, unwatched, watches
from ..core.array import VkArray, array_in, storage_itemsize
from ..core.dtypes import DType
from ..core.layout import contiguous_strides
from ..core.tokens import Noticed
from ..errors import OutOfMemoryError, TraceError
from ..kernels import faults
from . import nest
from .compile import Call, Compiled, Traced, switches
from .dimensions import Axes
from .stand_ins import Unrecorded
from .tape import Mismatch, Tape
from .trace import Trace, Value
from .ways import Played, Taped


class Player(Compiled):
    """Plays a tape. It is called with the arrays and the numbers of the function, in their order, and without its nests."""

    def __init__(self, tape: Tape, device: _vk.Device, default_float: str, most: int | None = None) -> None:
        """`most` are the bytes that it may take besides its arguments; None: as many as there are."""

        def play(*leaves: Any) -> Any:
            with self._as_made():
                return self._with_own().played(None, *_sorted(leaves))

        play.__qualname__ = tape.name
        super().__init__(play)
        self.profiled_name = f"Program({tape.name})"
        self.tape, self.device, self.default_float, self.most = tape, device, default_float, most

    @contextmanager
    def _as_made(self) -> Iterator[None]:
        """On the device of the tape, with the default type that it was made with."""
        with ExitStack() as stack:
            stack.enter_context(_vk.preferring(self.device))
            if configuration.default_float() != self.default_float:
                stack.enter_context(configuration.with_default_float(self.default_float))
            try:
                yield
            except Mismatch as mismatch:
                raise ValueError(
                    f"{self.name}: its function decides by lengths or numbers, and for these otherwise than for those that the "
                    f"program was made with: {mismatch}. Make another program for these."
                ) from None

    # How to get the tape with constants of its own, where those that it has are shared with other programs. Who writes to
    # constants has no dispatches that can be repeated: its calls are played.
    own: Callable[[], Tape] | None = None
    followed = ""  # where the call is that `returned` came to, if it raised an error

    def _with_own(self) -> Tape:
        if self.own is not None:
            self.tape, self.own = self.own(), None
        return self.tape

    def returned(self, given: Sequence[Any]) -> Any:
        """What the tape returns for numbers, and for arrays of which shapes and types are given: traced arrays."""
        return self._followed(self._leaves(given))[0]

    def values(self, given: Sequence[Any]) -> list[Any]:
        """The arrays among the arguments and all that its calls return, in the order of slots: traced arrays and numbers."""
        found: list[Any] = []
        self._followed(self._leaves(given), found)
        return found

    def _leaves(self, given: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(_of_no_memory(one[0], one[1], self.device) if isinstance(one, tuple) else one for one in given)

    @begins
    def _followed(self, leaves: Sequence[Any], values: list[Any] | None = None) -> tuple[Any, int]:
        """What the tape returns, traced, and the bytes of all arrays that it makes. `values` gets all that calls return."""
        trace = Trace(self.name, Noticed(), 0, self.most)
        self.followed = ""
        thread, kept = threading.get_ident(), faults.kept_check(self.device)
        if kept is None:
            with unwatched():
                faults.renewed_check(self.device)
        with self._as_made():
            outer = watches.get(thread)  # of what a signal handler strikes that gets here
            try:
                watches[thread] = trace
                return self.tape.played(trace, *_sorted(leaves), values), sum(one.nbytes for one in trace.values)
            finally:
                _ = watches.pop(thread, None) if outer is None else watches.update({thread: outer})
                self.followed = trace.line
                trace.end()
                if kept is None:
                    faults.keep_check(self.device, None)

    def _tell_of_many(self, signature: tuple[Any, ...]) -> None:
        """Nothing: its lengths are declared, and its function is not called again."""

    def prepare(self, given: Sequence[Any]) -> None:
        """Make what calls run for numbers, and for arrays of which shapes and types are given, with its kernels; nothing is run."""
        leaves = self._leaves(given)
        key = switches(configuration.current())
        nest.note(leaves, key, [], [])
        self._trace([*key, self.device], None, Call(leaves, {}, *_sorted(leaves), self.device))

    def _made(self, key: Sequence[Any], call: Call) -> tuple[Traced, Noticed]:
        with self._as_made():
            made, noticed = self._attempt(call, Played(self.tape))
        noticed.decide |= self.tape.decide
        if self.most is not None:
            nbytes = made.program.peak_bytes if made.program is not None else self._followed(_without_memory(call))[1]
            if nbytes > self.most:
                raise OutOfMemoryError(
                    f"{self.name}: it takes {nbytes} bytes besides its arguments, and it may take {self.most}."
                )
        return made, noticed


def _of_no_memory(shape: tuple[int, ...], dtype: DType, device: _vk.Device) -> VkArray:
    value: Any = Value(device, math.prod(shape) * storage_itemsize(dtype, device), True)
    return array_in(value, 0, shape, contiguous_strides(shape), dtype, device, True)


def _without_memory(call: Call) -> list[Any]:
    """The arguments of a call of a player, with traced arrays."""
    return [_of_no_memory(one.shape, one.dtype, one.device) if type(one) is VkArray else one for one in call.args]


def _sorted(leaves: Sequence[Any]) -> tuple[list[VkArray], list[Any]]:
    arrays = [one for one in leaves if isinstance(one, VkArray)]  # and what stands for arrays where its caller is taped
    return arrays, [one for one in leaves if not isinstance(one, VkArray)]


def taped(
    compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any], axes: Mapping[int, Axes], device: _vk.Device
) -> Player:
    """What plays the calls that a function makes for some arguments. Raises TraceError where no tape can hold them."""
    arrays: list[VkArray] = []
    scalars: list[Any] = []
    try:
        nest.note((args, kwargs), [], arrays, scalars)
    except TypeError as error:
        raise TypeError(f"{compiled.name}: {error}") from None
    way = Taped(compiled.name, compiled.function, axes)
    call = Call(args, kwargs, arrays, scalars, device)
    try:
        with _vk.preferring(device):
            _, noticed = compiled._attempt(call, way)
    except Unrecorded as error:
        raise TraceError(
            f"{compiled.name} cannot be a program: {error}. A program is made of calls of this library's functions and of methods "
            "of arrays."
        ) from None
    way.tape.decide_by(noticed.decide, scalars)
    return Player(way.tape, device, configuration.default_float())
