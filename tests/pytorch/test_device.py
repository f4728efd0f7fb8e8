"""The device `vulkan`: its module, memory, transfers, views, and what PyTorch does with tensors."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import vkarray as vx
import vkarray.torch as vt
from vkarray import _vk
from vkarray.core.array import is_supported
from vkarray.torch import versions
from vkarray.torch.aten import copies
from vkarray.torch.tensors import storage
from vkarray.torch.tensors.storage import FROM_TORCH

DEVICE = "vulkan"
SUPPORTED = [dtype for dtype in FROM_TORCH if is_supported(FROM_TORCH[dtype], vx.asarray(0).device)]


def values(shape, dtype=torch.float32, lowest=-100):
    """Numbers of a type, the same on every call."""
    numbers = np.asarray(np.random.default_rng(0).integers(lowest, 100, size=shape))
    if dtype is torch.bool:
        return torch.as_tensor(numbers % 2 == 0)
    if dtype.is_complex:
        return torch.as_tensor(numbers + 1j * (numbers - 7)).to(dtype)
    return torch.as_tensor(np.abs(numbers) if "uint" in str(dtype) else numbers / 8).to(dtype)


def same(tensor, expected):
    """Whether a tensor on the device has the type, shape, strides and bits of one on the CPU."""
    host = tensor.cpu()
    assert tensor.device.type == DEVICE
    assert (host.dtype, host.shape) == (expected.dtype, expected.shape)
    return torch.equal(host, expected)


def test_module():
    assert torch.vulkan.is_available()
    assert torch.vulkan.device_count() == sum(one.usable for one in _vk.enumerate_devices())
    assert torch.vulkan.device_name() == vx.asarray(0).device.name
    before = torch.vulkan.memory_allocated()
    held = torch.empty(1 << 20, device=DEVICE)
    assert torch.vulkan.memory_allocated() >= before + (1 << 22)
    del held
    assert torch.vulkan.memory_allocated() == before
    torch.vulkan.synchronize()


@pytest.mark.parametrize("version", ["2.10.1", "2.16.0", "1.13", "3.0.0+cpu"])
def test_unsupported_version_says_so(version):
    with pytest.raises(ImportError, match=r"expected PyTorch 2\.11 to 2\.15"):
        versions.check(version)


def test_supported_versions_pass():
    for version in ("2.11.0+cu130", "2.12.1", "2.13.0+cpu", "2.15.0+cu132"):
        versions.check(version)


def test_import_vkarray_does_not_import_torch():
    program = "import sys, vkarray; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_there_and_back(dtype):
    for shape in ((), (0,), (3,), (2, 0, 4), (3, 5, 7)):
        host = values(shape, dtype)
        assert same(host.to(DEVICE), host)


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_strided_transfers(dtype):
    host = values((4, 6, 5), dtype)
    for view in (host.transpose(0, 2), host[1:, ::2], host[:, 3], host[:1].expand(3, 6, 5)):
        moved = view.to(DEVICE)
        assert same(moved, view)
        target = torch.zeros(view.shape, dtype=dtype)
        target.copy_(moved)
        assert torch.equal(target, view)
        back = torch.zeros((*view.shape, 2), dtype=dtype)
        back[..., 1].copy_(moved)
        assert torch.equal(back[..., 1], view)
        assert not back[..., 0].any()


def test_strides_are_kept():
    for host in (values((4, 5)).t(), values((2, 3, 4, 5)).to(memory_format=torch.channels_last)):
        moved = host.to(DEVICE)
        assert moved.stride() == host.stride()
        assert moved.clone().stride() == host.stride()
        assert moved.cpu().stride() == host.stride()
        assert moved.contiguous().stride() == host.contiguous().stride()


@pytest.mark.parametrize(("source", "target"), list(itertools.product(SUPPORTED, repeat=2)), ids=str)
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_conversions(source, target):
    host = values((3, 5), source, lowest=0)
    assert same(host.to(DEVICE).to(target), host.to(target))
    assert torch.equal(host.to(DEVICE).cpu().to(target), host.to(target))


def test_views_share_memory():
    tensor = torch.arange(24, dtype=torch.float32, device=DEVICE).reshape(2, 3, 4)
    host = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    for one in (tensor, host):
        one[:, 1:, ::2].mul_(3)
        one.transpose(0, 2)[1].add_(1)
        one.view(6, 4)[2].zero_()
        one[0].unsqueeze(0).expand(1, 3, 4).diagonal(dim1=1, dim2=2).fill_(-7)
        one.as_strided((2, 2), (7, 3), 5).neg_()
        one.unfold(2, 2, 2)[1, 2].sub_(1)
    assert same(tensor, host)


def test_array_shares_memory_with_tensor():
    tensor = torch.zeros(4, 6, device=DEVICE)
    view = tensor.t()[1::2]
    array = vt.as_array(view)
    assert (array.shape, array.element_strides) == (tuple(view.shape), view.stride())
    array[0, 0] = 5.0
    tensor[2, 3] = 7.0
    assert view.cpu().tolist() == vx.asarray(array).tolist() == array.tolist()
    assert (array[0, 0].item(), array[1, 2].item()) == (5.0, 7.0)


def test_array_outlives_tensor():
    tensor = torch.arange(1000, dtype=torch.float32, device=DEVICE)
    array = vt.as_array(tensor[10:])
    del tensor
    others = [torch.full((1000,), -1.0, device=DEVICE) for _ in range(10)]
    assert array.tolist() == list(range(10, 1000))
    del others


@pytest.mark.parametrize(
    ("dtype", "instead"), [(torch.complex32, "torch.complex64"), (torch.float8_e4m3fn, "float16 or bfloat16")], ids=str
)
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_types_that_are_missing_are_named_with_what_to_use(dtype, instead):
    for made in (
        lambda: torch.zeros(2, dtype=dtype, device="vulkan"),
        lambda: torch.zeros(2, dtype=dtype).to("vulkan"),
        lambda: torch.zeros(2, device="vulkan").to(dtype),
    ):
        with pytest.raises(TypeError, match=f"no type {dtype}.*Use .*{instead}"):
            made()


def test_memory_is_freed():
    gc.collect()
    before = storage.live()
    tensor = torch.ones(8, 8, device=DEVICE, requires_grad=True)
    (tensor.t()[1:] * 2).sum().backward()
    other = torch.nn.Parameter(tensor.detach()[2:])
    del tensor, other
    gc.collect()
    assert storage.live() == before


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_to_vulkan_and_to_torch(dtype):
    host = values((3, 4, 5), dtype)
    for view in (host, host.transpose(0, 1), host[:, 1:3], host[0, 0, 0]):
        array = vt.to_vulkan(view)
        assert array.dtype.name == str(dtype).removeprefix("torch.")
        assert torch.equal(vt.to_torch(array), view)
        assert torch.equal(vt.to_torch(array, device=DEVICE).cpu(), view)
    assert vt.to_vulkan(host.transpose(0, 1)).element_strides == host.transpose(0, 1).stride()
    assert torch.equal(vt.to_torch(array[..., None]), view[..., None])


def test_to_torch_of_negative_strides():
    array = vx.arange(10)[::-1]
    assert vt.to_torch(array).tolist() == vt.to_torch(array, device=DEVICE).tolist() == list(range(9, -1, -1))


def test_shared_memory_with_the_host():
    array = vx.arange(6.0)
    if array.device.limits.host_memory == "none":
        with pytest.raises(ValueError, match="copy=False"):
            vt.to_torch(array, copy=False)
        return
    host = vt.to_torch(array, copy=False)
    array += 1
    array.device.synchronize()
    assert host.tolist() == [1, 2, 3, 4, 5, 6]


def test_conversions_refuse():
    with pytest.raises(ValueError, match="requires gradients"):
        vt.to_vulkan(torch.ones(2, requires_grad=True))
    with pytest.raises(ValueError, match="requires gradients"):
        vt.as_array(torch.ones(2, device=DEVICE, requires_grad=True))
    with pytest.raises(ValueError, match="copy=False"):
        vt.to_vulkan(torch.ones(2), copy=False)
    with pytest.raises(ValueError, match="on the device vulkan"):
        vt.as_array(torch.ones(2))
    with pytest.raises(TypeError, match=r"torch\.Tensor"):
        vt.to_vulkan(np.ones(2))
    with pytest.raises(TypeError, match="vkarray array"):
        vt.to_torch(np.ones(2))


def test_fallback_is_counted_and_strict_raises():
    tensor = torch.ones(3, 3, device=DEVICE)
    with pytest.raises(vt.FallbackError, match="strict"):
        torch.hash_tensor(tensor)
    vt.reset_fallbacks()
    with vt.strict(False):
        with pytest.warns(vt.FallbackWarning, match="hash_tensor"):
            result = torch.hash_tensor(tensor)
        torch.hash_tensor(tensor)
    assert torch.equal(result.cpu(), torch.hash_tensor(torch.ones(3, 3)))
    assert vt.fallbacks()["hash_tensor.out"] == (2, 2 * (36 + 16))  # the matrix, and a number there and back


MIXED = {
    "product": lambda x, y: x @ y, "sum": lambda x, y: x + y, "in place": lambda x, y: x.clone().add_(y),
    "choice": lambda x, y: torch.where(x > 0, x, y), "cat": lambda x, y: torch.cat([x, y]),
    "linear": torch.nn.functional.linear, "out": lambda x, y: torch.exp(x, out=y.clone()),
    "conv1d": lambda x, y: torch.nn.functional.conv1d(x[None], y[None].mT), "no row": torch.linalg.lstsq,
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("devices", [("cpu", DEVICE), (DEVICE, "cpu")])
def test_mixed_devices_are_refused(name, devices):
    with vt.strict(False), pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        MIXED[name](*(torch.eye(3, device=where) for where in devices))


def test_what_takes_tensors_of_the_host_gets_them():
    x = torch.arange(12, dtype=torch.float32).reshape(4, 3)
    assert same(x.to(DEVICE)[torch.tensor([2, 0])], x[[2, 0]])
    x = x.reshape(2, 2, 3).log_softmax(2)
    loss = lambda where: torch.nn.functional.ctc_loss(  # noqa: E731
        x.to(where), torch.ones(2, 1, dtype=torch.int64, device=where), torch.tensor([2, 2]), torch.tensor([1, 1])
    )
    with vt.strict(False), warnings.catch_warnings():
        warnings.simplefilter("ignore", vt.FallbackWarning)
        torch.testing.assert_close(loss(DEVICE).cpu(), loss("cpu"))


def test_a_device_that_is_not_there():
    count = torch.vulkan.device_count()
    for make in (lambda: torch.ones(2, device=f"vulkan:{count}"), lambda: torch.ones(2).to(f"vulkan:{count}")):
        with pytest.raises(RuntimeError, match=f"expected .*device.* got vulkan:{count}"):
            make()
    assert torch.ones(2, device="vulkan:0").device == torch.device(DEVICE, 0)
    with pytest.raises(ValueError, match=f"expected .*device.* got {count}"):
        torch.vulkan.synchronize(count)


def test_accelerator():
    assert torch.accelerator.current_accelerator() == torch.device(DEVICE)
    torch.accelerator.synchronize()
    torch.accelerator.synchronize(torch.device(DEVICE))


def test_storages():
    assert torch.UntypedStorage(5, device=DEVICE).fill_(3).tolist() == [3] * 5
    assert torch.UntypedStorage([1, 2, 3], device=DEVICE).tolist() == torch.UntypedStorage([1, 2, 3]).tolist()
    assert torch.UntypedStorage(device=DEVICE).nbytes() == 0
    shared = torch.UntypedStorage(8, device=DEVICE)
    first, second = (torch.empty(0, device=DEVICE).set_(shared) for _ in range(2))
    first.fill_(2.5)
    assert second.tolist() == [2.5, 2.5]
    with pytest.raises(TypeError, match="UntypedStorage"):
        torch.UntypedStorage(size=4, device=DEVICE)


def test_memory_for_another_accelerator_is_pinned_by_pytorch(monkeypatch):
    asked = []
    monkeypatch.setattr(copies, "_pin_for_others", lambda keys, tensor, device: asked.append(device) or tensor)
    x = torch.ones(3)
    assert x.pin_memory() is not x
    assert not asked
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda *_: torch.device("cuda"))
    x.pin_memory()
    assert asked == [torch.device("cuda")]


def test_loaders_that_pin_memory():
    data = torch.utils.data.TensorDataset(torch.arange(6, dtype=torch.float32))
    batches = torch.utils.data.DataLoader(data, batch_size=2, pin_memory=True)
    assert [batch.to(DEVICE, non_blocking=True).tolist() for (batch,) in batches] == [[0, 1], [2, 3], [4, 5]]


def test_mlp_learns_as_on_the_cpu():
    torch.manual_seed(0)
    host = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3), torch.nn.Sigmoid())
    device = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3), torch.nn.Sigmoid())
    device.load_state_dict(host.state_dict())
    device.to(DEVICE)
    inputs, targets = torch.randn(20, 10), torch.rand(20, 3)
    losses = []
    for model, where in ((host, "cpu"), (device, DEVICE)):
        x, y = inputs.to(where), targets.to(where)
        losses.append([])
        for _ in range(5):
            model.zero_grad()
            loss = (model(x) - y).pow(2).mean()
            loss.backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.sub_(parameter.grad, alpha=0.1)
            losses[-1].append(loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_threads_make_tensors_at_once():
    """Each gets its own memory, of its own shape."""

    def made(number: int) -> bool:
        kept = [torch.full((number + 1, place % 5 + 1), number + place, device=DEVICE) for place in range(50)]
        return all(
            one.shape == (number + 1, place % 5 + 1) and bool((one == number + place).all())
            for place, one in enumerate(kept)
        )

    before = storage.live()
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(made, range(8)))
    assert storage.live() == before


def test_other_accelerators_are_reached_through_the_host():
    for other in ["cuda"] if torch.cuda.is_available() else []:
        x = values((3, 4))
        there = x.to(other)
        same(there.to(DEVICE), x)
        assert torch.equal(x.to(DEVICE).to(other), there)
        assert torch.equal(there.clone().copy_(x.to(DEVICE).T.contiguous().T + 1), there + 1)
        assert torch.equal(torch.zeros(3, 4, device=DEVICE).copy_(there.T.contiguous().T).cpu(), x)


class Named(torch.Tensor):
    """A tensor of a class of one's own."""


@pytest.mark.parametrize("make", [
    lambda x: x.as_subclass(Named), lambda x: Named(x), lambda x: x.view(3, 2).as_subclass(Named),
    lambda x: x.data.as_subclass(Named), lambda x: torch.Tensor._make_subclass(Named, x),
    lambda x: x.cpu().as_subclass(Named).to(DEVICE), lambda x: x.cpu().as_subclass(Named).to(DEVICE).cpu().to(DEVICE) + 1,
])  # fmt: skip
def test_tensors_of_other_classes(make):
    made = make(torch.arange(6.0, device=DEVICE))
    assert type(made) is Named
    assert type(made + 1) is Named
    assert made.device.type == DEVICE
    assert made.flatten().tolist()[-1] >= 5
