"""The distributions and names of `numpy.random`: against SciPy's distribution functions, and the same bits everywhere.

The seeds are fixed, so no test fails by chance; the bounds are quantiles that a good generator exceeds less than once in a
thousand seeds, five standard errors of moments far less.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import pickle
from typing import Any

import numpy as np
import pytest
from reference import supported
from scipy import stats
from test_random_distributions import chi_square_excess, kolmogorov_smirnov

import vkarray as vx
from vkarray.ops.beyond.random import kernels

FLOATING = supported([vx.float32, vx.float64])
DOUBLE = vx.float64 in FLOATING
COUNT = 20_000

# What is called with which arguments, and the distribution that it should have.
CONTINUOUS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("uniform", (-2, 3), stats.uniform(-2, 5)), ("normal", (1, 3), stats.norm(1, 3)),
    ("exponential", (2,), stats.expon(scale=2)), ("lognormal", (0.3, 0.8), stats.lognorm(0.8, scale=math.exp(0.3))),
    ("laplace", (1, 2), stats.laplace(1, 2)), ("logistic", (1, 2), stats.logistic(1, 2)),
    ("gumbel", (1, 2), stats.gumbel_r(1, 2)), ("standard_cauchy", (), stats.cauchy()),
    ("rayleigh", (2,), stats.rayleigh(scale=2)), ("weibull", (0.7,), stats.weibull_min(0.7)),
    ("pareto", (3,), stats.lomax(3)), ("power", (0.5,), stats.powerlaw(0.5)), ("power", (4,), stats.powerlaw(4)),
    ("triangular", (-1, 0, 3), stats.triang(0.25, -1, 4)), ("triangular", (0, 2, 2), stats.triang(1, 0, 2)),
    ("standard_gamma", (0.3,), stats.gamma(0.3)), ("gamma", (2.5, 3), stats.gamma(2.5, scale=3)),
    ("chisquare", (3,), stats.chi2(3)), ("noncentral_chisquare", (0.5, 2), stats.ncx2(0.5, 2)),
    ("noncentral_chisquare", (3, 4), stats.ncx2(3, 4)), ("noncentral_chisquare", (3, 0), stats.chi2(3)),
    ("f", (3, 9), stats.f(3, 9)), ("noncentral_f", (3, 9, 2), stats.ncf(3, 9, 2)), ("standard_t", (5,), stats.t(5)),
    ("beta", (0.3, 0.6), stats.beta(0.3, 0.6)), ("beta", (5, 2), stats.beta(5, 2)), ("beta", (0.5, 30), stats.beta(0.5, 30)),
    ("vonmises", (0, 1e-9), stats.uniform(-math.pi, 2 * math.pi)), ("vonmises", (0, 0.7), stats.vonmises(0.7)),
    ("vonmises", (0, 40), stats.vonmises(40)), ("vonmises", (0, 2e6), stats.norm(0, 2e6**-0.5)),
    ("wald", (2, 3), stats.invgauss(2 / 3, scale=3)), ("wald", (9, 0.5), stats.invgauss(18, scale=0.5)),
]  # fmt: skip
DISCRETE: list[tuple[str, tuple[Any, ...], Any]] = [
    ("binomial", (20, 0.3), stats.binom(20, 0.3)), ("binomial", (5000, 0.4), stats.binom(5000, 0.4)),
    ("binomial", (10, 0.9), stats.binom(10, 0.9)), ("poisson", (3.5,), stats.poisson(3.5)),
    ("poisson", (70,), stats.poisson(70)), ("negative_binomial", (3.5, 0.2), stats.nbinom(3.5, 0.2)),
    ("negative_binomial", (2, 0.9), stats.nbinom(2, 0.9)), ("geometric", (0.2,), stats.geom(0.2)),
    ("geometric", (0.003,), stats.geom(0.003)),
    ("hypergeometric", (12, 30, 9), stats.hypergeom(42, 12, 9)), ("hypergeometric", (30, 12, 38), stats.hypergeom(42, 30, 38)),
    ("hypergeometric", (400, 300, 200), stats.hypergeom(700, 400, 200)),
    ("hypergeometric", (20, 900, 600), stats.hypergeom(920, 20, 600)), ("logseries", (0.9,), stats.logser(0.9)),
    ("logseries", (0.3,), stats.logser(0.3)), ("zipf", (1.7,), stats.zipf(1.7)), ("zipf", (4,), stats.zipf(4)),
    ("integers", (-3, 9), stats.randint(-3, 9)),
]  # fmt: skip
EVERY = [*CONTINUOUS, *DISCRETE]


def named(case: tuple[str, tuple[Any, ...], Any]) -> str:
    return f"{case[0]} {' '.join(map(str, case[1]))}"


def check_moments(values: np.ndarray, distribution: Any) -> None:
    """Mean and variance within five standard errors, where they and those errors are finite."""
    mean, variance, _, kurtosis = (float(one) for one in distribution.stats("mvsk"))
    if math.isfinite(variance):
        assert abs(values.mean() - mean) <= 5 * math.sqrt(variance / values.size)
        if math.isfinite(kurtosis):
            assert abs(np.mean((values - mean) ** 2) - variance) <= 5 * variance * math.sqrt(
                (kurtosis + 2) / values.size
            )


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("case", CONTINUOUS, ids=named)
def test_continuous_distributions(case: tuple[str, tuple[Any, ...], Any], dtype) -> None:
    name, arguments, distribution = case
    drawn = getattr(vx.random.default_rng(31), name)(*arguments, COUNT, dtype=dtype)
    assert drawn.dtype is dtype
    assert drawn.shape == (COUNT,)
    values = np.asarray(drawn).astype(np.float64)
    assert kolmogorov_smirnov(values, distribution.cdf(values)) < 1.95
    if name != "vonmises":  # SciPy integrates the moments, for a second each
        check_moments(values, distribution)


@pytest.mark.parametrize("case", DISCRETE, ids=named)
def test_discrete_distributions(case: tuple[str, tuple[Any, ...], Any]) -> None:
    name, arguments, distribution = case
    drawn = getattr(vx.random.default_rng(32), name)(*arguments, COUNT)
    assert drawn.dtype is vx.asarray(0).dtype
    values = np.asarray(drawn)
    # Classes of ten values or more on average; what lies beyond them is one more.
    places = np.arange(int(distribution.support()[0]), 6000)
    cumulative = np.cumsum(distribution.pmf(places))
    edges = [0]
    for place, total in enumerate(cumulative):
        if COUNT * (total - cumulative[edges[-1]]) >= 10 and COUNT * (1 - total) >= 10:
            edges.append(place)
    classes = np.diff([0.0, *cumulative[edges], 1.0]) * COUNT
    counts = np.histogram(values, [-np.inf, *(places[edges] + 0.5), np.inf])[0]
    assert np.all(counts[classes == 0] == 0)
    kept = classes > 1
    if kept.sum() > 1:
        assert chi_square_excess(counts[kept], classes[kept]) < 4
    check_moments(values.astype(np.float64), distribution)


@pytest.mark.parametrize("case", EVERY, ids=named)
def test_sizes_and_streams(case: tuple[str, tuple[Any, ...], Any]) -> None:
    name, arguments, _ = case

    def draw(generator, size):
        return getattr(generator, name)(*arguments, size=size)

    assert draw(vx.random.default_rng(1), None).shape == ()
    assert draw(vx.random.default_rng(1), (2, 0, 3)).shape == (2, 0, 3)
    whole = np.asarray(draw(vx.random.default_rng(33), (7, 3))).reshape(-1)
    generator = vx.random.default_rng(33)
    parts = np.concatenate([np.asarray(draw(generator, size)) for size in (1, 5, 0, 15)])
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("case", [case for case in EVERY if case[1] and case[0] != "integers"], ids=named)
def test_parameters_broadcast(case: tuple[str, tuple[Any, ...], Any]) -> None:
    name, arguments, _ = case
    expected = np.asarray(getattr(vx.random.default_rng(34), name)(*arguments, size=(2, 3)))
    forms = [
        [[[value] * 3, [value] * 3] for value in arguments],
        [np.full((3,), value, np.float32) for value in arguments],
        [vx.full((2, 1), value, dtype=vx.float32) for value in arguments],
        [vx.full((2, 3), arguments[0], dtype=vx.float32), *arguments[1:]],
    ]
    if all(isinstance(value, int) for value in arguments):
        forms.append([vx.full((3,), value) for value in arguments])
    for form in forms:
        got = np.asarray(getattr(vx.random.default_rng(34), name)(*form, size=(2, 3)))
        tolerance = 1e-5 if got.dtype.kind == "f" else 0  # lists are as exact as the type, the arrays float32
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=0)
    assert getattr(vx.random.default_rng(1), name)(*forms[0]).shape == (2, 3)


# SHA-256 of the first 2000 numbers of seed 2026: the same on every device that has the types.
RECORDED: dict[str, str] = {
    "uniform -2 3": "ca39d4a745c9d292", "normal 1 3": "7e75728db090d81f", "exponential 2": "12cd3cebf323250e",
    "lognormal 0.3 0.8": "5ae6a43d13bc2cff", "laplace 1 2": "39dddb8a00bff7e9", "logistic 1 2": "b66162bbb910831e",
    "gumbel 1 2": "3f486794dc6cb98a", "standard_cauchy ": "5d8fd80dbe95e085", "rayleigh 2": "a602aee3cac8820a",
    "weibull 0.7": "f964900f9ba79d9e", "pareto 3": "9667d434813f0127", "power 0.5": "9f5737284024b2ff",
    "power 4": "3d0301df1aa40c2b", "triangular -1 0 3": "d87e39d50da4cb06", "triangular 0 2 2": "5e875028fcda7cb9",
    "standard_gamma 0.3": "32d184bcd6a86688", "gamma 2.5 3": "e76d962d24500d86", "chisquare 3": "b490df1183c6074d",
    "noncentral_chisquare 0.5 2": "ddbdcc5ac96e867a", "noncentral_chisquare 3 4": "e141472a57604e96",
    "noncentral_chisquare 3 0": "ed78b81010c4a638", "f 3 9": "ba89816445a6e42d",
    "noncentral_f 3 9 2": "18851048ead09459", "standard_t 5": "0d2f71c4d43bb0f2", "beta 0.3 0.6": "552cec3b1b8531db",
    "beta 5 2": "2c5b37a8d805f198", "beta 0.5 30": "41aa301a2ba740b7", "vonmises 0 1e-09": "e8b36b39fe34aee1",
    "vonmises 0 0.7": "eb73dd43b948b06f", "vonmises 0 40": "45b58b32645c8306",
    "vonmises 0 2000000.0": "c2573213a14ef6be", "wald 2 3": "4478cbba9301c22d", "wald 9 0.5": "f7b1334f879b5672",
    "binomial 20 0.3": "df76feb9b8ac6efe", "binomial 5000 0.4": "4d4d2fc0034c62a8",
    "binomial 10 0.9": "a9ac56f348aef975", "poisson 3.5": "d0de06cb6a25d803", "poisson 70": "b048ed044260a7df",
    "negative_binomial 3.5 0.2": "74472f6419d1c3e1", "negative_binomial 2 0.9": "7dbf671bc3f50578",
    "geometric 0.2": "05f08af92a19943f", "geometric 0.003": "a940dfaee68a6f2e",
    "hypergeometric 12 30 9": "d92532f0b91d14e9", "hypergeometric 30 12 38": "7a2b775a56fdaf47",
    "hypergeometric 400 300 200": "a9ab1b02928428fd", "hypergeometric 20 900 600": "4ff8079c83dd9c2f",
    "logseries 0.9": "7265dd10fc3ae021", "logseries 0.3": "07b8565a0b5f7b46", "zipf 1.7": "254631c116dab1dc",
    "zipf 4": "26a8843fc14abf86", "integers -3 9": "628126a55bec9edd",
}  # fmt: skip


@pytest.mark.parametrize("case", EVERY, ids=named)
def test_recorded_bits(case: tuple[str, tuple[Any, ...], Any]) -> None:
    name, arguments, _ = case
    options = {"dtype": vx.float32} if case in CONTINUOUS else {}
    drawn = np.asarray(getattr(vx.random.default_rng(2026), name)(*arguments, 2000, **options))
    if drawn.dtype.kind == "i" and not DOUBLE:
        pytest.skip("counts are drawn in float32 where the device lacks shaderFloat64")
    drawn = drawn.astype(np.int64) if drawn.dtype.kind == "i" else drawn
    assert hashlib.sha256(drawn.tobytes()).hexdigest()[:16] == RECORDED[named(case)]


def test_dispatches_of_parts_are_one_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 2**28 numbers come from several dispatches; here with a small limit in its place."""
    means, bounds = vx.linspace(0, 50, 3000), vx.arange(1, 3001)
    calls = [
        lambda generator: generator.poisson(means), lambda generator: generator.gamma(2.0, size=3000),
        lambda generator: generator.integers(bounds), lambda generator: generator.laplace(size=3000),
        lambda generator: generator.integers(bounds.astype("int32"), 3001, dtype="int32"),
        lambda generator: generator.multinomial(bounds, [0.2, 0.3, 0.5]),
        lambda generator: generator.multinomial(9, vx.broadcast_to(vx.asarray([0.2, 0.8]), (3000, 2))),
    ]  # fmt: skip
    wholes = [call(vx.random.default_rng(35)).tolist() for call in calls]
    monkeypatch.setattr(kernels.layout, "INDEX_LIMIT", 701)
    assert [call(vx.random.default_rng(35)).tolist() for call in calls] == wholes


