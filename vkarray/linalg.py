"""The standard's extension `linalg`. The factorisations live in `ops/linalg`."""

from __future__ import annotations

from .ops.linear_algebra import matmul, matrix_transpose, tensordot, vecdot

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]
