"""Packages that choose devices from a list of their own: each learns of this device when it is imported, before or after.

A row names a module and what is done with it. Packages that ask PyTorch need no row.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch

from . import device, dynamo, seeds

# -- safetensors ------------------------------------------------------------------------------------------------------


def _is_ours(named: Any) -> bool:
    """Whether a device named to a package is this one: a number is one of the accelerator."""
    if isinstance(named, int):
        return True
    return torch.device(named).type == "vulkan" if isinstance(named, (str, torch.device)) else False


def _safetensors(module: Any) -> None:
    """Files are opened on the host, and tensors move when they are read."""
    original = module.safe_open

    class Slice:
        def __init__(self, part: Any, where: Any) -> None:
            self._part, self._where = part, where

        def __getitem__(self, key: Any) -> torch.Tensor:
            tensor: torch.Tensor = self._part[key].to(self._where)
            return tensor

        def __getattr__(self, name: str) -> Any:
            return getattr(self._part, name)

    class File:
        def __init__(self, file: Any, where: Any) -> None:
            self._file, self._where = file, where

        def get_tensor(self, name: str) -> torch.Tensor:
            tensor: torch.Tensor = self._file.get_tensor(name).to(self._where)
            return tensor

        def get_slice(self, name: str) -> Slice:
            return Slice(self._file.get_slice(name), self._where)

        def get_tensors(self, *args: Any) -> Any:
            found = self._file.get_tensors(*args)
            return {name: one.to(self._where) for name, one in found.items()} if isinstance(found, dict) else found

        def __enter__(self) -> File:
            self._file.__enter__()
            return self

        def __exit__(self, *error: object) -> Any:
            return self._file.__exit__(*error)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

    def safe_open(filename: Any, framework: str, device: Any = "cpu", **kwargs: Any) -> Any:
        """Open a file of tensors, which come on the device that is named."""
        if framework not in ("pt", "torch", "pytorch") or not _is_ours(device):
            return original(filename, framework, device=device, **kwargs)
        return File(original(filename, framework, device="cpu", **kwargs), torch.device(device))

    for name, other in list(sys.modules.items()):  # those that have taken it by name
        if other is not None and name.split(".")[0] in _TAKE_SAFE_OPEN and other.__dict__.get("safe_open") is original:
            other.safe_open = safe_open  # type: ignore[attr-defined]


_TAKE_SAFE_OPEN = ("safetensors", "transformers", "accelerate", "diffusers", "peft", "timm")


# -- accelerate -------------------------------------------------------------------------------------------------------


def _accelerate_state(module: Any) -> None:
    """`PartialState` chooses the device, and with it `Accelerator` and the Trainer of transformers."""
    original = module.PartialState.default_device.fget

    def default_device(self: Any) -> torch.device:
        found: torch.device = original(self)
        return torch.device("vulkan") if found.type == "cpu" and device.is_available() else found

    module.PartialState.default_device = property(default_device)


def _accelerate_modeling(module: Any) -> None:
    """`device_map="auto"` asks how much memory there is, by the numbers of devices."""
    original, scaler = module.get_max_memory, module.get_grad_scaler

    def get_max_memory(max_memory: Any = None) -> Any:
        found = original(max_memory)
        if max_memory is None and not any(isinstance(one, int) for one in found):
            ours = {index: torch.vulkan.mem_get_info(index)[0] for index in range(device.device_count())}
            found = {**ours, **found}
        return found

    def get_grad_scaler(distributed_type: Any = None, **kwargs: Any) -> Any:
        made = scaler(distributed_type, **kwargs)
        return torch.amp.GradScaler("vulkan", **kwargs) if made._device == "cuda" and device.is_available() else made

    module.get_max_memory, module.get_grad_scaler = get_max_memory, get_grad_scaler


def _accelerate_accelerator(module: Any) -> None:
    """`Accelerator` scales losses of float16 on devices of a list. It is made without, and gets its scaler afterwards."""
    kind, states = module.Accelerator, module.AcceleratorState
    original, signature = kind.__init__, inspect.signature(kind.__init__)

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs)
        before = states._shared_state.get("_mixed_precision")
        asked = given.arguments.get("mixed_precision") or before or os.environ.get("ACCELERATE_MIXED_PRECISION")
        if str(asked) != "fp16" or not device.is_available():
            original(self, *args, **kwargs)
            return
        given.arguments["mixed_precision"] = None if before else "no"
        if before:
            states._shared_state["_mixed_precision"] = "no"
        try:
            original(*given.args, **given.kwargs)
        finally:
            if before:
                states._shared_state["_mixed_precision"] = before
        states._shared_state["_mixed_precision"] = "fp16"
        if self.device.type != "cpu":
            handler = self.scaler_handler
            self.native_amp = True
            self.scaler = torch.amp.GradScaler(self.device.type, **(handler.to_kwargs() if handler is not None else {}))

    kind.__init__ = __init__


# -- transformers -----------------------------------------------------------------------------------------------------


def _training_arguments(module: Any) -> None:
    """The Trainer's device where it is in one process."""
    kind = module.TrainingArguments
    original = kind.__dict__["_setup_devices"]

    def setup(self: Any) -> torch.device:
        found: torch.device = original.func(self)
        if found.type != "cpu" or self.use_cpu or self.distributed_state.device.type != "vulkan":
            return found
        self._n_gpu = 1
        return torch.device("vulkan", device.current_device())

    has_bfloat16 = module.is_torch_bf16_gpu_available
    module.is_torch_bf16_gpu_available = lambda: has_bfloat16() or _is_there()
    kind._setup_devices = functools.cached_property(setup)
    kind._setup_devices.__set_name__(kind, "_setup_devices")


