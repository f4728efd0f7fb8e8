"""NumPy's names of types: aliases, the abstract classes of its scalars, and functions that ask about types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.array import VkArray
from ...core.dtypes import CATEGORIES, DTYPES, DType, as_dtype
from ...core.operators import is_sequence
from ...kernels.overriding import or_own_array

bool_, int_, uint, intp, uintp = (DTYPES[name] for name in ("bool", "int64", "uint64", "int64", "uint64"))
byte, short, intc, long, longlong = (DTYPES[name] for name in ("int8", "int16", "int32", "int64", "int64"))
ubyte, ushort, uintc, ulong, ulonglong = (DTYPES[name] for name in ("uint8", "uint16", "uint32", "uint64", "uint64"))
half, single, double = (DTYPES[name] for name in ("float16", "float32", "float64"))
csingle, cdouble = (DTYPES[name] for name in ("complex64", "complex128"))


# NumPy's letters of the types, by kind.
typecodes = {
    "Character": "c", "Integer": "bhil", "UnsignedInteger": "BHIL", "Float": "efd", "Complex": "FD", "AllInteger": "bBhHiIlL",
    "AllFloat": "efdFD", "Datetime": "", "All": "?bhilBHILefdFD",
}  # fmt: skip


class _Abstract(type):
    """The class of the abstract types: an array of 0 dimensions is an instance where its dtype belongs to them."""

    members: frozenset[DType]

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is VkArray and instance.ndim == 0 and instance.dtype in cls.members

    def __subclasscheck__(cls, other: Any) -> bool:
        own = (
            other.members if isinstance(other, _Abstract) else {DTYPES.get(getattr(other, "__name__", "").rstrip("_"))}
        )
        return own <= cls.members

    def __contains__(cls, dtype: DType) -> bool:
        return dtype in cls.members


def _abstract(name: str, category: str, doc: str) -> _Abstract:
    return _Abstract(name, (), {"__doc__": doc, "__module__": "vkarray", "members": CATEGORIES[category]})


generic = _abstract("generic", "all", "Any type of elements.")
number = _abstract("number", "numeric", "Types of numbers.")
integer = _abstract("integer", "integer", "Types of integers.")
signedinteger = _abstract("signedinteger", "signed integer", "Types of integers with a sign.")
unsignedinteger = _abstract("unsignedinteger", "unsigned integer", "Types of integers without a sign.")
inexact = _abstract("inexact", "floating-point", "Floating-point types, real and complex.")
floating = _abstract("floating", "real floating", "Real floating-point types.")
complexfloating = _abstract("complexfloating", "complex floating", "Complex types.")


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a type is another one, or belongs to an abstract one such as `floating`. Raises TypeError for what is no type."""
    members = [
        one.members if isinstance(one, _Abstract)
        else _members(one) for one in (arg1, arg2)
    ]  # fmt: skip
    return members[0] <= members[1]


def _members(value: Any) -> frozenset[DType]:
    """The types that are meant by a type of vkarray's or NumPy's, an abstract one of NumPy's included."""
    abstract = globals().get(getattr(value, "__name__", ""))
    if isinstance(abstract, _Abstract):
        return abstract.members
    return frozenset({as_dtype(value, "issubdtype")})


def ndim(a: Any) -> int:
    """The number of dimensions of an array, a number or nested lists. It raises nothing."""
    return len(shape(a))


def shape(a: Any) -> tuple[int, ...]:
    """The lengths of the dimensions of an array, a number or nested lists. It raises nothing."""
    found = getattr(or_own_array(a), "shape", None)
    if found is not None:
        return tuple(found)
    if not is_sequence(a):
        return ()
    return (len(a), *(shape(a[0]) if len(a) else ()))


def size(a: Any, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements of an array, or the product of the lengths of some of its dimensions.

    Raises IndexError for an axis out of range.
    """
    lengths = shape(a)
    if axis is None:
        return math.prod(lengths)
    return math.prod(lengths[one] for one in (axis if isinstance(axis, (tuple, list)) else (axis,)))
