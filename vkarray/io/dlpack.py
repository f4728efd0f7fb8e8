"""DLPack (https://dmlc.github.io/dlpack), both ways.

All capsules are NumPy's own. That of device memory (kDLVulkan) carries the array's device address; `from_dlpack` of a
vkarray array shares the buffer itself.
"""

from __future__ import annotations

import ctypes
from typing import Any

from ..core.array import VkArray, operations, storage_itemsize
from ..core.dtypes import DType, bfloat16
from ..kernels import launch
from ..kernels.launch import as_device
from ..ops import creation
from . import interchange

CPU, VULKAN = 1, 7
_BFLOAT_CODE = 4


class _DLDevice(ctypes.Structure):
    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class _DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device", _DLDevice), ("ndim", ctypes.c_int32), ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _DLManagedTensor(ctypes.Structure):
    _fields_ = (("dl_tensor", _DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_NAME = b"dltensor"


def dlpack_device(array: VkArray) -> tuple[int, int]:
    """(kDLVulkan, index of the array's device)."""
    return VULKAN, array.device.index


def to_dlpack(
    array: VkArray, *, stream: Any = None, max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None, copy: bool | None = None,
) -> Any:  # fmt: skip
    """A capsule of the array: of its device memory, or for dl_device=(1, 0) of host memory.

    Raises BufferError for another device, for copy=False where the memory is not mapped or not the host's format, and
    ValueError for a stream, which Vulkan does not have.
    """
    if stream is not None:
        raise ValueError(f"__dlpack__: vkarray has no streams; expected stream=None, got {stream!r}.")
    own = dlpack_device(array)
    if dl_device is None or tuple(dl_device) == own:
        return _device_capsule(launch.copy(array) if copy else array)
    if tuple(dl_device) != (CPU, 0):
        raise BufferError(
            f"__dlpack__: cannot export to device {tuple(dl_device)}; expected {own} or (1, 0), the host."
        )
    values = _mapped_view(array) if copy is False else interchange.to_numpy(array)
    return values.__dlpack__(max_version=max_version)


def _device_capsule(array: VkArray) -> Any:
    """NumPy's capsule, with this device written into it.

    NumPy's capsules are released by code in C, which may run while a consumer's refusal is on its way up as an exception
    (`numpy.from_dlpack(x)` refuses device memory); Python code may not. NumPy itself never touches the memory.
    """
    import numpy as np

    array._device.synchronize()
    dtype = array._dtype
    itemsize = storage_itemsize(dtype, array._device)
    if itemsize != dtype.itemsize:
        raise BufferError(
            f"__dlpack__: this device stores {dtype} in {8 * itemsize} bits an element, which DLPack cannot say. "
            f"Ask for host memory: numpy.from_dlpack(x, device='cpu')."
        )
    capsule = np.asarray(_Memory(array, array._address)).__dlpack__()
    tensor = _DLManagedTensor.from_address(_capsule_pointer(capsule, _NAME)).dl_tensor
    tensor.device = _DLDevice(*dlpack_device(array))
    if dtype is bfloat16:
        tensor.dtype.code = _BFLOAT_CODE
    return capsule


class _Memory:
    """The memory of an array as NumPy describes memory; keeps the array alive, and the view of its memory on the host."""

    def __init__(self, array: VkArray, address: int, view: memoryview | None = None) -> None:
        typestr = "<u2" if array.dtype is bfloat16 else interchange.numpy_dtype(array.dtype).str
        self.array, self.view = array, view
        self.__array_interface__ = {
            "shape": array.shape, "strides": array.strides, "version": 3,
            "typestr": typestr, "data": (address, False),
        }  # fmt: skip


def _mapped_view(array: VkArray) -> Any:
    """A NumPy view of the array's own memory, which stays until the view is gone, also when the device has closed.

    Raises BufferError where that is not possible.
    """
    import numpy as np

    device, dtype = array._device, array._dtype
    if array.size == 0:
        return np.empty(array.shape, interchange.numpy_dtype(dtype))
    memory = device.mapped(array._buffer)
    if memory is None or dtype is bfloat16 or storage_itemsize(dtype, device) != dtype.itemsize:
        raise BufferError(
            f"__dlpack__: copy=False, but the memory of this {dtype} array on {device.name!r} is not visible to the host "
            f"in NumPy's format. Use copy=None or copy=True."
        )
    device.synchronize()
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + array._offset * dtype.itemsize
    return np.asarray(_Memory(array, start, memory))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> VkArray:
    """An array from any object with `__dlpack__`: a view of a vkarray array, a copy of host memory.

    Parameters: x; device (default: that of a vkarray array, else the default device); copy (True always, False never).
    Raises BufferError for memory that is neither vkarray's nor the host's, and for copy=False where a copy is needed.
    Standard: creation functions, `from_dlpack`.
    """
    import numpy as np

    if isinstance(x, VkArray):
        target = x.device if device is None else as_device(device)
        if target is not x.device:
            if copy is False:
                raise BufferError(f"from_dlpack: copy=False, but moving from {x.device} to {target} copies.")
            return creation.to_device(x, target)
        return launch.copy(x) if copy else x._view(x._shape, x._strides)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"from_dlpack: expected an object with __dlpack__, got {type(x).__name__}.")
    kind, _ = x.__dlpack_device__()
    if kind == VULKAN:
        raise BufferError("from_dlpack: this Vulkan memory belongs to another library. Export it to the host first.")
    if copy is False:
        raise BufferError("from_dlpack: copy=False, but host memory must be copied to the device. Use copy=None.")
    try:
        values = np.from_dlpack(x) if kind == CPU else np.from_dlpack(x, device="cpu")
    except (BufferError, RuntimeError, TypeError) as error:
        raise BufferError(f"from_dlpack: {type(x).__name__} cannot be read through the host ({error}).") from None
    dtype: DType = interchange.dtype_of_numpy(values, "from_dlpack")
    return interchange.from_numpy(values, dtype, as_device(device), "from_dlpack")


operations.update(to_dlpack=to_dlpack, dlpack_device=dlpack_device, from_dlpack=from_dlpack)
