"""Choosing elements by conditions and numbers, with NumPy's names: `choose`, `compress`, `select` and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, default_dtype, operations
from ...core.dtypes import DType
from ...kernels.array_like import as_like, takes_lists
from ...kernels.compact import coordinates
from ...kernels.conversion import cast
from ...kernels.gather import IndexArray, IndexRule, gather
from ...kernels.planned import planned
from ...kernels.rows import as_array, check_array, check_operands, common_dtype
from .. import creation
from ..indexing import take
from ..manipulation import broadcast_arrays, broadcast_to, reshape, stack
from .arguments import array_of, arrays_of, flattened, index_type, is_integer, sequence, values_for, with_dimension
from .placing import in_mode

_CHOOSE = IndexRule("choose", wraps=False, error=ValueError, place="the {length} choices")


@planned
def choose(a: ArrayLike, choices: Any, out: VkArray | None = None, mode: str = "raise") -> VkArray:
    """For each element of a, which is a number of one of the choices, the element of that choice in the same position.

    Parameters: a (integers); choices (arrays, which broadcast against each other and a; or one array, whose first dimension
    counts them); out; mode ("raise", or "wrap" and "clip", which take all integers). Returns an array of the promoted type
    of the choices.
    Raises TypeError for other types, ValueError for no choices, another mode, shapes that do not broadcast and, at the next
    read of a value, for a number out of range.
    """
    if type(choices) is VkArray:
        a = array_of("choose", a, choices)
    if not is_integer(a):
        raise TypeError(f"choose: expected integers, got {a._dtype}. Convert them with astype.")
    if type(choices) is not VkArray:
        chosen: Sequence[Any] = [as_like(one, a._device, False) for one in sequence("choose", choices)]
        if chosen:
            dtype = common_type("choose", chosen, a)
            chosen = broadcast_arrays(*(as_array("choose", one, dtype, a) for one in chosen))
        choices = stack(chosen, axis=0) if chosen else None
    if choices is None or choices.ndim == 0 or choices._shape[0] == 0:
        raise ValueError("choose: expected at least one choice, got none.")
    count, step = choices._shape[0], choices._strides[0]
    numbers = in_mode("choose", index_type(a), count, mode)
    shape = layout.broadcast_shapes([numbers._shape, choices._shape[1:]], "choose")
    strides = layout.broadcast_strides(choices._shape[1:], choices._strides[1:], shape)
    result = gather(_CHOOSE, choices, shape, strides, [IndexArray(numbers, 0, count, step)])
    return result if out is None else operations["write"]("choose", out, result)


@takes_lists
def compress(condition: Any, a: ArrayLike, axis: int | None = None, out: VkArray | None = None) -> VkArray:
    """The slices along an axis for which a condition is true.

    Parameters: condition (1 dimension; what it lacks at the end is false); a; axis (None: the elements of the flattened
    array); out.
    Waits for the device, for the number of true elements, unless the condition is a list.
    Raises ValueError for a condition of another rank, IndexError for a true element beyond the axis and an axis out of
    range.
    """
    a = check_array("compress", as_like(a, condition._device if type(condition) is VkArray else None, True))
    places = _places_of_truths(condition)
    if places is None:
        condition = array_of("compress", condition, a)
        if condition.ndim != 1:
            raise ValueError(f"compress: expected a condition of 1 dimension, got shape {condition._shape}.")
    x, axis = flattened(with_dimension(a), axis, "compress")
    indices: Any = places or creation.empty((0,), dtype=default_dtype("int", x._device), device=x._device)
    if places is None:
        (indices,) = coordinates(cast(condition, dtypes.bool_))
    result = take(x, indices, axis=axis)
    return result if out is None else operations["write"]("compress", out, result)


def _places_of_truths(condition: Any) -> list[int] | None:
    """The places of what is true in a list of numbers; None for anything else."""
    if type(condition) is not list or not all(type(one) in (bool, int, float) for one in condition):
        return None
    return [place for place, one in enumerate(condition) if one]


@takes_lists
def extract(condition: Any, arr: ArrayLike) -> VkArray:
    """The elements, in C order, in whose places the flattened condition is true.

    Waits for the device, for their number, unless the condition is a list of numbers. Raises IndexError for a true element
    beyond the last one.
    """
    arr = check_array("extract", as_like(arr, condition._device if type(condition) is VkArray else None, True))
    if _places_of_truths(condition) is None:
        condition = reshape(array_of("extract", condition, arr), (-1,))
    return compress(condition, reshape(arr, (-1,)))


@takes_lists
def argwhere(a: ArrayLike) -> VkArray:
    """The indices of the elements that are not 0, one row for each.

    Waits for the device, for their number. Raises TypeError for what is no array, number or list.
    """
    if a.ndim == 0:
        return creation.empty((int(bool(a)), 0), dtype=default_dtype("int", a._device), device=a._device)
    return stack(coordinates(cast(a, dtypes.bool_)), axis=1)


@takes_lists
def flatnonzero(a: ArrayLike) -> VkArray:
    """The places in C order of the elements that are not 0.

    Waits for the device, for their number. Raises TypeError for what is no array, number or list.
    """
    return coordinates(cast(reshape(a, (-1,)), dtypes.bool_))[0]


# -- one of several values --------------------------------------------------------------------------------------


def common_type(function: str, values: Sequence[Any], like: VkArray) -> DType:
    """The promoted type of arrays and Python's numbers, which are weak beside an array."""
    if any(type(value) is VkArray for value in values):
        return common_dtype(function, values)
    check_operands(function, [like, *values])
    return default_dtype(promotion.KIND_NAMES[max(map(promotion.scalar_kind, values))], like._device)


