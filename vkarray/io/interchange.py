"""Values in and out: NumPy, Python scalars and lists, pickling. (DLPack: `dlpack.py`.)

On a device without 8- or 16-bit storage those types take 32 bits an element; the conversion happens here, so that
nobody else sees it.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _vk
from ..core import checks, dtypes
from ..core.array import VkArray, check_supported, empty, operations, storage_itemsize
from ..core.dtypes import DType

if TYPE_CHECKING:
    import numpy

# The host type whose elements have the bits of a device element; bfloat16 has none in NumPy and travels as float32.
_WIDE = {"bool": "uint32", "int8": "int32", "uint8": "uint32", "int16": "int32", "uint16": "uint32"}

# How Python reads one stored element that is no number of C.
_SCALARS = {"bool": struct.Struct("<?"), "float16": struct.Struct("<e")}


def numpy_dtype(dtype: DType) -> numpy.dtype:
    """The NumPy dtype of the host values: the same name, and float32 for bfloat16, which NumPy lacks."""
    import numpy as np

    return np.dtype("float32" if dtype is dtypes.bfloat16 else dtype.name)


def dtype_of_numpy(array: numpy.ndarray, function: str) -> DType:
    """The vkarray dtype of a NumPy array. Raises TypeError for a dtype that vkarray lacks."""
    found = dtypes.DTYPES.get(array.dtype.name)
    if found is None:
        raise TypeError(
            f"{function}: vkarray has no dtype for NumPy's {array.dtype!r}; it has {', '.join(dtypes.DTYPES)}. "
            f"Convert the NumPy array first."
        )
    return found


def _to_storage(values: numpy.ndarray, dtype: DType, device: _vk.Device) -> numpy.ndarray:
    """Host values of `dtype` as the bits that the device stores."""
    import numpy as np

    if dtype is dtypes.bfloat16 and values.dtype.name != "bfloat16":
        words = np.ascontiguousarray(values, np.float32).view(np.uint32)
        nan = (words & 0x7FFFFFFF) > 0x7F800000
        rounded = (words + np.uint32(0x7FFF) + (words >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
        bits = np.where(nan, words >> np.uint32(16) | np.uint32(0x40), rounded).astype(np.uint16)
    elif dtype.name in ("float16", "bfloat16"):
        bits = np.ascontiguousarray(values).view(np.uint16)
    else:
        bits = values
    if storage_itemsize(dtype, device) != dtype.itemsize:
        bits = bits.astype(_WIDE.get(dtype.name, "uint32"))
    return np.ascontiguousarray(bits)


def _from_storage(bits: numpy.ndarray, dtype: DType) -> numpy.ndarray:
    """Host values from the bits that the device stores."""
    import numpy as np

    if dtype is dtypes.bfloat16:
        return np.left_shift(bits, 16, dtype=np.uint32, out=np.empty(bits.shape, np.uint32)).view(np.float32)
    if dtype is dtypes.float16:
        return bits.astype(np.uint16, copy=False).view(np.float16)
    return bits.astype(numpy_dtype(dtype), copy=False)


@functools.cache
def _storage_dtype(dtype: DType, stored: int) -> tuple[Callable[..., numpy.ndarray], numpy.dtype, bool]:
    """`numpy.empty`, the dtype of the bits that a device stores in so many bytes, and whether they are the values themselves."""
    import numpy as np

    if stored != dtype.itemsize:
        return np.empty, np.dtype(_WIDE.get(dtype.name, "uint32")), False
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return np.empty, np.dtype("uint16"), False
    return np.empty, np.dtype(dtype.name), True


def from_numpy(values: numpy.ndarray, dtype: DType, device: _vk.Device, function: str = "asarray") -> VkArray:
    """A new contiguous array with the values of a NumPy array whose dtype is that of `dtype` on the host."""
    check_supported(dtype, device, function)
    array = empty(values.shape, dtype, device)
    if values.size:
        device.upload(array._buffer, 0, memoryview(_to_storage(values, dtype, device)).cast("B"))
    return array


def of_sequence(values: list[Any]) -> numpy.ndarray:
    """What NumPy makes of a sequence."""
    import numpy as np

    return np.asarray(values)


def to_numpy(array: VkArray, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
    """A new NumPy array with the values; waits for the device. Raises what a deferred check finds (IndexError).

    `dtype` and `copy` are those of NumPy's protocol. Raises ValueError for copy=False: reading device memory is a copy.
    """
    if copy is False:
        raise ValueError(
            "__array__: a NumPy array of device memory is always a copy, so copy=False is not possible. "
            "Where the memory is visible to the host, numpy.from_dlpack(x, device='cpu', copy=False) gives a view."
        )
    if not array._contiguous:
        array = operations["contiguous"](array)
    own, device, shape = array._dtype, array._device, array._shape
    itemsize = array._look.itemsize if array._look is not None else storage_itemsize(own, device)
    nbytes = math.prod(shape) * itemsize  # none of a view that may begin beyond what is there
    fetched = device.fetch(array._buffer, array._offset * itemsize, nbytes) if nbytes else None
    new, stored, are_values = _storage_dtype(own, itemsize)
    bits = new(shape, stored)  # while the device is at it
    if fetched is not None:
        device.take_out(fetched, bits)
    elif bits.size:
        device.download(array._buffer, array._offset * itemsize, bits)
    checks.run(device)
    values = bits if are_values else _from_storage(bits, own)
    return values if dtype is None else values.astype(dtype, copy=False)


def moved(x: VkArray, target: _vk.Device) -> VkArray:
    """The values of a contiguous array on another device that has its dtype. Raises what a deferred check finds."""
    dtype = x._dtype
    itemsize = storage_itemsize(dtype, target)
    if itemsize != storage_itemsize(dtype, x._device):  # one of both keeps elements of 8 and 16 bits in 32
        return from_numpy(to_numpy(x), dtype, target, "to_device")
    made = empty(x._shape, dtype, target)
    _vk.copy_between(x._buffer, x._offset * itemsize, made._buffer, 0, x.size * itemsize)
    checks.run(x._device)
    return made


def item(array: VkArray) -> Any:
    """The only element as a Python scalar."""
    dtype, device = array._dtype, array._device
    itemsize = dtype.itemsize
    if itemsize >= 4 or storage_itemsize(dtype, device) == itemsize:
        number = device.number(array._buffer, array._offset * itemsize, dtype.name)
        if number is not None:
            checks.run(device)
            return number
    form = _SCALARS.get(dtype.name)
    if form is None or storage_itemsize(dtype, device) != form.size:
        return to_numpy(array).reshape(-1)[0].item()
    cell = bytearray(form.size)  # the usual case without NumPy, whose arrays take longer than the rest of it
    device.download(array._buffer, array._offset * form.size, cell)
    checks.run(device)
    (value,) = form.unpack(cell)
    return value


def unpickle(values: numpy.ndarray, name: str) -> VkArray:
    """The array that was pickled, on the default device."""
    return from_numpy(values, dtypes.DTYPES[name], _vk.open_device(), "unpickle")


operations.update(
    to_numpy=to_numpy, scalar=item, tolist=lambda array: to_numpy(array).tolist(), to_numpy_protocol=to_numpy,
    unpickle=unpickle,
)  # fmt: skip
