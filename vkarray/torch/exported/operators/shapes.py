"""Operators that move elements, and that compute none: views, parts, joins, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import vkarray as vx

from ....nn import columns, resample
from ..table import row

Sizes = Sequence[Any]


@row("view", "reshape", "_unsafe_view", "view_copy", "_reshape_copy")
def _reshape(call: Any, x: Any, shape: Sizes) -> Any:
    return vx.reshape(x, tuple(shape))


@row("expand", "expand_copy")
def _expand(call: Any, x: Any, size: Sizes, implicit: bool = False) -> Any:
    own = x.shape
    new = len(size) - len(own)
    return vx.broadcast_to(
        x, tuple(own[axis - new] if type(one) is int and one == -1 else one for axis, one in enumerate(size))
    )


@row("permute", "permute_copy")
def _permute(call: Any, x: Any, dims: Sizes) -> Any:
    return vx.permute_dims(x, tuple(axis % len(dims) for axis in dims))


@row("transpose.int", "transpose_copy.int", "swapaxes", "swapdims")
def _swap(call: Any, x: Any, a: int, b: int) -> Any:
    return vx.swapaxes(x, a, b) if x.ndim else x


@row("t", "t_copy", "numpy_T", "mT", "matrix_H", "adjoint")
def _transpose(call: Any, x: Any) -> Any:
    return vx.swapaxes(x, -1, -2) if x.ndim > 1 else x


@row("movedim.intlist", "movedim.int", "moveaxis.intlist", "moveaxis.int")
def _move(call: Any, x: Any, source: Any, destination: Any) -> Any:
    return vx.moveaxis(x, source, destination)


@row("squeeze", "squeeze.dim", "squeeze.dims", "squeeze_copy", "squeeze_copy.dim", "squeeze_copy.dims")
def _squeeze(call: Any, x: Any, dim: Any = None) -> Any:
    """Without dimensions of length 1, of which those that vary are none."""
    lengths = call.fakes[0].shape
    named = range(len(lengths)) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = tuple(axis % len(lengths) for axis in named if lengths and type(lengths[axis]) is int and lengths[axis] == 1)
    return vx.squeeze(x, axis=axes) if axes else x


@row("unsqueeze", "unsqueeze_copy")
def _unsqueeze(call: Any, x: Any, dim: int) -> Any:
    return vx.expand_dims(x, axis=dim)


@row("cat", "concat", "concatenate")
def _join(call: Any, parts: Sequence[Any], dim: int = 0) -> Any:
    """PyTorch lets empty parts of one dimension be."""
    facts = call.fakes[0]
    rank = max(fake.ndim for fake in facts)
    kept = [call.cast(one) for one, fake in zip(parts, facts, strict=True) if fake.ndim == rank]
    return vx.concat(kept, axis=dim) if len(kept) > 1 else kept[0]


@row("stack")
def _stack(call: Any, parts: Sequence[Any], dim: int = 0) -> Any:
    return vx.stack([call.cast(one) for one in parts], axis=dim)


@row("select.int", "select_copy.int")
def _select(call: Any, x: Any, dim: int, index: Any) -> Any:
    return x[(*_all(dim % x.ndim), index)]


@row("slice.Tensor", "slice_copy.Tensor")
def _slice(call: Any, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return x[(*_all(dim % x.ndim), slice(start, _end(end), step))]


def _end(end: Any) -> Any:
    return None if type(end) is int and end >= (1 << 63) - 1 else end


def _all(count: int) -> tuple[slice, ...]:
    return (slice(None),) * count


@row("narrow")
def _narrow(call: Any, x: Any, dim: int, start: Any, length: Any) -> Any:
    return x[(*_all(dim % x.ndim), slice(start, start + length))]


@row("slice_scatter")
def _with_slice(call: Any, x: Any, part: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    found = vx.copy(x)
    found[(*_all(dim % x.ndim), slice(start, _end(end), step))] = part
    return found


@row("select_scatter")
def _with_one(call: Any, x: Any, part: Any, dim: int, index: Any) -> Any:
    found = vx.copy(x)
    found[(*_all(dim % x.ndim), index)] = part
    return found


@row("split.Tensor", "split", "split_copy.Tensor", "unsafe_split.Tensor")
def _split(call: Any, x: Any, size: Any, dim: int = 0) -> Any:
    return _cut(x, [size] * len(call.result), dim)


@row("split_with_sizes", "split_with_sizes_copy", "unsafe_split_with_sizes", "split.sizes")
def _split_by(call: Any, x: Any, sizes: Sizes, dim: int = 0) -> Any:
    return _cut(x, sizes, dim)


def _cut(x: Any, sizes: Sizes, dim: int) -> list[Any]:
    before = _all(dim % x.ndim)
    found, start = [], 0
    for size in sizes:
        found.append(x[(*before, slice(start, start + size))])
        start = start + size
    return found


@row("unbind.int", "unbind_copy.int")
def _unbind(call: Any, x: Any, dim: int = 0) -> Any:
    return [x[(*_all(dim % x.ndim), place)] for place in range(len(call.result))]


@row("diagonal", "diagonal_copy")
def _diagonal(call: Any, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return vx.diagonal(x, offset, dim1, dim2)


@row("flip")
def _flip(call: Any, x: Any, dims: Sizes) -> Any:
    return vx.flip(x, axis=tuple(dims)) if dims else x


@row("fliplr", "flipud")
def _flip_one(call: Any, x: Any) -> Any:
    return vx.flip(x, axis=1 if call.name == "fliplr" else 0)


@row("roll")
def _roll(call: Any, x: Any, shifts: Sizes, dims: Sizes = ()) -> Any:
    if not dims:
        return vx.roll(x, shifts[0])
    return vx.roll(x, tuple(shifts), axis=tuple(dims))


@row("repeat")
def _repeat(call: Any, x: Any, repeats: Sizes) -> Any:
    return vx.tile(x, tuple(repeats))


@row("repeat_interleave.self_int")
def _repeat_each(call: Any, x: Any, repeats: Any, dim: int | None = None, output_size: Any = None) -> Any:
    return vx.repeat(vx.reshape(x, (-1,)) if dim is None else x, repeats, axis=0 if dim is None else dim)


@row("tril", "triu")
def _triangle(call: Any, x: Any, diagonal: int = 0) -> Any:
    return (vx.tril if call.name == "tril" else vx.triu)(x, k=diagonal)


@row("diag_embed")
def _on_diagonal(call: Any, x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    length = x.shape[-1] + abs(offset)
    rows = vx.arange(length, dtype=vx.int64, device=x.device)
    of_rows = vx.pad(x, [(0, 0)] * (x.ndim - 1) + [(max(-offset, 0), max(offset, 0))])
    placed = vx.where(rows[:, None] + offset == rows, vx.expand_dims(of_rows, axis=-1), 0)
    return vx.moveaxis(placed, (-2, -1), (dim1, dim2))


@row("unfold", "unfold_copy")
def _windows(call: Any, x: Any, dimension: int, size: int, step: int) -> Any:
    if x.ndim == 0:
        return vx.reshape(x, (1,))[:size]
    axis = dimension % x.ndim
    count = (x.shape[axis] - size) // step + 1
    places = vx.arange(count, dtype=vx.int64)[:, None] * step + vx.arange(size, dtype=vx.int64)
    taken = vx.take(x, vx.reshape(places, (-1,)), axis=axis)
    shape = x.shape
    return vx.moveaxis(vx.reshape(taken, (*shape[:axis], count, size, *shape[axis + 1 :])), axis + 1, -1)


def _pairs(padding: Sizes) -> list[tuple[Any, Any]]:
    """PyTorch's padding of the last dimensions, the last first, in their order."""
    return [(padding[place], padding[place + 1]) for place in range(len(padding) - 2, -1, -2)]


