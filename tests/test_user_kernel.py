"""`vkarray.kernel`: users' own shaders on arrays."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import vkarray as vx

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
    with pytest.raises(ValueError, match=r"expected groups=\(x, y, z\), got \(1, 1\)"):
        saxpy(x, y, push=(8, 1.0), groups=(1, 1))
    with pytest.raises(vx.FeatureError, match="the device takes at most"):
        saxpy(x, y, push=(8, 1.0), groups=(2**32 - 1, 1, 1))
    with pytest.raises(ValueError, match=r"offset 4 is not a multiple of \d+; copy the view first"):
        saxpy(x[1:], y, push=(7, 1.0), invocations=7)


def test_sources_that_do_not_compile():
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
