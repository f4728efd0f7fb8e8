"""Copies between host and device and between tensors on the device, with conversion of types and any strides."""

from __future__ import annotations

import ctypes
import functools
import warnings
from typing import Any

import torch

from ... import _vk
from ...core import checks, dtypes, layout
from ...core.array import VkArray, array_in, empty, is_supported, storage_itemsize
from ...core.dtypes import DType
from ...io import interchange
from ...kernels import launch
from ...kernels.conversion import cast_operation
from .. import device as devices
from . import storage
from .storage import FROM_TORCH, TO_TORCH, array_of, refuse_gradients


def _bytes(tensor: torch.Tensor) -> Any:
    """The memory of a tensor on the host whose elements fill a range without gaps, as a buffer."""
    return (ctypes.c_char * (tensor.numel() * tensor.itemsize)).from_address(tensor.data_ptr())


@functools.cache
def _widening(dtype: DType) -> tuple[torch.dtype, int]:
    """How a device without narrow storage sees 8 and 16 bits on the host: integers of that width, and their mask."""
    signed = dtype.category == "signed integer"
    narrow = {8: torch.int8 if signed else torch.uint8, 16: torch.int16}[dtype.bits]
    return narrow, -1 if signed else (1 << dtype.bits) - 1


def _upload(host: torch.Tensor, array: VkArray) -> None:
    """Fill consecutive elements of an array from a tensor on the host that is dense in the same order."""
    itemsize = storage_itemsize(array._dtype, array._device)
    if itemsize != host.itemsize:
        narrow, mask = _widening(array._dtype)
        host = host.view(narrow).to(torch.int32) & mask
    array._device.upload(array._buffer, array._offset * itemsize, _bytes(host))


def _download(array: VkArray, host: torch.Tensor) -> None:
    """Fill a tensor on the host from consecutive elements of an array; raises what a deferred check finds."""
    itemsize = storage_itemsize(array._dtype, array._device)
    if itemsize == host.itemsize:
        array._device.download(array._buffer, array._offset * itemsize, _bytes(host))
    else:
        words = torch.empty_strided(host.shape, host.stride(), dtype=torch.int32, device="cpu")
        array._device.download(array._buffer, array._offset * itemsize, _bytes(words))
        host.view(_widening(array._dtype)[0]).copy_(words)
    checks.run(array._device)


def _real(array: VkArray) -> VkArray:
    """The real part of a complex array, a view."""
    strides = tuple(2 * stride for stride in array._strides)
    return array_in(
        array._buffer, 2 * array._offset, array._shape, strides, dtypes.REAL_OF[array._dtype], array._device
    )


def assign(target: VkArray, source: VkArray) -> None:
    """Copy the values of one array into another of any layout, broadcast and converted (a real target drops the rest)."""
    if source._dtype.category == "complex floating" and target._dtype.category not in ("complex floating", "bool"):
        source = _real(source)
    launch.elementwise(cast_operation(source._dtype, target._dtype), (source,), target)


def _same_order(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether both are dense in one order, so that their bytes can be copied as they lie."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.is_contiguous() and second.is_contiguous():
        return True
    return first.stride() == second.stride() and storage.is_dense(first.shape, first.stride())


def _copy_bits(source: torch.Tensor, target: torch.Tensor) -> None:
    """`copy_from` for tensors that stand for the conjugate or the negative of what lies in their memory."""
    plain = source
    for applies, remove, compute in (
        ("is_conj", torch.conj, torch._conj_physical), ("is_neg", torch._neg_view, torch.neg)
    ):  # fmt: skip
        here, there = getattr(source, applies)(), getattr(target, applies)()
        plain, target = remove(plain) if here else plain, remove(target) if there else target
        if here != there:
            plain = compute(plain)
    copy_from(plain, target)


def _copy_raw_bytes(source: torch.Tensor, target: torch.Tensor) -> bool:
    """Copy bytes of a storage of wider elements, where the device has no bytes; False where that is not the case."""
    if source.is_cpu == target.is_cpu:
        return False
    raw = storage.raw_bytes(target if source.is_cpu else source)
    if raw is None:
        return False
    buffer, first = raw
    if source.is_cpu:
        buffer.device.upload(buffer, first, _bytes(source.contiguous()))
    else:
        host = torch.empty(source.shape, dtype=torch.uint8)
        buffer.device.download(buffer, first, _bytes(host))
        target.copy_(host)
    return True


def _copy_between(source: torch.Tensor, target: torch.Tensor) -> None:
    """`target.copy_(source)` from one Vulkan device to another; converts where that makes fewer bytes, or can be done."""
    array = array_of(target)
    if source.itemsize > target.itemsize or not is_supported(FROM_TORCH[source.dtype], array._device):
        source = source.to(target.dtype)
    moved = array_of(source)
    itemsize = storage_itemsize(moved._dtype, moved._device)
    if _same_order(source, target) and itemsize == storage_itemsize(array._dtype, array._device):
        _vk.copy_between(
            moved._buffer, moved._offset * itemsize, array._buffer, array._offset * itemsize, array.size * itemsize
        )
        checks.run(moved._device)
    else:
        moved = moved if moved._contiguous else launch.copy(moved)
        assign(array, interchange.moved(moved, array._device))


_REACHED = ("cpu", "vulkan")


def copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """`target.copy_(source)`, where one or both are on the device. Other accelerators are reached through the host."""
    if target.device.type not in _REACHED:
        return target.copy_(source.cpu())
    if source.device.type not in _REACHED:
        source = source.cpu()
    if source.shape != target.shape:
        source = source.expand(target.shape)
    if target.numel() == 0:
        return target
    if target.is_conj() or target.is_neg() or source.is_conj() or source.is_neg():
        _copy_bits(source, target)
        return target
    if source.is_complex() and not target.is_complex() and target.dtype is not torch.bool:
        _warn_of_imaginary_part()
    if source.dtype is target.dtype is torch.uint8 and _copy_raw_bytes(source, target):
        return target
    if not target.is_cpu:
        array = array_of(target)
        if not source.is_cpu:
            if source.device != target.device:
                _copy_between(source, target)
            else:
                assign(array, array_of(source))
            return target
        source = source.to(target.dtype)
        if _same_order(source, target):
            _upload(source, array)
        else:
            staged = empty(array._shape, array._dtype, array._device)
            _upload(source.contiguous(), staged)
            assign(array, staged)
    elif _same_order(source, target):
        _download(array_of(source), target)
    else:
        array = array_of(source)
        dense = storage.is_dense(source.shape, source.stride())
        strides = source.stride() if dense else layout.contiguous_strides(array._shape)
        host = torch.empty_strided(source.shape, strides, dtype=source.dtype, device="cpu")
        _download(array if dense else launch.copy(array), host)
        target.copy_(host)
    return target


@functools.cache
def _warn_of_imaginary_part() -> None:
    warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4)


