"""Elementwise functions as objects, as NumPy's are: called with arrays, and with `out`, `where` and `dtype`; `reduce` and others.

`unary`, `binary` and `ternary` make one from a row of GLSL; `composed` makes one from a function of arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..core import dtypes, layout
from ..core.array import ArrayLike, VkArray, operations
from ..core.dtypes import DType, as_dtype
from ..core.promotion import is_scalar
from ..kernels.array_like import NAMES, by_position
from ..kernels.overriding import overridden_ufunc
from ..kernels.planned import planned, recorder, watches
from ..kernels.rows import ROWS, Expression, Row, common_dtype
from .data_type import as_casting, can_cast
from .loops import cast_operands, check_kept, check_results, loop

if TYPE_CHECKING:
    from .._vk import Device

ABSENT: Any = object()  # what nobody gives


class ufunc:
    """An elementwise function. Made by vkarray.

    Attributes: `nin` and `nout` (the numbers of operands and results), `nargs` (both), `types` (NumPy's letters of the types it
    computes in), `identity` (what changes no other operand, or None). Parameters of a call: the operands (arrays, numbers or
    lists, which broadcast against each other); out (arrays that take the results, by position or name); where (a bool array: the
    results elsewhere are those of `out`, without it 0); dtype or signature ("ff->f": the types to compute in); casting ("same_kind"
    by default: what may be converted to these, and written to `out`). order and subok are accepted and change nothing.
    """

    __signature__: inspect.Signature
    signature: str | None = None  # of vectors or matrices, which elementwise functions have none of

    def __init__(
        self, name: str, call: Callable[..., Any], nin: int, nout: int, row: Row | None, doc: str, identity: Any = None
    ) -> None:  # fmt: skip
        self.__name__ = self.__qualname__ = name
        self.__module__, self.__doc__ = "vkarray", doc
        self.call, self.nin, self.nout, self.row, self._identity = call, nin, nout, row, identity
        vars(call)["ufunc"] = self  # what objects that have a say in a call are told of

    def __call__(self, *operands: Any, **options: Any) -> Any:
        if options or len(operands) != self.nin:
            return self._with(operands, **options)
        return self.call(*operands)

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def __reduce__(self) -> str:
        return self.__name__

    # -- options ------------------------------------------------------------------------------------------------

    def _with(
        self, operands: tuple[Any, ...], out: Any = None, where: Any = True, dtype: Any = None, casting: str = "same_kind",
        order: str = "K", subok: bool = True, sig: Any = None, signature: Any = None, **others: Any,
    ) -> Any:  # fmt: skip
        """A call with options."""
        if watches and (recording := recorder()) is not None:
            options = {
                "out": out,
                "where": where,
                "dtype": dtype,
                "casting": casting,
                "order": order,
                "subok": subok,
                **others,
            }
            return recording.call(self._with, (operands,), {**options, "sig": sig, "signature": signature})
        operands, others = by_position(NAMES.get(self.__name__, ()), operands, others) if others else (operands, others)
        if others:
            raise TypeError(f"{self.__name__}: unexpected keyword argument {next(iter(others))!r}.")
        if not all(type(one) is VkArray for one in (*operands, out)):
            given = {"out": out, "where": where, "dtype": dtype}
            asked = {name: value for name, value in given.items() if value is not None and value is not True}
            if (answer := overridden_ufunc(self, "__call__", operands, asked)) is not NotImplemented:
                return answer
        as_casting(self.__name__, casting)
        layout.as_order(self.__name__, order)
        if not isinstance(subok, bool):
            raise TypeError(f"{self.__name__}: expected a bool as subok, got {subok!r:.60}.")
        if type(out) is VkArray and len(operands) == self.nin and self.nout == 1:
            outs = (out,)
        else:
            operands, outs = self._outs(operands, out)
        if self.row is not None and type(outs[0]) is VkArray and where is True and dtype is sig is signature is None:
            check_kept(self, operands, casting)
            return _into(self.__name__, outs[0], casting, *operands)
        wanted = loop(self, dtype, sig, signature)
        if wanted is None:
            check_kept(self, operands, casting)
        else:
            operands = cast_operands(self, operands, wanted, casting)
        if self.row is not None and self.row.prepare is not None:
            _check_options(self.row, operands, outs[0], where, casting)
        results = self.call(*operands)
        results = results if self.nout > 1 else (results,)
        if wanted is not None:
            check_results(self, wanted, results)
        written = tuple(
            result
            if where is True and target is None
            else write(self.__name__, target, result, where, casting, broadcasts=True)
            for target, result in zip(outs, results, strict=True)
        )
        return written if self.nout > 1 else written[0]

    def _outs(self, operands: tuple[Any, ...], out: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The operands, and for each result the array that takes it or None: `out=...` asks for an array, as all results are."""
        given = operands[self.nin :]
        if len(operands) < self.nin or len(given) > self.nout or (given and out is not None):
            was = "was" if len(operands) == 1 else "were"
            raise TypeError(
                f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments but {len(operands)} {was} given. "
                f"The first {self.nin} are operands, and `out` is given once."
            )
        outs = given or (out if isinstance(out, tuple) else (None if out is ... else out,))
        if any(one is ... for one in outs):
            raise TypeError(f"{self.__name__}: out=... is only allowed as a keyword argument. Give it without a tuple.")
        if isinstance(out, tuple) and len(out) != self.nout:
            raise ValueError(f"{self.__name__}: expected a tuple out of {self.nout} entries, got {len(out)}.")
        return operands[: self.nin], (*outs, *(None for _ in range(self.nout - len(outs))))

    # -- what it is ---------------------------------------------------------------------------------------------

    @property
    def nargs(self) -> int:
        """The number of operands and results."""
        return self.nin + self.nout

    @property
    def ntypes(self) -> int:
        """The number of types it computes in."""
        return len(self.types)

    @property
    def types(self) -> list[str]:
        """NumPy's letters of the types it computes in: "ff->f"."""
        if self.row is None:
            return []
        found = [(dtype, self.row.result_dtype(dtype)) for dtype in self.row.accepted() if dtype is not dtypes.bfloat16]
        return [f"{one.char * self.nin}->{result.char}" for one, result in found]

    def resolve_dtypes(
        self, types: Sequence[Any], *, signature: Any = None, casting: Any = None, reduction: bool = False
    ) -> tuple[DType, ...]:  # fmt: skip
        """The types that a call computes in and returns, for operands of some types.

        Parameters: types (those of the operands, of which int, float and complex stand for Python's numbers, and None for each
        result); signature, casting (accepted, and change nothing); reduction (whether it is for `reduce`: the first type is None).
        Raises TypeError for types that it does not take.
        """
        if len(types) != self.nargs:
            raise ValueError(f"{self.__name__}.resolve_dtypes: expected {self.nargs} types, got {len(types)}.")
        operands = list(types[: self.nin])
        if reduction:
            operands[0] = operands[0] or operands[1]
        shape = (1,) * (2 if self.signature else 0)
        given = [
            one(1) if one in (int, float, complex)
            else operations["full"](shape, 1, dtype=as_dtype(one, f"{self.__name__}.resolve_dtypes"))
            for one in operands
        ]  # fmt: skip
        results = self(*given)
        returned = tuple(one._dtype for one in (results if self.nout > 1 else (results,)))
        common = common_dtype(self.__name__, given)
        others = self.row is None or (self.row.complexes is not None and common.kind == "c")
        computed = common if others else self.row.compute_dtype(common, given)  # type: ignore[union-attr]
        return (*(computed for _ in operands), *returned)

    @property
    def identity(self) -> Any:
        """What changes no other operand; None where there is no such number."""
        return _IDENTITIES.get(self.__name__, self._identity)

    # -- methods of functions of two operands -------------------------------------------------------------------

    def reduce(
        self, array: ArrayLike, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = ABSENT,
        where: Any = True,
    ) -> VkArray:  # fmt: skip
        """The function applied along axes: `add.reduce` is the sum.

        Parameters: array; axis (an integer, None for all, or a tuple); dtype, out, keepdims; initial (a number to begin
        with; None for the first element, also where the function has an identity); where (a bool array of the elements that
        count). Raises ValueError for an axis without elements where there is nothing to begin with.
        """
        if type(array) is not VkArray:
            options = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
            options |= {} if out is None else {"out": out if type(out) is tuple else (out,)}
            if (answer := overridden_ufunc(self, "reduce", (array,), options)) is not NotImplemented:
                return answer
        return operations["ufunc.reduce"](
            self._of_two("reduce"), array, axis, dtype, _target(out), keepdims, initial, where
        )

    def accumulate(self, array: ArrayLike, axis: int = 0, dtype: Any = None, out: Any = None) -> VkArray:
        """The function applied to all elements up to each: `add.accumulate` is the cumulative sum."""
        return operations["ufunc.accumulate"](self._of_two("accumulate"), array, axis, dtype, _target(out))

    def outer(self, first: ArrayLike, second: ArrayLike, /, **options: Any) -> VkArray:
        """The function of every pair of elements; the shape is that of the first, then that of the second."""
        return operations["ufunc.outer"](self._of_two("outer"), first, second, **options)

    def at(self, array: VkArray, indices: Any, second: Any = None, /) -> None:
        """`array[indices] = function(array[indices], second)`, where an element that is named several times changes each time."""
        operations["ufunc.at"](self, array, indices, second)

    def reduceat(self, array: ArrayLike, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> VkArray:
        """`reduce` of the parts that begin at `indices`, one element where the next index is not larger."""
        return operations["ufunc.reduceat"](self._of_two("reduceat"), array, indices, axis, dtype, _target(out))

    def _of_two(self, method: str) -> ufunc:
        if (self.nin, self.nout) != (2, 1):
            raise ValueError(f"{self.__name__}.{method}: only functions of two operands and one result have it.")
        return self


def _target(out: Any) -> Any:
    """The array that takes the only result, also out of a tuple; None for none, and for `...`, which asks for an array."""
    given = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    return None if given is ... else given


_IDENTITIES = {
    "add": 0, "multiply": 1, "logical_and": True, "logical_or": False, "logical_xor": False, "bitwise_or": 0,
    "bitwise_xor": 0, "bitwise_and": -1, "logaddexp": -float("inf"), "logaddexp2": -float("inf"), "hypot": 0, "gcd": 0,
}  # fmt: skip


def _mask(function: str, where: Any, device: Device) -> VkArray:
    """`where` as an array of bools on a device: lists become one, an array of numbers is a TypeError."""
    made = where if type(where) is VkArray else operations["asarray"](where, dtype=dtypes.bool_, device=device)
    if made._dtype is not dtypes.bool_:
        raise TypeError(f"{function}: expected bools as where, got {made._dtype}. Compare with 0: where=mask != 0.")
    return made


def mask(function: str, where: Any, x: VkArray) -> VkArray:
    """`where` as an array of bools of the shape of x. Raises as `_mask`, and ValueError where it does not broadcast to that."""
    return operations["broadcast_to"](_mask(function, where, x._device), x._shape)


# Functions whose results NumPy converts to any type that `out` has; others' stay of their kind.
_TO_ANY_TYPE = {
    "argmax", "argmin", "choose", "compress", "mean", "median", "nanmax", "nanmedian", "nanmin", "nanpercentile", "nanquantile",
    "take", "var",
}  # fmt: skip


def write(
    function: str, target: Any, result: VkArray, where: Any = True, casting: str = "", broadcasts: bool = False
) -> VkArray:  # fmt: skip
    """Write a result into `out` and return that; with `where`, only there, and into zeros for None.

    Raises TypeError for what is no array and for a type that the casting does not allow, ValueError for another shape, unless
    the result may be broadcast to it.
    """
    if where is not True:
        where = _mask(function, where, result._device)
    if target is None:
        shape = result._shape if where is True else layout.broadcast_shapes([result._shape, where._shape], function)
        target = operations["zeros"](shape, dtype=result._dtype, device=result._device)
    casting = casting or ("unsafe" if function in _TO_ANY_TYPE else "same_kind")
    _check_target(function, target, result._dtype, result._shape, casting, broadcasts)
    if where is not True:
        result = operations["where"](where, result, target)
    operations["setitem"](target, ..., result if casting != "unsafe" else result.astype(target._dtype, copy=False))
    return target


def _check_target(
    function: str, target: Any, dtype: DType, shape: layout.Shape, casting: str, broadcasts: bool
) -> None:
    """Raise as `write` where results of a type and a shape cannot be written to `out`."""
    if type(target) is not VkArray:
        raise TypeError(
            f"{function}: expected a vkarray array as out, got {type(target).__name__}. Use vkarray.empty_like."
        )
    if casting != "unsafe" and not can_cast(dtype, target._dtype, casting):
        raise TypeError(
            f"{function}: a result of {dtype} cannot be written to out of {target._dtype} with casting={casting!r}. "
            f"Use another out, or casting='unsafe'."
        )
    taken = layout.broadcast_shapes([shape, target._shape], function) if broadcasts else shape
    if taken != target._shape:
        raise ValueError(
            f"{function}: non-broadcastable output: a result of shape {shape} does not fit into out of shape "
            f"{target._shape}."
        )


def _check_options(row: Row, operands: tuple[Any, ...], target: Any, where: Any, casting: str) -> None:
    """Raise as `write`, before the row looks at values on the device: a call that fails leaves no check there."""
    arrays = [one for one in operands if type(one) is VkArray]
    shape = _shape_of(arrays)
    if len(arrays) < sum(not is_scalar(one) for one in operands) or not arrays or shape is None:
        return  # lists have no values on the device, and shapes that do not fit the row itself refuses
    if where is not True:
        shape = layout.broadcast_shapes([shape, _mask(row.name, where, arrays[0]._device)._shape], row.name)
    if target is not None:
        dtype = row.result_dtype(row.compute_dtype(common_dtype(row.name, operands), operands))
        _check_target(row.name, target, dtype, shape, casting, broadcasts=True)


@planned(integers=True)
def _into(name: str, target: VkArray, casting: str, *operands: ArrayLike) -> VkArray:
    """The result of a row's function in `target`: computed there where it has its type and shape, else written there."""
    row, arrays = ROWS[name], [one for one in operands if type(one) is VkArray]
    if row.prepare is not None:
        _check_options(row, operands, target, True, casting)
    complexes = row.complexes is not None and row.prepare is None and _any_complex(*operands)
    if arrays and not complexes and not layout.has_internal_overlap(target._shape, target._strides):
        prepared = operands if row.prepare is None else row.prepare(*operands)
        computed = row.result_dtype(row.compute_dtype(common_dtype(name, prepared), prepared))
        if computed is target._dtype and arrays[0]._device is target._device and _shape_of(arrays) == target._shape:
            return row(*prepared, out=target)
    return write(name, target, _CALLS[name](*operands), True, casting, broadcasts=True)


def _shape_of(arrays: Sequence[VkArray]) -> layout.Shape | None:
    """The shape that arrays broadcast to; None where they do not."""
    try:
        return layout.broadcast_shapes([one._shape for one in arrays], "")
    except ValueError:  # which the function raises in its own words
        return None


_CALLS: dict[str, Callable[..., Any]] = {}  # the functions of rows, by name


# -- making them ------------------------------------------------------------------------------------------------

_DOCUMENTATION = """{summary}

Parameters: {parameters} ({accepted}){several}; out, where, dtype (see `ufunc`).
Returns an array of {returned}.
Raises TypeError for other types{raises}.{method}
{source}
"""
_RETURNED = {"same": "{}", "bool": "bool", "uint8": "uint8", "real": "{} (its component type if complex)"}
_SEVERAL = "; arrays on one device, numbers or lists, broadcast\nagainst each other"


def _public(row: Row, parameters: tuple[str, ...], source: str) -> ufunc:
    """The function that users call: the row with a plain signature and a docstring made from the row."""
    function: Any
    if row.operands == 1:
        function = lambda x, /: row(x)  # noqa: E731 - the call that users make most: no *args in between
    elif row.operands == 2:
        function = lambda x1, x2, /: row(x1, x2)  # noqa: E731
    else:
        function = lambda x1, x2, x3, /: row(x1, x2, x3)  # noqa: E731
    if row.complexes is not None:
        function = lambda x1, x2, /: (operations[row.complexes] if _any_complex(x1, x2) else row)(x1, x2)  # noqa: E731
    if row.prepare is not None:
        function = lambda x1, x2, /: row(*row.prepare(x1, x2))  # noqa: E731
    function.__name__ = function.__qualname__ = row.name
    function.__annotations__ = dict.fromkeys(parameters, "ArrayLike")
    several = row.operands > 1
    own = "the dtype of x" + (", of a floating type for integers" if row.integers != "keep" else "")
    returned = _RETURNED[row.result].format("the promoted type" if several else own)
    documentation = _DOCUMENTATION.format(
        summary=row.summary, parameters=", ".join(parameters),
        accepted=row.category + (", integers as NumPy converts them" if row.integers != "keep" else ""),
        several=_SEVERAL if several else "",
        returned=returned, method=f"\n{row.method}" if row.method else "",
        raises=", ValueError for shapes that do not broadcast or different devices" if several else "",
        source=source,
    )  # fmt: skip
    call = planned(integers=True)(function)
    call.row = row
    _CALLS[row.name] = call
    made = ufunc(row.name, call, row.operands, 1, row, documentation)
    made.__signature__ = _signature(parameters)
    return made


def _any_complex(*operands: Any) -> bool:
    return any(one._dtype.kind == "c" if type(one) is VkArray else isinstance(one, complex) for one in operands)


def _signature(parameters: Sequence[str]) -> inspect.Signature:
    kind, named = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY
    options = {"out": "VkArray | None", "where": "VkArray | bool", "dtype": "DType | None"}
    defaults = {"out": None, "where": True, "dtype": None}
    return inspect.Signature(
        [
            *(inspect.Parameter(name, kind, annotation="ArrayLike") for name in parameters),
            *(
                inspect.Parameter(name, named, default=defaults[name], annotation=hint)
                for name, hint in options.items()
            ),
        ],
        return_annotation="VkArray",
    )


def _register(
    parameters: tuple[str, ...], name: str, category: str, expression: Expression, summary: str, source: str = "",
    **options: Any,
) -> Any:  # fmt: skip
    row = ROWS[name] = Row(name, len(parameters), category, expression, summary, **options)
    return _public(row, parameters, source or f"Standard: elementwise functions, `{name}`.")


def unary(name: str, category: str, expression: Expression, summary: str, **options: Any) -> ufunc:
    """A row of one operand. Parameters: the fields of `Row`, and `source` for one that is not the standard's."""
    return _register(("x",), name, category, expression, summary, **options)


def binary(name: str, category: str, expression: Expression, summary: str, **options: Any) -> ufunc:
    """A row of two operands, as `unary`."""
    return _register(("x1", "x2"), name, category, expression, summary, **options)


def ternary(name: str, category: str, expression: Expression, summary: str, **options: Any) -> ufunc:
    """A row of three operands, as `unary`."""
    return _register(("x1", "x2", "x3"), name, category, expression, summary, **options)


def composed(function: Callable[..., Any]) -> ufunc:
    """An elementwise function that is written in terms of others: all its parameters are operands.

    A function annotated to return a tuple of n arrays has n results.
    """
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    returned = str(function.__annotations__.get("return", ""))
    results = returned.count("VkArray") if returned.startswith("tuple") else 1
    call = planned(integers=True)(function)
    made = ufunc(function.__name__, call, len(parameters), results, None, function.__doc__ or "")
    made.__signature__ = _signature(parameters)
    return made


operations.update(write=write, mask=mask)
