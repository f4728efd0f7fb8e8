"""Quantise the colours of a photograph with k-means: seeding, clustering, painting.

Pixels are held as planes, shape ``(3, pixels)``, so that every pass runs along memory. Seeding and painting work on
8-bit colours in whole numbers and must agree with NumPy exactly; clustering works in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

Announce = Callable[[str], None]


def squared_distances(xp: ModuleType, pixels: Any, colour: Any) -> Any:
    """Squared distance of every pixel to one colour: int32 ``(3, n)`` and ``(3,)`` to int32 ``(n,)``."""
    offsets = pixels - xp.expand_dims(colour, axis=1)
    return xp.sum(offsets * offsets, axis=0, dtype=xp.int32)


def seed(xp: ModuleType, pixels: Any, *, chances: list[float], announce: Announce) -> tuple[Any]:
    """Choose a starting colour per chance, by k-means++ (Arthur and Vassilvitskii, 2007).

    ``pixels`` is int32 ``(3, n)`` with n < 11,000, so that the sum of all squared distances fits an int32. A chance
    in [0, 1) picks a pixel with a probability in proportion to its squared distance to the nearest colour so far.
    Returns the colours, int32 ``(3, len(chances))``.
    """
    chosen = [int(chances[0] * pixels.shape[1])]
    nearest = squared_distances(xp, pixels, pixels[:, chosen[0]])
    for chance in chances[1:]:
        cumulative = xp.cumulative_sum(nearest, dtype=xp.int32)
        target = int(chance * int(cumulative[-1]))
        chosen.append(int(xp.count_nonzero(cumulative <= target)))
        nearest = xp.minimum(nearest, squared_distances(xp, pixels, pixels[:, chosen[-1]]))
    announce(f"{len(chosen)} starting colours")
    return (xp.take(pixels, xp.asarray(chosen, dtype=xp.int32), axis=1),)


def cluster(xp: ModuleType, pixels: Any, centres: Any, *, steps: int, announce: Announce) -> tuple[Any]:
    """Move the centres to the mean of the pixels nearest to them, ``steps`` times (Lloyd's algorithm).

    ``pixels`` is float32 ``(3, n)`` and ``centres`` float32 ``(3, k)``; returns the final centres. A centre that
    has no pixels stays where it is.
    """
    numbers = xp.expand_dims(xp.arange(centres.shape[1], dtype=xp.int32), axis=1)
    brightness = xp.sum(pixels * pixels, axis=0)
    for step in range(1, steps + 1):
        # |p - c|^2 = |p|^2 - 2 p.c + |c|^2, and |p|^2 has no say in which centre is nearest.
        scores = xp.expand_dims(xp.sum(centres * centres, axis=0), axis=1) - 2.0 * (
            xp.matrix_transpose(centres) @ pixels
        )
        labels = xp.astype(xp.argmin(scores, axis=0), xp.int32)
        members = xp.astype(xp.expand_dims(labels, axis=0) == numbers, xp.float32)
        sizes = xp.sum(members, axis=1)
        totals = xp.stack([xp.sum(members * pixels[plane, :], axis=1) for plane in range(3)])
        centres = xp.where(sizes > 0, totals / xp.maximum(sizes, xp.ones_like(sizes)), centres)
        if step % 5 == 0 or step == steps:
            error = float(xp.mean(xp.min(scores, axis=0) + brightness)) ** 0.5
            announce(f"k-means, step {step} of {steps}: {error:.3f} from the nearest colour (root mean square)")
    return (centres,)


def paint(xp: ModuleType, pixels: Any, palette: Any, *, announce: Announce) -> tuple[Any, Any]:
    """Give every pixel the nearest colour of the palette.

    ``pixels`` is int32 ``(3, n)``, ``palette`` int32 ``(3, k)``. Returns the painted planes, uint8 ``(3, n)``, and
    how many pixels got each colour, int32 ``(k,)``.
    """
    count = palette.shape[1]
    distances = xp.stack([squared_distances(xp, pixels, palette[:, number]) for number in range(count)])
    labels = xp.astype(xp.argmin(distances, axis=0), xp.int32)
    painted = xp.astype(xp.take(palette, labels, axis=1), xp.uint8)
    shares = [xp.sum(xp.astype(labels == number, xp.int32), dtype=xp.int32) for number in range(count)]
    announce(f"{pixels.shape[1]} pixels painted")
    return painted, xp.stack(shares)
