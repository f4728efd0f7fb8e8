"""Kernels: checks before the driver sees them, specialization, float controls, pipeline cache."""

import dataclasses
import gc
import struct
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from validator import complaint, needs_validator
from vulkan_program import COMBINE, HEAD, Combine, compile_glsl, download, upload

from vkarray import _vk, cache, configuration
from vkarray._vk import pipeline_cache, ready, spirv
from vkarray._vk.making import Making
from vkarray._vk.physical_device import FloatControls
from vkarray.errors import FeatureError, OutOfMemoryError, ShaderError, VulkanError

MAIN = "void main() {}"
FILL = (
    HEAD
    + """
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint VALUE = 7;
layout(constant_id = 2) const uint TILE = 16;
shared uint tile[TILE * TILE + 1];
layout(buffer_reference, std430) buffer Words { uint data[]; };
layout(push_constant) uniform Push { Words target; uint n; };
void main() {
    tile[gl_LocalInvocationID.x % TILE] = VALUE;
    uint i = gl_GlobalInvocationID.x;
    if (i < n) target.data[i] = VALUE;
}
"""
)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"", "Kernel bad: got 0 bytes that are not a SPIR-V module"),
        (b"abcd" * 10, "that are not a SPIR-V module"),
        (compile_glsl(COMBINE)[:-3], "that are not a SPIR-V module"),
        (compile_glsl(COMBINE)[:400], "Kernel bad: the SPIR-V module"),
        (compile_glsl(COMBINE)[:20] + bytes(4) + compile_glsl(COMBINE)[24:], "is cut off or damaged at word 5"),
    ],
    ids=["empty", "text", "not whole words", "cut off", "a word is zero"],
)
def test_damaged_spirv_never_reaches_the_driver(device, bad, message):
    with pytest.raises(ShaderError, match=message):
        device.kernel(bad, "bad")


@pytest.mark.parametrize(
    ("feature", "declarations", "extension"),
    [
        ("shaderFloat64", "double x = 1.0lf;", ""),
        ("shaderInt64", "int64_t x = 1l;", "GL_EXT_shader_explicit_arithmetic_types"),
        ("shaderInt16", "int16_t x = 1s;", "GL_EXT_shader_explicit_arithmetic_types"),
        ("shaderInt8", "int8_t x = int8_t(1);", "GL_EXT_shader_explicit_arithmetic_types"),
        ("subgroupArithmetic", "uint x = subgroupAdd(gl_LocalInvocationIndex);", "GL_KHR_shader_subgroup_arithmetic"),
        ("subgroupBallot", "uint x = subgroupBallot(true).x;", "GL_KHR_shader_subgroup_ballot"),
    ],
)
def test_missing_feature_is_named(feature, declarations, extension):
    extension = f"#extension {extension} : require\n" if extension else ""
    code = compile_glsl(
        f"#version 460\n{extension}layout(local_size_x = 1) in;\nlayout(binding = 0) buffer B {{ int y; }};\n"
        f"void main() {{ {declarations} y = int(x); }}"
    )
    with configuration.config(disable=feature):
        opened = _vk.open_device()
    with pytest.raises(
        FeatureError,
        match=rf"Kernel typed needs {feature}, which .* does not have \(VKARRAY_DISABLE switches {feature} off\)\. Use",
    ) as caught:
        opened.kernel(code, "typed")
    assert caught.value.features == (feature,)


