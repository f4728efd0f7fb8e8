"""Operators on lists of tensors, and steps of optimizers: one dispatch for a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ..._vk.watch import tracer
from ...core.array import VkArray
from ...nn import optimizers as nn
from ..dispatch.table import direct
from ..tensors import storage
from ..tensors.storage import array_of, wrap
from ..tensors.transfer import assign

Tensors = Sequence[Tensor]

_FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

# -- lists ------------------------------------------------------------------------------------------------------------


def _alike(lists: Sequence[Tensors]) -> bool:
    """Whether the tensors of each place have one shape, type and dense layout, and all one device, so that elements meet.

    Programs that are traced know no addresses of arrays, which a list needs. They compute tensor by tensor, in fused kernels.
    """
    if tracer() is not None or len({one.get_device() for tensors in lists for one in tensors}) > 1:
        return False
    for tensors in zip(*lists, strict=True):
        first = tensors[0]
        if first.dtype not in _FLOATING or not storage.is_dense(first.shape, first.stride()):
            return False
        for one in tensors:
            if one.dtype is not first.dtype or one.shape != first.shape or one.stride() != first.stride() or one.is_cpu:
                return False
    return True


def _line(tensor: Tensor) -> VkArray:
    """The elements of a dense tensor as they lie in memory."""
    array = array_of(tensor)
    return array._view((array.size,), (1,))


class _OnLists:
    """An operator on lists: a step of `vkarray.nn.optimizers`, and PyTorch's function for lists that do not suit it.

    `numbers` makes the number of each tensor of the arguments that are no lists.
    """

    def __init__(self, step: str, lists: int, numbers: Callable[..., Any], single: Callable[..., Tensor]) -> None:
        self.step, self.lists, self.numbers, self.single = step, lists, numbers, single

    def _suits(self, lists: Sequence[Tensors], numbers: Sequence[Any]) -> bool:
        return len({len(one) for one in lists}) == 1 and _alike(lists) and all(
            isinstance(one, (int, float)) for one in numbers
        )  # fmt: skip

    def _split(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Tensors], list[Any]]:
        lists: list[Tensors] = [list(one) for one in args[: self.lists]]
        value = self.numbers(*args[self.lists :], **kwargs)
        return lists, list(value) if isinstance(value, (list, tuple)) else [value] * len(lists[0])

    def new(self, *args: Any, **kwargs: Any) -> list[Tensor]:
        """The kernel that returns new tensors."""
        lists, numbers = self._split(args, kwargs)
        if not self._suits(lists, numbers):
            return [self.single(*one, value) for one, value in zip(zip(*lists, strict=True), numbers, strict=True)]
        made = nn.of_lists(self.step, [[_line(one) for one in tensors] for tensors in lists], numbers)
        return [
            wrap(array._view(tuple(like.shape), like.stride()))
            for array, like in zip(made, lists[0], strict=True)
        ]  # fmt: skip

    def in_place(self, *args: Any, **kwargs: Any) -> None:
        """The kernel that writes into the tensors of the first list."""
        lists, numbers = self._split(args, kwargs)
        if not self._suits(lists, numbers):
            for one, value in zip(zip(*lists, strict=True), numbers, strict=True):
                one[0].copy_(self.single(*one, value))
            return
        arrays = [[_line(one) for one in tensors] for tensors in lists]
        nn.of_lists(self.step, arrays, numbers, arrays[0])


def _given(value: Any = 1) -> Any:
    return value


def _alpha(*, alpha: Any = 1) -> Any:
    return alpha


def _minus(value: Any) -> Any:
    return [-one for one in value] if isinstance(value, (list, tuple)) else -value


_LISTS: dict[str, tuple[str, int, Callable[..., Any], Callable[..., Tensor]]] = {
    "add.Scalar add.ScalarList": ("add number", 1, _given, lambda x, value: x + value),
    "add.List": ("add", 2, _alpha, lambda x, y, alpha: torch.add(x, y, alpha=alpha)),
    "sub.Scalar sub.ScalarList": ("add number", 1, _minus, lambda x, value: x + value),
    "sub.List": ("add", 2, lambda *, alpha=1: -alpha, lambda x, y, alpha: torch.add(x, y, alpha=alpha)),
    "mul.Scalar mul.ScalarList": ("multiply number", 1, _given, lambda x, value: x * value),
    "mul.List": ("multiply", 2, _given, lambda x, y, _: x * y),
    "div.Scalar div.ScalarList": ("divide number", 1, _given, lambda x, value: x / value),
    "div.List": ("divide", 2, _given, lambda x, y, _: x / y),
    "neg.default": ("negative", 1, _given, lambda x, _: -x),
    "sqrt.default": ("sqrt", 1, _given, lambda x, _: x.sqrt()),
    "maximum.List clamp_min.List": ("maximum", 2, _given, lambda x, y, _: torch.maximum(x, y)),
    "lerp.Scalar lerp.ScalarList": ("lerp", 2, _given, torch.lerp),
    "addcmul.Scalar addcmul.ScalarList": (
        "addcmul", 3, _given, lambda x, y, z, value: torch.addcmul(x, y, z, value=value),
    ),
    "addcdiv.Scalar addcdiv.ScalarList": (
        "addcdiv", 3, _given, lambda x, y, z, value: torch.addcdiv(x, y, z, value=value),
    ),
}  # fmt: skip


def _register_lists() -> None:
    for names, row in _LISTS.items():
        made = _OnLists(*row)
        for name in names.split():
            packet, overload = name.split(".")
            direct(f"_foreach_{packet}.{overload}", made.new)
            direct(f"_foreach_{packet}_.{overload}", made.in_place)


def _copy(targets: Tensors, sources: Tensors, non_blocking: bool = False) -> None:
    if _alike((targets, sources)):
        nn.of_lists("copy", [[_line(one) for one in sources]], (), [_line(one) for one in targets])
    else:
        for target, source in zip(targets, sources, strict=True):
            target.copy_(source)


def _zero(targets: Tensors) -> None:
    if _alike((targets,)):
        lines = [_line(one) for one in targets]
        nn.run(nn.OF_LISTS["fill"], [lines], numbers=[(0.0, 0.0)] * len(lines))
    else:
        for target in targets:
            target.zero_()


_register_lists()
direct("_foreach_copy_", _copy)
direct("_foreach_zero_", _zero)


def _check_and_unscale(gradients: Tensors, found: Tensor, inverse: Tensor) -> None:
    """Multiply gradients by a scale, and note in `found` whether one of them is not finite."""
    for gradient in gradients:
        finite = torch.isfinite(gradient).all()
        found.copy_(torch.maximum(found, (~finite).to(found.dtype).reshape(found.shape)))
        gradient.mul_(inverse.to(gradient.dtype))


direct("_amp_foreach_non_finite_check_and_unscale_", _check_and_unscale)


def _update_scale(
    scale: Tensor, growth_tracker: Tensor, found_inf: Tensor, growth_factor: float, backoff_factor: float, interval: int
) -> Tensor:
    """Shrink the scale of a loss where gradients were not finite, grow it after `interval` steps where they were."""
    overflow = found_inf != 0
    steps = growth_tracker + 1
    grows = steps == interval
    grown = scale * growth_factor
    kept = torch.where(grows & grown.isfinite(), grown, scale)
    growth_tracker.copy_(torch.where(overflow | grows, 0, steps))
    return scale.copy_(torch.where(overflow, scale * backoff_factor, kept))


direct("_amp_update_scale_", _update_scale)

# -- optimizers -------------------------------------------------------------------------------------------------------


def _lines(lists: Sequence[Tensors]) -> tuple[list[list[VkArray]], list[tuple[Tensor, VkArray, int]]]:
    """Arrays of all tensors whose elements meet, and those to be copied back: (tensor, array, list)."""
    arrays: list[list[VkArray]] = [[] for _ in lists]
    back: list[tuple[Tensor, VkArray, int]] = []
    for tensors in zip(*lists, strict=True):
        same = _alike([[one] for one in tensors])
        for place, one in enumerate(tensors):
            line = _line(one if same else one.to(tensors[0].dtype).contiguous())
            if not same and not (one.is_contiguous() and one.dtype is tensors[0].dtype):
                back.append((one, line, place))
            arrays[place].append(line)
    return arrays, back


def _single(tensor: Tensor | None) -> VkArray | None:
    return None if tensor is None else array_of(tensor.to(torch.float32))


def _number(value: Any) -> float:
    return float(value.item()) if isinstance(value, Tensor) else float(value)


def _write_back(back: Sequence[tuple[Tensor, VkArray, int]], written: Sequence[int]) -> None:
    for tensor, line, place in back:
        if place in written:
            shape = tuple(tensor.shape)
            assign(array_of(tensor), line._view(shape, storage.layout.contiguous_strides(shape)))


def _adam(decoupled: bool) -> Callable[..., None]:
    def step(
        parameters: Tensors, gradients: Tensors, means: Tensors, squares: Tensors, largest: Tensors, steps: Tensors, *,
        lr: Any, beta1: float, beta2: float, weight_decay: float, eps: float, amsgrad: bool, maximize: bool,
        grad_scale: Tensor | None = None, found_inf: Tensor | None = None,
    ) -> None:  # fmt: skip
        lists = [parameters, gradients, means, squares, *([largest] if amsgrad else [])]
        arrays, back = _lines(lists)
        nn.adam(
            arrays[0], arrays[1], arrays[2], arrays[3], [array_of(one) for one in steps],
            rate=_number(lr), betas=(beta1, beta2), eps=eps,
            decay=weight_decay, decoupled=decoupled, largest=arrays[4] if amsgrad else None, maximize=maximize,
            skip=_single(found_inf), scale=_single(grad_scale),
        )  # fmt: skip
        _write_back(back, (0, 2, 3, 4))

    step.__module__ = __name__
    return step


def _sgd(
    parameters: Tensors, gradients: Tensors, buffers: Tensors, *, weight_decay: float, momentum: float, lr: Any,
    dampening: float, nesterov: bool, maximize: bool, is_first_step: bool, grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:  # fmt: skip
    lists = [parameters, gradients, *([buffers] if buffers else [])]
    arrays, back = _lines(lists)
    nn.sgd(
        arrays[0], arrays[1], arrays[2] if buffers else None, rate=_number(lr), decay=weight_decay, momentum=momentum,
        dampening=dampening, nesterov=nesterov, maximize=maximize, first_step=is_first_step, skip=_single(found_inf),
        scale=_single(grad_scale),
    )  # fmt: skip
    _write_back(back, (0, 2))


def _adagrad(
    parameters: Tensors, gradients: Tensors, sums: Tensors, steps: Tensors, *, lr: Any, lr_decay: float,
    weight_decay: float, eps: float, maximize: bool, grad_scale: Tensor | None = None, found_inf: Tensor | None = None,
) -> None:  # fmt: skip
    arrays, back = _lines([parameters, gradients, sums])
    nn.adagrad(
        arrays[0], arrays[1], arrays[2], [array_of(one) for one in steps], rate=_number(lr), rate_decay=lr_decay,
        decay=weight_decay, eps=eps, maximize=maximize, skip=_single(found_inf), scale=_single(grad_scale),
    )  # fmt: skip
    _write_back(back, (0, 2))


direct("_fused_adam_ _fused_adam_.tensor_lr", _adam(False))
direct("_fused_adamw_ _fused_adamw_.tensor_lr", _adam(True))
direct("_fused_sgd_ _fused_sgd_.tensor_lr", _sgd)
direct("_fused_adagrad_ _fused_adagrad_.tensor_lr", _adagrad)
