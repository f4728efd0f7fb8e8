"""Dispatches as data: the fields that a shader declares, their bytes, what a dispatch reads and writes, and what errors say."""

from __future__ import annotations

import re
import shutil
import struct
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import vkarray as vx
from vkarray._vk import spirv
from vkarray._vk.fields import RANGE, Arguments, Field
from vkarray._vk.pointer import Pointer
from vkarray.core import dtypes
from vkarray.errors import FeatureError
from vkarray.kernels import dispatch as dispatches
from vkarray.kernels.dispatch import Dispatch, Number, dispatch, number, packed, pointer
from vkarray.kernels.scalars import Scalar
from vkarray.shaders import compiler, files

needs_compiler = pytest.mark.skipif(
    shutil.which("glslangValidator") is None, reason="there is no glslangValidator here"
)
BLOCK = "layout(set = 1, binding = 0, scalar) uniform Arguments"
HEAD = """#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 1) in;
layout(buffer_reference, scalar) buffer Words { uint data[]; };
"""
ADDRESS = 0x0123_4567_89AB_CDEF


def compiled(source: str) -> bytes:
    return compiler.compile_glsl(HEAD + source, "example")


# --- types of fields -------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A field called x, what is read of it, and a value with its bytes."""

    declaration: str
    form: str
    length: int
    value: Any
    nbytes: bytes
    feature: str = ""


def place(address: int) -> Pointer:
    """A place in memory that no kernel gets."""
    return Pointer(SimpleNamespace(address=address - 16), 16)


CASES = {
    "uint": Case("uint x", "I", 1, 3_000_000_000, struct.pack("<I", 3_000_000_000)),
    "int": Case("int x", "i", 1, -5, struct.pack("<i", -5)),
    "float": Case("float x", "f", 1, 0.1, struct.pack("<f", 0.1)),
    "float of an integer": Case("float x", "f", 1, 3, struct.pack("<f", 3)),
    "double": Case("double x", "d", 1, 0.1, struct.pack("<d", 0.1), "shaderFloat64"),
    "uint64_t": Case("uint64_t x", "Q", 1, 2**64 - 3, struct.pack("<Q", 2**64 - 3), "shaderInt64"),
    "int64_t": Case("int64_t x", "q", 1, -(2**40), struct.pack("<q", -(2**40)), "shaderInt64"),
    "uvec2 of 64 bits": Case("uvec2 x", "Q", 1, 2**40 + 3, struct.pack("<Q", 2**40 + 3)),
    "uvec2 of a float": Case("uvec2 x", "Q", 1, number(0.1, dtypes.float16), struct.pack("<f4x", 0.1)),
    "uvec2 of a double": Case("uvec2 x", "Q", 1, number(0.1, dtypes.float64), struct.pack("<d", 0.1)),
    "uvec2 of an integer": Case("uvec2 x", "Q", 1, number(-2, dtypes.int8), struct.pack("<i4x", -2)),
    "uvec2 of a long": Case("uvec2 x", "Q", 1, number(-2, dtypes.int64), struct.pack("<q", -2)),
    "uvec2 of an unsigned integer": Case("uvec2 x", "Q", 1, Number(7, "I"), struct.pack("<I4x", 7)),
    "buffer reference": Case("Words x", "Q", 1, ADDRESS, struct.pack("<Q", ADDRESS)),
    "null": Case("Words x", "Q", 1, 0, bytes(8)),
    "uvec3": Case("uvec3 x", "I", 3, (1, 2, 3), struct.pack("<3I", 1, 2, 3)),
    "ivec2": Case("ivec2 x", "i", 2, (-1, 7), struct.pack("<2i", -1, 7)),
    "ivec4": Case("ivec4 x", "i", 4, (4, -3, 2, -1), struct.pack("<4i", 4, -3, 2, -1)),
    "vec3": Case("vec3 x", "f", 3, (0.1, -2, 3.5), struct.pack("<3f", 0.1, -2, 3.5)),
    "array of int": Case("int x[5]", "i", 5, (1, -2, 3, -4, 5), struct.pack("<5i", 1, -2, 3, -4, 5)),
    "array of float": Case("float x[2]", "f", 2, [0.5, 0.1], struct.pack("<2f", 0.5, 0.1)),
    "array of ivec2": Case("ivec2 x[2]", "i", 4, (1, 2, 3, -4), struct.pack("<4i", 1, 2, 3, -4)),
    "array of uvec2": Case(
        "uvec2 x[2]", "Q", 2, (2**40, number(0.1, dtypes.float32)), struct.pack("<Qf4x", 2**40, 0.1)
    ),
    "array of references": Case("Words x[2]", "Q", 2, (ADDRESS, 0), struct.pack("<2Q", ADDRESS, 0)),
}