def limits_case(device, name):
    limits = device.limits
    return {
        "maxComputeSharedMemorySize": f"layout(local_size_x = 1) in; shared uint big[{limits.max_shared_memory_size // 4 + 1}];"
        "layout(binding = 0) buffer B { uint y; }; void main() { big[gl_WorkGroupID.x] = 1; y = big[0]; }",
        "maxComputeWorkGroupInvocations": f"layout(local_size_x = 2, local_size_y = {limits.max_workgroup_invocations}) in; {MAIN}",
        "maxComputeWorkGroupSize": f"layout(local_size_z_id = 0) in; {MAIN}",
        "maxPerStageDescriptorStorageBuffers": "".join(
            f"layout(binding = {n}) buffer B{n} {{ uint x{n}; }};" for n in range(limits.max_storage_buffers + 1)
        )
        + MAIN,
        "maxPushConstantsSize": f"layout(push_constant) uniform P {{ uint p[{limits.max_push_constants_size // 4 + 1}]; }};"
        "layout(binding = 0) buffer B { uint y; }; void main() { y = p[gl_WorkGroupID.x]; }",
    }[name]


@pytest.mark.parametrize(
    "limit",
    [
        "maxComputeSharedMemorySize",
        "maxComputeWorkGroupInvocations",
        "maxComputeWorkGroupSize",
        "maxPushConstantsSize",
        "maxPerStageDescriptorStorageBuffers",
    ],
)
def test_limits_are_checked_before_the_driver_could_be_lost(device, monkeypatch, limit):
    few = dataclasses.replace(device.limits, max_storage_buffers=min(device.limits.max_storage_buffers, 64))
    monkeypatch.setattr(device, "limits", few)
    with pytest.raises(FeatureError, match=rf"Kernel large uses .* allows .* \({limit}\)") as caught:
        device.kernel(
            compile_glsl("#version 460\n" + limits_case(device, limit)),
            "large",
            ((0, device.limits.max_workgroup_size[2] + 1),),
        )
    assert caught.value.features == (limit,)


def test_specialization_constants_reach_kernel_and_checks(device):
    code = compile_glsl(FILL)
    target = device.allocate(4 * 300)
    kernel = device.kernel(code, "fill", ((0, 32), (1, 123456789)))
    assert kernel.local_size == (32, 1, 1)
    device.dispatch(kernel, struct.pack("<QI", target.address, 300), (10, 1, 1), (), (target,))
    assert set(download(device, target)) == {123456789}
    module = spirv.read(code, "fill", {2: 64})
    assert module.shared_bytes == 4 * (64 * 64 + 1), "shared memory sized by a specialization constant is misread"
    with pytest.raises(FeatureError, match="maxComputeSharedMemorySize"):
        device.kernel(code, "fill", ((0, 32), (2, 1024)))
    with pytest.raises(FeatureError, match=r"maxComputeWorkGroupInvocations|maxComputeWorkGroupSize"):
        device.kernel(code, "fill", ((0, device.limits.max_workgroup_invocations + 1),))


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        ("gl_WorkGroupSize.x * 64u", 256 * 64),
        ("gl_WorkGroupSize.x * gl_WorkGroupSize.y + gl_WorkGroupSize.z", 256 * 4 + 1),
        ("N % 4 + 4", 5),  # with N = -7; the remainder has the divisor's sign
        ("-N / 2", 3),
        ("N < 0 ? 2 : 3", 2),
        ("(N >> 1) + 10", 6),
        ("uint(~N)", 6),
        ("!(N > 0 || N == -7) ? 2 : 3", 3),
    ],
)
def test_shared_memory_sized_by_computed_constants(length, expected):
    source = f"""#version 460
layout(local_size_x_id = 0, local_size_y = 4) in;
layout(constant_id = 1) const int N = 5;
shared float s[{length}];
void main() {{ s[0] = 1.0; }}
"""
    module = spirv.read(compile_glsl(source), "sized", {0: 256, 1: 2**32 - 7})
    assert module.shared_bytes == 4 * expected


def test_length_that_cannot_be_evaluated_is_an_error_not_a_guess(monkeypatch):
    code = compile_glsl(FILL)
    monkeypatch.setattr(spirv, "OPERATIONS", {})
    with pytest.raises(ShaderError, match=r"Kernel fill: the length of an array is a specialization constant computed"):
        spirv.read(code, "fill", {})


