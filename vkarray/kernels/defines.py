"""What templates expect to be defined for the types of their operands, for the device, and for the type computed in."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.dtypes import CATEGORIES, DType

if TYPE_CHECKING:
    from .._vk import Device

Defines = tuple[tuple[str, str], ...]

_VECTOR_BYTES = 16
# What devices have whose flat kernels read texels. Without pairs of words stores take so long that reads count for little.
TEXEL_FEATURES = ("shaderInt64", "storageBuffer8BitAccess", "storageBuffer16BitAccess")
# The folder below glsl/lib that holds the library functions of a type, and the macros that those files expect.
_KIND_FOLDER = {
    "bool": "bool", "signed integer": "integer", "unsigned integer": "integer", "complex floating": "complex",
}  # fmt: skip


def library_folder(dtype: DType) -> str:
    """The folder of glsl/lib with the functions for a compute type (float16 and bfloat16 compute in float32)."""
    if dtype.category == "real floating":
        return "float64" if dtype.bits == 64 else "float32"
    return _KIND_FOLDER[dtype.category]


def library_path(library: str | None, dtype: DType) -> str:
    """The value of the define LIBRARY: a quoted path below glsl/, empty quotes for none."""
    if library is None:
        return '""'
    return f'"lib{library}.glsl"' if library.startswith("/") else f'"lib/{library_folder(dtype)}/{library}.glsl"'


@functools.cache
def compute_defines(dtype: DType) -> Defines:
    """The macros that library files and templates expect for the type computed in."""
    wide = dtype.bits == 64
    defines = [("T", f"COMPUTE_{dtype.name}")]
    if dtype in CATEGORIES["integer"]:
        defines += [("BITS", str(dtype.bits)), ("SIGNED", str(int(dtype.category == "signed integer")))]
    if dtype.category == "complex floating":
        defines += [("REAL", "double" if wide else "float"), ("COMPLEX", "dvec2" if wide else "vec2")]
    if wide and dtype.category.endswith("floating"):
        defines.append(("DOUBLE", "1"))
    return tuple(defines)


@functools.cache
def operand_defines(name: str, dtype: DType) -> Defines:
    """How a template loads and stores an operand called `name`."""
    macros = ("STORAGE", "COMPUTE", "LOAD", "STORE", "IMMEDIATE")
    return tuple((f"{name}_{macro}", f"{macro}_{dtype.name}") for macro in macros)


def feature_defines(operands: Sequence[DType], device: Device) -> Defines:
    """WIDE8 and WIDE16 where the device lacks such storage, HAS_INT64 and HAS_FLOAT64 where the kernel uses them."""
    bits = {dtype.bits for dtype in operands}
    features = device.features
    kinds = {(dtype.category.endswith("floating"), dtype.bits) for dtype in operands}
    defines = []
    if 8 in bits and "storageBuffer8BitAccess" not in features:
        defines.append(("WIDE8", "1"))
    if 16 in bits and "storageBuffer16BitAccess" not in features:
        defines.append(("WIDE16", "1"))
    if (False, 64) in kinds:
        defines.append(("HAS_INT64", "1"))
    if (True, 64) in kinds:
        defines.append(("HAS_FLOAT64", "1"))
    return tuple(defines)


def pack_defines(
    name: str, dtype: DType, vector: int, itemsize: int, device: Device, as_texels: bool
) -> Defines:  # fmt: skip
    """How the flat template moves `vector` elements at once: as pairs of words, or words, that hold several elements."""
    nbytes = vector * itemsize
    align = (f"{name}_ALIGN", str(nbytes))
    pairs = itemsize == dtype.itemsize <= 4 and nbytes % 8 == 0 and "shaderInt64" in device.features
    if not pairs and (itemsize >= 4 or nbytes % 4):
        return align, (f"{name}_AS", "ELEMENTS")
    macros = {
        "AS": "TEXELS" if as_texels else "PAIRS" if pairs else "WORDS",
        "PER_WORD": str(4 // itemsize),
        "UNPACK": f"UNPACK_{dtype.name}",
        "BITS": f"BITS_{dtype.name}",
    }
    return align, *((f"{name}_{macro}", value) for macro, value in macros.items())


def has_texels(device: Device) -> bool:
    """Whether kernels of CPU drivers read packs as texels."""
    return all(feature in device.features for feature in TEXEL_FEATURES)


def vector_of(itemsizes: Sequence[int]) -> int:
    """The elements of a pack of operands of these sizes."""
    return max(1, _VECTOR_BYTES // max(itemsizes, default=_VECTOR_BYTES))
