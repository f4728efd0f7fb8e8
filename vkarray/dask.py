"""Dask with vkarray's arrays as chunks. Importing this module tells Dask of them; each process of a cluster imports it.

import dask.array as da
import vkarray.dask
x = da.from_array(values, chunks=(1000, 1000)).map_blocks(vkarray.asarray)
"""

from __future__ import annotations

import math
from typing import Any

from dask.array import register_chunk_type
from dask.array.dispatch import nannumel_lookup, numel_lookup

from . import _vk, configuration
from .core.array import VkArray, default_dtype
from .ops.creation import full

__all__ = ["spread"]


def _count(x: VkArray, axis: Any = None, keepdims: bool = False, **options: Any) -> VkArray:
    """How many elements a reduction of a chunk joins, as an array of the shape of its result."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = {one % x.ndim for one in axes}
    shape = tuple(1 if one in axes else length for one, length in enumerate(x.shape) if keepdims or one not in axes)
    count = math.prod(x.shape[one] for one in axes)
    return full(shape, float(count), dtype=default_dtype("float", x.device), device=x.device)


def _count_of_numbers(x: VkArray, **options: Any) -> VkArray:
    """How many elements that are not NaN a reduction of a chunk joins."""
    options.pop("dtype", None)
    return (x == x).sum(**options)


register_chunk_type(VkArray)
numel_lookup.register(VkArray, _count)
nannumel_lookup.register(VkArray, _count_of_numbers)


def _choose(device: int) -> None:
    configuration.set_value("device", str(device))


def spread(client: Any) -> dict[str, int]:
    """Give each worker of a Dask cluster on this machine a device: the usable ones in turn.

    Parameters: client (a `distributed.Client`). Returns the index of the device by the address of the worker. Call it before the
    workers compute: a device that is open stays the default. Raises RuntimeError where no device is usable.
    """
    devices = [found.index for found in _vk.enumerate_devices() if found.usable]
    if not devices:
        raise RuntimeError("spread: no usable Vulkan device. `vkarray devices` tells why.")
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    chosen = {worker: devices[number % len(devices)] for number, worker in enumerate(workers)}
    for worker, device in chosen.items():
        client.run(_choose, device, workers=[worker])
    return chosen
