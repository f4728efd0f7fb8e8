"""Kernels: SPIR-V to compute pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import spirv as spirv_module
from .api import NULL, array, ffi, struct, vk

if TYPE_CHECKING:
    from .device import Device


class Kernel:
    """A compute pipeline."""

    __slots__ = ("__weakref__", "device", "layout", "name", "pipeline")

    def __init__(self, device: Device, spirv: bytes, name: str, specialization: tuple[tuple[int, int], ...]) -> None:
        self.device, self.name = device, name
        spirv_module.words_of(spirv, name)
        self.layout = device.pipeline_layout
        functions = device.functions
        code = ffi.new("uint32_t[]", len(spirv) // 4)
        ffi.memmove(code, spirv, len(spirv))
        module = ffi.new("VkShaderModule*")
        functions.vkCreateShaderModule(
            device.handle, struct("VkShaderModuleCreateInfo", codeSize=len(spirv), pCode=code), NULL, module)
        try:
            stage = struct("VkPipelineShaderStageCreateInfo", stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=module[0],
                           pName=ffi.new("char[]", b"main"), pSpecializationInfo=_specialization(specialization))
            create = struct("VkComputePipelineCreateInfo", stage=stage[0], layout=self.layout)
            pipeline = ffi.new("VkPipeline*")
            functions.vkCreateComputePipelines(device.handle, NULL, 1, create, NULL, pipeline)
            self.pipeline = pipeline[0]
        finally:
            functions.vkDestroyShaderModule(device.handle, module[0], NULL)

    def __repr__(self) -> str:
        return f"<Kernel {self.name} on {self.device.name}>"


def _specialization(constants: tuple[tuple[int, int], ...]) -> Any:
    if not constants:
        return NULL
    entries = array("VkSpecializationMapEntry", [
        {"constantID": constant, "offset": 4 * position, "size": 4} for position, (constant, _) in enumerate(constants)])
    values = array("uint32_t", [value & 0xFFFFFFFF for _, value in constants])
    return struct("VkSpecializationInfo", mapEntryCount=len(constants), pMapEntries=entries,
                  dataSize=4 * len(constants), pData=ffi.cast("void*", values))
