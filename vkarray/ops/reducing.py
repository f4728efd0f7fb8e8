"""The public functions of reductions: their forms and their texts. What they compute with is `kernels/reductions.py`."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ..core import promotion
from ..core.array import ArrayLike, VkArray, check_supported, held, operations
from ..core.dtypes import DType, as_dtype
from ..kernels.array_like import as_like
from ..kernels.conversion import cast
from ..kernels.planned import planned
from ..kernels.reduction_types import widened
from ..kernels.reductions import Reduction, checked, row, with_kept_axes
from ..kernels.rows import check_array

_DOCUMENTATION = """{summary}

Parameters: x ({category}); axis ({axis}){dtype}; out (an array that takes the result); keepdims (keep the reduced
axes, with length 1){options}.
Returns an array of {returned}.{method}
Raises TypeError for other types, IndexError for an axis out of range{raises}.
Standard: {chapter} functions, `{name}`.
"""
_RETURNED = {
    "same": "the dtype of x", "key": "the dtype of x", "bool": "bool",
    "count": "the default integer dtype", "index": "the default integer dtype",
    "sum": "the dtype of x; of the default integer's width for narrower integers and bool",
    "floating": "the dtype of x, the default floating type for integers",
    "pair": "the dtype of x, the default floating type for integers",
}  # fmt: skip
_OPTIONS = "; where (a bool array: the elements that count); initial (a number to begin with, for sums and extremes)"
_ORDERED = """
Method: blocks and a binary tree in an order that does not depend on the device, so the rounding error grows with the
logarithm of the number of elements; float16 and bfloat16 are accumulated in float32."""


def document(function: Any, made: Reduction, summary: str, chapter: str) -> Any:
    """Name a public function after its row, and write its docstring."""
    function.__name__ = function.__qualname__ = made.name
    function.__module__ = "vkarray"
    function.row = made
    function.__doc__ = _DOCUMENTATION.format(
        summary=summary, name=made.name, chapter=chapter, category="any dtype" if made.category == "all" else made.category,
        axis="None for the place in the flattened array" if made.indexed else "None for all, an integer or a tuple",
        dtype="; dtype (of the result; x is converted to it first)" if made.types == "sum" else "",
        options="" if made.indexed else _OPTIONS, returned=_RETURNED[made.types],
        method=_ORDERED if made.types in ("sum", "floating", "pair") else "",
        raises=", ValueError for an empty array" if made.empty is None else "",
    )  # fmt: skip
    return function


def apply(
    made: Reduction, x: VkArray, axis: int | Sequence[int] | None, keepdims: bool, out: VkArray | None = None
) -> VkArray:  # fmt: skip
    """Reduce axes as the public functions do; the parameter of the row is the number of elements reduced.

    The result is `out` where that takes it as it is.
    """
    axes = checked(made.name, x, axis)
    promotion.check_category(made.name, x._dtype, made.category)
    count = math.prod(x._shape[axis] for axis in axes)
    return _run(made, x, axes, keepdims, out, parameters=(count, 0.0))


def _run(
    made: Reduction, x: VkArray, axes: tuple[int, ...], keepdims: bool, out: Any, **options: Any
) -> VkArray:  # fmt: skip
    """What a row makes of x, with the reduced axes if `keepdims`; `out` itself where that takes it as it is."""
    target = out if type(out) is VkArray else None
    if target is not None and keepdims:
        target = None
        if len(out._shape) == len(x._shape) and all(out._shape[axis] == 1 for axis in axes):
            kept = [axis for axis in range(len(x._shape)) if axis not in axes]
            target = out._view(tuple(out._shape[axis] for axis in kept), tuple(out._strides[axis] for axis in kept))
    result = made.run(x, axes, out=target, **options)
    return out if target is not None and result is target else with_kept_axes(result, x, axes, keepdims)


Axis = int | Sequence[int] | None
Mask = Any  # an array of bools, or what one is made of: bools also of lists of other numbers, unlike `ArrayLike`


class Reducing(Protocol):
    """The public function of a row."""

    def __call__(
        self, x: ArrayLike, /, axis: Axis = None, out: VkArray | None = None, keepdims: bool = False,
        initial: ArrayLike | None = None, where: Mask = True,
    ) -> VkArray: ...  # fmt: skip


class Accumulating(Protocol):
    """That of a sum or product."""

    def __call__(
        self, x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None,
        keepdims: bool = False, initial: ArrayLike | None = None, where: Mask = True,
    ) -> VkArray: ...  # fmt: skip


_WITHOUT_INITIAL = "{0}: where= leaves out elements, and a {0} of none needs initial=."


class Join(NamedTuple):
    """What `initial` and `where` mean for a reduction: the function of two operands that joins, and what changes nothing."""

    function: str
    identity: bool | int | None


def _options(
    made: Reduction, join: Join | None, x: VkArray, initial: Any, where: Any, reduce: functools.partial[VkArray]
) -> VkArray:  # fmt: skip
    """A reduction of the elements where `where` holds, begun with `initial`."""
    if join is None:
        raise TypeError(f"{made.name}: it takes neither initial nor where.")
    x = given(made.name, x)
    sums = join.function == "add" and x._dtype.kind == "f"  # which -0.0 does not change, but `reduce` begins with 0.0
    signed = sums and _may_be_negative_zero(initial)
    if where is not True:
        start = -0.0 if sums else join.identity if join.identity is not None else in_type_of(x, initial)
        if start is None:
            raise ValueError(_WITHOUT_INITIAL.format(made.name))
        x = operations["where"](operations["mask"](made.name, where, x), x, start)
    if initial is not None and made.empty is None and 0 in x._shape:
        axes = checked(made.name, x, reduce.keywords["axis"])
        lengths = tuple(length or int(axis in axes) for axis, length in enumerate(x._shape))
        x = operations["full"](lengths, in_type_of(x, initial), device=x._device)
    result = reduce(x)
    initial = in_type_of(result, initial)
    if 0 in x._shape and type(initial) is VkArray and initial.ndim == 0:  # the number itself: 0.0 + -0.0 is 0.0
        return operations["full"](result._shape, initial, device=result._device)
    if initial is None:
        return result
    joined = operations[join.function](result, initial)
    if not signed:
        return joined
    over = {name: reduce.keywords[name] for name in ("axis", "keepdims")}
    negative = operations["all"](operations["signbit"](x), **over) & operations["signbit"](initial)
    return operations["where"](negative & (joined == 0), initial, joined)


def _may_be_negative_zero(initial: Any) -> bool:
    """Whether a sum may begin with -0.0: the values of arrays are not read."""
    if type(initial) is VkArray:
        return initial._dtype.kind == "f"
    number = promotion.as_scalar(initial)
    return isinstance(number, float) and number == 0 and math.copysign(1, number) < 0


def in_type_of(x: VkArray, initial: Any) -> Any:
    """A number to begin with as an array of the type of x, without its fraction for integers; anything else as it is."""
    if type(initial) is VkArray and initial.ndim == 0:
        return initial.astype(x._dtype, copy=False)
    if initial is None or not promotion.is_scalar(initial):
        return initial
    number = promotion.as_scalar(initial)
    if x._dtype.kind == "b":
        return operations["asarray"](bool(number), device=x._device)
    whole = x._dtype.kind in "iu" and isinstance(number, float) and math.isfinite(number)
    return operations["asarray"](int(number) if whole else number, dtype=x._dtype, device=x._device)


def type_of_out(x: VkArray, out: Any) -> DType | None:
    """The type that `out` asks a function of x to compute in, as `dtype` would; None where that is the type of x."""
    common = held(promotion.promote(x._dtype, out._dtype), x._device) if type(out) is VkArray else x._dtype
    return None if common is x._dtype else common


def given(function: str, x: Any) -> VkArray:
    """What is reduced: an array, also for a number beside arrays of other parameters, such as `out`."""
    return x if type(x) is VkArray else check_array(function, as_like(x, None, True))


def _into(
    made: Reduction, join: Join | None, x: VkArray, out: VkArray | None, initial: Any, where: Any,
    reduce: functools.partial[VkArray], writes: bool = True,
) -> VkArray:  # fmt: skip
    """A reduction with NumPy's options, written to `out` where it is given, in whichever type that has.

    `reduce` takes `out` where it `writes` there itself what that can take.
    """
    if initial is not None or where is not True:
        result = _options(made, join, x, initial, where, reduce)
    else:
        x = given(made.name, x)
        result = reduce(x, out=out) if writes else reduce(x)
    return result if out is None or result is out else operations["write"](made.name, out, result, casting="unsafe")


def reduction(
    name: str, category: str, combine: str | dict[str, str], summary: str, chapter: str, join: Join | None = None,
    booleans: str | None = None, complexes: str | None = None, **options: Any,
) -> Reducing:  # fmt: skip
    """Make a row and its public function of (x, axis, out, keepdims, initial, where).

    `booleans` names the operation that does it for bools, `complexes` that for complex numbers, if these are others.
    """
    made = row(name, category, combine, **options)

    def function(
        x: ArrayLike, /, axis: Axis = None, out: VkArray | None = None, keepdims: bool = False,
        initial: ArrayLike | None = None, where: Mask = True,
    ) -> VkArray:  # fmt: skip
        if booleans is not None and type(x) is VkArray and x._dtype.kind == "b":
            if initial is None and 0 in (x._shape[one] for one in checked(name, x, axis)):
                raise ValueError(f"{name}: expected at least one element along the reduced axes, got shape {x._shape}.")
            if initial is None and where is not True:
                raise ValueError(_WITHOUT_INITIAL.format(name))
            return operations[booleans](x, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)
        compute: Any = functools.partial(apply, made)
        if complexes is not None and type(x) is VkArray and x._dtype.kind == "c":
            compute = operations[complexes]
        if out is None and initial is None and where is True:
            return compute(x, axis, keepdims)
        reduce = functools.partial(compute, axis=axis, keepdims=keepdims)
        return _into(made, join, x, out, initial, where, reduce, getattr(compute, "func", None) is apply)

    function.__name__ = function.__qualname__ = name
    return document(planned(function), made, summary, chapter)


def accumulation(
    name: str, combine: str | dict[str, str], summary: str, join: Join, booleans: str, **options: Any
) -> Accumulating:  # fmt: skip
    """Make a row of a sum or product and its public function of (x, axis, dtype, out, keepdims, initial, where).

    `booleans` names the operation that does it for the type bool, where one addend that is no 0 makes a sum true.
    """
    made = row(name, "all", combine, types="sum", **options)

    def reduced(
        x: VkArray, axis: Axis, dtype: DType | None, keepdims: bool, out: VkArray | None = None
    ) -> VkArray:  # fmt: skip
        axes = checked(name, x, axis)
        wanted = accumulator(name, x, dtype)
        if wanted is not widened(x._dtype, x._device):
            x = cast(x, wanted)
        return _run(made, x, axes, keepdims, out, result_dtype=wanted)

    def function(
        x: ArrayLike, /, axis: Axis = None, dtype: DType | None = None, out: VkArray | None = None, keepdims: bool = False,
        initial: ArrayLike | None = None, where: Mask = True,
    ) -> VkArray:  # fmt: skip
        if dtype is not None and as_dtype(dtype, name).category == "bool":
            return operations[booleans](x, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)
        if out is None and initial is None and where is True:
            return reduced(x, axis, dtype, keepdims)
        x = given(name, x)
        dtype = type_of_out(x, out) if dtype is None else dtype
        reduce = functools.partial(reduced, axis=axis, dtype=dtype, keepdims=keepdims)
        return _into(made, join, x, out, initial, where, reduce)

    function.__name__ = function.__qualname__ = name
    return document(planned(function), made, summary, "statistical")


def accumulator(name: str, x: VkArray, dtype: DType | None) -> DType:
    """The type of a sum, product or scan of x. Raises TypeError for bool and for a complex array in a real type."""
    if dtype is None:
        return widened(x._dtype, x._device)
    wanted = as_dtype(dtype, name)
    if wanted.category == "bool" or (x._dtype.category == "complex floating" and wanted.category != "complex floating"):
        raise TypeError(
            f"{name}: {x._dtype} elements have no {name} of dtype {wanted}. Ask for a type that holds them."
        )
    check_supported(wanted, x._device, name)
    return wanted
