"""Memory that PyTorch's tensors and vkarray's arrays share.

A tensor's storage is made from a device address, which finds the vkarray buffer in a table. Addresses of several devices may
be equal, so those of devices after the first carry the device's index in their highest bits. The buffer lives as long as the
storage or an array does, and its memory is used again only when the device is done with it.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from operator import methodcaller
from typing import NamedTuple

import torch

from ... import _vk, device_caches
from ...core import dtypes, layout
from ...core.array import VkArray, array_in, check_supported, storage_itemsize
from ...core.dtypes import DType
from ...errors import FeatureError
from ...kernels import launch
from ...profiling.work import PLACES as PLACES_OF_ARRAYS
from ...profiling.work import Place
from .. import device
from ..device import CPU_KERNELS, PLACES, place
from ..dispatch.fallback import different_devices
from . import dlpack
from .dlpack import tensor_at

TO_TORCH: dict[DType, torch.dtype] = {
    dtype: getattr(torch, "bool" if dtype is dtypes.bool_ else name) for name, dtype in dtypes.DTYPES.items()
}
# What to use in place of types that vkarray lacks.
_INSTEAD = {
    torch.complex32: "complex64 (x.to(torch.complex64) before it moves to the device)",
    **dict.fromkeys(
        (getattr(torch, name) for name in dir(torch) if name.startswith("float8_")),
        "float16 or bfloat16, such as x.half()",
    ),
}


class _FromTorch(dict[torch.dtype, DType]):
    """vkarray's types by PyTorch's. Raises TypeError, which says what to use instead, for those that have no counterpart."""

    def __missing__(self, dtype: torch.dtype) -> DType:
        instead = f" Use {_INSTEAD[dtype]}." if dtype in _INSTEAD else ""
        raise TypeError(f"vulkan: vkarray has no type {dtype}; it has {', '.join(dtypes.DTYPES)}.{instead}")


FROM_TORCH = _FromTorch((theirs, ours) for ours, theirs in TO_TORCH.items())


# By the address that PyTorch knows: the buffer, the storage over it, and the bytes that an element takes where those are more
# than on the host, else 0.
_allocations: dict[int, tuple[_vk.Buffer, weakref.ref[torch.UntypedStorage], int]] = {}


class _Storage(weakref.ref["torch.UntypedStorage"]):
    """A weak reference to a storage. When that dies, its memory is forgotten.

    Nothing of it is written in Python, whose functions do not begin where Ctrl-C strikes: the memory would never be free again.
    """

    __slots__ = ()
    pop = _allocations.pop


_make_storage = torch._C._construct_storage_from_data_pointer
_set = torch.ops.aten.set_.source_Storage_storage_offset.redispatch


@device_caches.cache
def widened(on: _vk.Device) -> dict[DType, int]:
    """The bytes of an element for the types that take more on a device than on the host."""
    sizes = {dtype: storage_itemsize(dtype, on) for dtype in dtypes.DTYPES.values()}
    return {dtype: size for dtype, size in sizes.items() if size != dtype.itemsize}


def _storage(buffer: _vk.Buffer, nbytes: int, stored: int = 0) -> torch.UntypedStorage:
    """A storage over a whole buffer that has none yet, of `nbytes` as PyTorch counts them."""
    _, name, tag = place(buffer.device)
    address = buffer.address ^ tag
    storage = _make_storage(address, name, nbytes)
    _remember(storage, buffer, address, stored)
    return storage


def _remember(storage: torch.UntypedStorage, buffer: _vk.Buffer, address: int, stored: int) -> None:
    """Note that a storage lies over a whole buffer, until it dies."""
    _allocations[address] = (buffer, _Storage(storage, methodcaller("pop", address, None)), stored)


class Look(NamedTuple):
    """What tensors over whole buffers of one size on a device look like.

    They are made by a form: their own where they fill the buffer, else that of one without elements which gets their storage.
    """

    form: dlpack.Form
    whole: bool
    tag: int  # of the device
    nbytes: int  # of the storage, as PyTorch counts them
    stored: int  # bytes of an element where those are more than on the host, else 0
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@functools.lru_cache(maxsize=4096)
def look(
    index: int,
    size: int,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: torch.dtype,
    itemsize: int,
) -> Look:
    """How to make tensors over buffers of `size` bytes of a device. `itemsize` is what an element takes there."""
    own, nbytes, stored = dtype.itemsize, size, 0
    if itemsize != own:
        nbytes, stored = size // itemsize * own, itemsize
    whole = not offset and _span(shape, strides)[0] * own == nbytes
    form = dlpack.form(*((shape, strides) if whole else ((0,), (1,))), FROM_TORCH[dtype], index)
    return Look(form, whole, PLACES[index].tag, nbytes, stored, offset, shape, strides)


def tensor_over(buffer: _vk.Buffer, look: Look) -> torch.Tensor:
    """A tensor over a whole buffer that no storage has yet."""
    form, whole, tag, nbytes, stored, offset, shape, strides = look
    address = buffer.address ^ tag
    tensor = tensor_at(address, form)
    if not whole:
        return _set(CPU_KERNELS, tensor, _storage(buffer, nbytes, stored), offset, shape, strides)
    reference = _Storage(tensor.untyped_storage(), methodcaller("pop", address, None))  # as `_remember`, without a call
    _allocations[address] = (buffer, reference, stored)
    return tensor


def empty(shape: Sequence[int], strides: Sequence[int], dtype: torch.dtype, on: _vk.Device) -> torch.Tensor:
    """A new tensor on a device with undefined values. Raises FeatureError for a type that the device lacks."""
    nbytes, made = _look_of_empty(tuple(shape), tuple(strides), dtype, on)
    return tensor_over(on.allocate(nbytes), made)


@device_caches.lru_cache(4096)
def _look_of_empty(
    shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype, on: _vk.Device
) -> tuple[int, Look]:  # fmt: skip
    """The bytes that a new tensor takes, and how to make it."""
    ours = FROM_TORCH[dtype]
    check_supported(ours, on, "torch.empty")
    itemsize = storage_itemsize(ours, on)
    nbytes = _span(shape, strides)[0] * itemsize
    return nbytes, look(place(on).number, nbytes, 0, shape, strides, dtype, itemsize)


@functools.lru_cache(maxsize=4096)
def _span(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, bool]:
    """The elements that a layout spans, and whether it is contiguous."""
    spanned = 0 if 0 in shape else 1 + layout.offset_range(shape, strides)[1]
    return spanned, layout.is_contiguous(shape, strides)


def new_array(shape: tuple[int, ...], strides: tuple[int, ...], dtype: DType, on: _vk.Device) -> VkArray:
    """An array with undefined values in memory of its own, for `wrap` to make a tensor of."""
    spanned, contiguous = _span(shape, strides)
    return array_in(on.allocate(spanned * storage_itemsize(dtype, on)), 0, shape, strides, dtype, on, contiguous)


def array_of(tensor: torch.Tensor) -> VkArray:
    """The array over the memory of a tensor on the device, for kernels: no checks that these do not need."""
    dtype = tensor.dtype
    try:
        buffer, _, stored = _allocations[tensor.untyped_storage().data_ptr()]
        ours = FROM_TORCH[dtype]
    except KeyError:
        raise _not_ours(tensor) from None
    if stored != widened(buffer.device).get(ours, 0):
        raise FeatureError(
            f"vulkan: this device keeps elements of 8 and 16 bits in 32, so this memory cannot be seen as {dtype}. "
            f"Convert with tensor.to, or move the tensor to the CPU first."
        )
    return array_in(
        buffer, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), ours, buffer.device,
        tensor.is_contiguous(),
    )  # fmt: skip


def _not_ours(tensor: torch.Tensor) -> Exception:
    if tensor.device.type != "vulkan":
        return different_devices(torch.device("vulkan", device.current_device()), tensor.device)
    if tensor.dtype not in FROM_TORCH:
        return TypeError(f"vulkan: vkarray has no type {tensor.dtype}; it has {', '.join(dtypes.DTYPES)}.")
    return RuntimeError("vulkan: the tensor's memory is not vkarray's, or was freed (a storage of another library?).")


def as_array(tensor: torch.Tensor) -> VkArray:
    """The array over the memory of a tensor on the device `vulkan`: what is written to one is seen by the other.

    Parameters: tensor (of any layout; gradients are not recorded through the array, so detach a tensor that needs them).
    Returns an array of the same shape, strides and type, without a copy; it stays valid when the tensor is gone.
    Raises TypeError for what is no tensor, ValueError for a tensor on another device or that requires gradients.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"as_array: expected a torch.Tensor, got {type(tensor).__name__}.")
    if tensor.device.type != "vulkan":
        raise ValueError(
            f"as_array: expected a tensor on the device vulkan, got one on {tensor.device}. "
            f'Move it with tensor.to("vulkan"), or use vkarray.torch.to_vulkan.'
        )
    refuse_gradients("as_array", tensor)
    return array_of(tensor.resolve_conj().resolve_neg())


