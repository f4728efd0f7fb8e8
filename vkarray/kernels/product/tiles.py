"""The tables of tiles that matrix products are cut into, by kind of device."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from .. import launch

_FEW = 0.5  # of the tiles that run side by side: so many are cut into parts when they are left
_IDLE = 0.35  # of the time of a tile is lost where another could have run beside the last ones

# Of an NVIDIA H100 (`benchmarks/notes/product.md` has the measurements): how many processors tiles are spread over, and the
# nanoseconds that adding up parts of sums takes, once and for each number.
PROCESSORS, _ADDING, _ADDED = 132, 3100.0, 1.7e-3
_PARTS = tuple(sorted(base << power for base in (2, 3) for power in range(9)))  # into how many parts sums may be cut


def count(tile: tuple[int, int], shape: Sequence[int]) -> int:
    """How many tiles cover a stack of results of this shape."""
    return math.prod(shape[:-2]) * -(-shape[-2] // tile[0]) * -(-shape[-1] // tile[1])


class Row(Protocol):
    """What a row of any table of tiles has."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the tile."""

    @property
    def at_once(self) -> int:
        """How many tiles run side by side."""

    @property
    def cost(self) -> float:
        """The time that a product then takes."""

    @property
    def step(self) -> float:
        """The nanoseconds that a step of the sums takes each of many tiles side by side."""

    @property
    def latency(self) -> float:
        """The nanoseconds that a step of the sums of a tile takes at least."""


_Row = TypeVar("_Row", bound=Row)


def rows_of_whole_waves(tile: Row, shape: Sequence[int], axis: int, unit: int) -> int:
    """How many rows along an axis, in steps of `unit`, fill the device some times, if few tiles are left; else all."""
    tiles, per_unit = count(tile.shape, shape), count(tile.shape, (*shape[:axis], unit, *shape[axis:][1:]))
    whole = tiles // tile.at_once * tile.at_once // per_unit
    rest = tiles - whole * per_unit
    return whole * unit if whole and 0 < rest <= tile.at_once * _FEW else shape[axis]


def time(tile: Row, shape: Sequence[int]) -> float:
    """How long a result of this shape should take, in units of a product; the last tiles run with idle neighbours."""
    waves = count(tile.shape, shape) / tile.at_once
    waves += _IDLE * (math.ceil(waves) - waves)
    return waves * tile.at_once * math.prod(tile.shape) * tile.cost


def way_of_least_time(
    rows: Iterable[_Row], shape: Sequence[int], k: int, shortest: int, itemsize: int = 4
) -> tuple[_Row, int]:  # fmt: skip
    """The row that should take a GPU least time for a result that does not fill it, and how many parts its sums are cut into.

    A sum has k products, a part at least `shortest`. Tiles that fill the device are not cut.
    """
    counts = [parts for parts in _PARTS if parts * shortest <= k]
    ways = [
        (tile, parts) for tile in rows for parts in (1, *(counts if count(tile.shape, shape) < tile.at_once else ()))
    ]
    return min(ways, key=lambda way: _time_in_parts(way[0], shape, k, way[1], itemsize))


