"""Products of matrices and vectors that CPU drivers read as texels: the bits of those read by addresses, however they lie."""

import numpy as np
import pytest
from reference import supported
from test_row_texels import LAYOUTS, maker

import vkarray as vx
from vkarray.core.dtypes import DTYPES
from vkarray.kernels import planned
from vkarray.kernels.product import dot_texels

TYPES = ("float32", "int32", "uint32", "float64", "int64", "uint64", "complex64", "float16")
CALLS = {
    "matrix and vector": lambda x, make: x @ make(256),
    "vector and matrix": lambda x, make: make(192) @ x,
    "transposed matrix": lambda x, make: x.T @ make(192),
    "vector of a column": lambda x, make: x.T @ make(192, 3)[:, 1],
    "vector from an odd place on": lambda x, make: x @ make(257)[1:],
    "vector backward": lambda x, make: x @ make(256)[::-1],
    "rows": lambda x, make: vx.vecdot(x, make(192, 256)),
    "columns": lambda x, make: vx.vecdot(x, make(192, 256), axis=0),
    "stacks": lambda x, make: make(3, 2, 192) @ x if x.shape[0] == 192 else x,
    "long rows": lambda x, make: vx.vecdot(vx.reshape(x, (2, -1)), make(2, 192 * 128)),
    "few columns": lambda x, make: x[:, :8].T @ make(192),
    "with an addend": lambda x, make: vx.compile(lambda x, r, b: vx.exp2((x @ r) * 0.125 + b))(x, make(256), make(192)),
}


# Exponentials of integers have another type, and halves and complex numbers take other kernels.
CASES = [
    (call, dtype) for call in CALLS for dtype in TYPES if call != "with an addend" or dtype in ("float32", "float64")
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("call", "dtype"), CASES)
def test_both_ways_give_the_same_bits(layout, dtype, call, monkeypatch):
    if not supported([DTYPES[dtype]]):
        pytest.skip(f"the device has no {dtype}")

    def result():
        make = maker(dtype, 11)
        x = LAYOUTS[layout](make)
        return np.asarray(CALLS[call](x, make))

    got = result()
    monkeypatch.setattr(dot_texels, "bindings", lambda *_: None)
    planned.forget()  # how calls were done before
    assert got.tobytes() == result().tobytes()
