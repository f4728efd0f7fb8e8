"""What users take for granted: memory layouts do not change results, calls that are wrong raise PyTorch's errors, training
follows the CPU and holds no memory."""

from __future__ import annotations

import pytest
import torch
from checks import needs_int64, no_memory_held
from torch import nn
from torch.nn import functional as F

import vkarray as vx
import vkarray.torch
from vkarray.core.array import is_supported

DEVICE = "vulkan"

# -- memory layouts ---------------------------------------------------------------------------------------------------


def _spread(x: torch.Tensor, *steps: int) -> torch.Tensor:
    """The values in memory with gaps, at an offset."""
    wide = x.new_full([length * step + 1 for length, step in zip(x.shape, steps, strict=True)], float("nan"))
    view = wide[tuple(slice(1, None, step) for step in steps)]
    return view.copy_(x)


LAYOUTS = {
    "channels_last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "transposed": lambda x: x.mT.contiguous().mT,
    "reversed dimensions": lambda x: x.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
    "sliced": lambda x: _spread(x, 1, 2, 1, 1), "stepped": lambda x: _spread(x, 1, 1, 1, 3),
    "flipped twice": lambda x: x.flip(-1, 0).flip(-1, 0),
    "expanded": lambda x: x[:1, :, :1].expand(x.shape),
    "windows": lambda x: x.flatten()[: 4 * 4 * 6 + 14].unfold(0, 20, 5)[:16, :6].as_strided((4, 4, 6, 6), (20, 5, 3, 1)),
    "offset": lambda x: torch.cat([x.new_full((3,), float("nan")), x.flatten()])[3:].view(x.shape),
}  # fmt: skip


def _weights(x: torch.Tensor, *shape: int) -> torch.Tensor:
    count = int(torch.Size(shape).numel())
    return torch.linspace(-1, 1, count).reshape(shape).to(x.device)


def _indices(x: torch.Tensor, *values: int) -> torch.Tensor:
    return torch.tensor(values, device=x.device)


