"""What the tests of the Vulkan layer share: a kernel, its compilation, and moving NumPy arrays to and fro."""

import contextlib
import functools
import gc
import os
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

from vkarray import _vk, configuration
from vkarray._vk import api, device

HEAD = """#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
"""

# out[i] = 3 * a[i] + b[i] on n words
COMBINE = (
    HEAD
    + """
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Words { uint data[]; };
layout(push_constant) uniform Push { Words a; Words b; Words target; uint n; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) target.data[i] = 3 * a.data[i] + b.data[i];
}
"""
)


@functools.cache
def compile_glsl(source: str, target: str = "vulkan1.2") -> bytes:
    """SPIR-V of a compute shader."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "shader.spv")
        Path(folder, "shader.comp").write_text(source)
        done = subprocess.run(
            ["glslangValidator", "--target-env", target, "-V", f"{folder}/shader.comp", "-o", str(path)],
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
        return path.read_bytes()


class Combine:
    """The kernel above on one device: ``run(a, b, target)``."""

    def __init__(self, device):
        self.device = device
        self.kernel = device.kernel(compile_glsl(COMBINE), "combine")

    def run(self, a, b, target, n=None):
        n = target.nbytes // 4 if n is None else n
        push = struct.pack("<QQQI", a.address, b.address, target.address, n)
        self.device.dispatch(self.kernel, push, (-(-n // 64), 1, 1), (a, b), (target,))


def upload(device, values):
    """A new buffer with a NumPy array's bytes."""
    values = np.ascontiguousarray(values)
    buffer = device.allocate(values.nbytes)
    device.upload(buffer, 0, values)
    return buffer


def download(device, buffer, dtype=np.uint32):
    out = np.empty(buffer.nbytes // np.dtype(dtype).itemsize, dtype)
    device.download(buffer, 0, out)
    return out


def words(count, seed=0):
    return np.random.default_rng(seed).integers(0, 1000, count, dtype=np.uint32)


@contextlib.contextmanager
def device_of_its_own(disable, check_barriers=False, uncounted=(), profile=()):
    """A device that no other test has opened, by what it does without; everything it made must be released when it closes.

    But for the `uncounted` kinds of objects.
    """
    _vk.enumerate_devices()  # the instance is made once and stays
    for other in list(device._opened):
        other.await_pipelines()  # that threads make
    gc.collect()  # or other devices' objects are released meanwhile
    before = api.live_objects()
    # Tests of guards and checks turn those on themselves.
    profile = (*configuration.current().profile, *profile)
    with configuration.config(disable=disable, profile=profile, guard=False, check_barriers=check_barriers):
        opened = _vk.open_device()
        yield opened
    opened.close()
    after = {kind: count for kind, count in api.live_objects().items() if kind not in uncounted}
    left = {kind: count for kind, count in after.items() if count > before.get(kind, 0)}
    assert not left, f"Vulkan objects were not released when the device closed: {left}"


def combine_in_threads(device, count, steps, looks):
    """Six threads, each with a chain of steps on that many words, which looks at those for which `looks(seed, step)`."""
    combine, failures = Combine(device), []

    def work(seed):
        try:
            values = words(count, seed)
            current, expected = upload(device, values), values
            for step in range(steps):
                target = device.allocate(4 * count)
                combine.run(current, current, target)
                current, expected = target, 4 * expected
                if looks(seed, step):
                    assert (download(device, current) == expected).all()
            assert (download(device, current) == expected).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess:
    """Run code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )
