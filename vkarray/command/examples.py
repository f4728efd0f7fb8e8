"""Calls of public functions: 40 ordinary ones on arrays of a size, and for every function an example of small arguments.

The examples are those of the documentation (`docs/examples.toml`, which travels in the wheel) and of docstrings. A function
without one is called with arguments that it may take.
"""

from __future__ import annotations

import contextlib
import doctest
import functools
import inspect
import io
import itertools
import tempfile
import tomllib
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import vkarray as vx

SPACES: dict[str, Any] = {"vkarray": vx, "linalg": vx.linalg, "fft": vx.fft, "random": vx.random}
# Functions of the interpreter's state, of files that can be read once, or of nothing that is computed.
OTHERS = frozenset(
    ("cache_stats", "compile", "config", "printoptions", "load", "genfromtxt", "loadtxt", "empty", "empty_like")
)


class Inputs(NamedTuple):
    """Arrays that ordinary calls take, of a library: matrices of n rows and columns, and n // 2 indices of rows."""

    a: Any  # from a normal distribution
    b: Any  # above 0.5
    s: Any  # symmetric and positive definite
    i: Any

    @classmethod
    def of(cls, asarray: Callable[..., Any], n: int) -> Inputs:
        """The same values for each library."""
        random = np.random.default_rng(0)
        a = random.standard_normal((n, n)).astype(np.float32)
        s = a @ a.T + n * np.eye(n, dtype=np.float32)
        indices = random.integers(0, n, max(n // 2, 1)).tolist()  # of the type of Python's integers on each device
        return cls(*map(asarray, (a, np.abs(a) + np.float32(0.5), s, indices)))


# What a person calls first, on float32. The namespace is vkarray or NumPy, whose results are the same but for rounding.
ORDINARY: dict[str, Callable[[Any, Inputs], Any]] = {
    "arange": lambda xp, x: xp.arange(100),
    "linspace": lambda xp, x: xp.linspace(0.0, 1.0, 50),
    "add": lambda xp, x: x.a + x.b,
    "multiply": lambda xp, x: x.a * 2.0,
    "divide": lambda xp, x: x.a / x.b,
    "power": lambda xp, x: x.b**1.5,
    "exp": lambda xp, x: xp.exp(x.a),
    "log": lambda xp, x: xp.log(x.b),
    "sin": lambda xp, x: xp.sin(x.a),
    "tanh": lambda xp, x: xp.tanh(x.a),
    "sqrt": lambda xp, x: xp.sqrt(x.b),
    "greater": lambda xp, x: x.a > x.b - 1.0,
    "where": lambda xp, x: xp.where(x.a > 0, x.a, x.b),
    "clip": lambda xp, x: xp.clip(x.a, -1.0, 1.0),
    "astype": lambda xp, x: x.a.astype(xp.int32),
    "sum": lambda xp, x: xp.sum(x.b),
    "mean": lambda xp, x: xp.mean(x.b, axis=0),
    "std": lambda xp, x: xp.std(x.a),
    "max": lambda xp, x: xp.max(x.a, axis=1),
    "argmax": lambda xp, x: xp.argmax(x.a),
    "all": lambda xp, x: xp.all(x.b > 0.4),
    "cumsum": lambda xp, x: xp.cumsum(x.b, axis=1),
    "sort": lambda xp, x: xp.sort(x.a, axis=1),
    "argsort": lambda xp, x: xp.argsort(x.a, axis=1),
    "unique": lambda xp, x: xp.unique(x.i),
    "histogram": lambda xp, x: xp.histogram(x.a, 10)[0],
    "take": lambda xp, x: xp.take(x.a, x.i, axis=0),
    "nonzero": lambda xp, x: x.a[x.a > 0],
    "concatenate": lambda xp, x: xp.concatenate([x.a, x.b]),
    "transpose": lambda xp, x: x.a.T.copy(),
    "matmul": lambda xp, x: x.a @ x.b,
    "einsum": lambda xp, x: xp.einsum("ij,kj->ik", x.a, x.b),
    "solve": lambda xp, x: xp.linalg.solve(x.s, x.b),
    "inv": lambda xp, x: xp.linalg.inv(x.s),
    "cholesky": lambda xp, x: xp.linalg.cholesky(x.s),
    "qr": lambda xp, x: xp.abs(xp.linalg.qr(x.s)[1]),
    "eigh": lambda xp, x: xp.linalg.eigh(x.s)[0],
    "svd": lambda xp, x: xp.linalg.svd(x.a)[1],
    "fft": lambda xp, x: xp.fft.fft(x.a),
    "rfftn": lambda xp, x: xp.fft.rfftn(x.a),
}


def is_right(name: str, found: Any, n: int) -> bool:
    """Whether an ordinary call gave what NumPy gives."""
    expected = np.asarray(ORDINARY[name](np, Inputs.of(np.asarray, n)))
    found = np.asarray(found)
    if found.shape != expected.shape:
        return False
    largest = float(np.max(np.abs(expected), initial=1.0)) if expected.dtype != bool else 1.0
    return bool(np.allclose(found, expected, rtol=1e-4, atol=2e-5 * largest))


def functions() -> list[tuple[str, str]]:
    """The public functions that compute, by namespace and name."""
    return [
        (space, name)
        for space, owner in SPACES.items()
        for name in owner.__all__
        if callable(value := getattr(owner, name)) and not isinstance(value, (type, types.ModuleType)) and name not in OTHERS
    ]  # fmt: skip


# Arguments that are tried in turn, for a function that the table does not name: pairs of arrays, then an array and numbers.
_ARRAYS = (
    ("vx.asarray([0.25, 0.5, 1.0])", "vx.asarray([1.0, 0.5, 2.0])"),
    ("vx.asarray([1.0, 2.0, 4.0])", "vx.asarray([3.0, 1.0, 2.0])"),
    ("vx.asarray([6, 3, 5])", "vx.asarray([2, 3, 1])"),
    ("vx.asarray([True, True, False])", "vx.asarray([True, False, False])"),
    ("vx.asarray([1 + 2j, 3 - 1j])", "vx.asarray([2 + 0j, 1j])"),
    ("vx.asarray([[2.0, 1.0], [1.0, 3.0]])", "vx.asarray([[1.0, 0.0], [2.0, 1.0]])"),
)
_NUMBERS = (("0", "1"), ("1", "2"), ("2", "3"))
_OF_DISTRIBUTIONS = (("2.0", "1.0", "3.0"), ("0.5", "1.0", "2.0"), ("5", "0.5", "4"), ("5", "3", "4"))
_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """The documentation's examples: lines of code by namespace and function."""
    package = Path(__file__).parents[1]
    checkout = package.parent / "docs" / "examples.toml"
    path = checkout if checkout.is_file() else package / "_data" / "examples.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def attempts(call: str, function: Callable[..., Any]) -> Iterator[str]:
    """Calls of a function with arguments that it may take."""
    parameters = inspect.signature(function).parameters.values()
    count = sum(each.default is each.empty and each.kind in _POSITIONAL for each in parameters)
    if call.startswith("vx.random."):
        size = ["size=3"] if any(each.name == "size" for each in parameters) else []
        for numbers in _OF_DISTRIBUTIONS:
            yield f"vx.random.seed(1)\n{call}({', '.join([*numbers[:count], *size])})"
    lists = [list(arrays) for arrays in _ARRAYS] + [[first, *numbers] for first, _ in _ARRAYS for numbers in _NUMBERS]
    yield from (f"{call}({', '.join(arguments[:count])})" for arguments in lists if len(arguments) >= count)


def of_table(space: str, name: str) -> str | None:
    """The line of the table for a function or for another name of it."""
    lines, owner = table().get(space, {}), SPACES.get(space) or getattr(vx, space)
    named = (each for each in lines if getattr(owner, each, None) is getattr(owner, name))
    twin = name if name in lines else next(itertools.islice(named, 1), None)
    return None if twin is None else lines[twin].replace(f".{twin}(", f".{name}(")


def codes(space: str, name: str) -> Iterator[str]:
    """Code that calls a function: its example, or calls that it may take, the first of which that returns will do."""
    function = getattr(SPACES[space], name)
    code = of_table(space, name)
    if code is not None:
        yield code
        return
    shown = doctest.DocTestParser().get_examples(function.__doc__ or "")
    if shown:
        yield "".join(one.source for one in shown)
        return
    with contextlib.suppress(TypeError, ValueError):
        yield from attempts(f"vx.{name}" if space == "vkarray" else f"vx.{space}.{name}", function)


def statements(code: str) -> Iterator[str]:
    """The statements of a text; a line that is indented or closes brackets belongs to the one before."""
    held = ""
    for line in code.strip().splitlines():
        if held and not line.startswith((" ", ")", "]", "}")):
            yield held
            held = ""
        held = f"{held}\n{line}" if held else line
    yield held


def session(code: str) -> str:
    """A session in the interpreter: each statement behind its prompt, and what it printed or gave. Its files are removed."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _shown(code)


def _shown(code: str) -> str:
    names: dict[str, Any] = {"vx": vx, "np": np}
    shown: list[str] = []
    for statement in statements(code):
        shown.append(">>> " + statement.replace("\n", "\n... "))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                value = eval(statement, names)
            except SyntaxError:
                exec(statement, names)
            except vx.FeatureError as error:
                print(f"vkarray.errors.FeatureError: {error}")
            else:
                if value is not None:
                    print(repr(value))
        shown += printed.getvalue().splitlines()
    return "\n".join(shown)
