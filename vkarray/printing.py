"""Text of an array, as NumPy prints its own."""

from __future__ import annotations

import itertools
import math
from typing import Any

from . import dtypes
from .array import VkArray, operations
from .interchange import numpy_dtype, to_numpy

# Types that NumPy-style output leaves unnamed, because a literal of that form gives them anyway.
_UNNAMED = (dtypes.bool_, dtypes.int64, dtypes.float32, dtypes.complex64)
_EDGE = 3
_SUMMARY_ABOVE = 1000
_MOST_CORNERS = 64


def _corners(array: VkArray) -> Any:
    """The values that a summary shows: the edges of each long dimension, so that little leaves the device."""
    import numpy as np

    # For each dimension, the (start, stop) pairs that are shown.
    parts = [
        [(0, length)] if length <= 2 * _EDGE + 1 else [(0, _EDGE + 1), (length - _EDGE, length)]
        for length in array.shape
    ]
    if math.prod(map(len, parts)) > _MOST_CORNERS:
        return to_numpy(array)
    result = np.empty([sum(stop - start for start, stop in part) for part in parts], numpy_dtype(array.dtype))
    for corner in itertools.product(*parts):
        block = to_numpy(array[tuple(slice(start, stop) for start, stop in corner)])
        result[tuple(slice(0, stop) if start == 0 else slice(start - stop, None) for start, stop in corner)] = block
    return result


def _text(array: VkArray, prefix: str, separator: str, suffix: str = "") -> str:
    import numpy as np

    summarise = array.size > _SUMMARY_ABOVE
    values = _corners(array) if summarise else to_numpy(array)
    threshold = 0 if summarise else _SUMMARY_ABOVE
    return np.array2string(
        values, separator=separator, prefix=prefix, suffix=suffix, threshold=threshold, edgeitems=_EDGE
    )


def array_repr(array: VkArray) -> str:
    """`array([1., 2.])`, with the dtype where it is not a default one, as `repr(numpy.array(...))`."""
    named = "" if array.dtype in _UNNAMED and array.size else f", dtype={array.dtype.name}"
    if array.size == 0:
        shape = "" if array.shape == (0,) else f", shape={array.shape}"
        return f"array([]{shape}{named})"
    return f"array({_text(array, 'array(', ', ', named + ')')}{named})"


def array_str(array: VkArray) -> str:
    """The elements without the surrounding `array(...)`."""
    return _text(array, "", " ")


operations.update(repr=array_repr, str=array_str)
