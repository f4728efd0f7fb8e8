"""Arrays in files of NumPy's formats: `save`, `savez` and `load`."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any, Literal

from ..core import dtypes, promotion
from ..core.array import ArrayLike, VkArray
from ..ops.creation import asarray
from . import interchange

__all__ = ["load", "save", "savez", "savez_compressed"]

_MAGIC, _ZIP = b"\x93NUMPY", (b"PK\3\4", b"PK\5\6")
# Version of the format -> what holds the length of the header, and its encoding.
_HEADERS: dict[tuple[int, ...], tuple[struct.Struct, str]] = {
    (1, 0): (struct.Struct("<H"), "latin-1"),
    (2, 0): (struct.Struct("<I"), "latin-1"),
    (3, 0): (struct.Struct("<I"), "utf-8"),
}
_LARGEST_HEADER = 10_000  # as in NumPy: Python's parser is not safe from longer ones
_END = struct.Struct("<4s4xHH10x")  # the end of a .zip file's directory: signature, numbers of members; 0xFFFF is many
_LONG = re.compile(r"\b(\d+)L\b")  # whole numbers of Python 2
_PIECE = 1 << 20  # bytes to read at once, at first


class Arrays(dict[str, VkArray]):
    """The arrays of a file .npz by name, all of them read, with what NumPy's object of an open file has."""

    @property
    def files(self) -> list[str]:
        """The names."""
        return list(self)

    def __enter__(self) -> Arrays:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def close(self) -> None:
        """Nothing: the file is closed already."""


def _values(function: str, x: Any) -> Any:
    if isinstance(x, (list, tuple)) or promotion.is_scalar(x):
        x = asarray(x)
    if not isinstance(x, VkArray):
        raise TypeError(
            f"{function}: expected vkarray arrays, got {type(x).__name__}. Convert it with vkarray.asarray."
        )
    if x.dtype is dtypes.bfloat16:
        raise TypeError(f"{function}: NumPy's format has no bfloat16. Save vkarray.astype(x, vkarray.float32).")
    return interchange.to_numpy(x)


@contextlib.contextmanager
def _explaining(file: Any) -> Iterator[None]:
    """One kind of error, which names the file, for all that damaged and foreign files make of the readers below."""
    import zipfile

    try:
        yield
    except OSError:  # of the file system; some are ValueErrors too
        raise
    except (
        ValueError, LookupError, ArithmeticError, RuntimeError, EOFError, struct.error, zipfile.BadZipFile, zlib.error
    ) as error:  # fmt: skip
        raise ValueError(
            f"load: {_name(file)} is not a whole file of NumPy's formats .npy or .npz: "
            f"{str(error).rstrip('.') or type(error).__name__}. Write it anew with numpy.save or numpy.savez, as an array "
            "of numbers."
        ) from error


def _name(file: Any) -> str:
    return f"{getattr(file, 'name', file)!s:.200}"


def save(file: Any, arr: ArrayLike, allow_pickle: bool = True) -> None:
    """Write an array to a file of NumPy's format .npy.

    Parameters: file (a path, to which .npy is added where it lacks it, or a file open for writing bytes); arr; allow_pickle
    changes nothing.
    Raises TypeError for what is not an array and for bfloat16, OSError for a file that cannot be written to its end.
    """
    values = _values("save", arr)
    if hasattr(file, "write"):
        _write_array(file, values)
        return
    path = os.fsdecode(file)
    with open(path if path.endswith(".npy") else f"{path}.npy", "wb") as opened:
        _write_array(opened, values)


def _write_array(file: Any, values: Any) -> None:
    """Write a contiguous NumPy array in the format .npy. NumPy's own writer does not notice a full disk at the end."""
    import numpy as np

    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(values))
    for content in (header.getbuffer(), memoryview(values.reshape(-1).view(np.uint8))):
        while content:
            written = file.write(content)  # a file without a buffer may take a part
            content = content[written:] if isinstance(written, int) else content[:0]


def savez(
    file: Any, *arrays: ArrayLike, compressed: bool = False, allow_pickle: bool = True, **named: ArrayLike
) -> None:
    """Write several arrays to a file of NumPy's format .npz.

    Parameters: file (as for `save`, with .npz); arrays, which get the names arr_0, arr_1, ...; arrays by name; compressed;
    allow_pickle changes nothing.
    Raises TypeError for what is not an array and for bfloat16, ValueError for a name given twice, OSError.
    """
    import numpy as np

    numbered = {f"arr_{place}": x for place, x in enumerate(arrays)}
    twice = sorted(numbered.keys() & named.keys())
    if twice:
        raise ValueError(f"savez: {twice[0]} is the name of an array without one; give it another.")
    values: dict[str, Any] = {name: _values("savez", x) for name, x in {**numbered, **named}.items()}
    (np.savez_compressed if compressed else np.savez)(file, allow_pickle=False, **values)


def savez_compressed(file: Any, *arrays: ArrayLike, allow_pickle: bool = True, **named: ArrayLike) -> None:
    """Write several arrays to a compressed file of NumPy's format .npz. Parameters and errors: as for `savez`."""
    savez(file, *arrays, compressed=True, **named)


