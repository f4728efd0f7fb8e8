"""What first calls take in a process, in lines of JSON. `vkarray bench` starts it, with folders for the driver's caches.

Times leave out what making SPIR-V takes. The driver's share is the processor time of all threads but the one that calls: there
pipelines are made, and some drivers compile in threads of their own, at the first dispatch.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import vkarray as vx
from vkarray._vk import pipeline_cache, ready
from vkarray._vk.device import close_all
from vkarray.cache import DiskCache
from vkarray.command import examples
from vkarray.shaders import compiler

N = 100  # rows and columns of the matrices of ordinary calls
# Where drivers keep what they compiled: those of Mesa, and NVIDIA's.
DRIVER_FOLDERS = ("MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH")


class _Elsewhere(DiskCache):
    """Entries of pipelines and of what devices take of modules in a folder of their own, while SPIR-V is where it always is."""

    folder = Path()

    @property
    def directory(self) -> Path:
        return self.folder / self.kind


class Clock:
    """Seconds, processor time, and what of it is the driver's, since the clock was made."""

    def __init__(self) -> None:
        self.left_out, self.spirv = [0.0, 0.0], 0
        self.pipelines, self.begun = pipeline_cache.disk.compiles, self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        return time.perf_counter(), time.process_time(), time.thread_time()

    @contextlib.contextmanager
    def without_compiling(self) -> Iterator[None]:
        """Leave out of the times what the compiler of GLSL takes meanwhile."""
        compile_glsl = compiler.compile_glsl

        def timed(*arguments: Any) -> bytes:
            begun = self._now()
            try:
                return compile_glsl(*arguments)
            finally:
                self.spirv += 1
                for which, now in enumerate(self._now()[:2]):
                    self.left_out[which] += now - begun[which]

        with mock.patch.object(compiler, "compile_glsl", timed):
            yield

    def told(self) -> dict[str, Any]:
        """What was measured so far."""
        wall, process, thread = (now - begun for now, begun in zip(self._now(), self.begun, strict=True))
        return {
            "seconds": wall - self.left_out[0],
            "processor": process - self.left_out[1],
            "driver": max(process - thread, 0.0),
            "pipelines": pipeline_cache.disk.compiles - self.pipelines,
            "compiled": self.spirv,
        }


def _opened(folder: Path) -> None:
    """Open the device anew, with the caches of a folder."""
    close_all()
    gc.collect()
    _Elsewhere.folder = folder
    os.environ.update(dict.fromkeys(DRIVER_FOLDERS, str(folder)))
    vx.asarray(np.zeros(3, dtype=np.float32))


def ordinary(folder: Path) -> Iterator[dict[str, Any]]:
    """The ordinary calls, one after the other."""
    _opened(folder)
    x = examples.Inputs.of(vx.asarray, N)
    calls = []
    for name, function in examples.ORDINARY.items():
        clock = Clock()
        with clock.without_compiling():
            found = np.asarray(function(vx, x))
        calls.append((name, clock.told(), found))
    # Not before: threads of NumPy's linear algebra take processor time for a while after each of its calls.
    for name, told, found in calls:
        yield {"name": name, **told, "right": examples.is_right(name, found, N)}


def namespace(folder: Path) -> Iterator[dict[str, Any]]:
    """Each public function by its example, with a device opened for it: with empty caches, and again with what they keep."""
    for number, (space, name) in enumerate(examples.functions()):
        own = folder / str(number)
        own.mkdir()
        for code in examples.codes(space, name):
            first, shown = _session(own, code)
            if shown is not None and not first["pipelines"]:
                break
            if shown is not None:
                later, again = _session(own, code)
                label = name if space == "vkarray" else f"{space}.{name}"
                yield {"name": label, **first, "later": later, "right": shown == again}
                break


def _session(folder: Path, code: str) -> tuple[dict[str, Any], str | None]:
    """What the code of an example took and showed; None where it raised."""
    _opened(folder)
    vx.random.seed(5)
    clock, shown = Clock(), None
    with clock.without_compiling(), contextlib.suppress(Exception):
        shown = examples.session(code)
    told = clock.told()
    close_all()  # which saves the pipelines
    return told, shown


def main() -> None:
    """Measure what the command line names, `ordinary` or `namespace`, with caches in a folder."""
    what, folder = sys.argv[1], sys.argv[2]
    pipeline_cache.disk = _Elsewhere("pipelines", pipeline_cache.disk.is_whole)
    ready.CACHE = _Elsewhere("modules", ready.CACHE.is_whole)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is printed by others must not come between the lines of JSON
    for told in {"ordinary": ordinary, "namespace": namespace}[what](Path(folder)):
        print(json.dumps(told), file=out, flush=True)


if __name__ == "__main__":
    main()
