"""Attention: `scaled_dot_product_attention` by PyTorch's operator for backends of their own, whose gradients it knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from ...core.array import VkArray
from ...nn import attention as nn
from ..device import chosen
from ..dispatch import table
from ..dispatch.plans import planned
from ..dispatch.results import Result, dense_strides, tell, tensor_of
from ..tensors.storage import TO_TORCH, array_of, wrap
from . import random
from .composites import composed, is_transformed, without_gradients

_fused = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default
_fused_backward = torch.ops.aten._scaled_dot_product_fused_attention_overrideable_backward.default
_formula = torch.ops.aten._scaled_dot_product_attention_math.default
# PyTorch's own composition. It checks the arguments and turns masks of bools into numbers, which its parts take for granted.
_composed = composed(torch.ops.aten.scaled_dot_product_attention.default)


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
    if is_transformed():  # which know the derivatives of the formula's parts alone
        mask = attn_mask if attn_mask is None or attn_mask.dtype is not torch.bool else _as_numbers(attn_mask, query)
        made, _ = _formula(query, key, value, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        return made
    result: Tensor = _fused(query, key, value, attn_mask, dropout_p, is_causal, False, scale=scale)[0]
    return result


def _as_numbers(mask: Tensor, query: Tensor) -> Tensor:
    """What is added to scores: minus infinity where a mask is false."""
    return torch.zeros_like(mask, dtype=query.dtype).masked_fill(mask.logical_not(), float("-inf"))


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
    strides = _strides_like(query, value)
    return wrap(nn.attend(*arrays, causal=causal, scale=scale, grouped=_is_grouped(query, key), strides=strides))


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


def _strides_like(query: Tensor, value: Tensor) -> tuple[int, ...]:
    """The strides of a result: its dimensions lie in the order of those of the query, as PyTorch says of this operator."""
    return dense_strides((*query.shape[:-1], value.shape[-1]), query.stride())


def _laid_out(array: VkArray, strides: Sequence[int]) -> Tensor:
    return tensor_of(array, Result(array._shape, tuple(strides), TO_TORCH[array._dtype]))


def _forward(
    query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, return_debug_mask: bool = False, *, scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The result; in place of the logarithms of sums, the probabilities, and in place of the seed, what dropout kept."""
    strides = _strides_like(query, value)
    drawn = random.current(chosen(query.device)) if dropout_p else None
    found = nn.attention(
        array_of(query), array_of(key), array_of(value), None if attn_bias is None else array_of(attn_bias),
        causal=is_causal, scale=scale, probability=dropout_p, generator=drawn, grouped=_is_grouped(query, key),
        strides=strides,
    )  # fmt: skip
    kept = None if found.kept is None else wrap(found.kept)
    result = _laid_out(found.result, strides)
    return result, wrap(found.probabilities), None, None, query.shape[2], key.shape[2], kept, None, None


_planned = planned(_forward)


def _fused_forward(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """`_forward`, with a plan where no random numbers are drawn."""
    draws = len(args) > 4 and args[4]
    return (_forward if draws else _planned)(*args, **kwargs)


def result_alone(
    query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, return_debug_mask: bool = False, *, scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """What `_forward` returns where nobody takes more than the result: as without gradients."""
    if dropout_p:
        return _forward(query, key, value, attn_bias, dropout_p, is_causal, return_debug_mask, scale=scale)
    return _inferred(query, key, value, attn_bias, is_causal, scale, True), *[None] * 8


def _backward(
    gradient: Tensor | None, query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None, wanted: Sequence[bool],
    out: Tensor, probabilities: Tensor, cum_seq_q: Tensor | None, cum_seq_k: Tensor | None, max_q: int, max_k: int,
    dropout_p: float, is_causal: bool, kept: Tensor | None, philox_offset: Tensor | None, *, scale: float | None = None,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    if gradient is None:
        return None, None, None, None
    of_mask = bool(wanted[3]) and attn_bias is not None
    strides = [dense_strides(tuple(one.shape), one.stride()) for one in (query, key, value)]
    *found, of_bias = nn.attention_backward(
        array_of(gradient), array_of(query), array_of(key), array_of(value), array_of(probabilities),
        None if kept is None else array_of(kept), scale=scale, probability=dropout_p,
        grouped=_is_grouped(query, key), of_mask=of_mask, strides=strides,
    )  # fmt: skip
    results = [_laid_out(one, each) if want else None for one, each, want in zip(found, strides, wanted, strict=False)]
    return *results, None if attn_bias is None or of_bias is None else _of_bias(wrap(of_bias), attn_bias)


def _of_bias(gradient: Tensor, bias: Tensor) -> Tensor:
    """The gradient of numbers that were broadcast to the scores."""
    summed = gradient.sum_to_size(bias.shape)
    strides = dense_strides(tuple(bias.shape), bias.stride())
    return summed if summed.stride() == strides else torch.empty_strided(
        bias.shape, strides, dtype=bias.dtype, device=bias.device
    ).copy_(summed)  # fmt: skip


# -- what traced programs are told ------------------------------------------------------------------------------------


def _told(
    mode: FakeTensorMode, op: Any, query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None = None,
    dropout_p: float = 0.0, *others: Any, **named: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """What `_forward` returns: PyTorch says that the operator gives logarithms of sums."""
    rows, columns = query.shape[2], key.shape[2]
    heads = (key.shape[1], query.shape[1] // key.shape[1]) if _is_grouped(query, key) else (query.shape[1],)
    scores = query.shape[0], *heads, rows, columns
    with mode:
        result = torch.empty_like(query.new_empty_strided((*query.shape[:-1], value.shape[-1]), query.stride()))
        kept = query.new_empty(scores, dtype=torch.bool) if dropout_p else None
        return result, query.new_empty(scores), None, None, rows, columns, kept, None, None


def _told_backward(mode: FakeTensorMode, op: Any, gradient: Tensor | None, *args: Any, **named: Any) -> tuple[Any, ...]:
    """What `_backward` returns: PyTorch says that there are gradients that are not wanted as well."""
    *inputs, wanted = args[:5]
    with mode:
        return tuple(
            torch.empty_like(one) if want and one is not None and gradient is not None else None
            for one, want in zip(inputs, wanted, strict=True)
        )


tell(_fused, _told)
tell(_fused_backward, _told_backward)
# PyTorch composes this one of others for every device: ours comes before that, with gradients and without.
without_gradients("scaled_dot_product_attention", _without_gradients, _attention)
table.direct("_scaled_dot_product_fused_attention_overrideable", _fused_forward)
table.direct("_scaled_dot_product_fused_attention_overrideable_backward", planned(_backward))
