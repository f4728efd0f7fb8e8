"""`einsum` against NumPy's: its notation, exact results for integers, bounds for floating-point numbers."""

from __future__ import annotations

import numpy as np
import pytest
from reference import host_dtype, supported

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES

NUMERIC = supported(CATEGORIES["numeric"])
SIZES = {letter: size for size, letter in enumerate("abcdefghijklmnopqrstuvwxyz")} | {
    "a": 2, "b": 3, "c": 4, "d": 5, "e": 2, "f": 3, "i": 3, "j": 4, "k": 5, "l": 2, "m": 3, "n": 4,
}  # fmt: skip

# Those of NumPy's and opt_einsum's tests, and the corners of the notation.
FORMULAS = [
    "i,i", "i,i->i", "i,j", "ij->ji", "ij", "ji", "ij,jk", "ij,jk->ki", "ij,kj->ik", "ij,ij", "ij,ij->ij",
    "ij,ij->j", "ii", "ii->i", "iij->ij", "iij->j", "iji->j", "iii->i", "iii", "ij,jj->i", "ii,i->i", "ii,jj",
    "ii,jj->ij", "i->", "ij->", "ij->i", "ij->j", "ijk,jkl->il", "ijk,ikl->ijl", "ijk,lk->lij", "bij,bjk->bik",
    "bij,bkj->bki", "abcd,abed->abce", "abij,abjk->abik", "i,ij,j", "i,ij,j->", "ab,bc,cd", "ab,bc,cd->da",
    "a,b,c->abc", "ab,ac,ad->bcd", "abc,bd,ce,a->de", "a,ab,abc->abc", "ea,fb,abcd,kc,ld->efkl", "ab,ab,ab->a",
    "ij,ij,jk->ik", "i,i,i", "ab,b->", ",ij->ji", ",", "->", "i,->i", " i j , j k -> i k ", "ba", "bca,cd",
]  # fmt: skip


def values_of(formula: str, dtype, seed: int = 0) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    host = host_dtype(dtype)
    arrays = []
    for part in formula.replace(" ", "").partition("->")[0].split(","):
        shape = [SIZES[letter] for letter in part]
        array = generator.integers(0 if dtype.category == "unsigned integer" else -3, 4, shape)
        if dtype.category == "complex floating":
            array = array + 1j * generator.integers(-3, 4, shape)
        arrays.append(np.asarray(array, host))
    return arrays


def check(got: vx.VkArray, expected: np.ndarray) -> None:
    assert got.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(got), expected)


@pytest.mark.parametrize("formula", FORMULAS)
def test_small_integers(formula: str) -> None:
    arrays = values_of(formula, vx.int32)
    expected = np.einsum(formula, *arrays)
    check(vx.einsum(formula, *map(vx.asarray, arrays)), expected)
    # Any strides: backwards, and every second element.
    spread = []
    for array in arrays:
        wide = np.zeros([2 * length for length in array.shape], np.int32)
        wide[(slice(None, None, 2),) * array.ndim] = array[(slice(None, None, -1),) * array.ndim]
        spread.append(vx.asarray(wide)[(slice(None, None, 2),) * array.ndim][(slice(None, None, -1),) * array.ndim])
    check(vx.einsum(formula, *spread), expected)


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
@pytest.mark.parametrize("formula", ["ij,jk->ik", "ij,ij->i", "ii->i", "ab,bc,cd", "a,b->ab", "ij->"])
def test_types(formula: str, dtype) -> None:
    # Small integers, so that every sum is exact in every type, down to the 8 bits of bfloat16.
    arrays = [np.asarray(array % 2, host_dtype(dtype)) if "complex" not in dtype.name else array
              for array in values_of(formula, dtype)]  # fmt: skip
    got = vx.einsum(formula, *(vx.asarray(array, dtype=dtype) for array in arrays))
    assert got.dtype is dtype
    check(got, np.einsum(formula, *arrays))


def test_promotion_and_bool() -> None:
    x, y = np.arange(6, dtype=np.int8).reshape(2, 3), np.linspace(0, 1, 3, dtype=np.float32)
    got = vx.einsum("ij,j", vx.asarray(x), vx.asarray(y))
    assert got.dtype is vx.float32
    check(got, np.einsum("ij,j", x, y).astype(np.float32))
    a, b = np.random.default_rng(1).random((2, 300, 300)) < 0.01
    got = vx.einsum("ij,jk->ik", vx.asarray(a), vx.asarray(b))
    assert got.dtype is vx.bool
    check(got, np.einsum("ij,jk->ik", a, b))


