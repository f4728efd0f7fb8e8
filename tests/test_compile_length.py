"""Kernels of several operations are no longer than drivers compile soon: long functions are not written out many times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray import configuration
from vkarray._vk import Device
from vkarray.kernels import evaluation, expressions, fused
from vkarray.kernels.conversion import elementwise
from vkarray.kernels.rows import ROWS
from vkarray.shaders import parsed

pytestmark = pytest.mark.skipif(
    configuration.current().compare, reason="functions run as they are while results are compared"
)

PROGRAMS = {
    "several reductions": lambda f, x: (vx.sum(f(x)), vx.max(vx.real(f(x)), axis=-1), vx.mean(f(x) * 2, axis=-1)),
    "normalized rows": lambda f, x: f(x) - vx.mean(f(x), axis=-1, keepdims=True),
    "a chain": lambda f, x: f(f(f(f(f(x))))) + 1,
    "many results": lambda f, x: (f(x), f(x + 1), f(x + 2), f(x + 3) * f(x)),
    "of columns": lambda f, x: f(x.T) + f(x[..., ::-1].T),
    "sums of halves": lambda f, x: vx.sum(f(x[:, :8]) * f(x[:, 8:]), axis=0),
}
FUNCTIONS = {
    "pow": (lambda x: x**x, ("complex128", "complex64")),
    "asin": (vx.asin, ("complex64",)),
    "logaddexp": (lambda x: vx.logaddexp(x, 1 - x), ("float64", "float16")),
    "sin": (vx.sin, ("float16",)),
}
CASES = [(name, dtype) for name, (_, types) in FUNCTIONS.items() for dtype in types if supported([getattr(vx, dtype)])]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_kernels_are_short(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, _ = FUNCTIONS[name]
    made: dict[str, int] = {}
    make = Device.kernel

    def kernel(self: Device, spirv: bytes, label: str, *rest: Any) -> Any:
        if label.startswith(("fused", "rows")):
            made[label] = parsed.inlined(spirv, label, "main")
        return make(self, spirv, label, *rest)

    monkeypatch.setattr(Device, "kernel", kernel)
    x = vx.asarray(np.random.default_rng(0).random((6, 16)).astype(dtype))
    alone = expressions.length(ROWS[name].operation(x.dtype), x.device)
    for program, body in PROGRAMS.items():
        made.clear()
        compiled = vx.compile(lambda x, body=body: body(function, x))
        for found, expected in zip(*map(_listed, (compiled(x), body(function, x))), strict=True):
            assert np.asarray(found).tobytes() == np.asarray(expected).tobytes(), program
        longest = max(made.values(), default=0)
        # In some kernels it stands for whole packs, for several of them, and for what is left; and steps beside it for each.
        assert longest <= 2 * expressions.INSTRUCTIONS + 3 * alone, f"{program}: {made}"


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


# Functions of more and of fewer instructions and loops, the type that they are computed in, and that of the arrays.
CONVERTED = (
    ("logaddexp", "float32", "int32"), ("logaddexp", "float64", "float32"), ("pow", "complex64", "complex128"),
    ("tan", "complex64", "complex128"), ("expm1", "complex128", "complex64"), ("floor_divide", "float64", "int16"),
    ("divide", "float16", "int8"), ("exp", "float32", "int16"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "computed", "given"), CONVERTED)
def test_kernels_that_convert_are_short(name: str, computed: str, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target, source = getattr(vx, computed), getattr(vx, given)
    if not supported([target, source]):
        pytest.skip(f"the device has no {computed} or no {given}")
    lengths: dict[tuple[bool, int], int] = {}
    make = evaluation._kernel

    def kernel(
        expression: Any, inputs: Any, flat: bool, vector: int, device: Device, strip: fused.Strip, *rest: Any
    ) -> Any:
        code = fused.code(expression, inputs, flat, vector, device, strip)
        loop = expressions.LOOP[device.limits.kind]
        lengths[flat, strip.elements] = parsed.inlined(code, expression.label, "main", loop)
        return make(expression, inputs, flat, vector, device, strip, *rest)

    monkeypatch.setattr(evaluation, "_kernel", kernel)
    operation = ROWS[name].operation(target)
    values = vx.astype(vx.asarray(np.arange(144 * 128, dtype=np.int32) % 5 - 2), source)
    for x in (values, vx.reshape(values, (128, 144)).T, vx.reshape(values, (144, 128))[::-1, :100]):
        found, expected = (vx.empty(x.shape, dtype=operation.result) for _ in range(2))
        elementwise(operation, (x,) * len(operation.inputs), found)
        elementwise(operation, (vx.astype(x, target),) * len(operation.inputs), expected)
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    # In all of them it stands for one element, in several places, besides those side by side.
    alone, most = expressions.length(operation, values.device), expressions.SIDE_BY_SIDE[values.device.limits.tier]
    assert lengths
    assert max(lengths.values()) <= 1.5 * most + 4 * alone, lengths