def refuse_gradients(function: str, tensor: torch.Tensor) -> None:
    """Raise ValueError for a tensor whose gradients would be lost."""
    if tensor.requires_grad:
        raise ValueError(
            f"{function}: the tensor requires gradients, which an array does not record. Use tensor.detach()."
        )


def wrap(array: VkArray) -> torch.Tensor:
    """A tensor of an array: over its memory where no tensor has that yet and strides allow it, else over a copy's."""
    if array._buffer.address ^ place(array._device).tag in _allocations or min(array._strides, default=0) < 0:
        array = launch.copy(array)
    return tensor_over(array._buffer, look_of_array(array))


def look_of_array(array: VkArray) -> Look:
    """What a tensor over the memory of an array looks like."""
    on, dtype = array._device, array._dtype
    return look(
        place(on).number, array._buffer.nbytes, array._offset, array._shape, array._strides, TO_TORCH[dtype],
        storage_itemsize(dtype, on),
    )  # fmt: skip


def shown(array: VkArray) -> torch.Tensor:
    """A tensor of an array, over its memory, which another tensor may have already."""
    made = look_of_array(array)
    address = array._buffer.address ^ made.tag
    held = _allocations.get(address)
    if held is None:
        return tensor_over(array._buffer, made)
    empty = tensor_at(address, dlpack.form((0,), (1,), array._dtype, place(array._device).number))
    return _set(CPU_KERNELS, empty, held[1](), made.offset, made.shape, made.strides)


