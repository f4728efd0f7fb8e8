"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import vkarray as vx

from ..table import foreign_row, row


@row("mm", "bmm", "matmul", "mv", "dot", "linalg_vecdot", "vdot")
def _multiply(call: Any, a: Any, b: Any) -> Any:
    return vx.vecdot(a, b) if call.name == "linalg_vecdot" else vx.matmul(a, b)


@row("linear")
def _linear(call: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    found = vx.matmul(x, vx.swapaxes(weight, 0, 1) if weight.ndim > 1 else weight)
    return found if bias is None else found + bias


@row("addmm", "baddbmm", "addmv", "addbmm", "addr")
def _add_product(call: Any, bias: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    if call.name == "addr":
        found = a[:, None] * b
    else:
        found = vx.matmul(a, b)
        found = vx.sum(found, axis=0) if call.name == "addbmm" else found
    found = found if alpha == 1 else found * alpha
    if beta == 0:  # what is added counts for nothing then, NaN included
        return found
    return (bias if beta == 1 else bias * beta) + found


@row("outer", "ger")
def _outer(call: Any, a: Any, b: Any) -> Any:
    return call.cast(a)[:, None] * call.cast(b)


def _of_two(call: Any, x: Any, weights: Any, ends: Any = None, bias: Any = None, out_dtype: Any = None) -> str | None:
    return None if x.ndim == 2 and weights.ndim == 3 and bias is None else "its groups are not rows, or it has a bias"


@row("_grouped_mm", limit=_of_two)
@foreign_row("transformers::grouped_mm_fallback")
def _multiply_groups(call: Any, x: Any, weights: Any, ends: Any, *_: Any, **options: Any) -> Any:
    """Rows by the matrix of their group, which `ends` bounds; 0 after the last one. Each matrix is multiplied by all rows."""
    rows = vx.expand_dims(vx.arange(x.shape[0], dtype=ends.dtype), axis=-1)
    found = vx.zeros((x.shape[0], weights.shape[2]), dtype=x.dtype)
    for place in reversed(range(weights.shape[0])):
        found = vx.where(rows < ends[place], vx.matmul(x, weights[place]), found)
    return found
