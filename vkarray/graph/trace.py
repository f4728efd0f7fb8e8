"""Tracing: what a function asks of a device, as nodes of a graph.

The arrays that it meets have no memory, and nothing is computed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._vk.watch import Watch, unwatched
from ..core.array import VkArray, box_of, storage_itemsize
from ..core.layout import Box
from ..core.tokens import Noticed, token
from ..errors import OutOfMemoryError, TraceError
from ..kernels.dispatch import Dispatch
from ..kernels.expressions import can_be_step
from ..kernels.gather import Gather
from ..kernels.launch import Operation
from ..kernels.product.stacks import Product
from ..kernels.prologue import Prologue
from ..kernels.reduction_run import RowReduction
from ..kernels.scalars import Scalar
from ..kernels.signature import ALIGNMENT
from .remedies import remedy, users_frame

if TYPE_CHECKING:
    from .._vk import Device

# Where values would lie: aligned, far from each other, and where no device has memory.
_FIRST, _APART, _MOST = 1 << 56, 1 << 36, 1 << 20
_REACH = 1 << 47  # bytes that devices have addresses for: of more, calls would be divided into endlessly many
_numbers = itertools.count()


class Value:
    """The memory of a traced array, which there is none of: how many bytes, and where arrays in it would be aligned."""

    __slots__ = ("address", "data", "device", "given", "nbytes")

    def __init__(self, device: Device, nbytes: int, given: bool = False, after: int = 0) -> None:
        """`given`: it is memory of an argument, `after` so many bytes after an aligned address."""
        self.device, self.nbytes, self.given = device, nbytes, given
        self.address = _FIRST + next(_numbers) % _MOST * _APART + after % ALIGNMENT
        self.data: Any = None  # memory with what the host has written to it

    def __getattr__(self, name: str) -> Any:
        raise TraceError(
            f"{users_line()}: this array belongs to a function that was traced, and has no values outside of it. Return it from "
            "the function, in a nest of tuples, lists, dictionaries or dataclasses. Make what is kept for later calls, such as by "
            "functools.cache, before the function is called."
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__slots__:
            self.__getattr__(name)
        object.__setattr__(self, name, value)


Memory = Any  # a Value, or memory of the device


class Stored(NamedTuple):
    """A product, or what is read by index arrays, whose dispatches are so many nodes, the last ones so far; or none, where it
    stands for itself."""

    nodes: int
    what: Product | Gather

    @property
    def label(self) -> str:
        """What it does, for people."""
        return f"{type(self.what).__name__.lower()}, then {self.what.epilogue.label}"


class Node(NamedTuple):
    """What is asked of the device: an elementwise operation, or a dispatch of any other kind."""

    reads: tuple[Memory, ...]
    writes: tuple[Memory, ...]
    line: str
    dispatch: Dispatch | None = None
    operation: Operation | None = None
    inputs: tuple[VkArray | Scalar, ...] = ()
    result: VkArray | None = None
    origin: int = 0
    prologue: Prologue | None = None
    rows: RowReduction | None = None
    stored: Stored | None = None  # what its dispatch is the last one of, or what stands in place of a dispatch

    @property
    def made(self) -> VkArray | None:
        """The array that it makes, where that is known."""
        return self.result if self.rows is None else self.rows.result

    @property
    def operands(self) -> tuple[VkArray | Scalar, ...]:
        """What it reads, where that is known."""
        return self.inputs if self.rows is None else (self.rows.x,)

    @property
    def label(self) -> str:
        """What it does, for people."""
        if self.operation is not None:
            return self.operation.label
        if self.dispatch is None and self.stored is not None:
            return self.stored.label
        return self.dispatch.kernel.name  # type: ignore[union-attr]


def users_line() -> str:
    """Where the user's code calls this library, as text."""
    frame = users_frame()
    return "?" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


