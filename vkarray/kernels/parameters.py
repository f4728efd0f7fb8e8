"""The parameters of kernels of one line, "float32 x, raw T y": as they are declared, and as arguments decide on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _vk
from ..core import promotion
from ..core.array import VkArray, check_supported, default_dtype
from ..core.dtypes import DTYPES, DType, as_dtype
from ..errors import counted

MOST = 32  # parameters of a kernel
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Names that stand for something else in the code: what kernels have there, and words of GLSL.
_WORDS = """
    i n arguments evaluate main
    atomic_uint attribute bool break buffer case centroid coherent const continue default discard do double else false flat float
    for highp if in inout int invariant isampler1D layout lowp mediump noperspective out patch precise precision readonly
    restrict return sample shared smooth struct subroutine switch true uint uniform varying void volatile while writeonly
    active asm cast class common enum extern external filter fixed goto half hvec2 hvec3 hvec4 inline input interface long
    namespace noinline output packed partition public resource short sizeof static superp template this typedef union unsigned
    using vec2 vec3 vec4 dvec2 dvec3 dvec4 ivec2 ivec3 ivec4 uvec2 uvec3 uvec4 bvec2 bvec3 bvec4 mat2 mat3 mat4 scalar
"""
_TAKEN = frozenset(_WORDS.split())
_KINDS = ("bool", "int", "float", "complex")
_OWN_KIND = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


class Parameter(NamedTuple):
    """A declared parameter: its name, its type or the letter that stands for one, and whether the code indexes it itself."""

    name: str
    type: str
    raw: bool

    @property
    def dtype(self) -> DType | None:
        """Its type, unless a letter stands for it."""
        return DTYPES.get(self.type)

    def __str__(self) -> str:
        return f"{'raw ' * self.raw}{self.type} {self.name}"


def declared(text: Any, kernel: str, what: str) -> tuple[Parameter, ...]:
    """The parameters in `text`, which the argument `what` of a kernel is. Raises TypeError and ValueError."""
    if not isinstance(text, str):
        raise TypeError(f"{kernel}: expected {what} as text such as 'float32 x, T y', got {type(text).__name__}.")
    made = [_parameter(part, kernel, what) for part in text.split(",")] if text.strip() else []
    return tuple(made)


def _parameter(part: str, kernel: str, what: str) -> Parameter:
    words = part.split()
    raw = words[:1] == ["raw"]
    if len(words) != 2 + raw:
        raise ValueError(
            f"{kernel}: expected {what} as types and names, such as 'float32 x, raw T y', got {part.strip()!r}."
        )
    kind, name = words[raw:]
    if kind not in DTYPES and not re.fullmatch("[A-Za-z]", kind):
        raise ValueError(
            f"{kernel}: {what} declares {name} as {kind}, which is neither a letter, such as T, nor a data type. vkarray has "
            f"{', '.join(DTYPES)}."
        )
    if not _NAME.fullmatch(name) or name in _TAKEN or "__" in name or name.startswith(("gl_", "vx_")):
        raise ValueError(
            f"{kernel}: a parameter cannot be called {name!r}, which means something else in GLSL. Rename it."
        )
    return Parameter(name, kind, raw)


def dtype_called(kernel: str, what: str, called: Any, letters: Sequence[str]) -> DType | str:
    """The data type of a name, or the letter, one of `letters`, that stands for one. Raises ValueError for another."""
    if called in letters:
        return called
    try:
        return as_dtype(called, kernel)
    except TypeError:
        raise ValueError(
            f"{kernel}: expected {what} as a data type{' or one of the letters ' * bool(letters)}{', '.join(letters)}, got "
            f"{called!r}."
        ) from None


def check_names(kernel: str, parameters: Sequence[Parameter]) -> None:
    """Raise ValueError for two parameters of one name, for a name that is also a type's letter, and for too many."""
    names = [parameter.name for parameter in parameters]
    letters = {parameter.type for parameter in parameters if parameter.dtype is None}
    for letter in letters & _TAKEN:
        raise ValueError(
            f"{kernel}: a type cannot be called {letter}, which means something else. Take another letter."
        )
    for name in names:
        if names.count(name) > 1 or name in letters:
            what = "a type and a parameter are" if name in letters else "two parameters are"
            raise ValueError(f"{kernel}: {what} called {name}. Rename one.")
    if len(names) > MOST:
        raise ValueError(f"{kernel}: expected {MOST} parameters at most, got {len(names)}.")


class Bound(NamedTuple):
    """Parameters with their arguments and types."""

    inputs: tuple[Any, ...]  # arrays and scalars
    results: tuple[VkArray | None, ...]  # those that the caller gave
    input_types: tuple[DType, ...]
    result_types: tuple[DType, ...]
    letters: tuple[tuple[str, DType], ...]  # and what they stand for
    device: _vk.Device


