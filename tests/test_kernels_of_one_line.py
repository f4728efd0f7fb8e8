"""`ElementwiseKernel`: lines of GLSL as functions of arrays, against NumPy."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from plan_cases import LAYOUTS, Maker
from reference import host_dtype, supported

import vkarray as vx
from vkarray import configuration
from vkarray.core import dtypes, layout
from vkarray.kernels import elementwise_kernel, launch, planned, walk

pytestmark = pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="there is no glslangValidator here")

DTYPES = supported(dtypes.DTYPES.values())
REAL = [dtype for dtype in DTYPES if dtype is not vx.bool and dtype.category != "complex floating"]


def host(x: vx.VkArray) -> np.ndarray:
    return np.asarray(x)


def same(got: vx.VkArray, expected: np.ndarray, dtype: dtypes.DType) -> None:
    assert got.dtype is dtype
    np.testing.assert_array_equal(host(got), np.asarray(expected).astype(host_dtype(dtype)), strict=True)


# -- types and layouts ------------------------------------------------------------------------------------------------

SELECT = vx.ElementwiseKernel("T x, T y, bool which", "T z, bool w", "z = which ? x : y; w = !which;", "select")


@pytest.mark.parametrize("arrangement", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type_in_every_layout(dtype, arrangement):
    """Several results; inputs that broadcast; results that are given, in a layout of their own."""
    made = Maker(3, dtype, arrangement)
    x, y, which = made.x(4, 3), made.flat(3), made.mask(4, 3)
    z, w = SELECT(x, y, which)
    expected = np.where(host(which), host(x), host(y))
    assert z._contiguous
    same(z, expected, dtype)
    same(w, np.broadcast_to(~host(which), expected.shape), vx.bool)
    shape = expected.shape
    back = tuple(range(len(shape)))[::-1]
    into = vx.permute_dims(vx.empty(shape[::-1], dtype=dtype), back)
    told = vx.empty((2 * shape[0], *shape[1:]) if shape else (), dtype=vx.bool)
    told = told[::-2] if shape else told
    given = SELECT(x, y, which, into, told)
    assert given[0] is into
    assert given[1] is told
    same(into, expected, dtype)
    same(told, np.broadcast_to(~host(which), shape), vx.bool)


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_arithmetic_is_that_of_the_type(dtype):
    """Narrow types are computed with as wider ones: integers wrap when they are stored."""
    twice = vx.ElementwiseKernel("T x, T y", "T z", "T sum = x + y; z = sum + sum;", "twice")
    made = Maker(5, dtype, "contiguous")
    x, y = made.flat(50), made.flat(50)
    with np.errstate(over="ignore"):
        wide = host_dtype(dtype) if dtype.bits > 16 else "float32" if "floating" in dtype.category else "int32"
        total = (host(x).astype(wide) + host(y).astype(wide)) * np.asarray(2, wide)
    if dtype is vx.bfloat16:
        assert bool(vx.all(twice(x, y) == vx.astype(vx.asarray(total), vx.bfloat16)))
    else:
        same(twice(x, y), total.astype(host_dtype(dtype)), dtype)


@pytest.mark.parametrize("dtype", supported([vx.complex64, vx.complex128]), ids=str)
def test_complex_numbers_are_pairs(dtype):
    """`vec2` and `dvec2`, with the library's functions for them."""
    swap = vx.ElementwiseKernel("T z", "T w", "w = T(z.y, z.x)", "swap")
    product = vx.ElementwiseKernel("T x, T y", "T z", "z = vx_multiply(x, vx_conj(y))", "product")
    made = Maker(1, dtype, "contiguous")
    x, y = made.flat(20), made.flat(20)
    same(swap(x), host(x).imag + 1j * host(x).real, dtype)
    np.testing.assert_array_equal(host(product(x, y)), host(vx.multiply(x, vx.conj(y))))