@row("constant_pad_nd", "pad")
def _pad(call: Any, x: Any, padding: Sizes, *rest: Any, value: Any = None) -> Any:
    mode, filled = "constant", value
    if call.name == "pad":
        mode, filled = (*rest, value)[:2] if rest else ("constant", value)
    elif rest:
        filled = rest[0]
    pairs = _pairs(padding)
    if mode not in ("constant", "circular"):
        return _pad_repeated(call, x, padding, mode)
    rank = x.ndim
    cut = [slice(-a if _cuts(a) else None, b if _cuts(b) else None) for a, b in pairs]
    x = x[(*_all(rank - len(pairs)), *cut)] if any(_cuts(one) for pair in pairs for one in pair) else x
    width = [(0, 0)] * (rank - len(pairs)) + [(0 if _cuts(a) else a, 0 if _cuts(b) else b) for a, b in pairs]
    if mode == "circular":
        return vx.pad(x, width, mode="wrap")
    return vx.pad(x, width, constant_values=0 if filled is None else filled)


def _cuts(length: Any) -> bool:
    return type(length) is int and length < 0


@row(*(f"{mode}_pad{rank}d" for mode in ("reflection", "replication") for rank in (1, 2, 3)))
def _pad_by_elements(call: Any, x: Any, padding: Sizes) -> Any:
    return _pad_repeated(call, x, padding, "reflect" if call.name.startswith("reflection") else "replicate")


