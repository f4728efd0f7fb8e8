"""Products in compiled functions: the kernels that store them compute what follows, with the bits of kernels of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference import supported
from test_matmul import values_of

import vkarray as vx
from vkarray.core.array import empty
from vkarray.kernels.product.epilogue import Epilogue
from vkarray.kernels.product.strategies import multiply

TYPES = supported([vx.int16, vx.float16, vx.bfloat16, vx.float32, vx.complex64])
REAL = supported([vx.float16, vx.float32])


def gelu(x: Any) -> Any:
    return x * 0.5 * (1 + vx.tanh((x + x * x * x * 0.044715) * 0.7978845608))


def silu(x: Any) -> Any:
    return x / (1 + vx.exp(-x))


# Functions of matrices x and w, a row b, a matrix r of the shape of the product, and a number n; and how many of their operations
# besides the product are left for kernels of their own.
STEPS: dict[str, tuple[Callable[..., Any], int]] = {
    "a bias": (lambda x, w, b, r, n: x @ w + b, 0),
    "a residual": (lambda x, w, b, r, n: r + x @ w, 0),
    "a number": (lambda x, w, b, r, n: (x @ w) * n, 0),
    "a number of the function's own": (lambda x, w, b, r, n: x @ w - 3, 0),
    "a bias, a product and a difference": (lambda x, w, b, r, n: (x @ w + b) * r - r, 0),
    "itself": (lambda x, w, b, r, n: (lambda y: y * y + y)(x @ w), 0),
    "a comparison": (lambda x, w, b, r, n: (lambda y: vx.where(y == b, y, r))(x @ w), 0),
    "a column": (lambda x, w, b, r, n: x @ w + r[:, :1], 0),
    "what comes after it": (lambda x, w, b, r, n: (lambda y: y * (r + b))(x @ w), 1),
    "another product": (lambda x, w, b, r, n: (x @ w + b) * (x @ w - b), 0),
    "three arrays": (lambda x, w, b, r, n: x @ w * b + r - x[:, :1], 1),
    "a result that is read twice": (lambda x, w, b, r, n: (lambda y: (y, y * 3))(x @ w + b), 1),
    "a product that is returned": (lambda x, w, b, r, n: (lambda y: (y, y * 3))(x @ w), 1),
    "a sum of rows": (lambda x, w, b, r, n: vx.sum(x @ w + b, axis=1), 1),
    "a stack": (lambda x, w, b, r, n: vx.reshape(x, (2, -1, x.shape[1])) @ w + b, 0),
    "a stack and a matrix": (lambda x, w, b, r, n: vx.stack([x, x]) @ w + r, None),
    "a view": (lambda x, w, b, r, n: (x @ w)[:, ::-1] + b, 1),
    "more dimensions": (lambda x, w, b, r, n: ((x @ w)[None] + b) * r[None], 0),
    "more dimensions, later": (lambda x, w, b, r, n: (x @ w + b)[None, None] + (x @ w + b), 0),
    "fewer dimensions": (lambda x, w, b, r, n: (x[None] @ w)[0] + b, 1),
    "another shape": (lambda x, w, b, r, n: vx.reshape(x @ w, (2, 10, 16)) + b, 1),
    "a residual before a bias": (lambda x, w, b, r, n: x @ w + r + b, 0),
    "a difference": (lambda x, w, b, r, n: b - x @ w, 0),
    "a row": (lambda x, w, b, r, n: x[:1] @ w + b, 0),
    "a column of sums": (lambda x, w, b, r, n: (x @ w[:, :1]) * r[:, :1], 0),
}  # fmt: skip
UNLINKED = ("a product that is returned", "a view", "fewer dimensions", "another shape")
ACTIVATED = {
    "relu": lambda x, w, b, r, n: vx.maximum(x @ w + b, 0),
    "gelu and a residual": lambda x, w, b, r, n: gelu(x @ w + b) + r,
    "silu times another product": lambda x, w, b, r, n: silu(x @ w) * (x @ w + b),
    "tanh times a number": lambda x, w, b, r, n: vx.tanh(x @ w * n + b),
}


def given(dtype: Any, seed: int) -> tuple[Any, ...]:
    shapes = (20, 30), (30, 16), (16,), (20, 16)
    return tuple(vx.asarray(values_of(dtype, shape, seed + k), dtype=dtype) for k, shape in enumerate(shapes))


def bits(found: Any) -> list[bytes]:
    found = found if isinstance(found, tuple) else (found,)
    hosts = [np.asarray(vx.astype(one, vx.float32) if one.dtype is vx.bfloat16 else one) for one in found]
    return [np.where(host == host, host, 0).tobytes() for host in hosts]


def check(function: Callable[..., Any], dtype: Any) -> Any:
    compiled = vx.compile(function)
    for seed in range(3):
        arrays = given(dtype, 10 * seed)
        assert bits(compiled(*arrays, 2 + seed)) == bits(function(*arrays, 2 + seed))
    return compiled


@pytest.mark.parametrize("name", STEPS)
def test_the_bits_of_kernels_of_their_own(name: str) -> None:
    function, left = STEPS[name]
    for dtype in TYPES:
        told = str(check(function, dtype).explain())
        if dtype is vx.float32 and left is not None:
            assert ("product, then" in told) == (name not in UNLINKED)
            assert told.count("one kernel over") == left or left == 1


@pytest.mark.parametrize("name", ACTIVATED)
def test_activations(name: str) -> None:
    for dtype in REAL:
        assert "product, then" in str(check(ACTIVATED[name], dtype).explain())


def bias_changes(y: Any, x: Any, b: Any, r: Any, n: Any) -> Any:
    b[...] = 0
    return y + r


# What follows a product y with a bias b, which its kernel adds; and whether it becomes a part of that kernel.
AFTER_BIAS: dict[str, tuple[Callable[..., Any], bool]] = {
    "a residual": (lambda y, x, b, r, n: y + r, True),
    "a residual before": (lambda y, x, b, r, n: r + y, True),
    "a copy and a residual": (lambda y, x, b, r, n: vx.asarray(y[None], copy=True) + r[None], True),
    "the bias once more": (lambda y, x, b, r, n: y + b, True),
    "a number": (lambda y, x, b, r, n: y * n, True),
    "a number and a residual": (lambda y, x, b, r, n: y * n - r, True),
    "gelu": (lambda y, x, b, r, n: gelu(y), True),
    "gelu and a residual": (lambda y, x, b, r, n: gelu(y) + r, True),
    "two more arrays": (lambda y, x, b, r, n: y * r + x[:, :1], False),
    "a product that is returned": (lambda y, x, b, r, n: (y, y + r), False),
    "a bias that changes": (bias_changes, False),
}


@pytest.mark.parametrize("wide", [False, True], ids=["rounded", "wide"])
@pytest.mark.parametrize("name", AFTER_BIAS)
def test_what_follows_a_product_with_a_bias(name: str, wide: bool) -> None:
    after, linked = AFTER_BIAS[name]

    def function(x: Any, w: Any, b: Any, r: Any, n: Any) -> Any:
        y = empty(r.shape, r.dtype, r.device)
        return after(multiply(x, w, y, Epilogue(b, wide=wide)), x, b, r, n)

    for dtype in REAL:
        compiled = vx.compile(function)
        for seed in range(3):
            arrays = given(dtype, 10 * seed)
            again = [vx.asarray(one, copy=True) for one in arrays]
            assert bits(compiled(*arrays, 2 + seed)) == bits(function(*again, 2 + seed))
        assert not linked or "product, then" in str(compiled.explain())


WRITTEN: dict[str, Callable[..., None]] = {}


def written(function: Callable[..., None]) -> Callable[..., None]:
    WRITTEN[function.__name__] = function
    return function


@written
def factor_changes(x: Any, w: Any, b: Any, r: Any) -> Any:
    y = x @ w
    w[...] = 0
    return y + b


@written
def addend_changes_before(x: Any, w: Any, b: Any, r: Any) -> Any:
    y = x @ w
    r += 1
    return y + r


@written
def addend_changes_after(x: Any, w: Any, b: Any, r: Any) -> Any:
    y = x @ w + r
    r += 1
    return y * 2


@written
def result_into_the_addend(x: Any, w: Any, b: Any, r: Any) -> Any:
    r[...] = x @ w + r
    return r * b


@written
def result_changes(x: Any, w: Any, b: Any, r: Any) -> Any:
    y = x @ w
    y += b
    y[1:] = 3
    return y * 2


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_in_between(name: str) -> None:
    function = WRITTEN[name]
    compiled = vx.compile(function)
    for seed in range(3):
        ways = [given(vx.float32, seed) for _ in range(2)]
        found = [bits(one(*arrays)) for one, arrays in zip((function, compiled), ways, strict=True)]
        assert found[0] == found[1]
        assert [bits(one) for one in ways[0]] == [bits(one) for one in ways[1]]
