"""The types that `dtype` and `signature` ask elementwise functions to compute in: a loop, in NumPy's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core import promotion
from ..core.array import VkArray, operations
from ..core.dtypes import COMPLEX_OF, REAL_OF, DType, as_dtype

if TYPE_CHECKING:
    from .ufunc import ufunc

Loop = tuple[DType | None, ...]  # of the operands, then of the results; None for what is left open

RANKS = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}  # of kinds, for casting="same_kind"
_WEAK = ("b", "u", "f", "c")  # kinds of Python's numbers; an integer may be of any integer type
_OWN_TYPES = {"ldexp": (1,)}  # operands whose types are not those of the result
_PYTHON = {"b": bool, "u": int, "i": int, "f": float, "c": complex}


def loop(function: ufunc, dtype: Any, sig: Any, signature: Any) -> Loop | None:
    """The types that a call asks for, by `dtype` or by `signature` (also called `sig`): "ff->f", or a tuple of types.

    Raises TypeError for several of them, for what is none and for a loop that the function lacks, ValueError for another number
    of types.
    """
    name, asked = function.__name__, [one for one in (dtype, sig, signature) if one is not None]
    if len(asked) > 1:
        raise TypeError(f"{name}: cannot specify more than one of dtype, sig and signature. Leave out the others.")
    if dtype is not None:
        return (*(None,) * function.nin, *(as_dtype(dtype, name),) * function.nout)
    if not asked:
        return None
    types = _parsed(function, asked[0].decode("ascii") if isinstance(asked[0], bytes) else asked[0])
    if all(one is None for one in types):
        return None
    known = [[as_dtype(letter) for letter in one.replace("->", "")] for one in function.types]
    if known and not any(all(one in (None, other) for one, other in zip(types, row, strict=True)) for row in known):
        raise TypeError(
            f"{name}: no loop matching the signature {asked[0]!r} was found; there are {', '.join(function.types)}."
        )
    return types


def _parsed(function: ufunc, given: Any) -> Loop:
    name = function.__name__
    if isinstance(given, str):
        operands, arrow, results = given.partition("->")
        if len(given) == 1:
            raise TypeError(f"{name}: a signature of one type is that of the results; write dtype={given!r}.")
        if not arrow or (len(operands), len(results)) != (function.nin, function.nout):
            form = f"{'f' * function.nin}->{'f' * function.nout}"
            raise ValueError(f"{name}: expected a signature such as {form!r}, got {given!r}.")
        try:
            return tuple(as_dtype(letter, name) for letter in operands + results)
        except TypeError as error:
            raise ValueError(str(error)) from None
    if not isinstance(given, tuple):
        raise TypeError(
            f"{name}: the signature object to ufunc must be a string or a tuple of types, got {given!r:.60}."
        )
    if len(given) != function.nargs:
        raise (TypeError if len(given) == 1 else ValueError)(
            f"{name}: expected a signature of {function.nargs} types, got {len(given)}. A type for the results alone is dtype."
        )
    return tuple(None if one is None else as_dtype(one, name) for one in given)


def cast_operands(function: ufunc, operands: Sequence[Any], wanted: Loop, casting: str) -> tuple[Any, ...]:
    """The operands in the types of a loop: those that it leaves open in that of the first result, unless that is bool."""
    result = "same" if function.row is None else function.row.result
    truth = result == "bool" or (function.row is not None and function.row.booleans == "truth")
    rest = None if truth else wanted[function.nin]
    if result == "real" and rest in COMPLEX_OF:
        own = getattr(operands[0], "dtype", None) or (COMPLEX_OF[rest] if isinstance(operands[0], complex) else None)
        rest = COMPLEX_OF[rest] if own in REAL_OF else rest
    kept = _OWN_TYPES.get(function.__name__, ())
    types = [one or (None if place in kept else rest) for place, one in enumerate(wanted[: function.nin])]
    return tuple(
        one if dtype is None else _converted(function.__name__, one, dtype, casting)
        for one, dtype in zip(operands, types, strict=True)
    )


def _converted(function: str, operand: Any, dtype: DType, casting: str) -> VkArray:
    """An operand in a type. Raises TypeError if the casting does not allow it."""
    number = promotion.as_scalar(operand)
    if number is None or hasattr(operand, "dtype"):
        x = operations["asarray"](operand)
        operations["check_casting"](x, dtype, casting, function)
        return operations["astype"](x, dtype, copy=False)
    if RANKS[_WEAK[promotion.scalar_kind(number)]] > RANKS[dtype.kind]:
        if casting != "unsafe":
            raise TypeError(
                f"{function}: a Python {type(number).__name__} cannot be converted to {dtype} with casting={casting!r}. "
                "Ask for another dtype, or for casting='unsafe'."
            )
        number = _PYTHON[dtype.kind](number.real if dtype.kind != "b" else number)
    return operations["asarray"](number, dtype=dtype)


def check_kept(function: ufunc, operands: Sequence[Any], casting: str) -> None:
    """Raise TypeError for casting="no" and "equiv" where a function converts arrays to compute; Python's numbers have no type."""
    if casting not in ("no", "equiv"):
        return
    arrays = [one if type(one) in (bool, int, float, complex) else operations["asarray"](one) for one in operands]
    given = [one._dtype if type(one) is VkArray else type(one) for one in arrays]
    if VkArray not in map(type, arrays):
        return
    computed = function.resolve_dtypes((*given, *(None,) * function.nout))
    truth = function.row is not None and function.row.booleans == "truth"
    for one, dtype in zip(arrays, computed, strict=False):
        if type(one) is VkArray and one._dtype is not dtype and not truth:
            raise TypeError(
                f"{function.__name__}: {one._dtype} cannot be converted to {dtype} with casting={casting!r}. Leave casting out."
            )


def check_results(function: ufunc, wanted: Loop, results: Sequence[VkArray]) -> None:
    """Raise TypeError if a function does not compute in the types of a loop."""
    for dtype, result in zip(wanted[function.nin :], results, strict=True):
        if dtype not in (None, result._dtype):
            raise TypeError(
                f"{function.__name__}: no loop matching dtype={dtype} was found, it leads to {result._dtype}. Leave dtype out, and "
                "convert the result with astype."
            )