@pytest.mark.parametrize(
    ("declaration", "body"),
    [
        ("layout(binding = 4, r32f) uniform image2D x;", "imageStore(x, ivec2(0), vec4(1.0));"),
        (
            "layout(binding = 4) uniform sampler2D x; layout(binding = 1) buffer Y { vec4 y; };",
            "y = texture(x, vec2(0));",
        ),
        (
            "layout(binding = 4) uniform samplerBuffer x; layout(binding = 1) buffer Y { vec4 y; };",
            "y = texelFetch(x, 0);",
        ),
        ("layout(binding = 4) buffer X { float x[]; } xs[2];", "xs[1].x[0] = 1.0;"),
        (
            "layout(binding = 4) uniform X { float x; } xs[2]; layout(binding = 1) buffer Y { float y; };",
            "y = xs[1].x;",
        ),
    ],
)
def test_binding_that_is_no_single_buffer_is_refused(declaration, body):
    code = compile_glsl(f"#version 460\n{declaration}\nvoid main() {{ {body} }}")
    with pytest.raises(ShaderError, match="Kernel odd: binding 4 is an image, a sampler or an array of buffers; each"):
        spirv.read(code, "odd", {})


def test_one_binding_of_two_kinds_is_refused():
    code = compile_glsl(
        "#version 460\nlayout(binding = 0) buffer X { float x; };\nlayout(binding = 0) uniform Y { float y; };\n"
        "void main() { x = y; }"
    )
    with pytest.raises(ShaderError, match="binding 0 is both a storage and a uniform buffer"):
        spirv.read(code, "odd", {})


def test_access_comes_from_the_qualifiers():
    code = compile_glsl("""#version 460
layout(binding = 0) uniform U { float u; };
layout(binding = 1) readonly buffer A { float a[]; };
layout(binding = 2) writeonly buffer B { int n; float b[]; };
layout(binding = 3) buffer C { readonly int m; float c[]; };
layout(binding = 4) readonly buffer D { float d[]; };
layout(binding = 4) buffer E { float e[]; };  // the same array under another name
// layout(binding = 5) buffer F { float f[]; };
void main() { b[0] = u + a[0] + c[m] + d[0]; e[1] = 1.0; }
""")
    read, written = (True, False), (False, True)
    assert spirv.read(code, "k", {}).accesses == {0: read, 1: read, 2: written, 3: (True, True), 4: (True, True)}


def test_size_of_a_push_constant_block():
    code = compile_glsl("""#version 460
struct Item { vec3 a; float b; };
layout(push_constant) uniform P { float f; Item item; layout(row_major) mat2x3 m; };
layout(binding = 0) buffer X { float x[]; };
void main() { x[0] = f + item.b + m[0].x; }
""")
    assert spirv.read(code, "k", {}).push_constant_bytes == 32 + 3 * 8


def test_reading_a_module():
    module = spirv.read(
        compile_glsl("""#version 460
layout(local_size_x = 8, local_size_y = 4) in;
struct Item { double d; vec3 v; };
shared Item items[10];
shared bool flag;
layout(push_constant) uniform P { vec4 a; uint b[3]; mat3 m; };
layout(binding = 3) readonly buffer A { float x[]; };
layout(binding = 1) uniform U { float y; };
void main() { items[0].d = x[0] + y + b[0] + m[0][0]; flag = true; }
"""),
        "module",
        {},
    )
    assert module.version == (1, 5)
    assert module.local_size == (8, 4, 1)
    assert module.float_widths == {32, 64}
    assert module.shared_bytes == 10 * 24 + 4
    assert module.push_constant_bytes == 32 + 48
    assert module.bindings == {1: "uniform", 3: "storage"}
    assert 10 in module.capabilities


FLOATS = (
    HEAD
    + """
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer F32 { float data[]; };
layout(buffer_reference, std430) buffer F64 { double data[]; };
layout(buffer_reference, std430) buffer F16 { float16_t data[]; };
layout(push_constant) uniform Push { F32 a; F64 b; F16 c; };
void main() { uint i = gl_GlobalInvocationID.x; a.data[i] += 1; b.data[i] += 1; c.data[i] += float16_t(1); }
"""
)


