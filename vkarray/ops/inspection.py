"""`__array_namespace_info__` of the standard (chapter "Inspection")."""

from __future__ import annotations

from typing import Any

from .. import _vk
from ..core import dtypes as _dtypes
from ..core.array import default_dtype, is_supported
from ..core.dtypes import DType
from ..kernels.launch import as_device
from .data_type import isdtype

# float16 and bfloat16 are extensions; the standard's listing has its own types alone.
_STANDARD = [dtype for name, dtype in _dtypes.DTYPES.items() if name not in ("float16", "bfloat16")]


class Info:
    """What the namespace can do."""

    def capabilities(self) -> dict[str, bool | int | None]:
        """Boolean indexing and data-dependent shapes are there; arrays have at most 64 dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> _vk.Device:
        """The device of new arrays: VKARRAY_DEVICE, or the best one."""
        return _vk.open_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The default types; integers are int32 on a device without int64."""
        target = as_device(device)
        integer = default_dtype("int", target)
        return {
            "real floating": default_dtype("float", target), "complex floating": default_dtype("complex", target),
            "integral": integer, "indexing": integer,
        }  # fmt: skip

    def devices(self) -> tuple[_vk.Device, ...]:
        """All usable devices."""
        return tuple(_vk.open_device(found.index) for found in _vk.enumerate_devices() if found.usable)

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """The standard's types that a device supports, of one kind or several (see `isdtype`)."""
        target = as_device(device)
        return {
            dtype.name: dtype
            for dtype in _STANDARD
            if is_supported(dtype, target) and (kind is None or isdtype(dtype, kind))
        }


def __array_namespace_info__() -> Info:
    """What the namespace can do: capabilities, default device and types, devices, types."""
    return Info()
