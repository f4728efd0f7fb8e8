"""Writing elements through index arrays: the host side of `index/scatter.comp`, and which of several values an element takes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..core import dtypes, layout
from ..core.array import VkArray, empty
from ..core.layout import Shape, Strides
from . import launch
from .gather import IndexArray, IndexRule, gather, move
from .host_values import are_right

# So many choices of indices, and so many comparisons in all, are compared with each other by the kernel that writes.
_COMPARED, _COMPARISONS = 64, 1 << 20

_LAST = IndexRule("last of several values", wraps=False)


def scatter(
    rule: IndexRule, target: VkArray, shape: Shape, strides: Strides, indices: Sequence[IndexArray], values: VkArray, *,
    last: bool = False,
) -> None:  # fmt: skip
    """Write `values`, broadcast to `shape`, to the elements of `target` that `gather` would read.

    An element that the indices name several times takes any of its values; with `last` the last one in C order.
    """

    def apart(array: VkArray) -> VkArray:
        return launch.copy(array) if array._buffer is target._buffer else array

    indices = [index._replace(array=apart(index.array)) for index in indices]
    values = apart(values)
    if last:
        _write_last(rule, target, shape, strides, indices, values)
    else:
        move("scatter", rule, target, shape, strides, values, indices)


def _write_last(
    rule: IndexRule, target: VkArray, shape: Shape, strides: Strides, indices: Sequence[IndexArray], values: VkArray
) -> None:
    """`scatter` in an order: elements differ in the indices alone where they are one element of the target."""
    meeting = [axis for axis, (length, step) in enumerate(zip(shape, strides, strict=True)) if length > 1 and not step]
    value_strides = layout.broadcast_strides(values._shape, values._strides, shape)
    if not any(value_strides[axis] for axis in meeting) or not math.prod(shape):
        move("scatter", rule, target, shape, strides, values, indices)
        return
    order = (*meeting, *(axis for axis in range(len(shape)) if axis not in meeting))

    def arranged(array: VkArray) -> VkArray:
        whole = layout.broadcast_strides(array._shape, array._strides, shape)
        return array._view(shape, whole)._permuted(order)

    indices = [index._replace(array=arranged(index.array)) for index in indices]
    values = arranged(values)
    shape, strides = values._shape, tuple(strides[axis] for axis in order)
    count = math.prod(shape[: len(meeting)])
    if count <= _COMPARED and count * values.size <= _COMPARISONS:
        move("scatter", rule, target, shape, strides, values, indices, last=True)
    else:
        chosen = _last_values(rule, shape, strides, len(meeting), indices, values)
        move("scatter", rule, target, shape, strides, chosen, indices)


def _last_values(
    rule: IndexRule, shape: Shape, strides: Strides, meeting: int, indices: Sequence[IndexArray], values: VkArray
) -> VkArray:
    """The values, of which those that go to one element are all the last of them. The first `meeting` axes are of indices alone."""
    device = values._device
    count = math.prod(shape[:meeting])
    # The axes that index arrays vary along, and an array with a place for each element that they can name there.
    varying = [axis for axis in range(len(shape)) if axis < meeting or any(one.array._strides[axis] for one in indices)]
    own = tuple(shape[axis] for axis in varying)
    if math.prod(own) > layout.OFFSET_LIMIT:
        raise ValueError(
            f"{rule.function}: {math.prod(own)} elements that indices may name several times are more than 32-bit offsets reach. "
            f"Assign parts."
        )
    sizes = (*own[meeting:], *(index.length for index in indices))
    steps = layout.contiguous_strides(sizes)
    places = empty(sizes, dtypes.int32, device)
    walk = (*(0,) * meeting, *steps[: len(own) - meeting])
    named = [
        index._replace(array=index.array._view(own, tuple(index.array._strides[axis] for axis in varying)), step=step)
        for index, step in zip(indices, steps[len(own) - meeting :], strict=True)
    ]
    nothing = launch.constant(0, dtypes.int32, device)
    move("scatter", rule, places, own, walk, nothing, named)
    move("latest", rule, places, own, walk, nothing, named, last=True)
    found = are_right(gather(rule, places, own, walk, named))
    positions = dict(zip(varying, found._strides, strict=True))
    winners = found._view(shape, tuple(positions.get(axis, 0) for axis in range(len(shape))))
    rows = (count, *shape[meeting:])
    row_strides = layout.reshaped_strides(shape, values._strides, rows)
    if row_strides is None:
        values = launch.contiguous(values)
        row_strides = layout.contiguous_strides(rows)
    values = values._view(rows, row_strides)
    return gather(
        _LAST, values, shape, (*(0,) * meeting, *row_strides[1:]), [IndexArray(winners, 0, count, row_strides[0])]
    )