@pytest.mark.parametrize("name", ["exp", "sin", "sqrt", "log1p", "tanh", "atan"])
@pytest.mark.parametrize("dtype", supported(dtypes.CATEGORIES["floating-point"]), ids=str)
def test_functions_of_the_library_are_the_librarys(dtype, name):
    kernel = vx.ElementwiseKernel("T x", "T y", f"y = vx_{name}(x)", name)
    x = Maker(2, dtype, "contiguous").flat(64)
    np.testing.assert_array_equal(host(kernel(x)), host(getattr(vx, name)(x)))


@pytest.mark.parametrize("dtype", supported(dtypes.CATEGORIES["integer"]), ids=str)
def test_functions_of_integers(dtype):
    kernel = vx.ElementwiseKernel(
        "T x, T y", "T q, T r", "q = vx_floor_divide(x, y); r = vx_remainder(x, y);", "divmod"
    )
    made = Maker(2, dtype, "contiguous")
    x, y = made.flat(64), made.flat(64)
    quotient, rest = kernel(x, y)
    np.testing.assert_array_equal(host(quotient), host(x // y))
    np.testing.assert_array_equal(host(rest), host(x % y))


def test_functions_for_all_types_at_once():
    """They have one name for all types, so a kernel may need those of several."""
    wanted = [vx.bool, vx.int32, vx.uint32, vx.int64, vx.uint64, vx.float32, vx.float64, vx.complex64, vx.complex128]
    types = supported(wanted)
    letters = "ABCDEFGHI"[: len(types)]
    inputs, outputs = (", ".join(f"{letter} {name}{letter}" for letter in letters) for name in "xy")
    code = ""
    for letter, dtype in zip(letters, types, strict=True):
        value = f"vx_sqrt(x{letter})" if dtype.category == "real floating" else f"vx_multiply(x{letter}, x{letter})"
        code += f"y{letter} = {value}; "
    arrays = [vx.asarray([1, 0, 1], dtype=dtype) for dtype in types]
    for result, array in zip(vx.ElementwiseKernel(inputs, outputs, code, "all")(*arrays), arrays, strict=True):
        np.testing.assert_array_equal(host(result), host(array), strict=True)


def test_what_is_included_by_name():
    kernel = vx.ElementwiseKernel(
        "int32 k", "float32 y", "y = eased(float(k))", "eased",
        preamble="#include <vkarray/float32>\nfloat eased(float x) { return vx_tanh(x); }",
    )  # fmt: skip
    np.testing.assert_array_equal(
        host(kernel(vx.arange(9, dtype=vx.int32))), host(vx.tanh(vx.arange(9, dtype=vx.float32)))
    )
    with pytest.raises(ValueError, match=r"wrong: line 2 includes <vkarray/float31>, but .* come by data type"):
        vx.ElementwiseKernel("T x", "T y", "y = x", "wrong", preamble="\n#include <vkarray/float31>")(vx.ones(3))


def test_results_are_not_contracted():
    """A product and a sum are rounded each: the bits of the same operations of the library."""
    kernel = vx.ElementwiseKernel("float32 x, float32 y, float32 z", "float32 w", "float t = x * y; w = t + z", "two")
    made = Maker(4, vx.float32, "contiguous")
    x, y, z = made.flat(999), made.flat(999), made.flat(999)
    np.testing.assert_array_equal(host(kernel(x, y, z)), host(x * y + z))


def test_as_many_operands_as_there_may_be():
    """More than the library's own kernels have: strided, turned and broadcast ones among them."""
    names = [f"x{k}" for k in range(15)]
    inputs = ", ".join(f"int32 {name}" for name in names)
    kernel = vx.ElementwiseKernel(inputs, "int32 s, int32 p", f"s = {' + '.join(names)}; p = i + x7 * n", "many")
    base = vx.reshape(vx.arange(24, dtype=vx.int32), (4, 6))
    views = [vx.permute_dims(base, (1, 0)), vx.reshape(base, (6, 4)), base[::-1, ::2][:1, :1], base[:1, :4], 5] * 3
    total, place = kernel(*views)
    hosts = [np.asarray(view) for view in views]
    np.testing.assert_array_equal(host(total), sum(hosts))
    np.testing.assert_array_equal(host(place), np.arange(24).reshape(6, 4) + 24 * hosts[7 % 5 + 5])
    flat = kernel(*[base] * 14, 2)
    np.testing.assert_array_equal(host(flat[0]), 14 * host(base) + 2)


# -- places and sizes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (7,), (5, 300), (300, 5), (3, 40, 33), (2, 3, 2, 3, 2, 3), (0, 4)], ids=str)
def test_places_are_those_in_c_order(shape, monkeypatch):
    kernel = vx.ElementwiseKernel("int32 x", "int32 p, int64 q" if vx.int64 in DTYPES else "int32 p, int32 q",
                                  "p = i - x; q = n", "places")  # fmt: skip
    numbers = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    for limit in (layout.INDEX_LIMIT, 64):
        monkeypatch.setattr(layout, "INDEX_LIMIT", limit)  # then a call takes several dispatches
        for view in (lambda x: x, lambda x: x.T):
            array = (
                vx.asarray(numbers)
                if view(numbers) is numbers
                else vx.asarray(numbers.T.copy()).T
                if len(shape) == 2
                else None
            )
            if array is None:
                continue
            fresh = vx.ElementwiseKernel(*map(", ".join, (map(str, kernel.in_params), map(str, kernel.out_params))),
                                         kernel.operation, kernel.name)  # fmt: skip
            place, count = fresh(array)
            np.testing.assert_array_equal(host(place), np.zeros(shape))
            np.testing.assert_array_equal(host(count), np.full(shape, numbers.size))
            into = vx.permute_dims(vx.empty(shape[::-1], dtype=vx.int32), tuple(range(len(shape)))[::-1])
            assert not host(fresh(array, into, vx.empty(shape, dtype=count.dtype))[0]).any()


def test_places_of_parts(monkeypatch):
    """Where indices of a dispatch do not reach everything, the places go on counting."""
    setting = launch.Operation.walk_setting
    monkeypatch.setattr(launch.Operation, "walk_setting", lambda *given: setting(*given)._replace(limit=50))
    kernel = vx.ElementwiseKernel("int32 x", "int32 p", "p = i", "parts")
    x = vx.permute_dims(vx.reshape(vx.arange(30 * 17, dtype=vx.int32), (30, 17)), (1, 0))
    np.testing.assert_array_equal(host(kernel(x)).ravel(), np.arange(30 * 17))


def test_no_inputs():
    ramp = vx.ElementwiseKernel("", "float32 y", "y = 0.5 * i", "ramp")
    np.testing.assert_array_equal(host(ramp(size=9)), np.arange(9, dtype=np.float32) / 2)
    np.testing.assert_array_equal(host(ramp(size=0)), np.zeros(0, np.float32))
    into = vx.empty((2, 3))
    assert ramp(into) is into
    np.testing.assert_array_equal(host(into), np.arange(6).reshape(2, 3) / 2)
    with pytest.raises(ValueError, match=r"ramp: no array says how many elements there are\. Say size=n"):
        ramp()
    with pytest.raises(ValueError, match="ramp: size=3 is for calls whose arrays are all raw"):
        ramp(into, size=3)
    with pytest.raises(ValueError, match="ramp: size=-1 cannot be negative"):
        ramp(size=-1)


def test_more_places_than_integers_count(monkeypatch):
    monkeypatch.setattr(elementwise_kernel, "_MOST_PLACES", 10)
    x = vx.ones(11)
    assert vx.ElementwiseKernel("T x", "T y", "y = v.x + x; ", "fine", preamble="const vec2 v = vec2(1);")(x)[0] == 2
    for code in ("y = x + i", "y = x * n"):
        with pytest.raises(ValueError, match="counted: i and n count up to 10 elements, got 11"):
            vx.ElementwiseKernel("T x", "T y", code, "counted")(x)


# -- raw parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arrangement", LAYOUTS[:5])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_raw_parameters_are_indexed(dtype, arrangement):
    """In C order, whatever the layout; narrow types too, which buffers hold otherwise."""
    gather = vx.ElementwiseKernel("raw T x, int32 j", "T y", "y = x[x.size() - 1 - j]", "gather")
    scatter = vx.ElementwiseKernel("T x", "raw T y", "y[y.size() - 1 - i] = x", "scatter")
    made = Maker(6, dtype, arrangement)
    x = made.x(4, 3)
    places = vx.asarray([[3, 0], [11, 7]], dtype=vx.int32)
    same(gather(x, places), host(x).ravel()[11 - host(places)], dtype)
    into = made.x(4, 3) if arrangement != "broadcast" else made.flat(4, 3)
    values = made.flat(5)
    expected = host(into).copy()
    expected.ravel()[11 - np.arange(5)] = host(values)
    assert scatter(values, into) is into
    same(into, expected, dtype)


def test_sums_at_places():
    """What invocations add to one element, they add by atomic operations; a result may be there besides."""
    count = vx.ElementwiseKernel(
        "int32 x", "raw int32 counts, bool even", "atomicAdd(counts[x], 1); even = x % 2 == 0", "count"
    )
    x = np.random.default_rng(0).integers(0, 7, 5000).astype(np.int32)
    counts, even = vx.zeros(7, dtype=vx.int32), vx.empty(5000, dtype=vx.bool)
    count(vx.asarray(x), counts, even)
    np.testing.assert_array_equal(host(counts), np.bincount(x, minlength=7))
    np.testing.assert_array_equal(host(even), x % 2 == 0)
    only = vx.ElementwiseKernel("raw int32 x", "raw int8 counts", "atomicAdd(counts[x[i]], 1)", "only")
    small = vx.zeros(7, dtype=vx.int8)
    only(vx.asarray(x), small, size=70)
    np.testing.assert_array_equal(host(small), np.bincount(x[:70], minlength=7))


def test_names_of_raw_parameters_are_also_names_of_members():
    kernel = vx.ElementwiseKernel(
        "raw complex64 x, raw complex64 y", "float32 z", "z = x[i].x * y[i] . y + x[y.size() - 1].x", "k"
    )
    x = vx.asarray([1 + 2j, 3 + 4j])
    np.testing.assert_array_equal(host(kernel(x, x, size=2)), [1 * 2 + 3, 3 * 4 + 3])


def test_raw_arrays_are_read_as_they_were():
    turned = vx.ElementwiseKernel("raw T x", "T y", "y = x[n - 1 - i]", "turned")
    x = vx.arange(5000, dtype=vx.float32)
    turned(x, x)
    np.testing.assert_array_equal(host(x), np.arange(5000)[::-1])


def test_raw_arrays_that_do_not_fit(monkeypatch):
    kernel = vx.ElementwiseKernel("raw T x", "raw T y", "y[i] = x[i]", "moved")
    with pytest.raises(ValueError, match=r"moved: nothing says how long the raw result y is\. Give the array"):
        kernel(vx.ones(3), size=3)
    with pytest.raises(TypeError, match="moved: expected an array for raw T x, got float"):
        kernel(3.0, vx.ones(3), size=3)
    monkeypatch.setattr(layout, "index_limit", lambda itemsize: 8)
    with pytest.raises(ValueError, match="moved: code reaches 8 elements of a raw array of float32, x has 9"):
        kernel(vx.ones(9), vx.ones(3), size=3)


# -- results that are given -----------------------------------------------------------------------------------------------


def test_results_may_be_read():
    step = vx.ElementwiseKernel("T g, T rate", "T p, T m", "m = m / 2 + g; if (g > 1) p -= rate * m;", "step")
    g, p, m = (np.arange(5, dtype=np.float32), np.ones(5, np.float32), np.full(5, 4, np.float32))
    given = vx.asarray(p), vx.asarray(m)
    for _ in range(4):
        m = m / 2 + g
        p = np.where(g > 1, p - np.float32(0.25) * m, p)
        assert step(vx.asarray(g), 0.25, *given)[0] is given[0]
    np.testing.assert_array_equal(host(given[0]), p)
    np.testing.assert_array_equal(host(given[1]), m)


def test_what_is_not_set_is_zero():
    kernel = vx.ElementwiseKernel("T x", "T y", "if (x > 2) y = x", "above")
    np.testing.assert_array_equal(host(kernel(vx.arange(5, dtype=vx.int32))), [0, 0, 0, 3, 4])


def test_results_that_share_memory():
    """With an input in another layout; with each other, element by element in turn."""
    parts = vx.ElementwiseKernel("T x", "T low, T high", "low = x % 10; high = x / 10", "parts")
    base = vx.zeros((6, 2), dtype=vx.int32)
    parts(vx.arange(7, 37, 5, dtype=vx.int32), base[:, 0], base[:, 1])
    np.testing.assert_array_equal(host(base), [[7, 0], [2, 1], [7, 1], [2, 2], [7, 2], [2, 3]])
    square = vx.reshape(vx.arange(9, dtype=vx.int32), (3, 3))
    vx.ElementwiseKernel("T x", "T y", "y = x", "transpose")(vx.permute_dims(square, (1, 0)), square)
    np.testing.assert_array_equal(host(square), np.arange(9).reshape(3, 3).T)


def test_results_that_do_not_fit():
    kernel = vx.ElementwiseKernel("T x", "T y", "y = x", "same")
    with pytest.raises(ValueError, match=r"same: the result y has shape \(1,\), but the arguments broadcast to \(3,\)"):
        kernel(vx.ones(3), vx.ones(1))
    with pytest.raises(ValueError, match="same: elements of the result y share memory"):
        kernel(vx.ones(3), vx.broadcast_to(vx.ones(1), (3,)))
    with pytest.raises(TypeError, match="same: expected an array for T y, got float"):
        kernel(vx.ones(3), 2.0)


def test_a_tuple_on_request():
    (only,) = vx.ElementwiseKernel("T x", "T y", "y = x", "same", return_tuple=True)(vx.ones(3))
    assert only.tolist() == [1, 1, 1]


# -- types of parameters ----------------------------------------------------------------------------------------------------

TYPED = vx.ElementwiseKernel("float32 x, T y", "T z", "z = T(x) + y", "typed")
FREE = vx.ElementwiseKernel("T x", "U y", "y = U(x)", "free")


def test_letters_take_types_from_arrays():
    for dtype in [dtype for dtype in REAL if dtype.bits >= 32]:
        assert TYPED(vx.ones(3), vx.ones(3, dtype=dtype)).dtype is dtype
        assert FREE(vx.ones(3), vx.ones(3, dtype=dtype)).dtype is dtype
        assert TYPED(vx.ones(3), 2, vx.ones(3, dtype=dtype)).tolist() == [
            3,
            3,
            3,
        ]  # a number takes the type of the result
    assert TYPED(vx.ones(3), 2).dtype is vx.asarray(2).dtype
    assert TYPED(vx.ones(3), 2.5).tolist() == [3.5] * 3
    assert TYPED(vx.ones(3), np.float32(2.5)).dtype is vx.float32
    assert TYPED(vx.ones(3), vx.asarray(2.5)).tolist() == [3.5] * 3


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    {
        "few": ((1,), TypeError, r"typed: expected 2 arguments \(float32 x, T y\), or 3 with the result \(T z\), got 1\."),
        "many": ((1, 2, 3, 4), TypeError, "typed: expected 2 arguments .* got 4"),
        "a list": (([1], 2), TypeError, r"typed: expected an array or a scalar for float32 x, got list\. Convert it with"),
        "None": ((None, 2), TypeError, "typed: expected an array or a scalar for float32 x, got NoneType"),
        "NumPy's": ((np.ones(3), 2), TypeError, r"got ndarray\. Convert it with vkarray\.asarray"),
        "another type": (("int32", 2), TypeError, "typed: the parameter float32 x takes float32, got an array of int32"),
        "another type for the letter": (
            ("float32", "int32", "float32"), TypeError,
            r"typed: the parameter T y takes what T stands for, float32, got an array of int32\. .* give it a letter of its own",
        ),
        "a complex number": ((1j, 2), TypeError, "typed: the parameter float32 x takes float32, got a Python complex"),
        "a float for integers": (("float32", 2.5, "int32"), TypeError, "typed: the parameter T y takes int32, got a Python float"),
        "a huge number": (("float32", 2**31, "int32"), OverflowError, "typed: y: the Python integer 2147483648 is out of bounds"),
        "no shape": ((1.0, 2.0), ValueError, "typed: no array says how many elements"),
        "shapes": (((3, "float32"), (4, "float32")), ValueError, r"typed: shapes \(3,\) and \(4,\) could not be broadcast"),
    }.values(),
)  # fmt: skip
def test_arguments_that_do_not_fit(arguments, error, message):
    def made(one):
        if isinstance(one, tuple):
            return vx.ones(one[0], dtype=one[1])
        return vx.ones(3, dtype=one) if isinstance(one, str) else one

    with pytest.raises(error, match=message):
        TYPED(*map(made, arguments))


def test_letters_that_nothing_decides():
    with pytest.raises(
        TypeError, match=r"free: no argument says what U stands for, the type of y\. Give the result too"
    ):
        FREE(vx.ones(3))


@pytest.mark.parametrize(
    ("parameters", "message"),
    {
        "no name": (("float32", "T y"), r"bad: expected in_params as types and names, such as .*, got 'float32'"),
        "a type of C": (
            ("float x", "T y"),
            "bad: in_params declares x as float, which is neither a letter, such as T, nor a data",
        ),
        "nothing between commas": (("T x,", "T y"), "bad: expected in_params as types and names, .* got ''"),
        "a word of GLSL": (
            ("T in", "T y"),
            "bad: a parameter cannot be called 'in', which means something else in GLSL",
        ),
        "the place": (("T i", "T y"), "cannot be called 'i'"),
        "an underscore": (("T _x", "T y"), "cannot be called '_x'"),
        "twice": (("T x", "T x"), "bad: two parameters are called x"),
        "a letter twice": (("T x", "x y"), "bad: a type and a parameter are called x"),
        "the place as a letter": (("i x", "T y"), "bad: a type cannot be called i"),
        "no results": (("T x", ""), "bad: expected out_params to declare a result at least"),
        "too many": ((", ".join(f"T x{k}" for k in range(32)), "T y"), "bad: expected 32 parameters at most, got 33"),
    }.values(),
)
def test_declarations_that_cannot_be(parameters, message):
    with pytest.raises(ValueError, match=message):
        vx.ElementwiseKernel(*parameters, "y = x", "bad")


def test_text_that_is_none():
    with pytest.raises(TypeError, match="bad: expected operation as text, got int"):
        vx.ElementwiseKernel("T x", "T y", 5, "bad")
    with pytest.raises(TypeError, match="bad: expected in_params as text such as 'float32 x, T y', got list"):
        vx.ElementwiseKernel(["T x"], "T y", "y = x", "bad")
    assert repr(TYPED) == "<vkarray.ElementwiseKernel typed(float32 x, T y) -> T z>"


@pytest.mark.parametrize("dtype", [dtype for dtype in dtypes.DTYPES.values() if dtype.bits == 64], ids=str)
def test_types_that_the_device_lacks(device, dtype):
    with vx.config(disable="shaderInt64,shaderFloat64"):
        other = vx.zeros(3, device=device.index)
        with pytest.raises(vx.FeatureError, match=f"typed: [yz].* so {dtype} arrays do not exist"):
            vx.ElementwiseKernel(f"float32 x, {dtype} y", "float32 z", "z = x", "typed")(other, 1)


# -- errors of the compiler -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "lines"),
    {
        "a cast of C": ("z = (float)x", ["line 1: ", "z = (float)x", "write float(x) for (float)x"]),
        "a cast to the letter": ("z = (T)x", ["line 1: ", "write T(x) for (T)x"]),
        "a third line": ("\n\n  z = oops;", ["line 3: 'oops' : undeclared identifier", "z = oops;"]),
        "a function of C": ("z = fabs(x)", ["line 1: ", "GLSL has abs for fabs"]),
        "a word of C": ("unsigned k = 1; z = x", ["line 1: 'unsigned'", "GLSL has uint for unsigned"]),
        "narrowing": ("int k = x;\nz = k", ["line 1: ", "int k = x;", "write int(x)"]),
        "a number as truth": ("z = x ? x : x", ["boolean expression expected", "write x != 0"]),
        "an open bracket": ("if (x > 0) {\n z = x;", ["after the last line (are all brackets closed?)"]),
        "a raw array": ("z = y[oops] + x", ["line 1: 'oops'", "z = y[oops] + x"]),
    }.values(),
)
def test_errors_show_the_line_of_the_user(code, lines):
    kernel = vx.ElementwiseKernel("T x, raw T y", "T z", code, "shown")
    with pytest.raises(vx.ShaderError) as caught:
        kernel(vx.ones(3), vx.ones(3))
    said = str(caught.value)
    assert said.startswith("shown: the shader does not compile.\n  ")
    for line in lines:
        assert line in said
    assert said.endswith("\nHere T is float32.")
    assert "data[" not in said


