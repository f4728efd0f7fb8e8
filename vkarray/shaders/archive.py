"""The archive of compiled shaders inside the wheel: modules by digest in one file, of which only what is asked for is read.

The file is a header (signature, number of modules, number of blocks, bytes of the file, CRC-32 of the index), an index sorted by
digest (32 bytes of digest, block, place and length in it), the blocks' places, lengths and CRC-32, and the blocks. A block is
some modules together, each in the form of `relative`, compressed by LZMA: neighbours are much alike.
Each read opens the file anew, so that threads and forked processes share an archive without sharing a position.
"""

from __future__ import annotations

import bisect
import functools
import lzma
import os
import struct
import zlib
from collections.abc import Container, Iterable
from pathlib import Path

from .relative import from_relative, to_relative

_SIGNATURE = b"vkarray SPIR-V 3"
_HEADER = struct.Struct("<16sIIQI")
_ENTRY = struct.Struct("<32sIII")
_BLOCK = struct.Struct("<QII")
# Bytes of a block before compression: larger ones compress better, and take longer to read. A kernel is linked of several modules.
_WHOLE_BYTES, _PART_BYTES = 1 << 20, 1 << 16
_KEPT_BLOCKS = 8  # in memory: what a program asks for next is often beside what it asked for
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "lp": 2, "pb": 2}]  # for words of 32 bits


class Archive:
    """An archive. Raises OSError for a file that cannot be read, ValueError for one that is damaged or no archive."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            actual = os.fstat(file.fileno()).st_size
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size or not header.startswith(_SIGNATURE):
                raise ValueError(f"{path} is no archive of shaders of this version of vkarray.")
            _, self.count, blocks, size, checksum = _HEADER.unpack(header)
            length = self.count * _ENTRY.size + blocks * _BLOCK.size
            if size != actual or _HEADER.size + length > size:
                raise ValueError(f"{path} is damaged: it should have {size} bytes and has {actual}.")
            self._index = file.read(length)
        self.checksum = checksum
        if zlib.crc32(self._index) != checksum:
            raise ValueError(f"{path} is damaged: its index does not match the checksum.")
        self._block = functools.lru_cache(_KEPT_BLOCKS)(self._read)

    def _entry(self, number: int) -> tuple[bytes, int, int, int]:
        return _ENTRY.unpack_from(self._index, number * _ENTRY.size)

    def _place_of(self, digest: str) -> tuple[int, int, int] | None:
        """The block of a module, its place in there and its length."""
        wanted = bytes.fromhex(digest)
        number = bisect.bisect_left(range(self.count), wanted, key=lambda number: self._entry(number)[0])
        if number == self.count or self._entry(number)[0] != wanted:
            return None
        return self._entry(number)[1:]

    def __contains__(self, digest: str) -> bool:
        return self._place_of(digest) is not None

    def get(self, digest: str) -> bytes | None:
        """The module under a digest in hexadecimal digits, or None. Raises OSError, and ValueError where it is damaged."""
        found = self._place_of(digest)
        if found is None:
            return None
        block, place, length = found
        return from_relative(self._block(block)[place : place + length])

    def _read(self, block: int) -> bytes:
        place, length, checksum = _BLOCK.unpack_from(self._index, self.count * _ENTRY.size + block * _BLOCK.size)
        with self.path.open("rb") as file:
            file.seek(place)
            packed = file.read(length)
        if zlib.crc32(packed) != checksum:
            raise ValueError(f"{self.path} is damaged, or was replaced while it was in use: a block differs.")
        try:
            return lzma.decompress(packed, lzma.FORMAT_RAW, filters=_FILTERS)
        except lzma.LZMAError as error:
            raise ValueError(f"{self.path} is damaged: {error}.") from None


def write(path: Path, modules: Iterable[tuple[str, bytes]], parts: Container[str] = ()) -> None:
    """Write an archive of modules, given with their digests in hexadecimal digits, those that are alike one after the other.

    Those with the digests of `parts` are for linking.

    Raises ShaderError for what is no module.
    """
    entries, blocks, waiting = [], [], bytearray()
    for digest, code in modules:
        packed = to_relative(code)
        if waiting and len(waiting) + len(packed) > (_PART_BYTES if digest in parts else _WHOLE_BYTES):
            blocks.append(lzma.compress(waiting, lzma.FORMAT_RAW, filters=_FILTERS))
            waiting.clear()
        entries.append(_ENTRY.pack(bytes.fromhex(digest), len(blocks), len(waiting), len(packed)))
        waiting += packed
    blocks.append(lzma.compress(waiting, lzma.FORMAT_RAW, filters=_FILTERS))
    place = _HEADER.size + len(entries) * _ENTRY.size + len(blocks) * _BLOCK.size
    places = []
    for content in blocks:
        places.append(_BLOCK.pack(place, len(content), zlib.crc32(content)))
        place += len(content)
    index = b"".join((*sorted(entries), *places))
    with path.open("wb") as file:
        file.write(_HEADER.pack(_SIGNATURE, len(entries), len(blocks), place, zlib.crc32(index)) + index)
        for content in blocks:
            file.write(content)
