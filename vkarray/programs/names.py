"""The functions that a program may call, by the names that files have for them. A file can name nothing else.

They are public functions of the library which tapes note (`recorded` in `_vk/watch.py`), methods and properties of arrays, and
arithmetic of Python's numbers. Functions that read or write files, or values on the host, are not among them.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..core.array import VkArray
from ..graph import stand_ins
from ..ops.beyond.random import Generator, RandomState
from ..ops.ufunc import ufunc

Function = Callable[..., Any]

# Public namespaces, by what comes before the names of their functions.
_SPACES = {
    "": "vkarray",
    "linalg": "vkarray.linalg",
    "fft": "vkarray.fft",
    "emath": "vkarray.lib.scimath",
    "lib.stride_tricks": "vkarray.lib.stride_tricks",
    "polynomial": "vkarray.polynomial.polynomial",
}
# Kernels of networks, which have no public namespace of their own.
_NETWORKS = {
    "attention": ("attend", "attention"),
    "columns": ("fold", "pad_with_zeros", "unfold"),
    "convolution": ("convolution", "convolution_backward"),
    "indexing": ("embedding", "gather", "scatter", "scatter_reduce", "index_reduce", "topk", "sort", "masked_fill"),
    "normalization": ("batch_norm", "batch_norm_of_running", "group_norm", "layer_norm", "rms_norm"),
    "pointwise": ("apply",),
    "pooling": (
        "adaptive_avg_pool",
        "adaptive_avg_pool_backward",
        "adaptive_max_pool",
        "avg_pool",
        "avg_pool_backward",
        "max_pool",
    ),
    "regions": ("pool",),
    "resample": ("filtered", "interpolate", "pad_repeated"),
    "softmax": ("log_softmax", "masked_softmax", "softmax"),
    "special": ("apply_special",),
}
# What public functions are made of, where tapes note the part in place of the whole.
_PARTS = {
    "getitem": "ops.indexing.getitem", "setitem": "ops.indexing.setitem", "where": "ops.searching._chosen",
    "copied": "ops.creation.from_values.copied", "spaced": "ops.creation.ranges.spaced", "round": "ops.elementwise.round",
    "clipped": "ops.elementwise._clip", "in_place": "ops.elementwise.in_place", "into": "ops.ufunc._into",
    "put": "ops.beyond.placing._put",
    "open_mesh": "ops.beyond.index_tricks._open_mesh", "values_of_polynomial": "ops.beyond.polynomials._values",
    "real_view": "ops.beyond.ndarray.real_view", "imag_view": "ops.beyond.ndarray.imag_view", "take": "ops.indexing.take",
    "triangles_of": "ops.linalg.cholesky.triangles_of", "decomposed": "ops.linalg.eigh._decomposed",
    "values_of_symmetric": "ops.linalg.eigh._values_of", "solved": "ops.linalg.lu._solved",
    "inverted": "ops.linalg.lu.inverted",
    **{name: f"ops.ufunc_methods.{name}" for name in ("reduce", "accumulate", "outer", "at", "reduceat")},
}  # fmt: skip
# Where those are that have no public namespace.
_PLACES = {f"part.{name}": f"vkarray.{path}" for name, path in _PARTS.items()} | {
    f"nn.{name}": f"vkarray.nn.{module}.{name}" for module, names in _NETWORKS.items() for name in names
}
# Methods of arrays that read values, write files or hand out memory.
_HOST = frozenset(
    (
        "__array__", "__array_function__", "__array_namespace__", "__array_ufunc__", "__bool__", "__complex__", "__contains__",
        "__dlpack__", "__dlpack_device__", "__float__", "__index__", "__int__", "as_integer_ratio", "dump", "dumps",
        "is_integer", "item", "setflags", "tobytes", "tofile", "tolist",
    )
)  # fmt: skip
# Methods of generators that return no arrays, or change more than how many numbers were taken.
_STATE = frozenset(("bytes", "get_state", "seed", "set_state"))
PROPERTIES = frozenset(
    ("T", "device", "dtype", "element_strides", "imag", "itemsize", "mT", "nbytes", "ndim", "real", "size", "strides")
)
_ASSIGNED = frozenset(("imag", "real", "shape"))
LARGEST = 1 << 127  # of Python's integers in programs


_GROWING = (operator.pow, operator.lshift, round)  # whose results can be many times larger than their operands


def _property(x: VkArray, name: str) -> Any:
    if name not in PROPERTIES:
        raise ValueError(f"programs take no property {name!r:.40} of arrays")
    return getattr(x, name)


def _assign(x: VkArray, name: str, value: Any) -> None:
    if name not in _ASSIGNED:
        raise ValueError(f"programs assign no property {name!r:.40} of arrays")
    setattr(x, name, value)


def _arithmetic(function: Function) -> Function:
    """Arithmetic of numbers that are not large, and so are their results."""

    @functools.wraps(function)
    def compute(*numbers: Any) -> Any:
        for one in numbers:
            if not isinstance(one, (int, float, complex)):
                raise ValueError(f"{function.__name__} of {type(one).__name__} in a program, which takes numbers")
        if function in _GROWING and len(numbers) == 2 and isinstance(numbers[1], int) and abs(numbers[1]) > 127:
            raise ValueError(f"{function.__name__} of {numbers} in a program, whose integers have at most 127 bits")
        found = function(*numbers)
        for one in found if isinstance(found, tuple) else (found,):
            if isinstance(one, int) and abs(one) >= LARGEST:
                raise ValueError(f"{function.__name__} of {numbers} in a program, whose integers have at most 127 bits")
        return found

    return compute


def _recorded(value: Any) -> Function | None:
    """The function that a tape notes of a public one."""
    if isinstance(value, ufunc):
        return value.call
    return value if getattr(value, "is_recorded", False) else None


def _public(space: str) -> dict[str, Function]:
    """What a tape notes of the functions of a public namespace."""
    values = vars(importlib.import_module(space)).items()
    return {
        name: value for name, value in values
        if not name.startswith("_") and not isinstance(value, ModuleType) and _recorded(value) is not None
    }  # fmt: skip


def _methods() -> dict[str, Function]:
    found: dict[str, Function] = {
        "len": len,
        "list": list,
        "shape": stand_ins.shape_of,
        "get": _property,
        "set": _assign,
    }
    for name in dir(VkArray):
        own = inspect.getattr_static(VkArray, name)
        private = name.startswith("_") and not name.startswith("__")
        if inspect.isfunction(own) and not private and name not in vars(object) and name not in _HOST:
            found[name] = own
    return found | {f"__{name}__": getattr(VkArray, f"__{name}__") for name in ("eq", "ne", "lt", "le", "gt", "ge")}


def _draws() -> dict[str, Function]:
    """What tapes note of the methods of generators, which all of them have."""
    return {
        name: value for name, value in inspect.getmembers(RandomState) + inspect.getmembers(Generator)
        if _recorded(value) is not None and name not in _STATE
    }  # fmt: skip


def _numbers() -> dict[str, Function]:
    return {name: _arithmetic(function) for name, function in stand_ins.ARITHMETIC.items()}


@functools.cache
def _group(prefix: str) -> dict[str, Function]:
    """The functions whose names begin alike."""
    if prefix in _SPACES:
        return _public(_SPACES[prefix])
    return _OTHERS[prefix]() if prefix in _OTHERS else {}


_OTHERS = {"array": _methods, "number": _numbers, "random": _draws}


def find(name: str) -> Function | None:
    """The function of a name; None where there is none. It imports no more than what that one needs."""
    if name in _PLACES:
        module, _, attribute = _PLACES[name].rpartition(".")
        found: Function = getattr(importlib.import_module(module), attribute)
        return found
    prefix, _, own = name.rpartition(".")
    return _group(prefix).get(own)


@functools.cache
def functions() -> dict[str, Function]:
    """The whole table: what a program calls by each name."""
    table: dict[str, Function] = {}
    for prefix in (*_SPACES, *_OTHERS):
        table.update((f"{prefix}.{name}" if prefix else name, function) for name, function in _group(prefix).items())
    for name in _PLACES:
        function = find(name)
        assert function is not None
        table[name] = function
    return table


def version() -> str:
    """The version of this library."""
    found: str = importlib.import_module("vkarray").__version__
    return found


@functools.cache
def names() -> dict[int, str]:
    """The name of each function that a tape may hold, by its identity."""
    found: dict[int, str] = {}
    for name, function in functions().items():
        noted = _recorded(function) or function
        for one in (noted, getattr(noted, "__wrapped__", noted), function):
            found.setdefault(id(one), name)
    found |= {id(getattr): "array.get", id(setattr): "array.set"}
    return found
