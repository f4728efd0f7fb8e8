"""What the host has views of stays mapped when the device closes or is lost, and is released with the last view."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

BEGIN = """
import atexit, gc
import numpy as np
import vkarray as vx
from vkarray import _vk
from vkarray._vk import api, faults
from vkarray._vk.device import close_all

def pages(view):
    view[...] = view + 1  # on memory that is gone, this ends the process
    return float(view[-1])

x = vx.asarray(np.arange(1 << 20, dtype=np.float32))
if x.device.mapped(x._buffer) is None:
    print("not mapped")
    raise SystemExit
device = x.device
view = np.from_dlpack(x[2:], device="cpu", copy=False)[::1 << 10]
last = float(view[-1])
"""
WAYS = {
    "close": "device.close()",
    "close all": "close_all()",
    "loss": """
try:
    with faults.inject(-4, "vkQueueSubmit", repeat=True):
        y = x + x
        device.synchronize()
except vx.DeviceLostError:
    pass
assert _vk.open_device() is not device
""",
    "many devices": """
for _ in range(5):
    device.close()
    other = np.from_dlpack(vx.ones((1 << 20,)), device="cpu", copy=False)
    device = _vk.open_device()
close_all()
assert pages(other) == 2.0
del other
""",
}
END = """
device.close()
close_all()
assert pages(view) == last + 1, "the view lost its values"
del x
gc.collect()
assert pages(view) == last + 2
assert api.live_objects() == {"Instance": 1, "Device": 1, "DeviceMemory": 1, "Buffer": 1}, api.live_objects()
del view
gc.collect()
assert api.live_objects() == {}, f"left when the last view is gone: {api.live_objects()}"
print("released")
"""
AT_EXIT = """
atexit.unregister(close_all)

class Late:
    def __init__(self, view): self.view = view
    def __del__(self): print(pages(self.view) - last)

late = Late(view)
late.me = late
atexit.register(lambda: print(pages(view) - last))
atexit.register(close_all)
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False, env=os.environ
    )
    assert done.returncode == 0, f"the process ended with {done.returncode}: {done.stderr}"
    assert not done.stderr
    if done.stdout == "not mapped\n":
        pytest.skip("this device does not map its memory into the host's address space")
    return done.stdout


@pytest.mark.parametrize("way", WAYS)
def test_views_outlive_the_device(way):
    assert run(BEGIN + WAYS[way] + END) == "released\n"


def test_views_at_the_end_of_the_interpreter():
    assert run(BEGIN + AT_EXIT) == "1.0\n2.0\n"


def test_views_in_cycles():
    """The garbage collector ends the oldest objects of a cycle first: not a device before its memory."""
    cycles = """
del view, x, device
class Holder: pass
for turn in range(8):  # the order is another one by turns
    x = vx.ones((1 << 20,)) if turn & 1 else vx.arange(1000)
    holder = Holder()
    holder.view, holder.me = x.device.mapped(x._buffer), holder
    if turn & 2:
        holder.device = x.device
    close_all()
    assert api.live_objects() == {"Instance": 1, "Device": 1, "DeviceMemory": 1, "Buffer": 1}, api.live_objects()
    del x, holder
    gc.collect()
    assert api.live_objects() == {}, api.live_objects()
print("released")
"""
    assert run(BEGIN + cycles) == "released\n"


def test_views_in_a_forked_child():
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork processes")
    fork = """
import os, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of threads, such as the driver's
child = os.fork()
if child:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
else:
    assert float(view[-1]) == last  # the driver decides whether what is written here is its parent's too
    del view, x
    gc.collect()
    os._exit(0)
"""
    assert run(BEGIN + fork + END) == "released\n"
