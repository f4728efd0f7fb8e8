"""A chain of random operations on arrays of vkarray and of NumPy at once: every result is compared, and all that it could touch.

An entry of the chain is an array and its host, which hold the same values; views share memory on both sides. The host of a
result is what vkarray computed, once it was compared with NumPy's: so errors do not add up, and each operation is judged by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from choices import Choices
from difference import Difference

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES, DTYPES, DType

ENTRIES = 12  # of a chain; a new one takes the place of another
WIDER = {"float16": np.float64, "float32": np.float64, "float64": np.longdouble, "complex64": np.complex128,
         "complex128": np.clongdouble}  # fmt: skip


def host_dtype(dtype: DType) -> np.dtype:
    """NumPy's type for the values of an array: float32 for bfloat16."""
    return np.dtype("float32" if dtype is vx.bfloat16 else dtype.name)


def wider(dtype: DType) -> Any:
    """A NumPy type with at least 11 more bits."""
    return WIDER["float32" if dtype is vx.bfloat16 else dtype.name]


def rounded(values: Any, dtype: DType) -> np.ndarray:
    """Values as the dtype holds them, on the host."""
    if dtype is vx.bfloat16:
        return np.asarray(values).astype(ml_dtypes.bfloat16).astype(np.float32)
    return np.asarray(values).astype(host_dtype(dtype))


@dataclass
class Entry:
    """An array and the same values in NumPy's memory."""

    array: vx.VkArray
    host: np.ndarray
    text: str  # where it came from

    def check(self) -> None:
        """Raise Difference where memory was changed that nothing should have touched."""
        if not same_bits(np.asarray(self.array), self.host):
            raise Difference(
                f"{self.text} was changed by something else: now {np.asarray(self.array)!r}, was {self.host!r}"
            )


@dataclass
class Step:
    """One operation: how vkarray does it, what NumPy found, and how far from it the result may be."""

    text: Callable[[], str]
    run: Callable[[], Any]
    expected: Any
    dtype: DType | None = None  # of the result, where it is known
    bound: Any = None  # largest error, a number or an array; None: the same values
    view_of: np.ndarray | None = None  # what NumPy made where the result shares memory with its operand
    may_share: bool = False  # whether the result may be a view, or the operand itself


def same_bits(got: np.ndarray, expected: np.ndarray) -> bool:
    """Whether all values are equal, NaN to NaN and zeros to zeros of the same sign."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    if got.dtype.kind not in "fc":
        return bool(np.array_equal(got, expected))
    if got.dtype.kind == "c":
        return same_bits(got.real, expected.real) and same_bits(got.imag, expected.imag)
    signs = np.signbit(got) == np.signbit(expected)
    return bool(np.all(((got == expected) & signs) | (np.isnan(got) & np.isnan(expected))))


def check_close(step: Step, got: np.ndarray) -> None:
    """Raise Difference where a value is farther from NumPy's than the bound."""
    expected = np.asarray(step.expected)
    if got.shape != expected.shape:
        raise Difference(f"{step.text()}: shape {got.shape}, expected {expected.shape}")
    if step.bound is None:
        if not np.array_equal(got, expected, equal_nan=got.dtype.kind in "fc"):
            raise Difference(f"{step.text()}: got {got!r}, expected {expected!r}")
        return
    parts = [(got, expected)] if got.dtype.kind != "c" else [(got.real, expected.real), (got.imag, expected.imag)]
    largest = np.finfo(got.dtype).max
    with np.errstate(all="ignore"):
        for ours, theirs in parts:
            error = np.abs(ours.astype(np.longdouble) - theirs)
            fine = (error <= step.bound) | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
            fine |= (np.abs(theirs) >= largest * (1 - 1e-3)) & (
                np.abs(ours) >= largest * (1 - 1e-2)
            )  # to overflow or not
            if not np.all(fine):
                raise Difference(f"{step.text()}: got {got!r}, expected {expected!r}, error {np.max(error[~fine])}")


