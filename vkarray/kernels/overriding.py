"""Objects of other classes as arguments: those that stand for an array, and those that have their own say in a call.

An object with `__array__` that gives an array of vkarray's stands for that. One with `__array_ufunc__` or `__array_function__`
(NEP 13 and NEP 18) is asked what a call with it gives. NumPy's own arrays are neither: nothing is copied to the device unasked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.array import VkArray, operations

# Types that have no say, to which modules above add theirs.
BUILT_IN = {int, float, complex, bool, str, bytes, list, tuple, range, dict, type(None), VkArray}


def is_numpys(kind: type) -> bool:
    """Whether a class is NumPy's, or derives from its arrays."""
    names = ((base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__)
    return any(package == "numpy" and name != "NDArrayOperatorsMixin" for package, name in names)


def stands_for(value: Any) -> Any:
    """The array that an object of another class gives by `__array__`; None for one of NumPy's and for any other object."""
    kind = type(value)
    if kind in BUILT_IN or not callable(getattr(kind, "__array__", None)) or is_numpys(kind):
        return None
    return value.__array__()


def own_array(value: Any) -> VkArray | None:
    """The array of vkarray's that an object of another class stands for; None where it stands for none."""
    found = stands_for(value)
    return found if type(found) is VkArray else None


def or_own_array(value: Any) -> Any:
    """The array that an object stands for, or the value itself."""
    own = own_array(value)
    return value if own is None else own


def _asked(values: Sequence[Any], protocol: str) -> Iterator[Any]:
    """The arguments of other classes that have a protocol; the members of a list are arguments as well."""
    for value in values:
        members = value if type(value) in (list, tuple) else (value,)
        if not BUILT_IN.issuperset(map(type, members)):
            # What a trace has in the place of an array is one by its `__class__`.
            yield from (one for one in members if _has(type(one), protocol) and not isinstance(one, VkArray))


def _has(kind: type, protocol: str) -> bool:
    return kind not in BUILT_IN and hasattr(kind, protocol) and not is_numpys(kind)


def overridden(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an argument of another class makes of a call; NotImplemented where none has a say, or all decline.

    Raises TypeError where one declines and all others have none, as NumPy does.
    """
    ufunc = getattr(function, "ufunc", None)
    if ufunc is not None:
        return overridden_ufunc(ufunc, "__call__", args, kwargs)
    asked = list(_asked((*args, *kwargs.values()), "__array_function__"))
    types = tuple({type(one): None for one in asked})
    for one in asked:
        found = one.__array_function__(function, types, args, kwargs)
        if found is not NotImplemented:
            return found
    _refuse(function.__name__, "__array_function__", asked)
    return NotImplemented


def overridden_ufunc(ufunc: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `overridden` is to functions, to a method of an elementwise function."""
    asked = list(_asked(args, "__array_ufunc__"))
    for one in asked:
        if one.__array_ufunc__ is None:
            raise TypeError(
                f"{ufunc.__name__}: operand {type(one).__name__!r} does not support ufuncs (__array_ufunc__ is None)."
            )
        found = one.__array_ufunc__(ufunc, method, *args, **kwargs)
        if found is not NotImplemented:
            return found
    _refuse(ufunc.__name__, "__array_ufunc__", asked)
    return NotImplemented


def _refuse(name: str, protocol: str, asked: Sequence[Any]) -> None:
    if asked:
        kinds = ", ".join(repr(type(one).__name__) for one in asked)
        raise TypeError(
            f"{name}: {protocol} of {kinds} returned NotImplemented. Give an array, or let the class compute it."
        )


def operand(value: Any) -> VkArray | None:
    """An operator's operand of another class as an array; None where that class computes, by an operator of its own."""
    kind = type(value)
    if hasattr(kind, "__array_ufunc__") or getattr(value, "__array_priority__", -1) > 0:
        return None
    return own_array(value)


operations.update(operand=operand)