# -- limits ---------------------------------------------------------------------------------------------------------


def test_limits_of_parameters() -> None:
    generator = vx.random.default_rng(1)
    zeros = {
        "standard_gamma": (0,), "weibull": (0,), "poisson": (0,), "normal": (0, 0), "exponential": (0,), "gamma": (2, 0),
        "binomial": (0, 0.5), "hypergeometric": (0, 5, 3), "lognormal": (-math.inf, 0), "negative_binomial": (3, 1),
    }  # fmt: skip
    for name, arguments in zeros.items():
        assert getattr(generator, name)(*arguments, 3).tolist() == [0, 0, 0], name
    assert generator.binomial(7, [1, 1.0]).tolist() == [7, 7]
    assert generator.hypergeometric(5, 0, 3, 2).tolist() == [3, 3]
    assert generator.hypergeometric(5, 9, 14, 2).tolist() == [5, 5]
    for name, value in (("logseries", 0), ("zipf", 2000), ("geometric", 1)):
        assert getattr(generator, name)(value, 3).tolist() == [1, 1, 1], name
    assert np.all(np.isnan(np.asarray(generator.normal(math.nan, 1, 3))))
    small = np.asarray(generator.beta(1e-4, 1e-4, 1000))
    assert np.all((small >= 0) & (small <= 1))
    assert 400 < np.sum(small > 0.5) < 600
    angles = np.asarray(generator.vonmises([3, -3, 10], 1.0, (1000, 3)))
    assert np.all(np.abs(angles) <= np.float32(math.pi))
    turned = np.asarray(vx.random.default_rng(5).vonmises(2.5, 3, 5000)).astype(np.float64)
    straight = np.asarray(vx.random.default_rng(5).vonmises(0, 3, 5000)).astype(np.float64)
    np.testing.assert_allclose(np.exp(1j * turned), np.exp(1j * (straight + 2.5)), atol=1e-5)


