"""Splitting arrays along an axis, with NumPy's names. All parts are views."""

from __future__ import annotations

import itertools
from typing import Any

from ...core import layout
from ...core.array import ArrayLike, VkArray
from ...core.operators import is_sequence
from ...errors import counted
from ...kernels.planned import planned


def along(x: VkArray, axis: int, part: slice) -> VkArray:
    """A view of a slice along an axis."""
    start, stop, step = part.indices(x._shape[axis])
    length = len(range(start, stop, step))
    shape = (*x._shape[:axis], length, *x._shape[axis + 1 :])
    strides = (*x._strides[:axis], x._strides[axis] * step, *x._strides[axis + 1 :])
    return x._view(shape, strides, start * x._strides[axis] if length else 0)


def _split(function: str, x: VkArray, sections: Any, axis: int, equal: bool) -> list[VkArray]:
    axis = layout.normalize_axis(axis, x.ndim, function)
    length = x._shape[axis]
    sections = list(sections) if is_sequence(sections) else sections
    if hasattr(sections, "__len__") and getattr(sections, "ndim", 1) != 0:
        cuts = [0, *layout.as_integers(sections, function, "indices_or_sections"), length]
        return [along(x, axis, slice(start, stop)) for start, stop in itertools.pairwise(cuts)]
    count = int(sections)
    if count <= 0:
        raise ValueError(f"{function}: expected 1 part or more, got {sections}.")
    each, more = divmod(length, count)
    if equal and more:
        raise ValueError(f"{function}: an axis of length {length} has no {count} equal parts. Use array_split.")
    starts = [place * each + min(place, more) for place in range(count + 1)]
    return [along(x, axis, slice(start, stop)) for start, stop in itertools.pairwise(starts)]


@planned
def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[VkArray]:
    """Views of the parts of an array along an axis.

    Parameters: ary; indices_or_sections (a number of parts, of which the first are one longer where it does not divide the
    length, or the places to cut at); axis. Returns a list of arrays.
    Raises ValueError for less than one part, IndexError for an axis out of range.
    """
    return _split("array_split", ary, indices_or_sections, axis, False)


@planned
def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[VkArray]:
    """Views of the parts of an array along an axis, which a number of parts has to divide: as `array_split`.

    Raises ValueError where it does not; other errors as for `array_split`.
    """
    return _split("split", ary, indices_or_sections, axis, True)


def _split_along(function: str, x: VkArray, sections: Any, axis: int, least: int) -> list[VkArray]:
    if x.ndim < least:
        raise ValueError(f"{function}: expected at least {counted(least, 'dimension')}, got shape {x._shape}.")
    return _split(function, x, sections, min(axis, x.ndim - 1), True)


@planned
def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[VkArray]:
    """`split` along the second dimension, or the only one. Raises ValueError for an array of 0 dimensions."""
    return _split_along("hsplit", ary, indices_or_sections, 1, 1)


@planned
def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[VkArray]:
    """`split` along the first dimension. Raises ValueError for fewer than 2 dimensions."""
    return _split_along("vsplit", ary, indices_or_sections, 0, 2)


@planned
def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[VkArray]:
    """`split` along the third dimension. Raises ValueError for fewer than 3 dimensions."""
    return _split_along("dsplit", ary, indices_or_sections, 2, 3)
