"""The steps of random programs. A new one is a function with `@step`, which says what it does to which registers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from programs import Program

import vkarray as vx
from vkarray.core.array import VkArray
from vkarray.core.dtypes import CATEGORIES
from vkarray.kernels.rows import ROWS
from vkarray.nn.softmax import log_softmax, softmax

# Text, in which {0} is the first operand, what runs, the registers, and whether it writes into the first.
Found = tuple[str, Callable[..., Any], tuple[int, ...], bool] | None
Step = Callable[[Program], Found]
STEPS_OF_PROGRAMS: list[tuple[int, Step]] = []
_ROWS = [name for name in ROWS if hasattr(vx, name) and ROWS[name].operands <= 3]
_SIMPLE = (
    "add",
    "subtract",
    "multiply",
    "maximum",
    "negative",
    "abs",
    "square",
    "less",
    "equal",
    "divide",
    "exp",
    "minimum",
)


def step(weight: int) -> Callable[[Step], Step]:
    def enter(function: Step) -> Step:
        STEPS_OF_PROGRAMS.append((weight, function))
        return function

    return enter


def _beside(program: Program, first: int, fits: Callable[[VkArray], bool] = lambda _: True) -> int | None:
    """A register that broadcasts against another."""
    shape = program.registers[first]._shape

    def both(one: VkArray) -> bool:
        try:
            return int(np.prod(np.broadcast_shapes(one._shape, shape))) <= 2_000 and fits(one)
        except ValueError:
            return False

    return program.pick(both)


@step(40)
def row(program: Program) -> Found:
    name = program.choices.choice(_SIMPLE if program.choices.chance(0.6) else _ROWS)
    function, kind = getattr(vx, name), CATEGORIES[ROWS[name].category]
    first = program.pick(lambda one: one._dtype in kind or program.choices.chance(0.1))
    if first is None:
        return None
    operands, place = [first], None
    for _ in range(ROWS[name].operands - 1):
        other = _beside(program, first)
        operands.append(first if other is None else other)
    if len(operands) == 2 and program.choices.chance(0.35):
        text, number = program.number()
        place = program.choices.integer(0, 1)
        shown = f"{name}({{0}}, {text})" if place else f"{name}({text}, {{0}})"
        if place:
            return shown, lambda a, numbers: function(a, number(numbers)), (first,), False
        return shown, lambda a, numbers: function(number(numbers), a), (first,), False
    shown = ", ".join(f"{{{place}}}" for place in range(len(operands)))
    return f"{name}({shown})", lambda *given, numbers: function(*given), tuple(operands), False


_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow}
_IN_PLACE = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "&=": operator.iand,
    "//=": operator.ifloordiv, "%=": operator.imod, "|=": operator.ior, "**=": operator.ipow,
}  # fmt: skip


@step(15)
def operated(program: Program) -> Found:
    symbol = program.choices.choice(_OPERATORS)
    first, (text, number) = program.pick(), program.number()
    if first is None:
        return None
    function = _OPERATORS[symbol]
    if program.choices.chance(0.5):
        return f"{text} {symbol} {{0}}", lambda a, numbers: function(number(numbers), a), (first,), False
    return f"{{0}} {symbol} {text}", lambda a, numbers: function(a, number(numbers)), (first,), False


@step(14)
def in_place(program: Program) -> Found:
    symbol, first = program.choices.choice(_IN_PLACE), program.pick()
    if first is None:
        return None
    function = _IN_PLACE[symbol]
    shape = program.registers[first]._shape
    if program.choices.chance(0.4):
        text, number = program.number()
        return f"{{0}} {symbol} {text}", lambda a, numbers: function(a, number(numbers)), (first,), True
    other = _beside(program, first, lambda one: np.broadcast_shapes(one._shape, shape) == shape)
    if other is None:
        return None
    return f"{{0}} {symbol} {{1}}", lambda a, b, numbers: function(a, b), (first, other), True


def _key(program: Program, shape: tuple[int, ...]) -> Any:
    """A random basic index."""
    choices, key = program.choices, []
    for side in shape:
        if not choices.chance(0.8):
            break
        if choices.chance(0.25) and side:
            key.append(choices.integer(-side, side - 1))
        else:
            ends = [choices.choice((None, None, choices.integer(-side - 1, side + 1))) for _ in range(2)]
            key.append(slice(*ends, choices.choice((1, 1, 1, 2, 3, -1, -1, -2))))
    if choices.chance(0.15):
        key.insert(choices.integer(0, len(key)), None)
    return (*key, ...) if choices.chance(0.5) else tuple(key)


@step(14)
def sliced(program: Program) -> Found:
    first = program.pick()
    if first is None:
        return None
    key = _key(program, program.registers[first]._shape)
    return f"{{0}}[{_shown(key)}]", lambda a, numbers: a[key], (first,), False


@step(10)
def assigned(program: Program) -> Found:
    first = program.pick(lambda one: bool(one._shape))
    if first is None:
        return None
    key = _key(program, program.registers[first]._shape)
    text, number = program.number()
    if program.choices.chance(0.4):

        def put(a: VkArray, numbers: list[Any]) -> None:
            a[key] = number(numbers)

        return f"{{0}}[{_shown(key)}] = {text}", put, (first,), True
    other = program.pick() if program.choices.chance(0.5) else first

    def put_array(a: VkArray, b: VkArray, numbers: list[Any]) -> None:
        part = a[key]
        a[key] = b[tuple(slice(0, side) for side in part._shape)] if b.ndim == part.ndim else b

    return f"{{0}}[{_shown(key)}] = {{1}}", put_array, (first, other if other is not None else first), True


def _shown(key: tuple[Any, ...]) -> str:
    """An index as a text without braces."""
    return ", ".join(map(str, key))


@step(8)
def inside(program: Program) -> Found:
    """A copy, or zeros, of which a block is assigned."""
    choices, first = program.choices, program.pick(lambda one: one.ndim > 0)
    if first is None:
        return None
    key = tuple(
        slice(choices.integer(0, 2), choices.choice((None, -1, -1, -2))) for _ in program.registers[first]._shape
    )
    zeros, other = choices.chance(0.4), choices.choice((None, None, 1, -1))

    def put(a: VkArray, numbers: list[Any]) -> VkArray:
        made = vx.zeros_like(a) if zeros else vx.asarray(a, copy=True)
        made[key] = a[key] * a[key] + 1
        if other is not None:
            made[other:] = made[other:] * 2
        return made

    shown = f"{'zeros like' if zeros else 'copy of'} {{0}} with [{_shown(key)}] assigned, then {other}"
    return shown, put, (first,), False


@step(8)
def converted(program: Program) -> Found:
    first, dtype = program.pick(), program.dtype()
    return (
        None if first is None else (f"astype({{0}}, {dtype})", lambda a, numbers: vx.astype(a, dtype), (first,), False)
    )


@step(10)
def reduced(program: Program) -> Found:
    choices, first = program.choices, program.pick()
    if first is None:
        return None
    name = choices.choice(("sum", "sum", "prod", "max", "min", "mean", "any", "all", "var", "std", "count_nonzero"))
    rank = program.registers[first].ndim
    axis = choices.choice((None, choices.integer(-rank, rank - 1) if rank else None))
    options = {"axis": axis, "keepdims": choices.chance(0.4)}
    return f"{name}({{0}}, {_options(options)})", lambda a, numbers: getattr(vx, name)(a, **options), (first,), False


@step(14)
def of_rows(program: Program) -> Found:
    """A reduction of rows, with what is computed of them before and after."""
    choices, first = program.choices, program.pick(lambda one: one.ndim > 0)
    if first is None:
        return None
    axis = choices.integer(0, program.registers[first].ndim - 1) if choices.chance(0.4) else -1
    names = ("sum", "prod", "max", "min", "mean", "any", "all", "var", "std", "count_nonzero", "argmax", "argmin")
    one, two = (getattr(vx, choices.choice(names)) for _ in range(2))

    def centered(a: VkArray, b: VkArray) -> VkArray:
        found = a - vx.astype(one(a * b, axis=axis, keepdims=True), a.dtype)
        return found * vx.astype(two(abs(found), axis=axis, keepdims=True), a.dtype)

    def unkept(a: VkArray, b: VkArray) -> VkArray:
        found = one(a, axis=axis)
        return vx.where(found == two(b + a, axis=axis), found, 2)

    def both(a: VkArray, b: VkArray) -> VkArray:
        return vx.stack([vx.astype(made(a + b, axis=axis), vx.float32) for made in (one, two)])

    def powers(a: VkArray, b: VkArray) -> VkArray:
        found = vx.exp(a - vx.max(a, axis=axis, keepdims=True))
        return found / vx.sum(found, axis=axis, keepdims=True) * b

    function, other = choices.choice((centered, unkept, both, powers)), _beside(program, first)
    shown = f"{function.__name__}({{0}}, {{1}}, axis {axis}, {one.__name__}, {two.__name__})"
    return shown, lambda a, b, numbers: function(a, b), (first, first if other is None else other), False


@step(10)
def of_short_rows(program: Program) -> Found:
    """Sums along a short axis, of what is computed with a broadcast, and what follows them."""
    choices, first = program.choices, program.pick(lambda one: 0 < one.ndim < 4)
    if first is None:
        return None
    other, name = _beside(program, first), choices.choice(("sum", "sum", "prod", "mean"))
    axis, then = choices.integer(-3, -1), choices.choice(("argmin", "max", "sum", "sqrt", "abs"))

    def found(a: VkArray, b: VkArray) -> VkArray:
        apart = a[..., None, :] - vx.reshape(b, (-1, 1))[:9]
        joined = getattr(vx, name)(apart * apart, axis=max(axis, -apart.ndim))
        return getattr(vx, then)(joined, axis=-1) if then in ("argmin", "max", "sum") else getattr(vx, then)(joined)

    shown = f"{then} of {name}(({{0}}[..., None, :] - {{1}})**2, axis {axis})"
    return shown, lambda a, b, numbers: found(a, b), (first, first if other is None else other), False


@step(5)
def of_long_rows(program: Program) -> Found:
    """Several sums of as many elements, more than a chunk of a reduction has."""
    choices, first = program.choices, program.pick(lambda one: one.size > 0)
    if first is None:
        return None
    other, length = _beside(program, first), choices.choice((4097, 5000, 8200))
    chosen = [choices.choice(("x", "xx", "xy", "yy", "exp", "mean")) for _ in range(choices.integer(2, 6))]
    rows, names = choices.choice((1, 1, 2)), ", ".join(chosen)

    def found(a: VkArray, b: VkArray) -> VkArray:
        x, y = (
            vx.reshape(vx.tile(vx.reshape(one, (-1,)), (rows * length,))[: rows * length], (rows, length))
            for one in (a, b)
        )
        ways: dict[str, Callable[[], VkArray]] = {
            "x": lambda: vx.sum(x, axis=1), "xx": lambda: vx.sum(x * x, axis=1), "xy": lambda: vx.sum(x * y + 1, axis=1),
            "yy": lambda: vx.sum(y * y, axis=1), "exp": lambda: vx.sum(vx.exp(x), axis=1), "mean": lambda: vx.mean(x - y, axis=1),
        }  # fmt: skip
        return vx.stack([vx.astype(ways[one](), vx.complex64) for one in chosen])

    shown = f"sums of {length} elements of {{0}} and {{1}}: {names}"
    return shown, lambda a, b, numbers: found(a, b), (first, first if other is None else other), False


@step(10)
def of_products(program: Program) -> Found:
    """A product of matrices, with what is computed of its elements, or a scan of what is computed."""
    choices, first = program.choices, program.pick(lambda one: one.ndim > 0)
    if first is None:
        return None
    other = _beside(program, first)
    text, number = program.number()
    name, function = choices.choice((
        ("biased", lambda a, b, n: a @ a.mT + b[..., :1]), ("scaled", lambda a, b, n: (a @ a.mT) * n - 1),
        ("activated", lambda a, b, n: (lambda y: vx.where(y > 0, y, y * n) + y)(a @ b.mT)),
        ("squared", lambda a, b, n: (lambda y: y * y + y)(a.mT @ b)), ("twice", lambda a, b, n: (a @ b.mT) * (b @ a.mT)),
        ("rows read", lambda a, b, n: a[vx.asarray([0, -1, 0])] * n + b),
        ("taken", lambda a, b, n: vx.take(a, vx.asarray([0, -1]), axis=-1) - n),
        ("both", lambda a, b, n: (lambda y: vx.stack([y, y + n]))(a @ a.mT)),
        ("rows", lambda a, b, n: vx.sum(a @ b.mT * n, axis=-1)),
        ("scanned", lambda a, b, n: vx.cumulative_sum(a * b + n, axis=-1)),
        ("scanned with zero", lambda a, b, n: vx.cumulative_sum(a - b, axis=0, include_initial=True) * n),
        ("multiplied on", lambda a, b, n: vx.cumulative_prod((a + b)[..., ::-1], axis=-1) - a),
    ))  # fmt: skip
    operands = first, first if other is None else other
    return f"{name}({{0}}, {{1}}, {text})", lambda a, b, numbers: function(a, b, number(numbers)), operands, False


def _options(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


@step(10)
def along(program: Program) -> Found:
    """What has an axis."""
    choices, first = program.choices, program.pick(lambda one: one.ndim > 0)
    if first is None:
        return None
    axis, shift = choices.integer(0, program.registers[first].ndim - 1), choices.integer(-3, 3)
    name, function = choices.choice((
        ("cumulative_sum", lambda a: vx.cumulative_sum(a, axis=axis)), ("sort", lambda a: vx.sort(a, axis=axis)),
        ("cumulative_prod", lambda a: vx.cumulative_prod(a, axis=axis)), ("argsort", lambda a: vx.argsort(a, axis=axis)),
        ("argmax", lambda a: vx.argmax(a, axis=axis)), ("argmin", lambda a: vx.argmin(a, axis=axis)),
        ("roll", lambda a: vx.roll(a, shift, axis=axis)), ("diff", lambda a: vx.diff(a, axis=axis)),
        ("repeat", lambda a: vx.repeat(a, 2, axis=axis)), ("pad", lambda a: vx.pad(a, (1, 2))),
        ("softmax", lambda a: softmax(a, axis=axis)), ("log_softmax", lambda a: log_softmax(a, axis=axis)),
        ("take", lambda a: vx.take(a, vx.asarray([0, -1, 0]), axis=axis)),
        ("flip", lambda a: vx.flip(a, axis=axis)), ("unstack", lambda a: vx.unstack(a, axis=axis)[0]),
        ("moveaxis", lambda a: vx.moveaxis(a, axis, 0)), ("squeeze", lambda a: vx.squeeze(a, axis=axis)),
        ("vecdot", lambda a: vx.vecdot(a, a, axis=axis)),
    ))  # fmt: skip
    return f"{name}({{0}}, axis {axis}, {shift})", lambda a, numbers: function(a), (first,), False


@step(14)
def moved(program: Program) -> Found:
    """Other shapes, and copies."""
    choices, first = program.choices, program.pick()
    if first is None:
        return None
    rank = program.registers[first].ndim
    order = tuple(int(one) for one in choices.random.permutation(rank))
    name, function = choices.choice((
        ("permute_dims", lambda a: vx.permute_dims(a, order)), ("reshape -1", lambda a: vx.reshape(a, (-1,))),
        ("broadcast_to", lambda a: vx.broadcast_to(a, (2, *a.shape))), ("expand_dims", lambda a: vx.expand_dims(a, axis=rank // 2)),
        ("copy", lambda a: vx.asarray(a, copy=True)), ("tril", vx.tril), ("triu", vx.triu), ("positive", vx.positive),
        ("tile", lambda a: vx.tile(a, (2,))), ("mT", lambda a: a.mT), ("real", lambda a: a.real), ("imag", lambda a: a.imag),
        ("reshape", lambda a: vx.reshape(a, tuple(side for side in a.shape if side != 1))), ("flip", vx.flip),
        ("ravel", lambda a: a.ravel()),
        ("diagonal", lambda a: vx.linalg.diagonal(a)), ("contiguous", vx.ascontiguousarray),
        ("halves", lambda a: vx.reshape(a, (2, -1))),
    ))  # fmt: skip
    return f"{name}({{0}}){order}", lambda a, numbers: function(a), (first,), False


@step(12)
def several(program: Program) -> Found:
    """Functions of several registers."""
    choices, first = program.choices, program.pick()
    if first is None:
        return None
    second, third = _beside(program, first), _beside(program, first)
    if second is None or third is None:
        return None
    text, number = program.number()
    name, function = choices.choice((
        ("where", lambda a, b, c, n: vx.where(a > 0, b, c)), ("where with a number", lambda a, b, c, n: vx.where(b != 0, a, n)),
        ("clip", lambda a, b, c, n: vx.clip(a, -1, 2)), ("clip by arrays", lambda a, b, c, n: vx.clip(a, b, c)),
        ("concat", lambda a, b, c, n: vx.concat([a, a * b, a])), ("stack", lambda a, b, c, n: vx.stack([a, b + a])),
        ("matmul", lambda a, b, c, n: a @ b.mT), ("tensordot", lambda a, b, c, n: vx.tensordot(a, b, axes=0)),
        ("take by values", lambda a, b, c, n: vx.take(a, vx.astype(b, vx.int32).ravel() % max(a.shape[0], 1), axis=0)),
        ("read by values", lambda a, b, c, n: a[vx.astype(vx.reshape(b, (-1,)), vx.int64)]),
        ("axpy", lambda a, b, c, n: n * a + b), ("chain", lambda a, b, c, n: (a - n) * (b + n) * (a - n)),
        ("full", lambda a, b, c, n: vx.full(a.shape, n) + a), ("full_like", lambda a, b, c, n: vx.full_like(a, 2) * b),
        ("zeros", lambda a, b, c, n: vx.zeros(a.shape, dtype=b.dtype)), ("eye", lambda a, b, c, n: a + vx.eye(a.shape[-1])),
        ("arange", lambda a, b, c, n: vx.arange(a.shape[-1]) * b),
        ("linspace", lambda a, b, c, n: vx.linspace(0, n, a.shape[-1]) + a),
        ("searchsorted", lambda a, b, c, n: vx.searchsorted(vx.sort(a), b)),
        ("constant", lambda a, b, c, n: vx.asarray([1, 2, 3])[0] + a), ("outer", lambda a, b, c, n: a[..., None] - b[..., None, :]),
        ("nested", lambda a, b, c, n: _nested(a, b, n)), ("isclose", lambda a, b, c, n: vx.isclose(a, b)),
    ))  # fmt: skip
    operands = (first, second, third)
    return (
        f"{name}({{0}}, {{1}}, {{2}}, {text})",
        lambda a, b, c, numbers: function(a, b, c, number(numbers)), operands, False,
    )  # fmt: skip


@vx.compile
def _nested(a: VkArray, b: VkArray, number: Any) -> VkArray:
    return (a * number + b) * a


@step(6)
def written_by(program: Program) -> Found:
    """Assignments by masks and by arrays of places, and with `out`."""
    choices, first = program.choices, program.pick(lambda one: bool(one._shape))
    if first is None:
        return None
    other, (text, number) = _beside(program, first), program.number()
    if other is None:
        return None

    def masked(a: VkArray, b: VkArray, n: Any) -> None:
        a[a > 0] = n

    def placed(a: VkArray, b: VkArray, n: Any) -> None:
        a[vx.asarray([0, a.shape[0] - 1])] = n

    def out(a: VkArray, b: VkArray, n: Any) -> None:
        vx.add(a, b, out=a)

    def copied(a: VkArray, b: VkArray, n: Any) -> None:
        a[...] = a[::-1]

    def shifted(a: VkArray, b: VkArray, n: Any) -> None:
        a[1:] = a[:-1]

    def filled(a: VkArray, b: VkArray, n: Any) -> None:
        a.fill(n)

    function = choices.choice((masked, placed, out, copied, shifted, filled))
    return (
        f"{function.__name__}({{0}}, {{1}}, {text})",
        lambda a, b, numbers: function(a, b, number(numbers)), (first, other), True,
    )  # fmt: skip
