"""Executables: the work of a traced function, lowered to dispatches and repeated with other arguments."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import configuration
from .._vk.watch import begins, watches
from ..core import dtypes, layout
from ..core.array import VkArray, array_in
from ..errors import DeviceLostError, VulkanError
from ..kernels import launch
from ..kernels.dispatch import pointer
from ..kernels.evaluation import Evaluation
from ..kernels.plan import Plan, Refused, Step
from ..kernels.planned import run_checked
from ..kernels.product.stacks import Product
from ..kernels.product.strategies import multiply
from ..kernels.signature import Look, look_of
from .fuse import Fused, fuse
from .recorded import Recorded
from .simplify import renamed
from .trace import Lowering, Node, Trace, Value
from .work import Kernel, OfRows, Reduced, Sums, Work

if TYPE_CHECKING:
    from .._vk import Buffer, Device

FEW = 4  # dispatches, from which on they are recorded


class New(NamedTuple):
    """A result in memory: what it looks like but for that, and whether in-place operators change it."""

    look: Look
    is_place: bool


class Streams:
    """The random numbers of a program: each call takes those that a call of the function would."""

    def __init__(self, trace: Trace) -> None:
        self.draws, self.first, self.taken = trace.draws, trace.streams, trace.taken

    def numbers(self) -> list[int]:
        """The keys and the blocks for a call, which takes the numbers."""
        moved = {}
        for stream, first in self.first.items():
            with stream.lock:
                position = stream._position
                stream._position = position + self.taken[stream]
            moved[stream] = (position - first) // 4
        return [
            stream.key if what == "key" else (value + moved[stream]) & (1 << 64) - 1
            for stream, what, value in self.draws
        ]


class Executable:
    """What a traced function does, for arguments of one signature."""

    def __init__(
        self, trace: Trace, device: Device, arguments: Sequence[VkArray], results: Sequence[VkArray], status: Buffer | None,
        limits: Mapping[int, tuple[int, int]], rows: list[int] | None = None,
    ) -> None:  # fmt: skip
        """`arguments` and `results` are traced arrays. Of other sizes `rows` are the lengths that rows have had (see `lower`).

        Raises Refused where no plan can do what the function does.
        """
        self.device = device
        self.streams = Streams(trace)
        nodes = with_constants(trace, results)
        self.fused: Fused = fuse(nodes, [one._buffer for one in results])
        try:
            lowered = lower(self.fused.work, rows)
            for one in lowered.dispatches:
                _ = one.kernel.pipeline  # which threads make; here is where it matters whether they can
        except DeviceLostError:
            raise
        except VulkanError as error:  # NVIDIA's compiler gives up at some chains of comparisons
            raise Refused(f"the driver cannot make a kernel of it ({error})") from error
        lowered.allocated = [*trace.values, *self.fused.values, *lowered.allocated]  # type: ignore[list-item]
        self.dispatches = lowered.dispatches
        given = [pointer(one) for one in arguments]
        plan = Plan(lowered, device, given, status)
        places = {id(one): place for place, one in enumerate(arguments)}
        self.outcome: list[int | VkArray | New] = []  # an argument, an array that is always the same, or a new one
        new: list[tuple[int, int]] = []
        for one in results:
            if id(one) in places:
                self.outcome.append(places[id(one)])
            elif type(one._buffer) is not Value:
                self.outcome.append(one)
            else:
                self.outcome.append(New(look_of(one), hasattr(one, "_is_place")))
                new.append(plan.place(pointer(one)))
        plan.keep([number for number, _ in new])
        self.plan, self.new, self.limits = plan, new, limits
        self.checked = plan.checked
        self.recorded: Recorded | None = None
        gains = len(plan.steps) >= FEW or _side_by_side(plan.steps)
        if gains and all(step.kernel.has_arguments for step in plan.steps):
            self.recorded = Recorded(plan, new, limits, status if plan.checked else None)
        # Memory besides that of arguments which it reads while it writes to arguments: they cannot be the same.
        writes = {id(memory) for node in nodes for memory in node.writes}
        self.constants = frozenset(map(id, plan.constants if writes & {id(one.buffer) for one in given} else ()))
        self.scalars = frozenset(place for place, _ in plan.scalars)  # that reach a kernel
        self.peak_bytes = self.recorded.peak_bytes if self.recorded is not None else peak_bytes(plan)

    @functools.cached_property
    def one_by_one(self) -> Callable[..., list[tuple[Any, int]]]:
        """Code that hands each dispatch to the device by itself."""
        source, names = self.plan.source(self.plan.memory_of(self.new), self.limits)
        exec(source, names)  # numbers and names that the plan has made
        found: Callable[..., list[tuple[Any, int]]] = names["run"]
        return found

    def run(self) -> Callable[..., list[tuple[Any, int]]]:
        """What does the dispatches of a call: one by one where each is timed, or takes long, or each value lies between guards."""
        recorded, device = self.recorded, self.device
        if recorded is None or device.memory.guards or configuration.current().debug > 1:
            return self.one_by_one
        if device.queue.timing_sinks and not all(sink.replays for sink in device.queue.timing_sinks):
            return self.one_by_one
        return self.one_by_one if recorded.replay.takes_long() else recorded

    def memory(self, buffers: list[Any], addresses: list[int], scalars: Sequence[Any]) -> list[tuple[Buffer, int]]:
        """The memory of the new results for other arguments: the buffer of each, and its first byte there."""
        if self.streams.draws:
            scalars = [*scalars, *self.streams.numbers()]
        if self.checked:
            return run_checked(self.run(), self.device, buffers, addresses, scalars)
        found: list[tuple[Buffer, int]] = self.run()(buffers, addresses, scalars, None)
        return found

    def __call__(
        self, buffers: list[Any], addresses: list[int], scalars: Sequence[Any], arguments: Sequence[VkArray]
    ) -> list[VkArray]:
        """The results for other arguments."""
        places = iter(self.memory(buffers, addresses, scalars))
        found = []
        for one in self.outcome:
            if type(one) is int:
                found.append(arguments[one])
            elif type(one) is VkArray:
                found.append(one)
            else:
                found.append(_made(one, *next(places)))  # type: ignore[arg-type]
        return found


def _side_by_side(steps: Sequence[Step]) -> bool:
    """Whether neighbours write different elements of the same memory: the queue would do one after the other."""
    return any(
        one.writes == other.writes
        and all(a and b and layout.apart(a, b) for a, b in zip(one.boxes, other.boxes, strict=True))
        for one, other in itertools.pairwise(steps)
    )


def _made(new: New, buffer: Buffer, offset: int) -> VkArray:
    look = new.look
    array = array_in(
        buffer, offset // look.itemsize, look.shape, look.strides, look.dtype, look.device, look.contiguous
    )
    if new.is_place:
        array._is_place = True
    return array


def with_constants(trace: Trace, results: Sequence[VkArray]) -> list[Node]:
    """The nodes, with memory of the device in place of values that the host has written.

    What is written to or returned is copied in each call instead.
    """
    touched = {id(memory) for node in trace.nodes for memory in node.writes} | {id(one._buffer) for one in results}
    copies = []
    same = {}
    for value in trace.values:
        if value.data is None:
            continue
        if id(value) not in touched:
            same[id(value)] = value.data
            continue
        dtype = dtypes.uint8 if value.nbytes % 4 else dtypes.uint32
        shape = (value.nbytes // dtype.itemsize,)
        memories: tuple[Any, Any] = value.data, value
        source, target = (array_in(memory, 0, shape, (1,), dtype, value.device) for memory in memories)
        operation = launch.copy_operation(dtype)
        copies.append(Node((value.data,), (value,), "", None, operation, (source,), target))
    nodes = (
        [renamed(node, lambda memory: same.get(id(memory), memory)) for node in trace.nodes] if same else trace.nodes
    )
    return [*copies, *nodes]


@begins
def lower(work: Sequence[Work], rows: list[int] | None) -> Lowering:
    """The dispatches of some work.

    Where sizes vary, `rows` are the lengths that the rows of each row program have had at others, 0 for several: then its kernel is
    for all.
    """
    lowered, rows = Lowering(rows is not None), [] if rows is None else rows
    programs = [one.program.length for one in work if isinstance(one, OfRows)]
    rows[:] = [
        before if before == length else 0
        for before, length in itertools.zip_longest(rows or programs, programs, fillvalue=0)
    ]
    varies = (length == 0 for length in rows)
    thread = threading.get_ident()
    outer = watches.get(thread)  # of what a signal handler strikes that gets here
    try:
        watches[thread] = lowered
        for one in work:
            lowered.into()
            if isinstance(one, Kernel):
                for inputs, results in one.parts():
                    lowered.into(*results)
                    Evaluation(one.expression, inputs, results, results[0]._device).run()
            elif isinstance(one, OfRows):
                one.program.run(next(varies))
            elif isinstance(one, Sums):
                one.send()
            elif isinstance(one, Reduced):
                one.node.prologue.send(one.node.dispatch, one.expression, one.inputs, one.shape)  # type: ignore[union-attr, arg-type]
            elif one.operation is not None:
                result = one.result
                lowered.into(result)  # type: ignore[arg-type]
                launch.evaluate(one.operation, one.inputs, (result,), result._shape, result._device, None, one.origin)  # type: ignore[union-attr, arg-type]
            elif one.dispatch is None:
                what = one.stored.what  # type: ignore[union-attr]
                if isinstance(what, Product):
                    multiply(*what)
                else:
                    what.send()
            else:
                lowered.add(one.dispatch)
    finally:
        _ = watches.pop(thread, None) if outer is None else watches.update({thread: outer})
    return lowered


def peak_bytes(plan: Plan) -> int:
    """The most bytes of new memory that a plan holds at once."""
    sizes = {number: nbytes for step in plan.steps for number, nbytes in step.takes}
    held = peak = sum(nbytes for _, nbytes in plan.unwritten)
    for step in plan.steps:
        held += sum(nbytes for _, nbytes in step.takes)
        peak = max(peak, held)
        held -= sum(sizes[number] for number in step.drops)
    return peak


def pointers(arrays: Sequence[VkArray]) -> tuple[list[Any], list[int]]:
    """The memory of arrays, and the addresses of their first elements."""
    places = [pointer(one) for one in arrays]
    return [place.buffer for place in places], [place.address for place in places]
