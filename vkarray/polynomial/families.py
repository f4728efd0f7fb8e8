"""Classes of series of orthogonal polynomials, imported when one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..ops.beyond import orthogonal_series
from .series import NAMES, Series


def series_of(prefix: str, name: str, basis: str, functions: Mapping[str, Callable[..., Any]]) -> type[Series]:
    """The class of the series of a family of orthogonal polynomials."""
    family = orthogonal_series.FAMILIES[prefix]

    def composed(self: Series, inner: Series) -> Any:
        return orthogonal_series.clenshaw(family, inner, self.coef.tolist())

    return type(name, (Series,), {
        "__doc__": f"A series of {name} polynomials: its parameters are those of every series.", "__module__": __name__,
        "basis_name": basis, "_ends": family.domain, "_composed": composed,
        "_functions": {one: functions[prefix + one] for one in NAMES},
    })  # fmt: skip
