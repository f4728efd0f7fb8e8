"""Measure products of matrices that do not fill a GPU, by every tile of the table and in so many parts, beside what is chosen.

    python benchmarks/product_tiles.py --output FILE

Each line is the shapes of the operands, the time of the choice, and the fastest two ways; the end says how far the choices are from
these. Times are the device's, of the kernels alone, medians of several calls; before each the device multiplies large matrices, so
that its clock is up. The second operand is read transposed, as layers of networks do. `tiles.GPU_TILES` has the figures of the
model that chooses: they were fitted to such a file.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np

import vkarray as vx
from vkarray._vk.timing import timestamps
from vkarray.core.array import empty
from vkarray.kernels.product import blocks, strategies
from vkarray.kernels.product.tiles import GPU_TILES, Tile

ROWS = (32, 64, 128, 197, 256, 512)
LAYERS = ((768, 768), (2304, 768), (3072, 768), (768, 3072), (1024, 1024), (512, 512), (256, 256), (1000, 2048))
STACKS = ((12, 197, 64), (12, 256, 64), (8, 64, 64), (96, 64, 64))
PARTS = (1, 2, 3, 4, 6, 8, 12, 16)
SHORTEST, MOST_TILES = 64, 132 * 32  # products of a part; of tiles times parts
CALLS, LARGE = 5, 2048


def shapes() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The shapes of a, and of b before it is transposed."""
    for rows, (columns, k) in itertools.product(ROWS, LAYERS):
        yield (rows, k), (columns, k)
    for stack in STACKS:
        yield stack, stack


def array(shape: tuple[int, ...], dtype: vx.DType) -> vx.VkArray:
    values = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    return vx.astype(vx.asarray(values), dtype)


@contextmanager
def only(tile: Tile, parts: int) -> Iterator[None]:
    """Have products computed in this way."""
    with mock.patch.object(blocks, "choose_tile", return_value=(tile, parts)):
        yield


def microseconds(a: vx.VkArray, b: vx.VkArray, large: vx.VkArray) -> float:
    """The time of a product on the device, with the sum of its parts."""

    def product() -> None:
        strategies.multiply(a, b, empty((*a.shape[:-1], b.shape[-1]), a.dtype, a.device))

    product()  # makes the kernels
    for _ in range(12):
        vx.matmul(large, large)
    with timestamps(a.device) as times:
        for _ in range(CALLS):
            product()
    kernels = len(times) // CALLS
    last = [seconds for _, seconds in times[-kernels * CALLS :]]
    return 1e6 * statistics.median(sum(last[call * kernels :][:kernels]) for call in range(CALLS))


def ways(a: vx.VkArray, b: vx.VkArray) -> Iterator[tuple[Tile, int]]:
    """The rows of the table and the counts of parts that make sense."""
    shape, k = (*a.shape[:-1], b.shape[-1]), a.shape[-1]
    for tile, parts in itertools.product(GPU_TILES, PARTS):
        whole = parts == 1 or (parts * SHORTEST <= k and tile.count(shape) * parts <= MOST_TILES)
        if whole and tile.template == "product/matmul_tiled" and blocks.fits(tile, a.device, shape, a.dtype):
            yield tile, parts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="float32", choices=("float32", "float64"), help="(%(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where all times go, as JSON")
    arguments = parser.parse_args()
    dtype = getattr(vx, arguments.dtype)
    large = array((LARGE, LARGE), vx.float32)
    rows, losses = [], []
    for first, second in shapes():
        a, b = array(first, dtype), array(second, dtype).mT
        chosen = microseconds(a, b, large)
        found = []
        for tile, parts in ways(a, b):
            with only(tile, parts):
                found.append((microseconds(a, b, large), tile.label, parts))
        found.sort()
        losses.append(math.log(chosen / found[0][0]))
        best = "; ".join(f"{time:.1f} µs by {label} in {parts}" for time, label, parts in found[:2])
        print(f"{first} {second}: {chosen:.1f} µs; {best}", flush=True)
        rows.append({"shapes": [first, second], "chosen": chosen, "ways": found})
    print(f"Choices take {100 * math.expm1(statistics.mean(losses)):.1f} % longer in the mean.")
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
