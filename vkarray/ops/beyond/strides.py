"""Views whose elements overlap: `as_strided` and `sliding_window_view` of NumPy's `lib.stride_tricks`."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import layout
from ...core.array import ArrayLike, VkArray, storage_itemsize
from ...kernels.array_like import takes_lists
from ...kernels.planned import planned
from .. import creation


@takes_lists  # no plan: whether a view lies within memory depends on where the array lies in it
def as_strided(
    x: ArrayLike, shape: Sequence[int] | None = None, strides: Sequence[int] | None = None, subok: bool = False,
    writeable: bool = True,
) -> VkArray:  # fmt: skip
    """A view of the memory of an array with another shape and other strides.

    Parameters: x; shape; strides (in BYTES, as NumPy counts them); both are those of x by default; subok and writeable
    change nothing.
    Raises ValueError for strides that are no multiples of an element, for as many strides as the shape has no lengths, and
    for a view that would reach outside of the memory that x is in.
    """
    lengths = x._shape if shape is None else creation.as_shape(shape, "as_strided")
    size = x._dtype.itemsize
    if strides is None:
        steps = x._strides
    else:
        given = layout.as_integers(strides, "as_strided", "strides")
        if any(step % size for step in given):
            raise ValueError(f"as_strided: expected strides in bytes, multiples of {size} for {x._dtype}, got {given}.")
        steps = tuple(step // size for step in given)
    if len(steps) != len(lengths):
        raise ValueError(f"as_strided: expected as many strides as lengths, got {lengths} and {len(steps)} strides.")
    low, high = layout.offset_range(lengths, steps)
    room = x._buffer.nbytes // storage_itemsize(x._dtype, x._device)
    if low <= high and not (x._offset + low >= 0 and x._offset + high < room):
        raise ValueError(
            f"as_strided: shape {lengths} with strides of {steps} elements reaches from element {x._offset + low} to "
            f"{x._offset + high} of memory that has {room}. Take a smaller shape."
        )
    return x._view(lengths, steps)


@planned
def sliding_window_view(
    x: ArrayLike, window_shape: int | Sequence[int], axis: int | Sequence[int] | None = None, *, subok: bool = False,
    writeable: bool = False,
) -> VkArray:  # fmt: skip
    """A view of all windows of a shape in an array; the dimensions of the windows come last.

    Parameters: x; window_shape (a length for each axis); axis (all axes in their order by default; one may be named several
    times); subok and writeable change nothing. Raises ValueError for another number of lengths, negative ones, and windows
    larger than x, IndexError for an axis out of range.
    """
    lengths = creation.as_shape(window_shape, "sliding_window_view", "window_shape")
    named = tuple(range(x.ndim)) if axis is None else layout.as_integers(axis, "sliding_window_view", "axis")
    axes = [layout.normalize_axis(one, x.ndim, "sliding_window_view") for one in named]
    if len(lengths) != len(axes):
        raise ValueError(f"sliding_window_view: expected a length for each of {len(axes)} axes, got {lengths}.")
    places = list(x._shape)
    for one, length in zip(axes, lengths, strict=True):
        if places[one] < length:
            raise ValueError(f"sliding_window_view: windows of {lengths} are larger than an array of shape {x._shape}.")
        places[one] -= length - 1
    return x._view((*places, *lengths), (*x._strides, *(x._strides[one] for one in axes)))