# By chapter of vkarray/torch: functions of an array (4, 4, 6, 6).
CALLS = {
    "elementwise": lambda x: x * 2 + x.exp(), "comparison": lambda x: (x > x.mean()).float() + (x <= 0),
    "where": lambda x: torch.where(x > 0, x, x[:1]), "clamp": lambda x: x.clamp(-0.5, 0.5),
    "lerp": lambda x: x.lerp(x.mT, 0.25),
    "activations": lambda x: F.gelu(x) + F.silu(x) + F.hardswish(x) + F.relu6(x), "softplus": F.softplus,
    "in place": lambda x: x.clone().add_(x).mul_(x.mT), "conversion": lambda x: x.half().double().float(),
    "sum": lambda x: x.sum((0, 2)), "mean": lambda x: x.mean(), "amax": lambda x: x.amax((1, 3)),
    "argmin": lambda x: x.argmin(2),
    "var": lambda x: x.var((0, 1)), "prod": lambda x: x.prod(3), "norm": lambda x: torch.linalg.vector_norm(x, dim=(1, 2)),
    "cumsum": lambda x: x.cumsum(1), "any": lambda x: (x > 2).any(1), "logsumexp": lambda x: x.logsumexp(2),
    "matmul": lambda x: x @ x.mT, "linear": lambda x: F.linear(x, _weights(x, 5, 6)), "bmm": lambda x: torch.bmm(x[0], x[:, 1]),
    "addmm": lambda x: torch.addmm(x[0, 0], x[1, 1], x[2, 2]), "einsum": lambda x: torch.einsum("abij,abkj->aik", x, x),
    "cat": lambda x: torch.cat([x, x.mT], 2), "stack": lambda x: torch.stack([x, x], 1),
    "roll": lambda x: x.roll((1, 2), (0, 3)),
    "isin": lambda x: torch.isin(x, x[0, 0]) | torch.isin(x, 0.5),
    "flip": lambda x: x.flip(1, 3), "pad": lambda x: F.pad(x, (1, 2, 0, 1), value=3.0),
    "reflect": lambda x: F.pad(x, (1, 2, 2, 1), "reflect"),
    "repeat": lambda x: x.repeat(1, 2, 1, 1), "tril": lambda x: x.tril(-1), "unfold": lambda x: x.unfold(2, 3, 2).contiguous(),
    "index": lambda x: x[_indices(x, 3, 0), :, _indices(x, 1, 5)], "select": lambda x: x.index_select(2, _indices(x, 5, 0, 5)),
    "mask": lambda x: x[x > 0.5], "gather": lambda x: x.gather(3, x.argsort(3)),
    "take": lambda x: x.take(_indices(x, 0, 100, 7)),
    "scatter_add": lambda x: x.scatter_add(1, (x > 0).long(), x),
    "index_put": lambda x: x.index_put((_indices(x, 0, 0),), x[0], accumulate=True),
    "embedding": lambda x: F.embedding(_indices(x, 0, 2, 2), x[0, 0]), "sort": lambda x: x.sort(1, descending=True)[0],
    "topk": lambda x: x.topk(3, 2)[0], "unique": lambda x: x.unique(),
    "softmax": lambda x: x.softmax(1) + x.log_softmax(3), "layer_norm": lambda x: F.layer_norm(x, (6, 6)),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True), "group_norm": lambda x: F.group_norm(x, 2),
    "rms_norm": lambda x: F.rms_norm(x, (6,)),
    "batch_norm frozen": lambda x: F.batch_norm(x, x.mean((0, 2, 3)), x.var((0, 2, 3))),
    "conv2d": lambda x: F.conv2d(x, _weights(x, 3, 4, 3, 3), padding=1),
    "depthwise": lambda x: F.conv2d(x, _weights(x, 4, 1, 3, 3), groups=4),
    "pointwise": lambda x: F.conv2d(x, _weights(x, 8, 4, 1, 1)), "conv1d": lambda x: F.conv1d(x[0], _weights(x, 3, 6, 2)),
    "transposed": lambda x: F.conv_transpose2d(x, _weights(x, 4, 2, 3, 3), stride=2),
    "weights": lambda x: F.conv2d(_weights(x, 2, 4, 9, 9), x),
    "max_pool": lambda x: F.max_pool2d(x, 3, 2, 1), "avg_pool": lambda x: F.avg_pool2d(x, 2),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, 4),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    "masked attention": lambda x: F.scaled_dot_product_attention(x, x, x, x[0, 0] > 0),
    "cross_entropy": lambda x: F.cross_entropy(x, (x[:, 0] > 0).long()), "mse": lambda x: F.mse_loss(x, x.mT),
    "fft": lambda x: torch.fft.rfft(x, dim=2).abs(),
    "triangular": lambda x: torch.linalg.cholesky_ex(x @ x.mT + 9 * torch.eye(6, device=x.device))[0],
}  # fmt: skip


@needs_int64
@pytest.mark.parametrize("name", CALLS)
def test_results_do_not_depend_on_layout(name):
    call = CALLS[name]
    x = torch.randn(4, 4, 6, 6, generator=torch.Generator().manual_seed(0))
    for layout, place in LAYOUTS.items():
        laid = place(x)
        moved = place(x.to(DEVICE))
        assert moved.stride() == laid.stride()
        got, expected, dense = call(moved), call(laid.contiguous()), call(laid.contiguous().to(DEVICE))
        assert got.dtype is expected.dtype
        for other in (expected, dense.cpu()):
            # Sums of up to 144 products of numbers up to 4, in other orders; float16 in `conversion` rounds alike.
            torch.testing.assert_close(
                got.cpu(), other, rtol=3e-6, atol=2e-5, msg=lambda text, at=layout: f"{at}: {text}"
            )


@needs_int64
@pytest.mark.parametrize("layout", ["channels_last", "transposed", "sliced", "stepped", "expanded"])
def test_writing_through_views(layout):
    results = []
    for where in ("cpu", DEVICE):
        x = torch.zeros(4, 4, 6, 6, device=where)
        view = {
            "channels_last": lambda t: t.contiguous(memory_format=torch.channels_last), "transposed": lambda t: t.mT,
            "sliced": lambda t: t[:, 1:3], "stepped": lambda t: t[..., ::2], "expanded": lambda t: t[:, :, 3].unsqueeze(1),
        }[layout](x)  # fmt: skip
        view.add_(torch.arange(float(view.numel()), device=where).reshape(view.shape))
        view.mul_(view.detach().clone().softmax(1)).clamp_(max=50)
        view[0].copy_(view[1])
        view.index_fill_(2, torch.tensor([1], device=where), 7).masked_fill_(view > 20, -1)
        view.scatter_(1, torch.zeros(view.shape, dtype=torch.int64, device=where)[:, :1], 5.0)
        torch.exp(view[2:3], out=view[1:2])
        results.append((x.cpu(), view.cpu()))
    for got, expected in zip(*reversed(results), strict=True):
        torch.testing.assert_close(got, expected, rtol=3e-6, atol=1e-6)


