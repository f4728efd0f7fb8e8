"""What results look like is what PyTorch tells the programs that it traces: types, shapes, strides, and which are views."""

from __future__ import annotations

import itertools

import pytest
import torch
from checks import needs_int64
from torch.nn import functional as F

import vkarray.torch
from vkarray.command.operators import torch_traced

DEVICE = "vulkan"


def compared(function, *arguments):
    """The differences that a program of operators shows."""
    with torch_traced.Compared() as seen:
        function(*arguments)
    assert seen.compared
    return seen.differences


# -- PyTorch's database of operators ----------------------------------------------------------------------------------

# Every operator whose results PyTorch lays out otherwise than in C order, and each twelfth of the others.
OWN_ORDER = (
    "fft.fft fft.rfft fft.irfft fft.hfftn linalg.svd linalg.eigh linalg.eig linalg.qr linalg.inv linalg.det linalg.slogdet "
    "linalg.cholesky linalg.lu_factor linalg.lu_solve linalg.solve linalg.solve_triangular cholesky triangular_solve "
    "linalg.lstsq lu sort flip rot90 index_select unfold_copy dot vdot normal resize_as_ native_layer_norm native_batch_norm "
    "nn.functional.conv2d nn.functional.conv3d nn.functional.conv_transpose2d nn.functional.batch_norm native_group_norm "
    "nn.functional.max_pool2d nn.functional.avg_pool2d nn.functional.adaptive_avg_pool2d nn.functional.adaptive_max_pool2d "
    "nn.functional.interpolate.bilinear nn.functional.interpolate.bicubic nn.functional.pad.replicate "
    "nn.functional.pad.reflect nn.functional.dropout nn.functional.logsigmoid nn.functional.cross_entropy softmax cumsum "
    "nn.functional.pixel_shuffle nn.functional.scaled_dot_product_attention cat __getitem__"
)


@needs_int64
@pytest.mark.parametrize("part", range(4))
def test_results_look_as_pytorch_says(part):
    """The first sample of each; `vkarray operators` takes more, and all entries."""
    pytest.importorskip("expecttest", reason="PyTorch's database of operators imports expecttest")
    from vkarray.command.operators import torch_checks

    known = {torch_checks.title(entry): entry for entry in torch_checks.entries()}
    own = OWN_ORDER.split()
    names = [name for name in known if name in own] + [name for name in known if name not in own][::12]
    wrong, checked = [], 0
    for name in names[part::4]:
        for dtype, direction in torch_checks.cases(known[name], ["float32", "complex64"]):
            if direction == "traced":
                record = torch_checks.check(known[name], dtype, direction, samples=1)
                checked += record["samples"]
                if record["status"] not in ("pass", "skip"):
                    wrong.append(f"{name} {dtype}: {record['message']}")
    assert not wrong, "\n".join(wrong)
    assert checked > 20


def test_differences_are_found():
    x = torch.ones(2, 3, 4, device=DEVICE)
    row = torch.ops.aten.sin.default
    for changed, word in (
        (lambda made: made.mT.contiguous().mT, "strides"),
        (lambda made: made.half(), "type"),
        (lambda made: made[:1], "shape"),
        (lambda made: torch.cat([made, made])[2:], "offset"),
        (lambda made: x, "view of an argument"),
        (lambda made: made.cpu(), "device"),
    ):
        differences = list(torch_traced.differences(changed(row(x)), row(x), torch_traced.storages(x), []))
        assert len(differences) == 1
        assert word in differences[0]
    assert not list(torch_traced.differences(row(x), row(x), torch_traced.storages(x), []))


# -- attention --------------------------------------------------------------------------------------------------------

ORDERS = list(itertools.permutations(range(4)))


def _of_order(shape, order):
    """A tensor whose dimensions lie in memory in this order."""
    made = torch.randn([shape[axis] for axis in order], generator=torch.Generator().manual_seed(sum(shape)))
    return made.permute([order.index(axis) for axis in range(4)])


@pytest.mark.parametrize("heads", [4, 2])
@pytest.mark.parametrize("sizes", [(7, 5, 8, 8), (3, 9, 4, 6), (1, 1, 1, 1)])
def test_attention_lies_in_memory_as_its_query(sizes, heads):
    rows, columns, width, wide = sizes
    for order in ORDERS:
        given = [
            _of_order((2, *shape), order)
            for shape in ((4, rows, width), (heads, columns, width), (heads, columns, wide))
        ]
        host = [one.clone().requires_grad_() for one in given]
        own = [one.to(DEVICE).requires_grad_() for one in given]
        results = [F.scaled_dot_product_attention(*each, enable_gqa=heads < 4) for each in (host, own)]
        weights = torch.randn(results[0].shape)
        gradients = [
            torch.autograd.grad(result, each, weights.to(result.device))
            for result, each in zip(results, (host, own), strict=True)
        ]
        torch.testing.assert_close(results[1].cpu(), results[0], rtol=1e-4, atol=1e-5)
        for one, other, like in zip(gradients[1], gradients[0], own, strict=True):
            torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-5)
            assert torch_traced.places(one) == torch_traced.places(like)
        assert torch_traced.places(results[1]) == torch_traced.places(torch.empty_like(results[1]))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("probability", [0.0, 0.5])
