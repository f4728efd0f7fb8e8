"""Products, factorisations, Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
from chain import Chain, Entry, Step, wider
from registry import operation, shown, tolerance

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES, REAL_OF


def _moderate(x: Entry) -> bool:
    """Whether products and their sums are normal numbers of the type."""
    limits, size = vx.finfo(x.array.dtype), np.abs(x.host)
    return bool(
        np.all((size < float(limits.max) ** 0.4) & ((size > float(limits.smallest_normal) ** 0.4) | (size == 0)))
    )


@operation(8)
def product(chain: Chain) -> Step | None:
    x = chain.entry("numeric", least=1, most=3)
    if not np.all(np.isfinite(x.host)):
        return None
    k = x.host.shape[-1]
    shape = (k,) if chain.chance(0.3) else (k, chain.choice((1, 2, 3, 5, 8, 17)))
    y = chain.fresh(x.array.dtype, shape)
    dtype = x.array.dtype
    if "floating" in dtype.category and not all(_moderate(one) for one in (x, y)):
        return None
    if dtype in CATEGORIES["integer"]:
        return Step(
            lambda: f"matmul({shown(x)}, {shown(y)})",
            lambda: vx.matmul(x.array, y.array),
            np.matmul(x.host, y.host),
            dtype,
        )
    first, second = x.host.astype(wider(dtype)), y.host.astype(wider(dtype))
    with np.errstate(over="ignore"):
        expected = np.matmul(first, second)
        bound = tolerance(dtype, 2, expected) + (k + 4) * 2 * vx.finfo(dtype).eps * np.matmul(
            np.abs(first), np.abs(second)
        )
    return Step(lambda: f"matmul({shown(x)}, {shown(y)})", lambda: vx.matmul(x.array, y.array), expected, dtype, bound)


@operation(3)
def contraction(chain: Chain) -> Step | None:
    formula = chain.choice(
        ("ij,jk->ik", "ij,ij->i", "ij,kj->ik", "ii->i", "ij->ji", "ij,jk,kl->il", "bij,bjk->bik", "i,j->ij", "ij->")
    )
    sides = {letter: chain.choice((1, 2, 3, 5)) for letter in "ijklb"}
    dtype = chain.choice(
        one for one in chain.dtypes if one.category != "bool" and one is not vx.bfloat16 and one is not vx.float16
    )
    parts = [chain.fresh(dtype, tuple(sides[letter] for letter in part)) for part in formula.split("->")[0].split(",")]
    if "floating" in dtype.category and not all(map(_moderate, parts)):
        return None
    hosts = [one.host if dtype in CATEGORIES["integer"] else one.host.astype(wider(dtype)) for one in parts]
    expected = np.einsum(formula, *hosts)
    size = np.einsum(formula, *(np.abs(one) for one in hosts))
    bound = (
        None if dtype in CATEGORIES["integer"] else 40 * vx.finfo(dtype).eps * size + vx.finfo(dtype).smallest_normal
    )

    def text():
        return f"einsum({formula}, {', '.join(map(shown, parts))})"

    return Step(text, lambda: vx.einsum(formula, *(one.array for one in parts)), np.asarray(expected), dtype, bound)


FACTORED = ("float32", "float64", "complex64", "complex128")


@operation(5)
def factorisation(chain: Chain) -> Step | None:
    """Reconstructions of matrices that are far from singular, which NumPy need not factor."""
    name = chain.choice(("solve", "inv", "det", "cholesky", "qr", "svd", "eigh"))
    dtype = chain.choice(one for one in chain.dtypes if one.name in FACTORED)
    n, stack = chain.integer(1, 9), chain.choice(((), (), (2,), (3, 2)))
    random = chain.random.standard_normal
    a = random((*stack, n, n)) + (1j * random((*stack, n, n)) if dtype.category == "complex floating" else 0)
    adjoint = np.conj(np.swapaxes(a, -1, -2))
    a = a @ adjoint + n * np.eye(n) if name in ("cholesky", "eigh") else a + 3 * n * np.eye(n)
    host = a.astype(dtype.name)
    x = vx.asarray(host)
    if chain.chance(0.3):
        x = vx.permute_dims(
            vx.asarray(np.ascontiguousarray(np.swapaxes(host, -1, -2))),
            (*range(len(stack)), len(stack) + 1, len(stack)),
        )
    real = REAL_OF.get(dtype, dtype)
    bound = 60 * n * float(vx.finfo(real).eps)

    def run() -> vx.VkArray:
        if name == "solve":
            return vx.linalg.solve(x, vx.matmul(x, vx.ones((n, 2), dtype=dtype)))
        if name == "inv":
            return vx.matmul(x, vx.linalg.inv(x))
        if name == "det":
            return vx.linalg.det(x)
        if name == "cholesky":
            lower = vx.linalg.cholesky(x)
            return (
                vx.matmul(lower, vx.conj(lower.mT))
                if dtype.category == "complex floating"
                else vx.matmul(lower, lower.mT)
            )
        if name == "qr":
            q, r = vx.linalg.qr(x)
            return vx.matmul(q, r)
        if name == "svd":
            return vx.linalg.svdvals(x)
        return vx.linalg.eigvalsh(x)

    wanted = {
        "solve": lambda: np.ones((*stack, n, 2)), "inv": lambda: np.broadcast_to(np.eye(n), host.shape),
        "det": lambda: np.linalg.det(host.astype(np.complex128 if dtype.category == "complex floating" else np.float64)),
        "cholesky": lambda: host, "qr": lambda: host,
        "svd": lambda: np.linalg.svd(host.astype(np.complex128), compute_uv=False),
        "eigh": lambda: np.linalg.eigvalsh(host.astype(np.complex128)),
    }[name]()  # fmt: skip
    scale = np.max(np.abs(wanted), initial=1)
    return Step(
        lambda: f"{name} of {host!r:.1000}", run, wanted, real if name in ("svd", "eigh") else dtype, bound * scale
    )


@operation(5)
def transform(chain: Chain) -> Step | None:
    name = chain.choice(("fft", "ifft", "rfft", "irfft", "fftn", "ifftn", "hfft"))
    real = name == "rfft"
    x = chain.entry("real floating" if real else "floating-point", least=1, most=3)
    if x.host.size == 0 or not np.all(np.isfinite(x.host)) or (name in ("irfft", "hfft") and x.host.shape[-1] < 2):
        return None
    single = x.array.dtype.bits <= 32
    exact = x.host.astype(np.complex128 if x.array.dtype.category == "complex floating" else np.float64)
    options: dict[str, Any] = (
        {}
        if name in ("fftn", "ifftn")
        else {"axis": chain.axis(x.host.ndim) if name in ("fft", "ifft", "rfft") else -1}
    )
    options["norm"] = chain.choice(("backward", "ortho", "forward"))
    with np.errstate(all="ignore"):
        expected = getattr(np.fft, name)(exact, **options)
    limits = vx.finfo(vx.float32 if single else vx.float64)
    bound = 80 * limits.eps * np.max(np.abs(exact)) * x.host.size + 4 * limits.smallest_normal * limits.eps
    if not np.max(np.abs(exact)) * x.host.size < (1e38 if single else 1e300):
        return None
    return Step(
        lambda: f"fft.{name}({shown(x)}, {options})",
        lambda: getattr(vx.fft, name)(x.array, **options),
        expected,
        None,
        bound,
    )
