"""The switch `contract`: products and the sums that they go into are rounded once, in compiled functions and only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference import supported
from validator import complaint

import vkarray as vx
from vkarray import configuration
from vkarray._vk import Device
from vkarray.kernels.rows import ROWS
from vkarray.shaders.module import instructions, words_of

pytestmark = pytest.mark.skipif(
    configuration.current().compare, reason="functions run as they are while results are compared"
)

Made = dict[str, bytes]
EXTENDED, FUSED = 12, 50


def _of(name: str) -> Callable[..., Any]:
    return lambda x, y: getattr(vx, name)(x) * y + x


# Functions of x and y between 0.5 and 2, and how far results may be from those of float64, in units of float32's last place.
PROGRAMS: dict[str, tuple[Callable[..., Any], float]] = {
    "a sum of products": (lambda x, y: x * y + y * y - x, 4),
    "Horner's rule": (lambda x, y: ((x * 0.3 + 0.7) * x + 0.1) * x + y, 4),
    **{name: (_of(name), 5) for name in ("exp", "expm1", "log1p", "sin", "cos", "tanh", "atan", "sqrt", "sinh", "cbrt", "exp2")},
    "a quotient": (lambda x, y: x / y * 2.5 + y, 4),
    "a power": (lambda x, y: x**y + y, 4),
    "softmax": (lambda x, y: vx.exp(x - vx.max(x, axis=-1, keepdims=True)) / vx.sum(vx.exp(x * y - y), axis=-1, keepdims=True), 12),
    "a variance": (lambda x, y: vx.mean((x - vx.mean(x, axis=-1, keepdims=True)) ** 2 * y, axis=-1), 24),
}  # fmt: skip


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """The kernels that are made meanwhile, by their labels."""
    found: Made = {}
    make = Device.kernel

    def kernel(self: Device, spirv: bytes, label: str, *rest: Any) -> Any:
        found[label] = spirv
        return make(self, spirv, label, *rest)

    monkeypatch.setattr(Device, "kernel", kernel)
    return found


def count(made: Made, opcode: int, called: int | None = None) -> int:
    """How many instructions of an opcode the kernels of programs have, or how many that call an extended instruction."""
    return sum(
        one == opcode and (called is None or operands[3] == called)
        for label, spirv in made.items() if label.startswith(("fused", "rows"))
        for one, operands in instructions(words_of(spirv, label), label)
    )  # fmt: skip


def operands(dtype: vx.DType) -> tuple[vx.VkArray, vx.VkArray]:
    generator = np.random.default_rng(3)
    x, y = (vx.asarray(generator.uniform(0.5, 2, (7, 64)), dtype=dtype) for _ in range(2))
    return x, y


@pytest.mark.parametrize("dtype", [dtype.name for dtype in supported([vx.float32, vx.float64])])
@pytest.mark.parametrize("name", PROGRAMS)
def test_contracted_programs_are_near(name: str, dtype: str, made: Made) -> None:
    function, units = PROGRAMS[name]
    x, y = operands(getattr(vx, dtype))
    eager = np.asarray(function(x, y))
    made.clear()
    assert np.asarray(vx.compile(lambda x, y: function(x, y))(x, y)).tobytes() == eager.tobytes()
    before = count(made, EXTENDED, FUSED)
    made.clear()
    with vx.config(contract=True):
        contracted = np.asarray(vx.compile(lambda x, y: function(x, y))(x, y))
    assert contracted.dtype == eager.dtype
    assert np.all(np.abs(contracted - eager) <= units * np.finfo(eager.dtype).eps * np.abs(eager)), name
    library = name not in ("a sum of products", "Horner's rule")
    if library:  # of functions of the library; operations by themselves are left to the driver
        assert count(made, EXTENDED, FUSED) > before
    for label, spirv in made.items():
        assert not complaint(spirv), label


def test_a_product_is_rounded_once_or_not_at_all() -> None:
    """x x - 1 for x next to 1, whose square is no float32: its last bits are there only where it is not rounded."""
    x = vx.asarray(1 + 2.0**-12 * np.arange(1, 9), dtype=vx.float32)
    wide = np.asarray(x).astype(np.float64)
    with vx.config(contract=True):
        found = np.asarray(vx.compile(lambda x: x * x - 1 + x * 0)(x)).astype(np.float64)
    once, twice = wide * wide - 1, (wide * wide).astype(np.float32).astype(np.float64) - 1
    assert np.array_equal(found, once.astype(np.float32)) or np.array_equal(found, twice)


def test_the_switch_is_part_of_what_a_function_is_compiled_for(made: Made) -> None:
    compiled = vx.compile(lambda x: vx.exp(x) * 2 + 1)
    x = vx.linspace(0, 1, 100)
    plain = np.asarray(compiled(x)).tobytes()
    without = count(made, EXTENDED, FUSED)
    with vx.config(contract=True):
        compiled(x)
    assert count(made, EXTENDED, FUSED) > without
    assert np.asarray(compiled(x)).tobytes() == plain, "without the switch the bits are those of before"


def test_calls_one_by_one_are_never_contracted(made: Made) -> None:
    x = vx.linspace(0.5, 2, 1000)
    names = ("exp", "log", "sin", "tanh")
    plain = [np.asarray(getattr(vx, name)(x)).tobytes() for name in names]
    mixed = np.asarray(vx.asarray([1, 2, 3]) + vx.asarray([0.5, 1, 2])).tobytes()
    with vx.config(contract=True):
        assert [np.asarray(getattr(vx, name)(x)).tobytes() for name in names] == plain
        assert np.asarray(vx.asarray([1, 2, 3]) + vx.asarray([0.5, 1, 2])).tobytes() == mixed
    assert set(names) <= set(ROWS)
