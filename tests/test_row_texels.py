"""Row programs whose inputs CPU drivers read as texels, or as words of them: the bits of eager calls, however inputs lie."""

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.core.dtypes import DTYPES

# Of 192 x 256 elements: what is read takes more than 64 KiB, below which no input is bound.
LAYOUTS = {
    "contiguous": lambda make: make(192, 256),
    "offset": lambda make: make(193, 256)[1:],
    "offset of one element": lambda make: make(192 * 256 + 1)[1:].reshape((192, 256)),
    "rows apart": lambda make: make(192, 260)[:, :256],
    "rows of odd lengths apart": lambda make: make(192, 257)[:, 1:],
    "transposed": lambda make: make(256, 192).T,
    "every second": lambda make: make(192, 512)[:, ::2],
    "rows backward": lambda make: make(192, 256)[::-1],
    "columns backward": lambda make: make(192, 256)[:, ::-1],
    "one row": lambda make: vx.broadcast_to(make(256), (192, 256)),
    "one column": lambda make: vx.broadcast_to(make(192, 1), (192, 256)),
}
FLOATS = {
    "norm": lambda x, axis: x / vx.sqrt(vx.sum(x * x, axis=axis, keepdims=True)),
    "softmax": lambda x, axis: vx.exp(x - vx.max(x, axis=axis, keepdims=True)),
    "variance": lambda x, axis: vx.mean((x - vx.mean(x, axis=axis, keepdims=True)) ** 2, axis=axis),
    "place": lambda x, axis: vx.argmin(x * 2 - 1, axis=axis),
}
INTEGERS = {
    "sum": lambda x, axis: x + vx.sum(x ^ 5, axis=axis, keepdims=True, dtype=x.dtype),
    "largest": lambda x, axis: vx.max(x & 1023, axis=axis, keepdims=True) - x,
}
CASES = [
    *((name, function, "float32") for name, function in FLOATS.items()),
    *((name, function, dtype) for name, function in INTEGERS.items() for dtype in ("int32", "uint32")),
    ("halves", FLOATS["norm"], "float16"),
]


def maker(dtype, seed):
    rng = np.random.default_rng(seed)

    def make(*shape):
        if dtype.startswith("float"):
            return vx.asarray(rng.standard_normal(shape).astype(dtype))
        if dtype.startswith("complex"):
            return vx.asarray((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype))
        return vx.asarray(rng.integers(0, 1 << 31, shape).astype(dtype))

    return make


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "function", "dtype"), CASES, ids=[f"{name}-{dtype}" for name, _, dtype in CASES])
def test_compiled_rows_have_the_bits_of_eager_ones(layout, name, function, dtype):
    if not supported([DTYPES[dtype]]):
        pytest.skip(f"the device has no {dtype}")
    for axis in (0, 1):
        x = LAYOUTS[layout](maker(dtype, 2 * len(layout) + axis))
        compiled = vx.compile(function)
        expected, got = np.asarray(function(x, axis)), np.asarray(compiled(x, axis))
        assert got.tobytes() == expected.tobytes(), f"axis {axis}"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_of_several_layouts(layout):
    """An input of each layout beside a contiguous one and a row, in one kernel."""
    make = maker("float32", 7)
    x, y, row = LAYOUTS[layout](make), make(192, 256), make(256)

    def function(x, y, row):
        z = (x - y) * row
        return z - vx.sum(z + x, axis=1, keepdims=True), vx.sum(z, axis=1)

    for got, expected in zip(vx.compile(function)(x, y, row), function(x, y, row), strict=True):
        assert np.asarray(got).tobytes() == np.asarray(expected).tobytes()
