"""The archive of compiled shaders inside the wheel: modules by digest in one file, of which only what is asked for is read.

The file is a header (signature, number of modules, bytes of the file, CRC-32 of the index), an index sorted by digest
(32 bytes of digest, place, length and CRC-32 of the content), and the contents, each compressed by zlib. Each read opens
the file anew, so that threads and forked processes share an archive without sharing a position.
"""

from __future__ import annotations

import bisect
import os
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path

_SIGNATURE = b"vkarray SPIR-V 2"
_HEADER = struct.Struct("<16sIQI")
_ENTRY = struct.Struct("<32sQII")


class Archive:
    """An archive. Raises OSError for a file that cannot be read, ValueError for one that is damaged or no archive."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            actual = os.fstat(file.fileno()).st_size
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size or not header.startswith(_SIGNATURE):
                raise ValueError(f"{path} is no archive of shaders of this version of vkarray.")
            _, self.count, size, checksum = _HEADER.unpack(header)
            if size != actual or _HEADER.size + self.count * _ENTRY.size > size:
                raise ValueError(f"{path} is damaged: it should have {size} bytes and has {actual}.")
            self._index = file.read(self.count * _ENTRY.size)
        if zlib.crc32(self._index) != checksum:
            raise ValueError(f"{path} is damaged: its index does not match the checksum.")

    def _entry(self, number: int) -> tuple[bytes, int, int, int]:
        return _ENTRY.unpack_from(self._index, number * _ENTRY.size)

    def get(self, digest: str) -> bytes | None:
        """The module under a digest in hexadecimal digits, or None. Raises OSError, and ValueError where it is damaged."""
        wanted = bytes.fromhex(digest)
        number = bisect.bisect_left(range(self.count), wanted, key=lambda number: self._entry(number)[0])
        if number == self.count:
            return None
        found, place, length, checksum = self._entry(number)
        if found != wanted:
            return None
        with self.path.open("rb") as file:
            file.seek(place)
            packed = file.read(length)
        if zlib.crc32(packed) != checksum:
            raise ValueError(f"{self.path} is damaged, or was replaced while it was in use: a module differs.")
        try:
            return zlib.decompress(packed)
        except zlib.error as error:
            raise ValueError(f"{self.path} is damaged: {error}.") from None


def write(path: Path, modules: Iterable[tuple[str, bytes]]) -> None:
    """Write an archive of modules, given with their digests in hexadecimal digits."""
    packed = sorted((bytes.fromhex(digest), zlib.compress(code, 9)) for digest, code in modules)
    entries, place = [], _HEADER.size + len(packed) * _ENTRY.size
    for digest, content in packed:
        entries.append(_ENTRY.pack(digest, place, len(content), zlib.crc32(content)))
        place += len(content)
    index = b"".join(entries)
    with path.open("wb") as file:
        file.write(_HEADER.pack(_SIGNATURE, len(packed), place, zlib.crc32(index)) + index)
        for _, content in packed:
            file.write(content)
