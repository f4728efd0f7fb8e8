"""The standard's extension `linalg`. The factorisations live in `ops/linalg`."""

from __future__ import annotations

from .ops.linalg.lu import det, inv, slogdet, solve
from .ops.linear_algebra import matmul, matrix_transpose, tensordot, vecdot

__all__ = [
    "det",
    "inv",
    "matmul",
    "matrix_transpose",
    "slogdet",
    "solve",
    "tensordot",
    "vecdot",
]
