"""Sorting functions of the standard: a stable radix sort from the least significant digit, rows of a batch side by side.

A pass moves every element to the place of one digit of its key (`glsl/lib/sort_key.glsl`): count the digits in each chunk
of each row, sum the counts up, scatter. Rows of one chunk make all their passes in a single dispatch. So the number of
dispatches depends on the type and, for the sums, on the logarithm of the size, not on the number of rows.

GPUs whose subgroups vote do the same by tiles in shared memory instead (`sort_tiles`), with the same results. So do CPU drivers
with short rows, by counting what comes before each element (`glsl/sort/ranks.comp`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import dtypes, layout
from ..core.array import ArrayLike, VkArray, default_dtype, empty, operations, storage_itemsize
from ..core.dtypes import REAL_OF, DType
from ..kernels import launch, sort_tiles
from ..kernels.conversion import cast
from ..kernels.dispatch import Fields, pointer
from ..kernels.gather import element_sizes
from ..kernels.planned import planned
from ..kernels.rows import check_array
from ..kernels.scan import running_sums
from ..shaders.source import Variant

if TYPE_CHECKING:
    from ..kernels.launch import Device


class Plan(NamedTuple):
    """How a class of devices sorts: bits of a digit and elements of a chunk, which one invocation walks."""

    bits: int
    chunk: int


_CPU_PLAN = Plan(8, 4096)
_GPU_PLAN = Plan(4, 256)
# Rows up to this length have so few elements for a digit of 8 bits that its 256 counts cost more than a second pass.
_SHORT, _SHORT_BITS = 128, 4
# On CPU drivers, by the bytes of an element: the longest rows of which every two elements are compared, which takes less than
# the passes of a radix sort do; and the elements of a row that are compared in registers at once. Of many rows that are no longer
# than that, the kernel is for their length.
_RANKED = {1: 64, 2: 128, 4: 192, 8: 256, 16: 384}
_HELD = {1: 16, 2: 16, 4: 16, 8: 16, 16: 8}
_MANY_ROWS = 1 << 9
# llvmpipe leaves a shader's loops after 65,535 turns in all.
_TURNS = 60_000

Constants = tuple[tuple[int, int], ...]
# Elements and, where they are asked for, the places in their rows that these come from.
_Columns = tuple[VkArray, VkArray | None]

_FORMS = {"bool": 0, "unsigned integer": 0, "signed integer": 1, "real floating": 2}
_INFINITE = {
    dtypes.float16: 0x7C00, dtypes.bfloat16: 0x7F80, dtypes.float32: 0x7F800000, dtypes.float64: 0x7FF00000,
}  # fmt: skip
# From so many invocations on, a workgroup has its usual size; where there are fewer it is small, so that all threads of a
# CPU driver get some.
_ENOUGH_INVOCATIONS = 1 << 13
_FEW_INVOCATIONS = 16


@functools.cache
def _variant(template: str, element_bytes: int, indices: bool) -> Variant:
    defines = [("ELEMENT_BYTES", str(element_bytes)), *([("INDICES", "1")] if indices else [])]
    label = f"{template} {element_bytes} bytes{' with indices' if indices else ''}"
    return Variant(template, tuple(defines), label)


def variants(device: Device) -> Iterator[Variant]:
    """All variants that a device can meet."""
    for element_bytes in element_sizes(device):
        yield _variant("sort/count", element_bytes, False)
        yield _variant("sort/ranks", element_bytes, False)
        for template in ("sort/scatter", "sort/rows"):
            for indices in (False, True):
                yield _variant(template, element_bytes, indices)
    yield from sort_tiles.variants(device)


def _key_bits(dtype: DType) -> int:
    """Bits of the key: those of the value and, for a complex number, two for its class."""
    return 2 * dtype.bits + 2 if dtype.category == "complex floating" else dtype.bits


@functools.cache
def _constants(dtype: DType, direction: int, digit_bits: int) -> Constants:
    """The specialization constants of `sort_key.glsl`."""
    part = REAL_OF.get(dtype, dtype)
    sign = 1 << min(part.bits, 32) - 1
    values = (digit_bits, _FORMS[part.category], sign, _INFINITE.get(part, 0), int(part is not dtype), direction)
    return tuple(enumerate(values, 1))


def sorted_rows(
    function: str, x: VkArray, descending: bool, indices: bool, nan_first: bool = False
) -> _Columns:  # fmt: skip
    """The elements of x sorted along the last axis and, when asked for, their places before (uint32).

    NaN comes last, but first with `nan_first`, which is for descending real numbers.

    Raises ValueError, naming `function`, for rows of 2**32 elements or more.
    """
    device = x._device
    length = x._shape[-1]
    if length >> 32:
        raise ValueError(
            f"{function}: expected less than 2**32 elements to sort, got {length}. Sort parts and merge them."
        )
    x = launch.contiguous(x)
    values, places = _scratch(x, indices)
    if x.size == 0:
        return values, places
    by_tiles = sort_tiles.tile_of(x) if sort_tiles.sorts_tiles(device) else None
    bits, chunk = _CPU_PLAN if device.limits.is_cpu else _GPU_PLAN
    if by_tiles is not None:
        bits, chunk = by_tiles.bits, by_tiles.elements
    elif length <= _SHORT:
        bits = _SHORT_BITS
    passes = -(-_key_bits(x._dtype) // bits)
    at_once = length <= chunk and 2 * passes * (length + (1 << bits)) <= _TURNS
    constants = _constants(x._dtype, 2 if nan_first else int(descending), bits)
    rows = math.prod(x._shape[:-1])
    few = max(1, layout.INDEX_LIMIT // length)
    for first in range(0, rows, few):
        part = (min(few, rows - first), length)
        step = (length, 1)
        source, target = (array._view(part, step, first * length) for array in (x, values))
        target_places = None if places is None else places._view(part, step, first * length)
        if by_tiles is not None:
            key = (source, _key_bits(x._dtype), constants, by_tiles, target, target_places)
            if length <= chunk:
                sort_tiles.sort_rows(*key)
            else:
                sort_tiles.sort_tiles(*key, _scratch(source, indices))
        elif _is_ranked(x):
            _sort_by_ranks(source, constants, target, target_places)
        elif at_once:
            _sort_at_once(source, constants, target, target_places)
        else:
            _sort_by_digits(source, constants, bits, chunk, target, target_places)
    return values, places


def _scratch(x: VkArray, indices: bool) -> _Columns:
    """New arrays for the elements of x and for their places."""
    return empty(x._shape, x._dtype, x._device), empty(x._shape, dtypes.uint32, x._device) if indices else None


def _run(template: str, x: VkArray, indices: bool, constants: Constants, invocations: int, fields: Fields,
         writes: Sequence[str]) -> None:  # fmt: skip
    device = x._device
    size = launch.WORKGROUP_SIZE if invocations >= _ENOUGH_INVOCATIONS else _FEW_INVOCATIONS
    variant = _variant(template, storage_itemsize(x._dtype, device), indices)
    groups = launch.groups_for(invocations, device.limits, size)
    launch.dispatch(variant, device, groups, fields, writes=writes, workgroup_size=size, constants=constants)


def _is_ranked(x: VkArray) -> bool:
    """Whether rows of x are short enough to compare every two of their elements: a CPU driver keeps several in registers."""
    return x._device.limits.is_cpu and x._shape[-1] <= _RANKED[x._dtype.itemsize]


def _sort_by_ranks(x: VkArray, constants: Constants, values: VkArray, places: VkArray | None) -> None:
    """Sort short rows into `values` and `places`: one invocation for a row compares every two of its elements."""
    rows, length = x._shape
    most = _HELD[storage_itemsize(x._dtype, x._device)]
    blocks = -(-length // most)
    held = next(count for count in (most * 3 // 4, most) if count * blocks >= length)
    known = rows >= _MANY_ROWS and blocks == 1
    more = ((7, length if known else 0), (8, length if known else held), (9, int(places is not None)))
    fields: dict[str, Any] = {
        "source": x,
        "target": values,
        "target_indices": 0 if places is None else places,
        "rows": rows,
        "row_length": length,
    }
    _run("sort/ranks", x, False, constants + more, rows, fields, ("target", "target_indices"))


def _sort_at_once(x: VkArray, constants: Constants, values: VkArray, places: VkArray | None) -> None:
    """Sort rows of one chunk into `values` and `places`: one invocation for a row makes all passes."""
    rows, length = x._shape
    others, other_places = _scratch(x, places is not None)
    fields: dict[str, Any] = {
        "source": x,
        "a": values,
        "b": others,
        "rows": rows,
        "row_length": length,
        "key_bits": _key_bits(x._dtype),
    }
    if places is not None:
        fields |= {"a_indices": places, "b_indices": other_places}
    writes = ("a", "b", "a_indices", "b_indices")
    _run("sort/rows", x, places is not None, constants, rows, fields, writes)


def _sort_by_digits(
    x: VkArray, constants: Constants, bits: int, chunk: int, values: VkArray, places: VkArray | None
) -> None:  # fmt: skip
    """Sort rows of any length into `values` and `places`: a few dispatches for each digit."""
    rows, length = x._shape
    chunks = -(-length // chunk)
    chunk = -(-length // chunks)
    counts = empty((rows << bits, chunks), dtypes.uint32, x._device)
    source: _Columns = (x, None)
    target: _Columns = (values, places)
    others = _scratch(x, places is not None)
    shifts = range(0, _key_bits(x._dtype), bits)
    if len(shifts) % 2 == 0:
        target, others = others, target
    # All elements are within reach of indices, or the row is alone and its elements come in segments of chunks.
    few = chunks if rows * length <= layout.INDEX_LIMIT else layout.INDEX_LIMIT // chunk
    segments = {
        first: {
            "rows": rows,
            "row_length": length - first * chunk,
            "chunk_length": chunk,
            "chunks": min(few, chunks - first),
            "pitch": chunks,
        }
        for first in range(0, chunks, few)
    }
    for shift in shifts:
        for first, numbers in segments.items():
            count = rows * numbers["chunks"]
            elements, part = pointer(source[0], first * chunk), pointer(counts, first)
            own: Fields = {"elements": elements, "counts": part, "shift": shift}
            _run("sort/count", x, False, constants, count, {**numbers, **own}, ("counts",))
        running_sums(counts)
        for first, numbers in segments.items():
            count, start = rows * numbers["chunks"], first * chunk
            elements, part = pointer(source[0], start), pointer(counts, first)
            own = {"elements": elements, "target": target[0], "places": part, "shift": shift, "first": start}
            if target[1] is not None:
                # The first pass has no places to read: any address will do.
                before = target[1] if source[1] is None else source[1]
                own |= {"indices": pointer(before, start), "target_indices": target[1]}
            writes = ("target", "target_indices")
            _run("sort/scatter", x, places is not None, constants, count, {**numbers, **own}, writes)
        source, target, others = target, others, target


_KINDS = "qhmsQHMS"  # of NumPy's sorts, by their first letters


def _last_axis(
    function: str, x: Any, axis: int | None, kind: str | None, fields: None
) -> tuple[VkArray, tuple[int, ...]]:
    """A view of x with the axis last, and the order of its axes (which is its own inverse: two axes change places)."""
    if kind is not None and kind[:1] not in tuple(_KINDS):
        raise ValueError(f"{function}: expected kind 'quicksort', 'heapsort', 'mergesort' or 'stable', got {kind!r}.")
    if fields is not None:
        raise ValueError(f"{function}: order names fields of structured types, which vkarray does not have.")
    if axis is None:
        x, axis = operations["reshape"](check_array(function, x), (-1,)), 0
    axis = layout.normalize_axis(axis, check_array(function, x).ndim, function)
    order = list(range(x.ndim))
    order[axis], order[-1] = order[-1], order[axis]
    return x._permuted(order), tuple(order)


@planned
def sort(
    x: ArrayLike, /, axis: int | None = -1, kind: str | None = None, order: None = None, *, descending: bool = False,
    stable: bool = True,
) -> VkArray:  # fmt: skip
    """The elements of x sorted along an axis; equal elements keep their order, whatever `stable` and `kind` say.

    Parameters: x (any dtype, at least 1 dimension); axis (None for the flattened array); descending. NaN comes last in both
    directions, -0 equals +0, complex numbers are ordered as by numpy.sort (real part first).
    Returns an array of the shape and dtype of x.
    Raises TypeError for what is not an array, IndexError for an axis out of range, ValueError for another kind and a
    length of 2**32.
    Method: radix sort, from the least significant digit. Standard: sorting functions, `sort`.
    """
    moved, axes = _last_axis("sort", x, axis, kind, order)
    values, _ = sorted_rows("sort", moved, descending, False)
    return launch.contiguous(values._permuted(axes))


@planned
def argsort(
    x: ArrayLike, /, axis: int | None = -1, kind: str | None = None, order: None = None, *, descending: bool = False,
    stable: bool = True,
) -> VkArray:  # fmt: skip
    """The places along an axis of the elements of x in sorted order; equal elements keep theirs, whatever `stable` says.

    Parameters: x (any dtype, at least 1 dimension); axis (None for the flattened array); descending. The order is that of `sort`.
    Returns an array of the shape of x and the default integer dtype.
    Raises TypeError for what is not an array, IndexError for an axis out of range, ValueError for another kind and a
    length of 2**32.
    Method: radix sort, from the least significant digit. Standard: sorting functions, `argsort`.
    """
    if type(x) is VkArray and not x._shape:
        x = x._view((1,), (1,))  # as NumPy, whose sort() has no such mercy
    moved, axes = _last_axis("argsort", x, axis, kind, order)
    _, places = sorted_rows("argsort", moved, descending, True)
    assert places is not None
    return launch.contiguous(cast(places._permuted(axes), default_dtype("int", x._device)))


operations.update(argsort=argsort, sort=sort)
