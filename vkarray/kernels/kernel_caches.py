"""The caches of the library's kernels, and how many kernels they hold at most: a pipeline takes memory, on llvmpipe 1.5 MB.

When there are too many, the caches are emptied. Kernels that plans, programs and work in flight still need stay; others are made
again when they are needed, from the cache of pipelines.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .. import device_caches

if TYPE_CHECKING:
    from .._vk import Device, Kernel
    from .operation import Operation

Made = TypeVar("Made")
MOST = {"cpu": 1024, "gpu": 8192}  # kernels of all devices of a kind
_clear: list[Callable[[], None]] = []
_operations: dict[int, Operation] = {}  # those that have kernels, by identity
_made: dict[str, weakref.WeakSet[Kernel]] = {kind: weakref.WeakSet() for kind in MOST}
_bounds: dict[str, int] = {}


def cached(function: Callable[..., Made]) -> Callable[..., Made]:
    """A function that makes kernels, with a cache of them."""
    kept = functools.cache(function)
    _clear.append(kept.cache_clear)
    return kept


def keep(operation: Operation, key: tuple[Device, bool], entry: tuple[Any, ...]) -> None:
    """Let an operation have kernels."""
    _operations[id(operation)] = operation
    operation.kernels[key] = entry


def make(device: Device, code: bytes, name: str, constants: tuple[tuple[int, int], ...], subgroup: int = 0) -> Kernel:
    """A new kernel of a device, for a function with a cache. Raises ShaderError and FeatureError."""
    kernel, kind = device.kernel(code, name, constants, subgroup), device.limits.kind
    made = _made[kind]
    made.add(kernel)
    if len(made) > _bounds.get(kind, MOST[kind]):
        forget()
        _bounds[kind] = max(MOST[kind], 2 * len(made))  # many may be needed elsewhere
    return kernel


def forget() -> None:
    """Empty the caches."""
    for clear in _clear:
        clear()
    while _operations:
        _, operation = _operations.popitem()
        operation.kernels.clear()


device_caches.emptied(forget)
