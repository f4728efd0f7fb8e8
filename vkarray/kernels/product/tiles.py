"""The tables of tiles that matrix products are cut into, by kind of device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from .. import launch

_FEW = 0.5  # of the tiles that run side by side: so many are cut into parts when they are left
_IDLE = 0.35  # of the time of a tile is lost where another could have run beside the last ones


def count(tile: tuple[int, int], shape: Sequence[int]) -> int:
    """How many tiles cover a stack of results of this shape."""
    return math.prod(shape[:-2]) * -(-shape[-2] // tile[0]) * -(-shape[-1] // tile[1])


class Row(Protocol):
    """What a row of any table of tiles has."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the tile."""

    @property
    def invocations(self) -> int:
        """Invocations that work on a tile."""

    @property
    def at_once(self) -> int:
        """How many tiles run side by side."""

    @property
    def cost(self) -> float:
        """The time that a product then takes."""


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


class Tile(NamedTuple):
    """A row of a table: the tile of the result that is worked on as one, and how long that takes.

    `block` is what one invocation computes; `at_once` tiles run side by side, and `cost` is the time that a product then
    takes, in units of the first row's.
    """

    template: str
    shape: tuple[int, int]
    block: tuple[int, int]
    depth: int
    itemsize: int  # of the widest compute type that fits the registers
    at_once: int
    cost: float
    peeled: bool = True  # of matmul_tiled: the last step is outside of the loop, which is better for long sums

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

    def block_bytes(self, itemsize: int) -> int:
        """Bytes of registers that an invocation sums in."""
        return math.prod(self.block) * itemsize if self.template == "product/matmul_tiled" else 0

    def count(self, shape: Sequence[int]) -> int:
        """How many tiles cover a result of this shape."""
        return count(self.shape, shape)


# By the registers of an invocation: the bytes of those that it can sum in.
BLOCK_BYTES = {"large": 512, "middle": 512, "small": 128}
# In each table the row that should take least time is taken; the last one fits always. Figures of an NVIDIA H200.
GPU_TILES = (
    Tile("product/matmul_tiled", (64, 128), (8, 8), 16, 4, 396, 1.0),
    Tile("product/matmul_tiled", (128, 128), (8, 16), 8, 4, 264, 1.06),
    Tile("product/matmul_tiled", (128, 128), (8, 8), 8, 8, 264, 1.12),
    Tile("product/matmul_tiled", (64, 64), (8, 8), 8, 4, 1056, 1.15, peeled=False),
    Tile("product/matmul_tiled", (64, 64), (8, 4), 8, 8, 660, 1.2),
    Tile("product/matmul_tiled", (16, 64), (4, 4), 16, 8, 1452, 2.0),
    Tile("product/matmul_tiled", (64, 16), (4, 4), 16, 8, 1452, 2.0),
    Tile("product/matmul_tiled", (32, 32), (4, 4), 8, 16, 1452, 1.7),
    Tile("product/matmul_blocked", (4, 4), (4, 4), 2, 16, 1 << 17, 5.0),
)
# CPU drivers: no shared memory; the larger the block in registers (and first-level cache), the fewer loads.
CPU_TILES = (
    Tile("product/matmul_blocked", (16, 16), (16, 16), 2, 4, 1024, 1.0),
    Tile("product/matmul_blocked", (8, 8), (8, 8), 2, 8, 1024, 1.1),
    Tile("product/matmul_blocked", (4, 4), (4, 4), 2, 16, 1024, 2.0),
)
