"""The mode VKARRAY_COMPARE: every result of a row is checked against NumPy's on the same operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.array import VkArray, empty
from ..errors import ValidationError
from ..io import interchange
from . import launch
from .conversion import cast, cast_into
from .conversion import elementwise as elementwise_of
from .scalars import Scalar

if TYPE_CHECKING:
    from .rows import Row

# NumPy's own functions are within a few units in the last place, so this finds wrong results, not roundings.
_UNITS = 16
# The textbook formulas, which the standard asks for: a part may be NaN where the modulus of a complex product overflows.
_PRODUCTS = ("multiply", "square")


def _reference(name: str, operands: Sequence[Any]) -> Any:
    import numpy as np

    if name == "clip":
        return np.minimum(np.maximum(operands[0], operands[1]), operands[2])
    if name == "log1p" and operands[0].dtype.kind == "c":
        return _complex_log1p(operands[0])
    return getattr(np, name)(*operands)


def _complex_log1p(z: Any) -> Any:
    """log(1 + z) without what NumPy's own loses near 0: the real part of a small z."""
    import numpy as np

    near = np.empty_like(z)
    near.real = 0.5 * np.log1p(z.real * (2 + z.real) + z.imag * z.imag)
    near.imag = np.arctan2(z.imag, 1 + z.real)
    moved = z.copy()  # not 1 + z, which loses the sign of a zero
    moved.real += 1
    return np.where(np.abs(z) < 0.5, near, np.log(moved))


def _wide(values: Any) -> Any:
    """Complex values in wider arithmetic."""
    import numpy as np

    return values.astype(np.complex128 if values.dtype == np.complex64 else np.clongdouble)


def _limited(values: Any, largest: float) -> Any:
    """Complex values with the largest numbers for infinite parts, so that every difference is a number."""
    import numpy as np

    result = _wide(values)
    result.real, result.imag = np.clip(result.real, -largest, largest), np.clip(result.imag, -largest, largest)
    return result


def elementwise(
    row: Row, operation: launch.Operation, operands: Sequence[VkArray | Scalar], result: VkArray
) -> VkArray:
    """`conversion.elementwise`, which must give what NumPy does.

    Raises ValidationError where a result is not NumPy's within 16 units in the last place (exactly for integers).
    """
    # Read first: the result may lie in the memory of an operand.
    arrays = [
        operand.array if isinstance(operand, Scalar) else cast(operand, dtype)
        for operand, dtype in zip(operands, operation.inputs, strict=True)
    ]
    host = [interchange.to_numpy(array) for array in arrays]
    same = result._dtype is operation.result
    computed = result if same else empty(result._shape, operation.result, result._device)
    _check(row, host, elementwise_of(operation, operands, computed))
    return result if same else cast_into(computed, result)


def _check(row: Row, host: Sequence[Any], result: VkArray) -> None:
    import numpy as np

    if row.name != "clip" and not hasattr(np, row.name):
        return  # a row of one's own
    got = interchange.to_numpy(result)
    with np.errstate(all="ignore"):
        try:
            # NumPy's complex functions overflow on the way.
            wider = host[0].dtype.kind == "c" and len(host) == 1 and row.name not in _PRODUCTS
            expected = np.asarray(_reference(row.name, [_wide(host[0])] if wider else host))
            expected = expected.astype(got.dtype) if wider and got.dtype.kind in "fc" else expected
        except ValueError:  # NumPy refuses some operands, such as negative powers of integers
            return
        if got.dtype.kind in "fc":
            limits = np.finfo(got.dtype if result.dtype.name != "bfloat16" else np.float16)
            near, true = got, expected
            if got.dtype.kind == "c":
                near, true = _limited(got, limits.max), _limited(expected, limits.max)
            scale = np.maximum(np.abs(true), limits.tiny)
            if row.name == "logaddexp":  # NumPy's loses digits where x1 and x2 make a sum near 1
                scale = np.maximum(scale, np.abs(np.maximum(*host)))
            wrong = ~(np.abs(near - true) <= _UNITS * limits.eps * scale)
            wrong &= (got != expected) & ~(np.isnan(got) & np.isnan(expected))
            if got.dtype.kind == "c":  # NumPy's NaN for numbers is an overflow on the way, too
                wrong &= ~(np.isnan(expected) | (np.isinf(expected) & (row.name in _PRODUCTS)))
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
