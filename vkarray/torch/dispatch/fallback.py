"""What has no shader yet runs on the CPU, and says so: once in a warning, always in a count, and never in strict mode."""

from __future__ import annotations

import contextlib
import functools
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..._vk.watch import observer, refuse, watches
from ...errors import VkArrayError
from ..aten import layouts


class FallbackError(VkArrayError, NotImplementedError):
    """An operator has no shader, and strict mode forbids the CPU."""


class FallbackWarning(UserWarning):
    """An operator has no shader and runs on the CPU."""


class Unsupported(NotImplementedError):
    """Raised by a row for arguments that its kernels do not cover, before it has written anything."""


class Fallback(NamedTuple):
    """How often an operator ran on the CPU, and the bytes that were moved for it."""

    calls: int
    bytes: int


@dataclass
class _State:
    strict: bool = False


_counts: dict[str, Fallback] = {}
_warned: set[str] = set()
_state = _State()
_lock = threading.RLock()  # a signal handler may run an operator, too


def fallbacks() -> dict[str, Fallback]:
    """The operators that ran on the CPU since `reset_fallbacks`: name of the overload -> (calls, bytes moved)."""
    with _lock:
        return dict(_counts)


def reset_fallbacks() -> None:
    """Forget the counts, and which operators were warned of."""
    with _lock:
        _counts.clear()
        _warned.clear()


class strict:
    """Raise FallbackError instead of running an operator on the CPU: `with strict():`, or `strict.on()` for good.

    The switch holds for all threads: backward passes run in threads of PyTorch's.
    """

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled

    def __enter__(self) -> None:
        self._before, _state.strict = _state.strict, self._enabled

    def __exit__(self, *error: object) -> None:
        _state.strict = self._before

    @staticmethod
    def on() -> None:
        """Raise from now on."""
        _state.strict = True

    @staticmethod
    def off() -> None:
        """Fall back from now on."""
        _state.strict = False


@contextlib.contextmanager
def _moving(name: str, why: str) -> Iterator[list[int]]:
    """Count one fallback of an operator; the caller adds the bytes that it moves. Raises FallbackError when strict."""
    if _state.strict:
        raise FallbackError(
            f"{name}: {why}, and strict mode forbids running it on the CPU. Leave strict mode "
            f"(vkarray.torch.strict.off()) or move the tensors with .cpu()."
        )
    with _lock:
        first = name not in _warned
        _warned.add(name)
    if first:
        warnings.warn(
            f"{name}: {why}, so it runs on the CPU, with copies through the host (told once; "
            f"vkarray.torch.fallbacks() counts)",
            FallbackWarning,
            stacklevel=4,
        )
    moved = [0]
    try:
        yield moved
    finally:
        with _lock:
            before = _counts.get(name, Fallback(0, 0))
            _counts[name] = Fallback(before.calls + 1, before.bytes + moved[0])


