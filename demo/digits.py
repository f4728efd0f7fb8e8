"""Train a two-layer classifier on handwritten digits, with gradients written out by hand, and use it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import vkarray as vx

Announce = Callable[[str], None]


def forward(xp: ModuleType, images: Any, weights: list[Any]) -> tuple[Any, Any]:
    """The hidden layer and the probabilities of the ten digits, ``(n, hidden)`` and ``(n, 10)``."""
    first, first_bias, second, second_bias = weights
    hidden = xp.tanh(images @ first + first_bias)
    logits = hidden @ second + second_bias
    exponentials = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    return hidden, exponentials / xp.sum(exponentials, axis=1, keepdims=True)


def gradients(xp: ModuleType, images: Any, targets: Any, weights: list[Any]) -> tuple[list[Any], Any]:
    """The gradients of the mean cross-entropy with respect to ``weights``, and the probabilities."""
    hidden, probabilities = forward(xp, images, weights)
    at_logits = (probabilities - targets) / images.shape[0]
    at_hidden = (at_logits @ xp.matrix_transpose(weights[2])) * (1.0 - hidden * hidden)
    return [
        xp.matrix_transpose(images) @ at_hidden,
        xp.sum(at_hidden, axis=0),
        xp.matrix_transpose(hidden) @ at_logits,
        xp.sum(at_logits, axis=0),
    ], probabilities


def train(
    xp: ModuleType,
    images: Any,
    labels: Any,
    *start: Any,
    orders: list[list[int]],
    batch: int,
    rate: float,
    momentum: float,
    announce: Announce,
) -> tuple[Any, ...]:
    """Stochastic gradient descent with momentum, one pass over the images per order; returns the weights.

    ``images`` is float32 ``(n, 64)``, ``labels`` int32 ``(n,)``, ``start`` the four initial weights, and each of
    ``orders`` a permutation of the images.
    """
    targets = xp.astype(xp.expand_dims(labels, axis=1) == xp.arange(10, dtype=xp.int32), xp.float32)
    weights = list(start)
    velocities = [xp.zeros_like(each) for each in weights]
    for epoch, order in enumerate(orders, start=1):
        shuffled = xp.asarray(order, dtype=xp.int32)
        epoch_images, epoch_targets = xp.take(images, shuffled, axis=0), xp.take(targets, shuffled, axis=0)
        for begin in range(0, images.shape[0], batch):
            rows = slice(begin, begin + batch)
            slopes, _ = gradients(xp, epoch_images[rows, :], epoch_targets[rows, :], weights)
            velocities = [momentum * speed - rate * slope for speed, slope in zip(velocities, slopes, strict=True)]
            weights = [each + speed for each, speed in zip(weights, velocities, strict=True)]
        if epoch % 5 == 0 or epoch == len(orders):
            _, probabilities = forward(xp, images, weights)
            loss = -float(xp.mean(xp.log(xp.sum(probabilities * targets, axis=1))))
            announce(f"training, pass {epoch} of {len(orders)}: loss {loss:.4f}")
    return tuple(weights)


def classify(xp: ModuleType, images: Any, *weights: Any, announce: Announce) -> tuple[Any, Any]:
    """The most probable digit of each image, int32 ``(n,)``, and the probabilities, float32 ``(n, 10)``."""
    _, probabilities = forward(xp, images, list(weights))
    announce(f"{images.shape[0]} digits classified that were not trained on")
    return xp.astype(xp.argmax(probabilities, axis=1), xp.int32), probabilities


def reader(*weights: Any) -> vx.Program:
    """A program that reads images of 0 to 16 as scikit-learn has them, float32 ``(n, 64)``: the digits, int32 ``(n,)``."""
    kept = [vx.asarray(each) for each in weights]

    def read(images: Any) -> Any:
        return vx.astype(vx.argmax(forward(vx, images / 16, kept)[1], axis=1), vx.int32)

    count = vx.Dim("count", min=1)
    return vx.Program(
        read, (vx.zeros((2, 64), dtype=vx.float32),), dynamic={"images": {0: count}}, outputs=["digits"], name="reader"
    )
