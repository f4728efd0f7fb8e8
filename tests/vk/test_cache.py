"""The disk cache: private, atomic, checked on load."""

import errno
import hashlib
import os
import resource
import socket
import tracemalloc
from pathlib import Path

import pytest

from vkarray import configuration
from vkarray.cache import DiskCache

UNREADABLE = b"no content of this kind"


@pytest.fixture
def cache(tmp_path):
    with configuration.config(cache=tmp_path / "cache"):
        yield DiskCache("test-entries", lambda content: content != UNREADABLE)


def entry(cache, key):
    return cache.directory / hashlib.sha256(key.encode()).hexdigest()


def test_entry_comes_back_and_is_counted(cache):
    assert cache.get("key") is None, "an empty cache has an entry"
    cache.put("key", b"content")
    assert cache.get("key") == b"content", "the stored content does not come back"
    counts = cache.statistics()
    assert (counts["hits"], counts["misses"]) == (1, 1), "hits and misses are miscounted"
    assert counts["bytes"] == len(b"content") + 32, "bytes on disk are miscounted"


def test_reading_takes_no_more_memory_than_the_entry(cache):
    cache.put("key", b"content")
    tracemalloc.start()
    try:
        assert cache.get("key") == b"content"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_directory_and_entries_are_private(cache):
    cache.put("key", b"content")
    assert cache.directory.stat().st_mode & 0o777 == 0o700, "other users can look into the cache"
    for path in cache.directory.iterdir():
        assert path.stat().st_mode & 0o077 == 0, "other users can read or write an entry"


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "rename"])
def test_damaged_or_foreign_entry_counts_as_absent(cache, damage):
    cache.put("key", b"content")
    cache.put("other", b"foreign")
    path, other = entry(cache, "key"), entry(cache, "other")
    data = bytearray(path.read_bytes())
    if damage == "rename":
        other.replace(path)
    else:
        data[-1] ^= 1
        path.write_bytes({"flip": bytes(data), "truncate": bytes(data[:-1]), "empty": b""}[damage])
    assert cache.get("key") is None, f"an entry after {damage} is accepted"
    cache.put("key", b"content")
    assert cache.get("key") == b"content", "the entry is not rebuilt"


def test_entry_that_others_can_write_is_not_used(cache):
    cache.put("key", b"content")
    os.chmod(entry(cache, "key"), 0o666)
    assert cache.get("key") is None, "an entry that any user could have replaced is accepted"
    os.chmod(cache.directory, 0o777)
    cache.put("new", b"content")
    assert cache.get("new") is None, "entries are written to a directory that any user can write to"


def test_cache_that_cannot_be_written_is_no_error(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"")
    with configuration.config(cache=file):
        cache = DiskCache("test-entries", bool)
        cache.put("key", b"content")
        assert cache.get("key") is None, "a cache below a file returns something"


@pytest.mark.parametrize("path", ["\0", "\ud800", "x" * 5000, "loop/below"], ids=ascii)
def test_cache_in_a_directory_that_cannot_be_is_no_error(tmp_path, path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with configuration.config(cache=tmp_path / path):
        cache = DiskCache("test-entries", bool)
        cache.put("key", b"content")
        assert cache.get("key") is None
        cache.clear()
        assert cache.statistics()["bytes"] == 0


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


@pytest.mark.parametrize(
    "make",
    [
        os.mkfifo,
        os.mkdir,
        a_socket,
        lambda path: path.symlink_to(path),
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(path.parent / "nothing"),
        lambda path: (path.touch(mode=0o600), os.truncate(path, 1 << 43)),
        lambda path: path.touch(mode=0),
    ],
    ids=["pipe", "directory", "socket", "loop", "device", "nothing", "8 TiB without content", "unreadable"],
)
def test_what_is_no_entry_counts_as_absent(cache, make, monkeypatch):
    cache.put("other", b"content")
    monkeypatch.chdir(cache.directory)  # sockets have short names only
    path = entry(cache, "key").relative_to(cache.directory)
    make(Path(path.name).absolute() if make is not a_socket else path.name)
    assert cache.get("key") is None
    cache.statistics()
    cache.put("key", b"content")
    if not path.is_dir():
        assert cache.get("key") == b"content", "the entry is not rebuilt"
    cache.clear()
    assert cache.get("other") is None, "one entry that cannot be removed keeps the others"


def test_content_that_cannot_be_read_is_neither_kept_nor_used(cache, monkeypatch):
    cache.put("key", UNREADABLE)
    assert not cache.directory or not cache.directory.exists(), "content that cannot be read is stored"
    with monkeypatch.context() as patch:
        patch.setattr(cache, "is_whole", lambda content: True)
        cache.put("key", UNREADABLE)  # as a version did that did not look
    assert cache.get("key") is None, "content that cannot be read comes out of the cache"
    assert not entry(cache, "key").exists(), "it stays in the cache"
    cache.put("key", b"content")
    assert cache.get("key") == b"content", "the entry is not rebuilt"


def test_a_write_that_fails_leaves_nothing_behind(cache, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    cache.put("key", b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        cache.put("key", b"new")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        cache.put("key", b"new" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(list(cache.directory.iterdir())) == 1, "a write that failed left a temporary file"
    assert cache.get("key") == b"old", "a write that failed changed the entry"


def test_clear_removes_what_a_killed_process_left(cache):
    cache.put("key", b"content")
    (cache.directory / ".new-1").write_bytes(b"unfinished")
    cache.clear()
    assert not list(cache.directory.iterdir())


def test_without_a_home_nothing_is_kept(monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "home", nowhere)
        for variable in ("VKARRAY_CACHE", "XDG_CACHE_HOME"):
            patch.delenv(variable, raising=False)
        assert configuration.reload().cache is None
        cache = DiskCache("test-entries", bool)
        cache.put("key", b"content")
        assert cache.get("key") is None
        cache.clear()
        assert cache.statistics() == {"hits": 0, "misses": 1, "compiles": 0, "bytes": 0}
    configuration.reload()
