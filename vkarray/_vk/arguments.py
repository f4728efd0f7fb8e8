"""Memory for the arguments of the library's kernels: one block for each dispatch, in a buffer at a dynamic offset.

One descriptor set layout serves all of these kernels. Each command buffer has memory of its own: the host writes it before
it submits the commands, and again only when the device has done them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .api import NULL, array, ffi, struct, vk
from .block import Block, host_block
from .fields import BINDING, RANGE

if TYPE_CHECKING:
    from .device import Device

STEP = 256  # between the blocks of two dispatches: no device asks for a larger alignment
LEAST_BYTES = 1 << 15
_KIND = vk.VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC


def padded(nbytes: int) -> int:
    """Bytes from the beginning of a block to that of the next."""
    return -(-nbytes // STEP) * STEP


class ArgumentMemory:
    """The memory for the arguments of one command buffer, and the descriptor set that shows it."""

    __slots__ = ("block", "device", "offset", "pool", "set")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.block: Block | None = None
        self.pool = ffi.new("VkDescriptorPool*")  # NULL until memory is asked for, like the set
        self.set = ffi.new("VkDescriptorSet*")
        self.offset = ffi.new("uint32_t*")  # what vkCmdBindDescriptorSets takes

    def write(self, blocks: list[bytes]) -> None:
        """Put blocks into memory one after the other, each at a multiple of STEP."""
        data = blocks[-1]
        if len(blocks) > 1:
            data = b"".join(
                [block.ljust(STEP if len(block) <= STEP else padded(len(block)), b"\0") for block in blocks]
            )
        memory = self.block
        if memory is None or memory.nbytes < len(data) + RANGE:
            memory = self._grown(len(data) + RANGE)
        ffi.memmove(memory.pointer, data, len(data))

    def _grown(self, nbytes: int) -> Block:
        """Memory of at least so many bytes in place of what there was, with which the device has done."""
        device, allocator = self.device, self.device.memory
        nbytes = max(LEAST_BYTES, 1 << (nbytes - 1).bit_length())
        if allocator.mapped:
            made = Block(device, nbytes, allocator.memory_type, map_it=True, dedicated=True)
        else:
            made = host_block(device, nbytes)
        self.block = None  # the set shows no other memory than that of `block`, wherever Ctrl-C strikes
        self._show(made)
        self.block = made
        return made

    def _show(self, block: Block) -> None:
        """Let the descriptor set show a block of memory."""
        device, functions = self.device, self.device.functions
        if self.pool[0] == NULL:
            size = array("VkDescriptorPoolSize", [{"type": _KIND, "descriptorCount": 1}])
            create = struct(
                "VkDescriptorPoolCreateInfo",
                flags=vk.VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
                maxSets=1,
                poolSizeCount=1,
                pPoolSizes=size,
            )
            functions.vkCreateDescriptorPool(device.handle, create, NULL, self.pool)
        if self.set[0] == NULL:
            layout = ffi.new("VkDescriptorSetLayout*", device.descriptors.layout_of_arguments())
            allocate = struct(
                "VkDescriptorSetAllocateInfo", descriptorPool=self.pool[0], descriptorSetCount=1, pSetLayouts=layout
            )
            functions.vkAllocateDescriptorSets(device.handle, allocate, self.set)
        info = struct("VkDescriptorBufferInfo", buffer=block.buffer, offset=0, range=RANGE)
        write = struct(
            "VkWriteDescriptorSet",
            dstSet=self.set[0],
            dstBinding=BINDING,
            descriptorCount=1,
            descriptorType=_KIND,
            pBufferInfo=info,
        )
        functions.vkUpdateDescriptorSets(device.handle, 1, write, 0, NULL)

    def close(self) -> None:
        """Release all; nothing is in flight any more."""
        handle, functions = self.device.handle, self.device.functions
        if self.set[0] != NULL:
            functions.vkFreeDescriptorSets(handle, self.pool[0], 1, self.set)
        functions.vkDestroyDescriptorPool(handle, self.pool[0], NULL)
        if self.block is not None:
            self.block.destroy()
        self.block = None


def make_layout(device: Device, cell: Any) -> None:
    """Make the layout of the descriptor set that shows arguments."""
    entry = array(
        "VkDescriptorSetLayoutBinding",
        [
            {
                "binding": BINDING,
                "descriptorType": _KIND,
                "descriptorCount": 1,
                "stageFlags": vk.VK_SHADER_STAGE_COMPUTE_BIT,
            }
        ],
    )
    create = struct("VkDescriptorSetLayoutCreateInfo", bindingCount=1, pBindings=entry)
    device.functions.vkCreateDescriptorSetLayout(device.handle, create, NULL, cell)
