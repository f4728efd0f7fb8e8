"""Manipulation functions of the standard. What can be a view is one; the rest copies with the elementwise kernel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ..core import layout, promotion
from ..core.array import ArrayLike, VkArray, check_supported, default_dtype, empty, operations
from ..core.dtypes import DType, as_dtype
from ..core.operators import is_sequence
from ..kernels import launch
from ..kernels.array_like import as_like
from ..kernels.conversion import cast
from ..kernels.host_values import are_right
from ..kernels.launch import copy_operation
from ..kernels.overriding import or_own_array
from ..kernels.planned import planned
from ..kernels.rows import check_array, common_dtype
from . import creation


def _arrays(arrays: Sequence[ArrayLike], function: str, dtype: Any = None, casting: str = "same_kind") -> list[VkArray]:
    """Arrays of one device in `dtype`, or their promoted one. Raises ValueError for none."""
    if not hasattr(arrays, "__iter__"):
        raise TypeError(f"{function}: expected a sequence of arrays, got {arrays!r:.60}.")
    listed = [check_array(function, array) for array in arrays]
    if not listed:
        raise ValueError(f"{function}: expected at least one array, got none.")
    dtype = common_dtype(function, listed) if dtype is None else as_dtype(dtype, function)
    for array in listed:
        operations["check_casting"](array, dtype, casting, function)
    check_supported(dtype, listed[0]._device, function, listed)
    return [cast(array, dtype) for array in listed]


def _copy_into(target: VkArray, source: VkArray) -> None:
    launch.elementwise(copy_operation(target._dtype), (source,), target)


@planned
def broadcast_to(x: ArrayLike, /, shape: int | Sequence[int], subok: bool = False) -> VkArray:
    """A view of x with `shape`; subok changes nothing.

    Raises ValueError when x does not broadcast to it. Standard: `broadcast_to`.
    """
    check_array("broadcast_to", x)
    target = creation.as_shape(shape, "broadcast_to")
    if len(target) < x.ndim or layout.broadcast_shapes([x._shape, target], "broadcast_to") != target:
        raise ValueError(f"broadcast_to: an array of shape {x._shape} does not broadcast to {target}.")
    return x._view(target, layout.broadcast_strides(x._shape, x._strides, target))


@planned
def broadcast_arrays(*arrays: ArrayLike, subok: bool = False) -> tuple[VkArray, ...]:
    """Views of the arrays with their common shape. Raises ValueError when there is none. Standard: `broadcast_arrays`."""
    if not arrays:
        return ()
    device = next((one._device for one in arrays if type(one) is VkArray), None)
    listed = [check_array("broadcast_arrays", as_like(one, device, True)) for one in arrays]
    shape = layout.broadcast_shapes([array._shape for array in listed], "broadcast_arrays")
    return tuple(broadcast_to(array, shape) for array in listed)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all `shapes` broadcast to. Raises ValueError when there is none. Standard: `broadcast_shapes`."""
    checked = [creation.as_shape(shape, "broadcast_shapes") for shape in shapes]
    return layout.broadcast_shapes(checked, "broadcast_shapes") if checked else ()