@pytest.mark.skipif(not DOUBLE, reason="counts are drawn in float32 where the device lacks shaderFloat64")
def test_large_counts() -> None:
    generator = vx.random.default_rng(2)
    for name, arguments, mean, deviation in (
        ("poisson", (1e12,), 1e12, 1e6), ("binomial", (10**14, 0.25), 2.5e13, math.sqrt(10**14 * 0.1875)),
        ("hypergeometric", (10**9, 3 * 10**9, 10**8), 2.5e7, math.sqrt(1e8 * 0.25 * 0.75 * (1 - 1e8 / 4e9))),
    ):  # fmt: skip
        values = (np.asarray(getattr(generator, name)(*arguments, COUNT)).astype(np.float64) - mean) / deviation
        assert kolmogorov_smirnov(values, stats.norm.cdf(values)) < 1.95, name
    assert (np.asarray(generator.zipf(1.05, 1000)) >= 1).all()


# What NumPy refuses, with its type of error.
WRONG = [
    *((name, (-1, *rest)) for name, rest in {
        "exponential": (), "rayleigh": (), "weibull": (), "pareto": (), "power": (), "standard_gamma": (), "chisquare": (),
        "standard_t": (), "poisson": (), "geometric": (), "zipf": (), "logseries": (), "beta": (1,), "f": (1,), "gamma": (1,),
        "wald": (1,), "binomial": (0.5,), "negative_binomial": (0.5,), "hypergeometric": (1, 0), "noncentral_chisquare": (1,),
        "noncentral_f": (1, 1),
    }.items()),
    *((name, (0, -1)) for name in ("normal", "laplace", "logistic", "gumbel", "lognormal", "vonmises")),
    *((name, (0,)) for name in ("pareto", "power", "chisquare", "standard_t", "geometric")),
    ("binomial", (3, 1.5)), ("binomial", (3, math.nan)), ("geometric", (1.5,)), ("logseries", (1,)), ("zipf", (1,)),
    ("zipf", (math.nan,)), ("hypergeometric", (2, 3, 6)), ("triangular", (0, 2, 1)), ("triangular", (1, 0, 2)),
    ("triangular", (1, 1, 1)), ("beta", (1, 0)), ("noncentral_f", (1, 1, -1)), ("wald", (1, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), WRONG, ids=str)
def test_wrong_parameters(name: str, arguments: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"<|>|\||=|are|not|small"):  # as NumPy, whose words differ
        getattr(np.random.default_rng(0), name)(*arguments)
    generator = vx.random.default_rng(0)
    for form in (lambda value: value, lambda value: [value] * 2, lambda value: np.full(2, value)):
        with pytest.raises(ValueError, match=f"^{name}: expected .* got "):
            getattr(generator, name)(*map(form, arguments))
    with pytest.raises(ValueError, match=f"^{name}: expected "):  # the device finds it
        np.asarray(getattr(generator, name)(*(vx.full((2,), value, dtype=vx.float32) for value in arguments)))


def test_the_order_of_bounds() -> None:
    assert -2 < vx.random.RandomState(1).uniform(1, -2).item() <= 1
    assert vx.random.uniform([3, 1], 1).shape == (2,)
    for high in (1, [3, 1], vx.asarray([3.0, 1.0])):
        with pytest.raises(ValueError, match="expected low of at most high"):
            vx.random.default_rng(1).uniform(2, high).tolist()


def test_angles_of_what_is_no_number() -> None:
    draws = vx.random.default_rng(1)
    for mu, kappa in ((0, math.nan), (math.nan, 1), (math.inf, 1), (vx.asarray([0.0, 1.0]), math.nan)):
        assert np.isnan(np.asarray(draws.vonmises(mu, kappa))).all()


def test_parameters_of_other_kinds() -> None:
    generator = vx.random.default_rng(0)
    for wrong in ("a", None, 1j, ["a"], [1j], vx.asarray([1j])):
        with pytest.raises(TypeError):
            generator.gamma(wrong)
    with pytest.raises(ValueError, match="does not broadcast"):
        generator.beta(vx.ones((2, 3)), 1.0, 3)


# -- generators and the module --------------------------------------------------------------------------------------


def methods(owner: Any) -> set[str]:
    return {name for name in dir(owner) if not name.startswith("_")}


def test_all_of_numpys_names_are_here() -> None:
    assert methods(np.random.Generator) <= methods(vx.random.Generator)
    deprecated = {"random_integers"}
    assert methods(np.random.RandomState) - deprecated <= methods(vx.random.RandomState)
    own = {"mtrand", "bit_generator", "test", "get_bit_generator", "set_bit_generator"}
    assert methods(np.random) - deprecated - own <= {*vx.random.__all__}
    for name in methods(np.random.Generator):  # the same parameters in the same order
        theirs = getattr(np.random.Generator, name)
        listed = (theirs.__doc__ or "").strip().partition("(")[2].partition(")\n")[0] if callable(theirs) else ""
        wanted = [one.partition("=")[0].strip() for one in listed.split(",") if one.strip() not in ("", "*", ".")]
        found = getattr(vx.random.Generator, name)
        code = getattr(inspect.unwrap(found), "__code__", None)
        if code is not None and listed:
            ours = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
            assert list(ours[: len(wanted)]) == wanted, name


def test_default_rng() -> None:
    generator = vx.random.default_rng(5)
    assert vx.random.default_rng(generator) is generator
    expected = vx.random.default_rng(5).random(4).tolist()
    sequence = vx.random.SeedSequence(5)
    assert isinstance(sequence, np.random.SeedSequence)
    makers = [
        vx.random.Generator(vx.random.Philox(5)), vx.random.Generator(vx.random.PCG64(5)), vx.random.default_rng(sequence),
        vx.random.default_rng(vx.random.MT19937(sequence)), vx.random.default_rng(vx.random.RandomState(5)),
        vx.random.default_rng(np.random.SeedSequence(5)),
    ]  # fmt: skip
    for one in makers:
        assert type(one) is vx.random.Generator
        assert one.random(4).tolist() == expected
    children = [vx.random.default_rng(child).random(4).tolist() for child in sequence.spawn(2)]
    assert children == [child.random(4).tolist() for child in generator.spawn(2)]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        vx.random.nothing  # noqa: B018


def test_bit_generators() -> None:
    generator = vx.random.default_rng(6)
    stream = generator.bit_generator
    assert isinstance(stream, vx.random.BitGenerator)
    state = stream.state
    first = generator.gamma(2, size=3).tolist()
    assert stream.state != state
    stream.state = state
    assert generator.gamma(2, size=3).tolist() == first
    copied = pickle.loads(pickle.dumps(stream))
    assert copied.state == stream.state
    assert vx.random.Generator(copied).random(3).tolist() == generator.random(3).tolist()
    assert [child.state for child in vx.random.Philox(6).spawn(2)] == [
        child.state for child in vx.random.default_rng(6).spawn(2)
    ]
    whole = vx.random.default_rng(7).random(9).tolist()
    assert vx.random.Generator(vx.random.Philox(7).advance(4)).random(5).tolist() == whole[4:]
    assert "Philox" in repr(stream)
    assert generator.bytes(5) != generator.bytes(5)
    assert len(generator.bytes(5)) == 5


def test_the_older_functions() -> None:
    vx.random.seed(61)
    older, newer = vx.random.RandomState(61), vx.random.default_rng(61)
    state = vx.random.get_state()
    for name, arguments, same, others in (
        ("rand", (2, 3), "random", ((2, 3),)), ("rand", (), "random", ()), ("randn", (4,), "standard_normal", (4,)),
        ("random_sample", (5,), "random", (5,)), ("randint", (9, None, 4), "integers", (9, None, 4)),
        ("randint", (3, 7, (2, 2), "int8"), "integers", (3, 7, (2, 2), "int8")), ("poisson", (4.0, 6), "poisson", (4.0, 6)),
        ("normal", (1, 2, 3), "normal", (1, 2, 3)), ("choice", (9, 4), "choice", (9, 4)),
    ):  # fmt: skip
        expected = getattr(newer, same)(*others)
        for owner in (vx.random, older):
            got = getattr(owner, name)(*arguments)
            assert got.tolist() == expected.tolist(), name
            assert got.dtype is expected.dtype
    assert vx.random.ranf(3).tolist() == newer.random(3).tolist()
    assert vx.random.sample(3).tolist() == newer.random(3).tolist()
    vx.random.set_state(state)
    assert vx.random.rand(2, 3).tolist() == vx.random.RandomState(61).rand(2, 3).tolist()
    older.seed(62)
    assert older.tomaxint(4).tolist() == vx.random.RandomState(62).tomaxint(4).tolist()
    assert (older.tomaxint((100,)) >= 0).all()
    older.set_state(older.get_state(legacy=False))
    vx.random.seed()


@pytest.mark.skipif(not DOUBLE, reason="the device lacks shaderFloat64")
def test_the_default_floating_type() -> None:
    generator = vx.random.default_rng(63)
    calls = [("random", ()), ("normal", ()), ("gamma", (2,)), ("laplace", ()), ("dirichlet", ([1, 2],)), ("standard_gamma", (2,)),
             ("uniform", ([0, 1], 2)), ("multivariate_normal", ([0], [[1]]))]  # fmt: skip
    with vx.config(default_float="float64"):
        for name, arguments in calls:
            assert getattr(generator, name)(*arguments).dtype is vx.float64, name
            assert vx.random.rand(2).dtype is vx.float64
    for name, arguments in calls:
        assert getattr(generator, name)(*arguments).dtype is vx.float32, name
        assert getattr(generator, name)(*arguments, dtype=np.float64).dtype is vx.float64, name
