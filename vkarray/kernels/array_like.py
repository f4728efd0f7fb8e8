"""Arguments that stand for arrays: sequences, numbers and NumPy's scalars become arrays where a function is called with them.

Which parameters take such, their annotations say: `ArrayLike`, `Sequence[ArrayLike]` and `*arrays: ArrayLike`. A Python number
beside an array stays one, an operand of no type of its own; as a `StrongLike` it becomes an array there, too. NumPy's arrays stay
what they are, and are refused by the function: nothing is copied to the device unasked.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .._vk.watch import recorded, recorder, watches
from ..core.array import VkArray, held, is_supported, operations
from ..core.dtypes import DTYPES
from ..core.operators import Elements, is_sequence
from ..core.promotion import as_scalar, integer_range
from ..core.tokens import TOKENS
from ..io.interchange import of_sequence
from .host_values import HostValues, call_with
from .overriding import or_own_array, overridden

Function = TypeVar("Function", bound=Callable[..., Any])

# Types that need no conversion beside an array.
PLAIN = frozenset((VkArray, int, float, complex, bool, type(None))) | TOKENS
_ARRAYS = frozenset((VkArray,))
_NUMBERS = frozenset((int, float, complex, bool))


# NumPy's names of parameters that the standard takes by position alone, where they are not a, or a and b.
NAMES = {
    **dict.fromkeys(("fftshift", "fix", "i0", "ifftshift", "iscomplex", "isreal", "sinc"), ("x",)),
    **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"), ("x",)),
    **dict.fromkeys(("flip", "tril", "triu"), ("m",)),
    **dict.fromkeys(("array_equal", "array_equiv"), ("a1", "a2")),
    **dict.fromkeys(("imag", "real"), ("val",)),
    **dict.fromkeys(("matrix_rank", "tile"), ("A",)),
    "broadcast_to": ("array",),
    "searchsorted": ("a", "v"),
    "take_along_axis": ("arr",),
}


def numpys_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names under which NumPy's programs give the first arguments of a function, as far as these have none here."""
    return NAMES.get(function.__name__, ("a", "b"))[: function.__code__.co_posonlyargcount]


def by_position(
    names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, with those given under NumPy's names of first places put there."""
    rest = dict(kwargs)
    for name in names[len(args) :]:
        if name not in rest:
            break
        args = (*args, rest.pop(name))
    return args, rest


class Parameters:
    """The parameters of a function that take what stands for an array."""

    __slots__ = ("leading", "named", "operands", "places", "sequences", "several", "strong")

    def __init__(self, function: Callable[..., Any]) -> None:
        code, hints = function.__code__, function.__annotations__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.strong = {name for name in names if str(hints.get(name, "")).startswith("StrongLike")}
        likes = {name for name in names if str(hints.get(name, "")).startswith("ArrayLike")} | self.strong
        self.sequences = {name for name in names if str(hints.get(name, "")).startswith("Sequence[ArrayLike")}
        self.named = likes | self.sequences
        operands = self.named | {name for name in names if hints.get(name) == "VkArray"}
        self.operands = {place for place, name in enumerate(names[: code.co_argcount]) if name in operands} | operands
        self.places = {place: name for place, name in enumerate(names[: code.co_argcount]) if name in self.named}
        self.several: int | None = None  # the place from which on all arguments are arrays
        if code.co_flags & 4:
            rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
            if str(hints.get(rest, "")).startswith("ArrayLike"):
                self.several = code.co_argcount
        # How many arguments may hold all of those that have no name: None for all.
        self.leading = max(self.places, default=-1) + 1 if self.several is None else None

    def __bool__(self) -> bool:
        return bool(self.named) or self.several is not None

    def are_plain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether no argument has to be converted because of its type, if there is an array among them."""
        count = len(args)
        for place, name in self.places.items():
            if place < count:
                value = args[place]
                if type(value) not in PLAIN and (name not in self.sequences or not _are_arrays(value)):
                    return False
                if name in self.strong and type(value) in _NUMBERS:
                    return False
        if self.several is not None:
            for value in args[self.several :]:
                if type(value) not in PLAIN:
                    return False
        if kwargs:
            for name in self.named:
                value = kwargs.get(name)
                if type(value) not in PLAIN and (name not in self.sequences or not _are_arrays(value)):
                    return False
                if name in self.strong and type(value) in _NUMBERS:
                    return False
        return True

    def have_array(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether an array is among the operands: one as an axis, a length or `out` is none of these."""
        several = len(args) if self.several is None else self.several
        given = [value for place, value in enumerate(args) if place in self.operands or place >= several]
        return any(_arrays_in(value) for value in (*given, *(kwargs[name] for name in kwargs if name in self.operands)))

    def converted(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any], HostValues | None]:
        """The arguments with arrays in place of lists and of NumPy's scalars, and of Python's numbers where no array is there.

        The last of what it returns are the values that were converted, or None where none were.
        """
        several = len(args) if self.several is None else self.several
        chosen = [(place, args[place]) for place in range(len(args)) if place in self.places or place >= several]
        named = [(name, kwargs[name]) for name in self.named if name in kwargs]
        sequences = {place for place, name in self.places.items() if name in self.sequences} | self.sequences
        others = [found for value in (*args, *kwargs.values()) for found in _arrays_in(value)]
        device = others[0]._device if others else None
        strong = {place for place, name in self.places.items() if name in self.strong} | self.strong
        for numbers in (False,) if self.have_array(args, kwargs) else (False, True):
            made: dict[Any, Any] = {}
            given: list[tuple[VkArray, Any]] = []
            for where, value in (*chosen, *named):
                if where not in sequences:
                    made[where] = like = as_like(value, device, numbers or where in strong)
                    if like is not value and type(like) is VkArray:
                        given.append((like, value))
                elif not _are_arrays(value):
                    if not isinstance(value, (list, tuple)):
                        made[where] = value = list(value)
                    likes = [as_like(one, device, True) for one in value]
                    if any(like is not one for like, one in zip(likes, value, strict=True)):
                        made[where] = likes
                        given += [(like, one) for like, one in zip(likes, value, strict=True) if like is not one]
            changed = [made[where] for where, value in (*chosen, *named) if made.get(where, value) is not value]
            if changed:
                args = tuple(made.get(place, value) for place, value in enumerate(args))
                kwargs = {name: made.get(name, value) for name, value in kwargs.items()}
                return args, kwargs, HostValues(given[0][0]._device, given, others) if given else None
        return args, kwargs, None