def load(
    file: Any, mmap_mode: str | None = None, allow_pickle: bool = False, *, device: Any = None
) -> VkArray | Arrays:
    """Read what `save`, `savez` or NumPy wrote: an array from a file .npy, a dictionary of arrays by name from .npz.

    Parameters: file (a path, or a file open for reading bytes, from which one array is read, so that the next call reads
    the next one); mmap_mode and allow_pickle change nothing; device (of the arrays; the default device by default).
    Raises OSError for a file that cannot be read, ValueError for damaged files and other contents (pickled objects are
    never loaded; a path must hold one array and no more), TypeError for a dtype that vkarray lacks and for a file open for
    text, FeatureError for a dtype that the device lacks.
    """
    if hasattr(file, "read"):
        return _load(file, device, False, _PIECE)
    with open(os.fspath(file), "rb") as opened:
        return _load(opened, device, True, os.fstat(opened.fileno()).st_size)


def _load(file: Any, device: Any, only: bool, size: int) -> VkArray | Arrays:
    with _explaining(file):
        start = file.read(len(_MAGIC))
        if not isinstance(start, (bytes, bytearray)):
            raise TypeError(f"load: expected a file open for bytes, {_name(file)} gives {type(start).__name__}.")
        is_archive = start.startswith(_ZIP)
        values = None if is_archive else _read_array(file, bytes(start), only, size)
    return _load_archive(file, device, size) if is_archive else _to_device(values, file, device)


def _load_archive(file: Any, device: Any, size: int) -> Arrays:
    import zipfile

    arrays = Arrays()
    with contextlib.ExitStack() as stack:
        with _explaining(file):
            archive = stack.enter_context(zipfile.ZipFile(file))
            members = archive.infolist()
            # Python's reader does not miss members that damage of the directory has hidden.
            file.seek(-_END.size - len(archive.comment), os.SEEK_END)
            signature, here, count = _END.unpack(file.read(_END.size))
            if signature != b"PK\5\6" or not here == count == min(len(members), 0xFFFF):
                raise ValueError(f"its directory is damaged: {len(members)} members of {max(here, count)} can be found")
        for member in members:
            name = member.filename.removesuffix(".npy")
            with _explaining(file):
                if member.header_offset < 0:
                    raise ValueError("its directory does not fit its length")
                if name in arrays:
                    raise ValueError(f"it has {name!r:.200} twice")
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ValueError(f"{name!r:.200} is compressed by a method that NumPy does not use")
                with archive.open(member) as opened:
                    values = _read_array(opened, opened.read(len(_MAGIC)), True, size)
            arrays[name] = _to_device(values, file, device)
    return arrays


def _to_device(values: Any, file: Any, device: Any) -> VkArray:
    if values.dtype.name not in dtypes.DTYPES:
        raise TypeError(
            f"load: {_name(file)} holds values of NumPy's {values.dtype!r}; expected one of {', '.join(dtypes.DTYPES)}. "
            "Convert them with NumPy first."
        )
    return asarray(values, device=device)


def _read_array(file: Any, start: bytes, only: bool, size: int) -> Any:
    """The NumPy array of a file of the format .npy, of which `start` was read; it must end there if it is the `only` one.

    `size` is how many bytes may be read at once. Source: NumPy Enhancement Proposal 1. Unlike NumPy's reader, this one
    takes no memory for bytes that may not be there.
    """
    import numpy as np

    if start != _MAGIC:
        raise ValueError("it holds Python objects or something else")
    version = tuple(_exactly(file, 2))
    if version not in _HEADERS:
        raise ValueError(f"it has version {version[0]}.{version[1]} of the format, which is not known")
    length, encoding = _HEADERS[version]
    (header,) = length.unpack(_exactly(file, length.size))
    if header > _LARGEST_HEADER:
        raise ValueError(f"it has a header of {header} bytes, where {_LARGEST_HEADER} are the most")
    dtype, order, shape = _parse_header(_exactly(file, header).decode(encoding))
    data = _exactly(file, math.prod(shape) * dtype.itemsize, size)
    if only and file.read(1):
        raise ValueError(f"it goes on after an array of shape {shape} and {dtype}")
    values: Any = np.ndarray(shape, dtype, data, order=order)
    if dtype.kind == "b" and data and max(data) > 1:
        raise ValueError("booleans in it are neither 0 nor 1")
    return values


def _parse_header(text: str) -> tuple[Any, Literal["C", "F"], tuple[int, ...]]:
    """Type, order and shape of a header: a Python dictionary as text."""
    import ast

    import numpy as np

    try:
        header = ast.literal_eval(_LONG.sub(r"\1", text))
        description, fortran, shape = (header[key] for key in ("descr", "fortran_order", "shape"))
        dtype = np.lib.format.descr_to_dtype(description)
    except Exception as error:  # NumPy and Python's parser raise a dozen kinds
        raise ValueError(f"its header cannot be read ({type(error).__name__}: {error})") from None
    if len(header) != 3 or type(fortran) is not bool or type(shape) is not tuple:
        raise ValueError(f"its header is {text.strip()!r:.200}")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"its header says that it has the shape {shape!r:.200}")
    if dtype.hasobject:
        raise ValueError("it holds Python objects or something else")
    return dtype, "F" if fortran else "C", shape


def _exactly(file: Any, count: int, size: int = _PIECE) -> bytes | bytearray:
    """The next `count` bytes of a file, `size` of them at once, in memory that grows as they come."""
    data = file.read(min(count, size))
    if len(data) < count:
        data = bytearray(data)
        while piece := file.read(min(count - len(data), max(_PIECE, len(data)))):
            data += piece
        if len(data) < count:
            raise ValueError(f"it ends {count - len(data)} bytes too early")
    return data
