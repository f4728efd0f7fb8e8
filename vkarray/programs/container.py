"""The file of a program: a header and a few parts, one after the other, each with its SHA-256.

    bytes 0 to 7     the signature
    bytes 8 to 11    the version of the format, little-endian as all numbers
    bytes 12 to 15   how many bytes of JSON follow the header
    bytes 16 to 47   the SHA-256 of that JSON
    JSON             {"parts": {name: {"offset": ..., "length": ..., "sha256": ...}}}, filled up with spaces
    the parts        each at a multiple of ALIGNMENT, in the order of the JSON, with zeros in between

The parts are `program` (JSON, see `description.py`), `weights` (a file of the format safetensors) and `shaders` (SPIR-V). Nothing
else is in a file: what a part does not hold are zeros. The checksums find damage. They keep nobody from making a file on
purpose, so whatever is read of parts is checked as well.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import whole_files
from ..errors import ProgramError

SIGNATURE = b"\x89VKP\r\n\x1a\n"  # as PNG's: what changes the ends of lines damages it
VERSION = 1
ALIGNMENT = 64
PARTS = ("program", "weights", "shaders")
_HEADER = struct.Struct("<8sII32s")
_MOST_JSON = 1 << 16  # bytes of the header's JSON


def damaged(path: Any, why: str) -> ProgramError:
    """The error for a file that cannot be used."""
    return ProgramError(f"load_program: {path}: {why}.")


class Container:
    """The parts of a file, which is mapped into memory. Raises ProgramError for one that is damaged or something else."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises OSError where the file cannot be read."""
        self.path = os.fspath(path)
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                raise damaged(path, "the file is empty")
            self.data: Any = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        self.nbytes = len(self.data)
        self.parts = self._read()

    def _read(self) -> dict[str, memoryview]:
        if bytes(self.data[: len(SIGNATURE)]) != SIGNATURE[: self.nbytes]:
            raise damaged(self.path, "this is no file of a program: its first bytes are others")
        if self.nbytes < _HEADER.size:
            raise damaged(
                self.path, f"the file is cut off: it has {self.nbytes} bytes, and its header has {_HEADER.size}"
            )
        _, version, length, checksum = _HEADER.unpack_from(self.data)
        self.checksum: bytes = checksum  # of all that is in the file
        if version != VERSION:
            raise damaged(
                self.path,
                f"the file has version {version} of the format, and this vkarray reads version {VERSION}. "
                + ("Install a newer vkarray" if version > VERSION else "Save the program again"),
            )
        if length > _MOST_JSON or _HEADER.size + length > self.nbytes:
            raise damaged(self.path, f"the file is cut off or damaged: its table of parts has {length} bytes")
        listed = bytes(self.data[_HEADER.size : _HEADER.size + length])
        if hashlib.sha256(listed).digest() != checksum:
            raise damaged(self.path, "the file is damaged: its table of parts does not match the checksum")
        return self._parts(parsed(self.path, listed), _HEADER.size + length)

    def _parts(self, table: Any, end: int) -> dict[str, memoryview]:
        rows = table.get("parts") if isinstance(table, dict) and set(table) == {"parts"} else None
        if not isinstance(rows, dict) or tuple(rows) != PARTS:
            raise damaged(self.path, f"its table of parts is damaged: expected the parts {', '.join(PARTS)}")
        found = {}
        for name, row in rows.items():
            if not isinstance(row, dict) or set(row) != {"offset", "length", "sha256"}:
                raise damaged(self.path, f"its table of parts is damaged at {name!r}")
            offset, length = row["offset"], row["length"]
            if type(offset) is not int or type(length) is not int or offset != _aligned(end) or length < 0:
                raise damaged(
                    self.path, f"its table of parts is damaged at {name!r}: the parts do not follow each other"
                )
            if offset + length > self.nbytes:
                raise damaged(
                    self.path, f"the file is cut off: {name!r} ends at byte {offset + length} of {self.nbytes}"
                )
            if any(self.data[end:offset]):
                raise damaged(self.path, f"there are bytes before {name!r} that belong to no part")
            found[name], end = self.data[offset : offset + length], offset + length
            if hashlib.sha256(found[name]).hexdigest() != row["sha256"]:
                raise damaged(self.path, f"the file is damaged: {name!r} does not match its checksum")
        if end != self.nbytes:
            raise damaged(self.path, f"the file has {self.nbytes - end} bytes after its last part")
        return found


def _aligned(place: int) -> int:
    return -(-place // ALIGNMENT) * ALIGNMENT


def parsed(path: Any, text: bytes) -> Any:
    """JSON, as RFC 8259 has it: no NaN, and no name twice in an object. Raises ProgramError for all else."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is no number of JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a name comes twice in an object")
        return found

    try:
        return json.loads(text.decode(), parse_constant=refuse, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:  # among the first ones text that is not UTF-8
        raise damaged(path, f"its JSON is damaged ({error})") from None


def write(path: str | os.PathLike[str], parts: Mapping[str, bytes | bytearray | memoryview]) -> None:
    """Write a file in one step: who reads it meanwhile reads the one before. Raises OSError, which names the path.

    A link stays, and the file that it leads to is written. What is no file, such as /dev/null, takes the bytes and stays too.
    """
    rows: dict[str, dict[str, Any]] = {
        name: {"offset": 0, "length": len(parts[name]), "sha256": hashlib.sha256(parts[name]).hexdigest()}
        for name in PARTS
    }
    width = _aligned(_HEADER.size + len(_listed(rows)) + 20 * len(rows)) - _HEADER.size
    end = _HEADER.size + width
    for row in rows.values():
        row["offset"] = _aligned(end)
        end = row["offset"] + row["length"]
    listed = _listed(rows).ljust(width)
    real, content = Path(os.path.realpath(os.fsdecode(path))), _content(listed, rows, parts)
    try:
        if real.exists() and not real.is_file():
            with open(real, "wb") as file:
                file.writelines(content)
        else:
            whole_files.write(real, content)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None


def _content(
    listed: bytes, rows: Mapping[str, Mapping[str, Any]], parts: Mapping[str, bytes | bytearray | memoryview]
) -> Iterator[bytes | bytearray | memoryview]:
    yield _HEADER.pack(SIGNATURE, VERSION, len(listed), hashlib.sha256(listed).digest()) + listed
    place = _HEADER.size + len(listed)
    for name, row in rows.items():
        yield bytes(row["offset"] - place)
        yield parts[name]
        place = row["offset"] + row["length"]


def _listed(rows: Mapping[str, Any]) -> bytes:
    return json.dumps({"parts": rows}).encode()
