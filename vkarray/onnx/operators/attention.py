"""Scaled dot product attention and rotary embeddings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import vkarray as vx

from ...nn import attention as nn
from ...nn import softmax
from ..interpreter import Call
from ..table import HALF, operator


def _in_heads(x: Any, heads: int | None) -> Any:
    """(batch, length, heads * width) as (batch, heads, length, width)."""
    if x.ndim == 4:
        return x
    if not heads:
        raise ValueError("expected the attributes q_num_heads and kv_num_heads for inputs of 3 dimensions")
    return vx.permute_dims(vx.reshape(x, (*x.shape[:2], heads, x.shape[2] // heads)), (0, 2, 1, 3))


def _allowed(call: Call, rows: int, columns: int, offset: Any, left: int, right: int) -> Any:
    """Which keys a query may see, of windows before and after its own place; -1 is without end. None: all."""
    if left < 0 and right < 0:
        return None
    if isinstance(offset, int):
        away = np.arange(columns) - (np.arange(rows)[:, None] + offset)
        found = np.ones_like(away, dtype=bool)
        found &= (away <= right) if right >= 0 else True
        found &= (away >= -left) if left >= 0 else True
        return call.array(found)
    steps = call.array(np.arange(columns) - np.arange(rows)[:, None], "int64") - vx.reshape(offset, (-1, 1, 1, 1))
    if right >= 0 and left >= 0:
        return (steps <= right) & (steps >= -left)
    return steps <= right if right >= 0 else steps >= -left


def _joined(mask: Any, allowed: Any) -> Any:
    """A mask, of truths or of numbers to add, less what is not allowed."""
    if mask is None or allowed is None:
        return allowed if mask is None else mask
    return mask & allowed if mask.dtype == vx.bool else vx.where(allowed, mask, -math.inf)


@operator("Attention", since=23, half=HALF)
def _attention(
    call: Call, q: Any, k: Any, v: Any, mask: Any = None, past_key: Any = None, past_value: Any = None, lengths: Any = None, *,
    is_causal: int = 0, kv_num_heads: int | None = None, left_window_size: int = -1, q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0, right_window_size: int = -1, scale: float | None = None, softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> Any:  # fmt: skip
    flat = q.ndim == 3
    q, k, v = _in_heads(q, q_num_heads), _in_heads(k, kv_num_heads), _in_heads(v, kv_num_heads)
    if past_key is not None:
        k, v = vx.concat([past_key, k], axis=2), vx.concat([past_value, v], axis=2)
    rows, columns = q.shape[2], k.shape[2]
    offset: Any = 0 if past_key is None else past_key.shape[2]
    if lengths is not None and past_key is None:
        offset = lengths - rows
    if mask is not None and mask.shape[-1] < columns:
        width = [(0, 0)] * (mask.ndim - 1) + [(0, columns - mask.shape[-1])]
        mask = vx.pad(mask, width, constant_values=False if mask.dtype == vx.bool else -math.inf)
    right = 0 if is_causal else right_window_size
    whole = mask is None and lengths is None and left_window_size < 0 and isinstance(offset, int) and offset == 0
    by_kernel = bool(is_causal) and whole
    if not by_kernel:
        mask = _joined(mask, _allowed(call, rows, columns, offset, left_window_size, right))
    if lengths is not None:
        valid = call.array(range(columns), "int64") < vx.reshape(lengths, (-1, 1, 1, 1))
        mask = _joined(mask, valid)
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    shows_scores = len(call.wanted) > 3 and call.wanted[3]
    scores = None
    if softcap or shows_scores:
        found, scores = _by_steps(call, q, k, v, mask, factor, softcap, qk_matmul_output_mode, by_kernel)
    else:
        found = nn.attend(q, k, v, mask, causal=by_kernel, scale=factor, grouped=True)
    if flat:
        found = vx.reshape(vx.permute_dims(found, (0, 2, 1, 3)), (found.shape[0], rows, -1))
    return found, k, v, scores


def _by_steps(
    call: Call, q: Any, k: Any, v: Any, mask: Any, factor: float, softcap: float, shown: int, causal: bool
) -> tuple[Any, Any]:
    """The result, and the scores: as products, capped, with the mask, or after the softmax."""
    group = q.shape[1] // k.shape[1]
    if group > 1:
        k, v = vx.repeat(k, group, axis=1), vx.repeat(v, group, axis=1)
    half = math.sqrt(factor)
    scores = vx.matmul(call.cast(q * half, q.dtype), call.cast(vx.matrix_transpose(k) * half, q.dtype))
    capped = call.cast(softcap * vx.tanh(scores / softcap), q.dtype) if softcap else scores
    if causal:
        mask = _allowed(call, q.shape[2], k.shape[2], 0, -1, 0)
    if mask is None:
        biased = capped
    else:
        biased = vx.where(mask, capped, -math.inf) if mask.dtype == vx.bool else capped + call.cast(mask, q.dtype)
    probabilities = softmax.masked_softmax(biased, None)
    return vx.matmul(probabilities, v), (scores, capped, biased, probabilities)[shown]


@operator("RotaryEmbedding", since=23)
def _rotate(
    call: Call, x: Any, cosines: Any, sines: Any, positions: Any = None, *, interleaved: int = 0, num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Any:  # fmt: skip
    """Source: J. Su et al., "RoFormer: enhanced transformer with rotary position embedding" (2021)."""
    shape = x.shape
    given = (
        vx.permute_dims(x, (0, 2, 1, 3))
        if x.ndim == 4
        else vx.reshape(x, (*shape[:2], num_heads, shape[2] // num_heads))
    )
    width = rotary_embedding_dim or given.shape[-1]
    turned, rest = given[..., :width], given[..., width:]
    cosine, sine = (
        (one if positions is None else vx.take(one, positions, axis=0))[:, :, None, :] for one in (cosines, sines)
    )
    first, second = (
        (turned[..., 0::2], turned[..., 1::2])
        if interleaved
        else (turned[..., : width // 2], turned[..., width // 2 :])
    )
    real, imaginary = cosine * first - sine * second, sine * first + cosine * second
    if interleaved:
        found = vx.reshape(vx.stack([real, imaginary], axis=-1), turned.shape)
    else:
        found = vx.concat([real, imaginary], axis=-1)
    found = vx.concat([found, rest], axis=-1) if rest.shape[-1] else found
    return vx.permute_dims(found, (0, 2, 1, 3)) if x.ndim == 4 else vx.reshape(found, shape)
