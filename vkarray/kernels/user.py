"""`vkarray.kernel`: a user's own GLSL compute shader on arrays."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from operator import index
from typing import Any

from .. import _vk
from .._vk import spirv
from ..core import dtypes, layout
from ..core.array import VkArray, storage_itemsize
from ..core.dtypes import DType
from ..errors import FeatureError
from ..shaders import compiler
from ..shaders import source as shaders
from . import library

_VERSION = "#version 460"
_LOCAL_SIZE = re.compile(r"\blocal_size_[xyz]")
_DEFAULT_LOCAL_SIZE = "layout(local_size_x_id = 0) in;"
_WORKGROUP_SIZE = 256
_OWN_NAMES = {"push", "invocations", "groups"}  # of arguments, which no push constant has
_HERE = "// the functions of the library"
_PUSH_CONSTANTS = "letters of Python's struct module, such as 'If' for a uint and a float"


class UserKernel:
    """A compiled shader; call it with the arrays of its bindings in order. Made by `vkarray.kernel`."""

    def __init__(
        self, source: str, *, name: str = "user kernel", push_constants: str | None = None, strided: bool = False
    ) -> None:  # fmt: skip
        if not isinstance(source, str):
            raise TypeError(f"kernel: expected the text of a compute shader in GLSL, got {type(source).__name__}.")
        if not isinstance(push_constants, (str, type(None))):
            raise TypeError(f"kernel: expected push_constants as {_PUSH_CONSTANTS}, got {push_constants!r}.")
        try:
            self.packer = struct.Struct(f"<{push_constants or ''}")
        except struct.error as error:
            raise ValueError(
                f"kernel: push_constants={push_constants!r} is wrong ({error}); expected {_PUSH_CONSTANTS}."
            ) from None
        self.name = name
        code = compiler.COMMENT.sub(lambda comment: "\n" * comment[0].count("\n") or " ", source)
        self.sized = _LOCAL_SIZE.search(code) is not None
        self.source = _with_functions(source, code, self.sized, name)
        self.strided = bool(strided)
        self.spirv = shaders.spirv_of_source(self.source, name)
        module = spirv.read(self.spirv, name, {})
        self.bindings = module.accesses  # binding -> (is read, is written), from the qualifiers readonly and writeonly
        self.numbers = module.numbers  # binding -> the types of the numbers in its block
        named = {field.name: field for field in module.push_constants if push_constants is None}
        self.scalars = {} if _OWN_NAMES & named.keys() else named
        self.push_constant_bytes = module.push_constant_bytes
        if not self.scalars and self.packer.size != module.push_constant_bytes:
            raise ValueError(
                f"{name}: the push-constant block of the shader has {module.push_constant_bytes} bytes, but "
                f"push_constants={push_constants or ''!r} makes {self.packer.size}. Name the type of each member in "
                f"{_PUSH_CONSTANTS}; 'x' skips a byte where a member is aligned."
            )
        self._kernels: dict[_vk.Device, _vk.Kernel] = {}

    def __call__(
        self, *arrays: VkArray, push: Sequence[Any] = (), invocations: int | None = None,
        groups: tuple[int, int, int] | None = None, **scalars: Any,
    ) -> None:  # fmt: skip
        """Run the shader.

        Parameters: arrays, one for each binding in ascending order, contiguous (unless the kernel is `strided`) and of one
        device; the push constants, either by the names of the block's members or as push, values in the order of
        `push_constants`; how much: `invocations` (as many invocations of x as that,
        at least, in workgroups of 256, or of as many as the device allows) or `groups`, the workgroups in x, y and z.
        Raises TypeError and ValueError for arguments that do not fit the shader's, FeatureError for what the device
        lacks or for more invocations than it starts along x.
        """
        numbers = sorted(self.bindings)
        if len(arrays) != len(numbers):
            raise ValueError(f"{self.name}: the shader declares bindings {numbers}, got {len(arrays)} arrays.")
        for array in arrays:
            self._check(array, arrays[0])
        if scalars and (push or not self.scalars):
            instead = "Give all push constants by name, or all as push=."
            if not self.scalars:
                instead = "It has push_constants, whose values are given as push=(value, ...)."
            raise TypeError(f"{self.name}: got {', '.join(scalars)} by name. {instead}")
        packed = self._named(scalars) if self.scalars and not push else self._packed(push)
        device = arrays[0].device if arrays else _vk.open_device()
        width = min(_WORKGROUP_SIZE, device.limits.max_workgroup_invocations, device.limits.max_workgroup_size[0])
        groups = self._groups(invocations, groups, width, device)
        kernel = self._kernels.get(device)
        if kernel is None:
            specialization = () if self.sized else ((0, width),)
            kernel = self._kernels[device] = device.kernel(self.spirv, self.name, specialization)
        bindings, reads, writes = [], [], []
        for number, array in zip(numbers, arrays, strict=True):
            self._check_type(
                number, array
            )  # the device has the shader's types: else the kernel would not have been made
            itemsize = storage_itemsize(array.dtype, device)
            low, high = layout.offset_range(array._shape, array._strides)
            bindings.append((number, array._buffer, (array._offset + low) * itemsize, (high - low + 1) * itemsize))
            is_read, is_written = self.bindings[number]
            reads += [array._buffer] * is_read
            writes += [array._buffer] * is_written
        device.dispatch(kernel, packed, groups, reads, writes, bindings)

    def _groups(self, invocations: Any, groups: Any, width: int, device: _vk.Device) -> tuple[int, int, int]:
        """Workgroups in x, y and z for what the caller asked."""
        if invocations is not None and groups is not None:
            raise ValueError(f"{self.name}: expected either invocations or groups, got both.")
        if groups is not None:
            try:
                x, y, z = (index(count) for count in groups)
            except (TypeError, ValueError):
                x = y = z = -1
            if min(x, y, z) < 0:
                raise ValueError(f"{self.name}: expected groups=(x, y, z), three counts of 0 or more, got {groups!r}.")
            return x, y, z
        if invocations is None or self.sized:
            instead = "the shader sets its own local_size_x, so say" if self.sized else "say invocations=n or"
            raise ValueError(f"{self.name}: {instead} groups=(x, y, z).")
        try:
            count = index(invocations)
        except TypeError:
            count = -1
        if count < 0:
            raise ValueError(f"{self.name}: expected invocations, a whole number of 0 or more, got {invocations!r}.")
        most = device.limits.max_workgroup_count[0] * width
        if count > most:
            raise FeatureError(
                f"{self.name}: got {invocations} invocations, but {device.name} starts {most} along x at most. Say "
                "groups=(x, y, 1) and compute the index from gl_GlobalInvocationID.x and .y, or let each invocation "
                "do several elements.",
                ("maxComputeWorkGroupCount",),
            )
        return -(-count // width), 1, 1

    def _named(self, scalars: dict[str, Any]) -> bytes:
        """The push constants of their names. Raises TypeError for a missing or unknown name and for values of another kind."""
        missing = [name for name in self.scalars if name not in scalars]
        unknown = [name for name in scalars if name not in self.scalars]
        if missing or unknown:
            told = [f"no {', '.join(missing)}"] * bool(missing) + [f"unknown {', '.join(unknown)}"] * bool(unknown)
            raise TypeError(
                f"{self.name}: expected the push constants {', '.join(self.scalars)} by name, got {'; '.join(told)}."
            )
        block = bytearray(self.push_constant_bytes)
        for name, field in self.scalars.items():
            value = scalars[name]
            try:
                values = tuple(value) if field.length > 1 else (value,)
                struct.pack_into(f"<{field.length}{field.form}", block, field.offset, *values)
            except (struct.error, OverflowError, TypeError) as error:
                raise TypeError(
                    f"{self.name}: the push constant {name} takes {field.length} of {field.form!r} of Python's struct module, got "
                    f"{value!r:.60} ({error})."
                ) from None
        return bytes(block)

    def _packed(self, push: Any) -> bytes:
        try:
            values = tuple(push)
        except TypeError:
            raise TypeError(
                f"{self.name}: expected push=(value, ...), one for each push constant, got {push!r}."
            ) from None
        try:
            return self.packer.pack(*values)
        except struct.error as error:
            raise ValueError(
                f"{self.name}: the push constants {values!r} do not fit push_constants={self.packer.format[1:]!r} "
                f"({error})."
            ) from None

    def _check(self, array: Any, first: VkArray | None) -> None:
        if not isinstance(array, VkArray):
            raise TypeError(f"{self.name}: expected vkarray arrays, got {type(array).__name__}. Use vkarray.asarray.")
        if not (array._contiguous or self.strided):
            raise ValueError(
                f"{self.name}: expected contiguous arrays, got strides {array.strides} for shape {array.shape}. "
                f"Copy it first: vkarray.asarray(x, copy=True). Or make the kernel with strided=True and give it the strides."
            )
        if first is not None and array.device is not first.device:
            raise ValueError(
                f"{self.name}: the arrays are on different devices, {first.device} and {array.device}. "
                f"Move one with x.to_device(device)."
            )

    def _check_type(self, number: int, array: VkArray) -> None:
        """Raise TypeError where a block is of numbers of one type and the array has another. Texels have none: 16 bytes each."""
        declared = self.numbers.get(number, frozenset())
        if len(declared) != 1 or ("other", 0) in declared or declared & _numbers_of(array.dtype, array.device):
            return
        ((name, bits),) = declared
        own = " or ".join(map(_written, sorted(_numbers_of(array.dtype, array.device))))
        raise TypeError(
            f"{self.name}: binding {number} declares {_written((name, bits))}, which takes the bits of the {array.dtype} array "
            f"for other numbers. Declare {own} in the shader, or convert the array with astype."
        )

    def __repr__(self) -> str:
        return f"<vkarray kernel {self.name!r}, bindings {sorted(self.bindings)}>"


def _completed(source: str, code: str, sized: bool) -> str:
    """The source with the version and the workgroup size that it leaves out; `code` is the source with its comments blank.

    A #line directive after what is added keeps the numbers of the lines.
    """
    lines = source.split("\n")
    directives = [line.lstrip() for line in code.split("\n")]
    version = next((place for place, line in enumerate(directives) if line.startswith("#version")), None)
    extensions = [place for place, line in enumerate(directives) if line.startswith("#extension")]
    before = max([-1 if version is None else version, *extensions]) + 1
    if not sized:
        lines[before:before] = [_DEFAULT_LOCAL_SIZE, f"#line {before + 1}"]
    if version is None:
        lines[:0] = [_VERSION, "#line 1"]
    return "\n".join(lines)


def _with_functions(source: str, code: str, sized: bool, name: str) -> str:
    """The completed source, with the library's functions at the first of the lines that include them."""
    _, included = library.taken_out(code, name)
    if not included:
        return _completed(source, code, sized)
    lines = source.split("\n")
    for place in included:
        lines[place] = ""
    first = min(included)
    lines[first] = _HERE
    functions = f"#line 1 1\n{library.functions(included.values())}\n#line {first + 2} 0"
    return _completed("\n".join(lines), code, sized).replace(_HERE, functions)


