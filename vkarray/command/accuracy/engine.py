"""Where the fast references for all float32 numbers are computed and errors counted, apart from the device measured.

That is a CUDA device where CuPy has one, else the cores of the host. Both take NumPy's functions, which hand CuPy's arrays on
to CuPy.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...core.array import VkArray
from ...core.dtypes import float32
from ...kernels.rows import Row
from . import measure, reference

# formats.real_errors for float32, by bits and in double: CuPy compiles kernels so that they lose subnormal floats.
_WIDENED = """
    const bool negative = bits >> 31;
    const unsigned int magnitude = bits & 0x7fffffffu;
    const bool is_nan = magnitude > 0x7f800000u;
    const unsigned int exponent = max(magnitude >> 23, 1u), fraction = magnitude & 0x7fffffu;
    double value = ldexp((double)(magnitude >> 23 ? fraction | 0x800000u : fraction), (int)exponent - 150);
    value = negative ? -value : value;  // infinity: the number after the largest one
"""
_VALUE = "wide = is_nan ? 0.0 / 0.0 : magnitude == 0x7f800000u ? value / 0.0 : value;"
_ERROR = """
    const double wrong = 1.0 / 0.0, size = fabs(expected), beyond = 340282366920938463463374607431768211456.0;
    const bool same_sign = negative == (bool)signbit(expected);
    if (is_nan || isnan(expected)) error = is_nan && isnan(expected) ? 0.0 : wrong;
    else if (size >= beyond) error = magnitude == 0x7f800000u && same_sign ? 0.0 : wrong;
    else if (size == 0.0) error = magnitude == 0u && same_sign ? 0.0 : wrong;
    else if (magnitude == 0u && !same_sign) error = wrong;
    else error = ldexp(fabs(value - expected), 23 - max(ilogb(expected), -126));
"""


@functools.cache
def cupy() -> Any:
    """The module CuPy where it is installed and has a device, else None."""
    try:
        module = importlib.import_module("cupy")
        return module if module.cuda.runtime.getDeviceCount() else None
    except Exception:  # not installed, or no driver: CuPy raises errors of its own for the latter
        return None


class Host:
    """NumPy on all cores."""

    block = 2**24  # inputs that what is measured computes at once
    piece = 2**18  # of them that are examined as one task
    chunk = 2**14  # and at once, so that all arrays stay in the cache
    part = 2**18  # inputs that one core computes NumPy's function of

    def __init__(self, inputs: int) -> None:
        self.block = min(self.block, inputs)
        self.pool = ThreadPoolExecutor(os.cpu_count())

    def inputs(self, start: int, count: int) -> Any:
        """The bits of `count` inputs, as uint32."""
        return np.arange(count, dtype=np.uint32) + np.uint32(start)

    def fetched(self, results: VkArray) -> Any:
        """Results of vkarray as an array of the engine."""
        if results.dtype is float32 and results.device.limits.host_memory == "cached":
            return np.from_dlpack(results, device="cpu", copy=False)
        return np.asarray(results)

    def buffer(self) -> np.ndarray:
        """Host memory for the float32 results of a block."""
        return np.empty(self.block, np.float32)

    def received(self, results: np.ndarray) -> Any:
        """Results in host memory as an array of the engine; a buffer may be given out again."""
        return results

    def reference(self, row: Row, inputs: Any) -> Any:
        """What the results for inputs given by their bits should be, in float64 (bool for the rows that say so)."""
        return reference.expected(row, float32, [inputs.view(np.float32)])

    def errors(self, row: Row, results: Any, expected: Any) -> Any:
        """How far results are from the reference."""
        return measure.errors_of(row, float32, [], results, expected)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
        """Begin a computation on arrays of the engine; the function returned waits for its result."""
        return self.pool.submit(function, *arguments).result

    def close(self) -> None:
        """Give up what has not begun."""
        self.pool.shutdown(cancel_futures=True)


class Cuda(Host):
    """CuPy: everything is queued on the device, which computes while the host fetches the next results."""

    block = piece = chunk = 2**25
    part = 2**21  # few, for each waits for Python several times, which copies meanwhile
    _BUFFERS = 6  # page-locked, which the device reads at the speed of the bus

    def __init__(self, inputs: int, module: Any) -> None:
        super().__init__(inputs)
        self.cupy = module
        self.widened = module.ElementwiseKernel("uint32 bits", "float64 wide", _WIDENED + _VALUE, "widened")
        self.errors_by_bits = module.ElementwiseKernel(
            "uint32 bits, float64 expected", "float64 error", _WIDENED + _ERROR, "errors_by_bits"
        )
        self.free: deque[tuple[np.ndarray, Any]] = deque()  # and the event after which each may be written
        for _ in range(self._BUFFERS):
            memory = module.cuda.alloc_pinned_memory(4 * self.block)
            self.free.append((np.frombuffer(memory, np.float32, self.block), module.cuda.get_current_stream().record()))

    def inputs(self, start: int, count: int) -> Any:
        return self.cupy.arange(count, dtype=np.uint32) + np.uint32(start)

    def fetched(self, results: VkArray) -> Any:
        if results.dtype is not float32:
            return self.cupy.asarray(np.asarray(results))
        buffer = self.buffer()
        results.device.download(results._buffer, 4 * results._offset, memoryview(buffer.view(np.uint8)))
        return self.received(buffer)

    def buffer(self) -> np.ndarray:
        buffer, copied = self.free.popleft()
        copied.synchronize()
        return buffer

    def received(self, results: np.ndarray) -> Any:
        array = self.cupy.empty(results.size, results.dtype)
        stream = self.cupy.cuda.get_current_stream()
        array.data.copy_from_host_async(results.ctypes.data, results.nbytes, stream)
        self.free.append((results, stream.record()))
        return array

    def reference(self, row: Row, inputs: Any) -> Any:
        if reference.is_exact(row):
            return super().reference(row, inputs)
        return reference.expected(row, float32, [self.widened(inputs)])

    def errors(self, row: Row, results: Any, expected: Any) -> Any:
        if reference.is_exact(row):
            return super().errors(row, results, expected)
        return self.errors_by_bits(results.view(np.uint32), expected)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
        result = function(*arguments)
        return lambda: result


def best(inputs: int) -> Host:
    """A new engine for so many inputs."""
    module = cupy()
    return Host(inputs) if module is None else Cuda(inputs, module)


def on_host(values: Any) -> np.ndarray:
    """An array of any engine as NumPy's."""
    return values if isinstance(values, np.ndarray) else values.get()
