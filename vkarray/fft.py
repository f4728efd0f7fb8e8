"""The standard's extension `fft`. The transforms live in `ops/fourier`."""

from __future__ import annotations

from .ops.fourier.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .ops.fourier.functions import fft, fftn, hfft, ifft, ifftn, ihfft, irfft, irfftn, rfft, rfftn

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip
