"""Profiles of devices: features and limits of real ones, imposed on top of the device that runs.

A profile only takes away. `VKARRAY_PROFILE=v3d` makes llvmpipe a device with the features and limits that a Raspberry Pi 4 has, so
that kernels are chosen, and types refused, as they are there. How fast that is, it does not tell. Several profiles may be named:
`v3d,gpu` also chooses from the tables for GPUs. What VKARRAY_DISABLE names is taken away in the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..configuration import Configuration
from ..errors import ConfigurationError
from . import features
from .memory_kinds import APART, INCOHERENT, SMALL_WINDOW, UNCACHED, UNIFIED, WHOLE_WINDOW, MemoryKinds
from .pace import RATES

if TYPE_CHECKING:
    from .physical_device import Limits


@dataclass(frozen=True)
class Profile:
    """What is imposed on a device: where that is from, the features it lacks, its limits by the names of `Limits`, the
    range of its subgroups, the kinds of its memory."""

    source: str
    absent: frozenset[str] = frozenset()
    limits: Mapping[str, Any] = field(default_factory=dict)
    subgroup: tuple[int, int] | None = None
    memory: MemoryKinds | None = None

    def imposed(self, own: Limits) -> Limits:
        """The limits of a device that keeps to its own and to those of this profile."""
        changes = {name: _within(name, getattr(own, name), limit) for name, limit in self.limits.items()}
        if self.subgroup is not None:
            # The device runs subgroups of its own size, which is all that kernels can ask for.
            low, high = min(self.subgroup[0], own.subgroups.least), max(self.subgroup[1], own.subgroups.most)
            required = () if "subgroupSizeControl" in self.absent else own.subgroups.required
            full = own.subgroups.full and "computeFullSubgroups" not in self.absent
            sizes = own.subgroups._replace(least=low, most=high, required=required, full=full)
            registers, invocations = (changes.get(name, getattr(own, name)) for name in _CHOOSING)
            size = sizes.size(own.subgroup_size, registers, invocations)
            changes |= {"subgroups": sizes, "subgroup_size": size or high, "min_subgroup_size": size or low}
            changes |= {"max_subgroup_size": size or high}
        return replace(own, **changes)


_CHOOSING = ("registers", "max_workgroup_invocations")  # the limits by which the size of subgroups is chosen


def _within(name: str, own: Any, limit: Any) -> Any:
    """A limit that keeps to both: the smaller, of alignments the larger. What is no number is replaced."""
    if isinstance(own, tuple):
        return tuple(_within(name, *pair) for pair in zip(own, limit, strict=True))
    if isinstance(own, bool | str):
        return limit
    return max(own, limit) if name.startswith("min_") else min(own, limit)


_FLOAT64 = {
    "shaderFloat64", "shaderBufferFloat64Atomics", "shaderBufferFloat64AtomicAdd", "shaderSharedFloat64Atomics",
    "shaderSharedFloat64AtomicAdd",
}  # fmt: skip
_INT64_ATOMICS = {"shaderBufferInt64Atomics", "shaderSharedInt64Atomics"}
_FLOAT32_ATOMICS = {
    "shaderBufferFloat32Atomics", "shaderBufferFloat32AtomicAdd", "shaderSharedFloat32Atomics", "shaderSharedFloat32AtomicAdd",
}  # fmt: skip
_ARITHMETIC_8_AND_16 = {"shaderInt8", "shaderInt16", "shaderFloat16"}
_STORAGE_8 = {"storageBuffer8BitAccess", "uniformAndStorageBuffer8BitAccess", "storagePushConstant8"}
_STORAGE_16 = {"storageBuffer16BitAccess", "uniformAndStorageBuffer16BitAccess", "storagePushConstant16"}
_MATRICES = {
    name
    for extension in ("VK_KHR_cooperative_matrix", "VK_NV_cooperative_matrix2", "VK_KHR_shader_bfloat16")
    for name in features.EXTENSION_FEATURES[extension][1]
} & features.KNOWN
_MATRICES_2 = set(features.EXTENSION_FEATURES["VK_NV_cooperative_matrix2"][1])
_BFLOAT16 = set(features.EXTENSION_FEATURES["VK_KHR_shader_bfloat16"][1])
_SUBGROUPS = set(features.SUBGROUP_OPERATIONS.values()) - {"subgroupBasic"}
# Of drivers whose arithmetic nobody has measured, nothing is taken for exact.
_MEASURED = {name for names in features.ARITHMETIC_OF_DRIVERS.values() for name in names}
_EXTENSIONS = {"calibratedTimestamps", "externalMemoryHost", "memoryBudget"}


PROFILES: dict[str, Profile] = {
    "adreno-630": Profile(
        "Turnip of Mesa 25.0: tu_device.cc, freedreno_devices.py (a6xx_gen2)",
        frozenset(
            _FLOAT64 | _INT64_ATOMICS | _FLOAT32_ATOMICS | _STORAGE_8 | _STORAGE_16 | _MATRICES | _MEASURED
            | {"subgroupQuad", "externalMemoryHost"}
        ),
        {
            "registers": "small", "rate": RATES["small"],
            "max_shared_memory_size": 32 << 10, "max_workgroup_invocations": 1024, "max_workgroup_size": (1024, 1024, 1024),
            "max_storage_buffer_range": 1 << 27, "max_uniform_buffer_range": 1 << 16, "max_push_constants_size": 256,
            "max_texel_buffer_elements": 1 << 27, "max_memory_allocation_size": (1 << 32) - 1,
            "min_storage_buffer_offset_alignment": 4, "min_uniform_buffer_offset_alignment": 64,
            "min_texel_buffer_offset_alignment": 64,
        },
        (64, 128),
        INCOHERENT,
    ),
    "mali-g610": Profile(
        "PanVK of Mesa 25.0: panvk_physical_device.c, with half the invocations of a workgroup",
        frozenset(
            _FLOAT64 | _INT64_ATOMICS | _FLOAT32_ATOMICS | _MATRICES | _MEASURED | _EXTENSIONS
            | {"timestamps", "shaderFloat16", "storagePushConstant16", "storagePushConstant8", "uniformAndStorageBuffer8BitAccess",
               "shaderSubgroupExtendedTypes", "vulkanMemoryModel", "vulkanMemoryModelDeviceScope", "shaderIntegerDotProduct",
               "maintenance4"}
        ),
        {
            "registers": "tiny", "rate": RATES["tiny"],
            "max_shared_memory_size": 32 << 10, "max_workgroup_invocations": 512, "max_workgroup_size": (512, 512, 512),
            "max_push_constants_size": 128, "max_texel_buffer_elements": 1 << 16, "max_uniform_buffer_range": 1 << 20,
            "max_storage_buffers": 64, "max_uniform_buffers": 64, "max_texel_buffers": 256,
            "max_memory_allocation_size": (1 << 32) - 1, "min_texel_buffer_offset_alignment": 64,
        },
        (16, 16),
        UNCACHED,
    ),
    "v3d": Profile(
        "V3DV of Mesa 25.0 for V3D 4.2: v3dv_device.c, v3dv_limits.h, v3d_limits.h",
        frozenset(
            _FLOAT64 | _INT64_ATOMICS | _FLOAT32_ATOMICS | _ARITHMETIC_8_AND_16 | _MATRICES | _MEASURED | _EXTENSIONS
            | _SUBGROUPS | {"shaderInt64", "variablePointers", "scalarBlockLayout"}
        ),
        {
            "registers": "tiny", "rate": RATES["tiny"], "rolled_loops": True,
            "max_shared_memory_size": 16 << 10, "max_workgroup_invocations": 256, "max_workgroup_size": (256, 256, 256),
            "max_storage_buffer_range": 1 << 30, "max_uniform_buffer_range": 1 << 30, "max_push_constants_size": 128,
            "max_texel_buffer_elements": 1 << 28, "max_storage_buffers": 8, "max_uniform_buffers": 16,
            "max_texel_buffers": 16, "max_memory_allocation_size": 1 << 30, "min_storage_buffer_offset_alignment": 32,
            "min_uniform_buffer_offset_alignment": 32, "min_texel_buffer_offset_alignment": 64,
        },
        (16, 16),
        UNCACHED,
    ),
    "apple-m1": Profile(
        "MoltenVK 1.4: MVKDevice.mm for Apple's GPUs, which reckons with subgroups from 4 on",
        frozenset(
            _FLOAT64 | _INT64_ATOMICS | _MATRICES | _MEASURED | _EXTENSIONS | {"subgroupSizeControl"}
        ),
        {
            "registers": "small", "rate": RATES["small"],
            "max_shared_memory_size": 32 << 10, "max_workgroup_invocations": 1024, "max_storage_buffers": 31,
            "max_uniform_buffers": 31, "max_texel_buffers": 128, "max_resources": 159, "max_texel_buffer_elements": 1 << 26,
            "max_uniform_buffer_range": 64 << 10, "min_storage_buffer_offset_alignment": 16,
            "min_uniform_buffer_offset_alignment": 256, "min_texel_buffer_offset_alignment": 256,
        },
        (4, 32),
        UNIFIED,
    ),
    "intel-xe": Profile(
        "ANV of Mesa 25.0 for Tiger Lake and Arc A770: what both list",
        frozenset(
            _FLOAT64 | {"shaderSharedInt64Atomics", "shaderBufferFloat32AtomicAdd", "shaderSharedFloat32AtomicAdd"}
            | _MATRICES_2 | _BFLOAT16 | _MEASURED
        ),
        {
            "registers": "small", "rate": RATES["small"],
            "max_shared_memory_size": 64 << 10, "max_workgroup_invocations": 1024, "max_storage_buffer_range": 1 << 31,
            "max_push_constants_size": 256, "max_texel_buffer_elements": 1 << 27, "max_memory_allocation_size": 1 << 31,
            "min_storage_buffer_offset_alignment": 4, "min_uniform_buffer_offset_alignment": 64,
        },
        (8, 32),
        UNIFIED,
    ),
    "rdna3": Profile(
        "RADV of Mesa 25.0 for NAVI31",
        frozenset(
            {"shaderBufferFloat64AtomicAdd", "shaderSharedFloat64AtomicAdd"} | _MATRICES_2 | _BFLOAT16 | _MEASURED
        ),
        {
            "registers": "middle", "rate": RATES["middle"],
            "max_shared_memory_size": 64 << 10, "max_workgroup_invocations": 1024, "max_push_constants_size": 256,
            "max_memory_allocation_size": (1 << 32) - 4, "min_storage_buffer_offset_alignment": 4,
        },
        (32, 64),
        SMALL_WINDOW,
    ),
    "phone": Profile(
        "the least that Vulkan 1.2 guarantees (chapter Limits, Required Limits), and no type but those of 32 bits",
        frozenset(
            _FLOAT64 | _INT64_ATOMICS | _FLOAT32_ATOMICS | _ARITHMETIC_8_AND_16 | _STORAGE_8 | _STORAGE_16 | _MATRICES
            | _MEASURED | _EXTENSIONS | _SUBGROUPS | {"shaderInt64", "variablePointers", "variablePointersStorageBuffer",
            "shaderIntegerDotProduct", "timestamps", "subgroupSizeControl", "computeFullSubgroups"}
        ),
        {
            "registers": "small", "rate": RATES["small"],
            "max_shared_memory_size": 16 << 10, "max_workgroup_invocations": 128, "max_workgroup_size": (128, 128, 64),
            "max_workgroup_count": (65535, 65535, 65535), "max_storage_buffer_range": 1 << 27, "max_push_constants_size": 128,
            "max_uniform_buffer_range": 16 << 10, "max_storage_buffers": 4, "max_uniform_buffers": 12,
            "max_texel_buffers": 16, "max_resources": 128, "max_texel_buffer_elements": 1 << 16,
            "max_memory_allocation_size": 1 << 30, "min_storage_buffer_offset_alignment": 256,
            "min_uniform_buffer_offset_alignment": 256, "min_texel_buffer_offset_alignment": 256,
        },
        (1, 128),
        UNCACHED,
    ),
    "no-float64": Profile("GPUs of today but for servers: no arithmetic of 64-bit floating-point numbers", frozenset(_FLOAT64)),
    "unified-memory": Profile("processors with graphics inside: one kind of memory, cached and coherent", memory=UNIFIED),
    "uncached-memory": Profile("V3DV, PanVK: one kind of memory, which the host does not cache", memory=UNCACHED),
    "incoherent-memory": Profile("ANV for Lunar Lake: what the host caches is not coherent", memory=INCOHERENT),
    "memory-apart": Profile("a card whose memory the host does not see", memory=APART),
    "small-window": Profile("a card of whose memory the host sees 256 MiB", memory=SMALL_WINDOW),
    "whole-window": Profile("a card of whose memory the host sees all (resizable BAR)", memory=WHOLE_WINDOW),
    "gpu": Profile("what kernels choose for GPUs, on a CPU driver", limits={"is_cpu": False}),
    "slow": Profile("a device on which small dispatches take so long that they are cut", limits={"rate": 1e6}),
}  # fmt: skip


@dataclass(frozen=True)
class Imposed:
    """What the switches `profile` and `disable` take from a device."""

    profiles: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset()

    @property
    def absent(self) -> frozenset[str]:
        """The features to treat as absent."""
        return self.disabled.union(*(PROFILES[name].absent for name in self.profiles))

    def limits(self, own: Limits) -> Limits:
        """The limits in force on a device, by its own."""
        for name in self.profiles:
            own = PROFILES[name].imposed(own)
        return own

    @property
    def memory(self) -> MemoryKinds | None:
        """The kinds of memory that the last profile with such imposes."""
        return next((PROFILES[name].memory for name in reversed(self.profiles) if PROFILES[name].memory), None)

    @property
    def largest_allocation(self) -> int | None:
        """The most bytes that may be allocated at a time, where profiles say."""
        return min((limits["max_memory_allocation_size"] for limits in (PROFILES[name].limits for name in self.profiles)
                    if "max_memory_allocation_size" in limits), default=None)  # fmt: skip

    def switch_of(self, feature: str) -> str:
        """The switch that takes an absent feature away, with the profile that lacks it."""
        lacking = [name for name in self.profiles if feature in PROFILES[name].absent]
        return "VKARRAY_DISABLE" if feature in self.disabled else f"VKARRAY_PROFILE={lacking[0]}"


def imposed(settings: Configuration) -> Imposed:
    """What the switches in force impose. Raises ConfigurationError for names that are unknown."""
    _check("VKARRAY_PROFILE", "profile", settings.profile, list(PROFILES))
    _check("VKARRAY_DISABLE", "feature", sorted(settings.disable), sorted(features.KNOWN))
    return Imposed(settings.profile, settings.disable)


def _check(switch: str, kind: str, names: Iterable[str], known: list[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigurationError(f"{switch}: unknown {kind} {', '.join(unknown)}; known are {', '.join(known)}.")
