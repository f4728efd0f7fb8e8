"""GPU timestamps and the lines of VKARRAY_DEBUG=2."""

import re
import time

import pytest
from vulkan_program import Combine, upload

from vkarray import _vk, configuration
from vkarray.errors import FeatureError


def test_each_dispatch_has_a_time(device):
    if "timestamps" not in device.features:
        pytest.skip("the device takes no timestamps")
    combine, large, small = Combine(device), device.allocate(1 << 23), upload(device, bytes(256))
    combine.kernel.pace = None  # on slow devices the large dispatch would be cut, into several with times of their own
    combine.run(small, small, small)
    begin = time.perf_counter()
    with device.timestamps() as times:
        combine.run(large, large, large)
        for _ in range(300):
            combine.run(small, small, small)
    elapsed = time.perf_counter() - begin
    combine.run(small, small, small)
    assert [name for name, _ in times] == ["combine"] * 301, "dispatches are missing, or those outside are counted"
    assert all(seconds >= 0 for _, seconds in times)
    assert 0 < sum(seconds for _, seconds in times) <= elapsed, "the device was busy for longer than the host waited"
    assert times[0][1] > sorted(times[1:], key=lambda entry: entry[1])[150][1], "2 million words took less than 64"


def test_device_without_timestamps_says_so():
    with configuration.config(disable="timestamps"):
        opened = _vk.open_device()
    with pytest.raises(FeatureError, match="takes no timestamps"), opened.timestamps():
        pass


def test_debug_2_prints_a_line_per_dispatch(device, capfd):
    combine, a = Combine(device), upload(device, bytes(1 << 20))
    combine.run(a, a, a)
    with configuration.config(debug=2):
        combine.run(a, a, a)
        combine.run(a, a, a, 64)
    device.synchronize()
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2, lines
    measured = (
        r" +\d+\.\d µs +\d+\.\d GB/s" if "timestamps" in device.features else r" \(the device has no timestamps\)"
    )
    assert re.fullmatch(r"vkarray: combine \(4096, 1, 1\)" + measured, lines[0]), lines[0]
