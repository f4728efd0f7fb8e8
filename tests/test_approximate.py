"""The switch `approximate`: shorter quotients, roots and elementary functions of float32, in compiled functions and only there."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray import configuration
from vkarray._vk import Device
from vkarray.kernels.operation import _APPROXIMATE
from vkarray.nn import pointwise

pytestmark = pytest.mark.skipif(
    configuration.current().compare, reason="functions run as they are while results are compared"
)

LIBRARY = Path(__file__).parents[1] / "glsl" / "lib" / "approximate.glsl"
HALVES = [dtype.name for dtype in supported([vx.float16, vx.bfloat16])]


def of_power(result: np.ndarray) -> Any:
    """Powers are off by as much as the exponent of the result is rounded by."""
    return 5 + 2 * np.abs(np.log2(result))


class Case(NamedTuple):
    """A function, its reference, the range of its operand, and by how many units of float32's last place a result may be off."""

    function: Callable[..., Any]
    reference: Callable[..., Any]
    low: float
    high: float
    units: Callable[[np.ndarray], Any] = lambda result: 5


CASES = {
    "vx_divide": Case(lambda x: 3.25 / x, lambda x: 3.25 / x, -5, 5),
    "vx_reciprocal": Case(vx.reciprocal, np.reciprocal, -5, 5),
    "vx_sqrt": Case(vx.sqrt, np.sqrt, 0, 1e6),
    "vx_pow": Case(lambda x: x**2.5, lambda x: x**2.5, 0, 60, of_power),
    "vx_exp": Case(vx.exp, np.exp, -87.33, 88.722),
    "vx_exp2": Case(vx.exp2, np.exp2, -125, 127),
    "vx_log": Case(vx.log, np.log, 0, 4),
    "vx_log2": Case(vx.log2, np.log2, 0, 4),
    "vx_log10": Case(vx.log10, np.log10, 0, 1e5),
    "vx_log1p": Case(vx.log1p, np.log1p, -1, 3),
    "vx_tanh": Case(vx.tanh, np.tanh, -6, 6),
    "vx_sin": Case(vx.sin, np.sin, -30, 30),
    "vx_cos": Case(vx.cos, np.cos, -30, 30),
    "vx_asin": Case(vx.asin, np.arcsin, -1, 1),
    "vx_acos": Case(vx.acos, np.arccos, -1, 1),
}
CASES |= {
    f"vx_{name}": Case(
        lambda x, compare=compare: x * compare(x, 1.5), lambda x, compare=compare: x * compare(x, 1.5), -5, 5
    )
    for name, compare in {"equal": operator.eq, "less": operator.lt, "less_equal": operator.le}.items()
}
OTHERS = {
    "a power of numbers near 1": Case(lambda x: x**40.0, lambda x: x**40.0, 0.5, 2, of_power),
    "an exponent": Case(lambda x: 1.75**x, lambda x: 1.75**x, -50, 50, of_power),
    "angles of thousands of turns": Case(vx.sin, np.sin, -1e5, 1e5),
    "a sigmoid": Case(pointwise.sigmoid, lambda x: 1 / (1 + np.exp(-x)), -20, 20, lambda result: 8),
    "silu": Case(pointwise.silu, lambda x: x / (1 + np.exp(-x)), -20, 20, lambda result: 8),
}  # fmt: skip
SPECIAL = np.array(
    [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, -0.5, 100, -200, 3e38, -3e38, 1e-30, -1e-30, 1.5e-38], np.float32
)  # fmt: skip


def run(function: Callable[..., Any], *arrays: Any, approximate: bool = True) -> np.ndarray:
    """What a program of several steps with the function gives; by 1 nothing changes."""
    with vx.config(approximate=approximate):
        return np.asarray(vx.compile(lambda *arrays: function(*arrays) * 1.0)(*map(vx.asarray, arrays)))


def test_each_approximate_function_has_a_case() -> None:
    names = set(re.findall(r"^#define (vx_\w+) vx_approximate_", LIBRARY.read_text(encoding="utf-8"), re.MULTILINE))
    assert names == {*CASES, "vx_divide_float16"}  # which the case of `vx_divide` calls where it has float16
    assert all(_APPROXIMATE.fullmatch(name) for name in names)


@pytest.mark.parametrize("name", [*CASES, *OTHERS])
def test_results_are_near(name: str) -> None:
    function, reference, low, high, units = {**CASES, **OTHERS}[name]
    generator = np.random.default_rng(5)
    wide = generator.uniform(low, high, 1 << 15).astype(np.float32)
    x = np.concatenate([wide, wide * np.float32(2.0**-9), wide * np.float32(2.0**-30)])
    x = x[(x > low) & (x < high)] if low in (0, -1) else x
    with np.errstate(all="ignore"):
        expected = reference(x.astype(np.float64))
    found = run(function, x)
    spacing = np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64)
    error = np.abs(found - expected) / np.maximum(spacing, 2.0**-149)
    normal = (np.abs(expected) > 2.0**-126) & (np.abs(expected) < 3.4e38)
    with np.errstate(all="ignore"):
        beyond = np.where(normal, error / units(expected), 0)
    worst = np.argmax(beyond)
    assert beyond[worst] <= 1, f"{name} of {x[worst]}: {found[worst]} in place of {expected[worst]}"


