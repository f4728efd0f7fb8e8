"""Reductions."""

from __future__ import annotations

from typing import Any

import numpy as np
from chain import Chain, Step, wider
from registry import operation, shown, tolerance

import vkarray as vx


def _axes(chain: Chain, ndim: int) -> Any:
    if chain.chance(0.3):
        return None
    if chain.chance(0.6):
        return chain.axis(ndim) if ndim else ()
    return tuple(int(one) for one in chain.random.permutation(ndim)[: chain.integer(0, ndim)])


@operation(14)
def exact_reduction(chain: Chain) -> Step | None:
    name = chain.choice(("max", "min", "all", "any", "argmax", "argmin", "count_nonzero", "sum", "prod"))
    category = {"all": None, "any": None, "count_nonzero": None, "sum": "integer", "prod": "integer"}.get(
        name, "real numeric"
    )
    x = chain.entry(category, least=1 if name.startswith("arg") else 0)
    axis = chain.choice((None, chain.axis(x.host.ndim))) if name.startswith("arg") else _axes(chain, x.host.ndim)
    if x.host.size == 0 and name in ("max", "min", "argmax", "argmin"):
        return None
    keepdims = chain.chance(0.3)
    expected = getattr(np, name)(x.host, axis=axis, keepdims=keepdims)

    def text():
        return f"{name}({shown(x)}, axis={axis}, keepdims={keepdims})"

    return Step(text, lambda: getattr(vx, name)(x.array, axis=axis, keepdims=keepdims), chain.held(expected))


@operation(10)
def floating_reduction(chain: Chain) -> Step | None:
    name = chain.choice(("sum", "prod", "mean", "var", "std"))
    x = chain.entry(
        "real numeric" if name in ("var", "std") else "floating-point" if name in ("sum", "prod") else "numeric"
    )
    axis, keepdims = _axes(chain, x.host.ndim), chain.chance(0.3)
    dtype = x.array.dtype if "floating" in x.array.dtype.category else vx.float64
    if dtype not in chain.dtypes or x.host.size == 0 or not np.all(np.isfinite(x.host)):
        return None
    if np.max(np.abs(x.host)) > float(vx.finfo(dtype).max) ** 0.4:  # squares or sums leave the range on the way
        return None
    exact = x.host.astype(wider(dtype))
    count = x.host.size
    options = {"axis": axis, "keepdims": keepdims}
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(exact, **options)
        if not np.all(np.abs(expected) < float(vx.finfo(dtype).max) / 4):
            return None
        spread = np.sum(np.abs(exact), **options) if name == "sum" else np.mean(np.abs(exact), **options)
        if name in ("var", "std"):
            spread = np.mean(np.abs(exact) ** (2 if name == "var" else 1), **options)
        if name == "prod":
            spread = np.abs(expected)
            if (
                np.any(np.abs(exact[exact != 0]) ** 1.0 < 1e-3)
                or float(np.max(np.abs(np.log2(np.abs(exact[exact != 0]) + 1e-30)), initial=0)) * count > 100
            ):
                return None  # products that leave the range on the way
        bound = (
            float(vx.finfo(dtype).smallest_normal)
            + tolerance(dtype, 2, np.abs(expected))
            + (8 + count) * vx.finfo(dtype).eps * spread
        )
        if name == "std":
            bound = bound + np.sqrt(vx.finfo(dtype).eps) * spread * (np.abs(expected) < 1e-2 * spread)
    if name == "std" and np.any(np.abs(expected) < 1e-3 * np.mean(np.abs(exact))):
        return None

    def text():
        return f"{name}({shown(x)}, {options})"

    return Step(text, lambda: getattr(vx, name)(x.array, **options), expected, dtype, bound)
