"""Tensors over device memory by way of DLPack, which PyTorch reads in a fifth of the time that `Tensor.set_` takes.

PyTorch looks at a description when it makes a tensor, and once more when the tensor's memory is no longer used. Ours have no
deleter: who makes a tensor keeps its memory alive. They are written to again and again, and never freed.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from ...core import dtypes
from ...core.dtypes import DType

_EXTENSION = 12  # what DLPack calls a device of PyTorch's PrivateUse1 key
_KINDS = {"bool": 6, "signed integer": 0, "unsigned integer": 1, "real floating": 2, "complex floating": 5}
_KIND_OF_BFLOAT16 = 4

# `DLManagedTensor`: the address; device and its number, rank, type (kind, bits, how many side by side), where lengths and strides
# lie, the first byte; then two pointers for the owner.
_fields = struct.Struct("=2iiBBH3Q2Q")
_write = struct.Struct(f"=Q{_fields.size}s").pack_into

_NAME = b"dltensor"  # capsules point to it
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_import = torch._C._from_dlpack

_descriptions: list[Any] = []  # all of them, each with its address
_free: list[Any] = []  # those that nobody writes to


class Form(NamedTuple):
    """What a description says besides the address, and the numbers that it points to."""

    fields: bytes
    lengths: Any


def form(shape: Sequence[int], strides: Sequence[int], dtype: DType, index: int) -> Form:
    """The form of tensors of this look on the device of an index."""
    lengths = (ctypes.c_int64 * (2 * len(shape) + 1))(*shape, *strides)
    place, kind = ctypes.addressof(lengths), _KIND_OF_BFLOAT16 if dtype is dtypes.bfloat16 else _KINDS[dtype.category]
    places = (place, place + 8 * len(shape))
    return Form(_fields.pack(_EXTENSION, index, len(shape), kind, 8 * dtype.itemsize, 1, *places, 0, 0, 0), lengths)


def tensor_at(address: int, form: Form) -> torch.Tensor:
    """A tensor whose storage begins at an address, which has to stay valid as long as the storage."""
    try:
        memory, place = described = (
            _free.pop()
        )  # for itself: other threads, and what the garbage collector runs, make tensors meanwhile
    except IndexError:
        memory = ctypes.create_string_buffer(8 + _fields.size)
        memory, place = described = memory, ctypes.addressof(memory)
        _descriptions.append(described)
    _write(memory, 0, address, form.fields)
    tensor: torch.Tensor = _import(_capsule(place, _NAME, None))
    _free.append(described)
    return tensor
