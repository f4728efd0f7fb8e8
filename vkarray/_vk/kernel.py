"""Kernels: SPIR-V to compute pipelines, checked against the device before the driver sees them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import FeatureError, VulkanError
from . import api, ready, spirv
from .api import NULL, array, ffi, struct, vk
from .fields import RANGE, Arguments
from .making import Making
from .pace import Pace
from .subgroups import asked_for

if TYPE_CHECKING:
    from .device import Device

# VK_PIPELINE_CREATE_DISPATCH_BASE_BIT, VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT: the binding lacks them.
_DISPATCH_BASE, _REQUIRE_FULL_SUBGROUPS = 0x10, 0x2


class Kernel:
    """A compute pipeline of one device.

    ``bindings`` maps descriptor bindings to their kinds, ``arguments`` are its fields, and ``addresses`` says where in what a
    dispatch is given an address may be.
    """

    __slots__ = (
        "__weakref__",
        "addresses",
        "arguments",
        "bindings",
        "cell",
        "device",
        "has_arguments",
        "layout",
        "local_size",
        "make",
        "making",
        "name",
        "pace",
        "pieces",
        "set_layout",
        "subgroup",
    )

    def __init__(
        self, device: Device, code: bytes, name: str, specialization: tuple[tuple[int, int], ...], subgroup: int = 0
    ) -> None:
        self.device, self.name = device, name
        made = ready.of(device.physical, device.features, code, name, specialization)
        module = made.needs
        check(device, module, name)
        self.subgroup, of_subgroups = _of_subgroups(device, module, subgroup)
        self.local_size, self.bindings = module.local_size, module.bindings
        self.arguments = Arguments(module.arguments)
        self.has_arguments, self.addresses = bool(module.arguments), module.addresses
        x, y, z = module.local_size
        rate = device.physical.limits.rate
        self.pace: Pace | None = None if math.isinf(rate) else Pace(self.arguments, x * y * z, rate)
        # Which grids may be cut: users' kernels see how many workgroups there are, those of the library number rows of them so.
        self.pieces = "any" if not module.counts_groups else "rows" if self.has_arguments else "none"
        self.layout, self.set_layout = device.descriptors.layouts(module.bindings, self.has_arguments)
        spare = None
        # Drivers fail at modules with loops written out that need too many registers.
        if device.physical.limits.rolled_loops:
            spare = partial(ready.of, device.physical, device.features, code, name, specialization, rolled=False)
        self.make: Callable[[api.Functions], Any] | None = partial(
            _pipeline, device, self.layout, made, spare, of_subgroups
        )
        self.cell: Any = None
        self.making: Making | None = None
        if device.makes_aside():
            make = partial(self.make, device.functions_aside)
            self.making = Making(make, device.making, device.places)
        else:
            _ = self.pipeline

    @property
    def pipeline(self) -> Any:
        """Vulkan's pipeline; NULL when the device is closed. Waits while it is being made. Raises what the driver says."""
        make, making = self.make, self.making
        if self.cell is None and make is not None:
            made = (None if making is None else making.result()) or make(self.device.functions)
            if self.cell is None:  # else a signal handler met it meanwhile, and what it recorded needs that one
                self.cell = made
            self.make = self.making = None
        return NULL if self.cell is None else self.cell[0]

    def destroy(self) -> None:
        self.cell = self.make = self.making = None

    def __repr__(self) -> str:
        return f"<Kernel {self.name} on {self.device.name}>"


def _of_subgroups(device: Device, module: spirv.Module, size: int) -> tuple[int, dict[str, Any]]:
    """The size of subgroups that a pipeline asks for, 0 for none, and the fields of its stage that do so."""
    limits = device.limits
    counted = size or limits.subgroup_size
    asked, full = asked_for(limits.subgroups, counted, module.capabilities, module.local_size)
    fields = {"flags": _REQUIRE_FULL_SUBGROUPS if full else 0}
    if asked:
        fields["pNext"] = struct("VkPipelineShaderStageRequiredSubgroupSizeCreateInfo", requiredSubgroupSize=asked)
    return asked, fields


def _pipeline(
    device: Device, layout: Any, made: ready.Ready, spare: Callable[[], ready.Ready] | None,
    of_subgroups: dict[str, Any], functions: api.Functions,
) -> Any:  # fmt: skip
    """A cell with a new pipeline, of a spare module where the driver fails at the first one.

    Threads call it too, which must not keep a kernel that is dropped meanwhile.
    """
    try:
        return _pipeline_of(device, layout, made, of_subgroups, functions)
    except VulkanError:
        if spare is None:
            raise
    return _pipeline_of(device, layout, spare(), of_subgroups, functions)