def item(tensor: torch.Tensor) -> Any:
    """The only element, as a Python scalar; waits for the device."""
    return interchange.item(array_of(tensor))


def to_vulkan(tensor: torch.Tensor, *, copy: bool | None = None) -> VkArray:
    """The array with the values of a tensor on any device.

    Parameters: tensor (of every type that vkarray has, bfloat16 included); copy (True always copies; None only where the
    tensor is not on the device `vulkan` yet; False never).
    Returns an array of the same shape and type; strides are kept where the elements fill their memory without gaps.
    Raises ValueError for copy=False and a tensor on the host, and for a tensor that requires gradients (detach it),
    TypeError for what is no tensor and for types that vkarray lacks (quantized ones), FeatureError for those that the
    device lacks.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"to_vulkan: expected a torch.Tensor, got {type(tensor).__name__}. Use vkarray.asarray.")
    refuse_gradients("to_vulkan", tensor)
    _ = FROM_TORCH[tensor.dtype]  # raises TypeError
    if tensor.device.type == "vulkan":
        return array_of(tensor.clone() if copy else tensor.resolve_conj().resolve_neg())
    if copy is False:
        raise ValueError(
            f"to_vulkan: copy=False, but the tensor is on {tensor.device} and must be copied. Use copy=None."
        )
    return array_of(tensor.to("vulkan"))


def to_torch(array: VkArray, *, device: Any = "cpu", copy: bool | None = None) -> torch.Tensor:
    """The tensor with the values of an array.

    Parameters: array; device ("cpu", or "vulkan" for a tensor where the array is, "vulkan:1" for one on
    that device); copy (True always copies; None only where needed,
    which on the CPU is always; False never: a view of the memory that both share).
    Returns a tensor of the same shape and type. A view on the host (copy=False) sees what the device has written when
    this function is called; call `torch.vulkan.synchronize()` before reading what later operations write.
    Raises TypeError for what is no array, ValueError for copy=False where the memory cannot be shared.
    """
    if type(array) is not VkArray:
        raise TypeError(f"to_torch: expected a vkarray array, got {type(array).__name__}. Use torch.as_tensor.")
    where = torch.device(device)
    if where.type == "vulkan":
        if copy is False:
            raise ValueError("to_torch: copy=False, but a tensor on vulkan gets memory of its own. Use copy=None.")
        there = array._device if where.index is None else devices.at(where.index)
        return storage.wrap(launch.copy(array) if there is array._device else array.to_device(there))
    if copy is False:
        return _mapped(array)
    dense = storage.is_dense(array._shape, array._strides) and array.size > 0
    strides = array._strides if dense else layout.contiguous_strides(array._shape)
    host = torch.empty_strided(array._shape, strides, dtype=TO_TORCH[array._dtype], device="cpu")
    if array.size:
        _download(array if dense else launch.copy(array), host)
    return host.to(where)


def _mapped(array: VkArray) -> torch.Tensor:
    """A tensor on the host over the array's own memory. Raises ValueError where the host does not see it."""
    dtype, on = array._dtype, array._device
    memory = on.mapped(array._buffer) if storage_itemsize(dtype, on) == dtype.itemsize else None
    if memory is None or min(array._strides, default=0) < 0:
        raise ValueError(
            f"to_torch: copy=False, but the memory of this {dtype} array on {on.name!r} is not visible to the host in "
            f"PyTorch's format (or has negative strides). Use copy=None."
        )
    on.synchronize()
    flat = torch.frombuffer(memory, dtype=TO_TORCH[dtype], count=array._buffer.nbytes // dtype.itemsize)
    return flat.as_strided(array._shape, array._strides, array._offset)