@needs_validator
@pytest.mark.parametrize("target", ["vulkan1.1", "vulkan1.2"])
def test_float_controls_make_a_valid_module(target):
    module = spirv.read(compile_glsl(FLOATS, target), "floats", {})
    widths = frozenset((16, 32, 64))
    assert module.float_widths == widths
    words = spirv.add_float_controls(module, "floats", dict.fromkeys(spirv.FLOAT_CONTROLS, widths))
    assert not complaint(words, target)
    again = spirv.read(struct.pack(f"<{len(words)}I", *words), "floats", {})
    assert {4464, 4466, 4467} <= again.capabilities
    assert spirv.add_float_controls(again, "floats", dict.fromkeys(spirv.FLOAT_CONTROLS, widths)) == words, (
        "execution modes that are there are added again"
    )


def test_float_control_of_the_source_is_respected():
    module = spirv.read(compile_glsl(FLOATS), "floats", {})
    words = spirv.add_float_controls(module, "floats", {4464: frozenset((32,))})
    flushing = tuple(4460 if words[i - 2] == 4 << 16 | 16 and word == 4459 else word for i, word in enumerate(words))
    own = spirv.read(struct.pack(f"<{len(words)}I", *flushing), "floats", {})
    modes = [
        o[1:]
        for opcode, o in spirv.instructions(
            spirv.add_float_controls(own, "floats", {4464: frozenset((32, 64))}), "floats"
        )
        if opcode == 16
    ]
    assert (4460, 32) in modes
    assert (4459, 32) not in modes, "DenormPreserve is added although the source asks for DenormFlushToZero"
    assert (4459, 64) in modes


@pytest.mark.parametrize(
    ("independence", "offered", "used", "expected"),
    [
        ("all", {32, 64}, {16, 32, 64}, {32, 64}),
        ("all", {32}, {64}, set()),
        ("32", {32, 64}, {16, 32, 64}, {32}),
        ("32", {32, 64}, {32, 64}, {32, 64}),
        ("32", {16, 32, 64}, {16, 64}, {16, 64}),
        ("none", {32}, {32, 64}, set()),
        ("none", {32}, {32}, {32}),
        ("none", {32, 64}, {32, 64}, {32, 64}),
    ],
)
def test_float_controls_respect_independence(independence, offered, used, expected):
    controls = FloatControls(frozenset(offered), frozenset(), frozenset(), independence, "all")
    assert ready.float_controls(controls, frozenset(used)).get(4464, frozenset()) == expected


def test_kernel_with_float_controls_runs(device):
    if not {"shaderFloat64", "shaderFloat16", "storageBuffer16BitAccess"} <= device.features:
        pytest.skip("the device lacks float16 or float64")
    a, b, c = (upload(device, np.arange(64, dtype=kind)) for kind in (np.float32, np.float64, np.float16))
    kernel = device.kernel(compile_glsl(FLOATS), "floats")
    device.dispatch(kernel, struct.pack("<QQQ", a.address, b.address, c.address), (1, 1, 1), (a, b, c), (a, b, c))
    for buffer, kind in ((a, np.float32), (b, np.float64), (c, np.float16)):
        assert (download(device, buffer, kind) == np.arange(1, 65)).all()


def test_pipeline_cache_is_kept_on_disk(tmp_path):
    def open_use_close():
        with configuration.config(cache=tmp_path, disable="subgroupShuffle"):
            opened = _vk.open_device()
            Combine(opened)
            opened.close()

    counts = cache.statistics()["pipelines"]
    open_use_close()
    with configuration.config(cache=tmp_path):
        after = cache.statistics()["pipelines"]
        assert after["misses"] == counts["misses"] + 1
        assert after["compiles"] == counts["compiles"] + 1
        assert after["bytes"] > 32
        open_use_close()
        assert cache.statistics()["pipelines"]["hits"] == counts["hits"] + 1, "the stored pipeline cache is not used"
    entry = next((tmp_path / "pipelines").iterdir())
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    open_use_close()
    assert cache.statistics()["pipelines"]["hits"] == counts["hits"] + 1, "a damaged pipeline cache reaches the driver"


