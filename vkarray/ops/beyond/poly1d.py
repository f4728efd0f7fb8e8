"""`poly1d`: a polynomial as an object, the coefficient of the highest power first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core import promotion
from ...core.array import ArrayLike, VkArray, operations
from .. import creation
from ..manipulation import concat, reshape
from ..utility import all as all_true
from . import polynomials
from .polynomials import without_leading_zeros

_WIDTH = 71  # of the lines that show a polynomial


def _number(value: complex) -> str:
    """A coefficient as polynomials show it."""
    if not value.imag:
        return f"{value.real:.4g}"
    return f"({value.real:.4g} + {value.imag:.4g}j)" if value.real else f"{value.imag:.4g}j"


class poly1d:
    """A polynomial of one variable.

    Parameters: c_or_r (the coefficients, that of the highest power first, or with r=True the roots); r; variable (its name, "x" by
    default). Attributes: `c` (the coefficients), `r` (the roots), `o` (the order), `variable`.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, c_or_r: ArrayLike, r: bool = False, variable: str | None = None) -> None:
        if isinstance(c_or_r, poly1d):
            self.variable: str = c_or_r.variable if variable is None else variable
            self._coefficients = c_or_r.c
            return
        if r:
            c_or_r = polynomials.poly(c_or_r)
        c = creation.asarray(c_or_r)
        c = reshape(c, (1,)) if c.ndim == 0 else c
        if c.ndim > 1:
            raise ValueError(f"poly1d: expected coefficients in 1 dimension, got shape {c.shape}.")
        c = without_leading_zeros(c)
        self._coefficients = c if c.size else creation.zeros((1,), dtype=c._dtype, device=c._device)
        self.variable = "x" if variable is None else variable

    # -- what it is -------------------------------------------------------------------------------------------------

    @property
    def coeffs(self) -> VkArray:
        """The coefficients, that of the highest power first, which in-place operators may change."""
        return self._coefficients

    @coeffs.setter
    def coeffs(self, value: VkArray) -> None:
        if value is not self._coefficients:
            raise AttributeError(
                "poly1d: the coefficients are changed in place or by power, p[2] = 3; make a new poly1d."
            )

    c = coef = coefficients = coeffs

    @property
    def order(self) -> int:
        """The highest power."""
        return self._coefficients.size - 1

    o = order

    @property
    def roots(self) -> VkArray:
        """The roots."""
        return polynomials.roots(self._coefficients)

    r = roots

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[VkArray]:
        return iter(self._coefficients)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._coefficients.__array__(dtype, copy)

    def __getitem__(self, power: int) -> VkArray:
        if not 0 <= power <= self.order:
            return creation.zeros((), dtype=self.c._dtype, device=self.c._device)
        return self.c[self.order - power]

    def __setitem__(self, power: int, value: Any) -> None:
        if power < 0:
            raise ValueError("poly1d: negative powers are not supported.")
        if power > self.order:
            zeros = creation.zeros((power - self.order,), dtype=self.c._dtype, device=self.c._device)
            self._coefficients = concat((zeros, self.c))
        self._coefficients[self.order - power] = value

    def __repr__(self) -> str:
        return f"poly1d{repr(self.c).removeprefix('array')}"

    def __str__(self) -> str:
        """The terms, with their powers on a line above."""
        lines, above, below = "", "", ""
        for place, value in enumerate(self.c.tolist()):
            number, power = _number(value), self.order - place
            if number == "0" and (power or below):
                continue
            begun = lines or below
            sign = "" if not begun else " - " if number.startswith("-") else " + "
            term = sign + (number.removeprefix("-") if begun else number) + (f" {self.variable}" if power else "")
            raised = str(power) if power > 1 else ""
            if raised and len(below) + len(term) + len(raised) > _WIDTH:
                lines, above, below = f"{lines} {above}\n{below}\n", "", ""
            above += " " * (len(term) - 1) + raised if raised else ""
            below += term + " " * (len(raised) - 1)
        return f"{lines} {above}\n{below}"

    # -- arithmetic -------------------------------------------------------------------------------------------------

    def __call__(self, value: Any) -> Any:
        """The value at a number or at the elements of an array; of a polynomial, the composition."""
        if isinstance(value, poly1d):
            result = poly1d(self.c[0])
            for place in range(1, self.order + 1):
                result = result * value + self.c[place]
            return result
        return polynomials.polyval(self.c, value)

    def _with(self, function: Any, other: Any, swapped: bool = False) -> poly1d:
        pair = (self.c, poly1d(other).c)
        return poly1d(function(*(pair[::-1] if swapped else pair)))

    def __neg__(self) -> poly1d:
        return poly1d(-self.c)

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: Any) -> poly1d:
        return self._with(polynomials.polyadd, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> poly1d:
        return self._with(polynomials.polysub, other)

    def __rsub__(self, other: Any) -> poly1d:
        return self._with(polynomials.polysub, other, swapped=True)

    def __mul__(self, other: Any) -> poly1d:
        return poly1d(self.c * other) if promotion.is_scalar(other) else self._with(polynomials.polymul, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if promotion.is_scalar(other):
            return poly1d(self.c / other)
        quotient, rest = polynomials.polydiv(self.c, poly1d(other).c)
        return poly1d(quotient), poly1d(rest)

    def __rtruediv__(self, other: Any) -> Any:
        return poly1d(other) / self

    def __pow__(self, power: int) -> poly1d:
        if not promotion.is_scalar(power) or int(power) != power or power < 0:
            raise ValueError("poly1d: expected a power of 0 or more, an integer.")
        result = poly1d([1])
        for _ in range(int(power)):
            result = self * result
        return result

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, poly1d):
            return NotImplemented
        return self.c._shape == other.c._shape and bool(all_true(operations["equal"](self.c, other.c)))

    def deriv(self, m: int = 1) -> poly1d:
        """The m-th derivative."""
        return poly1d(polynomials.polyder(self.c, m))

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """The m-th integral, with the constants k."""
        return poly1d(polynomials.polyint(self.c, m, k))
