"""What PyTorch's C++ asks about devices: how many there are, and which is the current one.

PyTorch lets a device in Python answer with its name alone: the C++ class behind says 1 and 0 to these questions. So the object
gets a table of virtual functions of our own: a copy of its class's table (Itanium C++ ABI, 2.5.2: which compilers use on all
systems but Windows) where some functions are Python's. The order of functions in the table is that of PyTorch's own header,
which its packages carry. Nothing is replaced where the header, the class or what PyTorch answers afterwards is not as expected.
"""

from __future__ import annotations

import atexit
import ctypes
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import cffi
import torch

_ROOT = Path(torch.__file__).parent
_HEADER = "include/c10/core/impl/DeviceGuardImplInterface.h"
_CLASS = b"N5torch3acc17PythonDeviceGuardE"
_CPU, _TYPE = torch._C._autograd.DeviceType.CPU.value, torch._C._autograd.DeviceType.PrivateUse1.value
_BEFORE = 2  # entries before the first function: the distance to the whole object, and its type

_ffi = cffi.FFI()
_ffi.cdef("""
    typedef struct { int8_t type, index; } Device;
    typedef struct { Device device; int64_t id; } Stream;
    extern void *_ZN3c104impl26device_guard_impl_registryE[];  // of libc10
    int8_t _ZN2at11accelerator11deviceCountEv(void);  // of libtorch_cpu
""")


class _Mismatch(Exception):
    """PyTorch is not built as expected."""


def _library(name: str) -> Any:
    """One of PyTorch's libraries."""
    found = sorted((_ROOT / "lib").glob(f"{name}.*"))
    if not found:
        raise _Mismatch(f"it has no library {name}")
    return _ffi.dlopen(str(found[0]))


def _order(header: str) -> list[str]:
    """The names of virtual functions in the order of the table."""
    begin = header.find("struct C10_API DeviceGuardImplInterface {")
    body = header[begin : header.find("\n};", begin)] if begin >= 0 else ""
    body = re.sub(r"//[^\n]*|/\*.*?\*/", "", body, flags=re.DOTALL)
    names = re.findall(r"\bvirtual\b[^;{(]*?(~?\w+)\s*\(", body)
    if not names or not names[-1].startswith("~"):
        raise _Mismatch(f"its header {_HEADER} declares other functions")
    return [*names, "the destructor that frees"]


class Current(Protocol):
    """The index of a thread's current device."""

    index: int


def _functions(count: Callable[[], int], current: Current) -> dict[str, Any]:
    """The functions that replace those of PyTorch's class, by name. There is one stream for each device: the default one.

    Some of them run while errors unwind C++, with an error of Python's pending. So they call no function: Python would take that
    error for one of that function's, and it would be lost. Attributes and tuples leave it alone.
    """

    def number(_: Any) -> int:
        try:
            return min(count(), 127)
        except Exception:  # PyTorch's C++ asks for 0, then
            return 0

    def put(_: Any, device: Any) -> None:
        current.index = device.index

    def exchange(_: Any, device: Any) -> tuple[int, int]:
        before = current.index
        current.index = device.index
        return _TYPE, before

    streams = [_ffi.new("Stream *", ((_TYPE, index), 0)) for index in range(128)]
    found = [one[0] for one in streams]  # PyTorch asks several times for each node of the graph of gradients

    def stream_of(_: Any, device: Any, *rest: Any) -> Any:
        index = device.index
        return found[index if index >= 0 else current.index]

    of_device = _ffi.callback("Stream(void *, Device)", stream_of)
    set_device = _ffi.callback("void(void *, Device)", put)
    return {
        "type": _ffi.callback("int8_t(void *)", lambda _: _TYPE),
        "deviceCount": _ffi.callback("int8_t(void *)", number),
        "getDevice": _ffi.callback("Device(void *)", lambda _: (_TYPE, current.index)),
        "exchangeDevice": _ffi.callback("Device(void *, Device)", exchange),
        "setDevice": set_device,
        "uncheckedSetDevice": set_device,
        "getStream": of_device,
        "getDefaultStream": of_device,
        "getNewStream": _ffi.callback("Stream(void *, Device, int)", stream_of),
    }


