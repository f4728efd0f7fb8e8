"""What `torch.accelerator` asks of C++ that a device in Python cannot answer there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import device, memory, properties


def _do_nothing(*_: Any) -> None:
    """There are no statistics that add up, and no cache of memory on the host."""


# By the name in `torch._C`. The device is the accelerator as soon as it is registered, so others are not asked for.
_ANSWERS: dict[str, Callable[..., Any]] = {
    "synchronizeDevice": device.synchronize,
    "isAllocatorInitialized": device.is_initialized,
    "emptyCache": memory.empty_cache,
    "emptyHostCache": _do_nothing,
    "getDeviceStats": memory.statistics,
    "resetAccumulatedStats": _do_nothing,
    "resetPeakStats": memory.reset_peak_memory_stats,
    "getMemoryInfo": memory.mem_get_info,
    "getDeviceCapability": lambda index: {"supported_dtypes": properties.supported_dtypes(index)},
}


def install() -> None:
    """Answer for C++ from now on."""
    for name, answer in _ANSWERS.items():
        if hasattr(torch._C, f"_accelerator_{name}"):
            setattr(torch._C, f"_accelerator_{name}", answer)
