"""
The Mandelbrot set
==================

Each point of the plane is a complex number c. The picture tells after how many steps of z² + c it leaves a circle, in
fractions of a step. All points take their steps together; those that have left stand still.
"""

import matplotlib.pyplot as plt

import vkarray as np

SIZE, STEPS = 480, 200
centre, width = -0.761574 - 0.0847596j, 0.006

side = np.linspace(-0.5, 0.5, SIZE) * width
c = centre + side[None, :] + 1j * side[::-1, None]
z = np.zeros_like(c)
count = np.zeros((SIZE, SIZE))
for _ in range(STEPS):
    inside = np.abs(z) < 100.0
    z = np.where(inside, z * z + c, z)
    count += inside

smooth = count - np.log2(np.log(np.maximum(np.abs(z), 100.0)))
shade = np.log(np.where(np.abs(z) < 100.0, 1.0 * STEPS, np.maximum(smooth, 1.0)))
plt.figimage(shade, cmap="twilight_shifted", resize=True)
plt.savefig("fractal.png")
