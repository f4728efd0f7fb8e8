"""The disk cache: private to the user, written atomically, checked by hash on load.

An entry is a file named by the hash of its key that holds a SHA-256 over key and content, then the content. Whatever
is damaged, truncated, renamed or owned by somebody else counts as absent; a cache that cannot be written, or for which
there is no directory, is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from . import configuration

_DIGEST_BYTES = 32


class DiskCache:
    """Entries of one kind, in a folder of that name below the cache directory, with counts of their use."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
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
        """Store ``content`` under ``key``, replacing an older entry in one step."""
        directory = self.directory
        with contextlib.suppress(OSError):
            if directory is None or not _private(directory):
                return
            handle, temporary = tempfile.mkstemp(dir=directory, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_digest(key, content) + content)
                os.replace(temporary, directory / _file_name(key))
            except BaseException:
                os.unlink(temporary)
                raise

    def clear(self) -> None:
        """Remove every entry."""
        for path in self._entries():
            path.unlink(missing_ok=True)

    def statistics(self) -> dict[str, int]:
        """Hits, misses and compiles of this process, and the bytes on disk."""
        size = 0
        for path in self._entries():
            with contextlib.suppress(OSError):
                size += path.stat().st_size
        return {"hits": self.hits, "misses": self.misses, "compiles": self.compiles, "bytes": size}

    def _entries(self) -> list[Path]:
        directory = self.directory
        try:
            return [path for path in directory.iterdir() if not path.name.startswith(".")] if directory else []
        except OSError:
            return []

    def _read(self, key: str) -> bytes | None:
        directory = self.directory
        if directory is None:
            return None
        path = directory / _file_name(key)
        try:
            with path.open("rb") as file:
                if not _own(os.fstat(file.fileno())):
                    return None
                stored = file.read()
        except OSError:
            return None
        content = stored[_DIGEST_BYTES:]
        if stored[:_DIGEST_BYTES] == _digest(key, content):
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
