"""What PyTorch's modules of attention call as one operator where no gradients are asked for, as formulas of other operators.

PyTorch's encoder makes nested tensors of padded sequences on devices that have them. This one has none, and says so, so that
the encoder masks the padding instead.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..dispatch.table import direct, with_out

# What a mask is for (PyTorch's numbers): the scores of all sequences, or the keys of each; any other has a place for each score.
_OF_SCORES, _OF_KEYS = 0, 1


def _is_left_aligned(tensor: Tensor, mask: Tensor) -> bool:
    """Never, which is what makes PyTorch's encoder keep its padding."""
    return False


def _nested(tensor: Tensor, mask: Tensor, mask_check: bool = True) -> Tensor:
    raise NotImplementedError(
        "_nested_tensor_from_mask: vulkan has no nested tensors. Make nn.TransformerEncoder with enable_nested_tensor=False, "
        "or with mask_check=True, which finds out by itself."
    )


direct("_nested_tensor_from_mask_left_aligned", _is_left_aligned, "metadata")
direct("_nested_tensor_from_mask", _nested, "metadata")

# -- softmax of masked scores -----------------------------------------------------------------------------------------


def _spread(mask: Tensor, shape: torch.Size, kind: int | None) -> Tensor:
    """A mask, true where scores are left out, that broadcasts against scores (batch, heads, queries, keys)."""
    mask = mask if mask.dtype is torch.bool else mask.bool()
    if kind == _OF_KEYS and mask.ndim == 2:
        return mask.reshape(shape[0], 1, 1, shape[-1])
    return mask


def _masked_softmax(scores: Tensor, mask: Tensor, dim: int | None = None, mask_type: int | None = None) -> Tensor:
    """softmax over what is not masked, 0 elsewhere; NaN where everything is masked."""
    left_out = _spread(mask, scores.shape, mask_type)
    return scores.masked_fill(left_out, -math.inf).softmax(-1 if dim is None else dim)


def _masked_softmax_backward(gradient: Tensor, result: Tensor, mask: Tensor, dim: int | None = None) -> Tensor:
    made = torch._softmax_backward_data(gradient, result, -1 if dim is None else dim, result.dtype)
    return made.masked_fill(mask.bool(), 0)


direct("_masked_softmax", _masked_softmax)
direct("_masked_softmax.out", with_out(_masked_softmax))
direct("_masked_softmax_backward", _masked_softmax_backward)
direct("_masked_softmax_backward.out", with_out(_masked_softmax_backward))

# -- attention with its projections -----------------------------------------------------------------------------------


def _heads(x: Tensor, heads: int) -> Tensor:
    """(batch, length, features) as (batch, heads, length, features of a head)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _transform_bias_rescale_qkv(qkv: Tensor, qkv_bias: Tensor, num_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries divided by the root of their length, keys and values, from one projection of all three."""
    query, key, value = (_heads(one, num_heads).contiguous() for one in (qkv + qkv_bias).chunk(3, -1))
    return query / math.sqrt(query.shape[-1]), key, value


def _check_attention(query: Tensor, key: Tensor, value: Tensor, features: int, heads: int, weight: Tensor) -> None:
    """Raise PyTorch's RuntimeErrors for shapes that do not fit."""
    for name, one in (("query", query), ("key", key), ("value", value)):
        if one.ndim != 3:
            raise RuntimeError(f"expected 3-D `{name}`, got {one.ndim}-D tensor")
    if query.shape[2] != features:
        raise RuntimeError(f"passed-in embed_dim {features} didn't match last dim of query {query.shape[2]}")
    if heads <= 0 or features % heads:
        raise RuntimeError("`embed_dim` must divide evenly by `num_heads`")
    if weight.ndim != 2 or weight.shape[0] != 3 * features:
        raise RuntimeError(f"expected `qkv_weight` first dim to be 3x embed_dim, got shape {list(weight.shape)}")


def _attention(
    query: Tensor, key: Tensor, value: Tensor, embed_dim: int, num_head: int, qkv_weight: Tensor, qkv_bias: Tensor,
    proj_weight: Tensor, proj_bias: Tensor, mask: Tensor | None = None, need_weights: bool = True,
    average_attn_weights: bool = True, mask_type: int | None = None,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Attention of tensors (batch, length, features): the projected result, and the probabilities where they are wanted."""
    _check_attention(query, key, value, embed_dim, num_head, qkv_weight)
    if query is key and key is value:
        parts = functional.linear(query, qkv_weight, qkv_bias).chunk(3, -1)
    else:
        given = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3), strict=True)
        parts = tuple(functional.linear(*one) for one in given)
    q, k, v = (_heads(one, num_head) for one in parts)
    left_out = None if mask is None else _spread(mask, torch.Size((*q.shape[:3], k.shape[2])), mask_type)
    probabilities = None
    if need_weights:
        scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)
        probabilities = scores.softmax(-1) if left_out is None else _masked_softmax(scores, left_out)
        result = probabilities @ v
        if average_attn_weights:
            probabilities = probabilities.mean(1)
    else:
        result = functional.scaled_dot_product_attention(q, k, v, None if left_out is None else ~left_out)
    return functional.linear(result.transpose(1, 2).flatten(2), proj_weight, proj_bias), probabilities


def _encoder_layer(
    src: Tensor, embed_dim: int, num_heads: int, qkv_weight: Tensor, qkv_bias: Tensor, proj_weight: Tensor,
    proj_bias: Tensor, use_gelu: bool, norm_first: bool, eps: float, norm_weight_1: Tensor, norm_bias_1: Tensor,
    norm_weight_2: Tensor, norm_bias_2: Tensor, ffn_weight_1: Tensor, ffn_bias_1: Tensor, ffn_weight_2: Tensor,
    ffn_bias_2: Tensor, mask: Tensor | None = None, mask_type: int | None = None,
) -> Tensor:  # fmt: skip
    """A layer of a transformer's encoder: attention and two linear layers, each beside a residual connection."""

    def first_norm(x: Tensor) -> Tensor:
        return functional.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second_norm(x: Tensor) -> Tensor:
        return functional.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    def attention(x: Tensor) -> Tensor:
        return _attention(
            x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type
        )[0]  # fmt: skip

    def feed_forward(x: Tensor) -> Tensor:
        inner = functional.linear(x, ffn_weight_1, ffn_bias_1)
        return functional.linear(functional.gelu(inner) if use_gelu else inner.relu(), ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attention(first_norm(src))
        return x + feed_forward(second_norm(x))
    x = first_norm(src + attention(src))
    return second_norm(x + feed_forward(x))


def _pair_out(*args: Any, out0: Tensor, out1: Tensor, **kwargs: Any) -> tuple[Tensor, Tensor]:
    for out, made in zip((out0, out1), _attention(*args, **kwargs), strict=True):
        if made is not None:
            out.resize_(made.shape).copy_(made)
    return out0, out1


direct("_transform_bias_rescale_qkv", _transform_bias_rescale_qkv)
direct("_native_multi_head_attention", _attention)
direct("_native_multi_head_attention.out", _pair_out)
direct("_transformer_encoder_layer_fwd", _encoder_layer)
direct("_transformer_encoder_layer_fwd.out", with_out(_encoder_layer))