@pytest.mark.parametrize(
    ("formula", "shapes"),
    [("...", [(2, 3)]), ("...i->...", [(2, 3, 4)]), ("i...->...", [(2, 3, 4)]), ("...ij->...ji", [(2, 3, 4)]),
     ("i...j,j...k", [(2, 3, 4), (4, 3, 5)]), ("...ij,...jk->...ik", [(7, 2, 3), (3, 4)]), ("...ii->...i", [(5, 3, 3)]),
     ("...ij,...jk->...ik", [(6, 1, 2, 3), (5, 3, 4)]), ("...,...", [(2, 3), (3,)]), ("i...,i...->...", [(2, 3), (2, 4, 3)]),
     ("i...i", [(3, 4, 3)]), ("...a,...b->ab...", [(2, 3), (2, 4)]), ("ij...,jk...->ik...", [(2, 3, 4), (3, 2)]),
     ("...,i->...i", [(), (3,)]), ("...ab,...b,b...->a...", [(4, 2, 3), (1, 3), (3, 4)])],
)  # fmt: skip
def test_ellipsis(formula: str, shapes: list[tuple[int, ...]]) -> None:
    generator = np.random.default_rng(2)
    arrays = [generator.integers(-4, 5, shape).astype(np.int32) for shape in shapes]
    check(vx.einsum(formula, *map(vx.asarray, arrays)), np.einsum(formula, *arrays))


@pytest.mark.parametrize(
    ("formula", "shapes"),
    [("ij,jk", [(2, 1), (3, 4)]), ("ij,ij->i", [(2, 3), (2, 1)]), ("ij,ij", [(1, 3), (2, 1)]), ("i,i", [(1,), (5,)]),
     ("ij,j->ij", [(2, 3), (1,)]), ("ij,ij->ij", [(1, 3), (2, 3)]), ("ab,bc,cd", [(2, 1), (3, 1), (4, 5)]),
     ("ab,ab,ab->b", [(1, 3), (2, 1), (2, 3)]), ("bij,bjk->bik", [(1, 2, 3), (4, 3, 2)]), ("i,i->", [(1,), (1,)])],
)  # fmt: skip
def test_lengths_of_one_broadcast(formula: str, shapes: list[tuple[int, ...]]) -> None:
    generator = np.random.default_rng(3)
    arrays = [generator.integers(-4, 5, shape).astype(np.int32) for shape in shapes]
    check(vx.einsum(formula, *map(vx.asarray, arrays)), np.einsum(formula, *arrays))


