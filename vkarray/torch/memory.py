"""What `torch.vulkan` tells of memory, and `torch.OutOfMemoryError`."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from .. import _vk, errors
from . import device

# What PyTorch's programs catch.
errors.OutOfMemoryError.__bases__ = (*errors.OutOfMemoryError.__bases__, torch.OutOfMemoryError)


def _of(named: Any) -> dict[str, int]:
    return device.of(named).memory.statistics()


def memory_allocated(device: Any = None) -> int:
    """The bytes of a device's memory that tensors and arrays hold."""
    return _of(device)["bytes_in_use"]


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes of a device's memory that tensors and arrays have held."""
    return _of(device)["bytes_peak"]


def memory_reserved(device: Any = None) -> int:
    """The bytes taken from the driver, those kept for re-use included."""
    return _of(device)["bytes_reserved"]


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that were taken from the driver at once."""
    return _of(device)["bytes_reserved_peak"]


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let `max_memory_allocated` and `max_memory_reserved` begin anew."""
    _device_of(device).memory.reset_peaks()


def reset_max_memory_allocated(device: Any = None) -> None:
    """The same as `reset_peak_memory_stats`, as in `torch.cuda`."""
    reset_peak_memory_stats(device)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Bytes of a device's memory that this process does not use, and all: what other processes use is not known."""
    found = _of(device)
    return max(found["bytes_total"] - found["bytes_in_use"], 0), found["bytes_total"]


def statistics(device: Any = None) -> dict[str, Any]:
    """The numbers of `memory_stats`, in dictionaries by the parts of their names."""
    found = _of(device)
    return {
        "allocated_bytes": {"all": {"current": found["bytes_in_use"], "peak": found["bytes_peak"]}},
        "reserved_bytes": {"all": {"current": found["bytes_reserved"], "peak": found["bytes_reserved_peak"]}},
        "allocation": {"all": {"allocated": found["allocations"]}},
        "segment": {"all": {"current": found["blocks"]}},
        "num_alloc_retries": found["out_of_memory_retries"],
    }


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """Numbers about a device's memory, by the names that `torch.cuda.memory_stats` has for them."""
    found: OrderedDict[str, int] = OrderedDict()

    def enter(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for part, inner in value.items():
                enter(f"{name}.{part}" if name else part, inner)
        else:
            found[name] = value

    enter("", statistics(device))
    return found


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A table for people to read."""
    on, found = _device_of(device), memory_stats(device)
    rows = [(name, f"{value:,}") for name, value in found.items()]
    width = max(len(name) for name, _ in rows)
    return "\n".join([f"Memory of {on.name}", *(f"{name:<{width}}  {value:>20}" for name, value in rows)])


def empty_cache() -> None:
    """Give unused memory of all devices that are open back to the driver."""
    for index in range(device.device_count()):
        on = device.opened(index)
        if on is not None:
            on.empty_cache()


def _device_of(named: Any) -> _vk.Device:
    return device.of(named)


device.publish(
    memory_allocated, max_memory_allocated, memory_reserved, max_memory_reserved, reset_peak_memory_stats,
    reset_max_memory_allocated, mem_get_info, memory_stats, memory_summary, empty_cache,
)  # fmt: skip
device.MODULE.OutOfMemoryError = torch.OutOfMemoryError  # type: ignore[attr-defined]
