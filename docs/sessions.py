"""An executed example for each function: from the table `examples.toml`, or made from small arguments.

A docstring's own example comes before both. What is shown is what the code gave on the device where the pages are made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import vkarray as vx
from vkarray.command.examples import attempts, of_table, session, table

__all__ = ["example", "made", "table"]


def made(call: str, function: Callable[..., Any]) -> str | None:
    """An example of small arguments that the function takes, whose results are finite; None where none is found."""
    for code in attempts(call, function):
        with contextlib.suppress(Exception):
            shown = session(code)
            if not any(word in shown for word in ("nan", "inf", "Error", "<")) and not shown.splitlines()[
                -1
            ].startswith(">"):
                return shown
    return None


def example(module: str, name: str) -> str | None:
    """The example of a function of `vkarray` or one of its namespaces; None for one that has none."""
    space = module.rpartition(".")[2]
    code = of_table(space, name)
    if code is not None:
        return session(code)
    owner = vx if module == "vkarray" else getattr(vx, space)
    return made("vx." + name if owner is vx else f"vx.{space}.{name}", getattr(owner, name))
