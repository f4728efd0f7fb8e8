"""Arrays in files of NumPy's formats: `save`, `savez` and `load`."""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from . import dtypes, interchange
from .array import VkArray
from .ops.creation import asarray

__all__ = ["load", "save", "savez"]


def _values(function: str, x: Any) -> Any:
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
    except (ValueError, EOFError, struct.error, zipfile.BadZipFile, zlib.error) as error:
        # NumPy takes what has no header for pickled objects, and advises an argument that `load` does not have.
        said = "it holds Python objects or something else" if "allow_pickle" in str(error) else f"{error}"
        raise ValueError(
            f"load: {getattr(file, 'name', file)!s:.200} is not a whole file of NumPy's formats .npy or .npz: "
            f"{said.rstrip('.')}. Write it anew with numpy.save or numpy.savez, as an array of numbers."
        ) from error


def save(file: Any, x: VkArray) -> None:
    """Write an array to a file of NumPy's format .npy.

    Parameters: file (a path, to which .npy is added where it lacks it, or a file open for writing bytes); x.
    Raises TypeError for what is not an array and for bfloat16, OSError for a file that cannot be written.
    """
    import numpy as np

    np.save(file, _values("save", x), allow_pickle=False)


def savez(file: Any, *arrays: VkArray, compressed: bool = False, **named: VkArray) -> None:
    """Write several arrays to a file of NumPy's format .npz.

    Parameters: file (as for `save`, with .npz); arrays, which get the names arr_0, arr_1, ...; arrays by name; compressed.
    Raises TypeError for what is not an array and for bfloat16, ValueError for a name given twice, OSError.
    """
    import numpy as np

    numbered = {f"arr_{place}": x for place, x in enumerate(arrays)}
    twice = sorted(numbered.keys() & named.keys())
    if twice:
        raise ValueError(f"savez: {twice[0]} is the name of an array without one; give it another.")
    values: dict[str, Any] = {name: _values("savez", x) for name, x in {**numbered, **named}.items()}
    (np.savez_compressed if compressed else np.savez)(file, allow_pickle=False, **values)


def load(file: Any, *, device: Any = None) -> VkArray | dict[str, VkArray]:
    """Read what `save`, `savez` or NumPy wrote: an array from a file .npy, a dictionary of arrays by name from .npz.

    Parameters: file (a path, or a file open for reading bytes); device (of the arrays; the default device by default).
    Raises OSError for a file that cannot be read, ValueError for damaged files and other contents (pickled objects are
    never loaded), TypeError for a dtype that vkarray lacks, FeatureError for one that the device lacks.
    """
    if hasattr(file, "read"):
        return _load(file, device)
    with open(os.fspath(file), "rb") as opened:  # NumPy would leave a damaged archive open
        return _load(opened, device)


def _load(file: Any, device: Any) -> VkArray | dict[str, VkArray]:
    import numpy as np

    with _explaining(file):
        found = np.load(file, allow_pickle=False)
    if isinstance(found, np.ndarray):
        return asarray(found, device=device)
    arrays = {}
    with found:
        for name in found.files:
            with _explaining(file):
                values = found[name]
            arrays[name] = asarray(values, device=device)
    return arrays
