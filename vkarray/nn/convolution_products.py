"""The sums of a convolution (see `convolution`) as products of matrices with columns (see `columns`).

Columns stand in scratch memory for as many elements of the batch, or for as many windows of one, as `_SCRATCH` allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..core import layout
from ..core.array import VkArray, empty
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.product import strategies
from ..kernels.product.epilogue import NOTHING, Epilogue
from ..kernels.product.parts import partial_array
from ..kernels.product.sums import sum_partial
from ..kernels.reductions import partial_dtype
from ..ops.manipulation import reshape
from .columns import fold_into, unfold_into
from .convolution_direct import Problem
from .windows import batches, part, triple

if TYPE_CHECKING:
    from ..kernels.launch import Device

_SCRATCH = {"gpu": 256 << 20, "cpu": 32 << 20}  # bytes of columns at a time
# Windows below which the batch joins them in one product: that wastes less of its tiles, and costs copies.
_SMALL_PLANE = {"gpu": 32, "cpu": 128}
_TILES = {"gpu": 528, "cpu": 1}  # that keep products busy, of 64 x 128 elements
_SHORTEST_PART = 256  # windows that such a product sums over
_PACK = 8  # rows of columns begin at multiples of so many elements


# -- what fits --------------------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """The part of a problem with some of the windows: those from `first` on along an axis."""

    problem: Problem
    axis: int
    first: int

    def of(self, made: VkArray) -> VkArray:
        """The part of what windows make."""
        axis = 2 + self.axis
        shape = (*made._shape[:2], *self.problem.windows.output)
        return made._view(shape, made._strides, self.first * made._strides[axis])


def _room(problem: Problem, dtype: DType, device: Device) -> int:
    """How many windows have room for their columns in the scratch memory."""
    itemsize = partial_dtype(dtype).itemsize
    return _SCRATCH[device.limits.kind] // (problem.groups * problem.rows * itemsize) // _PACK * _PACK


def uses_products(problem: Problem, dtype: DType, device: Device, whole: bool = False) -> bool:
    """Whether products pay, and the columns of one element of the batch fit (cut along one axis, unless `whole`)."""
    windows = problem.windows
    if problem.direct or windows.trivial:
        return not problem.direct
    least = windows.outputs if whole else windows.outputs // max(windows.output[_axis(problem)], 1)
    return _padded(least) <= _room(problem, dtype, device)


def _axis(problem: Problem) -> int:
    """The axis along which windows are cut: the first that has several."""
    return next((axis for axis, length in enumerate(problem.windows.output) if length > 1), 2)


def _pieces(problem: Problem, dtype: DType, device: Device) -> Iterator[Piece]:
    """The problem in parts whose columns, of one element of the batch, fit into the scratch memory."""
    windows, axis, room = problem.windows, _axis(problem), _room(problem, dtype, device)
    if windows.trivial or _padded(windows.outputs) <= room:
        yield Piece(problem, axis, 0)
        return
    length = windows.output[axis]
    most = max(1, (room - _PACK + 1) // (windows.outputs // length))
    for first in range(0, length, most):
        output, padding = list(windows.output), list(windows.padding)
        output[axis] = min(most, length - first)
        padding[axis] -= first * windows.stride[axis]
        cut = windows._replace(output=triple(output, 1), padding=triple(padding, 0))
        yield Piece(problem._replace(windows=cut), axis, first)


def _padded(length: int) -> int:
    return -(-length // _PACK) * _PACK


def _chunks(problem: Problem, itemsize: int, device: Device, *arrays: VkArray) -> Iterator[list[VkArray]]:
    """The arrays, cut along the batch so that the columns of a part fit into the scratch memory."""
    image = problem.groups * problem.rows * _padded(problem.windows.outputs) * itemsize
    return batches("convolution", arrays, max(1, _SCRATCH[device.limits.kind] // image))


def _planes(array: VkArray, groups: int) -> VkArray:
    """(n, groups, channels of a group, places) of an array of 5 dimensions; a copy where no view has it."""
    n, channels, *plane = array._shape
    return reshape(array, (n, groups, channels // groups, math.prod(plane)))


def _joined(array: VkArray, groups: int) -> VkArray:
    """(groups, channels of a group, n * places) of an array of 5 dimensions: a copy, in rows of whole packs."""
    n, channels, *plane = array._shape
    places = math.prod(plane)
    row = _padded(n * places)
    memory = empty((channels, row), array._dtype, array._device)
    steps = layout.contiguous_strides((*plane,))
    target = memory._view((n, channels, *plane), (places, row, *steps))
    launch.elementwise(launch.copy_operation(array._dtype), (array,), target)
    few = channels // groups
    return memory._view((groups, few, n * places), (few * row, row, 1))


def _joined_columns(slid: VkArray, problem: Problem) -> VkArray:
    """The columns of all elements of the batch side by side: (groups, rows, n * windows)."""
    if problem.windows.trivial:
        return _joined(slid, problem.groups)
    (n, channels), windows = slid._shape[:2], problem.windows
    row = _padded(n * windows.outputs)
    memory = empty((channels * windows.taps, row), slid._dtype, slid._device)
    steps = (windows.outputs, windows.taps * row, row, 1)
    unfold_into(slid, windows, memory._view((n, channels, windows.taps, windows.outputs), steps))
    shape = (problem.groups, problem.rows, n * windows.outputs)
    return memory._view(shape, (problem.rows * row, row, 1))


def _columns(slid: VkArray, problem: Problem) -> VkArray:
    """The columns of each element of the batch: (n, groups, rows, windows)."""
    windows, groups = problem.windows, problem.groups
    if windows.trivial:
        return _planes(slid, groups)
    n, channels = slid._shape[:2]
    row = _padded(windows.outputs)
    memory = empty((n, channels, windows.taps, row), slid._dtype, slid._device)
    unfold_into(slid, windows, memory._view((n, channels, windows.taps, windows.outputs), memory._strides))
    strides = (memory._strides[0], problem.rows * row, row, 1)
    return memory._view((n, groups, problem.rows, windows.outputs), strides)


def _joins(array: VkArray, problem: Problem) -> bool:
    return array._shape[0] > 1 and problem.windows.outputs < _SMALL_PLANE[array._device.limits.kind]


def _spread(joined: VkArray, result: VkArray) -> None:
    """result (n, channels, ...) = what a product of joined columns made: (groups, channels of a group, n * places)."""
    n, channels, *plane = result._shape
    steps = layout.contiguous_strides((*plane,))
    whole = n * math.prod(plane)
    source = joined._view((n, channels, *plane), (math.prod(plane), whole, *steps))
    launch.elementwise(launch.copy_operation(result._dtype), (source,), result)


def _with_bias(bias: VkArray | None, groups: int) -> Epilogue:
    """The epilogue of products whose rows are the channels of groups."""
    if bias is None:
        return NOTHING
    few, (step,) = bias._shape[0] // groups, bias._strides
    return Epilogue(bias=bias._view((groups, few, 1), (few * step, step, 0)))


def made_by_products(
    slid: VkArray, weight: VkArray, bias: VkArray | None, problem: Problem, result: VkArray
) -> None:  # fmt: skip
    """result = what windows over `slid` make; both have 5 dimensions, `weight` and `result` are contiguous."""
    for piece in _pieces(problem, weight._dtype, weight._device):
        target = piece.of(result)
        into = target if target._contiguous else empty(target._shape, target._dtype, target._device)
        _made_piece(slid, weight, bias, piece.problem, into)
        if into is not target:
            launch.elementwise(launch.copy_operation(into._dtype), (into,), target)


def _made_piece(
    slid: VkArray, weight: VkArray, bias: VkArray | None, problem: Problem, result: VkArray
) -> None:  # fmt: skip
    groups, made, outputs = problem.groups, problem.made, problem.windows.outputs
    epilogue = _with_bias(bias, groups)
    factor = weight._view((groups, made, problem.rows), (made * problem.rows, problem.rows, 1))
    for one, target in _chunks(problem, weight.itemsize, weight._device, slid, result):
        n = one._shape[0]
        if _joins(one, problem):
            joined = empty((groups, made, n * outputs), target._dtype, target._device)
            strategies.multiply(factor, _joined_columns(one, problem), joined, epilogue)
            _spread(joined, target)
        else:
            shape = (n, groups, made, outputs)
            whole = target._view(shape, layout.contiguous_strides(shape))
            strategies.multiply(factor, _columns(one, problem), whole, epilogue)


def slid_by_products(made: VkArray, weight: VkArray, bias: VkArray | None, problem: Problem, result: VkArray) -> None:
    """result = what windows slide over."""
    windows, groups, outputs = problem.windows, problem.groups, problem.windows.outputs
    factor = weight._view((groups, problem.made, problem.rows), (problem.made * problem.rows, problem.rows, 1)).mT
    dtype = partial_dtype(weight._dtype) if windows.overlapping else weight._dtype
    epilogue = _with_bias(bias, groups) if windows.trivial else NOTHING
    for one, target in _chunks(problem, dtype.itemsize, weight._device, made, result):
        n, channels = one._shape[0], target._shape[1]
        if _joins(one, problem):
            columns = empty((groups, problem.rows, n * outputs), dtype, weight._device)
            strategies.multiply(factor, _joined(one, groups), columns, epilogue)
            row = n * outputs
            steps = (outputs, windows.taps * row, row, 1)
        else:
            shape = (n, groups, problem.rows, outputs)
            if windows.trivial:
                columns = target._view(shape, layout.contiguous_strides(shape))
            else:
                columns = empty(shape, dtype, weight._device)
            strategies.multiply(factor, _planes(one, groups), columns, epilogue)
            steps = (channels * windows.taps * outputs, windows.taps * outputs, outputs, 1)
        if not windows.trivial:
            fold_into(columns._view((n, channels, windows.taps, outputs), steps), windows, bias, target)
        elif columns._buffer is not target._buffer:
            _spread(columns, target)


def weight_by_products(slid: VkArray, made: VkArray, problem: Problem, result: VkArray) -> None:
    """result = the gradient of the weight, between what windows slide over and the gradient of what they make."""
    shape = (problem.groups, problem.made, problem.rows)
    whole = result._view(shape, layout.contiguous_strides(shape))
    jobs = [
        (piece.problem, arrays)
        for piece in _pieces(problem, slid._dtype, slid._device)
        for arrays in _chunks(piece.problem, slid.itemsize, slid._device, slid, piece.of(made))
    ]
    cuts = [_cuts(own, one._shape[0], slid._device) for own, (one, _) in jobs]
    total = sum(map(math.prod, cuts))
    partial = whole._view((1, *shape), (0, *whole._strides)) if total == 1 else partial_array(whole, total)
    first = 0
    for (own, (one, other)), (images, parts) in zip(jobs, cuts, strict=True):
        if images == one._shape[0]:
            a, b = _planes(other, own.groups), _columns(one, own)
        else:
            a, b = (_cut(array, images) for array in (_joined(other, own.groups), _joined_columns(one, own)))
        target = part(partial, first, images * parts)
        step = partial._strides[0]
        target = target._view((images, parts, *shape), (parts * step, step, *partial._strides[1:]))
        strategies.multiply(_cut_again(a, parts), _cut_again(b, parts).mT, target)
        first += images * parts
    if total > 1:
        sum_partial(partial, whole)


def _cuts(problem: Problem, n: int, device: Device) -> tuple[int, int]:
    """Into how many products the sum over a batch is cut, to keep the device busy: a divisor of n, and one of the windows
    where they are many."""
    tiles = problem.groups * -(-problem.made // 64) * -(-problem.rows // 128)
    wanted = -(-_TILES[device.limits.kind] // tiles)
    images = next(count for count in range(min(wanted, n), n + 1) if n % count == 0)
    windows = n // images * problem.windows.outputs
    most = min(-(-wanted // images), windows // _SHORTEST_PART)
    return images, next(parts for parts in range(max(most, 1), 0, -1) if windows % (parts * _PACK) == 0 or parts == 1)


def _cut(joined: VkArray, count: int) -> VkArray:
    """(count, groups, rows, length / count) of (groups, rows, length)."""
    *kept, length = joined._shape
    return joined._view((count, *kept, length // count), (length // count, *joined._strides))


def _cut_again(array: VkArray, parts: int) -> VkArray:
    """(n, parts, groups, rows, length / parts) of (n, groups, rows, length)."""
    n, *kept, length = array._shape
    first, *steps = array._strides
    return array._view((n, parts, *kept, length // parts), (first, length // parts * steps[-1], *steps))
