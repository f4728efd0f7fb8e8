"""Where the fast references for all float32 numbers are computed and errors counted, apart from the device measured.

That is a CUDA device where CuPy has one, else the cores of the host. Both work on arrays with NumPy's functions (which
hand CuPy's arrays on to CuPy), so what counts errors does not know which it is.
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

from ...array import VkArray
from ...dtypes import float32


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

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
        """Begin a computation on arrays of the engine; the function returned waits for its result."""
        return self.pool.submit(function, *arguments).result

    def close(self) -> None:
        """Give up what has not begun."""
        self.pool.shutdown(cancel_futures=True)


class Cuda(Host):
    """CuPy: everything is queued on the device, which computes while the host fetches the next results."""

    block = piece = chunk = 2**25
    _BUFFERS = 6  # page-locked, which the device reads at the speed of the bus

    def __init__(self, inputs: int, module: Any) -> None:
        super().__init__(inputs)
        self.cupy = module
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
