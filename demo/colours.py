"""Quantise the colours of a photograph with k-means: seeding, clustering, painting.

Pixels are held as planes, shape ``(3, pixels)``, so that every pass runs along memory. Seeding and painting work on
8-bit colours in whole numbers and must agree with NumPy exactly; clustering works in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

Announce = Callable[[str], None]


def with_ones(xp: ModuleType, pixels: Any) -> Any:
    """The pixels with a plane of ones below: ``(3, n)`` to ``(4, n)``."""
    return xp.concat([pixels, xp.ones_like(pixels[:1, :])], axis=0)


def scores(xp: ModuleType, pixels: Any, colours: Any) -> Any:
    """How far each pixel is from each colour: ``(4, n)`` and ``(3, k)`` to ``(k, n)``, as one matrix product.

    |p - c|^2 is |c|^2 - 2 c.p + |p|^2, and without the last term, which says nothing about which colour is nearest, it is
    a product of the colour (-2 c, |c|^2) with the pixel (p, 1).
    """
    lengths = xp.sum(colours * colours, axis=0, keepdims=True, dtype=colours.dtype)
    return xp.matrix_transpose(xp.concat([-2 * colours, lengths], axis=0)) @ pixels


def members(xp: ModuleType, labels: Any, count: int) -> Any:
    """Which pixels have which label: ``(n,)`` to bool ``(count, n)``."""
    return xp.stack([labels == number for number in range(count)])


def seed(xp: ModuleType, pixels: Any, *, chances: list[float], announce: Announce) -> tuple[Any]:
    """Choose a starting colour per chance, by k-means++ (Arthur and Vassilvitskii, 2007).

    ``pixels`` is int32 ``(3, n)`` with n < 11,000, so that the sum of all squared distances fits an int32. A chance
    in [0, 1) picks a pixel with a probability in proportion to its squared distance to the nearest colour so far.
    Returns the colours, int32 ``(3, len(chances))``.
    """
    lengths = xp.sum(pixels * pixels, axis=0, dtype=xp.int32)
    homogeneous = with_ones(xp, pixels)
    chosen, nearest = [int(chances[0] * pixels.shape[1])], None
    for chance in chances[1:]:
        latest = pixels[:, chosen[-1] : chosen[-1] + 1]
        distances = scores(xp, homogeneous, latest)[0, :] + lengths
        nearest = distances if nearest is None else xp.minimum(nearest, distances)
        cumulative = xp.cumulative_sum(nearest, dtype=xp.int32)
        target = int(chance * int(cumulative[-1]))
        chosen.append(int(xp.count_nonzero(cumulative <= target)))
    announce(f"{len(chosen)} starting colours")
    return (xp.take(pixels, xp.asarray(chosen, dtype=xp.int32), axis=1),)


def cluster(xp: ModuleType, pixels: Any, centres: Any, *, steps: int, announce: Announce) -> tuple[Any]:
    """Move the centres to the mean of the pixels nearest to them, ``steps`` times (Lloyd's algorithm).

    ``pixels`` is float32 ``(3, n)`` and ``centres`` float32 ``(3, k)``; returns the final centres. A centre that
    has no pixels stays where it is.
    """
    count = centres.shape[1]
    homogeneous = with_ones(xp, pixels)
    lengths = xp.sum(pixels * pixels, axis=0)
    for step in range(1, steps + 1):
        distances = scores(xp, homogeneous, centres)
        belongs = xp.astype(members(xp, xp.argmin(distances, axis=0), count), xp.float32)
        totals = homogeneous @ xp.matrix_transpose(belongs)  # the sums of each colour's pixels, and how many there are
        sizes = totals[3:, :]
        centres = xp.where(sizes > 0, totals[:3, :] / xp.maximum(sizes, xp.ones_like(sizes)), centres)
        if step % 5 == 0 or step == steps:
            error = float(xp.mean(xp.min(distances, axis=0) + lengths)) ** 0.5
            announce(f"k-means, step {step} of {steps}: {error:.3f} from the nearest colour (root mean square)")
    return (centres,)


def paint(xp: ModuleType, pixels: Any, palette: Any, *, announce: Announce) -> tuple[Any, Any]:
    """Give every pixel the nearest colour of the palette.

    ``pixels`` is int32 ``(3, n)``, ``palette`` int32 ``(3, k)``. Returns the painted planes, uint8 ``(3, n)``, and
    how many pixels got each colour, int32 ``(k,)``.
    """
    labels = xp.argmin(scores(xp, with_ones(xp, pixels), palette), axis=0)
    painted = xp.astype(xp.take(palette, labels, axis=1), xp.uint8)
    belongs = members(xp, labels, palette.shape[1])
    announce(f"{pixels.shape[1]} pixels painted")
    return painted, xp.sum(xp.astype(belongs, xp.int32), axis=1, dtype=xp.int32)
