"""The families whose rows `vkarray tune` chooses between, and the problems that it measures them on.

A family is added with a line in FAMILIES: name, problems, candidates; where it chooses its row, it asks
`tuning.choice(device, name, key)` first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.array import is_supported
from ..core.dtypes import DTYPES
from ..kernels.product import blocks, cooperative, sums
from ..kernels.tuning import Family, Problem, length_class, shape_class

if TYPE_CHECKING:
    from ..kernels.launch import Device

_DTYPES = ("float32", "float64", "complex64", "int32")
# Rows, columns and products of the problems, for keys of `shape_class`, and their summed dimension.
_SHAPES = {
    "gpu": ((64, 64, 64), (256, 256, 256), (1024, 1024, 1024), (4096, 4096, 4096), (4096, 16, 1024), (16, 4096, 1024)),
    "cpu": ((64, 64, 64), (256, 256, 256), (768, 768, 256), (1024, 16, 512), (16, 1024, 512)),
}
_SUMS = {"gpu": ((1 << 18, 128), (1 << 15, 1024), (4096, 1 << 14)), "cpu": ((4096, 128), (512, 1024), (64, 1 << 13))}


def _multiply(namespace: Any, a: Any, b: Any) -> Any:
    return namespace.matmul(a, b)


def _products(device: Device) -> Iterator[Problem]:
    for name in _DTYPES:
        if is_supported(DTYPES[name], device):
            for m, n, k in _SHAPES[device.limits.kind]:
                yield Problem(shape_class(name, (m, n)), name, ((m, k), (k, n)), _multiply, k)


def _tiles(device: Device, problem: Problem) -> list[str]:
    (m, k), (_, n) = problem.shapes
    dtype = DTYPES[problem.dtype]
    fitting = [tile.label for tile in blocks.candidates() if blocks.fits(tile, device, (m, n), dtype)]
    return list(dict.fromkeys([blocks.choose_tile(device, (m, n), k, dtype)[0].label, *fitting]))


def _halves(device: Device) -> Iterator[Problem]:
    for m, n, k in _SHAPES[device.limits.kind]:
        if cooperative.choose_tile(device, (m, n), k, DTYPES["float16"]) is not None:
            yield Problem(cooperative.shape_class((m, n)), "float16", ((m, k), (k, n)), _multiply, k)


def _cooperative_tiles(device: Device, problem: Problem) -> list[str]:
    (m, k), (_, n) = problem.shapes
    shape, dtype = (m, n), DTYPES["float16"]
    table = cooperative.TILES[device.limits.tier]
    fitting = [tile.label for tile in table if cooperative.fits(tile, device, shape, dtype)]
    default = cooperative.choose_tile(device, shape, k, dtype)
    return list(dict.fromkeys([*([default[0].label] if default else []), *fitting]))


def _sums(device: Device) -> Iterator[Problem]:
    for rows, k in _SUMS[device.limits.kind]:
        yield Problem(length_class(k), "float32", ((rows, k), (k, 1)), _multiply, k)


def _lanes(device: Device, problem: Problem) -> list[str]:
    k = problem.shapes[0][1]
    return list(dict.fromkeys([str(sums.choose_lanes(device, k)), *sums.lane_choices(device)]))


FAMILIES = (
    Family("product", _products, _tiles),
    Family(cooperative.FAMILY, _halves, _cooperative_tiles),
    Family("sum of a row", _sums, _lanes),
)
