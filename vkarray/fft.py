"""The standard's extension `fft`. The transforms live in `ops/fourier`."""

from __future__ import annotations

from .ops.fourier.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .ops.fourier.functions import fft, fftn, hfft, ifft, ifftn, ihfft, irfft, irfftn, rfft, rfftn
from .ops.fourier.planes import fft2, ifft2, irfft2, rfft2

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2",
    "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
