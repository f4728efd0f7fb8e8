"""Bags of embeddings: the sum, mean or largest of the rows with some numbers, without keeping these rows for the gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from ...nn import indexing as nn
from ..dispatch import limits
from ..dispatch.fallback import Unsupported
from ..dispatch.table import direct
from ..tensors.storage import array_of, wrap

_SUM, _MEAN, _LARGEST = range(3)
_BAG = limits.indices("embedding_bag")


def _bag_of(indices: Tensor, offsets: Tensor) -> Tensor:
    """Which bag each index is in, for the places where bags begin."""
    places = torch.arange(indices.numel(), dtype=offsets.dtype, device=offsets.device)
    return torch.searchsorted(offsets, places, right=True) - 1


def _rows(weight: Tensor, indices: Tensor) -> Tensor:
    return wrap(nn.embedding(array_of(weight), array_of(indices), rule=_BAG))


def _check_offsets(indices: Tensor, offsets: Tensor) -> None:
    """Refuse bags that do not begin at the first index, that end before they begin, or beyond the last index."""
    if not offsets.numel():
        return
    count = indices.numel()
    for text, one, high in (
        ("the first bag has to begin at 0, but offsets[0] is {value}", offsets[:1], 0),
        (
            "offsets must not exceed the number of indices, {length}, nor be negative, but one is {value}",
            offsets,
            count,
        ),
        ("offsets must not decrease, but one is {value} from the one before", offsets.diff(), count),
    ):
        limits.check_within(f"embedding_bag: {text}.", one, 0, high, count)


def _weighted(weight: Tensor, indices: Tensor, per_sample: Tensor | None, padding: int) -> Tensor:
    """The rows, times their weights, in float32 for types of 16 bits; 0 for the padding's."""
    rows = _rows(weight, indices)
    rows = rows.float() if rows.itemsize < 4 else rows
    if per_sample is not None:
        rows = rows * per_sample.unsqueeze(1)
    return rows if padding < 0 else rows.masked_fill((indices == padding).unsqueeze(1), 0)


def _embedding_bag(
    weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool = False, mode: int = _SUM, sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """(bags, the bag of each index, how many indices bags have, the numbers of the rows that gave the largest)."""
    if indices.ndim != 1:
        raise Unsupported("indices of two dimensions")
    begins = offsets[:-1] if include_last_offset else offsets
    count, width = begins.shape[0], weight.shape[1]
    _check_offsets(indices, offsets)
    bags = _bag_of(indices, begins)
    counted = torch.ones_like(bags) if padding_idx < 0 else (indices != padding_idx).to(bags.dtype)
    sizes = bags.new_zeros(count).index_add_(0, bags, counted)
    largest = bags.new_zeros((count, width) if mode == _LARGEST else 0)
    made = weight.new_zeros(count, width)
    if mode == _LARGEST:
        rows = _rows(weight, indices)
        if padding_idx >= 0:
            rows = rows.masked_fill((indices == padding_idx).unsqueeze(1), -torch.inf)
        made.index_reduce_(0, bags, rows, "amax", include_self=False)
        made.masked_fill_((sizes == 0).unsqueeze(1), 0)
        # The first of the rows that are as large: the smallest place, whose number is looked up.
        places = torch.arange(indices.numel(), device=indices.device).unsqueeze(1)
        places = torch.where(rows == made[bags], places, indices.numel())
        first = largest.index_reduce(0, bags, places, "amin", include_self=False)
        known = indices.to(bags.dtype)[first.clamp_max(max(indices.numel() - 1, 0))] if indices.numel() else first
        largest = known.masked_fill((sizes == 0).unsqueeze(1), -1)
    else:
        rows = _weighted(weight, indices, per_sample_weights, padding_idx)
        sums = rows.new_zeros(made.shape).index_add_(0, bags, rows)
        made = (sums / sizes.clamp_min(1).unsqueeze(1) if mode == _MEAN else sums).to(weight.dtype)
    return made, bags.to(indices.dtype), sizes.to(indices.dtype), largest.to(indices.dtype)


def _backward(
    grad: Tensor, indices: Tensor, offsets: Tensor, bags: Tensor, sizes: Tensor, largest: Tensor, num_weights: int,
    scale_grad_by_freq: bool, mode: int, sparse: bool, per_sample_weights: Tensor | None, padding_idx: int = -1,
) -> Tensor:  # fmt: skip
    if sparse:
        raise Unsupported("sparse gradients")
    result = grad.new_zeros(num_weights, grad.shape[1])
    if mode == _LARGEST:
        given = grad.masked_fill(largest < 0, 0)
        return result.scatter_add_(0, largest.long().clamp_min(0), given)
    if mode == _MEAN:
        grad = grad / sizes.clamp_min(1).unsqueeze(1)
    rows = grad[bags.long()]
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if scale_grad_by_freq:
        counts = torch.bincount(indices, minlength=num_weights)
        rows = rows / counts[indices.long()].unsqueeze(1)
    if padding_idx >= 0:
        rows = rows.masked_fill((indices == padding_idx).unsqueeze(1), 0)
    return result.index_add_(0, indices, rows.to(result.dtype))


def _backward_of_weights(
    grad: Tensor, weight: Tensor, indices: Tensor, offsets: Tensor, bags: Tensor, mode: int, padding_idx: int = -1
) -> Tensor:
    rows = torch.nn.functional.embedding(indices, weight)
    found = (grad[bags.long()] * rows).sum(1)
    return found if padding_idx < 0 else found.masked_fill(indices == padding_idx, 0)


direct("_embedding_bag _embedding_bag_forward_only", _embedding_bag, refuses=True)
direct("_embedding_bag_backward", _backward, refuses=True)
direct("_embedding_bag_per_sample_weights_backward", _backward_of_weights)
