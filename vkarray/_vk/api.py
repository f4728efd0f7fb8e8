"""The only file that imports the Vulkan binding: structures, checked functions, object counts.

Importing this module loads libvulkan, so the package imports it on first use of a device. Functions that return a
VkResult go through one checked path, which maps failures to errors and lets tests inject them. Functions that return
nothing, vkCmd* among them, are the driver's own entry points, without a wrapper.
"""

from __future__ import annotations

import os
import re
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import DeviceError, DeviceLostError, OutOfMemoryError, ValidationError, VulkanError, remedy
from . import faults, loader

try:
    try:
        import vulkan as _binding
    except OSError:
        with loader.in_usual_places():
            import vulkan as _binding
except OSError:
    raise DeviceError(f"vkarray: {remedy('loader')}") from None
except ImportError as missing:
    raise DeviceError(f"vkarray: the package `vulkan` cannot be imported ({missing}); `pip install vulkan`.") from None

vk: Any = _binding
ffi: Any = vk.ffi
NULL: Any = ffi.NULL
WHOLE_SIZE = 2**64 - 1  # the binding's VK_WHOLE_SIZE is -1, which overflows a VkDeviceSize
VERSION_1_2, VERSION_1_3 = 1 << 22 | 2 << 12, 1 << 22 | 3 << 12
# Constants that the binding lacks.
BUFFER_USAGE_SHADER_DEVICE_ADDRESS, MEMORY_ALLOCATE_DEVICE_ADDRESS = 0x20000, 0x2

_kept: weakref.WeakKeyDictionary[Any, tuple[Any, ...]] = weakref.WeakKeyDictionary()
_structure_types: dict[str, int] = {}


def _structure_type(name: str) -> int:
    """VkBufferCreateInfo -> VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO; -1 for a structure without sType."""
    if name not in _structure_types:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=\d+$)", "_", name[2:]).upper()
        words = re.sub(r"VULKAN_?(\d)(\d)", r"VULKAN_\1_\2", words)
        words = re.sub(r"MAINTENANCE(\d)", r"MAINTENANCE_\1", words)
        has_type = any(field == "sType" for field, _ in ffi.typeof(name).fields)
        _structure_types[name] = getattr(vk, "VK_STRUCTURE_TYPE_" + words) if has_type else -1
    return _structure_types[name]


def struct(name: str, **fields: Any) -> Any:
    """A pointer to a new structure with its sType set; it keeps alive whatever its fields point to."""
    structure_type = _structure_type(name)
    pointer = ffi.new(name + "*", fields if structure_type < 0 else {"sType": structure_type, **fields})
    _kept[pointer] = tuple(fields.values())
    return pointer


def array(ctype: str, values: Sequence[Any]) -> Any:
    """A new C array; it keeps its elements' cdata alive."""
    result = ffi.new(f"{ctype}[]", values)
    _kept[result] = tuple(values)
    return result


def text_array(names: Sequence[str]) -> Any:
    """A new array of C strings."""
    return array("char*", [ffi.new("char[]", name.encode()) for name in names])


def text(chars: Any) -> str:
    return ffi.string(chars).decode("utf-8", "replace")


def version(number: int) -> str:
    return f"{number >> 22 & 0x7F}.{number >> 12 & 0x3FF}.{number & 0xFFF}"


# --- results -------------------------------------------------------------------------------------------------------

_RESULT_NAMES: dict[int, str] = dict(ffi.typeof("VkResult").elements)
OUT_OF_MEMORY = frozenset((vk.VK_ERROR_OUT_OF_HOST_MEMORY, vk.VK_ERROR_OUT_OF_DEVICE_MEMORY))


def result_name(result: int) -> str:
    return _RESULT_NAMES.get(result, f"VkResult {result}")


def failure(function: str, result: int, lost: Callable[[str], DeviceLostError] | None = None) -> Exception:
    """The error for a failed call; ``lost`` makes the one for a lost device."""
    name = result_name(result)
    if result == vk.VK_ERROR_DEVICE_LOST:
        return lost(function) if lost else DeviceLostError(f"{function}: the device was lost ({name}).")
    if result in OUT_OF_MEMORY:
        return OutOfMemoryError(f"{function}: out of memory ({name}).")
    return VulkanError(f"{function} failed with {name}.", name)


# --- functions -----------------------------------------------------------------------------------------------------

created: Counter[str] = Counter()
released: Counter[str] = Counter()

_FREED_ARRAYS = {"vkFreeCommandBuffers": ("CommandBuffer", 2), "vkFreeDescriptorSets": ("DescriptorSet", 2)}


def live_objects() -> dict[str, int]:
    """Vulkan objects created and not yet released, by kind; kinds with none are left out."""
    return {kind: count for kind in created if (count := created[kind] - released[kind])}


