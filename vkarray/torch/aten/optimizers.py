"""Operators on lists of tensors, and steps of optimizers: one dispatch for a list."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.graph import increment_version

from ..._vk import Buffer
from ..._vk.watch import tracer
from ...core.array import VkArray, storage_itemsize
from ...nn import optimizers as nn
from ...nn.tensor_lists import Form, Lines, run
from .. import device as devices
from ..dispatch.plans import planned
from ..dispatch.results import same_places
from ..dispatch.table import direct
from ..tensors import storage
from ..tensors.storage import FROM_TORCH, Look, array_of, tensor_over
from ..tensors.transfer import assign

Tensors = Sequence[Tensor]

_NUMBERS = frozenset((int, float, bool))
_FLOATING = frozenset((torch.float16, torch.bfloat16, torch.float32, torch.float64))

# -- lists ------------------------------------------------------------------------------------------------------------


class _Known(NamedTuple):
    """Lists of tensors that look like this: their form, and how to make such tensors, each with the bytes that it takes."""

    form: Form
    looks: list[tuple[int, Look]]


_FORMS = 256  # that are kept
_forms: dict[Any, _Known | None] = {}  # by what tensors look like; None: their elements do not meet in one dispatch

_dtype, _shape = operator.attrgetter("dtype"), operator.attrgetter("shape")


def _look(tensors: Tensors) -> tuple[tuple[Any, ...], ...]:
    """What the tensors of a list look like, read without a step of Python for each."""
    return tuple(map(_dtype, tensors)), tuple(map(_shape, tensors)), tuple(map(Tensor.stride, tensors))


def _meets(look: tuple[tuple[Any, ...], ...], other: tuple[tuple[Any, ...], ...]) -> bool:
    """Whether the elements of lists lie in the same order. Strides along dimensions of length 1 do not say."""
    return look == other or (
        look[:2] == other[:2]
        and all(
            one == two or same_places(shape, one, two)
            for shape, one, two in zip(look[1], look[2], other[2], strict=True)
        )
    )


def _known(index: int, look: tuple[tuple[Any, ...], ...]) -> _Known | None:
    """What is known of lists that look like this on a device; None where a tensor has gaps, or no floating-point numbers."""
    if not all(map(storage.is_dense, look[1], look[2])) or not _FLOATING.issuperset(look[0]):
        return None
    on = devices.at(index)
    looks, looks_of_results = [], []
    for dtype, shape, strides in zip(*look, strict=True):
        ours, size = FROM_TORCH[dtype], shape.numel()
        itemsize = storage_itemsize(ours, on)
        looks.append((ours, on, size))
        made = storage.look(index, size * itemsize, 0, tuple(shape), strides, dtype, itemsize)
        looks_of_results.append((size * itemsize, made))
    return _Known(Form(looks), looks_of_results)


def _places(tensors: Tensors, index: int) -> tuple[list[Buffer], list[int]]:
    """The buffers and addresses of dense tensors on a device. Raises what `array_of` raises."""
    held = list(map(storage._allocations.get, map(Tensor.data_ptr, tensors)))
    # An address within a buffer, none at all, or an element's bytes.
    if None in held or storage.widened(devices.at(index)):
        arrays = list(map(array_of, tensors))
        return [one._buffer for one in arrays], [one._address for one in arrays]
    buffers = [one[0] for one in held]  # type: ignore[index]
    return buffers, [one.address for one in buffers]


def _lines(lists: Sequence[Tensors]) -> tuple[_Known, list[Lines]] | None:
    """Where tensors lie; None unless those of each place have one shape, type and dense layout, and all one device.

    Programs that are traced know no addresses of arrays, which a list needs. They compute tensor by tensor, in fused kernels.
    """
    indices = {index for tensors in lists for index in map(Tensor.get_device, tensors)}
    if len(indices) != 1 or tracer() is not None:
        return None
    (index,) = indices
    look = _look(lists[0])
    if not all(_meets(_look(one), look) for one in lists[1:]):
        return None
    key = index, devices.at(index), look
    known = _forms.get(key, ...)  # at once, for another thread may clear them
    if known is ...:
        if len(_forms) >= _FORMS:
            _forms.clear()
        known = _forms[key] = _known(index, look)
    return None if known is None else (known, [Lines(known.form, *_places(one, index)) for one in lists])


def _new(known: _Known) -> tuple[list[Buffer], Lines]:
    """Memory for new tensors of a list."""
    allocate = known.form.looks[0][1].allocate
    buffers = [allocate(nbytes) for nbytes, _ in known.looks]
    return buffers, Lines(known.form, buffers, [one.address for one in buffers])


class _OnLists:
    """An operator on lists: a step of `vkarray.nn.optimizers`, and PyTorch's function for lists that do not suit it.

    `numbers` makes the number of each tensor of the arguments that are no lists.
    """

    def __init__(self, step: str, lists: int, numbers: Callable[..., Any], single: Callable[..., Tensor]) -> None:
        self.step, self.lists, self.numbers, self.single = step, lists, numbers, single

    def _split(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Sequence[Tensors], Sequence[Any]]:
        value = self.numbers(*args[self.lists :], **kwargs)
        return args[: self.lists], value if isinstance(value, (list, tuple)) else [value] * len(args[0])

    def _found(self, lists: Sequence[Tensors], numbers: Sequence[Any]) -> tuple[_Known, list[Lines]] | None:
        return _lines(lists) if _NUMBERS.issuperset(map(type, numbers)) else None

    def new(self, *args: Any, **kwargs: Any) -> list[Tensor]:
        """The kernel that returns new tensors."""
        lists, numbers = self._split(args, kwargs)
        found = self._found(lists, numbers)
        if found is None:
            return [self.single(*one, value) for one, value in zip(zip(*lists, strict=True), numbers, strict=True)]
        known, lines = found
        buffers, made = _new(known)
        run(self.step, nn.OF_LISTS[self.step], [made, *lines], numbers=numbers)
        return [tensor_over(buffer, look) for buffer, (_, look) in zip(buffers, known.looks, strict=True)]

    def in_place(self, *args: Any, **kwargs: Any) -> None:
        """The kernel that writes into the tensors of the first list."""
        lists, numbers = self._split(args, kwargs)
        found = self._found(lists, numbers)
        if found is None:
            for one, value in zip(zip(*lists, strict=True), numbers, strict=True):
                one[0].copy_(self.single(*one, value))
            return
        _, lines = found
        run(self.step, nn.OF_LISTS[self.step], [lines[0], *lines], numbers=numbers)
        increment_version(lists[0])  # which PyTorch leaves to kernels of lists


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
    found = _lines((targets, sources))
    if found is not None:
        run("copy", nn.OF_LISTS["copy"], found[1])
        increment_version(targets)
    else:
        for target, source in zip(targets, sources, strict=True):
            target.copy_(source)


def _zero(targets: Tensors) -> None:
    found = _lines((targets,))
    if found is not None:
        run("fill", nn.OF_LISTS["fill"], found[1])
        increment_version(targets)
    else:
        for target in targets:
            target.zero_()


_register_lists()
direct("_foreach_copy_", _copy)
direct("_foreach_zero_", _zero)


def _check_and_unscale(gradients: Tensors, found: Tensor, inverse: Tensor) -> None:
    """Multiply gradients by a scale, and note in `found` whether one of them is not finite."""
    lines = _lines((gradients,)) if gradients else None
    if lines is not None and found.dtype is inverse.dtype is torch.float32:
        nn.unscale(lines[1][0], array_of(found), array_of(inverse))
        return
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


direct("_amp_update_scale_", planned(_update_scale))

# -- optimizers -------------------------------------------------------------------------------------------------------


def _met(lists: list[Tensors]) -> tuple[list[Any], list[tuple[Tensor, Tensor, int]]]:
    """Where tensors lie, with copies in place of those whose elements do not meet: (tensor, copy, list)."""
    found = _lines(lists)
    if found is not None:
        return list(found[1]), []
    met: list[list[Tensor]] = [[] for _ in lists]
    back = []
    for tensors in zip(*lists, strict=True):
        same = _lines([[one] for one in tensors]) is not None
        for place, one in enumerate(tensors):
            used = one if same else one.to(tensors[0].dtype).contiguous()
            if used is not one:
                back.append((one, used, place))
            met[place].append(used)
    found = _lines(met)
    # What has no lines even so is wrong: arrays say it.
    return list(found[1]) if found is not None else [list(map(array_of, one)) for one in met], back


def _single(tensor: Tensor | None) -> VkArray | None:
    return None if tensor is None else array_of(tensor.to(torch.float32))


def _number(value: Any) -> float:
    return float(value.item()) if isinstance(value, Tensor) else float(value)


def _write_back(back: Sequence[tuple[Tensor, Tensor, int]], written: Sequence[int]) -> None:
    for tensor, used, place in back:
        if place in written:
            assign(array_of(tensor), array_of(used))


def _adam(decoupled: bool) -> Callable[..., None]:
    def step(
        parameters: Tensors, gradients: Tensors, means: Tensors, squares: Tensors, largest: Tensors, steps: Tensors, *,
        lr: Any, beta1: float, beta2: float, weight_decay: float, eps: float, amsgrad: bool, maximize: bool,
        grad_scale: Tensor | None = None, found_inf: Tensor | None = None,
    ) -> None:  # fmt: skip
        lists = [parameters, gradients, means, squares, *([largest] if amsgrad else [])]
        arrays, back = _met(lists)
        nn.adam(
            arrays[0], arrays[1], arrays[2], arrays[3], list(map(array_of, steps)),
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
    arrays, back = _met(lists)
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
    arrays, back = _met([parameters, gradients, sums])
    nn.adagrad(
        arrays[0], arrays[1], arrays[2], list(map(array_of, steps)), rate=_number(lr), rate_decay=lr_decay,
        decay=weight_decay, eps=eps, maximize=maximize, skip=_single(found_inf), scale=_single(grad_scale),
    )  # fmt: skip
    _write_back(back, (0, 2))


direct("_fused_adam_ _fused_adam_.tensor_lr", _adam(False))
direct("_fused_adamw_ _fused_adamw_.tensor_lr", _adam(True))
direct("_fused_sgd_ _fused_sgd_.tensor_lr", _sgd)
direct("_fused_adagrad_ _fused_adagrad_.tensor_lr", _adagrad)
