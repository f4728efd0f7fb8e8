"""Functions take by name what NumPy's take by name, but for arrays, which the standard takes by position."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import numpy as np
import pytest

import vkarray as vx

# What is not taken by name: NumPy's names of arrays and types in first places, and what says how it lays out memory.
LEFT_OUT = {
    "a", "b", "a1", "a2", "A", "arr", "array", "from_", "m", "object", "to", "v", "val", "x", "like", "subok", "order",
}  # fmt: skip
KNOWN = {
    "load": {"fix_imports", "encoding", "max_header_size"},
    "einsum_path": {"einsum_call"}, "show_config": {"mode"},
}  # fmt: skip


def functions() -> Iterator[tuple[str, object, object]]:
    for theirs, ours in ((np, vx), (np.linalg, vx.linalg), (np.fft, vx.fft)):
        for name in sorted(vars(ours)):
            one = getattr(theirs, name, None)
            if inspect.isfunction(getattr(one, "__wrapped__", one)) and not name.startswith("_"):
                yield name, one, getattr(ours, name)


@pytest.mark.parametrize(
    ("name", "theirs", "ours"), list(functions()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_parameters_have_numpys_names(name: str, theirs, ours) -> None:
    own = inspect.signature(ours).parameters
    if any(one.kind is one.VAR_KEYWORD for one in own.values()):
        return
    by_name = {one.name for one in own.values() if one.kind is not one.POSITIONAL_ONLY}
    wanted = [one for one in inspect.signature(theirs).parameters.values() if one.kind is not one.POSITIONAL_ONLY]
    several = {one.name for one in wanted if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
    missing = {one.name for one in wanted} - by_name - several - LEFT_OUT - KNOWN.get(name, set())
    assert not missing, f"{name}{inspect.signature(ours)} does not take {missing} by name"
