"""What every factorisation does with its operands: checks, conversion, and the working copy of a stack of matrices."""

from __future__ import annotations

import math
from array import array as host_array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ... import device_caches
from ...core import dtypes, layout
from ...core.array import VkArray, floating, is_supported
from ...core.dtypes import DType
from ...errors import LinAlgError
from ...kernels import faults, launch
from ...kernels.conversion import cast
from ...kernels.dispatch import pointer
from ...kernels.planned import tracer
from ...kernels.rows import check_array
from ...shaders.source import Variant

if TYPE_CHECKING:
    from ..._vk.pointer import Pointer
    from ...kernels.launch import Device

# The types that factorisations compute in.
FACTORED = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


@device_caches.cache
def variant(template: str, dtype: DType, device: Device) -> Variant:
    """The variant of a template that computes in one type, T."""
    defines = (*launch.compute_defines(dtype), *launch.feature_defines((dtype,), device))
    return Variant(template, defines, f"{template} {dtype}")


def variants_of(template: str, device: Device) -> Iterator[Variant]:
    """The variants of a template for all types that the device supports."""
    return (variant(template, dtype, device) for dtype in FACTORED if is_supported(dtype, device))


def matrices(name: str, x: Any, *, square: bool = False) -> VkArray:
    """x in the type to compute in: its own, or float64 for integers and bool, as in NumPy (float32 where that is missing).

    Raises TypeError unless x is an array, and for the 16-bit floating-point types, LinAlgError for fewer than 2 dimensions
    and, with `square`, for other matrices.
    """
    if check_array(name, x).ndim < 2:
        raise LinAlgError(f"{name}: expected a matrix or a stack of matrices, shape (..., M, N); got shape {x._shape}.")
    if square and x._shape[-1] != x._shape[-2]:
        raise LinAlgError(f"{name}: expected square matrices, shape (..., N, N); got shape {x._shape}.")
    dtype = floating(x)
    if dtype.bits == 16:
        raise TypeError(
            f"{name}: {dtype} is too short for factorisations. Convert it: vkarray.astype(x, vkarray.float32)."
        )
    limit = layout.index_limit(dtype.itemsize)
    if math.prod(x._shape[-2:]) > limit:
        raise ValueError(
            f"{name}: expected matrices of at most {limit} elements, which 32-bit indices reach; got shape "
            f"{x._shape}. Work on blocks of it."
        )
    return cast(x, dtype)


def working_copy(x: VkArray) -> VkArray:
    """A contiguous copy of x of shape (batch, M, N), to be overwritten."""
    copied = launch.copy(x)
    shape = (math.prod(x._shape[:-2]), *x._shape[-2:])
    return copied._view(shape, (shape[1] * shape[2], shape[2], 1))


def as_stack(x: VkArray) -> VkArray:
    """x of shape (..., M, N) as (batch, M, N): a view where one stride leads through the stack and indices reach a matrix."""
    stack, matrix = x._shape[:-2], x._shape[-2:]
    low, high = layout.offset_range(matrix, x._strides[-2:])
    if (len(stack) > 1 and not x._contiguous) or high - low >= layout.index_limit(x._dtype.itemsize):
        x = launch.copy(x)
    step = math.prod(matrix) if len(stack) != 1 else x._strides[0]
    return x._view((math.prod(stack), *matrix), (step, *x._strides[-2:]))


def block(x: VkArray, rows: slice, columns: slice = slice(None)) -> VkArray:
    """The view x[:, rows, columns] of a stack of matrices, without the cost of a general index."""
    (first, end, _), (left, right, _) = rows.indices(x._shape[1]), columns.indices(x._shape[2])
    offset = first * x._strides[1] + left * x._strides[2]
    return x._view((x._shape[0], end - first, right - left), x._strides, offset)


def flipped(x: VkArray) -> VkArray:
    """The view x[:, ::-1, ::-1]."""
    (_, rows, columns), (step, row, column) = x._shape, x._strides
    return x._view(x._shape, (step, -row, -column), (rows - 1) * row + (columns - 1) * column)


def lowest(x: VkArray) -> tuple[Pointer, int]:
    """The place of the element that lies lowest in memory, and how many elements from there the first one is.

    Kernels count from the lowest one, as an index below 0 is undefined in a shader.
    """
    low, _ = layout.offset_range(x._shape, x._strides)
    return pointer(x, low), -low


def within_reach(*arrays: VkArray) -> Iterator[tuple[VkArray, ...]]:
    """The arrays, all of shape (batch, ...), in parts whose elements 32-bit indices reach."""
    batch = arrays[0]._shape[0]
    few = min(
        layout.index_limit(x._dtype.itemsize) // max(1, math.prod(x._shape[1:]), abs(x._strides[0])) for x in arrays
    )
    if few >= batch:
        yield arrays
        return
    for first in range(0, batch, max(few, 1)):
        length = min(max(few, 1), batch - first)
        yield tuple(x._view((length, *x._shape[1:]), x._strides, first * x._strides[0]) for x in arrays)


def check_status(name: str, status: VkArray, stack: layout.Shape, what: str) -> None:
    """Raise LinAlgError, saying `what` of the first matrix of the stack with a status that is not 0.

    status is contiguous int32 of shape (batch, ...); the first word of each matrix counts and stands for {} in `what`.
    In a function that is compiled the error comes when the host next reads a value, and names no matrix of a stack.
    """
    words_of_each = status.size // status._shape[0]
    if tracer() is not None:
        which = "a matrix of the stack" if stack else "the matrix"
        fault = faults.WrongValue(LinAlgError, f"{name}: {which} {what.format('{value}')}.")
        faults.check_values(fault, status._view((status._shape[0],), (words_of_each,)), 0, 0)
        return
    words = host_array("i", bytes(4 * status.size))
    status._device.download(status._buffer, 0, memoryview(words).cast("B"))
    each = words[::words_of_each]
    failed = next((place for place, word in enumerate(each) if word), None)
    if failed is not None:
        which = f"matrix {_place(failed, stack)} of the stack" if stack else "the matrix"
        raise LinAlgError(f"{name}: {which} {what.format(each[failed])}.")


def _place(number: int, shape: layout.Shape) -> layout.Shape:
    """The index of an element of a shape in C order."""
    index: list[int] = []
    for length in reversed(shape):
        number, position = divmod(number, length)
        index.append(position)
    return tuple(reversed(index))