class Chain(Choices):
    """Some entries, and a source of random choices."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.entries: list[Entry] = []
        self.dtypes = [dtype for dtype in DTYPES.values() if _has(dtype)]
        self.last: Step | None = None
        self.done = 0
        for _ in range(4):
            self.entries.append(self.fresh())

    # -- random choices -----------------------------------------------------------------------------------------------

    def dtype(self, category: str | None = None) -> DType:
        """A type that the device has, of a category of the standard."""
        return self.choice(one for one in self.dtypes if category is None or one in CATEGORIES[category])

    def shape(self, most: int = 4) -> tuple[int, ...]:
        """Few dimensions, now and then none, an empty one or a long one."""
        sides = [self.choice((1, 2, 3, 4, 5, 7, 8, 16)) for _ in range(self.integers_of_rank(most))]
        if sides and self.chance(0.04):
            sides[self.integer(0, len(sides) - 1)] = 0
        if len(sides) == 1 and self.chance(0.2):
            sides[0] = self.integer(1, 3000)
        return tuple(sides)

    def integers_of_rank(self, most: int) -> int:
        return self.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 4)[: 2 * most + 2 if most < 4 else 10])

    def values(self, dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
        """Small numbers that meet each other often, ordinary ones, and now and then special ones."""
        size, random = shape, self.random
        if dtype is vx.bool:
            return np.asarray(random.integers(0, 2, size), bool)
        if dtype in CATEGORIES["integer"]:
            info = np.iinfo(dtype.name)
            if self.chance(0.15):
                return np.asarray(random.integers(info.min, info.max, size, np.dtype(dtype.name), True))
            return np.asarray(random.integers(max(info.min, -9), 10, size), dtype.name)
        parts = random.standard_normal(size) * self.choice((0.1, 1.0, 3.0, 50.0))
        if self.chance(0.3):
            parts = np.round(parts)
        if dtype in CATEGORIES["complex floating"]:
            return np.asarray(parts + 1j * random.standard_normal(size), dtype.name)
        if self.chance(0.08):
            limits = vx.finfo(dtype)
            special = np.array(
                [0.0, -0.0, np.inf, -np.inf, np.nan, limits.max, limits.smallest_normal, limits.eps, 1.0]
            )
            parts = np.where(random.random(size) < 0.3, random.choice(special, size), parts)
        with np.errstate(over="ignore"):
            return rounded(parts, dtype)

    def fresh(self, dtype: DType | None = None, shape: tuple[int, ...] | None = None) -> Entry:
        """A new array of random values."""
        dtype = dtype or self.dtype()
        host = self.values(dtype, self.shape() if shape is None else shape)
        return Entry(vx.asarray(host, dtype=dtype), host, f"{dtype}{list(host.shape)}")

    def entry(self, category: str | None = None, least: int = 0, most: int = 9) -> Entry:
        """An entry of the chain whose type is of a category and whose dimensions are so many, else a new one."""
        fitting = [
            one for one in self.entries
            if (category is None or one.array.dtype in CATEGORIES[category]) and least <= one.host.ndim <= most
        ]  # fmt: skip
        if fitting and self.chance(0.8):
            return self.choice(fitting)
        shape = self.shape(min(most, 4))
        return self.fresh(self.dtype(category), (*shape, *(3,) * (least - len(shape))))

    def beside(self, shape: tuple[int, ...], category: str | None, dtype: DType | None = None) -> Entry:
        """An entry whose shape broadcasts against another: one that is there, or a new one with some sides 1 or left out."""
        if dtype is None:
            for one in self.random.permutation(np.arange(len(self.entries))):
                found = self.entries[int(one)]
                if category is not None and found.array.dtype not in CATEGORIES[category]:
                    continue
                try:
                    if np.prod(np.broadcast_shapes(found.host.shape, shape), dtype=float) <= 4_000 and self.chance(0.5):
                        return found
                except ValueError:
                    continue
        sides = [1 if self.chance(0.25) else side for side in shape][
            self.integer(0, len(shape)) if self.chance(0.3) else 0 :
        ]
        return self.fresh(dtype or self.dtype(category), tuple(sides))

    def axis(self, ndim: int) -> int:
        return self.integer(-ndim, ndim - 1)

    def held(self, integers: Any) -> np.ndarray:
        """What NumPy counts or sums in 64 bits, modulo 2**32 where the device has no such integers."""
        found = np.asarray(integers)
        narrow = vx.int64 not in self.dtypes and found.dtype.kind in "iu" and found.dtype.itemsize == 8
        return found.astype(f"{found.dtype.kind}4") if narrow else found

    def places(self, integers: np.ndarray) -> vx.VkArray:
        """Integers as an array for indices."""
        return vx.asarray(self.held(integers))

    # -- running ------------------------------------------------------------------------------------------------------

    def keep(self, entry: Entry) -> None:
        """Make an entry of a result, of moderate size."""
        if entry.host.size > 4_000 or entry.host.ndim > 5:
            return
        if len(self.entries) < ENTRIES:
            self.entries.append(entry)
        else:
            self.entries[self.integer(0, ENTRIES - 1)] = entry

    def take(self, step: Step) -> None:
        """Run one operation and compare. Raises Difference."""
        self.done += 1
        self.last = step
        try:
            result = step.run()
            if not isinstance(result, vx.VkArray):
                if step.expected is None:  # it wrote in place, and has compared
                    return
                raise Difference(f"{step.text()}: got {result!r}, expected an array")
            if step.dtype is not None and result.dtype is not step.dtype:
                raise Difference(f"{step.text()}: dtype {result.dtype}, expected {step.dtype}")
            got = np.array(result)  # its own: operations in place write to hosts too
            check_close(step, got)
        except Difference:
            raise
        except Exception as error:
            raise Difference(
                f"{step.text()}: vkarray raised {type(error).__name__}: {error}; expected {step.expected!r}"
            ) from error
        shared = any(result._buffer is one.array._buffer for one in self.entries)
        if shared and step.view_of is None:
            if not step.may_share and result.size:
                raise Difference(f"{step.text()}: the result shares memory with an operand")
            result = vx.asarray(result, copy=True)
        host = got if step.view_of is None else step.view_of
        self.keep(Entry(result, host, f"the result of operation {self.done}"))

    def check(self) -> None:
        """Compare all entries."""
        for entry in self.entries:
            entry.check()


def _has(dtype: DType) -> bool:
    try:
        vx.zeros((1,), dtype=dtype)
    except vx.FeatureError:
        return False
    return True
