"""Operators that PyTorch composes of others, as one where no gradients are recorded: then one plan repeats all their parts.

Under autograd PyTorch's own composition runs, so that each part records its gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from ..dispatch.plans import planned
from ..dispatch.results import tell
from ..dispatch.table import has_kernel

_library = torch.library.Library("aten", "IMPL")


def without_gradients(name: str, kernel: Callable[..., Any], recorded: Callable[..., Any]) -> None:
    """Give a composite operator its kernel for where no gradients are recorded, and for where they are.

    `kernel` is for inference mode, and for calls without gradients that nothing watches (forward derivatives, a mode that looks
    at every operator).
    """

    def under_autograd(*args: Any, **kwargs: Any) -> Any:
        if torch.is_grad_enabled() or torch.autograd.forward_ad._current_level >= 0 or _len_torch_dispatch_stack():
            return recorded(*args, **kwargs)
        return kernel(*args, **kwargs)

    kernel.profiled_name = f"aten.{name}"  # type: ignore[attr-defined]
    _library.impl(name, kernel, "PrivateUse1")
    _library.impl(name, under_autograd, "AutogradPrivateUse1")


_len_torch_dispatch_stack = torch._C._len_torch_dispatch_stack


def is_transformed() -> bool:
    """Whether gradients are taken in another way than by going back: forth, or by a transform such as `vmap`."""
    return torch.autograd.forward_ad._current_level >= 0 or _transform() is not None


_transform = torch._C._functorch.peek_interpreter_stack


def composed(op: Any) -> Callable[..., Any]:
    """PyTorch's own composition of an operator."""
    return functools.partial(op._op_dk, torch._C.DispatchKey.CompositeImplicitAutograd)


for _name in ("matmul", "layer_norm", "rms_norm", "group_norm"):
    _composed = composed(getattr(torch.ops.aten, _name).default)
    without_gradients(_name, planned(_composed), _composed)


_KEYS = torch._C.DispatchKey
_EXPLICIT = (_KEYS.CompositeExplicitAutograd, _KEYS.CompositeExplicitAutogradNonFunctional)


def _as_one(op: Any) -> None:
    """A plan for an operator that PyTorch composes of others below autograd."""
    key = next(key for key in _EXPLICIT if has_kernel(op, key.name))

    def composed(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("non_blocking", None)  # a copy to the host has come when it returns; PyTorch would pin memory for it
        return op._op_dk(key, *args, **kwargs)

    kernel = planned(composed)
    kernel.profiled_name = op.name().replace("::", ".")  # type: ignore[attr-defined]
    _library.impl(op.name(), kernel, "PrivateUse1")


for _name in ("repeat", "_to_copy", "slice_backward", "select_backward", "diagonal_backward"):
    _as_one(getattr(torch.ops.aten, _name).default)


def _told_pixel_shuffle(mode: FakeTensorMode, op: Any, *args: Any) -> Tensor:
    """PyTorch before 2.13 says that channels which come last stay last, as they do on the CPU."""
    with mode:
        made: Tensor = op._op_dk(torch._C.DispatchKey.CompositeExplicitAutogradNonFunctional, *args)
        return made


tell(torch.ops.aten.pixel_shuffle.default, _told_pixel_shuffle)
