"""Random numbers of distributions whose parameters are arrays: gamma, Poisson, binomial."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..core import dtypes, layout
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import DType
from ..kernels import launch
from ..kernels.dispatch import pointer
from ..ops.beyond.random import Generator
from ..ops.manipulation import broadcast_to
from ..shaders.source import Variant

if TYPE_CHECKING:
    from ..kernels.launch import Device

_TYPES = (dtypes.float32, dtypes.float64)
_NAMES = ("gamma", "poisson", "binomial")
_WORDS = 4  # of a block: a number takes one block of the stream, and its attempts


@functools.cache
def _variant(name: str, dtype: DType) -> Variant:
    defines = (("DISTRIBUTION", f"vx_draw_{name}"), *launch.operand_defines("A", dtype), *launch.compute_defines(dtype))
    defines += (("HAS_FLOAT64", "1"),) if dtype is dtypes.float64 else ()
    return Variant("random/rejection", defines, f"random {name} {dtype}")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all distributions and types, for the archive."""
    for name, dtype in itertools.product(_NAMES, _TYPES):
        if is_supported(dtype, device):
            yield _variant(name, dtype)


def _drawn(name: str, generator: Generator, first: VkArray, second: VkArray) -> VkArray:
    if first._dtype is not second._dtype or first._dtype not in _TYPES:
        raise TypeError(f"{name}: expected float32 or float64 parameters, got {first._dtype} and {second._dtype}.")
    device, dtype = first._device, first._dtype
    shape = layout.broadcast_shapes([first._shape, second._shape], name)
    given = [launch.contiguous(broadcast_to(one, shape)) for one in (first, second)]
    result = empty(shape, dtype, device)
    start = generator._reserve(result.size, _WORDS) // _WORDS
    for place in range(0, result.size, layout.INDEX_LIMIT):
        count = min(result.size - place, layout.INDEX_LIMIT)
        fields = {
            "a": pointer(given[0], place),
            "b": pointer(given[1], place),
            "results": pointer(result, place),
            "key": generator.state["key"],
            "block": start + place & (1 << 64) - 1,
            "count": count,
        }
        groups = launch.groups_for(count, device.limits)
        launch.dispatch(_variant(name, dtype), device, groups, fields, writes=("results",))
    return result


def gamma(generator: Generator, shape: VkArray) -> VkArray:
    """Numbers of gamma distributions with these shape parameters and the scale 1; 0 for 0, NaN for negative ones.

    Parameters: generator; shape (float32 or float64, of any shape). Returns an array of that shape and dtype.
    Method: G. Marsaglia, W. W. Tsang, ACM TOMS 26, 2000. The same state gives the same bits on every device.
    """
    return _drawn("gamma", generator, shape, shape)


def poisson(generator: Generator, mean: VkArray) -> VkArray:
    """Numbers of Poisson distributions with these means; NaN for negative ones.

    Parameters: generator; mean (float32 or float64, of any shape). Returns an array of that shape and dtype.
    Method: products of uniform numbers below a mean of 10; W. Hörmann, Insurance: Mathematics and Economics 12, 1993.
    """
    return _drawn("poisson", generator, mean, mean)


def binomial(generator: Generator, count: VkArray, p: VkArray) -> VkArray:
    """How many of `count` trials with the probability p succeed.

    Parameters: generator; count and p (float32 or float64 arrays of one dtype that broadcast). Returns an array of that dtype.
    Method: geometric steps below 10 expected; W. Hörmann, Journal of Statistical Computation and Simulation 46, 1993.
    """
    return _drawn("binomial", generator, count, p)
