"""The shaders that make random numbers, one row for each distribution, and the functions that dispatch them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ....core import dtypes, layout
from ....core.array import VkArray, empty, is_supported, storage_itemsize
from ....core.dtypes import DType
from ....kernels import launch
from ....kernels.dispatch import pointer
from ....kernels.gather import element_sizes
from ....kernels.planned import planned
from ....kernels.signature import VALUES
from ....shaders.source import Shader, Variant
from .stream import WORDS_OF_BLOCK

if TYPE_CHECKING:
    from ....kernels.launch import Device

FLOATING = (dtypes.float32, dtypes.float64)
_MASK = (1 << 64) - 1


class Row(NamedTuple):
    """A distribution: what makes a number of it, and the file of glsl/lib which that is in."""

    expression: str
    library: str


# Functions of the words of a block, which give a number for each word (for each pair of words in float64).
STANDARD = {
    "uniforms": Row("vx_uniforms", "distributions"),
    "normals": Row("vx_normals", "distributions"),
    "exponentials": Row("vx_exponentials", "distributions"),
    "laplaces": Row("vx_laplaces", "standard_distributions"),
    "logistics": Row("vx_logistics", "standard_distributions"),
    "gumbels": Row("vx_gumbels", "standard_distributions"),
    "cauchies": Row("vx_cauchies", "standard_distributions"),
    "rayleighs": Row("vx_rayleighs", "standard_distributions"),
}

# Expressions of up to three parameters and a draw, which takes a block of words for each of its attempts.
DRAWN = {
    "gamma": Row("vx_draw_gamma(a, draw)", "rejection"),
    "log_gamma": Row("vx_draw_log_gamma(a, draw)", "rejection"),
    "poisson": Row("vx_draw_poisson(a, draw)", "rejection"),
    "binomial": Row("vx_draw_binomial(a, b, draw)", "rejection"),
    "weibull": Row("vx_draw_weibull(a, draw)", "drawn_numbers"),
    "pareto": Row("vx_draw_pareto(a, draw)", "drawn_numbers"),
    "power": Row("vx_draw_power(a, draw)", "drawn_numbers"),
    "triangular": Row("vx_draw_triangular(a, b, c, draw)", "drawn_numbers"),
    "beta": Row("vx_draw_beta(a, b, draw)", "drawn_numbers"),
    "chisquare": Row("vx_draw_chi_square(a, draw)", "drawn_numbers"),
    "f": Row("vx_draw_f(a, b, draw)", "drawn_numbers"),
    "standard_t": Row("vx_draw_t(a, draw)", "drawn_numbers"),
    "noncentral_chisquare": Row("vx_draw_noncentral_chi_square(a, b, draw)", "drawn_numbers"),
    "noncentral_f": Row("vx_draw_noncentral_f(a, b, c, draw)", "drawn_numbers"),
    "vonmises": Row("vx_draw_vonmises(a, b, draw)", "drawn_numbers"),
    "wald": Row("vx_draw_wald(a, b, draw)", "drawn_numbers"),
    "geometric": Row("vx_draw_geometric(a, draw)", "drawn_counts"),
    "negative_binomial": Row("vx_draw_negative_binomial(a, b, draw)", "drawn_counts"),
    "logseries": Row("vx_draw_logseries(a, draw)", "drawn_counts"),
    "zipf": Row("vx_draw_zipf(a, draw)", "drawn_counts"),
    "hypergeometric": Row("vx_draw_hypergeometric(a, b, c, draw)", "drawn_counts"),
}

# How a category's share is drawn from what is left of a number.
SHARES = {"multinomial": "share_by_chance", "multivariate_hypergeometric": "share_without_replacement"}


def _type_defines(dtype: DType) -> launch.Defines:
    defines = (*launch.operand_defines("A", dtype), *launch.compute_defines(dtype))
    return (*defines, ("HAS_FLOAT64", "1")) if dtype is dtypes.float64 else defines


@functools.cache
def standard_variant(name: str, dtype: DType) -> Variant:
    """The shader of a row of STANDARD."""
    row = STANDARD[name]
    of_type = (("T", "float"),) if dtype is dtypes.float32 else (("T", "double"), ("DOUBLE", "1"))
    defines = (("DISTRIBUTION", row.expression), ("LIBRARY", f'"lib/{row.library}.glsl"'), *of_type)
    return Variant("random/numbers", defines, f"random {name} {dtype}")


@functools.cache
def drawn_variant(name: str, dtype: DType) -> Variant:
    """The shader of a row of DRAWN."""
    row = DRAWN[name]
    defines = (("DISTRIBUTION", row.expression), ("LIBRARY", f'"lib/{row.library}.glsl"'), *_type_defines(dtype))
    return Variant("random/rejection", defines, f"random {name} {dtype}")


@functools.cache
def _shares_variant(name: str, dtype: DType) -> Variant:
    return Variant("random/shares", (("SHARE", SHARES[name]), *_type_defines(dtype)), f"random {name} {dtype}")


@functools.cache
def integer_variant(element_bytes: int, wide: bool, between: bool = False) -> Variant:
    """The shader of integers of one range, or `between` arrays of bounds."""
    flags = {"WIDE": wide, "BETWEEN": between}
    defines = (("ELEMENT_BYTES", str(element_bytes)), *((name, "1") for name, given in flags.items() if given))
    label = " ".join(name.lower() for name, given in flags.items() if given)
    return Variant("random/integers", defines, f"random integers {element_bytes} bytes {label}".strip())


@functools.cache
def affine(dtype: DType) -> launch.Operation:
    """loc + scale * number."""
    return launch.Operation(f"scale random numbers {dtype}", "b + c * a", (dtype,) * 3, dtype, dtype)


def variants(device: Device) -> Iterator[Shader]:
    """The shaders of all distributions and types, for the archive."""
    for dtype in FLOATING:
        if is_supported(dtype, device):
            yield from (standard_variant(name, dtype) for name in STANDARD)
            yield from (drawn_variant(name, dtype) for name in DRAWN)
            yield from (_shares_variant(name, dtype) for name in SHARES)
            yield from affine(dtype).variants(device)
    for element_bytes in element_sizes(device):
        if element_bytes <= 8:
            yield integer_variant(element_bytes, False)
        if element_bytes <= 4:
            yield integer_variant(element_bytes, False, True)
    if is_supported(dtypes.uint64, device):
        yield from (integer_variant(8, True, between) for between in (False, True))


VALUES.add(Variant)


@planned(integers=True, creates=True)
def numbers(
    shape: tuple[int, ...], dtype: DType, device: Device, variant: Variant, key: int, block: int, skip: int
) -> VkArray:  # fmt: skip
    """A new array of numbers of a row of STANDARD, from number `skip` of a block of the stream on."""
    result = empty(shape, dtype, device)
    _fill(result, variant, dtype.bits // 32, key, block, skip, {})
    return result


@planned(integers=True)
def fill(
    result: VkArray, variant: Variant, words: int, key: int, block: int, skip: int, names: tuple[str, ...], *parameters: int
) -> None:  # fmt: skip
    """Fill a contiguous array with numbers of `words` words, from number `skip` of a block of the stream on."""
    _fill(result, variant, words, key, block, skip, dict(zip(names, parameters, strict=True)))


def _fill(
    result: VkArray, variant: Variant, words: int, key: int, block: int, skip: int, parameters: Mapping[str, int]
) -> None:  # fmt: skip
    device, size = result._device, result.size
    of_block = WORDS_OF_BLOCK // words
    for first in range(0, size, layout.INDEX_LIMIT):
        further, begin = divmod(skip + first, of_block) if first else (0, skip)
        count = min(size - first, layout.INDEX_LIMIT)
        fields = {
            "results": pointer(result, first),
            "key": key,
            "block": (block + further) & _MASK if further else block,
            "skip": begin,
            "count": count,
            **parameters,
        }
        groups = launch.groups_for(-(-(of_block - 1 + count) // of_block), device.limits)  # whatever is skipped
        launch.dispatch(variant, device, groups, fields, writes=("results",))


@planned(integers=True)
def fill_drawn(
    result: VkArray, a: VkArray, b: VkArray, c: VkArray, variant: Variant, key: int, block: int
) -> None:  # fmt: skip
    """Fill a contiguous array with numbers that take a block each; the parameters are contiguous and as many, or single."""
    given = {"a": a, "b": b, "c": c}
    steps = {name: int(one.size > 1) for name, one in given.items()}
    for first in range(0, result.size, layout.INDEX_LIMIT):
        count = min(result.size - first, layout.INDEX_LIMIT)
        fields = {
            **{name: pointer(one, first * steps[name]) for name, one in given.items()},
            **{f"{name}_step": step for name, step in steps.items()},
            "results": pointer(result, first),
            "key": key,
            "block": (block + first) & _MASK if first else block,
            "count": count,
        }
        groups = launch.groups_for(count, result._device.limits)
        launch.dispatch(variant, result._device, groups, fields, writes=("results",))


@planned(integers=True)
def fill_shares(
    result: VkArray, counts: VkArray, weights: VkArray, rests: VkArray, name: str, key: int, block: int
) -> None:  # fmt: skip
    """Fill a contiguous array with rows of shares that take a block each; the counts and the weights are of one row or all."""
    categories = result._shape[-1]
    rows, several = result.size // max(categories, 1), weights.size > categories
    for first in range(0, rows, layout.INDEX_LIMIT // max(categories, 1)):
        count = min(rows - first, layout.INDEX_LIMIT // max(categories, 1))
        skipped = first * categories
        fields = {
            "counts": pointer(counts, first if counts.size > 1 else 0),
            "weights": pointer(weights, skipped if several else 0),
            "rests": pointer(rests, skipped if several else 0),
            "results": pointer(result, skipped),
            "counts_step": int(counts.size > 1),
            "weights_step": categories if several else 0,
            "categories": categories,
            "key": key,
            "block": (block + first) & _MASK if first else block,
            "count": count,
        }
        groups = launch.groups_for(count, result._device.limits)
        variant = _shares_variant(name, result._dtype)
        launch.dispatch(variant, result._device, groups, fields, writes=("results",))


@planned(integers=True)
def fill_between(result: VkArray, low: VkArray, span: VkArray, words: int, key: int, block: int, skip: int) -> None:
    """Fill a contiguous array with integers of `words` words, of bounds that are contiguous and as many, or single."""
    device = result._device
    of_block = WORDS_OF_BLOCK // words
    variant = integer_variant(storage_itemsize(result._dtype, device), words == 2, True)
    for first in range(0, result.size, layout.INDEX_LIMIT):
        count = min(result.size - first, layout.INDEX_LIMIT)
        further, begin = divmod(skip + first, of_block)
        fields = {
            "results": pointer(result, first),
            "low": pointer(low, first if low.size > 1 else 0),
            "range": pointer(span, first if span.size > 1 else 0),
            "low_step": int(low.size > 1),
            "range_step": int(span.size > 1),
            "key": key,
            "block": (block + further) & _MASK if further else block,
            "skip": begin,
            "count": count,
        }
        groups = launch.groups_for(-(-(begin + count) // of_block), device.limits)
        launch.dispatch(variant, device, groups, fields, writes=("results",))
