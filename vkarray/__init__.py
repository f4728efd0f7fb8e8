"""NumPy-like arrays on any Vulkan device, after the Python array API standard.

    import vkarray as vx

This file is the index of the namespace: each group below is a chapter of the standard.
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import fft, linalg, random
from . import interchange as _interchange
from . import other_names as _other_names
from . import printing as _printing
from .array import VkArray
from .cache import statistics as cache_stats
from .configuration import config
from .dlpack import from_dlpack
from .dtypes import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .dtypes import bool_ as bool
from .errors import (
    ConfigurationError,
    DeviceError,
    DeviceLostError,
    FeatureError,
    ForkError,
    LinAlgError,
    OutOfMemoryError,
    ShaderError,
    ValidationError,
    VkArrayError,
    VulkanError,
)  # fmt: skip
from .files import load, save, savez
from .inspection import __array_namespace_info__
from .ops.closeness import allclose, array_equal, isclose
from .ops.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)  # fmt: skip
from .ops.data_type import astype, can_cast, finfo, iinfo, isdtype, result_type
from .ops.einsum import einsum
from .ops.elementwise import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    clip,
    conj,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    exp,
    expm1,
    floor,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    imag,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    nextafter,
    not_equal,
    positive,
    pow,
    real,
    reciprocal,
    remainder,
    round,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    trunc,
)  # fmt: skip
from .ops.histogram import bincount, histogram
from .ops.indexing import take, take_along_axis
from .ops.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from .ops.manipulation import (
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)  # fmt: skip
from .ops.ndarray import dot
from .ops.nonzero import nonzero
from .ops.pad import pad
from .ops.quantile import median, percentile, quantile
from .ops.searching import argmax, argmin, count_nonzero, searchsorted, where
from .ops.set import isin, unique_all, unique_counts, unique_inverse, unique_values
from .ops.sorting import argsort, sort
from .ops.statistical import cumulative_prod, cumulative_sum, max, mean, min, prod, std, sum, var
from .ops.utility import all, any, diff
from .user_kernel import kernel

from math import e, inf, nan, pi  # isort: skip

__version__ = "0.1.0"
__array_api_version__ = "2025.12"
newaxis = None


def check_api_version(version: str | None) -> None:
    """Check a version of the standard. Raises ValueError unless it is None or one that vkarray follows."""
    if version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"__array_namespace__: expected api_version up to {__array_api_version__}, got {version!r}.")


if not _TYPE_CHECKING:  # or type checkers would take every name for one that exists
    globals().pop("array", None)  # the module of that name, which someone who wants NumPy's function would find

    def __getattr__(name: str) -> None:
        raise _other_names.missing(_sys.modules[__name__], name)
