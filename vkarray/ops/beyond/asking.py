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


def info(object: Any = None, maxwidth: int = 76, output: Any = None, toplevel: str = "numpy") -> None:
    """Print what a function or class does, or of what kind an array is.

    Parameters: object (a function, a class, an array, or the name of one of vkarray's functions; `info` itself for None);
    output (a file to print to). maxwidth and toplevel change nothing. Raises nothing.
    """
    import inspect
    import sys

    if isinstance(object, str):
        found: Any = sys.modules["vkarray"]
        for part in object.split("."):
            found = getattr(found, part, None)
        if found is None:
            print(f"Help for {object} not found.", file=output)
            return
        object = found
    elif object is None:
        object = info
    if type(object) is VkArray:
        lines = [
            f"{name}:  {getattr(object, name)}"
            for name in ("shape", "strides", "itemsize", "nbytes", "dtype", "device")
        ]
        print("\n".join(lines), file=output)
        return
    name = getattr(object, "__name__", type(object).__name__)
    try:
        signature = inspect.signature(object)
        bare = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
        name += str(signature.replace(parameters=bare, return_annotation=signature.empty))
    except (TypeError, ValueError):  # what is not called
        pass
    print(f"{name}\n\n{inspect.getdoc(object) or ''}", file=output)


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
