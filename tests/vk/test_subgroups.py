"""Subgroups: the size that kernels count with, and how their pipelines ask for it."""

import struct
from types import SimpleNamespace

import numpy as np
import pytest
from vulkan_program import HEAD, compile_glsl, download

import vkarray as vx
from vkarray._vk import subgroups
from vkarray._vk.api import ffi, vk
from vkarray._vk.subgroups import SubgroupSizes
from vkarray.kernels import row_kernels
from vkarray.nn import normalization, softmax

CONTROLLED = ["rdna3", "intel-xe", "adreno-630"]
COUNT = (
    HEAD
    + """
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x_id = 0) in;
layout(buffer_reference, std430) buffer Words { uint data[]; };
layout(push_constant) uniform Push { Words target; };
void main() {
    target.data[gl_LocalInvocationIndex] = subgroupBallotBitCount(subgroupBallot(true)) << 16 | gl_NumSubgroups;
}
"""
)


@pytest.mark.parametrize(
    ("sizes", "nominal", "registers", "invocations", "expected"),
    [
        (SubgroupSizes(32, 32, (), 32, True), 32, "large", 1024, 32),  # NVK
        (SubgroupSizes(64, 64, (), 1 << 32, True), 64, "middle", 1024, 64),  # RADV, GFX9
        (SubgroupSizes(32, 64, (32, 64), (1 << 32) - 1, True), 64, "middle", 1024, 32),  # RADV, RDNA
        (SubgroupSizes(8, 32, (8, 16, 32), 64, True), 32, "small", 1024, 8),  # ANV, Alchemist
        (SubgroupSizes(8, 32, (8, 16, 32), 56, True), 32, "small", 1024, 8),  # ANV, Gen9
        (SubgroupSizes(8, 32, (8, 16, 32), 28, True), 32, "small", 1024, 16),  # few threads of a workgroup
        (SubgroupSizes(16, 32, (16, 32), 64, True), 32, "small", 1024, 16),  # ANV, Lunar Lake
        (SubgroupSizes(64, 128, (64, 128), 16, True), 128, "small", 2048, 64),  # Turnip, Adreno 630
        (SubgroupSizes(4, 32, (), 256, True), 32, "small", 1024, 32),  # MoltenVK, Apple
        (SubgroupSizes(8, 32, (), 128, False), 32, "small", 1024, 0),  # nothing can be asked for
    ],
)
def test_the_size_that_kernels_count_with(sizes, nominal, registers, invocations, expected):
    assert sizes.size(nominal, registers, invocations) == expected


@pytest.mark.parametrize(
    ("features", "stages", "driver", "vendor", "required", "full"),
    [
        ({"subgroupSizeControl", "computeFullSubgroups"}, 0x20, 3, 0x1002, (8, 16, 32), True),
        ({"subgroupSizeControl", "computeFullSubgroups"}, 0x10, 3, 0x1002, (), True),  # fragment shaders alone
        ({"computeFullSubgroups"}, 0x20, 3, 0x1002, (), True),
        ({"subgroupSizeControl"}, 0x20, 3, 0x1002, (8, 16, 32), False),
        ({"subgroupSizeControl", "computeFullSubgroups"}, 0, 14, 0x106B, (), True),  # MoltenVK, Apple
        ({"subgroupSizeControl", "computeFullSubgroups"}, 0, 14, 0x8086, (), False),  # MoltenVK, Intel
    ],
)
def test_what_devices_say(features, stages, driver, vendor, required, full):
    properties = SimpleNamespace(
        minSubgroupSize=8, maxSubgroupSize=32, maxComputeWorkgroupSubgroups=64, requiredSubgroupSizeStages=stages
    )
    found = subgroups.read_sizes(properties, 32, frozenset(features), driver, vendor)
    assert found == SubgroupSizes(8, 32, required, 64, full)


def test_a_device_that_says_nothing_has_one_size():
    silent = SimpleNamespace(
        minSubgroupSize=0, maxSubgroupSize=0, maxComputeWorkgroupSubgroups=0, requiredSubgroupSizeStages=0
    )
    assert subgroups.read_sizes(silent, 16, frozenset(), 9, 0x13B5).size(16, "small", 512) == 16


