"""What adds up elements by numbers that say where each goes: histograms and bags of embeddings."""

from __future__ import annotations

from typing import Any

import vkarray as vx

from ....nn import indexing as nn
from ..table import row


def _bins(call: Any, x: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> str | None:
    if bins <= 0 or min > max:
        return f"it has {bins} bins from {min} to {max}"
    return "PyTorch counts floating-point numbers alone on the CPU" if not x.is_floating_point() else None


@row("histc", limit=_bins)
def _histogram(call: Any, x: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """How many elements are in each bin; the last one takes its upper edge. Without bounds those of the elements serve."""
    wide = vx.astype(x, vx.float32) if call.dtype in (vx.float16, vx.bfloat16) else x
    wide = vx.reshape(wide, (-1,))
    if min == max and wide.shape[0]:
        least, most = vx.min(wide), vx.max(wide)
        alike = least == most
        low, high = vx.where(alike, least - 1, least), vx.where(alike, most + 1, most)
    else:
        low, high = (min, max) if min < max else (min - 1, max + 1)
    places = vx.clip(vx.floor((wide - low) * (bins / (high - low))), 0, bins - 1)
    places = vx.astype(vx.where((wide >= low) & (wide <= high), places, bins), vx.int32)
    counts = nn.scatter_reduce(vx.zeros((bins + 1,), dtype=vx.int32), 0, places, vx.ones_like(places), "sum")
    return counts[:bins]


def _known_length(call: Any) -> int | None:
    """How many counts there are, where the model asserts that: else it depends on values."""
    length = call.result.shape[0]
    return length if isinstance(length, int) else length.node.maybe_as_int()


def _of_any_length(call: Any, *_: Any) -> str | None:
    return "how many counts there are depends on values" if _known_length(call) is None else None


@row("bincount", limit=_of_any_length)
def _counts(call: Any, x: Any, weights: Any = None, minlength: int = 0) -> Any:
    one = vx.ones_like(x) if weights is None else vx.astype(weights, call.dtype)
    return nn.scatter_reduce(vx.zeros((_known_length(call) or 0,), dtype=call.dtype), 0, x, one, "sum")


_SUM, _MEAN, _MAX = range(3)


@row("_embedding_bag", "_embedding_bag_forward_only")
def _bags(
    call: Any, weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = _SUM,
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False, padding_idx: int = -1,
) -> Any:  # fmt: skip
    """Sums, means or largest of the rows of weights that each bag names, without `padding_idx`; a bag without any gives 0."""
    starts = offsets[:-1] if include_last_offset else offsets
    rows = nn.embedding(weight, indices)
    if per_sample_weights is not None:
        rows = rows * vx.expand_dims(per_sample_weights, axis=-1)
    places = vx.arange(indices.shape[0], dtype=offsets.dtype)
    bags = vx.searchsorted(starts, places, side="right") - 1
    count = starts.shape[0]
    if padding_idx >= 0:
        bags = vx.where(indices == padding_idx, count, bags)  # a bag of what is skipped, which is not returned
    nothing = vx.zeros((count + (padding_idx >= 0), weight.shape[1]), dtype=weight.dtype)
    kind = {_SUM: "sum", _MEAN: "mean", _MAX: "amax"}[mode]
    found = nn.index_reduce(nothing, 0, bags, rows, kind, include_self=False)
    return found[:count], None, None, None
