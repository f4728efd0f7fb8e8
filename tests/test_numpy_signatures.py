"""Functions take arguments as NumPy's do: the same names, in the same order, with the same defaults."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vkarray as vx
from vkarray.kernels.array_like import NAMES
from vkarray.ops.ufunc import ufunc

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
SEVERAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
NOTHING = inspect.Parameter.empty

# Parameters of NumPy's that are not there, and why.
MISSING = {
    "load": ({"fix_imports", "encoding", "max_header_size"}, "they are for pickled objects, which are not loaded"),
    "einsum_path": ({"einsum_call"}, "it is for NumPy itself"),
    "fromfile": ({"like"}, "it is for libraries that NumPy calls"),
}
# Places of NumPy's where another parameter is, and why.
OTHER_PLACES = {
    "arange": ({"start_or_stop"}, "the standard calls it start, and NumPy takes no start alone by name"),
    "clip": ({"a_min", "a_max"}, "the standard calls them min and max; NumPy's names are taken too"),
    "fftfreq": ({"device"}, "devices are given by name"),
    "rfftfreq": ({"device"}, "devices are given by name"),
    **{name: places for name, (places, _) in MISSING.items() for places in [(places, "it is not there")]},
}
# NumPy's names of what stands for another value here than what is written in the signature.
OTHER_DEFAULTS = {
    "keepdims": "NumPy's <no value> is False", "where": "NumPy's <no value> is True", "initial": "<no value> is None",
    "min": "<no value> is None", "max": "<no value> is None", "a_min": "<no value> is None", "a_max": "<no value> is None",
    "prepend": "<no value> is None", "append": "<no value> is None", "mean": "<no value> is None",
    "correction": "<no value> is None", "rtol": "<no value> is None",
    "ddof": "0 is 0.0", "dtype": "the default floating or integer type is chosen when it is called",
    "stable": "sorts are stable, as the standard has it", "optimize": "the order of products is always chosen",
}  # fmt: skip


def functions() -> Iterator[tuple[str, Any, Any]]:
    for theirs, ours in ((np, vx), (np.linalg, vx.linalg), (np.fft, vx.fft)):
        for name in sorted(dir(ours)):
            one = getattr(theirs, name, None)
            if inspect.isroutine(getattr(one, "__wrapped__", one)) and not name.startswith("_"):
                try:
                    inspect.signature(one)
                except ValueError:  # NumPy's C does not tell it
                    continue
                yield name, one, getattr(ours, name)


def parameters(function: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def unnamed(function: Any) -> tuple[str, ...]:
    """NumPy's names of parameters that have none here, but are taken by them."""
    count = sum(one.kind is inspect.Parameter.POSITIONAL_ONLY for one in parameters(function))
    return NAMES.get(function.__name__, ("a", "b"))[:count]


each_function = pytest.mark.parametrize(
    ("name", "theirs", "ours"), list(functions()), ids=lambda value: value if isinstance(value, str) else ""
)


@each_function
def test_parameters_have_numpys_names(name: str, theirs: Any, ours: Any) -> None:
    own = parameters(ours)
    if any(one.kind in SEVERAL for one in own) or isinstance(ours, ufunc):
        return
    by_name = {one.name for one in own if one.kind is not inspect.Parameter.POSITIONAL_ONLY} | {*unnamed(ours)}
    wanted = [one for one in parameters(theirs) if one.kind is not inspect.Parameter.POSITIONAL_ONLY]
    missing = {one.name for one in wanted if one.kind not in SEVERAL} - by_name - MISSING.get(name, (set(), ""))[0]
    assert not missing, f"{name}{inspect.signature(ours)} does not take {missing} by name"


@each_function
def test_parameters_have_numpys_places(name: str, theirs: Any, ours: Any) -> None:
    if any(one.kind in SEVERAL for one in (*parameters(ours), *parameters(theirs))) or isinstance(ours, ufunc):
        return
    own = [one for one in parameters(ours) if one.kind in POSITIONAL]
    names = [*unnamed(ours), *(one.name for one in own[len(unnamed(ours)) :])]
    other = OTHER_PLACES.get(name, (set(), ""))[0]
    for place, wanted in enumerate(one for one in parameters(theirs) if one.kind in POSITIONAL):
        if wanted.name in other or wanted.kind is inspect.Parameter.POSITIONAL_ONLY:
            continue
        assert names[place : place + 1] == [wanted.name], f"{name}{inspect.signature(ours)}: place {place} is {wanted}"
        assert wanted.default is NOTHING or own[place].default is not NOTHING, f"{name}: {wanted.name} needs no value"


@each_function
def test_parameters_have_numpys_defaults(name: str, theirs: Any, ours: Any) -> None:
    own = {one.name: one.default for one in parameters(ours)}
    for one in parameters(theirs):
        if one.default not in (NOTHING, np._NoValue) and one.name in own and one.name not in OTHER_DEFAULTS:
            assert own[one.name] == one.default, f"{name}: {one.name}"


# What functions need besides arrays.
VALUES = {
    "axis": 0, "reps": 2, "repeats": 2, "shift": 1, "q": 0.5, "indices": [[0, 1], [1, 0]], "shape": (2, 2), "source": 0,
    "destination": 1, "axis1": 0, "axis2": 1, "n": 2, "fill_value": 3, "v": [1.5], "from_": np.float32, "to": np.float64,
}  # fmt: skip


@each_function
def test_arrays_are_taken_by_numpys_names(name: str, theirs: Any, ours: Any) -> None:
    names = [one.name for one in parameters(theirs) if one.default is NOTHING and one.kind is POSITIONAL[1]]
    taken = NAMES.get(ours.__name__, ()) if isinstance(ours, ufunc) else unnamed(ours)
    if not names or names[0] not in taken:
        return
    square = vx.asarray([1.0, 3.0]) if "v" in names else vx.asarray([[2.0, 1.0], [1.0, 3.0]])
    values = {one: VALUES.get(one, square) for one in names}
    got, expected = ours(**values), ours(*values.values())
    assert str(got) == str(expected)