@pytest.mark.parametrize(
    "data",
    [b"", bytes(32), struct.pack("<IIII8s", 32, 1, 0, 0, b""), struct.pack("<IIII16s", 99, 1, 0, 0, b"")],
    ids=["nothing", "zeros", "half a header", "a header longer than all"],
)
def test_data_without_the_header_of_a_pipeline_cache_is_not_kept(tmp_path, data):
    with configuration.config(cache=tmp_path):
        pipeline_cache.disk.put("key", data)
        assert pipeline_cache.disk.get("key") is None


def test_pipelines_that_the_driver_gives_in_part_are_not_kept(own_device, tmp_path, monkeypatch):
    Combine(own_device)
    functions, whole = own_device.functions, own_device.functions.vkGetPipelineCacheData

    def cut_off(device, handle, size, data):
        whole(device, handle, size, data)
        return 0 if data == _vk.api.NULL else 5  # VK_INCOMPLETE

    with configuration.config(cache=tmp_path):
        with monkeypatch.context() as patch:
            patch.setattr(functions, "vkGetPipelineCacheData", cut_off)
            own_device.pipeline_cache.added()
            own_device.pipeline_cache.save()
            assert not (tmp_path / "pipelines").exists(), "a part of the pipelines is stored"
        own_device.pipeline_cache.added()
        own_device.pipeline_cache.save()
        assert len(list((tmp_path / "pipelines").iterdir())) == 1


@pytest.mark.parametrize("changed", ["driverUUID", "pipelineCacheUUID", "driverVersion"])
def test_pipelines_of_another_driver_are_not_loaded(device, tmp_path, changed):
    ids, properties = device.physical.ids, device.physical.properties
    same = {
        "driverUUID": bytes(ids.driverUUID),
        "pipelineCacheUUID": bytes(properties.pipelineCacheUUID),
        "driverVersion": properties.driverVersion,
    }
    other = {**same, changed: properties.driverVersion + 1 if changed == "driverVersion" else bytes(range(16))}

    def loaded(values):
        stand_in = SimpleNamespace(**values)
        physical = SimpleNamespace(ids=stand_in, properties=stand_in)
        before = cache.statistics()["pipelines"]["hits"]
        made = SimpleNamespace(functions=device.functions, handle=device.handle, physical=physical)
        pipeline_cache.PipelineCache(made).close()
        return cache.statistics()["pipelines"]["hits"] - before

    header = struct.pack("<IIII16s", 32, 1, properties.vendorID, properties.deviceID, same["pipelineCacheUUID"])
    with configuration.config(cache=tmp_path):
        pipeline_cache.disk.put(device.pipeline_cache.key, header)
        assert loaded(same) == 1
        assert loaded(other) == 0, f"a stored pipeline cache of a driver of another {changed} reaches the driver"


@pytest.fixture
def gate_of_pipelines(own_device, monkeypatch):
    """Threads that make pipelines wait for the event in the driver's stead; the list has the number that do."""
    inside, opened = [], threading.Event()
    make = own_device.functions_aside.vkCreateComputePipelines

    def waiting(*arguments):
        inside.append(None)
        assert opened.wait(60)
        return make(*arguments)

    monkeypatch.setattr(own_device.functions_aside, "vkCreateComputePipelines", waiting)
    yield inside, opened
    opened.set()