def _pad_repeated(call: Any, x: Any, padding: Sizes, mode: str) -> Any:
    pairs = _pairs(padding)
    alone = x.ndim == len(pairs) + 1
    found = resample.pad_repeated(x[None] if alone else x, pairs, mode)
    return found[0] if alone else found


@row("pixel_shuffle")
def _pixels_of_channels(call: Any, x: Any, factor: int) -> Any:
    *batch, channels, height, width = x.shape
    count = len(batch)
    parts = vx.reshape(x, (*batch, channels // factor**2, factor, factor, height, width))
    order = (*range(count), *(count + axis for axis in (0, 3, 1, 4, 2)))
    return vx.reshape(vx.permute_dims(parts, order), (*batch, channels // factor**2, height * factor, width * factor))


@row("pixel_unshuffle")
def _channels_of_pixels(call: Any, x: Any, factor: int) -> Any:
    *batch, channels, height, width = x.shape
    count = len(batch)
    parts = vx.reshape(x, (*batch, channels, height // factor, factor, width // factor, factor))
    order = (*range(count), *(count + axis for axis in (0, 2, 4, 1, 3)))
    return vx.reshape(vx.permute_dims(parts, order), (*batch, channels * factor**2, height // factor, width // factor))


@row("channel_shuffle")
def _shuffle(call: Any, x: Any, groups: int) -> Any:
    batch, channels, *plane = x.shape
    parts = vx.swapaxes(vx.reshape(x, (batch, groups, channels // groups, *plane)), 1, 2)
    return vx.reshape(parts, (batch, channels, *plane))


@row("im2col")
def _unfold(call: Any, x: Any, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    alone = x.ndim == 3
    found = columns.unfold(x[None] if alone else x, kernel, stride=stride, padding=padding, dilation=dilation)
    return found[0] if alone else found


@row("col2im")
def _fold(call: Any, x: Any, size: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    alone = x.ndim == 2
    found = columns.fold(x[None] if alone else x, size, kernel, stride=stride, padding=padding, dilation=dilation)
    return found[0] if alone else found


def _of_contiguous(call: Any, x: Any, size: Sizes, stride: Sizes, offset: Any = None) -> str | None:
    if not all(type(one) is int for one in (*size, *stride, *x.shape)):
        return "its strides vary"
    if x.storage_offset() or x.untyped_storage().nbytes() != x.numel() * x.itemsize:
        return "it reads memory that its argument does not have"
    return None


@row("as_strided", "as_strided_copy", limit=_of_contiguous)
def _by_strides(call: Any, x: Any, size: Sizes, stride: Sizes, offset: Any = None) -> Any:
    """Places of the memory, which is x itself in the order of its strides."""
    fake = call.fakes[0]
    order = sorted(range(fake.ndim), key=lambda axis: -fake.stride(axis))
    flat = vx.reshape(vx.permute_dims(x, tuple(order)), (-1,))
    places: Any = vx.full((), offset or 0, dtype=vx.int64)
    for axis, (length, step) in enumerate(zip(size, stride, strict=True)):
        own = [1] * len(size)
        own[axis] = length
        places = places + vx.reshape(vx.arange(length, dtype=vx.int64) * step, tuple(own))
    return vx.take(flat, places)