@planned
def concat(
    arrays: Sequence[ArrayLike], /, axis: int | None = 0, out: VkArray | None = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> VkArray:  # fmt: skip
    """The arrays joined along an existing axis (flattened first for axis None), in their promoted dtype or in `dtype`.

    Parameters: arrays; axis; out (an array that takes the result); dtype; casting (what conversions to dtype are allowed).
    Raises ValueError for no arrays or lengths that differ outside the axis, IndexError for an axis out of range, TypeError for
    out beside dtype.
    Standard: manipulation functions, `concat`.
    """
    if out is not None and dtype is not None:
        raise TypeError("concat: expected out or dtype, got both: the result has the dtype of out.")
    if out is not None and type(out) is not VkArray:
        raise TypeError(f"concat: expected a vkarray array as out, got {out!r:.60}. Name a type as dtype=.")
    parts = _arrays(arrays, "concat", dtype if out is None else out._dtype, casting)
    if axis is None:
        parts, axis = [reshape(part, (-1,)) for part in parts], 0
    first = parts[0]
    if first.ndim == 0:
        raise ValueError("concat: arrays of 0 dimensions have no axis to join along. Use vkarray.stack, or axis=None.")
    axis = layout.normalize_axis(axis, first.ndim, "concat")
    for part in parts:
        if part.ndim != first.ndim or any(
            here != there for d, (here, there) in enumerate(zip(part._shape, first._shape, strict=True)) if d != axis
        ):
            raise ValueError(
                f"concat: expected equal shapes except along axis {axis}, got {', '.join(str(p.shape) for p in parts)}. "
                f"Reshape them, or join them along another axis."
            )
    shape = list(first._shape)
    shape[axis] = sum(part._shape[axis] for part in parts)
    result = empty(tuple(shape), first._dtype, first._device)
    start = 0
    for part in parts:
        _copy_into(result._view(part._shape, result._strides, start * result._strides[axis]), part)
        start += part._shape[axis]
    return result if out is None else operations["write"]("concat", out, result)


@planned
def stack(
    arrays: Sequence[ArrayLike], axis: int = 0, out: VkArray | None = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> VkArray:  # fmt: skip
    """The arrays, all of one shape, joined along a new axis; out, dtype and casting as for `concat`.

    Raises ValueError for other shapes. Standard: `stack`.
    """
    parts = _arrays(arrays, "stack", dtype, casting)
    if any(part._shape != parts[0]._shape for part in parts):
        raise ValueError(
            f"stack: expected equal shapes, got {', '.join(str(part.shape) for part in parts)}. Reshape them, pad the shorter "
            f"ones with vkarray.pad, or join them along an axis that they have with vkarray.concat."
        )
    axis = layout.normalize_axis(axis, parts[0].ndim + 1, "stack")
    return concat([expand_dims(part, axis) for part in parts], axis, out, dtype=dtype, casting=casting)


@planned
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[VkArray, ...]:
    """Views of the slices along an axis. Raises IndexError for an axis out of range. Standard: `unstack`."""
    check_array("unstack", x)
    axis = layout.normalize_axis(axis, x.ndim, "unstack")
    shape, strides = (value[:axis] + value[axis + 1 :] for value in (x._shape, x._strides))
    return tuple(x._view(shape, strides, index * x._strides[axis]) for index in range(x._shape[axis]))


@planned
def expand_dims(x: ArrayLike, /, axis: int | Sequence[int] = 0) -> VkArray:
    """A view with new dimensions of length 1 at the places `axis` of the result.

    Raises IndexError for a place outside the result, ValueError for one given twice. Standard: `expand_dims`.
    """
    check_array("expand_dims", x)
    listed = layout.as_integers(axis, "expand_dims", "axis")
    rank = range(x.ndim + len(listed))
    axes = layout.normalize_axes(listed, len(rank), "expand_dims")
    lengths, strides = iter(x._shape), iter(x._strides)
    return x._view(
        tuple(1 if d in axes else next(lengths) for d in rank), tuple(0 if d in axes else next(strides) for d in rank)
    )


@planned
def squeeze(x: ArrayLike, /, axis: int | Sequence[int] | None = None) -> VkArray:
    """A view without the dimensions `axis`, all of length 1 by default.

    Raises ValueError where a length is not 1. Standard: `squeeze`.
    """
    check_array("squeeze", x)
    if axis is None:
        axis = tuple(one for one, length in enumerate(x._shape) if length == 1)
    axes = layout.normalize_axes(axis, x.ndim, "squeeze")
    for one in axes:
        if x._shape[one] != 1:
            raise ValueError(f"squeeze: dimension {one} has length {x._shape[one]}; only those of length 1 go away.")
    kept = [d for d in range(x.ndim) if d not in axes]
    return x._view(tuple(x._shape[d] for d in kept), tuple(x._strides[d] for d in kept))


@planned
def permute_dims(x: ArrayLike, /, axes: Sequence[int] | None = None) -> VkArray:
    """A view with the dimensions in the order `axes`, reversed by default.

    Raises ValueError unless it names each once. Standard.
    """
    check_array("permute_dims", x)
    if axes is None:
        axes = tuple(reversed(range(x.ndim)))
    listed = layout.as_integers(axes, "permute_dims", "axes")
    order = layout.normalize_axes(listed, x.ndim, "permute_dims")
    if len(order) != x.ndim:
        raise ValueError(f"permute_dims: expected {x.ndim} axes for shape {x._shape}, got {listed}.")
    return x._permuted(order)


@planned
def moveaxis(x: ArrayLike, /, source: int | Sequence[int], destination: int | Sequence[int]) -> VkArray:
    """A view with the dimensions `source` moved to the places `destination`, the others in their order.

    Raises ValueError for an axis given twice and where there are not as many of both, IndexError for an axis out of range.
    Standard: `moveaxis`.
    """
    check_array("moveaxis", x)
    sources, targets = (layout.normalize_axes(axes, x.ndim, "moveaxis") for axes in (source, destination))
    if len(sources) != len(targets):
        raise ValueError(f"moveaxis: expected as many destinations as sources, got {source} and {destination}.")
    order = [d for d in range(x.ndim) if d not in sources]
    for place, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(place, axis)
    return permute_dims(x, tuple(order))


@planned
def flip(x: ArrayLike, /, axis: int | Sequence[int] | None = None) -> VkArray:
    """A view with the elements along `axis` (all axes by default) in reverse order.

    Raises IndexError for an axis out of range, ValueError for one given twice. Standard: `flip`.
    """
    check_array("flip", x)
    axes = layout.normalize_axes(axis, x.ndim, "flip")
    offset = sum(x._strides[d] * (x._shape[d] - 1) for d in axes if x._shape[d])
    return x._view(x._shape, tuple(-s if d in axes else s for d, s in enumerate(x._strides)), offset)


@planned
def reshape(x: ArrayLike, /, shape: int | Sequence[int], order: str = "C", *, copy: bool | None = None) -> VkArray:
    """The elements with another shape, one length of which may be -1: a view where the strides allow it.

    Parameters: x; shape; order (in which elements are read and placed: "C", the last index fastest, "F", the first fastest, or
    "A", which is "C" here); copy (True always, False never, None when needed).
    Raises ValueError for another number of elements, another order, and for copy=False where a copy is needed.
    Standard: `reshape`.
    """
    check_array("reshape", x)
    if layout.as_order("reshape", order, "CFA") == "F":
        return reshape(x._permuted(range(x.ndim)[::-1]), _completed(shape, x)[::-1], copy=copy).transpose()
    target = _completed(shape, x)
    strides = layout.reshaped_strides(x._shape, x._strides, target)
    if copy is False and strides is None:
        raise ValueError(f"reshape: copy=False, but shape {x._shape} with strides {x._strides} has no view {target}.")
    if copy or strides is None:
        duplicate = launch.copy(x)
        return duplicate._view(target, layout.contiguous_strides(target))
    return x._view(target, strides)


def _completed(shape: int | Sequence[int], x: VkArray) -> tuple[int, ...]:
    """`shape` with its -1 worked out. Raises ValueError unless the number of elements agrees."""
    lengths = list(layout.as_lengths(shape, "reshape"))
    unknown = [place for place, length in enumerate(lengths) if length == -1]
    if len(unknown) == 1:
        known = math.prod(length for length in lengths if length != -1)
        if known == 0:
            raise ValueError(f"reshape: any length in place of -1 gives shape {shape} no elements. Name the length.")
        lengths[unknown[0]] = x.size // known
    if len(unknown) > 1:
        raise ValueError(f"reshape: only one length may be -1, got {shape}.")
    target = creation.as_shape(tuple(lengths), "reshape")
    if math.prod(target) != x.size:
        raise ValueError(
            f"reshape: {x.size} elements of shape {x._shape} do not fill shape {shape}. "
            f"Choose lengths that multiply to {x.size}, or -1 for one of them."
        )
    return target


@planned
def roll(
    x: ArrayLike, /, shift: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> VkArray:  # fmt: skip
    """The elements moved along `axis` by `shift` places, those that leave one end entering at the other.

    Parameters: x; shift and axis (integers, or sequences of one length; an axis that is named several times moves by the sum of
    its shifts); axis=None rolls the flattened array.
    Raises ValueError for different numbers of shifts and axes. Standard: manipulation functions, `roll`.
    """
    check_array("roll", x)
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x._shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    axes = (*axes,) * len(shifts) if len(axes) == 1 else axes
    shifts = (*shifts,) * len(axes) if len(shifts) == 1 else shifts
    shifts = tuple(layout.as_integer(places, "roll", "shift") for places in shifts)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: expected as many shifts as axes, got {shift!r} and {axis!r}.")
    totals = dict.fromkeys(range(x.ndim), 0)
    for one, places in zip(axes, shifts, strict=True):
        totals[layout.normalize_axis(one, x.ndim, "roll")] += places
    result = empty(x._shape, x._dtype, x._device)
    if x.size == 0:
        return result
    # Along each axis two blocks trade places; the copies are the products of these blocks.
    moves = []
    for d, length in enumerate(x._shape):
        cut = totals[d] % length
        moves.append([(0, cut, length - cut), (length - cut, 0, cut)] if cut else [(0, 0, length)])
    for blocks in itertools.product(*moves):
        shape = tuple(length for _, _, length in blocks)
        source = sum(start * stride for (start, _, _), stride in zip(blocks, x._strides, strict=True))
        target = sum(start * stride for (_, start, _), stride in zip(blocks, result._strides, strict=True))
        _copy_into(result._view(shape, result._strides, target), x._view(shape, x._strides, source))
    return result


@planned
def tile(x: ArrayLike, /, reps: int | Sequence[int]) -> VkArray:
    """x repeated `reps` times along each dimension (a number: along the last).

    Raises ValueError for a negative count. Standard: manipulation functions, `tile`.
    """
    check_array("tile", x)
    counts = creation.as_shape(reps, "tile", "reps")
    rank = max(len(counts), x.ndim)
    counts = (1,) * (rank - len(counts)) + counts
    shape = (1,) * (rank - x.ndim) + x._shape
    strides = (0,) * (rank - x.ndim) + x._strides
    # Each dimension becomes (count, length) with stride 0 along the first; the copy in C order is the result.
    pairs = tuple(itertools.chain.from_iterable(zip(counts, shape, strict=True)))
    steps = tuple(itertools.chain.from_iterable((0, stride) for stride in strides))
    copied = launch.copy(x._view(pairs, steps))
    target = tuple(count * length for count, length in zip(counts, shape, strict=True))
    return copied._view(target, layout.contiguous_strides(target))


@planned
def repeat(x: ArrayLike, /, repeats: int | Sequence[int] | VkArray, axis: int | None = None) -> VkArray:
    """Each element repeated along `axis` (None: of the flattened array).

    Parameters: x; repeats (an integer, or integers with one count per element: an array of them is read by the host for
    the size of the result); axis. Raises ValueError for negative counts or another number of counts than elements.
    Standard: manipulation functions, `repeat`.
    """
    check_array("repeat", x)
    repeats = or_own_array(repeats)
    counts = list(repeats) if isinstance(repeats, (list, tuple)) and all(type(one) is int for one in repeats) else None
    if is_sequence(repeats):
        repeats = creation.asarray(repeats, dtype=default_dtype("int", x._device), device=x._device)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = layout.normalize_axis(axis, x.ndim, "repeat")
    length = x._shape[axis]
    if type(repeats) is VkArray:
        promotion.check_category("repeat", repeats._dtype, "integer or boolean")
        if repeats.ndim > 1 or repeats.size not in (1, length):
            raise ValueError(f"repeat: expected 1 or {length} integer counts, got shape {repeats.shape}.")
        if length == 0:
            return launch.copy(x)
        if repeats.size != 1:
            return _repeat_each(x, repeats, counts, axis)
        repeats = int(repeats.item()) if counts is None else counts[0]
    if not hasattr(repeats, "__index__"):
        raise TypeError(f"repeat: expected an integer or an integer array of counts, got {repeats!r}.")
    repeats = layout.as_integer(repeats, "repeat", "repeats")
    if repeats < 0:
        raise ValueError(f"repeat: expected counts of 0 or more, got {repeats}.")
    shape = (*x._shape[: axis + 1], repeats, *x._shape[axis + 1 :])
    copied = launch.copy(x._view(shape, (*x._strides[: axis + 1], 0, *x._strides[axis + 1 :])))
    target = (*x._shape[:axis], length * repeats, *x._shape[axis + 1 :])
    return copied._view(target, layout.contiguous_strides(target))


def _repeat_each(x: VkArray, repeats: VkArray, counts: list[int] | None, axis: int) -> VkArray:
    """Place i of the result holds the element whose running total of counts first exceeds i. `counts` are those the host knows."""
    from .indexing import take
    from .searching import searchsorted
    from .statistical import cumulative_sum, min

    least = min(repeats).item() if counts is None else sorted(counts)[0]
    if least < 0:
        raise ValueError("repeat: expected counts of 0 or more, got a negative one.")
    index: DType = default_dtype("int", x._device)
    ends = cumulative_sum(cast(repeats, index))
    total = int(ends[-1].item()) if counts is None else sum(counts)
    places = creation.arange(total, dtype=index, device=x._device)
    return take(x, are_right(searchsorted(ends, places, side="right")), axis=axis)


operations.update(
    broadcast_to=broadcast_to, concat=concat, permute_dims=permute_dims, reshape=reshape, repeat=repeat, squeeze=squeeze,
    stack=stack,
)  # fmt: skip