@pytest.mark.parametrize("name", [*CASES, *OTHERS])
def test_zeros_infinities_and_nan_are_those_of_eager_calls(name: str) -> None:
    function = {**CASES, **OTHERS}[name].function
    found, eager = run(function, SPECIAL), np.asarray(function(vx.asarray(SPECIAL)))
    for x, one, other in zip(SPECIAL, found, eager, strict=True):
        if np.isnan(other) or np.isinf(other):
            assert np.array_equal(one, other, equal_nan=True), f"{name} of {x}: {one} in place of {other}"
        elif abs(other) < 2.0**-126:  # numbers that are subnormal may be zeros
            assert abs(one) < 2.0**-125, f"{name} of {x}: {one} in place of {other}"
            assert np.signbit(one) == np.signbit(other), f"{name} of {x}: {one} in place of {other}"
        else:
            assert abs(one - other) <= 2e-6 * abs(other), f"{name} of {x}: {one} in place of {other}"


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", CASES)
def test_results_of_16_bits_are_nearly_always_the_same(name: str, dtype: str) -> None:
    function, _, low, high, _ = CASES[name]
    x = vx.asarray(np.random.default_rng(6).uniform(low, min(high, 6e4), 4096), dtype=getattr(vx, dtype))
    eager = np.asarray(vx.astype(function(x), vx.float32))
    with vx.config(approximate=True):
        found = np.asarray(vx.astype(vx.compile(lambda x: function(x) * 1.0)(x), vx.float32))
    assert np.mean((found == eager) | (np.isnan(found) & np.isnan(eager))) > 0.97


@pytest.mark.parametrize("dtype", [dtype.name for dtype in supported([vx.float64, vx.complex64, vx.complex128])])
def test_other_types_stay_as_they_are(dtype: str) -> None:
    x = np.random.default_rng(7).uniform(0.5, 2, 512).astype(dtype)
    for name in ("exp", "log", "sqrt", "sin", "tanh"):
        function = getattr(vx, name)
        assert run(function, x).tobytes() == run(function, x, approximate=False).tobytes(), name


def test_the_switch_is_part_of_what_a_function_is_compiled_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []
    make = Device.kernel

    def kernel(self: Device, spirv: bytes, label: str, *rest: Any) -> Any:
        made.append(spirv)
        return make(self, spirv, label, *rest)

    monkeypatch.setattr(Device, "kernel", kernel)
    compiled = vx.compile(lambda x: vx.log(x) / (x + 1.5) - vx.exp(x))
    x = vx.linspace(0.5, 2, 100, dtype=vx.float32)
    plain = np.asarray(compiled(x))
    before = len(made)
    with vx.config(approximate=True):
        near = np.asarray(compiled(x))
    assert len(made) == before + 1, "the program with the switch has a kernel of its own"
    assert near.tobytes() != plain.tobytes()
    assert np.allclose(near, plain, rtol=1e-5, atol=1e-6)
    assert np.asarray(compiled(x)).tobytes() == plain.tobytes(), "without the switch the bits are those of before"
    assert len(made) == before + 1
    with vx.config(approximate=True):
        assert np.asarray(vx.log(x)).tobytes() == np.asarray(vx.log(x)).tobytes()
        eager = np.asarray(vx.log(x) / (x + 1.5) - vx.exp(x))
    assert eager.tobytes() == plain.tobytes(), "eager calls stay as they are"


def test_rows_reductions_and_products_take_approximate_functions() -> None:
    x = np.random.default_rng(8).standard_normal((64, 96)).astype(np.float32)
    w = np.random.default_rng(9).standard_normal((96, 96)).astype(np.float32)
    programs: dict[str, Callable[..., Any]] = {
        "a softmax": lambda x, w: vx.exp(x - vx.max(x, axis=1, keepdims=True)) / vx.sum(vx.exp(x), axis=1, keepdims=True),
        "a sum": lambda x, w: vx.sum(vx.exp(x) / (1 + vx.exp(x)), axis=1),
        "a scan": lambda x, w: vx.cumulative_sum(vx.log1p(vx.exp(x)), axis=1),
        "a product": lambda x, w: pointwise.gelu_tanh(x @ w) / 3.7,
    }  # fmt: skip
    for name, function in programs.items():
        near, plain = run(function, x, w), run(function, x, w, approximate=False)
        assert np.allclose(near, plain, rtol=1e-4, atol=1e-4), name
        assert near.tobytes() != plain.tobytes(), name
