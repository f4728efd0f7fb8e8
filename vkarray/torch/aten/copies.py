"""Memory, views and copies: what tensors are made of."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ...core import layout
from ...core.array import VkArray, array_in
from ...core.dtypes import COMPLEX_OF
from ...kernels import launch
from ...ops import creation, elementwise, manipulation, utility
from ...ops.linalg import basic
from ..device import CPU_KERNELS, chosen
from ..dispatch import table
from ..dispatch.plans import planned
from ..dispatch.results import dense_strides
from ..dispatch.table import direct, native
from ..tensors import storage, transfer
from ..tensors.storage import FROM_TORCH, array_of, new_array, wrap

# -- memory -----------------------------------------------------------------------------------------------------------


def _type(dtype: torch.dtype | None) -> torch.dtype:
    return torch.get_default_dtype() if dtype is None else dtype


def _check_options(layout: torch.layout | None, pin_memory: bool | None) -> None:
    if layout not in (None, torch.strided):
        raise NotImplementedError(f"vulkan: expected a strided tensor, got layout={layout}. Use tensor.to_dense().")
    if pin_memory:
        raise RuntimeError("Only dense CPU tensors can be pinned")


def _empty(
    size: Sequence[int], dtype: torch.dtype | None = None, layout: torch.layout | None = None, device: Any = None,
    pin_memory: bool | None = None, memory_format: torch.memory_format | None = None,
) -> Tensor:  # fmt: skip
    _check_options(layout, pin_memory)
    if size and min(size) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    return storage.empty(size, _strides(size, memory_format), _type(dtype), chosen(device))


def _strides(size: Sequence[int], memory_format: torch.memory_format | None) -> tuple[int, ...]:
    if memory_format in (None, torch.contiguous_format):
        return layout.contiguous_strides(tuple(size))
    return torch.empty(tuple(size), device="meta", memory_format=memory_format).stride()


def _empty_strided(
    size: Sequence[int], stride: Sequence[int], dtype: torch.dtype | None = None, layout: torch.layout | None = None,
    device: Any = None, pin_memory: bool | None = None,
) -> Tensor:  # fmt: skip
    _check_options(layout, pin_memory)
    return storage.empty(size, stride, _type(dtype), chosen(device))


def _resize(tensor: Tensor, size: Sequence[int], memory_format: torch.memory_format | None = None) -> Tensor:
    if memory_format is None and tuple(size) == tensor.shape:
        return tensor
    strides = _strides(size, memory_format)
    needed = tensor.storage_offset() + (0 if 0 in size else 1 + layout.offset_range(tuple(size), strides)[1])
    held = tensor.untyped_storage()
    if needed * tensor.itemsize > held.nbytes():
        grown = storage.empty((needed,), (1,), tensor.dtype, chosen(tensor.device))
        kept = held.nbytes() // tensor.itemsize
        if kept:
            grown[:kept].copy_(tensor.as_strided((kept,), (1,), 0))
        held = grown.untyped_storage()
    return _set(CPU_KERNELS, tensor, held, tensor.storage_offset(), size, strides)


_set = torch.ops.aten.set_.source_Storage_storage_offset.redispatch

_pin_for_others = torch.ops.aten._pin_memory.default.redispatch
_WITHOUT_DEVICE = torch._C.DispatchKeySet(torch._C.DispatchKey.CompositeExplicitAutograd)


def _pin_memory(tensor: Tensor, device: Any = None) -> Tensor:
    """An ordinary copy, which moves to the device as fast: loaders of data pin what they give to any accelerator.

    Memory for another accelerator, which is PyTorch's own where `vulkan` was not asked for, is pinned by PyTorch.
    """
    device = device or torch.accelerator.current_accelerator()
    if device is not None and device.type != "vulkan":
        pinned: Tensor = _pin_for_others(_WITHOUT_DEVICE, tensor, device)
        return pinned
    return tensor.clone()


table.library.impl("_pin_memory", _pin_memory, "CPU")
direct("empty.memory_format", _empty)
direct("empty_strided", _empty_strided)
direct("resize_", _resize)


# -- views: PyTorch's own kernels, which touch no element --------------------------------------------------------------


def _metadata(name: str) -> None:
    packet, _, overload = name.partition(".")
    op = getattr(getattr(torch.ops.aten, packet), overload or "default")
    kernel = functools.partial(op._handle.redispatch_boxed, CPU_KERNELS)  # no step of Python
    kernel.__module__ = __name__
    direct(name, kernel, "metadata")


for _name in (
    "as_strided", "view", "_reshape_alias", "unfold", "set_.source_Storage_storage_offset", "set_.source_Tensor",
    "set_.source_Storage", "view_as_real", "view_as_complex",
):  # fmt: skip
    _metadata(_name)


def _set_nothing(tensor: Tensor) -> Tensor:
    held = storage.empty((0,), (1,), tensor.dtype, chosen(tensor.device)).untyped_storage()
    return _set(CPU_KERNELS, tensor, held, 0, (0,), (1,))


direct("set_", _set_nothing)

# -- copies -----------------------------------------------------------------------------------------------------------


def _copy(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    table.check_target(target, [source])
    return transfer.copy_from(source, target, non_blocking)


def _copy_and_resize(source: Tensor, target: Tensor) -> Tensor:
    return transfer.copy_from(source, target.resize_(source.shape))


direct("_copy_from", planned(_copy, across=True))
direct("_copy_from_and_resize", _copy_and_resize)


def _assert(tensor: Tensor, message: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """Raise RuntimeError for a zero. Waits for the device, as on the CPU."""
    if tensor.numel() != 1:
        raise RuntimeError(f"Boolean value of Tensor with {tensor.numel()} values is ambiguous")
    if not tensor.item():
        raise RuntimeError(message)


def _is_set_to(tensor: Tensor, other: Tensor) -> bool:
    """Whether both show the same elements of the same memory."""
    alike = tensor.shape == other.shape and tensor.stride() == other.stride()
    same = tensor.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
    return alike and same and tensor.storage_offset() == other.storage_offset()


direct("_local_scalar_dense", transfer.item)
direct("_assert_async _assert_async.msg", _assert)
direct("is_set_to", _is_set_to)
# Its schema hides that it writes, so PyTorch would make a copy of a conjugated target before it.
for _key in ("Conjugate", "Negative"):
    table.library.impl("_copy_from", torch.library.fallthrough_kernel, _key)


def _clone(tensor: Tensor, memory_format: torch.memory_format | None = None) -> Tensor:
    if tensor.is_conj() or tensor.is_neg():
        made = torch.empty_like(tensor, memory_format=memory_format)
        return transfer.copy_from(tensor, made)
    source = array_of(tensor)
    if memory_format in (None, torch.preserve_format):
        shape, strides = source._shape, source._strides
        if not source._contiguous and not storage.is_dense(shape, strides):
            strides = dense_strides(shape, strides)
    else:
        shape, strides = source._shape, _strides(source._shape, memory_format)
    if source._contiguous and strides == source._strides:
        return wrap(launch.copy(source))
    target = new_array(shape, strides, source._dtype, source._device)
    return wrap(launch.elementwise(launch.copy_operation(source._dtype), (source,), target))


direct("clone", planned(_clone))


def _concatenate(arrays: list[VkArray], dim: int = 0) -> VkArray:
    """The arrays one after the other; those of one dimension without elements do not count."""
    counted = [one for one in arrays if one._shape != (0,)]
    if not counted:
        return launch.copy(arrays[0])
    axis = dim % counted[0].ndim
    dtype = counted[0]._dtype
    for one in counted:
        if one._dtype is not dtype:
            types = [storage.TO_TORCH[each._dtype] for each in arrays]
            common = types[0]
            for each in types:
                common = torch.promote_types(common, each)
            dtype = FROM_TORCH[common]
            break
    shape = list(counted[0]._shape)
    shape[axis] = sum(one._shape[axis] for one in counted)
    result = new_array(tuple(shape), layout.contiguous_strides(tuple(shape)), dtype, arrays[0]._device)
    start = 0
    for one in counted:
        transfer.assign(result._view(one._shape, result._strides, start * result._strides[axis]), one)
        start += one._shape[axis]
    return result


native("cat", _concatenate)


def _equal(first: Tensor, second: Tensor) -> bool:
    if first.dtype is not second.dtype:
        raise RuntimeError(
            f"Expected object of data type {first.dtype} but got data type {second.dtype} for argument 'other'"
        )
    if first.shape != second.shape:
        return False
    return bool(utility.all(elementwise.equal(array_of(first), array_of(second))))


def _roll(x: VkArray, shifts: Sequence[int], dims: Sequence[int] = ()) -> VkArray:
    if 0 in x._shape or not x.ndim:
        return launch.copy(x)
    return manipulation.roll(x, tuple(shifts) if dims else shifts[0], axis=tuple(dims) if dims else None)


def _complex(real: VkArray, imaginary: VkArray) -> VkArray:
    """The two parts side by side, each written where it belongs."""
    shape = layout.broadcast_shapes([real._shape, imaginary._shape], "complex")
    result = new_array(shape, layout.contiguous_strides(shape), COMPLEX_OF[real._dtype], real._device)
    part_strides = tuple(2 * stride for stride in result._strides)
    for place, part in enumerate((real, imaginary)):
        target = array_in(result._buffer, place, shape, part_strides, real._dtype, real._device)
        transfer.assign(target, part)
    return result


_PARTS = (elementwise.cos, elementwise.sin)

direct("equal", _equal)
native("roll", _roll)
native("tril", lambda x, diagonal=0: creation.tril(x, k=diagonal))
native("triu", lambda x, diagonal=0: creation.triu(x, k=diagonal))
native("complex", _complex)
native("polar", lambda radius, angle: _complex(*(elementwise.multiply(radius, f(angle)) for f in _PARTS)))
native("trace", basic.trace)
