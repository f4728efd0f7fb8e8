"""Forms of calls that NumPy takes or refuses: casting, order, subok, masks, and types in annotations."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from against_numpy import Raised, compare, outcome, same, stand_in, supported

import vkarray as vx

pytestmark = pytest.mark.usefixtures("numpy_types")

CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe", "bogus")
TYPES = supported(("bool", "int8", "int64", "float32", "float64"))


@pytest.mark.parametrize("casting", CASTINGS)
@pytest.mark.parametrize("name", ["add", "sqrt", "less", "logical_and", "maximum", "divide", "hypot"])
def test_castings_of_operands_and_results(name: str, casting: str) -> None:
    def called(n: Any, types: tuple[str, ...], out: str | None = None) -> Any:
        given = [n.ones(3, one) for one in types]
        return getattr(n, name)(*given, out=None if out is None else n.zeros(3, out), casting=casting)

    for types in itertools.product(TYPES, repeat=getattr(np, name).nin):
        computed = getattr(np, name).resolve_dtypes((*map(np.dtype, types), None), casting="unsafe")
        if any(not supported((one.name,)) for one in computed):
            continue  # NumPy computes in a type that the device lacks, and is asked what may become of that
        compare(functools.partial(called, types=types), times=1)
        for out in TYPES:
            compare(functools.partial(called, types=types, out=out), times=1)


@pytest.mark.parametrize("casting", CASTINGS)
def test_castings_of_joined_arrays(casting: str) -> None:
    for types in itertools.product(TYPES, repeat=2):
        for options in ({}, {"dtype": "int8"}):
            given = {"casting": casting, **options}
            compare(lambda n, types=types, given=given: n.concatenate([n.ones(2, one) for one in types], **given))


ORDERED = (
    "n.array([1], order={})", "n.asarray([1], order={})", "n.asanyarray([1], order={})", "n.copy(n.ones(2), order={})",
    "n.zeros(2, order={})", "n.ones(2, order={})", "n.full(2, 1, order={})", "n.eye(2, order={})", "n.identity(2)",
    "n.empty((0,), order={})", "n.zeros_like(n.ones(2), order={})", "n.ones_like(n.ones(2), order={})", "n.add(1, 2, order={})",
    "n.full_like(n.ones(2), 1, order={})", "n.empty_like(n.ones(0), order={})", "n.ones((2, 2)).reshape(4, order={})",
    "n.ravel(n.ones((2, 2)), order={})", "n.ones((2, 2)).flatten({})", "n.ones(2).copy({})", "n.ones(2).astype('f4', order={})",
    "n.einsum('i->', n.ones(3), order={})", "n.unravel_index(3, (2, 2), order={})", "n.ones(2).tobytes({})",
    "n.ravel_multi_index(([1], [1]), (2, 2), order={})",
)  # fmt: skip


@pytest.mark.parametrize("order", ["'C'", "'F'", "'A'", "'K'", "'f'", "'Z'", "''", "'CC'", "None", "3"])
@pytest.mark.parametrize("text", ORDERED)
def test_orders(text: str, order: str) -> None:
    if "tobytes" in text and not supported(("float64",)):
        pytest.skip("the device has no shaderFloat64, and bytes are those of the type")
    compare(lambda n: eval(text.format(order), {"n": n}))


MASKS = ("[1, 0, 1]", "[True, False, True]", "n.asarray([1, 0, 1])", "n.asarray([True, False, True])", "n.asarray([1.0, 0, 1])",
         "True", "False", "1", "0", "(0, 1, 1)", "n.True_", "[[1], [0]]", "n.asarray([True, False])")  # fmt: skip
MASKED = (
    "n.sum(x, where={})", "n.prod(x, axis=0, where={})", "n.mean(x, where={})", "n.max(x, where={}, initial=0)",
    "n.std(x, where={})",
    "n.var(x, axis=0, where={})", "n.any(x, where={})", "n.all(x, where={})", "n.nansum(x, where={})", "n.nanmean(x, where={})",
    "n.nanmax(x, where={}, initial=-1)", "x.sum(where={})", "n.add.reduce(x, where={})", "n.hypot.reduce(x, where={})",
    "n.add(x, 1, out=n.zeros(3), where={})", "n.copyto(x, 5, where={})", "x.mean(where={})", "n.nanstd(x, where={})",
)  # fmt: skip


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("text", MASKED)
def test_masks(text: str, mask: str) -> None:
    """NumPy makes bools of lists and numbers, and refuses arrays of other types."""
    compare(lambda n: eval(text.format(mask), {"n": n, "x": n.asarray([3.0, 4.0, 5.0])}))


@pytest.mark.parametrize(
    "dtype", supported(("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"))
)
def test_reciprocals_of_integers(dtype: str) -> None:
    limits = [1] if dtype == "bool" else [np.iinfo(dtype).min, np.iinfo(dtype).max]
    given = np.array(
        [0, 1, *limits, *([] if dtype == "bool" else [2, 3]), *([] if dtype[0] in "bu" else [-1, -2])], dtype
    )
    with np.errstate(all="ignore"):
        expected = np.reciprocal(given)
    found = vx.reciprocal(vx.asarray(given))
    assert found.dtype == expected.dtype
    not_zero = given != 0
    assert np.asarray(found)[not_zero].tolist() == expected[not_zero].tolist()
    assert int(found[0]) == (np.iinfo(dtype).min if dtype in ("int32", "int64") else 0)  # NumPy's on x86


def test_numbers_as_operands_have_their_type() -> None:
    for name in ("reciprocal", "square", "sign"):
        assert getattr(vx, name)(3).dtype == stand_in(getattr(np, name)(3).dtype)
    assert isinstance(outcome(lambda n: n.add(1, 2, subok="no"), vx).error, TypeError)
    assert vx.add(1, 2, subok=False) == 3


# Calls with a number where NumPy makes an array of each argument, so that the number has a type and a shape of its own.
BESIDE_ARRAYS = (
    "n.polynomial.polynomial.polyadd({}, {})", "n.polynomial.polynomial.polysub({}, {})", "n.polynomial.polynomial.polymul({}, {})",
    "n.polynomial.polynomial.polydiv({}, {})", "n.polynomial.chebyshev.chebadd({}, {})", "n.polynomial.legendre.legmul({}, {})",
    "n.polynomial.hermite.hermsub({}, {})", "n.polynomial.laguerre.lagdiv({}, {})", "n.ediff1d({}, to_end={})", "n.cov({}, {})",
    "n.nan_to_num({}, nan={})", "n.linalg.matrix_rank({}, tol={})", "n.linalg.tensorsolve({}, {})",
    "n.linalg.solve({}, {})", "n.linalg.lstsq({}, {})",
)  # fmt: skip


@pytest.mark.parametrize("number", ["2", "0.5", "True"])
@pytest.mark.parametrize("text", BESIDE_ARRAYS)
def test_numbers_beside_arrays(text: str, number: str) -> None:
    if number == "True" and "polynomial" in text:
        pytest.skip("NumPy's polynomials have no bools as coefficients")
    for given in ("n.asarray([4.0])", "n.asarray(3)", "n.asarray([1, 2, 3], dtype=n.int16)"):
        for order in ((number, given), (given, number)):
            compare(lambda n, order=order: eval(text.format(*order), {"n": n}))


@pytest.mark.parametrize("text", [
    "n.sum(5, n.int64(0))", "n.max(1.5, n.int64(-1))", "n.cumsum(3, axis=n.int64(0))", "n.sort(5, axis=n.int64(0))",
    "n.ones_like(2.5, shape=n.array([2, 3]))", "n.full_like(1, 2, shape=n.array(3))", "n.repeat(2.5, n.array(3))",
    "n.tile(2, n.array([2, 2]))", "n.broadcast_to(1, n.array([2, 2]))", "n.hsplit(3, n.array([1]))", "n.take(5, n.array(0))",
    "n.nansum(5.0, out=n.zeros(()))", "n.roll(2, n.array(1))",
])  # fmt: skip
def test_arrays_as_options_of_numbers(text: str) -> None:
    """An axis or a shape that is an array does not make an operand without a type of the number beside it."""
    compare(lambda n: eval(text, {"n": n}))


@pytest.mark.parametrize("text", [
    "f'{n.arange(3):.2f}'", "format(n.zeros((1, 1)), 'd')", "f'{n.array(2.5):.2f}' + f'{n.arange(3)}'",
    "None in n.arange(3)", "'a' in n.ones(2)", "2 in n.arange(3)", "n.array([1, 2]) in n.array([1, 3])",
    "n.isscalar(n.array(3))", "n.isscalar(n.float64(3))",
    "n.isscalar(n.arange(3).sum())", "n.isscalar(n.zeros(()))", "n.take(n.arange(3), [True, False])",
    "n.take(n.arange(3), n.array([[False], [True]]))", "n.linalg.vector_norm([3, 4], ord=None)",
    "n.histogramdd(n.array([[1, 2], [3, 4]]), bins=2)", "n.concatenate([[1], [2]], 0, 'f4')", "n.concatenate([[1], [2]], out=3)",
    "n.trapezoid([1, 2, 4], [[0, 1, 2], [0, 2, 4]])", "n.trapezoid(n.ones((2, 3)), n.arange(6).reshape(1, 2, 3))",
    "n.polynomial.legendre.legder(n.zeros((3, 0)))", "n.polynomial.laguerre.lagder(n.zeros(0))",
    "n.signbit(n.polynomial.chebyshev.chebcompanion([1, 2, 3, 4]))", "n.linspace(2, -3, 8, retstep=True, dtype=int)",
    "n.linspace(0, 1, 3, retstep=True, dtype='f4')", "n.linspace([0, 1], 1, 3, retstep=True, dtype=int)",
    "n.put(n.arange(3), [], 1)",
    "n.nanmin(n.zeros((0, 2)), axis=0, initial=3)", "n.nanmax(n.zeros(0), initial=3)", "n.take(2, n.array([[0, 0]]))",
])  # fmt: skip
def test_forms_of_single_functions(text: str) -> None:
    compare(lambda n: eval(text, {"n": n}))


def test_types_in_annotations() -> None:
    for text in (
        "n.ndarray[tuple[int], n.dtype[n.float32]]", "n.float32 | float", "int | n.int8", "n.float32 | n.int8 | None",
        "n.typing.NDArray[n.float32]", "n.typing.ArrayLike | None", "list[n.typing.DTypeLike]",
    ):  # fmt: skip
        for n in (np, vx):
            assert eval(text, {"n": n, "np": np}) is not None
    assert vx.float32.__name__ == np.float32.__name__


def test_what_functions_tell_of_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    for given, begin in (
        (vx.add, "add(x1, x2"), ("linalg.norm", "norm(x, ord=None"), (vx.ones((2, 3)), "shape:  (2, 3)\nstrides:"),
        ("nothing", "Help for nothing not found"), (None, "info(object=None"), (vx.ndarray, "VkArray("),
    ):  # fmt: skip
        vx.info(given)
        assert capsys.readouterr().out.startswith(begin)
    vx.show_config()
    assert str(vx.asarray(0).device.name) in capsys.readouterr().out


OTHERS = (
    "n.sum([1, 2], initial=2.5)", "n.max([1, 2], initial=2.5)", "n.prod(n.asarray([1.5]), initial=n.float32(2))",
    "n.sum(n.asarray([True]), initial=2.7)", "n.max(n.asarray([1], dtype='u1'), initial=-1)", "n.prod([], initial=2)",
    "n.min(n.asarray([3, 4], dtype='i4'), where=[True, False], initial=2.5)", "n.sum(n.zeros((0, 2)), axis=0, initial=-0.0)",
    "n.max(n.zeros((0, 2), dtype='i4'), axis=0, initial=7)", "n.nanmin(n.asarray([3, 4]), initial=2.5)",
    "n.any(n.asarray([0, 0]), where=[True, False])", "n.max(n.asarray([True, False]), where=[True, False])",
    "n.max(n.asarray([True, False]), where=[True, False], initial=False)", "n.prod(-1, where=n.asarray(True))",
    "n.sum(2, out=n.zeros(()))", "n.mean(2, where=n.asarray(True))", "n.max(-0.5, out=n.zeros(()), initial=1)",
    "n.broadcast_arrays(True, n.asarray([[2, 1]], dtype='u1'), np.int64(-2))", "n.broadcast_arrays(2.5, 2)",
    "n.cumulative_sum(3)", "n.cumulative_prod(n.asarray(2.5), axis=0)", "n.cumulative_sum(3, include_initial=True)",
    "n.cumulative_sum(n.asarray(3), axis=1)", "n.trapezoid(n.asarray([[True, False, True], [True, True, True]]))",
    "n.unwrap(n.asarray([-1.5, n.nan, 0.25, 9.0]))", "n.linalg.trace(n.asarray([[True, False], [False, True]]))",
    "n.choose(1, n.asarray([[3], [4]]))", "n.negative(-0.5, casting='no')", "n.right_shift(np.int8(4), 1, casting='no')",
    "n.insert(1, [], n.asarray([3]))",
    "n.delete(2, n.asarray([], dtype=int))",
    "n.average([True, True, False], weights=n.asarray([0.5, 0.25, 3.0], dtype='f2'))",
    "n.log2(np.True_, casting='no')", "n.average(n.asarray([1.0, 2.0]), weights=2.0)",
)  # fmt: skip


@pytest.mark.parametrize("text", OTHERS)
def test_numbers_among_arguments(text: str) -> None:
    compare(lambda n: eval(text, {"n": n, "np": np}))


# Bools where numbers are taken: which functions count them, which keep them and which refuse them.
OF_BOOLS = (
    "a ** 2", "a ** True", "a ** 2.0", "a ** a", "2 ** a", "n.power(a, 2)", "n.square(a)", "n.conj(a)", "n.conjugate(a)",
    "a.conj()", "a.conjugate(n.zeros(3))", "n.gradient(a)", "n.gradient(a, edge_order=2)", "n.gradient(f, a)", "n.diff(a)",
    "n.ediff1d(a)", "n.ptp(a)", "n.trapezoid(f, a)", "n.clip(a, False, True)", "n.clip(a, a, True)", "n.clip(a, 0, 1)",
    "n.clip(a, np.False_, a)", "n.round(a)", "n.round(a, 1)", "n.around(a, -1)", "a.round()", "n.repeat(f, a)",
    "f.repeat([True, True, False])", "n.repeat(f, True)", "n.repeat(f, f)", "n.repeat(f, [1.5, 1, 1])",
    "n.unravel_index(a, (2, 2))", "n.unravel_index(f, (2, 2))", "n.ravel_multi_index((a, a), (2, 2))",
    "n.ravel_multi_index((a, [1, 1, 1]), (2, 2))", "n.sum(a)", "n.cumsum(a)", "n.nanprod(a)", "n.bincount(a)",
    "n.digitize(a, [0, 1])", "n.average(f, weights=a)", "n.vander(a)", "n.kron(a, a)", "n.convolve(a, a)", "n.where(a, a, 2)",
    "n.pad(a, 1)", "n.pad(a, 1, mode='maximum')", "n.angle(a)", "n.sign(a)", "n.positive(a)", "a - a", "n.left_shift(a, 1)",
    "n.heaviside(a, a)", "n.divmod(a, n.ones_like(a))",
)  # fmt: skip


@pytest.mark.parametrize("text", OF_BOOLS)
def test_bools_among_numbers(text: str) -> None:
    def call(n: Any) -> Any:
        names = {"a": n.asarray([True, False, True]), "f": n.asarray([1.0, 2.0, 4.0])}
        return eval(text, {"n": n, "np": np, **names})

    compare(call)


# What becomes of results that `out` has another type for: NumPy refuses some, and here no fewer types are taken.
WRITTEN = (
    "n.take(f, [0, 1], out=out)", "n.take(f, [0, 1], mode='clip', out=out)", "f.take([1, 0], out=out)",
    "n.choose([0, 1], [f, f], out=out)", "n.compress([1, 1], f, out=out)", "f.compress([1, 1], out=out)",
    "n.var(m, axis=0, out=out)", "m.var(0, out=out)", "n.std(m, axis=0, out=out)", "n.mean(m, axis=0, out=out)",
    "n.median(m, axis=0, out=out)", "n.percentile(m, 50, axis=0, out=out)", "n.nanmax(m, axis=0, out=out)",
    "n.nanmin(m, axis=0, out=out)", "n.nanmedian(m, axis=0, out=out)", "n.nanvar(m, axis=0, out=out)",
    "n.nanpercentile(m, 50, axis=0, out=out)", "n.nanquantile(m, 0.5, axis=0, out=out)", "n.argmax(m, axis=0, out=out)",
    "m.argmin(0, out=out)", "n.sum(m, axis=0, out=out)", "n.cumsum(f, out=out)", "n.max(m, axis=0, out=out)",
    "n.clip(f, 0, 1, out=out)", "n.add(f, f, out=out)", "n.round(f, out=out)", "n.concatenate([f[:1], f[:1]], out=out)",
    "n.trace(m[..., None] + f, out=out)",
)  # fmt: skip
KINDS = (
    ("float64", "int32"),
    ("int32", "float32"),
    ("float64", "float32"),
    ("float32", "bool"),
    ("int64", "uint8"),
    ("bool", "int32"),
)


@pytest.mark.parametrize(("given", "kind"), KINDS)
@pytest.mark.parametrize("text", WRITTEN)
def test_results_in_an_array_of_another_type(text: str, given: str, kind: str) -> None:
    if {*supported((given, kind))} != {given, kind}:
        pytest.skip(f"the device has no {given} or no {kind}")

    def call(n: Any) -> Any:
        out, m = n.zeros(2, dtype=kind), n.asarray([[1, 0], [3, 4]]).astype(given)
        found = eval(text, {"n": n, "f": n.asarray([1, 0]).astype(given), "m": m, "out": out})
        return [found, out]

    expected, found = outcome(call, np), outcome(call, vx)
    if not isinstance(expected, Raised):
        assert not same(expected, found)
    elif isinstance(found, Raised):
        assert isinstance(found.error, TypeError)


# A progression from, to or in steps of uint64 numbers has a floating type, which NumPy finds for these and int64.
PROGRESSIONS = (
    "n.arange(np.uint64(3))", "n.arange(np.uint64(3), 9)", "n.arange(0, np.uint64(9), 2)", "n.arange(1, 9, np.uint64(2))",
    "n.arange(n.asarray(3, dtype='u8'))", "n.arange(np.uint64(3), dtype='u8')", "n.arange(np.uint64(3), dtype='f4')",
    "n.arange(np.uint64(2**63), np.uint64(2**63 + 2**14), 2**12)", "n.arange(np.uint32(3))", "n.arange(np.int8(1), np.uint16(5))",
    "n.arange(np.float16(3))",
)  # fmt: skip


@pytest.mark.parametrize("text", PROGRESSIONS)
def test_types_of_progressions(text: str) -> None:
    compare(lambda n: eval(text, {"n": n, "np": np}))


def test_the_conjugate_of_real_numbers_is_the_array_itself() -> None:
    for n in (np, vx):
        for values in ([True], [1], [1.5]):
            x = n.asarray(values)
            assert x.conj() is x
        z = n.asarray([1j])
        assert z.conj() is not z


REFUSED = (
    "n.delete(n.arange(5), True)", "n.delete(n.arange(5), False)", "n.delete(n.arange(5), [True, False])",
    "n.nanargmin(n.zeros((0, 3)), axis=1)", "n.nanargmax(n.zeros((3, 0)), axis=0)", "n.nanargmin(n.zeros((0, 3)), axis=0)",
    "n.nanargmax(n.zeros((0,)))", "n.isin(n.array([1, 2], dtype='u8'), n.array([2], dtype='i8'), kind='table')",
    "n.isin(n.array([1.0]), n.array([1]), kind='table')", "str(n.poly1d([0]))", "str(n.poly1d([3, 0, 1]))",
    "n.delete([0, 1, 2], n.array([1.0, 2.0]))", "n.insert([0, 1, 2], n.array([1.0, 2.0]), [10, 20])",
    "n.take_along_axis(n.ones(3), n.array([1.0]), 0)", "n.digitize(n.ones(2), n.array([1j]))",
    "n.digitize(n.array([1j]), n.ones(2))",
    "n.percentile(n.arange(10.0), 50, out=n.empty((1,)))", "n.quantile(n.ones((2, 3)), 0.5, axis=0, out=n.empty((1, 3)))",
    "n.median(n.arange(10.0), out=n.empty((1,)))",
)  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_and_what_is_not(text: str) -> None:
    compare(lambda n: eval(text, {"n": n}))


@pytest.mark.parametrize("given", list(itertools.product((0, 1, -2), repeat=3)))
def test_polynomials_with_assigned_zeros(given: tuple[int, ...]) -> None:
    def text(n: Any) -> str:
        p = n.poly1d([1, 1, 1])
        for power, value in enumerate(given):
            p[power] = value
        return str(p)

    assert text(vx) == text(np)