# -- lightning --------------------------------------------------------------------------------------------------------


def _lightning(module: Any) -> None:
    """The accelerator "vulkan" of the Trainer or of Fabric, which "auto" chooses where there is no other."""
    registry = getattr(module, "AcceleratorRegistry", None)
    registry = module.ACCELERATOR_REGISTRY if registry is None else registry

    def numbers(devices: Any) -> list[int]:
        if isinstance(devices, str) and devices not in ("auto", "-1"):
            devices = [int(one) for one in devices.split(",")] if "," in devices else int(devices)
        if devices in ("auto", "-1", -1):
            return list(range(device.device_count()))
        return list(range(devices)) if isinstance(devices, int) else list(devices)

    class VulkanAccelerator(module.Accelerator):
        """The device of vkarray."""

        def setup_device(self, device: torch.device) -> None:
            torch.vulkan.set_device(device)

        def get_device_stats(self, device: Any) -> dict[str, Any]:
            return dict(torch.vulkan.memory_stats(device))

        def teardown(self) -> None:
            torch.vulkan.empty_cache()

        @staticmethod
        def parse_devices(devices: Any) -> list[int]:
            return numbers(devices)

        @staticmethod
        def get_parallel_devices(devices: Any) -> list[torch.device]:
            return [torch.device("vulkan", index) for index in numbers(devices)]

        @staticmethod
        def auto_device_count() -> int:
            return device.device_count()

        @staticmethod
        def is_available() -> bool:
            return device.is_available()

        @staticmethod
        def name() -> str:
            return "vulkan"

    if "vulkan" not in registry:
        registry.register("vulkan", VulkanAccelerator, description="VulkanAccelerator")


def _lightning_choice(module: Any) -> None:
    """What "auto" stands for: this device where there is no other."""
    original = module._select_auto_accelerator

    def select() -> str:
        found: str = original()
        return "vulkan" if found == "cpu" and device.is_available() else found

    module._select_auto_accelerator = select


def _lightning_precision(module: Any) -> None:
    """Mixed precision, which takes its device from the accelerator where that is "cpu" or "mps" and else says "cuda"."""
    kind = module.MixedPrecision
    original = kind.__init__

    @functools.wraps(original)
    def __init__(self: Any, precision: Any, device: str, *args: Any, **kwargs: Any) -> None:
        original(self, precision, "vulkan" if device == "cuda" and _is_there() else device, *args, **kwargs)

    kind.__init__ = __init__


def _lightning_connector(module: Any) -> None:
    """The strategy of a single device, which is given the CPU for accelerators that are not Lightning's own."""
    kind = getattr(module, "_AcceleratorConnector", None) or module._Connector
    original = kind._choose_strategy

    def choose(self: Any) -> Any:
        made, devices = original(self), self._parallel_devices
        if devices and devices[0].type == "vulkan" and getattr(made, "_root_device", None) == torch.device("cpu"):
            made._root_device = devices[0]
        return made

    kind._choose_strategy = choose


def _is_there() -> bool:
    """Whether "cuda" can only mean this device: there is no other."""
    return device.is_available() and not torch.cuda.is_available()


_ROWS: dict[str, Callable[[Any], None]] = {
    "torch._dynamo.backends.registry": dynamo.register,
    "torch._dynamo.trace_rules": dynamo.leave_out,
    "torch._dynamo.variables.optimizer": dynamo.count_steps_on_device,
    "torch._inductor.compile_fx": dynamo.refuse_other,
    "torch._prims.rng_prims": seeds.restore_in_graphs,
    "safetensors": _safetensors,
    "accelerate.state": _accelerate_state,
    "accelerate.utils.modeling": _accelerate_modeling,
    "accelerate.accelerator": _accelerate_accelerator,
    "transformers.training_args": _training_arguments,
}
for _trainer, _fabric in (("lightning.pytorch", "lightning.fabric"), ("pytorch_lightning", "lightning_fabric")):
    for _part in (_trainer, _fabric):
        _ROWS[f"{_part}.accelerators"] = _lightning
        _ROWS[f"{_part}.plugins.precision.amp"] = _lightning_precision
    _ROWS[f"{_fabric}.utilities.device_parser"] = _lightning_choice
    _ROWS[f"{_trainer}.trainer.connectors.accelerator_connector"] = _lightning_connector
    _ROWS[f"{_fabric}.connector"] = _lightning_connector


def _followed(load: Callable[[Any], None], row: Callable[[Any], None]) -> Callable[[Any], None]:
    def exec_module(module: Any) -> None:
        load(module)
        row(module)

    return exec_module


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what others find, and lets a row have a module when it was loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        row = _ROWS.get(name)
        if row is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                setattr(spec.loader, "exec_module", _followed(spec.loader.exec_module, row))  # noqa: B010 - mypy forbids it
                return spec
        return None


def install() -> None:
    """Tell the packages that are imported, and those that will be."""
    for name, row in _ROWS.items():
        if name in sys.modules:
            row(sys.modules[name])
    sys.meta_path.insert(0, _Finder())
