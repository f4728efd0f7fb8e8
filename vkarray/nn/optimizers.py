"""Steps over many tensors at once: optimizers, and elementwise operations on lists of arrays. One dispatch for a list.

The arrays lie anywhere in memory; a table tells the kernel where (`nn/tensors.comp`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core import dtypes
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.dispatch import number, pointer
from ..kernels.planned import refuse
from ..kernels.row_kernels import FLOATING
from ..shaders.source import Variant

if TYPE_CHECKING:
    from ..kernels.launch import Device

_PER_INVOCATION = 8
_MAXIMIZE, _DECOUPLED, _LARGEST, _NESTEROV, _FIRST_STEP, _MOMENTUM = (1 << bit for bit in range(6))
_LARGEST_TENSOR = (1 << 32) - 1


@dataclass(frozen=True, eq=False)
class Step:
    """What happens to the numbers x[0], x[1], ... of an element: GLSL statements, and which of them are read and written.

    `p` and `q` are numbers of the tensor, `step` its step.
    """

    name: str
    body: str
    slots: int
    reads: int
    writes: int
    prepare: str = ""

    def variant(self, device: Device, dtype: DType) -> Variant:
        """The shader for arrays of `dtype`."""
        defines = [("BODY", self.body), ("PREPARE", self.prepare), ("SLOTS", str(self.slots)), ("READS", str(self.reads)),
                   ("WRITES", str(self.writes)), *launch.operand_defines("A", dtype)]  # fmt: skip
        defines += launch.compute_defines(dtype)
        defines += launch.feature_defines((dtype,), device)
        return Variant("nn/tensors", tuple(defines), f"{self.name} of tensors {dtype}")


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
_STEPS = (_ADAM, _PLAIN_ADAM, _SGD, _PLAIN_SGD, _ADAGRAD, *OF_LISTS.values())


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype in FLOATING:
        if is_supported(dtype, device):
            for step in _STEPS:
                yield _variant(step, dtype, device)


@functools.cache
def _variant(step: Step, dtype: DType, device: Device) -> Variant:
    return step.variant(device, dtype)


def _check(function: str, *lists: Sequence[VkArray | None]) -> None:
    """Raise ValueError unless the arrays of a tensor have one shape, dtype and device, and TypeError for other types."""
    if len({len(arrays) for arrays in lists}) > 1:
        raise ValueError(f"{function}: expected lists of one length, got {[len(arrays) for arrays in lists]}.")
    for arrays in zip(*lists, strict=True):
        first = arrays[0]
        for array in arrays:
            if array is not None and first is not None and (
                array._shape != first._shape or array._dtype is not first._dtype or array._device is not first._device
            ):  # fmt: skip
                raise ValueError(
                    f"{function}: expected the arrays of a tensor to have one shape and dtype, got {first._shape} "
                    f"{first._dtype} and {array._shape} {array._dtype}."
                )
        if first is not None and first._dtype not in FLOATING:
            raise TypeError(f"{function}: expected real floating-point arrays, got {first._dtype}.")


def run(
    step: Step, lists: Sequence[Sequence[VkArray | None]], parameters: Sequence[float] = (), *, flags: int = 0,
    numbers: Sequence[tuple[float, float]] | None = None, steps: Sequence[VkArray] | None = None,
    skip: VkArray | None = None, scale: VkArray | None = None,
) -> None:  # fmt: skip
    """Do a step over lists of contiguous arrays, one list for each slot: one dispatch for all tensors of a dtype.

    `numbers` holds p and q of each tensor, `steps` float32 arrays of one element, `skip` and `scale` such an array each.
    """
    kinds: dict[tuple[DType, Device], list[int]] = {}
    for place, array in enumerate(lists[0]):
        if array is not None and array.size:
            kinds.setdefault((array._dtype, array._device), []).append(place)
    for (dtype, device), places in kinds.items():
        _dispatch(step, dtype, device, [[one[place] for one in lists] for place in places], parameters, flags,
                  None if numbers is None else [numbers[place] for place in places],
                  None if steps is None else [steps[place] for place in places], skip, scale)  # fmt: skip


def _dispatch(
    step: Step, dtype: DType, device: Device, tensors: Sequence[Sequence[VkArray | None]], parameters: Sequence[float],
    flags: int, numbers: Sequence[tuple[float, float]] | None, steps: Sequence[VkArray] | None, skip: VkArray | None,
    scale: VkArray | None,
) -> None:  # fmt: skip
    refuse("it puts addresses of arrays into memory")
    of_group = launch.invocations_of_group(device.limits) * _PER_INVOCATION
    limit = launch.index_limit(device, dtype)
    words: list[int] = []  # of 64 bits
    rows = groups = 0
    reads: list[VkArray] = list(steps or ())
    writes: list[VkArray] = []
    for tensor, arrays in enumerate(tensors):
        first = arrays[0]
        assert first is not None
        pair = [number(value, dtype).bits for value in ((0.0, 0.0) if numbers is None else numbers[tensor])]
        start = 0 if steps is None else pointer(steps[tensor]).address
        for offset in range(0, first.size, limit):
            count = min(first.size - offset, limit)
            places = [0 if one is None else pointer(one, offset).address for one in arrays]
            words += (count | groups << 32, start, *places, *pair)
            rows += 1
            groups += -(-count // of_group)
        for slot, one in enumerate(arrays):
            if one is not None:
                (writes if step.writes >> slot & 1 else reads).append(one)
    table = empty((2 * len(words),), dtypes.uint32, device)
    device.upload(table._buffer, 0, b"".join([word.to_bytes(8, "little") for word in words]))
    fields = {
        "table": table,
        "skip": 0 if skip is None else skip,
        "scale": 0 if scale is None else scale,
        "tensors": rows,
        "flags": flags,
        "parameters": [number(value, dtype) for value in (*parameters, *[0.0] * (10 - len(parameters)))],
    }
    workgroups = launch.groups_for(groups * (of_group // _PER_INVOCATION), device.limits)
    variant = _variant(step, dtype, device)
    launch.dispatch(variant, device, workgroups, fields, writes=(), also_reads=reads, also_writes=writes)


def of_lists(
    name: str, lists: Sequence[Sequence[VkArray]], numbers: Sequence[float] = (), out: Sequence[VkArray] | None = None
) -> list[VkArray]:
    """One of `OF_LISTS` on lists of arrays, with a number for each tensor, into new arrays or contiguous ones.

    Raises TypeError for other types than floating-point ones, ValueError for lists that do not fit together.
    """
    _check(name, *lists)
    first = lists[0]
    results = [empty(one._shape, one._dtype, one._device) for one in first] if out is None else list(out)
    sources = [[launch.contiguous(one) for one in arrays] for arrays in lists]
    pairs = [(number, 0.0) for number in numbers] or [(0.0, 0.0)] * len(first)
    run(OF_LISTS[name], [results, *sources], numbers=pairs)
    return results


def adam(
    parameters: Sequence[VkArray], gradients: Sequence[VkArray], means: Sequence[VkArray], squares: Sequence[VkArray],
    steps: Sequence[VkArray], /, *, rate: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
    decay: float = 0.0, decoupled: bool = False, largest: Sequence[VkArray] | None = None, maximize: bool = False,
    skip: VkArray | None = None, scale: VkArray | None = None,
) -> None:  # fmt: skip
    """A step of Adam, or of AdamW with `decoupled`, over all parameters, in place.

    Parameters: parameters, gradients, means and squares of gradients (lists of contiguous real floating-point arrays); steps
    (float32 arrays of one element: the number of this step, from 1 on); rate; betas; eps; decay (of weights); largest (squares
    so far, for AMSGrad); maximize; skip (a float32 array: nothing happens where it is not 0); scale (a float32 array, by which
    gradients are divided first). Everything is computed in float32, or float64 for arrays of that type.
    Raises TypeError for other types, ValueError for lists and arrays that do not fit together.
    """
    missing: list[VkArray | None] = [None] * len(parameters)
    lists = (parameters, gradients, means, squares, missing if largest is None else largest)
    _check("adam", *lists)
    first, second = betas
    values = (rate, decay, eps, 1 - first, second, 1 - second, _logarithm(first), _logarithm(second))
    flags = maximize * _MAXIMIZE | decoupled * _DECOUPLED | (largest is not None) * _LARGEST
    run(_PLAIN_ADAM if largest is None else _ADAM, lists, values, flags=flags, steps=steps, skip=skip, scale=scale)


def _logarithm(beta: float) -> float:
    return math.log(beta) if beta > 0 else -math.inf


def sgd(
    parameters: Sequence[VkArray], gradients: Sequence[VkArray], buffers: Sequence[VkArray] | None = None, /, *,
    rate: float, decay: float = 0.0, momentum: float = 0.0, dampening: float = 0.0, nesterov: bool = False,
    maximize: bool = False, first_step: bool = False, skip: VkArray | None = None, scale: VkArray | None = None,
) -> None:  # fmt: skip
    """A step of stochastic gradient descent over all parameters, in place.

    Parameters: parameters, gradients and, with momentum, buffers (lists of contiguous real floating-point arrays); first_step (the
    buffers are yet to be filled); the others as usual, skip and scale as `adam`.
    Raises TypeError for other types, ValueError for lists and arrays that do not fit together.
    """
    missing: list[VkArray | None] = [None] * len(parameters)
    with_momentum = bool(momentum) and buffers is not None
    lists = (parameters, gradients, buffers if with_momentum and buffers is not None else missing)
    _check("sgd", *lists)
    flags = maximize * _MAXIMIZE | nesterov * _NESTEROV | first_step * _FIRST_STEP | with_momentum * _MOMENTUM
    run(
        _SGD if with_momentum else _PLAIN_SGD,
        lists,
        (rate, decay, momentum, dampening),
        flags=flags,
        skip=skip,
        scale=scale,
    )


def adagrad(
    parameters: Sequence[VkArray], gradients: Sequence[VkArray], sums: Sequence[VkArray], steps: Sequence[VkArray], /, *,
    rate: float, rate_decay: float = 0.0, decay: float = 0.0, eps: float = 1e-10, maximize: bool = False,
    skip: VkArray | None = None, scale: VkArray | None = None,
) -> None:  # fmt: skip
    """A step of Adagrad over all parameters, in place.

    Parameters: parameters, gradients and sums of their squares (lists of contiguous real floating-point arrays); steps
    (float32 arrays of one element: the number of this step, from 1 on); rate; rate_decay (the rate is divided by
    1 + rate_decay (step - 1)); decay (of weights); eps; maximize; skip and scale as `adam`.
    Raises TypeError for other types, ValueError for lists and arrays that do not fit together.
    """
    lists = (parameters, gradients, sums)
    _check("adagrad", *lists)
    values = (rate, rate_decay, decay, eps)
    run(_ADAGRAD, lists, values, flags=maximize * _MAXIMIZE, steps=steps, skip=skip, scale=scale)
