"""Scaled dot product attention: products of matrices round a masked softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..core import dtypes, layout, promotion
from ..core.array import VkArray, empty
from ..kernels.conversion import cast
from ..kernels.planned import recordable
from ..kernels.product import strategies
from ..kernels.reductions import partial_dtype
from ..kernels.rows import check_operands
from ..ops import statistical
from ..ops.beyond.random import Generator
from ..ops.creation import zeros
from ..ops.linear_algebra import matmul
from ..ops.manipulation import reshape
from . import attention_fragments
from .dropout import dropout, dropout_backward
from .softmax import masked_softmax, softmax_backward


class Attention(NamedTuple):
    """What `attention` found, and what the way back needs of it."""

    result: VkArray
    probabilities: VkArray  # after the softmax
    kept: VkArray | None  # the mask of dropout


def _checked(
    function: str, query: VkArray, key: VkArray, value: VkArray, grouped: bool
) -> tuple[VkArray, VkArray, VkArray, int]:
    """The operands with a dimension of groups, (..., heads of key, group, L, E), and the heads of a group.

    Raises TypeError and ValueError for what does not fit.
    """
    operands = (query, key, value)
    check_operands(function, operands)
    promotion.check_category(function, query._dtype, "real floating")
    shapes = [one._shape for one in operands]
    if len({one._dtype for one in operands}) > 1 or min(map(len, shapes)) < 2:
        raise ValueError(
            f"{function}: expected a query, key and value of one dtype and of 2 dimensions or more, got "
            f"{', '.join(f'{one._dtype} {one._shape}' for one in operands)}."
        )
    if query._shape[-1] != key._shape[-1] or key._shape[-2] != value._shape[-2]:
        raise ValueError(
            f"{function}: expected a query (..., L, E), a key (..., S, E) and a value (..., S, F), got shapes {shapes[0]}, "
            f"{shapes[1]} and {shapes[2]}."
        )
    heads = 1
    if grouped and query.ndim > 2:
        heads, rest = divmod(query._shape[-3], key._shape[-3])
        if rest or key._shape[-3] != value._shape[-3]:
            raise ValueError(
                f"{function}: expected heads of the query that are a multiple of those of key and value, got {shapes[0]}, "
                f"{shapes[1]} and {shapes[2]}."
            )
    if heads > 1:
        query = _grouped(query, heads)
        key, value = (one._view((*one._shape[:-2], 1, *one._shape[-2:]), _with_group(one)) for one in (key, value))
    return query, key, value, heads


def _with_group(x: VkArray) -> tuple[int, ...]:
    return (*x._strides[:-2], 0, *x._strides[-2:])


def _grouped(x: VkArray, heads: int) -> VkArray:
    """Heads next to each other as groups: a view."""
    count = x._shape[-3] // heads
    strides = (*x._strides[:-3], heads * x._strides[-3], *x._strides[-3:])
    return x._view((*x._shape[:-3], count, heads, *x._shape[-2:]), strides)


def _mask_of_groups(mask: VkArray | None, heads: int) -> VkArray | None:
    if mask is None or heads == 1 or mask.ndim < 3:
        return mask
    if mask._shape[-3] == 1:
        return mask._view((*mask._shape[:-2], 1, *mask._shape[-2:]), _with_group(mask))
    return _grouped(mask, heads)


def _transposed(x: VkArray) -> VkArray:
    return x._view((*x._shape[:-2], x._shape[-1], x._shape[-2]), (*x._strides[:-2], x._strides[-1], x._strides[-2]))


@recordable
def attention(
    query: VkArray, key: VkArray, value: VkArray, mask: VkArray | None = None, *, causal: bool = False,
    scale: float | None = None, probability: float = 0.0, generator: Generator | None = None, grouped: bool = False,
    strides: layout.Strides | None = None,
) -> Attention:  # fmt: skip
    """softmax(scale * query @ key.T, where the mask allows) @ value.

    Parameters: query (..., H, L, E), key (..., H, S, E) and value (..., H, S, F), real floating-point of one dtype, leading
    dimensions broadcast; mask (bool: where to look, or numbers that are added to the scores; broadcasts to (..., H, L, S));
    causal (row l sees the places 0 to l alone); scale (default 1 / sqrt(E)); probability (of dropout, with a generator); grouped
    (the heads of key and value are fewer, and each serves several of the query, next to each other); strides (of a result
    without gaps whose rows are contiguous; default: those of a contiguous one).
    Returns (result of shape (..., H, L, F), probabilities, mask of dropout). Rows that see nothing are 0.
    Raises TypeError for other types, ValueError for shapes that do not fit.
    Method: products of matrices, and the softmax between them in one kernel; 16-bit scores are rounded to their dtype.
    """
    query, key, value, heads = _checked("attention", query, key, value, grouped)
    factor = 1 / math.sqrt(query._shape[-1]) if scale is None else promotion.as_float(scale, "attention", "scale")
    mask = _mask_of_groups(mask, heads)
    if mask is not None and mask._dtype is not dtypes.bool_:
        mask = cast(mask, query._dtype)
    scores = matmul(query, _transposed(key))
    probabilities = masked_softmax(scores, mask, scale=factor, causal=causal)
    kept, used = None, probabilities
    if probability > 0:
        if generator is None:
            raise ValueError("attention: dropout needs random numbers. Give generator=vkarray.random.default_rng().")
        used, kept = dropout(probabilities, probability, generator)
    return Attention(_product(used, value, heads, strides), probabilities, kept)


def _result_shape(query: VkArray, key: VkArray, value: VkArray, heads: int) -> layout.Shape:
    """The shape of the result of operands with a dimension of groups, which it does not have."""
    batch = layout.broadcast_shapes([one._shape[:-2] for one in (query, key, value)], "attention")
    if heads > 1:
        batch = (*batch[:-2], batch[-2] * heads)
    return (*batch, query._shape[-2], value._shape[-1])


def _product(a: VkArray, b: VkArray, heads: int, strides: layout.Strides | None) -> VkArray:
    """a @ b, without the dimension of groups. It has the strides given, where those are of contiguous rows without gaps."""
    shape = _result_shape(a, a, b, heads)
    if 0 in (*shape, *a._shape):
        return zeros(shape, dtype=a._dtype, device=a._device)
    result = empty(shape, a._dtype, a._device)
    if strides is None or len(strides) != len(shape) or strides[-1] != 1:
        strides = result._strides
    if layout.offset_range(shape, strides) == (0, result.size - 1):
        result = result._view(shape, strides)
    strategies.multiply(a, b, _grouped(result, heads) if heads > 1 else result)
    return result


@recordable
def attend(
    query: VkArray, key: VkArray, value: VkArray, mask: VkArray | None = None, *, causal: bool = False,
    scale: float | None = None, grouped: bool = False, strides: layout.Strides | None = None,
) -> VkArray:  # fmt: skip
    """The result of `attention` alone, without dropout: in one kernel where there is one for these operands.

    Parameters, errors: as `attention`. That kernel has strides of its own, and does not round 16-bit scores. By default the result
    lies in memory as (..., L, H, F), the order that comes after it in models.
    """
    checked = _checked("attend", query, key, value, grouped)
    factor = 1 / math.sqrt(query._shape[-1]) if scale is None else promotion.as_float(scale, "attend", "scale")
    found = attention_fragments.attend(query, key, value, mask, causal=causal, factor=factor, group=checked[3])
    if found is None:
        strides = strides or _rows_before_heads(_result_shape(*checked))
        return attention(query, key, value, mask, causal=causal, scale=scale, grouped=grouped, strides=strides).result
    return found


def _rows_before_heads(shape: layout.Shape) -> layout.Strides:
    """The strides of an array (..., H, L, F) that lies in memory as (..., L, H, F)."""
    if len(shape) < 3:
        return layout.contiguous_strides(shape)
    *outer, heads, rows, last = layout.contiguous_strides((*shape[:-3], shape[-2], shape[-3], shape[-1]))
    return (*outer, rows, heads, last)


def attention_backward(
    gradient: VkArray, query: VkArray, key: VkArray, value: VkArray, probabilities: VkArray, kept: VkArray | None = None,
    *, scale: float | None = None, probability: float = 0.0, grouped: bool = False, of_mask: bool = False,
    strides: Sequence[layout.Strides | None] = (None, None, None),
) -> tuple[VkArray, VkArray, VkArray, VkArray | None]:  # fmt: skip
    """The gradients of query, key and value, and of a mask of numbers when asked for, from that of the result of `attention`.

    Parameters: gradient (of the shape of the result); query, key, value, scale, probability, grouped as given; probabilities,
    kept as returned; strides (of the first three gradients, as `attention` takes them, where nothing is summed for them). The
    gradient of the mask has the shape of the scores.
    """
    function = "attention_backward"
    shapes = [one._shape for one in (query, key, value)]
    query, key, value, heads = _checked(function, query, key, value, grouped)
    factor = 1 / math.sqrt(query._shape[-1]) if scale is None else promotion.as_float(scale, function, "scale")
    if heads > 1:
        gradient = _grouped(gradient, heads)
    dropped = 1 / (1 - probability) if probability < 1 else 0.0
    used = probabilities if kept is None else dropout_backward(probabilities, kept, dropped)
    of_used = matmul(gradient, _transposed(value))
    if kept is not None:
        of_used = dropout_backward(of_used, kept, dropped)
    own = softmax_backward(of_used, probabilities) if of_mask else None
    of_scores = softmax_backward(of_used, probabilities, scale=factor)
    found = (
        _product(of_scores, key, heads, strides[0]),
        _summed_groups(_product(_transposed(of_scores), query, 1, strides[1]), heads),
        _summed_groups(_product(_transposed(used), gradient, 1, strides[2]), heads),
    )
    summed = [_summed_to(one, shape) for one, shape in zip(found, shapes, strict=True)]
    if own is not None and heads > 1:
        own = reshape(own, (*own._shape[:-4], own._shape[-4] * heads, *own._shape[-2:]))
    return summed[0], summed[1], summed[2], own


def _summed_groups(x: VkArray, heads: int) -> VkArray:
    """Sums over the heads of a group."""
    if heads == 1:
        return x
    return cast(statistical.sum(cast(x, partial_dtype(x._dtype)), axis=-3), x._dtype)


def _summed_to(x: VkArray, shape: layout.Shape) -> VkArray:
    """Sums over the dimensions of length 1 that were broadcast to make x from an array of `shape`."""
    if x._shape == shape:
        return x
    extra = x.ndim - len(shape)
    if x.size == math.prod(shape):
        return reshape(x, shape)
    axes = (
        *range(extra),
        *(axis + extra for axis, size in enumerate(shape) if size == 1 and x._shape[axis + extra] != 1),
    )
    wide = statistical.sum(cast(x, partial_dtype(x._dtype)), axis=axes)
    return cast(reshape(wide, shape), x._dtype)
