"""Where functions are measured: every binade, subnormals, huge arguments, neighbours of critical points, random bits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...core.dtypes import REAL_OF, DType
from .formats import Format, format_of

Columns = list[np.ndarray]

# Arguments that are hardest to reduce modulo pi / 2 in float32 and float64 (Muller, Elementary Functions, 2016).
_HARD_TO_REDUCE = (16367173.0 * 2.0**72, 6381956970095103.0 * 2.0**797)
_NEIGHBOURS = 2
_CANCELLING = 400
_POWERS = 300


def operands(name: str, count: int, dtype: DType, samples: int) -> Columns:
    """About `samples` operands for a function of `count` arguments, as host arrays (float32 for bfloat16).

    Unary functions of 16-bit types get all values. Functions of two arguments get pairs that are related as well, for
    results that cancel, overflow or are close to an integer.
    """
    generator = np.random.default_rng(0)
    if dtype in REAL_OF:
        return _complex_operands(name, count, dtype, samples, generator)
    kind = format_of(dtype)
    if count == 1:
        return [_every(kind) if kind.bits == 16 else _real(kind, samples, generator)]
    columns = [_real(kind, samples // 2, generator) for _ in range(count)]
    length = min(column.size for column in columns)
    columns = [generator.permutation(column)[:length] for column in columns]
    grid = np.meshgrid(*[_landmarks(kind)] * count, indexing="ij")
    related = _related(name, columns, kind, generator)
    return [np.concatenate([part.reshape(-1) for part in parts]) for parts in zip(columns, grid, related, strict=True)]


# -- one real argument ------------------------------------------------------------------------------------------


def _every(kind: Format) -> np.ndarray:
    return kind.from_bits(np.arange(2**kind.bits, dtype=np.uint64))


def _real(kind: Format, samples: int, generator: np.random.Generator) -> np.ndarray:
    quarter = samples // 4
    exponents = np.resize(np.arange(kind.lowest_exponent - kind.precision + 1, kind.highest_exponent + 1), quarter)
    with np.errstate(over="ignore"):
        wide = np.exp2(generator.uniform(-12, 12, quarter))
        plain = np.concatenate([generator.uniform(-limit, limit, quarter // 4) for limit in (1, 10, 100, 1000)])
    return np.concatenate([
        _neighbours(_critical_points(kind), kind),
        kind.rounded(_signed(np.ldexp(generator.uniform(1, 2, quarter), exponents), generator)),
        kind.from_bits(generator.integers(0, 2**kind.bits, quarter, np.uint64, endpoint=False)
                       if kind.bits < 64 else generator.integers(0, 2**64 - 1, quarter, np.uint64, endpoint=True)),
        kind.rounded(_signed(wide, generator)),
        kind.rounded(plain),
    ])  # fmt: skip


def _critical_points(kind: Format) -> np.ndarray:
    """Where functions change: zeros and poles, thresholds of overflow and underflow, branch points, powers of 2."""
    largest, smallest = math.ldexp(1, kind.highest_exponent) * (2 - kind.epsilon), math.ldexp(1, kind.lowest_exponent)
    whole = np.arange(1, 41)
    points = np.concatenate([
        [0, 1, 0.5, 2, 0.25, 0.75, 1.5, 2.5, 10, 1 / 3, 1e22, math.sqrt(0.5), math.sqrt(2), math.e, 1 / math.e],
        [largest, largest / 2, smallest, smallest * kind.epsilon, math.sqrt(largest), math.sqrt(smallest)],
        [math.log(largest), math.log(largest) + math.log(2), math.log(smallest), math.log(smallest) + math.log(kind.epsilon / 2)],
        [math.log(kind.epsilon), 1 / kind.epsilon, kind.epsilon, math.sqrt(kind.epsilon), kind.epsilon ** (1 / 3)],
        whole * (math.pi / 2), whole * math.log(2), whole + 0.5, np.exp2(np.arange(60)) * math.pi / 4,
        np.exp2(np.linspace(kind.lowest_exponent - kind.precision + 1, kind.highest_exponent, _POWERS).round()),
        [point for point in _HARD_TO_REDUCE if point <= largest], 10.0 ** whole[whole < math.log10(largest)],
    ])  # fmt: skip
    return np.concatenate([points, -points])


def _neighbours(points: np.ndarray, kind: Format) -> np.ndarray:
    """The values of the type nearest to `points` and two on either side of each, then infinities and NaN."""
    with np.errstate(over="ignore"):
        bits = kind.to_bits(kind.rounded(points)).astype(np.int64)
    offsets = np.arange(-_NEIGHBOURS, _NEIGHBOURS + 1)
    near = kind.from_bits((bits[:, None] + offsets).reshape(-1).astype(np.uint64))
    return np.unique(np.concatenate([near, np.array([np.inf, -np.inf, np.nan, 0.0], near.dtype)]).view(
        f"u{near.dtype.itemsize}")).view(near.dtype)  # fmt: skip


def _signed(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    return values * generator.choice([-1, 1], values.size)


# -- several real arguments -------------------------------------------------------------------------------------


def _landmarks(kind: Format) -> np.ndarray:
    """A few values of every class, for tables of all their combinations."""
    largest, smallest = math.ldexp(1, kind.highest_exponent) * (2 - kind.epsilon), math.ldexp(1, kind.lowest_exponent)
    positive = [0, 1, 0.5, 2, 3, 1 + kind.epsilon, 1 - kind.epsilon / 2, 100.5, largest, smallest,
                smallest * kind.epsilon, 1 / kind.epsilon + 1, math.inf]  # fmt: skip
    return kind.rounded(np.array([*positive, *(-value for value in positive), math.nan]))


def _related(name: str, columns: Columns, kind: Format, generator: np.random.Generator) -> Columns:
    """Operands that depend on each other."""
    first = columns[0]
    size = first.size
    factor = _signed(np.exp2(generator.uniform(-30, 30, size)), generator)
    ratio = generator.integers(1, 1000, size) * (1 + kind.epsilon * generator.integers(-2, 3, size))
    with np.errstate(all="ignore"):
        wide = first.astype(np.float64)
        pairs = [(wide, wide * factor), (wide, -wide * (1 + kind.epsilon * generator.integers(-2, 3, size))),
                 (wide, wide), (wide, wide / ratio)]  # fmt: skip
        if name in _RELATED:
            pairs += [_RELATED[name](kind, size, generator) for _ in range(4)]
        firsts = kind.rounded(np.concatenate([pair[0] for pair in pairs]))
        seconds = kind.rounded(np.concatenate([pair[1] for pair in pairs]))
    return [firsts, seconds, *(np.resize(column, firsts.size) for column in columns[2:])]


def _power_in_range(kind: Format, size: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """x**y of every magnitude, x near to and far from 1."""
    base = np.exp2(_signed(np.exp2(generator.uniform(-kind.precision, 8, size)), generator))
    base = kind.rounded(base).astype(np.float64)
    return base, generator.uniform(kind.lowest_exponent - kind.precision, kind.highest_exponent + 1, size) / np.log2(
        base
    )


def _sum_near_one(kind: Format, size: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """exp(x) + exp(y) close to 1; not many, for each is one for arbitrary precision."""
    size = min(size, _CANCELLING)
    first = kind.rounded(-np.exp2(generator.uniform(-30, 6, size))).astype(np.float64)
    other = np.log(-np.expm1(first))
    return first, other * (1 + kind.epsilon * generator.integers(-3, 4, size))


_RELATED: dict[str, Callable[[Format, int, np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    "pow": _power_in_range,
    "logaddexp": _sum_near_one,
}

# -- complex arguments ------------------------------------------------------------------------------------------


def _complex_operands(name: str, count: int, dtype: DType, samples: int, generator: np.random.Generator) -> Columns:
    kind = format_of(REAL_OF[dtype])
    if count == 1:
        return [_complex(kind, dtype, samples, generator)]
    columns = [generator.permutation(_complex(kind, dtype, samples // 2, generator)) for _ in range(count)]
    first, second = columns
    size = first.size
    factor = np.exp2(generator.uniform(-20, 20, size)) * np.exp(2j * np.pi * generator.random(size))
    small = generator.integers(-9, 10, size)
    with np.errstate(all="ignore"):
        related = first.astype(np.complex128) * factor
        moderate = np.exp2(generator.uniform(-8, 8, size)) * np.exp(2j * np.pi * generator.random(size))
        exponent = np.exp2(generator.uniform(-4, 6, size)) * np.exp(2j * np.pi * generator.random(size))
        pairs = [(first, second), (first, related), (moderate, exponent), (moderate, small), (first, first)]
        return [np.concatenate([pair[side].astype(dtype.name) for pair in pairs]) for side in (0, 1)]


def _complex(kind: Format, dtype: DType, samples: int, generator: np.random.Generator) -> np.ndarray:
    """Finite complex numbers (those with infinite parts are in special_cases.py)."""
    part = samples // 6
    real = _real(kind, samples, generator)
    real = real[np.isfinite(real)]
    few = np.array([0, 1, 0.5, 2, 1e-3, 50, kind.epsilon, 1 + kind.epsilon, 1 - kind.epsilon / 2,
                    math.ldexp(1, kind.highest_exponent), math.ldexp(1, kind.lowest_exponent)])  # fmt: skip
    few = np.concatenate([few, -few])
    turn = 2 * np.pi * generator.random(part)
    distance = np.exp2(generator.uniform(-1.2 * kind.precision, 0, part))
    # Around branch points, zeros and poles; on the unit circle about 0 and about -1, where logarithms vanish.
    centre = generator.choice(np.array([0, 1, -1, 1j, -1j]), part)
    multiple = generator.integers(-20, 21, part) * (np.pi / 2) * generator.choice(np.array([1, 1j]), part)
    circle = np.exp(1j * turn) * (1 + distance * generator.choice([0, 1, -1], part))
    grid = np.meshgrid(few, few)
    columns = [
        (grid[0].reshape(-1), grid[1].reshape(-1)),
        (generator.choice(real, part), generator.choice(real, part)),
        (_signed(np.exp2(generator.uniform(-8, 8, part)), generator),
         _signed(np.exp2(generator.uniform(-8, 8, part)), generator)),
        *((near.real, near.imag) for near in (
            centre + distance * np.exp(1j * turn), multiple + distance * np.exp(1j * turn),
            circle - generator.choice([0, 1], part))),
        (generator.choice(real, part), _signed(distance, generator)),
        (_signed(distance, generator), generator.choice(real, part)),
    ]  # fmt: skip
    result = np.empty(sum(pair[0].size for pair in columns), dtype.name)
    result.real = kind.rounded(np.concatenate([pair[0] for pair in columns]))
    result.imag = kind.rounded(np.concatenate([pair[1] for pair in columns]))
    return result
