"""What functions of NumPy are called in the standard: for the error that names the right one."""

from __future__ import annotations

_STANDARD_NAMES = {
    "absolute": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "array": "asarray",
    "asanyarray": "asarray", "ascontiguousarray": "asarray", "bitwise_not": "bitwise_invert", "concatenate": "concat",
    "conjugate": "conj", "cumprod": "cumulative_prod", "cumsum": "cumulative_sum", "identity": "eye",
    "invert": "bitwise_invert", "left_shift": "bitwise_left_shift", "mod": "remainder", "power": "pow",
    "right_shift": "bitwise_right_shift", "rint": "round", "tensor": "asarray", "transpose": "permute_dims",
    "true_divide": "divide", "unique": "unique_values",
}  # fmt: skip


def missing(namespace: object, name: str) -> AttributeError:
    """The error for a name that the namespace does not have."""
    instead = f"; in the array API standard it is vkarray.{_STANDARD_NAMES[name]}" if name in _STANDARD_NAMES else ""
    return AttributeError(f"module 'vkarray' has no attribute {name!r}{instead}", name=name, obj=namespace)
