"""Whole programs of 5 to 200 operations, each written once for the functions of a library, which compiles them where it can."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..libraries import Library
from .work import Check, Goal, Sizes, Values, Work, blocks

# -- elementwise --------------------------------------------------------------------------------------------------------


def _additions(count: int) -> Callable[..., Any]:
    def run(xp: Any, x: Any, y: Any) -> Any:
        for _ in range(count):
            x = x + y
        return x

    return run


def _polynomial(xp: Any, x: Any) -> Any:
    value = x * (1 / math.factorial(20)) + 1 / math.factorial(19)
    for power in range(18, -1, -1):
        value = value * x + 1 / math.factorial(power)
    return value


def _gelu(xp: Any, x: Any) -> Any:
    return 0.5 * x * (1.0 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def _swiglu(xp: Any, gate: Any, x: Any) -> Any:
    return gate / (1.0 + xp.exp(-gate)) * x


def _normal_distribution(xp: Any, d: Any) -> Any:
    """Abramowitz and Stegun, 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * xp.abs(d))
    terms = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804 * xp.exp(-0.5 * d * d) * terms
    return xp.where(d > 0.0, 1.0 - tail, tail)


def _black_scholes(xp: Any, price: Any, strike: Any, years: Any) -> tuple[Any, Any]:
    rate, volatility = 0.02, 0.3
    deviation = volatility * xp.sqrt(years)
    d1 = (xp.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation
    likely, later = _normal_distribution(xp, d1), _normal_distribution(xp, d1 - deviation)
    paid = strike * xp.exp(-rate * years)
    return price * likely - paid * later, paid * (1.0 - later) - price * (1.0 - likely)


def _haversine(xp: Any, latitude: Any, longitude: Any, other_latitude: Any, other_longitude: Any) -> Any:
    across = xp.sin(0.5 * (other_latitude - latitude))
    along = xp.sin(0.5 * (other_longitude - longitude))
    chord = across * across + xp.cos(latitude) * xp.cos(other_latitude) * along * along
    return 2.0 * 6371.0 * xp.asin(xp.sqrt(chord))


def _focal_loss(xp: Any, x: Any, target: Any) -> Any:
    probability = 1.0 / (1.0 + xp.exp(-x))
    entropy = xp.where(x > 0.0, x, 0.0) - x * target + xp.log1p(xp.exp(-xp.abs(x)))
    missed = 1.0 - (probability * target + (1.0 - probability) * (1.0 - target))
    return (0.25 * target + 0.75 * (1.0 - target)) * missed * missed * entropy


def _adam(xp: Any, weight: Any, gradient: Any, mean: Any, square: Any) -> tuple[Any, Any, Any]:
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.999 * square + 0.001 * gradient * gradient
    step = (mean / 0.19) / (xp.sqrt(square / 0.002) + 1e-8)
    return weight - 0.001 * (step + 0.01 * weight), mean, square


def _lorenz(xp: Any, x: Any, y: Any, z: Any) -> tuple[Any, ...]:
    """A step of Runge and Kutta's method."""

    def rates(x: Any, y: Any, z: Any) -> tuple[Any, ...]:
        return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 2.6666667 * z

    def moved(by: tuple[Any, ...], share: float) -> tuple[Any, ...]:
        return tuple(place + share * rate for place, rate in zip((x, y, z), by))  # noqa: B905

    step = 0.01
    first = rates(x, y, z)
    second = rates(*moved(first, step / 2))
    third = rates(*moved(second, step / 2))
    fourth = rates(*moved(third, step))
    total = tuple(a + 2.0 * b + 2.0 * c + d for a, b, c, d in zip(first, second, third, fourth))  # noqa: B905
    return moved(total, step / 6)


def _mandelbrot(xp: Any, c: Any) -> Any:
    z = c = 3.0 * c - 0.5
    count = xp.real(c) * 0.0
    for _ in range(16):
        real, imaginary = xp.real(z), xp.imag(z)
        inside = real * real + imaginary * imaginary < 4.0
        count = xp.where(inside, count + 1.0, count)
        z = xp.where(inside, z * z + c, z)
    return count


def _bright(xp: Any, colours: Any) -> Any:
    linear = xp.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    grey = 0.2126 * linear[:, 0] + 0.7152 * linear[:, 1] + 0.0722 * linear[:, 2]
    mapped = grey * (1.0 + grey / 4.0) / (1.0 + grey)
    return xp.where(mapped <= 0.0031308, mapped * 12.92, 1.055 * mapped ** (1 / 2.4) - 0.055)


def _xorshift(xp: Any, x: Any) -> Any:
    for _ in range(4):
        x = x ^ (x << 13)
        x = x ^ ((x >> 17) & 0x7FFF)
        x = x ^ (x << 5)
    return x


# -- neighbours ---------------------------------------------------------------------------------------------------------


def _moving_average(xp: Any, x: Any) -> Any:
    last = x.shape[0] - 7
    total = x[:last]
    for first in range(1, 8):
        total = total + x[first : last + first]
    return total / 8.0


def _heat(xp: Any, u: Any) -> Any:
    inner = u[1:-1, 1:-1]
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return xp.put(xp.copy(u), (slice(1, -1), slice(1, -1)), inner + 0.2 * (around - 4.0 * inner))


def _wave(xp: Any, u: Any, before: Any) -> Any:
    inner = u[1:-1, 1:-1]
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return 0.999 * (2.0 * inner - before[1:-1, 1:-1] + 0.25 * (around - 4.0 * inner))


def _gray_scott(xp: Any, u: Any, v: Any) -> tuple[Any, Any]:
    def spread(x: Any) -> Any:
        across = xp.roll(x, 1, axis=0) + xp.roll(x, -1, axis=0)
        return across + xp.roll(x, 1, axis=1) + xp.roll(x, -1, axis=1) - 4.0 * x

    reaction = u * v * v
    return u + 0.16 * spread(u) - reaction + 0.035 * (1.0 - u), v + 0.08 * spread(v) + reaction - 0.1 * v


def _sharpened(xp: Any, image: Any) -> Any:
    inner = image[1:-1, 1:-1]
    blurred = (inner + image[2:, 1:-1] + image[:-2, 1:-1] + image[1:-1, 2:] + image[1:-1, :-2]) / 5.0
    sharp = inner + 1.5 * (inner - blurred)
    return xp.where(sharp < 0.0, 0.0, xp.where(sharp > 1.0, 1.0, sharp))


def _n_body(xp: Any, places: Any, masses: Any) -> Any:
    apart = places[None, :, :] - places[:, None, :]
    squared = xp.sum(apart * apart, axis=2) + 0.01
    return xp.sum(apart * (masses / (squared * xp.sqrt(squared)))[:, :, None], axis=1)


# -- rows ---------------------------------------------------------------------------------------------------------------


def _softmax(xp: Any, x: Any) -> Any:
    powers = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


def _logsumexp(xp: Any, x: Any) -> Any:
    largest = xp.max(x, axis=1, keepdims=True)
    return largest + xp.log(xp.sum(xp.exp(x - largest), axis=1, keepdims=True))


def _log_softmax(xp: Any, x: Any) -> Any:
    return x - _logsumexp(xp, x)


def _cross_entropy(xp: Any, x: Any, labels: Any) -> Any:
    return xp.mean(_logsumexp(xp, x) - xp.take_along_axis(x, labels, axis=1))


def _layer_norm(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    centred = x - xp.mean(x, axis=1, keepdims=True)
    variance = xp.mean(centred * centred, axis=1, keepdims=True)
    return centred / xp.sqrt(variance + 1e-5) * weight + bias


def _rms_norm(xp: Any, x: Any, weight: Any) -> Any:
    return x / xp.sqrt(xp.mean(x * x, axis=1, keepdims=True) + 1e-6) * weight


def _unit_rows(xp: Any, x: Any) -> Any:
    return x / (xp.sqrt(xp.sum(x * x, axis=1, keepdims=True)) + 1e-12)


def _variance(xp: Any, x: Any) -> Any:
    centred = x - xp.mean(x, axis=1, keepdims=True)
    return xp.sum(centred * centred, axis=1) / (x.shape[1] - 1)


def _standardised(xp: Any, x: Any) -> Any:
    centred = x - xp.mean(x, axis=0)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=0) + 1e-6)


