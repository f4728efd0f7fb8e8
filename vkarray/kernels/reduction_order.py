"""The order in which a reduction joins elements, and the constants by which kernels are told: see `glsl/reduce.comp`."""

from __future__ import annotations

from ..core.dtypes import DType

# Lanes that a chunk has in all its blocks, and those of a block.
CHUNK_LANES, LANES = 256, 8
# The most elements that a leaf joins one after the other; where their center comes from the first of them, it must be near
# to the others.
STEPS, SHIFTED_STEPS, BATCH = 64, 16, 4
# Rows that lie side by side and have at least so many elements are added up by kernels of their own on CPU drivers, as many rows at
# once as a texel has elements. Programs compute shorter ones in one kernel.
LONG_COLUMNS = 32
# The constants of kernels for few registers, which take packs one by one, and then the elements of a pack, too.
SINGLE, ONE_BY_ONE = 17, 18
# Levels of the tree of an invocation's lanes that kernels are made for.
_LEVELS = (1, 4, 6, 9)


def vector_of(source: DType) -> int:
    """Elements of a lane side by side."""
    return min(8, 16 // source.itemsize)


def levels_of(share: int) -> int:
    """Levels of the stack for an invocation that has so many lanes, or blocks."""
    return next(levels for levels in _LEVELS if share < 1 << levels)


def turns_of(length: int, vector: int, block: int) -> int:
    """Batches of a lane, where all lanes of a row have so many; else 0."""
    return 0 if length % block else block // (LANES * vector) // BATCH


def serial_constants(length: int, vector: int, block: int, packed: bool, varies: bool) -> dict[int, int]:
    """The constants of kernels whose invocations reduce a chunk each, block by block: for rows of a length, or of one that
    varies."""
    if varies:
        return {3: 0, 4: _LEVELS[-1]}
    blocks = -(-min(length, CHUNK_LANES // LANES * block) // block)
    numbers = {3: turns_of(length, vector, block), 4: levels_of(blocks)}
    numbers |= {13: int(packed and not length % vector), 14: int(length > LANES * vector)}
    return numbers | short_constants(length, vector)


def short_constants(length: int, vector: int) -> dict[int, int]:
    """The constants of kernels for rows of few elements."""
    return {12: -(-length // vector), 13: int(not length % vector)} if length <= LANES * vector else {}


def steps_of(length: int, vector: int, most: int) -> int:
    """Elements that a leaf joins one after the other: few for more parallel work, many, `most` at most, where that saves a
    dispatch, or work in the next one."""
    chunk = CHUNK_LANES * vector
    if length >= chunk << 16:
        return most
    return 4 if length <= 4 * chunk or 16 * chunk < length < 4096 * chunk else 16
