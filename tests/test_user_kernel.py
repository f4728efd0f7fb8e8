"""`vkarray.kernel`: users' own shaders on arrays."""

from __future__ import annotations

import dataclasses
import re
import shutil
import struct

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.array import storage_itemsize

pytestmark = pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="there is no glslangValidator here")

SAXPY = """
layout(push_constant) uniform Push { uint count; float factor; };
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) y[i] += factor * x[i];
}
"""
FILL = """
layout(local_size_x = 4, local_size_y = 2) in;
layout(binding = 3) writeonly buffer Out { uint cells[]; };
void main() {
    uvec2 size = gl_NumWorkGroups.xy * gl_WorkGroupSize.xy;
    cells[gl_GlobalInvocationID.y * size.x + gl_GlobalInvocationID.x] =
        gl_GlobalInvocationID.x + 100u * gl_GlobalInvocationID.y;
}
"""


@pytest.fixture(scope="module")
def saxpy():
    return vx.kernel(SAXPY, name="saxpy", push_constants="If")


def test_push_constants_and_bindings(saxpy):
    x, y = vx.arange(1000, dtype=vx.float32), vx.ones((1000,))
    saxpy(x, y, push=(1000, 2.0), invocations=1000)
    np.testing.assert_array_equal(np.asarray(y), 1 + 2 * np.arange(1000, dtype=np.float32))
    saxpy(x, y, push=(10, 1.0), invocations=1000)
    assert y[:12].tolist() == [1 + 3 * i for i in range(10)] + [21, 23]


def test_its_push_constants_are_its_own(saxpy):
    """CPU drivers get a push constant with kernels of the library too, recorded once and replayed."""
    x, y = vx.arange(64, dtype=vx.float32), vx.zeros((64,))
    step = vx.compile(lambda a: vx.exp2(a[::2] - a[1::2]) + vx.sum(a))
    for turn in range(1, 4):
        saxpy(x, y, push=(64, 1.0), invocations=64)
        row = y.reshape((8, 8)) + x[:8]
        assert step(x).tolist() == [2016.5] * 32
        saxpy(x, y, push=(0, 5.0), invocations=64)
        assert row.tolist() == [[turn * (8 * i + k) + k for k in range(8)] for i in range(8)]


def test_it_is_ordered_with_other_operations(saxpy):
    x, y = vx.ones((64,)), vx.zeros((64,))
    for _ in range(20):
        saxpy(x, y, push=(64, 1.0), invocations=64)
        x = x + 1
        y *= 1
    assert y.tolist() == [sum(range(1, 21))] * 64


def test_views_with_an_offset(saxpy):
    # Descriptors must be aligned; 64 float32 elements are 256 bytes, the most that Vulkan lets a device ask for.
    x, y = vx.ones((128,)), vx.zeros((128,))
    saxpy(x[64:], y[64:], push=(64, 3.0), invocations=64)
    assert y.tolist() == [0] * 64 + [3] * 64


def test_own_workgroup_size_and_groups():
    fill = vx.kernel(FILL, name="fill")
    out = vx.zeros((6, 8), dtype=vx.uint32)
    fill(out, groups=(2, 3, 1))
    np.testing.assert_array_equal(np.asarray(out), np.arange(8) + 100 * np.arange(6)[:, None])
    assert repr(fill) == "<vkarray kernel 'fill', bindings [3]>"


def test_version_and_extensions_of_its_own():
    doubled = vx.kernel(
        "#version 450\n#extension GL_EXT_control_flow_attributes : enable\n"
        "layout(binding = 0) buffer X { int x[]; };\n"
        "void main() { if (gl_GlobalInvocationID.x < uint(x.length())) x[gl_GlobalInvocationID.x] *= 2; }"
    )
    x = vx.arange(300, dtype=vx.int32)
    doubled(x, invocations=300)
    np.testing.assert_array_equal(np.asarray(x), 2 * np.arange(300))


