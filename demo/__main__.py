"""Quantise the colours of a photograph and train a classifier of handwritten digits, on a Vulkan device.

Every stage runs with vkarray and with NumPy, from the same start; a difference beyond the limit in the table, or a
classifier that reads too few digits, makes the exit status 1.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_sample_image

from . import colours, digits, picture
from .report import Report

DIGITS_TO_TRAIN_ON = 1400
LEAST_ACCURACY = 0.95


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    library = importlib.import_module(options.library)
    information = library.__array_namespace_info__()
    print(f"{options.library} {library.__version__} on {information.default_device()}\n", flush=True)
    report = Report(library)
    random = np.random.default_rng(options.seed)

    print(f"The photograph {options.photograph}, in {options.colours} colours")
    photograph = load_sample_image(options.photograph)
    painted, palette, shares = quantise(report, photograph, options.colours, options.steps, random)

    print("Handwritten digits, 8 x 8 pixels")
    images, predictions, labels, weights = read_digits(report, options.passes, random)

    options.output.parent.mkdir(parents=True, exist_ok=True)
    program = options.output.parent / "digits.vkp"
    digits.reader(*weights).save(program, targets=())  # vkarray itself has the shaders
    picture.draw(photograph, painted, palette, shares, images, predictions, labels).save(options.output)
    accuracy = float(np.mean(predictions == labels))
    print(
        f"\n{report.table()}\nThe difference is the largest of any element of the results (of colours: on the scale of 0 to 255)."
    )
    print("Times include the preparation of kernels, which is kept for the next run.\n")
    print(f"Digits read correctly: {accuracy:.1%} of {len(labels)} (at least {LEAST_ACCURACY:.0%} wanted)")
    print(f"Picture: {options.output}")
    print(f"Program that reads digits: {program}")
    return 0 if report.passed and accuracy >= LEAST_ACCURACY else 1


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "./dev demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--output", type=Path, default=Path("demo-output/demo.png"), help="picture to write (%(default)s)"
    )
    parser.add_argument("--photograph", choices=("china.jpg", "flower.jpg"), default="china.jpg", help="(%(default)s)")
    parser.add_argument("--colours", type=int, default=16, metavar="N", help="colours of the palette (%(default)s)")
    parser.add_argument("--steps", type=int, default=20, metavar="N", help="steps of k-means (%(default)s)")
    parser.add_argument(
        "--passes", type=int, default=25, metavar="N", help="training passes over the digits (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random choices (%(default)s)")
    parser.add_argument("--library", default="vkarray", help="array API library to show (%(default)s)")
    return parser.parse_args(arguments)


def quantise(
    report: Report, photograph: np.ndarray, count: int, steps: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The photograph in ``count`` colours, the palette ``(count, 3)`` and how many pixels have each colour."""
    planes = np.ascontiguousarray(photograph.reshape(-1, 3).T)
    whole = planes.astype(np.int32)
    sample = np.ascontiguousarray(whole[:, :: whole.shape[1] // 8192])
    (start,) = report.run(
        "seeding, k-means++ (whole numbers)", colours.seed, sample, chances=random.random(count).tolist(), limit=0
    )
    (centres,) = report.run(
        "clustering, k-means",
        colours.cluster,
        planes.astype(np.float32),
        start.astype(np.float32),
        steps=steps,
        limit=0.5,
    )
    palette = np.round(centres).astype(np.int32)
    painted, shares = report.run("painting (whole numbers)", colours.paint, whole, palette, limit=0)
    return painted.T.reshape(photograph.shape), palette.T.astype(np.uint8), shares


def read_digits(
    report: Report, passes: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    """The images that were not trained on, ``(n, 8, 8)``, what the classifier reads there, the truth, and its weights."""
    data = load_digits()
    order = random.permutation(len(data.target))
    images, labels = (data.data[order] / 16).astype(np.float32), data.target[order].astype(np.int32)
    start = [
        (random.standard_normal(shape) / 8).astype(np.float32) if len(shape) == 2 else np.zeros(shape, dtype=np.float32)
        for shape in ((64, 64), (64,), (64, 10), (10,))
    ]
    weights = report.run(
        "training, 64-64-10 network",
        digits.train,
        images[:DIGITS_TO_TRAIN_ON],
        labels[:DIGITS_TO_TRAIN_ON],
        *start,
        orders=[random.permutation(DIGITS_TO_TRAIN_ON).tolist() for _ in range(passes)],
        batch=100,
        rate=0.1,
        momentum=0.9,
        limit=1e-3,
    )
    unseen = images[DIGITS_TO_TRAIN_ON:]
    predictions, _ = report.run("classifying unseen digits", digits.classify, unseen, *weights, limit=1e-5)
    return unseen.reshape(-1, 8, 8), predictions, labels[DIGITS_TO_TRAIN_ON:], weights


if __name__ == "__main__":
    sys.exit(main())
