"""The archive of compiled shaders inside the wheel: modules by digest in one file, of which only what is asked for is read.

The file is a signature, the number of modules, an index sorted by digest (32 bytes of digest, place and length of the
content), and the contents. Each is compressed by zlib, whose checksum tells damage. Reads name their place in the file,
so that threads and forked processes share an archive without sharing a position.
"""

from __future__ import annotations

import bisect
import os
import struct
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

_SIGNATURE = b"vkarray SPIR-V 1"
_COUNT = struct.Struct("<I")
_ENTRY = struct.Struct("<32sQI")
_INDEX = len(_SIGNATURE) + _COUNT.size  # its place in the file


class Archive:
    """An archive, open for reading. Raises OSError for a file that cannot be read, ValueError for one that is no archive."""

    _file = -1

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY)
        head = os.pread(self._file, _INDEX, 0)
        if len(head) < _INDEX or not head.startswith(_SIGNATURE):
            raise ValueError(f"{path} is no archive of shaders.")
        (self.count,) = _COUNT.unpack_from(head, len(_SIGNATURE))
        self._index = os.pread(self._file, self.count * _ENTRY.size, _INDEX)
        self._size = os.fstat(self._file).st_size
        if len(self._index) < self.count * _ENTRY.size:
            raise ValueError(f"{path} is not a whole archive of shaders.")

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if self._file >= 0:
            close(self._file)

    def _entry(self, number: int) -> tuple[bytes, int, int]:
        return _ENTRY.unpack_from(self._index, number * _ENTRY.size)

    def get(self, digest: str) -> bytes | None:
        """The module under a digest in hexadecimal digits; None where it is missing or damaged."""
        wanted = bytes.fromhex(digest)
        number = bisect.bisect_left(range(self.count), wanted, key=lambda number: self._entry(number)[0])
        if number == self.count:
            return None
        found, place, length = self._entry(number)
        if found != wanted or place + length > self._size:
            return None
        try:
            return zlib.decompress(os.pread(self._file, length, place))
        except (zlib.error, OSError):
            return None


def write(path: Path, modules: Iterable[tuple[str, bytes]]) -> None:
    """Write an archive of modules, given with their digests in hexadecimal digits."""
    packed = sorted((bytes.fromhex(digest), zlib.compress(code, 9)) for digest, code in modules)
    place = _INDEX + len(packed) * _ENTRY.size
    with path.open("wb") as file:
        file.write(_SIGNATURE + _COUNT.pack(len(packed)))
        for digest, content in packed:
            file.write(_ENTRY.pack(digest, place, len(content)))
            place += len(content)
        for _, content in packed:
            file.write(content)
