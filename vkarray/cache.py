"""The disk cache: private to the user, written atomically, checked by hash on load.

An entry is a file named by the hash of its key that holds a SHA-256 over key and content, then the content. Whatever
is damaged, truncated, renamed, owned by somebody else or no regular file counts as absent, and so does content that its
kind cannot read to the end; such content is not stored either. A cache that cannot be written, or for which there is no
directory, is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from . import configuration, whole_files

_DIGEST_BYTES = 32
_LARGEST = 1 << 28  # bytes of content: many times the largest module or pipeline cache
# A file that is no regular one must neither be followed nor wait for a writer. Windows has no such flags.
_CAREFULLY = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_FAILURES = (OSError, ValueError)  # the second one from paths with characters that no path can have


class DiskCache:
    """Entries of one kind, in a folder of that name below the cache directory, with counts of their use.

    ``is_whole`` tells whether content reads to its end as what the kind holds.
    """

    def __init__(self, kind: str, is_whole: Callable[[bytes], bool]) -> None:
        self.kind, self.is_whole = kind, is_whole
        self.hits = self.misses = self.compiles = 0
        _kinds[kind] = self

    @property
    def directory(self) -> Path | None:
        cache = configuration.current().cache
        return None if cache is None else cache / self.kind

    def get(self, key: str) -> bytes | None:
        """The content stored under ``key``, or None. Counts a hit or a miss."""
        content = self._read(key)
        if content is None:
            self.misses += 1
        else:
            self.hits += 1
        return content

    def put(self, key: str, content: bytes) -> None:
        """Store ``content`` under ``key``, replacing an older entry in one step. Content that is not whole is left out."""
        directory = self.directory
        if directory is None or len(content) > _LARGEST or not self.is_whole(content):
            return
        with contextlib.suppress(*_FAILURES):
            if _private(directory):
                whole_files.write(directory / _file_name(key), (_digest(key, content), content), mode=0o600)

    def clear(self) -> None:
        """Remove every entry, and what processes that were killed have left unfinished."""
        for path in self._files():
            with contextlib.suppress(OSError):
                path.unlink()

    def statistics(self) -> dict[str, int]:
        """Hits, misses and compiles of this process, and the bytes on disk."""
        size = 0
        for path in self._files():
            with contextlib.suppress(OSError):
                size += path.lstat().st_size
        return {"hits": self.hits, "misses": self.misses, "compiles": self.compiles, "bytes": size}

    def _files(self) -> list[Path]:
        directory = self.directory
        try:
            return list(directory.iterdir()) if directory else []
        except _FAILURES:
            return []

    def _read(self, key: str) -> bytes | None:
        directory = self.directory
        if directory is None:
            return None
        path = directory / _file_name(key)
        try:
            with open(path, "rb", opener=_open) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or not _own(status):
                    return None
                # Not more than there is, since Python takes memory for all that it is asked to read.
                stored = file.read(status.st_size) if status.st_size <= _DIGEST_BYTES + _LARGEST else b""
        except _FAILURES:
            return None
        content = stored[_DIGEST_BYTES:]
        if stored[:_DIGEST_BYTES] == _digest(key, content) and self.is_whole(content):
            return content
        with contextlib.suppress(OSError):
            path.unlink()
        return None


_kinds: dict[str, DiskCache] = {}


def statistics() -> dict[str, dict[str, int]]:
    """For each kind of entry: hits, misses and compiles of this process, and the bytes on disk. Without errors."""
    return {kind: cache.statistics() for kind, cache in _kinds.items()}


def _file_name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _digest(key: str, content: bytes) -> bytes:
    name = key.encode()
    return hashlib.sha256(len(name).to_bytes(8, "little") + name + content).digest()


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | _CAREFULLY)


def _own(status: os.stat_result) -> bool:
    """Written by this user, and by nobody else."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _private(directory: Path) -> bool:
    """Make the directory for this user alone; False when it belongs to another or others may write to it."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = os.lstat(directory)
    return stat.S_ISDIR(status.st_mode) and _own(status)
