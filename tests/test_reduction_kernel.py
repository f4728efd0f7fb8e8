"""`ReductionKernel`: reductions whose lines are GLSL, against NumPy and the library's own."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from plan_cases import LAYOUTS, Maker
from reference import host_dtype, supported

import vkarray as vx
from vkarray import configuration
from vkarray.core import dtypes
from vkarray.kernels import planned
from vkarray.kernels.reductions import with_kept_axes

pytestmark = pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="there is no glslangValidator here")

DTYPES = supported(dtypes.DTYPES.values())
LARGEST = vx.ReductionKernel("T x", "T y", "x", "a < b ? b : a", "y = a", None, "largest")
EITHER = vx.ReductionKernel("T x", "bool y", "vx_to_bool(x)", "a || b", "y = a", False, "either")
NORM = vx.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
DOT = vx.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")


def host(x: vx.VkArray) -> np.ndarray:
    return np.asarray(x)


@pytest.mark.parametrize("arrangement", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type_in_every_layout(dtype, arrangement):
    x = Maker(8, dtype, arrangement).x(5, 3, 4, special=False)
    real = dtype is not vx.bool and dtype.category != "complex floating"
    for axis in (None, -1, *((0, (0, 2), (1, 2), ()) if x.ndim else ())):
        for keepdims in (False, True):
            np.testing.assert_array_equal(
                host(EITHER(x, axis=axis, keepdims=keepdims)), host(vx.any(x, axis=axis, keepdims=keepdims))
            ) if x.ndim or axis is None else None
        if real and x.size and (x.ndim or axis is None):
            found = LARGEST(x, axis=axis)
            assert found.dtype is dtype
            np.testing.assert_array_equal(host(found), np.max(host(x), axis=axis))


@pytest.mark.parametrize("shape", [(1,), (1000,), (70_000,), (3, 5000), (5000, 3), (40, 50, 60)], ids=str)
@pytest.mark.parametrize("dtype", supported([vx.float16, vx.float32, vx.float64, vx.int32, vx.complex64]), ids=str)
def test_sums_are_those_of_the_library_bit_for_bit(shape, dtype):
    """The order is that of all reductions, and narrow types are added up in wider ones."""
    total = vx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    x = Maker(3, dtype, "contiguous").flat(*shape)
    for axis in (None, *range(len(shape))):
        expected = vx.sum(x, axis=axis, dtype=dtype)
        np.testing.assert_array_equal(host(total(x, axis=axis)), host(expected), strict=True)


@pytest.mark.parametrize("arrangement", LAYOUTS[:5])
def test_several_inputs_broadcast(arrangement):
    made = Maker(2, vx.int32, arrangement)
    x, y = made.x(4, 3), made.flat(3)
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(host(DOT(x, y, axis=axis)), np.sum(host(x) * host(y), axis=axis))
    np.testing.assert_array_equal(host(DOT(x, 2, axis=1)), 2 * np.sum(host(x), axis=1))
    np.testing.assert_array_equal(host(DOT(3, y)), 3 * np.sum(host(y)))


def test_places_and_raw_parameters():
    shifted = vx.ReductionKernel("T x, raw T other", "T y", "x * other[n - 1 - i]", "a + b", "y = a", "0", "shifted")
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    np.testing.assert_array_equal(
        host(shifted(vx.asarray(x), vx.asarray(x.T.copy()).T, axis=0)),
        np.sum(x * x.ravel()[::-1].reshape(3, 4), axis=0),
    )
    last = vx.ReductionKernel("T x", "int32 k", "x > 4 ? i : -1", "max(a, b)", "k = a", "-1", "last")
    np.testing.assert_array_equal(host(last(vx.asarray(x[:, ::-1].copy()), axis=1)), [-1, 6, 11])


def test_the_type_of_values():
    """That of the result, unless another is named: by a letter or as a data type."""
    x = vx.full(2000, 100, dtype=vx.int8)
    mean = "float32 y", "x", "a + b", "y = float(a) / 2000.0", "0", "mean"
    assert float(vx.ReductionKernel("T x", *mean, "int32")(x)) == 100
    assert float(vx.ReductionKernel("T x", *mean, vx.int32)(x)) == 100
    kept = vx.ReductionKernel("T x", "float32 y", "x", "a | b", "y = float(a)", "0", "kept", "T")
    assert kept(vx.asarray([1, 2, 4])).tolist() == 7
    # Pairs, such as of a value and its place, are complex numbers.
    place = vx.ReductionKernel("float32 x", "int32 k", "vec2(x, i)", "a.x > b.x || a.x == b.x && a.y < b.y ? a : b",
                               "k = int(a.y)", None, "place", "complex64")  # fmt: skip
    values = np.random.default_rng(0).normal(size=(7, 300)).astype(np.float32)
    np.testing.assert_array_equal(
        host(place(vx.asarray(values), axis=1)) - 300 * np.arange(7), np.argmax(values, axis=1)
    )


def test_functions_of_the_library_and_of_the_user():
    kernel = vx.ReductionKernel("T x", "T y", "vx_exp(half_of(x))", "vx_multiply(a, b)", "y = vx_conj(a)", "1", "product",
                                preamble="T half_of(T x) { return 0.5 * x; }")  # fmt: skip
    z = np.array([[1 + 2j, 0.25j], [-1j, 0.5]], np.complex64)
    np.testing.assert_allclose(host(kernel(vx.asarray(z), axis=0)), np.conj(np.prod(np.exp(z / 2), axis=0)), rtol=1e-6)
    assert kernel(vx.asarray(z[:0])).tolist() == 1


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_no_elements(dtype):
    x = vx.zeros((0, 3), dtype=dtype)
    assert EITHER(x, axis=0).tolist() == [False] * 3
    assert EITHER(x, axis=1).shape == (0,)
    identity = vx.ReductionKernel("T x", "T y", "x", "a", "y = a", 1, "identity")
    np.testing.assert_array_equal(
        host(identity(x, axis=0)), np.ones(3, host_dtype(dtype)), strict=dtype is not vx.bfloat16
    )
    if dtype is not vx.bool and dtype.category != "complex floating":
        with pytest.raises(ValueError, match="largest: expected at least one element along the reduced axes"):
            LARGEST(x)
        assert LARGEST(x, axis=1).shape == (0,)


def test_results_that_are_given():
    x = vx.reshape(vx.arange(12, dtype=vx.float32), (3, 4))
    into = vx.zeros((4, 2))[::-1, 1]
    assert LARGEST(x, axis=0, out=into) is into
    assert LARGEST(x, into, axis=0) is into
    assert into.tolist() == [8, 9, 10, 11]
    assert LARGEST(x, axis=1, keepdims=True, out=x[:, :1]).tolist() == [[3], [7], [11]]
    assert x[:, 0].tolist() == [3, 7, 11]
    with pytest.raises(ValueError, match=r"largest: the result has shape \(3,\), but out has shape \(4,\)"):
        LARGEST(x, axis=1, out=into)
    with pytest.raises(
        TypeError, match="largest: the parameter T x takes what T stands for, int32, got an array of float32"
    ):
        LARGEST(x, axis=1, out=vx.zeros(3, dtype=vx.int32))


@pytest.mark.parametrize(
    ("arguments", "names", "error", "message"),
    {
        "few": ((), {}, TypeError, r"largest: expected 1 argument \(T x\), or 2 with the result \(T y\), got 0"),
        "a number": ((1.0,), {}, ValueError, "largest: no array says how many elements there are"),
        "an axis": ((..., ), {"axis": 2}, IndexError, "largest: axis 2 is out of range"),
        "an axis twice": ((..., ), {"axis": (0, 0)}, ValueError, "largest: axis .* names a dimension twice"),
        "no axis": ((..., ), {"axis": "x"}, TypeError, "largest: expected an integer or a sequence of integers as axis"),
        "NumPy's": ((np.ones(3),), {}, TypeError, r"largest: expected an array or a scalar for T x, got ndarray\. Convert"),
    }.values(),
)  # fmt: skip
def test_arguments_that_do_not_fit(arguments, names, error, message):
    with pytest.raises(error, match=message):
        LARGEST(*(vx.ones(3) if one is ... else one for one in arguments), **names)


@pytest.mark.parametrize(
    ("parameters", "names", "message"),
    {
        "two results": (("T x", "T y, T z"), {}, "bad: expected out_params to declare one result"),
        "a raw result": (("T x", "raw T y"), {}, "bad: expected out_params to declare one result"),
        "no inputs": (("", "float32 y"), {}, "bad: expected in_params to declare an input that is not raw"),
        "a type of values": (
            ("T x", "T y"),
            {"reduce_type": "number"},
            "bad: expected reduce_type as a data type or one of the let",
        ),
    }.values(),
)
def test_declarations_that_cannot_be(parameters, names, message):
    with pytest.raises(ValueError, match=message):
        vx.ReductionKernel(*parameters, "x", "a + b", "y = a", "0", "bad", **names)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("wrong", ["map_expr", "reduce_expr", "post_map_expr"])
def test_errors_show_the_line_of_the_user(wrong, several):
    code = {"map_expr": "x", "reduce_expr": "a + b", "post_map_expr": "y = a"} | {wrong: "\n   oops"}
    with pytest.raises(vx.ShaderError) as caught:
        vx.ReductionKernel("T x, T w" if several else "T x", "T y", *code.values(), "0", "bad")(
            vx.ones(3), *([1] * several)
        )
    where = "" if several and wrong == "map_expr" else f" of {wrong}"
    assert f"bad: the shader does not compile.\n  line 2{where}: 'oops' : undeclared identifier\n    oops" in str(
        caught.value
    )


@pytest.mark.skipif(
    configuration.current().compare, reason="no call has a plan while results are compared with NumPy's"
)
def test_calls_are_repeated_by_plans():
    x = vx.arange(500, dtype=vx.float32)
    for round_ in range(5):
        before = planned.statistics()["repeated"]
        got = NORM(x, axis=0), DOT(x, 0.5 + round_)
        assert [float(one) for one in got] == [float(vx.sqrt(vx.sum(x * x))), float(vx.sum(x * (0.5 + round_)))]
        assert planned.statistics()["repeated"] - before >= (2 if round_ > 1 else 0)


def test_kept_axes_are_those_of_all_reductions():
    x = vx.ones((2, 3, 4))
    assert NORM(x, axis=(0, 2), keepdims=True).shape == with_kept_axes(vx.ones(3), x, (0, 2), True).shape == (1, 3, 1)
    assert repr(DOT) == "<vkarray.ReductionKernel dot(T x, T y) -> T z>"