# What PyTorch calls for each node of the graph of gradients, and the CPU's guard does as well, which is nothing, without a step of
# Python. A device has one stream, and nobody looks at the one that was current before. Where there is one device, it is the
# current one, and nobody looks at which one was so before: the CPU's guard says -1.
_OF_STREAMS = ("exchangeStream",)
_OF_ONE_DEVICE = ("exchangeDevice", "uncheckedSetDevice")


class _Replaced:
    """PyTorch's object, which has these functions in place of its own. Raises _Mismatch where it cannot have them."""

    def __init__(self, functions: dict[str, Any]) -> None:
        self.names = names = _order((_ROOT / _HEADER).read_text(encoding="utf-8"))
        missing = {*functions, *_OF_STREAMS, *_OF_ONE_DEVICE} - set(names)
        if missing:
            raise _Mismatch(f"its class of device guards lacks {', '.join(sorted(missing))}")
        registry = _library("libc10")._ZN3c104impl26device_guard_impl_registryE
        self.held, of_the_cpu = (_ffi.cast("void ***", registry[kind]) for kind in (_TYPE, _CPU))
        if _ffi.NULL in (self.held, of_the_cpu):
            raise _Mismatch("it has no device guard")
        self.theirs, self.of_the_cpu = self.held[0], of_the_cpu[0]
        name = _ffi.string(_ffi.cast("char **", self.theirs[-1])[1])
        if self.theirs[-2] != _ffi.NULL or name.lstrip(b"*") != _CLASS:
            raise _Mismatch(f"its device guard is a {name.decode()}")
        self.ours = _ffi.new("void *[]", [self.theirs[place] for place in range(-_BEFORE, len(names))])
        for name, function in functions.items():
            self.ours[_BEFORE + names.index(name)] = _ffi.cast("void *", function)
        self.leave_to_the_cpu(_OF_STREAMS)
        kept = self.ours, functions
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))  # threads of PyTorch's may ask when modules are gone
        self.held[0] = self.ours + _BEFORE

    def leave_to_the_cpu(self, names: Sequence[str]) -> None:
        """Let the CPU's guard answer these from now on."""
        for name in names:
            self.ours[_BEFORE + self.names.index(name)] = self.of_the_cpu[self.names.index(name)]

    def restore(self) -> None:
        """Give the object its own functions again."""
        self.held[0] = self.theirs


_replaced: list[_Replaced] = []  # one, once it is installed


def note_count(count: int) -> None:
    """Hear how many devices there are, once that is known."""
    if count == 1:
        for one in _replaced:
            one.leave_to_the_cpu(_OF_ONE_DEVICE)


def _check(current: Current) -> None:
    """Ask PyTorch for what it was given. Raises _Mismatch."""
    current.index = 2
    asked = torch._C
    found = {
        "number": _library("libtorch_cpu")._ZN2at11accelerator11deviceCountEv(),
        "current": asked._accelerator_getDeviceIndex(),
        "exchanged": asked._accelerator_exchangeDevice(1),
        "then": asked._accelerator_getDeviceIndex(),
        "stream's": torch.Stream("vulkan:2").device_index,
    }
    asked._accelerator_setDeviceIndex(0)
    found["at last"] = current.index
    wanted = {"number": 3, "current": 2, "exchanged": 2, "then": 1, "stream's": 2, "at last": 0}
    if found != wanted:
        raise _Mismatch(f"it says {found} where {wanted} was set")


def install(count: Callable[[], int], current: Current) -> str | None:
    """Let PyTorch's C++ ask this function for the number of devices, and read and set the index of a thread's current one.

    Returns None, or why PyTorch knows one device alone as it did before.
    """
    trial = SimpleNamespace(index=2)
    try:
        tried = _Replaced(_functions(lambda: 3, trial))
        try:
            _check(trial)
        finally:
            tried.restore()
        _replaced.append(_Replaced(_functions(count, current)))
        atexit.register(_replaced[0].restore)
        # Each device has one stream, so gradients that go from one device to another meet another stream, in no race.
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    except (_Mismatch, OSError, AttributeError, RuntimeError, MemoryError, SystemError) as error:
        return (
            f"vkarray.torch: several devices need to be known to PyTorch's C++, and this build of PyTorch "
            f"{torch.__version__} is not as expected: {error}."
        )
    return None
