"""
The Ising model
===============

Atoms on a square lattice point up or down, and neighbours like to agree. Heat flips them at random, by Metropolis's rule.
From left to right: below the critical temperature, at it, and above it. Half of the lattice is tried at once, as the
black squares of a chessboard have none but white neighbours.
"""

import matplotlib.pyplot as plt

import vkarray as np

SIZE, STEPS = 128, 120
temperature = np.asarray([1.8, 2.2692, 3.5])[:, None, None]

generator = np.random.default_rng(2)
spins = np.where(generator.random((3, SIZE, SIZE)) < 0.5, 1.0, -1.0)
row, column = np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="ij")
black = (row + column) % 2 == 0
for step in range(2 * STEPS):
    neighbours = sum(np.roll(spins, shift, axis=axis) for shift in (-1, 1) for axis in (1, 2))
    likely = generator.random(spins.shape) < np.exp(-2 * spins * neighbours / temperature)
    spins = np.where(likely & (black ^ (step % 2 == 1)), -spins, spins)

picture = np.reshape(np.permute_dims(spins, (1, 0, 2)), (SIZE, 3 * SIZE))
plt.figimage(np.repeat(np.repeat(picture, 2, axis=0), 2, axis=1), cmap="cividis", resize=True)
plt.savefig("ising.png")
