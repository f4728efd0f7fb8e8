"""What to do about divisions by zero and the like: nothing, because a device tells of none."""

from __future__ import annotations

import contextlib
from typing import Any

_KINDS = ("divide", "over", "under", "invalid")
_chosen = {kind: "ignore" if kind == "under" else "warn" for kind in _KINDS}  # as in NumPy


def geterr() -> dict[str, str]:
    """What is done about each kind of floating-point error. It raises nothing."""
    return dict(_chosen)


def seterr(
    all: str | None = None, divide: str | None = None, over: str | None = None, under: str | None = None,
    invalid: str | None = None,
) -> dict[str, str]:  # fmt: skip
    """Choose what is done about each kind of floating-point error: "ignore" and "warn" do nothing here.

    Returns what was chosen before. Raises ValueError for anything else, which would have to know of errors.
    """
    before = geterr()
    given = zip(_KINDS, (divide, over, under, invalid), strict=True)
    choices = {kind: all if one is None else one for kind, one in given}
    for kind, choice in choices.items():
        if choice not in (None, "ignore", "warn"):
            raise ValueError(
                f'seterr: devices do not tell of floating-point errors; expected "ignore" or "warn" as {kind}, got '
                f"{choice!r}. Ask the result with isfinite."
            )
    _chosen.update((kind, choice) for kind, choice in choices.items() if choice)
    return before


class errstate(contextlib.ContextDecorator):
    """A block or a function in which choices of `seterr` hold. Parameters and errors: as for `seterr`."""

    def __init__(self, **choices: Any) -> None:
        choices.pop("call", None)
        self._choices = choices

    def __enter__(self) -> None:
        self._before = seterr(**self._choices)

    def __exit__(self, *error: object) -> None:
        seterr(**self._before)
