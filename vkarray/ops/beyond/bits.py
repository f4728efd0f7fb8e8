"""Bits of bytes, with NumPy's names: `packbits` and `unpackbits`."""

from __future__ import annotations

from ...core import dtypes, layout
from ...core.array import ArrayLike, VkArray, operations
from ...kernels.conversion import cast
from ...kernels.planned import planned
from .. import creation
from ..elementwise import bitwise_and, bitwise_right_shift, multiply
from ..manipulation import concat, moveaxis, reshape
from .arguments import flattened, is_integer, with_dimension


def _last(function: str, a: VkArray, axis: int | None, bitorder: str) -> tuple[VkArray, int]:
    """A view with the axis last, and the axis. Raises ValueError for another order of bits."""
    if not isinstance(bitorder, str):
        raise TypeError(f"{function}: expected bitorder as a str, got {type(bitorder).__name__}.")
    if bitorder not in ("big", "little"):
        raise ValueError(f"{function}: expected bitorder 'big' or 'little', got {bitorder!r}.")
    x, axis = flattened(with_dimension(a), axis, function)
    return moveaxis(x, axis, -1), axis


def _shifts(bitorder: str, x: VkArray) -> VkArray:
    """By how many places each of the bits of a byte is shifted."""
    first, stop, step = (7, -1, -1) if bitorder == "big" else (0, 8, 1)
    return creation.arange(first, stop, step, dtype=dtypes.int32, device=x._device)


@planned
def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: str = "big") -> VkArray:
    """Bytes whose bits are the elements: 8 after each other make one, zeros are added at the end.

    Parameters: a (integers or bool: 1 for what is not 0); axis (None: of the flattened array); bitorder ("big": the first
    element is the highest bit; "little"). Returns an array of uint8. Raises TypeError for other types, ValueError for
    another order.
    """
    if not is_integer(a):
        raise TypeError(f"packbits: expected integers or bools, got {a._dtype}. Convert them with astype.")
    x, axis = _last("packbits", a, axis, bitorder)
    bits = cast(cast(x, dtypes.bool_), dtypes.int32)
    length = bits._shape[-1]
    count = -(-length // 8)
    if length % 8:
        rest = creation.zeros((*bits._shape[:-1], 8 * count - length), dtype=bits._dtype, device=bits._device)
        bits = concat([bits, rest], axis=-1)
    weights = operations["bitwise_left_shift"](
        creation.ones((8,), dtype=dtypes.int32, device=x._device), _shifts(bitorder, x)
    )
    parts = multiply(reshape(bits, (*bits._shape[:-1], count, 8)), weights)
    return moveaxis(cast(operations["sum"](parts, axis=-1, dtype=dtypes.int32), dtypes.uint8), -1, axis)


@planned
def unpackbits(a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> VkArray:
    """The bits of bytes as elements 0 and 1: 8 after each other for each.

    Parameters: a (uint8); axis (None: of the flattened array); count (how many bits to keep along the axis, zeros where
    there are fewer; a negative number leaves out so many at the end); bitorder ("big": the highest bit comes first;
    "little").
    Returns an array of uint8. Raises TypeError for other types, ValueError for another order.
    """
    if a._dtype is not dtypes.uint8:
        raise TypeError(f"unpackbits: expected uint8, got {a._dtype}. Convert it with astype.")
    x, axis = _last("unpackbits", a, axis, bitorder)
    bits = bitwise_and(bitwise_right_shift(reshape(cast(x, dtypes.int32), (*x._shape, 1)), _shifts(bitorder, x)), 1)
    bits = cast(reshape(bits, (*x._shape[:-1], 8 * x._shape[-1])), dtypes.uint8)
    if count is not None:
        length = bits._shape[-1]
        wanted = layout.as_integer(count, "unpackbits", "count")
        if wanted < -length:
            raise ValueError(f"unpackbits: expected a count of at least -{length}, got {wanted}.")
        wanted += length if wanted < 0 else 0
        rest = creation.zeros((*bits._shape[:-1], max(wanted - length, 0)), dtype=dtypes.uint8, device=bits._device)
        bits = concat([bits[..., :wanted], rest], axis=-1)
    return moveaxis(bits, -1, axis)
