"""The methods of elementwise functions of two operands: reduce, accumulate, outer, at and reduceat."""

from __future__ import annotations

import math
import operator
from typing import Any

from ..core import dtypes, layout
from ..core.array import ArrayLike, VkArray, check_supported, operations
from ..core.dtypes import as_dtype
from ..core.promotion import is_scalar
from ..kernels import launch
from ..kernels.conversion import cast
from ..kernels.planned import recordable
from ..kernels.reductions import checked
from ..kernels.rows import as_array, check_array, common_dtype
from . import creation, indexing, manipulation, searching, sorting
from .reducing import in_type_of, type_of_out
from .segments import join_by_place
from .ufunc import ABSENT, mask, ufunc, write

# Functions whose reduction is one of the standard's, and whose accumulation is.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_ACCUMULATIONS = {"add": "cumulative_sum", "multiply": "cumulative_prod"}
# Those where it does not matter which pairs come first.
_ASSOCIATIVE = {
    *_REDUCTIONS, "bitwise_and", "bitwise_or", "bitwise_xor", "logical_xor", "gcd", "lcm", "fmax", "fmin", "hypot", "logaddexp",
    "logaddexp2",
}  # fmt: skip


@recordable
def reduce(
    function: ufunc, array: ArrayLike, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any = ABSENT,
    where: Any = True,
) -> VkArray:  # fmt: skip
    """`function.reduce`; with None as initial the function's identity does not count."""
    x = creation.asarray(array)
    known = _REDUCTIONS.get(function.__name__)
    if dtype is None and not function.__name__.startswith("logical"):
        dtype = type_of_out(x, out)
    if known is None or dtype is not None:
        x = _in_own_type("reduce", function, x, dtype)
    axes = checked(function.__name__, x, axis)
    empty = math.prod(x._shape[one] for one in axes) == 0
    if empty and (initial is None or (initial is ABSENT and function.identity is None)):
        raise ValueError(
            f"{function.__name__}.reduce: an array of shape {x._shape} has no elements along axis {axis}, which needs initial=."
        )
    initial = None if initial is ABSENT else initial
    if known is not None:
        options = {"keepdims": keepdims, "out": out, "where": where, "initial": initial}
        if dtype is not None and known in ("sum", "prod"):
            options["dtype"] = dtype
        return operations[known](x, axis=axis, **options)
    if len(axes) > 1 and function.__name__ not in _ASSOCIATIVE:
        raise ValueError(
            f"{function.__name__}.reduce: expected one axis, as the order of elements matters; got axis={axis}."
        )
    initial, chosen = in_type_of(x, initial), None
    if where is not True:
        identity = _identity(function, x)
        if initial is None and identity is None:
            raise ValueError(f"{function.__name__}.reduce: it has no identity, so where= needs initial=.")
        chosen = mask(function.__name__, where, x)
        if function.__name__ in _ASSOCIATIVE:  # those without an identity may take `initial` several times
            x, chosen = searching.where(chosen, x, initial if identity is None else identity), None
    order = (*axes, *(one for one in range(x.ndim) if one not in axes))
    kept = tuple(length for one, length in enumerate(x._shape) if one not in axes)
    if 0 in kept:
        result = creation.zeros(kept, dtype=x._dtype, device=x._device)
    else:
        rows = _in_rows(x, order, kept)
        result = _folded(function, rows, initial, None if chosen is None else _in_rows(chosen, order, kept))
    if keepdims:
        result = manipulation.reshape(result, tuple(1 if d in axes else n for d, n in enumerate(x._shape)))
    return result if out is None else write(function.__name__, out, result, casting="unsafe")


def _identity(function: ufunc, x: VkArray) -> Any:
    """What changes no element of x; -1 is all bits, of unsigned integers too."""
    identity = function.identity
    return in_type_of(x, 2**x._dtype.bits - 1 if identity == -1 and x._dtype.kind == "u" else identity)


def _in_rows(x: VkArray, order: layout.Shape, kept: layout.Shape) -> VkArray:
    """The elements along the first dimension, and the dimensions that are kept behind it."""
    return manipulation.reshape(x._permuted(order), (-1 if kept or x.size else 0, *kept))


