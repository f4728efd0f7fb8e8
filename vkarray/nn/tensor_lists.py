"""Lists of arrays that one dispatch works on: what they look like, where they lie, and the table that tells a kernel so.

The arrays lie anywhere in memory; `nn/tensors.comp` reads their addresses from a table. A table of a form that comes again is
filled from its template, and not at all where every address and number is what it was.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .. import device_caches
from ..core import dtypes
from ..core.array import VkArray, empty, storage_itemsize
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.dispatch import Dispatch, number, send
from ..kernels.planned import refuse
from ..kernels.row_kernels import FLOATING
from ..shaders.source import Variant

if TYPE_CHECKING:
    from ..kernels.dispatch import Buffer
    from ..kernels.launch import Device

_PER_INVOCATION = 8
_PARAMETERS = 10


@dataclass(frozen=True, eq=False)
class Step:
    """What happens to the numbers x[0], x[1], ... of an element: GLSL statements, and which of them are read and written.

    `p` is a number of the tensor, `step` its step.
    """

    name: str
    body: str
    slots: int
    reads: int
    writes: int
    prepare: str = ""

    def variant(self, device: Device, dtype: DType) -> Variant:
        """The shader for arrays of `dtype`."""
        defines = [("BODY", self.body), ("PREPARE", self.prepare), ("SLOTS", str(self.slots)), ("READS", str(self.reads)),
                   ("WRITES", str(self.writes)), *launch.operand_defines("A", dtype)]  # fmt: skip
        defines += launch.compute_defines(dtype)
        defines += launch.feature_defines((dtype,), device)
        return Variant("nn/tensors", tuple(defines), f"{self.name} of tensors {dtype}")


@device_caches.cache
def variant(step: Step, dtype: DType, device: Device) -> Variant:
    """The shader of a step, made once."""
    return step.variant(device, dtype)


class Form:
    """What the arrays of a list look like: the dtype, the device and the number of elements of each."""

    __slots__ = ("looks", "tables")

    def __init__(self, looks: Iterable[tuple[DType, Device, int]]) -> None:
        self.looks = list(looks)
        self.tables: dict[Step, list[_Table]] = {}  # one for each dtype and device

    def tables_of(self, step: Step) -> list[_Table]:
        """The tables of a step, which stay with the form."""
        found = self.tables.get(step)
        if found is None:
            kinds: dict[tuple[DType, Device], list[int]] = {}
            for place, (dtype, device, size) in enumerate(self.looks):
                if size:
                    kinds.setdefault((dtype, device), []).append(place)
            found = [_Table(step, *kind, self, places) for kind, places in kinds.items()]
            self.tables[step] = found
        return found


class Lines(NamedTuple):
    """Where the arrays of a list lie, each without gaps: the buffers and the addresses in them."""

    form: Form
    buffers: list[Buffer]
    addresses: list[int]


class _Table:
    """The table of a step for the arrays of one dtype on one device, and the dispatch that reads it."""

    __slots__ = ("device", "dtype", "groups", "last", "places", "rows", "step", "template", "whole", "width")

    def __init__(self, step: Step, dtype: DType, device: Device, form: Form, places: list[int]) -> None:
        self.step, self.dtype, self.device = step, dtype, device
        self.places = None if len(places) == len(form.looks) else places  # None: all of them
        of_group = launch.invocations_of_group(device.limits) * _PER_INVOCATION
        limit, itemsize = launch.index_limit(device, dtype), storage_itemsize(dtype, device)
        self.width = 4 + step.slots  # words of 64 bits in a row
        self.template, groups = array("Q"), 0
        self.rows: list[tuple[int, int]] = []  # which array, and how many bytes after its start
        for tensor, place in enumerate(places):
            size = form.looks[place][2]
            for offset in range(0, size, limit):
                count = min(size - offset, limit)
                self.template.extend((count | groups << 32, *[0] * (self.width - 1)))
                self.rows.append((tensor, offset * itemsize))
                groups += -(-count // of_group)
        self.whole = len(self.rows) == len(places)
        self.groups = launch.groups_for(groups * (of_group // _PER_INVOCATION), device.limits)
        self.last: tuple[array[int], VkArray] | None = None

    def _taken(self, values: Sequence[Any]) -> Sequence[Any]:
        return values if self.places is None else [values[place] for place in self.places]

    def _column(self, addresses: Sequence[int]) -> array[int]:
        """The addresses of all rows, of those of the arrays."""
        return array("Q", addresses if self.whole else [addresses[tensor] + offset for tensor, offset in self.rows])

    def _bits(self, numbers: Sequence[float]) -> array[int]:
        """The numbers of all rows as words."""
        if not self.whole:
            numbers = [numbers[tensor] for tensor, _ in self.rows]
        wide = self.dtype.bits == 64
        packed = struct.pack(f"={len(numbers)}{'d' if wide else 'f'}", *numbers)
        return array("Q", packed) if wide else array("Q", array("I", packed))

    def _filled(self, lists: Sequence[Lines | None], numbers: Sequence[float] | None, steps: Lines | None) -> VkArray:
        words, width = self.template[:], self.width
        if steps is not None:
            starts = self._taken(steps.addresses)
            words[1::width] = array("Q", [starts[tensor] for tensor, _ in self.rows])
        for slot, lines in enumerate(lists, 2):
            if lines is not None:
                words[slot::width] = self._column(self._taken(lines.addresses))
        if numbers is not None:
            words[width - 2 :: width] = self._bits(self._taken(numbers))
        last = self.last
        if last is not None and last[0] == words:
            return last[1]
        table = empty((2 * len(words),), dtypes.uint32, self.device)
        self.device.upload(table._buffer, 0, words)
        self.last = words, table
        return table

    def dispatch(
        self, lists: Sequence[Lines | None], parameters: Sequence[float], flags: int, numbers: Sequence[float] | None,
        steps: Lines | None, skip: VkArray | None, scale: VkArray | None, noted: VkArray | None,
    ) -> None:  # fmt: skip
        """Do the step for these arrays, in one dispatch."""
        table = self._filled(lists, numbers, steps)
        reads = [table._buffer, *[one._buffer for one in (skip, scale) if one is not None]]
        writes: list[Buffer] = [] if noted is None else [noted._buffer]
        if steps is not None:
            reads += self._taken(steps.buffers)
        for slot, lines in enumerate(lists):
            if lines is not None:
                (writes if self.step.writes >> slot & 1 else reads).extend(self._taken(lines.buffers))
        fields = {
            "table": table,
            "skip": 0 if skip is None else skip,
            "scale": 0 if scale is None else scale,
            "noted": 0 if noted is None else noted,
            "tensors": len(self.rows),
            "flags": flags,
            "parameters": [number(value, self.dtype) for value in parameters] + [0] * (_PARAMETERS - len(parameters)),
        }
        kernel = launch.kernel(variant(self.step, self.dtype, self.device), self.device)
        send(Dispatch(kernel, fields, self.groups, reads, writes))


def lines_of(function: str, lists: Sequence[Sequence[VkArray] | Lines | None]) -> list[Lines | None]:
    """Where the arrays of lists lie, which are contiguous: lists of arrays, or lines of one form already.

    Raises ValueError unless the arrays of a place have one shape, dtype and device, and TypeError for other types than real
    floating-point ones.
    """
    given = [one for one in lists if one is not None]
    if type(given[0]) is Lines:
        return cast("list[Lines | None]", list(lists))
    if len({len(arrays) for arrays in given}) > 1:
        raise ValueError(f"{function}: expected lists of one length, got {[len(arrays) for arrays in given]}.")
    for first, *others in zip(*cast("list[Sequence[VkArray]]", given), strict=True):
        for one in others:
            if one._shape != first._shape or one._dtype is not first._dtype or one._device is not first._device:
                raise ValueError(
                    f"{function}: expected the arrays of a tensor to have one shape and dtype, got {first._shape} "
                    f"{first._dtype} and {one._shape} {one._dtype}."
                )
        if first._dtype not in FLOATING:
            raise TypeError(f"{function}: expected real floating-point arrays, got {first._dtype}.")
    form = Form((one._dtype, one._device, one.size) for one in cast("Sequence[VkArray]", given[0]))
    return [None if one is None else _lines(form, cast("Sequence[VkArray]", one)) for one in lists]


def _lines(form: Form, arrays: Sequence[VkArray]) -> Lines:
    return Lines(form, [one._buffer for one in arrays], [one._address for one in arrays])


def run(
    function: str, step: Step, lists: Sequence[Sequence[VkArray] | Lines | None], parameters: Sequence[float] = (), *,
    flags: int = 0, numbers: Sequence[float] | None = None, steps: Sequence[VkArray] | Lines | None = None,
    skip: VkArray | None = None, scale: VkArray | None = None, noted: VkArray | None = None,
) -> None:  # fmt: skip
    """Do a step over lists of contiguous arrays, one list for each slot: one dispatch for all tensors of a dtype.

    `numbers` holds p of each tensor, `steps` float32 arrays of one element, `skip`, `scale` and `noted` such an array each.
    Raises what `lines_of` raises.
    """
    refuse("it puts addresses of arrays into memory")
    lines = lines_of(function, lists)
    form = next(one.form for one in lines if one is not None)
    if steps is not None and type(steps) is not Lines:
        steps = _lines(form, cast("Sequence[VkArray]", steps))
    for table in form.tables_of(step):
        table.dispatch(lines, parameters, flags, numbers, steps, skip, scale, noted)
