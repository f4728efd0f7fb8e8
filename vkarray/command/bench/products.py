"""Matrix products of every size, layout and type."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .work import CUDA, Check, Goal, Sizes, Values, Work, ahead_of_vulkan, cuda

_EPSILON = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
_EDGE = 16  # rows and columns at each end that are compared
_BUSIEST = {"float32": 2.0**31, "float64": 2.0**31, "float16": 2.0**28, "bfloat16": 2.0**28}  # on a CPU driver


class _Product(NamedTuple):
    """Shapes of both matrices, transposes taken as views, and the goal."""

    name: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    dtype: str = "float32"
    goals: tuple[Goal, ...] = cuda(0.95)
    transposed: tuple[bool, bool] = (False, False)
    common: bool = False


def _transposed(x: Any, wanted: bool) -> Any:
    return x.T if wanted else x


def _check(transposed: tuple[bool, bool], dtype: str) -> Check:
    """The corners of a matrix of the stack against float64, within the bound of a sum of k products in float32."""
    known: list[np.ndarray] = []  # the inputs of a work are the same for every library

    def corners(library: Any, result: Any) -> np.ndarray:
        matrix = result[-1] if len(result.shape) > 2 else result
        rows = matrix.shape[0]
        found = np.concatenate(
            [library.part(matrix, slice(*at)) for at in ((0, min(_EDGE, rows)), (max(0, rows - _EDGE), rows))]
        )
        return found[:, _edges(matrix.shape[1])]

    def check(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
        if not known:
            a, b = (_transposed(x, wanted) for x, wanted in zip(inputs, transposed, strict=True))
            a, b = (a[-1], b[-1]) if a.ndim > 2 else (a, b)
            some, others = a[_edges(a.shape[0])].astype(np.float64), b[:, _edges(b.shape[1])].astype(np.float64)
            exact, size = some @ others, np.abs(some) @ np.abs(others)
            summed = _EPSILON["float64" if dtype == "float64" else "float32"]
            known.extend((exact, size * a.shape[-1] * summed + np.abs(exact) * _EPSILON[dtype]))
        exact, bound = known
        found = corners(library, result)
        return found.shape == exact.shape and bool(np.all(np.abs(found.astype(np.float64) - exact) <= bound))

    return check


def _edges(length: int) -> np.ndarray:
    """The first and the last indices of a dimension."""
    return np.concatenate((np.arange(length)[:_EDGE], np.arange(length)[-_EDGE:]))


def _different(*sizes: int) -> list[int]:
    """Sizes in order, without what a small largest matrix makes equal or too small."""
    return sorted({n for n in sizes if n > 1})


def _products(sizes: Sizes) -> Iterator[_Product]:
    largest = sizes.matrix
    quarter, half = max(2, largest // 4), max(4, largest // 2)
    for n in _different(largest // 8, quarter, half, largest):
        # The peers of Vulkan are compared at the size that the slowest of them does in seconds.
        vulkan = ahead_of_vulkan(1 / 16) if n == 1024 else ()
        yield _Product(f"matmul {n}", (n, n), (n, n), goals=cuda(0.95) + vulkan, common=n <= 1024)
    deep, wide = half * 7 // 2, half // 8 or 2
    yield _Product(f"matmul {half}x{deep}x{wide}", (half, deep), (deep, wide))
    odd = (half - 1, half + 1, half + 3)
    yield _Product(f"matmul {odd[0]}x{odd[1]}x{odd[2]}", odd[:2], odd[1:])
    yield _Product(f"matmul {half} A @ B.T", (half, half), (half, half), transposed=(False, True))
    yield _Product(f"matmul {half} A.T @ B", (half, half), (half, half), transposed=(True, False))
    for n, share in ((32, 2), (64, 4), (128, 8), (256, 16), (512, 128)):
        count = largest // share
        if count and n <= largest:
            yield _Product(f"matmul {count} of {n}", (count, n, n), (count, n, n))
    yield _Product("matrix-vector", (half, deep), (deep, 1))
    yield _Product("vector-matrix", (1, deep), (deep, half))
    yield _Product(f"matmul {8 * largest}x64x64", (8 * largest, 64), (64, 64))
    for n in _different(largest // 8, half, largest):
        goals = (Goal(CUDA, rate=25.0),) if n >= 4096 else ()
        yield _Product(f"matmul float64 {n}", (n, n), (n, n), "float64", goals)
    for dtype in ("float16", "bfloat16"):
        for n in _different(half, largest):
            goals = (Goal(CUDA, rate=400.0),) if n == 8192 else ()
            yield _Product(f"matmul {dtype} {n}", (n, n), (n, n), dtype, goals)
        goals = (Goal(CUDA, rate=300.0),) if half == 4096 else ()
        yield _Product(f"matmul {dtype} {half}x{deep}x{wide}", (half, deep), (deep, wide), dtype, goals)
        yield _Product(f"matmul {dtype} {odd[0]}x{odd[1]}x{odd[2]}", odd[:2], odd[1:], dtype, cuda(1.0))


def _run(transposed: tuple[bool, bool]) -> Callable[..., Any]:
    first, second = transposed
    return lambda xp, a, b: xp.matmul(_transposed(a, first), _transposed(b, second))


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter; without those that take a CPU driver very long."""
    for product in _products(sizes):
        work = _work(product)
        if not (sizes.on_cpu and work.amount is not None and work.amount > _BUSIEST[product.dtype]):
            yield work


def square(n: int) -> Work:
    """One product of square float32 matrices."""
    return _work(_Product(f"matmul {n}", (n, n), (n, n), common=True))


def stack(n: int) -> Work:
    """A stack of 64 products of square float32 matrices."""
    return _work(_Product(f"matmul 64 of {n}", (64, n, n), (64, n, n)))


def _work(product: _Product) -> Work:
    a, b, dtype, turned = product.a, product.b, product.dtype, product.transposed
    operations = 2.0 * math.prod(a) * (b[-2] if turned[1] else b[-1])
    return Work(
        product.name, f"{dtype}, {'x'.join(map(str, a))} @ {'x'.join(map(str, b))}",
        (Values("centred", a, 1, dtype), Values("centred", b, 2, dtype)), _run(turned), _check(turned, dtype),
        product.goals, operations, "TFLOP/s", dtype, common=product.common,
    )  # fmt: skip