def _in_own_type(method: str, function: ufunc, x: VkArray, dtype: Any = None) -> VkArray:
    """The operand in the type that results have, so that these can be operands in their turn.

    Raises TypeError where there is no such type, as for comparisons of numbers, or not the one that dtype asks for.
    """
    name = function.__name__
    if name.startswith("logical"):
        wanted = result = dtypes.bool_
    else:
        wanted = x._dtype if dtype is None else as_dtype(dtype, f"{name}.{method}")
        result = wanted if name in _REDUCTIONS else function.resolve_dtypes((wanted, wanted, None))[-1]
    if (dtype is not None and as_dtype(dtype, name) is not result) or (result.kind == "b" and wanted.kind != "b"):
        raise TypeError(
            f"{name}.{method}: it computes in one type alone, and {wanted} elements lead to {result}. Use dtype={result}, "
            f"which converts them first."
        )
    return creation.asarray(x, dtype=result)


def _folded(function: ufunc, rows: VkArray, initial: Any, chosen: VkArray | None) -> VkArray:
    """The function applied along the first axis; with `chosen`, which comes with `initial`, to the elements where that is true."""
    if rows._shape[0] == 0:
        start = _identity(function, rows) if initial is None else initial
        return creation.full(rows._shape[1:], start, dtype=rows._dtype, device=rows._device)
    if function.__name__ in _ASSOCIATIVE:
        while rows._shape[0] > 1:
            half = rows._shape[0] // 2
            joined = function(rows[:half], rows[half : 2 * half])
            rows = manipulation.concat((joined, rows[2 * half :])) if rows._shape[0] % 2 else joined
        rows = rows[0, ...]
        return rows if initial is None else function(as_array(function.__name__, initial, rows._dtype, rows), rows)
    result = rows[0, ...] if initial is None else as_array(function.__name__, initial, rows._dtype, rows)
    for place in range(initial is None, rows._shape[0]):
        joined = function(result, rows[place, ...])
        result = joined if chosen is None else searching.where(chosen[place, ...], joined, result)
    return result


def _rows(method: str, function: ufunc, array: ArrayLike) -> VkArray:
    """An operand of at least one dimension."""
    x = creation.asarray(array)
    if x.ndim == 0:
        raise TypeError(f"{function.__name__}.{method}: expected an array of at least 1 dimension, got shape ().")
    return x


@recordable
def accumulate(function: ufunc, array: ArrayLike, axis: int, dtype: Any, out: Any) -> VkArray:
    """`function.accumulate`."""
    x = _rows("accumulate", function, array)
    axis = layout.normalize_axis(axis, x.ndim, f"{function.__name__}.accumulate")
    known = _ACCUMULATIONS.get(function.__name__)
    if known is not None and (dtype is None or as_dtype(dtype, function.__name__).kind != "b"):
        result = operations[known](x, axis=axis, dtype=dtype)
    else:
        x = manipulation.moveaxis(_in_own_type("accumulate", function, x, dtype), axis, 0)
        result = manipulation.moveaxis(_scanned(function, x), 0, axis)
    return result if out is None else write(function.__name__, out, result, casting="unsafe")


def _scanned(function: ufunc, x: VkArray) -> VkArray:
    """All results up to each element of the first axis: in logarithmically many steps where the order of pairs is free."""
    length = x._shape[0]
    if function.__name__ in _ASSOCIATIVE:
        step = 1
        while step < length:
            x = manipulation.concat((x[:step], function(x[:-step], x[step:])))
            step *= 2
        return x
    parts = [x[0, ...]] if length else []
    for place in range(1, length):
        parts.append(function(parts[-1], x[place, ...]))
    return manipulation.stack(parts) if parts else x


@recordable
def outer(function: ufunc, first: ArrayLike, second: ArrayLike, **options: Any) -> VkArray:
    """`function.outer`."""
    first, second = creation.asarray(first), creation.asarray(second)
    return function(first[(..., *(None,) * second.ndim)], second, **options)


