"""Methods and options of NumPy's ufuncs and generalized ufuncs, and the order of complex numbers, compared with NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from against_numpy import SHAPES, compare, inputs, stand_in, supported, values

import vkarray as vx

pytestmark = pytest.mark.usefixtures("numpy_types")

TYPES = supported(("bool", "int8", "int64", "float32"))

# -- complex numbers --------------------------------------------------------------------------------------------

EXTREMES = {
    "max": [lambda n, x: n.max(x), lambda n, x: n.max(x, axis=-1), lambda n, x: x.max(axis=0, keepdims=True),
            lambda n, x: n.max(x, initial=1j), lambda n, x: n.max(x, axis=0, initial=0, where=n.real(x) > 1)],
    "min": [lambda n, x: n.min(x), lambda n, x: n.min(x, axis=-1), lambda n, x: n.min(x, axis=(0, -1)),
            lambda n, x: n.minimum.reduce(x)],
    "argmax": [lambda n, x: n.argmax(x), lambda n, x: n.argmax(x, axis=-1), lambda n, x: n.argmax(x, 0, keepdims=True)],
    "argmin": [lambda n, x: n.argmin(x), lambda n, x: x.argmin(axis=-1)],
    "maximum": [lambda n, x: n.maximum(x, x[..., ::-1] if x.ndim else 2j), lambda n, x: n.maximum(x, 1.5),
                lambda n, x: n.maximum.accumulate(x)],
    "minimum": [lambda n, x: n.minimum(1.5 - 2j, x), lambda n, x: n.minimum(n.real(x), 2j)],
    "fmax": [lambda n, x: n.fmax(x, 1.5j), lambda n, x: n.fmin(x, x[..., :1] if x.ndim else 3)],
    "clip": [lambda n, x: n.clip(x, 1j, 3), lambda n, x: x.clip(None, 1.5 + 1j)],
    "ptp": [lambda n, x: n.ptp(x), lambda n, x: n.ptp(x, axis=-1, keepdims=True)],
    "searchsorted": [lambda n, x: n.searchsorted(n.sort(x.ravel()), x), lambda n, x: n.searchsorted(n.sort(x.ravel()), 1, "right"),
                     lambda n, x: n.searchsorted(n.sort(n.real(x).ravel()), 1 + 1j)],
}  # fmt: skip


@pytest.mark.parametrize("dtype", supported(("complex64", "complex128")))
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_of_complex_numbers(name, dtype):
    # Which NaN is the extreme depends on the order in which NumPy's loops meet them.
    ugly = name in ("argmax", "argmin", "maximum", "minimum", "fmax")
    for given in inputs(1, dtype, SHAPES, ugly=ugly):
        for call in EXTREMES[name]:
            compare(call, given)


def test_middle_and_nan_of_complex_numbers():
    if not supported(("complex128",)):
        pytest.skip("the device has no shaderFloat64, and NumPy computes in complex128")
    listed = [3j, 1, 2, 1 + 5j, 1 - 2j]
    for call in (
        lambda n: n.median(n.array(listed)), lambda n: n.median(n.array(listed[:4])),
        lambda n: n.median(n.array([listed, listed[::-1]]), axis=0), lambda n: n.nanmax(n.array([*listed, n.nan])),
        lambda n: n.nanmin(n.array([*listed, n.nan])), lambda n: n.nanargmax(n.array([n.nan, *listed])),
        lambda n: n.isnan(n.median(n.array([*listed, n.nan]))), lambda n: n.isnan(n.max(n.array([*listed, n.nan]))),
    ):  # fmt: skip
        compare(call)


# -- methods ----------------------------------------------------------------------------------------------------

FUNCTIONS = (
    "add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "fmax", "logical_and", "logical_or",
    "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "remainder", "floor_divide", "copysign", "arctan2",
)  # fmt: skip
METHODS = {
    "reduce": [lambda f, x: f.reduce(x), lambda f, x: f.reduce(x, axis=-1, keepdims=True), lambda f, x: f.reduce(x, axis=None),
               lambda f, x: f.reduce(x, axis=0, initial=2)],
    "accumulate": [lambda f, x: f.accumulate(x), lambda f, x: f.accumulate(x, axis=-1)],
    "reduceat": [lambda f, x: f.reduceat(x, [0, 1, 0]), lambda f, x: f.reduceat(x, [1, 0], axis=-1)],
    "outer": [lambda f, x: f.outer(x, [1, 2])],
}  # fmt: skip
# Their last bits may differ from NumPy's.
ROUNDED = {"arctan2", "power", "divide"}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("method", METHODS)
def test_methods(method, dtype):
    for name in FUNCTIONS:
        if name in ROUNDED and dtype != "int8":
            continue
        for shape in ((), (3,), (2, 3)):
            made = values(shape, dtype, ugly=False)
            made = made if made.dtype.kind == "b" else np.abs(made) % 3 + 1
            for call in METHODS[method]:
                compare(lambda n, call=call, name=name, made=made: call(getattr(n, name), n.asarray(made)), times=1)


# What every function of two operands makes of each type, and of each that it is asked for: comparisons of numbers, which lead
# to bool, have no second step. Left out are arctan2, whose reductions by NumPy leave out elements, ldexp, which takes two types,
# and second names.
STEPS = sorted(
    name for name, one in vars(np).items()
    if isinstance(one, np.ufunc) and one.nin == 2 and one.nout == 1 and one.signature is None and name == one.__name__
    and hasattr(vx, name) and name not in ("arctan2", "ldexp")
)  # fmt: skip


@pytest.mark.parametrize("indices", [[0.5], 3, [[0, 1]], None], ids=str)
def test_parts_begin_at_whole_numbers(indices):
    with pytest.raises(TypeError, match=r"add\.reduceat: expected indices as a list or an array of whole numbers"):
        vx.add.reduceat(vx.ones(4), indices)


def test_parts_of_a_compiled_function():
    x, parts = vx.arange(5, dtype=vx.float32), vx.compile(lambda x: vx.multiply.reduceat(x, [0, 2, 1]))
    assert np.asarray(parts(x)).tolist() == np.multiply.reduceat(np.arange(5, dtype=np.float32), [0, 2, 1]).tolist()


@pytest.mark.parametrize("asked", [None, *supported(("bool", "int32", "float64"))])
@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
def test_methods_in_each_type(method, asked):
    places = ([0, 1],) if method == "reduceat" else ()
    for name in STEPS:
        for dtype in supported(("bool", "uint8", "int32", "float64")):
            made = np.array([1, 1, 2]).astype(dtype)
            compare(
                lambda n, f=name, x=made: getattr(getattr(n, f), method)(n.asarray(x), *places, dtype=asked), times=1
            )


# Reductions of some elements, and with a number that elements are joined to: the identity stands for those left out.
MASKED = {
    "no elements": lambda f, x, m: f.reduce(x, axis=0, where=m & ~m, initial=1),
    "some": lambda f, x, m: f.reduce(x, axis=0, where=m, initial=3),
    "of a row": lambda f, x, m: f.reduce(x, axis=1, where=m[:1], initial=2, keepdims=True),
    "without initial": lambda f, x, m: f.reduce(x, axis=-1, where=m),
    "initial alone": lambda f, x, m: f.reduce(x, axis=0, initial=0),
    "nothing given": lambda f, x, m: f.reduce(x, axis=0),
    "of nothing": lambda f, x, m: f.reduce(x[:0], axis=0),
    "in parts": lambda f, x, m: f.reduceat(x, [0, 2, 1]),
}


@pytest.mark.parametrize("dtype", supported(("bool", "int8", "uint8", "int64", "uint64", "float64")))
@pytest.mark.parametrize("call", MASKED)
def test_reductions_of_chosen_elements(call, dtype):
    names = {*FUNCTIONS, "hypot", "logaddexp", "lcm", "fmin"} - {"arctan2", "power"}
    chosen = np.array([[True, False, True], [False, True, True], [False, False, True]])
    for name in sorted(names):
        made = values((3, 3), dtype, ugly=False)
        made = made if made.dtype.kind == "b" else np.abs(made) % 3 + 1
        rounds = name in ("hypot", "logaddexp", "divide")  # the last bits may differ from NumPy's
        if rounds and dtype in ("bool", "int8", "uint8"):  # and bits in float16 are few
            continue

        def reduced(n, name=name, made=made, rounds=rounds):
            result = MASKED[call](getattr(n, name), n.asarray(made), n.asarray(chosen))
            return n.round(result, 9) if rounds else result

        compare(reduced, times=1)


OUTS = {
    "sum": lambda n, x, out: n.sum(x, out=out),
    "prod": lambda n, x, out: n.prod(x, out=out),
    "mean": lambda n, x, out: n.mean(x, out=out),
    "sum of axes": lambda n, x, out: n.sum(x, axis=(0, 1), out=out),
    "reduce": lambda n, x, out: n.subtract.reduce(x.ravel(), out=out),
    "floor": lambda n, x, out: n.floor_divide.reduce(x.ravel(), out=out),
    "begun": lambda n, x, out: n.sum(x, out=out, initial=2.5),
    "largest": lambda n, x, out: n.max(x, out=out),
    "without NaN": lambda n, x, out: n.nancumsum(x[0, :1], out=out[None])[0],
    "running": lambda n, x, out: n.cumsum(x[0, :1], out=out[None])[0],
}


@pytest.mark.parametrize("dtype", supported(("uint8", "int64", "float32")))
@pytest.mark.parametrize("call", OUTS)
def test_out_says_what_to_compute_in(call, dtype):
    for kept in supported(("float64", "int64", "complex128")):
        made = (np.arange(12).reshape(3, 4) * 21).astype(dtype) / np.array(7, dtype)
        made = made.astype(dtype)
        compare(lambda n, made=made, kept=kept: OUTS[call](n, n.asarray(made), n.zeros((), dtype=kept)), times=1)


def test_types_that_a_call_computes_in():
    pairs = (("float32", "float64"), ("int8", "uint8"), ("float32", int), ("int64", float))
    held = {*supported(("float32", "float64", "int8", "uint8", "int64")), int, float}
    for types in (pair for pair in pairs if held.issuperset(pair)):
        for name in ("add", "divide", "less", "hypot", "power", "logical_and"):
            given = (*types, None)
            expected = getattr(np, name).resolve_dtypes(
                tuple(np.dtype(one) if isinstance(one, str) else one for one in given)
            )
            found = getattr(vx, name).resolve_dtypes(given)
            assert [one.name for one in found] == [stand_in(one).name for one in expected], (name, types)
    assert vx.sqrt.resolve_dtypes(("int8", None)) == (vx.float16, vx.float16)
    with pytest.raises(ValueError, match=r"^add\.resolve_dtypes: expected 3 types, got 2"):
        vx.add.resolve_dtypes(("int8", None))
    with pytest.raises(TypeError):
        vx.gcd.resolve_dtypes(("float32", "float32", None))


SCIMATH = [
    *(lambda m, name=name, x=x: getattr(m.emath, name)(x)
      for name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")
      for x in (0.5, -0.5, 2, [0.25, 0.5], [-2.0, 0.5], [1j, -1], [2, 3])),
    lambda m: m.emath.logn(2, [4, -4]), lambda m: m.emath.logn(4, [2, 16]), lambda m: m.emath.power([2, 4], 2),
    lambda m: m.emath.power([2, 4], -2), lambda m: m.emath.power([-2, 4], 0.5), lambda m: m.emath.power([-2, 4], 2),
    lambda m: m.lib.scimath.sqrt(m.asarray([-1.0, 4.0], dtype="float32")),
    *(lambda m, dtype=dtype: m.emath.arccos(m.asarray([0, 2], dtype=dtype))
      for dtype in ("bool", "int8", "uint8", "int16", "uint16", "int32", "int64", "float16", "float32", "complex64")),
]  # fmt: skip


@pytest.mark.needs("float64", "int64")  # in which NumPy computes
@pytest.mark.parametrize("number", range(len(SCIMATH)))
def test_functions_that_leave_the_real_numbers(number):
    with np.errstate(all="ignore"):
        found, expected = (SCIMATH[number](n) for n in (vx, np))
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6 if found.dtype == vx.complex64 else 1e-12)


def test_numbers_beyond_an_integer_type_where_floats_are_computed():
    for name in ("divide", "arctan2", "hypot", "copysign"):
        for number in (-1, 300):
            compare(lambda n, name=name, number=number: getattr(n, name)(n.ones(3, dtype="uint8"), number))
    compare(lambda n: n.add(n.ones(3, dtype="uint8"), 300))


# -- vectors and matrices ---------------------------------------------------------------------------------------


def A(n, *shape):
    return n.reshape(n.arange(float(np.prod(shape))), shape) % 7 - 3


def B(n, *shape):
    return n.reshape(n.arange(float(np.prod(shape))), shape) % 5 - 2


PRODUCTS = [
    lambda n: n.matmul(A(n, 3, 4, 2), B(n, 4, 5, 2), axes=[(0, 1), (0, 1), (0, 1)]),
    lambda n: n.matmul(A(n, 4, 3, 2), B(n, 5, 4, 2), axes=[(1, 0), (1, 0), (1, 2)]),
    lambda n: n.matmul(A(n, 4), B(n, 5, 4, 2), axes=[(0,), (1, 2), (0,)]),
    lambda n: n.matmul(A(n, 5, 3, 4), B(n, 4), axes=[(0, 2), 0, 0]),
    lambda n: n.matmul(A(n, 4), B(n, 4), axes=[0, 0, ()]),
    lambda n: n.matmul(A(n, 2, 2), B(n, 2, 2), axes=[(0, 1)]),
    lambda n: n.matmul(A(n, 2, 2), B(n, 2, 2), axes=((0, 1), (0, 1), (0, 1))),
    lambda n: n.matmul(A(n, 2, 2), B(n, 2, 2), dtype="float32"),
    lambda n: n.matmul(A(n, 2, 2), B(n, 2, 2), axis=0),
    lambda n: n.matmul(A(n, 2, 2), B(n, 2, 2), n.zeros((2, 2))),
    lambda n: n.matmul([[1, 2]], [[3], [4]]),
    lambda n: n.matmul(A(n, 2, 2), B(n, 2, 2), out=n.zeros((2, 2), dtype="float32")),
    lambda n: n.matmul(A(n, 2, 2), B(n, 2, 2), out=n.zeros((2, 2), dtype=int)),
    lambda n: n.matmul(A(n, 2, 2), B(n, 2, 2), out=n.zeros((2, 2), dtype=int), casting="unsafe"),
    lambda n: n.vecdot(A(n, 3, 2), B(n, 3, 2), axis=0),
    lambda n: n.vecdot(A(n, 3, 2), B(n, 3, 2), axis=0, keepdims=True),
    lambda n: n.vecdot(A(n, 2, 3), B(n, 2, 3), keepdims=True),
    lambda n: n.vecdot(A(n, 2, 3), B(n, 3, 2), axes=[-1, 0, ()]),
    lambda n: n.vecdot(A(n, 2, 3), B(n, 3, 2), axes=[1, 0]),
    lambda n: n.linalg.vecdot(A(n, 3, 2), B(n, 3, 2), axis=0),
    lambda n: n.matvec(A(n, 4, 2, 3), B(n, 2, 5), axes=[(0, 1), 0, 0]),
    lambda n: n.vecmat(A(n, 3), B(n, 3, 2), axes=[0, (0, 1), 0]),
    lambda n: n.matmul.reduce(A(n, 3, 3)),
    lambda n: n.matmul.at(A(n, 3, 3), 0, 1),
    lambda n: [(f.nin, f.nout, f.nargs, f.signature) for f in (n.matmul, n.vecdot, n.matvec, n.vecmat, n.add)],
    lambda n: [isinstance(f, n.ufunc) for f in (n.matmul, n.vecdot, n.add, n.sum)],
    lambda n: n.diff(n.arange(4), prepend=0), lambda n: n.diff(n.array([1, 2]), 0, prepend=3),
    lambda n: n.abs(-1, where=[True, True]), lambda n: n.add([1, 2], 1, where=[[True, True], [True, True]]),
    lambda n: n.add([1, 2], 1, out=n.zeros((2, 2), dtype=int), where=n.array([[True], [False]])),
    lambda n: n.sqrt([1.0, 4], where=n.array([1.0, 0])), lambda n: n.sqrt([1.0, 4], casting="bad"),
    lambda n: n.sqrt([1.0, 4], where=[1, 1]), lambda n: n.divmod([7, 8], 3, where=n.array([1, 0])),
    lambda n: str(n.iinfo("int8")), lambda n: n.zeros((True, 2)), lambda n: n.reshape([1, 2], (True, 2)), lambda n: n.ones(True),
    lambda n: n.array_equal([1], None), lambda n: n.array_equal(None, None), lambda n: n.array_equiv(None, [1]),
    lambda n: n.array(["1", "2", "3"], dtype=int), lambda n: n.array([list("12"), list("34")], dtype=n.uint8),
    lambda n: n.array(["1.5", "nan", "-inf"], dtype="f4"), lambda n: n.array("2.5", float), lambda n: n.array(["1+2j"], complex),
    lambda n: n.array([1, "2"], float), lambda n: n.array(["x"], float), lambda n: n.array(["1.5"], int),
    lambda n: n.linspace(n.array([1, 2], dtype=n.uint8), -1, 3, retstep=True),
    lambda n: n.linspace(n.array([1, 2], dtype=n.uint8), n.array([0, 1], dtype=n.uint8), 3, retstep=True),
    lambda n: n.diff([1, 2, 4], prepend=[0], append=[5, 9]),
    lambda n: n.diff(n.ones((2, 3), dtype="float32"), axis=0, append=n.float32(0)),
    lambda n: n.argsort(n.array(3)), lambda n: n.sum(n.array(3), axis=0), lambda n: n.max(n.float32(3), -1, keepdims=True),
    lambda n: n.argmax(n.array(3), axis=0), lambda n: n.sum(n.array(3), axis=1),
    lambda n: n.max(n.zeros((0, 3), dtype=bool), axis=0), lambda n: n.max(n.zeros((0, 3), dtype=bool), axis=1),
    lambda n: n.searchsorted([False, True], True),
    # Numbers that come out of arrays, such as x[1] - x[0].
    lambda n: n.fft.fftfreq(5, n.float64(0.5)), lambda n: n.fft.rfftfreq(n.int64(5), d=n.float64(0.5)),
    lambda n: n.split(n.arange(6), n.int64(2)), lambda n: n.hsplit(n.arange(6), n.int64(3)),
    lambda n: n.linalg.norm([3, 4], n.int64(1)), lambda n: n.linalg.norm(A(n, 2, 2), n.int64(1)),
    lambda n: n.mgrid[0 : n.int64(2)], lambda n: n.ogrid[0 : n.int64(2) : n.float64(0.5), 0:3],
    lambda n: n.random.default_rng(0).choice(n.int64(2), size=n.int64(3)).shape,
    lambda n: n.float64(2.5).is_integer(), lambda n: n.float64(2.5).as_integer_ratio(), lambda n: n.int64(5).bit_count(),
]  # fmt: skip


@pytest.mark.needs("float64", "int64")  # in which NumPy computes
@pytest.mark.parametrize("number", range(len(PRODUCTS)))
def test_options_of_products_and_others(number):
    compare(PRODUCTS[number])


def test_axes_of_products_that_are_refused():
    x = vx.ones((2, 2))
    with pytest.raises(TypeError, match=r"^matmul: it has neither axis nor keepdims"):
        vx.matmul(x, x, keepdims=True)
    with pytest.raises(ValueError, match=r"^vecdot: expected axes with \[1, 1, 0\] entries"):
        vx.vecdot(x, x, axes=[(0, 1), 0])
    with pytest.raises(TypeError, match=r"^vecdot: expected axes or axis, got both"):
        vx.vecdot(x, x, axes=[0, 0], axis=0)


# -- the types that a call asks for --------------------------------------------------------------------------------

LOOPS = [
    lambda n: n.add(n.asarray([1.5, 2.5]), 0.5, dtype=int, casting="unsafe"),
    lambda n: n.power(1.5, 2.8, dtype=int, casting="unsafe"),
    lambda n: n.add(n.asarray([1.5, 2.5]), 0.5, sig="ii->i", casting="unsafe"),
    lambda n: n.add([1, 2], 2, signature=("f8", None, None)),
    lambda n: n.ldexp(n.float32(1), n.int64(2), dtype="d"),
    lambda n: n.divide([1, 2], 2, dtype=n.float32),
    lambda n: n.equal([1, 2], 2, dtype=bool),
    lambda n: n.abs(n.asarray([1j, 2]), dtype=float),
    lambda n: n.matmul([[1, 2], [3, 4]], [[1, 2], [3, 4]], signature="ff->f"),
    lambda n: n.add([1], 2, out=...),
    lambda n: n.divmod([1.5], 2, dtype=n.float32)[1],
    lambda n: n.add.accumulate(n.arange(200, dtype="i1"), dtype="i1"),
    lambda n: n.add.reduce(n.asarray([1.5, 1.6]), out=n.zeros((), "i8")),
    lambda n: n.mean(n.asarray([1.5, 1.6, 4]), out=n.zeros((), "i8")),
    lambda n: n.cumsum(n.asarray([1.5, 1.6, 7]), out=n.zeros(3, "i8")),
    lambda n: n.add.reduce(n.ones((2, 3)), 0, None, None, True, 5),
    lambda n: n.divide.reduce(n.zeros((0, 0, 5)), axis=1, initial=1),
    lambda n: n.sum(n.ones((2, 3)), 0, None, None, True, 5),
]  # fmt: skip
REFUSED = [
    lambda n: n.add(n.asarray([1.5]), 1, dtype=int),
    lambda n: n.divide([1, 2], 2, dtype=int),
    lambda n: n.equal([1, 2], 2, dtype=float),
    lambda n: n.add(3, 4, sig="ii->i", dtype=int),
    lambda n: n.add(3, 4, signature=123.0),
    lambda n: n.add(3, 4, signature="ii>i"),
    lambda n: n.add(3, 4, signature=(None, "f8")),
    lambda n: n.add(3, 4, signature=(None,)),
    lambda n: n.add(3, 4, signature=("e", "d", None)),
    lambda n: n.add([1], 2, ...),
    lambda n: n.add([1], 1, out=n.zeros(1, "u8")),
    lambda n: n.add.reduce([], initial=None),
    lambda n: n.divide.reduce(n.zeros((0, 0, 5)), axis=1),
    lambda n: n.einsum(n.ones((2, 2)), [-1, 5], [5]),
    lambda n: n.einsum("ij->j", n.ones((2, 2)), order="W"),
]  # fmt: skip


@pytest.mark.parametrize("call", LOOPS, ids=range(len(LOOPS)))
def test_loops(call):
    if not supported(("float64",)):
        pytest.skip("the device has no shaderFloat64, in which NumPy computes")
    compare(call)


@pytest.mark.parametrize("call", REFUSED, ids=range(len(REFUSED)))
def test_loops_that_are_refused(call):
    with pytest.raises(Exception) as expected:  # noqa: PT011 - NumPy says which
        call(np)
    with pytest.raises((TypeError, ValueError)) as got:
        call(vx)
    assert issubclass(expected.type, got.type)


def test_functions_of_python_numbers():
    for call in (
        lambda f, n: f(n.arange(3), 1), lambda f, n: f.outer([1, 2], [3, 4]), lambda f, n: f.accumulate(n.asarray([1, 2, 3])),
        lambda f, n: f.reduce(n.asarray([[1, 2, 3]]), axis=1), lambda f, n: f.reduce(n.zeros((0, 2), dtype=int)),
    ):  # fmt: skip
        got, expected = (call(n.frompyfunc(lambda a, b: a * 2 + b, 2, 1, identity=0), n) for n in (vx, np))
        assert got.tolist() == expected.tolist()
    halves, rests = vx.frompyfunc(lambda x: (x // 2, x % 2), 1, 2)(vx.asarray([5, 6, 7]))
    assert (halves.tolist(), rests.tolist()) == ([2, 3, 3], [1, 0, 1])


def test_a_number_that_is_refused_leaves_no_other_error() -> None:
    """The exponents are not looked at: what they are would be told at a later read of something else."""
    exponents = vx.asarray([-1, 2], dtype=vx.int8)
    with pytest.raises(OverflowError):
        vx.pow(300, exponents)
    assert np.asarray(vx.ones(2) + 1).tolist() == [2, 2]