def takes_lists(function: Function) -> Function:
    """A function that no plan can repeat, with lists and numbers converted as for one that has plans."""
    likes = Parameters(function)
    leading, named = likes.leading, likes.named
    names = numpys_names(function)
    unnamed = len(names)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and len(args) < unnamed:
            args, kwargs = by_position(names, args, kwargs)
        if watches and (recording := recorder()) is not None:
            return recording.call(call, args, kwargs)
        if not (_ARRAYS.issuperset(map(type, args[:leading])) and (not kwargs or named.isdisjoint(kwargs))):
            if (answer := overridden(call, args, kwargs)) is not NotImplemented:
                return answer
            args, kwargs, given = likes.converted(args, kwargs)
            if given is not None and not watches:
                return call_with(given, function, args, kwargs)
        return function(*args, **kwargs)

    return recorded(call)  # type: ignore[return-value]


def _are_arrays(values: Any) -> bool:
    """Whether a sequence of arrays needs no conversion."""
    if type(values) is not list and type(values) is not tuple:
        return not is_sequence(values)  # an array, or what the function refuses
    return all(type(value) is VkArray for value in values)


def _arrays_in(value: Any) -> list[VkArray]:
    if type(value) is VkArray:
        return [value]
    if isinstance(value, Elements):
        return [value.base]
    return [found for one in value for found in _arrays_in(one)] if is_sequence(value) else []


def _of_list(values: list[Any], device: Any) -> VkArray:
    """An array for a list. Numbers of NumPy's in it have the type that each of them would have by itself."""
    leaf: Any = values
    while isinstance(leaf, (list, tuple)) and leaf:
        leaf = leaf[0]
    if type(leaf) is not VkArray and hasattr(leaf, "dtype") and as_scalar(leaf) is not None:
        host, device = of_sequence(values), operations["as_device"](device)
        wanted = DTYPES.get(host.dtype.name)
        if wanted is not None and not is_supported(wanted, device):
            values = host.tolist()  # as Python's, of which one without room raises OverflowError
            return operations["asarray"](values, dtype=held(wanted, device), device=device)
    return operations["asarray"](values, device=device)


def as_like(value: Any, device: Any, numbers: bool) -> Any:
    """An array for a sequence, `x.flat` or a scalar of NumPy's, and for Python's `numbers` if asked; other values as they are."""
    kind = type(value)
    if kind is VkArray or value is None:
        return value
    if kind is list or kind is tuple or kind is range or isinstance(value, (list, tuple)):
        return _of_list(list(value), device)
    if kind in PLAIN:
        return operations["asarray"](value, device=device) if numbers else value
    scalar = as_scalar(value)
    if scalar is None:
        if is_sequence(value):
            return operations["asarray"](value, device=device)
        return or_own_array(value)
    if not hasattr(value, "dtype"):  # of a class that derives from a number
        return operations["asarray"](scalar, device=device) if numbers else scalar
    device = operations["as_device"](device)
    wanted = DTYPES.get(value.dtype.name)
    instead = None if wanted is None else held(wanted, device)
    if instead is not None and instead is not wanted and type(scalar) is int and not numbers:
        low, high = integer_range(instead)
        if not low <= scalar <= high:
            return scalar  # beside an array what Python's number is
    # OverflowError for an integer that the type in its place has no room for.
    return operations["asarray"](scalar, dtype=instead, device=device)
