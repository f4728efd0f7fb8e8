"""Which kernels vkarray takes on a device that is described in a file, and with which constants.

    python record.py DEVICE OUT SPIRV CALLS

A CPU driver passes for that device, with its features and limits. No pipeline is made and nothing is dispatched, so arrays
hold anything. CALLS names families of calls.py. Lines of OUT: of a kernel, (label, digest of the SPIR-V, specialization,
the size of subgroups that it asks for, the first call that takes it); of a call that raises, what it says.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vkarray._vk import open_device
from vkarray._vk.device import Device
from vkarray._vk.physical_device import PhysicalDevice
from vkarray._vk.queue import Queue
from vkarray._vk.subgroups import SubgroupSizes
from vkarray.errors import FeatureError
from vkarray.ops import utility

SECONDS = 20  # for a call at most: loops may never end on what is not computed
# What stays that of the driver which passes for the device: how the host reaches memory, and how time is taken.
_OWN_LIMITS = ("host_memory", "max_memory_allocation_size", "timestamp_period", "timestamp_valid_bits")
_OWN_FEATURES = {"hostVisibleDeviceMemory", "externalMemoryHost", "memoryBudget", "timestamps", "calibratedTimestamps"}


def keep(folder: Path, code: bytes) -> str:
    """Write a module of SPIR-V below its digest, which is returned."""
    digest = hashlib.sha256(code).hexdigest()[:24]
    path = folder / f"{digest}.spv"
    if not path.exists():
        begun = path.with_suffix(f".{os.getpid()}")  # never half a module under the right name
        begun.write_bytes(code)
        begun.replace(path)
    return digest


def limits_of(own: Any, described: dict[str, Any]) -> Any:
    """The limits that a description has, in place of a device's own."""
    given = {name: value for name, value in described.items() if name not in _OWN_LIMITS}
    for name in ("max_workgroup_size", "max_workgroup_count"):
        given[name] = tuple(given[name])
    given["subgroups"] = SubgroupSizes(*given["subgroups"])._replace(required=tuple(given["subgroups"][2]))
    given["subgroup_operations"] = frozenset(given["subgroup_operations"])
    given["cooperative_matrices"] = frozenset(map(tuple, given["cooperative_matrices"]))
    return dataclasses.replace(own, **given)


def pose(described: dict[str, Any]) -> None:
    """From now on every device passes for the one described, and does nothing."""
    init, create = PhysicalDevice.__init__, Device._create

    def posed(self: Any, *arguments: Any, **options: Any) -> None:
        init(self, *arguments, **options)
        self.own_features = self.features
        self.features = frozenset(described["features"]) - _OWN_FEATURES | self.features & _OWN_FEATURES
        self.limits = limits_of(self.limits, described["limits"])

    def created(self: Any) -> None:
        self.features = self.physical.own_features
        create(self)
        self.features = self.physical.features
        self.functions.vkCreateComputePipelines = self.functions_aside.vkCreateComputePipelines = lambda *_: 0

    PhysicalDevice.__init__, Device._create = posed, created  # type: ignore[method-assign]
    Queue.dispatch = Queue.repeat = Queue.replay = lambda *_: None  # type: ignore[method-assign, assignment]
    takes_all = utility.all

    def all_hold(*arguments: Any, **options: Any) -> Any:
        """What functions ask of a whole array before they go on, such as whether all numbers are finite."""
        found = takes_all(*arguments, **options)
        return found if options else True

    utility.all = all_hold  # type: ignore[assignment]


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in a block that takes longer."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds:g} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # and again each second, where the first was swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Do the calls."""
    device, out, spirv = map(Path, sys.argv[1:4])
    pose(json.loads(device.read_text()))
    seen: set[tuple[str, tuple[tuple[int, int], ...], int]] = set()
    make, call, count = Device.kernel, "", 0
    with out.with_suffix(".new").open("w") as file:

        def kernel(
            self: Any, code: bytes, name: str, specialization: tuple[tuple[int, int], ...] = (), subgroup: int = 0
        ) -> Any:
            made = make(self, code, name, specialization, subgroup)
            key = keep(spirv, code), specialization, made.subgroup
            if key not in seen:
                seen.add(key)
                print(json.dumps([name, *key, call]), file=file)
            return made

        Device.kernel = kernel  # type: ignore[method-assign]
        import calls

        open_device()
        for family in getattr(calls, sys.argv[4]):
            for call, function in family():
                count += 1
                try:
                    with limited(SECONDS):
                        function()
                except FeatureError as error:
                    print(json.dumps({"call": call, "refused": str(error)}), file=file)
                except Exception as error:
                    print(json.dumps({"call": call, "raised": f"{type(error).__name__}: {error}"[:300]}), file=file)
        print(json.dumps({"calls": count}), file=file)
    out.with_suffix(".new").replace(out)
    os._exit(0)


if __name__ == "__main__":
    main()