def _rotated(xp: Any, x: Any, cosine: Any, sine: Any) -> Any:
    half = x.shape[1] // 2
    left, right = x[:, :half], x[:, half:]
    return xp.concat((left * cosine - right * sine, right * cosine + left * sine), axis=1)


# -- reductions and products --------------------------------------------------------------------------------------------


def _option(xp: Any, random: Any) -> Any:
    years, rate, volatility = 1.5, 0.02, 0.3
    drift = (rate - 0.5 * volatility * volatility) * years
    price = 100.0 * xp.exp(drift + volatility * math.sqrt(years) * random)
    gain = xp.where(price > 105.0, price - 105.0, 0.0)
    return math.exp(-rate * years) * xp.mean(gain)


def _correlation(xp: Any, x: Any, y: Any) -> Any:
    x, y = x - xp.mean(x), y - xp.mean(y)
    return xp.sum(x * y) / xp.sqrt(xp.sum(x * x) * xp.sum(y * y))


def _nearest(xp: Any, points: Any, centres: Any) -> tuple[Any, Any]:
    apart = points[:, None, :] - centres[None, :, :]
    squared = xp.sum(apart * apart, axis=2)
    return xp.argmin(squared, axis=1), xp.sqrt(xp.min(squared, axis=1))


def _logistic_step(xp: Any, x: Any, y: Any, weight: Any) -> Any:
    probability = 1.0 / (1.0 + xp.exp(-(x @ weight)))
    return weight - 0.1 * (x.T @ (probability - y) / x.shape[0] + 0.001 * weight)


