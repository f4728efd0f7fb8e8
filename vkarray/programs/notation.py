"""Arrays as texts, in the notation of IREE's tools: `2x3xf32=1 2 3 4 5 6`, `2x3xf32=0`, `f32=1.5`, `@picture.npy`.

https://iree.dev: `--input` and `--output` of `iree-run-module`. A file may hold bare elements: `2x3xf32=@elements.bin`.
"""

from __future__ import annotations

import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from ..core.array import VkArray
from ..graph import lengths
from ..ops.creation import asarray
from .signature import Input, told
from .tensors import Tensor

TYPES = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "si8": "int8", "si16": "int16", "si32": "int32",
    "si64": "int64", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32", "ui64": "uint64", "f16": "float16", "bf16": "bfloat16",
    "f32": "float32", "f64": "float64", "complex<f32>": "complex64", "complex<f64>": "complex128",
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in reversed(TYPES.items())}
_TEXT = re.compile(r"((?:\d+x)*)([a-z][\w<>]*)(?:=(.*))?", re.DOTALL)
_TRUTHS = {"true": True, "false": False, "1": True, "0": False}
_FEW = 1024  # elements that are printed


def read(text: str, one: Input, device: Any) -> Any:
    """The array or the number that a text stands for. Raises ValueError that names the argument, and what it takes."""
    try:
        return _read(text, one, device)
    except OSError as error:
        why = f"{error.filename or text[1:]} cannot be read: {error.strerror or error}"
    except MemoryError:
        why = "it has more elements than the machine has memory for"
    except (ValueError, OverflowError) as error:
        why = str(error)
    raise ValueError(f"--input={text:.60}: {why}. {one.name} takes {usage(one)}.")


def _read(text: str, one: Input, device: Any) -> Any:
    if text.startswith("@"):
        found = _of_file(Path(text[1:]))
        return _single(found, one) if one.shape is None else _cast(found, found.dtype.name, one, device)
    match = _TEXT.fullmatch(text)
    if match is None or match[2] not in TYPES:
        if one.shape is None:
            return _number(text, one)
        if match is None:
            raise ValueError("it is no array in this notation")
        raise ValueError(f"{match[2]!r} is no type of elements; these are {', '.join(TYPES)}")
    shape, dtype = tuple(int(length) for length in match[1].split("x")[:-1]), TYPES[match[2]]
    if one.shape is not None:
        _check(shape, dtype, one)
    values = _values("0" if match[3] is None else match[3], shape, dtype)
    return _single(values, one) if one.shape is None else _cast(values, dtype, one, device)


def _of_file(path: Path) -> Any:
    with open(path, "rb") as file:
        whole = file if file.seekable() else io.BytesIO(file.read())  # a pipe
        try:
            return np.lib.format.read_array(whole, allow_pickle=False)
        except ValueError as error:
            why = "it holds objects of Python's" if "Object arrays" in str(error) else "it is no .npy file"
            raise ValueError(f"{path} has no array: {why}") from None


def _single(values: Any, one: Input) -> Any:
    if values.size != 1:
        raise ValueError(f"got {told(values.shape)} {values.dtype.name}")
    return one.dtype(values.item())


def _number(text: str, one: Input) -> Any:
    try:
        return one.dtype(text)
    except ValueError:
        raise ValueError("it is no such number") from None


def _values(text: str, shape: tuple[int, ...], dtype: str) -> Any:
    count, host = math.prod(shape), "float32" if dtype == "bfloat16" else dtype
    if text.startswith("@"):
        data = Path(text[1:]).read_bytes()
        if len(data) != count * np.dtype("uint16" if dtype == "bfloat16" else dtype).itemsize:
            raise ValueError(f"{text[1:]} has {len(data)} bytes, which are not {count} of {dtype}")
        return Tensor(dtype, shape, data).numpy()
    words = re.sub(r"[\[\],]", " ", text).split()
    if len(words) not in (1, count):
        raise ValueError(f"{len(words)} values for {count} elements")
    values = np.asarray([_parsed(word, host) for word in words], host)
    return np.broadcast_to(values[0], shape) if len(words) == 1 else values.reshape(shape)


def _parsed(word: str, dtype: str) -> Any:
    if dtype == "bool":
        if word.lower() not in _TRUTHS:
            raise ValueError(f"{word!r} is no truth: give 1, 0, true or false")
        return _TRUTHS[word.lower()]
    return complex(word) if dtype.startswith("complex") else float(word) if dtype.startswith("float") else int(word, 0)


def _check(shape: tuple[int, ...], dtype: str, one: Input) -> None:
    if dtype != one.dtype.name or not _fits(shape, one):
        raise ValueError(f"got {told(shape)} {dtype}")


def _cast(values: Any, dtype: str, one: Input, device: Any) -> VkArray:
    own = one.dtype.name
    _check(values.shape, dtype, one)
    array = asarray(values.copy(), device=device)  # of what may be broadcast
    if own != "bfloat16":
        return array
    return array.view("bfloat16") if values.dtype.name == "uint16" else array.astype("bfloat16")


def _fits(shape: tuple[int, ...], one: Input) -> bool:
    own = one.shape or ()
    return len(shape) == len(own) and all(
        not isinstance(length, int) or length == n for length, n in zip(own, shape, strict=True)
    )


def usage(one: Input) -> str:
    """What an input takes, in a text."""
    if one.shape is None:
        return f"a number of type {one.dtype.__name__}"
    shape = [lengths.told(n) for n in one.shape]
    return f"{'x'.join([*shape, _NAMES[one.dtype.name]])}=..., or @file.npy, an array of {told(one.shape)} {one.dtype.name}"


def write(text: str, array: VkArray) -> None:
    """Write a result where a text says: `@file.npy`, or `+file.npy` after what is there. Raises ValueError."""
    if text[:1] not in ("@", "+") or not text[1:]:
        raise ValueError(
            f"--output={text:.60}: expected @file.npy, +file.npy to append to it, or no --output to print it."
        )
    values = np.asarray(array.astype("float32") if array.dtype.name == "bfloat16" else array)
    try:
        with open(text[1:], "wb" if text[0] == "@" else "ab") as file:
            np.save(file, values, allow_pickle=False)
    except OSError as error:
        raise ValueError(f"--output={text:.60}: the file cannot be written: {error.strerror}.") from None


def told_values(array: VkArray) -> str:
    """An array as a text in this notation."""
    dtype = array.dtype.name
    values = np.asarray(array.astype("float32") if dtype == "bfloat16" else array)
    head = "x".join([*map(str, values.shape), _NAMES[dtype]])
    if values.size > _FEW:
        return f"{head}=..."
    return f"{head}={_rows(values)}"


def _rows(values: Any) -> str:
    if values.ndim == 0:
        return str(values[()])
    if values.ndim == 1:
        return " ".join(map(str, values))
    return "".join(f"[{_rows(one)}]" for one in values)
