"""What a call may decide by, as a key for plans: of arrays the look, of other arguments the value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _vk, device_caches
from ..core import layout
from ..core.array import VkArray, storage_itemsize
from ..core.dtypes import DType

if TYPE_CHECKING:
    from .._vk import Device

LOOKS = 1 << 16  # that are kept, before all are made anew
LONGEST = 4096  # of the lists and tuples that plans are kept for
ALIGNMENT = 256  # bytes: no kernel asks for more


class Look:
    """What an array is but for its memory. Arrays that look the same share one, so it is compared by identity."""

    __slots__ = ("alignment", "contiguous", "device", "dtype", "itemsize", "shape", "strides")

    def __init__(
        self, dtype: DType, shape: layout.Shape, strides: layout.Strides, device: Device, alignment: int, itemsize: int
    ) -> None:  # fmt: skip
        self.dtype, self.shape, self.strides, self.device = dtype, shape, strides, device
        self.alignment, self.itemsize = alignment, itemsize  # of the address: bytes beyond a multiple of ALIGNMENT
        self.contiguous = layout.is_contiguous(shape, strides)


_looks: dict[tuple[Any, ...], Look] = {}
device_caches.emptied(_looks.clear)


def look_of(x: VkArray) -> Look:
    """The look of an array."""
    look = x._look
    if look is None:
        dtype, device = x._dtype, x._device
        itemsize = storage_itemsize(dtype, device)
        key = (dtype, x._shape, x._strides, device, (x._buffer.address + x._offset * itemsize) % ALIGNMENT, itemsize)
        look = _looks.get(key)
        if look is None:
            if len(_looks) >= LOOKS:
                _looks.clear()
            look = _looks.setdefault(key, Look(*key))
        x._look = look
    return look


SHAPES = {(int,) * rank for rank in range(1, 9)}  # types of the elements of tuples that are hashed as they are
VALUES: set[type] = {bool, str, type(None), DType, type(Ellipsis), bytes, type}  # of which the key holds the value


def note(
    values: Iterable[Any], key: list[Any], arrays: list[VkArray], scalars: list[Any], integers: bool
) -> bool:  # fmt: skip
    """Add what arguments decide to the key, and the arrays and scalars among them to the lists.

    Of floats and complex numbers, and of `integers`, the type alone goes into the key. Returns False for what no plan is made of.
    """
    for value in values:
        kind = type(value)
        if kind is VkArray:
            key.append(value._look or look_of(value))
            arrays.append(value)
        elif kind is slice:
            start, stop, step = value.start, value.stop, value.step
            if (
                (start is None or type(start) is int)
                and (stop is None or type(stop) is int)
                and (step is None or type(step) is int)
            ):
                key += (slice, start, stop, step)
            elif not note((slice, start, stop, step), key, arrays, scalars, False):
                return False
        elif kind is float or kind is complex:
            key.append(kind)
            scalars.append(value)
        elif kind is int:
            if integers:
                key.append(int)
                scalars.append(value)
            else:
                key.append(value)
        elif kind in VALUES:
            key += (kind, value)
        elif kind is tuple and tuple(map(type, value)) in SHAPES:
            key.append(value)
        elif kind is tuple or kind is list:
            key += (kind, len(value))
            if len(value) > LONGEST or not note(value, key, arrays, scalars, False):
                return False
        elif isinstance(value, _vk.Device):
            key.append(value)
        else:
            return False
    return True


def add_sharing(key: list[Any], arrays: Sequence[VkArray]) -> None:
    """Add to the key which arrays share memory, where some do."""
    buffers = [array._buffer for array in arrays]
    if len(set(map(id, buffers))) < len(buffers):
        key.append(sharing(buffers, [array._address for array in arrays]))


def sharing(buffers: Sequence[Any], addresses: Sequence[int]) -> tuple[tuple[int, int, int], ...] | None:
    """Which arrays share memory with one before them, and how many bytes later they begin: None where none do."""
    if len(buffers) == 2 and buffers[0] is not buffers[1]:
        return None
    first: dict[int, int] = {}
    found = []
    for place, buffer in enumerate(buffers):
        before = first.setdefault(id(buffer), place)
        if before != place:
            found.append((place, before, addresses[place] - addresses[before]))
    return tuple(found) or None
