"""How fast arrays move from one device to another by `x.to_device`, in both directions.

    python benchmarks/between_devices.py [--megabytes 16 256 1024] [--rounds 5]

The first two devices that vkarray sees take part. On a machine with one card, a driver that is listed twice in VK_DRIVER_FILES (the
second time by a copy of its file) gives two devices of that card, which share no memory as far as vkarray knows. A time is that
of the copy until a number of its last elements has been read on the other device. Values are compared with the host's.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time

import numpy as np

import vkarray as vx


def seconds(x: vx.VkArray, device: object, rounds: int) -> tuple[vx.VkArray, list[float]]:
    """The array on the other device, and how long each copy took after a first one."""
    found = []
    for _ in range(rounds + 1):
        float(vx.sum(x[:8]))  # the device has done all that came before
        start = time.perf_counter()
        moved = x.to_device(device)
        float(vx.sum(moved[-8:]))
        found.append(time.perf_counter() - start)
    return moved, found[1:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[16, 256, 1024], help="sizes, in MiB")
    parser.add_argument("--rounds", type=int, default=5, help="copies that are timed, each way")
    given = parser.parse_args()
    devices = vx.__array_namespace_info__().devices()
    if len(devices) < 2:
        print(f"expected two devices, got {devices}: list a driver twice in VK_DRIVER_FILES.", file=sys.stderr)
        return 2
    print(
        f"{devices[0].name} and {devices[1].name}\n\n| MiB | GB/s there, median (least) | GB/s back, median (least) |"
    )
    print("| ---: | ---: | ---: |")
    for size in given.megabytes:
        host = np.random.default_rng(size).random(size << 18, dtype=np.float32)
        there, first = seconds(vx.asarray(host, device=devices[0]), devices[1], given.rounds)
        back, second = seconds(there, devices[0], given.rounds)
        if not all(np.array_equal(np.asarray(one), host) for one in (there, back)):
            print(f"{size} MiB: the values differ.", file=sys.stderr)
            return 1
        shown = [
            f"{host.nbytes / statistics.median(times) / 1e9:.1f} ({host.nbytes / max(times) / 1e9:.1f})"
            for times in (first, second)
        ]
        print(f"| {size} | {shown[0]} | {shown[1]} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
