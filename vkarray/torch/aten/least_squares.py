"""Least squares, by singular values."""

from __future__ import annotations

import torch
from torch import Tensor

from ..dispatch.fallback import Unsupported
from ..dispatch.table import check_castable, direct, resized


def _least_squares(
    a: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None, solution: Tensor, residuals: Tensor,
    rank: Tensor, singular_values: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """The x of least norm among those for which |a x - b| is least. Singular values below rcond of the largest are none."""
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    columns = b.unsqueeze(-1) if vector else b
    if a.ndim < 2 or a.shape[-2] != columns.shape[-2] or a.dtype is not b.dtype or 0 in a.shape:
        raise Unsupported("matrices that do not fit, or have no elements")
    rows, unknowns = a.shape[-2:]
    limit = max(rows, unknowns) * torch.finfo(a.dtype).eps if rcond is None else rcond
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    kept = s > limit * s[..., :1]
    inverse = torch.where(kept, 1 / s, 0).unsqueeze(-1)
    x = vh.mH @ (inverse * (u.mH @ columns))
    ranks = kept.sum(-1)
    by_values = driver in ("gelsd", "gelss")
    nothing = s.new_empty(0)
    left = nothing
    if rows > unknowns and driver not in (None, "gelsy") and bool((ranks == unknowns).all()):
        left = (a @ x - columns).abs().square().sum(-2)
    made = (
        (x.squeeze(-1) if vector else x),
        left,
        nothing.long() if driver == "gels" else ranks,
        s if by_values else nothing,
    )
    targets = solution, residuals, rank, singular_values
    for target, one in zip(targets, made, strict=True):
        check_castable(one.dtype, target.dtype)
        resized(target, one.shape).copy_(one)
    return targets


direct("linalg_lstsq.out", _least_squares, refuses=True)
