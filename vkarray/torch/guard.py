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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cffi
import torch

_ROOT = Path(torch.__file__).parent
_HEADER = "include/c10/core/impl/DeviceGuardImplInterface.h"
_CLASS = b"N5torch3acc17PythonDeviceGuardE"
_TYPE = torch._C._autograd.DeviceType.PrivateUse1.value
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


def _functions(count: Callable[[], int], get: Callable[[], int], put: Callable[[int], None]) -> dict[str, Any]:
    """The functions that replace those of PyTorch's class, by name. There is one stream for each device: the default one."""

    def number() -> int:
        try:
            return min(count(), 127)
        except Exception:  # PyTorch's C++ asks for 0, then
            return 0

    def exchange(_: Any, device: Any) -> tuple[int, int]:
        before = get()
        put(device.index)
        return _TYPE, before

    def stream_of(_: Any, device: Any, *rest: Any) -> tuple[tuple[int, int], int]:
        return (_TYPE, device.index if device.index >= 0 else get()), 0

    of_device = _ffi.callback("Stream(void *, Device)", stream_of)
    set_device = _ffi.callback("void(void *, Device)", lambda _, device: put(device.index))
    return {
        "type": _ffi.callback("int8_t(void *)", lambda _: _TYPE),
        "deviceCount": _ffi.callback("int8_t(void *)", lambda _: number()),
        "getDevice": _ffi.callback("Device(void *)", lambda _: (_TYPE, get())),
        "exchangeDevice": _ffi.callback("Device(void *, Device)", exchange),
        "setDevice": set_device,
        "uncheckedSetDevice": set_device,
        "getStream": of_device,
        "getDefaultStream": of_device,
        "getNewStream": _ffi.callback("Stream(void *, Device, int)", stream_of),
        "exchangeStream": _ffi.callback("Stream(void *, Stream)", lambda _, stream: ((_TYPE, stream.device.index), 0)),
    }


def _replace(functions: dict[str, Any]) -> tuple[Callable[[], None], Callable[[str, Any], None]]:
    """Give PyTorch's object these functions. Returns what takes them back, and what adds one; raises _Mismatch."""
    names = _order((_ROOT / _HEADER).read_text(encoding="utf-8"))
    missing = functions.keys() - set(names)
    if missing:
        raise _Mismatch(f"its class of device guards lacks {', '.join(sorted(missing))}")
    registry = _library("libc10")._ZN3c104impl26device_guard_impl_registryE
    held = _ffi.cast("void ***", registry[_TYPE])
    if held == _ffi.NULL:
        raise _Mismatch("it has no device guard")
    theirs = held[0]
    name = _ffi.string(_ffi.cast("char **", theirs[-1])[1])
    if theirs[-2] != _ffi.NULL or name.lstrip(b"*") != _CLASS:
        raise _Mismatch(f"its device guard is a {name.decode()}")
    ours = _ffi.new("void *[]", [theirs[place] for place in range(-_BEFORE, len(names))])

    def add(name: str, function: Any) -> None:
        ours[_BEFORE + names.index(name)] = _ffi.cast("void *", function)

    for name, function in functions.items():
        add(name, function)
    kept = ours, functions
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))  # threads of PyTorch's may ask when modules are gone
    held[0] = ours + _BEFORE

    def restore() -> None:
        held[0] = theirs

    return restore, add


def _check(answers: dict[str, int]) -> None:
    """Ask PyTorch for what it was given. Raises _Mismatch."""
    asked = torch._C
    answers.update(count=3, index=2)
    found = {
        "number": _library("libtorch_cpu")._ZN2at11accelerator11deviceCountEv(),
        "current": asked._accelerator_getDeviceIndex(),
        "exchanged": asked._accelerator_exchangeDevice(1),
        "then": asked._accelerator_getDeviceIndex(),
        "stream's": torch.Stream("vulkan:2").device_index,
    }
    asked._accelerator_setDeviceIndex(0)
    found["at last"] = answers["index"]
    wanted = {"number": 3, "current": 2, "exchanged": 2, "then": 1, "stream's": 2, "at last": 0}
    if found != wanted:
        raise _Mismatch(f"it says {found} where {wanted} was set")


_for_several: list[Callable[[], None]] = []


def know_several() -> None:
    """Let PyTorch put back the current device by a function of Python's: where there is one device it need not.

    It does so while errors unwind its C++, too, and an error that Python has raised is lost when Python runs meanwhile.
    """
    while _for_several:
        _for_several.pop()()


def install(count: Callable[[], int], get: Callable[[], int], put: Callable[[int], None]) -> str | None:
    """Let PyTorch's C++ ask these functions for the number of devices and for a thread's current index, and set that.

    Returns None, or why PyTorch knows one device alone as it did before.
    """
    trial: dict[str, int] = {}
    try:
        restore, _ = _replace(
            _functions(lambda: trial["count"], lambda: trial["index"], lambda index: trial.update(index=index))
        )
        try:
            _check(trial)
        finally:
            restore()
        functions = _functions(count, get, put)
        put_back = functions.pop("uncheckedSetDevice")
        restore, add = _replace(functions)
        atexit.register(restore)
        _for_several.append(lambda: add("uncheckedSetDevice", put_back))
        # Each device has one stream, so gradients that go from one device to another meet another stream, in no race.
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    except (_Mismatch, OSError, AttributeError, RuntimeError, MemoryError, SystemError) as error:
        return (
            f"vkarray.torch: several devices need to be known to PyTorch's C++, and this build of PyTorch "
            f"{torch.__version__} is not as expected: {error}."
        )
    return None
