"""Functions of NumPy's names against NumPy's: values, types under a default of float64, shapes, and classes of errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import lacking
import numpy as np
from against_numpy import stand_in
from reference import supported

import vkarray as vx

# Types of arrays, and how far results may be off, relative to the largest or to 1, by the bytes of a real number.
FLOATS = [str(one) for one in supported([vx.float16, vx.float32, vx.float64])]
COMPLEX = [str(one) for one in supported([vx.complex64, vx.complex128])]
INTEGERS = [str(one) for one in supported([vx.bool, vx.int8, vx.int32, vx.int64, vx.uint8, vx.uint64])]
_TOLERANCES = {2: 4e-3, 4: 2e-5, 8: 1e-10}

# Views of an array of two dimensions, made alike of NumPy's and of vkarray's.
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[::-1, ::-1],
    "strided": lambda x: x[::2, 1:],
    "row": lambda x: x[1],
    "broadcast": lambda x: (np if isinstance(x, np.ndarray) else vx).broadcast_to(x[:1], (3, *x.shape[1:])),
}


def values(dtype: str, shape: tuple[int, ...] = (4, 5), special: bool = False, seed: int = 0) -> np.ndarray:
    """Random values of a type; with `special` a NaN, infinities and -0 among floating-point ones."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal(shape) * 5
    if dtype.startswith("complex"):
        x = x + 1j * generator.standard_normal(shape)
    x = (np.abs(x) if dtype.startswith("uint") else x).astype(dtype)
    if special and x.dtype.kind in "fc":
        flat = x.reshape(-1)
        flat[[0, 3, 5, 7]] = [np.nan, np.inf, -np.inf, -0.0]
    return x


def on_device(value: Any) -> Any:
    """NumPy's arrays, also those in lists and tuples, as vkarray's."""
    if isinstance(value, np.ndarray):
        return vx.asarray(value.astype(stand_in(value.dtype), copy=False))
    return type(value)(map(on_device, value)) if type(value) in (list, tuple) else value


def check(
    function: Callable[..., Any], expected: Callable[..., Any], *arguments: Any, view: Callable[[Any], Any] | None = None,
    tolerance: float | None = None, types: bool = True, **options: Any,
) -> None:  # fmt: skip
    """Assert that both functions give the same three times: by itself, watched, and by a plan. `view` is of the first argument."""
    view = view or (lambda x: x)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            right = expected(view(arguments[0]), *arguments[1:], **options)
        except Exception as error:
            right = error
    with vx.config(default_float="float64"):
        given = [on_device(one) for one in arguments]
        named = {name: on_device(one) for name, one in options.items()}
        for _ in range(3):
            try:
                found = function(view(given[0]), *given[1:], **named)
            except Exception as error:
                found = error
            compare(found, right, tolerance, types, f"{getattr(function, '__name__', function)}{arguments, options}")


def compare(found: Any, right: Any, tolerance: float | None, types: bool, said: str) -> None:
    """Assert that a result, or an error, is what is expected."""
    if isinstance(found, Exception) and lacking.was_named(found):
        return
    if isinstance(right, Exception) or isinstance(found, Exception):
        kind = next((one for one in _ERRORS if isinstance(right, one)), type(right))
        assert isinstance(found, kind), f"{said}: {found!r} instead of {right!r}"
        return
    if isinstance(right, (tuple, list)):
        assert len(found) == len(right), said
        for one, other in zip(found, right, strict=True):
            compare(one, other, tolerance, types, said)
        return
    got, want = np.asarray(found), np.asarray(right)
    assert got.shape == want.shape, f"{said}: shape {got.shape} instead of {want.shape}"
    if types and not isinstance(found, (bool, int, float)):
        assert got.dtype == stand_in(want.dtype), f"{said}: {got.dtype} instead of {stand_in(want.dtype)}"
    sizes = [one.dtype.itemsize // (2 if one.dtype.kind == "c" else 1) for one in (got, want) if one.dtype.kind in "fc"]
    limit = tolerance or _TOLERANCES[min(sizes, default=8)]
    finite = np.abs(want[np.isfinite(want)]) if want.dtype.kind in "fc" else np.abs(want.astype(float))
    scale = float(np.max(finite, initial=1))
    np.testing.assert_allclose(got, want, rtol=limit, atol=limit * scale, equal_nan=True, err_msg=said)


# Classes of errors, the narrow ones first: what code for NumPy may catch.
_ERRORS = (np.linalg.LinAlgError, ZeroDivisionError, OverflowError, IndexError, TypeError, ValueError)
