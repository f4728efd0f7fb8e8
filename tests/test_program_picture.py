"""`vkarray show --svg`: boxes that do not overlap, edges downwards, and what boxes tell of a program."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import vkarray as vx
from vkarray.__main__ import main
from vkarray.programs import picture
from vkarray.programs.layers import layers

SVG = "{http://www.w3.org/2000/svg}"


def graph_of(seed: int) -> tuple[int, list[tuple[int, int]]]:
    """A random graph: some nodes depend on several before, some on none."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 60))
    edges = {
        (int(rng.integers(max(end - 9, 0), end)), end) for end in range(1, count) for _ in range(rng.integers(0, 4))
    }
    return count, sorted(edges)


@pytest.mark.parametrize("seed", range(20))
def test_nodes_stand_apart_and_below_what_they_depend_on(seed: int) -> None:
    count, edges = graph_of(seed)
    placed = layers(count, edges, 100.0, 10.0)
    assert len(placed.layer) == len(placed.middle) == count
    for (begin, end), bends in zip(edges, placed.bends, strict=True):
        assert placed.layer[begin] < placed.layer[end]
        assert len(bends) == placed.layer[end] - placed.layer[begin] - 1
    rows: dict[int, list[tuple[float, float]]] = {}
    for layer, middle in zip(placed.layer, placed.middle, strict=True):
        rows.setdefault(layer, []).append((middle, 100.0))
    assert sorted(rows) == list(range(len(rows)))
    for (begin, _), bends in zip(edges, placed.bends, strict=True):  # no edge runs through a box
        for layer, x in enumerate(bends, placed.layer[begin] + 1):
            rows[layer].append((x, 0.0))
    for row in rows.values():
        row.sort()
        assert all(b - a >= (v + w) / 2 + 10 - 1e-6 for (a, v), (b, w) in itertools.pairwise(row))


def test_a_chain_is_a_straight_line() -> None:
    placed = layers(300, [(number, number + 1) for number in range(299)], 50.0, 10.0)
    assert placed.layer == list(range(300))
    assert len(set(placed.middle)) == 1


def test_a_long_way_round_does_not_bend_the_short_one() -> None:
    edges = [(number, number + 1) for number in range(20)] + [(2, 9), (9, 16)]
    placed = layers(21, edges, 50.0, 10.0)
    assert max(placed.middle) - min(placed.middle) < 10


@pytest.fixture
def program(tmp_path: Path) -> Path:
    w, b = vx.ones((16, 8)), vx.ones(8)

    def net(x, mask, factor):
        y = vx.empty((x.shape[0], 8))
        y[...] = vx.tanh(x @ w + b) * factor
        q, r = vx.linalg.qr(y.T @ y)
        return {"<best>": vx.where(mask, y, 0), "q": q, "r": r, "same": x}

    made = vx.Program(
        net, (vx.ones((4, 16)), vx.ones((4, 8), dtype=bool), 2.0),
        dynamic={"x": {0: vx.Dim("batch", max=9)}, "mask": {0: vx.Dim("batch", max=9)}},
    )  # fmt: skip
    made.save(tmp_path / "net.vkp", targets=())
    return tmp_path / "net.vkp"


def test_boxes_tell_types_shapes_and_weights(program: Path) -> None:
    boxes, edges = picture.graph(vx.load_program(program))
    told = {box.lines[0]: box for box in boxes}
    assert told["x"].lines == ["x", "(batch, 16) float32"]
    assert told["matmul"].lines[1] in ("(batch, 8) float32", "(8, 8) float32")
    weighted = [box for box in boxes if box.weights]
    assert [box.lines[1:] for box in weighted] == [
        ["(batch, 8) float32", "(16, 8) float32, 512 B"],
        ["(batch, 8) float32", "(8,) float32, 32 B"],
    ]
    assert told["T"].lines[1] == "(8, batch) float32"
    assert told["linalg.qr"].lines[1:] == ["(8, 8) float32"] * 2
    assert "factor" not in told  # a number
    assert "test_program_picture.py:" in told["linalg.qr"].whole
    by_name = [(boxes[begin].lines[0], boxes[end].lines[0]) for begin, end in edges]
    assert {("setitem", "where"), ("mask", "where"), ("where", "<best>"), ("x", "same"), ("linalg.qr", "r")} <= set(
        by_name
    )
    assert [box.lines[0] for box in boxes if box.kind == "output"] == ["<best>", "q", "r", "same"]


def test_the_command_draws(program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(program), f"--svg={tmp_path}/net.svg"]) == 0
    root = ElementTree.parse(tmp_path / "net.svg").getroot()
    groups = root.findall(f"{SVG}g")
    assert len(groups) == len(picture.graph(vx.load_program(program))[0])
    assert any("<best>" in (text.text or "") for text in root.iter(f"{SVG}text"))
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    left = float(re.split(r"\s", root.attrib["viewBox"])[0])
    for group in groups:
        (box,) = group.findall(f"{SVG}rect")
        x, y, w, h = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert left < x < x + w < left + width
        assert 0 < y < y + h < height
    assert main(["show", str(program), "--svg=/nowhere/net.svg"]) == 2
    assert "/nowhere/net.svg" in capsys.readouterr().err


def test_a_program_without_calls_has_a_picture() -> None:
    assert picture.svg(vx.Program(lambda x: x, (vx.ones(3),))).count("<g>") == 2
