"""
A painted photograph
====================

Kuwahara's filter makes brush strokes of a photograph: each pixel becomes the mean of that quarter of its surroundings
which varies least, so that surfaces are smooth and edges stay sharp. The sums over all squares are differences of
cumulative sums.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

import vkarray as np

RADIUS = 8

photograph = np.asarray(load_sample_image("flower.jpg"), copy=True)
pixels = np.astype(photograph[:420], np.float32) / 255
height, width, _ = pixels.shape


def squares(values):
    """The mean of each square of `RADIUS + 1` pixels."""
    side = RADIUS + 1
    for axis in (0, 1):
        sums = np.moveaxis(np.cumulative_sum(values, axis=axis, include_initial=True), axis, 0)
        values = np.moveaxis((sums[side:] - sums[:-side]) / side, 0, axis)
    return values


padded = np.pad(pixels, ((RADIUS, RADIUS), (RADIUS, RADIUS), (0, 0)), "symmetric")
mean = squares(padded)
spread = np.sum(squares(padded * padded) - mean * mean, axis=2)
corners = [(slice(y, y + height), slice(x, x + width)) for y in (0, RADIUS) for x in (0, RADIUS)]
quarters = np.stack([mean[corner] for corner in corners])
best = np.argmin(np.stack([spread[corner] for corner in corners]), axis=0)
painted = np.take_along_axis(quarters, best[None, :, :, None], axis=0)[0]

left = (np.arange(width) < width // 2)[None, :, None]
plt.figimage(np.clip(np.where(left, pixels, painted), 0.0, 1.0), resize=True)
plt.savefig("photograph.png")
