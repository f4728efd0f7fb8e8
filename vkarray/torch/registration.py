"""The moment when PyTorch gets the device `vulkan`: at import, or on request where that would take CUDA's gradients away.

PyTorch's autograd serves one accelerator in a process. `at::accelerator::getAccelerator` answers PrivateUse1, the key of devices
such as this one, from the moment that it has a name, and nothing takes the name away again. `Node::stream` then finds no stream
for operators on CUDA, and their backward ends with "opt_ready_stream && opt_parent_stream INTERNAL ASSERT FAILED". Without the
name it is the other way round. So a process can train on one of both, and its user says which.
"""

from __future__ import annotations

import functools
import sys
import warnings
from typing import Any

import torch

from . import accelerator, device, distributed, packages
from .tensors import conversions

_kept: list[Any] = []  # PyTorch keeps plain pointers to what it is given


def register_device() -> None:
    """Give PyTorch the device `vulkan`, as its accelerator; for good, and without effect the second time.

    Importing `vkarray.torch` does it, except in processes with another accelerator such as CUDA: there it is a choice. CUDA's
    forward passes and copies go on afterwards, its backward passes raise RuntimeError, and `torch.accelerator` is `vulkan`.
    Raises RuntimeError where another package has named its device before: PyTorch has room for one.
    """
    if _kept:
        return
    torch.utils.rename_privateuse1_backend("vulkan")
    torch._register_device_module("vulkan", device.MODULE)
    sys.modules["torch.vulkan"] = device.MODULE
    _kept.extend((device.Hook(), device.Guard()))
    torch._C._acc.register_python_privateuseone_hook(_kept[0])
    torch._C._acc.register_python_privateuseone_device_guard(_kept[1])
    accelerator.install()
    conversions.install()
    device.count_in_cpp()
    distributed.install()
    packages.install()
    torch.autograd._engine_run_backward = _run_backward


# PyTorch starts threads for devices in the first backward pass of the process, for the devices that it knows then; later ones
# have none, and their backward passes end with "device_ready_queues_.size() INTERNAL ASSERT FAILED".
_run_in_threads = torch.autograd._engine_run_backward


@functools.wraps(_run_in_threads)
def _run_backward(*args: Any, **kwargs: Any) -> Any:
    with torch.autograd.set_multithreading_enabled(False):
        return _run_in_threads(*args, **kwargs)


def _other_accelerator() -> str | None:
    """The type of an accelerator that PyTorch has and finds on this machine."""
    found = torch.accelerator.current_accelerator()
    if found is None or found == torch.device(device.PLACES[0].name.type) or not torch.accelerator.device_count():
        return None
    kind: str = found.type
    return kind


def _refuse(op: Any, *args: Any, **kwargs: Any) -> Any:
    if _kept:
        raise RuntimeError(
            f'{op}: got a torch.device("vulkan") that was made before vkarray.torch named its device, and means another one. '
            f"Make it after the import."
        )
    raise RuntimeError(
        f"{op}: the device vulkan was not made, since PyTorch can compute gradients on one accelerator in a process, and "
        f"found another. Call vkarray.torch.register_device() to use vulkan instead."
    )


# What PyTorch takes "vulkan" for until then: a device of its own, which its packages are not built with.
_in_tree = torch.library.Library("_", "IMPL")
_in_tree.fallback(_refuse, "Vulkan")

_other = _other_accelerator()
if _other is None:
    register_device()
else:
    warnings.warn(
        f"vkarray.torch: PyTorch has {_other} here, and computes gradients on one accelerator in a process: with the device "
        f"vulkan, backward passes on {_other} would raise 'opt_ready_stream && opt_parent_stream INTERNAL ASSERT FAILED'. So "
        f"{_other} stays as it is. Call vkarray.torch.register_device() to use vulkan instead, or hide {_other} from PyTorch "
        f"(CUDA_VISIBLE_DEVICES= in the environment).",
        stacklevel=2,
    )
