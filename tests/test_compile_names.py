"""Every public function, compiled: the same bits as without `vkarray.compile`, or a TraceError that names the user's line.

The calls are those of the documentation's examples (docs/examples.toml), so a new function is tested by being there.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lacking
import numpy as np
import pytest

import vkarray as vx
from vkarray.core.array import VkArray
from vkarray.graph.nest import has_passing

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "fuzz"))

from programs import seen  # noqa: E402 - which lies in a folder of its own

from vkarray.command.examples import SPACES, codes  # noqa: E402
from vkarray.command.examples import functions as public  # noqa: E402

# What a program cannot do, and the functions that ask for it in the documentation's examples.
NEEDS = {
    "its result is of Python": (
        "allclose", "array2string", "array_equal", "array_equiv", "array_repr", "array_str", "bytes",
        "histogram_bin_edges", "save", "savetxt", "savez", "savez_compressed",
    ),
    "its shapes depend on values": (
        "argwhere", "bincount", "extract", "flatnonzero", "histogram2d", "histogramdd", "intersect1d", "nonzero",
        "piecewise", "polydiv", "polymul", "repeat", "roots", "setdiff1d", "setxor1d", "trim_zeros", "union1d", "unique",
        "unique_all", "unique_counts", "unique_inverse", "unique_values",
    ),
    "it repeats steps until values converge": (
        "cond", "eig", "eigvals", "lstsq", "matrix_rank", "multivariate_normal", "pinv", "polyfit", "svd", "svdvals",
    ),
    "it changes a state": ("seed", "set_state"),
}  # fmt: skip


def functions() -> list[str]:
    """All public functions that compute, by namespace and name."""
    return [f"{space}.{name}" for space, name in public()]


def copied(value: Any) -> Any:
    """The same with arrays of its own."""
    if isinstance(value, VkArray):
        return vx.asarray(value, copy=True)
    if type(value) in (tuple, list):
        return type(value)(map(copied, value))
    return value


def calls_of(space: str, name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[tuple[Any, dict[str, Any]]]:
    """The arguments of calls of a function that return. Skips the test where all of them name types that the device lacks."""
    function, lacks = getattr(SPACES[space], name), ""
    monkeypatch.chdir(folder)
    for code in codes(space, name):
        found: list[tuple[Any, dict[str, Any]]] = []

        def noting(*args: Any, found: list[Any] = found, **kwargs: Any) -> Any:
            given = copied(args), {key: copied(value) for key, value in kwargs.items()}
            made = function(*args, **kwargs)
            found.append(given)
            return made

        with monkeypatch.context() as patched, contextlib.redirect_stdout(io.StringIO()):
            patched.setattr(SPACES[space], name, noting)
            try:
                exec(code, {"vx": vx, "np": np})
            except Exception as error:  # the next code may have other arguments
                lacks = str(error) if lacking.was_named(error) else lacks
        if found:
            return found
    if lacks:
        pytest.skip(lacks)
    return []


def outcome(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """What a call returns, and its arguments after it."""
    args, kwargs = copied(args), {key: copied(value) for key, value in kwargs.items()}
    vx.random.seed(5)
    found = function(*args, **kwargs)
    return seen(found), seen(args), seen(list(kwargs.values()))


def compiled_outcome(compiled: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> tuple[Any, str]:
    """The outcome of a compiled function, or what a TraceError says."""
    try:
        return outcome(compiled, args, kwargs), ""
    except vx.TraceError as error:
        return None, str(error)


@pytest.mark.parametrize("called", functions())
def test_every_function_compiles(called: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a compiled call returns is what the function does, at once and when it is repeated."""
    space, _, name = called.rpartition(".")
    function = getattr(SPACES[space], name)
    calls = calls_of(space, name, monkeypatch, tmp_path)
    assert calls, "no example in docs/examples.toml, and no small arguments that it takes"
    needs = next((reason for reason, names in NEEDS.items() if name in names), None)
    refused = 0
    for args, kwargs in calls:
        if any(isinstance(one, np.ndarray) or has_passing(one) for one in (*args, *kwargs.values())):
            continue  # which programs do not take as arguments
        compiled = vx.compile(lambda *args, **kwargs: function(*args, **kwargs))
        expected = outcome(function, args, kwargs)
        for _ in range(2):
            made, told = compiled_outcome(compiled, args, kwargs)
            assert told == "" or needs, f"{called} needs no values: {told}"
            assert told or made == expected
            assert not told or (f"{Path(__file__).name}:" in told and "while it is traced. " in told)
            refused += bool(told)
    assert refused or needs is None, f"{called} is traced, and no more to be listed in NEEDS"


NAN, SINGULAR = np.array([[np.nan, np.nan], [1, 2]], np.float32), np.array([[1, 2], [2, 4]], np.float32)
WRONG = {
    "solve": (lambda x: vx.linalg.solve(x, x), SINGULAR, vx.linalg.LinAlgError),
    "inv of a stack": (lambda x: vx.linalg.inv(x[None]), SINGULAR, vx.linalg.LinAlgError),
    "cholesky": (vx.linalg.cholesky, -SINGULAR, vx.linalg.LinAlgError),
    "eigh": (lambda x: vx.linalg.eigh(x).eigenvalues, NAN, vx.linalg.LinAlgError),
    "nanargmax": (lambda x: vx.nanargmax(x, axis=1), NAN, ValueError),
    "asarray_chkfinite": (vx.asarray_chkfinite, NAN, ValueError),
    "geomspace": (lambda x: vx.geomspace(x[0, 0] - 1, 2.0, 3), SINGULAR, ValueError),
    "digitize": (lambda x: vx.digitize(x, x[0] * vx.asarray([1, 0]) + vx.asarray([0, 1])), SINGULAR, None),
    "digitize by wrong bins": (lambda x: vx.digitize(x, vx.concat((x[0], x[0]))), SINGULAR, ValueError),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_of_compiled_functions(name: str) -> None:
    """What a function raises for some values, its program raises when a value is read, and right values go on as they did."""
    function, values, error = WRONG[name]
    compiled, right = vx.compile(function), vx.asarray([[4.0, 1.0], [1.0, 3.0]])
    if error is None:
        assert seen(compiled(vx.asarray(values))) == seen(function(vx.asarray(values)))
        return
    with pytest.raises(error):
        np.asarray(function(vx.asarray(values)))
    for _ in range(2):
        with pytest.raises(error):
            np.asarray(compiled(vx.asarray(values)))
    if "wrong" not in name:
        assert seen(compiled(right)) == seen(function(right))


def test_seeds_between_calls() -> None:
    """A program draws what the function would draw after a new seed."""
    compiled = vx.compile(lambda: vx.random.gamma(2.0, size=3))
    for seed in (5, 5, 6):
        found = []
        for function in (compiled, lambda: vx.random.gamma(2.0, size=3)):
            vx.random.seed(seed)
            found.append([seen(function()) for _ in range(2)])
        assert found[0] == found[1]