def test_errors_in_the_preamble():
    with pytest.raises(vx.ShaderError, match=r"line 2 of the preamble: 'oops' .*\n +float f\(\) { return oops; }"):
        vx.ElementwiseKernel("T x", "T y", "y = x", "bad", preamble="// one\nfloat f() { return oops; }")(vx.ones(3))


# -- plans and modes ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(
    configuration.current().compare, reason="no call has a plan while results are compared with NumPy's"
)
def test_calls_are_repeated_by_plans():
    """One kernel for each: those of the same parameters do not take each other's plans."""
    kernels = [vx.ElementwiseKernel("T x, T s", "T y", f"y = {k} * x + s", "scaled") for k in (2, 3)]
    x = vx.arange(6, dtype=vx.float32)
    for round_ in range(5):
        before = planned.statistics()["repeated"]
        for k, kernel in zip((2, 3), kernels, strict=True):
            np.testing.assert_array_equal(host(kernel(x, 0.5 + round_)), k * host(x) + np.float32(0.5 + round_))
        assert planned.statistics()["repeated"] - before == (2 if round_ > 1 else 0)
    sized = vx.ElementwiseKernel("", "int32 y", "y = n", "sized")
    assert [sized(size=n).tolist() for n in (2, 3, 2, 3, 2, 3)] == [[n] * n for n in (2, 3)] * 3


def test_code_that_names_what_the_template_does():
    """Names of parameters, letters and variables are the user's own, whatever the template calls its own."""
    kernel = vx.ElementwiseKernel(
        "a pack, b count, r bits", "r result, b EACH", "float place = 1.0; float step = 2.0; result = bits + r(place);"
        " EACH = count; EACH += b(step);", "named",
    )  # fmt: skip
    result, each = kernel(vx.ones(70, dtype=vx.int32), vx.ones((2, 1)), vx.ones(70, dtype=vx.float32))
    assert set(result.reshape(-1).tolist()) == {2}
    assert set(each.reshape(-1).tolist()) == {3}


def test_nothing_takes_more_operands_than_turn():
    assert walk.TURNABLE < 4, "a plan has four bits for operands that are turned"
