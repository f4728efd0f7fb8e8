"""Random choices of a chain."""

from __future__ import annotations

from typing import Any

import numpy as np


class Choices:
    """A source of choices, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def choice(self, listed: Any) -> Any:
        """One of several."""
        listed = list(listed)
        return listed[int(self.random.integers(len(listed)))]

    def chance(self, probability: float) -> bool:
        """Whether something happens that has this probability."""
        return bool(self.random.random() < probability)

    def integer(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return int(self.random.integers(low, high + 1))


class Single(Choices):
    """A chain of one case, which its seed makes."""

    last = None

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seed = seed

    def check(self) -> None:
        """All is compared already."""
