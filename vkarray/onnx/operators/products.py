"""Products of matrices."""

from __future__ import annotations

from typing import Any

from ..interpreter import Call
from ..table import FLOAT32, HALF, operator


@operator("MatMul", half=HALF)
def _matmul(call: Call, a: Any, b: Any) -> Any:
    return call.xp.matmul(a, b)


@operator("Gemm", half=HALF)
def _gemm(
    call: Call, a: Any, b: Any, c: Any = None, *, alpha: float = 1.0, beta: float = 1.0, broadcast: int = 1,
    transA: int = 0, transB: int = 0,
) -> Any:  # fmt: skip
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError(f"expected two matrices, got shapes {tuple(a.shape)} and {tuple(b.shape)}")
    found = call.xp.matmul(a.T if transA else a, b.T if transB else b)
    found = found if alpha == 1 else call.cast(found * alpha, a.dtype)
    if c is None:
        return found
    return found + (c if beta == 1 else call.cast(c * beta, a.dtype))


@operator("Einsum", half=HALF)
def _einsum(call: Call, *inputs: Any, equation: str) -> Any:
    return call.xp.einsum(equation.replace(" ", ""), *inputs)


@operator("Det", half=FLOAT32)
def _determinant(call: Call, x: Any) -> Any:
    return call.xp.linalg.det(x)
