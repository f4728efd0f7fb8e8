"""Subgroups: of how many invocations those of a kernel are, and how a pipeline asks for that.

Some devices run a kernel with subgroups of one size or another: RDNA with 32 or 64 invocations, Intel's with 8 to 32. Kernels
that exchange values in subgroups count with one size on a device. Here that size is chosen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# The size that is asked for where there is a choice, or the next one that the device has, by how many registers an invocation
# has (features.py): 32 on RDNA, which runs 64 in two turns; 64 on Adreno; 8 on Intel's, or 16 from Lunar Lake on, since each
# doubling halves the registers of an invocation: with 16 on Gen9, 56 of 135 such kernels spill.
WANTED = {"large": 32, "middle": 32, "small": 8, "tiny": 8}
# More invocations no workgroup has that relies on the size of its subgroups, but for those that look at `largest_workgroup`.
_LARGEST_WORKGROUP = 256
# VkDriverId -> the only vendor of whose devices it is known that subgroups that are full have the size that the driver names.
_KNOWN_VENDORS = {14: 0x106B}  # MoltenVK, Apple: its compilers for other vendors' GPUs choose the size themselves
# The capability in SPIR-V of kernels that know of subgroups.
_GROUP_NON_UNIFORM = 61
_COMPUTE_STAGE = 0x20  # VK_SHADER_STAGE_COMPUTE_BIT


class SubgroupSizes(NamedTuple):
    """What a device says of its subgroups: the least and the largest that kernels get, those that one may ask for, how many a
    workgroup has at most, and whether they are full on request."""

    least: int
    most: int
    required: tuple[int, ...]
    of_workgroup: int
    full: bool

    def size(self, nominal: int, registers: str, invocations: int) -> int:
        """The size that kernels count with; 0 where they cannot know it. `nominal` is what the driver calls the size."""
        if self.least == self.most:
            return self.least
        if self.required:
            whole = min(invocations, _LARGEST_WORKGROUP)
            held = [size for size in self.required if size * self.of_workgroup >= whole] or self.required[-1:]
            return next((size for size in held if size >= WANTED[registers]), held[-1])
        return nominal if self.full else 0

    def largest_workgroup(self, size: int, invocations: int) -> int:
        """Invocations that a workgroup may have, at most, whose subgroups are of a size: a power of two, no more than so many."""
        while self.least != self.most and invocations > size * self.of_workgroup:
            invocations //= 2
        return invocations


def read_sizes(properties: Any, nominal: int, features: frozenset[str], driver: int, vendor: int) -> SubgroupSizes:
    """The sizes by VkPhysicalDeviceSubgroupSizeControlProperties, empty where the device lacks them, and by its features."""
    least, most = properties.minSubgroupSize or nominal, properties.maxSubgroupSize or nominal
    may = "subgroupSizeControl" in features and properties.requiredSubgroupSizeStages & _COMPUTE_STAGE
    powers = tuple(1 << bit for bit in range(8) if least <= 1 << bit <= most)
    full = "computeFullSubgroups" in features and _KNOWN_VENDORS.get(driver, vendor) == vendor
    return SubgroupSizes(least, most, powers if may else (), properties.maxComputeWorkgroupSubgroups, full)


def asked_for(
    sizes: SubgroupSizes, size: int, capabilities: frozenset[int], local_size: tuple[int, int, int]
) -> tuple[int, bool]:
    """The size that a kernel's pipeline asks for, 0 for none, and whether it asks for full subgroups. `size` is the one that
    the kernel counts with."""
    if sizes.least == sizes.most or _GROUP_NON_UNIFORM not in capabilities:
        return 0, False
    x, y, z = local_size
    asks = size in sizes.required and x * y * z <= size * sizes.of_workgroup
    return size * asks, sizes.full and not x % size
