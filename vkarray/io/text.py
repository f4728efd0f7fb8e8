"""Arrays and numbers as text, as NumPy writes them; its print options are these too."""

from __future__ import annotations

import contextlib
import operator
from typing import Any

from ..core.array import ArrayLike, VkArray
from ..ops.creation import asarray
from . import interchange, printing

__all__ = [
    "array2string", "array_repr", "array_str", "base_repr", "binary_repr", "format_float_positional",
    "format_float_scientific", "get_printoptions", "printoptions", "set_printoptions",
]  # fmt: skip


def _options(max_line_width: int | None, precision: int | None, suppress_small: bool | None) -> Any:
    given = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    formatter = get_printoptions()["formatter"]  # which every change of other options resets
    return printoptions(formatter=formatter, **{name: value for name, value in given.items() if value is not None})


def array_repr(
    arr: ArrayLike, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """The text of `repr(arr)`.

    Parameters: arr; max_line_width (characters in a line), precision (digits after the point) and suppress_small (whether
    numbers near 0 are written without an exponent), by default those of `get_printoptions`.
    Raises TypeError for what no array can hold.
    """
    with _options(max_line_width, precision, suppress_small):
        return printing.array_repr(asarray(arr))


def array_str(
    a: ArrayLike, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """The text of `str(a)`. Parameters and errors: as for `array_repr`."""
    with _options(max_line_width, precision, suppress_small):
        return printing.array_str(asarray(a))


def array2string(a: ArrayLike, *args: Any, **options: Any) -> str:
    """The text of the elements.

    Parameters: a; others as NumPy's function of the same name takes them. Raises TypeError for what no array can hold.
    """
    import numpy as np

    return np.array2string(interchange.to_numpy(asarray(a)), *args, **options)


def binary_repr(num: Any, width: int | None = None) -> str:
    """An integer in the binary system.

    Parameters: num (an integer, or an array of one); width (the least number of digits; with it, negative integers are
    written in two's complement). Raises ValueError for a width that is too small.
    """
    import numpy as np

    return np.binary_repr(operator.index(num), width)


def base_repr(number: Any, base: int = 2, padding: int = 0) -> str:
    """An integer in the system of a base.

    Parameters: number (an integer, or an array of one); base (2 to 36); padding (zeros to put before it).
    Raises ValueError for another base.
    """
    import numpy as np

    return np.base_repr(operator.index(number), base, padding)


def _number(x: Any) -> Any:
    return interchange.to_numpy(x)[()] if isinstance(x, VkArray) else x


def format_float_positional(x: Any, *args: Any, **options: Any) -> str:
    """A number without an exponent.

    Parameters: x (a number, or an array of one); others as NumPy's function takes them. Raises TypeError for other objects.
    """
    import numpy as np

    return np.format_float_positional(_number(x), *args, **options)


def format_float_scientific(x: Any, *args: Any, **options: Any) -> str:
    """A number with an exponent. Parameters and errors: as for `format_float_positional`."""
    import numpy as np

    return np.format_float_scientific(_number(x), *args, **options)


def set_printoptions(*args: Any, **options: Any) -> None:
    """Say how arrays are printed: NumPy's function of the same name, whose options are vkarray's too. Raises as that does."""
    import numpy as np

    np.set_printoptions(*args, **options)


def get_printoptions() -> dict[str, Any]:
    """How arrays are printed, by the names of the options of `set_printoptions`. Raises nothing."""
    import numpy as np

    return dict(np.get_printoptions())


def printoptions(*args: Any, **options: Any) -> contextlib.AbstractContextManager[Any]:
    """A context in which arrays are printed as options say. Parameters and errors: as for `set_printoptions`."""
    import numpy as np

    return np.printoptions(*args, **options)
