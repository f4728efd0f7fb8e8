"""Scales and shifts of channels by constants, such as normalization of batches, put into the weights of the product before them.

Source: B. Jacob et al., "Quantization and training of neural networks" (2018), section 3.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

_Array = np.ndarray[Any, Any]
OPERATORS = ("add", "div", "mul", "sub")


class Affine(NamedTuple):
    """What is done to each channel: x * scale + shift, of one number or one for each channel."""

    scale: _Array
    shift: _Array


def of_normalization(scale: _Array, shift: _Array, mean: _Array, variance: _Array, epsilon: float) -> Affine:
    """What normalization by statistics that are known does."""
    scale, shift, mean, variance = (one.astype(np.float64) for one in (scale, shift, mean, variance))
    with np.errstate(all="ignore"):
        scale = scale / np.sqrt(variance + epsilon)
    return Affine(scale, shift - mean * scale)


def of_operator(operator: str, constant: _Array, is_first: bool, rank: int | None) -> Affine | None:
    """What one of OPERATORS does by a constant, which `is_first` of the two; None where it is not one number for each channel.

    The result has `rank` dimensions, of which the second is that of channels; where that is not known, the last one.
    """
    one, zero = np.ones(1), np.zeros(1)
    axis = 0 if rank is None else 1
    shape = (1,) * ((rank or 1) - constant.ndim) + constant.shape
    if len(shape) != (rank or 1) or any(length != 1 for other, length in enumerate(shape) if other != axis):
        return None
    if is_first and operator in ("sub", "div"):
        return None
    number = constant.astype(np.float64).reshape(-1)
    if operator in ("mul", "div"):
        with np.errstate(all="ignore"):
            return Affine(number if operator == "mul" else 1 / number, zero)
    return Affine(one, number if operator == "add" else -number)


class Weights(NamedTuple):
    """The constants of a product."""

    weight: _Array
    shape: tuple[int, ...]  # of the weight, in which the channels of the result are a dimension of its own
    axis: int  # this dimension; where it is the third, the first one is that of groups
    bias: _Array | None  # of float64, one for each channel; None where there can be none

    def merged(self, affine: Affine) -> tuple[_Array, _Array] | None:
        """The weight and the bias, in float64, that do so as well; None where there are none."""
        channels = count(self.shape, self.axis)
        if any(one.size not in (1, channels) for one in affine):
            return None
        scale, shift = (np.broadcast_to(one, channels) for one in affine)
        if self.bias is None and shift.any():
            return None
        kept = (0, 2) if self.axis == 2 else (self.axis,)
        along = [length if axis in kept else 1 for axis, length in enumerate(self.shape)]
        with np.errstate(all="ignore"):
            exact = (self.weight.astype(np.float64).reshape(self.shape) * scale.reshape(along)).reshape(
                self.weight.shape
            )
            return exact, shift + (0 if self.bias is None else self.bias * scale)


def count(shape: tuple[int, ...], axis: int) -> int:
    """How many channels the result of a product has, of the shape of its weight as `Weights` has it."""
    return shape[axis] * (shape[0] if axis == 2 else 1)


def is_close(exact: _Array, rounded: _Array, roundoff: float) -> bool:
    """Whether numbers are rounded and no more: finite, and not too small for their type."""
    rounded = rounded.astype(np.float64)
    largest, away = np.abs(exact).max(initial=0), np.abs(exact - rounded).max(initial=0)
    return bool(np.isfinite(rounded).all() and away <= largest * roundoff)