def copying(case: Case) -> bytes:
    """A kernel that copies the fields to memory, with a field before and one after x."""
    return compiled(
        f"""#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(buffer_reference, scalar) buffer Result {{ uvec2 unused; uint before; {case.declaration}; uint after; }};
{BLOCK} {{ Result r; uint before; {case.declaration}; uint after; }} arguments;
void main() {{
    arguments.r.before = arguments.before;
    arguments.r.x = arguments.x;
    arguments.r.after = arguments.after;
}}"""
    )


@needs_compiler
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_fields_are_read_from_the_shader(case):
    read = Arguments(spirv.read(copying(case), "example", {}).arguments)
    one = next(field for field in read.fields if field.name == "x")
    assert (one.form, one.length, one.nbytes) == (case.form, case.length, len(case.nbytes))
    assert read.names == {"r", "before", "x", "after"}
    offsets = [field.offset for field in read.fields]
    assert offsets == sorted(offsets)
    assert read.nbytes == offsets[-1] + 4


@needs_compiler
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_kernels_see_the_values(case, device):
    if case.feature and case.feature not in device.features:
        pytest.skip(f"{device.name} lacks {case.feature}")
    kernel = device.kernel(copying(case), "example")
    before, x, after = (next(f for f in kernel.arguments.fields if f.name == name) for name in ("before", "x", "after"))
    expected = bytearray(after.offset + 4)
    expected[before.offset : before.offset + 4] = struct.pack("<I", 11)
    expected[x.offset : x.offset + x.nbytes] = case.nbytes
    expected[after.offset :] = struct.pack("<I", 22)
    words = vx.zeros(-(-len(expected) // 8) * 2, dtype=vx.uint32)
    dispatch(kernel, (1, 1, 1), {"r": words, "before": 11, "x": case.value, "after": 22}, writes=("r",))
    assert np.asarray(words).tobytes()[: len(expected)] == bytes(expected)


# --- packing ---------------------------------------------------------------------------------------------------------

FIELDS = (
    Field("a", 0, "Q"),
    Field("low", 8, "Q"),
    Field("count", 16, "I"),
    Field("scale", 20, "f"),
    Field("size", 24, "i", 2),
    Field("wide", 40, "d"),  # 8 bytes of padding before it
    Field("layout_", 48, "i", 6),
)
KERNEL = SimpleNamespace(name="example", arguments=Arguments(FIELDS[::-1]))
VALUES = {"a": place(ADDRESS), "low": 0, "count": 3, "scale": 0.5, "size": (-1, 7), "wide": 0.1, "layout_": (1, 2, 3)}
START = struct.pack("<2QIf2i8xd", ADDRESS, 0, 3, 0.5, -1, 7, 0.1)


def block(**changed: Any) -> bytes:
    return packed(Dispatch(KERNEL, {**VALUES, **changed}, (1, 1, 1), (), ()))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((), ()),
        ((9,), (9,)),
        ((1, 2, 3), (1, 2, 3)),
        ([1, 2, 3, 4, 5, -6], (1, 2, 3, 4, 5, -6)),
        (range(4), (0, 1, 2, 3)),
        ((5, place(ADDRESS), 6), (5, ADDRESS & 0xFFFFFFFF, ADDRESS >> 32, 6)),
        ((place(2**64 - 8), place(8)), (2**32 - 8, 2**32 - 1, 8, 0)),
    ],
    ids=["nothing", "one", "a part", "all", "a range", "an address among words", "two addresses"],
)
def test_of_the_last_array_a_part_may_be_given(given, words):
    expected = struct.pack(f"<{len(words)}I", *(word & 0xFFFFFFFF for word in words))
    assert block(layout_=given) == START + expected


