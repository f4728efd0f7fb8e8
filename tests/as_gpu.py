"""A plugin of pytest under which a CPU driver passes for a GPU: its kernels, uniform buffers and silent batches.

`pytest -p as_gpu` in the folder of the tests. It shows faults of what only GPUs run, not how they compute.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from vkarray._vk.physical_device import PhysicalDevice

_made = PhysicalDevice.__init__


def _pose(self: Any, *arguments: Any, **options: Any) -> None:
    _made(self, *arguments, **options)
    self.limits = dataclasses.replace(self.limits, is_cpu=False)


PhysicalDevice.__init__ = _pose  # type: ignore[method-assign]
