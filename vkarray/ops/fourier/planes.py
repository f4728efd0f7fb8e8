"""The transforms of planes: those along several axes, of the last two by default."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.array import ArrayLike, VkArray
from . import functions
from .functions import Norm

_METHOD = """`{name}n` along two axes, the last ones by default.

    Parameters, result and errors as `{name}n`.
    """


def _plane(name: str) -> Callable[..., VkArray]:
    several: Callable[..., VkArray] = getattr(functions, f"{name}n")

    def function(
        a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1), norm: Norm | None = None,
        out: VkArray | None = None,
    ) -> VkArray:  # fmt: skip
        return several(a, s, axes, norm, out)

    function.__name__ = function.__qualname__ = f"{name}2"
    function.__doc__ = _METHOD.format(name=name)
    return function


fft2, ifft2, rfft2, irfft2 = (_plane(name) for name in ("fft", "ifft", "rfft", "irfft"))
