"""Losses that are no compositions of elementwise functions: the negative log likelihood of classes."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..core import dtypes, promotion
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.gather import IndexRule
from ..kernels.launch import Operation
from ..kernels.reductions import partial_dtype
from ..kernels.row_kernels import FLOATING
from ..kernels.rows import check_operands
from ..ops import creation, statistical
from ..ops.elementwise import divide, multiply, negative, not_equal
from ..ops.indexing import take_along_axis_by, take_by
from ..ops.searching import where
from ..shaders.source import Shader

if TYPE_CHECKING:
    from ..kernels.launch import Device

REDUCTIONS = ("none", "mean", "sum")

_TARGET = IndexRule("nll_loss", wraps=False, place="dimension of classes with size {length}")


@functools.cache
def _spread(dtype: DType) -> Operation:
    """A value where the class is the target's, else 0."""
    return Operation(
        f"nll_loss backward {dtype}", "a == b ? c : T(0)", (dtypes.int32, dtypes.int32, dtype), dtype, dtype
    )  # fmt: skip


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of all types, for the archive."""
    for dtype in FLOATING:
        if is_supported(dtype, device):
            yield from _spread(dtype).variants(device)


def _checked(
    function: str, x: VkArray, target: VkArray, weight: VkArray | None, reduction: str
) -> tuple[VkArray, VkArray]:
    """x of shape (batch, classes, ...) and the target of shape (batch, ...). Raises TypeError and ValueError."""
    check_operands(function, [one for one in (x, target, weight) if one is not None])
    promotion.check_category(function, x._dtype, "real floating")
    promotion.check_category(function, target._dtype, "integer")
    if x.ndim == 1 and target.ndim <= 1:
        x, target = x._view((1, *x._shape), (0, *x._strides)), target._view((1,), (1,))
    if x.ndim < 2 or target._shape != (x._shape[0], *x._shape[2:]):
        raise ValueError(
            f"{function}: expected x of shape (batch, classes, ...) and a target of shape (batch, ...), got {x._shape} and "
            f"{target._shape}."
        )
    if weight is not None and weight._shape != (x._shape[1],):
        raise ValueError(f"{function}: expected a weight for each of {x._shape[1]} classes, got shape {weight._shape}.")
    if reduction not in REDUCTIONS:
        raise ValueError(f"{function}: expected reduction as one of {REDUCTIONS}, got {reduction!r}.")
    return x, target


def _weights(x: VkArray, target: VkArray, weight: VkArray | None, ignore: int) -> tuple[VkArray, VkArray, VkArray]:
    """Whether each target counts, the class to read for it, and its weight (0 where it does not count)."""
    real = partial_dtype(x._dtype)
    counts = not_equal(target, _within(ignore, target._dtype))
    known = where(counts, target, 0)
    own = cast(counts, real) if weight is None else where(counts, take_by(_TARGET, cast(weight, real), known), 0.0)
    return counts, known, own


def _within(number: int, dtype: DType) -> int:
    """The number; where the type lacks it, one that is no class."""
    low, high = promotion.integer_range(dtype)
    return number if low <= number <= high else high


def nll_loss(
    x: VkArray, target: VkArray, weight: VkArray | None = None, *, reduction: str = "mean", ignore: int = -100
) -> tuple[VkArray, VkArray]:
    """The negative of x at the class that is the target, times its weight.

    Parameters: x (real floating-point, logarithms of probabilities, of shape (batch, classes, ...) or (classes,)); target
    (integers, (batch, ...) or one number); weight (of each class); reduction ("none", "sum", or "mean": divided by the sum of
    the weights); ignore (a target that does not count). Returns (loss, sum of the weights), of the dtype of x.
    Raises TypeError for other types, ValueError for shapes that do not fit and, at the next read of a value, IndexError for a
    class out of range.
    """
    shape = target._shape
    x, target = _checked("nll_loss", x, target, weight, reduction)
    real, dtype = partial_dtype(x._dtype), x._dtype
    counts, known, own = _weights(x, target, weight, ignore)
    picked = take_along_axis_by(_TARGET, x, known._view((known._shape[0], 1, *known._shape[1:]), _with_axis(known)), 1)
    picked = picked._view(target._shape, (picked._strides[0], *picked._strides[2:]))
    losses = where(counts, negative(multiply(cast(picked, real), own)), 0.0)
    total = statistical.sum(own)
    if reduction == "none":
        return cast(losses, dtype)._view(shape, losses._strides if shape else ()), cast(total, dtype)
    loss = statistical.sum(losses)
    return cast(divide(loss, total) if reduction == "mean" else loss, dtype), cast(total, dtype)


def _with_axis(x: VkArray) -> tuple[int, ...]:
    return (x._strides[0], 0, *x._strides[1:])


def nll_loss_backward(
    gradient: VkArray, x: VkArray, target: VkArray, weight: VkArray | None = None, *, reduction: str = "mean",
    ignore: int = -100, total: VkArray | None = None,
) -> VkArray:  # fmt: skip
    """The gradient of x from that of `nll_loss`; `total` is the sum of the weights that it returned.

    Returns an array of the shape and dtype of x. Errors as `nll_loss`.
    """
    shape = x._shape
    x, target = _checked("nll_loss_backward", x, target, weight, reduction)
    real, dtype = partial_dtype(x._dtype), x._dtype
    counts, known, own = _weights(x, target, weight, ignore)
    wide = cast(gradient, real)
    if reduction == "mean":
        wide = divide(wide, statistical.sum(own) if total is None else cast(total, real))
    if reduction == "none":
        wide = wide._view(target._shape, wide._strides if wide.ndim else (1,))
    values = launch.contiguous(cast(where(counts, negative(multiply(own, wide)), 0.0), dtype))
    known = launch.contiguous(cast(known, dtypes.int32))
    classes = creation.arange(x._shape[1], dtype=dtypes.int32, device=x._device)
    inner = (1,) * (x.ndim - 2)
    result = empty(x._shape, dtype, x._device)
    operands = (
        classes._view((1, x._shape[1], *inner), (0, 1, *(0 for _ in inner))),
        *(one._view((one._shape[0], 1, *one._shape[1:]), _with_axis(one)) for one in (known, values)),
    )
    launch.elementwise(_spread(dtype), operands, result)
    return result._view(shape, result._strides[-len(shape) :])
