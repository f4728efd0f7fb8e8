"""The libraries that `vkarray bench` measures, behind one interface."""

from __future__ import annotations

import importlib
import importlib.util
import operator
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

import vkarray as vx

from .._vk.timing import timestamps
from ..errors import VkArrayError

# Work that a CUDA stream is given before a measurement, about half a millisecond: else the time that the host takes to
# launch the first kernels would count as time of the device.
_BUSY_CYCLES = 1_000_000


def _put(x: Any, index: Any, values: Any) -> Any:
    x[index] = values
    return x


_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "pow": operator.pow,
    "matmul": operator.matmul,
    "put": _put,
}
_CREATION = ("zeros", "ones", "full", "arange", "linspace", "eye")  # functions that are told their device


class Functions:
    """A library's functions, spelled as in the array API standard (and `put`, `upload`, `download`, `uniform`, `normal`)."""

    def __init__(self, module: Any, own: dict[str, Callable[..., Any]]) -> None:
        self._module, self._own = module, own

    def __getattr__(self, name: str) -> Any:
        function = self._own[name] if name in self._own else getattr(self._module, name)
        setattr(self, name, function)  # found at once the next time: a call may take less than a microsecond
        return function


class Library:
    """A library and the device it runs on. This one is NumPy: the host is the device."""

    does_all = True  # else the works that are common to all libraries alone
    compiles: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None  # a program, where that is another form
    start: tuple[str, str] | None = ("import numpy as xp", "float(xp.asarray(1.0) + 1)")  # of a fresh process

    def __init__(self, name: str = "NumPy", module: Any = np, own: dict[str, Callable[..., Any]] | None = None) -> None:
        self.name, self.module = name, module
        self.home = name  # whose arrays it takes
        self.version = f"{name} {getattr(module, '__version__', '')}"
        transfers = {"upload": self.array, "download": self.host}
        own = _OF_NUMPY | _drawing(np.random) if own is None else own
        self.functions: Any = Functions(module, _OPERATORS | transfers | own)

    def array(self, values: np.ndarray) -> Any:
        """The values on the device."""
        return self.module.array(values)

    def host(self, x: Any) -> np.ndarray:
        """The values of a result on the host."""
        return np.array(x)

    def part(self, x: Any, rows: slice) -> np.ndarray:
        """Some rows of a result on the host, in a type that NumPy has."""
        return self.host(x[rows])

    def program(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of arrays, as this library runs programs."""
        return function if self.compiles is None else self.compiles(function)

    def synchronize(self) -> None:
        """Wait for the device."""

    def finish(self, result: Any) -> None:
        """Wait until a result is there."""
        self.synchronize()

    def device_seconds(self, call: Callable[[], Any]) -> float | None:
        """What the device's own clock says that a call takes; None where it has none."""
        return None


def _numpy_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype == np.float16 and a.size > 1 << 20:
        raise NotImplementedError("NumPy multiplies float16 without BLAS, which takes minutes")
    return a @ b


_OF_NUMPY: dict[str, Callable[..., Any]] = {
    "astype": lambda x, dtype: x.astype(dtype),
    "copy": lambda x: x.copy(order="C"),
    "cumulative_sum": np.cumsum,
    "matmul": _numpy_matmul,
    "nonzero": lambda x: x.nonzero()[0],
    "argsort": lambda x: x.argsort(stable=True) if isinstance(x, np.ndarray) else x.argsort(kind="stable"),
    "unique_values": lambda x: np.unique(x),
}


def _drawing(random: Any) -> dict[str, Callable[..., Any]]:
    """Random float32 numbers of a shape, from the `random` of NumPy or of a library that spells it alike."""
    generator = random.default_rng(0)
    return {
        "uniform": lambda shape: generator.random(shape, dtype=np.float32),
        "normal": lambda shape: generator.standard_normal(shape, dtype=np.float32),
    }


class Vkarray(Library):
    """vkarray on one device."""

    start = ("import vkarray as xp", "float(xp.asarray(1.0) + 1)")

    def __init__(self, device: Any) -> None:
        generator = vx.random.default_rng(0, device=device)
        own: dict[str, Callable[..., Any]] = {
            **{name: partial(getattr(vx, name), device=device) for name in _CREATION},
            "astype": lambda x, dtype: vx.astype(x, getattr(vx, dtype)),
            "copy": lambda x: vx.asarray(x, copy=True),
            "nonzero": lambda x: vx.nonzero(x)[0],
            "uniform": generator.random,
            "normal": generator.standard_normal,
        }
        super().__init__("vkarray", vx, own)
        self.device = device
        self.compiles = vx.compile

    def array(self, values: np.ndarray) -> Any:
        return vx.asarray(values, device=self.device)

    def part(self, x: Any, rows: slice) -> np.ndarray:
        part = x[rows]
        return self.host(vx.astype(part, vx.float32) if part.dtype is vx.bfloat16 else part)

    def synchronize(self) -> None:
        self.device.synchronize()

    def device_seconds(self, call: Callable[[], Any]) -> float | None:
        if "timestamps" not in self.device.features:
            return None
        with timestamps(self.device, replays=True) as times:
            call()
        return sum(seconds for _, seconds in times) if times else None


class Torch(Library):
    """PyTorch on the CPU or on a CUDA device."""

    def __init__(self, module: Any, device: str) -> None:
        def along(name: str) -> Callable[..., Any]:
            function = getattr(module, name)
            return lambda x, axis=None, **kept: function(x) if axis is None else function(x, dim=axis, **kept)

        own: dict[str, Callable[..., Any]] = {
            **{name: partial(getattr(module, name), device=device) for name in _CREATION},
            "uniform": partial(module.rand, device=device),
            "normal": partial(module.randn, device=device),
            "expand_dims": module.unsqueeze,
            "permute_dims": module.permute,
            "vecdot": module.linalg.vecdot,
            "tensordot": lambda x, y, axes: module.tensordot(x, y, dims=axes),
            "take_along_axis": lambda x, index, axis: module.take_along_dim(x, index, dim=axis),
            "max": along("amax"),
            "min": along("amin"),
            "argmax": along("argmax"),
            "argmin": along("argmin"),
            "cumulative_sum": along("cumsum"),
            "var": lambda x, axis=None: module.var(x, dim=axis, correction=0),
            "astype": lambda x, dtype: x.to(getattr(module, dtype)),
            "copy": lambda x: x.clone(memory_format=module.contiguous_format),
            "nonzero": lambda x: module.nonzero(x)[:, 0],
            "roll": lambda x, shift, axis: module.roll(x, shift, axis),
            "take": lambda x, index: x[index],
            "sort": lambda x: module.sort(x).values,
            "argsort": lambda x: module.argsort(x, stable=True),
            "unique_values": module.unique,
            "matmul": self._matmul,
        }
        super().__init__(f"PyTorch {device.upper()}", module, own)
        self.version = f"PyTorch {module.__version__} {device.upper()}"
        self.device = device
        self.start = ("import torch as xp", f"float(xp.asarray(1.0, device={device!r}) + 1)")

    def _matmul(self, a: Any, b: Any) -> Any:
        if self.device == "cpu" and a.element_size() == 2 and a.numel() > 1 << 20:
            raise NotImplementedError("PyTorch may multiply 16-bit types on a CPU without BLAS, which takes minutes")
        return a @ b

    def array(self, values: np.ndarray) -> Any:
        return self.module.tensor(values, device=self.device)

    def host(self, x: Any) -> np.ndarray:
        if not isinstance(x, self.module.Tensor):
            return np.asarray(x)
        return (x.float() if x.dtype is self.module.bfloat16 else x).cpu().numpy()

    def synchronize(self) -> None:
        if self.device == "cuda":
            self.module.cuda.synchronize()

    def device_seconds(self, call: Callable[[], Any]) -> float | None:
        if self.device != "cuda":
            return None
        start, end = (self.module.cuda.Event(enable_timing=True) for _ in range(2))
        self.module.cuda._sleep(_BUSY_CYCLES)
        start.record()
        call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3


class Cupy(Library):
    """CuPy on the current CUDA device."""

    start = ("import cupy as xp", "float(xp.asarray(1.0) + 1)")

    def __init__(self, module: Any) -> None:
        own: dict[str, Callable[..., Any]] = {
            **_OF_NUMPY,
            **_drawing(module.random),
            "asin": module.arcsin,
            "concat": module.concatenate,
            "cumulative_sum": module.cumsum,
            "permute_dims": module.transpose,
            "matmul": operator.matmul,
            "pow": module.power,
            "argsort": module.argsort,  # stable
            "unique_values": module.unique,
        }
        super().__init__("CuPy", module, own)
        self.spin = module.RawKernel(
            'extern "C" __global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n); }',
            "spin",
        )

    def array(self, values: np.ndarray) -> Any:
        return self.module.asarray(values)

    def host(self, x: Any) -> np.ndarray:
        return self.module.asnumpy(x)

    def synchronize(self) -> None:
        self.module.cuda.get_current_stream().synchronize()

    def device_seconds(self, call: Callable[[], Any]) -> float | None:
        start, end = (self.module.cuda.Event() for _ in range(2))
        self.spin((1,), (1,), (np.int64(_BUSY_CYCLES),))
        start.record()
        call()
        end.record()
        end.synchronize()
        return self.module.cuda.get_elapsed_time(start, end) * 1e-3


class Jax(Library):
    """JAX on its default device, called eagerly."""

    start = ("import jax.numpy as xp", "float(xp.asarray(1.0) + 1)")

    def __init__(self, jax: Any) -> None:
        key = jax.random.key(0)
        own: dict[str, Callable[..., Any]] = {
            "uniform": lambda shape: jax.random.uniform(key, shape),
            "normal": lambda shape: jax.random.normal(key, shape),
            "cumulative_sum": jax.numpy.cumsum,
            "nonzero": lambda x: jax.numpy.nonzero(x)[0],
            "put": lambda x, index, values: x.at[index].set(values),
            "unique_values": jax.numpy.unique,
        }
        super().__init__(f"JAX {jax.default_backend().upper()}", jax.numpy, own)
        self.jax = jax
        self.version = f"JAX {jax.__version__} {jax.default_backend().upper()}"

    def array(self, values: np.ndarray) -> Any:
        return self.module.array(values)

    def finish(self, result: Any) -> None:
        self.jax.block_until_ready(result)


def installed(device: Any, wanted: Iterable[str] | None = None) -> list[Library]:
    """vkarray on a device, then every peer that can be imported and has a device to run on.

    `wanted` are words that names of peers begin with, in any case; None is all. Raises VkArrayError for another word.
    """
    from .bench import vulkan_peers

    words = None if wanted is None else tuple(word.strip().lower() for word in wanted)
    makers: dict[str, Callable[[], Library | None]] = {
        "NumPy": Library,
        "PyTorch CPU": lambda: Torch(importlib.import_module("torch"), "cpu"),
        "PyTorch CUDA": _torch_cuda,
        "CuPy": _cupy,
        "JAX": _jax,
        **vulkan_peers.PEERS,
    }
    unknown = [word for word in words or () if not any(name.lower().startswith(word) for name in makers)]
    if unknown:
        raise VkArrayError(f"--peers {unknown[0]}: no library of that name is measured. They are {', '.join(makers)}.")
    libraries: list[Library] = [Vkarray(device)]
    for name, make in makers.items():
        if words is None or name.lower().startswith(words):
            peer = _made(name, make)
            if peer is not None:
                libraries.append(peer)
    return libraries


def _torch_cuda() -> Library | None:
    torch = importlib.import_module("torch")
    return Torch(torch, "cuda") if torch.cuda.is_available() else None


def _cupy() -> Library | None:
    cupy = importlib.import_module("cupy")
    return Cupy(cupy) if cupy.cuda.is_available() else None


def _jax() -> Library:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the others need memory too
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return Jax(jax)


def _made(name: str, make: Callable[[], Library | None]) -> Library | None:
    """The library, or None when it is missing or cannot be used here (which is said)."""
    try:
        return make()
    except ModuleNotFoundError:
        return None
    except Exception as error:  # whatever a broken installation raises, the other libraries are still measured
        print(f"{name} is installed but cannot be used ({type(error).__name__}: {str(error)[:200]}); left out")
        return None