class Trace(Watch):
    """What a function asks for while it is traced."""

    __slots__ = (
        "draws",
        "line",
        "most",
        "name",
        "nodes",
        "noticed",
        "numbers",
        "own_streams",
        "refused",
        "streams",
        "taken",
        "values",
        "varies",
    )
    traces = True

    def __init__(
        self, name: str, noticed: Noticed, numbers: int, most: int | None = None, varies: bool = False
    ) -> None:
        """`numbers` is how many numbers there are among the arguments, `noticed` what is known of them, `varies` whether lengths of
        dimensions are others in other calls.

        No array may have more bytes than `most`.
        """
        super().__init__()
        self.most, self.varies = most, varies
        self.name, self.noticed, self.numbers = name, noticed, numbers
        self.line = ""  # what is traced now, where that is no line of Python
        self.refused = ""  # the last error of what cannot be traced
        self.nodes: list[Node] = []
        self.values: list[Value] = []  # that it allocates
        self.streams: dict[Any, int] = {}  # of random numbers, with the position that each has had
        self.taken: dict[Any, int] = {}  # words that a call takes from each
        self.own_streams: set[Any] = set()  # that the function makes
        # Numbers that each call has its own of: a stream, what of it, and the value.
        self.draws: list[tuple[Any, str, int]] = []

    def allocate(self, device: Device, nbytes: int) -> Value:
        """Memory for a traced array."""
        if self.most is not None and nbytes > self.most:
            raise OutOfMemoryError(
                f"{self.name}: an array of {nbytes} bytes at {self.line or users_line()}, and it may take {self.most} bytes."
            )
        if nbytes > _REACH:
            raise OutOfMemoryError(
                f"{self.name}: an array of {nbytes} bytes at {self.line or users_line()}, for which no device has addresses. "
                "Work in smaller parts."
            )
        value = Value(device, nbytes)
        self.values.append(value)
        return value

    def upload(self, value: Memory, offset: int, data: Any) -> None:
        """Keep what the host writes to a value as it would be in memory: a constant of the program."""
        if type(value) is not Value or value.given or (offset, memoryview(data).nbytes) != (0, value.nbytes):
            self.refuse("it writes from the host to a part of an array")
        with unwatched():
            value.data = value.device.allocate(value.nbytes)
            value.device.upload(value.data, 0, data)

    def evaluate(
        self, operation: Operation, inputs: Sequence[VkArray | Scalar], results: Sequence[VkArray], shape: Sequence[int],
        origin: int,
    ) -> bool:  # fmt: skip
        """Take an elementwise operation. Returns False for one that other kernels cannot compute."""
        if len(results) != 1 or not can_be_step(operation):
            return False
        reads = tuple(one._buffer for one in inputs if type(one) is VkArray)
        made = Node(
            reads, (results[0]._buffer,), self.line or users_line(), None, operation, tuple(inputs), results[0], origin
        )  # fmt: skip
        self.nodes.append(made)
        return True

    def draws_from(self, stream: Any) -> None:
        """Note where a stream of random numbers is, before numbers are drawn from it."""
        if stream not in self.own_streams:
            self.streams.setdefault(stream, stream.position)

    def end(self) -> None:
        """Put streams back to where they were: the numbers are taken when the program runs."""
        for stream, first in self.streams.items():
            with stream.lock:
                self.taken[stream], stream._position = stream._position - first, first

    def drawn(self, stream: Any, place: Any) -> Any:
        """The place of numbers in a stream, with a key and a block that are others in other calls."""
        if stream in self.own_streams:
            return place
        return place._replace(
            key=self._number(stream, "key", place.key), block=self._number(stream, "block", place.block)
        )

    def _number(self, stream: Any, what: str, value: int) -> Any:
        self.draws.append((stream, what, value))
        return token(value, self.numbers + len(self.draws) - 1, self.noticed)

    def add(self, dispatch: Dispatch) -> None:
        """Take a dispatch. It may read what it writes, or write a part of it."""
        reads, writes = tuple(dispatch.reads), tuple(dispatch.writes)
        self.nodes.append(Node((*reads, *writes), writes, self.line or users_line(), dispatch))

    def may_compute(self, prologue: Prologue, rows: RowReduction | None = None, whole: bool = False) -> None:
        """Note what the last dispatch reads that may be computed there, and which rows it reduces if it does; `whole`: all that it
        writes to is new."""
        last = self.nodes[-1]
        assert last.dispatch is not None
        reads = tuple(last.dispatch.reads) if whole else last.reads
        self.nodes[-1] = last._replace(reads=reads, prologue=prologue, rows=rows)

    @property
    def position(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    def may_store(self, first: int, what: Product | Gather) -> None:
        """Note that the nodes from one on are the dispatches of what may store an expression of its elements."""
        if len(self.nodes) > first:
            self.nodes[-1] = self.nodes[-1]._replace(stored=Stored(len(self.nodes) - first, what))

    def refuse(self, reason: str) -> None:
        """Say that what is asked for cannot be traced. Raises TraceError."""
        self.reason = reason
        self.refused = (
            f"{self.name}: {reason} at {self.line or users_line()}, and a function that is compiled knows no values while it is "
            f"traced. {remedy(reason)}."
        )
        raise TraceError(self.refused)


class Lowering(Watch):
    """Takes the dispatches of a program, which do not reach the device."""

    __slots__ = ("boxes", "varies")
    traces = True

    def __init__(self, varies: bool) -> None:
        super().__init__()
        self.varies = varies
        self.boxes: dict[int, Box] = {}

    def into(self, *results: VkArray) -> None:
        """Know which elements of their memory the next dispatches write, unless several results have the same memory."""
        boxes = {id(one._buffer): box_of(one) for one in results}
        self.boxes = boxes if len(boxes) == len(results) else {}

    def allocate(self, device: Device, nbytes: int) -> Value:
        """Memory that is taken when the program runs."""
        value = Value(device, nbytes)
        self.allocated.append(value)  # type: ignore[arg-type]
        return value

    def evaluate(self, *_: Any) -> bool:
        """Let an elementwise operation make its dispatches."""
        return False

    position = 0

    def may_store(self, first: int, what: Product | Gather) -> None:
        """Nothing: what was traced decides."""

    def add(self, dispatch: Dispatch) -> None:
        """Take a dispatch."""
        self.dispatches.append(dispatch._replace(boxes=self.boxes))


def is_whole(array: VkArray) -> bool:
    """Whether an array is all of its memory, in C order."""
    nbytes = math.prod(array._shape) * storage_itemsize(array._dtype, array._device)
    return array._contiguous and array._offset == 0 and nbytes == array._buffer.nbytes


def is_own(array: VkArray) -> bool:
    """Whether an array is all of memory that the program takes, in C order."""
    memory = array._buffer
    return type(memory) is Value and not memory.given and is_whole(array)


def same_place(one: VkArray, other: VkArray) -> bool:
    """Whether two arrays have the same elements in the same order."""
    return (
        one._buffer is other._buffer and one._offset == other._offset and one._dtype is other._dtype
        and one._shape == other._shape and (one._strides == other._strides or (one._contiguous and other._contiguous))
    )  # fmt: skip