def _pipeline_of(
    device: Device, layout: Any, made: ready.Ready, of_subgroups: dict[str, Any], functions: api.Functions
) -> Any:
    code = made.code
    words = ffi.from_buffer("uint32_t[]", code)
    create = struct("VkShaderModuleCreateInfo", codeSize=len(code), pCode=words)
    module = api.owned(
        "VkShaderModule",
        lambda cell: functions.vkCreateShaderModule(device.handle, create, NULL, cell),
        functions.vkDestroyShaderModule,
        device.cell,
    )
    try:
        stage = struct(
            "VkPipelineShaderStageCreateInfo",
            stage=vk.VK_SHADER_STAGE_COMPUTE_BIT,
            module=module[0],
            pName=ffi.new("char[]", made.needs.entry_name.encode()),
            pSpecializationInfo=_specialization(made.constants),
            **of_subgroups,
        )
        base = 0 if math.isinf(device.physical.limits.rate) else _DISPATCH_BASE
        pipeline = struct("VkComputePipelineCreateInfo", flags=base, stage=stage[0], layout=layout)
        cached = device.pipeline_cache.handle
        return api.owned(
            "VkPipeline",
            lambda cell: functions.vkCreateComputePipelines(device.handle, cached, 1, pipeline, NULL, cell),
            functions.vkDestroyPipeline,
            device.cell,
        )
    finally:
        ffi.release(module)


def check(device: Device, module: spirv.Module, name: str) -> None:
    """Raise FeatureError for what the device lacks; some drivers would be lost where Vulkan leaves it undefined."""
    limits = device.limits
    newest = (1, 6) if device.physical.properties.apiVersion >= api.VERSION_1_3 else (1, 5)
    if module.version > newest:
        raise FeatureError(
            f"Kernel {name} is SPIR-V {module.version[0]}.{module.version[1]}, but {device.name} takes "
            f"{newest[0]}.{newest[1]} at most; compile it for an older target (vulkan1.2).",
            ("spirv",),
        )
    missing: list[str] = []
    wanted: list[str] = []
    for capability in sorted(module.capabilities):
        if capability in spirv.FLOAT_CONTROLS:  # asked for by the source itself
            control = spirv.FLOAT_CONTROLS[capability][0]
            if not getattr(device.physical.float_controls, control) & module.float_widths:
                missing.append(control)
            continue
        choices = spirv.CAPABILITY_FEATURES.get(capability)
        if choices is None:
            missing.append(f"SPIR-V capability {capability}")
        elif choices and not any(choice in device.features for choice in choices):
            missing.append(" or ".join(choices))
            wanted += choices
    if missing:
        raise FeatureError(
            f"Kernel {name} needs {', '.join(missing)}, which {device.name} does not have"
            f"{device.physical.switched_off(*wanted)}. Use another device (VKARRAY_DEVICE) or another dtype.",
            tuple(missing),
        )
    invocations = module.local_size[0] * module.local_size[1] * module.local_size[2]
    storage, uniform, texel = (list(module.bindings.values()).count(kind) for kind in ("storage", "uniform", "texel"))
    sizes_fit = all(size <= limit for size, limit in zip(module.local_size, limits.max_workgroup_size, strict=True))
    for fits, got, limit, what in (
        (sizes_fit, module.local_size, limits.max_workgroup_size, "maxComputeWorkGroupSize"),
        (
            invocations <= limits.max_workgroup_invocations,
            f"{invocations} invocations",
            limits.max_workgroup_invocations,
            "maxComputeWorkGroupInvocations",
        ),
        (
            module.shared_bytes <= limits.max_shared_memory_size,
            f"{module.shared_bytes} bytes of shared memory",
            limits.max_shared_memory_size,
            "maxComputeSharedMemorySize",
        ),
        (
            module.push_constant_bytes <= limits.max_push_constants_size,
            f"{module.push_constant_bytes} bytes of push constants",
            limits.max_push_constants_size,
            "maxPushConstantsSize",
        ),
        (
            (argument_bytes := Arguments(module.arguments).nbytes) <= RANGE,
            f"{argument_bytes} bytes of arguments",
            RANGE,
            "the range of a block of arguments",
        ),
        (
            storage <= limits.max_storage_buffers,
            f"{storage} storage buffers",
            limits.max_storage_buffers,
            "maxPerStageDescriptorStorageBuffers",
        ),
        (
            uniform <= limits.max_uniform_buffers,
            f"{uniform} uniform buffers",
            limits.max_uniform_buffers,
            "maxPerStageDescriptorUniformBuffers",
        ),
        (
            texel <= limits.max_texel_buffers,
            f"{texel} texel buffers",
            limits.max_texel_buffers,
            "maxPerStageDescriptorSampledImages",
        ),
        (
            storage + uniform + texel <= limits.max_resources,
            f"{storage + uniform + texel} buffers",
            limits.max_resources,
            "maxPerStageResources",
        ),
    ):
        if not fits:
            raise FeatureError(
                f"Kernel {name} uses {got} per workgroup, but {device.name} allows {limit} ({what}); "
                "use smaller tiles or workgroups, or fewer push constants or buffers.",
                (what,),
            )


def _specialization(constants: tuple[tuple[int, int], ...]) -> Any:
    if not constants:
        return NULL
    entries = array(
        "VkSpecializationMapEntry",
        [{"constantID": number, "offset": 4 * position, "size": 4} for position, (number, _) in enumerate(constants)],
    )
    values = array("uint32_t", [value & 0xFFFFFFFF for _, value in constants])
    return struct(
        "VkSpecializationInfo",
        mapEntryCount=len(constants),
        pMapEntries=entries,
        dataSize=4 * len(constants),
        pData=values,
    )
