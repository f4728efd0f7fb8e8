"""
A strange attractor
===================

Each of many points jumps from place to place by the same two formulas (Clifford Pickover's). Wherever they start, they
are soon found on one figure. The picture counts how often each pixel is visited.
"""

import matplotlib.pyplot as plt

import vkarray as np

POINTS, STEPS, SIZE = 100_000, 80, 512
a, b, c, d = -1.4, 1.6, 1.0, 0.7

generator = np.random.default_rng(6)
x, y = generator.uniform(-1.0, 1.0, (2, POINTS))
visits = np.zeros(SIZE * SIZE, dtype=np.int64)
for step in range(STEPS):
    x, y = np.sin(a * y) + c * np.cos(a * x), np.sin(b * x) + d * np.cos(b * y)
    if step >= 20:
        row, column = (np.astype((place / 4.4 + 0.5) * SIZE, np.int64) for place in (y, x))
        visits += np.bincount(row * SIZE + column, minlength=SIZE * SIZE)

picture = np.log1p(np.astype(np.reshape(visits, (SIZE, SIZE)), np.float32))
plt.figimage(picture, cmap="gnuplot2", resize=True)
plt.savefig("attractor.png")
