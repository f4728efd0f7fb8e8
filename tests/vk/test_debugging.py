"""Validation layers, barrier checker and guard bytes find what is planted for them."""

import struct
from types import SimpleNamespace

import numpy as np
import pytest
from vulkan_program import Combine, compile_glsl, download, run_python, upload

from vkarray import _vk, configuration
from vkarray._vk import api, barriers, spirv
from vkarray.errors import DeviceError, ValidationError


@pytest.fixture
def checked_device():
    with configuration.config(check_barriers=True, guard=False, disable="subgroupQuad,subgroupClustered"):
        opened = _vk.open_device()
        yield opened
    opened.close()


@pytest.fixture
def guarded_device():
    with configuration.config(guard=True, check_barriers=False, disable="subgroupQuad,subgroupClustered"):
        opened = _vk.open_device()
        yield opened
    opened.close()


@pytest.fixture
def validated_device():
    try:
        with configuration.config(validation=True):
            return _vk.open_device()
    except DeviceError as error:
        pytest.skip(str(error))


def program(device):
    """A little of everything, with every kind of hazard."""
    combine = Combine(device)
    a, b = upload(device, np.arange(64, dtype=np.uint32)), upload(device, np.ones(64, np.uint32))
    c, d = device.allocate(256), device.allocate(256)
    combine.run(a, b, c)
    combine.run(c, a, d)
    combine.run(d, c, a)
    device.copy(a, 0, b, 0, 256)
    combine.run(b, b, c)
    combine.run(a, d, c)
    return download(device, c)


def test_every_single_barrier_is_needed(checked_device, monkeypatch):
    queue = checked_device.queue
    expected = program(checked_device)
    checked_device.synchronize()
    start = queue.barriers
    program(checked_device)
    count = queue.barriers - start
    assert count >= 4, "the program has fewer hazards than it should"
    listening, checker = queue.recorder.barrier, queue.recorder.checker
    for deleted in range(count):
        checked_device.synchronize()
        checker.unordered.clear()
        calls = iter(range(10**6))

        def without_one(*arguments, deleted=deleted, calls=calls):
            if next(calls) != deleted:
                listening(*arguments)

        monkeypatch.setattr(queue.recorder, "barrier", without_one)
        with pytest.raises(ValidationError, match=r"Barrier missing between .* and .*: (read|write) after"):
            program(checked_device)
        monkeypatch.setattr(queue.recorder, "barrier", listening)
    checked_device.synchronize()
    checker.unordered.clear()
    assert (program(checked_device) == expected).all()


def test_missing_barrier_between_batches_is_found(checked_device, monkeypatch):
    combine, queue = Combine(checked_device), checked_device.queue
    a = upload(checked_device, np.arange(64, dtype=np.uint32))
    checked_device.synchronize()  # an upload is a command where the host does not write the device's memory
    combine.run(a, a, a)
    monkeypatch.setattr(queue.recorder, "barrier", lambda *_: None)
    checked_device.synchronize()

    def submit_another():
        combine.run(a, a, a)  # which a GPU begins at once after a wait
        queue.submit()

    with pytest.raises(ValidationError, match="Barrier missing between combine and combine"):
        submit_another()


def test_undeclared_buffer_is_found(checked_device):
    combine = Combine(checked_device)
    a, b = checked_device.allocate(256), checked_device.allocate(256)
    push = struct.pack("<QQQI", a.address, b.address, a.address, 0)
    with pytest.raises(
        ValidationError, match=r"combine: the arguments hold the address 0x[0-9a-f]+, which lies in none"
    ):
        checked_device.dispatch(combine.kernel, push, (1, 1, 1), (a,), (a,))


NUMBERS = """
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430) buffer Words { uint data[]; };
layout(%s) uniform Block { uvec4 numbers; float two[2]; Words pointer; uvec2 pair; uint64_t number; Words several[2]; }%s;
void main() { }
"""


@pytest.mark.parametrize("block", [("push_constant", ""), ("set = 1, binding = 0, scalar", " arguments")])
def test_addresses_are_where_the_block_has_them(block):
    """Numbers of 32 bits side by side are none: some drivers have memory where the bits of 1.0 point."""
    module = spirv.read(compile_glsl(NUMBERS.lstrip() % block), "numbers", {})
    assert module.addresses == (24, 32, 40, 48, 56)
    memory = SimpleNamespace(address=0x3F800000, nbytes=1 << 20)
    checker = barriers.Checker(SimpleNamespace(blocks=[memory]))
    kernel = SimpleNamespace(name="numbers", addresses=module.addresses)
    for place in range(0, 64, 8):
        arguments = bytearray(64)
        struct.pack_into("<fI", arguments, place, 1.0, 0)
        checker.check_addresses(kernel, bytes(arguments), [memory])
        if place < 24:
            checker.check_addresses(kernel, bytes(arguments), [])
        else:
            with pytest.raises(ValidationError, match="numbers: the arguments hold the address 0x3f800000"):
                checker.check_addresses(kernel, bytes(arguments), [])


