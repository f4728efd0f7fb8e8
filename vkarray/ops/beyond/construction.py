"""Arrays out of functions, iterators, bytes and text, and arrays that meet requirements, with NumPy's names."""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, check_supported, default_dtype, operations
from ...core.dtypes import REAL_OF, DType, as_dtype, with_order
from ...kernels import launch
from ...kernels.launch import as_device
from ...kernels.planned import recordable
from .. import creation, manipulation
from .index_tricks import indices
from .memory import view
from .strides import as_strided

asanyarray = creation.asarray  # arrays have no subclasses


@recordable
def ascontiguousarray(a: ArrayLike, dtype: DType | None = None, *, like: Any = None) -> VkArray:
    """An array in C order in memory, of 1 dimension at least: a itself where it is one already. Errors as for `asarray`."""
    x = creation.asarray(a, dtype=dtype)
    return launch.contiguous(x) if x.ndim else x._view((1,), (1,))


def _fortran(x: VkArray) -> VkArray:
    """The array with the first dimension side by side in memory."""
    order = tuple(reversed(range(x.ndim)))
    return launch.contiguous(x._permuted(order))._permuted(order)


@recordable
def asfortranarray(a: ArrayLike, dtype: DType | None = None, *, like: Any = None) -> VkArray:
    """An array in Fortran's order in memory, of 1 dimension at least: the transpose of one in C order. Errors as for `asarray`."""
    return _fortran(creation.asarray(a, dtype=dtype)) if a is not None and _rank(a) else ascontiguousarray(a, dtype)


def _rank(a: Any) -> int:
    return a.ndim if hasattr(a, "ndim") else int(isinstance(a, (list, tuple)))


_REQUIREMENTS = {
    "C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F", "FORTRAN": "F", "A": "A", "ALIGNED": "A",
    "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E",
}  # fmt: skip


def require(
    a: ArrayLike, dtype: DType | None = None, requirements: str | Sequence[str] | None = None, *, like: Any = None
) -> VkArray:  # fmt: skip
    """An array that meets requirements.

    Parameters: a; dtype; requirements ("C" or "F": the order in memory; "O": memory of its own; "A", "W", "E": what all
    arrays are).
    Raises KeyError for another requirement, ValueError for both orders.
    """
    wanted = {_REQUIREMENTS[one.upper()] for one in requirements or ()}
    if {"C", "F"} <= wanted:
        raise ValueError("require: expected one order in memory, got both 'C' and 'F'.")
    x = creation.asarray(a, dtype=dtype)
    made = _fortran(x) if "F" in wanted else launch.contiguous(x) if "C" in wanted else x
    return launch.copy(made) if "O" in wanted and made is a else made


def fromfunction(
    function: Callable[..., Any], shape: Sequence[int], *, dtype: DType | None = None, like: Any = None, **kwargs: Any
) -> Any:  # fmt: skip
    """What a function returns for the indices of all elements: it is called once, with an array for each dimension.

    Parameters: function; shape; dtype (of the indices, the default floating type by default); kwargs (given to the
    function). Raises what the function raises, and ValueError for a negative length.
    """
    wanted = default_dtype("float", as_device(None)) if dtype is None else dtype
    return function(*indices(shape, wanted), **kwargs)


def fromiter(iter: Iterable[Any], dtype: DType, count: int = -1, *, like: Any = None, device: Any = None) -> VkArray:
    """An array of 1 dimension out of numbers that come one after the other.

    Parameters: iter; dtype; count (how many to take, all for -1). Raises ValueError where fewer come.
    """
    values = list(iter if count < 0 else itertools.islice(iter, count))
    if len(values) < count:
        raise ValueError(f"fromiter: expected {count} numbers, only {len(values)} came.")
    return creation.asarray(values, dtype=dtype, device=device)