def test_many_bindings_and_reused_descriptors():
    """Descriptor sets are cached by buffers: arrays may trade places and die."""
    swap = vx.kernel("""
        layout(binding = 0) buffer A { int a[]; };
        layout(binding = 1) buffer B { int b[]; };
        void main() { uint i = gl_GlobalInvocationID.x; if (i == 0u) { int t = a[0]; a[0] = b[0]; b[0] = t; } }
    """)
    for round_ in range(50):
        first, second = vx.asarray([round_], dtype=vx.int32), vx.asarray([-round_], dtype=vx.int32)
        swap(first, second, invocations=1)
        swap(second, first, invocations=1)
        swap(first, second, invocations=1)
        assert (first.tolist(), second.tolist()) == ([-round_], [round_])


def test_arguments_that_do_not_fit(saxpy):
    x, y = vx.ones((8,)), vx.ones((8,))
    with pytest.raises(ValueError, match=r"saxpy: the shader declares bindings \[0, 1\], got 1 arrays"):
        saxpy(x, push=(8, 1.0), invocations=8)
    with pytest.raises(TypeError, match=r"saxpy: expected vkarray arrays, got ndarray\. Use vkarray\.asarray"):
        saxpy(np.ones(8), y, push=(8, 1.0), invocations=8)
    with pytest.raises(ValueError, match=r"saxpy: expected contiguous arrays.*vkarray\.asarray\(x, copy=True\)"):
        saxpy(x[::2], y, push=(4, 1.0), invocations=4)
    with pytest.raises(ValueError, match=r"say invocations=n or groups=\(x, y, z\)"):
        saxpy(x, y, push=(8, 1.0))
    with pytest.raises(ValueError, match="either invocations or groups, got both"):
        saxpy(x, y, push=(8, 1.0), invocations=8, groups=(1, 1, 1))
    with pytest.raises(ValueError, match=r"saxpy: the push constants \(8,\) do not fit push_constants='If'"):
        saxpy(x, y, push=(8,), invocations=8)
    with pytest.raises(ValueError, match=r"expected groups=\(x, y, z\), three counts of 0 or more, got \(1, 1\)"):
        saxpy(x, y, push=(8, 1.0), groups=(1, 1))
    for groups in (4, (-1, 1, 1), (1.5, 1, 1), "abc"):
        with pytest.raises(ValueError, match=r"saxpy: expected groups=\(x, y, z\), three counts of 0 or more, got "):
            saxpy(x, y, push=(8, 1.0), groups=groups)
    for invocations in ("a", 4.0, -1):
        with pytest.raises(ValueError, match="saxpy: expected invocations, a whole number of 0 or more, got "):
            saxpy(x, y, push=(8, 1.0), invocations=invocations)
    with pytest.raises(
        TypeError, match=r"saxpy: expected push=\(value, \.\.\.\), one for each push constant, got 1\.0"
    ):
        saxpy(x, y, push=1.0, invocations=8)
    limits = x.device.limits
    most = min(256, limits.max_workgroup_invocations) * limits.max_workgroup_count[0]
    with pytest.raises(
        vx.FeatureError, match=rf"saxpy: got {most + 1} invocations, but .* starts {most} along x at most\. Say groups="
    ):
        saxpy(x, y, push=(8, 1.0), invocations=most + 1)
    with pytest.raises(vx.FeatureError, match="the device takes at most"):
        saxpy(x, y, push=(8, 1.0), groups=(2**32 - 1, 1, 1))
    with pytest.raises(ValueError, match=r"offset 4 is not a multiple of \d+; copy the view first"):
        saxpy(x[1:], y, push=(7, 1.0), invocations=7)


def test_counts_may_be_numpy_integers(saxpy):
    x, y = vx.ones((8,)), vx.zeros((8,))
    saxpy(x, y, push=(8, 1.0), invocations=np.int64(8))
    saxpy(x, y, push=[8, 1.0], groups=[np.int32(1), 1, 1])
    saxpy(x, y, push=(8, 1.0), invocations=0)
    assert y.tolist() == [2] * 8


@pytest.mark.parametrize("push_constants", ["", "I", "Ifx", "4000f"])
def test_push_constants_of_another_size_than_the_block(push_constants):
    """Too few would be read from what an earlier kernel pushed, too many crash drivers."""
    size = struct.calcsize(f"<{push_constants}")
    message = (
        rf"saxpy: the push-constant block of the shader has 8 bytes, but push_constants='{push_constants}' makes {size}"
    )
    with pytest.raises(ValueError, match=message):
        vx.kernel(SAXPY, name="saxpy", push_constants=push_constants)


