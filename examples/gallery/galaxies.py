"""
Two galaxies meet
=================

Stars circle the centres of two galaxies on orbits of their own. As the centres pass each other, their gravity pulls
the stars into bridges and tails (A. Toomre and J. Toomre, Astrophysical Journal 178, 1972). A star counts as light
compared with a centre, so the force on each is a sum of two, softened near them. Places in the plane are complex numbers.
"""

import matplotlib.pyplot as plt

import vkarray as np

STARS, STEPS, SIZE = 12_000, 270, 512
dt = 0.03

generator = np.random.default_rng(3)
radius = 0.15 + 1.1 * generator.random((STARS, 2))
outward = np.exp(2j * np.pi * generator.random((STARS, 2)))
radius[0] = outward[0] = 0  # the first body of each galaxy is its centre
places = np.asarray([-1.96 - 1.38j, 1.96 + 1.38j]) + radius * outward
speeds = np.asarray([0.455 + 0j, -0.455 + 0j]) + 1j * outward / np.sqrt(radius + 0.03)

for _ in range(STEPS):  # velocities half a step ahead of places
    for centre in places[0, 0], places[0, 1]:
        away = centre - places
        speeds += dt * away / (np.abs(away) ** 2 + 0.005) ** 1.5
    places += dt * speeds

stars = places[1:]
row, column = (np.astype((part / 9 + 0.5) * SIZE, np.int32) for part in (np.imag(stars), np.real(stars)))
seen = (row >= 0) & (row < SIZE) & (column >= 0) & (column < SIZE)
light = np.bincount((row * SIZE + column)[seen], minlength=SIZE * SIZE)
picture = np.sqrt(np.astype(np.reshape(light, (SIZE, SIZE)), np.float32))
spread = np.exp(-0.6 * np.minimum(np.arange(SIZE), SIZE - np.arange(SIZE)) ** 2.0)  # a star lights a few pixels
blurred = np.fft.irfftn(np.fft.rfftn(picture) * np.fft.rfftn(spread[:, None] * spread))
plt.figimage(np.clip(blurred, 0.0, 2.5), cmap="magma", resize=True)
plt.savefig("galaxies.png")