@needs_int64
def test_gradients_do_not_depend_on_layout():
    network = nn.Sequential(
        nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8), nn.GELU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(72, 5),
    )  # fmt: skip
    x = torch.randn(4, 4, 6, 6, generator=torch.Generator().manual_seed(0))
    for place in LAYOUTS.values():
        results = []
        for where in ("cpu", DEVICE):
            network.to(where).zero_grad()
            given = place(x.to(where)).detach().requires_grad_()
            F.cross_entropy(network(given), torch.arange(4, device=where)).backward()
            results.append([one.grad.cpu().clone() for one in (given, *network.parameters())])
        network.to("cpu")
        for got, expected in zip(*reversed(results), strict=True):
            torch.testing.assert_close(got, expected, rtol=1e-4, atol=2e-6)


# -- errors -----------------------------------------------------------------------------------------------------------

# Calls with an array (4, 6) that are wrong, by chapter.
WRONG = {
    "shapes of add": lambda x: x + x[:, :4], "shapes in place": lambda x: x[0].clone().add_(x),
    "shapes of where": lambda x: torch.where(x > 0, x, x[:3]),
    "type of and": lambda x: x & x, "type of shift": lambda x: x << 1, "type in place": lambda x: x.long().mul_(0.5),
    "type of not": lambda x: ~x, "bool minus": lambda x: -(x > 0), "type of out": lambda x: torch.exp(x, out=x.int()),
    "expanded in place": lambda x: x[:1].expand(4, 6).mul_(2), "axis of sum": lambda x: x.sum(2),
    "axis twice": lambda x: x.sum((0, 0)),
    "mean of integers": lambda x: x.long().mean(), "amax of nothing": lambda x: x[:0].amax(0),
    "max of nothing": lambda x: x[:0].max(),
    "argmax of nothing": lambda x: x[:, :0].argmax(1), "axis of cumsum": lambda x: x.cumsum(3),
    "prod type": lambda x: torch.prod(x, 0, dtype="float"),
    "shapes of mm": lambda x: x @ x, "types of mm": lambda x: x @ x.T.double(),
    "shapes of bmm": lambda x: torch.bmm(x[None], x[None]),
    "dimensions of mm": lambda x: torch.mm(x[0], x), "shapes of addmm": lambda x: torch.addmm(x, x, x.T),
    "shapes of linear": lambda x: F.linear(x, x.T),
    "dot of matrices": lambda x: torch.dot(x, x), "shapes of mv": lambda x: torch.mv(x, x[:, 0]),
    "shapes of einsum": lambda x: torch.einsum("ij,jk", x, x),
    "shapes of cat": lambda x: torch.cat([x, x.T]), "shapes of stack": lambda x: torch.stack([x, x.T]),
    "nothing to cat": lambda x: torch.cat([]),
    "view": lambda x: x.view(5, 5), "view of transposed": lambda x: x.T.view(24), "reshape": lambda x: x.reshape(7, -1),
    "permute": lambda x: x.permute(0, 0), "expand": lambda x: x.expand(4, 12), "squeeze": lambda x: x.squeeze(5),
    "split": lambda x: x.split([1, 2], 1),
    "select": lambda x: x[9], "narrow": lambda x: x.narrow(1, 3, 9), "unfold": lambda x: x.unfold(0, 9, 1),
    "roll": lambda x: x.roll((1, 2), 0),
    "as_strided": lambda x: x.as_strided((9, 9), (9, 1)), "transpose": lambda x: x.transpose(0, 4),
    "flip": lambda x: x.flip(0, 0),
    "pad": lambda x: F.pad(x, (-9, 1)), "reflect": lambda x: F.pad(x[None], (7, 0), "reflect"),
    "tril of a vector": lambda x: x[0].tril(),
    "index type": lambda x: x[x], "gather type": lambda x: x.gather(1, x),
    "gather shape": lambda x: x.gather(0, torch.zeros_like(x).long()[:, :1].expand(4, 9)),
    "scatter type": lambda x: x.scatter(1, x.long().clamp(0, 3), x.double()),
    "scatter shape": lambda x: x.scatter(0, torch.zeros(9, 9, dtype=torch.int64, device=x.device), x),
    "index_select": lambda x: x.index_select(0, x), "mask": lambda x: x.masked_fill(x, 1.0),
    "masked_fill value": lambda x: x.masked_fill(x > 0, x),
    "masked_select": lambda x: x.masked_select(x), "topk": lambda x: x.topk(9), "sort": lambda x: x.sort(4),
    "kthvalue": lambda x: x.kthvalue(0),
    "embedding": lambda x: F.embedding(x, x), "softmax": lambda x: x.softmax(2),
    "softmax of integers": lambda x: x.long().softmax(0),
    "layer_norm": lambda x: F.layer_norm(x, (5,)), "rms_norm": lambda x: F.rms_norm(x, (4,)),
    "group_norm": lambda x: F.group_norm(x, 4),
    "batch_norm": lambda x: F.batch_norm(x, x[0, :5], x[0, :5]),
    "batch_norm of one": lambda x: F.batch_norm(x[:1], None, None, training=True),
    "conv2d": lambda x: F.conv2d(x[None], x[None, None, :, :3].expand(2, 3, 4, 3)),
    "conv2d type": lambda x: F.conv2d(x[None, None], x.double()[None, None, :2, :2]),
    "conv2d groups": lambda x: F.conv2d(x[None, None], x[None, None, :2, :2], groups=2),
    "conv2d kernel": lambda x: F.conv2d(x[None, None], torch.ones(1, 1, 9, 9, device=x.device)),
    "conv2d bias": lambda x: F.conv2d(x[None, None], x[None, None, :2, :2], x[0]),
    "conv2d stride": lambda x: F.conv2d(x[None, None], x[None, None, :2, :2], stride=0),
    "max_pool": lambda x: F.max_pool2d(x[None], 9), "max_pool padding": lambda x: F.max_pool2d(x[None], 2, padding=2),
    "avg_pool": lambda x: F.avg_pool2d(x, 2),
    "interpolate": lambda x: F.interpolate(x[None, None], size=(0, 3)),
    "attention": lambda x: F.scaled_dot_product_attention(x, x[:, :3], x),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.zeros(3, dtype=torch.int64, device=x.device)),
    "cross_entropy type": lambda x: F.cross_entropy(x, x[:, 0].int()),
    "nll_loss": lambda x: F.nll_loss(x, x), "binary": lambda x: F.binary_cross_entropy(x, x[:3]),
    "mse": lambda x: F.mse_loss(x, x, reduction="most"),
    "arange": lambda x: torch.arange(1, 0, device=x.device), "negative size": lambda x: torch.empty(-1, device=x.device),
    "full type": lambda x: torch.full((2,), 1j, device=x.device, dtype=torch.int32),
    "eye": lambda x: torch.eye(-1, device=x.device), "linspace": lambda x: torch.linspace(0, 1, -2, device=x.device),
    "normal": lambda x: x.normal_(0, -1),
    "dropout": lambda x: F.dropout(x, 1.5), "multinomial": lambda x: torch.multinomial(-x.abs() - 1, 2),
    "backward": lambda x: x.requires_grad_().sum(0).backward(),
    "leaf in place": lambda x: x.clone().requires_grad_().add_(1), "item": lambda x: x.item(), "truth": lambda x: bool(x),
    "number too large": lambda x: x.to(torch.int8).fill_(300), "complex number": lambda x: x.fill_(1j),
    "NaN in integers": lambda x: x.int().fill_(float("nan")),
    "types of bmm": lambda x: torch.bmm(x[None], x.T[None].double()),
    "types of addmm": lambda x: torch.addmm(x, x[:, :4], x.double()),
    "types of dot": lambda x: torch.dot(x[0], x[0].double()),
    "min of nothing": lambda x: x[:0].min(), "sizes": lambda x: torch.empty((2, -3), device=x.device),
    "fft": lambda x: torch.fft.fft(x, dim=3), "cholesky": lambda x: torch.linalg.cholesky(x),
    "inverse": lambda x: torch.linalg.inv(x[:, :3]),
}  # fmt: skip


