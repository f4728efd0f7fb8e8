"""Files of NumPy's formats, written and read by vkarray and by NumPy."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from reference import random_values, supported

import vkarray as vx
from vkarray.dtypes import DTYPES
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


def test_errors(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    with pytest.raises(
        TypeError, match=r"^save: expected vkarray arrays, got list\. Convert it with vkarray\.asarray\.$"
    ):
        vx.save(path, [1, 2])
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
    with pytest.raises(TypeError, match=r"^asarray: expected numbers"):
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