def frombuffer(
    buffer: Any, dtype: DType | None = None, count: int = -1, offset: int = 0, *, like: Any = None, device: Any = None
) -> VkArray:
    """An array of 1 dimension with a copy of the bytes of an object.

    Parameters: buffer (bytes, or what has Python's buffer protocol); dtype (the default floating type by default; ">i4" and the
    like read bytes in the other order than the machine's); count (of elements, all for -1); offset (in bytes).
    Raises ValueError where the bytes are too few, or no multiple of an element.
    """
    target = as_device(device)
    wanted, swapped = (default_dtype("float", target), False) if dtype is None else with_order(dtype, "frombuffer")
    data = memoryview(buffer).cast("B")
    if not 0 <= offset <= len(data):
        raise ValueError(f"frombuffer: expected an offset of 0 to {len(data)}, got {offset}.")
    size = wanted.itemsize
    if count < 0 and (len(data) - offset) % size:
        raise ValueError(f"frombuffer: {len(data) - offset} bytes are no multiple of {size}, an element of {wanted}.")
    count = (len(data) - offset) // size if count < 0 else layout.as_integer(count, "frombuffer", "count")
    if offset + count * size > len(data):
        raise ValueError(f"frombuffer: {count} elements of {wanted} need more than {len(data) - offset} bytes.")
    short = wanted in (dtypes.float16, dtypes.bfloat16)
    part = dtypes.uint16 if short else REAL_OF.get(wanted, wanted)  # whose format Python's buffers know
    if count == 0:
        return creation.empty((0,), dtype=wanted, device=target)
    form: Any = part.char
    elements: Any = data[offset : offset + count * size].cast(form)
    if swapped:
        elements = array(form, elements.tobytes())
        elements.byteswap()
    values = creation.asarray(elements, dtype=part, device=target)
    return values if part is wanted else view(values, wanted)


def constructed(
    shape: Any, dtype: Any, buffer: Any, offset: int, strides: Sequence[int] | None, order: str | None
) -> VkArray:  # fmt: skip
    """What `ndarray` makes of NumPy's parameters (see `VkArray`), and of a fraction its value.

    Python's `statistics` computes with fractions and gives its results the type of its data.
    """
    if hasattr(shape, "numerator") and not hasattr(shape, "__index__"):
        return creation.asarray(float(shape))
    if buffer is None:
        if strides is not None:
            raise ValueError("ndarray: got strides without a buffer. Give a buffer, or leave out strides.")
        return creation.empty(shape, dtype=dtype)
    is_array = type(buffer) is VkArray
    device = buffer._device if type(buffer) is VkArray else as_device(None)
    wanted = default_dtype("float", device) if dtype is None else as_dtype(dtype, "ndarray")
    check_supported(wanted, device, "ndarray")
    size, lengths = wanted.itemsize, creation.as_shape(shape, "ndarray")
    room = (buffer.nbytes if is_array else memoryview(buffer).nbytes) - offset
    if offset < 0 or (is_array and offset % size) or room < (0 if strides is not None else math.prod(lengths) * size):
        raise TypeError(
            f"ndarray: expected {lengths} elements of {size} bytes in the buffer from byte {offset} on, in arrays a multiple "
            f"of {size}; there are {room} bytes. Take a smaller shape, or another offset."
        )
    if is_array:
        elements = view(manipulation.reshape(buffer, (-1,), copy=False), wanted)[offset // size :]
    else:
        elements = frombuffer(buffer, wanted, room // size, offset)
    if strides is None:
        reverse = layout.as_order("ndarray", order or "C") == "F"
        steps = layout.contiguous_strides(lengths[::-1])[::-1] if reverse else layout.contiguous_strides(lengths)
        strides = tuple(step * size for step in steps)
    return as_strided(elements, lengths, strides)


def fromstring(
    string: str | bytes,
    dtype: DType | None = None,
    count: int = -1,
    *,
    sep: str = "",
    like: Any = None,
    device: Any = None,
) -> VkArray:
    """An array of 1 dimension out of numbers in a text.

    Parameters: string; dtype (the default floating type by default); count (how many to take, all for -1); sep (what stands
    between the numbers; white space round it does not count). Raises ValueError for what is no number and for an empty sep:
    for bytes there is `frombuffer`.
    """
    if not sep:
        raise ValueError("fromstring: expected a separator. For bytes use frombuffer.")
    target = as_device(device)
    wanted = default_dtype("float", target) if dtype is None else as_dtype(dtype, "fromstring")
    text = string if isinstance(string, str) else string.decode("latin-1")
    words = text.split(sep.strip() or None)
    if words and not words[-1].strip():
        words.pop()  # a separator at the end
    number = {"f": float, "c": complex}.get(wanted.kind, int)
    return creation.asarray(
        [number(word) for word in (words if count < 0 else words[:count])], dtype=wanted, device=target
    )


operations.update(ndarray=constructed)