@planned
def select(condlist: Any, choicelist: Any, default: Any = 0) -> VkArray:
    """The elements of the first choice whose condition is true there, and the default where none is.

    Parameters: condlist (bool arrays or lists); choicelist (as many arrays, lists or numbers); default; all broadcast
    together. Returns an array of the promoted type of the choices and the default.
    Raises ValueError for different numbers of both, or none, and shapes that do not broadcast, TypeError for conditions
    that are not bool.
    """
    conditions, chosen = sequence("select", condlist), sequence("select", choicelist)
    if len(conditions) != len(chosen) or not conditions:
        raise ValueError(
            f"select: expected as many choices as conditions, one at least, got {len(conditions)} conditions "
            f"and {len(chosen)} choices."
        )
    device = next((x._device for x in (*conditions, *chosen, default) if type(x) is VkArray), None)
    conditions = arrays_of("select", [as_like(one, device, True) for one in conditions])
    if any(one._dtype is not dtypes.bool_ for one in conditions):
        raise TypeError(f"select: expected bool conditions, got {', '.join(str(one._dtype) for one in conditions)}.")
    like = conditions[0]
    chosen = [as_like(one, like._device, False) for one in (*chosen, default)]
    dtype = common_type("select", chosen, like)
    arrays = [as_array("select", one, dtype, like) for one in chosen]
    *arrays, result = arrays
    shape = layout.broadcast_shapes([x._shape for x in (*conditions, *arrays, result)], "select")
    result = broadcast_to(result, shape)
    for condition, one in zip(reversed(conditions), reversed(arrays), strict=True):
        result = operations["where"](condition, one, result)
    return result


def _holds_conditions(condlist: Any, rank: int) -> bool:
    """Whether a list has conditions as its members, and is not one itself."""
    return isinstance(condlist, (list, tuple)) and (
        rank == 0 or (len(condlist) > 0 and isinstance(condlist[0], (list, tuple, VkArray)))
    )


@takes_lists
def piecewise(x: ArrayLike, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> VkArray:
    """The values of functions, each where its condition is true.

    Parameters: x; condlist (bool arrays or lists of the shape of x); funclist (as many functions, called with the elements
    of x where the condition is true, or numbers; one more is for the other elements, which are 0 otherwise); args, kw
    (given to the functions).
    Returns an array of the shape and type of x; of two conditions that are true the later one counts. Waits for the device.
    Raises ValueError for another number of functions.
    """
    several = condlist.ndim > min(x.ndim, 1) if type(condlist) is VkArray else _holds_conditions(condlist, x.ndim)
    condlist = condlist if several else [condlist]
    conditions = [cast(array_of("piecewise", one, x), dtypes.bool_) for one in condlist]
    count = len(conditions)
    if len(funclist) not in (count, count + 1):
        raise ValueError(
            f"piecewise: {count} or {count + 1} functions are expected for {count} conditions, got {len(funclist)}."
        )
    if len(funclist) == count + 1:
        others = operations["logical_not"](operations["any"](stack(conditions, axis=0), axis=0))
        conditions.append(others)
    result = creation.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):
            part = x[condition]
            if part.size:
                result[condition] = values_for("piecewise", function(part, *args, **kw), x)
        else:
            result[condition] = values_for("piecewise", function, x)
    return result


operations.update(choose=choose, compress=compress)
