"""Complex transforms along one axis: the passes, and Bluestein's algorithm for lengths with a large prime factor.

Which passes and radices a transform takes follows from its length, its strides and the limits of the device alone, so
its result never changes between runs.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ... import device_caches
from ...core import dtypes
from ...core.array import VkArray, empty, is_supported
from ...core.dtypes import COMPLEX_OF, DType
from ...kernels import launch
from ...kernels.planned import kept
from ...shaders.source import Variant
from . import half_spectrum, tables
from .batch import Batch, Dimension, batches
from .lengths import LARGEST_RADIX, is_power_of_two, prime_factors, smooth_length, split

if TYPE_CHECKING:
    from ...kernels.launch import Device

# How elements lie in memory, and the flags: as in glsl/lib/fft_pass.glsl.
COMPLEX, REAL, REAL_PAIRS, HALF_SPECTRUM, HERMITIAN, _ONE_SIDED, _CONJUGATES = range(7)
_TABLE_IN, _TABLES_IN, _TABLE_OUT, _PADDED, _CUT, _SCALED = 1, 2, 4, 8, 16, 32
_SWAP_IN, _SWAP_OUT, CONJUGATE_IN, CONJUGATE_OUT, _CONJUGATE_TABLE = 1, 2, 4, 8, 16
_COLUMNS_IN, _COLUMNS_OUT, _FLAT = 1, 2, 4
# Specialization constants of these names, there and in glsl/fft/shared.comp.
_KNOWN_FLAGS, _ODD, _ROUNDS, _PITCH, _SETS, _ROWS = 13, 14, 15, 16, 21, 22
_ROWS_IN, _ROWS_OUT = 1, 2

_LONGEST_LINE = 8192
_LONGEST_COLUMN = 512
_GROUP, _LARGE_GROUP = 128, 256  # invocations of a workgroup that takes several lines, at least and at most
# Lines that a workgroup takes where neighbours in memory belong to different lines: at least, and where it is not too large.
_SIDE_BY_SIDE, _SIDE_BY_SIDE_AT_BEST = 8, 16
_BANKS = 32  # of shared memory
_GAP_SHARE = 12  # gaps take at most this part of it
# Where so many invocations share a line that few workgroups fit a multiprocessor, one takes several sets of lines after each
# other and fetches the next one ahead; other lengths hold less in registers than powers of two. If there are that many groups.
_LARGE_LINE, _LARGE_MIXED_LINE, _LINES_AHEAD, _MANY_GROUPS = 256, 512, 8, 1 << 10
# Elements that an invocation holds at most, but for larger radices, by its registers and the bytes of an element. Memory is for 25:
# VALUES in glsl/fft/shared.comp.
_MOST_VALUES = 16
_VALUES = {"large": {8: 16, 16: 16}, "middle": {8: 16, 16: 8}, "small": {8: 8, 16: 4}, "tiny": {8: 4, 16: 4}}
# Invocations of a workgroup at most: with more, each has fewer registers where these are few.
_GROUPS = {"large": 1024, "middle": 1024, "small": 256, "tiny": 256}
# Lines that larger radices than those of other kernels save so many exchanges that they are faster.
_RADICES = {625: (25, 25), 3125: (25, 25, 5)}
_MOST_RADICES = 5  # that glsl/fft/shared.comp has constants for
_FEW_MEMBERS = 4  # below, lines that lie side by side are moved as one
_LARGEST_TABLE = 1 << 20  # of the roots between passes; beyond, each is a product of two
_FEW_LINES = 1 << 10
_SMALL_GROUP = 16


def uses_shared_memory(device: Device) -> bool:
    """Whether a workgroup shares a line: on a CPU driver, barriers cost more than another pass through memory."""
    return not device.limits.is_cpu


@functools.cache
def register_variant(dtype: DType, length: int) -> Variant:
    """The shader in which an invocation transforms a line of up to 16 elements."""
    defines = (*tables.element_defines(dtype), ("LENGTH", str(length)))
    return Variant("fft/registers", defines, f"fft {dtype} ({length} points)")


@functools.cache
def shared_variant(dtype: DType, power_of_two: bool) -> Variant:
    """The shader in which a workgroup transforms lines, of powers of two or of other lengths."""
    defines = tables.element_defines(dtype)
    if power_of_two:
        return Variant("fft/shared", defines, f"fft {dtype} (powers of two)")
    return Variant("fft/shared", (*defines, ("MIXED", "1")), f"fft {dtype} (mixed radices)")


def variants(device: Device) -> Iterator[Variant]:
    """Every variant of the transforms, for the archive."""
    for dtype in (dtypes.complex64, dtypes.complex128):
        if is_supported(dtype, device):
            yield from (register_variant(dtype, length) for length in range(1, LARGEST_RADIX + 1))
            yield from (shared_variant(dtype, power_of_two) for power_of_two in (False, True))
            yield from (half_spectrum.variant(dtype), tables.variant(dtype))


class Line(NamedTuple):
    """How a workgroup transforms lines: its radices, the invocations that share one, and how many it takes."""

    radices: tuple[int, ...]
    members: int
    lines: int


class Places(NamedTuple):
    """The places of lines in a transform. Of `odd` places after each other, the first half is kept, with one more."""

    number: int
    odd: int = 1

    @property
    def kept(self) -> int:
        """How many are kept; all but for real points, where the others are conjugates of these."""
        return self.number // self.odd * (self.odd // 2 + 1)


class Job(NamedTuple):
    """What a transform does besides: how it loads and stores, flags of both, and the tables to multiply by."""

    load: int = COMPLEX
    store: int = COMPLEX
    mode: int = 0
    scale: float = 1.0
    table_in: VkArray | None = None
    table_out: VkArray | None = None
    rounds: int = 1


def transform(
    x: VkArray, result: VkArray, axis: int, points: int, load: int, store: int, *, inverse: bool, scale: float,
    mode: int = 0,
) -> None:  # fmt: skip
    """A complex transform of `points` points of each line of x along an axis, into the lines of `result`.

    Of x as many elements are used as there are, zeros beyond, and of the results as many are stored as there is room for.
    `load` and `store` say what elements are, `mode` holds CONJUGATE_IN and CONJUGATE_OUT. HERMITIAN is for an odd number of
    points, real on the other side, and not for an inverse. The type is that of the components
    of x. x and `result` share no memory, and their other dimensions are the same; a dispatch reaches along the lines of both.
    """
    if result.size == 0:
        return
    job = Job(load, store, mode, scale)
    if prime_factors(points) is None:
        _bluestein(x, result, axis, points, job, inverse)
    else:
        swaps = _SWAP_IN | _SWAP_OUT if inverse else 0
        _run(x, result, axis, points, points, job._replace(mode=mode | swaps))


def is_one_pass(x: VkArray, axis: int, length: int) -> bool:
    """Whether a workgroup holds whole transforms of a length, so that it can store a HALF_SPECTRUM."""
    device, dtype = x._device, complex_dtype(x._dtype)
    return (
        uses_shared_memory(device) and prime_factors(length) is not None
        and len(_passes(length, _neighbours_are_lines(x, axis), dtype, device)) == 1
    )  # fmt: skip


def complex_dtype(dtype: DType) -> DType:
    """The complex type with the precision of a type of 32 or 64 bits."""
    return COMPLEX_OF.get(dtype, dtype)


def _scratch(x: VkArray, axis: int, points: int) -> VkArray:
    shape = (*x._shape[:axis], points, *x._shape[axis + 1 :])
    return empty(shape, complex_dtype(x._dtype), x._device)


def _bluestein(x: VkArray, result: VkArray, axis: int, points: int, job: Job, inverse: bool) -> None:
    """The transform as a convolution with a chirp (Bluestein, IEEE Trans. Audio Electroacoustics 18, 1970).

    j k = (j^2 + k^2 - (k - j)^2) / 2, so with c[j] = exp(-pi i j^2 / n) result k is c[k] times the sum over j of
    x[j] c[j] conj(c[k - j]): a cyclic convolution, done by transforms, in which only the results that are wanted must be
    right, so its length is their number and that of x[j] together, less one. Of a symmetric spectrum, half is enough: real
    points are twice the real parts of its transform.
    """
    dtype, half = complex_dtype(x._dtype), points // 2 + 1
    inputs, outputs = (half if kind == HERMITIAN else points for kind in (job.load, job.store))
    load, scale = (_ONE_SIDED, 2 * job.scale) if job.load == HERMITIAN else (job.load, job.scale)
    length = smooth_length(inputs + outputs - 1)
    chirp = tables.chirp(points, dtype, x._device)
    spectrum = _chirp_spectrum(points, outputs, length, dtype, x._device)
    store = COMPLEX if job.store == HERMITIAN else job.store
    # The inverse of a transform swaps parts on the way in and out, and swap(z conj(c)) = swap(z) c.
    mode_in = job.mode & CONJUGATE_IN | (_SWAP_IN if inverse else 0)
    mode_out = job.mode & CONJUGATE_OUT | (0 if inverse else _SWAP_OUT) | _CONJUGATE_TABLE
    if is_one_pass(x, axis, length):
        both = Job(load, store, mode_in | mode_out, scale / length, chirp, spectrum, rounds=2)
        _run(x, result, axis, length, inputs, both)
        return
    product = _scratch(x, axis, length)
    _run(x, product, axis, length, inputs, Job(load, COMPLEX, mode_in, 1.0, chirp, spectrum))
    back = Job(COMPLEX, store, mode_out | _SWAP_IN, scale / length, None, chirp)
    _run(product, result, axis, length, length, back)


@kept(64)
def _chirp_spectrum(points: int, outputs: int, length: int, dtype: DType, device: Device) -> VkArray:
    """The transform of the conjugate of the chirp, with which the first `outputs` results of a convolution are right."""
    spectrum = empty((length,), dtype, device)
    chirp = tables.cyclic_chirp(points, outputs, length, dtype, device)
    _run(chirp, spectrum, 0, length, length, Job(mode=CONJUGATE_IN))
    return spectrum


# -- passes -----------------------------------------------------------------------------------------------------------


def _run(x: VkArray, result: VkArray, axis: int, length: int, points: int, job: Job) -> None:
    """A transform of a smooth length, of which x has no more than `points` elements (pairs of them for REAL_PAIRS)."""
    device, dtype = x._device, complex_dtype(x._dtype)
    factors = _passes(length, _neighbours_are_lines(x, axis), dtype, device)
    # Of real points, half the lines between passes are left out: the odd factor is that of the first or the last pass.
    to_half, from_half = (len(factors) > 1 and kind == HERMITIAN for kind in (job.store, job.load))
    if from_half:
        factors = factors[::-1]
    odd = factors[0] if to_half else factors[-1] if from_half else 1
    kept = Places(length, odd).kept
    # Passes take turns between two arrays, of which the result can be one if it holds whole transforms.
    whole = result._dtype is dtype and result._shape[axis] == kept
    targets: list[VkArray | None] = [result if whole else None, None]
    source, before = x, Places(1)
    for place, factor in enumerate(factors):
        left = len(factors) - 1 - place
        first, last = place == 0, left == 0
        target = result if last else targets[left % 2]
        if target is None:
            target = targets[left % 2] = _scratch(x, axis, kept)
        flags = first * (_SWAP_IN | CONJUGATE_IN) | last * (_SWAP_OUT | CONJUGATE_OUT | _CONJUGATE_TABLE)
        part = Job(
            job.load if first else _CONJUGATES if last and from_half else COMPLEX, job.store if last else COMPLEX,
            job.mode & flags, job.scale if last else 1.0, job.table_in if first else None, job.table_out if last else None,
            job.rounds,
        )  # fmt: skip
        after = Places(before.number * factor, odd if to_half else 1)
        rest = Places(length // after.number, odd if from_half and not last else 1)
        _dispatch(source, target, axis, factor, (before, after, rest), points if first else length, part)
        source, before = target, after


def _neighbours_are_lines(x: VkArray, axis: int) -> bool:
    """Whether elements that lie side by side belong to different transforms."""
    others = (*x._strides[:axis], *x._strides[axis + 1 :])
    lengths = (*x._shape[:axis], *x._shape[axis + 1 :])
    return any(abs(stride) < abs(x._strides[axis]) and size > 1 for stride, size in zip(others, lengths, strict=True))


@device_caches.lru_cache(4096)
def _passes(length: int, columns: bool, dtype: DType, device: Device) -> tuple[int, ...]:
    """The lengths of the lines of each pass."""
    if not uses_shared_memory(device):
        return split(length, LARGEST_RADIX)
    if not columns and _fits(length, dtype, device):
        return (length,)
    return split(length, max(LARGEST_RADIX, min(_room(dtype, device) // _SIDE_BY_SIDE, _LONGEST_COLUMN)))


def _values(dtype: DType, device: Device) -> int:
    """The elements of a type that an invocation holds at most."""
    return _VALUES[device.limits.registers][dtype.itemsize]


def _room(dtype: DType, device: Device) -> int:
    """The elements that a workgroup can take."""
    shared = device.limits.max_shared_memory_size * 32 // 33 // (dtype.itemsize // 2)
    return min(_LONGEST_LINE, _values(dtype, device) * _largest_group(device), shared)


def _fits(length: int, dtype: DType, device: Device) -> bool:
    """Whether a workgroup can take a line."""
    values = _values(dtype, device)
    return (
        length <= _LONGEST_LINE and _members(length, values) <= _largest_group(device)
        and max(_radices(length, values)) <= max((values, *(prime_factors(length) or ())))
        and _shared_bytes(length, dtype, values) <= device.limits.max_shared_memory_size
    )  # fmt: skip


def _largest_group(device: Device) -> int:
    most = min(device.limits.max_workgroup_invocations, _GROUPS[device.limits.registers])
    return launch.invocations_of_group(device.limits, most)


def _shared_bytes(length: int, dtype: DType, values: int = _MOST_VALUES) -> int:
    """Shared memory that a line takes: see fft/shared.comp."""
    return _pitch(length, values) * dtype.itemsize // 2


@functools.lru_cache(maxsize=4096)
def _gaps(radices: tuple[int, ...]) -> tuple[int, ...]:
    """The elements left free in shared memory after each block that a radix has transformed, for all radices but the last.

    Results of neighbours lie side by side as far as `before` goes, and then a block further. With a gap that makes a block as
    long as `before`, modulo the number of banks, those of a subgroup meet different banks.
    """
    gaps, before = [], 1
    for radix in radices[:-1]:
        block = before * radix
        gap = (before - block) % _BANKS
        gaps.append(gap if before > 1 and gap * _GAP_SHARE <= block else 0)
        before = block
    return tuple(gaps)


@functools.lru_cache(maxsize=4096)
def _pitch(length: int, values: int = _MOST_VALUES) -> int:
    """The elements of shared memory that a line takes, with its gaps: an odd number, for lines side by side."""
    if is_power_of_two(length):
        return length + length // _BANKS | 1
    radices = _radices(length, values)
    blocks = itertools.accumulate(radices, operator.mul)
    return length + max(length // block * gap for block, gap in zip(blocks, (*_gaps(radices), 0), strict=True)) | 1


def _members(length: int, values: int) -> int:
    """The invocations that share a line: so many that none holds more than `values` elements, with any of the radices."""
    radices = _radices(length, values)
    values = max(values, *radices)
    return max(-(-length // (values // radix * radix)) for radix in radices)


def _radices(length: int, values: int = _MOST_VALUES) -> tuple[int, ...]:
    """The radices by which invocations that share a line, and hold so many values, transform it."""
    if values < LARGEST_RADIX and len(radices := split(length, values)) <= _MOST_RADICES:
        return radices
    return _RADICES.get(length) or split(length, LARGEST_RADIX)


@device_caches.lru_cache(4096)
def _line(length: int, columns: bool, dtype: DType, device: Device) -> Line:
    """How workgroups transform lines of a length."""
    values, limits = _values(dtype, device), device.limits
    members = _members(length, values)
    room = limits.max_shared_memory_size // _shared_bytes(length, dtype, values)
    most = min(room, _largest_group(device) // members)
    wanted = max(1, _GROUP // members)
    if columns:
        usual = launch.invocations_of_group(limits) // members
        wanted = max(wanted, _SIDE_BY_SIDE, min(usual, _SIDE_BY_SIDE_AT_BEST))
    else:  # a few more where that leaves less of a subgroup idle
        counts = range(wanted, max(wanted, min(most, _LARGE_GROUP // members)) + 1)
        wanted = max(counts, key=lambda count: count * members / -(-count * members // limits.subgroup_size))
    return Line(_radices(length, values), members, min(wanted, most))


class _Kernel(NamedTuple):
    """Which kernel runs a pass: shader, specialization constants, size and counts of workgroups, table of roots."""

    variant: Variant
    constants: tuple[tuple[int, int], ...]
    group_size: int
    groups: tuple[int, int, int]
    roots: VkArray | None


def _register_kernel(length: int, lines: int, dtype: DType, device: Device) -> _Kernel:
    """An invocation for each line; workgroups are small where there are few, so that all threads of a CPU driver get some."""
    size = launch.WORKGROUP_SIZE if lines >= _FEW_LINES else _SMALL_GROUP
    return _Kernel(register_variant(dtype, length), (), size, launch.groups_for(lines, device.limits, size), None)


def _sets(length: int, line: Line, lines: int) -> int:
    """How many sets of lines a workgroup takes."""
    large = _LARGE_LINE if is_power_of_two(length) else _LARGE_MIXED_LINE
    return _LINES_AHEAD if line.members >= large and lines >= _MANY_GROUPS * _LINES_AHEAD * line.lines else 1


def _shared_kernel(
    length: int, lines: int, columns: int, flags: int, rows: int, dtype: DType, device: Device
) -> _Kernel:
    """A workgroup for some lines, or for sets of them."""
    line = _line(length, bool(columns), dtype, device)
    if len(line.radices) == 1:  # nothing is exchanged: who loads an element stores it
        columns = _COLUMNS_IN | _COLUMNS_OUT if columns & _COLUMNS_IN else 0
    if not columns and line.members < _FEW_MEMBERS:
        columns = _FLAT
    values = (length, line.members, line.lines, columns, *line.radices)
    # Doubles, half spectra and offsets of their own for elements leave no registers for those that are fetched ahead.
    most = _values(dtype, device)
    alone = rows != _ROWS_IN | _ROWS_OUT or dtype is not dtypes.complex64 or most < _MOST_VALUES
    sets = 1 if alone else _sets(length, line, lines)
    constants = (
        *enumerate(values, 4), (_KNOWN_FLAGS, flags), *enumerate((_pitch(length, most), *_gaps(line.radices)), _PITCH),
        (_SETS, sets), (_ROWS, rows),
    )  # fmt: skip
    return _Kernel(
        shared_variant(dtype, is_power_of_two(length)), constants, line.members * line.lines,
        launch.groups_for(-(-lines // (line.lines * sets)), device.limits, 1), tables.between_radices(line.radices, dtype, device),
    )  # fmt: skip


def _dispatch(
    x: VkArray, result: VkArray, axis: int, factor: int, places: tuple[Places, Places, Places], points: int, job: Job
) -> None:
    """One pass: lines of `factor` elements. `places` are the numbers of points that are transformed before, that are transformed
    after it, and the number of such groups of points.
    """
    device, dtype = x._device, complex_dtype(x._dtype)
    before, after, rest = places
    length, first, last = after.number * rest.number, before.number == 1, rest.number == 1
    counted = rest if first else before
    steps = (
        x._strides[axis] * (2 if job.load == REAL_PAIRS else 1),
        result._strides[axis] * (2 if job.store == REAL_PAIRS else 1),
    )
    inner = (
        Dimension(rest.kept, before.kept * steps[0], after.kept * steps[1], first),
        Dimension(before.kept, *steps, not first),
    )
    a_step = (rest.number if job.load == HERMITIAN else rest.kept) * before.kept * steps[0]
    r_step = (before.number if job.store == HERMITIAN else before.kept) * steps[1]
    flags, table_in = _factors(job, before.number, factor, dtype, device)
    spectrum_roots = tables.roots(2 * points, points, dtype, device) if HALF_SPECTRUM in job[:2] else None
    needed = _available(job.load, points)
    padded = first and (x._shape[axis] < needed or points < length)
    every = factor * counted.number * (2 if job.store == REAL_PAIRS else 1)
    wanted = after.kept // before.kept * counted.number
    if last:
        wanted = every if job.store == HERMITIAN else result._shape[axis]
    flags |= padded * _PADDED | (wanted < every) * _CUT | (job.scale != 1.0) * _SCALED
    if not uses_shared_memory(device):  # one kernel for all: CPU drivers take long to prepare another
        flags |= _CUT | _SCALED
    constants: tuple[tuple[int, int], ...] = ((1, job.load), (2, job.store), (3, flags))
    if counted.odd > 1:
        constants += ((_ODD, counted.odd),)
    if job.rounds > 1:
        constants += ((_ROUNDS, job.rounds),)
    rows = (
        _ROWS_IN * (job.load == COMPLEX and a_step == 1 and not flags & (_TABLE_IN | _TABLES_IN | _PADDED))
        | _ROWS_OUT * (job.store == COMPLEX and r_step == 1 and not flags & (_TABLE_OUT | _CUT))
    )  # fmt: skip
    fields = {
        "in_table": _or_null(table_in),
        "out_table": _or_null(job.table_out),
        "spectrum_roots": _or_null(spectrum_roots),
        "scale": job.scale,
        "points": points,
        "a_count": min(x._shape[axis], needed),
        "r_count": wanted,
        "places": counted.number,
        "mode": job.mode,
        "a_step": a_step,
        "r_step": r_step,
    }
    for batch in batches(x, result, axis, inner, max(map(abs, steps)) * length):
        if uses_shared_memory(device):
            columns = _columns(batch, a_step, r_step)
            kernel = _shared_kernel(factor, batch.lines, columns, job.mode, rows, dtype, device)
        else:
            kernel = _register_kernel(factor, batch.lines, dtype, device)
        launch.dispatch(
            kernel.variant, device, kernel.groups,
            {**fields, **batch.fields, "line_roots": _or_null(kernel.roots), "lines": batch.lines},
            writes=("r",), workgroup_size=kernel.group_size, constants=constants + kernel.constants,
        )  # fmt: skip


def _or_null(table: VkArray | None) -> VkArray | int:
    """A table as a field, the null address for none."""
    return 0 if table is None else table


def _columns(batch: Batch, a_step: int, r_step: int) -> int:
    """Whether lines lie closer together than their elements, in the source and in the result."""
    if not batch.dimensions:
        return 0
    next_line = batch.dimensions[-1]
    closer = abs(next_line.source) < abs(a_step), abs(next_line.result) < abs(r_step)
    return closer[0] * _COLUMNS_IN | closer[1] * _COLUMNS_OUT


def _available(load: int, points: int) -> int:
    """The elements that a transform of `points` points reads."""
    return {REAL_PAIRS: 2 * points, HALF_SPECTRUM: points + 1, HERMITIAN: points // 2 + 1}.get(load, points)


def _factors(job: Job, before: int, factor: int, dtype: DType, device: Device) -> tuple[int, VkArray | None]:
    """What elements are multiplied by, as flags, and the table for the way in."""
    flags = 0 if job.table_out is None else _TABLE_OUT
    if job.table_in is not None:
        return flags | _TABLE_IN, job.table_in
    if before == 1:
        return flags, None
    if before * factor > _LARGEST_TABLE:
        return flags | _TABLES_IN, tables.of_products(before * factor, dtype, device)
    return flags | _TABLE_IN, tables.between_passes(before, factor, dtype, device)
