"""Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.array import VkArray
from ...kernels import launch
from ...ops.elementwise import multiply
from ...ops.fourier import functions as vx
from ..dispatch.table import native

# PyTorch's numbers for what a transform is multiplied by: 1, 1 / sqrt(n), 1 / n.
_POWERS = (0.0, 0.5, 1.0)


def _scaled(x: VkArray, normalization: int, points: int) -> VkArray:
    """Undo what vkarray's norm "forward" or "backward" has left: multiply by PyTorch's factor."""
    if normalization == 0:
        return x
    return multiply(x, points ** -_POWERS[normalization])


def _points(x: VkArray, dim: Sequence[int]) -> int:
    return math.prod(x._shape[axis] for axis in dim)


def _complex(x: VkArray, dim: Sequence[int], normalization: int, forward: bool) -> VkArray:
    if not dim:
        return launch.copy(x)
    function, norm = (vx.fftn, "backward") if forward else (vx.ifftn, "forward")
    return _scaled(function(x, axes=tuple(dim), norm=norm), normalization, _points(x, dim))  # type: ignore[arg-type]


def _of_real(x: VkArray, dim: Sequence[int], normalization: int, onesided: bool) -> VkArray:
    function: Any = vx.rfftn if onesided else vx.fftn
    return _scaled(function(x, axes=tuple(dim)), normalization, _points(x, dim))


def _to_real(x: VkArray, dim: Sequence[int], normalization: int, last_dim_size: int) -> VkArray:
    lengths = (*(x._shape[axis] for axis in dim[:-1]), last_dim_size)
    result = vx.irfftn(x, s=lengths, axes=tuple(dim), norm="forward")
    return _scaled(result, normalization, math.prod(lengths))


native("_fft_c2c", _complex)
native("_fft_r2c", _of_real)
native("_fft_c2r", _to_real)