def until(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("not within a minute")


def test_kernels_are_compiled_side_by_side_while_calls_go_on(own_device, gate_of_pipelines):
    inside, opened = gate_of_pipelines
    a, b, target = (upload(own_device, np.arange(64, dtype=np.uint32)) for _ in range(3))
    first, second = Combine(own_device), Combine(own_device)
    for _ in range(40):  # more than a first batch
        first.run(a, b, target)
        second.run(a, b, target)
    until(lambda: len(inside) == 2)
    assert own_device.queue.batches == 0, "a submission waits for the driver's compiler"
    opened.set()
    expected = own_device.allocate(256)
    first.run(a, b, expected)
    np.testing.assert_array_equal(download(own_device, target), download(own_device, expected))
    assert not own_device.making


def test_a_kernel_can_be_dropped_and_a_device_closed_while_a_pipeline_is_made(own_device, gate_of_pipelines):
    inside, opened = gate_of_pipelines
    for _ in range(3):
        Combine(own_device)
    gc.collect()
    until(lambda: inside)
    closing = threading.Thread(target=own_device.close)
    closing.start()
    opened.set()
    closing.join(60)
    assert not closing.is_alive()
    assert not own_device.making
    until(lambda: not any(thread.name == "vkarray pipeline" for thread in threading.enumerate()))


def test_a_kernel_that_the_driver_refuses_is_told_once(own_device, monkeypatch):
    """Whoever waits for the work hears of it. The device goes on, and so do other kernels in the same batch."""
    a, b, target, other = (upload(own_device, np.arange(64, dtype=np.uint32)) for _ in range(4))
    good = Combine(own_device)
    own_device.await_pipelines()

    def refuse(*arguments):
        raise VulkanError("vkCreateComputePipelines failed with VK_ERROR_UNKNOWN.", "VK_ERROR_UNKNOWN")

    with monkeypatch.context() as patched:
        patched.setattr(own_device.functions_aside, "vkCreateComputePipelines", refuse)
        patched.setattr(own_device.functions, "vkCreateComputePipelines", refuse)
        bad = Combine(own_device)
        bad.run(a, b, target)
        good.run(a, b, other)
        with pytest.raises(VulkanError, match="VK_ERROR_UNKNOWN"):
            own_device.synchronize()
    own_device.synchronize()
    np.testing.assert_array_equal(download(own_device, target), np.arange(64))
    bad.run(a, b, target)
    np.testing.assert_array_equal(download(own_device, target), download(own_device, other))


def test_memory_that_lacks_for_a_pipeline_is_asked_for_again(own_device, monkeypatch):
    a, b, target = (upload(own_device, np.arange(64, dtype=np.uint32)) for _ in range(3))

    def full(*arguments):
        raise OutOfMemoryError("vkCreateComputePipelines: out of memory.")

    with monkeypatch.context() as patched:
        patched.setattr(own_device.functions_aside, "vkCreateComputePipelines", full)
        patched.setattr(own_device.functions, "vkCreateComputePipelines", full)
        combine = Combine(own_device)
        combine.run(a, b, target)
        with pytest.raises(OutOfMemoryError):
            own_device.synchronize()
    assert not np.array_equal(download(own_device, target), np.arange(64))


def test_code_that_needs_a_pipeline_while_somebody_waits_for_it(own_device, monkeypatch):
    """A signal handler, say: what it has recorded keeps its pipeline."""
    kernel, result, inner = Combine(own_device).kernel, Making.result, []

    def struck(making):
        if not inner:
            inner.append(None)
            inner.append(kernel.pipeline)
        return result(making)

    monkeypatch.setattr(Making, "result", struck)
    outer = kernel.pipeline
    assert [None, outer] == inner
    assert kernel.pipeline == outer


@pytest.mark.parametrize("begun", [False, True])
def test_an_interrupt_while_a_thread_is_started(own_device, monkeypatch, begun):
    """Nobody waits for ever for a thread that has never run."""
    start = threading.Thread.start

    def struck(thread):
        if begun:
            start(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", struck)
        with pytest.raises(KeyboardInterrupt):
            Combine(own_device)
    waiting = threading.Thread(target=own_device.await_pipelines, daemon=True)
    waiting.start()
    waiting.join(60)
    assert not waiting.is_alive()
    until(lambda: not own_device.making)
