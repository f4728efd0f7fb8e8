"""Inputs, references in wider arithmetic, and errors in ULP for the tests of elementwise functions."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.array import is_supported
from vkarray.core.dtypes import DType
from vkarray.kernels.product import blocks

# The arithmetic in which references are computed: at least 11 more bits than the type under test.
WIDER = {
    "float16": np.float64, "bfloat16": np.float64, "float32": np.longdouble, "float64": np.longdouble,
    "complex64": np.clongdouble, "complex128": np.clongdouble,
}  # fmt: skip


def supported(types) -> list[DType]:
    """Those of `types` that the device under test has, in the order of the table (a set's differs by process)."""
    wanted = frozenset(types)
    device = vx.asarray(0).device
    return [dtype for dtype in dtypes.DTYPES.values() if dtype in wanted and is_supported(dtype, device)]


def module_at(path: Path) -> ModuleType:
    """A new module of a file that no package has."""
    specification = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def host_dtype(dtype: DType) -> np.dtype:
    """NumPy's dtype for the host values of a vkarray dtype (float32 for bfloat16)."""
    return np.dtype("float32" if dtype is vx.bfloat16 else dtype.name)


def roll(monkeypatch, device) -> None:
    """Let products in tiles leave their loops as they are on a CPU driver, which compiles them for minutes otherwise."""
    make = blocks.matmul_variant

    def variant(tile, *options):
        made = make(tile, *options)
        return (
            made._replace(defines=(*made.defines, ("ROLLED", "1"))) if tile.template == "product/matmul_tiled" else made
        )

    if device.limits.is_cpu:
        monkeypatch.setattr(blocks, "matmul_variant", variant)


@functools.cache
def flushes_subnormals(dtype: DType) -> bool:
    """Whether the driver's own additions turn subnormal numbers into zero (SwiftShader does, for float32)."""
    component = vx.float32 if dtype.bits <= 32 else vx.float64
    tiny = vx.asarray(np.array([vx.finfo(component).smallest_normal / 2], host_dtype(component)))
    return float((tiny + vx.zeros_like(tiny))[0]) == 0


def flushed(values: np.ndarray, dtype: DType) -> np.ndarray:
    """The values with subnormal numbers of the type computed in (float32 for float16) as zeros."""
    limit = vx.finfo(vx.float32 if dtype.bits <= 32 else vx.float64).smallest_normal
    if np.iscomplexobj(values):
        result = np.array(values)
        result.real, result.imag = flushed(values.real, dtype), flushed(values.imag, dtype)
        return result
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) < limit, np.copysign(values.dtype.type(0), values), values)


def special_values(dtype: DType) -> np.ndarray:
    """Zeros, ones, halves, extremes and neighbours, infinities and NaN, or the extremes of an integer type."""
    host = host_dtype(dtype)
    if dtype is vx.bool:
        return np.array([False, True])
    if "integer" in dtype.category:
        info = np.iinfo(host)
        edges = [info.min, info.min + 1, info.max - 1, info.max, 0, 1, 2, 3, 7, info.bits - 1]
        return np.array(edges + ([-1, -2, -7] if info.min else []), host)
    limits = vx.finfo(dtype)
    tiny = limits.smallest_normal
    positive = [0.0, 1.0, 0.5, 2.0, 1.5, 2.5, 3.0, 10.0, 0.1, 1e-3, np.pi / 2, np.pi, 88.0, 700.0, limits.max, limits.max / 2,
                1 / limits.eps, 3 / limits.eps, limits.eps, 1 + limits.eps, 1 - limits.eps / 2, tiny, tiny * limits.eps,
                tiny * 0.75, tiny * 2, np.inf, np.nan]  # fmt: skip
    reals = np.array([sign * value for value in positive for sign in (1, -1)])
    if dtype.category == "complex floating":
        few = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e-3, 50.0, limits.max, tiny, np.inf, -np.inf, np.nan])
        return _grid(few, host)
    with np.errstate(over="ignore"):
        return _rounded(reals, dtype)


