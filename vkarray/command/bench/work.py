"""What `vkarray bench` measures: a work is one row of the table, and its inputs, check and goals are data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

CUDA = "PyTorch CUDA"


@dataclass(frozen=True)
class Sizes:
    """How large the works are: elements of the large arrays, and rows and columns of the largest matrix."""

    elements: int
    matrix: int
    on_cpu: bool = False  # the device is a CPU driver: the longest works are left out

    @property
    def side(self) -> int:
        """Rows and columns of the matrix that the large array is read as."""
        return 1 << (self.elements.bit_length() - 1) // 2


@dataclass(frozen=True)
class Values:
    """Random values of one kind (a name in `_KINDS`); equal ones are made and uploaded once."""

    kind: str
    shape: tuple[int, ...]
    seed: int = 0
    dtype: str = "float32"
    high: int = 0  # integers are below it

    def make(self) -> np.ndarray:
        """The values on the host; float32 with the bits of bfloat16 for that type."""
        random = np.random.default_rng(self.seed)
        values = _KINDS[self.kind](random, self)
        if self.dtype == "bfloat16":
            return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        return values.astype(self.dtype, copy=False)


def _uniform(random: np.random.Generator, values: Values) -> np.ndarray:
    if values.dtype.startswith("complex"):
        return random.random((*values.shape, 2), dtype=np.float32).view(np.complex64)[..., 0]
    return random.random(values.shape, dtype=np.float64 if values.dtype == "float64" else np.float32)


def _normal(random: np.random.Generator, values: Values) -> np.ndarray:
    return random.standard_normal(values.shape, dtype=np.float64 if values.dtype == "float64" else np.float32)


def _centred(random: np.random.Generator, values: Values) -> np.ndarray:
    made = _uniform(random, values)
    made -= 0.5 + 0.5j if np.iscomplexobj(made) else 0.5
    return made


def _definite(random: np.random.Generator, values: Values) -> np.ndarray:
    a, n = _normal(random, values), values.shape[-1]
    return a @ a.T + n * np.eye(n, dtype=a.dtype)


def _symmetric(random: np.random.Generator, values: Values) -> np.ndarray:
    a = _normal(random, values)
    return (a + a.T) / 2


_KINDS: dict[str, Callable[[np.random.Generator, Values], np.ndarray]] = {
    "uniform": _uniform,
    "positive": lambda random, values: _uniform(random, values) + 0.5,
    "centred": _centred,
    "normal": _normal,
    "permutation": lambda random, values: random.permutation(int(np.prod(values.shape))).reshape(values.shape),
    "mask": lambda random, values: random.random(values.shape, dtype=np.float32) > 0.5,
    "integers": lambda random, values: random.integers(0, values.high, values.shape, dtype=values.dtype),
    "signs": lambda random, values: 1 - 2 * random.integers(0, 2, values.shape),
    "sorted": lambda random, values: np.sort(random.random(values.shape, dtype=np.float32)),
    "definite": _definite,
    "symmetric": _symmetric,
}


@dataclass(frozen=True)
class Goal:
    """What vkarray should reach, where `peer` is measured in the same run.

    One of: `ratio` of the peer's time to vkarray's, `rate` in the unit of the work, `seconds`. `kind` restricts the
    goal to one kind of device ("gpu" or "cpu").
    """

    peer: str
    ratio: float | None = None
    rate: float | None = None
    seconds: float | None = None
    kind: str | None = None

    @property
    def text(self) -> str:
        """The goal in words, for the table."""
        if self.ratio is not None:
            return f"{self.ratio:.3g} of {self.peer}"
        if self.rate is not None:
            return f"{self.rate:g}"
        assert self.seconds is not None
        return f"{self.seconds:g} s" if self.seconds >= 1e-3 else f"{self.seconds * 1e6:g} µs"


def cuda(ratio: float) -> tuple[Goal, ...]:
    """The usual goal: a share of PyTorch's rate on CUDA."""
    return (Goal(CUDA, ratio),)


def ahead_of_vulkan(numpy: float | None = None) -> tuple[Goal, ...]:
    """At least level with the peers that run on Vulkan, and on a CPU driver not too far behind NumPy."""
    goals = tuple(Goal(peer, 1.0) for peer in ("IREE Vulkan", "tinygrad", "wgpu", "taichi"))
    return goals if numpy is None else (*goals, Goal("NumPy", numpy, kind="cpu"))


# A check gets the library that made a result, the result, and the inputs as they are on the host.
Check = Callable[[Any, Any, tuple[np.ndarray, ...]], bool]


