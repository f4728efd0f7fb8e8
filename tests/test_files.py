"""Files of NumPy's formats, written and read by vkarray and by NumPy."""

from __future__ import annotations

import contextlib
import io
import random
import resource
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from reference import random_values, supported

import vkarray as vx
from vkarray.core.dtypes import DTYPES
from vkarray.errors import FeatureError

STORED = [dtype for dtype in supported(DTYPES.values()) if dtype is not vx.bfloat16]


@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_every_type_round_trips(dtype, tmp_path: Path) -> None:
    values = random_values(dtype, 60).reshape(3, 4, 5)
    x = vx.asarray(values)
    for number, (view, host) in enumerate(
        ((x, values), (x[::-1, 1:, ::2], values[::-1, 1:, ::2]), (x[0, 0, 0], values[0, 0, 0]))
    ):
        path = tmp_path / f"array{number}.npy"
        vx.save(path, view)
        np.testing.assert_array_equal(np.load(path), host, strict=False)
        read = vx.load(path)
        assert read.dtype is dtype
        assert read.shape == host.shape
        assert np.asarray(read).tobytes() == host.tobytes()
    np.save(tmp_path / "other.npy", np.asfortranarray(values.astype(values.dtype.newbyteorder(">"))))
    np.testing.assert_array_equal(np.asarray(vx.load(tmp_path / "other.npy")), values)


@pytest.mark.parametrize("compressed", [False, True])
def test_several_arrays(compressed: bool, tmp_path: Path) -> None:
    x, y = vx.asarray([[1, 2], [3, 4]], dtype=vx.int16), vx.zeros((0, 3))
    path = tmp_path / "arrays.npz"
    vx.savez(path, x, vx.asarray(True), compressed=compressed, y=y)
    with np.load(path) as found:
        assert sorted(found.files) == ["arr_0", "arr_1", "y"]
    read = vx.load(path)
    assert set(read) == {"y", "arr_0", "arr_1"}
    assert read["arr_0"].tolist() == [[1, 2], [3, 4]]
    assert read["arr_0"].dtype is vx.int16
    assert read["arr_1"].item() is True
    assert read["y"].shape == (0, 3)


def test_open_files_and_suffixes(tmp_path: Path) -> None:
    memory = io.BytesIO()
    vx.save(memory, vx.arange(5))
    vx.save(memory, vx.arange(3))
    memory.seek(0)
    assert [vx.load(memory).tolist(), vx.load(memory).tolist()] == [[0, 1, 2, 3, 4], [0, 1, 2]]
    vx.save(tmp_path / "plain", vx.arange(5))
    vx.savez(str(tmp_path / "several"), vx.arange(5))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain.npy", "several.npz"]


def test_a_million_numbers(tmp_path: Path) -> None:
    values = random_values(vx.float32, 1_000_000)
    vx.save(tmp_path / "x.npy", vx.asarray(values))
    assert (tmp_path / "x.npy").stat().st_size == values.nbytes + 128
    np.testing.assert_array_equal(np.asarray(vx.load(tmp_path / "x.npy")), values)


