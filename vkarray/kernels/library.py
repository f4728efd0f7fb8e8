"""The library's own functions as text, for shaders that users write: `vx_exp`, `vx_multiply`, `vx_to_float32` and so on."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from ..core.dtypes import CATEGORIES, DTYPES, DType
from ..shaders import files, source
from . import launch

# The types that GLSL computes in, of narrow types the wider one.
GLSL_TYPES = {
    "bool": "bool", "int8": "int", "int16": "int", "int32": "int", "int64": "int64_t", "uint8": "uint", "uint16": "uint",
    "uint32": "uint", "uint64": "uint64_t", "float16": "float", "bfloat16": "float", "float32": "float", "float64": "double",
    "complex64": "vec2", "complex128": "dvec2",
}  # fmt: skip
# Files that are written once for several types: what they define is taken back after each.
_OF_SEVERAL_TYPES = {"integer": ("lib/integer",), "complex": ("lib/complex", "lib/two_to_the.glsl")}
_EXTENSION = "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require"
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<vkarray/(\w+)>[ \t]*$")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


def glsl_type(dtype: DType) -> str:
    """The type of GLSL that kernels compute with."""
    return GLSL_TYPES[dtype.name]


@functools.cache
def _files(folder: str) -> tuple[str, ...]:
    found = (files.source_folder() / folder).glob("*.glsl")
    return tuple(sorted(f"{folder}/{path.name}" for path in found))


@functools.cache
def _of_type(dtype: DType) -> str:
    """The functions of one type."""
    folder = launch.library_folder(dtype)
    defines = launch.compute_defines(dtype)
    if folder == "complex":  # GLSL tells neither structures apart nor functions by what they return
        defines = (*defines, *((name, f"{name}_{glsl_type(dtype)}") for name in ("ComplexPair", "vx_two_to_the")))
    text = source.included(_files(f"lib/{folder}"), {})
    shared = [path for one in _OF_SEVERAL_TYPES.get(folder, ()) for path in (_files(one) or (one,))]
    taken_back = {name for path in shared for name in _DEFINE.findall(files.file_text(path))}
    lines = [f"#define {name} {value}" for name, value in defines]
    return "\n".join([*lines, text, *(f"#undef {name}" for name in sorted({name for name, _ in defines} | taken_back))])


def functions(types: Iterable[DType]) -> str:
    """The text of the functions of these types, and of all conversions between types."""
    widest: dict[str, DType] = {}
    for dtype in types:
        kind = glsl_type(dtype)
        if kind not in widest or dtype.bits > widest[kind].bits:
            widest[kind] = dtype
    # Real types first: the functions of complex numbers call those of their parts.
    order = sorted(widest.values(), key=lambda dtype: (dtype in CATEGORIES["complex floating"], dtype.name))
    return "\n".join(
        [_EXTENSION, source.included(("lib/dtypes.glsl", "lib/conversion.glsl"), {}), *map(_of_type, order)]
    )


def taken_out(text: str, name: str) -> tuple[str, dict[int, DType]]:
    """A source with blank lines for `#include <vkarray/float32>` and the like, and the types that they name by line.

    Raises ValueError for a name that is no data type.
    """
    lines = text.split("\n")
    found: dict[int, DType] = {}
    for place, line in enumerate(lines):
        match = _INCLUDE.match(line)
        if match is None:
            continue
        wanted = match[1]
        if wanted not in DTYPES:
            raise ValueError(
                f"{name}: line {place + 1} includes <vkarray/{wanted}>, but the library's functions come by data type, such as "
                "#include <vkarray/float32>."
            )
        lines[place] = ""
        found[place] = DTYPES[wanted]
    return "\n".join(lines), found
