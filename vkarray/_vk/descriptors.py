"""Descriptor sets for kernels that declare `layout(binding = n) buffer` or `usamplerBuffer`, cached by layout and buffers.

A set is written once and never changed, so it may be used by any number of commands in flight. Sets that were not used
for long are freed when the device has done with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import FeatureError, VulkanError
from . import TEXEL_BYTES
from .api import NULL, array, ffi, struct, vk

if TYPE_CHECKING:
    from .device import Device
    from .kernel import Kernel
    from .memory import Block, Buffer

POOL_SETS, POOL_DESCRIPTORS, KEPT_SETS = 256, 2048, 1024
_TYPES = {
    "storage": vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
    "uniform": vk.VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
    "texel": vk.VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
}
_TEXEL_FORMAT = vk.VK_FORMAT_R32G32B32A32_UINT


class DescriptorSet:
    """A set, its pool, the blocks it points into, the views of texel buffers it owns, and the serial of its last use."""

    __slots__ = ("blocks", "handle", "pool", "serial", "views")

    def __init__(self, handle: Any, pool: Any, blocks: set[Block]) -> None:
        self.handle, self.pool, self.blocks, self.serial = handle, pool, blocks, 0
        self.views: list[Any] = []


class Descriptors:
    """Layouts, pools and cached sets of one device."""

    def __init__(self, device: Device) -> None:
        self.device, self.functions = device, device.functions
        self._layouts: dict[tuple[tuple[int, str], ...], tuple[Any, Any]] = {}
        self.pools: list[Any] = []
        self.sets: dict[tuple[Any, ...], DescriptorSet] = {}  # least recently used first
        self.hits = self.misses = 0
        self._cell = ffi.new("VkDescriptorSet*")
        self._bind = device.functions.vkCmdBindDescriptorSets

    def layouts(self, bindings: dict[int, str]) -> tuple[Any, Any]:
        """The pipeline layout and descriptor set layout for a kernel's bindings; shared between kernels."""
        key = tuple(bindings.items())
        if key not in self._layouts:
            set_layout, handle = ffi.new("VkDescriptorSetLayout*"), self.device.handle
            if bindings:
                entries = array(
                    "VkDescriptorSetLayoutBinding",
                    [
                        {
                            "binding": number,
                            "descriptorType": _TYPES[kind],
                            "descriptorCount": 1,
                            "stageFlags": vk.VK_SHADER_STAGE_COMPUTE_BIT,
                        }
                        for number, kind in key
                    ],
                )
                self.functions.vkCreateDescriptorSetLayout(
                    handle,
                    struct("VkDescriptorSetLayoutCreateInfo", bindingCount=len(key), pBindings=entries),
                    NULL,
                    set_layout,
                )
            push = struct(
                "VkPushConstantRange",
                stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT,
                size=self.device.limits.max_push_constants_size,
            )
            layout = ffi.new("VkPipelineLayout*")
            try:
                self.functions.vkCreatePipelineLayout(
                    handle,
                    struct(
                        "VkPipelineLayoutCreateInfo",
                        setLayoutCount=1 if bindings else 0,
                        pSetLayouts=set_layout,
                        pushConstantRangeCount=1,
                        pPushConstantRanges=push,
                    ),
                    NULL,
                    layout,
                )
            except Exception:
                if bindings:
                    self.functions.vkDestroyDescriptorSetLayout(handle, set_layout[0], NULL)
                raise
            self._layouts[key] = layout[0], set_layout[0]
        return self._layouts[key]

    def bind(self, commands: Any, kernel: Kernel, bindings: Sequence[tuple[int, Buffer, int, int]]) -> None:
        """Bind ``bindings``: (binding, buffer, offset, bytes). Raises ValueError when they do not fit the kernel."""
        key = (
            kernel.set_layout,
            *(
                (number, buffer.piece.block, buffer.address + offset, nbytes)
                for number, buffer, offset, nbytes in bindings
            ),
        )
        entry = self.sets.pop(key, None)
        if entry is None:
            self.misses += 1
            entry = self._make(kernel, bindings)
        else:
            self.hits += 1
        self.sets[key] = entry
        entry.serial = self.device.queue.serial + 1
        self._cell[0] = entry.handle
        self._bind(commands, vk.VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout, 0, 1, self._cell, 0, NULL)

    def _make(self, kernel: Kernel, bindings: Sequence[tuple[int, Buffer, int, int]]) -> DescriptorSet:
        self._check(kernel, bindings)
        if len(self.sets) >= KEPT_SETS:
            self._trim(KEPT_SETS // 2)
        handle, pool = self._allocate(kernel.set_layout)
        made = DescriptorSet(handle, pool, {buffer.piece.block for _, buffer, *_ in bindings})
        views = ffi.new("VkBufferView[]", len(bindings))
        try:
            for position, (number, buffer, offset, nbytes) in enumerate(bindings):
                if kernel.bindings[number] == "texel":
                    views[position] = self._view(buffer, offset, nbytes)
                    made.views.append(views[position])
        except BaseException:
            self._free(made)
            raise
        infos = array(
            "VkDescriptorBufferInfo",
            [
                {"buffer": buffer.piece.block.buffer, "offset": buffer.block_offset + offset, "range": nbytes}
                for _, buffer, offset, nbytes in bindings
            ],
        )
        writes = array(
            "VkWriteDescriptorSet",
            [
                struct(
                    "VkWriteDescriptorSet",
                    dstSet=handle,
                    dstBinding=number,
                    descriptorCount=1,
                    descriptorType=_TYPES[kernel.bindings[number]],
                    pBufferInfo=infos + position,
                    pTexelBufferView=views + position,
                )[0]
                for position, (number, *_) in enumerate(bindings)
            ],
        )
        self.functions.vkUpdateDescriptorSets(self.device.handle, len(bindings), writes, 0, NULL)
        return made

    def _view(self, buffer: Buffer, offset: int, nbytes: int) -> Any:
        """A view of a part of a buffer as texels, the last of them whole: memory comes in steps of 256 bytes."""
        view = ffi.new("VkBufferView*")
        self.functions.vkCreateBufferView(
            self.device.handle,
            struct(
                "VkBufferViewCreateInfo",
                buffer=buffer.piece.block.buffer,
                format=_TEXEL_FORMAT,
                offset=buffer.block_offset + offset,
                range=-(-nbytes // TEXEL_BYTES) * TEXEL_BYTES,
            ),
            NULL,
            view,
        )
        return view[0]

    def _check(self, kernel: Kernel, bindings: Sequence[tuple[int, Buffer, int, int]]) -> None:
        if {number for number, *_ in bindings} != set(kernel.bindings) or len(bindings) != len(kernel.bindings):
            raise ValueError(
                f"Kernel {kernel.name} declares the bindings {sorted(kernel.bindings)}, "
                f"got {[number for number, *_ in bindings]}."
            )
        limits = self.device.limits
        for number, buffer, offset, nbytes in bindings:
            if offset < 0 or nbytes < 1 or offset + nbytes > buffer.nbytes:
                raise ValueError(
                    f"Kernel {kernel.name}, binding {number}: bytes {offset} to {offset + nbytes} of a "
                    f"buffer of {buffer.nbytes} bytes; a binding needs at least one."
                )
            alignment, most, limit = {
                "storage": (
                    limits.min_storage_buffer_offset_alignment,
                    limits.max_storage_buffer_range,
                    "maxStorageBufferRange",
                ),
                "uniform": (
                    limits.min_uniform_buffer_offset_alignment,
                    limits.max_uniform_buffer_range,
                    "maxUniformBufferRange",
                ),
                "texel": (
                    max(TEXEL_BYTES, limits.min_texel_buffer_offset_alignment),
                    limits.max_texel_buffer_elements * TEXEL_BYTES,
                    "maxTexelBufferElements",
                ),
            }[kernel.bindings[number]]
            if (buffer.block_offset + offset) % alignment:
                raise ValueError(
                    f"Kernel {kernel.name}, binding {number}: offset {offset} is not a multiple of "
                    f"{alignment}; copy the view first."
                )
            if nbytes > most:
                raise FeatureError(
                    f"Kernel {kernel.name}, binding {number}: {nbytes} bytes, but {self.device.name} "
                    f"binds {most} at most; pass buffer addresses in push constants or bind parts.",
                    (limit,),
                )

    def _allocate(self, set_layout: Any) -> tuple[Any, Any]:
        layout, handle = ffi.new("VkDescriptorSetLayout*", set_layout), ffi.new("VkDescriptorSet*")
        for pool in reversed(self.pools):
            try:
                self.functions.vkAllocateDescriptorSets(
                    self.device.handle,
                    struct(
                        "VkDescriptorSetAllocateInfo", descriptorPool=pool, descriptorSetCount=1, pSetLayouts=layout
                    ),
                    handle,
                )
                return handle[0], pool
            except VulkanError as error:
                if error.result not in ("VK_ERROR_OUT_OF_POOL_MEMORY", "VK_ERROR_FRAGMENTED_POOL"):
                    raise
        self._add_pool()
        pool = self.pools[-1]
        self.functions.vkAllocateDescriptorSets(
            self.device.handle,
            struct("VkDescriptorSetAllocateInfo", descriptorPool=pool, descriptorSetCount=1, pSetLayouts=layout),
            handle,
        )
        return handle[0], pool

    def _add_pool(self) -> None:
        sizes = array(
            "VkDescriptorPoolSize", [{"type": kind, "descriptorCount": POOL_DESCRIPTORS} for kind in _TYPES.values()]
        )
        pool = ffi.new("VkDescriptorPool*")
        self.functions.vkCreateDescriptorPool(
            self.device.handle,
            struct(
                "VkDescriptorPoolCreateInfo",
                flags=vk.VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
                maxSets=POOL_SETS,
                poolSizeCount=len(_TYPES),
                pPoolSizes=sizes,
            ),
            NULL,
            pool,
        )
        self.pools.append(pool[0])

    def _trim(self, count: int) -> None:
        """Free the ``count`` least recently used sets, as far as the device has done with them."""
        released = self.device.queue.progress.released
        for key in [key for key, _ in zip(self.sets, range(count), strict=False)]:
            if self.sets[key].serial <= released:
                self._free(self.sets.pop(key))

    def forget(self, blocks: Sequence[Block]) -> None:
        """Free the sets that point into blocks about to be destroyed (the device is done with them)."""
        gone = set(blocks)
        for key in [key for key, entry in self.sets.items() if entry.blocks & gone]:
            self._free(self.sets.pop(key))

    def _free(self, entry: DescriptorSet) -> None:
        self.functions.vkFreeDescriptorSets(
            self.device.handle, entry.pool, 1, ffi.new("VkDescriptorSet*", entry.handle)
        )
        for view in entry.views:
            self.functions.vkDestroyBufferView(self.device.handle, view, NULL)

    def close(self) -> None:
        handle = self.device.handle
        for entry in self.sets.values():
            self._free(entry)
        self.sets.clear()
        for pool in self.pools:
            self.functions.vkDestroyDescriptorPool(handle, pool, NULL)
        for layout, set_layout in self._layouts.values():
            self.functions.vkDestroyPipelineLayout(handle, layout, NULL)
            if set_layout != NULL:
                self.functions.vkDestroyDescriptorSetLayout(handle, set_layout, NULL)
        self.pools.clear()
        self._layouts.clear()
