"""Loops that are written out for drivers which give memory to arrays before they unroll (vkarray/_vk/unrolled.py)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from validator import complaint
from vulkan_program import HEAD, compile_glsl, download, upload

import vkarray as vx
from vkarray import configuration
from vkarray._vk import kernel as kernel_module
from vkarray._vk import ready, unrolled
from vkarray.command import catalogue
from vkarray.errors import VulkanError
from vkarray.shaders.module import instructions, words_of

_LOOP_MERGE = 246
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "an elementwise operation": lambda x: vx.exp(x) + vx.flip(x, axis=1),
    "a sum": lambda x: vx.sum(x, axis=1),
    "the place of the largest": lambda x: vx.argmax(x, axis=0),
    "a product": lambda x: x @ x.T,
    "a scan": lambda x: vx.cumulative_sum(x, axis=1),
    "a sort": lambda x: vx.sort(x, axis=1),
    "a transform": lambda x: vx.real(vx.fft.fft(x, axis=1)),
    "a program": vx.compile(lambda x: (x - vx.mean(x, axis=1, keepdims=True)) / vx.std(x, axis=1, keepdims=True)),
}


def loops(words: tuple[int, ...]) -> int:
    """How many loops a module has."""
    return sum(opcode == _LOOP_MERGE for opcode, _ in instructions(words, "a test"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_written_out_loops_give_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(3).standard_normal((24, 100)).astype(np.float32)
    made: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def noted(words: tuple[int, ...], *rest: Any) -> tuple[int, ...]:
        made.append((words, unrolled_module(words, *rest)))
        return made[-1][1]

    unrolled_module = unrolled.unrolled
    results = []
    for written_out in (False, True):
        if not written_out:  # the same kernels as the driver takes them
            monkeypatch.setattr(unrolled, "unrolled", lambda words, *rest: words)
        else:
            monkeypatch.setattr(unrolled, "unrolled", noted)
        monkeypatch.setattr(ready.CACHE, "get", lambda key: None)
        monkeypatch.setattr(ready.CACHE, "put", lambda key, content: None)
        # The device of the suite may have the first of these alone, and is not to be closed.
        with configuration.config(profile=("v3d", "unified-memory")):
            given = vx.asarray(x)
            results.append(np.asarray(PROGRAMS[name](given)))
            is_cpu = given.device.limits.is_cpu
            given.device.close()
    assert results[0].tobytes() == results[1].tobytes()
    assert made, "no kernel went through"
    # A profile on top of a GPU takes the kernels of GPUs, and their sort has no loop that can be written out.
    if name != "a sort" or is_cpu:
        assert sum(loops(before) for before, _ in made) > sum(loops(after) for _, after in made), (
            "no loop was written out"
        )
    for _, after in made:
        assert not complaint(after)


# Statements on x and `value`, an array of 8 numbers, with the number 4 as a constant; and how many loops stay.
STATEMENTS = {
    "a number": ("[[unroll]] for (uint k = 0u; k < 8u; ++k) value[k] += k * x;", 0),
    "a constant": ("[[unroll]] for (uint k = 0u; k < NUMBER; ++k) value[k] += k * x;", 0),
    "what is made of a constant": ("[[unroll]] for (uint k = 0u; k < (NUMBER + 3u) / 2u; ++k) value[k] += k * x;", 0),
    "backwards": ("[[unroll]] for (int k = 7; k >= 0; --k) value[k] += uint(k) * x;", 0),
    "two counters": ("[[unroll]] for (uint k = 0u, at = x; k < 8u; ++k, at += 3u) value[k] += at;", 0),
    "a counter within": (
        "[[unroll]] for (uint k = 0u; k < 8u; ++k) [[unroll]] for (uint l = k + 1u; l < 8u; ++l) value[l] += value[k] * x;", 0,
    ),
    "an argument": ("add(value, NUMBER, x); add(value, 8u, x); add(value, NUMBER, 3u);", 0),
    "no hint": ("for (uint k = 0u; k < 8u; ++k) value[k] += k * x;", 1),
    "nobody knows": ("[[unroll]] for (uint k = 0u; k < min(x, 8u); ++k) value[k] += k * x;", 1),
    "an argument that is not known": ("add(value, min(x, 8u), x);", 1),
    "an argument that is changed": ("less(value, NUMBER, x);", 1),
    "left early": ("[[unroll]] for (uint k = 0u; k < 8u; ++k) { if (k > x) break; value[k] += x; }", 1),
    "too many rounds": ("[[unroll]] for (uint k = 0u; k < 65u; ++k) value[k % 8u] += k * x;", 1),
}  # fmt: skip
SOURCE = (
    HEAD
    + """#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 64) in;
