"""Inside the system: makes pipelines with the one driver there is, and tells what it says of them.

The first line written describes the device. Then each line read is (label, digest of the SPIR-V, specialization, the size of
subgroups), and each line written tells how it went.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
import types
import weakref
from pathlib import Path
from typing import Any

from vkarray import configuration
from vkarray._vk import features, physical_device
from vkarray._vk.api import NULL, ffi, struct, text
from vkarray._vk.descriptors import Descriptors
from vkarray._vk.device import Device, Gate
from vkarray._vk.kernel import Kernel
from vkarray.errors import FeatureError, VkArrayError

_EXTENSION, _FEATURE = "VK_KHR_pipeline_executable_properties", "pipelineExecutableInfo"
_FEATURES_TYPE, _PROPERTIES_TYPE, _STATISTIC_TYPE = 1000269000, 1000269002, 1000269004
_CAPTURE_STATISTICS = 0x40


class Compiler(Device):
    """A device that makes kernels and runs none: it has neither memory nor a queue."""

    def __init__(self, physical: physical_device.PhysicalDevice) -> None:
        self.physical, self.description, self.name = physical, physical.description, physical.description.name
        self.features, self.limits = physical.features, physical.limits
        self.gate, self.kernels = Gate(), weakref.WeakSet()
        self._create()
        self.descriptors = Descriptors(self)
        self.pipeline_cache: Any = types.SimpleNamespace(handle=NULL)
        self.seconds = [0.0, 0.0]  # that the last pipeline took: of the wall, of the processor
        self.tells = _FEATURE in self.features
        self._make, self.functions.vkCreateComputePipelines = self.functions.vkCreateComputePipelines, self._timed

    def makes_aside(self) -> bool:
        return False  # each pipeline is timed

    def _timed(self, handle: Any, cache: Any, count: int, create: Any, *rest: Any) -> Any:
        create[0].flags |= _CAPTURE_STATISTICS * self.tells
        begin = time.perf_counter(), time.process_time()
        try:
            return self._make(handle, cache, count, create, *rest)
        finally:
            self.seconds = [time.perf_counter() - begin[0], time.process_time() - begin[1]]

    def _all(self, function: str, info: Any, record: str, kind: int) -> Any:
        count = ffi.new("uint32_t*")
        getattr(self.functions, function)(self.handle, info, count, NULL)
        found = ffi.new(f"{record}[]", count[0])
        for one in found:
            one.sType = kind
        getattr(self.functions, function)(self.handle, info, count, found)
        return found

    def statistics(self, pipeline: Any) -> list[dict[str, float]]:
        """What the driver tells of each executable of a pipeline, by its names, and the width of its subgroups."""
        if not self.tells:
            return []
        info = struct("VkPipelineInfoKHR", pipeline=pipeline)
        found = []
        for index, executable in enumerate(
            self._all(
                "vkGetPipelineExecutablePropertiesKHR", info, "VkPipelineExecutablePropertiesKHR", _PROPERTIES_TYPE
            )
        ):
            one = struct("VkPipelineExecutableInfoKHR", pipeline=pipeline, executableIndex=index)
            values = self._all(
                "vkGetPipelineExecutableStatisticsKHR", one, "VkPipelineExecutableStatisticKHR", _STATISTIC_TYPE
            )
            numbers = {
                text(value.name): getattr(value.value, ("b32", "i64", "u64", "f64")[value.format]) for value in values
            }
            found.append({"Subgroup": executable.subgroupSize, **numbers})
        return found

    def answer(self, label: str, digest: str, specialization: list[list[int]], subgroup: int) -> dict[str, Any]:
        """How one pipeline went."""
        self.seconds = [0.0, 0.0]
        try:
            code = Path("/spirv", f"{digest}.spv").read_bytes()
            kernel = Kernel(self, code, label, tuple(map(tuple, specialization)), subgroup)  # type: ignore[arg-type]
            made: dict[str, Any] = {"outcome": "compiled", "executables": self.statistics(kernel.pipeline)}
            kernel.destroy()
        except FeatureError as error:
            made = {"outcome": "refused", "why": ", ".join(error.features), "error": str(error)}
        except VkArrayError as error:
            made = {"outcome": "failed", "why": f"{type(error).__name__}: {error}"}
        return {**made, "seconds": [round(one, 4) for one in self.seconds]}


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value), key=str)
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def main() -> None:
    """Answer until there is nothing to read."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # drivers print
    features.EXTENSION_FEATURES[_EXTENSION] = (_FEATURES_TYPE, (_FEATURE,))
    found = physical_device.physical_devices(configuration.current())
    device = Compiler(physical_device.choose(found, None))
    description = {
        "name": device.name, "driver": device.description.driver, "api_version": device.description.api_version,
        "features": plain(device.features - {_FEATURE}), "limits": plain(device.limits),
    }  # fmt: skip
    print(json.dumps(description), file=answers)
    for line in sys.stdin:
        print(json.dumps(device.answer(*json.loads(line))), file=answers)
    answers.flush()
    os._exit(0)  # a driver without hardware need not survive being closed


if __name__ == "__main__":
    main()
