"""How products of matrices are computed: one table of strategies, each of which takes an epilogue.

Which strategy a product takes follows from its types, its shapes and the device alone, and each takes its kernels from tables of
its own, so the order of additions, and with it the result, never changes between runs, whatever is done to the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..._vk.watch import tracer
from ...core import layout
from ...core.array import VkArray, empty
from ...shaders.source import Variant
from .. import launch
from ..reductions import partial_dtype
from . import blocks, cooperative, sums
from .epilogue import NOTHING, Epilogue
from .stacks import Product


class Strategy(NamedTuple):
    """A row of the table. `choose` finds how a product is computed, None for one that is not for this strategy; `run` does that.

    `cuts` says whether its sums are then cut into parts. The kernel that adds these up takes the steps of an epilogue.
    """

    name: str
    choose: Callable[[Product], Any]
    cuts: Callable[[Product, Any], bool]
    run: Callable[[Product, Any], None]
    variants: Callable[[Any], Iterator[Variant]]


# On an NVIDIA H200, products of 2048 x 2048 by cooperative matrices took 10 times as long with more than a sum linked to them,
# others 1.0 to 1.25 times as long; small results gained by all steps.
_LARGE, _MOST_COST = 1 << 16, 1

# The first one that takes a product computes it; the last one takes all.
STRATEGIES = (
    Strategy("fragments", cooperative.choose, cooperative.cuts, cooperative.run, cooperative.variants),
    Strategy("sums of rows", sums.choose, sums.cuts, sums.run, sums.variants),
    Strategy("tiles", blocks.choose, blocks.cuts, blocks.run, blocks.variants),
)


def multiply(a: VkArray, b: VkArray, result: VkArray, epilogue: Epilogue = NOTHING) -> VkArray:
    """result = a @ b, with the steps of an epilogue; see `Product`. a and b have one type, which that of the result rounds."""
    product = Product(a, b, result, epilogue)
    if epilogue is not NOTHING:
        product = product._replace(epilogue=epilogue.over(result._shape))
        if not _takes_steps(product):
            return _one_by_one(product)
        if not is_worth_linking(product, product.epilogue.cost(result)):
            return _sums_first(product)
    trace = tracer() if epilogue.may_go_on else None
    first = 0 if trace is None else trace.position
    strategy, how = _chosen(product)
    strategy.run(product, how)
    if trace is not None:
        trace.may_store(first, product)
    return result


def _chosen(product: Product) -> tuple[Strategy, Any]:
    """The strategy that computes a product, and how."""
    return next((one, how) for one in STRATEGIES if (how := one.choose(product)) is not None)


def is_worth_linking(product: Product, cost: int) -> bool:
    """Whether steps that cost so much make the kernels of a product faster, by measurements."""
    if cost <= _MOST_COST or product.result.size <= _LARGE:
        return True
    strategy, how = _chosen(product)
    return strategy.cuts(product, how)


def _takes_steps(product: Product) -> bool:
    """Whether what is added has the type of the result and lies in reach of indices, in the order in which it is made, and is not
    overwritten by elements that what is linked reads again."""
    a, _, result, epilogue = product
    limit = launch.index_limit(result._device, result._dtype) // 2
    whole = product.broadcast()
    folded, alone = whole.fold(), whole._replace(epilogue=NOTHING)
    spans = [layout.offset_range(x._shape[-2:], x._strides[-2:])[1] for x in folded.epilogue.addends]
    return (
        a._dtype is result._dtype
        and all(x._dtype is result._dtype for x in epilogue.addends)
        and max(spans, default=0) < limit
        and (folded is whole) == (alone.fold() is alone)
        and (epilogue.expression(result._dtype) is None or not epilogue.reads(result))
    )


def _sums_first(product: Product) -> VkArray:
    """The product with its bias, and the other steps by kernels of their own."""
    a, b, result, epilogue = product
    first, rest = NOTHING, epilogue
    if epilogue.activation is not None and epilogue.bias is not None:
        first = Epilogue(epilogue.bias, wide=epilogue.wide)
        rest = Epilogue(None, epilogue.activation, epilogue.residual)
    multiply(a, b, result, first)
    rest.apply(result, result)
    return result


def _one_by_one(product: Product) -> VkArray:
    """The product and each step by kernels of their own."""
    a, b, result, epilogue = product
    if epilogue.reads(result):  # and would read what the first step stores
        made = _one_by_one(product._replace(result=empty(result._shape, result._dtype, result._device)))
        return launch.elementwise(launch.copy_operation(result._dtype), (made,), result)
    dtype = partial_dtype(result._dtype) if epilogue.wide else result._dtype
    whole = empty(result._shape, dtype, result._device) if epilogue.wide else result
    multiply(a, b, whole)
    epilogue.apply(whole, result)
    return result


def variants(device: Any) -> Iterator[Variant]:
    """Every variant of all strategies that a device with these features uses."""
    for strategy in STRATEGIES:
        yield from strategy.variants(device)
