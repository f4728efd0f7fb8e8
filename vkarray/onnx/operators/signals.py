"""Signals: Fourier transforms, of pieces as well, and the weights of mel scales."""

from __future__ import annotations

from typing import Any

import numpy as np

import vkarray as vx

from ..interpreter import Call
from ..table import FLOAT32, axis_of, operator
from ..types import dtype_of, numpy_dtype


def _transformed(call: Call, x: Any, length: int | None, axis: int, inverse: int, onesided: int) -> Any:
    """The transform of numbers whose last dimension is their real and, if it has 2 elements, imaginary part."""
    axis = axis_of(axis, x.ndim)
    parts = (2 if inverse else 1) if onesided else x.shape[-1]
    if axis == x.ndim - 1 or parts not in (1, 2) or parts != x.shape[-1]:
        raise ValueError(
            f"it transforms axis {axis} of numbers of shape {tuple(x.shape)}, expected another axis than the last one, which has a "
            f"real part, or a real and an imaginary one: of one side the real part alone, and both for the inverse"
        )
    wide = call.cast(x, vx.float64 if x.dtype == vx.float64 else vx.float32)
    given = wide[..., 0] if x.shape[-1] == 1 else wide[..., 0] + 1j * wide[..., 1]
    if inverse and onesided:
        found = vx.fft.irfft(given, n=length, axis=axis)[..., None]
        return call.cast(found, x.dtype)
    function = vx.fft.ifft if inverse else vx.fft.rfft if onesided else vx.fft.fft
    if x.shape[-1] == 1 and function is not vx.fft.rfft:
        given = given + 0j
    found = function(given, n=length, axis=axis)
    return call.cast(vx.stack([vx.real(found), vx.imag(found)], axis=-1), x.dtype)


def _length(value: Any) -> int | None:
    return None if value is None else int(value.reshape(-1)[0])


@operator("DFT", since=17, host=(1,), half=FLOAT32)
def _transform_by_attribute(
    call: Call, x: Any, length: Any = None, *, axis: int = 1, inverse: int = 0, onesided: int = 0
) -> Any:
    return _transformed(call, x, _length(length), axis, inverse, onesided)


@operator("DFT", since=20, host=(1, 2), half=FLOAT32)
def _transform(call: Call, x: Any, length: Any = None, axis: Any = None, *, inverse: int = 0, onesided: int = 0) -> Any:
    return _transformed(call, x, _length(length), -2 if axis is None else int(axis.reshape(-1)[0]), inverse, onesided)


@operator("STFT", since=17, host=(1, 3), half=FLOAT32)
def _transform_pieces(
    call: Call, signal: Any, frame_step: Any, window: Any = None, frame_length: Any = None, *, onesided: int = 1
) -> Any:
    step = int(frame_step.reshape(-1)[0])
    length = _length(frame_length) or (signal.shape[1] if window is None else window.shape[0])
    signal = signal if signal.ndim == 3 else signal[..., None]
    count = 1 + (signal.shape[1] - length) // step
    places = np.arange(count)[:, None] * step + np.arange(length)
    pieces = vx.take(signal, call.array(places, "int64"), axis=1)
    if window is not None:
        pieces = pieces * vx.reshape(window, (-1, 1))
    return _transformed(call, pieces, length, 2, 0, onesided)


@operator("MelWeightMatrix", since=17, host=(0, 1, 2, 3, 4), numpy=True)
def _mel_weights(
    call: Call, bins: Any, length: Any, rate: Any, low: Any, high: Any, *, output_datatype: int = 1
) -> Any:
    count, size = int(bins.reshape(())), int(length.reshape(()))
    first, last = (2595 * np.log10(1 + float(one.reshape(())) / 700) for one in (low, high))
    edges = np.arange(count + 2) * ((last - first) / (count + 2)) + first
    places = ((size + 1) * (700 * (10 ** (edges / 2595) - 1)) // float(rate.reshape(()))).astype(np.int64)
    found = np.zeros((size // 2 + 1, count))
    for number in range(count):
        start, middle, end = places[number : number + 3]
        if middle == start:
            found[middle, number] = 1
        else:
            found[start : middle + 1, number] = np.arange(middle - start + 1) / (middle - start)
        if end > middle:
            found[middle:end, number] = np.arange(end - middle, 0, -1) / (end - middle)
    return found.astype(numpy_dtype(dtype_of(output_datatype, "the attribute 'output_datatype'")))
