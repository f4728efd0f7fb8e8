"""Other implementations of the functions, to be measured like vkarray's own: NumPy, CuPy and the built-ins of GLSL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import asarray
from ...core.array import VkArray
from ...core.dtypes import DType, float32
from ...kernels.rows import Row
from . import engine, exact

# What a shader would say that does not know glsl/lib. Compiled as any row: with `precise`, and with the float controls
# that the device has.
_GLSL = {
    "divide": "a / b", "reciprocal": "1.0 / a", "pow": "pow(a, b)", "atan2": "atan(a, b)", "round": "roundEven(a)",
    **{name: f"{name}(a)" for name in (
        "abs", "sign", "floor", "ceil", "trunc", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    )},
    "log2": "log2(a)",
}  # fmt: skip
_DEFINED_OTHERWISE = {"floor_divide"}  # for an infinite operand the standard asks for floor(x1 / x2)


class OnDevice:
    """A row on the device measured: vkarray's own, or one of a built-in function."""

    def __init__(self, name: str, row: Row) -> None:
        self.name, self.row = name, row

    def __call__(self, *operands: np.ndarray) -> np.ndarray:
        """The results for host operands."""
        return np.asarray(self.row(*[asarray(values, dtype=float32) for values in operands]))

    def begin(self, at: engine.Host, start: int, inputs: VkArray) -> Callable[[], Any]:
        """Begin with a block of inputs, from number `start` on; the function returned gives the engine's array of
        results."""
        results = self.row(inputs)
        return lambda: at.fetched(results)


class OnHost:
    """NumPy's function."""

    def __init__(self, function: np.ufunc) -> None:
        self.name, self.function = "NumPy", function

    def __call__(self, *operands: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return self.function(*operands)

    def begin(self, at: engine.Host, start: int, inputs: VkArray) -> Callable[[], Any]:
        results = at.buffer()
        places = np.arange(min(at.part, results.size), dtype=np.uint32)

        def compute(first: int) -> None:
            part = results[first : first + at.part]
            np.add(places, np.uint32(start + first), out=part.view(np.uint32))
            with np.errstate(all="ignore"):
                self.function(part, out=part)

        waits = [at.pool.submit(compute, first) for first in range(0, results.size, at.part)]

        def finish() -> Any:
            for wait in waits:
                wait.result()
            return at.received(results)

        return finish


class OnCuda:
    """CuPy's function."""

    def __init__(self, function: np.ufunc) -> None:
        self.name, self.function = "CuPy", function

    def __call__(self, *operands: np.ndarray) -> np.ndarray:
        return engine.on_host(self.function(*[engine.cupy().asarray(values) for values in operands]))

    def begin(self, at: engine.Host, start: int, inputs: VkArray) -> Callable[[], Any]:
        return lambda: self.function(at.inputs(start, inputs.size).view(np.float32))


Source = OnDevice | OnHost | OnCuda
NAMES = ("vkarray", "NumPy", "CuPy", "GLSL")


def of(row: Row, dtype: DType) -> list[Source]:
    """What there is beside a row: for float32 functions whose results are rounded, and that mean the same elsewhere."""
    if dtype is not float32 or not exact.has(row.name) or row.name in _DEFINED_OTHERWISE:
        return []
    function = getattr(np, row.name)
    sources: list[Source] = [OnHost(function)]
    if engine.cupy() is not None:
        sources.append(OnCuda(function))  # NumPy's functions hand CuPy's arrays on to CuPy
    if row.name in _GLSL:
        built_in = Row(f"GLSL {row.name}", row.operands, "real floating", _GLSL[row.name], "")
        sources.append(OnDevice("GLSL", built_in))
    return sources
