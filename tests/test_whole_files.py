"""Files that are written in one step: Ctrl-C at every place, and full disks, leave the one before or the new one, and no other."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).with_name("vk")))
from strikes import Strike

import vkarray as vx
from vkarray import cache, whole_files
from vkarray.programs import container

FILES = {module.__file__ for module in (cache, container, whole_files)}
OLD, NEW = b"old" * 100, b"new" * 1000


def cached(folder: Path):
    """What writes content into a cache, reads it, and the folder where it lies."""
    made = cache.DiskCache("of-a-test", lambda content: True)
    cache._kinds.pop("of-a-test")
    return lambda content: made.put("key", content), lambda: made.get("key"), folder / "of-a-test"


def program(folder: Path):
    path = folder / "program.vkp"

    def write(content: bytes) -> None:
        container.write(path, {"program": content, "weights": b"", "shaders": b"1"})

    def read() -> bytes | None:
        return bytes(container.Container(path).parts["program"]) if path.exists() else None

    return write, read, folder


@pytest.fixture(params=[cached, program])
def kind(request, tmp_path):
    with vx.config(cache=tmp_path):
        yield request.param(tmp_path)


def interrupt() -> None:
    raise KeyboardInterrupt


# A file that was opened when the interrupt struck before its `with` is closed when it is dropped, of which Python warns.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("before", [None, OLD], ids=["new", "replaced"])
def test_interrupt_at_every_place(kind, before):
    write, read, folder = kind
    umask = os.umask(0o022)
    try:
        for place in range(1, 1000):
            for path in folder.glob("*"):
                path.unlink()
            if before is not None:
                write(before)
            try:
                with Strike(place, interrupt, FILES) as strike:
                    write(NEW)
                assert strike.where is None, f"{strike.where}: the interrupt was lost"
                assert read() == NEW
                break
            except KeyboardInterrupt:
                pass
            assert read() in (before, NEW), strike.where
            assert len(list(folder.glob("*"))) == (read() is not None), f"{strike.where}: a file is left behind"
        assert 10 < place < 999
        assert os.umask(0o022) == 0o022, "the interrupt has changed the process"
    finally:
        os.umask(umask)


@pytest.mark.parametrize("function", ["open", "write", "replace"])
def test_a_disk_that_fails(kind, monkeypatch, function):
    write, read, folder = kind
    write(OLD)

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    if function == "write":
        monkeypatch.setattr(
            whole_files, "open", lambda *arguments, **options: Failing(*arguments, **options), raising=False
        )
    else:
        monkeypatch.setattr(whole_files.os, function, fail)
    is_cache = write.__qualname__.startswith("cached")
    with (
        contextlib.nullcontext() if is_cache else pytest.raises(OSError, match="No space")
    ):  # a cache need not be written
        write(NEW)
    monkeypatch.undo()
    assert read() == OLD
    assert len(list(folder.glob("*"))) == 1


class Failing:
    """A file on a full disk: what was written is found not to fit when it is closed."""

    def __init__(self, *arguments: object, **options: object) -> None:
        self.file = open(*arguments, **options)  # noqa: SIM115

    def __enter__(self):
        return self

    def write(self, data: bytes) -> None:
        self.file.write(data[:10])

    def __exit__(self, *_: object) -> None:
        self.file.close()
        raise OSError(28, "No space left on device")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no permissions of this kind")
def test_who_may_read(tmp_path):
    umask = os.umask(0o027)
    try:
        whole_files.write(tmp_path / "of all", [b"1"])
        whole_files.write(tmp_path / "private", [b"1"], mode=0o600)
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "of all").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="Windows has neither these links nor these files")
def test_what_a_path_leads_to(tmp_path):
    """A link stays, and so does what is no file; an error names the path that was given."""
    program = vx.Program(lambda x: x + 1, (vx.ones(3),))
    (tmp_path / "link.vkp").symlink_to(tmp_path / "linked.vkp")
    for _ in range(2):
        program.save(tmp_path / "link.vkp")
        assert (tmp_path / "link.vkp").is_symlink()
        assert vx.load_program(tmp_path / "linked.vkp").name == program.name
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    program.save(tmp_path / "pipe", targets=())
    assert os.read(reader, 8) == container.SIGNATURE
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    for path in (tmp_path / "no" / "such.vkp", tmp_path):
        with pytest.raises(OSError, match=r"No such file|Is a directory") as error:
            program.save(path)
        assert error.value.filename == str(path)
        assert error.value.filename2 is None