# Functions whose values for one element are joined at once, whichever come first; differences add what is negated.
_JOINED = {"add": "sum", "subtract": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin"}


@recordable
def at(function: ufunc, array: VkArray, indices: Any, second: Any) -> None:
    """`function.at`: most functions change the elements in as many rounds as an element is named times."""
    name = f"{function.__name__}.at"
    check_array(name, array)
    if function.nin > 2 or (function.nin == 2) is (second is None):
        raise TypeError(f"{name}: expected {function.nin - 1} operands beside the array.")
    device = array._device
    numbers = manipulation.reshape(creation.arange(array.size, device=device), array._shape)
    chosen = numbers[indices]
    places = manipulation.reshape(chosen, (-1,))
    if second is not None and not is_scalar(second):
        second = creation.asarray(second, device=device)
    if not places.size:
        return
    whole = manipulation.reshape(array, (-1,), copy=True)
    reduce = _JOINED.get(function.__name__)
    if second is None:
        whole = _in_rounds(function, places, whole)
    else:
        dtype = common_dtype(name, (array, second))
        check_supported(dtype, device, name)
        second = manipulation.broadcast_to(as_array(name, second, dtype, array), chosen._shape)
        values = launch.contiguous(manipulation.reshape(second, (-1,)))
        # Elsewhere what an element has become is cut to the type of the array before its next value counts.
        wraps = reduce in ("sum", "prod") and array._dtype.kind in "iu" and dtype.kind in "iu"
        kept = dtype is array._dtype or dtype.kind == array._dtype.kind == "f" or wraps
        unordered = dtype.kind == "c" and reduce in ("amax", "amin")
        if reduce is None or not kept or unordered or (dtype.kind == "b" and function.__name__ == "subtract"):
            whole = _in_rounds(function, places, whole, values)
        else:
            values = operations["negative"](values) if function.__name__ == "subtract" else values
            joined = cast(whole, dtype)
            columns = [one._view((one.size, 1), (1, 1)) for one in (joined, values)]
            join_by_place(name, columns[0], cast(places, dtypes.int32), columns[1], reduce)
            whole = cast(joined, array._dtype)
    indexing.setitem(array, ..., manipulation.reshape(whole, array._shape))


def _in_rounds(function: ufunc, places: VkArray, whole: VkArray, values: VkArray | None = None) -> VkArray:
    """The elements after each place has had its turn: places that are named again wait for the next round."""
    order = sorting.argsort(places, stable=True)
    ordered = places[order]
    # The how-manieth time an element is named: the distance from the first of its equals, which stand side by side.
    turns = creation.arange(places.size, device=places._device) - searching.searchsorted(ordered, ordered)
    for turn in range(int(operations["max"](turns)) + 1):
        now = order[turns == turn]
        chosen = places[now]
        changed = function(whole[chosen]) if values is None else function(whole[chosen], values[now])
        indexing.setitem(whole, chosen, operations["astype"](changed, whole._dtype), distinct=True)
    return whole


@recordable
def reduceat(function: ufunc, array: ArrayLike, indices: Any, axis: int, dtype: Any, out: Any) -> VkArray:
    """`function.reduceat`."""
    x = _rows("reduceat", function, array)
    axis = layout.normalize_axis(axis, x.ndim, f"{function.__name__}.reduceat")
    x = manipulation.moveaxis(x, axis, 0)
    x = cast(x, reduce(function, x[:1], 0, dtype, None, False)._dtype) if x._shape[0] else x
    kept = None if function.__name__.startswith("logical") else x._dtype
    try:
        starts = [operator.index(one) for one in (indices.tolist() if hasattr(indices, "tolist") else indices)]
    except TypeError:
        raise TypeError(
            f"{function.__name__}.reduceat: expected indices as a list or an array of whole numbers, got {indices!r:.60}."
        ) from None
    for start in starts:
        if not 0 <= start < x._shape[0]:
            raise IndexError(f"{function.__name__}.reduceat: index {start} is out of range for {x._shape[0]} elements.")
    if not starts:
        result = manipulation.moveaxis(reduce(function, x[:1], 0, kept, None, True)[:0], 0, axis)
        return result if out is None else write(function.__name__, out, result, casting="unsafe")
    ends = [*starts[1:], x._shape[0]]
    parts = [
        reduce(function, x[start:end], 0, kept, None, False) if start < end else x[start, ...]
        for start, end in zip(starts, ends, strict=True)
    ]
    result = manipulation.moveaxis(manipulation.stack(parts), 0, axis)
    return result if out is None else write(function.__name__, out, result, casting="unsafe")


operations.update({
    "ufunc.reduce": reduce, "ufunc.accumulate": accumulate, "ufunc.outer": outer, "ufunc.at": at, "ufunc.reduceat": reduceat,
})  # fmt: skip
