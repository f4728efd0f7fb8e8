"""Random programs: what `vkarray.compile` makes of a function gives the same bits as the function, call after call.

A program is a list of instructions over registers, which begin with the arguments. It is run as it is and compiled, for several
sets of values and numbers: all that it returns, and all arguments after it, are compared bit for bit.
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from choices import Choices, Single
from difference import Difference

import vkarray as vx
from vkarray.core.array import VkArray
from vkarray.core.dtypes import CATEGORIES, DTYPES, DType
from vkarray.graph import borders

STEPS = 5  # programs of a seed: the first, and siblings, most of whose kernels the driver has compiled for the first
BLOCK = 32  # seeds one after another whose programs favour the same types, and so have more kernels in common
TRIES = 4  # to find a sibling that runs without an error
ERRORS = (IndexError, OverflowError, ValueError, TypeError, ZeroDivisionError)  # that programs raise
SIZE = 2_000  # elements of a register, at most
SIDES = (1, 2, 3, 4, 5, 7, 8)
LAYOUTS = ("contiguous", "contiguous", "reversed", "transposed", "sliced", "shifted", "broadcast")


class Instruction(NamedTuple):
    """What a step of a program does: a function of registers, numbers and further values, which are part of its text."""

    text: str
    run: Callable[..., Any]
    operands: tuple[int, ...]
    result: int | None  # the register that it makes; None where it writes into its first operand


class Argument(NamedTuple):
    """An argument: its type, the shape and the layout of what it is a view of, and which argument shares its memory."""

    dtype: DType
    shape: tuple[int, ...]
    layout: str
    of: int | None = None


def values(choices: Choices, dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    """Small numbers that meet each other often, ordinary ones, random bits, and now and then special ones."""
    random = choices.random
    if dtype is vx.bool:
        return np.asarray(random.integers(0, 2, shape), bool)
    if dtype in CATEGORIES["integer"]:
        info = np.iinfo(dtype.name)
        if choices.chance(0.2):
            return np.asarray(random.integers(info.min, info.max, shape, np.dtype(dtype.name), True))
        return np.asarray(random.integers(max(info.min, -9), 10, shape), dtype.name)
    host = np.dtype("float32" if dtype is vx.bfloat16 else dtype.name)
    parts = random.standard_normal(shape) * choices.choice((0.1, 1.0, 3.0, 50.0))
    if choices.chance(0.3):
        parts = np.round(parts)
    if choices.chance(0.15):
        limits = vx.finfo(dtype)
        special = [
            0.0,
            -0.0,
            np.inf,
            -np.inf,
            np.nan,
            limits.max,
            limits.smallest_normal,
            limits.smallest_normal / 4,
            limits.eps,
        ]
        parts = np.where(random.random(shape) < 0.4, random.choice(np.array(special), shape), parts)
    with np.errstate(all="ignore"):
        return np.asarray(parts + 1j * random.standard_normal(shape) if host.kind == "c" else parts).astype(host)


def made(choices: Choices, argument: Argument, others: list[VkArray]) -> VkArray:
    """An argument with new values."""
    dtype, shape, layout, of = argument
    if of is not None:
        other = others[of]
        return (
            other[::-1]
            if layout == "reversed" and other.ndim
            else other[1:]
            if layout == "shifted" and other.ndim
            else other
        )
    if layout == "broadcast":
        small = tuple(1 if place % 2 else side for place, side in enumerate(shape))
        return vx.broadcast_to(vx.asarray(values(choices, dtype, small), dtype=dtype), shape)
    if layout == "transposed":
        return vx.asarray(values(choices, dtype, shape[::-1]), dtype=dtype).T
    if layout in ("sliced", "shifted") and shape:
        step, first = (2, 1) if layout == "sliced" else (1, 1)
        base = vx.asarray(values(choices, dtype, (*shape[:-1], shape[-1] * step + first)), dtype=dtype)
        return base[..., first : first + shape[-1] * step : step]
    found = vx.asarray(values(choices, dtype, shape), dtype=dtype)
    return vx.flip(found) if layout == "reversed" and shape else found


class Program:
    """A random program, which is found out by running it."""

    def __init__(self, seed: int) -> None:
        from program_steps import STEPS_OF_PROGRAMS

        self.choices = choices = Choices(seed)
        self.dtypes = [dtype for dtype in DTYPES.values() if _has(dtype)]
        block = Choices(seed // BLOCK)
        self.favoured = [block.choice(self.dtypes) for _ in range(3)]
        self.base = self.shape()
        self.arguments: list[Argument] = []
        for _ in range(choices.integer(1, 4)):
            self.arguments.append(self.argument())
        self.count = choices.integer(0, 3)  # of numbers
        self.kinds = [choices.choice((int, float, float, complex)) for _ in range(self.count)]
        self.values_seed = choices.integer(0, 1 << 30)
        self.inner = [self.argument()._replace(of=None) for _ in range(choices.integer(0, 2))]
        self.closure = [made(choices, one, []) for one in self.inner]
        self.instructions: list[Instruction] = []
        self.registers: dict[int, Any] = {}
        arrays, numbers = self.given(0)
        for one in (*arrays, *self.closure):
            self.registers[len(self.registers)] = one
        self.numbers = numbers
        shares = np.array([weight for weight, _ in STEPS_OF_PROGRAMS], float)
        wanted = choices.choice((5, 5, 8, 8, 12, 12, 20, 30, 60))
        for _ in range(4 * wanted):
            if len(self.instructions) == wanted:
                break
            _, step = STEPS_OF_PROGRAMS[int(choices.random.choice(len(shares), p=shares / shares.sum()))]
            self.try_step(step)
        self.form, self.wanted = choices.integer(0, 3), self.returned()
        self.registers.clear()

    # -- making it

    def shape(self) -> tuple[int, ...]:
        sides = [self.choices.choice(SIDES) for _ in range(self.choices.choice((0, 1, 1, 2, 2, 2, 3, 4)))]
        if sides and self.choices.chance(0.04):
            sides[-1] = 0
        if len(sides) == 1 and self.choices.chance(0.4):
            sides[0] = self.choices.integer(1, 300)
        return tuple(sides)

    def dtype(self) -> DType:
        return self.choices.choice(self.favoured if self.choices.chance(0.85) else self.dtypes)

    def like(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts against another."""
        sides = [1 if self.choices.chance(0.15) else side for side in shape]
        return tuple(sides[self.choices.integer(0, len(sides)) if self.choices.chance(0.15) else 0 :])

    def argument(self) -> Argument:
        choices = self.choices
        if self.arguments and choices.chance(0.15):
            of = choices.integer(0, len(self.arguments) - 1)
            if self.arguments[of].layout != "broadcast":
                return Argument(vx.bool, (), choices.choice(("same", "reversed", "shifted")), of)
        shape = self.like(self.base) if choices.chance(0.8) else self.shape()
        return Argument(self.dtype(), shape, choices.choice(LAYOUTS))

    def given(self, turn: int) -> tuple[list[VkArray], list[Any]]:
        """The arrays and numbers of a call: values differ from turn to turn, all else is the same."""
        choices = Choices(self.values_seed + turn)
        arrays: list[VkArray] = []
        for one in self.arguments:
            arrays.append(made(choices, one, arrays))
        made_of: dict[type, Any] = {
            int: lambda: choices.choice((0, 1, 2, 3, 5, -1, 100)),
            float: lambda: choices.choice((0.5, 2.0, -0.0, 1e-3, -3.7, 1e30)),
            complex: lambda: complex(choices.integer(-2, 2), choices.choice((0.5, -1.5))),
        }  # fmt: skip
        return arrays, [made_of[kind]() for kind in self.kinds]

    def pick(self, fits: Callable[[VkArray], bool] = lambda _: True) -> int | None:
        """A register, rather a late one."""
        found = [number for number, one in self.registers.items() if fits(one)]
        if not found:
            return None
        return found[-1 - min(int(self.choices.random.exponential(3)), len(found) - 1)] if self.choices.chance(0.7) else (
            self.choices.choice(found)
        )  # fmt: skip

    def number(self) -> tuple[str, Callable[[list[Any]], Any]]:
        """A number of the call's, or one of the program's own."""
        if self.count and self.choices.chance(0.6):
            place = self.choices.integer(0, self.count - 1)
            if self.choices.chance(0.2):
                return f"2.5 * n{place}", lambda numbers: 2.5 * numbers[place]
            return f"n{place}", lambda numbers: numbers[place]
        value = self.choices.choice((2, 3, 0.5, -1.25, True, 1, 0, 1e-6))
        return repr(value), lambda _: value

    def try_step(self, step: Callable[[Program], tuple[str, Callable[..., Any], tuple[int, ...], bool] | None]) -> None:
        """Add an instruction that can be run here."""
        found = step(self)
        if found is None:
            return
        text, run, operands, writes = found
        if writes and any(self.registers[operands[0]]._buffer is one._buffer for one in self.closure):
            return  # both ways would write to it
        try:
            made_here = run(*[self.registers[one] for one in operands], numbers=self.numbers)
            self.registers[0].device.synchronize()  # a device may tell of wrong values late
        except (
            TypeError,
            ValueError,
            OverflowError,
            ZeroDivisionError,
            IndexError,
            vx.FeatureError,
            vx.linalg.LinAlgError,
        ):
            return
        kept = type(made_here) is VkArray and made_here.size <= SIZE and made_here.ndim < 6
        if not writes and not kept:
            return
        number = len(self.registers) if kept else None
        shown = text.format(*[f"r{one}" for one in operands])
        self.instructions.append(Instruction(f"r{number} = {shown}" if kept else shown, run, operands, number))
        if number is not None:
            self.registers[number] = made_here

    def returned(self) -> list[int]:
        every = list(self.registers)
        late = every[-self.choices.integer(1, 6) :]
        return [*late, *[self.choices.choice(every) for _ in range(self.choices.integer(0, 2))]]

    def sibling(self, seed: int) -> Program:
        """The same instructions for arguments of other sizes, layouts and values: another trace, of kernels that are there already.

        Equal lengths stay equal, and what was no single element does not become one, so that most instructions fit still.
        """
        other, choices = copy.copy(self), Choices(seed)
        sides = {side: max(2, side + choices.choice((-1, 0, 1, 1, 2))) for side in range(2, 9)}

        def changed(one: Argument) -> Argument:
            layout = one.layout if one.of is not None or choices.chance(0.4) else choices.choice(LAYOUTS)
            return one._replace(shape=tuple(sides.get(side, side) for side in one.shape), layout=layout)

        other.arguments, other.inner = [[changed(one) for one in listed] for listed in (self.arguments, self.inner)]
        other.values_seed = choices.integer(0, 1 << 30)
        other.closure = [made(choices, one, []) for one in other.inner]
        return other

    def returning_others(self, choices: Choices) -> Program:
        """The same instructions, of which other results are returned: other operations are fused, and other values stored."""
        other = copy.copy(self)
        kept = [one.result for one in self.instructions if one.result is not None]
        every = [*range(len(self.arguments) + len(self.inner)), *kept]
        other.wanted = [choices.choice(every) for _ in range(choices.integer(1, 6))]
        other.values_seed, other.form = choices.integer(0, 1 << 30), choices.integer(0, 3)
        return other

    def size(self) -> int:
        """How many elements the arguments have."""
        return sum(int(np.prod(one.shape)) for one in (*self.arguments, *self.inner))

    def runs(self) -> bool:
        """Whether it ends without an error."""
        return outcome(self, *self.given(0))[0] not in ERRORS

    # -- running it

    def __call__(self, arrays: list[VkArray], numbers: list[Any]) -> Any:
        registers = dict(enumerate((*arrays, *self.closure)))
        for one in self.instructions:
            result = one.run(*[registers[operand] for operand in one.operands], numbers=numbers)
            if one.result is not None:
                registers[one.result] = result
        found = [registers[one] for one in self.wanted]
        return (found, tuple(found), {"first": found[0], "rest": [found[1:], None, "text"]}, (found, numbers))[
            self.form
        ]

    def text(self) -> str:
        """The program, for people."""
        lines = [f"r{number}: {one}" for number, one in enumerate(self.arguments)]
        lines += [
            f"r{number}: {one.dtype}{one.shape}{one.strides}" for number, one in enumerate(self.closure, len(lines))
        ]
        lines += [one.text for one in self.instructions]
        return "\n    ".join(
            [*lines, f"return {self.wanted}, form {self.form}, numbers {[self.given(k)[1] for k in range(3)]}"]
        )


