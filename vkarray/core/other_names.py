"""What functions of NumPy are called in the standard: for the error that names the right one."""

from __future__ import annotations

_STANDARD_NAMES = {"tensor": "asarray"}


def missing(namespace: object, name: str) -> AttributeError:
    """The error for a name that the namespace does not have."""
    instead = f"; in the array API standard it is vkarray.{_STANDARD_NAMES[name]}" if name in _STANDARD_NAMES else ""
    return AttributeError(f"module 'vkarray' has no attribute {name!r}{instead}", name=name, obj=namespace)
