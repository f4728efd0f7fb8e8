"""What calls of a program give: its inputs by place or by name, in the nest of arguments that it was made with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.dtypes import DType, as_dtype
from ..errors import counted
from ..graph import nest
from ..graph.stand_ins import Slot
from ..graph.tape import leaves
from .encoding import is_numpys_type
from .signature import Input

Nest = tuple[tuple[Any, ...], dict[str, Any]]
_MISSING = object()


class Binding:
    """The arguments of a program, with slots in place of its inputs, and what they are called.

    `parameters` are the names of arguments that come by place; None stands for one that has no name.
    """

    def __init__(
        self, program: str, inputs: tuple[Input, ...], arguments: Nest, parameters: tuple[str | None, ...]
    ) -> None:
        self.program, self.inputs, self.arguments, self.parameters = program, inputs, arguments, parameters
        placed, named = arguments
        self._placed = [self._key(number) for number in range(len(placed))]
        forms = dict(zip(self._placed, placed, strict=True)) | named
        self._of_inputs = {inputs[form.place].name: key for key, form in forms.items() if type(form) is Slot}
        self._held = {key: self._alone(form) for key, form in forms.items()}  # what calls may leave out; else _MISSING
        self._values = {one.name: _MISSING if one.value is None else one.value for one in inputs}

    def inputs_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The inputs of a call, in order. Raises TypeError and ValueError for other arguments than those it was made with."""
        if kwargs and not args and kwargs.keys() <= self._values.keys():
            found = [*(self._values | kwargs).values()]
            if all(one is not _MISSING for one in found):
                return found
        return self.inputs_in(self.nest(args, kwargs))

    def inputs_in(self, given: Nest) -> list[Any]:
        """The inputs in arguments, which are a nest like that which the program was made with."""
        found: list[Any] = []
        self._collect(self.arguments, given, found, "its arguments")
        return found

    def nest(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Nest:
        """The arguments of a call in the nest that the program was made with, with those that are left out.

        Raises TypeError for missing, unknown and repeated ones.
        """
        placed, named = self.arguments
        if len(args) == len(placed) and [*kwargs] == [*named]:  # as it was made
            return args, kwargs
        by_place = {self._key(number): value for number, value in enumerate(args)}
        by_name = {
            name if name in self._held else self._of_inputs.get(name, name): value for name, value in kwargs.items()
        }
        given = self._held | by_place | by_name
        repeated = len(by_name) < len(kwargs) or not by_place.keys().isdisjoint(by_name)
        if repeated or len(given) > len(self._held) or any(value is _MISSING for value in given.values()):
            raise TypeError(self._told(args, kwargs, repeated))
        return tuple(given[key] for key in self._placed), {name: given[name] for name in named}

    def _told(self, args: tuple[Any, ...], kwargs: dict[str, Any], repeated: bool) -> str:
        """What is wrong with the arguments of a call."""
        placed, named = self.arguments
        got = ", ".join([*[type(one).__name__ for one in args], *[f"{name}=" for name in kwargs]]) or "nothing"
        twice = ", an argument twice" if repeated else ""
        of_names = ", ".join(name for name in named if name not in self.parameters)
        by_name = f" ({of_names} by name)" if of_names else ""
        left_out = [key for key, value in self._held.items() if value is not _MISSING]
        free = ", ".join(key if isinstance(key, str) else f"argument {key + 1}" for key in left_out)
        return (
            f"{self.program}: got {got}{twice}; expected {counted(len(placed) + len(named), 'argument')}{by_name}, which hold "
            f"{counted(len(self.inputs), 'input')}: {', '.join(map(str, self.inputs)) or 'none'}."
            + (f" {free} may be left out." if free else "")
        )

    def _key(self, number: int) -> Any:
        """What stands for an argument by place: its name, or the place itself."""
        name = self.parameters[number] if number < len(self.parameters) else None
        return number if name is None else name

    def _alone(self, form: Any) -> Any:
        """An argument that the program was made for alone, so that calls may leave it out; else _MISSING."""
        if any(self.inputs[one.place].value is None for one in leaves(form) if type(one) is Slot):
            return _MISSING
        return self._filled(form)

    def _filled(self, form: Any) -> Any:
        return self.inputs[form.place].value if type(form) is Slot else nest.mapped(form, self._filled)

    def _collect(self, form: Any, value: Any, found: list[Any], path: str) -> None:
        if type(form) is Slot:
            found.append(value)
            return
        parts = nest.parts_of(form)
        if parts is None:
            if not _alike(form, value):
                raise ValueError(
                    f"{self.program}: expected {form!r:.40} among {path}, for which it was made, got {value!r:.40}."
                )
            return
        others = nest.parts_of(value)
        if others is None or [nest.exact(name) for name, _ in parts] != [nest.exact(name) for name, _ in others]:
            expected = f"{len(self.inputs)} inputs: {', '.join(map(str, self.inputs))}"
            raise TypeError(
                f"{self.program}: {path} are {_shown(value)}. Expected {_shown(form)}, which hold {expected}."
            )
        for (name, part), (_, other) in zip(parts, others, strict=True):
            self._collect(part, other, found, path if path == "its arguments" else f"{path}[{name!r}]")


def parameters_of(function: Callable[..., Any]) -> tuple[str | None, ...]:
    """The names of the parameters of a function whose arguments may come by place; None for one that has to."""
    try:
        parameters: Mapping[str, inspect.Parameter] = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()
    of_place = [one for one in parameters.values() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return tuple(None if one.kind is one.POSITIONAL_ONLY else one.name for one in of_place)


def _alike(form: Any, value: Any) -> bool:
    """Whether an argument is the one that a program was made for. -0.0 is not 0.0, and NaN is NaN."""
    if isinstance(form, DType) and is_numpys_type(value):
        value = as_dtype(value, "Program")
    if type(value) is not type(form):
        return False
    keys: Sequence[list[Any]] = ([], [])
    for one, key in zip((form, value), keys, strict=True):
        nest.note(one, key, [], [])
    return keys[0] == keys[1]


def _shown(value: Any) -> str:
    """What a nest is made of, at its top."""
    parts = nest.parts_of(value)
    if parts is None:
        return type(value).__name__
    if isinstance(value, dict):
        return f"a dictionary of {', '.join(map(repr, value)) or 'nothing'}"
    return f"{len(parts)} in a {type(value).__name__}"
