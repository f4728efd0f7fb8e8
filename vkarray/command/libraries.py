"""The libraries that `vkarray bench` measures, behind one interface."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

import vkarray as vx

from .._vk.timing import timestamps


class Library:
    """A library and the device it runs on. This one is NumPy: the host is the device."""

    def __init__(self, name: str = "NumPy", module: Any = np) -> None:
        self.name, self.module = name, module
        self.version = f"{name} {module.__version__}"

    def array(self, values: np.ndarray) -> Any:
        """The values on the device."""
        return self.module.array(values)

    def host(self, x: Any) -> np.ndarray:
        """The values of a result on the host."""
        return np.array(x)

    def synchronize(self) -> None:
        """Wait for the device."""

    def device_seconds(self, call: Callable[[], Any]) -> float | None:
        """What the device's own clock says that a call takes; None where it has none."""
        return None


class Vkarray(Library):
    """vkarray on one device."""

    def __init__(self, device: Any) -> None:
        super().__init__("vkarray", vx)
        self.device = device

    def array(self, values: np.ndarray) -> Any:
        return vx.asarray(values, device=self.device)

    def synchronize(self) -> None:
        self.device.synchronize()

    def device_seconds(self, call: Callable[[], Any]) -> float | None:
        if "timestamps" not in self.device.features:
            return None
        with timestamps(self.device) as times:
            call()
        return sum(seconds for _, seconds in times) if times else None


class Torch(Library):
    """PyTorch on the CPU or on a CUDA device."""

    def __init__(self, module: Any, device: str) -> None:
        super().__init__(f"PyTorch {device.upper()}", module)
        self.version = f"PyTorch {module.__version__} {device.upper()}"
        self.device = device

    def array(self, values: np.ndarray) -> Any:
        return self.module.tensor(values, device=self.device)

    def host(self, x: Any) -> np.ndarray:
        return x.cpu().numpy() if isinstance(x, self.module.Tensor) else np.asarray(x)

    def synchronize(self) -> None:
        if self.device == "cuda":
            self.module.cuda.synchronize()

    def device_seconds(self, call: Callable[[], Any]) -> float | None:
        if self.device != "cuda":
            return None
        start, end = (self.module.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3


class Cupy(Library):
    """CuPy on the current CUDA device."""

    def __init__(self, module: Any) -> None:
        super().__init__("CuPy", module)

    def array(self, values: np.ndarray) -> Any:
        return self.module.asarray(values)

    def host(self, x: Any) -> np.ndarray:
        return self.module.asnumpy(x)

    def synchronize(self) -> None:
        self.module.cuda.get_current_stream().synchronize()

    def device_seconds(self, call: Callable[[], Any]) -> float | None:
        start, end = (self.module.cuda.Event() for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        return self.module.cuda.get_elapsed_time(start, end) * 1e-3


def installed(device: Any) -> list[Library]:
    """vkarray on a device, then every peer that can be imported and has a device to run on."""
    libraries: list[Library] = [Vkarray(device), Library()]
    torch = _imported("torch")
    if torch is not None:
        libraries.append(Torch(torch, "cpu"))
        if torch.cuda.is_available():
            libraries.append(Torch(torch, "cuda"))
    cupy = _imported("cupy")
    if cupy is not None and cupy.cuda.is_available():
        libraries.append(Cupy(cupy))
    return libraries


def _imported(name: str) -> Any:
    """The module, or None when it is missing or cannot be loaded here (which is said)."""
    if importlib.util.find_spec(name) is None:
        return None
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever a broken installation raises, the other libraries are still measured
        print(f"{name} is installed but cannot be imported ({type(error).__name__}: {error}); left out")
        return None
