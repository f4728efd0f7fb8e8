"""Sums of products of rows: `dot` over stacks of rows, single rows and columns of matrices, and parts of sums added up.

How many invocations share a sum, and into how many parts it is cut, follows from the shapes and the kind and limits of the device
alone, by the tables below, and what `vkarray tune` remembered of them (see `tuning`); so the order of additions, and with it the
result, never changes between runs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ... import device_caches
from ...core import dtypes, layout
from ...core.array import VkArray, is_supported
from ...core.dtypes import CATEGORIES, DType
from ...shaders.source import Variant
from .. import launch, tuning
from ..dispatch import dispatch
from ..reductions import partial_dtype
from . import dot_packs, dot_texels, linked
from .epilogue import NOTHING, Epilogue
from .parts import limit_of_first, part_length, partial_array, within_reach
from .stacks import Product, Stack, operand_defines, taken_steps

if TYPE_CHECKING:
    from ..launch import Device

# For the kinds of device: invocations that keep it busy; when there are fewer, the summed dimension is cut into parts of at least
# this many products.
_BUSY = {"gpu": 1 << 18, "cpu": 1 << 10}
_SHORTEST_PART = {"gpu": 256, "cpu": 1024}
# Where neighbours in memory are neighbours in k, on a GPU: (least products of a sum, invocations that share it). Few invocations of
# a short sum load more of it each.
_LANES = ((2048, 256), (1024, 32), (256, 16), (64, 8), (32, 4), (16, 2), (1, 1))

# What is added, as GLSL in the sum and in a and b.
_PRODUCT, _CONJUGATED = "vx_multiply_add(a, b, sum)", "vx_multiply_add(vx_conjugated(a), b, sum)"
_PART = "sum + a"


@device_caches.cache
def variant(term: str, source: DType, target: DType, device: Device) -> Variant:
    """Sums of `source` elements, stored as `target`; `term` is one of the GLSL expressions above."""
    defines = (*operand_defines(source, target, device), ("NEXT", term))
    return Variant("product/dot", defines, f"dot {source} to {target}: {term}")


def variants(device: Device) -> Iterator[Variant]:
    """Every variant that sums on a device of these features use."""
    yield from dot_packs.variants((_PRODUCT, _PART), device)
    yield from dot_texels.variants((_PRODUCT, _CONJUGATED, _PART), device)
    for dtype in dtypes.DTYPES.values():
        if dtype in CATEGORIES["numeric"] and is_supported(dtype, device):
            partial = partial_dtype(dtype)
            yield variant(_PART, partial, dtype, device)
            for target in {dtype, partial}:
                yield variant(_PRODUCT, dtype, target, device)
                if dtype.category == "complex floating":
                    yield variant(_CONJUGATED, dtype, target, device)


def dot(a: VkArray, b: VkArray, result: VkArray, conjugate: bool = False) -> VkArray:
    """result[...] = sum over k of a[..., k] * b[..., k], for arrays of one shape and dtype; `conjugate` conjugates a."""
    conjugate = conjugate and a._dtype.category == "complex floating"
    return _sum(_CONJUGATED if conjugate else _PRODUCT, Product(a, b, result))


def sum_partial(partial: VkArray, result: VkArray, epilogue: Epilogue = NOTHING) -> VkArray:
    """result = the sum of the parts, after the steps of an epilogue."""
    last = partial._view((*partial._shape[1:], partial._shape[0]), (*partial._strides[1:], partial._strides[0]))
    return _sum(_PART, Product(last, last, result, epilogue))


def in_parts(product: Product, parts: int, multiply: Callable[[Product], None]) -> None:
    """Multiply with so many parts of the sums as the first dimension of the result, and add them up."""
    result = product.result
    if parts == 1:
        multiply(product._replace(result=result._view((1, *result._shape), (0, *result._strides))))
        return
    partial = partial_array(result, parts)
    multiply(product._replace(result=partial, epilogue=NOTHING))
    sum_partial(partial, result, product.epilogue)


# -- the strategy -----------------------------------------------------------------------------------------------------


def choose(product: Product) -> int | None:
    """The axis of the result that has one element, if any: -1 for a column, -2 for a row."""
    return next((axis for axis in (-1, -2) if product.result._shape[axis] == 1), None)


def cuts(product: Product, axis: int) -> bool:
    """False: kernels of sums of rows take the steps of an epilogue whether parts are added or not, as their results are small."""
    return False


def run(product: Product, axis: int) -> None:
    """The product of matrices whose result is a column or a row."""
    a, b, result, epilogue = product._replace(a=within_reach(product.a), b=within_reach(product.b.mT).mT).broadcast()
    (*batch, m, n), k = result._shape, a._shape[-1]
    if axis == -1:
        rows, other = a, b._view((*batch, m, k), (*b._strides[:-2], 0, b._strides[-2]))
    else:
        rows, other = b.mT, a._view((*batch, n, k), (*a._strides[:-2], 0, a._strides[-1]))

    def line(x: VkArray) -> VkArray:
        return x._view((*batch, max(m, n)), (*x._strides[:-2], x._strides[-3 - axis]))

    _sum(_PRODUCT, Product(rows, other, line(result), epilogue.seen(line)))


def _sum(term: str, product: Product) -> VkArray:
    """result[...] = sum over k of the terms of a[..., k] and b[..., k], for operands that are rows."""
    a, b, result, _ = product = product._replace(a=within_reach(product.a), b=within_reach(product.b))
    device, kind = result._device, result._device.limits.kind
    rows, k = math.prod(result._shape), a._shape[-1]
    run: Callable[[Product], None]
    if dot_packs.fits(a, b, result):
        shortest = dot_packs.SHORTEST_PART_OF_PARTS if a is b else dot_packs.SHORTEST_PART
        part = part_length(k, rows // dot_packs.LANES, dot_packs.BUSY[kind], shortest, a, b)
        run = functools.partial(dot_packs.sum_parts, term, part)
    else:
        lanes = _lanes(a, b, device)
        part = part_length(k, rows * lanes, _BUSY[kind], _SHORTEST_PART[kind], a, b)
        run = functools.partial(_sum_parts, term, part, lanes)
    in_parts(product, -(-k // part), run)
    return result


def _lanes(a: VkArray, b: VkArray, device: Device) -> int:
    """How many invocations share a sum."""
    side_by_side = len(a._shape) > 1 and any(0 < abs(array._strides[-2]) < abs(array._strides[-1]) for array in (a, b))
    return 1 if side_by_side else choose_lanes(device, a._shape[-1])


@tuning.cached
def choose_lanes(device: Device, k: int) -> int:
    """How many invocations share a sum of k products whose factors lie side by side."""
    preferred = tuning.choice(device, "sum of a row", tuning.length_class(k))
    if preferred in lane_choices(device):
        return int(preferred)
    if device.limits.is_cpu:
        return 1
    return min(next(lanes for least, lanes in _LANES if k >= least), launch.invocations_of_group(device.limits))


def lane_choices(device: Device) -> list[str]:
    """The powers of two that a workgroup can be cut into, every second of them."""
    return [str(1 << n) for n in range(0, launch.invocations_of_group(device.limits).bit_length(), 2)]


def _sum_parts(term: str, part: int, lanes: int, product: Product) -> None:
    """result[p, ...] = the sum over part p."""
    a, b, result, epilogue = product
    device, k = result._device, a._shape[-1]
    a_k, b_k = a._strides[-1], b._strides[-1]
    outer = a._strides[:-1], b._strides[:-1], result._strides[1:], *(x._strides for x in epilogue.addends)
    shape, strides = layout.collapse(result._shape[1:], outer)
    stack = Stack(product, shape, strides, (part * a_k, part * b_k, result._strides[0]), k, part, matrices=False)
    steps = taken_steps(part, a_k, b_k)
    slices = stack.slices((), ((), (), ()), limit_of_first(product, part, a_k, b_k))
    bound = dot_texels.bindings(a, b, math.prod(result._shape[1:])) if lanes == 1 else None
    if bound is not None:
        for slice_ in slices:
            dot_texels.run(term, slice_, product, steps, bound)
        return
    kind = variant(term, a._dtype, result._dtype, device)
    kernel = linked.kernel(epilogue, kind, result._dtype, device, launch.WORKGROUP_SIZE, ((1, lanes),))
    for slice_ in slices:
        groups = launch.groups_for(slice_.count * lanes, device.limits, kernel.local_size[0])
        dispatch(kernel, groups, {**slice_.fields, "a_k": steps[0], "b_k": steps[1]}, writes=("r",))
