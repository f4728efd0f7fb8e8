"""Numbers in files of text, and in files of nothing but their bytes, as NumPy reads and writes them."""

from __future__ import annotations

from typing import Any

from ..core.array import ArrayLike, VkArray
from ..core.dtypes import with_order
from ..ops.creation import asarray
from . import interchange

__all__ = ["fromfile", "genfromtxt", "loadtxt", "savetxt"]

_PYTHON = (bool, int, float, complex)  # which name types of NumPy's in files, and default types of arrays


def _types(dtype: Any, function: str) -> tuple[Any, Any]:
    """The NumPy type to read a file with, and the type of the array."""
    wanted, swapped = with_order(dtype, function)
    reading = interchange.numpy_dtype(wanted)
    return dtype if dtype in _PYTHON else reading.newbyteorder() if swapped else reading, wanted


def fromfile(file: Any, dtype: Any = float, count: int = -1, sep: str = "", offset: int = 0) -> VkArray:
    """The array of a file that holds the bytes of elements, or elements as text.

    Parameters: file (a path or an open file); dtype (`float` reads 64 bits for each element, ">i4" and the like bytes in the other
    order than the machine's); count (of elements, -1 for all);
    sep (what separates elements of text; bytes without); offset (bytes to leave out first).
    Raises OSError for a file that cannot be read, TypeError for a dtype that vkarray lacks.
    """
    import numpy as np

    reading, wanted = _types(dtype, "fromfile")
    return asarray(np.fromfile(file, reading, count, sep, offset=offset), dtype=wanted)


def loadtxt(fname: Any, dtype: Any = float, *args: Any, **options: Any) -> VkArray:
    """The array of a table of text. Parameters: fname, dtype; others as NumPy's function of the same name takes them.

    Raises ValueError for what is not a table of numbers, OSError for a file that cannot be read.
    """
    import numpy as np

    reading, wanted = _types(dtype, "loadtxt")
    return asarray(np.loadtxt(fname, reading, *args, **options), dtype=wanted)


def genfromtxt(fname: Any, dtype: Any = float, *args: Any, **options: Any) -> VkArray:
    """The array of a table of text with missing values. Parameters and errors: as for `loadtxt`, of NumPy's `genfromtxt`."""
    import numpy as np

    reading, wanted = _types(dtype, "genfromtxt")
    return asarray(np.genfromtxt(fname, reading, *args, **options), dtype=wanted)


def savetxt(fname: Any, X: ArrayLike, *args: Any, **options: Any) -> None:
    """Write an array of one or two dimensions as a table of text.

    Parameters: fname (a path or an open file), X; others (`fmt`, `delimiter`, `header`, ...) as NumPy's function takes them.
    Raises ValueError for other numbers of dimensions, OSError for a file that cannot be written.
    """
    import numpy as np

    np.savetxt(fname, interchange.to_numpy(asarray(X)), *args, **options)
