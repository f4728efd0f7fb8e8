"""Convolutions over one to three dimensions and their gradients.

All are one of three sums over the same windows, between what the windows slide over (`slid`: the input of a convolution, the
result of a transposed one) and what they make (`made`):

    made[n, m, o] = sum over c, tap of weight[m, c, tap] * slid[n, c, place of tap in o]
    slid[n, c, i] = sum over m, tap of weight[m, c, tap] * made[n, m, the window with place i under tap]
    weight[m, c, tap] = sum over n, o of made[n, m, o] * slid[n, c, place of tap in o]

Where groups have many channels these are products of matrices (`convolution_products`), where they have few, kernels of their
own add directly (`convolution_direct`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import layout, promotion
from ..core.array import VkArray, check_supported, empty
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.planned import recordable
from ..kernels.rows import ROWS, check_array
from ..ops import creation, statistical
from .convolution_direct import Problem, add_directly, add_weight_directly
from .convolution_products import made_by_products, slid_by_products, uses_products, weight_by_products
from .windows import Pairs, Triple, Windows, five, numbers, paddings, triple

if TYPE_CHECKING:
    from ..kernels.launch import Device

_MOST_PHASES = 8


# -- the three sums ---------------------------------------------------------------------------------------------------


def _made(slid: VkArray, weight: VkArray, bias: VkArray | None, problem: Problem, result: VkArray) -> None:
    if uses_products(problem, weight._dtype, weight._device):
        made_by_products(slid, weight, bias, problem, result)
    else:
        add_directly(slid, weight, bias, problem, result, False)


def _slid(made: VkArray, weight: VkArray, bias: VkArray | None, problem: Problem, result: VkArray) -> None:
    windows = problem.windows
    turned = Problem(windows, problem.groups, problem.made, problem.slid)  # as which phases are made
    if windows.trivial or (turned.direct and not problem.direct):
        phases = False
    elif set(windows.stride) == {1}:
        phases = True
    else:
        phases = _has_few_phases(windows) and (windows.overlapping or windows.taps == 1) and not problem.direct
    if phases:
        _slid_by_phases(made, weight, bias, problem, result)
    elif uses_products(problem, weight._dtype, weight._device, whole=True):
        slid_by_products(made, weight, bias, problem, result)
    else:
        add_directly(made, weight, bias, problem, result, True)


# -- transposed convolutions as convolutions --------------------------------------------------------------------------


def _has_few_phases(windows: Windows) -> bool:
    """Whether phases are few, and hold every so many-th tap: where taps are neighbours, or windows move by one place."""
    steps = zip(windows.stride, windows.dilation, strict=True)
    return math.prod(windows.stride) <= _MOST_PHASES and all(step == 1 or gap == 1 for step, gap in steps)


def _slid_by_phases(made: VkArray, weight: VkArray, bias: VkArray | None, problem: Problem, result: VkArray) -> None:
    """Every stride-th place of the result meets every stride-th tap of windows that are neighbours: a convolution."""
    windows = problem.windows
    if any(taps < step for taps, step in zip(windows.kernel, windows.stride, strict=True)):
        _fill(result, bias)  # some places meet no tap
    for phase, starts, turned in _phases(windows):
        steps = [stride * step for stride, step in zip(result._strides[2:], windows.stride, strict=True)]
        first = sum(start * stride for start, stride in zip(starts, result._strides[2:], strict=True))
        target = result._view((*result._shape[:2], *turned.output), (*result._strides[:2], *steps), first)
        part_of = Problem(turned, problem.groups, problem.made, problem.slid)
        direct = not uses_products(part_of, weight._dtype, weight._device)
        whole = direct or target._contiguous
        into = target if whole else empty(target._shape, target._dtype, target._device)
        _made(made, _taps_of_phase(weight, problem, phase, turned.kernel), bias, part_of, into)
        if not whole:
            launch.elementwise(launch.copy_operation(into._dtype), (into,), target)


@functools.lru_cache(maxsize=1024)
def _phases(windows: Windows) -> tuple[tuple[Triple, Triple, Windows], ...]:
    """Of the phases that meet taps: their numbers, their first places, and the windows that make their places."""
    found = []
    for depth, height, width in itertools.product(*map(range, windows.stride)):
        axes = [_phase(windows, axis, number) for axis, number in enumerate((depth, height, width))]
        starts, output, kernel, padding = (triple(values, 0) for values in zip(*axes, strict=True))
        if 0 not in output + kernel:
            turned = Windows(windows.output, output, kernel, padding=padding, dilation=windows.dilation)
            found.append(((depth, height, width), starts, turned))
    return tuple(found)


def _phase(windows: Windows, axis: int, number: int) -> tuple[int, int, int, int]:
    """Of a phase, along one axis: its first place, how many it has, its taps, and the padding of its windows."""
    step, gap, pad = windows.stride[axis], windows.dilation[axis], windows.padding[axis]
    first = (number - pad) % step
    taps = max(0, -(-(windows.kernel[axis] - number) // step))
    count = max(0, -(-(windows.input[axis] - first) // step))
    return first, count, taps, gap * (taps - 1) - (first + pad) // step


def _taps_of_phase(weight: VkArray, problem: Problem, phase: tuple[int, ...], kernel: tuple[int, ...]) -> VkArray:
    """(groups, slid, made, taps of a phase in reverse order) of a contiguous weight."""
    groups, slid, made, taps = problem.groups, problem.slid, problem.made, problem.windows.taps
    steps = layout.contiguous_strides(problem.windows.kernel)
    strides = [step * apart for step, apart in zip(steps, problem.windows.stride, strict=True)]
    last = sum(
        step * number + stride * (count - 1)
        for step, stride, number, count in zip(steps, strides, phase, kernel, strict=True)
    )
    return launch.copy(
        weight._view(
            (groups, slid, made, *kernel),
            (made * slid * taps, taps, slid * taps, *(-stride for stride in strides)), last,
        )
    )  # fmt: skip


def _fill(target: VkArray, bias: VkArray | None) -> None:
    target[...] = 0
    if bias is not None:
        column = bias._view((bias._shape[0], *(1,) * (target.ndim - 2)), (bias._strides[0], *(0,) * (target.ndim - 2)))
        launch.elementwise(ROWS["add"].operation(target._dtype), (target, column), target)


def _weight(slid: VkArray, made: VkArray, problem: Problem, result: VkArray) -> None:
    if uses_products(problem, result._dtype, result._device):
        weight_by_products(slid, made, problem, result)
    else:
        add_weight_directly(slid, made, problem, result)


# -- functions --------------------------------------------------------------------------------------------------------


class _Call(NamedTuple):
    """A checked call: the problem and the shape of its result."""

    problem: Problem
    shape: tuple[int, ...]


def _checked(
    function: str, category: str, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any,
    transposed: bool, output_padding: Any,
) -> _Call:  # fmt: skip
    for name, array in (("x", x), ("weight", weight), ("bias", x if bias is None else bias)):
        check_array(function, array)
        promotion.check_category(function, array._dtype, category)
        check_supported(array._dtype, array._device, function)
        if array._dtype is not x._dtype or array._device is not x._device:
            raise TypeError(
                f"{function}: expected {name} of the dtype and device of x, {x._dtype} on {x._device}, got {array._dtype} on "
                f"{array._device}. Convert one of them."
            )
    rank = x.ndim - 2
    if rank not in (1, 2, 3) or weight.ndim != x.ndim:
        raise ValueError(
            f"{function}: expected x and weight of 3, 4 or 5 dimensions both, got shapes {x._shape} and {weight._shape}."
        )
    groups = layout.as_integer(groups, function, "groups")
    steps, pads = numbers(function, "stride", stride, rank, 1), paddings(function, padding, rank)
    apart = numbers(function, "dilation", dilation, rank, 1)
    more = numbers(function, "output_padding", output_padding, rank, 0)
    call = _geometry(function, x._shape, weight._shape, steps, pads, apart, groups, bool(transposed), more)
    if bias is not None and bias._shape != call.shape[1:2]:
        raise ValueError(f"{function}: expected a bias of shape {call.shape[1:2]}, got {bias._shape}.")
    return call


@functools.lru_cache(maxsize=4096)
def _geometry(
    function: str, shape: layout.Shape, weight: layout.Shape, steps: layout.Shape, pads: Pairs, apart: layout.Shape,
    groups: int, transposed: bool, more: layout.Shape,
) -> _Call:  # fmt: skip
    wanted = weight[0] if transposed else weight[1] * groups
    if groups < 1 or shape[1] != wanted or weight[0] % groups:
        raise ValueError(
            f"{function}: x of shape {shape} and weight of shape {weight} do not match for {groups} groups: expected "
            f"{wanted} channels, and a multiple of groups as the first dimension of weight."
        )
    size, kernel = shape[2:], weight[2:]
    if transposed:
        other = tuple(
            (n - 1) * s - sum(p) + d * (k - 1) + o + 1
            for n, s, p, d, k, o in zip(size, steps, pads, apart, kernel, more, strict=True)
        )
        if any(o >= max(s, d) for o, s, d in zip(more, steps, apart, strict=True)):
            raise ValueError(
                f"{function}: expected output_padding below stride or dilation, got {more} with {steps} and {apart}."
            )
        slid, made, channels = other, size, weight[1] * groups
    else:
        if any(more):
            raise ValueError(f"{function}: output_padding is for transposed convolutions, got {more}.")
        other = tuple(
            (n + sum(p) - d * (k - 1) - 1) // s + 1
            for n, s, p, d, k in zip(size, steps, pads, apart, kernel, strict=True)
        )
        slid, made, channels = size, other, weight[0]
    if min(other) < 1 or min(kernel) < 1:
        raise ValueError(
            f"{function}: a kernel of {kernel} with stride {steps}, padding {pads} and dilation {apart} leaves nothing of {size}."
        )
    before = tuple(first for first, _ in pads)  # what comes after follows from how many windows there are
    windows = Windows(*map(triple, (slid, made, kernel, steps, before, apart), (1, 1, 1, 1, 0, 1)))
    return _Call(Problem(windows, groups, weight[1], weight[0] // groups), (shape[0], channels, *other))


def _target(function: str, out: VkArray | None, shape: tuple[int, ...], like: VkArray) -> tuple[VkArray, VkArray]:
    """What to return and what to compute into, which is contiguous."""
    if out is None:
        result = empty(shape, like._dtype, like._device)
        return result, result
    if (
        type(out) is not VkArray
        or out._shape != shape
        or out._dtype is not like._dtype
        or out._device is not like._device
    ):
        raise ValueError(
            f"{function}: expected out as an array of shape {shape} and dtype {like._dtype}, got {out!r:.80}."
        )
    return out, out if out._contiguous else empty(shape, like._dtype, like._device)


@recordable
def convolution(
    x: VkArray, weight: VkArray, bias: VkArray | None = None, /, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1, transposed: bool = False, output_padding: Any = 0, out: VkArray | None = None,
) -> VkArray:  # fmt: skip
    """A convolution (cross-correlation, as neural networks have it) over one to three dimensions, or a transposed one.

    Parameters: x (real numeric) of shape (N, C, L1, ...); weight of shape (M, C / groups, K1, ...), for a transposed
    convolution (C, M / groups, K1, ...); bias of shape (M,); stride, padding (zeros on both sides), dilation, output_padding
    (added to one side of a transposed convolution's result), each an integer or one for each dimension, padding also a pair
    (before, after) for each; groups of channels; out (an array for the result, which shares no memory with the operands).
    Returns an array of shape (N, M, ...), whose lengths are (L + before + after - dilation (K - 1) - 1) // stride + 1, transposed
    (L - 1) stride - before - after + dilation (K - 1) + output_padding + 1.
    float16 and bfloat16 are summed in float32, and rounded once more where a bias is added; integers wrap.
    Raises TypeError for other types, ValueError for shapes that do not match and results without elements.
    """
    call = _checked(
        "convolution", "real numeric", x, weight, bias, stride, padding, dilation, groups, transposed, output_padding
    )
    result, target = _target("convolution", out, call.shape, x)
    if result.size:
        compute = _slid if transposed else _made
        if weight.size:
            compute(five(x), launch.contiguous(weight), bias, call.problem, five(target))
        else:
            _fill(target, bias)
        if target is not result:
            launch.elementwise(launch.copy_operation(x._dtype), (target,), result)
    return result


@recordable
def convolution_backward(
    gradient: VkArray, x: VkArray, weight: VkArray, /, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1, transposed: bool = False, output_padding: Any = 0, wanted: Sequence[bool] = (True, True, True),
) -> tuple[VkArray | None, VkArray | None, VkArray | None]:  # fmt: skip
    """The gradients of `convolution` with respect to x, weight and bias, given that with respect to its result.

    Parameters: gradient of the shape of the result; the others as in `convolution`; wanted (which of the three to compute).
    Returns the three gradients, None for those not wanted. All sums have a fixed order.
    Raises as `convolution`, and ValueError for a gradient of another shape.
    """
    function = "convolution_backward"
    call = _checked(
        function, "real floating", x, weight, None, stride, padding, dilation, groups, transposed, output_padding
    )
    check_array(function, gradient)
    if gradient._shape != call.shape or gradient._dtype is not x._dtype or gradient._device is not x._device:
        raise ValueError(
            f"{function}: expected a gradient of shape {call.shape} and dtype {x._dtype}, got {gradient!r:.80}."
        )
    some = all((x.size, weight.size, gradient.size))
    first = second = third = None
    make = empty if some else _zeros
    if wanted[0]:
        first = make(x._shape, x._dtype, x._device)
        if some:
            compute = _made if transposed else _slid
            compute(five(gradient), launch.contiguous(weight), None, call.problem, five(first))
    if wanted[1]:
        second = make(weight._shape, x._dtype, x._device)
        if some:
            slid, made = (gradient, x) if transposed else (x, gradient)
            _weight(five(slid), five(made), call.problem, second)
    if wanted[2]:
        third = statistical.sum(gradient, axis=(0, *range(2, gradient.ndim)))
    return first, second, third


def _zeros(shape: tuple[int, ...], dtype: DType, device: Device) -> VkArray:
    return creation.zeros(shape, dtype=dtype, device=device)