@contextlib.contextmanager
def no_more_than(nbytes: int) -> Iterator[None]:
    """Files of this process end there, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [10, 100, 100_000])
@pytest.mark.parametrize("save", [vx.save, vx.savez])
def test_a_file_that_cannot_be_written_to_its_end_is_an_error(save, size: int, tmp_path: Path) -> None:
    x = vx.arange(size, dtype=vx.int32)
    with no_more_than(100), pytest.raises(OSError, match="File too large"):
        save(tmp_path / "x", x)
    with no_more_than(100), pytest.raises(OSError, match="File too large"), open(tmp_path / "open", "wb") as opened:
        save(opened, x)
    with no_more_than(100), pytest.raises(OSError, match="File too large"), open(tmp_path / "raw", "wb", 0) as opened:
        save(opened, x)


def test_files_that_take_a_part_at_once(tmp_path: Path) -> None:
    class Slow(io.BytesIO):
        def write(self, data):
            return super().write(data[:7])

    file = Slow()
    vx.save(file, vx.arange(50))
    np.testing.assert_array_equal(np.load(io.BytesIO(file.getvalue())), np.arange(50))


def test_errors(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    with pytest.raises(
        TypeError, match=r"^save: expected vkarray arrays, got ndarray\. Convert it with vkarray\.asarray\.$"
    ):
        vx.save(path, np.ones(3))
    with pytest.raises(TypeError, match=r"^savez: expected vkarray arrays, got ndarray"):
        vx.savez(path, np.ones(3))
    with pytest.raises(TypeError, match=r"^save: NumPy's format has no bfloat16"):
        vx.save(path, vx.zeros(3, dtype=vx.bfloat16))
    with pytest.raises(ValueError, match=r"^savez: arr_0 is the name of an array without one; give it another\.$"):
        vx.savez(path, vx.zeros(1), arr_0=vx.zeros(1))
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        vx.load(path)
    path.write_bytes(b"no array")
    with pytest.raises(
        ValueError, match=r"^load: .*x\.npy is not a whole file .* it holds Python objects or something"
    ):
        vx.load(path)
    np.save(path, np.array(["text"]))
    with pytest.raises(
        TypeError, match=r"^load: .*x\.npy holds values of NumPy's dtype\('<U4'\); expected one of bool, "
    ):
        vx.load(path)
    np.save(path, np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"^load: .* it holds Python objects or something"):
        vx.load(path)
    np.save(path, np.zeros(3))
    if vx.float64 not in STORED:
        with pytest.raises(FeatureError, match=r"^asarray: .* has no shaderFloat64"):
            vx.load(path)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    path, archive = tmp_path / "x.npy", tmp_path / "x.npz"
    vx.save(path, vx.arange(1000))
    vx.savez(archive, vx.arange(1000), compressed=True)
    whole = {file: file.read_bytes() for file in (path, archive)}
    for file, content in whole.items():
        for damaged in (b"", content[:5], content[:40], content[:-200]):
            file.write_bytes(damaged)
            with pytest.raises(ValueError, match=rf"^load: .*{file.name} is not a whole file"):
                vx.load(file)
    middle = len(whole[archive]) // 2
    archive.write_bytes(whole[archive][:middle] + bytes(4) + whole[archive][middle + 4 :])
    with pytest.raises(ValueError, match=r"^load: .*x\.npz is not a whole file"):
        vx.load(archive)
    with pytest.raises(ValueError, match=r"^load: .*BytesIO.* is not a whole file"):
        vx.load(io.BytesIO(whole[path][:300]))


# --- what damage makes of files --------------------------------------------------------------------------------------


def originals() -> dict[str, bytes]:
    """Whole files of every kind, small ones, so that damage meets every part of them."""
    made = {}
    for dtype in STORED[:: max(len(STORED) // 5, 1)]:
        file = io.BytesIO()
        vx.save(file, vx.asarray(random_values(dtype, 12).reshape(3, 4)))
        made[f"{dtype}.npy"] = file.getvalue()
    for version in ((2, 0), (3, 0)):
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asfortranarray(np.arange(6.0, dtype=np.float32).reshape(2, 3)), version)
        made[f"version {version[0]}.npy"] = file.getvalue()
    for compressed in (False, True):
        file = io.BytesIO()
        vx.savez(file, vx.arange(20), vx.zeros((2, 2)), compressed=compressed, z=vx.asarray(True))
        made[f"{'compressed' if compressed else 'plain'}.npz"] = file.getvalue()
    return made


ORIGINALS = originals()


def mutations(content: bytes, count: int):
    """The content cut off, with bits flipped, and with bytes removed, added, repeated or set to what readers trip over."""
    generator = random.Random(14)
    for _ in range(count):
        data = bytearray(content)
        for _ in range(generator.choice([1, 1, 1, 3])):
            start = generator.randrange(len(data) + 1)
            end = min(len(data), start + generator.choice([1, 1, 2, 4, 8, 40]))
            match generator.randrange(7):
                case 0:
                    data[start : start + 1] = bytes([generator.randrange(256)])
                case 1:
                    del data[start:end]
                case 2:
                    data[start:end] = generator.choice([b"\0", b"\xff", b"9", b"-", b"(", b"'", b"L"]) * (end - start)
                case 3:
                    data[start:start] = data[start:end]
                case 4:
                    data[start:start] = generator.randbytes(end - start)
                case 5:
                    for place in range(start, end):
                        data[place] ^= 1 << generator.randrange(8)
                case 6:
                    del data[start:]
        yield bytes(data)


def bits(loaded) -> dict[str, tuple]:
    arrays = loaded if isinstance(loaded, dict) else {"": loaded}
    return {name: (array.dtype, array.shape, np.asarray(array).tobytes()) for name, array in arrays.items()}


@pytest.mark.parametrize("name", ORIGINALS)
def test_damage_is_a_value_error_or_no_damage(name: str, tmp_path: Path) -> None:
    content = ORIGINALS[name]
    path = tmp_path / name
    path.write_bytes(content)
    whole, refused = bits(vx.load(path)), 0
    for number, damaged in enumerate(mutations(content, 300)):
        path.write_bytes(damaged)
        try:
            loaded = vx.load(path)
        except ValueError as error:
            assert str(error).startswith(f"load: {path} is not a whole file"), f"case {number}: {error}"  # noqa: PT017
            refused += 1
            continue
        except (TypeError, FeatureError):  # the header names another type, of as many bytes
            assert name.endswith(".npy"), f"case {number}"
            np.load(path)
            continue
        if name.endswith(".npz"):  # has checksums
            assert bits(loaded) == whole, f"case {number}: other values than were saved"
        else:
            np.testing.assert_array_equal(np.asarray(loaded), np.load(path), f"case {number}")
    assert refused > 150, "hardly any damage is seen"


def header(text: str | bytes, length: int | None = None, version: bytes = b"\2\0") -> bytes:
    content = text.encode() if isinstance(text, str) else text
    size = len(content) if length is None else length
    return b"\x93NUMPY" + version + size.to_bytes(4 if version[0] > 1 else 2, "little") + content


def of_shape(shape: str, descr: str = "'<f4'") -> bytes:
    return header(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")


def zipped(content: bytes, method: int = zipfile.ZIP_STORED, names: tuple[str, ...] = ("x.npy",)) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name in names:
            archive.writestr(name, content)
    return file.getvalue()


def encrypted(content: bytes) -> bytes:
    """With the flag of a password in both headers of the first member."""
    data = bytearray(content)
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


GOOD = of_shape("(3,)") + bytes(12)
DAMAGED = {
    "8 TiB": of_shape(f"({1 << 41},)") + bytes(64),
    "more than there are addresses": of_shape(f"({1 << 61}, {1 << 61})"),
    "a number of a thousand digits": of_shape(f"({'9' * 1000},)"),
    "a header of 4 GiB": header("{}", (1 << 32) - 1),
    "open brackets": header("(" * 9000),
    "nested brackets": header("[" * 150 + "]" * 150),
    "many signs": header("-" * 9000 + "1"),
    "no dictionary": header("3"),
    "a call": header("__import__('os').abort()"),
    "text without an end": header('{"descr": """'),
    "a backslash": header("{\\"),
    "a zero byte": header("{\0}"),
    "no UTF-8": header(b"{'descr': '\xff'}", version=b"\3\0"),
    "another version": header("{}", version=b"\x09\x09"),
    "keys that are missing": header("{'descr': '<f4'}"),
    "keys that are too many": header("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}") + bytes(4),
    "a negative length": of_shape("(-3,)"),
    "a length that is no whole number": of_shape("(3.0,)") + bytes(12),
    "a shape that is a list": of_shape("[3]") + bytes(12),
    "65 dimensions": of_shape(str((1,) * 65)) + bytes(4),
    "a type that is none": of_shape("(3,)", "'<q9'") + bytes(99),
    "a type of 8 EiB": of_shape("(3,)", "'V9223372036854775807'"),
    "a type of types": of_shape("(3,)", "[" * 90 + "]" * 90),
    "objects": of_shape("(3,)", "'|O'") + bytes(24),
    "objects in a structure": of_shape("(1,)", "[('x', '|O')]") + bytes(8),
    "too few bytes": GOOD[:-1],
    "too many bytes": GOOD + b"\0",
    "booleans of 7": of_shape("(3,)", "'|b1'") + b"\0\1\7",
    "the beginning": b"\x93NUMPY",
    "a pickle": b"\x80\4N.",
    "a script": b"#!/bin/sh\n",
    "compressed by LZMA": zipped(GOOD, zipfile.ZIP_LZMA),
    "compressed by bzip2": zipped(GOOD, zipfile.ZIP_BZIP2),
    "compressed by LZMA, cut off": zipped(GOOD, zipfile.ZIP_LZMA)[:50],
    "with a password": encrypted(zipped(GOOD)),
    "8 TiB in an archive": zipped(of_shape(f"({1 << 41},)"), zipfile.ZIP_DEFLATED),
    "text in an archive": zipped(b"text", names=("x.txt",)),
    "a folder in an archive": zipped(b"", names=("folder/",)),
    "one name twice": zipped(GOOD, names=("x", "x.npy")),
    "too many bytes in an archive": zipped(GOOD + b"\0"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_are_refused_and_take_no_memory(case: str, tmp_path: Path) -> None:
    path = tmp_path / "x.np"
    path.write_bytes(DAMAGED[case])
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"^load: .*{path.name} is not a whole file of NumPy's formats"):
            vx.load(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 23, "a file of a few bytes takes megabytes of memory"
    finally:
        tracemalloc.stop()


def test_an_archive_of_no_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz")
    assert vx.load(tmp_path / "x.npz") == {}


@pytest.mark.parametrize(
    "text",
    [
        "{'shape':(3,),'fortran_order':False,'descr':'<f4'}",
        '{"descr": "<f4", "fortran_order": False, "shape": (3L,)}   \n',
        "{'descr': '=f4', 'fortran_order': True, 'shape': (3,), }\n",
    ],
)
def test_headers_of_other_writers(text: str) -> None:
    assert vx.load(io.BytesIO(header(text) + bytes(12))).shape == (3,)


def test_what_is_no_file_of_bytes(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"^load: expected a file open for bytes, .* gives str"):
        vx.load(io.StringIO("text"))
    with pytest.raises(TypeError):
        vx.load(3.5)
    with pytest.raises(IsADirectoryError):
        vx.load(tmp_path)
