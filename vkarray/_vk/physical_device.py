"""Physical devices: what each offers, whether vkarray can use it, and which one is the default."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass, replace
from typing import Any

from .. import configuration
from ..errors import DeviceError, remedy
from . import api, features, instance, pace, profiles
from .api import NULL, ffi, struct, vk
from .subgroups import SubgroupSizes, read_sizes

TYPES = {0: "other", 1: "integrated GPU", 2: "discrete GPU", 3: "virtual GPU", 4: "CPU"}
_PREFERENCE = ("discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other")


@dataclass(frozen=True)
class DeviceDescription:
    """What `vkarray devices` shows of one device."""

    index: int
    name: str
    uuid: str
    driver: str
    api_version: str
    type: str
    memory_bytes: int
    features: frozenset[str]
    usable: bool
    refusal: str | None
    profiles: tuple[str, ...]  # imposed on it, see profiles.py
    is_default: bool = False


@dataclass(frozen=True)
class Limits:
    """The limits that kernels, launches and transfers have to respect, as the device states them."""

    max_push_constants_size: int
    max_shared_memory_size: int
    max_workgroup_invocations: int
    max_workgroup_size: tuple[int, int, int]
    max_workgroup_count: tuple[int, int, int]
    max_storage_buffer_range: int
    min_storage_buffer_offset_alignment: int
    max_uniform_buffer_range: int
    max_storage_buffers: int
    max_uniform_buffers: int
    max_resources: int
    min_uniform_buffer_offset_alignment: int
    max_texel_buffer_elements: int
    min_texel_buffer_offset_alignment: int
    max_texel_buffers: int
    max_memory_allocation_size: int
    subgroups: SubgroupSizes
    # Of kernels that know of subgroups. The least and the most are the same where they can rely on it.
    subgroup_size: int
    min_subgroup_size: int
    max_subgroup_size: int
    subgroup_operations: frozenset[str]
    timestamp_period: float
    timestamp_valid_bits: int
    is_cpu: bool
    host_memory: str  # how the host reaches device memory: "cached", "uncached" or "none"
    # What a subgroup multiplies as one, adding in float32: type of the elements, rows, columns, products per sum.
    cooperative_matrices: frozenset[tuple[str, int, int, int]] = frozenset()
    registers: str = "large"  # how many registers an invocation has: "large", "middle", "small" or "tiny"
    rate: float = math.inf  # operations a second, by which dispatches are cut; see pace.py
    rolled_loops: bool = False  # whether loops have to be written out for the driver, see unrolled.py

    def has_subgroups_of(self, size: int) -> bool:
        """Whether a kernel can have subgroups of a size, by asking for it or anyway."""
        own = self.min_subgroup_size == self.max_subgroup_size == size
        return own or (size in self.subgroups.required and self.subgroups.least != self.subgroups.most)

    @property
    def kind(self) -> str:
        """The kind of device, "cpu" or "gpu", by which kernels choose from their tables."""
        return "cpu" if self.is_cpu else "gpu"

    @property
    def tier(self) -> str:
        """The row of tables in which GPUs differ by their registers: "cpu", or what `registers` says."""
        return "cpu" if self.is_cpu else self.registers


@dataclass(frozen=True)
class FloatControls:
    """Which float controls the device has, by bit width, and whether widths may differ in them."""

    denorm_preserve: frozenset[int]
    signed_zero_inf_nan_preserve: frozenset[int]
    rounding_mode_rte: frozenset[int]
    denorm_independence: str  # "32", "all" or "none"
    rounding_independence: str


class PhysicalDevice:
    """Everything read from one VkPhysicalDevice, within what VKARRAY_PROFILE and VKARRAY_DISABLE leave."""

    def __init__(self, owner: instance.Instance, handle: Any, index: int, imposed: profiles.Imposed) -> None:
        self.instance, self.handle, self.functions, self.imposed = owner, handle, owner.functions, imposed
        self._read_extensions()
        self._read_properties()
        self._read_memory(imposed)
        self._read_queue_family()
        self.float_controls = self._float_controls()
        self.supported = self._read_features()
        self.features = self.supported - imposed.absent
        self.limits = imposed.limits(self._limits())
        refusal = self._refusal(imposed)
        self.description = DeviceDescription(
            index,
            api.text(self.properties.deviceName),
            str(uuid.UUID(bytes=bytes(self.ids.deviceUUID))),
            f"{api.text(self.driver.driverName)} {api.text(self.driver.driverInfo)}".strip(),
            api.version(self.properties.apiVersion),
            TYPES.get(self.properties.deviceType, "other"),
            self.heap_bytes,
            self.features,
            refusal is None,
            refusal,
            imposed.profiles,
        )

    def switched_off(self, *names: str) -> str:
        """For messages: which of these features the device would have, and by which switch it has not; empty for none."""
        told = [f"{self.imposed.switch_of(name)} switches {name} off" for name in names
                if name in self.supported - self.features]  # fmt: skip
        return f" ({', '.join(told)})" if told else ""

    def _read_extensions(self) -> None:
        count = ffi.new("uint32_t*")
        self.functions.vkEnumerateDeviceExtensionProperties(self.handle, NULL, count, NULL)
        found = ffi.new("VkExtensionProperties[]", count[0])
        self.functions.vkEnumerateDeviceExtensionProperties(self.handle, NULL, count, found)
        self.extensions = frozenset(api.text(item.extensionName) for item in found)

    def _read_properties(self) -> None:
        self.controls = struct("VkPhysicalDeviceFloatControlsProperties")
        self.subgroup = struct("VkPhysicalDeviceSubgroupProperties", pNext=self.controls)
        self.maintenance3 = struct("VkPhysicalDeviceMaintenance3Properties", pNext=self.subgroup)
        self.ids = struct("VkPhysicalDeviceIDProperties", pNext=self.maintenance3)
        self.driver = struct("VkPhysicalDeviceDriverProperties", pNext=self.ids)
        self.subgroup_sizes = struct("VkPhysicalDeviceSubgroupSizeControlProperties", pNext=self.driver)
        top = struct("VkPhysicalDeviceProperties2")
        self.functions.vkGetPhysicalDeviceProperties2(self.handle, top)
        # Structures of a newer version must not be chained on an older device that lacks the extension.
        newest = self.driver
        if top.properties.apiVersion >= api.VERSION_1_3 or "VK_EXT_subgroup_size_control" in self.extensions:
            newest = self.subgroup_sizes
        if top.properties.apiVersion >= api.VERSION_1_2:
            top.pNext = newest
            self.functions.vkGetPhysicalDeviceProperties2(self.handle, top)
        self._top, self.properties = top, top.properties

    def _read_memory(self, imposed: profiles.Imposed) -> None:
        memory = struct("VkPhysicalDeviceMemoryProperties2")
        self.functions.vkGetPhysicalDeviceMemoryProperties2(self.handle, memory)
        table = memory.memoryProperties
        self.heaps = [(heap.size, heap.flags) for heap in list(table.memoryHeaps)[: table.memoryHeapCount]]
        self.memory_types = [
            (kind.propertyFlags, kind.heapIndex) for kind in list(table.memoryTypes)[: table.memoryTypeCount]
        ]
        self.backing = list(range(len(self.memory_types)))  # the driver's number of each type
        self.simulates_memory = imposed.memory is not None
        self.largest_allocation = imposed.largest_allocation
        if imposed.memory is not None:
            self.heaps, self.backing = imposed.memory.imposed(self.heaps, self.memory_types)
            self.memory_types = list(imposed.memory.types)
        local = [size for size, flags in self.heaps if flags & vk.VK_MEMORY_HEAP_DEVICE_LOCAL_BIT]
        self.heap_bytes = max(local, default=0)

    def _read_queue_family(self) -> None:
        count = ffi.new("uint32_t*")
        self.functions.vkGetPhysicalDeviceQueueFamilyProperties(self.handle, count, NULL)
        families = ffi.new("VkQueueFamilyProperties[]", count[0])
        self.functions.vkGetPhysicalDeviceQueueFamilyProperties(self.handle, count, families)
        self.queue_family, self.timestamp_valid_bits = -1, 0
        for index, family in enumerate(families):
            if family.queueFlags & vk.VK_QUEUE_COMPUTE_BIT:
                self.queue_family, self.timestamp_valid_bits = index, family.timestampValidBits
                break

    def _read_features(self) -> frozenset[str]:
        if self.properties.apiVersion < api.VERSION_1_2:
            return frozenset()
        top = self.feature_chain(None)
        self.functions.vkGetPhysicalDeviceFeatures2(self.handle, top)
        found = {name for name, value in self._chain_values() if value} - features.NOT_ENABLED
        found |= {name for extension, name in features.PLAIN_EXTENSIONS.items() if extension in self.extensions}
        if self.subgroup.supportedStages & vk.VK_SHADER_STAGE_COMPUTE_BIT:
            found |= {
                name for bit, name in features.SUBGROUP_OPERATIONS.items() if self.subgroup.supportedOperations & bit
            }
        if self.mappable_type() is not None:
            found.add("hostVisibleDeviceMemory")
        if self.timestamp_valid_bits and self.properties.limits.timestampPeriod > 0:
            found.add("timestamps")
        if 32 in self.float_controls.denorm_preserve:
            found.add("keepsSubnormals")
        # A CPU driver runs both sides of each branch, so integers alone cost less there.
        if 32 in self.float_controls.signed_zero_inf_nan_preserve and TYPES.get(self.properties.deviceType) != "CPU":
            found.add("keepsNaN")
        found |= features.ARITHMETIC_OF_DRIVERS.get(self.driver.driverID, frozenset())
        return frozenset(found)

    def feature_chain(self, enabled: frozenset[str] | None) -> Any:
        """A VkPhysicalDeviceFeatures2 chain: to be filled by a query, or with the ``enabled`` features set."""
        link: Any = NULL
        self._core: dict[str, Any] = {}
        self._extra: dict[str, Any] = {}
        for name, (structure_type, fields) in features.EXTENSION_FEATURES.items():
            if name in self._extensions_with_features():
                words = ffi.new("uint32_t[]", 4 + len(fields) + len(fields) % 2)
                words[0] = structure_type
                ffi.cast("void**", words)[1] = link
                link = ffi.cast("void*", words)
                self._extra[name] = words
        structures = ["VkPhysicalDeviceVulkan11Features", "VkPhysicalDeviceVulkan12Features"]
        if self.properties.apiVersion >= api.VERSION_1_3:
            structures.append("VkPhysicalDeviceVulkan13Features")
        for name in structures:
            self._core[name] = link = struct(name, pNext=link)
        top = struct("VkPhysicalDeviceFeatures2", pNext=link)
        self._core["VkPhysicalDeviceFeatures"] = top.features
        if enabled is not None:
            for name, structure in self._core.items():
                for field in features.CORE_FEATURES[name]:
                    setattr(structure, field, field in enabled)
            for name, words in self._extra.items():
                for position, field in enumerate(features.EXTENSION_FEATURES[name][1]):
                    words[4 + position] = field in enabled
        return top

    def _chain_values(self) -> list[tuple[str, int]]:
        core = [
            (field, getattr(structure, field))
            for name, structure in self._core.items()
            for field in features.CORE_FEATURES[name]
        ]
        extra = [
            (field, words[4 + position])
            for name, words in self._extra.items()
            for position, field in enumerate(features.EXTENSION_FEATURES[name][1])
        ]
        return core + extra

    def _extensions_with_features(self) -> list[str]:
        """The extensions whose features are not those of Vulkan's version as well."""
        version = self.properties.apiVersion
        offered = [name for name in features.EXTENSION_FEATURES if name in self.extensions]
        return [name for name in offered if version < features.PROMOTED.get(name, version + 1)]

    def extensions_to_enable(self) -> list[str]:
        offered = self._extensions_with_features()
        wanted = {name for name in offered if set(features.EXTENSION_FEATURES[name][1]) & self.features}
        wanted |= {name for name, ours in features.PLAIN_EXTENSIONS.items() if ours in self.features}
        wanted.add("VK_KHR_portability_subset")  # has to be enabled where it exists
        return sorted(wanted & self.extensions)

    def memory_type(
        self, required: int, preferred: int = 0, allowed: int = 0xFFFFFFFF, on_host: bool = False
    ) -> int | None:
        """The first memory type with the required flags that has most of the preferred ones, on the largest heap.

        ``on_host`` prefers memory that is not the device's own, for staging.
        """
        local = vk.VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
        candidates = [
            ((flags & preferred).bit_count(), not (on_host and flags & local), self.heaps[heap][0], -index)
            for index, (flags, heap) in enumerate(self.memory_types)
            if flags & required == required and allowed >> self.backing[index] & 1
        ]
        return -max(candidates)[3] if candidates else None

    def staging_type(self, allowed: int = 0xFFFFFFFF) -> int | None:
        """The type that the host reads fast: one that it caches where there is any, coherent or not."""
        visible, coherent = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        cached = visible | vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT
        found = self.memory_type(cached, coherent, allowed, on_host=True)
        return found if found is not None else self.memory_type(visible | coherent, 0, allowed, on_host=True)

    def mappable_type(self) -> int | None:
        """A host-visible type on the main device heap (not the small window that older PCs have), or None."""
        flags = (
            vk.VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
            | vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
            | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        )
        index = self.memory_type(flags, vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
        if index is None or self.heaps[self.memory_types[index][1]][0] < self.heap_bytes:
            return None
        return index

    def _limits(self) -> Limits:
        limits, nominal = self.properties.limits, self.subgroup.subgroupSize
        registers = features.REGISTERS_OF_DRIVERS.get(self.driver.driverID, "large")
        sizes = read_sizes(self.subgroup_sizes, nominal, self.features, self.driver.driverID, self.properties.vendorID)
        size = sizes.size(nominal, registers, limits.maxComputeWorkGroupInvocations)
        mappable, host = self.mappable_type(), "none"
        if "hostVisibleDeviceMemory" in self.features and mappable is not None:
            cached = self.memory_types[mappable][0] & vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT
            host = "cached" if cached else "uncached"
        return Limits(
            limits.maxPushConstantsSize,
            limits.maxComputeSharedMemorySize,
            limits.maxComputeWorkGroupInvocations,
            tuple(limits.maxComputeWorkGroupSize),
            tuple(limits.maxComputeWorkGroupCount),
            limits.maxStorageBufferRange,
            limits.minStorageBufferOffsetAlignment,
            limits.maxUniformBufferRange,
            limits.maxPerStageDescriptorStorageBuffers,
            limits.maxPerStageDescriptorUniformBuffers,
            limits.maxPerStageResources,
            limits.minUniformBufferOffsetAlignment,
            limits.maxTexelBufferElements,
            limits.minTexelBufferOffsetAlignment,
            limits.maxPerStageDescriptorSampledImages,
            self.maintenance3.maxMemoryAllocationSize,
            sizes,
            size or nominal,
            size or sizes.least,
            size or sizes.most,
            self.features & frozenset(features.SUBGROUP_OPERATIONS.values()),
            limits.timestampPeriod,
            self.timestamp_valid_bits,
            self.properties.deviceType == 4,
            host,
            self._cooperative_matrices() if "cooperativeMatrix" in self.features else frozenset(),
            registers,
            pace.RATES["cpu" if self.properties.deviceType == 4 else registers],
            self.driver.driverID in features.ROLLED_LOOPS,
        )

    def _cooperative_matrices(self) -> frozenset[tuple[str, int, int, int]]:
        count = ffi.new("uint32_t*")
        self.functions.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(self.handle, count, NULL)
        found = ffi.new("VkCooperativeMatrixPropertiesKHR[]", count[0])
        for one in found:
            one.sType = vk.VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR
        self.functions.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(self.handle, count, found)
        return frozenset(
            (features.COMPONENT_TYPES[one.AType], one.MSize, one.NSize, one.KSize)
            for one in found
            if one.AType == one.BType and one.AType in features.COMPONENT_TYPES
            and one.CType == one.ResultType == vk.VK_COMPONENT_TYPE_FLOAT32_KHR
            and one.scope == vk.VK_SCOPE_SUBGROUP_KHR
        )  # fmt: skip

    def _float_controls(self) -> FloatControls:
        def widths(prefix: str) -> frozenset[int]:
            return frozenset(width for width in (16, 32, 64) if getattr(self.controls, f"{prefix}Float{width}"))

        kinds = ("32", "all", "none")
        return FloatControls(
            widths("shaderDenormPreserve"),
            widths("shaderSignedZeroInfNanPreserve"),
            widths("shaderRoundingModeRTE"),
            kinds[self.controls.denormBehaviorIndependence],
            kinds[self.controls.roundingModeIndependence],
        )

    def _refusal(self, imposed: profiles.Imposed) -> str | None:
        if self.properties.apiVersion < api.VERSION_1_2:
            return (
                f"it offers Vulkan {api.version(self.properties.apiVersion)} and vkarray needs 1.2; "
                "a newer driver may offer it"
            )
        for name in features.REQUIRED:
            if name not in self.supported:
                return f"it lacks the feature {name}"
            if name not in self.features:
                return f"{imposed.switch_of(name)} switches {name} off, which vkarray cannot do without"
        if self.queue_family < 0:
            return "it has no queue for compute"
        return None


def physical_devices(settings: configuration.Configuration) -> list[PhysicalDevice]:
    """All devices under the switches. Raises DeviceError where there is none, ConfigurationError for unknown features."""
    imposed = profiles.imposed(settings)
    with instance.held(settings.validation) as owner:
        found = [PhysicalDevice(owner, handle, index, imposed) for index, handle in enumerate(owner.physical_devices)]
    if not found:
        raise DeviceError(instance.NO_DRIVER)
    return found


def choose(devices: list[PhysicalDevice], selector: int | str | None) -> PhysicalDevice:
    """The device a selector names (index, UUID, part of the name, or one of these as `vulkan://0`), or the best one for None."""
    listing = "; ".join(
        f"{d.description.index}: {d.description.name}"
        + (f" (refused: {d.description.refusal})" if d.description.refusal else "")
        for d in devices
    )
    usable = [device for device in devices if device.description.usable]
    if selector is None:
        if not usable:
            raise DeviceError(f"vkarray: no Vulkan device can be used. {listing}. {remedy('device')}")
        return min(usable, key=lambda device: _PREFERENCE.index(device.description.type))
    word = str(selector).strip().lower().removeprefix("vulkan://")
    matches = [d for d in devices if word in (str(d.description.index), d.description.uuid)]
    if not matches and word and not word.isdigit():
        matches = [d for d in devices if word in d.description.name.lower()]
    if not matches:
        raise DeviceError(
            f"vkarray: no Vulkan device matches {selector!r}. The devices are {listing}. "
            "Name one by index, part of its name, UUID, or one of these as vulkan://0 (argument or VKARRAY_DEVICE)."
        )
    usable = [device for device in matches if device.description.usable]
    if not usable:
        raise DeviceError(f"vkarray: {matches[0].description.name} cannot be used: {matches[0].description.refusal}.")
    return usable[0]


def enumerate_devices() -> list[DeviceDescription]:
    """All Vulkan devices of this machine, usable or not; the default one is marked.

    Raises DeviceError when there is no Vulkan loader or driver.
    """
    settings = configuration.current()
    devices = physical_devices(settings)
    try:
        default = choose(devices, settings.device)
    except DeviceError:
        default = None
    return [replace(device.description, is_default=device is default) for device in devices]