def _time_in_parts(tile: Row, shape: Sequence[int], k: int, parts: int, itemsize: int) -> float:
    """The nanoseconds that a result takes. A step of tiles side by side takes as long as all of them, or as one alone."""
    waves, rest = divmod(count(tile.shape, shape) * parts, tile.at_once)

    def step(side_by_side: int) -> float:
        return math.hypot(tile.latency, tile.step * side_by_side) * itemsize / 4

    steps = waves * step(tile.at_once) + (step(-(-rest // PROCESSORS) * PROCESSORS) if rest else 0.0)
    adding = _ADDING + _ADDED * parts * math.prod(shape) if parts > 1 else 0.0
    return -(-k // parts) * steps + adding


class Tile(NamedTuple):
    """A row of a table: the tile of the result that is worked on as one, and how long that takes.

    `block` is what one invocation computes; `at_once` tiles run side by side, and `cost` is the time that a product then
    takes, in units of the first row's. Of few tiles a step of the sums takes each one `step` nanoseconds, but `latency` at least.
    """

    template: str
    shape: tuple[int, int]
    block: tuple[int, int]
    depth: int
    itemsize: int  # of the widest compute type that fits the registers
    at_once: int
    cost: float
    step: float = 0.0
    latency: float = 0.0
    peeled: bool = True  # of matmul_tiled: the last step is outside of the loop, which is better for long sums
    narrowest: int = 4  # bytes of a compute type: of less, an invocation had less than a pack to load

    @property
    def label(self) -> str:
        """The row's name, by which a choice is remembered."""
        (m, n), (rows, columns) = self.shape, self.block
        return f"{self.template} {m}x{n} by {rows}x{columns}, depth {self.depth}"

    @property
    def invocations(self) -> int:
        """Invocations that work on a tile."""
        return self.shape[0] // self.block[0] * (self.shape[1] // self.block[1])

    @property
    def workgroup_size(self) -> int:
        """Invocations of a workgroup."""
        return self.invocations if self.template == "product/matmul_tiled" else launch.WORKGROUP_SIZE

    def shared_bytes(self, itemsize: int) -> int:
        """Shared memory of a workgroup."""
        pad = max(16, itemsize)
        return self.depth * (sum(self.shape) * itemsize + 2 * pad) if self.template == "product/matmul_tiled" else 0

    def step_bytes(self, itemsize: int) -> int:
        """Bytes of the products of an invocation in a step, which is written out."""
        return math.prod(self.block) * self.depth * itemsize if self.template == "product/matmul_tiled" else 0

    def takes(self, itemsize: int) -> bool:
        """Whether there is a shader of the row for a compute type of so many bytes."""
        return self.narrowest <= itemsize <= self.itemsize

    def count(self, shape: Sequence[int]) -> int:
        """How many tiles cover a result of this shape."""
        return count(self.shape, shape)


# By the registers of an invocation: the bytes of products of a step that they suffice for, of floating-point numbers of 32 bits
# and of other types, whose products take more instructions. On an Intel Alchemist 64 x 64 by 4 x 8 spilled 72 registers 16 deep.
STEP_BYTES = {"large": (4096, 4096), "middle": (4096, 4096), "small": (1024, 512), "tiny": (512, 512)}
# In each table the row that should take least time is taken; the last one fits always. `cost` and `at_once` are figures of an
# NVIDIA H200, `step` and `latency` of an H100 for float32.
GPU_TILES = (
    Tile("product/matmul_tiled", (64, 128), (8, 8), 16, 4, 396, 1.0, 0.329, 39.5),
    Tile("product/matmul_tiled", (128, 128), (8, 16), 8, 4, 264, 1.06, 0.657, 83.0),
    Tile("product/matmul_tiled", (128, 128), (8, 8), 8, 8, 264, 1.12, 0.737, 60.0),
    Tile("product/matmul_tiled", (64, 64), (8, 8), 8, 4, 1056, 1.15, 0.173, 55.0, peeled=False),
    Tile("product/matmul_tiled", (64, 64), (4, 8), 16, 4, 660, 1.2, 0.191, 20.0),
    Tile("product/matmul_tiled", (64, 64), (8, 4), 8, 8, 660, 1.2, 0.198, 25.0),
    Tile("product/matmul_tiled", (16, 64), (4, 4), 16, 8, 1452, 2.0, 0.071, 15.0),
    Tile("product/matmul_tiled", (64, 16), (4, 4), 16, 8, 1452, 2.0, 0.071, 15.0),
    Tile("product/matmul_tiled", (32, 32), (4, 4), 16, 8, 1320, 1.6, 0.065, 14.3),
    Tile("product/matmul_tiled", (32, 32), (4, 2), 8, 8, 1452, 2.4, 0.100, 20.0, narrowest=8),
    Tile("product/matmul_tiled", (32, 32), (4, 4), 8, 16, 1452, 1.7, 0.070, 15.0),
    Tile("product/matmul_blocked", (4, 4), (4, 4), 2, 16, 1 << 17, 5.0, 0.0032, 20.0),
)
# CPU drivers: no shared memory; the larger the block in registers (and first-level cache), the fewer loads.
CPU_TILES = (
    Tile("product/matmul_blocked", (16, 16), (16, 16), 2, 4, 1024, 1.0),
    Tile("product/matmul_blocked", (8, 8), (8, 8), 2, 8, 1024, 1.1),
    Tile("product/matmul_blocked", (4, 4), (4, 4), 2, 16, 1024, 2.0),
)
