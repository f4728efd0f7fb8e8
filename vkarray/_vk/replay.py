"""Replays: dispatches that are recorded once, into a command buffer of their own, and done again with other memory and numbers.

Their blocks of arguments lie in memory that the host writes. Before each run it writes what is not there already: addresses
that have moved, and numbers. So that it can do so while the device works, there are copies: each is a command buffer with
memory of its own, which waits until the device has done its last run.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .api import NULL, ffi, vk
from .arguments import STEP
from .barriers import Spread
from .fields import SET
from .lease import Lease
from .pace import BOUND, Pace, check_groups

if TYPE_CHECKING:
    from .barriers import Checker, Touched
    from .call import Call
    from .descriptors import DescriptorSet
    from .device import Device
    from .kernel import Kernel
    from .memory import Buffer
    from .recorder import Recorder

COPIES = 4
_MOST_SECONDS = 4 * BOUND  # that dispatches should take together
_COMPUTE = vk.VK_SHADER_STAGE_COMPUTE_BIT
_BIND_POINT = vk.VK_PIPELINE_BIND_POINT_COMPUTE


class Copy(Lease):
    """A command buffer with the dispatches, and what is in the memory of its arguments. Lent to one run at a time.

    `written` is the serial of its last run, as of a buffer that the run writes.
    """

    __slots__ = (
        "bound",
        "holder",
        "kept",
        "known",
        "numbers",
        "ordered",
        "read",
        "recorder",
        "told",
        "views",
        "written",
    )

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.holder: weakref.ref[Lease] | None = None
        self.written = self.read = 0
        self.views: tuple[memoryview, ...] = ()  # the arguments: in words of 8 bytes, the same 4 bytes later, in bytes
        self.known: list[int | None] = []  # the addresses that are there
        self.numbers: list[bytes | None] = []
        self.bound: tuple[Any, ...] = ()  # where memory lies that is bound by descriptors
        self.kept: list[Kernel | DescriptorSet] = []  # what the commands use
        self.ordered: list[bool] = []  # for a checker of barriers: before which dispatches one was recorded
        self.told: list[tuple[str, Sequence[Touched], Sequence[Touched]]] = []  # and what each reads and writes

    def execute(self, commands: Any) -> None:
        """Record that the dispatches are done."""
        checker = self.recorder.checker
        if checker:
            for ordered, (name, reads, writes) in zip(self.ordered, self.told, strict=True):
                if ordered:
                    checker.barrier(commands)
                checker.command(commands, name, reads, writes)
        self.recorder.functions.vkCmdExecuteCommands(commands, 1, self.thing.cell)


class Replay:
    """Dispatches that are done again and again."""

    def __init__(self, device: Device, calls: Sequence[Call], moving: int) -> None:
        """Of all memory the first `moving` pieces move from run to run. Raises FeatureError for too many workgroups."""
        self.device, self.calls = device, calls
        self.name = ", ".join(dict.fromkeys(call.kernel.name for call in calls))
        self.copies: list[Copy] = []
        self.workgroups, offset = 0, 0
        # By memory, what to write: (place, distance). Places are counted in words of 8 bytes from byte 0, and from byte 4.
        self.addresses: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]] = [([], []) for _ in range(moving)]
        self.numbers: list[list[int]] = [[] for _ in {which for call in calls for _, which in call.numbers}]
        for call in calls:
            x, y, z = call.groups
            check_groups(call.kernel.name, call.groups, device.limits.max_workgroup_count)
            self.workgroups += x * y * z
            for at, memory, distance in call.addresses:
                place = offset + at
                self.addresses[memory][place >> 2 & 1].append((place >> 3, distance))
            for at, which in call.numbers:
                self.numbers[which].append(offset + at)
            offset += -(-len(call.block) // STEP) * STEP
        self.nbytes = offset
        # Seconds that the short dispatches should take together, and the others, of which measurements may say more.
        self.short = 0.0
        self.others: list[tuple[Pace, bytes, int]] = []
        for call in calls:
            x, y, z = call.groups
            pace = call.kernel.pace
            seconds = 0.0 if pace is None else pace.seconds(call.block, x * y * z)
            if pace is not None and seconds > BOUND / len(calls):
                self.others.append((pace, call.block, x * y * z))
            else:
                self.short += seconds
        self.writes = sorted({memory for call in calls for memory, _, _ in call.writes})
        self.reads = sorted({memory for call in calls for memory, _, _ in call.reads} - set(self.writes))
        self.bound = sorted({memory for call in calls for _, memory, _, _ in call.bindings})

    def takes_long(self) -> bool:
        """Whether a watchdog might end it, so that its dispatches should be submitted one by one, or in pieces."""
        long = [pace.seconds(block, workgroups) for pace, block, workgroups in self.others]
        return max(long, default=0.0) > BOUND or self.short + sum(long) > _MOST_SECONDS

    def run(self, memory: Sequence[Buffer], addresses: list[int], numbers: Sequence[bytes]) -> None:
        """Have the device do all, ordered like a dispatch.

        `addresses` are those from which distances count, of the memory that moves.
        """
        queue = self.device.queue
        bound = tuple([
            (memory[number].piece.block, addresses[number] if number < len(addresses) else 0) for number in self.bound
        ])  # fmt: skip
        while True:
            with queue.gate:
                if queue.gate.reason is not None:
                    queue.gate.check()
                lease = self._free(bound, memory, addresses)
                if lease is not None:
                    copy = lease.thing
                    self._write(copy, addresses, numbers)
                    if queue.recorder.checker:
                        self._tell(copy, memory, queue.recorder.checker)
                    reads, writes = (
                        [memory[number] for number in self.reads],
                        [memory[number] for number in self.writes],
                    )
                    queue.replay(self.name, reads, [*writes, copy], copy.execute, len(self.calls), self.workgroups)
                    return
                serial = min([copy.written for copy in self.copies])
            queue.wait(serial)

    def _free(self, bound: tuple[Any, ...], memory: Sequence[Buffer], addresses: list[int]) -> Lease | None:
        """A copy that neither the device nor another frame uses, lent; None when there is none until the device is further."""
        queue, lease = self.device.queue, Lease()
        if (
            max([copy.written for copy in self.copies], default=0) > queue.completed
        ):  # a generator would lose an interrupt
            queue.retire()
        done = queue.done
        idle = [copy for copy in self.copies if copy.written <= done]
        suitable = [copy for copy in idle if copy.bound == bound]
        # Calls in a loop use the same few pieces of memory in turn: mostly a copy has the very addresses.
        for copy in suitable:
            if copy.known == addresses and lease.take(copy):
                return lease
        if len(self.copies) >= COPIES:
            for copy in sorted(suitable, key=lambda copy: copy.written):
                if lease.take(copy):
                    return lease
            if not idle:
                return None
            # They are for memory that lies elsewhere, or frames below have them.
            self.copies[:] = [copy for copy in self.copies if copy is not idle[0]]  # one step
        copy = Copy(queue.recorder)
        lease.take(copy)
        self._record(copy, memory, addresses)
        copy.bound = bound
        self.copies.append(copy)
        return lease

    def _record(self, copy: Copy, memory: Sequence[Buffer], addresses: list[int]) -> None:
        device, recorder, functions = self.device, self.device.queue.recorder, self.device.functions
        recorder.begin_replay(copy)
        commands, arguments, checker = copy.thing.cell[0], copy.thing.arguments, recorder.checker
        arguments.write([call.block for call in self.calls])
        pointer = arguments.block.pointer
        whole = memoryview(ffi.buffer(pointer, self.nbytes + 8)).cast("B")
        copy.views = (
            memoryview(ffi.buffer(pointer, self.nbytes)).cast("B").cast("Q"), whole[4 : self.nbytes + 4].cast("Q"), whole,
        )  # fmt: skip
        copy.known, copy.numbers = [None] * len(self.addresses), [None] * len(self.numbers)
        if checker:
            checker.begin(commands)
        bind_sets, offset, last = functions.vkCmdBindDescriptorSets, 0, None
        if recorder.block_index and self.calls:
            layout = self.calls[0].kernel.layout
            functions.vkCmdPushConstants(commands, layout, _COMPUTE, 0, len(recorder.block_index), recorder.block_index)
        for call in self.calls:
            kernel, before = call.kernel, checker.barriers if checker else 0
            if call.ordered:
                recorder.order(commands)
            if checker:
                copy.ordered.append(checker.barriers != before)
            if kernel is not last:
                functions.vkCmdBindPipeline(commands, _BIND_POINT, kernel.pipeline)
                copy.kept.append(kernel)
                last = kernel
            if call.bindings:
                found = device.descriptors.bound(
                    kernel,
                    [
                        (place, memory[number], self._first(number, memory, addresses) + distance, nbytes)
                        for place, number, distance, nbytes in call.bindings
                    ],
                )
                copy.kept.append(found)
                bind_sets(commands, _BIND_POINT, kernel.layout, 0, 1, found.cell, 0, NULL)
            arguments.offset[0] = offset
            bind_sets(commands, _BIND_POINT, kernel.layout, SET, 1, arguments.set, 1, arguments.offset)
            offset += -(-len(call.block) // STEP) * STEP
            recorder.dispatch(commands, *call.groups)
        functions.vkEndCommandBuffer(commands)
        copy.thing.begun = False

    def _first(self, number: int, memory: Sequence[Buffer], addresses: list[int]) -> int:
        """How many bytes after the start of its buffer some memory begins."""
        return addresses[number] - memory[number].address if number < len(addresses) else 0

    def _write(self, copy: Copy, addresses: list[int], numbers: Sequence[bytes]) -> None:
        """Write what is not there already. What is not known to be there was perhaps half written."""
        known, (words, shifted, whole) = copy.known, copy.views
        for number, address in enumerate(addresses):
            if known[number] != address:
                known[number] = None
                even, odd = self.addresses[number]
                for place, distance in even:
                    words[place] = address + distance
                for place, distance in odd:
                    shifted[place] = address + distance
                known[number] = address
        there = copy.numbers
        for number, value in enumerate(numbers):
            if there[number] != value:
                there[number] = None
                for place in self.numbers[number]:
                    whole[place : place + len(value)] = value
                there[number] = value

    def _tell(self, copy: Copy, memory: Sequence[Buffer], checker: Checker) -> None:
        """Tell a checker of barriers which bytes each dispatch of this run reads and writes."""
        copy.told, offset = [], 0
        for call in self.calls:
            reads, written = (
                [
                    (memory[number].address + begin, memory[number].address + min(end, memory[number].nbytes))
                    for number, begin, end in parts
                ]
                for parts in (call.reads, call.writes)
            )
            writes = [
                touched if one is None else Spread(touched[0], touched[1], one)
                for touched, one in itertools.zip_longest(written, call.elements)
            ]
            used = [memory[number] for number, _, _ in (*call.reads, *call.writes)]
            checker.check_addresses(call.kernel, bytes(copy.views[2][offset : offset + len(call.block)]), used)
            copy.told.append((call.kernel.name, reads, writes))
            offset += -(-len(call.block) // STEP) * STEP