def test_the_order_of_values_is_that_of_the_shader():
    backwards = dict(reversed(VALUES.items()))
    assert packed(Dispatch(KERNEL, backwards, (1, 1, 1), (), ())) == block() == START + struct.pack("<3i", 1, 2, 3)


def test_python_scalars_in_a_field_of_64_bits(device):
    for value, dtype, nbytes in (
        (1.5, dtypes.float16, struct.pack("<e6x", 1.5)),
        (-2, dtypes.int32, struct.pack("<i4x", -2)),
        (1 + 2j, dtypes.complex64, struct.pack("<2f", 1, 2)),
    ):
        assert block(low=Scalar(value, dtype, device))[8:16] == nbytes


@needs_compiler
def test_another_array_has_all_its_numbers(device):
    arrays = f"{BLOCK} {{ int first[3]; int last[3]; }} arguments;\nvoid main() {{}}"
    kernel = device.kernel(compiled(arrays), "example")
    fields = {"first": (1, 2, 3), "last": (4,)}
    assert packed(Dispatch(kernel, fields, (1, 1, 1), (), ())) == struct.pack("<4i", 1, 2, 3, 4)
    with pytest.raises(TypeError, match=r"example: .*first=\(1, 2\) \(2 numbers; the shader has 3 of 'i'\)"):
        packed(Dispatch(kernel, {**fields, "first": (1, 2)}, (1, 1, 1), (), ()))


def test_places_are_counted_in_elements_and_bytes():
    whole = vx.arange(64, dtype=vx.float32)
    view = whole[8:]
    assert pointer(view).address == pointer(whole, 8).address == pointer(whole).after(32).address
    assert pointer(whole).is_aligned(16)
    assert pointer(whole, 4).is_aligned(16)
    assert not pointer(whole, 3).is_aligned(16)
    assert block(a=view)[:8] == struct.pack("<Q", pointer(whole, 8).address)


# --- what a dispatch reads and writes --------------------------------------------------------------------------------


def test_what_is_read_and_written_follows_from_the_fields(monkeypatch):
    first, second, third, target, state = (vx.zeros(4) for _ in range(5))
    sent: list[Dispatch] = []
    monkeypatch.setattr(dispatches, "send", sent.append)
    fields = {"a": first, "b": pointer(second, 1), "r": target, "absent": 0, "count": 4}
    dispatch(KERNEL, (1, 1, 1), fields, writes=("r", "absent"), also_reads=[third], also_writes=[state])
    (what,) = sent
    assert {*what.reads} == {one._buffer for one in (first, second, third)}
    assert {*what.writes} == {one._buffer for one in (target, state)}


