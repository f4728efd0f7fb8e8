"""The standard's extension `linalg`. The factorisations live in `ops/linalg`."""

from __future__ import annotations

from .errors import LinAlgError
from .ops.beyond.gufuncs import matmul, vecdot
from .ops.linalg.basic import cross, diagonal, matrix_power, outer, trace
from .ops.linalg.cholesky import cholesky
from .ops.linalg.eig import eig, eigvals
from .ops.linalg.eigh import eigh, eigvalsh
from .ops.linalg.least_squares import cond, lstsq
from .ops.linalg.lu import det, inv, slogdet, solve
from .ops.linalg.norm import matrix_norm, norm, vector_norm
from .ops.linalg.qr import qr
from .ops.linalg.svd import matrix_rank, pinv, svd, svdvals
from .ops.linalg.tensors import multi_dot, tensorinv, tensorsolve
from .ops.linear_algebra import matrix_transpose, tensordot

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]