@pytest.fixture
def asked(monkeypatch):
    """Opens a device under a profile; notes the sizes that its pipelines ask for, and whether subgroups are to be full."""
    noted = []

    def opened(profile):
        with vx.config(profile=profile):
            device = vx.asarray(0).device
        for functions in (device.functions, device.functions_aside):
            make = functions.vkCreateComputePipelines

            def noting(handle, cache, count, create, *rest, make=make):
                given = create[0].stage
                size = 0
                if given.pNext != ffi.NULL:
                    size = ffi.cast("VkPipelineShaderStageRequiredSubgroupSizeCreateInfo*", given.pNext)
                    assert size.sType == vk.VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO
                    size = size.requiredSubgroupSize
                noted.append((size, given.flags))
                return make(handle, cache, count, create, *rest)

            monkeypatch.setattr(functions, "vkCreateComputePipelines", noting, raising=False)
        return device

    return SimpleNamespace(opened=opened, noted=noted)


FULL = 0x2  # VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT


@pytest.mark.parametrize(
    ("profile", "asks", "flags"),
    [("", 0, 0), *((name, 1, FULL) for name in CONTROLLED), ("apple-m1", 0, FULL)],
)
def test_pipelines_ask_for_the_size_where_it_varies(asked, profile, asks, flags):
    device = asked.opened(profile)
    own = device.limits.subgroup_size
    kernel = device.kernel(compile_glsl(COUNT), "count", ((0, 4 * own),))
    target = device.allocate(16 * own)
    device.dispatch(kernel, struct.pack("<Q", target.address), (1, 1, 1), (), (target,))
    assert set(download(device, target)) == {own << 16 | 4}
    assert asked.noted == [(asks * own, flags)]
    assert kernel.subgroup == asks * own


def test_kernels_without_subgroups_ask_for_nothing(asked):
    device = asked.opened("rdna3")
    code = compile_glsl("#version 460\nlayout(local_size_x_id = 0) in;\nvoid main() {}")
    assert device.kernel(code, "empty", ((0, 64),)).subgroup == 0
    device.await_pipelines()
    assert asked.noted == [(0, 0)]


def test_workgroups_that_are_no_whole_subgroups_need_not_be_full(asked):
    device = asked.opened("rdna3")
    size = device.limits.subgroup_size
    assert device.kernel(compile_glsl(COUNT), "count", ((0, 3 * size + 1),)).subgroup == size
    device.await_pipelines()
    assert asked.noted == [(size, 0)]


@pytest.mark.parametrize("profile", [*CONTROLLED, "apple-m1"])
def test_rows_and_scans_meet_in_subgroups(device, profile):
    """Devices whose subgroups vary take the kernels of those that have one size, and the results are the same bits."""
    with vx.config(profile=f"{profile},gpu"):
        posing = vx.asarray(0).device
    if {"subgroupBasic", "subgroupShuffle"} <= posing.features:
        assert row_kernels.has_subgroups(posing)
    generator = np.random.default_rng(3)
    values = generator.standard_normal((5, 3000)).astype(np.float32)
    with vx.config(profile="gpu"):
        fixed = vx.asarray(0).device
    results = []
    for on in (fixed, posing):
        x = vx.asarray(values, device=on)
        found = (
            softmax.softmax(x),
            *normalization.layer_norm(x, (3000,)),
            vx.cumulative_sum(x, axis=1),
            vx.sort(x, axis=1),
            vx.sum(x, axis=1),
        )
        results.append([np.asarray(one) for one in found])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_device_whose_subgroups_are_unknown_does_without():
    with vx.config(profile="phone,gpu"):
        device = vx.asarray(0).device
    assert not row_kernels.has_subgroups(device)
    assert device.limits.min_subgroup_size < device.limits.max_subgroup_size


def test_workgroups_hold_no_more_subgroups_than_they_may():
    gen9 = SubgroupSizes(8, 32, (8, 16, 32), 56, True)
    assert gen9.largest_workgroup(8, 512) == 256
    assert gen9.largest_workgroup(16, 512) == 512
    assert SubgroupSizes(8, 8, (8,), 32, True).largest_workgroup(8, 512) == 512, "nothing is asked for"


def test_a_size_of_its_own():
    """Kernels of cooperative matrices may have other subgroups than the rest."""
    sizes = SubgroupSizes(8, 32, (8, 16, 32), 64, True)
    assert subgroups.asked_for(sizes, 8, frozenset({1, 61}), (64, 1, 1)) == (8, True)
    assert subgroups.asked_for(sizes, 64, frozenset({1, 61}), (64, 1, 1)) == (0, True)
    assert subgroups.asked_for(sizes, 8, frozenset({1}), (64, 1, 1)) == (0, False)
    assert subgroups.asked_for(sizes, 8, frozenset({1, 61}), (8 * 65, 1, 1)) == (0, True), (
        "more subgroups than it holds"
    )
