"""
A classifier of two spirals
===========================

A network of two hidden layers learns which of two spirals a point belongs to. Its gradients are written out, and Adam
takes the steps. All weights are views of one array, so that a step moves them together. The background is what the
network thinks of each point of the plane.
"""

import matplotlib.pyplot as plt

import vkarray as np

POINTS, WIDTH, STEPS, SIZE = 400, 40, 350, 500

generator = np.random.default_rng(4)
turn = 3.5 * np.pi * np.sqrt(0.02 + 0.98 * generator.random(POINTS))
side = np.where(np.arange(POINTS) % 2 == 0, 1.0, -1.0)
spiral = side * turn / 12 * np.stack([np.cos(turn), np.sin(turn)])
x = np.concat([3 * (spiral + generator.normal(0.0, 0.015, (2, POINTS))), np.ones((1, POINTS))]).T  # 1 for the biases
label = (side[:, None] + 1) / 2

shapes = [(3, WIDTH), (WIDTH, WIDTH), (WIDTH, 1)]
ends = [0, 3 * WIDTH, 3 * WIDTH + WIDTH**2, 4 * WIDTH + WIDTH**2]
weights, slope = generator.normal(0.0, 0.3, ends[-1]), np.zeros(ends[-1])
first, second, last = (np.reshape(weights[a:b], s) for a, b, s in zip(ends, ends[1:], shapes, strict=False))
slopes = [np.reshape(slope[a:b], s) for a, b, s in zip(ends, ends[1:], shapes, strict=False)]
first *= 6.0


def forward(x):
    one = np.tanh(x @ first)
    two = np.tanh(one @ second)
    return one, two, 1 / (1 + np.exp(-(two @ last)))


mean, square = np.zeros_like(weights), np.zeros_like(weights)
for step in range(1, STEPS + 1):
    one, two, guess = forward(x)
    d3 = (guess - label) / POINTS
    d2 = d3 @ last.T * (1 - two * two)
    d1 = d2 @ second.T * (1 - one * one)
    slopes[0][...], slopes[1][...], slopes[2][...] = x.T @ d1, one.T @ d2, two.T @ d3
    mean += 0.1 * (slope - mean)
    square += 0.01 * (slope * slope - square)
    weights -= 0.02 / (1 - 0.9**step) * mean / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)

axis = np.linspace(-3.3, 3.3, SIZE)
plane = np.stack([*np.meshgrid(axis, -axis), np.ones((SIZE, SIZE))], axis=2)
plt.figure(figsize=(SIZE / 100, SIZE / 100))
plt.axes((0, 0, 1, 1)).axis("off")
plt.imshow(forward(plane)[2][:, :, 0], cmap="RdYlBu", vmin=-0.4, vmax=1.4, extent=(-3.3, 3.3, -3.3, 3.3))
plt.scatter(x[:, 0].tolist(), x[:, 1].tolist(), c=label[:, 0].tolist(), cmap="RdYlBu", edgecolors="black", s=22)
plt.savefig("classifier.png")
