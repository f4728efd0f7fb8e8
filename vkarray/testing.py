"""NumPy's checks of results, for arrays of vkarray's too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .core.array import VkArray
from .io import interchange

__all__ = [
    "assert_", "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_compare", "assert_array_equal", "assert_array_less", "assert_array_max_ulp",
    "assert_equal", "assert_no_warnings", "assert_raises", "assert_raises_regex", "assert_string_equal", "assert_warns",
]  # fmt: skip


def _host(value: Any) -> Any:
    """Arrays as NumPy's, also those in lists and dictionaries."""
    if isinstance(value, VkArray):
        return interchange.to_numpy(value)
    if type(value) is dict:
        return {key: _host(one) for key, one in value.items()}
    return type(value)(_host(one) for one in value) if type(value) in (list, tuple) else value


def _check(name: str, calls: bool = False) -> Callable[..., Any]:
    """A check of NumPy's; one that `calls` a function gives it its arguments as they are."""

    def check(*args: Any, **options: Any) -> Any:
        import numpy.testing

        if calls:
            return getattr(numpy.testing, name)(*args, **options)
        return getattr(numpy.testing, name)(*map(_host, args), **{key: _host(one) for key, one in options.items()})

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"`numpy.testing.{name}`, whose arguments may be arrays of vkarray's. Raises AssertionError."
    return check


assert_ = _check("assert_")
assert_allclose = _check("assert_allclose")
assert_almost_equal = _check("assert_almost_equal")
assert_approx_equal = _check("assert_approx_equal")
assert_array_almost_equal = _check("assert_array_almost_equal")
assert_array_almost_equal_nulp = _check("assert_array_almost_equal_nulp")
assert_array_compare = _check("assert_array_compare")
assert_array_equal = _check("assert_array_equal")
assert_array_less = _check("assert_array_less")
assert_array_max_ulp = _check("assert_array_max_ulp")
assert_equal = _check("assert_equal")
assert_no_warnings = _check("assert_no_warnings", calls=True)
assert_raises = _check("assert_raises", calls=True)
assert_raises_regex = _check("assert_raises_regex", calls=True)
assert_string_equal = _check("assert_string_equal")
assert_warns = _check("assert_warns", calls=True)
