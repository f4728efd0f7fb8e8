"""Attention: `scaled_dot_product_attention` by PyTorch's operator for backends of their own, whose gradients it knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..ops.nn import attention as nn
from . import random, table
from .composites import without_gradients
from .device import chosen
from .plans import planned
from .storage import array_of, wrap

_fused = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default
# PyTorch's own composition. It checks the arguments and turns masks of bools into numbers, which its parts take for granted.
_composed = torch.ops.aten.scaled_dot_product_attention.default.decompose


def _is_grouped(query: Any, key: Any) -> bool:
    return bool(query.shape[-3] != key.shape[-3])


def _attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Tensors of 4 dimensions on the device go to the fused operator, all others through PyTorch's formula."""
    if not _is_fused(query, key, value, attn_mask, is_causal, enable_gqa):
        made: Tensor = _composed(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )  # fmt: skip
        return made
    result: Tensor = _fused(query, key, value, attn_mask, dropout_p, is_causal, False, scale=scale)[0]
    return result


def _is_fused(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, grouped: bool) -> bool:
    operands = (query, key, value)
    same = len({one.dtype for one in operands}) == 1 and query.is_floating_point()
    masked = mask is None or (not causal and mask.dtype in (torch.bool, query.dtype))
    heads = query.ndim == 4 and all(one.ndim == 4 and one.shape[0] == query.shape[0] for one in operands)
    return same and masked and heads and _fits(query, key, value, mask, grouped)


@planned
def _inferred(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, scale: float | None, grouped: bool
) -> Tensor:  # fmt: skip
    """The result alone, without dropout."""
    if not _is_fused(query, key, value, mask, causal, grouped):
        made: Tensor = _composed(query, key, value, mask, 0.0, causal, scale=scale, enable_gqa=grouped)
        return made
    arrays = (array_of(query), array_of(key), array_of(value), None if mask is None else array_of(mask))
    return wrap(nn.attend(*arrays, causal=causal, scale=scale, grouped=_is_grouped(query, key)))


def _without_gradients(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """`_attention` where nobody asks for what the way back needs."""
    if dropout_p:
        return _attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    return _inferred(query, key, value, attn_mask, is_causal, scale, enable_gqa)


def _fits(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, grouped: bool) -> bool:
    """Whether shapes agree: for all others the formula raises PyTorch's errors."""
    if query.shape[3] != key.shape[3] or key.shape[2] != value.shape[2] or key.shape[1] != value.shape[1]:
        return False
    if 0 in (*query.shape, *key.shape, *value.shape):
        return False
    if mask is not None:
        scores = (*query.shape[:3], key.shape[2])
        broadcasts = all(own in (1, size) for own, size in zip(reversed(mask.shape), reversed(scores), strict=False))
        if mask.ndim > 4 or not broadcasts:
            return False
    return query.shape[1] == key.shape[1] or (grouped and query.shape[1] % key.shape[1] == 0)


def _forward(
    query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, return_debug_mask: bool = False, *, scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The result; in place of the logarithms of sums, the probabilities, and in place of the seed, what dropout kept."""
    drawn = random.current(chosen(query.device)) if dropout_p else None
    found = nn.attention(
        array_of(query), array_of(key), array_of(value), None if attn_bias is None else array_of(attn_bias),
        causal=is_causal, scale=scale, probability=dropout_p, generator=drawn,
        grouped=_is_grouped(query, key),
    )  # fmt: skip
    nothing = [torch.empty(0, dtype=torch.int64, device=query.device) for _ in range(3)]
    kept = nothing[2] if found.kept is None else wrap(found.kept)
    return (
        wrap(found.result), wrap(found.probabilities), nothing[0], nothing[0], query.shape[2], key.shape[2], kept,
        nothing[1], nothing[1],
    )  # fmt: skip


def _backward(
    gradient: Tensor | None, query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None, wanted: Sequence[bool],
    out: Tensor, probabilities: Tensor, cum_seq_q: Tensor, cum_seq_k: Tensor, max_q: int, max_k: int,
    dropout_p: float, is_causal: bool, kept: Tensor, philox_offset: Tensor, *, scale: float | None = None,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    if gradient is None:
        return None, None, None, None
    of_mask = bool(wanted[3]) and attn_bias is not None
    made = nn.attention_backward(
        array_of(gradient), array_of(query), array_of(key), array_of(value), array_of(probabilities),
        array_of(kept) if dropout_p else None, scale=scale, probability=dropout_p,
        grouped=_is_grouped(query, key), of_mask=of_mask,
    )  # fmt: skip
    results = [wrap(one) if one is not None and want else None for one, want in zip(made, wanted, strict=True)]
    if of_mask and attn_bias is not None and results[3] is not None:
        results[3] = results[3].sum_to_size(attn_bias.shape)
    return tuple(results)


# PyTorch composes this one of others for every device: ours comes before that, with gradients and without.
without_gradients("scaled_dot_product_attention", _without_gradients, _attention)
table.direct("_scaled_dot_product_fused_attention_overrideable", _forward)
table.direct("_scaled_dot_product_fused_attention_overrideable_backward", _backward)
