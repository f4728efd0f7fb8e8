"""Questions about objects, and names of types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core import dtypes, promotion
from ...core.array import VkArray, floating
from ...core.dtypes import CATEGORIES, DType
from .. import creation

# NumPy's letters of types, and what they mean in words.
_WORDS = {
    "S1": "character", "?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short",
    "i": "integer", "I": "unsigned integer", "l": "long integer", "L": "unsigned long integer", "q": "long long integer",
    "Q": "unsigned long long integer", "f": "single precision", "d": "double precision", "g": "long precision",
    "F": "complex single precision", "D": "complex double precision", "G": "complex long double precision", "S": "string",
    "U": "unicode", "V": "void", "O": "object",
}  # fmt: skip
_BY_SIZE = "GDFgdfQqLlIiHhBb?"  # NumPy's order of letters, those that hold most first


def common_type(*arrays: VkArray) -> DType:
    """The floating-point type that holds the elements of some arrays. Integers count as the default floating type.

    Raises TypeError for arrays of bool.
    """
    found = []
    for x in arrays:
        if x._dtype not in CATEGORIES["numeric"]:
            raise TypeError(f"common_type: expected arrays of numbers, got one of {x._dtype}.")
        found.append(floating(x))
    return promotion.promote_all(found) if found else dtypes.float16


def iterable(y: Any) -> bool:
    """Whether an object can be iterated over. Raises nothing."""
    try:
        iter(y)
    except TypeError:
        return False
    return True


def isfortran(a: VkArray) -> bool:
    """Whether the elements of an array lie in the order of columns, and not in that of rows too.

    Raises AttributeError for what is no array.
    """
    return not a._contiguous and a.T._contiguous


def typename(char: str) -> str:
    """What a letter of NumPy's for a type means, in words. Raises KeyError for another one."""
    return _WORDS[char]


def mintypecode(typechars: Iterable[Any], typeset: str = "GDFgdf", default: str = "d") -> str:
    """The letter of the smallest type of `typeset` that holds all of some types.

    Parameters: typechars (letters of types, or arrays); typeset (the letters to choose from); default (the letter for none).
    Raises TypeError for other objects.
    """
    letters = {one if isinstance(one, str) else creation.asarray(one).dtype.char for one in typechars}
    found = letters & set(typeset)
    if {"F", "d"} <= found:
        return "D"
    return min(found, key=_BY_SIZE.index) if found else default
