"""Runs a stage with the library shown and with NumPy, and keeps the times and the largest difference."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np


@dataclass(frozen=True)
class Stage:
    name: str
    seconds: float
    numpy_seconds: float
    difference: float
    limit: float

    @property
    def passed(self) -> bool:
        return self.difference <= self.limit  # false for NaN


@dataclass
class Report:
    library: ModuleType
    stages: list[Stage] = field(default_factory=list)

    def run(
        self, name: str, stage: Callable[..., tuple], *inputs: np.ndarray, limit: float, **options: object
    ) -> tuple[np.ndarray, ...]:
        """Call ``stage(library, *inputs, **options)`` with both libraries and return the first one's results.

        ``inputs`` are handed over as arrays of each library, and the results come back as NumPy arrays, inside the
        time that is measured: nothing is finished before it can be read. The difference of two results is the
        largest absolute one over all their elements.
        """
        results, seconds = [], []
        for library, announce in ((self.library, print_progress), (np, print_nothing)):
            start = time.perf_counter()
            arrays = stage(library, *(library.asarray(each) for each in inputs), announce=announce, **options)
            results.append(tuple(np.asarray(each) for each in arrays))
            seconds.append(time.perf_counter() - start)
        difference = max(largest_difference(mine, other) for mine, other in zip(*results, strict=True))
        self.stages.append(Stage(name, *seconds, difference, limit))
        return results[0]

    def table(self) -> str:
        """One line per stage: the times of both libraries, the largest difference and its limit, and the verdict."""
        name = self.library.__name__
        header = f"{'stage':<34}{name + ', s':>20}{'NumPy, s':>10}{'difference':>12}{'allowed':>9}  check"
        lines = [
            f"{each.name:<34}{each.seconds:>20.2f}{each.numpy_seconds:>10.2f}{each.difference:>12.2g}{each.limit:>9.2g}"
            f"  {'ok' if each.passed else 'WRONG'}"
            for each in self.stages
        ]
        return "\n".join([header, "-" * len(header), *lines])

    @property
    def passed(self) -> bool:
        return all(each.passed for each in self.stages)


def largest_difference(first: np.ndarray, second: np.ndarray) -> float:
    """Largest absolute difference of two arrays, infinite where their shapes or dtypes differ."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return float("inf")
    return float(np.max(np.abs(first.astype(np.float64) - second.astype(np.float64)), initial=0.0))


def print_progress(text: str) -> None:
    print(f"    {text}", flush=True)


def print_nothing(_text: str) -> None:
    """The reference runs silently."""