# --- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"count": None}, r"count=None \(.*; the shader has 1 of 'I'\)"),
        ({"count": 1.5}, r"count=1\.5 \(.*; the shader has 1 of 'I'\)"),
        ({"count": -1}, r"count=-1 \("),
        ({"count": 2**32}, r"count=4294967296 \("),
        ({"count": (1, 2)}, r"count=\(1, 2\) \(2 numbers; the shader has 1 of 'I'\)"),
        ({"count": ()}, r"count=\(\) \(0 numbers; the shader has 1 of 'I'\)"),
        ({"count": place(8)}, r"count=Pointer\(.* \(2 numbers; the shader has 1 of 'I'\)"),
        ({"scale": object()}, r"scale=<object .* \(.*; the shader has 1 of 'f'\)"),
        ({"a": 0.5}, r"a=0\.5 \(.*; the shader has 1 of 'Q'\)"),
        ({"low": -1}, r"low=-1 \("),
        ({"size": 5}, r"size=5 \(1 numbers; the shader has 2 of 'i'\)"),
        ({"size": (1, 2, 3)}, r"size=\(1, 2, 3\) \(3 numbers; the shader has 2 of 'i'\)"),
        ({"layout_": (1, 2.5)}, r"layout_=\(1, 2\.5\) \("),
        ({"layout_": range(7)}, r"layout_=range\(0, 7\) \(7 numbers; the shader has 6 of 'i'\)"),
        ({"layout_": (1, 2, 3, place(8), 4, 5)}, r"layout_=.*\(7 numbers; the shader has 6 of 'i'\)"),
        ({"color": 1}, "unknown color"),
        ({"color": 1, "depth": 2}, "unknown color, depth"),
    ],
)
def test_a_field_that_does_not_fit_is_named(changed, message):
    with pytest.raises(TypeError, match=rf"^example: .*block that its shader declares: {message}"):
        block(**changed)


@pytest.mark.parametrize("absent", [("count",), ("layout_",), ("a", "wide")])
def test_a_missing_field_is_named(absent):
    fields = {name: value for name, value in VALUES.items() if name not in absent}
    with pytest.raises(TypeError, match=f"^example: .*: no {', '.join(absent)}"):
        packed(Dispatch(KERNEL, fields, (1, 1, 1), (), ()))


def test_a_field_by_another_name_is_missing_and_unknown():
    fields = {("number" if name == "count" else name): value for name, value in VALUES.items()}
    with pytest.raises(TypeError, match=r"^example: .*: no count; unknown number"):
        packed(Dispatch(KERNEL, fields, (1, 1, 1), (), ()))


def test_two_fields_that_do_not_fit_are_both_named():
    with pytest.raises(TypeError, match=r"^example: .*count=-1 .*size=5 "):
        block(count=-1, size=5)


@needs_compiler
def test_a_block_may_have_as_many_bytes_as_a_dispatch_sees(device):
    source = f"{BLOCK} {{ Words r; int layout_[LENGTH]; }} arguments;\nvoid main() {{ arguments.r.data[0] = LAST; }}"
    longest = (RANGE - 8) // 4

    def made(length: int):
        last = f"uint(arguments.layout_[{length - 1}])"
        return device.kernel(compiled(source.replace("LENGTH", str(length)).replace("LAST", last)), "example")

    result = vx.zeros(1, dtype=vx.uint32)
    dispatch(made(longest), (1, 1, 1), {"r": result, "layout_": range(longest)}, writes=("r",))
    assert int(result[0]) == longest - 1
    with pytest.raises(FeatureError, match=rf"^Kernel example uses {RANGE + 4} bytes of arguments .*allows {RANGE} "):
        made(longest + 1)


# --- the shaders of the library --------------------------------------------------------------------------------------

GLSL = files.source_folder()
INCLUDE = re.compile(r'^[ \t]*#include[ \t]+"([^"]+)"', re.MULTILINE)


def text_of(path: str, seen: set[str]) -> str:
    """A file and all that it includes, without comments."""
    if path in seen:
        return ""
    seen.add(path)
    text = compiler.COMMENT.sub(" ", (GLSL / path).read_text(encoding="utf-8"))
    return text + "".join(text_of(included, seen) for included in INCLUDE.findall(text))


# Those in `functions` are parts of kernels that are linked.
KERNELS = sorted(path.relative_to(GLSL).as_posix() for path in GLSL.rglob("*.comp") if path.parent.name != "functions")


@pytest.mark.parametrize("template", KERNELS)
def test_shaders_have_their_arguments_in_the_block(template):
    text = text_of(template, set())
    assert len(re.findall(re.escape(BLOCK) + r"\s*\{[^}]+\}\s*arguments;", text)) == 1
    assert "push_constant" not in text
