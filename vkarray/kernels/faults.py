"""What kernels find wrong with values, such as an index out of range: noted on the device, raised when the host next reads.

The values of an array are known to the device alone. A kernel that meets a wrong one notes what it is and where, in words that
each thread keeps on each device; the first note stays. A deferred check reads them when the host next reads a value, or waits
for the device, and raises the error. So no call waits for the device, and no wrong result is read without an error.
"""

from __future__ import annotations

import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from .. import configuration, device_caches
from .._vk.watch import after_waits, watches
from ..core import checks, dtypes, promotion
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import CATEGORIES, DType
from ..shaders.source import Variant
from . import launch
from .dispatch import pointer
from .host_values import Limit, are_checked, unread_status

if TYPE_CHECKING:
    from .launch import Device

after_waits.append(checks.run)


class Fault(Protocol):
    """One thing that can be wrong with values: hashable, and the same one for all calls."""

    @property
    def error(self) -> type[Exception]:
        """What is raised."""
        ...

    def describe(self, value: int, axis: int, length: int) -> str:
        """The text of the error, from what the kernel noted."""
        ...


class WrongValue(NamedTuple):
    """A value outside of what a function takes. The text may name the {value}, and a {length}."""

    error: type[Exception]
    text: str
    form: str = "q"  # how `struct` reads the value, which `check_values` sets

    def describe(self, value: int, axis: int, length: int) -> str:
        """The text of the error, from what the kernel noted."""
        (number,) = struct.unpack(f"<{self.form}", struct.pack("<q", value))
        shown = f"{number:g}" if isinstance(number, float) else number
        return self.text.format(value=shown, length=length)


_PACKAGE = str(Path(__file__).parent.parent)
_LINES = 5  # of code that an error names
_faults: list[Fault] = []  # by code, counted from 1
_codes: dict[Fault, int] = {}
_lock = threading.Lock()


def code_of(fault: Fault) -> int:
    """The number by which kernels note a fault: 15 bits, so that faults are those of functions, not of calls."""
    found = _codes.get(fault)
    if found is None:
        with _lock:
            if fault not in _codes:
                _faults.append(fault)
                _codes[fault] = len(_faults)
            found = _codes[fault]
    return found


# -- the deferred check -----------------------------------------------------------------------------------------


class Status:
    """The words in which kernels that a thread starts note the first wrong value, until they are checked."""

    def __init__(self, device: Device) -> None:
        self.lines: dict[str, None] = {}  # of the user's code that left work to check
        self.array = empty((6,), dtypes.int32, device)
        device.upload(self.array._buffer, 0, bytes(24))

    def __call__(self) -> Exception | None:
        """The error for what a kernel noted, if one did."""
        words = bytearray(24)
        self.array._device.download(self.array._buffer, 0, words)
        code, axis, value, length = struct.unpack("<iiqq", words)
        if not code:
            return None
        fault = _faults[code - 1]
        text, lines = fault.describe(value, axis, length), list(self.lines)
        if tells_at_once(self.array._device) or not lines:
            return fault.error(text)
        known = f"{text} (It was asked for at {lines[0]}.)"
        several = f"{text} (It was asked for at one of {', '.join(lines[-_LINES:])}.)"
        return fault.error(known if len(lines) == 1 else several)

    def note_line(self) -> None:
        """Note the line of the user's code that calls, where the error will come later."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame = frame.f_back
        if frame is not None and len(self.lines) < 1000:
            self.lines[f"{frame.f_code.co_filename}:{frame.f_lineno}"] = None


def kept_check(device: Device) -> Status | None:
    """The check that this thread has left with the device."""
    return checks.of(device).waiting.get(threading.current_thread())


def keep_check(device: Device, check: Status | None) -> None:
    """Leave a check with the device, in place of the one that this thread had left, or none."""
    waiting, thread = checks.of(device).waiting, threading.current_thread()
    if check is None:
        waiting.pop(thread, None)
    else:
        waiting[thread] = check
        if not tells_at_once(device):
            check.note_line()


def tells_at_once(device: Device) -> bool:
    """Whether wrong values are told at the call: where the host sees the device's memory, unless it is to be later."""
    return device.limits.host_memory == "cached" and configuration.current().check == "now"


def tell(device: Device) -> None:
    """Raise what kernels have found wrong, where that is told at once: for functions that have no plans, which do so."""
    if not watches and checks.are_waiting(device) and tells_at_once(device):
        checks.run(device)


def renewed_check(device: Device) -> Status:
    """A new check, left with the device in place of the one that this thread had left."""
    check = Status(device)
    keep_check(device, check)
    return check


def pending_check(device: Device) -> Status:
    """The check in which kernels that this thread starts now note what they find."""
    return kept_check(device) or renewed_check(device)


# -- values within limits ---------------------------------------------------------------------------------------

_CHECKED = tuple(
    dtype for dtype in dtypes.DTYPES.values() if dtype in CATEGORIES["integer"] or dtype.category == "real floating"
)


@device_caches.cache
def _variant(dtype: DType, device: Device) -> Variant:
    real = dtype.category == "real floating"
    defines = launch.operand_defines("A", dtype) + launch.compute_defines(dtype)
    defines += (("IS_NAN", "vx_is_nan(value)" if real else "false"),)
    defines += (("LIBRARY", launch.library_path("bits" if real else None, dtype)),)
    return Variant("check_values", defines + launch.feature_defines((dtype,), device), f"check of {dtype} values")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype in _CHECKED:
        if is_supported(dtype, device):
            yield _variant(dtype, device)


def _form(dtype: DType) -> str:
    """How `struct` packs a number of the type that kernels compute with."""
    if dtype.category == "real floating":
        return "d" if dtype.bits == 64 else "f"
    wide = "q" if dtype.bits == 64 else "i"
    return wide if dtype.category == "signed integer" else wide.upper()


def check_values(
    fault: WrongValue, x: VkArray, low: float, high: float, *, within: bool = False, length: int = 0
) -> None:
    """Note a fault for a value of x outside of [low, high], limits included; with `within`, for one in there.

    Parameters: x (integers or real floating-point of any shape; NaN is outside); length (for the text of the error).
    The error is raised when the host next reads a value.
    """
    dtype, device = x._dtype, x._device
    # What a broadcast repeats is looked at once.
    once = tuple(size if stride else min(size, 1) for size, stride in zip(x._shape, x._strides, strict=True))
    x = launch.contiguous(x if once == x._shape else x._view(once, x._strides))
    if dtype.category != "real floating":
        least, most = promotion.integer_range(dtype)
        low, high = (max(low, least), min(high, most)) if low <= most and high >= least else (1, 0)
    form = "f4x" if dtype.category == "real floating" else "q" if dtype.category == "signed integer" else "Q"
    fault = fault._replace(form=form)
    if not x.size:
        return
    known = are_checked(x, Limit(fault, low, high, within, length=length))
    code, check = code_of(fault), None if known else pending_check(device)
    status = unread_status(device) if check is None else check.array
    limit = launch.index_limit(device, dtype)
    for first in range(0, x.size, limit):
        count = min(x.size - first, limit)
        fields = {
            "a": pointer(x, first),
            "status": status,
            "low": low,
            "high": high,
            "count": count,
            "code": code,
            "extent": length,
        }
        groups = launch.groups_for(count, device.limits)
        constants = ((1, int(within)),)
        launch.dispatch(_variant(dtype, device), device, groups, fields, writes=("status",), constants=constants)
    if check is not None:
        keep_check(device, check)  # also where another thread's read has checked the words before they were written
