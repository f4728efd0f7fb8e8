"""Elementwise operations, of any types that promote, and what chooses or converts elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from chain import Chain, Entry, Step, host_dtype, rounded, wider
from registry import operation, scalar, shown, tolerance

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES, DTYPES, DType
from vkarray.kernels.rows import ROWS

# Correctly rounded, or no arithmetic at all: NumPy has the same bits.
EXACT = {
    "add", "subtract", "multiply", "divide", "sqrt", "square", "reciprocal", "negative", "positive", "abs", "floor", "ceil",
    "trunc", "round", "maximum", "minimum", "copysign", "nextafter", "isfinite", "isinf", "isnan", "signbit", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift", "conj", "real",
    "imag", "floor_divide", "remainder", "sign", "rint", "fabs", "fmod", "fmax", "fmin", "heaviside", "spacing",
}  # fmt: skip
# Complex functions whose value NumPy computes badly, or of which NumPy has another idea near a cut: tests of their own see to them.
OF_REALS_ALONE = {
    "pow",
    "sign",
    "log1p",
    "expm1",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "tan",
    "tanh",
    "reciprocal",
}


def _result_dtype(name: str, operands: list[Any]) -> tuple[DType, DType]:
    """The type that an operation computes in and that of its result, from NumPy where that has these types."""
    row = ROWS[name]
    common = vx.result_type(*[one.array if isinstance(one, Entry) else one for one in operands])
    if row.booleans == "truth":
        return vx.bool, vx.bool
    if row.integers == "keep" or common not in CATEGORIES["integer or boolean"]:
        return common, row.result_dtype(common)
    small = [np.zeros(1, one.host.dtype) if isinstance(one, Entry) else one for one in operands]
    with np.errstate(all="ignore"):
        found = DTYPES[getattr(np, name)(*small).dtype.name]
    compute = common if row.result == "bool" else found
    return (DTYPES["float64"] if row.result == "bool" else compute), found


def _tamed(name: str, chain: Chain, operands: list[Any]) -> list[Any] | None:
    """Operands for which the operation is defined: no divisors of 0, shifts and powers of integers within their range."""
    if name in ("floor_divide", "remainder", "pow", "bitwise_left_shift", "bitwise_right_shift"):
        second = operands[1]
        if isinstance(second, Entry) and "floating" not in second.array.dtype.category:
            low = 0 if name == "pow" else 1
            host = (np.abs(second.host.astype(np.int64)) % 7 + low).astype(second.host.dtype)
            operands[1] = Entry(vx.asarray(host, dtype=second.array.dtype), host, f"{second.array.dtype} of 0 to 7")
        if name == "pow" and not isinstance(second, Entry) and second < 0:
            return None
    return operands


def _floored(dividends: np.ndarray, divisors: np.ndarray, otherwise: np.ndarray, dtype: vx.DType) -> np.ndarray:
    """Floor quotients, computed with integers: NumPy rounds the dividend less the remainder, and then their quotient.

    Its zeros, and its quotients by 0, are right.
    """
    digits = 1 - int(math.log2(vx.finfo(dtype).eps))
    found = otherwise.copy()
    for place, (x, y) in enumerate(np.broadcast(dividends, divisors)):
        if y != 0 and otherwise.flat[place] != 0:
            (a, b), (c, d) = float(x).as_integer_ratio(), float(y).as_integer_ratio()
            found.flat[place] = _to_digits(a * d // (b * c), digits)
    return rounded(found, dtype)  # what is too large is infinite


def _to_digits(number: int, digits: int) -> float:
    """An integer rounded to so many binary digits, a half to the even one."""
    dropped = max(abs(number).bit_length() - digits, 0)
    if dropped:
        number, rest = number >> dropped, number % (1 << dropped)
        number += rest * 2 > 1 << dropped or (rest * 2 == 1 << dropped and number & 1)
    try:
        return float(number << dropped)
    except OverflowError:
        return math.copysign(math.inf, number)


@operation(30)
def elementwise(chain: Chain) -> Step | None:
    name = chain.choice(name for name in ROWS if hasattr(np, name) and ROWS[name].operands <= 2)
    row = ROWS[name]
    category = row.category
    if name in OF_REALS_ALONE and category in ("numeric", "floating-point"):
        category = "real numeric" if category == "numeric" else "real floating"
    if row.integers != "keep" and chain.chance(0.3):
        category = "integer or boolean"
    first = chain.entry(category)
    operands: list[Any] = [first]
    if row.operands == 2:
        lone = chain.chance(0.2) and first.array.dtype.category != "bool"
        same = None if chain.chance(0.5) else first.array.dtype
        operands.append(scalar(chain, first.array.dtype) if lone else chain.beside(first.host.shape, category, same))
        if chain.chance(0.2):
            operands.reverse()
    tamed = _tamed(name, chain, operands)
    if tamed is None:
        return None
    operands = tamed
    compute, result = _result_dtype(name, operands)
    if compute not in CATEGORIES[row.category] and row.integers == "keep":
        return None
    if name in OF_REALS_ALONE and compute.category == "complex floating":
        return None
    if name in ("nextafter", "spacing") and compute is vx.bfloat16:  # NumPy has no such neighbours
        return None
    if any(one not in chain.dtypes for one in (compute, result)):
        return None
    exact = name in EXACT and not (
        compute.category == "complex floating" and name in ("multiply", "divide", "square", "sqrt", "abs")
    )
    exact = exact or "floating" not in compute.category
    kind = host_dtype(compute) if exact else wider(compute)
    hosts = []
    for one in operands:
        values = one.host if isinstance(one, Entry) else np.asarray(one)
        hosts.append(rounded(values, compute).astype(kind) if compute is not vx.bool else values.astype(bool))
    # The standard and NumPy differ in infinities; NumPy takes the square root of -inf for its power of 0.5.
    if name in ("floor_divide", "remainder", "pow") and not all(np.all(np.isfinite(host)) for host in hosts):
        return None
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(*hosts)
        bound = None
        if not exact:
            size = np.abs(expected)
            if compute.category == "complex floating":
                size = size + (
                    np.abs(hosts[0]) + np.abs(hosts[-1]) if name in ("log", "log2", "log10", "logaddexp") else 0
                )
            ulps = 16 if compute.category == "complex floating" else 2
            bound = tolerance(
                result, ulps, size + (0.05 if name == "logaddexp" else 0)
            )  # its zeros are sums that cancel
        elif result.category != "bool":
            expected = rounded(expected, result)
            if name == "floor_divide" and "floating" in result.category:
                expected = _floored(*hosts, expected, result)
    values = [one.array if isinstance(one, Entry) else one for one in operands]
    if not exact and compute.category == "complex floating" and not np.all(np.isfinite(expected)):
        return None

    def text():
        return f"{name}({', '.join(shown(one) for one in operands)})"

    return Step(text, lambda: getattr(vx, name)(*values), expected, result, bound)


@operation(4)
def where(chain: Chain) -> Step:
    first = chain.entry()
    second = chain.beside(first.host.shape, None)
    condition = chain.beside(np.broadcast_shapes(first.host.shape, second.host.shape), "bool", vx.bool)
    dtype = vx.result_type(first.array, second.array)
    if dtype not in chain.dtypes:
        second, dtype = first, first.array.dtype
    with np.errstate(all="ignore"):
        expected = np.where(condition.host, rounded(first.host, dtype), rounded(second.host, dtype))

    def text():
        return f"where({shown(condition)}, {shown(first)}, {shown(second)})"

    return Step(text, lambda: vx.where(condition.array, first.array, second.array), expected, dtype)


@operation(4)
def clip(chain: Chain) -> Step:
    x = chain.entry("real numeric")
    low, high = sorted((chain.integer(0, 3), chain.integer(2, 6)))
    with np.errstate(invalid="ignore"):
        expected = np.clip(x.host, x.host.dtype.type(low), x.host.dtype.type(high))
    return Step(
        lambda: f"clip({shown(x)}, {low}, {high})", lambda: vx.clip(x.array, low, high), expected, x.array.dtype
    )


@operation(6)
def astype(chain: Chain) -> Step | None:
    x = chain.entry()
    target = chain.dtype()
    source = x.array.dtype
    if source.category == "complex floating" and target.category not in ("complex floating", "bool"):
        return None
    if "integer" in target.category and "floating" in source.category:  # NumPy's result is undefined beyond the range
        info = np.iinfo(target.name)
        with np.errstate(all="ignore"):
            if not np.all((x.host > max(info.min, -(2**31))) & (x.host < min(info.max, 2**31))):
                return None
            if info.min == 0 and not np.all(x.host >= 0):
                return None
    if target is vx.bfloat16 and source is vx.float64:  # the reference rounds twice
        return None
    with np.errstate(all="ignore"):
        expected = rounded(x.host, target)
    return Step(lambda: f"astype({shown(x)}, {target})", lambda: vx.astype(x.array, target), expected, target)