def test_push_constants_by_name():
    """Every type that a block may have in one piece; without push_constants, which gives them by position."""
    source = """
        layout(push_constant) uniform Push { uint count; float factor; vec2 pair; int shift; uvec2 words; float list[3]; } own;
        layout(binding = 0) buffer Y { float y[]; };
        void main() {
            if (gl_GlobalInvocationID.x != 0u) return;
            y[0] = float(own.count) * own.factor; y[1] = own.pair.x - own.pair.y; y[2] = float(own.shift);
            y[3] = float(own.words.y); y[4] = own.list[0] + 10.0 * own.list[1] + 100.0 * own.list[2];
        }
    """
    named, y = vx.kernel(source, name="named"), vx.zeros((5,))
    values = {"count": 3, "factor": 0.5, "pair": (4, 1.5), "shift": -7, "words": (1, 2**31), "list": [1, 2, 3]}
    named(y, invocations=1, **values)
    assert y.tolist() == [1.5, 2.5, -7, 2**31, 321]
    named(y, invocations=1, **{**values, "factor": np.float32(2), "count": np.int64(4)})
    assert float(y[0]) == 8
    for changed, message in (
        ({"count": ...}, "named: expected the push constants count, factor, .* by name, got no count"),
        ({"other": 1}, "named: expected the push constants .* by name, got unknown other"),
        ({"count": -1}, r"named: the push constant count takes 1 of 'I' of Python's struct module, got -1"),
        ({"factor": "x"}, "named: the push constant factor takes 1 of 'f' .*, got 'x'"),
        ({"pair": (1, 2, 3)}, r"named: the push constant pair takes 2 of 'f' .*, got \(1, 2, 3\)"),
        ({"pair": 1}, "named: the push constant pair takes 2 of 'f' .*, got 1"),
        ({"push": (1,)}, "named: got count, .* by name. Give all push constants by name, or all as push="),
    ):
        given = {name: value for name, value in {**values, **changed}.items() if value is not ...}
        with pytest.raises(TypeError, match=message):
            named(y, invocations=1, **given)
    with pytest.raises(TypeError, match=r"saxpy: got count by name\. .* push_constants, whose values"):
        vx.kernel(SAXPY, name="saxpy", push_constants="If")(y, y, invocations=1, count=5)


@pytest.mark.parametrize("member", ["mat2 m", "float push", "uint invocations", "vec3 list[2]"])
def test_push_constants_that_have_no_names(member):
    """What is no number, and what is called as an argument is."""
    name = member.split()[1].partition("[")[0]
    source = f"""
        layout(push_constant) uniform Push {{ {member}; }} own;
        void main() {{ if (own.{name} == own.{name}) return; }}
    """
    message = r"block of the shader has \d+ bytes, but push_constants='' makes 0\. Name the type of each"
    with pytest.raises(ValueError, match=message):
        vx.kernel(source)


