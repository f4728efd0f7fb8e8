"""What few call: results written where asked, fused operators, checks, forward derivatives, simulated quantization."""

from __future__ import annotations

import pytest
import torch
from checks import needs_int64
from torch import Tensor
from torch.nn import functional

aten = torch.ops.aten


def _numbers(*shape: int, dtype=torch.float32) -> Tensor:
    return torch.linspace(-2, 3, max(1, int(torch.Size(shape).numel()))).reshape(shape).to(dtype)


WRITTEN = {
    "adaptive_avg_pool2d": (lambda x, out: aten.adaptive_avg_pool2d.out(x, [2, 2], out=out), (1, 2, 6, 6)),
    "adaptive_avg_pool3d": (lambda x, out: aten.adaptive_avg_pool3d.out(x, [2, 2, 1], out=out), (1, 2, 4, 4, 4)),
    "conj_physical": (lambda x, out: torch.conj_physical(x, out=out), (3, 4)),
    "mvlgamma": (lambda x, out: torch.mvlgamma(x + 4, 2, out=out), (3, 4)),
    "add_relu": (lambda x, out: aten._add_relu.out(x, x, alpha=2, out=out), (3, 4)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_results_are_written_where_asked(name):
    function, shape = WRITTEN[name]
    x = _numbers(*shape)
    expected = function(x, torch.empty(0))
    out = torch.empty(0, device="vulkan")
    assert function(x.to("vulkan"), out) is out
    torch.testing.assert_close(out.cpu(), expected)


@needs_int64
def test_histograms_are_written_where_asked():
    x = _numbers(20)
    expected = torch.histogram(x, 4)
    out = torch.empty(0, device="vulkan"), torch.empty(0, device="vulkan")
    torch.histogram(x.to("vulkan"), 4, out=out)
    for ours, its in zip(out, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), its)


@needs_int64
@pytest.mark.parametrize("other", [2, torch.tensor([1, 2, 3])], ids=["number", "tensor"])
@pytest.mark.parametrize("name", ["__ilshift__", "__irshift__"])
def test_shifts_in_place(name, other):
    x = torch.tensor([8, 17, 1000])
    y = x.to("vulkan")
    getattr(y, name)(other.to("vulkan") if isinstance(other, Tensor) else other)
    assert y.tolist() == getattr(x, name)(other).tolist()


FUSED = {
    "_add_relu": (lambda x, y: torch._add_relu(x, y, alpha=2), (3, 4), (3, 4)),
    "_addmm_activation": (lambda a, b: torch._addmm_activation(a[0, :4], a, b), (3, 5), (5, 4)),
    "_addmm_activation by gelu": (lambda a, b: torch._addmm_activation(a[0, :4], a, b, use_gelu=True), (3, 5), (5, 4)),
}


@pytest.mark.parametrize("name", FUSED)
def test_fused_operators_are_as_on_the_cpu(name):
    function, *shapes = FUSED[name]
    given = [_numbers(*shape) for shape in shapes]
    tolerance = {"rtol": 1e-3, "atol": 1e-3} if "gelu" in name else {}  # the CPU's is by the error function or by tanh
    torch.testing.assert_close(function(*(one.to("vulkan") for one in given)).cpu(), function(*given), **tolerance)


def test_products_of_8_bits():
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randint(-128, 128, shape, dtype=torch.int8, generator=generator) for shape in ((20, 64), (64, 16)))
    made = torch._int_mm(a.to("vulkan"), b.to("vulkan"))
    assert made.dtype is torch.int32
    assert torch.equal(made.cpu(), a.int() @ b.int())
    with pytest.raises(RuntimeError, match="int8 matrices"):
        torch._int_mm(a.to("vulkan").int(), b.to("vulkan"))


def test_products_with_weights_of_8_bits():
    x = _numbers(6, 32, dtype=torch.bfloat16)
    weight = torch.arange(32 * 32).reshape(32, 32).remainder(255).sub(127).to(torch.int8)
    scales = torch.linspace(0.01, 0.1, 32).to(torch.bfloat16)
    made = torch._weight_int8pack_mm(x.to("vulkan"), weight.to("vulkan"), scales.to("vulkan"))
    torch.testing.assert_close(made.cpu(), ((x.float() @ weight.float().mT) * scales.float()).to(torch.bfloat16))


def test_checks_that_wait_for_the_device():
    torch._assert_async(torch.tensor(True, device="vulkan"))
    with pytest.raises(RuntimeError, match="got zero"):
        torch._assert_async(torch.tensor(0.0, device="vulkan"))
    with pytest.raises(RuntimeError, match="said so"):
        torch._assert_async(torch.tensor(False, device="vulkan"), "said so")


def test_tensors_know_whether_they_show_the_same_memory():
    x = torch.zeros(4, device="vulkan")
    assert x.is_set_to(x.view(4))
    assert not x.is_set_to(x[1:])
    assert not x.is_set_to(x.clone())


@pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")  # of PyTorch itself
def test_forward_derivatives_of_gated_units():
    x, dx = _numbers(3, 4), _numbers(3, 4).flip(0).contiguous()

    def gradient(x: Tensor) -> Tensor:
        return torch.func.grad(lambda y: functional.glu(y, -1).square().sum())(x)

    for function in (lambda x: functional.glu(x, -1), gradient):
        expected = torch.func.jvp(function, (x,), (dx,))
        actual = torch.func.jvp(function, (x.to("vulkan"),), (dx.to("vulkan"),))
        for ours, its in zip(actual, expected, strict=True):
            torch.testing.assert_close(ours.cpu(), its, rtol=1e-5, atol=1e-5)


SIMULATED = {
    "of a tensor": lambda x: torch.fake_quantize_per_tensor_affine(x, 0.07, 3, 0, 31),
    "of a tensor, its numbers in tensors": lambda x: torch.fake_quantize_per_tensor_affine(
        x, torch.tensor(0.07, device=x.device), torch.tensor(3, dtype=torch.int32, device=x.device), 0, 31
    ),
    "of channels": lambda x: torch.fake_quantize_per_channel_affine(
        x, torch.tensor([0.07, 0.2, 0.5], device=x.device), torch.tensor([3, 0, -2], dtype=torch.int32, device=x.device), 0,
        -8, 7,
    ),
}  # fmt: skip


@needs_int64
@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_quantization_and_its_gradient(name):
    made = []
    for device in ("cpu", "vulkan"):
        x = _numbers(3, 17).to(device).requires_grad_()
        result = SIMULATED[name](x)
        (result * 2).sum().backward()
        made.append([result.detach().cpu(), x.grad.cpu()])
    for its, ours in zip(*made, strict=True):
        torch.testing.assert_close(ours, its)
