"""What PyTorch says of the results of an operator: shapes, types and strides, and its errors for arguments that do not fit.

PyTorch traces programs with tensors that have no memory (`torch.compile`, `torch.export`), and replays them with real ones:
views of results are possible there only where strides are those that it was told.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._subclasses.fake_impls import register_op_impl
from torch._subclasses.fake_tensor import FakeTensorMode

from ...core import layout
from ...core.array import VkArray
from ...core.tokens import TOKENS, plain
from ...ops.elementwise import conj
from ..tensors.storage import FROM_TORCH, new_array, wrap
from ..tensors.transfer import assign
from . import fallback
from .fallback import Unsupported


class Result(NamedTuple):
    """What PyTorch says of a result."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    conjugated: bool = False


def signature(value: Any) -> Any:
    """What of an argument decides how the result looks: not the values of tensors and floating-point numbers."""
    if isinstance(value, Tensor):
        return value.dtype, value.shape, value.stride(), value.get_device(), value.is_conj()
    kind = type(value)
    if kind in TOKENS:
        kind = type(value.plain)
    if kind is float or kind is complex:
        return kind
    if kind is list or kind is tuple:
        return tuple([signature(one) for one in value])
    return kind, value


def as_meta(value: Any) -> Any:
    """An argument with its tensors replaced by ones without memory (those of one element on the CPU stay)."""

    def meta(tensor: Tensor) -> Tensor:
        if tensor.is_cpu:
            return tensor
        made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
        return made.conj() if tensor.is_conj() else made

    return torch.device("meta") if isinstance(value, torch.device) else fallback.mapped(meta, value)


# Operators whose results lie in memory as their device has it. PyTorch takes its `meta` device for CUDA; of a fake tensor
# it knows the device, but needs several times as long.
_OF_THE_DEVICE = frozenset(
    f"aten::{name}" for name in (
        "_fft_c2c", "_fft_r2c", "_fft_c2r", "_linalg_svd", "linalg_eig", "reflection_pad2d", "replication_pad2d"
    )
)  # fmt: skip


def _as_fake(value: Any) -> Any:
    """An argument with its tensors replaced by fake ones of this device, within a FakeTensorMode."""

    def fake(tensor: Tensor) -> Tensor:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)

    return fallback.mapped(fake, value)


def inferred(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The results of an operator as tensors without memory. Raises PyTorch's errors; Unsupported where it cannot say."""
    args, kwargs = [plain(one) for one in args], {name: plain(one) for name, one in kwargs.items()}
    of_device = op._schema.name in _OF_THE_DEVICE
    op = fallback.callable_with(op, args)
    try:
        with FakeTensorMode() if of_device else contextlib.nullcontext():
            shown = _as_fake if of_device else as_meta
            return op(*map(shown, args), **{name: shown(value) for name, value in kwargs.items()})
    except Exception as error:
        reason = error  # its words differ from those of other devices, and some operators cannot run on `meta`
    op(*map(_on_cpu, args), **{name: _on_cpu(value) for name, value in kwargs.items()})
    raise Unsupported(f"PyTorch cannot say what the result looks like: {reason}")


def _on_cpu(value: Any) -> Any:
    """An argument with zeros on the CPU for its tensors: what is wrong with shapes and types is told as there."""

    def zeros(tensor: Tensor) -> Tensor:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu").zero_()

    return torch.device("cpu") if isinstance(value, torch.device) else fallback.mapped(zeros, value)


def listed(meta: Any) -> list[Result | None]:
    listed = meta if isinstance(meta, (tuple, list)) else (meta,)
    return [None if one is None else Result(tuple(one.shape), one.stride(), one.dtype, one.is_conj()) for one in listed]


def tensor_of(value: VkArray, wanted: Result) -> Tensor:
    """The tensor of an array that a kernel has made, with the type and strides that PyTorch says: copied where it has others."""
    shape, strides, dtype = value._shape, wanted.strides, FROM_TORCH[wanted.dtype]
    if value._dtype is not dtype or value._offset or not same_places(shape, value._strides, strides):
        result = new_array(shape, strides, dtype, value._device)
        assign(result, value)
        value = result
    if wanted.conjugated:  # a view of the conjugate
        return wrap(conj(value)).conj()
    return wrap(value if value._strides == strides else value._view(shape, strides))


def same_places(shape: layout.Shape, first: layout.Strides, second: layout.Strides) -> bool:
    """Whether elements have the same places: strides along dimensions of length 1, and without elements, do not say."""
    if first == second or 0 in shape:
        return True
    one, other = layout.taken_strides(shape, (first, second))
    return one == other


@functools.lru_cache(maxsize=4096)
def dense_strides(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a new tensor in the layout of one with these, as `torch.empty_like` chooses them."""
    return torch.empty_like(torch.empty_strided(shape, strides, device="meta")).stride()


def tell(op: Any, says: Callable[..., Any]) -> None:
    """Tell programs that are traced what an operator returns on this device, where PyTorch says otherwise.

    `says` gets the mode in which tensors without memory are made, the operator, and its arguments of that kind.
    """

    def told(mode: FakeTensorMode, op: Any, *args: Any, **kwargs: Any) -> Any:
        first = next(one for one in (*args, *kwargs.values()) if isinstance(one, Tensor))
        return says(mode, op, *args, **kwargs) if first.device.type == "vulkan" else NotImplemented

    register_op_impl(op)(told)
