"""Shapes: arrays reshaped, cut, joined, spread, and made of shapes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

import vkarray as vx

from ...core.dtypes import DTYPES
from ..interpreter import Call, described_dtype, shape_of
from ..lengths import broadcast, numbers, on_tape
from ..table import axes_of, axis_of, operator
from ..types import dtype_of, held, numpy_dtype


@operator("Constant", numpy=True)
def _constant(call: Call, **attributes: Any) -> Any:
    """A tensor, or numbers of the type that the name of the attribute says."""
    kinds = {"value_float": "float32", "value_floats": "float32", "value_int": "int64", "value_ints": "int64"}
    ((name, value),) = attributes.items()
    return value if name == "value" else call.array(value, kinds[name])


@operator("Shape", shape_only=True)
def _shape(call: Call, x: Any, *, start: int = 0, end: int | None = None) -> Any:
    return numbers(call.lengths(x)[start:end])


@operator("Size", shape_only=True)
def _size(call: Call, x: Any) -> Any:
    return numbers(math.prod(call.lengths(x)))


@operator("Reshape", host=(1,), numpy=True)
def _reshape(call: Call, x: Any, shape: Any, *, allowzero: int = 0) -> Any:
    wanted = [
        x.shape[place] if length == 0 and not allowzero else length for place, length in enumerate(shape.tolist())
    ]
    return call.xp.reshape(x, tuple(wanted))


@operator("Flatten", numpy=True)
def _flatten(call: Call, x: Any, *, axis: int = 1) -> Any:
    if axis < 0 and call.version < 11:
        raise ValueError(f"its axis is {axis}, which counts from the end from version 11 on")
    axis = axis if axis == x.ndim else axis_of(axis, x.ndim)
    return call.xp.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@operator("Squeeze", numpy=True)
def _squeeze_by_attribute(call: Call, x: Any, *, axes: Any = None) -> Any:
    chosen = [axis for axis, length in enumerate(x.shape) if length == 1] if axes is None else axes_of(axes, x.ndim)
    return call.xp.squeeze(x, axis=tuple(chosen))


@operator("Squeeze", since=13, host=(1,), numpy=True)
def _squeeze(call: Call, x: Any, axes: Any = None) -> Any:
    return _squeeze_by_attribute(call, x, axes=None if axes is None else axes.tolist())


@operator("Unsqueeze", numpy=True)
def _unsqueeze_by_attribute(call: Call, x: Any, *, axes: Any) -> Any:
    rank = x.ndim + len(axes)
    added = axes_of(axes, rank)
    lengths = iter(x.shape)
    return call.xp.reshape(x, tuple(1 if axis in added else next(lengths) for axis in range(rank)))


@operator("Unsqueeze", since=13, host=(1,), numpy=True)
def _unsqueeze(call: Call, x: Any, axes: Any) -> Any:
    return _unsqueeze_by_attribute(call, x, axes=np.ravel(axes).tolist())


@operator("Transpose", numpy=True)
def _transpose(call: Call, x: Any, *, perm: Any = None) -> Any:
    return call.xp.permute_dims(x, tuple(range(x.ndim)[::-1] if perm is None else perm))


@operator("Concat", numpy=True)
def _concat(call: Call, *inputs: Any, axis: int) -> Any:
    return call.xp.concat(inputs, axis=axis_of(axis, inputs[0].ndim))


def _parts(call: Call, x: Any, lengths: list[int], axis: int) -> tuple[Any, ...]:
    count = len(call.node.outputs)
    if len(lengths) != count or min(lengths) < 0:
        raise ValueError(f"expected the lengths of {count} parts, which are its outputs, got {lengths}")
    ends = list(itertools.accumulate(lengths, initial=0))
    if ends[-1] != x.shape[axis]:
        raise ValueError(f"expected parts whose lengths sum to {x.shape[axis]}, got {lengths}")
    key = (slice(None),) * axis
    return tuple(x[(*key, slice(first, last))] for first, last in itertools.pairwise(ends))


@operator("Split", numpy=True)
def _split_by_attribute(call: Call, x: Any, *, axis: int = 0, split: Any = None, num_outputs: int | None = None) -> Any:
    axis = axis_of(axis, x.ndim)
    if split is None:
        count = len(call.node.outputs)
        if num_outputs not in (None, count):
            raise ValueError(f"its attribute 'num_outputs' is {num_outputs}, and it has {count} outputs")
        if call.version < 18 and x.shape[axis] % count:
            raise ValueError(f"its axis of length {x.shape[axis]} does not split into {count} equal parts")
        whole = -(-x.shape[axis] // count)
        split = [max(0, min(whole, x.shape[axis] - place * whole)) for place in range(count)]
    return _parts(call, x, split, axis)


@operator("Split", since=13, host=(1,), numpy=True)
def _split(call: Call, x: Any, split: Any = None, *, axis: int = 0, num_outputs: int | None = None) -> Any:
    return _split_by_attribute(
        call, x, axis=axis, split=None if split is None else split.tolist(), num_outputs=num_outputs
    )


@operator("Slice", numpy=True)
def _slice_by_attributes(call: Call, x: Any, *, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    key = [slice(None)] * x.ndim
    chosen = axes_of(range(len(starts)) if axes is None else axes, x.ndim)
    steps = [1] * len(chosen) if steps is None else steps
    if not len(chosen) == len(starts) == len(ends) == len(steps):
        counts = ", ".join(map(str, map(len, (starts, ends, chosen, steps))))
        raise ValueError(f"its starts, ends, axes and steps are {counts} numbers, expected as many of each")
    for axis, start, end, step in zip(chosen, starts, ends, steps, strict=True):
        key[axis] = slice(start, end, step)
    return x[tuple(key)]


@operator("Slice", since=10, host=(1, 2, 3, 4), numpy=True)
def _slice(call: Call, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    listed = [None if one is None else one.tolist() for one in (starts, ends, axes, steps)]
    return _slice_by_attributes(call, x, **dict(zip(("starts", "ends", "axes", "steps"), listed, strict=True)))


@operator("Expand", host=(1,), numpy=True)
def _expand(call: Call, x: Any, shape: Any) -> Any:
    wanted = tuple(shape.tolist())
    if on_tape(x.shape, wanted):
        return broadcast(x, wanted)
    return call.xp.broadcast_to(x, np.broadcast_shapes(x.shape, wanted))


@operator("Tile", host=(1,), numpy=True)
def _tile(call: Call, x: Any, repeats: Any) -> Any:
    return call.xp.tile(x, tuple(repeats.tolist()))


@operator("ConstantOfShape", host=(0,), numpy=True)
def _constant_of_shape(call: Call, shape: Any, *, value: Any = None) -> Any:
    value = np.zeros(1, np.float32) if value is None else value
    wanted, filler = tuple(shape.tolist()), value.reshape(-1)[0]
    if on_tape(wanted):
        device = call.runner.device
        return vx.full(wanted, filler.item(), dtype=held(DTYPES[value.dtype.name], device), device=device)
    return np.full(wanted, filler)


@operator("Range", host=(0, 1, 2), numpy=True)
def _range(call: Call, start: Any, limit: Any, delta: Any, *, stash_type: int = 1) -> Any:
    first, last, step = (one.reshape(()).item() for one in (start, limit, delta))
    if on_tape((first, last, step)):
        return vx.arange(first, last, step, dtype=held(vx.int64, call.runner.device), device=call.runner.device)
    count = max(0, int(np.ceil((last - first) / step)))
    wide = start.dtype if start.dtype.kind in "iu" else np.dtype(np.float64)
    return (np.arange(count, dtype=wide) * wide.type(step) + wide.type(first)).astype(start.dtype)


@operator("EyeLike", shape_only=True)
def _eye(call: Call, x: Any, *, dtype: int | None = None, k: int = 0) -> Any:
    rows, columns = shape_of(x)
    own = numpy_dtype(described_dtype(x) if dtype is None else dtype_of(dtype, "the attribute 'dtype'"))
    return np.eye(rows, columns, k, dtype=own)


@operator("Trilu", since=14, host=(1,), numpy=True)
def _triangle(call: Call, x: Any, k: Any = None, *, upper: int = 1) -> Any:
    offset = 0 if k is None else int(k.reshape(()))
    return (call.xp.triu if upper else call.xp.tril)(x, k=offset)


@operator("DepthToSpace")
def _depth_to_space(call: Call, x: Any, *, blocksize: int, mode: str = "DCR") -> Any:
    n, c, h, w = x.shape
    b = blocksize
    if mode == "DCR":
        order, shape = (0, 3, 4, 1, 5, 2), (n, b, b, c // (b * b), h, w)
    else:
        order, shape = (0, 1, 4, 2, 5, 3), (n, c // (b * b), b, b, h, w)
    return call.xp.reshape(call.xp.permute_dims(call.xp.reshape(x, shape), order), (n, c // (b * b), h * b, w * b))


@operator("SpaceToDepth")
def _space_to_depth(call: Call, x: Any, *, blocksize: int, mode: str = "DCR") -> Any:
    n, c, h, w = x.shape
    b = blocksize
    parts = call.xp.reshape(x, (n, c, h // b, b, w // b, b))
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return call.xp.reshape(call.xp.permute_dims(parts, order), (n, c * b * b, h // b, w // b))


@operator("Pad", numpy=True)
def _pad_by_attributes(
    call: Call, x: Any, *, pads: Any, value: Any = 0.0, mode: str = "constant", axes: Any = None
) -> Any:
    chosen = axes_of(range(x.ndim) if axes is None else axes, x.ndim)
    count = len(chosen)
    if len(pads) != 2 * count:
        raise ValueError(
            f"expected {2 * count} numbers of padding, before and after each of {count} axes, got {len(pads)}"
        )
    width = [(0, 0)] * x.ndim
    key = [slice(None)] * x.ndim
    for place, axis in enumerate(chosen):
        before, after = int(pads[place]), int(pads[place + count])
        width[axis] = (max(0, before), max(0, after))
        key[axis] = slice(max(0, -before), x.shape[axis] - max(0, -after))
    x = x[tuple(key)]
    if not any(map(any, width)):
        return x
    if mode == "constant":
        return call.xp.pad(x, width, constant_values=value)
    return call.xp.pad(x, width, mode=mode)


@operator("Pad", since=11, host=(1, 2, 3), numpy=True)
def _pad(call: Call, x: Any, pads: Any, value: Any = None, axes: Any = None, *, mode: str = "constant") -> Any:
    filler = 0 if value is None or not value.size else value.reshape(-1)[0].item()
    chosen = None if axes is None else axes.tolist()
    return _pad_by_attributes(call, x, pads=pads.tolist(), value=filler, mode=mode, axes=chosen)
