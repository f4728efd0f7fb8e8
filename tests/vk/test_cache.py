"""The disk cache: private, atomic, checked on load."""

import hashlib
import os
from pathlib import Path

import pytest

from vkarray import configuration
from vkarray.cache import DiskCache


@pytest.fixture
def cache(tmp_path):
    with configuration.config(cache=tmp_path / "cache"):
        yield DiskCache("test-entries")


def entry(cache, key):
    return cache.directory / hashlib.sha256(key.encode()).hexdigest()


def test_entry_comes_back_and_is_counted(cache):
    assert cache.get("key") is None, "an empty cache has an entry"
    cache.put("key", b"content")
    assert cache.get("key") == b"content", "the stored content does not come back"
    counts = cache.statistics()
    assert (counts["hits"], counts["misses"]) == (1, 1), "hits and misses are miscounted"
    assert counts["bytes"] == len(b"content") + 32, "bytes on disk are miscounted"


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
        cache = DiskCache("test-entries")
        cache.put("key", b"content")
        assert cache.get("key") is None, "a cache below a file returns something"


def test_failed_write_leaves_nothing_behind(cache, monkeypatch):
    cache.put("key", b"old")

    def refuse(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    cache.put("key", b"new")
    assert cache.get("key") == b"old", "a write that failed changed the entry"
    assert len(list(cache.directory.iterdir())) == 1, "a write that failed left a temporary file"


def test_without_a_home_nothing_is_kept(monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "home", nowhere)
        for variable in ("VKARRAY_CACHE", "XDG_CACHE_HOME"):
            patch.delenv(variable, raising=False)
        assert configuration.reload().cache is None
        cache = DiskCache("test-entries")
        cache.put("key", b"content")
        assert cache.get("key") is None
        cache.clear()
        assert cache.statistics() == {"hits": 0, "misses": 1, "compiles": 0, "bytes": 0}
    configuration.reload()
