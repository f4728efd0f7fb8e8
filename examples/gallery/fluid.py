"""
A jet of fluid
==============

A band of fluid moves to the right between two that move to the left. The slightest disturbance rolls up their borders
into vortices. The vorticity is kept as its Fourier transform: derivatives are products there, and the velocity follows
from the stream function.
"""

import matplotlib.pyplot as plt

import vkarray as np

SIZE, STEPS = 96, 180
viscosity, dt = 2e-4, 0.0055

k = 2 * np.pi * np.fft.fftfreq(SIZE, d=1 / SIZE)
ky, kx = k[:, None], np.abs(k[None, : SIZE // 2 + 1])
square = kx**2 + ky**2
inverse = np.where(square > 0, 1 / np.maximum(square, 1.0), 0.0)
decay = np.exp(-viscosity * square * dt)
kept = np.where(np.maximum(np.abs(ky), kx) < 2 * np.pi * SIZE / 3, 1.0, 0.0)  # products of these have no aliases
# From the vorticity to the velocity along x and y, and to its own slopes along x and y.
factors = 1j * np.stack([ky * inverse, -kx * inverse, kx + 0 * ky, ky + 0 * kx])


def change(vorticity):
    """Minus the velocity times the slope of the vorticity."""
    u, v, slope_x, slope_y = np.fft.irfftn(factors * vorticity, axes=(1, 2))
    return -kept * np.fft.rfftn(u * slope_x + v * slope_y)


y = np.linspace(0.0, 1.0, SIZE, endpoint=False)[:, None]
noise = np.random.default_rng(1).normal(size=(SIZE, SIZE))
jet = 35 / np.cosh(35 * (y - 0.33)) ** 2 - 35 / np.cosh(35 * (y - 0.67)) ** 2
vorticity = kept * np.fft.rfftn(jet + 15 * noise)
for _ in range(STEPS):
    ahead = vorticity
    for part in (3, 2, 1):  # a Runge-Kutta method of three stages
        ahead = vorticity + dt / part * change(ahead)
    vorticity = decay * ahead

plt.figure(figsize=(5.12, 5.12))
plt.axes((0, 0, 1, 1)).axis("off")
plt.imshow(np.fft.irfftn(vorticity), cmap="twilight_shifted", interpolation="bicubic")
plt.savefig("fluid.png")