def raw_bytes(tensor: torch.Tensor) -> tuple[_vk.Buffer, int] | None:
    """The buffer and first byte of a tensor of bytes over elements that the device stores as the host does, else None.

    On a device that has no bytes of its own, this is how storages are saved and loaded.
    """
    buffer, _, stored = _allocations[tensor.untyped_storage().data_ptr()]
    if tensor.dtype is not torch.uint8 or stored or not widened(buffer.device) or not tensor.is_contiguous():
        return None
    return buffer, tensor.storage_offset()


def of_bytes(flat: torch.Tensor, on: _vk.Device) -> torch.UntypedStorage:
    """A new storage with the bytes of a tensor on the host, of elements that the device stores as the host does."""
    buffer = on.allocate(flat.numel())
    if flat.numel():
        on.upload(buffer, 0, memoryview(flat.numpy()))
    return _storage(buffer, flat.numel())


def of_size(nbytes: int, on: _vk.Device) -> torch.UntypedStorage:
    """A new storage of so many bytes with undefined values."""
    return _storage(on.allocate(nbytes), nbytes)


def copy_of(held: torch.UntypedStorage) -> torch.UntypedStorage:
    """A new storage with the bytes of another one on the device."""
    buffer, _, stored = _allocations[held.data_ptr()]
    made = buffer.device.allocate(buffer.nbytes)
    buffer.device.copy(buffer, 0, made, 0, buffer.nbytes)
    return _storage(made, held.nbytes(), stored)


def shares_storage(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two tensors on the device are views of one storage."""
    return first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


def extent(tensor: torch.Tensor) -> tuple[int, int]:
    """The first byte of the storage that a tensor touches, and the one after the last."""
    if tensor.numel() == 0:
        return 0, 0
    last = sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride(), strict=True))
    first = tensor.storage_offset()
    return first * tensor.itemsize, (first + last + 1) * tensor.itemsize


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements fill a range of memory without gaps or overlap, in whatever order of dimensions."""
    step = 1
    for stride, length in sorted(zip(strides, shape, strict=True)):
        if length != 1:
            if stride != step:
                return False
            step *= length
    return True


def live() -> int:
    """How many storages are alive, for tests of leaks."""
    return len(_allocations)


def _place(tensor: torch.Tensor) -> Place | None:
    """Where a tensor's elements are, for a profile."""
    held = _allocations.get(tensor.untyped_storage().data_ptr()) if tensor.device.type == "vulkan" else None
    return held and Place(held[0], tensor.shape, tensor.stride(), held[2] or tensor.dtype.itemsize)


PLACES_OF_ARRAYS.update(dict.fromkeys((torch.Tensor, torch.nn.Parameter), _place))