def _numbers_of(dtype: DType, device: _vk.Device) -> frozenset[tuple[str, int]]:
    """The types, in a block of a shader, that the numbers of an array's type may be declared as."""
    signed = dtype.category == "signed integer"
    if storage_itemsize(dtype, device) > dtype.itemsize:  # kept in words: bits, or a whole number
        return frozenset({("int" if signed else "uint", 32)})
    if dtype is dtypes.bfloat16:  # few compilers know it
        return frozenset({("bfloat16", 16), ("uint", 16)})
    return frozenset({("float" if dtype.category.endswith("floating") else "int" if signed else "uint", dtype.bits)})


def _written(number: tuple[str, int]) -> str:
    """A type of numbers as GLSL has it."""
    name, bits = number
    plain = {("float", 32): "float", ("float", 64): "double", ("int", 32): "int", ("uint", 32): "uint"}
    return plain.get(number, f"{name}{bits}_t" if name != "bfloat16" else "bfloat16_t")


def kernel(
    source: str, *, name: str = "user kernel", push_constants: str | None = None, strided: bool = False
) -> UserKernel:  # fmt: skip
    """Compile a GLSL compute shader that works on arrays.

    Parameters: source, with buffers declared as `layout(binding = n) readonly buffer X { float x[]; };` (`readonly` and
    `writeonly` let independent work overlap), or as `layout(binding = n) uniform usamplerBuffer x;`, which fetches 16 bytes
    as a `uvec4` and is the fastest way to read on CPU drivers, and a `main`; `#version 460` and a workgroup size of 256 are
    added where missing, and `#include <vkarray/float32>` brings the library's own functions of a data type. name: for messages.
    push_constants: to give the push constants by position, the types of the block in the letters of Python's `struct` module,
    such as "If" for a uint and a float; 'x' skips a byte where a member is aligned. strided: whether arrays may have any strides;
    a buffer then begins with the element that comes first in memory.
    Returns a callable (see `UserKernel.__call__`). Raises ShaderError with the compiler's words, when there is no
    compiler on this machine, or for a binding that is not one buffer; ValueError for push_constants of another size than
    the shader's block.
    """
    return UserKernel(source, name=name, push_constants=push_constants, strided=strided)
