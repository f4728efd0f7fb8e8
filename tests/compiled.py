"""Functions and what is compiled of them, compared: their results, their arguments afterwards, their errors."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from reference import random_values, special_values, supported

import vkarray as vx
from vkarray import configuration
from vkarray._vk.watch import watches
from vkarray.core.array import VkArray

DTYPES = supported(vx.core.dtypes.DTYPES.values())
traced = pytest.mark.skipif(
    configuration.current().compare, reason="functions run as they are while results are compared"
)


def seen(value: Any) -> Any:
    """All that a caller can see of a result."""
    if isinstance(value, dict):
        return type(value), [(name, seen(one)) for name, one in value.items()]
    if isinstance(value, (tuple, list, deque, type({}.values()))):
        return type(value), [seen(one) for one in value], seen(getattr(value, "__dict__", {}))
    if isinstance(value, MappingProxyType):
        return type(value), seen(dict(value))
    if type(value) is VkArray:
        host = np.array(value)
        if host.dtype.kind in "fc":  # the sign of a NaN that an operation makes depends on how its operands are ordered
            parts = host.reshape(-1).view(host.real.dtype)
            parts[np.isnan(parts)] = np.nan
        return value.dtype.name, value.shape, value.strides, hasattr(value, "_is_place"), host.tobytes()
    slots = {name: getattr(value, name) for name in getattr(type(value), "__slots__", ()) if hasattr(value, name)}
    if slots or hasattr(value, "__dict__"):
        return type(value), seen(slots), seen(getattr(value, "__dict__", {}))
    return type(value), repr(value)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a call does: its results, its arguments after it, or its error."""
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return seen(found), seen(arguments)


def check(function: Callable[..., Any], *calls: Callable[[], tuple[Any, ...]], programs: int | None = None) -> None:
    """Compare a function with what is compiled of it, for arguments that are made anew for each."""
    compiled = vx.compile(function)
    for place, make in enumerate((*calls, calls[0])):
        assert outcome(compiled, make()) == outcome(function, make()), f"call {place}"
    assert not watches
    if programs is not None and not configuration.current().compare:
        assert len(compiled.explain().programs) == programs


def array(dtype: Any = vx.float32, shape: tuple[int, ...] = (5, 7), seed: int = 0) -> VkArray:
    """Ordinary numbers, zeros of both signs and what is not finite."""
    size = math.prod(shape)
    special = special_values(dtype)
    values = np.concatenate([special, random_values(dtype, 40, seed)]).astype(special.dtype)
    return vx.asarray(np.resize(np.random.default_rng(seed).permutation(values), size).reshape(shape), dtype=dtype)
