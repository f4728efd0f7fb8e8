"""Softmax and its logarithm along any axis, with masks, and the way back through both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..core import dtypes, layout, promotion
from ..core.array import VkArray
from ..kernels.planned import recordable
from ..kernels.row_kernels import Option, row_kernel
from ..kernels.rows import check_array
from ..shaders.source import Variant

if TYPE_CHECKING:
    from ..kernels.launch import Device

_LARGEST = {"combine_1": "max(x, y)", "identity_1": "VX_NEGATIVE_INFINITY"}

_SOFTMAX = row_kernel(
    "softmax", "a", "c * t", phase_2="vx_exp_below(a - s)", finish_2="vx_fast_reciprocal(t)", second=("same",), **_LARGEST,
)  # fmt: skip
_LOG_SOFTMAX = row_kernel(
    "log_softmax", "a", "(a - s) - t", phase_2="vx_exp_below(a - s)", finish_2="vx_log(t)", **_LARGEST
)
_SOFTMAX_BACKWARD = row_kernel("softmax_backward", "a * b", "b * (a - s) * PARAMETER(0)")
_LOG_SOFTMAX_BACKWARD = row_kernel("log_softmax_backward", "a", "a - vx_exp_below(b) * s")

# A score of attention: scaled, then masked by a bool (true: keep) or by a number that is added, then by its place; rows
# without any score are 0.
_SEEN = "(!OPTION || int(element) <= int(row % uint(arguments.matrix[0])) + arguments.matrix[1])"
_SCORE = f"({_SEEN} ? VX_MASKED(a * PARAMETER(0), b) : VX_NEGATIVE_INFINITY)"
_MASKED_SOFTMAX = row_kernel(
    "masked softmax", _SCORE, "vx_is_negative_infinity(s) ? T(0) : c * t", phase_2=f"vx_exp_below({_SCORE} - s)",
    finish_2="vx_fast_reciprocal(t)", second=("same", "bool"),
    combine_1="vx_is_nan(x) || x > y ? x : y",  # keeps NaN: it is no row without any score
    identity_1="VX_NEGATIVE_INFINITY",
)  # fmt: skip


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for kernel in (_SOFTMAX, _LOG_SOFTMAX, _SOFTMAX_BACKWARD, _LOG_SOFTMAX_BACKWARD, _MASKED_SOFTMAX):
        yield from kernel.variants(device)


def _checked(function: str, x: VkArray, axis: int, *others: VkArray) -> tuple[VkArray, int]:
    """x with at least 1 dimension, and the axis from its front. Raises TypeError, ValueError and IndexError."""
    promotion.check_category(function, check_array(function, x)._dtype, "real floating")
    for other in others:
        if check_array(function, other)._shape != x._shape or other._dtype is not x._dtype:
            raise ValueError(
                f"{function}: expected arrays of one shape and dtype, got {x._shape} {x._dtype} and {other._shape} "
                f"{other._dtype}. Give the gradient of the result and the result itself."
            )
    return x, layout.normalize_axis(axis, max(x.ndim, 1), function)


def _with_axis(x: VkArray) -> VkArray:
    return x if x.ndim else x._view((1,), (1,))


@recordable
def softmax(x: VkArray, /, *, axis: int = -1) -> VkArray:
    """exp(x) divided by its sum along an axis.

    Parameters: x (real floating-point); axis. Returns an array of the shape and dtype of x: NaN along the axis where x has a
    NaN or a positive infinity, or nothing but negative infinities.
    Raises TypeError for other types, IndexError for an axis out of range.
    Method: the largest element is subtracted first; float16 and bfloat16 compute in float32.
    """
    x, axis = _checked("softmax", x, axis)
    return _SOFTMAX(_with_axis(x), axis)._view(x._shape, layout.contiguous_strides(x._shape))


@recordable
def log_softmax(x: VkArray, /, *, axis: int = -1) -> VkArray:
    """The logarithm of `softmax`, without its underflow.

    Parameters, errors and method as `softmax`.
    """
    x, axis = _checked("log_softmax", x, axis)
    return _LOG_SOFTMAX(_with_axis(x), axis)._view(x._shape, layout.contiguous_strides(x._shape))


def softmax_backward(gradient: VkArray, result: VkArray, /, *, axis: int = -1, scale: float = 1.0) -> VkArray:
    """The gradient of x, times `scale`, from that of `softmax` and its result: result * (gradient - sum(gradient * result)).

    Parameters: gradient, result (of one shape and real floating-point dtype); axis. Returns an array of their shape and dtype.
    Raises TypeError for other types, ValueError for different shapes, IndexError for an axis out of range.
    """
    gradient, axis = _checked("softmax_backward", gradient, axis, result)
    made = _SOFTMAX_BACKWARD(
        _with_axis(gradient), axis, b=_with_axis(result), option=Option(parameters=(scale, 0.0))
    )  # fmt: skip
    return made._view(gradient._shape, layout.contiguous_strides(gradient._shape))


def log_softmax_backward(gradient: VkArray, result: VkArray, /, *, axis: int = -1) -> VkArray:
    """The gradient of x from that of `log_softmax` and its result: gradient - exp(result) * sum(gradient).

    Parameters, result and errors as `softmax_backward`.
    """
    gradient, axis = _checked("log_softmax_backward", gradient, axis, result)
    made = _LOG_SOFTMAX_BACKWARD(_with_axis(gradient), axis, b=_with_axis(result))
    return made._view(gradient._shape, layout.contiguous_strides(gradient._shape))


@recordable
def masked_softmax(
    scores: VkArray, /, mask: VkArray | None = None, *, scale: float = 1.0, causal: bool = False, offset: int = 0
) -> VkArray:
    """`softmax` along the last axis of scale * scores where the mask allows, for attention; 0 in rows that see nothing.

    Parameters: scores (real floating-point, (..., L, S)); mask (bool: where to look, or of the dtype of the scores: added
    to them; broadcasts to their shape); scale; causal (row l sees the places 0 to l + offset alone).
    Returns an array of the shape and dtype of the scores.
    Raises TypeError for other types, ValueError for a mask that does not broadcast or fewer than 2 dimensions.
    """
    scores, axis = _checked("masked_softmax", scores, -1)
    if scores.ndim < 2:
        raise ValueError(f"masked_softmax: expected scores of 2 dimensions or more, got shape {scores._shape}.")
    if mask is not None:
        if check_array("masked_softmax", mask)._dtype not in (dtypes.bool_, scores._dtype):
            raise TypeError(
                f"masked_softmax: expected a mask of bool or {scores._dtype}, got {mask._dtype}. Use astype."
            )
        if layout.broadcast_shapes([mask._shape, scores._shape], "masked_softmax") != scores._shape:
            raise ValueError(
                f"masked_softmax: a mask of shape {mask._shape} does not broadcast to the scores of {scores._shape}."
            )
    option = Option((scale, 0.0), (scores._shape[-2], offset), causal)
    return _MASKED_SOFTMAX(scores, axis, b=mask, option=option)
