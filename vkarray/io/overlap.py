"""Whether arrays share memory."""

from __future__ import annotations

from typing import Any

from ..core.array import VkArray, storage_itemsize

__all__ = ["may_share_memory", "shares_memory"]


class _Memory:
    """The addresses of an array of a device, as NumPy knows those of the host. Nothing reads what is there."""

    def __init__(self, x: VkArray) -> None:
        size = storage_itemsize(x._dtype, x._device)
        self.__array_interface__ = {
            "version": 3, "shape": x._shape, "strides": tuple(stride * size for stride in x._strides),
            "typestr": f"|V{size}", "data": (x._address, True),
        }  # fmt: skip


def _asked(function: str, a: Any, b: Any, max_work: int | None) -> bool:
    import numpy as np

    arrays = [x for x in (a, b) if isinstance(x, VkArray)]
    if len(arrays) < 2 or a._device is not b._device or not a.size or not b.size:
        return False
    return getattr(np, function)(*(np.asarray(_Memory(x)) for x in arrays), max_work=max_work)


def shares_memory(a: Any, b: Any, /, max_work: int | None = -1) -> bool:
    """Whether an element of one array lies in the same memory as one of another, exactly.

    Parameters: a, b (other objects share none with an array of a device); max_work (steps to try, -1 for as many as it takes).
    Raises RuntimeError (`numpy.exceptions.TooHardError`) where max_work steps are too few.
    """
    return _asked("shares_memory", a, b, max_work)


def may_share_memory(a: Any, b: Any, /, max_work: int | None = 0) -> bool:
    """Whether the ranges of memory from first to last element of two arrays overlap.

    Parameters and errors: as for `shares_memory`.
    """
    return _asked("may_share_memory", a, b, max_work)
