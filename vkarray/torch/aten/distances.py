"""Distances between rows, and rows of at most a length."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ..dispatch.table import decomposed, direct

# Elements of the differences that are in memory at a time.
_AT_ONCE = 1 << 24


def _pieces(x1: Tensor, x2: Tensor) -> Iterator[tuple[int, int, Tensor]]:
    """(first row, number of rows, differences of these from all rows of the other), of (..., P, M) and (..., R, M)."""
    *_, rows, _ = x1.shape
    step = max(1, _AT_ONCE // max(1, x1.numel() // max(rows, 1) * x2.shape[-2]))
    for first in range(0, rows, step):
        count = min(step, rows - first)
        yield first, count, x1.narrow(-2, first, count).unsqueeze(-2) - x2.unsqueeze(-3)


def _distances(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None = None) -> Tensor:
    """The p-norms of the differences of the rows of x1 (..., P, M) from those of x2 (..., R, M)."""
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    x1, x2 = _of_one_stack(x1, x2)
    shape = (*x1.shape[:-1], x2.shape[-2])
    if 0 in shape or not x1.shape[-1]:
        return x1.new_zeros(shape)
    by_product = compute_mode == 1 or (compute_mode in (None, 0) and max(x1.shape[-2], x2.shape[-2]) > 25)
    if p == 2 and by_product:
        made: Tensor = torch.ops.aten._euclidean_dist(x1, x2)
        return made
    return torch.cat([torch.linalg.vector_norm(piece, p, -1) for _, _, piece in _pieces(x1, x2)], -2)


def _of_one_stack(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    stack = torch.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return x1.expand(*stack, *x1.shape[-2:]), x2.expand(*stack, *x2.shape[-2:])


def _slope(p: float) -> Callable[[Tensor, Tensor], Tensor]:
    """The derivative of a distance by the first row, for the differences and the distance."""

    def quotient(difference: Tensor, distance: Tensor) -> Tensor:
        if p == 1:
            return difference.sgn()
        if p == math.inf:
            return difference.sgn() * (difference.abs() == distance)
        scaled = difference if p == 2 else difference.sgn() * difference.abs().pow(p - 1)
        made = scaled / (distance if p == 2 else distance.pow(p - 1))
        return made.masked_fill((distance == 0) | ((difference == 0) & (p < 1)), 0)

    return quotient


def _distances_backward(gradient: Tensor, x1: Tensor, x2: Tensor, p: float, distances: Tensor) -> Tensor:
    x1, x2 = _of_one_stack(x1, x2)
    result = x1.new_zeros(x1.shape)
    if p == 0 or not gradient.numel() or not x1.numel():
        return result
    slope = _slope(p)
    for first, count, piece in _pieces(x1, x2):
        own = distances.narrow(-2, first, count).unsqueeze(-1)
        weights = gradient.narrow(-2, first, count).unsqueeze(-1)
        result.narrow(-2, first, count).copy_((weights * slope(piece, own)).sum(-2))
    return result


def _pairs(rows: Tensor) -> Tensor:
    """The numbers of the pairs of rows, those of the first above those of the second."""
    return torch.triu_indices(len(rows), len(rows), 1, device=rows.device)


def _distances_of_pairs(x: Tensor, p: float = 2.0) -> Tensor:
    first, second = _pairs(x)
    return _distances(x, x, p, 2)[first, second]


def _distances_of_pairs_backward(gradient: Tensor, x: Tensor, p: float, distances: Tensor) -> Tensor:
    first, second = _pairs(x)
    square = x.new_zeros(x.shape[0], x.shape[0])
    weights, sizes = square.clone(), square
    for full, given in ((weights, gradient), (sizes, distances)):
        full[first, second] = given
        full[second, first] = given
    return _distances_backward(weights, x, x, p, sizes)


direct("_cdist_forward", _distances)
direct("_cdist_backward", _distances_backward)
direct("_pdist_forward", _distances_of_pairs)
direct("_pdist_backward", _distances_of_pairs_backward)
decomposed("renorm tril_indices triu_indices")


def _shorten_rows(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows with some numbers that are longer than a length down to it."""
    rows = torch.unique(indices)
    chosen = weight[rows]
    norms = torch.linalg.vector_norm(chosen, norm_type, 1, keepdim=True)
    weight[rows] = torch.where(norms > max_norm, chosen * (max_norm / (norms + 1e-7)), chosen)
    return weight


direct("embedding_renorm_", _shorten_rows)
