"""Descriptor sets for kernels that declare `layout(binding = n) buffer` or `usamplerBuffer`, cached by layout and buffers.

A set is written once and never changed, so it may be used by any number of commands in flight, whose batches keep it.
Sets that were not used for long are dropped, and freed when nothing refers to them any more.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import FeatureError, VulkanError
from . import TEXEL_BYTES, arguments
from .api import NULL, array, ffi, struct, vk

if TYPE_CHECKING:
    from .block import Block
    from .device import Device
    from .kernel import Kernel
    from .memory import Buffer

POOL_SETS, POOL_DESCRIPTORS, KEPT_SETS = 256, 2048, 1024
_TYPES = {
    "storage": vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
    "uniform": vk.VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
    "texel": vk.VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
}
_TEXEL_FORMAT = vk.VK_FORMAT_R32G32B32A32_UINT


class DescriptorSet:
    """A set in use, and the blocks it points into."""

    __slots__ = ("__weakref__", "blocks", "cell")

    def __init__(self, blocks: set[Block]) -> None:
        self.blocks = blocks
        self.cell = ffi.new("VkDescriptorSet*")  # NULL until it is allocated


class Owned(weakref.ref[DescriptorSet]):
    """What is freed when a set is dropped: itself, from its pool, and its views of texel buffers."""

    __slots__ = ("cell", "pool", "views")

    def __init__(self, made: DescriptorSet, dropped: Callable[[Any], None]) -> None:
        self.cell, self.pool = made.cell, NULL
        self.views: list[Any] = []


class Descriptors:
    """Layouts, pools and cached sets of one device. Handles are in cells, which Vulkan fills: Ctrl-C loses none of them."""

    def __init__(self, device: Device) -> None:
        self.device, self.functions = device, device.functions
        self._layouts: dict[tuple[bool, tuple[tuple[int, str], ...]], tuple[Any, Any]] = {}
        self._of_arguments = ffi.new("VkDescriptorSetLayout*")  # NULL until a kernel has arguments
        self.pools: list[Any] = []
        self.sets: dict[tuple[Any, ...], DescriptorSet] = {}  # least recently used first
        self.owned: dict[Any, Owned] = {}  # by the cell
        self.dropped: list[Owned] = []  # in any thread, at any time, by no code of Python's: one append
        self.hits = self.misses = 0

    def layout_of_arguments(self) -> Any:
        """The layout of the descriptor set that shows arguments."""
        if self._of_arguments[0] == NULL:
            arguments.make_layout(self.device, self._of_arguments)
        return self._of_arguments[0]

    def layouts(self, bindings: dict[int, str], has_arguments: bool) -> tuple[Any, Any]:
        """The pipeline layout and descriptor set layout for a kernel's bindings; shared between kernels.

        A kernel has a block of arguments, or push constants.
        """
        key, handle = tuple(bindings.items()), self.device.handle
        new = ffi.new("VkPipelineLayout*"), ffi.new("VkDescriptorSetLayout*")
        layout, set_layout = self._layouts.setdefault((has_arguments, key), new)
        if (bindings or has_arguments) and set_layout[0] == NULL:
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
        if layout[0] == NULL:
            sets = [set_layout[0]] if bindings or has_arguments else []
            if has_arguments:
                sets.append(self.layout_of_arguments())
            push = struct(
                "VkPushConstantRange",
                stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT,
                size=self.device.limits.max_push_constants_size,
            )
            self.functions.vkCreatePipelineLayout(
                handle,
                struct(
                    "VkPipelineLayoutCreateInfo",
                    setLayoutCount=len(sets),
                    pSetLayouts=array("VkDescriptorSetLayout", sets),
                    pushConstantRangeCount=0 if has_arguments and not self.device.physical.limits.is_cpu else 1,
                    pPushConstantRanges=push,
                ),
                NULL,
                layout,
            )
        return layout[0], set_layout[0]

    def bound(self, kernel: Kernel, bindings: Sequence[tuple[int, Buffer, int, int]]) -> DescriptorSet:
        """The set for ``bindings``: (binding, buffer, offset, bytes). Raises ValueError when they do not fit the kernel."""
        key = (
            kernel.set_layout,
            *(
                (number, buffer.piece.block, buffer.address + offset, nbytes)
                for number, buffer, offset, nbytes in bindings
            ),
        )
        found = self.sets.pop(key, None)
        if found is None:
            self.misses += 1
            found = self._make(kernel, bindings)
        else:
            self.hits += 1
        self.sets[key] = found
        return found

    def _make(self, kernel: Kernel, bindings: Sequence[tuple[int, Buffer, int, int]]) -> DescriptorSet:
        self._check(kernel, bindings)
        if len(self.sets) >= KEPT_SETS:
            self._trim(KEPT_SETS // 2)
        self._free()
        made = DescriptorSet({buffer.piece.block for _, buffer, *_ in bindings})
        owned = self.owned[made.cell] = Owned(made, self.dropped.append)
        self._allocate(kernel.set_layout, owned)
        views = ffi.new("VkBufferView[]", len(bindings))
        for position, (number, buffer, offset, nbytes) in enumerate(bindings):
            if kernel.bindings[number] == "texel":
                owned.views.append(ffi.new("VkBufferView*"))
                self._view(buffer, offset, nbytes, owned.views[-1])
                views[position] = owned.views[-1][0]
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
                    dstSet=made.cell[0],
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

    def _view(self, buffer: Buffer, offset: int, nbytes: int, view: Any) -> None:
        """A view of a part of a buffer as texels, the last of them whole: memory comes in steps of 256 bytes."""
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

    def _allocate(self, set_layout: Any, made: Owned) -> None:
        layout = ffi.new("VkDescriptorSetLayout*", set_layout)
        for pool in [*(pool[0] for pool in reversed(self.pools) if pool[0] != NULL), None]:
            made.pool = self._add_pool() if pool is None else pool
            try:
                self.functions.vkAllocateDescriptorSets(
                    self.device.handle,
                    struct(
                        "VkDescriptorSetAllocateInfo",
                        descriptorPool=made.pool,
                        descriptorSetCount=1,
                        pSetLayouts=layout,
                    ),
                    made.cell,
                )
                return
            except VulkanError as error:
                full = error.result in ("VK_ERROR_OUT_OF_POOL_MEMORY", "VK_ERROR_FRAGMENTED_POOL")
                if pool is None or not full:
                    raise

    def _add_pool(self) -> Any:
        sizes = array(
            "VkDescriptorPoolSize", [{"type": kind, "descriptorCount": POOL_DESCRIPTORS} for kind in _TYPES.values()]
        )
        pool = ffi.new("VkDescriptorPool*")
        self.pools.append(pool)
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
        return pool[0]

    def _trim(self, count: int) -> None:
        """Drop the ``count`` least recently used sets; batches keep those that are in use."""
        for key in list(self.sets)[:count]:
            self.sets.pop(key, None)
        self._free()

    def forget(self, blocks: Sequence[Block]) -> None:
        """Free the sets that point into blocks about to be destroyed (the device is done with them)."""
        gone = set(blocks)
        for key in list(self.sets):
            entry = self.sets.get(key)
            if entry is not None and entry.blocks & gone:
                self.sets.pop(key, None)
        entry = None  # a reference would keep the last of them
        self._free()

    def _free(self) -> None:
        """Free the sets that were dropped."""
        while self.dropped:
            owned = self.dropped.pop()
            self.owned.pop(owned.cell, None)
            if owned.cell[0] != NULL:
                self.functions.vkFreeDescriptorSets(self.device.handle, owned.pool, 1, owned.cell)
            for view in owned.views:
                self.functions.vkDestroyBufferView(self.device.handle, view[0], NULL)

    def close(self) -> None:
        handle = self.device.handle
        self.sets.clear()
        self.dropped[:] = self.owned.values()
        self._free()
        for pool in self.pools:
            self.functions.vkDestroyDescriptorPool(handle, pool[0], NULL)
        for layout, set_layout in self._layouts.values():
            self.functions.vkDestroyPipelineLayout(handle, layout[0], NULL)
            self.functions.vkDestroyDescriptorSetLayout(handle, set_layout[0], NULL)
        self.functions.vkDestroyDescriptorSetLayout(handle, self._of_arguments[0], NULL)
        self.pools.clear()
        self._layouts.clear()
