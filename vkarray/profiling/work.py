"""How much work a call or a dispatch is: bytes read and written, and operations on floating-point numbers where these are known."""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.array import VkArray, storage_itemsize

if TYPE_CHECKING:
    from .._vk import Kernel


# -- bytes --------------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where the elements of an array are, and the bytes of one."""

    memory: Any
    shape: Sequence[int]
    strides: Sequence[int]
    itemsize: int


def _of_array(array: VkArray) -> Place:
    return Place(array._buffer, array._shape, array._strides, storage_itemsize(array._dtype, array._device))


# By type; the device of PyTorch adds its tensors.
PLACES: dict[type, Callable[[Any], Place | None]] = {VkArray: _of_array}


def sizes(values: Sequence[Any]) -> dict[int, int]:
    """By the identity of its memory, the bytes of the elements of each array, without repeated ones."""
    found: dict[int, int] = {}
    for value in values:
        place_of = PLACES.get(type(value))
        place = None if place_of is None else place_of(value)
        if place is None:
            continue
        strided = zip(place.shape, place.strides, strict=True)
        nbytes = math.prod(size if stride else min(size, 1) for size, stride in strided) * place.itemsize
        key = id(place.memory)
        found[key] = min(max(nbytes, found.get(key, 0)), place.memory.nbytes)
    return found


def bytes_of(buffers: Sequence[Any], known: Mapping[int, int]) -> int:
    """The bytes of some memory, each piece once: of arrays of the call those of their elements, of all else the whole."""
    return sum({id(one): known.get(id(one), one.nbytes) for one in buffers}.values())


# -- dispatches ---------------------------------------------------------------------------------------------------------

# Fields of blocks of arguments that say how much there is to do.
_SIZES = ("count", "m", "n", "k", "rows", "columns", "row_length", "lines", "points", "channels", "order", "batch")
_INTEGERS = frozenset("iIqQ")


def numbers_of(kernel: Kernel, block: bytes) -> dict[str, int]:
    """The numbers of a block of arguments by the names of their fields."""
    return {
        field.name: struct.unpack_from(f"<{field.form}", block, field.offset)[0]
        for field in kernel.arguments.fields
        if field.length == 1 and field.form in _INTEGERS
    }


def told(numbers: Mapping[str, int]) -> dict[str, int]:
    """Those that say how much there is to do."""
    return {name: numbers[name] for name in _SIZES if name in numbers}


def _products(number: Mapping[str, int]) -> int:
    """The multiplications and additions of `count` stacked sums: each part of a long one counts as one of the stack."""
    parts = -(-number["k"] // number["part"]) if number.get("part") else 1
    return 2 * number["k"] * number["count"] // parts


# The fields that a kernel has, by which it is known, and the operations of a dispatch of it.
_OF_FIELDS: tuple[tuple[frozenset[str], Callable[[Mapping[str, int]], int]], ...] = (
    (frozenset(("m", "n", "k", "count")), lambda number: number["m"] * number["n"] * _products(number)),
    (frozenset(("a_k", "b_k", "k", "part", "count")), _products),
    (frozenset(("rows", "count", "chunks")), lambda number: number["rows"] * number["count"]),  # reductions and scans
)


def operations_of(kernel: Kernel, numbers: Mapping[str, int]) -> int | None:
    """The operations of a dispatch: of products, and one for each element of reductions and each step of elementwise kernels."""
    if "packs" in numbers:  # which count in packs
        return None
    for fields, count in _OF_FIELDS:
        if fields <= numbers.keys():
            return count(numbers) * (4 if "complex" in kernel.name else 1)
    name, fused, steps = kernel.name.rpartition("fused ")
    if kernel.name.startswith(("copy", "fill")):
        return 0
    if fused and steps.endswith("..."):
        return None
    if {"rows", "row_length"} <= numbers.keys() and fused:
        return numbers["rows"] * numbers["row_length"] * len(steps.split())
    if {"first", "count"} <= numbers.keys() and (fused or "(flat)" in name or "(flat)" in kernel.name):
        return (numbers["count"] - numbers["first"]) * (len(steps.split()) if fused else 1)
    return None


# -- calls --------------------------------------------------------------------------------------------------------------


def _argument(args: Sequence[Any], kwargs: Mapping[str, Any], place: int, name: str) -> Any:
    return args[place] if len(args) > place else kwargs.get(name)


def _transform(factor: float, axes: tuple[int, ...] | None) -> Callable[..., int]:
    """5 n log2(n) operations for each transform of n complex numbers; half of them where one side is real."""

    def count(args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> int:
        given = _argument(args, kwargs, 2, "axis" if axes == (-1,) else "axes")
        lengths = [max(pair) for pair in zip(args[0].shape, result.shape, strict=True)]
        chosen = (given,) if isinstance(given, int) else given or axes or range(len(lengths))
        points = math.prod(lengths[axis] for axis in chosen)
        return round(factor * math.prod(lengths) * math.log2(max(points, 1)))

    return count


def _convolution(args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> int:
    weight = _argument(args, kwargs, 1, "weight")
    transposed = len(args) > 6 and args[6] is True
    made = args[0] if transposed else result
    return 2 * math.prod(made.shape) * math.prod(weight.shape[1:])


# Operations whose kernels do not tell how many there are, by public names.
OF_CALLS: dict[str, Callable[..., int]] = {
    **dict.fromkeys(("fft.fft", "fft.ifft"), _transform(5, (-1,))),
    **dict.fromkeys(("fft.rfft", "fft.irfft", "fft.hfft", "fft.ihfft"), _transform(2.5, (-1,))),
    **dict.fromkeys(("fft.fftn", "fft.ifftn"), _transform(5, None)),
    **dict.fromkeys(("fft.rfftn", "fft.irfftn"), _transform(2.5, None)),
    "aten.convolution": _convolution,
}


def operations_of_call(operation: str, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> int:
    """The operations of a call in `OF_CALLS`; 0 for arguments in another form than most have."""
    with contextlib.suppress(AttributeError, IndexError, TypeError, ValueError):
        return OF_CALLS[operation](args, kwargs, result)
    return 0
