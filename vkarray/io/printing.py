"""Text of an array, as NumPy prints its own (`numpy.set_printoptions` applies)."""

from __future__ import annotations

import itertools
import math
from typing import Any

from ..core.array import VkArray, default_dtype, operations
from .interchange import numpy_dtype, to_numpy

# The Python number whose default dtype is left unnamed, because a literal of that form gives it anyway.
_LITERALS = {
    "bool": "bool", "signed integer": "int", "real floating": "float", "complex floating": "complex",
}  # fmt: skip
_MOST_CORNERS = 64


def _corners(array: VkArray, edge: int) -> Any:
    """The values that a summary shows: the edges of each long dimension, so that little leaves the device."""
    import numpy as np

    # For each dimension, the (start, stop) pairs that are shown, and one element more, which NumPy takes for "...".
    parts = [
        [(0, length)] if length <= 2 * edge + 1 else [(0, edge + 1), (length - edge, length)] for length in array.shape
    ]
    if math.prod(map(len, parts)) > _MOST_CORNERS:
        return to_numpy(array)
    result = np.empty([sum(stop - start for start, stop in part) for part in parts], numpy_dtype(array.dtype))
    for corner in itertools.product(*parts):
        block = to_numpy(array[tuple(slice(start, stop) for start, stop in corner)])
        result[tuple(slice(0, stop) if start == 0 else slice(start - stop, None) for start, stop in corner)] = block
    return result


def _text(array: VkArray, prefix: str, separator: str, suffix: str, options: Any) -> str:
    import numpy as np

    threshold, edge = options["threshold"], options["edgeitems"]
    summarise = array.size > threshold
    values = _corners(array, edge) if summarise else to_numpy(array)
    return np.array2string(
        values, separator=separator, prefix=prefix, suffix=suffix, threshold=0 if summarise else threshold
    )


def array_repr(array: VkArray) -> str:
    """`array([1., 2.])`, with the dtype where it is not a default one, as `repr(numpy.array(...))`."""
    import numpy as np

    options = np.get_printoptions()
    prefix, text = "array(", "[]" if array.size == 0 else _text(array, "array(", ", ", ")", options)
    extras = []
    if array.size > options["threshold"] or (array.size == 0 and array.shape != (0,)):
        extras.append(f"shape={array.shape}")
    literal = _LITERALS.get(array.dtype.category)
    if array.size == 0 or literal is None or array.dtype is not default_dtype(literal, array.device):
        extras.append(f"dtype={array.dtype.name}")
    if not extras:
        return f"{prefix}{text})"
    # Where the line would grow too long, NumPy starts another one.
    last_line, extra = f"{prefix}{text},".rpartition("\n")[2], ", ".join(extras) + ")"
    fits = len(last_line) + len(extra) + 1 <= options["linewidth"]
    return f"{prefix}{text},{' ' if fits else chr(10) + ' ' * len(prefix)}{extra}"


def array_str(array: VkArray) -> str:
    """The elements without the surrounding `array(...)`; of 0 dimensions, the text of the scalar."""
    import numpy as np

    return str(to_numpy(array)[()]) if array.shape == () else _text(array, "", " ", "", np.get_printoptions())


operations.update(repr=array_repr, str=array_str)