# PyTorch 2.11 says this one otherwise than later versions.
OTHER_WORDS = {"cross_entropy type"} if torch.__version__.startswith("2.11.") else set()


@needs_int64
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.filterwarnings("ignore")
def test_errors_are_those_of_the_cpu(name):
    raised = []
    for where in ("cpu", DEVICE):
        x = torch.linspace(-1, 1, 24).reshape(4, 6).to(where)
        try:
            with vkarray.torch.strict(False):  # what no shader takes is left to the CPU, and so are its errors
                WRONG[name](x)
        except Exception as error:
            raised.append((type(error), "" if name in OTHER_WORDS else str(error)))
        else:
            raised.append((None, "no error"))
    assert raised[1] == raised[0]


# -- training ---------------------------------------------------------------------------------------------------------


class Transformer(nn.Module):
    """A small causal transformer over 20 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, activation="gelu", batch_first=True)
        self.head = nn.Linear(16, 20)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.head(self.layer(self.embedding(tokens), mask, is_causal=True)).transpose(1, 2)


def _cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.GELU(), nn.AvgPool2d(2), nn.Conv2d(8, 8, 3, groups=2), nn.Tanh(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 4),
    )  # fmt: skip


def _images() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(16, 1, 12, 12), torch.arange(16) % 4


def _text() -> tuple[torch.Tensor, torch.Tensor]:
    tokens = torch.randint(20, (8, 13))
    return tokens[:, :-1], tokens[:, 1:]


TRAININGS = {
    "CNN, SGD": (_cnn, _images, lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9)),
    "transformer, AdamW": (Transformer, _text, lambda parameters: torch.optim.AdamW(parameters, lr=3e-3, eps=1e-4)),
}  # fmt: skip


def losses(name: str, where: str, steps: int) -> torch.Tensor:
    """The losses of training steps."""
    make, data, optimizer_of = TRAININGS[name]
    torch.manual_seed(0)
    model = make()
    x, y = (each.to(where) for each in data())
    model.to(where)
    optimizer = optimizer_of(model.parameters())
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.detach())
    return torch.stack(found).cpu()


@needs_int64
@pytest.mark.parametrize("name", TRAININGS)
def test_training_follows_the_cpu(name):
    expected, got = (losses(name, where, 100) for where in ("cpu", DEVICE))
    assert expected[-1] < 0.7 * expected[0]
    torch.testing.assert_close(got, expected, rtol=1e-3, atol=0)


@needs_int64
@pytest.mark.parametrize("name", TRAININGS)
def test_training_holds_no_memory(name):
    for _ in range(2):  # what is made once, is made
        losses(name, DEVICE, 3)
    with no_memory_held(constants=200):  # the optimizers' corrections of each step are scalars
        losses(name, DEVICE, 30)


# -- gradients of elementwise functions (those of layers are checked in test_layers.py, convolutions in test_convolution.py) ----

DERIVED = {
    "gelu": F.gelu, "gelu tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "mish": F.mish, "elu": F.elu,
    "selu": F.selu, "softplus": F.softplus, "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "relu6": F.relu6,
    "leaky_relu": F.leaky_relu, "logsigmoid": F.logsigmoid, "softshrink": F.softshrink, "tanhshrink": F.tanhshrink,
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "logit": lambda x: (x / 9 + 0.5).logit(),
    "threshold": lambda x: F.threshold(x, 0.1, 5),
    "glu": F.glu, "prelu": lambda x: F.prelu(x, x[0, :1]), "mse": lambda x: F.mse_loss(x, x.flip(0) * 2),
    "huber": lambda x: F.huber_loss(x, x.flip(0) * 2), "smooth_l1": lambda x: F.smooth_l1_loss(x, x.flip(0) * 2),
    "binary": lambda x: F.binary_cross_entropy(x.sigmoid(), torch.full_like(x, 0.3)), "cumprod": lambda x: x.cumprod(0),
    "norm": lambda x: torch.linalg.vector_norm(x, 3, dim=1), "logsumexp": lambda x: x.logsumexp(0), "var": lambda x: x.var(1),
}  # fmt: skip


@pytest.mark.skipif(not is_supported(vx.float64, vx.asarray(0.0).device), reason="finite differences need float64")
@pytest.mark.parametrize("name", DERIVED)
def test_gradients_of_functions(name):
    # No value lies where a derivative jumps.
    x = torch.tensor([[0.31, -1.7, 2.2, -0.13], [-0.77, 0.9, -3.3, 4.1]], dtype=torch.float64)
    assert torch.autograd.gradcheck(DERIVED[name], [x.to(DEVICE).requires_grad_()], nondet_tol=0)
