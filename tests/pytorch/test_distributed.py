"""Process groups of gloo with tensors on the device: each collective, and what trains with them, beside one process on the CPU."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
import torch.distributed as dist
from torch import nn

import vkarray.torch  # noqa: F401 - makes the device

pytestmark = [
    pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="this PyTorch has no gloo"),
    pytest.mark.filterwarnings("ignore"),  # of names that PyTorch changes
]

RANKS = 2


def t(*values):
    return torch.tensor(values, dtype=torch.float32, device="vulkan")


def broadcast(rank):
    x = t(rank, 2)
    dist.broadcast(x, 0)
    return x, [0, 2]


def all_reduce(rank):
    x = t(rank + 1, 2)
    dist.all_reduce(x)
    return x, [3, 4]


def all_reduce_of_a_view(rank):
    x = torch.zeros(3, 4, device="vulkan")
    dist.all_reduce(x[:, 1].add_(rank + 1))
    y = torch.arange(6.0, device="vulkan").view(2, 3).t()
    dist.all_reduce(y, op=dist.ReduceOp.MAX)
    return torch.cat([x.sum(0), y.flatten()]), [0, 9, 0, 0, 0, 3, 1, 4, 2, 5]


def all_reduce_of_integers_and_halves(rank):
    x, y = (torch.full((2,), rank + 1, dtype=kind, device="vulkan") for kind in (torch.int64, torch.float16))
    for one in (x, y):
        dist.all_reduce(one, op=dist.ReduceOp.PRODUCT if one is x else dist.ReduceOp.SUM)
    return torch.cat([x, y.to(torch.int64)]), [2, 2, 3, 3]


def reduce(rank):
    x = t(rank + 1)
    dist.reduce(x, 1)
    return x, [3] if rank == 1 else x.tolist()


def all_gather(rank):
    parts = [t(0, 0) for _ in range(RANKS)]
    dist.all_gather(parts, t(rank, 5))
    return torch.cat(parts), [0, 5, 1, 5]


def all_gather_into_tensor(rank):
    whole = torch.zeros(4, device="vulkan")
    dist.all_gather_into_tensor(whole, t(rank, 5))
    return whole, [0, 5, 1, 5]


def reduce_scatter(rank):
    x = t(0, 0)
    dist.reduce_scatter(x, [t(1, 2), t(3, 4)])
    return x, [[2, 4], [6, 8]][rank]


def reduce_scatter_tensor(rank):
    x = t(0, 0)
    dist.reduce_scatter_tensor(x, t(1, 2, 3, 4))
    return x, [[2, 4], [6, 8]][rank]


def all_to_all(rank):
    parts = [torch.zeros(1 + rank, device="vulkan") for _ in range(RANKS)]
    dist.all_to_all(parts, [t(10 * rank), t(10 * rank + 1, 10 * rank + 2)])
    return torch.cat(parts), [[0, 10], [1, 2, 11, 12]][rank]


def all_to_all_single(rank):
    x = t(0, 0)
    dist.all_to_all_single(x, t(rank, rank + 10))
    return x, [[0, 1], [10, 11]][rank]


def gather(rank):
    parts = [t(0), t(0)] if rank == 0 else None
    dist.gather(t(rank + 3), parts, 0)
    return torch.cat(parts) if parts else t(), [3, 4] if rank == 0 else []


def scatter(rank):
    x = t(0)
    dist.scatter(x, [t(5), t(6)] if rank == 0 else None, 0)
    return x, [5 + rank]


def send_and_receive(rank):
    x = t(0, 0)
    if rank == 0:
        dist.send(t(3, 4), 1)
        dist.recv(x, 1)
    else:
        dist.recv(x, 0)
        dist.send(x * 2, 0)
    return x, [[6, 8], [3, 4]][rank]


def send_and_receive_at_once(rank):
    x, other = t(0), 1 - rank
    tasks = [dist.P2POp(dist.irecv, x, other), dist.P2POp(dist.isend, t(rank + 1), other)]
    for task in dist.batch_isend_irecv(tasks):
        task.wait()
    return x, [other + 1]


def all_reduce_without_waiting(rank):
    x = t(1, rank)
    dist.all_reduce(x, async_op=True).wait()
    dist.barrier()
    return x, [2, 1]


def objects(rank):
    made, given = [None, None], [{"x": t(rank + 1)}]
    dist.all_gather_object(made, rank + 1)
    dist.broadcast_object_list(given, 1)
    return torch.cat([t(*made), given[0]["x"].to("vulkan")]), [1, 2, 2]


COLLECTIVES = [
    broadcast, all_reduce, all_reduce_of_a_view, all_reduce_of_integers_and_halves, reduce, all_gather, all_gather_into_tensor,
    reduce_scatter, reduce_scatter_tensor, all_to_all, all_to_all_single, gather, scatter, send_and_receive,
    send_and_receive_at_once, all_reduce_without_waiting, objects,
]  # fmt: skip


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def train(model, parts, device, steps=3):
    """Some steps with these parts of one batch."""
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    x = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    for _ in range(steps):
        optimizer.zero_grad()
        model(x[parts].to(device)).square().mean().backward()
        optimizer.step()


def whole(value):
    return value.full_tensor() if hasattr(value, "full_tensor") else value


def check_training(rank, folder):
    """Data-parallel and sharded training in two processes come where one process with the whole batch comes."""
    from torch.distributed import checkpoint
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import Shard, distribute_tensor

    expected = network()
    train(expected, slice(0, 4), "cpu")
    mine = slice(2 * rank, 2 * rank + 2)
    model = network().to("vulkan")
    train(nn.parallel.DistributedDataParallel(model), mine, "vulkan")
    for one, other in zip(model.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(one.detach().cpu(), other.detach())
    mesh, model = init_device_mesh("vulkan", (RANKS,)), network().to("vulkan")
    for layer in (model[0], model[2], model):
        fully_shard(layer, mesh=mesh)
    train(model, mine, "vulkan")
    for one, other in zip(model.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(whole(one).detach().cpu(), other.detach())
    checkpoint.save({"model": model.state_dict()}, checkpoint_id=folder)
    kept = [whole(one).detach().clone() for one in model.parameters()]
    train(model, mine, "vulkan")
    state = {"model": model.state_dict()}
    checkpoint.load(state, checkpoint_id=folder)
    model.load_state_dict(state["model"])
    assert all(torch.equal(whole(one).detach(), other) for one, other in zip(model.parameters(), kept, strict=True))
    a = distribute_tensor(torch.arange(8.0, device="vulkan").view(4, 2), mesh, [Shard(0)])
    assert (a @ a.t()).full_tensor().sum().item() == 400


def check(rank, collectives):
    for collective in collectives:
        found, expected = collective(rank)
        assert found.device.type == "vulkan", collective.__name__
        assert found.tolist() == expected, (collective.__name__, rank, found.tolist(), expected)


def main(rank, folder):
    for backend, collectives in (("cpu:gloo,vulkan:gloo", [broadcast, all_gather, objects]), ("gloo", COLLECTIVES)):
        dist.init_process_group(
            backend, rank=rank, world_size=RANKS, init_method=f"file://{folder}/{backend.replace(':', '-')}"
        )
        check(rank, collectives)
        host = torch.ones(2)
        dist.all_reduce(host)
        assert host.tolist() == [RANKS] * 2
        if backend == "gloo":
            check_training(rank, f"{folder}/checkpoint")
        dist.destroy_process_group()


def test_two_processes(tmp_path):
    command = [sys.executable, "-W", "ignore", __file__]
    running = [
        subprocess.Popen([*command, str(rank), str(tmp_path)], stderr=subprocess.PIPE, text=True)
        for rank in range(RANKS)
    ]
    ended = [(one.communicate(timeout=300)[1], one.returncode) for one in running]
    assert not any(status for _, status in ended), "\n".join(text for text, _ in ended)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
