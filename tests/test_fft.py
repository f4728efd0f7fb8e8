"""Fourier transforms against NumPy's in extended precision: lengths, layouts, options, errors, and the shared-memory kernels.

The bound on errors, in the root mean square of all results relative to that of the exact ones, is eps (1 + log2 n): each
of the passes, at most log2 n of them, rounds twice or three times, which adds up to well below that in the mean (Higham,
Accuracy and Stability of Numerical Algorithms, section 24.1). For n with a prime factor above 13, two transforms of up to
2.25 n points and three multiplications stand for one; they too keep within the bound.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from reference import supported
from test_reproducibility import freedoms

import vkarray as vx
from vkarray.command import catalogue
from vkarray.core import dtypes
from vkarray.kernels import launch
from vkarray.ops.fourier import batch, functions, lengths, tables, transform
from vkarray.shaders import source as shaders

COMPLEX = supported([vx.complex64, vx.complex128])
REAL = supported([vx.float32, vx.float64])
SMALL = [*range(1, 65), 97, 100, 128, 243, 257, 360, 1000, 1009, 1024]
LARGE = [4096, 2**13, 3**10, 2**16, 65537, 360360, 2**20]
# Where each length has a kernel of its own, which drivers take long to prepare.
FEW = [1, 2, 3, 4, 7, 16, 26, 31, 34, 60, 1000, 1009]
NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")


def random_numbers(shape, dtype, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    values = generator.standard_normal(shape)
    if dtype.category == "complex floating":
        values = values + 1j * generator.standard_normal(shape)
    return values.astype(dtype.name)


def operand_dtype(name: str, dtype):
    """The type that a function takes, in the precision of a complex dtype."""
    return dtypes.REAL_OF[dtype] if name in ("rfft", "ihfft", "rfftn") else dtype


def exact(name: str, values: np.ndarray, **options) -> np.ndarray:
    wide = np.clongdouble if np.iscomplexobj(values) else np.longdouble
    return getattr(np.fft, name)(values.astype(wide), **options)


def assert_accurate(got: vx.VkArray, expected: np.ndarray, points: int, dtype) -> None:
    found = np.asarray(got)
    assert found.shape == expected.shape
    assert found.dtype == (dtype.name if np.iscomplexobj(expected) else dtypes.REAL_OF[dtype].name)
    norm = np.sqrt(np.mean(np.abs(expected) ** 2))
    error = np.sqrt(np.mean(np.abs(found - expected) ** 2))
    assert error <= vx.finfo(dtype).eps * (1 + np.log2(points)) * norm


@pytest.fixture(params=["registers", "shared"])
def kernels(request, monkeypatch):
    """Both kinds of kernels, whichever the device would take."""
    monkeypatch.setattr(transform, "uses_shared_memory", lambda device: request.param == "shared")
    transform._passes.cache_clear()
    transform._chirp_spectrum.cache_clear()
    yield request.param
    transform._passes.cache_clear()
    transform._chirp_spectrum.cache_clear()


# -- accuracy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_lengths(name, dtype):
    for points in SMALL if name in ("fft", "ifft") else FEW:
        values = random_numbers((3, points), operand_dtype(name, dtype), points)
        expected = exact(name, values, n=points)
        assert_accurate(getattr(vx.fft, name)(vx.asarray(values), n=points), expected, points, dtype)


@pytest.mark.parametrize(("points", "dtype"), [*itertools.product(LARGE, COMPLEX), (None, vx.complex64)], ids=str)
def test_long_transforms(points, dtype, device):
    points = points or (2**22 if device.limits.is_cpu else 2**24)
    values = random_numbers((points,), dtype)
    # complex128 is more than enough for a reference of complex64, and several times faster.
    wide = values.astype(np.complex128 if dtype is vx.complex64 else np.clongdouble)
    assert_accurate(vx.fft.fft(vx.asarray(values)), np.fft.fft(wide), points, dtype)


@pytest.mark.parametrize("points", [2**18, 3**10, 3**12, 99_991], ids=["2^18", "3^10", "3^12", "prime"])
def test_long_real_transforms(points):
    values = random_numbers((points,), vx.float32)
    spectrum = vx.fft.rfft(vx.asarray(values))
    assert_accurate(spectrum, np.fft.rfft(values.astype(np.float64)), points, vx.complex64)
    back = vx.fft.irfft(spectrum, n=points)
    assert_accurate(back, np.fft.irfft(np.asarray(spectrum).astype(np.complex128), n=points), points, vx.complex64)


@pytest.mark.parametrize(
    ("points", "dtype"),
    [(n, vx.complex64) for n in (1, 8, 15, 127, 128, 192, 625, 1001, 1250, 4096)] + [(128, COMPLEX[-1])],
)
def test_kernels(points, dtype, kernels):
    for axis, shape in ((1, (5, points)), (0, (points, 11))):
        values = random_numbers(shape, dtype)
        assert_accurate(vx.fft.fft(vx.asarray(values), axis=axis), exact("fft", values, axis=axis), points, dtype)


def test_four_radices(monkeypatch, kernels):
    monkeypatch.setattr(transform, "LARGEST_RADIX", 8)
    transform._line.cache_clear()
    values = random_numbers((3, 4096), vx.complex64)
    assert_accurate(vx.fft.fft(vx.asarray(values)), exact("fft", values), 4096, vx.complex64)
    transform._line.cache_clear()


@pytest.mark.parametrize(("points", "name"), [(512, "fft"), (360, "ifft"), (49, "fft")])
def test_sets_of_lines(points, name, monkeypatch):
    """Workgroups that take sets of lines after each other, the last of which are not all there."""
    for setting, value in (("_LARGE_LINE", 1), ("_LARGE_MIXED_LINE", 1), ("_LINES_AHEAD", 3), ("_MANY_GROUPS", 0)):
        monkeypatch.setattr(transform, setting, value)
    monkeypatch.setattr(transform, "uses_shared_memory", lambda device: True)
    transform._passes.cache_clear()
    values = random_numbers((29, points), vx.complex64)
    got = getattr(vx.fft, name)(vx.asarray(values), norm="ortho")
    transform._passes.cache_clear()
    assert_accurate(got, exact(name, values, norm="ortho"), points, vx.complex64)


def test_shared_kernels_in_several_passes(kernels):
    values = random_numbers((2, 2**13), vx.complex64)
    assert_accurate(vx.fft.ifft(vx.asarray(values)), exact("ifft", values), 2**13, vx.complex64)


@pytest.mark.parametrize("name", ["rfft", "irfft"])
def test_real_transforms_of_kernels(name, kernels):
    for points in (256, 48, 34):
        values = random_numbers((3, points), operand_dtype(name, vx.complex64))
        expected = exact(name, values, n=points)
        assert_accurate(getattr(vx.fft, name)(vx.asarray(values), n=points), expected, points, vx.complex64)


# Real points of an odd number: in one pass and in several, with factors of all kinds, and Bluestein's algorithm.
ODD = [15, 1001, 16807, 15 * 17, 10007]


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", NAMES[2:])
def test_odd_numbers_of_real_points(name, dtype):
    for points, rows in itertools.product(ODD, (1, 3)):
        values = random_numbers((rows, points), operand_dtype(name, dtype), points)
        expected = exact(name, values, n=points)
        assert_accurate(getattr(vx.fft, name)(vx.asarray(values), n=points), expected, points, dtype)


@pytest.mark.parametrize("name", NAMES[2:])
def test_odd_numbers_of_real_points_in_kernels(name, kernels):
    """In rows and columns, cut and padded, and so long that workgroups take several passes."""
    for points, shape in ((11025, (2, 5512)), (33, (3, 51)), (127, (2, 100, 3))):
        values = random_numbers(shape, operand_dtype(name, vx.complex64), points)
        expected = exact(name, values, n=points, axis=1, norm="ortho")
        assert_accurate(getattr(vx.fft, name)(vx.asarray(values), n=points, axis=1, norm="ortho"), expected, points,
                        vx.complex64)  # fmt: skip


@pytest.mark.parametrize("name", NAMES[2:])
def test_roots_that_are_products_in_real_transforms(name, monkeypatch):
    monkeypatch.setattr(transform, "_LARGEST_TABLE", 1)
    values = random_numbers((3, 3465), operand_dtype(name, vx.complex64))
    expected = exact(name, values, n=3465)
    assert_accurate(getattr(vx.fft, name)(vx.asarray(values), n=3465), expected, 3465, vx.complex64)


def work(call, monkeypatch) -> tuple[int, int]:
    """How often a call dispatches, and the largest array that it makes besides its result, in elements."""
    dispatches, sizes = [], [0]
    dispatch, scratch = launch.dispatch, transform._scratch

    def counting(*arguments, **options):
        dispatches.append(arguments[0])
        return dispatch(*arguments, **options)

    def measuring(*arguments):
        made = scratch(*arguments)
        sizes.append(made.size)
        return made

    call()  # the tables
    with monkeypatch.context() as patched:
        patched.setattr(launch, "dispatch", counting)
        patched.setattr(transform, "_scratch", measuring)
        call()
    return len(dispatches), max(sizes)


@pytest.mark.parametrize("name", ["rfft", "irfft"])
def test_real_points_take_no_complex_detour(name, kernels, monkeypatch):
    """Arrays between passes hold at most (p + 1) / (2 p) of the points, p = 15 being their largest factor for registers."""
    # With a prime, Bluestein's algorithm takes 3 points for 4 of a complex transform.
    lengths_and_sizes = [(11025, 11025 * 8 // 15), (4099, lengths.smooth_length(4099 + 2049))]
    for points, most in lengths_and_sizes[: 1 if kernels == "shared" else 2]:
        for rows in (1, 4):
            x = vx.asarray(random_numbers((rows, points), operand_dtype(name, vx.complex64)))
            whole = vx.asarray(random_numbers((rows, points), vx.complex64))
            dispatches, size = work(lambda x=x, n=points: getattr(vx.fft, name)(x, n=n), monkeypatch)
            assert size <= rows * most
            assert dispatches <= work(lambda whole=whole: vx.fft.fft(whole), monkeypatch)[0]


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_roots_are_nearly_rounded(dtype):
    """Below 1 ULP: 0.8 for the sine and cosine of an angle of at most pi / 4, known in pairs of numbers."""
    order = 999_983
    got = np.asarray(tables.roots(order, order, dtype, vx.asarray(0).device)).astype(np.clongdouble)
    places = np.arange(order)
    # The angle from the nearest multiple of a quarter turn, so that its sine and cosine are accurate.
    quarter = np.rint(4 * places / order).astype(np.int64)
    rest = 2 * np.arccos(np.longdouble(-1)) * (4 * places - quarter * order) / (4 * np.longdouble(order))
    expected = (np.cos(rest) - 1j * np.sin(rest)) * np.array([1, -1j, -1, 1j])[quarter % 4]
    for found, wanted in ((got.real, expected.real), (got.imag, expected.imag)):
        unit = np.ldexp(np.longdouble(vx.finfo(dtype).eps), np.frexp(np.abs(wanted))[1] - 1)
        assert np.max(np.abs(found - wanted)[wanted != 0] / unit[wanted != 0]) < 1


def test_roots_that_are_products(monkeypatch):
    monkeypatch.setattr(transform, "_LARGEST_TABLE", 1)
    values = random_numbers((3, 2520), vx.complex64)
    assert_accurate(vx.fft.fft(vx.asarray(values)), exact("fft", values), 2520, vx.complex64)


def test_shaders_fuse_nothing(device):
    """Each product is rounded by itself, so that a kernel gives the same bits on every device."""
    found = {freedom for variant in transform.variants(device) for freedom in freedoms(shaders.spirv(variant))}
    assert found <= {"OpFAdd without NoContraction", "OpFSub without NoContraction"}


# -- layouts and options --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_axes_lengths_and_norms(name):
    values = random_numbers((4, 10, 9), operand_dtype(name, vx.complex64))
    x = vx.asarray(values)
    for axis, n, norm in itertools.product((0, -2, 2), (None, 1, 7, 16, 22), ("backward", "ortho", "forward")):
        expected = exact(name, values, axis=axis, n=n, norm=norm)
        got = getattr(vx.fft, name)(x, axis=axis, n=n, norm=norm)
        assert_accurate(got, expected, max(2, expected.shape[axis]), vx.complex64)


VIEWS = {
    "reversed": lambda x: x[::-1, :, ::-1],
    "every second": lambda x: x[:, 1::2, ::2],
    "transposed": lambda x: x.T if isinstance(x, np.ndarray) else vx.permute_dims(x, (2, 1, 0)),
    "broadcast": lambda x: (np if isinstance(x, np.ndarray) else vx).broadcast_to(x[:, :1, :], (6, 4, 12)),
    "offset": lambda x: x[1:, 3:, 5:],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("name", NAMES)
def test_views(name, view):
    values = random_numbers((6, 10, 12), operand_dtype(name, vx.complex64))
    x, expected = view(vx.asarray(values)), view(values)
    for axis in range(3):
        assert_accurate(getattr(vx.fft, name)(x, axis=axis), exact(name, expected, axis=axis), 32, vx.complex64)


def test_many_dimensions():
    values = random_numbers((2, 3, 2, 3, 2, 5), vx.complex64)
    x = vx.permute_dims(vx.asarray(values), (3, 1, 5, 0, 4, 2))[:, ::-1]
    expected = values.transpose(3, 1, 5, 0, 4, 2)[:, ::-1]
    for axis in range(6):
        assert_accurate(vx.fft.fft(x, axis=axis), exact("fft", expected, axis=axis), 5, vx.complex64)
    real = vx.permute_dims(vx.asarray(values.real.copy()), (3, 1, 5, 0, 4, 2))
    assert_accurate(vx.fft.rfft(real, axis=3, n=4), exact("rfft", values.real.transpose(3, 1, 5, 0, 4, 2), axis=3, n=4), 4,
                    vx.complex64)  # fmt: skip


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"axes": (0,)},
        {"axes": (-1, 0)},
        {"s": (5, 8), "axes": (2, 1)},
        {"s": (-1, 6), "axes": (0, 2), "norm": "ortho"},
    ],
    ids=str,
)
def test_several_axes(name, options):
    values = random_numbers((4, 6, 7), operand_dtype(name, vx.complex64))
    expected = exact(name, values, **options)
    assert_accurate(getattr(vx.fft, name)(vx.asarray(values), **options), expected, expected.size, vx.complex64)


@pytest.mark.parametrize("name", NAMES)
def test_beyond_the_reach_of_a_dispatch(name, monkeypatch):
    """With a short reach: batches in several dispatches, and lines that are copied together first."""
    monkeypatch.setattr(batch, "REACH", 700)
    monkeypatch.setattr(functions, "REACH", 700)
    values = random_numbers((7, 30, 11), operand_dtype(name, vx.complex64))
    x = vx.asarray(values)
    for axis in range(3):
        for n in (None, 34):
            got = getattr(vx.fft, name)(x, axis=axis, n=n)
            assert_accurate(got, exact(name, values, axis=axis, n=n), 64, vx.complex64)
            assert_accurate(got * 1, exact(name, values, axis=axis, n=n), 64, vx.complex64)
    view, expected = x[::-1, ::3, ::2], values[::-1, ::3, ::2]
    assert_accurate(getattr(vx.fft, name)(view, axis=1), exact(name, expected, axis=1), 32, vx.complex64)


def test_no_axes():
    values = random_numbers((3, 4), vx.float32)
    got = vx.fft.fftn(vx.asarray(values), axes=())
    assert got.dtype is vx.complex64
    np.testing.assert_array_equal(np.asarray(got), values)


@pytest.mark.parametrize("shape", [(0, 8), (3, 0, 4)])
def test_no_transforms(shape):
    got = vx.fft.fft(vx.zeros(shape, dtype=vx.complex64))
    assert got.shape == shape
    assert vx.fft.rfft(vx.zeros(shape)).shape == (*shape[:-1], shape[-1] // 2 + 1)
    assert vx.fft.irfft(vx.zeros(shape, dtype=vx.complex64), n=6).shape == (*shape[:-1], 6)


def test_padding_of_nothing():
    np.testing.assert_array_equal(np.asarray(vx.fft.fft(vx.zeros((2, 0), dtype=vx.complex64), n=5)), np.zeros((2, 5)))


def test_inverse_recovers():
    values = random_numbers((2, 1023), vx.complex64)
    back = vx.fft.ifft(vx.fft.fft(vx.asarray(values)))
    assert_accurate(back, values.astype(np.clongdouble), 1023**2, vx.complex64)


def test_imaginary_parts_without_meaning_are_ignored():
    values = np.array([1 + 5j, 2 + 3j, 3 + 7j], np.complex64)
    for name in ("irfft", "hfft"):
        for n in (4, 5):
            assert_accurate(getattr(vx.fft, name)(vx.asarray(values), n=n), exact(name, values, n=n), n, vx.complex64)


def test_special_values():
    values = np.ones((4, 16), np.complex64)
    values[0, 3] = np.nan
    values[1, 5] = np.inf
    values[2] = 1e-30
    got = np.asarray(vx.fft.fft(vx.asarray(values)))
    assert np.isnan(got[0]).all()
    assert not np.isfinite(got[1]).any()
    np.testing.assert_allclose(got[2, 0], 1.6e-29, rtol=1e-6)
    np.testing.assert_array_equal(got[2, 1:], 0)
    np.testing.assert_array_equal(got[3], np.fft.fft(values[3]))


def test_does_not_change_its_operand():
    values = random_numbers((3, 64), vx.complex64)
    x = vx.asarray(values)
    vx.fft.fft(x)
    vx.fft.fftn(x)
    np.testing.assert_array_equal(np.asarray(x), values)


# -- types ------------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("numpy_types")
@pytest.mark.parametrize("dtype", supported(dtypes.CATEGORIES["real"]), ids=str)
def test_result_types(dtype, device):
    wide = dtype is vx.float64 or "floating" not in dtype.category
    x = vx.asarray([1, 0, 1, 1, 0, 1, 1, 0], dtype=dtype)
    wide = wide and "shaderFloat64" in device.features
    expected = np.fft.fft([1, 0, 1, 1, 0, 1, 1, 0])
    result = vx.complex128 if wide else vx.complex64
    for name in ("fft", "ifft", "rfft", "ihfft"):
        assert getattr(vx.fft, name)(x).dtype is result
    assert vx.fft.irfft(x).dtype is vx.fft.hfft(x).dtype is (vx.float64 if wide else vx.float32)
    assert_accurate(vx.fft.fft(x), expected, 8, result)


# -- frequencies and shifts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [None, *supported([vx.float16, vx.float32, vx.float64])], ids=str)
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name, dtype):
    for n, d in itertools.product((1, 2, 7, 8, 4097), (1.0, 0.1, 3)):
        got = np.asarray(getattr(vx.fft, name)(n, d=d, dtype=dtype))
        expected = getattr(np.fft, name)(n, d)
        assert got.dtype == (dtype or vx.float32).name
        # n d and the quotient are rounded, and for float16 the result.
        np.testing.assert_allclose(got, expected, rtol=2 * vx.finfo(dtype or vx.float32).eps, atol=0)


@pytest.mark.parametrize("axes", [None, 0, (1,), (-1, 0)], ids=str)
@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name, axes):
    values = np.arange(4 * 5 * 3, dtype=np.int32).reshape(4, 5, 3)
    got = getattr(vx.fft, name)(vx.asarray(values), axes=axes)
    np.testing.assert_array_equal(np.asarray(got), getattr(np.fft, name)(values, axes=axes))


# -- errors -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: vx.fft.fft(x, n=0), ValueError, "fft: expected 1 or more points along the axis, got 0"),
        (lambda x: vx.fft.rfft(vx.real(x), n=-3), ValueError, "rfft: expected 1 or more points"),
        (lambda x: vx.fft.irfft(x[:, :1]), ValueError, "irfft: expected 1 or more points along the axis, the shape of x"),
        (lambda x: vx.fft.fft(x[:, :0]), ValueError, "fft: expected 1 or more points"),
        (lambda x: vx.fft.fft(x, n=2**40), ValueError, "fft: expected up to 134217728 points"),
        (lambda x: vx.fft.fft(x, n=2.5), TypeError, "fft: expected an integer number of points, got 2.5"),
        (lambda x: vx.fft.fft(x, norm="none"), ValueError, "fft: expected norm 'backward', 'ortho' or 'forward', got 'none'"),
        (lambda x: vx.fft.fftn(x, norm="none"), ValueError, "fftn: expected norm"),
        (lambda x: vx.fft.fft(x, axis=2), IndexError, "fft: axis 2 is out of range"),
        (lambda x: vx.fft.fft(x[0, 0]), IndexError, "fft: axis -1 is out of range"),
        (lambda x: vx.fft.ihfft(x), TypeError, r"ihfft: expected real numbers, got complex64. Use vkarray.fft.ifft"),
        (lambda x: vx.fft.rfftn(x), TypeError, "rfftn: expected real numbers"),
        (lambda x: vx.fft.fft("text"), TypeError, "fft: expected a vkarray array, got str"),
        (lambda x: vx.fft.fft(1.5), IndexError, "fft: "),
        (lambda x: vx.fft.fftn(x, s=(4,), axes=(0, 1)), ValueError, "fftn: expected as many lengths as axes"),
        (lambda x: vx.fft.fftn(x, s="4", axes=(0,)), TypeError, "fftn: expected an integer or a sequence of integers as s"),
        (lambda x: vx.fft.irfftn(x, axes=()), ValueError, "irfftn: expected at least one axis"),
        (lambda x: vx.fft.fftfreq(0), ValueError, "fftfreq: expected a number of points"),
        (lambda x: vx.fft.rfftfreq(4, d=0.0), ValueError, "rfftfreq: the sample spacing d is 0"),
        (lambda x: vx.fft.fftfreq(4, d=1j), TypeError, "fftfreq: expected a real number"),
        (lambda x: vx.fft.fftfreq(4, dtype=vx.int32), TypeError, "fftfreq: expected a real floating-point dtype"),
        (lambda x: vx.fft.fftshift(x, axes=3), IndexError, "fftshift: axis 3 is out of range"),
        (lambda x: vx.fft.fftshift("text"), TypeError, "fftshift: expected a vkarray array, got"),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(vx.zeros((4, 6), dtype=vx.complex64))


# -- variants --------------------------------------------------------------------------------------------------------------


def test_variants_hold_what_a_run_asks_for(device, monkeypatch, kernels):
    known = set(transform.variants(device))
    assert len(known) <= 2 * 20
    asked = set()
    kernel = launch.kernel

    def noting(variant, *arguments, **options):
        asked.add(variant)
        return kernel(variant, *arguments, **options)

    monkeypatch.setattr(launch, "kernel", noting)
    tables.chirp.cache_clear()
    x = vx.asarray(random_numbers((2, 16), vx.complex64))
    vx.fft.rfft(vx.real(x))
    vx.fft.fft(x, n=17)
    ours = {variant for variant in asked if variant.template.startswith("fft")}
    own = {"registers": {"fft/registers", "fft/half"}, "shared": {"fft/shared"}}[kernels]
    assert {variant.template for variant in ours} == {"fft/table"} | own
    assert ours <= known <= set(catalogue.standard_variants())


@pytest.mark.parametrize("length", [2, 4, 6, 10, 16, 30, 64, 100, 1000, 4096, 6000, 65536])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_ends_of_half_spectra_are_real_as_numpys(dtype, length):
    """With the same signs of zeros, which angles tell."""
    if dtype not in vx.__array_namespace_info__().dtypes():
        pytest.skip("this device has no float64")
    values = np.random.default_rng(length).standard_normal((2, length)).astype(dtype)
    for name in ("rfft", "ihfft"):
        found = np.asarray(getattr(vx.fft, name)(vx.asarray(values)))[:, [0, -1]].imag
        expected = getattr(np.fft, name)(values)[:, [0, -1]].imag
        assert found.tolist() == expected.tolist() == [[0, 0], [0, 0]]
        assert np.signbit(found).tolist() == np.signbit(expected).tolist()
