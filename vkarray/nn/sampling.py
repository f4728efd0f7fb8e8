"""How random numbers move with the parameters of their distributions: rows without a public function, as those of `special`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..shaders.source import Shader
from .pointwise import Formula, operations_of, variants_of

gamma_sample_gradient = Formula(
    "gamma_sample_gradient", 2, "real floating", "vx_gamma_sample_gradient(a, b)", "", "/sample_gradients"
)
beta_sample_gradient = Formula(
    "beta_sample_gradient", 3, "real floating", "vx_beta_sample_gradient(a, b, c)", "", "/sample_gradients"
)


def variants(device: Any) -> Iterator[Shader]:
    """The shaders of all functions on their types, for the archive."""
    yield from variants_of(operations_of((gamma_sample_gradient, beta_sample_gradient)), device)
