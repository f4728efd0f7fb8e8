"""The mode VKARRAY_COMPARE: every result of a row is checked against NumPy's on the same operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import interchange
from ..array import VkArray
from ..errors import ValidationError
from . import launch

if TYPE_CHECKING:
    from .rows import Row

# NumPy's own functions are within a few units in the last place, so this finds wrong results, not roundings.
_UNITS = 16


def _reference(name: str, operands: Sequence[Any]) -> Any:
    import numpy as np

    if name == "clip":
        return np.minimum(np.maximum(operands[0], operands[1]), operands[2])
    return getattr(np, name)(*operands)


def elementwise(row: Row, operation: launch.Operation, operands: Sequence[VkArray], result: VkArray) -> VkArray:
    """`launch.elementwise`, which must give what NumPy does.

    Raises ValidationError where a result is not NumPy's within 16 units in the last place (exactly for integers).
    """
    # Read first: the result may lie in the memory of an operand.
    host = [interchange.to_numpy(operand) for operand in operands]
    _check(row, host, launch.elementwise(operation, operands, result))
    return result


def _check(row: Row, host: Sequence[Any], result: VkArray) -> None:
    import numpy as np

    if row.name != "clip" and not hasattr(np, row.name):
        return  # a row of one's own
    got = interchange.to_numpy(result)
    with np.errstate(all="ignore"):
        try:
            expected = np.asarray(_reference(row.name, host))
        except ValueError:  # NumPy refuses some operands, such as negative powers of integers
            return
        if got.dtype.kind in "fc":
            limits = np.finfo(got.dtype if result.dtype.name != "bfloat16" else np.float16)
            size = np.maximum(np.abs(expected), limits.tiny)
            wrong = ~(np.abs(got - expected) <= _UNITS * limits.eps * size)
            wrong &= (got != expected) & ~(np.isnan(got) & np.isnan(expected))
            # Infinite operands: the standard and NumPy differ in some special cases, which the tests list.
            wrong &= np.broadcast_to(np.logical_and.reduce([np.all(np.isfinite(one)) for one in host]), got.shape)
        else:
            wrong = got != expected
    if np.any(wrong):
        place = tuple(int(axis[0]) for axis in np.nonzero(wrong)) if got.ndim else ()
        raise ValidationError(
            f"{row.name} of {host[0].dtype}: {int(np.sum(wrong))} of {got.size} elements differ from NumPy's, the "
            f"first at {place}: got {got[place]!r}, expected {expected[place]!r}."
        )
