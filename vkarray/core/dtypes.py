"""The data types of the array API standard (chapter "Data Types"), plus float16 and bfloat16.

A `DType` is a name, a kind and a width: nothing here knows how a device stores or computes it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final, Union

from .. import configuration

__all__ = ["CATEGORIES", "DTYPES", "DType", "as_dtype", "category_names"]


_LETTERS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "real floating": "f", "complex floating": "c",
}  # fmt: skip
_CHARACTERS = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "l", "uint8": "B", "uint16": "H", "uint32": "I",
    "uint64": "L", "float16": "e", "bfloat16": "E", "float32": "f", "float64": "d", "complex64": "F", "complex128": "D",
}  # fmt: skip


class _Types(type):
    """The class of `DType`, called as NumPy's `dtype` is: with what means a type, to give that one."""

    def __call__(
        cls, value: Any = None, /, align: bool = False, copy: bool = False, metadata: Any = None
    ) -> Any:  # fmt: skip
        found, swapped = with_order(float if value is None else value, "dtype")
        return found.newbyteorder() if swapped else found

    def make_type(cls, name: str, category: str, bits: int) -> DType:
        """A type that did not exist."""
        return super().__call__(name, category, bits)


class DType(metaclass=_Types):
    """A data type: one object for each type, which equals NumPy's dtype and scalar type of the same name.

    Attributes: `name` ("float32"), `category` ("real floating", ...), `kind` (NumPy's letter of it: b, i, u, f, c), `bits`
    (of one component, so 32 for complex64), `itemsize` (bytes of one element on the host), `char` and `str` (NumPy's codes,
    as "f" and "<f4") and `type` (NumPy's class of scalars). Called with a number or a list, it makes an array: `float32(3)`.
    """

    __slots__ = ("bits", "category", "char", "itemsize", "kind", "name", "str")

    names: Final = None  # of fields, which NumPy's structured types have
    fields: Final = None
    subdtype: Final = None
    metadata: Final = None
    shape: Final = ()
    ndim: Final = 0
    isnative: Final = True
    isbuiltin: Final = 1
    isalignedstruct: Final = False
    hasobject: Final = False
    byteorder: Final = "="
    make: Callable[..., Any]  # the function `asarray`, which is defined above this module

    def __init__(self, name: str, category: str, bits: int) -> None:
        self.name: Final = name
        self.category: Final = category
        self.bits: Final = bits
        self.itemsize: Final = bits // 8 * (2 if category == "complex floating" else 1)
        self.kind: Final = _LETTERS[category]
        self.char: Final = _CHARACTERS.get(name, "")
        self.str: Final = f"{'|' if self.itemsize == 1 else '<'}{self.kind}{self.itemsize}"

    @property
    def alignment(self) -> int:
        """Bytes that addresses of elements on the host are multiples of."""
        return self.bits // 8

    @property
    def base(self) -> DType:
        """The type itself: it is no array of others."""
        return self

    @property
    def descr(self) -> list[tuple[Any, ...]]:
        """The type as NumPy describes fields."""
        return [("", self.str)]

    @property
    def num(self) -> int:
        """NumPy's number of the type. AttributeError for bfloat16, which NumPy lacks."""
        return self.dtype.num

    def newbyteorder(self, new_order: Any = "S", /) -> Any:
        """The type with bytes in an order: itself for the machine's, else NumPy's dtype, which `frombuffer` and `fromfile` read.

        Raises ValueError for what is no order.
        """
        if str(new_order)[:1] in tuple("=|<NnIiLl") or self.itemsize == 1:
            return self
        return self.dtype.newbyteorder(new_order)

    @property
    def type(self) -> Any:
        """NumPy's class of scalars of this type. AttributeError for bfloat16, which NumPy lacks."""
        return self.dtype.type

    @property
    def dtype(self) -> Any:
        """NumPy's dtype of that name, by which `numpy.dtype(vkarray.float32)` finds it. AttributeError for bfloat16."""
        import numpy

        if self is bfloat16:
            raise AttributeError("dtype: NumPy has no bfloat16. Take vkarray.float32 instead.")
        return numpy.dtype(self.name)

    __numpy_dtype__ = dtype

    def __call__(self, value: Any = 0, /) -> Any:
        """An array of this type, of 0 dimensions for a number. Raises as `asarray` does."""
        return DType.make(float(value) if isinstance(value, str) else value, dtype=self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType) or other is None:
            return self is other
        return _find(other) is self

    __hash__ = object.__hash__

    def __instancecheck__(self, instance: Any) -> bool:
        return getattr(instance, "dtype", None) is self and instance.shape == ()

    # In annotations, types stand where NumPy has classes.
    __class_getitem__: Any = classmethod(types.GenericAlias)

    @property
    def __name__(self) -> str:
        return self.name

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007 - this is what | calls

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007

    def __repr__(self) -> str:
        return f"vkarray.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple:
        return as_dtype, (self.name,)


