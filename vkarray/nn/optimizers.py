"""Steps over many tensors at once: optimizers, and elementwise operations on lists of arrays. One dispatch for a list.

The arrays lie anywhere in memory; a table tells the kernel where (`nn/tensors.comp`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..core.array import VkArray, empty, is_supported
from ..kernels import launch
from ..kernels.row_kernels import FLOATING
from ..shaders.source import Variant
from .tensor_lists import Lines, Step, run, variant

if TYPE_CHECKING:
    from ..kernels.launch import Device

Arrays = Sequence[VkArray] | Lines  # of a list: arrays, or where arrays lie

_MAXIMIZE, _DECOUPLED, _LARGEST, _NESTEROV, _FIRST_STEP, _MOMENTUM = (1 << bit for bit in range(6))

_UNSCALE = "if (scale != T(1)) x[1] = vx_divide(x[1], scale); "
_ADAM = Step(
    "Adam",
    _UNSCALE + "vx_adam(x, PARAMETER(0), PARAMETER(1), PARAMETER(2), PARAMETER(3), PARAMETER(4), "
    "PARAMETER(5), step_size, root, arguments.flags);",
    5, 0b11111, 0b11101,
    "T step_size = vx_divide(PARAMETER(0), vx_correction(PARAMETER(6), step)); "
    "T root = vx_divide(T(1), vx_sqrt(vx_correction(PARAMETER(7), step)));",
)  # fmt: skip
# Without the largest second moments.
_PLAIN_ADAM = Step("plain Adam", _ADAM.body, 5, 0b01111, 0b01101, _ADAM.prepare)
_SGD_BODY = _UNSCALE + "vx_sgd(x, PARAMETER(0), PARAMETER(1), PARAMETER(2), PARAMETER(3), arguments.flags);"
_SGD = Step("SGD", _SGD_BODY, 3, 0b111, 0b101)
_PLAIN_SGD = Step("plain SGD", _SGD_BODY, 3, 0b011, 0b001)
_ADAGRAD = Step(
    "Adagrad",
    _UNSCALE + "vx_adagrad(x, rate, PARAMETER(2), PARAMETER(3), arguments.flags);",
    3, 0b111, 0b101,
    "T rate = vx_divide(PARAMETER(0), vx_product_sum(step - T(1), PARAMETER(1), T(1)));",
)  # fmt: skip


def _listed(name: str, expression: str, operands: int) -> Step:
    """A step that makes x[0] of the arrays after it."""
    return Step(name, f"precise T made = {expression}; x[0] = made;", operands + 1, (2 << operands) - 2, 1)


# Elementwise operations on lists: x[1], x[2] and x[3] are the operands, p and q a list's numbers.
OF_LISTS = {
    name: _listed(name, expression, operands)
    for name, (expression, operands) in {
        "add": ("x[1] + p * x[2]", 2),
        "add number": ("x[1] + p", 1),
        "multiply": ("x[1] * x[2]", 2),
        "multiply number": ("x[1] * p", 1),
        "divide": ("vx_divide(x[1], x[2])", 2),
        "divide number": ("vx_divide(x[1], p)", 1),
        "negative": ("vx_negative(x[1])", 1),
        "sqrt": ("vx_sqrt(x[1])", 1),
        "maximum": ("vx_maximum(x[1], x[2])", 2),
        "lerp": ("vx_lerp(x[1], x[2], p)", 2),
        "addcmul": ("x[1] + p * (x[2] * x[3])", 3),
        "addcdiv": ("x[1] + p * vx_divide(x[2], x[3])", 3),
        "copy": ("x[1]", 1),
        "fill": ("p", 0),
    }.items()
}
# The number is read before it is scaled: an infinite one may become NaN, and a large one infinite.
_UNSCALING = Step("unscale", "if (!vx_isfinite(x[0])) note(); if (scale != T(1)) x[0] = x[0] * scale;", 1, 1, 1)
_STEPS = (_ADAM, _PLAIN_ADAM, _SGD, _PLAIN_SGD, _ADAGRAD, _UNSCALING, *OF_LISTS.values())


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype in FLOATING:
        if is_supported(dtype, device):
            for step in _STEPS:
                yield variant(step, dtype, device)


def of_lists(
    name: str, lists: Sequence[Sequence[VkArray]], numbers: Sequence[float] = (), out: Sequence[VkArray] | None = None
) -> list[VkArray]:
    """One of `OF_LISTS` on lists of arrays, with a number for each tensor, into new arrays or contiguous ones.

    Raises TypeError for other types than floating-point ones, ValueError for lists that do not fit together.
    """
    sources = [[launch.contiguous(one) for one in arrays] for arrays in lists]
    first = sources[0]
    results = [empty(one._shape, one._dtype, one._device) for one in first] if out is None else list(out)
    run(name, OF_LISTS[name], [results, *sources], numbers=numbers or None)
    return results


def unscale(gradients: Arrays, found: VkArray, factor: VkArray) -> None:
    """Multiply gradients by a factor, in place, and set `found` to 1 where one of them is not finite.

    Parameters: gradients (a list of contiguous real floating-point arrays), found and factor (float32 arrays of one element).
    """
    run("unscale", _UNSCALING, (gradients,), scale=factor, noted=found)


def adam(
    parameters: Arrays, gradients: Arrays, means: Arrays, squares: Arrays, steps: Arrays, /, *, rate: float,
    betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, decay: float = 0.0, decoupled: bool = False,
    largest: Arrays | None = None, maximize: bool = False, skip: VkArray | None = None, scale: VkArray | None = None,
) -> None:  # fmt: skip
    """A step of Adam, or of AdamW with `decoupled`, over all parameters, in place.

    Parameters: parameters, gradients, means and squares of gradients (lists of contiguous real floating-point arrays); steps
    (float32 arrays of one element: the number of this step, from 1 on); rate; betas; eps; decay (of weights); largest (squares
    so far, for AMSGrad); maximize; skip (a float32 array: nothing happens where it is not 0); scale (a float32 array, by which
    gradients are divided first). Everything is computed in float32, or float64 for arrays of that type.
    Raises TypeError for other types, ValueError for lists and arrays that do not fit together.
    """
    lists = (parameters, gradients, means, squares, largest)
    first, second = betas
    values = (rate, decay, eps, 1 - first, second, 1 - second, _logarithm(first), _logarithm(second))
    flags = maximize * _MAXIMIZE | decoupled * _DECOUPLED | (largest is not None) * _LARGEST
    step = _PLAIN_ADAM if largest is None else _ADAM
    run("adam", step, lists, values, flags=flags, steps=steps, skip=skip, scale=scale)


def _logarithm(beta: float) -> float:
    return math.log(beta) if beta > 0 else -math.inf


def sgd(
    parameters: Arrays, gradients: Arrays, buffers: Arrays | None = None, /, *,
    rate: float, decay: float = 0.0, momentum: float = 0.0, dampening: float = 0.0, nesterov: bool = False,
    maximize: bool = False, first_step: bool = False, skip: VkArray | None = None, scale: VkArray | None = None,
) -> None:  # fmt: skip
    """A step of stochastic gradient descent over all parameters, in place.

    Parameters: parameters, gradients and, with momentum, buffers (lists of contiguous real floating-point arrays); first_step (the
    buffers are yet to be filled); the others as usual, skip and scale as `adam`.
    Raises TypeError for other types, ValueError for lists and arrays that do not fit together.
    """
    with_momentum = bool(momentum) and buffers is not None
    lists = (parameters, gradients, buffers if with_momentum else None)
    flags = maximize * _MAXIMIZE | nesterov * _NESTEROV | first_step * _FIRST_STEP | with_momentum * _MOMENTUM
    step = _SGD if with_momentum else _PLAIN_SGD
    run("sgd", step, lists, (rate, decay, momentum, dampening), flags=flags, skip=skip, scale=scale)


def adagrad(
    parameters: Arrays, gradients: Arrays, sums: Arrays, steps: Arrays, /, *,
    rate: float, rate_decay: float = 0.0, decay: float = 0.0, eps: float = 1e-10, maximize: bool = False,
    skip: VkArray | None = None, scale: VkArray | None = None,
) -> None:  # fmt: skip
    """A step of Adagrad over all parameters, in place.

    Parameters: parameters, gradients and sums of their squares (lists of contiguous real floating-point arrays); steps
    (float32 arrays of one element: the number of this step, from 1 on); rate; rate_decay (the rate is divided by
    1 + rate_decay (step - 1)); decay (of weights); eps; maximize; skip and scale as `adam`.
    Raises TypeError for other types, ValueError for lists and arrays that do not fit together.
    """
    values = (rate, rate_decay, decay, eps)
    run(
        "adagrad",
        _ADAGRAD,
        (parameters, gradients, sums),
        values,
        flags=maximize * _MAXIMIZE,
        steps=steps,
        skip=skip,
        scale=scale,
    )
