"""
The sounds of a drum
====================

A drum swings in the eigenvectors of the Laplacian inside its rim. Here they are for a drum of an odd shape, from the
lowest sound on. The pictures of sand on plates that E. Chladni showed in 1787 are the borders between their colours.
"""

import matplotlib.pyplot as plt

import vkarray as np

SIZE = 30

side = np.linspace(-1.0, 1.0, SIZE)
x, y = np.meshgrid(side, side)
angle = np.atan2(y, x)
inside = np.hypot(x, y) < 0.7 + 0.25 * np.cos(3 * angle)
points = np.stack(np.nonzero(inside), axis=1)

steps = np.sum(np.abs(points[:, None, :] - points[None, :, :]), axis=2)
laplacian = 4.0 * np.eye(points.shape[0]) - np.astype(steps == 1, np.float32)
_, modes = np.linalg.eigh(laplacian)

pictures = np.zeros((12, SIZE, SIZE))
pictures[:, inside] = modes[:, :12].T
pictures = pictures / np.max(np.abs(pictures), axis=(1, 2), keepdims=True)
grid = np.reshape(np.permute_dims(np.reshape(pictures, (3, 4, SIZE, SIZE)), (0, 2, 1, 3)), (3 * SIZE, 4 * SIZE))
plt.figure(figsize=(6.4, 4.8))
plt.axes((0, 0, 1, 1)).axis("off")
plt.imshow(grid, cmap="RdBu", interpolation="bicubic")
plt.savefig("drum.png")
