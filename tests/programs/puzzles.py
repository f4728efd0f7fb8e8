"""Puzzles whose inputs are texts: grids of digits, drawn lines, numbers that spread, a folded sheet."""

from __future__ import annotations

from typing import Any

HEIGHTS = "30373\n25512\n65332\n33549\n35390"
LINES = "0,9 -> 5,9\n8,0 -> 0,8\n9,4 -> 3,4\n2,2 -> 2,1"


def main(np: Any) -> dict[str, Any]:
    trees = np.array([list(row) for row in HEIGHTS.split("\n")], dtype=int)
    visible = np.zeros(trees.shape, dtype=bool)
    for quarter in range(4):
        turned, seen = np.rot90(trees, quarter), np.rot90(visible, quarter)
        seen[0] = True
        seen[1:] |= turned[1:] > np.maximum.accumulate(turned, axis=0)[:-1]

    field = np.zeros((10, 10), int)
    for line in LINES.splitlines():
        x1, y1, x2, y2 = np.array(line.replace(" -> ", ",").split(","), dtype=int)
        count = max(abs(x2 - x1), abs(y2 - y1)) + 1
        field[np.linspace(y1, y2, count).astype(int), np.linspace(x1, x2, count, dtype=int)] += 1

    fish = np.bincount(np.array("3 4 3 1 2".split(), dtype=int), minlength=9)
    for _ in range(80):
        fish = np.roll(fish, -1)
        fish[6] += fish[8]

    sheet = np.zeros((5, 5), dtype=np.uint8)
    for x, y in ((0, 0), (4, 1), (2, 4), (3, 3)):
        sheet[y, x] = "1"
    folded = sheet[:2] | np.flipud(sheet[3:])

    bits = np.array([list(row) for row in ("00100", "11110", "10110", "10111", "10101")], dtype=np.uint8)
    common = (bits.mean(axis=0) > 0.5).astype(int)
    rows = np.mgrid[0:3, 0 : np.int32(4)]
    return {
        "visible": visible, "seen": int(visible.sum()), "field": field, "fish": fish.sum(), "folded": folded,
        "picture": ["".join("#" if dot else "." for dot in row) for row in folded],
        "gamma": common.dot(1 << np.arange(5)[::-1]), "grid": rows, "lowest": np.argwhere(trees == trees.min()).tolist(),
        "sums": np.add.reduceat(trees.sum(axis=1), [0, 2, 3]), "lower": np.tril([1, 2, 3]),
    }  # fmt: skip
