"""Boxes and regions of pictures: suppression of those that overlap, and pooling within regions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import vkarray as vx

from ...nn import regions as nn
from ...nn import suppression
from ..interpreter import Call
from ..table import FLOAT32, INSIDE, operator
from .sampling import taken


def _first(value: Any, default: float) -> float:
    return default if value is None else float(value.reshape(-1)[0])


def _corners(boxes: Any, center: int) -> Any:
    """Boxes as the lower and the upper corner, of any two corners or of the center and the lengths."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if center:
        first, second = first - second / 2, first + second / 2
    return vx.concat([vx.minimum(first, second), vx.maximum(first, second)], axis=-1)


@operator(
    "NonMaxSuppression",
    since=10,
    host=(2, 3, 4),
    reads="how many boxes are kept depends on the values",
    half=FLOAT32,
    exact=(0,),
)
def _suppress(
    call: Call,
    boxes: Any,
    scores: Any,
    most: Any = None,
    overlap: Any = None,
    least: Any = None,
    *,
    center_point_box: int = 0,
) -> Any:
    limit, threshold = int(_first(most, 0)), _first(overlap, 0.0)
    boxes = _corners(boxes, center_point_box)
    orders = vx.argsort(scores, axis=-1, descending=True, stable=True)
    kept = []
    for batch, chosen in itertools.product(range(scores.shape[0]), range(scores.shape[1])):
        order = orders[batch, chosen]
        kept.append(suppression.kept(boxes[batch][order], threshold))
    if not kept:
        return np.zeros((0, 3), np.int64)
    found = np.asarray(vx.stack(kept)).reshape(scores.shape)
    places, values = np.asarray(orders), np.asarray(scores)
    rows = []
    for batch, chosen in itertools.product(range(scores.shape[0]), range(scores.shape[1])):
        own = places[batch, chosen][found[batch, chosen] != 0]
        if least is not None:
            own = own[values[batch, chosen][own] > _first(least, 0)]
        own = own[:limit]
        rows.append(np.stack([np.full(len(own), batch), np.full(len(own), chosen), own], axis=1))
    return np.concatenate(rows).astype(np.int64)


def _with_numbers(boxes: Any, numbers: Any) -> Any:
    return vx.concat([vx.astype(vx.reshape(numbers, (-1, 1)), boxes.dtype), boxes], axis=1)


@operator("RoiAlign", since=10, half=INSIDE, exact=(1,))
def _align_whole_pixels(call: Call, x: Any, boxes: Any, numbers: Any, **attributes: Any) -> Any:
    return _align(call, x, boxes, numbers, coordinate_transformation_mode="output_half_pixel", **attributes)


@operator("RoiAlign", since=16, half=INSIDE, exact=(1,))
def _align(
    call: Call, x: Any, boxes: Any, numbers: Any, *, coordinate_transformation_mode: str = "half_pixel", mode: str = "avg",
    output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0, spatial_scale: float = 1.0,
) -> Any:  # fmt: skip
    aligned = coordinate_transformation_mode == "half_pixel"
    if mode == "avg":
        wide = x.dtype if x.dtype == vx.float64 else vx.float32
        bins = nn.Bins(output_height, output_width, spatial_scale, True, False, aligned, sampling_ratio)
        found = nn.pool(call.cast(x, wide), _with_numbers(call.cast(boxes, wide), numbers), bins)[0]
        return call.cast(found, x.dtype)
    if sampling_ratio <= 0:
        raise NotImplementedError(
            "the mode 'max' needs a sampling_ratio of at least 1 here. Export the model with one."
        )
    return _largest_samples(
        call, x, boxes, numbers, (output_height, output_width), sampling_ratio, spatial_scale, aligned
    )


def _largest_samples(
    call: Call, x: Any, boxes: Any, numbers: Any, output: tuple[int, int], sampling: int, scale: float, aligned: bool
) -> Any:
    """The largest of what each corner adds to the samples of a bin, as ONNX's reference has it."""
    corners = boxes * scale - (0.5 if aligned else 0.0)
    places = []
    for first, last, bins, size in (
        (corners[:, 1], corners[:, 3], output[0], x.shape[2]), (corners[:, 0], corners[:, 2], output[1], x.shape[3]),
    ):  # fmt: skip
        span = last - first if aligned else vx.maximum(last - first, 1.0)
        inner = call.array((np.arange(bins * sampling) + 0.5) / sampling / bins, x.dtype)
        place = vx.reshape(first, (-1, 1)) + vx.reshape(span, (-1, 1)) * inner
        places.append((vx.clip(place, 0, size - 1), (place >= -1) & (place <= size)))
    (rows, row_inside), (columns, column_inside) = places
    pictures = vx.take(x, numbers, axis=0)
    inside = row_inside[:, :, None] & column_inside[:, None, :]
    result: Any = None
    for row, column in itertools.product((0, 1), repeat=2):
        low_row, low_column = vx.floor(rows), vx.floor(columns)
        weight = _near(rows, low_row, row)[:, :, None] * _near(columns, low_column, column)[:, None, :]
        at = [
            vx.broadcast_to(vx.minimum(low_row + row, x.shape[2] - 1)[:, :, None], inside.shape),
            vx.broadcast_to(vx.minimum(low_column + column, x.shape[3] - 1)[:, None, :], inside.shape),
        ]
        part = vx.where(inside, weight, vx.zeros_like(weight))[:, None] * taken(pictures, at)
        result = part if result is None else vx.maximum(result, part)
    shape = (*result.shape[:2], output[0], sampling, output[1], sampling)
    return vx.max(vx.reshape(result, shape), axis=(3, 5))


def _near(place: Any, low: Any, step: int) -> Any:
    return place - low if step else 1 - (place - low)


@operator("MaxRoiPool", half=INSIDE, exact=(1,))
def _largest_of_regions(call: Call, x: Any, boxes: Any, *, pooled_shape: Any, spatial_scale: float = 1.0) -> Any:
    return nn.pool(x, boxes, nn.Bins(pooled_shape[0], pooled_shape[1], spatial_scale, False))[0]
