"""A row for each model, and what rows are made of: inputs that are the same on every call, on the CPU."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

Inputs = dict[str, Any]

# The packages of which there is a module of rows, beside this one.
PACKAGES = (
    "transformers", "timm", "torchvision", "diffusers", "peft", "accelerate", "torch_geometric", "kornia", "torchmetrics",
)  # fmt: skip


class Row(NamedTuple):
    """A model of a package.

    `make` gives it on the CPU, with random weights, and `given` its arguments. `generates` are the modes of `generate` that are
    compared. A model that `draws` takes random numbers, which both devices are given by the CPU. Of one that is `unstable`, for a
    reason in words, errors are compared with those of the CPU, against float64.
    """

    name: str
    kind: str
    make: Callable[[], torch.nn.Module]
    given: Callable[[], Inputs]
    generates: tuple[str, ...] = ()
    draws: bool = False
    unstable: str = ""
    trains: bool = True


class Call(torch.nn.Module):
    """A function of tensors, and of some modules, as a module."""

    def __init__(self, function: Callable[..., Any], *modules: torch.nn.Module) -> None:
        super().__init__()
        self.function, self.parts = function, torch.nn.ModuleList(modules)

    def forward(self, **given: Any) -> Any:
        """The result of the function for its modules and the arguments."""
        return self.function(*self.parts, **given)


def numbers(*shape: int, seed: int = 1) -> torch.Tensor:
    """Normal numbers of float32."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def integers(low: int, high: int, *shape: int, seed: int = 1) -> torch.Tensor:
    """Integers below `high`, of int64."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed))


def pictures(size: int = 32, count: int = 2, name: str = "x", channels: int = 3) -> Callable[[], Inputs]:
    """A batch of pictures."""
    return lambda: {name: numbers(count, channels, size, size)}


def of(package: str) -> list[Row]:
    """The rows of a package; none of it is imported before a row makes its model."""
    rows: list[Row] = importlib.import_module(f"{__package__}.of_{package}").ROWS
    return rows


def installed(package: str) -> bool:
    """Whether a package can be imported."""
    return importlib.util.find_spec(package) is not None


def known() -> list[tuple[str, Row]]:
    """All rows of the packages that are installed, with the packages' names."""
    return [(package, row) for package in PACKAGES if installed(package) for row in of(package)]
