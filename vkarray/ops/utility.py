"""Utility functions of the standard."""

from __future__ import annotations

from typing import Any

from ..core import dtypes, layout, promotion
from ..core.array import ArrayLike, VkArray, operations
from ..kernels.conversion import cast
from ..kernels.faults import WrongValue, check_values
from ..kernels.planned import planned, tracer
from ..kernels.reductions import checked
from .elementwise import not_equal, subtract
from .manipulation import broadcast_to, concat
from .reducing import Join, reduction

_TEST: dict[str, Any] = {"types": "bool", "map": "vx_to_bool(a)", "chapter": "utility"}
all = reduction("all", "all", "a && b", "Whether all elements over axes are true (not 0, so NaN is); true for none.",
                empty=True, join=Join("logical_and", True), **_TEST)  # fmt: skip
any = reduction("any", "all", "a || b", "Whether any element over axes is true (not 0, so NaN is); false for none.",
                empty=False, join=Join("logical_or", False), **_TEST)  # fmt: skip


@planned
def diff(
    x: ArrayLike, /, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> VkArray:
    """The n-th differences of neighbours along an axis: n times x[i + 1] - x[i].

    Parameters: x (numeric, or bool: whether neighbours differ); n (0 or more); axis; prepend, append (arrays or numbers put before
    and after x along the axis first).
    Returns an array of the promoted dtype, n shorter along the axis (or empty there).
    Raises ValueError for a negative n or other shapes, IndexError for an axis out of range, TypeError for other types.
    Standard: utility functions, `diff`.
    """
    checked("diff", x, None)
    promotion.check_category("diff", x._dtype, "all")
    n = layout.as_integer(n, "diff", "n")
    if n < 0:
        raise ValueError(f"diff: expected n of 0 or more, got {n}.")
    axis = layout.normalize_axis(axis, x.ndim, "diff")
    ends = (part if part is None else operations["asarray"](part, device=x._device) for part in (prepend, append))
    parts = [part for part in (next(ends), x, next(ends)) if part is not None]
    if len(parts) > 1 and n > 0:
        rows = (*x._shape[:axis], 1, *x._shape[axis + 1 :])
        x = concat([broadcast_to(part, rows) if part.ndim == 0 else part for part in parts], axis=axis)
    for _ in range(min(n, x._shape[axis])):  # nothing is left after so many
        x = _DIFFERENCE[x._dtype.kind == "b"](_without_end(x, axis, 1), _without_end(x, axis, 0))
    return x


_DIFFERENCE = (subtract.call, not_equal.call)


def refuse_where(error: type[Exception], text: str, wrong: VkArray) -> None:
    """Raise an error where any of the truths `wrong` holds: here, or where that is compiled, when the host next reads a value."""
    if tracer() is not None:
        check_values(WrongValue(error, text), cast(wrong, dtypes.uint8), 0, 0)
    elif bool(any(wrong)):
        raise error(text)


def _without_end(x: VkArray, axis: int, start: int) -> VkArray:
    """A view without the first (start = 1) or last (0) element along an axis; empty where there is at most one."""
    length = x._shape[axis] - 1
    if length <= 0:
        start = length = 0
    shape = (*x._shape[:axis], length, *x._shape[axis + 1 :])
    return x._view(shape, x._strides, start * x._strides[axis])


operations.update(all=all, any=any, diff=diff)
