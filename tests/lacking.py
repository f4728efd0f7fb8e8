"""What tests need of a device: types that they name, and features and limits that their marks name.

A device without a type refuses arrays of it. A test that asks for such arrays has nothing to see there, and is skipped with the
device's own words; a function of vkarray that asks for them by itself, from arguments of other types, has a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.array import is_supported

_LETTERS = re.compile("[lLqQpPdD]|[iuf]8|c16")  # NumPy's for types of 64 bits
_PACKAGE = str(Path(vx.__file__).parent)


def was_named(error: BaseException) -> bool:
    """Whether an error says that the device lacks a type, and it was named by who called vkarray: a test, or another package."""
    frames = list(_frames(error))
    refused = next((frame for frame in reversed(frames) if frame.f_code.co_name == "check_supported"), None)
    if not isinstance(error, vx.FeatureError) or refused is None:
        return False
    calls = [pair for pair in pairwise(frames) if _is_ours(pair[1]) and not _is_ours(pair[0])]
    entered = calls[-1][1] if calls else None
    return entered is not None and refused.f_locals["dtype"].name in _types_in(entered.f_locals.values(), 3)


def _frames(error: BaseException) -> Iterator[FrameType]:
    """The frames that an error went through, and those of the error that it was raised from."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next
    if error.__cause__ is not None:
        yield from _frames(error.__cause__)


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)


def _types_in(values: Iterable[Any], depth: int) -> Iterator[str]:
    """The names of the types that arguments name or have, also in lists, tuples and dictionaries."""
    for value in values:
        if isinstance(value, (dtypes.DType, np.dtype)):
            yield value.name
        elif isinstance(value, np.ndarray):
            yield value.dtype.name
        elif isinstance(value, str) and (value in dtypes.DTYPES or _LETTERS.fullmatch(value)):
            yield value if value in dtypes.DTYPES else np.dtype(value).name
        elif isinstance(value, type) and (value in (int, float, complex) or issubclass(value, np.generic)):
            yield np.dtype(value).name
        elif isinstance(value, (list, tuple)) and depth:
            yield from _types_in(value, depth - 1)
        elif isinstance(value, dict) and depth:
            yield from _types_in(value.values(), depth - 1)
        elif isinstance(value, vx.vectorize):
            yield from _types_in(value.otypes or (), depth)


def of_marks(marks: Iterable[Any]) -> str:
    """What the device lacks of what `needs` marks name: types, features, and limits (at least so much, or the same word)."""
    device = vx.asarray(0).device
    for mark in marks:
        for name in mark.args:
            has = is_supported(dtypes.DTYPES[name], device) if name in dtypes.DTYPES else name in device.features
            if not has:
                return f"{device!r} has no {name}"
        for name, least in mark.kwargs.items():
            own = getattr(device.limits, name)
            if own != least if isinstance(least, str) else own < least:
                return f"{device!r} has {name} {own}, and the test needs {least}"
    return ""