@pytest.mark.parametrize(
    ("formula", "shapes"),
    [("ij,jk", [(2, 0), (0, 3)]), ("ij,jk", [(0, 2), (2, 3)]), ("i,i->i", [(0,), (0,)]), ("ii", [(0, 0)]),
     ("ij->j", [(0, 3)]), ("i,j", [(0,), (3,)]), ("i,i,i", [(0,), (0,), (0,)])],
)  # fmt: skip
def test_empty_operands(formula: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    check(vx.einsum(formula, *map(vx.asarray, arrays)), np.einsum(formula, *arrays))


def test_lists_of_labels() -> None:
    a, b = values_of("ij,jk", vx.int32)
    x, y = vx.asarray(a), vx.asarray(b)
    check(vx.einsum(x, [0, 1], y, [1, 2]), a @ b)
    check(vx.einsum(x, [0, 1], y, [1, 2], [2, 0]), (a @ b).T)
    check(vx.einsum(x, (7, 2)), np.einsum(a, [7, 2]))
    check(vx.einsum(x, [..., 0], [0, ...]), np.einsum(a, [..., 0], [0, ...]))
    check(vx.einsum(x, [0, 51], []), np.sum(a))


def test_one_operand_is_a_view() -> None:
    x = vx.zeros((3, 3))
    vx.einsum("ii->i", x)[...] = 1
    vx.einsum("ij->ji", x)[0, 2] = 5
    assert x.tolist() == [[1, 0, 0], [0, 1, 0], [5, 0, 1]]
    assert vx.einsum("...", x, optimize=False)._buffer is x._buffer


@pytest.mark.parametrize("dtype", supported([vx.float16, vx.float32, vx.float64, vx.complex64]), ids=str)
@pytest.mark.parametrize(
    ("formula", "shapes", "terms"),
    [("ij,jk->ik", [(150, 400), (400, 170)], 400), ("bij,bkj->bik", [(9, 40, 50), (9, 60, 50)], 50),
     ("abc,cd,be->ade", [(8, 9, 200), (200, 30), (9, 20)], 1800), ("ij,ij->", [(1000, 1000)] * 2, 10**6),
     ("i,ij,j->", [(700,), (700, 900), (900,)], 630_000), ("ijk->k", [(60, 50, 70)], 3000)],
)  # fmt: skip
def test_large_operands(formula: str, shapes: list[tuple[int, ...]], terms: int, dtype) -> None:
    generator = np.random.default_rng(4)
    arrays = [generator.standard_normal(shape).astype(host_dtype(dtype)) for shape in shapes]
    if dtype.category == "complex floating":
        arrays = [(array + 1j * generator.standard_normal(array.shape)).astype(array.dtype) for array in arrays]
    got = np.asarray(vx.einsum(formula, *map(vx.asarray, arrays)))
    wide = [array.astype(np.complex128 if got.dtype.kind == "c" else np.float64) for array in arrays]
    exact = np.einsum(formula, *wide, optimize=True)
    size = np.einsum(formula, *map(np.abs, wide), optimize=True)
    # The bound of Higham and Mary (SIAM Journal on Scientific Computing 41, 2019) for sums of n terms in any order, which
    # fails with a probability of 2 exp(-4**2 / 2) for independent rounding errors: 4 sqrt(n) u; products round on their own.
    unit = vx.finfo(dtype).eps / 2
    sums = np.finfo(np.float32).eps / 2 if dtype is vx.float16 else unit
    bound = (4 * np.sqrt(terms) * sums + len(shapes) * unit) * size
    if dtype is vx.float16:
        assert np.all(np.abs(got[np.isfinite(got)] - exact[np.isfinite(got)]) <= bound[np.isfinite(got)])
        assert np.all(np.abs(exact[~np.isfinite(got)]) > 6e4)
    else:
        assert np.all(np.abs(got - exact) <= bound)


def test_order_of_products_keeps_operands_small() -> None:
    # From the left this would make an array of 2000 * 2000 * 50 elements.
    a, b, c = (np.ones(shape, np.float32) for shape in ((2000, 1), (1, 2000), (2000, 50)))
    device = vx.asarray(0).device
    before = vx.einsum("ij,jk,kl->il", vx.asarray(a), vx.asarray(b), vx.asarray(c))
    assert np.all(np.asarray(before) == 2000)
    assert device is before.device
    chain = [np.full(shape, 0.5, np.float32) for shape in ((2, 800), (800, 800), (800, 3))]
    np.testing.assert_array_equal(np.asarray(vx.einsum("ab,bc,cd", *map(vx.asarray, chain))), 0.125 * 800**2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: vx.einsum(), ValueError,
         "einsum: expected a formula such as 'ij,jk->ik' and arrays, got nothing."),
        (lambda x: vx.einsum("ij"), ValueError, "einsum: expected at least one array after the formula."),
        (lambda x: vx.einsum("ij,jk", x), ValueError, "einsum: the formula 'ij,jk' is for 2 operands, got 1."),
        (lambda x: vx.einsum("ijk", x), ValueError,
         "einsum: the labels 'ijk' of 'ijk' do not fit an operand of shape (2, 3)."),
        (lambda x: vx.einsum("i", x), ValueError,
         "einsum: the labels 'i' of 'i' do not fit an operand of shape (2, 3)."),
        (lambda x: vx.einsum("i1", x), ValueError,
         "einsum: expected letters, one '...' and one '->' in the formula, got 'i1'."),
        (lambda x: vx.einsum("i..j", x), ValueError,
         "einsum: expected letters, one '...' and one '->' in the formula, got 'i..j'."),
        (lambda x: vx.einsum("ij->ik", x), ValueError, "einsum: the result of 'ij->ik' has 'k', which no operand has."),
        (lambda x: vx.einsum("ij->ii", x), ValueError, "einsum: the result of 'ij->ii' has a label twice."),
        (lambda x: vx.einsum("...j->j", x), ValueError,
         "einsum: the result of '...j->j' lacks the '...' of its operands. Sum over it first."),
        (lambda x: vx.einsum("ii", x), ValueError,
         "einsum: the dimensions of label 'i' in one operand have lengths 2 and 3."),
        (lambda x: vx.einsum("ij,ij", x, x.T), ValueError, "einsum: the dimensions of label 'i' have lengths 2 and 3."),
        (lambda x: vx.einsum(x, [0, 52]), ValueError, "einsum: expected labels from 0 to 51 or ..., got [0, 52]."),
        (lambda x: vx.einsum(x, [0, None]), TypeError, "einsum: expected labels from 0 to 51 or ..., got [0, None]."),
        (lambda x: vx.einsum(x, x), TypeError, None),
        (lambda x: vx.einsum("ij", np.ones((2, 3))), TypeError, None),
    ],
)  # fmt: skip
def test_errors(call, error, message: str | None) -> None:
    with pytest.raises(error) as found:
        call(vx.zeros((2, 3)))
    if message is not None:
        assert str(found.value) == message