bool_ = DType.make_type("bool", "bool", 8)
int8 = DType.make_type("int8", "signed integer", 8)
int16 = DType.make_type("int16", "signed integer", 16)
int32 = DType.make_type("int32", "signed integer", 32)
int64 = DType.make_type("int64", "signed integer", 64)
uint8 = DType.make_type("uint8", "unsigned integer", 8)
uint16 = DType.make_type("uint16", "unsigned integer", 16)
uint32 = DType.make_type("uint32", "unsigned integer", 32)
uint64 = DType.make_type("uint64", "unsigned integer", 64)
float16 = DType.make_type("float16", "real floating", 16)
bfloat16 = DType.make_type("bfloat16", "real floating", 16)
float32 = DType.make_type("float32", "real floating", 32)
float64 = DType.make_type("float64", "real floating", 64)
complex64 = DType.make_type("complex64", "complex floating", 32)
complex128 = DType.make_type("complex128", "complex floating", 64)

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


def default_floating() -> DType:
    """The type of Python floats, and of what integers lead to: float32, or float64 where that is chosen."""
    if configuration.default_floats:
        return DTYPES[configuration.default_float()]
    return DTYPES[(configuration.active or configuration.current()).default_float]  # asked at every call: a frame less


# NumPy's other names, its codes, and Python's types; the types that depend on the default floating type have their names.
_OTHER_NAMES: Final[dict[object, str]] = {
    **{dtype.char: name for name, dtype in DTYPES.items() if name != "bfloat16"},
    **{dtype.str[1:]: name for name, dtype in DTYPES.items() if name != "bfloat16"},
    "b1": "bool", "bool_": "bool", "int": "int64", "uint": "uint64", "int_": "int64", "intp": "int64", "uintp": "uint64",
    "longlong": "int64", "ulonglong": "uint64", "q": "int64", "Q": "uint64", "p": "int64", "P": "uint64", "long": "int64",
    "n": "int64", "N": "uint64",
    "ulong": "uint64", "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16", "intc": "int32",
    "uintc": "uint32", "half": "float16", "single": "float32", "double": "float64", "csingle": "complex64",
    "cdouble": "complex128", "float": "float", "complex": "complex", bool: "bool", int: "int64", float: "float",
    complex: "complex",
}  # fmt: skip


def _find(value: Any) -> DType | None:
    """The `DType` meant by a value, if there is one."""
    if not isinstance(value, (str, type)):
        if not getattr(value, "isnative", True):
            return None
        value = getattr(value, "name", None) or getattr(value, "dtype", None)
        if isinstance(value, DType):
            return value
    if isinstance(value, type) and value not in _OTHER_NAMES:
        value = value.__name__
    if isinstance(value, str) and value[:1] in ("<", "=", "|"):
        value = value[1:]
    if not isinstance(value, (str, type)):
        return None
    if value in DTYPES:
        return DTYPES[value]
    name = _OTHER_NAMES.get(value)
    if name in ("float", "complex"):
        return default_floating() if name == "float" else COMPLEX_OF[default_floating()]
    return None if name is None else DTYPES[name]


def with_order(value: Any, function: str) -> tuple[DType, bool]:
    """The type meant by `value`, as `as_dtype`, and whether its bytes are in the other order than the machine's, as in ">i4"."""
    if isinstance(value, str) and value[:1] == ">":
        found = as_dtype(value[1:], function)
    elif getattr(value, "isnative", True):
        return as_dtype(value, function), False
    else:
        found = as_dtype(value.newbyteorder("="), function)
    return found, found.itemsize > 1


_OF_PYTHON: Final[dict[object, str]] = {
    int: "int", float: "float", complex: "complex", "int": "int", "float": "float", "complex": "complex",
}  # fmt: skip


def default(kind: str) -> DType:
    """The type of Python's int, float or complex on a device that has all types."""
    if kind == "int":
        return DTYPES["int64"]
    return default_floating() if kind == "float" else COMPLEX_OF[default_floating()]


of_python: Callable[[str], DType] = default  # the module of arrays puts what asks the default device in its place


def as_dtype(value: object, function: str = "dtype") -> DType:
    """The `DType` meant by `value`: a `DType`, the name or code of one, a dtype or scalar type of NumPy's, or Python's
    bool, int, float (the default floating type) or complex.

    Raises TypeError, naming `function`, for everything else.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, (str, type)) and value in _OF_PYTHON:
        return of_python(_OF_PYTHON[value])
    found = _find(value)
    if found is not None:
        return found
    raise TypeError(
        f"{function}: expected a data type such as vkarray.float32, got {value!r}. vkarray has: {', '.join(DTYPES)}."
        f"{_remedy(function, value)}"
    )


def _remedy(function: str, value: object) -> str:
    """What to do where a data type is expected and a length, or a type of what is no number, was given."""
    if type(value) is int:
        return f" Several lengths are one tuple, as in {function}((3, 4))."
    if (isinstance(value, str) and value[:1] == ">") or not getattr(value, "isnative", True):
        return " Arrays have the machine's order of bytes: frombuffer and fromfile read the other one, and x.byteswap() writes it."
    import numpy as np

    try:
        known: Any = np.dtype(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError):
        return ""
    return " Keep texts, dates, objects and records in NumPy's arrays or in lists." if known.kind in "OSUVMm" else ""
