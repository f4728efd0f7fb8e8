"""Python numbers as operands: in the arguments of a kernel, or in the memory of a device."""

from __future__ import annotations

import math
import struct
import sys
from typing import TYPE_CHECKING, Any

from .._vk.watch import kept
from ..core import dtypes
from ..core.array import VkArray, empty, storage_itemsize
from ..core.dtypes import DType
from ..core.tokens import plain

if TYPE_CHECKING:
    from .. import _vk


def scalar_bytes(value: Any, dtype: DType, device: _vk.Device) -> bytes:
    """The stored bytes of a Python scalar as one element of `dtype`."""
    if dtype.category == "complex floating":
        value = complex(value)
        return struct.pack("<2f" if dtype.bits == 32 else "<2d", *_clamped((value.real, value.imag), dtype.bits))
    if dtype.category == "real floating":
        if dtype is dtypes.bfloat16:
            (word,) = struct.unpack("<I", struct.pack("<f", *_clamped((float(value),), 32)))
            half = word >> 16 | 0x40 if word & 0x7FFFFFFF > 0x7F800000 else (word + 0x7FFF + (word >> 16 & 1)) >> 16
            packed = struct.pack("<H", half)
        else:
            packed = struct.pack({16: "<e", 32: "<f", 64: "<d"}[dtype.bits], *_clamped((float(value),), dtype.bits))
        return packed.ljust(storage_itemsize(dtype, device), b"\0")
    signed = dtype.category == "signed integer"
    return int(value).to_bytes(storage_itemsize(dtype, device), sys.byteorder, signed=signed)


def _clamped(values: tuple[float, ...], bits: int) -> tuple[float, ...]:
    """Values beyond the type's range as infinities (struct.pack raises instead)."""
    limit = {16: 65520.0, 32: 3.4028235677973366e38, 64: math.inf}[bits]
    return tuple(math.copysign(math.inf, value) if abs(value) >= limit else value for value in values)


class Scalar:
    """A Python number as an operand of elementwise kernels: an array of 0 dimensions without memory."""

    __slots__ = ("_device", "_dtype", "value")
    _shape: tuple[int, ...] = ()
    _strides: tuple[int, ...] = ()
    _contiguous, _offset, _buffer = True, 0, None

    def __init__(self, value: Any, dtype: DType, device: _vk.Device) -> None:
        self.value, self._dtype, self._device = value, dtype, device

    @property
    def bits(self) -> int:
        """What a field of 64 bits holds of it."""
        return int.from_bytes(scalar_bytes(plain(self.value), self._dtype, self._device), sys.byteorder)

    @property
    def array(self) -> VkArray:
        """The same in memory."""
        return constant(self.value, self._dtype, self._device)


def scalar(value: Any, dtype: DType, device: _vk.Device) -> Scalar | VkArray:
    """A Python scalar as an operand of elementwise kernels: an array where its bits are more than a field has."""
    return constant(value, dtype, device) if dtype is dtypes.complex128 else Scalar(value, dtype, device)


@kept(1024)
def _constant(stored: bytes, dtype: DType, device: _vk.Device) -> VkArray:
    array = empty((), dtype, device)
    device.upload(array._buffer, 0, stored)
    return array


def constant(value: Any, dtype: DType, device: _vk.Device) -> VkArray:
    """A 0-d array with the value of a Python scalar; shared between calls, so never to be written to."""
    return _constant(scalar_bytes(value, dtype, device), dtype, device)
