"""Calls of one function in NumPy's namespace and in vkarray's, compared in value, type and shape, and in the class of errors.

A case is a function of a namespace and of arrays, such as `lambda n, x: n.rot90(x, 3)`. Its inputs are made in several layouts, for
both alike.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import lacking
import numpy as np

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.array import is_supported


class Layout(NamedTuple):
    """How an array lies in memory: values to be stored, and the view of these that has the shape asked for."""

    stored: Callable[[np.ndarray], np.ndarray]
    view: Callable[[Any, Any, tuple[int, ...]], Any]


def _all(step: int) -> Callable[[Any, Any, tuple[int, ...]], Any]:
    return lambda n, x, shape: x[(slice(None, None, step),) * len(shape)] if shape else x


LAYOUTS = {
    "contiguous": Layout(lambda values: values, lambda n, x, shape: x),
    "transposed": Layout(lambda values: np.ascontiguousarray(values.T), lambda n, x, shape: x.T),
    "backwards": Layout(lambda values: values[(slice(None, None, -1),) * values.ndim], _all(-1)),
    "every second": Layout(
        lambda values: np.repeat(values, 2, axis=-1) if values.ndim else values,
        lambda n, x, shape: x[..., ::2] if shape else x,
    ),
    "broadcast": Layout(
        lambda values: values[:1] if values.ndim else values, lambda n, x, shape: n.broadcast_to(x, shape)
    ),
}
DTYPES = ("bool", "int8", "uint64", "float32", "complex128")
SHAPES = ((), (1,), (6,), (0,), (3, 4), (0, 3), (2, 3, 4))


class Given(NamedTuple):
    """An input for both namespaces."""

    values: np.ndarray
    layout: Layout

    def __call__(self, n: Any) -> Any:
        stored = np.ascontiguousarray(self.layout.stored(self.values)).reshape(
            np.shape(self.layout.stored(self.values))
        )
        return self.layout.view(n, stored.copy() if n is np else vx.asarray(stored), self.values.shape)


def values(shape: tuple[int, ...], dtype: str, seed: int = 0, ugly: bool = True) -> np.ndarray:
    """Small numbers that repeat, with zeros of both signs, NaN, infinities and the extremes of integers among them."""
    generator = np.random.default_rng(seed)
    host = np.dtype(dtype)
    if host.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if host.kind in "iu":
        limits = np.iinfo(host)
        choices = [0, 1, 2, 3, 5, limits.max, limits.min] if ugly else [0, 1, 2, 3, 5]
        return generator.choice(np.array(choices, host), shape).astype(host)
    choices = [0.0, -0.0, 1.5, -2.0, 3.0, 4.25, *([np.nan, np.inf, -np.inf] if ugly else [])]
    if host.kind == "f":
        return generator.choice(np.array(choices, host), shape).astype(host)
    made = np.empty(shape, host)
    made.real, made.imag = generator.choice(choices, shape), generator.choice(choices, shape)
    return made


def supported(types: tuple[str, ...]) -> list[str]:
    """Those of some types that the device under test has."""
    device = vx.asarray(0).device
    return [name for name in types if is_supported(dtypes.DTYPES[name], device)]


def inputs(
    count: int, dtype: str, shapes: tuple[tuple[int, ...], ...] = SHAPES, ugly: bool = True, overlap: bool = True
) -> Iterator[list[Given]]:
    """Inputs of each shape in each layout; without `overlap` none whose elements share memory."""
    for shape in shapes:
        for name, layout in LAYOUTS.items():
            if name == "broadcast" and (not shape or not overlap):
                continue
            made = [values(shape, dtype, seed, ugly) for seed in range(count)]
            if name == "broadcast":
                made = [np.broadcast_to(one[:1], shape).copy() for one in made]
            yield [Given(one, layout) for one in made]


STAND_INS = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


def stand_in(dtype: np.dtype) -> np.dtype:
    """The type that results have where the device lacks NumPy's: integers and floats have half the bits."""
    return dtype if supported((dtype.name,)) else np.dtype(STAND_INS[dtype.name])


class Raised(NamedTuple):
    """The error that a call ended with."""

    error: Exception


def outcome(call: Callable[..., Any], n: Any, given: Any = ()) -> Any:
    """What a call returns, read to the host, or the error that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return host(call(n, *(one(n) if isinstance(one, Given) else one for one in given)))
        except Exception as error:
            return Raised(error)


def host(found: Any) -> Any:
    """A result with its arrays as NumPy's."""
    if isinstance(found, vx.VkArray):
        return np.asarray(found)
    if isinstance(found, (tuple, list)):
        return type(found)(host(one) for one in found) if type(found) in (tuple, list) else tuple(map(host, found))
    return found


def same(expected: Any, found: Any) -> str:
    """What differs between two results; an empty text where nothing does, or where the device lacks a type that was named."""
    if isinstance(found, Raised) and lacking.was_named(found.error):
        return ""
    if isinstance(expected, Raised) or isinstance(found, Raised):
        if not isinstance(expected, Raised) or not isinstance(found, Raised):
            return f"expected {expected!r}, found {found!r}"
        wanted = type(expected.error)
        wanted = vx.exceptions.AxisError if wanted is np.exceptions.AxisError else wanted
        alike = issubclass(wanted, type(found.error)) or isinstance(found.error, wanted)
        return "" if alike else f"expected {expected.error!r}, raised {found.error!r}"
    if isinstance(expected, (tuple, list)):
        if type(found) is not type(expected) or len(found) != len(expected):
            return f"expected {expected!r}, found {found!r}"
        return "; ".join(filter(None, (same(one, other) for one, other in zip(expected, found, strict=True))))
    if isinstance(expected, (np.ndarray, np.generic)):
        if np.shape(found) != np.shape(expected):
            return f"expected shape {np.shape(expected)}, found {np.shape(found)}: {expected!r}, {found!r}"
        if isinstance(found, np.ndarray) and found.dtype != expected.dtype:
            if found.dtype != stand_in(expected.dtype):
                return f"expected type {expected.dtype}, found {found.dtype}"
            equal = np.allclose(found, expected, rtol=float(np.finfo(np.float32).eps), equal_nan=True)
        else:
            with np.errstate(invalid="ignore"):  # NumPy 2.5 warns of signalling NaN
                equal = np.array_equal(expected, found, equal_nan=expected.dtype.kind in "fc")
        return "" if equal else f"expected {expected!r}, found {found!r}"
    return "" if expected == found else f"expected {expected!r}, found {found!r}"


def compare(call: Callable[..., Any], given: Any = (), times: int = 3) -> None:
    """Compare a call in both namespaces; vkarray's is made several times, so that a plan is made and used."""
    expected = outcome(call, np, given)
    for time in range(1 if isinstance(expected, Raised) else times):
        difference = same(expected, outcome(call, vx, given))
        shown = [(one.values.shape, one.values.dtype) if isinstance(one, Given) else one for one in given]
        assert not difference, f"call {time + 1} with {shown}: {difference}"
