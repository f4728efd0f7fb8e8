"""Tensors as bytes in the format safetensors: a table as JSON, and the elements in the order of the table.

https://github.com/huggingface/safetensors#format. Complex numbers, which the format has no type for, are pairs of real ones.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..core.array import VkArray
from ..ops.creation import asarray
from .container import damaged, parsed

_LENGTH = struct.Struct("<Q")
_NAMES = {
    "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
}  # fmt: skip
_PAIRS = {"complex64": "float32", "complex128": "float64"}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}
_SIZES = {
    name: 1 if dtype == "bool" else int(dtype.strip("abcdefghijklmnopqrstuvwxyz")) // 8
    for name, dtype in _TYPES.items()
}
_RANK = 64  # dimensions of a tensor at most


class Tensor(NamedTuple):
    """The elements of an array: the name of its type, its shape, and its bytes in C order."""

    dtype: str
    shape: tuple[int, ...]
    data: Any

    @classmethod
    def of(cls, values: Any) -> Tensor:
        """Those of an array of the library's or of NumPy's."""
        if isinstance(values, VkArray):
            name = values.dtype.name
            values = np.asarray(values.view("uint16") if name == "bfloat16" else values)
        else:
            name = np.asarray(values).dtype.name
        if name not in _NAMES and name not in _PAIRS:
            raise TypeError(f"expected an array of a type of vkarray's, got {name}")
        values = np.asarray(values)
        return cls(name, values.shape, values.tobytes())

    def numpy(self) -> np.ndarray[Any, Any]:
        """As an array of NumPy's over the same memory; bfloat16 as uint16."""
        found = np.frombuffer(self.data, "uint16" if self.dtype == "bfloat16" else self.dtype).reshape(self.shape)
        return found if self.dtype != "bool" else found.view("uint8") != 0

    def array(self, device: Any) -> VkArray:
        """As an array on a device. Raises FeatureError where that lacks the type."""
        found = asarray(self.numpy(), device=device)
        return found.view("bfloat16") if self.dtype == "bfloat16" else found


def written(tensors: Mapping[str, Tensor]) -> bytes:
    """The bytes of a file of tensors."""
    table, end = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        real = _PAIRS.get(dtype)
        lengths = [*shape, 2] if real else list(shape)
        table[name] = {"dtype": _NAMES[real or dtype], "shape": lengths, "data_offsets": [end, end + len(data)]}
        end += len(data)
    listed = json.dumps(table).encode()
    listed = listed.ljust(-(-(len(listed) + _LENGTH.size) // 64) * 64 - _LENGTH.size)
    return b"".join((_LENGTH.pack(len(listed)), listed, *(one.data for one in tensors.values())))


def read(path: Any, data: memoryview, types: Mapping[str, str]) -> dict[str, Tensor]:
    """The tensors of a file, whose elements stay where they are. `types` has for each name the type that it is to have.

    Raises ProgramError for bytes that are no such file, and where a tensor is missing, of another type, or too much.
    """
    if len(data) < _LENGTH.size or (length := _LENGTH.unpack_from(data)[0]) > len(data) - _LENGTH.size:
        raise damaged(path, "its weights are cut off")
    table = parsed(path, bytes(data[_LENGTH.size : _LENGTH.size + length]))
    elements, end, found = data[_LENGTH.size + length :], 0, {}
    if not isinstance(table, dict) or set(table) != set(types):
        raise damaged(path, "its weights are damaged: their names are others than those that the program takes")
    for name, row in table.items():
        end, found[name] = _tensor(path, name, row, types[name], elements, end)
    if end != len(elements):
        raise damaged(path, f"its weights are damaged: {len(elements) - end} bytes belong to none")
    return found


def _tensor(path: Any, name: str, row: Any, dtype: str, elements: memoryview, begin: int) -> tuple[int, Tensor]:
    wrong = damaged(path, f"its weights are damaged at {name!r:.40}")
    if not isinstance(row, dict) or set(row) != {"dtype", "shape", "data_offsets"}:
        raise wrong
    kind, shape, offsets = row["dtype"], row["shape"], row["data_offsets"]
    real = _PAIRS.get(dtype, dtype)
    if real not in _NAMES or kind != _NAMES[real]:
        raise wrong
    if (
        not isinstance(shape, list)
        or len(shape) > _RANK
        or any(type(one) is not int or not 0 <= one < 1 << 48 for one in shape)
    ):
        raise wrong
    if dtype in _PAIRS and shape[-1:] != [2]:
        raise wrong
    end = begin + math.prod(shape) * _SIZES[kind]
    if offsets != [begin, end] or end > len(elements):
        raise wrong
    return end, Tensor(dtype, tuple(shape[:-1] if dtype in _PAIRS else shape), elements[begin:end])
