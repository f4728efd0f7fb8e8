"""Elementwise operations on many elements that do not lie side by side: CPU drivers handle several by an invocation."""

from __future__ import annotations

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.core.dtypes import DTYPES
from vkarray.kernels import launch, planned

SHAPE = (37, 150)  # more elements than `launch._MANY`; rows are no multiple of a strip, nor of a texel

# Views of SHAPE, each of a larger array, by functions of NumPy's arrays and of vkarray's alike.
LAYOUTS = {
    "shifted": ((40, 160), lambda x: x[1:38, 3:153]),
    "every second": ((80, 301), lambda x: x[2:76:2, 1:301:2]),
    "backward": ((37, 150), lambda x: x[::-1, ::-1]),
    "rows backward, of whole texels": ((40, 160), lambda x: x[36::-1, 4:154]),
    "transposed": ((150, 40), lambda x: x[:, :37].T),
    "a row for all": ((150,), lambda x: x[None, :] if isinstance(x, np.ndarray) else vx.expand_dims(x, axis=0)),
    "a column for all": ((37, 4), lambda x: x[:, 1:2]),
    "one for all": ((1, 1), lambda x: x),
    "beyond the first axis": ((3, 37, 150), lambda x: x[1]),
    "unaligned": ((5551,), lambda x: x[1:].reshape(37, 150)),
}  # fmt: skip
TYPES = [dtype for dtype in DTYPES.values() if supported([dtype])]


def values(dtype, shape, seed):
    """Random numbers with NaN, infinities and zeros of both signs among them, where a type has these."""
    random = np.random.default_rng(seed)
    host = random.integers(0, 100, shape)
    if dtype.kind not in "fc" and dtype is not vx.bfloat16:
        return vx.astype(vx.asarray(host.astype(np.int32)), dtype)
    floats = random.standard_normal(shape).astype(np.float32) * 8
    special = np.arange(0, floats.size, max(1, floats.size // 9))
    floats.flat[special] = np.resize([np.nan, np.inf, -np.inf, -0.0, 1e-40], special.size)
    return vx.astype(vx.asarray(floats), dtype)


def bits(array):
    """The bytes of an array, as numbers of its own type have them."""
    return vx.asarray(array).tobytes()


CALLS = {
    "copy": lambda x, y: vx.copy(x),
    "add": lambda x, y: vx.logical_or(x, y) if x.dtype is vx.bool else x + y,
    "equal": lambda x, y: x == y,
    "where": lambda x, y: vx.where(x == y, x, y),
    "tril": lambda x, y: vx.tril(x + y if x.dtype is not vx.bool else x),
    "cast": lambda x, y: vx.astype(x, vx.complex64 if x.dtype.kind == "c" else vx.float32),
    "a number": lambda x, y: x * 3 if x.dtype is not vx.bool else x & True,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_same_bits_as_one_by_one(dtype, layout, monkeypatch):
    """Results are the bits of kernels that handle each element by itself."""
    shape, view = LAYOUTS[layout]
    x, y = view(values(dtype, shape, 1)), view(values(dtype, shape, 2))
    whole = values(dtype, SHAPE, 3)
    pairs = [(x, whole), (whole, y), (x, y)]
    found = {name: [bits(call(*pair)) for pair in pairs] for name, call in CALLS.items()}
    monkeypatch.setattr(launch, "_MANY", 1 << 60)
    planned.forget()
    for name, call in CALLS.items():
        expected = [bits(call(*pair)) for pair in pairs]
        assert found[name] == expected, f"{name} of {layout} elements of {dtype} gives other bits in strips"


@pytest.mark.parametrize("name", ["exp", "sqrt", "sin", "log", "abs", "negative"])
def test_functions(name, monkeypatch):
    """Functions of one operand, short and long, whose strips have 16, 4 and 1 elements."""
    function = getattr(vx, name)
    pieces = [view(values(vx.float32, shape, 5)) for shape, view in LAYOUTS.values()]
    found = [bits(function(piece)) for piece in pieces]
    monkeypatch.setattr(launch, "_MANY", 1 << 60)
    planned.forget()
    assert found == [bits(function(piece)) for piece in pieces]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_assignment(layout):
    """Copies into views, and of views into views, are NumPy's."""
    shape, view = LAYOUTS[layout]
    host = np.random.default_rng(7).random((40, 160), dtype=np.float32)
    source = np.random.default_rng(8).random(shape, dtype=np.float32)
    array, given = vx.asarray(host), vx.asarray(source)
    for x, y in ((host, source), (array, given)):
        x[1:38, 5:155] = view(y)
        x[1:38, 5:155] += x[2:39, 4:154]
        x[37:0:-1, 5:155] *= view(y)
    np.testing.assert_array_equal(np.asarray(array), host)
