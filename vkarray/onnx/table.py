"""The table of operators: a row for each operator of ONNX from a version on, until the next row of that name.

A row is a function `f(call, *inputs, **attributes)` that computes with `call.xp`, which is vkarray, or NumPy where the host
knows all inputs. Inputs are arrays of `call.xp`, or None where the model gives none. It returns an array, or one for each output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from onnx import defs

# What a node computes in where the model is loaded in half precision and says float32.
HALF = "half"  # in half precision: products, which take the time
WIDEST = "widest"  # in half precision if all inputs are, as constants may be
INSIDE = "inside"  # in float32, and the result is as the inputs are: what is rounded at the end is of their size
FLOAT32 = "float32"  # in float32, and the result stays so: it may be too large, too small, or a sum of many


class Row(NamedTuple):
    """An operator from a version of its domain on."""

    name: str
    domain: str
    since: int
    function: Callable[..., Any]
    host: frozenset[int]  # inputs whose values the function takes from the host, as NumPy's arrays
    numpy: bool  # whether the function computes with NumPy's functions as well
    shape_only: bool  # whether it looks at nothing but the shape of its input
    nested: bool  # whether it runs graphs, and takes values as they are
    reads: str  # why it reads values from the device, where it does
    half: str  # HALF, WIDEST, INSIDE or FLOAT32
    exact: frozenset[int]  # inputs that have to be float32 from where they are made, such as angles and places


ROWS: dict[tuple[str, str], list[Row]] = {}


def operator(
    *names: str, since: int = 1, domain: str = "", host: tuple[int, ...] = (), numpy: bool = False,
    shape_only: bool = False, nested: bool = False, reads: str = "", half: str = WIDEST, exact: tuple[int, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Enter a function as the row of operators."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            row = Row(
                name, domain, since, function, frozenset(host), numpy, shape_only, nested, reads, half, frozenset(exact)
            )
            rows = ROWS.setdefault((domain, name), [])
            rows.append(row)
            rows.sort(key=lambda one: one.since)
        return function

    return enter


def find(domain: str, name: str, version: int) -> Row | None:
    """The row of an operator in a version of its domain, or None."""
    return next((row for row in reversed(ROWS.get((domain, name), ())) if row.since <= version), None)


def has_body(domain: str, name: str, version: int) -> bool:
    """Whether ONNX defines an operator as a function of others."""
    try:
        schema: Any = defs.get_schema(name, version, domain)  # whose types leave these properties out
    except defs.SchemaError:
        return False
    return bool(schema.has_function or schema.has_context_dependent_function)


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises ValueError for one that so many dimensions do not have."""
    if isinstance(axis, float):
        raise ValueError(f"its axis is {axis}, expected a whole number")
    if not -rank <= axis < rank:
        raise ValueError(f"its axis is {axis}, and there are {rank} dimensions")
    return axis % rank


def axes_of(axes: Iterable[int], rank: int) -> list[int]:
    """Axes counted from the front. Raises ValueError as `axis_of`, and for one that is named twice."""
    listed = list(axes)
    found = [axis_of(axis, rank) for axis in listed]
    if len(set(found)) < len(found):
        raise ValueError(f"its axes {listed} name one of them twice")
    return found


def each_of(what: str, values: Sequence[int] | None, rank: int, default: int, least: int) -> list[int]:
    """A list with a number for each of so many dimensions. Raises ValueError for more, fewer, and numbers below `least`."""
    found = [default] * rank if values is None else list(values)
    if len(found) != rank or min(found, default=least) < least:
        raise ValueError(f"its {what} is {found}, expected {rank} numbers from {least} on")
    return found
