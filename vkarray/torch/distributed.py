"""Process groups: what gloo does with tensors on the CPU it does with tensors on the device, through copies on the host.

A group of the backend "gloo" (or "cpu:gloo,vulkan:gloo") takes both. Collectives have happened when they return, whether or not
they were asked to go on by themselves; what is received comes when it is waited for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .dispatch.fallback import mapped


class _Hosts:
    """Copies on the host of the tensors of one call."""

    def __init__(self) -> None:
        self.pairs: dict[int, tuple[Tensor, Tensor]] = {}  # by id of the tensor on the device: that, its copy

    def down(self, tensor: Tensor) -> Tensor:
        if tensor.device.type != "vulkan":
            return tensor
        if id(tensor) not in self.pairs:
            self.pairs[id(tensor)] = tensor, tensor.detach().cpu().contiguous()
        return self.pairs[id(tensor)][1]

    def up(self, written: Any) -> None:
        """Copy to the device what was written."""

        def copy(tensor: Tensor) -> Tensor:
            if id(tensor) in self.pairs:
                with torch.no_grad():
                    tensor.copy_(self.pairs[id(tensor)][1])
            return tensor

        mapped(copy, written)


def _install() -> None:
    from torch._C import _distributed_c10d as c10d
    from torch.distributed import Backend

    pending: set[Any] = set()

    class Received(c10d.Work):
        """What is received: on the host when the work is done, on the device when somebody has waited for it."""

        def __init__(self, work: Any, hosts: _Hosts, written: Any) -> None:
            super().__init__()
            self.work, self.hosts, self.written = work, hosts, written
            pending.add(self)  # C++ keeps its own part alone

        def wait(self, timeout: Any = None) -> bool:
            if self in pending:
                self.work.wait()
                self.hosts.up(self.written)
                pending.discard(self)
            return True

    def done(value: Any) -> Any:
        future: Any = torch.futures.Future()
        future.set_result(value)
        return c10d._create_work_from_future(future)

    def collective(op: Any) -> Callable[..., Any]:
        def kernel(written: Any, *rest: Any) -> Any:
            hosts = _Hosts()
            made = op(*(mapped(hosts.down, value) for value in (written, *rest)))
            c10d.Work.unbox(made[-1] if isinstance(made, tuple) else made).wait()
            hosts.up(written)
            work = done(written).boxed()
            return (written, work) if isinstance(made, tuple) else work

        return kernel

    def all_to_all(written: list[Tensor], given: list[Tensor], *rest: Any) -> Any:
        # gloo exchanges parts of one tensor alone
        kinds = {one.dtype for one in (*written, *given)}
        if len(kinds) != 1:
            raise ValueError(f"all_to_all: expected tensors of one type, got {', '.join(sorted(map(str, kinds)))}.")
        sizes = [[one.numel() for one in tensors] for tensors in (written, given)]
        received = torch.empty(sum(sizes[0]), dtype=given[0].dtype)
        sent = torch.cat([one.detach().cpu().flatten() for one in given])
        group, *others = rest
        work = torch.ops.c10d.alltoall_base_(received, sent, group, *sizes, *others)
        c10d.Work.unbox(work).wait()
        with torch.no_grad():
            for tensor, part in zip(written, received.split(sizes[0]), strict=True):
                tensor.copy_(part.view(tensor.shape))
        return written, done(written).boxed()

    def send(tensors: list[Tensor], *rest: Any) -> Any:
        return torch.ops.c10d.send([one.detach().cpu().contiguous() for one in tensors], *rest)

    def receive(op: Any) -> Callable[..., Any]:
        def kernel(written: list[Tensor], *rest: Any) -> Any:
            hosts = _Hosts()
            work = c10d.Work.unbox(op(mapped(hosts.down, written), *rest))
            return Received(work, hosts, written).boxed()

        return kernel

    collectives = """
        broadcast_ allreduce_ allreduce_coalesced_ allgather_ _allgather_base_ allgather_coalesced_
        allgather_into_tensor_coalesced_ reduce_scatter_ _reduce_scatter_base_ reduce_scatter_tensor_coalesced_ reduce_ gather_
        scatter_ alltoall_base_ barrier
    """
    kernels = {name: collective(getattr(torch.ops.c10d, name).default) for name in collectives.split()}
    kernels |= {name: receive(getattr(torch.ops.c10d, name).default) for name in ("recv_", "recv_any_source_")}
    kernels |= {"send": send, "alltoall_": all_to_all}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these take the places of kernels that ask for a backend of the device's own
        for name, kernel in kernels.items():
            _library.impl(getattr(torch.ops.c10d, name).default, kernel, "PrivateUse1")
    if "vulkan" not in Backend.backend_capability["gloo"]:
        Backend.backend_capability["gloo"].append("vulkan")


def install() -> None:
    """Let gloo take tensors on the device, where PyTorch has it."""
    global _library
    if torch.distributed.is_available() and torch.distributed.is_gloo_available():
        _library = torch.library.Library("c10d", "IMPL")
        _install()


_library: Any = None
