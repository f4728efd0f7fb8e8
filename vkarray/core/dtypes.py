"""The data types of the array API standard (chapter "Data Types"), plus float16 and bfloat16.

A `DType` is a name, a kind and a width: nothing here knows how a device stores or computes it.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CATEGORIES", "DTYPES", "DType", "as_dtype", "category_names"]


class DType:
    """A data type: compared by identity, one object for each type.

    Attributes: `name` ("float32"), `category` ("real floating", ...), `bits` (of one component, so 32 for complex64)
    and `itemsize` (bytes of one element on the host).
    """

    __slots__ = ("bits", "category", "itemsize", "name")

    def __init__(self, name: str, category: str, bits: int) -> None:
        self.name: Final = name
        self.category: Final = category
        self.bits: Final = bits
        self.itemsize: Final = bits // 8 * (2 if category == "complex floating" else 1)

    def __repr__(self) -> str:
        return f"vkarray.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple:
        return as_dtype, (self.name,)


bool_ = DType("bool", "bool", 8)
int8 = DType("int8", "signed integer", 8)
int16 = DType("int16", "signed integer", 16)
int32 = DType("int32", "signed integer", 32)
int64 = DType("int64", "signed integer", 64)
uint8 = DType("uint8", "unsigned integer", 8)
uint16 = DType("uint16", "unsigned integer", 16)
uint32 = DType("uint32", "unsigned integer", 32)
uint64 = DType("uint64", "unsigned integer", 64)
float16 = DType("float16", "real floating", 16)
bfloat16 = DType("bfloat16", "real floating", 16)
float32 = DType("float32", "real floating", 32)
float64 = DType("float64", "real floating", 64)
complex64 = DType("complex64", "complex floating", 32)
complex128 = DType("complex128", "complex floating", 64)

DTYPES: Final[dict[str, DType]] = {
    dtype.name: dtype
    for dtype in (
        bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
        float16, bfloat16, float32, float64, complex64, complex128,
    )
}  # fmt: skip

_SIGNED = frozenset({int8, int16, int32, int64})
_UNSIGNED = frozenset({uint8, uint16, uint32, uint64})
_REAL = frozenset({float16, bfloat16, float32, float64})
_COMPLEX = frozenset({complex64, complex128})

# The categories of the standard, by the words its own error texts and annotations use.
CATEGORIES: Final[dict[str, frozenset[DType]]] = {
    "bool": frozenset({bool_}),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integer": _SIGNED | _UNSIGNED,
    "integer or boolean": _SIGNED | _UNSIGNED | {bool_},
    "real floating": _REAL,
    "complex floating": _COMPLEX,
    "floating-point": _REAL | _COMPLEX,
    "real numeric": _SIGNED | _UNSIGNED | _REAL,
    "numeric": _SIGNED | _UNSIGNED | _REAL | _COMPLEX,
    "real": _SIGNED | _UNSIGNED | _REAL | {bool_},
    "all": frozenset(DTYPES.values()),
}

# The complex type whose components have a given real type, and back.
COMPLEX_OF: Final = {float16: complex64, bfloat16: complex64, float32: complex64, float64: complex128}
REAL_OF: Final = {complex64: float32, complex128: float64}


def category_names(category: str) -> str:
    """The names of a category's types, for error messages."""
    return ", ".join(dtype.name for dtype in DTYPES.values() if dtype in CATEGORIES[category])


def as_dtype(value: object, function: str = "dtype") -> DType:
    """The `DType` meant by `value`: a `DType`, the name of one, or an object whose `name` is one (a NumPy dtype).

    Raises TypeError, naming `function`, for everything else.
    """
    if isinstance(value, DType):
        return value
    name = value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", None)
    if isinstance(name, str) and not (isinstance(value, type) and value in (int, float, complex)):
        found = DTYPES.get(name)
        if found is not None:
            return found
    raise TypeError(
        f"{function}: expected a data type such as vkarray.float32, got {value!r}. vkarray has: {', '.join(DTYPES)}."
    )