@dataclass(frozen=True)
class Work:
    """One row of the table.

    `run` gets the functions of a library (spelled as in the array API standard) and the inputs. `amount` is the bytes
    moved or the operations done, for a rate in `unit`; without it the time is reported in `unit`. `clock` says which
    time is compared, `bound` which limit of the device the rate is a share of, and `calls` how many calls `run` makes.
    """

    name: str
    text: str
    inputs: tuple[Values, ...]
    run: Callable[..., Any]
    check: Check
    goals: tuple[Goal, ...] = ()
    amount: float | None = None
    unit: str = "GB/s"
    bound: str | None = None
    clock: str = "device"
    calls: int = 1
    on_host: bool = False  # the inputs stay NumPy arrays
    common: bool = False  # also for libraries that do little: additions, sums and products of float32
    program: bool = False  # `run` is what libraries compile that can

    def figure(self, seconds: float) -> float:
        """A time in the unit of the work."""
        if self.amount is None:
            return seconds * {"s": 1, "ms": 1e3, "µs": 1e6}[self.unit]
        return self.amount / seconds * {"GB/s": 1e-9, "TFLOP/s": 1e-12, "million/s": 1e-6}[self.unit]


# -- checks -----------------------------------------------------------------------------------------------------------

_SAMPLE = 1 << 16  # elements of a block that is compared


def blocks(length: int, width: int) -> list[slice]:
    """Rows at the beginning, in the middle and at the end."""
    size = min(length, max(1, _SAMPLE // max(1, width)))
    return [slice(first, first + size) for first in sorted({0, (length - size) // 2, length - size})]


def by_rows(reference: Callable[..., Any], relative: float = 1e-6, absolute: float = 0.0) -> Check:
    """Compare blocks of rows with `reference(rows, *inputs)`, which is as good as NumPy in float64 makes it."""

    known: dict[tuple[int, int], Any] = {}  # the inputs of a work are the same for every library

    def check(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
        shape = tuple(result.shape)
        for rows in blocks(shape[0], int(np.prod(shape[1:]))):
            key = (rows.start, rows.stop)
            expected = known[key] = known[key] if key in known else reference(rows, *inputs)
            part = library.part(result, rows)
            if part.shape != expected.shape or not np.allclose(part, expected, rtol=relative, atol=absolute):
                return False
        return True

    return check


def of_rows(function: Callable[..., Any], relative: float = 1e-6, absolute: float = 0.0) -> Check:
    """`by_rows` where a row of the result depends on that row of each input alone."""
    return by_rows(lambda rows, *inputs: function(*(x[rows] for x in inputs)), relative, absolute)


def whole(function: Callable[..., Any], relative: float = 1e-6, absolute: float = 0.0) -> Check:
    """Compare all of a small result."""

    known: list[np.ndarray] = []

    def check(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
        if not known:
            known.append(np.asarray(function(*inputs)))
        found, expected = library.host(result), known[0]
        return found.shape == expected.shape and bool(np.allclose(found, expected, rtol=relative, atol=absolute))

    return check


def host_result(check: Callable[..., bool]) -> Check:
    """A check of the whole result on the host: `check(result, *inputs)`."""
    return lambda library, result, inputs: bool(check(library.host(result), *inputs))


def _near(found: np.ndarray, expected: np.ndarray) -> bool:
    """Within 1e-5 times the rows of the largest element: float32 with a factor for growth that is far from reached."""
    if found.shape != expected.shape or not np.all(np.isfinite(found)):
        return False
    error = np.abs(found.astype(np.float64) - expected).max()
    return bool(error <= 1e-5 * len(expected) * max(1.0, np.abs(expected).max()))


def factors(product: Callable[..., tuple[Any, Any]]) -> Check:
    """Whether the factors multiply to what was factored: `product(*factors, *inputs)` are the two sides."""

    def check(library: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> bool:
        factors = [library.host(factor) for factor in (result if isinstance(result, tuple) else (result,))]
        found, expected = product(*factors, *inputs)
        return _near(found, expected)

    return check


def listed(text: str, names: Sequence[str]) -> list[str]:
    """The words of a list with commas between them, some of which are names with commas of their own."""
    parts, words = text.split(","), []
    while parts:
        joined = {count: ",".join(parts[:count]).strip() for count in range(len(parts), 0, -1)}
        count = next((count for count, name in joined.items() if name in names), 1)
        words.append(joined[count])
        del parts[:count]
    return words