def _attention(xp: Any, queries: Any, keys: Any, values: Any) -> Any:
    scores = queries @ xp.permute_dims(keys, (0, 2, 1)) / math.sqrt(queries.shape[2])
    return _softmax(xp, scores) @ values


# -- the table ----------------------------------------------------------------------------------------------------------


class Program(NamedTuple):
    """A program, the inputs for so many elements, and how near its results are to those of NumPy in float64."""

    name: str
    text: str
    function: Callable[..., Any]
    inputs: Callable[[int], tuple[Values, ...]]
    sliced: int = 0  # so many inputs, of which rows of the results need those rows alone
    relative: float = 1e-5
    absolute: float = 1e-5
    apart: float = 0.0  # the share of elements that may differ, where a rounding error decides


def _side(n: int) -> int:
    return 1 << (n.bit_length() - 1) // 2


def _vectors(count: int, kind: str = "uniform") -> Callable[[int], tuple[Values, ...]]:
    return lambda n: tuple(Values(kind, (n,), seed) for seed in range(count))


def _squares(count: int) -> Callable[[int], tuple[Values, ...]]:
    return lambda n: tuple(Values("uniform", (_side(n), _side(n)), seed) for seed in range(count))


def _rows(vectors: int = 0) -> Callable[[int], tuple[Values, ...]]:
    """A matrix whose rows have at most 4,096 elements, and vectors of a row."""

    def inputs(n: int) -> tuple[Values, ...]:
        columns = min(_side(n), 4096)
        others = (Values("positive", (columns,), seed) for seed in range(vectors))
        return Values("normal", (n // columns, columns)), *others

    return inputs


def _labelled(n: int) -> tuple[Values, ...]:
    (x,) = _rows()(n)
    return x, Values("integers", (x.shape[0], 1), 1, "int64", high=x.shape[1])


def _turned(n: int) -> tuple[Values, ...]:
    (x,) = _rows()(n)
    return x, *(Values("uniform", (x.shape[1] // 2,), seed) for seed in (1, 2))


def _bodies(n: int) -> tuple[Values, ...]:
    count = math.isqrt(n // 4)
    return Values("normal", (count, 3)), Values("positive", (count,))


def _clusters(n: int) -> tuple[Values, ...]:
    return Values("normal", (n // 128, 8)), Values("normal", (16, 8), 1)


def _samples(n: int) -> tuple[Values, ...]:
    return Values("normal", (n // 64, 64)), Values("uniform", (n // 64,), 1), Values("normal", (64,), 2)


def _heads(n: int) -> tuple[Values, ...]:
    length = min(1024, _side(n) // 4)
    return tuple(Values("normal", (n // length // length, length, 64), seed) for seed in range(3))


PROGRAMS = (
    Program("50 additions", "x + y + ... + y", _additions(50), _vectors(2), 2),
    Program("polynomial", "of degree 20, by Horner's rule", _polynomial, _vectors(1), 1),
    Program("gelu", "by tanh", _gelu, _vectors(1, "normal"), 1),
    Program("swiglu", "gate / (1 + exp(-gate)) * x", _swiglu, _vectors(2, "normal"), 2),
    Program("Black-Scholes", "calls and puts", _black_scholes, lambda n: _vectors(3, "positive")(n // 2), 3),
    Program("haversine", "distances on a sphere", _haversine, lambda n: _vectors(4)(n // 2), 4, 1e-4, 1e-2),
    Program("focal loss", "by the sigmoid", _focal_loss,
            lambda n: (Values("normal", (n,)), Values("uniform", (n,), 1)), 2),
    Program("Adam", "a step of AdamW: weights and both means", _adam, lambda n: _vectors(4)(n // 2), 4),
    Program("Lorenz", "a step of Runge and Kutta's method", _lorenz, lambda n: _vectors(3, "normal")(n // 2), 3),
    Program("Mandelbrot", "16 iterations, complex64", _mandelbrot,
            lambda n: (Values("centred", (n // 4,), dtype="complex64"),), 1, apart=1e-3),
    Program("grey picture", "sRGB to grey by its light, tones mapped", _bright,
            lambda n: (Values("uniform", (n // 3, 3)),), 1),
    Program("xorshift", "4 rounds, int32", _xorshift,
            lambda n: (Values("integers", (n,), 0, "int32", high=1 << 31),), 1, 0.0, 0.0),
    Program("moving average", "of 8 neighbours", _moving_average, _vectors(1)),
    Program("heat", "a step in 2 dimensions, into a copy", _heat, _squares(1)),
    Program("wave", "a step in 2 dimensions, of the inner elements", _wave, _squares(2)),
    Program("Gray-Scott", "a step in 2 dimensions, on a torus", _gray_scott, _squares(2)),
    Program("image filter", "blur and sharpen", _sharpened, _squares(1)),
    Program("n-body", "accelerations", _n_body, _bodies, relative=1e-3, absolute=1e-2),
    Program("k-means", "the nearest of 16 centres, and how far it is", _nearest, _clusters, apart=1e-3),
    Program("softmax by hand", "of rows", _softmax, _rows(), 1),
    Program("log-softmax", "of rows", _log_softmax, _rows(), 1),
    Program("logsumexp", "of rows", _logsumexp, _rows(), 1),
    Program("cross entropy", "of rows and labels", _cross_entropy, _labelled, relative=1e-4),
    Program("layer norm", "of rows", _layer_norm, _rows(2), 1),
    Program("RMS norm", "of rows", _rms_norm, _rows(1), 1),
    Program("rows of length 1", "x / sqrt(sum(x * x))", _unit_rows, _rows(), 1),
    Program("variance by hand", "of rows, of two passes", _variance, _rows(), 1),
    Program("standardised columns", "(x - mean) / deviation", _standardised, _rows(), 0, 1e-4, 1e-4),
    Program("rotary embedding", "of halves of rows", _rotated, _turned, 1),
    Program("Monte Carlo option", "the mean gain of paths", _option, _vectors(1, "normal"), 0, 1e-4),
    Program("correlation", "Pearson's", _correlation, _vectors(2), 0, 1e-4, 1e-4),
    Program("logistic regression", "a step of gradient descent", _logistic_step, _samples, 0, 1e-4, 1e-4),
    Program("attention by hand", "of several heads", _attention, _heads, 3, 1e-4, 1e-4),
)  # fmt: skip


def _exact(x: np.ndarray) -> np.ndarray:
    wide = {"f": np.float64, "c": np.complex128}.get(x.dtype.kind)
    return x if wide is None else x.astype(wide)


def _all(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


class _Part(NamedTuple):
    """Rows of the results, or all of results without dimensions, as they should be."""

    rows: slice | None
    results: tuple[np.ndarray, ...]


def _expected(program: Program, inputs: tuple[np.ndarray, ...]) -> tuple[int, list[_Part]]:
    """How long results are, and parts of what the program gives with NumPy in float64."""
    functions = Library().functions

    def results(rows: slice) -> tuple[np.ndarray, ...]:
        given = [_exact(x[rows] if place < program.sliced else x) for place, x in enumerate(inputs)]
        with np.errstate(all="ignore"):
            return tuple(map(np.asarray, _all(program.function(functions, *given))))

    if program.sliced:
        shape = inputs[0].shape
        return shape[0], [_Part(rows, results(rows)) for rows in blocks(shape[0], int(np.prod(shape[1:])))]
    whole = results(slice(None))
    shape = whole[0].shape
    if not shape:
        return 0, [_Part(None, whole)]
    kept = blocks(shape[0], int(np.prod(shape[1:])))
    return shape[0], [_Part(rows, tuple(x[rows].copy() for x in whole)) for rows in kept]


def _check(program: Program) -> Check:
    """Compare parts of each result."""
    known: list[tuple[int, list[_Part]]] = []  # the inputs of a work are the same for every library

    def near(found: np.ndarray, right: np.ndarray) -> bool:
        if found.shape != right.shape:
            return False
        close = np.isclose(found, right, program.relative, program.absolute)
        return bool(np.mean(close) >= 1 - program.apart)

    def check(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
        if not known:
            known.append(_expected(program, inputs))
        length, parts = known[0]
        found = _all(result)
        if any(tuple(one.shape)[:1] != ((length,) if parts[0].rows else ()) for one in found):
            return False
        return all(
            near(library.host(one) if rows is None else library.part(one, rows), right)
            for rows, results in parts
            for one, right in zip(found, results, strict=True)
        )

    return check


def work_of(program: Program, n: int) -> Work:
    """A program as a row, for so many elements."""
    goals = (Goal("torch.compile CUDA", 0.8),)
    return Work(
        program.name, program.text, program.inputs(n), program.function, _check(program), goals, unit="ms", program=True
    )


def chain(count: int, n: int) -> Work:
    """So many additions, one after the other."""
    return work_of(Program("chain", f"{count} additions", _additions(count), _vectors(2), 2), n)


def works(sizes: Sizes) -> Iterator[Work]:
    """The rows of this chapter; the largest arrays have a quarter of the elements that those of other chapters have."""
    for program in PROGRAMS:
        yield work_of(program, max(1024, sizes.elements // 4))
