"""What to do about an error of the shader compiler, where its own words do not say it."""

from __future__ import annotations

import re

_ARITHMETIC = "GL_EXT_shader_explicit_arithmetic_types"
# What needs an extension: a word of GLSL, and the line that allows it.
EXTENSIONS = {
    "int64_t": f"{_ARITHMETIC}_int64", "uint64_t": f"{_ARITHMETIC}_int64",
    "int8_t": "GL_EXT_shader_8bit_storage", "uint8_t": "GL_EXT_shader_8bit_storage",
    "int16_t": "GL_EXT_shader_16bit_storage", "uint16_t": "GL_EXT_shader_16bit_storage",
    "float16_t": "GL_EXT_shader_16bit_storage", "bfloat16_t": "GL_EXT_bfloat16",
    "buffer_reference": "GL_EXT_buffer_reference", "scalar": "GL_EXT_scalar_block_layout",
    "unroll": "GL_EXT_control_flow_attributes", "subgroupAdd": "GL_KHR_shader_subgroup_arithmetic",
    "subgroupMin": "GL_KHR_shader_subgroup_arithmetic", "subgroupMax": "GL_KHR_shader_subgroup_arithmetic",
    "subgroupInclusiveAdd": "GL_KHR_shader_subgroup_arithmetic", "subgroupExclusiveAdd": "GL_KHR_shader_subgroup_arithmetic",
    "subgroupBallot": "GL_KHR_shader_subgroup_ballot", "subgroupShuffle": "GL_KHR_shader_subgroup_shuffle",
}  # fmt: skip
# Where such types are computed with, not only loaded and stored.
_OPERATORS = {
    "int8_t": f"{_ARITHMETIC}_int8", "uint8_t": f"{_ARITHMETIC}_int8", "int16_t": f"{_ARITHMETIC}_int16",
    "uint16_t": f"{_ARITHMETIC}_int16", "float16_t": f"{_ARITHMETIC}_float16",
}  # fmt: skip
# Functions of C under their names in GLSL.
_FUNCTIONS = {
    "fabs": "abs", "fabsf": "abs", "fmax": "max", "fmaxf": "max", "fmin": "min", "fminf": "min", "fmod": "mod",
    "rsqrt": "inversesqrt", "rsqrtf": "inversesqrt", "powf": "pow", "expf": "exp", "logf": "log", "sqrtf": "sqrt",
    "sinf": "sin", "cosf": "cos", "tanf": "tan", "tanhf": "tanh", "floorf": "floor", "ceilf": "ceil", "rint": "roundEven",
    "atan2": "atan", "exp10": "pow(10.0, x)", "expm1": "vx_expm1", "log1p": "vx_log1p", "hypot": "vx_hypot",
}  # fmt: skip
_WORDS = {
    "unsigned": "uint", "long": "int64_t", "short": "int16_t", "char": "int8_t", "half": "float", "size_t": "uint",
    "ptrdiff_t": "int", "auto": "the type's own name",
}  # fmt: skip
_C_CAST = re.compile(r"\(\s*(unsigned|long|short|char|float|double|u?int|bool|u?int\d+_t|size_t|[A-Z])\s*\)\s*[\w(.]")
_NAMED = re.compile(r"^'(\w+)' ")


def advice(said: str, line: str) -> str:
    """What to do about an error: what the compiler said of it, and the line of source; empty where that says enough."""
    cast = _C_CAST.search(line)
    if cast and "syntax error" in said:
        return f"GLSL has no casts of C: write {cast[1]}(x) for ({cast[1]})x."
    match = _NAMED.match(said)
    word = match[1] if match else ""
    if word in _FUNCTIONS and "no matching" in said:
        return f"GLSL has {_FUNCTIONS[word]} for {word}."
    if word in _WORDS:
        return f"GLSL has {_WORDS[word]} for {word}."
    words = re.findall(r"\w+", line)
    if "wrong operand types" in said:
        needed = next((name for kind, name in _OPERATORS.items() if kind in said), None)
    elif "syntax error" in said or "undeclared" in said or "no matching" in said or "extension" in said:
        needed = next((EXTENSIONS[one] for one in ([word] if word in EXTENSIONS else words) if one in EXTENSIONS), None)
        if word == "atomicAdd":
            needed = "GL_EXT_shader_atomic_float"
    else:
        needed = None
    if needed:
        return f"Begin the shader with #extension {needed} : require"
    if "cannot convert" in said:
        return "GLSL converts no number to a type that may not hold it: write int(x), float(x) or the like."
    if "boolean expression expected" in said:
        return "GLSL takes no number for a truth value: write x != 0."
    return ""