def test_what_attention_keeps_for_its_gradients_is_told(masked, probability):
    query, key, value = (torch.randn(2, 5, 4, 8, device=DEVICE).transpose(1, 2).requires_grad_() for _ in range(3))
    mask = torch.randn(5, 5, device=DEVICE, requires_grad=True) if masked else None

    def program():
        made = F.scaled_dot_product_attention(query, key[:, :2], value[:, :2], mask, probability, enable_gqa=True)
        made.sum().backward()

    assert not compared(program)


# -- traced programs --------------------------------------------------------------------------------------------------


class Block(torch.nn.Module):
    """Attention as models write it: what comes after it is a view only where its result lies as the query does."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.inner, self.outer = torch.nn.LayerNorm(16), torch.nn.Linear(16, 48), torch.nn.Linear(16, 16)

    def forward(self, x):
        query, key, value = (
            one.view(*x.shape[:2], 4, 4).transpose(1, 2) for one in self.inner(self.norm(x)).split(16, dim=-1)
        )
        made = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return x + self.outer(made.transpose(1, 2).reshape(x.shape))


class Picture(torch.nn.Module):
    """Convolution, normalization and pooling of channels last."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.norm = torch.nn.Conv2d(3, 8, 3, padding=1, bias=False), torch.nn.BatchNorm2d(8)

    def forward(self, x):
        made = F.max_pool2d(F.relu(self.norm(self.convolution(x))), 2)
        return F.interpolate(made, scale_factor=2, mode="bilinear").permute(0, 2, 3, 1).reshape(x.shape[0], -1)


class Waves(torch.nn.Module):
    """A Fourier transform along the middle dimension, and the solution of a system of equations."""

    def __init__(self) -> None:
        super().__init__()
        self.matrix = torch.nn.Parameter(torch.eye(6) + 0.1 * torch.ones(6, 6))

    def forward(self, x):
        made = torch.fft.fft(x, dim=1).real
        return torch.linalg.solve(self.matrix, made.mT.reshape(-1, 6).mT).mT.reshape(x.shape[0], -1)


PROGRAMS = {
    "attention": (Block, (2, 6, 16)), "channels last": (Picture, (2, 3, 8, 8)), "waves": (Waves, (2, 6, 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:`torch.jit.script")  # PyTorch's own use
@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition"])
def test_compiled_programs_give_what_they_give_uncompiled(name, backend):
    torch.manual_seed(0)
    model = PROGRAMS[name][0]().to(DEVICE)
    x = torch.randn(PROGRAMS[name][1], device=DEVICE)
    if x.ndim == 4:
        x = x.to(memory_format=torch.channels_last)
    results = []
    for program in (model, torch.compile(model, backend=backend)):
        model.zero_grad()
        made = program(x)
        made.square().sum().backward()
        results.append([made.detach(), *(one.grad for one in model.parameters())])
    for one, other in zip(*results, strict=True):  # sums may be in another order
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5 * float(other.abs().max()))
    assert not compared(lambda: model(x).square().sum().backward())


# -- no copies --------------------------------------------------------------------------------------------------------


def _kernels(function, *arguments):
    """How many kernels a call records."""
    device = vkarray.torch.as_array(arguments[0].detach()).device
    with vkarray.config(compare=True):  # plans record the same kernels
        function(*arguments)
        before = device.queue.serial
        function(*arguments)
        return device.queue.serial - before


def test_results_are_not_copied_where_kernels_write_them_as_asked():
    x = torch.randn(2, 6, 4, 8, device=DEVICE)
    assert _kernels(lambda one: torch.softmax(one, -1), x) == 1
    assert _kernels(torch.bmm, x[0], x[0].mT) == 1
    assert _kernels(lambda one: torch.sort(one, -1), x) == _kernels(lambda one: torch.sort(one, -1), x.flatten(0, 2))
    as_models = x.transpose(1, 2)
    attend = lambda one: F.scaled_dot_product_attention(one, one, one)  # noqa: E731
    assert _kernels(attend, as_models) == _kernels(attend, x)
    merge = lambda one: attend(one).transpose(1, 2).reshape(2, 6, 32)  # noqa: E731
    assert _kernels(merge, as_models) == _kernels(attend, as_models)
