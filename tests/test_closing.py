"""Closing everything while other threads open devices, allocate, compute, wait and look at memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import faulthandler, gc, threading, time
import numpy as np
import vkarray as vx
from vkarray import _vk
from vkarray._vk import api
from vkarray._vk.device import close_all

faulthandler.enable()
stop, done, unclear = threading.Event(), dict.fromkeys(("open", "enumerate", "allocate", "compute", "wait", "view"), 0), []

def values():
    return vx.asarray(np.arange(64, dtype=np.float32))

def allocate():
    device = _vk.open_device()
    kept = [device.allocate(size) for size in (100, 5000, 1 << 20)]
    device.empty_cache()

def compute():
    x = values()
    assert float((x + x)[3]) == 6

def wait():
    (values() + 1).device.synchronize()

def view():
    x = values()
    if x.device.mapped(x._buffer) is not None:
        seen = np.from_dlpack(x, device="cpu", copy=False)
        time.sleep(1e-3)
        seen += 1
        assert seen[3] == 4

def repeat(name, use):
    while not stop.is_set():
        try:
            use()
            done[name] += 1
        except vx.DeviceError as error:
            if "was closed" not in str(error):
                unclear.append(repr(error))
        except BaseException as error:
            unclear.append(repr(error))

uses = dict(zip(done, (_vk.open_device, _vk.enumerate_devices, allocate, compute, wait, view)))
threads = [threading.Thread(target=repeat, args=item) for item in uses.items()]
for thread in threads:
    thread.start()
for _ in range(25):
    time.sleep(0.01)
    close_all()
stop.set()
for thread in threads:
    thread.join()
assert not unclear, unclear[:5]
assert all(done.values()), done
close_all()
gc.collect()
assert not api.live_objects(), api.live_objects()
print("closed")
"""


def test_closing_while_threads_open_and_use_devices():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout, done.returncode) == ("closed\n", 0), done.stderr[-3000:]


LATE_THREAD = """
import gc, threading
import vkarray as vx
from vkarray import _vk
from vkarray._vk import api, instance
from vkarray._vk.device import close_all

before = instance._libraries()
_vk.enumerate_devices()
drivers = instance._libraries() - before
assert drivers
computed, closed = threading.Event(), threading.Event()

def work():
    assert float(vx.sum(vx.ones((4,)))) == 4
    computed.set()
    closed.wait()

thread = threading.Thread(target=work, daemon=True)
thread.start()
computed.wait()
close_all()
gc.collect()
assert not api.live_objects(), api.live_objects()
assert drivers <= instance._libraries(), drivers - instance._libraries()
closed.set()
thread.join()
print("closed")
"""


@pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="this system does not say which libraries a process has"
)
def test_thread_that_used_a_device_ends_after_everything_is_closed():
    """Some drivers run code of theirs at its end."""
    done = subprocess.run([sys.executable, "-c", LATE_THREAD], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("closed\n", 0), done.stderr