def _has(dtype: DType) -> bool:
    try:
        vx.zeros((1,), dtype=dtype)
    except vx.FeatureError:
        return False
    return True


def seen(value: Any) -> Any:
    """All that a caller can see of a result."""
    if isinstance(value, (tuple, list)):
        return (type(value), *map(seen, value))
    if isinstance(value, dict):
        return {name: seen(one) for name, one in value.items()}
    if type(value) is not VkArray:
        return type(value), repr(value)
    host = np.array(value)
    if host.dtype.kind in "fc":  # the sign of a NaN that an operation makes depends on how its operands are ordered
        parts = host.reshape(-1).view(host.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return value.dtype.name, value.shape, value.strides, host.tobytes()


def outcome(function: Callable[..., Any], arrays: list[VkArray], numbers: list[Any]) -> Any:
    """What a call does: its results, its arguments after it, or its error."""
    try:
        found = function(arrays, numbers)
        return seen(found), seen(arrays)
    except ERRORS as error:
        with contextlib.suppress(*ERRORS):  # of what was left behind: else the next call would be told of it
            arrays[0].device.synchronize()
        return type(error), told(str(error))


def told(text: str) -> str:
    """What the text of an error tells for certain. Where a device tells later, it names lines and any one of the wrong values."""
    text, late, _ = text.partition(" (It was asked for at")
    return re.sub(r"-?\d+", "n", text) if late else text


def differing(program: Program, compiled: Any) -> str:
    """The first call in which the two differ."""
    for turn, values_of in enumerate((0, 1, 0, 2)):
        ways = [outcome(function, *program.given(values_of)) for function in (program, compiled)]
        if ways[0] != ways[1]:
            return f"call {turn}: {_shown(ways[0])} eagerly, {_shown(ways[1])} compiled"
    return ""


def _shown(value: Any) -> str:
    return repr(value)[:700]


class Chain(Single):
    """The program of a seed, and its siblings."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.program: Program | None = None

    def take(self, _: Any) -> None:
        """Compare. Raises Difference."""
        if self.program is None:
            program = self.program = Program(self.seed)
        else:
            tried = (self.program.sibling(self.integer(0, 1 << 30)) for _ in range(TRIES))
            most = 50 + 5 * self.program.size() // 4  # what programs make of arrays may be many times as long
            found = next((one for one in tried if one.size() <= most and one.runs()), None)
            program = found or self.program.returning_others(self)
        with mock.patch.dict(borders.LEAST, cpu=0, gpu=0):  # arrays are small here
            found = differing(program, vx.compile(lambda arrays, numbers: program(arrays, numbers)))
        if found:
            raise Difference(f"{found}\n    {program.text()}")


def program(chain: Chain) -> Any:
    return chain


OPERATIONS = [(1, program)]