layout(constant_id = 1) const uint NUMBER = 7u;
layout(buffer_reference, std430) buffer Words { uint data[]; };
layout(set = 1, binding = 0, scalar) uniform Arguments { Words a; Words target; } arguments;
void add(inout uint value[8], uint count, uint x) {
    [[unroll]] for (uint k = 0u; k < count; ++k) value[k] += (k + count) * x;
}
void less(inout uint value[8], uint count, uint x) {
    count -= x & 1u;
    [[unroll]] for (uint k = 0u; k < count; ++k) value[k] += (k + count) * x;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = arguments.a.data[i];
    uint value[8] = uint[8](1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
    STATEMENT
    uint sum = 0u;
    [[unroll]] for (uint k = 0u; k < 8u; ++k) sum = sum * 5u + value[k];
    arguments.target.data[i] = sum;
}
"""
)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_loop_of_known_rounds_is_written_out(device: Any, name: str) -> None:
    statement, left = STATEMENTS[name]
    words = words_of(compile_glsl(SOURCE.replace("STATEMENT", statement)), name)
    written = unrolled.unrolled(words, name, {1: 4})
    assert loops(written) == left
    assert not complaint(written)
    numbers = np.arange(64, dtype=np.uint32)
    a, found = upload(device, numbers), []
    for one in (words, written):
        kernel = device.kernel(struct.pack(f"<{len(one)}I", *one), name, ((1, 4),))
        target = upload(device, np.zeros_like(numbers))
        device.dispatch(kernel, struct.pack("<2Q", a.address, target.address), (1, 1, 1), [a], [target])
        found.append(download(device, target).tolist())
    assert found[0] == found[1]
    assert len(set(found[0])) > 32


def test_functions_that_nothing_calls_are_left_out() -> None:
    words = words_of(
        compile_glsl(SOURCE.replace("STATEMENT", "add(value, NUMBER, x); add(value, NUMBER, x + 1u);")), "it"
    )
    functions = [opcode for opcode, _ in instructions(unrolled.unrolled(words, "it", {1: 4}), "it") if opcode == 54]
    assert len(functions) == 2, "one for the number, which both calls share, and main"


def test_kernels_that_stay_as_they_are_exist() -> None:
    """They are told by what their names contain."""
    device = vx.asarray(0).device
    labels = {variant.label for family in catalogue.FAMILIES for variant in family(device)}
    for part in unrolled.ENDLESS:
        assert any(part in label for label in labels), part


def test_where_the_driver_fails_the_loops_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    make = kernel_module._pipeline_of

    def fails_first(device: Any, layout: Any, made: ready.Ready, *rest: Any) -> Any:
        tried.append(loops(words_of(made.code, "it")))
        if len(tried) == 1:
            raise VulkanError("vkCreateComputePipelines failed with VK_ERROR_UNKNOWN.", "VK_ERROR_UNKNOWN")
        return make(device, layout, made, *rest)

    numbers = np.arange(1200, dtype=np.int32).reshape(3, 400)
    with configuration.config(profile=("v3d",)):
        x = vx.asarray(numbers)
        monkeypatch.setattr(kernel_module, "_pipeline_of", fails_first)
        found = np.asarray(vx.max(x, axis=1))
        x.device.close()
    assert tried[0] < tried[1]
    assert found.tolist() == [399, 799, 1199]
