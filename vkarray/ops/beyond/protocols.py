"""NumPy's functions given arrays of vkarray's (NEP 13 and NEP 18): vkarray's function of that name computes on the device."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ...core.array import VkArray, operations
from ...core.operators import EQUALITY, is_numpy_array

# Functions that write values out as text or bytes: NumPy's own do that with the values on the host.
_ON_THE_HOST = {
    "array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed", "format_float_positional",
    "format_float_scientific", "result_type", "can_cast", "min_scalar_type", "common_type",
}  # fmt: skip


def _namespace() -> ModuleType:
    return sys.modules["vkarray"]


def _found(function: Any) -> Any:
    """The function of vkarray's that has the place and the name of one of NumPy's, or None."""
    module: Any = _namespace()
    for part in (getattr(function, "__module__", None) or "numpy").split(".")[1:]:
        if not part.startswith("_"):
            module = getattr(module, part, None)
    return getattr(module, function.__name__, None)


def array_function(x: VkArray, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`numpy.function(*args, **kwargs)` with an array of vkarray's among the arguments. Raises TypeError where there is none."""
    if not all(issubclass(one, VkArray) or one.__module__.partition(".")[0] == "numpy" for one in types):
        return NotImplemented
    # Who broadcasts what is no number, such as matplotlib its options, gets arrays of objects, which only the host has.
    objects = function.__name__ == "broadcast_arrays" and any(one is None or isinstance(one, str) for one in args)
    if objects or function.__name__ in _ON_THE_HOST:
        return function(*map(_on_host, args), **{name: _on_host(value) for name, value in kwargs.items()})
    own = _found(function)
    if own is None:
        raise TypeError(
            f"numpy.{function.__name__}: vkarray has no function of that name to compute it on the device. Convert the array "
            f"with numpy.asarray first."
        )
    return own(*(_beside(x, one) for one in args), **{name: _beside(x, one) for name, one in kwargs.items()})


def _beside(x: VkArray, value: Any) -> Any:
    """An argument with vkarray's arrays in place of NumPy's: who calls NumPy's function with both asks for them together."""
    if isinstance(value, (list, tuple)) and any(type(one).__module__ == "numpy" for one in value):
        return type(value)(_beside(x, one) for one in value) if type(value) in (list, tuple) else value
    found: Any = value
    of_numbers = is_numpy_array(found) and found.dtype.kind in "biufc"
    return operations["asarray"](found, device=x.device) if of_numbers else value


def _on_host(value: Any) -> Any:
    return value.__array__() if isinstance(value, VkArray) else value


def array_ufunc(x: VkArray, function: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A ufunc of NumPy's with an array of vkarray's among the operands.

    `numpy.add(x, values)` names the function, and NumPy arrays after a first one of vkarray's go to its device. `values + x` comes
    here in the same way as `numpy.add(values, x)`, and raises TypeError: an operator copies nothing to the device. `values == x`
    compares on the host.
    """
    import numpy as np

    name = function.__name__
    if name in EQUALITY and isinstance(inputs[0], np.ndarray) and inputs[0].ndim and not kwargs:
        return getattr(function, method)(*map(_on_host, inputs))  # as `==` of vkarray's arrays with NumPy's
    if inputs and isinstance(inputs[0], VkArray) and method == "__call__":
        inputs = tuple(_beside(x, one) for one in inputs)
    # A scalar comes as itself or, compared, as an array of 0 dimensions.
    inputs = tuple(one[()] if isinstance(one, np.ndarray) and one.ndim == 0 else one for one in inputs)
    for one in (*inputs, *(kwargs.get("out") or ())):
        if isinstance(one, np.ndarray) and one.ndim:
            raise TypeError(
                f"{name}: got a vkarray array and a numpy.ndarray; nothing is copied to the device silently. Convert it with "
                f"vkarray.asarray, or this array with numpy.asarray."
            )
    own = getattr(_namespace(), name, None)
    if own is None:
        numpys = getattr(np, name, None) is function
        remedy = "" if numpys else "start Python with SCIPY_ARRAY_API=1 if it is SciPy's, or "
        raise TypeError(
            f"{'numpy.' if numpys else ''}{name}: vkarray has no function of that name to compute it on the device. To compute it "
            f"on the host, {remedy}convert the array with numpy.asarray first."
        )
    if "out" in kwargs and len(kwargs["out"]) == 1:
        kwargs["out"] = kwargs["out"][0]
    return (own if method == "__call__" else getattr(own, method))(*inputs, **kwargs)


operations.update(array_function=array_function, array_ufunc=array_ufunc)