@pytest.mark.parametrize("kind", ["slice", "transposed", "negative", "broadcast", "0-d"])
def test_strided_arrays_on_request(kind, device):
    """The buffer begins with the element that lies first in memory; the strides are numbers as all others."""
    source = """
        layout(push_constant) uniform Push { ivec2 shape; ivec2 strides; int first; };
        layout(binding = 0) readonly buffer X { int x[]; };
        layout(binding = 1) writeonly buffer Y { int y[]; };
        void main() {
            int i = int(gl_GlobalInvocationID.x);
            if (i >= shape.x * shape.y) return;
            y[i] = x[first + i / shape.y * strides.x + i % shape.y * strides.y];
        }
    """
    base = np.arange(24, dtype=np.int32).reshape(4, 6)
    view = {
        "slice": lambda a: a[::2, :3], "transposed": lambda a: a.T, "negative": lambda a: a[::-1, ::-1],
        "broadcast": lambda a: (np if a is base else vx).broadcast_to(a[:1, :1], (3, 5)), "0-d": lambda a: a[0, 0],
    }[kind]  # fmt: skip
    x, expected = view(vx.asarray(base)), view(base)
    shape, strides = ((1, 1), (0, 0)) if kind == "0-d" else (x.shape, [step // x.itemsize for step in x.strides])
    first = sum(-stride * (length - 1) for length, stride in zip(shape, strides, strict=True) if stride < 0)
    y = vx.zeros(max(1, expected.size), dtype=vx.int32)
    vx.kernel(source, name="walk", strided=True)(x, y, shape=shape, strides=strides, first=first, invocations=x.size)
    np.testing.assert_array_equal(np.asarray(y)[: expected.size], expected.ravel())
    if not x._contiguous:
        with pytest.raises(ValueError, match=r"walk: expected contiguous arrays.* make the kernel with strided=True"):
            vx.kernel(source, name="walk")(x, y, shape=shape, strides=strides, first=first, invocations=x.size)


@pytest.mark.parametrize("dtype", supported([vx.float32, vx.float64, vx.complex64, vx.int32]), ids=str)
def test_functions_of_the_library(dtype):
    declared = {"float32": "float", "float64": "double", "complex64": "vec2", "int32": "int"}[dtype.name]
    function = "vx_square" if dtype is vx.int32 else "vx_sqrt"
    kernel = vx.kernel(f"""
        /*
        #include <vkarray/nothing>
        */
        #include <vkarray/{dtype}>
        layout(binding = 0) buffer X {{ {declared} x[]; }};
        #include <vkarray/{dtype}>
        void main() {{ if (gl_GlobalInvocationID.x < 5u) x[gl_GlobalInvocationID.x] = {function}(x[gl_GlobalInvocationID.x]); }}
    """)
    x = vx.asarray([0, 1, 2, 3, 5], dtype=dtype)
    expected = np.asarray(vx.square(x) if dtype is vx.int32 else vx.sqrt(x))
    kernel(x, invocations=5)
    np.testing.assert_array_equal(np.asarray(x), expected)


def test_functions_of_the_library_keep_the_lines():
    with pytest.raises(vx.ShaderError, match=r"line 4: 'oops' .*\n +void main\(\) { oops = 1; }"):
        vx.kernel("// one\n#version 450\n#include <vkarray/float32>\nvoid main() { oops = 1; }")
    with pytest.raises(
        ValueError, match="user kernel: line 1 includes <vkarray/other>, but the library's functions come by"
    ):
        vx.kernel("#include <vkarray/other>\nvoid main() { }")
    with pytest.raises(
        vx.ShaderError, match=r"cannot #include files.* come with a line such as #include <vkarray/float32>"
    ):
        vx.kernel('#include "other.glsl"\nvoid main() { }')


@pytest.mark.parametrize(
    ("code", "advice"),
    {
        "int64_t x[]; };": "GL_EXT_shader_explicit_arithmetic_types_int64",
        "float16_t x[]; };": "GL_EXT_shader_16bit_storage",
        "uint8_t x[]; };": "GL_EXT_shader_8bit_storage",
        "float x[]; };\nvoid f() { int64_t k = 1; }": "GL_EXT_shader_explicit_arithmetic_types_int64",
        "float x[]; };\nvoid f() { atomicAdd(x[0], 1.0); }": "GL_EXT_shader_atomic_float",
        "float x[]; };\nvoid f() { x[0] = subgroupAdd(x[1]); }": "GL_KHR_shader_subgroup_arithmetic",
    }.items(),
)
def test_the_extension_that_a_shader_lacks(code, advice):
    with pytest.raises(vx.ShaderError, match=f"Begin the shader with #extension {advice} : require"):
        vx.kernel(f"layout(binding = 0) buffer X {{ {code}\nvoid main() {{ }}")


def test_push_constants_without_a_block_or_a_meaning():
    source = "layout(binding = 0) buffer X { float x[]; };\nvoid main() { x[0] = 1.0; }"
    with pytest.raises(ValueError, match="block of the shader has 0 bytes, but push_constants='I' makes 4"):
        vx.kernel(source, push_constants="I")
    with pytest.raises(
        ValueError, match=r"kernel: push_constants='zz' is wrong \(.*\); expected letters of Python's struct"
    ):
        vx.kernel(source, push_constants="zz")
    with pytest.raises(TypeError, match=r"kernel: expected push_constants as letters .*, got 5\."):
        vx.kernel(source, push_constants=5)


def test_aligned_push_constants():
    fill = vx.kernel(
        "layout(push_constant) uniform Push { float a; vec2 b; };\nlayout(binding = 0) buffer X { float x[]; };\n"
        "void main() { x[0] = a; x[1] = b.x; x[2] = b.y; }",
        push_constants="f4x2f",
    )
    x = vx.zeros((3,))
    fill(x, push=(1.0, 2.0, 3.0), groups=(1, 1, 1))
    assert x.tolist() == [1, 2, 3]


def test_comments_declare_nothing():
    first = vx.kernel("""
        // layout(binding = 3) buffer Old { float old[]; };
        /* layout(local_size_x = 64) in; */
        layout(binding = 0) buffer X { float x[]; };
        void main() { if (gl_GlobalInvocationID.x == 0u) x[0] = float(gl_WorkGroupSize.x); }
    """)
    assert repr(first) == "<vkarray kernel 'user kernel', bindings [0]>"
    x = vx.zeros((1,))
    first(x, invocations=1)
    assert x.tolist() == [min(256, x.device.limits.max_workgroup_invocations)]


def test_workgroups_are_no_larger_than_the_device_allows(device, monkeypatch):
    limits = dataclasses.replace(device.limits, max_workgroup_invocations=128)
    monkeypatch.setattr(device, "limits", limits)
    sizes = vx.kernel("""
        layout(binding = 0) buffer X { uint x[]; };
        void main() { if (gl_GlobalInvocationID.x < 300u) x[gl_GlobalInvocationID.x] = gl_WorkGroupSize.x; }
    """)
    x = vx.zeros((300,), dtype=vx.uint32)
    sizes(x, invocations=300)
    assert x.tolist() == [128] * 300


def test_texel_buffers():
    halves = vx.kernel("""
        layout(binding = 0) uniform usamplerBuffer x;
        layout(binding = 1) writeonly buffer Y { vec4 y[]; };
        void main() {
            if (gl_GlobalInvocationID.x >= 250u) return;
            y[gl_GlobalInvocationID.x] = 0.5 * uintBitsToFloat(texelFetch(x, int(gl_GlobalInvocationID.x)));
        }
    """)
    x, y = vx.arange(1000, dtype=vx.float32), vx.empty(1000, dtype=vx.float32)
    halves(x, y, invocations=250)
    assert (y == x / 2).all()


def test_more_than_single_buffers_is_refused():
    with pytest.raises(vx.ShaderError, match="binding 0 is an image, a sampler or an array of buffers"):
        vx.kernel("layout(binding = 0, r32f) uniform image2D x; void main() { imageStore(x, ivec2(0), vec4(1.0)); }")
    with pytest.raises(vx.ShaderError, match="binding 2 is an image, a sampler or an array of buffers"):
        vx.kernel("layout(binding = 2) buffer X { float x[]; } xs[2]; void main() { xs[0].x[0] = 1.0; }")


def test_more_buffers_than_the_device_binds(device, monkeypatch):
    monkeypatch.setattr(device, "limits", dataclasses.replace(device.limits, max_storage_buffers=16))
    names = [f"layout(binding = {n}) buffer B{n} {{ float b{n}; }};" for n in range(17)]
    many = vx.kernel("\n".join([*names, "void main() { b16 = b0; }"]), name="many")
    with pytest.raises(
        vx.FeatureError, match=r"many uses 17 storage buffers.* allows 16 \(maxPerStageDescriptorStorage"
    ):
        many(*(vx.zeros((1,)) for _ in names), invocations=1)


GLSL_TYPES = {
    "float": {"float32", "complex64"}, "double": {"float64", "complex128"}, "int": {"int32"}, "uint": {"uint32"},
    "int64_t": {"int64"}, "uint64_t": {"uint64"}, "int16_t": {"int16"}, "uint16_t": {"uint16", "bfloat16"},
    "int8_t": {"int8"}, "uint8_t": {"uint8", "bool"}, "float16_t": {"float16"}, "vec2": {"float32", "complex64"},
    "uvec4": {"uint32"}, "mat3": {"float32", "complex64"},
}  # fmt: skip
IN_WORDS = {"int": {"int8", "int16"}, "uint": {"uint8", "uint16", "bool", "float16", "bfloat16"}}
EXTENSIONS = "".join(
    f"#extension GL_EXT_shader_{name} : require\n"
    for name in ("explicit_arithmetic_types", "8bit_storage", "16bit_storage")
)


@pytest.mark.parametrize("declared", GLSL_TYPES)
def test_an_array_of_another_type_than_the_block_is_refused(device, declared):
    # What a block is declared as is read and written as that: its bits would be other numbers.
    store = "x[0] = x[1];"
    look = vx.kernel(
        f"#version 460\n{EXTENSIONS}layout(binding = 0) buffer X {{ {declared} x[]; }};\nvoid main() {{ {store} }}",
        name="look",
    )
    for dtype in supported(dtypes.DTYPES.values()):
        x = vx.ones((64,), dtype=dtype)
        words = storage_itemsize(dtype, device) > dtype.itemsize
        fits = dtype.name in (IN_WORDS.get(declared.replace("uvec4", "uint"), set()) if words else GLSL_TYPES[declared])
        said = ""
        try:
            look(x, invocations=1)
        except vx.FeatureError:
            return  # the device lacks the declared type
        except TypeError as error:
            said = str(error)
        assert bool(said) != fits, f"{declared} {'refuses' if said else 'takes'} {dtype}. {said}"
        assert fits or re.search(rf"^look: binding 0 declares \w+, .* {dtype.name} array .* Declare \w+.* astype", said)


def test_blocks_of_several_types_are_bytes():
    pairs = vx.kernel("""
        struct Pair { uint first; float second; };
        layout(binding = 0) buffer Pairs { Pair pairs[]; };
        void main() { pairs[gl_GlobalInvocationID.x].second = 1.0; }
    """)
    x = vx.zeros((2,), dtype=vx.float32)
    pairs(x, invocations=1)
    assert x[1] == 1.0


@pytest.mark.parametrize(
    ("source", "line"),
    {
        "nothing": ("void main() { wrong = 1; }", 1),
        "lines before": ("// one\n\nvoid main() {\n    wrong = 1;\n}", 4),
        "a version": ("#version 450\nvoid main() {\n    wrong = 1;\n}", 3),
        "a comment before the version": ("/* one\ntwo */\n#version 450\nvoid main() { wrong = 1; }", 4),
        "extensions": (f"{EXTENSIONS}void main() {{ wrong = 1; }}", 4),
        "a version and extensions": (f"\n#version 460\n{EXTENSIONS}\nvoid main() {{ wrong = 1; }}", 7),
        "a workgroup size": ("layout(local_size_x = 64) in;\nvoid main() {\n    wrong = 1; }", 3),
        "an error before the extensions": (
            "wrong x;\n#extension GL_EXT_shader_8bit_storage : require\nvoid main() {}",
            1,
        ),
    }.values(),
)
def test_errors_are_reported_with_the_line_that_the_user_wrote(source, line):
    with pytest.raises(vx.ShaderError, match=rf"line {line}: .*\n +.*wrong"):
        vx.kernel(source)


def test_sources_that_do_not_compile():
    with pytest.raises(vx.ShaderError) as caught:
        vx.kernel("layout(binding = 0) buffer X { float x[]; };", name="headless")
    assert str(caught.value).startswith("headless: the shader does not compile.\n  ")
    assert "Missing entry point" in str(caught.value)
    assert "shader.comp" not in str(caught.value), "the error shows a temporary file"
    with pytest.raises(vx.ShaderError) as caught:
        vx.kernel("layout(binding = 0) buffer X { float x[]; };\nvoid main() { x[0] = missing; }", name="broken")
    text = str(caught.value)
    assert text.startswith("broken: the shader does not compile.\n")
    assert "'missing' : undeclared identifier" in text
    assert "void main() { x[0] = missing; }" in text


def test_features_that_the_device_lacks(device):
    source = """
        #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
        layout(binding = 0) buffer X { int64_t x[]; };
        void main() { x[0] += int64_t(1); }
    """
    with vx.config(disable="shaderInt64"):
        x = vx.zeros((2,), device=device.index)
        with pytest.raises(vx.FeatureError, match="shaderInt64"):
            vx.kernel(source, name="wide")(x, invocations=1)
