"""
An electron at a double slit
============================

Schrödinger's equation moves a wave packet against a wall with two slits. The kinetic energy turns the phase of each
frequency; the wall, and the rim of the picture, let nothing stay. Colour is the phase, brightness how likely the electron is found
there.
"""

import matplotlib.pyplot as plt
from matplotlib.colors import hsv_to_rgb

import vkarray as np

SIZE, STEPS = 256, 90
dt = 1.5

x = np.arange(SIZE, dtype=np.float32)[None, :] - SIZE / 2
y = np.arange(SIZE, dtype=np.float32)[:, None] - SIZE / 2
k = 2 * np.pi * np.fft.fftfreq(SIZE)
kinetic = np.exp(-0.5j * dt * (k[:, None] ** 2 + k[None, :] ** 2))

wall = (np.abs(x + 10) < 3) & (np.abs(np.abs(y) - 16) > 5)
rim = np.maximum(np.abs(x), np.abs(y)) - (SIZE / 2 - 12)  # where waves leave the picture
kept = np.where(wall, 0.0, 1 / (1 + np.exp(rim / 2)))

wave = np.exp(0.7j * x - ((x + 50) / 20) ** 2 - (y / 45) ** 2)
for _ in range(STEPS):
    wave = kept * np.fft.ifftn(kinetic * np.fft.fftn(wave))

hue = (np.atan2(np.imag(wave), np.real(wave)) / (2 * np.pi)) % 1.0
size = np.abs(wave)
light = np.where(wall, 0.5, np.clip(1.25 * (size / np.max(size)) ** 0.4, 0.0, 1.0))
picture = np.stack([hue, np.where(wall, 0.0, 0.7), light], axis=2)
plt.figimage(hsv_to_rgb(np.repeat(np.repeat(picture, 2, axis=0), 2, axis=1)), resize=True)
plt.savefig("waves.png")
