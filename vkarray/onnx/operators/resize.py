"""Arrays of another size: Resize and Upsample, one axis after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any, NamedTuple

import numpy as np

import vkarray as vx

from ...nn import resample
from ..interpreter import Call
from ..table import INSIDE, axes_of, operator

_Floats = np.ndarray[Any, Any]


class How(NamedTuple):
    """The attributes of Resize."""

    mode: str = "nearest"
    coordinates: str = "half_pixel"
    nearest: str = "round_prefer_floor"
    a: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False
    extrapolation: float = 0.0


def _source(how: How, length: int, scale: float, output: int, roi: tuple[float, float]) -> _Floats:
    """Where each element of the result lies between those of an axis: in float32 for what is rounded, as elsewhere."""
    dtype: Any = np.float32 if how.mode == "nearest" else np.float64
    y, scale = np.arange(output, dtype=dtype), dtype(scale)
    if how.coordinates == "align_corners":
        return y * (dtype(length - 1) / dtype(max(output - 1, 1)))
    if how.coordinates == "asymmetric":
        return y / scale
    if how.coordinates == "tf_crop_and_resize":
        first, last = (dtype(one * (length - 1)) for one in roi)
        return y * 0 + (first + last) / 2 if output == 1 else y * ((last - first) / dtype(output - 1)) + first
    if how.coordinates == "tf_half_pixel_for_nn":
        return (y + dtype(0.5)) / scale
    if how.coordinates == "pytorch_half_pixel" and output == 1:
        return y * 0
    if how.coordinates not in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
        raise NotImplementedError(f"the coordinates {how.coordinates!r} are none that ONNX knows")
    moved = (y + dtype(0.5)) / scale - dtype(0.5)
    if how.coordinates == "half_pixel_symmetric":
        moved = moved + dtype(length / 2 * (1 - output / (scale * length)))
    return moved


def _nearest(how: How, x: _Floats, length: int) -> _Floats:
    rounding = {
        "round_prefer_floor": lambda: np.ceil(x - 0.5), "round_prefer_ceil": lambda: np.floor(x + 0.5),
        "floor": lambda: np.floor(x), "ceil": lambda: np.ceil(x),
    }  # fmt: skip
    return np.clip(rounding[how.nearest](), 0, length - 1).astype(np.int64)


def _weight(how: How, away: _Floats) -> _Floats:
    """How much an element counts that lies so far away."""
    away = np.abs(away)
    if how.mode == "linear":
        return np.clip(1 - away, 0, 1)
    a = how.a
    near = ((a + 2) * away - (a + 3)) * away * away + 1
    far = ((a * away - 5 * a) * away + 8 * a) * away - 4 * a
    return np.where(away <= 1, near, np.where(away < 2, far, 0))


def _matrix(how: How, x: _Floats, length: int, scale: float) -> _Floats:
    """The weights of the elements of an axis for those of the result: (result, axis)."""
    reach = (1 if how.mode == "linear" else 2) / (min(scale, 1.0) if how.antialias else 1.0)
    squeezed = min(scale, 1.0) if how.antialias else 1.0
    taps = np.arange(int(np.floor(-reach)), int(np.ceil(reach)) + 1)
    places = np.floor(x)[:, None] + taps
    weights = _weight(how, (places - x[:, None]) * squeezed)
    if how.exclude_outside:
        weights = np.where((places >= 0) & (places < length), weights, 0)
    if how.antialias or how.exclude_outside:
        weights = weights / weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((len(x), length))
    np.add.at(matrix, (np.arange(len(x))[:, None], np.clip(places, 0, length - 1).astype(np.int64)), weights)
    return matrix


# Roundings to the nearest element for which the library has a kernel, by what says where elements lie.
_NEAREST = {
    ("asymmetric", "floor"): "nearest", ("half_pixel", "round_prefer_ceil"): "nearest-exact",
    ("tf_half_pixel_for_nn", "floor"): "nearest-exact",
}  # fmt: skip


def _by_kernel(
    how: How, x: Any, axes: Sequence[int], scales: Sequence[float], sizes: Sequence[int], given: bool
) -> Any:
    """The result where the library has a kernel for it, else None."""
    if list(axes) != list(range(2, x.ndim)) or x.ndim not in (3, 4, 5) or not vx.isdtype(x.dtype, "real floating"):
        return None
    told = list(scales) if given else None
    if how.mode == "nearest":
        method = _NEAREST.get((how.coordinates, how.nearest))
        return None if method is None else resample.interpolate(x, list(sizes), method, scales=told)
    corners = how.coordinates == "align_corners"
    halves = how.coordinates == "half_pixel" or (how.coordinates == "pytorch_half_pixel" and min(sizes) > 1)
    plain = how.mode in ("linear", "cubic") and how.a == -0.75 and not how.antialias and not how.exclude_outside
    if not (plain and (corners or halves)) or (how.mode == "cubic" and x.ndim != 4):
        return None
    return resample.interpolate(x, list(sizes), how.mode, align_corners=corners, scales=told)


def _resized(
    call: Call, how: How, x: Any, axes: Sequence[int], scales: Sequence[float], sizes: Sequence[int], given: bool,
    roi: Sequence[tuple[float, float]],
) -> Any:  # fmt: skip
    crops = how.coordinates == "tf_crop_and_resize"
    chosen = [one for one, axis in enumerate(axes) if crops or sizes[one] != x.shape[axis] or scales[one] != 1]
    axes, scales, sizes = [axes[one] for one in chosen], [scales[one] for one in chosen], [sizes[one] for one in chosen]
    roi = [roi[one] for one in chosen]
    if not axes:
        return x
    found = _by_kernel(how, x, axes, scales, sizes, given)
    if found is not None:
        return found
    found = x if how.mode == "nearest" else call.cast(x, vx.float64 if x.dtype == vx.float64 else vx.float32)
    outside = []
    for axis, scale, size, part in zip(axes, scales, sizes, roi, strict=True):
        length = x.shape[axis]
        places = _source(how, length, scale, size, part)
        if crops:
            shape = [1] * x.ndim
            shape[axis] = size
            outside.append(((places < 0) | (places > length - 1)).reshape(shape))
        if how.mode == "nearest":
            found = vx.take(found, call.array(_nearest(how, places, length), "int64"), axis=axis)
        else:
            matrix = call.array(_matrix(how, places, length, scale).astype(found.dtype.name))
            found = vx.moveaxis(vx.matmul(vx.moveaxis(found, axis, -1), matrix.T), -1, axis)
    for one in outside:
        found = vx.where(call.array(one), call.cast(call.array(how.extrapolation), found.dtype), found)
    if found.dtype == x.dtype:
        return found
    if vx.isdtype(x.dtype, "integral"):
        info = vx.iinfo(x.dtype)
        found = vx.clip(vx.trunc(found), float(info.min), float(info.max))
    return call.cast(found, x.dtype)


def _scaled(length: Any, factor: float) -> Any:
    """A length of the result. The product is rounded to float32, of which factors are, before it is rounded down."""
    if (factor * 256).is_integer():  # nothing is rounded, and lengths may vary
        return length * int(factor) if factor.is_integer() else math.floor(length * factor)
    return int(np.float32(index(length)) * np.float32(factor))


@operator("Resize", since=11, host=(1, 2, 3), half=INSIDE)
def _resize(
    call: Call, x: Any, roi: Any = None, scales: Any = None, sizes: Any = None, *, antialias: int = 0, axes: Any = None,
    coordinate_transformation_mode: str = "half_pixel", cubic_coeff_a: float = -0.75, exclude_outside: int = 0,
    extrapolation_value: float = 0.0, keep_aspect_ratio_policy: str = "stretch", mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Any:  # fmt: skip
    how = How(
        mode, coordinate_transformation_mode, nearest_mode, cubic_coeff_a, bool(antialias), bool(exclude_outside),
        extrapolation_value,
    )  # fmt: skip
    chosen = axes_of(range(x.ndim) if axes is None else axes, x.ndim)
    lengths = [x.shape[axis] for axis in chosen]
    given = scales is not None and scales.size > 0
    if given:
        factors = scales.tolist()
        wanted = [_scaled(length, factor) for length, factor in zip(lengths, factors, strict=True)]
    else:
        wanted = sizes.tolist()
        factors = [size / length for size, length in zip(wanted, lengths, strict=True)]
        if keep_aspect_ratio_policy != "stretch":
            factor = (min if keep_aspect_ratio_policy == "not_larger" else max)(factors)
            factors, given = [factor] * len(factors), True  # which sizes, being rounded, do not tell
            wanted = [int(factor * length + 0.5) for length in lengths]
    count = len(chosen)
    parts = [(0.0, 1.0)] * count
    if roi is not None and roi.size == 2 * count:
        parts = list(zip(roi[:count].tolist(), roi[count:].tolist(), strict=True))
    return _resized(call, how, x, chosen, factors, wanted, given, parts)


@operator("Resize", since=10, host=(1,), half=INSIDE)
@operator("Upsample", since=9, host=(1,), half=INSIDE)
def _upsample(call: Call, x: Any, scales: Any, *, mode: str = "nearest") -> Any:
    return _upsample_by_attribute(call, x, scales=scales.tolist(), mode=mode)


@operator("Upsample", since=7, half=INSIDE)
def _upsample_by_attribute(call: Call, x: Any, *, scales: Sequence[float], mode: str = "nearest") -> Any:
    how = How(mode, "asymmetric", "floor")
    wanted = [_scaled(length, scale) for length, scale in zip(x.shape, scales, strict=True)]
    return _resized(call, how, x, range(x.ndim), list(scales), wanted, True, [(0.0, 1.0)] * x.ndim)
