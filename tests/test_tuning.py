"""What `vkarray tune` remembers is used, what is damaged or foreign is ignored, and every row it may choose is right."""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from reference import roll

import vkarray as vx
from vkarray.__main__ import main
from vkarray.cache import DiskCache
from vkarray.command import tune, tuned
from vkarray.kernels import tuning
from vkarray.kernels.product import blocks, sums

SHAPE = (96, 96)
KEY = tuning.shape_class("float32", SHAPE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where choices are kept in this test; none are at first."""
    elsewhere = DiskCache.directory
    where = property(lambda self: tmp_path / "tuning" if self.kind == "tuning" else elsewhere.fget(self))
    monkeypatch.setattr(DiskCache, "directory", where)
    tuning._changed()
    yield tmp_path / "tuning"
    monkeypatch.undo()
    tuning._changed()


def default(device) -> blocks.Tile:
    return blocks.choose_tile(device, SHAPE, 64, vx.float32)[0]


def other(device) -> blocks.Tile:
    """A row that fits and is not the default; of the last, whose kernels are small."""
    rows = [tile for tile in blocks.candidates() if blocks.fits(tile, device, SHAPE, vx.float32)]
    return next(tile for tile in reversed(rows) if tile.label != default(device).label)


def restart() -> None:
    """What a new process would have read: nothing yet."""
    tuning._changed()


def test_rows_of_one_label_are_one_kernel() -> None:
    kernels = {(tile.template, tile.shape, tile.block, tile.depth, tile.itemsize): tile for tile in blocks.candidates()}
    assert len({tile.label for tile in kernels.values()}) == len(kernels)


def test_a_choice_is_kept_and_used(folder, device) -> None:
    tile = other(device)
    assert tuning.remember(device, {"product": {KEY: tile.label}})
    restart()
    assert blocks.choose_tile(device, SHAPE, 64, vx.float32)[0] == tile
    assert blocks.choose_tile(device, (4, 4), 64, vx.float32)[0] != tile
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, *SHAPE)).astype(np.float32)
    exact = a.astype(np.float64) @ b
    bound = SHAPE[1] * 2.0**-24 * (np.abs(a).astype(np.float64) @ np.abs(b))
    assert np.all(np.abs(np.asarray(vx.matmul(vx.asarray(a), vx.asarray(b))) - exact) <= bound)


def test_reset_returns_to_the_defaults(folder, device, capsys) -> None:
    before = default(device)
    tuning.remember(device, {"product": {KEY: other(device).label}})
    assert default(device) != before
    assert main(["tune", "--reset"]) == 0
    restart()
    assert default(device) == before
    assert main(["tune", "--show"]) == 0
    assert "Nothing is remembered" in capsys.readouterr().out


def damaged(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize("change", [damaged, lambda content: content[:40], lambda content: b"", lambda content: b"{}"])
def test_a_damaged_file_is_ignored(folder, device, change) -> None:
    before = default(device)
    tuning.remember(device, {"product": {KEY: other(device).label}})
    (path,) = folder.iterdir()
    path.write_bytes(change(path.read_bytes()))
    restart()
    assert default(device) == before


@pytest.mark.parametrize(
    "content", ["no JSON", "[]", '{"product": 1}', '{"product": {"key": ["a list"]}}', "null", "[" * 100_000]
)
def test_another_form_is_ignored(folder, device, content) -> None:
    before = default(device)
    tuning._disk.put(tuning._name(device), content.encode())
    restart()
    assert default(device) == before


@pytest.mark.parametrize("label", ["", "a row of another version", "product/matmul_tiled"])
def test_an_unknown_row_is_ignored(folder, device, label) -> None:
    before = default(device), sums.choose_lanes(device, 100_000)
    lanes = {tuning.length_class(100_000): label or "3"}
    assert tuning.remember(device, {"product": {KEY: label}, "sum of a row": lanes, "a family": {"key": "row"}})
    restart()
    assert (default(device), sums.choose_lanes(device, 100_000)) == before


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are those of POSIX")
def test_a_file_that_others_may_write_is_ignored(folder, device) -> None:
    before = default(device)
    tuning.remember(device, {"product": {KEY: other(device).label}})
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o666)
    restart()
    assert default(device) == before


@dataclass(eq=False)
class Described:
    """As much of a device as its choices depend on."""

    description: SimpleNamespace


@pytest.mark.parametrize("changed", ["uuid", "driver"])
def test_choices_are_those_of_one_device_and_driver(folder, device, changed) -> None:
    tuning.remember(device, {"product": {KEY: "a row"}})
    facts = {"uuid": device.description.uuid, "driver": device.description.driver}
    same = Described(SimpleNamespace(**facts))
    elsewhere = Described(SimpleNamespace(**facts | {changed: "another"}))
    assert tuning.choice(same, "product", KEY) == "a row"
    assert tuning.choice(elsewhere, "product", KEY) is None


def test_trying_ends_with_its_block(folder, device) -> None:
    before, tile = default(device), other(device)
    with tuning.trying("product", tile.label):
        assert default(device) == tile
        with tuning.trying("product", ""):
            assert default(device) == before
        assert default(device) == tile
    assert default(device) == before


def test_every_row_is_right_and_the_fastest_is_remembered(folder, device, capsys, monkeypatch) -> None:
    roll(monkeypatch, device)
    # Too small for the largest rows, whose compilation takes llvmpipe half a minute; test_matmul.py runs those.
    kind = "cpu" if device.limits.is_cpu else "gpu"
    monkeypatch.setitem(tuned._SHAPES, kind, ((24, 33, 28), (33, 16, 40)))
    monkeypatch.setitem(tuned._SUMS, kind, ((70, 65),))
    assert main(["tune"]) == 0
    printed = capsys.readouterr().out
    assert "wrong" not in printed
    shown = {label for label in (tile.label for tile in blocks.candidates()) if f"\n    {label} " in printed}
    assert len(shown) >= len(blocks.CPU_TILES)
    assert all(f"\n    {lanes} " in printed for lanes in sums.lane_choices(device))
    chosen = tuning.remembered(device)
    assert sum(line.strip().endswith("µs  chosen") for line in printed.splitlines()) == sum(map(len, chosen.values()))
    assert all(
        tuning.choice(device, family, key) == label for family, table in chosen.items() for key, label in table.items()
    )


def test_a_wrong_row_is_never_chosen(folder, device, capsys, monkeypatch) -> None:
    kind = "cpu" if device.limits.is_cpu else "gpu"
    monkeypatch.setitem(tuned._SHAPES, kind, ())
    monkeypatch.setitem(tuned._SUMS, kind, ((70, 65),))
    right = vx.matmul
    monkeypatch.setattr(vx, "matmul", lambda a, b: right(a, b) + (tuning.choice(device, "sum of a row", "") == "4"))
    assert main(["tune"]) == 1
    assert "    4: the result is wrong" in capsys.readouterr().out
    assert "4" not in tuning.remembered(device).get("sum of a row", {}).values()


def test_a_cache_that_cannot_be_written_is_named(folder, device, capsys, monkeypatch) -> None:
    folder.write_text("a file in the way of the folder")
    monkeypatch.setattr(tune, "_best", lambda device, family, problem: ("a row", True))
    assert main(["tune"]) == 1
    assert "The choices cannot be kept: the cache " in capsys.readouterr().out
    assert tuning.remembered(device) == {}


def test_choices_that_cannot_be_forgotten_still_hold(folder, device, capsys, monkeypatch) -> None:
    choices = {"product": {KEY: other(device).label}}
    assert tuning.remember(device, choices)
    monkeypatch.setattr(DiskCache, "put", lambda self, key, content: None)
    assert main(["tune", "--reset"]) == 1
    assert "The choices cannot be forgotten: the cache " in capsys.readouterr().out
    assert tuning.remembered(device) == choices
