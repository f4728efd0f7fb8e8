"""Draws the picture that the demo leaves behind."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

MARGIN = 16
PALETTE_HEIGHT = 48
DIGIT_SIZE = 40
BACKGROUND, TEXT, RIGHT, WRONG = (24, 24, 27), (228, 228, 231), (134, 239, 172), (252, 165, 165)


def draw(
    photograph: np.ndarray,
    painted: np.ndarray,
    palette: np.ndarray,
    shares: np.ndarray,
    digits: np.ndarray,
    predictions: np.ndarray,
    labels: np.ndarray,
) -> Image.Image:
    """The photograph beside the painted one, the palette by share of the picture, and a row of digits as read.

    ``photograph`` and ``painted`` are uint8 ``(height, width, 3)``, ``palette`` uint8 ``(k, 3)`` with ``shares``
    pixels each, ``digits`` float ``(n, 8, 8)`` in [0, 1] with ``predictions`` and true ``labels``.
    """
    height, width = photograph.shape[:2]
    total_width = 2 * width + 3 * MARGIN
    picture = Image.new("RGB", (total_width, height + PALETTE_HEIGHT + DIGIT_SIZE + 24 + 4 * MARGIN), BACKGROUND)
    picture.paste(Image.fromarray(photograph), (MARGIN, MARGIN))
    picture.paste(Image.fromarray(painted), (width + 2 * MARGIN, MARGIN))
    pen = ImageDraw.Draw(picture)
    top = height + 2 * MARGIN
    _draw_palette(pen, palette, shares, top, total_width - 2 * MARGIN)
    top += PALETTE_HEIGHT + MARGIN
    _draw_digits(picture, pen, digits, predictions, labels, top, total_width)
    return picture


def _draw_palette(pen: ImageDraw.ImageDraw, palette: np.ndarray, shares: np.ndarray, top: int, width: int) -> None:
    order = np.argsort(palette.astype(np.int64) @ np.array([299, 587, 114]))  # from dark to light (luma, BT.601)
    edges = MARGIN + np.round(np.cumulative_sum(shares[order], include_initial=True) / np.sum(shares) * width).astype(
        int
    )
    for number, left, right in zip(order, edges[:-1], edges[1:], strict=True):
        if right > left:
            pen.rectangle((left, top, right - 1, top + PALETTE_HEIGHT - 1), fill=tuple(palette[number].tolist()))


def _draw_digits(
    picture: Image.Image,
    pen: ImageDraw.ImageDraw,
    digits: np.ndarray,
    predictions: np.ndarray,
    labels: np.ndarray,
    top: int,
    width: int,
) -> None:
    font = ImageFont.load_default(18)
    step = DIGIT_SIZE + MARGIN // 2
    for number, left in enumerate(range(MARGIN, width - DIGIT_SIZE - MARGIN + 1, step)):
        if number >= len(digits):
            return
        image = Image.fromarray((digits[number] * 255).astype(np.uint8)).resize(
            (DIGIT_SIZE, DIGIT_SIZE), Image.Resampling.NEAREST
        )
        picture.paste(image, (left, top))
        colour = RIGHT if predictions[number] == labels[number] else WRONG
        pen.text((left + DIGIT_SIZE // 2, top + DIGIT_SIZE + 14), str(predictions[number]), colour, font, anchor="mm")
