"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import vkarray as vx

from ..table import row


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