def _grid(parts: np.ndarray, host: np.dtype) -> np.ndarray:
    """All complex numbers of the given real and imaginary parts (built part by part: 1j * inf is NaN + inf j)."""
    grid = np.empty((len(parts), len(parts)), host)
    grid.real, grid.imag = parts[:, None], parts[None, :]
    return grid.reshape(-1)


def _rounded(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Host values that the dtype can hold (bfloat16 has fewer bits than its host type)."""
    values = values.astype(host_dtype(dtype))
    return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32) if dtype is vx.bfloat16 else values


def random_values(dtype: DType, count: int, seed: int = 0) -> np.ndarray:
    """Random bits (all binades, subnormals, NaN) for a third, ordinary numbers for the rest."""
    generator = np.random.default_rng(seed)
    host = host_dtype(dtype)
    if dtype is vx.bool:
        return generator.integers(0, 2, count).astype(bool)
    if "integer" in dtype.category:
        info = np.iinfo(host)
        small = generator.integers(max(info.min, -20), 20, count)
        return np.where(
            generator.random(count) < 0.5, small.astype(host), generator.integers(info.min, info.max, count, host, True)
        )
    if dtype.category == "complex floating":
        values = np.empty(count, host)
        part = vx.float32 if dtype is vx.complex64 else vx.float64
        values.real, values.imag = random_values(part, count, seed + 1), random_values(part, count, seed + 2)
        return values
    bits = generator.integers(0, 256, count * host.itemsize, np.uint8).view(host)
    scale = generator.choice([0.01, 1.0, 100.0], count)
    return _rounded(np.where(generator.random(count) < 1 / 3, bits, generator.standard_normal(count) * scale), dtype)


def normal_values(dtype: DType, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Normally distributed numbers, complex ones in both parts."""
    generator = np.random.default_rng(seed)
    values = generator.standard_normal(shape)
    if dtype.category == "complex floating":
        values = values + 1j * generator.standard_normal(shape)
    return values.astype(host_dtype(dtype))


def ulp_errors(got: np.ndarray, expected: np.ndarray, dtype: DType) -> np.ndarray:
    """|got - expected| in units in the last place of `dtype` at the expected value; infinite where NaN, infinities or
    the sign of a zero disagree. `expected` is in wider arithmetic; a value that rounds to infinity is one.
    """
    limits = vx.finfo(dtype)
    expected = np.asarray(expected)
    overflow = (
        limits.max * (1 + limits.eps / 4)
        if dtype is not vx.float64
        else np.longdouble(limits.max) * (1 + np.longdouble(limits.eps) / 4)
    )
    with np.errstate(all="ignore"):
        got = np.asarray(got).astype(expected.dtype)
        expected = np.where(np.abs(expected) >= overflow, np.copysign(np.inf, expected), expected)
        exponent = np.frexp(np.abs(expected))[1] - 1
        smallest = np.frexp(limits.smallest_normal)[1] - 1
        unit = np.ldexp(np.asarray(limits.eps, expected.dtype), np.maximum(exponent, smallest))
        errors = np.abs(got - expected) / unit
        # Next to the overflow threshold the largest number and infinity are both within one unit.
        edge = np.isinf(got) & np.isfinite(expected) & (np.abs(expected) >= limits.max * (1 - limits.eps))
        errors = np.where(edge & (np.sign(got) == np.sign(expected)), 0.5, errors)
        errors = np.where(np.isinf(expected) & (got == expected), 0, errors)
        errors = np.where(np.isinf(expected) & (got == np.sign(expected) * limits.max), 1, errors)
        errors = np.where(np.isnan(expected), np.where(np.isnan(got), 0, np.inf), errors)
        errors = np.where(~np.isnan(expected) & np.isnan(got), np.inf, errors)
        wrong_zero = (expected == 0) & (got == 0) & (np.signbit(expected) != np.signbit(got))
    return np.where(wrong_zero, np.inf, errors).astype(np.float64)
