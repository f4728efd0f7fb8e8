"""`Polynomial`: a power series as an object, which fits points and lives on a domain that is mapped to a window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..core.array import ArrayLike, VkArray, operations
from ..core.promotion import is_scalar
from ..ops import creation
from ..ops.beyond import power_series
from ..ops.statistical import max as largest
from ..ops.statistical import min as smallest
from ..ops.utility import all as all_true


class Polynomial:
    """A power series.

    Parameters: coef (the coefficients, the constant one first); domain (an interval, [-1, 1] by default, which is shifted and
    scaled to the window before the series is evaluated); window ([-1, 1] by default); symbol (the name of the variable).
    Attributes: `coef`, `domain`, `window`, `symbol`.
    """

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    maxpower = 100

    def __init__(
        self, coef: ArrayLike, domain: ArrayLike | None = None, window: ArrayLike | None = None, symbol: str = "x"
    ) -> None:  # fmt: skip
        (self.coef,) = power_series.series("Polynomial", creation.asarray(coef), trim=False)
        self.domain, self.window = (
            _interval(one, like=self.coef, name=name) for one, name in ((domain, "domain"), (window, "window"))
        )
        if not isinstance(symbol, str):
            raise TypeError(f"Polynomial: expected a string as symbol, got {symbol!r}.")
        if not symbol.isidentifier():
            raise ValueError(f"Polynomial: expected an identifier as symbol, got {symbol!r}.")
        self.symbol = symbol

    def _new(self, coef: VkArray) -> Polynomial:
        return type(self)(coef, self.domain, self.window, self.symbol)

    # -- what it is -------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        lists = ", ".join(f"{name}={one.tolist()}" for name, one in (("domain", self.domain), ("window", self.window)))
        return f"Polynomial({self.coef.tolist()}, {lists}, symbol={self.symbol!r})"

    def __str__(self) -> str:
        off, scale = (one.item() for one in self.mapparms())
        inner = self.symbol if (off, scale) == (0, 1) else f"({off:g} + {scale:g}{self.symbol})"
        parts = [
            f"{value}" + ("" if power == 0 else f" {inner}" if power == 1 else f" {inner}**{power}")
            for power, value in enumerate(self.coef.tolist())
        ]
        return " + ".join(parts).replace("+ -", "- ")

    def __len__(self) -> int:
        return self.coef.size

    def __iter__(self) -> Iterator[VkArray]:
        return iter(self.coef)

    def degree(self) -> int:
        """The highest power."""
        return self.coef.size - 1

    def copy(self) -> Polynomial:
        """A copy."""
        return self._new(operations["copy"](self.coef))

    def has_samecoef(self, other: Polynomial) -> bool:
        """Whether the coefficients are equal."""
        return self.coef.shape == other.coef.shape and bool(all_true(self.coef == other.coef))

    def has_samedomain(self, other: Polynomial) -> bool:
        """Whether the domains are equal."""
        return bool(all_true(self.domain == other.domain))

    def has_samewindow(self, other: Polynomial) -> bool:
        """Whether the windows are equal."""
        return bool(all_true(self.window == other.window))

    def has_sametype(self, other: Any) -> bool:
        """Whether the types are equal."""
        return isinstance(other, type(self))

    def mapparms(self) -> tuple[VkArray, VkArray]:
        """(off, scale) of the map off + scale x from the domain to the window."""
        return _mapping(self.domain, self.window)

    # -- arithmetic -------------------------------------------------------------------------------------------------

    def __call__(self, x: Any) -> Any:
        """The values at a number or the elements of an array; of a polynomial, the composition."""
        off, scale = self.mapparms()
        if isinstance(x, Polynomial):
            inner = x * Polynomial([scale.item()]) + Polynomial([off.item()])
            result = Polynomial(self.coef[-1])
            for place in range(self.coef.size - 2, -1, -1):
                result = result * inner + Polynomial(self.coef[place])
            return result
        x = creation.asarray(x)
        return power_series.polyval(off + scale * x, self.coef)

    def _other(self, other: Any) -> VkArray:
        """The coefficients of the other operand."""
        if not isinstance(other, Polynomial):
            return creation.asarray(other)
        if not (self.has_samedomain(other) and self.has_samewindow(other)):
            raise TypeError("Polynomial: the domains or windows differ. Convert one with .convert.")
        if self.symbol != other.symbol:
            raise ValueError(f"Polynomial: the symbols {self.symbol!r} and {other.symbol!r} differ.")
        return other.coef

    def __neg__(self) -> Polynomial:
        return self._new(-self.coef)

    def __pos__(self) -> Polynomial:
        return self

    def __add__(self, other: Any) -> Polynomial:
        return self._new(power_series.polyadd(self.coef, self._other(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Polynomial:
        return self._new(power_series.polysub(self.coef, self._other(other)))

    def __rsub__(self, other: Any) -> Polynomial:
        return self._new(power_series.polysub(self._other(other), self.coef))

    def __mul__(self, other: Any) -> Polynomial:
        return self._new(power_series.polymul(self.coef, self._other(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Polynomial:
        if not is_scalar(other) or isinstance(other, bool):
            raise TypeError(f"Polynomial: / takes a number, got {type(other).__name__}. Use // and %.")
        return self._new(self.coef / other)

    def __divmod__(self, other: Any) -> tuple[Polynomial, Polynomial]:
        quotient, rest = power_series.polydiv(self.coef, self._other(other))
        return self._new(quotient), self._new(rest)

    def __rdivmod__(self, other: Any) -> tuple[Polynomial, Polynomial]:
        quotient, rest = power_series.polydiv(self._other(other), self.coef)
        return self._new(quotient), self._new(rest)

    def __floordiv__(self, other: Any) -> Polynomial:
        return divmod(self, other)[0]

    def __rfloordiv__(self, other: Any) -> Polynomial:
        return divmod(other, self)[0]

    def __mod__(self, other: Any) -> Polynomial:
        return divmod(self, other)[1]

    def __rmod__(self, other: Any) -> Polynomial:
        return divmod(other, self)[1]

    def __pow__(self, power: int) -> Polynomial:
        return self._new(power_series.polypow(self.coef, power, self.maxpower))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Polynomial) and self.symbol == other.symbol and self.has_samecoef(other)
            and self.has_samedomain(other) and self.has_samewindow(other)
        )  # fmt: skip

    # -- other series -----------------------------------------------------------------------------------------------

    def cutdeg(self, deg: int) -> Polynomial:
        """The series without powers above `deg`."""
        return self.truncate(deg + 1)

    def truncate(self, size: int) -> Polynomial:
        """The series with its first `size` coefficients alone. Raises ValueError for a size below 1."""
        if int(size) != size or size < 1:
            raise ValueError(f"Polynomial: expected a size of 1 or more, an integer, got {size!r}.")
        return self._new(self.coef[: int(size)])

    def trim(self, tol: float = 0) -> Polynomial:
        """The series without coefficients at the end that are at most `tol`."""
        return self._new(power_series.polytrim(self.coef, tol))

    def convert(
        self, domain: ArrayLike | None = None, kind: type[Polynomial] | None = None, window: ArrayLike | None = None
    ) -> Polynomial:  # fmt: skip
        """The same function as a series with another domain and window ([-1, 1] by default)."""
        kind = type(self) if kind is None else kind
        return self(kind.identity(_DEFAULT if domain is None else domain, window, self.symbol))

    def deriv(self, m: int = 1) -> Polynomial:
        """The m-th derivative."""
        return self._new(power_series.polyder(self.coef, m, self.mapparms()[1]))

    def integ(self, m: int = 1, k: Any = (), lbnd: float | None = None) -> Polynomial:
        """The m-th integral; k (the values at lbnd, 0 by default)."""
        off, scale = self.mapparms()
        lower = 0 if lbnd is None else (off + scale * lbnd)
        return self._new(power_series.polyint(self.coef, m, k, lower, 1 / scale))

    def roots(self) -> VkArray:
        """The roots, in ascending order."""
        off, scale = _mapping(self.window, self.domain)
        return off + scale * power_series.polyroots(self.coef)

    def linspace(self, n: int = 100, domain: ArrayLike | None = None) -> tuple[VkArray, VkArray]:
        """n evenly spaced points of the domain, and the values there."""
        start, stop = (self.domain if domain is None else creation.asarray(domain)).tolist()
        x = creation.linspace(start, stop, n, dtype=self.domain.dtype, device=self.coef.device)
        return x, self(x)

    @classmethod
    def fit(
        cls, x: ArrayLike, y: ArrayLike, deg: Any, domain: ArrayLike | None = None, rcond: float | None = None, full: bool = False,
        w: ArrayLike | None = None, window: ArrayLike | None = None, symbol: str = "x",
    ) -> Any:  # fmt: skip
        """The series that fits points best (see `polynomial.polyfit`); domain (by default that of x; [] for [-1, 1])."""
        x = creation.asarray(x)
        if domain is None:
            low, high = float(smallest(x)), float(largest(x))
            domain = [low, high] if low != high else [low - 1, high + 1]
        elif isinstance(domain, (list, tuple)) and len(domain) == 0:
            domain = _DEFAULT
        (coefficients,) = power_series.series("Polynomial.fit", x, trim=False)
        source, target = (_interval(one, coefficients, name) for one, name in ((domain, "domain"), (window, "window")))
        off, scale = _mapping(source, target)
        found = power_series.polyfit(off + scale * x, y, deg, rcond, full, w)
        made = cls(found[0] if full else found, source, target, symbol)
        return (made, found[1]) if full else made

    @classmethod
    def fromroots(
        cls, roots: ArrayLike, domain: ArrayLike | None = (), window: ArrayLike | None = None, symbol: str = "x"
    ) -> Polynomial:  # fmt: skip
        """The series with the given roots and the leading coefficient 1; domain (None for the interval of the roots)."""
        r = creation.asarray(roots)
        if domain is None:
            domain = [float(smallest(r)), float(largest(r))]
        elif isinstance(domain, (list, tuple)) and len(domain) == 0:
            domain = _DEFAULT
        (own,) = power_series.series("Polynomial.fromroots", r, trim=False)
        source, target = (_interval(one, own, name) for one, name in ((domain, "domain"), (window, "window")))
        off, scale = _mapping(source, target)
        made = power_series.polyfromroots(off + scale * r) / scale**r.size
        return cls(made, source, target, symbol)

    @classmethod
    def identity(
        cls, domain: ArrayLike | None = None, window: ArrayLike | None = None, symbol: str = "x"
    ) -> Polynomial:  # fmt: skip
        """The series of x itself."""
        like = creation.asarray([0.0])
        source, target = (_interval(one, like, name) for one, name in ((domain, "domain"), (window, "window")))
        off, scale = (one.item() for one in _mapping(target, source))
        return cls([off, scale], source, target, symbol)

    @classmethod
    def basis(
        cls, deg: int, domain: ArrayLike | None = None, window: ArrayLike | None = None, symbol: str = "x"
    ) -> Polynomial:  # fmt: skip
        """The series of one power. Raises ValueError for a negative one."""
        if int(deg) != deg or deg < 0:
            raise ValueError(f"Polynomial: expected a degree of 0 or more, an integer, got {deg!r}.")
        return cls([0.0] * int(deg) + [1.0], domain, window, symbol)

    @classmethod
    def cast(cls, series: Polynomial, domain: ArrayLike | None = None, window: ArrayLike | None = None) -> Polynomial:
        """The series with another domain and window: see `convert`."""
        return series.convert(domain, cls, window)


_DEFAULT: Sequence[float] = (-1.0, 1.0)


def _interval(ends: Any, like: VkArray, name: str) -> VkArray:
    """An interval as an array of a real type. Raises ValueError for another number of ends."""
    made = creation.asarray(list(_DEFAULT) if ends is None else ends, device=like.device)
    (made,) = power_series.series(f"Polynomial: {name}", made, trim=False)
    if made.size != 2:
        raise ValueError(f"Polynomial: expected two ends of the {name}, got {made.size}.")
    return made


def _mapping(source: VkArray, target: VkArray) -> tuple[VkArray, VkArray]:
    """off and scale of the map off + scale x from one interval to another."""
    length = source[1] - source[0]
    return (source[1] * target[0] - source[0] * target[1]) / length, (target[1] - target[0]) / length