def test_brute_force_checker_on_ranges():
    checker = barriers.Checker(None)
    checker.begin("commands")
    checker.command("commands", "one", [(0, 10)], [(10, 20)])
    checker.command("commands", "reads the same", [(5, 10)], [(20, 30)])
    checker.command("commands", "neighbour", [(30, 31)], [(31, 40)])
    checker.raise_problems()
    checker.command("commands", "late", [], [(9, 10)])
    with pytest.raises(ValidationError, match="between one and late: write after read of 0x9 to 0xa"):
        checker.raise_problems()
    checker.barrier("commands")
    checker.command("commands", "late", [], [(9, 10)])
    checker.raise_problems()


def test_brute_force_checker_follows_what_is_submitted():
    checker = barriers.Checker(None)
    checker.begin("first")
    checker.command("first", "one", [], [(0, 10)])
    checker.begin("interrupted")
    checker.command("interrupted", "two", [], [(0, 10)])
    checker.raise_problems()
    checker.submitted("first")
    checker.begin("second")
    checker.command("second", "two", [], [(0, 10)])
    with pytest.raises(ValidationError, match="between one and two: write after write"):
        checker.raise_problems()


def test_guard_bytes_stay_whole_in_a_correct_program(guarded_device, device):
    assert (program(guarded_device) == program(device)).all()
    guarded_device.synchronize()
    statistics = guarded_device.memory_statistics()
    assert statistics["bytes_in_use"] == 0
    for _ in range(600):
        guarded_device.allocate(100)
    assert guarded_device.memory_statistics()["bytes_reserved"] == statistics["bytes_reserved"], (
        "released memory is not used again"
    )


@pytest.mark.parametrize(
    ("shift", "message"),
    [
        (-4, "Guard bytes before a live buffer of 256 bytes .* first at byte -4"),
        (4, "Guard bytes after a live buffer of 256 bytes .* first at byte 256"),
    ],
)
@pytest.mark.parametrize("released", [False, True])
def test_write_outside_a_buffer_is_found(guarded_device, shift, message, released):
    combine = Combine(guarded_device)
    source = upload(guarded_device, np.arange(1, 65, dtype=np.uint32))
    target = guarded_device.allocate(256)
    push = struct.pack("<QQQI", source.address, source.address, target.address + shift, 64)
    guarded_device.dispatch(combine.kernel, push, (1, 1, 1), (source,), (target,))
    if released:
        del target
        message = message.replace("live", "released")
    with pytest.raises(ValidationError, match=message):
        guarded_device.synchronize()
    guarded_device.synchronize()  # said once


def test_validation_layers_say_nothing_about_a_correct_program(validated_device, device):
    assert (program(validated_device) == program(device)).all()
    validated_device.synchronize()
    if "timestamps" in validated_device.features:
        with validated_device.timestamps():
            program(validated_device)
    with configuration.config(validation=True, disable="hostVisibleDeviceMemory"):
        opened = _vk.open_device()
        assert (program(opened) == program(device)).all()
        opened.close()


def test_validation_message_raises_at_the_next_call(validated_device):
    buffer, functions = api.ffi.new("VkBuffer*"), validated_device.functions
    with pytest.raises(ValidationError, match=r"Vulkan validation layers: .*VUID-VkBufferCreateInfo-size"):
        functions.vkCreateBuffer(validated_device.handle, api.struct("VkBufferCreateInfo", usage=32), api.NULL, buffer)
    functions.vkDestroyBuffer(validated_device.handle, buffer[0], api.NULL)
    validated_device.synchronize()  # said once


def test_missing_layers_name_the_package(tmp_path):
    done = run_python(
        """
from vkarray import _vk, errors
try:
    _vk.open_device()
except errors.DeviceError as error:
    print(error)
""",
        VKARRAY_VALIDATION="1",
        VK_LAYER_PATH=str(tmp_path),
    )
    assert done.stdout == (
        "VKARRAY_VALIDATION: the layer VK_LAYER_KHRONOS_validation is not installed. On Debian or "
        "Ubuntu run `apt install vulkan-validationlayers`.\n"
    ), done.stderr
