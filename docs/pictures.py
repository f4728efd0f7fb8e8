"""Draw the two pictures of the README, docs/pictures: what the programs of the gallery made, and how fast vkarray is.

Run it after `./dev docs`, which runs the programs.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image, ImageOps

FOLDER = Path(__file__).parent
PROGRAMS = (
    ("quaternions", "fluid", "galaxies"),
    ("fractal", "photograph", "waves"),
    ("attractor", "classifier", "drum"),
)
SIDE, GAP = 208, 8


def programs() -> None:
    """The middle of each picture, in rows of three."""
    whole = Image.new("RGB", (3 * SIDE + 2 * GAP, 3 * SIDE + 2 * GAP), "white")
    for row, names in enumerate(PROGRAMS):
        for column, name in enumerate(names):
            with Image.open(FOLDER / f"generated/gallery/images/sphx_glr_{name}_001.png") as picture:
                part = ImageOps.fit(picture.convert("RGB"), (SIDE, SIDE))
            whole.paste(part, (column * (SIDE + GAP), row * (SIDE + GAP)))
    whole.save(FOLDER / "pictures/programs.jpg", quality=88, optimize=True)


def speed() -> None:
    """The median of the ratios of each chapter, as bars for each library."""
    report = json.loads((FOLDER.parent / "benchmarks/nvidia-h200.json").read_text(encoding="utf-8"))
    chapters = list(dict.fromkeys(row["chapter"] for row in report["rows"]))[::-1]
    figure, place = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for offset, peer, colour in ((0.2, "PyTorch CUDA", "#1f77b4"), (-0.2, "CuPy", "#9ec3e6")):
        ratios = [
            statistics.median(row["ratios"][peer] for row in report["rows"]
                              if row["chapter"] == chapter and peer in row["ratios"])
            for chapter in chapters
        ]  # fmt: skip
        bars = place.barh([index + offset for index in range(len(chapters))], ratios, 0.38, color=colour, label=peer)
        # Some lie on the line at 1.
        place.bar_label(bars, fmt="%.2f", padding=3, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    place.axvline(1.0, color="black", linewidth=0.8, zorder=0)
    place.set_yticks(range(len(chapters)), chapters)
    place.set_title(f"Time of the other library over vkarray's, on one {report['device']}\n"
                    "(median of each chapter; longer is better, 1 is level)", fontsize=11)  # fmt: skip
    place.spines[["top", "right"]].set_visible(False)
    place.legend(loc="lower right", frameon=False)
    figure.savefig(FOLDER / "pictures/speed.png", dpi=110)


if __name__ == "__main__":
    (FOLDER / "pictures").mkdir(exist_ok=True)
    programs()
    speed()