def bind(kernel: str, inputs: Sequence[Parameter], outputs: Sequence[Parameter], arguments: Sequence[Any]) -> Bound:
    """Arguments for parameters: first the inputs', then, where the caller gives results, those of all outputs.

    Raises TypeError for another number of arguments and for types that do not fit, ValueError for several devices,
    OverflowError for an integer that its type does not hold.
    """
    few, most = len(inputs), len(inputs) + len(outputs)
    if len(arguments) not in (few, most):
        raise TypeError(
            f"{kernel}: expected {counted(few, 'argument')} ({', '.join(map(str, inputs)) or 'no inputs'}), or {most} with "
            f"the result{'s' * (len(outputs) > 1)} ({', '.join(map(str, outputs))}), got {len(arguments)}."
        )
    taken = list(zip((*inputs, *outputs), arguments, strict=False))
    arrays = _checked(kernel, taken, few)
    letters: dict[str, DType] = {}
    for parameter, array in (*arrays[few:], *arrays[:few]):  # results decide before inputs do
        if array is None:
            continue
        wanted = parameter.dtype or letters.setdefault(parameter.type, array._dtype)
        if array._dtype is not wanted:
            what = f"takes {wanted}" if parameter.dtype else f"takes what {parameter.type} stands for, {wanted}"
            instead = "declare it by a letter, such as T" if parameter.dtype else "give it a letter of its own"
            raise TypeError(
                f"{kernel}: the parameter {parameter} {what}, got an array of {array._dtype}. Convert it with astype, or {instead}."
            )
    device = next((array._device for _, array in arrays if array is not None), None) or _vk.open_device()
    weak: dict[str, int] = {}  # letters that no array decides on
    for parameter, value in taken[:few]:
        if type(value) is not VkArray and parameter.dtype is None and parameter.type not in letters:
            weak[parameter.type] = max(weak.get(parameter.type, 0), promotion.scalar_kind(value))
    letters |= {letter: default_dtype(_KINDS[kind], device) for letter, kind in weak.items()}
    types = [_type_of(kernel, parameter, letters, device) for parameter in (*inputs, *outputs)]
    for (parameter, value), dtype in zip(taken[:few], types, strict=False):
        if type(value) is not VkArray:
            _check_scalar(kernel, parameter, value, dtype)
    results = tuple(arguments[few:]) or (None,) * len(outputs)
    return Bound(
        tuple(arguments[:few]), results, tuple(types[:few]), tuple(types[few:]), tuple(letters.items()), device
    )


def _checked(
    kernel: str, taken: Sequence[tuple[Parameter, Any]], inputs: int
) -> list[tuple[Parameter, VkArray | None]]:  # fmt: skip
    """The arrays among the arguments, and None for scalars. Raises TypeError for anything else, ValueError for several devices."""
    first: VkArray | None = None
    found: list[tuple[Parameter, VkArray | None]] = []
    for place, (parameter, value) in enumerate(taken):
        if type(value) is VkArray:
            first = value if first is None else first
            if value._device is not first._device:
                raise ValueError(
                    f"{kernel}: the arguments are on different devices, {first._device} and {value._device}. Move one with "
                    "x.to_device(device)."
                )
            found.append((parameter, value))
            continue
        scalar = place < inputs and not parameter.raw
        if not (scalar and promotion.is_scalar(value)):
            remedy = " Convert it with vkarray.asarray." if hasattr(value, "__array__") or type(value) is list else ""
            raise TypeError(
                f"{kernel}: expected an array{' or a scalar' * scalar} for {parameter}, got {type(value).__name__}.{remedy}"
            )
        found.append((parameter, None))
    return found


def _type_of(kernel: str, parameter: Parameter, letters: dict[str, DType], device: _vk.Device) -> DType:
    dtype = parameter.dtype or letters.get(parameter.type)
    if dtype is None:
        raise TypeError(
            f"{kernel}: no argument says what {parameter.type} stands for, the type of {parameter.name}. Give the result too, or "
            "declare it with a data type."
        )
    check_supported(dtype, device, f"{kernel}: {parameter.name}")
    return dtype


def _check_scalar(kernel: str, parameter: Parameter, value: Any, dtype: DType) -> None:
    kind = promotion.scalar_kind(value)
    if kind > _OWN_KIND[dtype.kind]:
        raise TypeError(
            f"{kernel}: the parameter {parameter} takes {dtype}, got a Python {_KINDS[kind]}. Convert the number, or declare "
            "another type."
        )
    promotion.check_scalar_range(f"{kernel}: {parameter.name}", value, dtype)
