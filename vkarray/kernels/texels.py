"""Arrays that kernels read as texels of 16 bytes: CPU drivers load these at once, and through an address lane by lane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _vk
from ..core import layout
from ..core.array import VkArray, storage_itemsize

# Arrays that are shorter are not read so, which takes a descriptor set.
_FEW_BYTES = 1 << 16


def are_few(nbytes: int) -> bool:
    """Whether a kernel reads too few bytes for a descriptor set to pay."""
    return nbytes < _FEW_BYTES


class Binding(NamedTuple):
    """A part of a buffer that a kernel reads by a descriptor, with the number of its place there."""

    number: int
    buffer: _vk.Buffer
    offset: int  # in bytes
    nbytes: int

    @property
    def texels(self) -> int:
        """How many there are, the last of them whole."""
        return -(-self.nbytes // _vk.TEXEL_BYTES)


def binding(
    array: VkArray, number: int, first: int, count: int, least: int | None = None, *, before: bool = False
) -> Binding | None:
    """The binding by which a kernel reads `count` elements of an array, in memory `first` after its first one; `before`: from the
    texel on in which the first of them lies.

    None where they are too few for that to pay (`least` bytes, if given), too many, or do not begin where a texel does.
    """
    itemsize, limits = storage_itemsize(array._dtype, array._device), array._device.limits
    offset, nbytes = (array._offset + first) * itemsize, count * itemsize
    if before:
        nbytes += offset % _vk.TEXEL_BYTES
        offset -= offset % _vk.TEXEL_BYTES
    alignment = max(_vk.TEXEL_BYTES, limits.min_texel_buffer_offset_alignment)
    least = _FEW_BYTES if least is None else least
    if not least <= nbytes <= _vk.TEXEL_BYTES * limits.max_texel_buffer_elements or offset % alignment:
        return None
    return Binding(number, array._buffer, offset, nbytes)


def binding_of_views(views: Sequence[tuple[VkArray, int, int]], number: int, reads: int) -> Binding | None:
    """The binding by which a kernel reads elements of one size of views of one buffer: of each, an array, the first element and
    the one after the last that it reads, counted from the array's own first one. None where there are too many for one binding,
    or too few for that to pay: it reads so many bytes of each view, some more than once."""
    itemsize, limits = storage_itemsize(views[0][0]._dtype, views[0][0]._device), views[0][0]._device.limits
    first = min((array._offset + first) * itemsize for array, first, _ in views)
    end = max((array._offset + end) * itemsize for array, _, end in views)
    first -= first % max(_vk.TEXEL_BYTES, limits.min_texel_buffer_offset_alignment)
    if max(reads, end - first) < _FEW_BYTES or end - first > _vk.TEXEL_BYTES * limits.max_texel_buffer_elements:
        return None
    return Binding(number, views[0][0]._buffer, first, end - first)


def binding_of_elements(array: VkArray, number: int, reads: int) -> Binding | None:
    """The binding by which a kernel reads elements of an array, so many bytes, some more than once: see `binding_of_views`."""
    low, high = layout.offset_range(array._shape, array._strides)
    return binding_of_views([(array, low, high + 1)], number, reads)


def bindings(inputs: Sequence[Any], numbers: Sequence[int], broadcast: int, count: int) -> list[Binding] | None:
    """The bindings of the inputs with these numbers, which have `count` elements, in the places of the same numbers.

    The bits of `broadcast` are of inputs that are one element for all: a kernel reads that otherwise, and finds another
    input in its place. None where an input cannot be read so.
    """
    read = [number for number in numbers if not broadcast >> number & 1]
    made = []
    for number in numbers if read else ():
        bound = binding(inputs[number if number in read else read[0]], number, 0, count)
        if bound is None:
            return None
        made.append(bound)
    return made or None