def on_cpu(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Run an operator on the CPU: arguments copied to the host, results and written arguments back."""
    return run(op, args, kwargs, "no shader computes it")


def run(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], why: str) -> Any:
    """`on_cpu`, with the reason for the warning. Raises NotImplementedError for an operator that returns a view."""
    schema = op._schema
    if any(one.alias_info is not None and not one.alias_info.is_write for one in schema.returns):
        raise NotImplementedError(f"{op}: the result is a view, which cannot be made on the CPU; vkarray lacks it.")
    refuse("it runs on the CPU")
    _check_devices(op, (*args, *kwargs.values()))
    with _moving(str(op).removeprefix("aten."), why) as moved:
        hosts: dict[int, tuple[Tensor, Tensor]] = {}  # by id: of the device, on the host

        def down(value: Tensor) -> Tensor:
            if value.device.type != "vulkan":
                return value
            if id(value) not in hosts:
                moved[0] += value.nbytes
                hosts[id(value)] = value, value.cpu()
            return hosts[id(value)][1]

        here = device_of((*args, *kwargs.values()))

        def up(value: Tensor) -> Tensor:
            for original, host in hosts.values():
                if host is value:  # an argument that was written to
                    return original
            layouts.check(op, value)
            moved[0] += value.nbytes
            return value.to(here)

        written = [one.name for one in schema.arguments if one.alias_info is not None and one.alias_info.is_write]
        named = {one.name: value for one, value in zip(schema.arguments, args, strict=False)} | kwargs
        host_args = [mapped(down, value) for value in args]
        host_kwargs = {name: mapped(down, value) for name, value in kwargs.items()}
        if "device" in host_kwargs and host_kwargs["device"] is not None:
            host_kwargs["device"] = torch.device("cpu")
        before = {name: _versions(named.get(name), hosts) for name in written}
        result = callable_with(op, args)(*host_args, **host_kwargs)
        for name in written:
            for original, host, shape in before[name]:
                if original.shape != host.shape or host.shape != shape:
                    original.resize_(host.shape)
                moved[0] += host.nbytes
                original.copy_(host)
        return mapped(up, result)


# These take tensors on the host on purpose, on every device: places, lengths of sequences, factors.
_TAKES_HOST_TENSORS = {
    "aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_", "aten::_unsafe_index",
    "aten::_unsafe_index_put", "aten::_ctc_loss", "aten::_ctc_loss_backward", "aten::_pack_padded_sequence",
    "aten::_pack_padded_sequence_backward", "aten::_foreach_addcdiv", "aten::_foreach_addcdiv_", "aten::_foreach_addcmul",
    "aten::_foreach_addcmul_",
}  # fmt: skip


def _check_devices(op: Any, values: Sequence[Any]) -> None:
    """Raise PyTorch's RuntimeError where tensors of several devices meet; one without dimensions may be on the host."""
    check_one_device(values)
    met = {tensor.device for tensor in _tensors(values) if tensor.ndim or not tensor.is_cpu}
    ours = [device for device in met if device.type == "vulkan"]
    if len(met) > 1 and op._schema.name not in _TAKES_HOST_TENSORS:
        raise different_devices(*ours, *met.difference(ours))


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among values, and in lists and tuples among them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def device_of(values: Iterable[Any]) -> torch.device:
    """The device of the first tensor on a Vulkan device, else the one that is named among the values, else the current one."""
    values = list(values)
    named = next((one for one in values if isinstance(one, torch.device)), torch.device("vulkan"))
    return next((one.device for one in _tensors(values) if one.device.type == "vulkan"), named)


def check_one_device(values: Iterable[Any]) -> None:
    """Raise PyTorch's RuntimeError where tensors of several Vulkan devices meet. Other devices do not count."""
    found = {tensor.get_device(): tensor.device for tensor in _tensors(values) if not tensor.is_cpu}
    if len(found) > 1:
        ours = [device for device in found.values() if device.type == "vulkan"]
        if len(ours) > 1:
            raise different_devices(*ours)


def on_one_device(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that refuses tensors of several Vulkan devices: their addresses mean nothing on another one."""

    @functools.wraps(kernel)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if watches and (observing := observer()) is not None:
            return observing.call(checked, args, kwargs)
        check_one_device((*args, *kwargs.values()))
        return kernel(*args, **kwargs)

    return checked


def observed(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose calls observers hear of."""

    @functools.wraps(kernel)
    def run(*args: Any, **kwargs: Any) -> Any:
        if watches and (observing := observer()) is not None:
            return observing.call(run, args, kwargs)
        return kernel(*args, **kwargs)

    return run


def different_devices(first: torch.device, second: torch.device, *_: torch.device) -> RuntimeError:
    """PyTorch's error for tensors that are not all on one device."""
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}! Move one of "
        f"them with tensor.to."
    )


def callable_with(op: Any, args: Sequence[Any]) -> Any:
    """The overload, or the operator of all its overloads where a number stands for a tensor, which not all of them take."""
    for one, value in zip(op._schema.arguments, args, strict=False):
        if isinstance(value, (int, float, complex)) and str(one.type) == "Tensor":
            return op.overloadpacket
    return op


def _versions(value: Any, hosts: dict[int, tuple[Tensor, Tensor]]) -> list[tuple[Any, Any, Any]]:
    """The tensors of a written argument: on the device, on the host, and the shape before."""
    found: list[tuple[Any, Any, Any]] = []

    def note(tensor: Tensor) -> Tensor:
        if id(tensor) in hosts:
            original, host = hosts[id(tensor)]
            found.append((original, host, host.shape))
        return tensor

    mapped(note, value)
    return found


def mapped(function: Callable[[Tensor], Any], value: Any) -> Any:
    """A value with every tensor in it, in lists and tuples too, replaced."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)([mapped(function, one) for one in value]) if type(value) in (list, tuple) else value
    return value


_library = torch.library.Library("_", "IMPL")
_library.fallback(on_cpu, "PrivateUse1")
# What no autocast kernel is registered for runs as it is.
_library.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
