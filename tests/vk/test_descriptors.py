"""Kernels that declare buffers with bindings, through cached descriptor sets."""

import dataclasses
import re
import struct

import numpy as np
import pytest
from vulkan_program import compile_glsl, download, upload

from vkarray._vk import api, descriptors, faults
from vkarray.errors import FeatureError, OutOfMemoryError, ShaderError

OUT_OF_DEVICE_MEMORY = -2

SCALE = """#version 460
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Source { uint source[]; };
layout(binding = 2) writeonly buffer Target { uint target[]; };
layout(push_constant) uniform Push { uint factor; };
void main() { uint i = gl_GlobalInvocationID.x; if (i < source.length()) target[i] = factor * source[i]; }
"""


def run(device, kernel, source, target, factor, offset=0, nbytes=None):
    nbytes = source.nbytes - offset if nbytes is None else nbytes
    device.dispatch(
        kernel,
        struct.pack("<I", factor),
        (-(-nbytes // 256), 1, 1),
        (source,),
        (target,),
        [(0, source, offset, nbytes), (2, target, 0, target.nbytes)],
    )


def test_bound_buffers_and_lengths(device):
    kernel = device.kernel(compile_glsl(SCALE), "scale")
    source, target = upload(device, np.arange(1000, dtype=np.uint32)), upload(device, np.zeros(1000, np.uint32))
    run(device, kernel, source, target, 3, 256, 400)
    expected = np.zeros(1000, np.uint32)
    expected[:100] = 3 * np.arange(64, 164)
    assert (download(device, target) == expected).all()


def test_uniform_buffer(device):
    kernel = device.kernel(
        compile_glsl("""#version 460
layout(local_size_x = 1) in;
layout(binding = 0) uniform Source { uvec4 source; };
layout(binding = 1) buffer Target { uint target[]; };
void main() { for (uint i = 0; i < 4; i++) target[i] = source[i] + 1; }
"""),
        "uniform",
    )
    source, target = upload(device, np.arange(4, dtype=np.uint32)), device.allocate(16)
    device.dispatch(kernel, b"", (1, 1, 1), (source,), (target,), [(0, source, 0, 16), (1, target, 0, 16)])
    assert list(download(device, target)) == [1, 2, 3, 4]


TEXELS = """#version 460
layout(local_size_x = 1) in;
layout(binding = 0) uniform usamplerBuffer source;
layout(binding = 1) writeonly buffer Target { uvec4 target[]; };
void main() { target[gl_GlobalInvocationID.x] = texelFetch(source, int(gl_GlobalInvocationID.x)); }
"""


def read_texels(device, kernel, source, offset, nbytes, count):
    target = device.allocate(16 * count)
    device.dispatch(
        kernel, b"", (count, 1, 1), (source,), (target,), [(0, source, offset, nbytes), (1, target, 0, 16 * count)]
    )
    return download(device, target)


def test_texel_buffer(device):
    """Every bit arrives, and the last texel is whole."""
    kernel = device.kernel(compile_glsl(TEXELS), "texels")
    values = np.random.default_rng(0).integers(0, 1 << 32, 1000, dtype=np.uint32)
    source = upload(device, values)
    assert (read_texels(device, kernel, source, 0, 4000, 250) == values).all()
    assert (read_texels(device, kernel, source, 1024, 36, 3) == values[256:268]).all()


def test_texel_buffer_that_does_not_fit(device, monkeypatch):
    kernel = device.kernel(compile_glsl(TEXELS), "texels")
    source = device.allocate(4096)
    with pytest.raises(ValueError, match="Kernel texels, binding 0: offset 8 is not a multiple of"):
        read_texels(device, kernel, source, 8, 16, 1)
    limits = dataclasses.replace(device.limits, max_texel_buffer_elements=8, max_texel_buffers=0)
    monkeypatch.setattr(device, "limits", limits)
    with pytest.raises(FeatureError, match=r"Kernel texels, binding 0: 144 bytes, but .* binds 128 at most"):
        read_texels(device, kernel, source, 0, 144, 1)
    with pytest.raises(FeatureError, match=r"Kernel texels uses 1 texel buffers per workgroup, but .* allows 0"):
        device.kernel(compile_glsl(TEXELS), "texels")


def test_views_go_with_their_sets(own_device):
    kernel, source = own_device.kernel(compile_glsl(TEXELS), "texels"), own_device.allocate(4096)
    before = api.live_objects().get("BufferView", 0)
    target = own_device.allocate(256)
    for offset in (0, 0, 256):
        bindings = [(0, source, offset, 256), (1, target, 0, 256)]
        own_device.dispatch(kernel, b"", (16, 1, 1), (source,), (target,), bindings)
    assert api.live_objects()["BufferView"] == before + 2, "one for each set"
    with faults.inject(OUT_OF_DEVICE_MEMORY, "vkCreateBufferView"), pytest.raises(OutOfMemoryError):
        read_texels(own_device, kernel, source, 512, 256, 1)
    assert len(own_device.descriptors.sets) == 2
    own_device.queue.wait_all()
    own_device.descriptors._trim(2)
    assert api.live_objects().get("BufferView", 0) == before


def test_sets_are_cached_and_safe_in_flight(own_device):
    kernel, sets = own_device.kernel(compile_glsl(SCALE), "scale"), own_device.descriptors
    source = upload(own_device, np.arange(64, dtype=np.uint32))
    targets = [own_device.allocate(256) for _ in range(descriptors.KEPT_SETS + 100)]
    for repeat in range(2):
        for factor, target in enumerate(targets[:50]):
            run(own_device, kernel, source, target, factor)
        assert (sets.misses, sets.hits) == (50, 50 * repeat), "a set with the same buffers is made again"
    for factor, target in enumerate(targets):
        run(own_device, kernel, source, target, factor)
    assert len(sets.sets) <= len(targets)
    for factor, target in enumerate(targets):
        assert (download(own_device, target) == factor * np.arange(64)).all(), f"dispatch {factor} used another's set"
    run(own_device, kernel, source, own_device.allocate(512), 1)
    assert len(sets.sets) <= descriptors.KEPT_SETS, "old sets are never freed"


def test_sets_go_with_their_memory(own_device):
    kernel = own_device.kernel(compile_glsl(SCALE), "scale")
    source, large = upload(own_device, np.arange(64, dtype=np.uint32)), own_device.allocate(40 << 20)
    run(own_device, kernel, source, large, 1)
    assert len(own_device.descriptors.sets) == 1
    del large
    own_device.empty_cache()
    assert not own_device.descriptors.sets, "a set points into memory that was given back"


@pytest.mark.parametrize(
    ("bindings", "message"),
    [
        (lambda a, b: None, "declares the bindings [0, 2], got []"),
        (lambda a, b: [(0, a, 0, 256), (1, b, 0, 256)], "declares the bindings [0, 2], got [0, 1]"),
        (lambda a, b: [(0, a, 0, 256), (0, a, 0, 256), (2, b, 0, 4)], "got [0, 0, 2]"),
        (lambda a, b: [(0, a, 0, 260), (2, b, 0, 256)], "binding 0: bytes 0 to 260 of a buffer of 256 bytes"),
        (
            lambda a, b: [(0, a, 0, 256), (2, b, 16, 0)],
            "binding 2: bytes 16 to 16 of a buffer of 256 bytes; a binding needs",
        ),
        (lambda a, b: [(0, a, 1, 4), (2, b, 0, 256)], "binding 0: offset 1 is not a multiple of"),
    ],
)
def test_bindings_that_do_not_fit(device, bindings, message):
    kernel = device.kernel(compile_glsl(SCALE), "scale")
    a, b = device.allocate(256), device.allocate(256)
    with pytest.raises(ValueError, match=f"Kernel scale.*{re.escape(message)}"):
        device.dispatch(kernel, bytes(4), (1, 1, 1), (a,), (b,), bindings(a, b))


def test_binding_over_the_limit_is_named(device):
    limit = device.limits.max_storage_buffer_range
    if limit > 1 << 30:
        pytest.skip("the limit of this device is more than a test should use")
    kernel = device.kernel(compile_glsl(SCALE), "scale")
    try:
        large = device.allocate(limit + 4)
    except OutOfMemoryError:
        pytest.skip(f"{device.name} gives no {limit + 4:,} bytes in one piece")
    with pytest.raises(FeatureError, match=f"Kernel scale, binding 0: {limit + 4} bytes, but .* binds {limit} at most"):
        device.dispatch(kernel, bytes(4), (1, 1, 1), (large,), (large,), [(0, large, 0, limit + 4), (2, large, 0, 4)])


def test_other_descriptor_sets_are_refused(device):
    code = compile_glsl("#version 460\nlayout(set = 1, binding = 0) buffer B { uint x; }; void main() { x = 1; }")
    with pytest.raises(ShaderError, match="Kernel second: buffers must be declared with layout"):
        device.kernel(code, "second")
