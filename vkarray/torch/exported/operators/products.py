"""Products of matrices and vectors."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import vkarray as vx

from ..table import foreign_row, row


@row("mm", "bmm", "matmul", "mv", "dot")
def _multiply(call: Any, a: Any, b: Any) -> Any:
    return vx.matmul(a, b)


@row("vdot", "linalg_vecdot")
def _multiply_along(call: Any, a: Any, b: Any, dim: int = -1) -> Any:
    """With the conjugate of a. PyTorch counts the dimension in both together."""
    a, b = vx.broadcast_arrays(a, b)
    return vx.vecdot(a, b, axis=dim)


@row("_trilinear")
def _multiply_three(
    call: Any, a: Any, b: Any, c: Any, lacks_a: Sequence[int], lacks_b: Sequence[int], lacks_c: Sequence[int],
    summed: Sequence[int], unroll_dim: int = 1,
) -> Any:  # fmt: skip
    """The product of three, each of which lacks some of the dimensions, summed over others."""
    every = string.ascii_letters[: a.ndim + len(lacks_a)]
    of_a, of_b, of_c, result = (
        "".join(letter for axis, letter in enumerate(every) if axis not in without)
        for without in (lacks_a, lacks_b, lacks_c, summed)
    )
    return vx.einsum(f"{of_a},{of_b},{of_c}->{result}", a, b, c)


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
