"""The standard's extension `linalg`. The factorisations live in `ops/linalg`."""

from __future__ import annotations

from .ops.linalg.basic import cross, diagonal, matrix_power, outer, trace
from .ops.linalg.cholesky import cholesky
from .ops.linalg.eig import eig, eigvals
from .ops.linalg.eigh import eigh, eigvalsh
from .ops.linalg.lu import det, inv, slogdet, solve
from .ops.linalg.norm import matrix_norm, vector_norm
from .ops.linalg.qr import qr
from .ops.linalg.svd import matrix_rank, pinv, svd, svdvals
from .ops.linear_algebra import matmul, matrix_transpose, tensordot, vecdot

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