# The kind of objects that a function makes, and how many it makes for its arguments.
_MAKERS: dict[str, tuple[str, Callable[[tuple[Any, ...]], int]]] = {
    "vkAllocateCommandBuffers": ("CommandBuffer", lambda arguments: arguments[1].commandBufferCount),
    "vkAllocateDescriptorSets": ("DescriptorSet", lambda arguments: arguments[1].descriptorSetCount),
    "vkAllocateMemory": ("DeviceMemory", lambda arguments: 1),
    "vkCreateComputePipelines": ("Pipeline", lambda arguments: arguments[2]),
}


def _checked(
    name: str, function: Any, lost: Callable[[str], DeviceLostError] | None, messages: list[str]
) -> Callable[..., int]:
    match = re.fullmatch(r"vkCreate(\w+?)(EXT|KHR)?", name)
    kind, count = _MAKERS.get(name) or ((match[1], lambda arguments: 1) if match else ("", None))
    active = faults._faults

    def call(*arguments: Any) -> int:
        result = faults.injected(name) if active else None
        if result is None:
            result = function(*arguments)
        if result < 0:
            raise failure(name, result, lost)
        if count:
            made = count(arguments)
            created[kind] += made  # one step: a finalizer in the middle may make objects too
        if messages:
            raise_messages(messages)
        return result

    call.__name__ = name
    return call


def _releasing(name: str, function: Any) -> Callable[..., None]:
    match = re.fullmatch(r"vk(?:Destroy|Free)(\w+?)(EXT|KHR)?", name)
    assert match
    kind, position = _FREED_ARRAYS.get(name) or ({"Memory": "DeviceMemory"}.get(match[1], match[1]), -1)

    def call(*arguments: Any) -> None:
        function(*arguments)
        if position >= 0:
            released[kind] += arguments[position]
        elif arguments[-2] != NULL:
            released[kind] += 1

    return call


# What handles were made from, by the cell of each. A plain reference would not do: of a cycle the garbage collector ends
# the oldest objects first, and a device would go before the memory of which the host has a view.
_owners: dict[Any, Any] = {}


def owned(
    kind: str,
    create: Callable[[Any], object],
    release: Callable[..., None],
    owner: Any = None,
    takes_owner: bool = True,
) -> Any:
    """A cell with a new handle of this kind, which goes back to the driver with the last reference to the cell.

    `create` has the driver write the handle into the cell, so there is no moment at which Ctrl-C could lose it. `owner` is
    the cell of the handle that it is made from, which stays as long; `release` destroys it, and gets the owner's handle too
    where it takes that. A process that was forked later releases nothing: its handles are its parent's.
    """

    def give_back(
        cell: Any, null: Any = NULL, process: int = os.getpid(), current: Callable[[], int] = os.getpid,
        owners: dict[Any, Any] = _owners,
    ) -> None:  # fmt: skip
        if cell[0] != null and current() == process:
            release(*((owners[cell][0],) if takes_owner and cell in owners else ()), cell[0], null)
        owners.pop(cell, None)

    inner = ffi.new(kind + "*")
    cell = ffi.gc(inner, give_back)
    try:
        if owner is not None:
            _owners[inner] = owner
        create(cell)
    except BaseException:  # neither stays as long as the error and its traceback
        ffi.release(cell)
        owner = None
        raise
    return cell


def raise_messages(messages: list[str]) -> None:
    """Raise what the validation layers have said since the last call, if anything."""
    if messages:
        text_of_all = "\n".join(messages)
        messages.clear()
        raise ValidationError(f"Vulkan validation layers: {text_of_all}")


class Functions:
    """Vulkan functions as attributes, each looked up on first use through ``load`` (a vkGet*ProcAddr)."""

    def __init__(
        self,
        load: Callable[[bytes], Any],
        messages: list[str] | None = None,
        lost: Callable[[str], DeviceLostError] | None = None,
    ) -> None:
        self._load, self._lost = load, lost
        self._messages = [] if messages is None else messages

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("vk"):
            raise AttributeError(name)
        pointer = self._load(name.encode())
        if pointer == NULL:
            raise VulkanError(f"{name} is not offered by this driver although its extension or version is.")
        ctype = ffi.typeof("PFN_" + name)
        function = ffi.cast(ctype, pointer)
        if name.startswith(("vkDestroy", "vkFree")):  # among them one that returns a result, always VK_SUCCESS
            function = _releasing(name, function)
        elif ctype.result.cname.endswith("VkResult"):  # some versions of cffi say "enum VkResult"
            function = _checked(name, function, self._lost, self._messages)
        setattr(self, name, function)
        return function


def global_functions() -> Functions:
    return Functions(lambda name: vk.lib.vkGetInstanceProcAddr(NULL, name))


def instance_functions(instance: Any, messages: list[str]) -> Functions:
    return Functions(lambda name: vk.lib.vkGetInstanceProcAddr(instance, name), messages)


def device_functions(instance: Functions, device: Any, lost: Callable[[str], DeviceLostError] | None) -> Functions:
    return Functions(lambda name: instance.vkGetDeviceProcAddr(device, name), instance._messages, lost)
