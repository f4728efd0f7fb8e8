"""Random networks of PyTorch's modules. A new layer is a line in the table of its kind of input."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from choices import Choices
from torch import Tensor, nn

# What makes a layer for inputs of a shape, or None where it cannot.
Maker = Callable[["Network", tuple[int, ...]], nn.Module | None]
LARGEST = 3_000  # elements between layers


class Apply(nn.Module):
    """A function as a layer."""

    def __init__(self, name: str, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.name, self.function = name, function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)

    def extra_repr(self) -> str:
        return self.name


class First(nn.Module):
    """A module that is called with what `inputs` makes of x, and returns the first of several results."""

    def __init__(self, module: nn.Module, inputs: Callable[[Tensor], tuple[Any, ...]] = lambda x: (x,), **options: Any):
        super().__init__()
        self.module, self.inputs, self.options = module, inputs, options

    def forward(self, x: Tensor) -> Tensor:
        found = self.module(*self.inputs(x), **self.options)
        return found[0] if isinstance(found, tuple) else found


class Beside(nn.Module):
    """Layers, and their input added to what comes out, or put beside it."""

    def __init__(self, inner: nn.Module, joined: str) -> None:
        super().__init__()
        self.inner, self.joined = inner, joined

    def forward(self, x: Tensor) -> Tensor:
        found = self.inner(x)
        if self.joined == "add":
            return x + found
        if self.joined == "mul":
            return x * torch.sigmoid(found)
        return torch.cat([x, found], 1)

    def extra_repr(self) -> str:
        return self.joined


class Network(nn.Module):
    """A random stack of layers for inputs of a shape."""

    def __init__(self, choices: Choices, count: int, of_train: bool = True) -> None:
        super().__init__()
        self.choices, self.of_train = choices, of_train
        self.shape = shape = self._start()
        self.layers = nn.ModuleList()
        for _ in range(10 * count):
            if len(self.layers) == count:
                break
            made = self._layer(shape)
            if made is not None:
                layer, shape = made
                self.layers.append(layer)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x

    # -- making it ----------------------------------------------------------------------------------------------------

    def _start(self) -> tuple[int, ...]:
        choices = self.choices
        batch = choices.choice((1, 2, 2, 3, 4))
        if choices.chance(0.03):
            batch = 0
        channels = choices.choice((1, 2, 3, 4, 6, 8))
        sides = choices.choice(((), (8,), (7,), (1,), (6, 6), (5, 7), (8, 8), (9, 4), (1, 5), (4, 4, 4), (3, 5, 4)))
        return (batch, channels, *sides)

    def _layer(self, shape: tuple[int, ...]) -> tuple[nn.Module, tuple[int, ...]] | None:
        if self.choices.chance(0.1):
            inner = self._layer(shape)
            if inner is None:
                return None
            layer: nn.Module | None = Beside(
                inner[0], self.choices.choice(("add", "mul") if inner[1] == shape else ("cat",))
            )
        else:
            layer = self.choices.choice([*LAYERS[len(shape)], *LAYERS[0]])(self, shape)
        if layer is None:
            return None
        try:
            with warnings.catch_warnings(), torch.random.fork_rng():
                warnings.simplefilter("ignore")
                found = layer(torch.rand(shape)).shape
        except (RuntimeError, ValueError, IndexError, AssertionError, TypeError, NotImplementedError):
            return None
        if len(found) not in LAYERS or len(found) < 2 or found.numel() > LARGEST or (0 in found) != (0 in shape):
            return None
        return layer, tuple(found)

    # -- choices of layers --------------------------------------------------------------------------------------------

    def choice_of(self, makers: Any) -> nn.Module:
        """What one of several functions makes."""
        return self.choices.choice(makers)()  # type: ignore[no-any-return]

    def groups(self, channels: int) -> int:
        """A divisor."""
        return self.choices.choice([one for one in range(1, channels + 1) if not channels % one])


LAYERS: dict[int, list[Maker]] = {rank: [] for rank in (0, 2, 3, 4, 5)}


def layer(*ranks: int, times: int = 1) -> Callable[[Maker], Maker]:
    """Enter a maker for inputs of so many dimensions; 0 for any."""

    def enter(maker: Maker) -> Maker:
        for rank in ranks:
            LAYERS[rank] += [maker] * times
        return maker

    return enter


# Without Hardsigmoid, of whose gradients the CPU rounds a sixth to float32.
ACTIVATIONS = """
    ReLU GELU SiLU Sigmoid Tanh ELU SELU CELU LeakyReLU Hardswish Hardtanh Mish Softplus Softsign Softshrink
    Hardshrink Tanhshrink LogSigmoid ReLU6 Threshold PReLU Identity
""".split()  # noqa: SIM905


@layer(0, times=2)
def activation(net: Network, shape: tuple[int, ...]) -> nn.Module:
    name = net.choices.choice(ACTIVATIONS)
    if name == "Threshold":
        return nn.Threshold(0.1, -0.5, inplace=False)
    if name == "PReLU":
        return nn.PReLU(net.choices.choice((1, shape[1])))
    if name == "GELU":
        return nn.GELU(approximate=net.choices.choice(("none", "tanh")))
    if name in ("ReLU", "SiLU", "ELU", "LeakyReLU", "Hardswish", "Mish") and net.choices.chance(0.2):
        kind = getattr(nn, name)(inplace=True)
        return nn.Sequential(Apply("copied", lambda x: x + 0), kind)
    return getattr(nn, name)()  # type: ignore[no-any-return]


@layer(0, times=2)
def function(net: Network, shape: tuple[int, ...]) -> nn.Module:
    choices, rank = net.choices, len(shape)
    axis, other, shift = choices.integer(-rank, rank - 1), choices.integer(0, rank - 1), choices.integer(-2, 2)
    order = [0, *(int(one) + 1 for one in choices.random.permutation(rank - 1))]
    half = max(shape[axis] // 2, 1)
    name, found = choices.choice((
        ("softmax", lambda x: x.softmax(axis)), ("log_softmax", lambda x: x.log_softmax(axis)),
        ("cumsum", lambda x: x.cumsum(axis)), ("permute", lambda x: x.permute(order)),
        ("permute contiguous", lambda x: x.permute(order).contiguous()), ("roll", lambda x: x.roll(shift, axis)),
        ("flip", lambda x: x.flip(axis)), ("centered", lambda x: x - x.mean(axis, keepdim=True)),
        ("scaled", lambda x: x / (1 + x.std(axis, keepdim=True, unbiased=False))), ("step", lambda x: x[:, ::2]),
        ("narrow", lambda x: x.narrow(axis, 0, half) if half else x), ("normalize", lambda x: F.normalize(x, dim=axis)),
        ("chunks", lambda x: torch.cat(x.chunk(2, axis)[::-1], axis)), ("clamp", lambda x: x.clamp(-0.7, 0.9)),
        ("where", lambda x: torch.where(x > 0, x, x.exp() - 1)), ("sort", lambda x: x.sort(axis)[0]),
        ("logsumexp", lambda x: x.logsumexp(axis, keepdim=True) + x), ("square", lambda x: x * x.abs()),
        ("amax", lambda x: x - x.amax(axis, keepdim=True)), ("cumprod", lambda x: x.cumprod(axis)),
        ("transpose", lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2)),
        ("expand", lambda x: x + x.mean((-1,), keepdim=True).expand(x.shape)),
        ("written", lambda x: x.clone().index_fill(axis, torch.zeros(1, dtype=torch.int64, device=x.device), 0.5)),
        ("masked", lambda x: x.masked_fill(x < -0.5, 0.25)), ("einsum", lambda x: torch.einsum("b...,c...->bc...", x, x).mean(1)),
        ("topk", lambda x: x.topk(half, axis)[0]), ("unflatten", lambda x: x.flatten().unflatten(0, shape)),
        ("strided", lambda x: x.contiguous().as_strided(shape, x.contiguous().stride())), ("tril", lambda x: x.tril()),
        ("complex", lambda x: torch.view_as_real(torch.complex(x, x.flip(0)) * (0.5 + 1j)).sum(-1)),
        ("fft", lambda x: torch.fft.rfft(x, dim=axis, norm="ortho").abs()), ("polar", lambda x: torch.polar(x.exp(), x).real),
        ("writes", _writes),
        ("diagonal", lambda x: x + x.diagonal(0, -2, -1).sum(-1)[..., None, None]),
        ("unbind", lambda x: torch.stack(x.unbind(axis)[::-1], other)), ("lerp", lambda x: torch.lerp(x, x.flip(axis), 0.3)),
        ("gather", lambda x: x.gather(axis, x.argsort(axis, stable=True))),
        ("nan_to_num", lambda x: torch.nan_to_num(x.log(), 0.5, 2.0, -3.0)),
        ("repeat", lambda x: x.repeat_interleave(2, axis)), ("var", lambda x: x * x.var(axis, keepdim=True, unbiased=False)),
        ("addcmul", lambda x: torch.addcmul(x, x, x.flip(axis), value=0.3)),
        ("outer", lambda x: x[:, :, None].mul(x[:, None]).mean(2)),
        ("layer_norm", lambda x: F.layer_norm(x, x.shape[other + 1 :] or x.shape[-1:])), ("movedim", lambda x: x.movedim(1, -1)),
        ("scatter", lambda x: torch.zeros_like(x).scatter(axis, x.argsort(axis, stable=True), x)),
        ("scatter_add", lambda x: torch.zeros_like(x).scatter_add(axis, (x > 0).long() * (half - 1), x)),
        ("select", lambda x: x + x.select(axis, -1).unsqueeze(axis)), ("unfold", lambda x: x.unfold(axis, half, 1).mean(-1)),
        ("prod", lambda x: x + x.prod(axis, keepdim=True)),
        ("cummax", lambda x: x.cummax(axis)[0]),
        ("kthvalue", lambda x: x - x.kthvalue(1, axis, keepdim=True)[0]),
        ("median", lambda x: x - x.median(axis, keepdim=True)[0]), ("norm", lambda x: x / (x.norm(dim=axis, keepdim=True) + 0.1)),
        ("renorm", lambda x: x.renorm(2, axis, 0.8)),
        ("cdist", lambda x: x + torch.cdist(x, x).mean((-1, -2), keepdim=True) if x.ndim > 1 else x),
        ("index_add", lambda x: torch.zeros_like(x).index_add(axis, torch.arange(x.shape[axis], device=x.device) // 2, x)),
        ("index", lambda x: x[torch.arange(x.shape[0], device=x.device).flip(0)] * 2),
        ("trapezoid", lambda x: x + torch.trapezoid(x, dim=axis).unsqueeze(axis)),
        ("diff", lambda x: torch.diff(x, dim=axis, prepend=x.narrow(axis, 0, 1))),
        ("atan2", lambda x: torch.atan2(x, x.flip(axis) + 2)),
        ("hypot", lambda x: torch.hypot(x, x.flip(axis) + 1)), ("logcumsumexp", lambda x: x.logcumsumexp(axis)),
        ("softmin", lambda x: F.softmin(x, axis)), ("glu", lambda x: F.glu(torch.cat([x, x.flip(axis)], axis), axis)),
        ("bmm", lambda x: (x.flatten(1)[:, :, None] @ x.flatten(1)[:, None, :]).mean(-1).view(shape)),
        ("cosine", lambda x: x * F.cosine_similarity(x, x.flip(axis), dim=axis).unsqueeze(axis)),
    ))  # fmt: skip
    return Apply(f"{name} axis {axis} {other} shift {shift} order {order}", found)


def _writes(x: Tensor) -> Tensor:
    """Assignments into views of a copy."""
    y = x.clone()
    y[:, :1] *= 2
    y.transpose(0, 1)[0].add_(x[:, 0])
    y.flatten(1)[:, -1] = x.flatten(1)[:, 0] ** 2
    return y


@layer(3, 4, 5, times=4)
def convolution(net: Network, shape: tuple[int, ...]) -> nn.Module:
    choices, rank, channels = net.choices, len(shape) - 2, shape[1]
    groups = choices.choice((1, 1, net.groups(channels)))
    out = groups * choices.integer(1, 3)
    kernel = tuple(choices.integer(1, 3) for _ in range(rank))
    dilation = choices.choice((1, 1, 1, 2))
    padding: Any = choices.choice((0, 1, 1, tuple(side // 2 for side in kernel)))
    stride = choices.choice((1, 1, 2, tuple(choices.integer(1, 2) for _ in range(rank))))
    bias = choices.chance(0.6)
    if choices.chance(0.25):
        return getattr(nn, f"ConvTranspose{rank}d")(  # type: ignore[no-any-return]
            channels, out, kernel, stride=stride, padding=padding, groups=groups, bias=bias, dilation=dilation,
            output_padding=choices.choice((0, 0, 1)),
        )  # fmt: skip
    if choices.chance(0.15) and stride == 1:
        padding = "same"
    mode = choices.choice(("zeros",) * 5 + ("reflect", "replicate", "circular"))
    return getattr(nn, f"Conv{rank}d")(  # type: ignore[no-any-return]
        channels, out, kernel, stride, padding, dilation, groups, bias, mode
    )


@layer(2, 3, 4, 5, times=2)
def normalization(net: Network, shape: tuple[int, ...]) -> nn.Module:
    choices, channels = net.choices, shape[1]
    rank = max(len(shape) - 2, 1)
    kinds: list[Callable[[], nn.Module]] = [
        lambda: nn.LayerNorm(shape[choices.integer(1, len(shape) - 1) :], elementwise_affine=choices.chance(0.7)),
        lambda: nn.RMSNorm(shape[-1]),
        lambda: nn.GroupNorm(net.groups(channels), channels, affine=choices.chance(0.7)),
        lambda: getattr(nn, f"BatchNorm{rank}d")(
            channels, affine=choices.chance(0.7), track_running_stats=choices.chance(0.8),
            momentum=choices.choice((0.1, None)),
        ),
        lambda: nn.LocalResponseNorm(choices.integer(1, 3)),
    ]  # fmt: skip
    if len(shape) > 2:
        kinds.append(
            lambda: getattr(nn, f"InstanceNorm{rank}d")(
                channels, affine=choices.chance(0.5), track_running_stats=choices.chance(0.3)
            )
        )
    # The CPU sums gradients of a batch of one in the wrong order where strides are not those of a whole tensor.
    return nn.Sequential(Apply("contiguous", lambda x: x.contiguous()), net.choice_of(kinds))


@layer(3, 4, 5, times=2)
def pooling(net: Network, shape: tuple[int, ...]) -> nn.Module:
    choices, rank = net.choices, len(shape) - 2
    kernel, stride, ceil = choices.integer(1, 3), choices.choice((None, 1, 2, 3)), choices.chance(0.4)
    padding, dilation, size = choices.integer(0, kernel // 2), choices.choice((1, 1, 2)), choices.integer(1, 5)
    kinds: list[Callable[[], nn.Module]] = [
        lambda: getattr(nn, f"MaxPool{rank}d")(kernel, stride, padding, dilation, ceil_mode=ceil),
        lambda: getattr(nn, f"AvgPool{rank}d")(kernel, stride, padding, ceil, choices.chance(0.5)),
        lambda: getattr(nn, f"AdaptiveAvgPool{rank}d")(size),
        lambda: getattr(nn, f"AdaptiveMaxPool{rank}d")(size),
        lambda: getattr(nn, f"LPPool{rank}d")(2, kernel, stride, ceil),
        lambda: Unpooled(rank, kernel, stride),
    ]
    return net.choice_of(kinds)


class Unpooled(nn.Module):
    """What pooling takes, put back to its places."""

    def __init__(self, rank: int, kernel: int, stride: int | None) -> None:
        super().__init__()
        self.pool = getattr(nn, f"MaxPool{rank}d")(kernel, stride if stride != 1 else None, return_indices=True)
        self.unpool = getattr(nn, f"MaxUnpool{rank}d")(kernel, stride if stride != 1 else None)

    def forward(self, x: Tensor) -> Tensor:
        return self.unpool(*self.pool(x), output_size=x.shape)  # type: ignore[no-any-return]


@layer(3, 4, 5)
def padding(net: Network, shape: tuple[int, ...]) -> nn.Module:
    rank = len(shape) - 2
    kind = net.choices.choice(("Constant", "Reflection", "Replication", "Zero", "Circular"))
    widths = tuple(net.choices.integer(-1 if kind in ("Constant", "Zero") else 0, 2) for _ in range(2 * rank))
    return getattr(nn, f"{kind}Pad{rank}d")(widths, *(0.5,) * (kind == "Constant"))  # type: ignore[no-any-return]


@layer(3, 4, 5)
def resized(net: Network, shape: tuple[int, ...]) -> nn.Module | None:
    choices, rank = net.choices, len(shape) - 2
    mode = choices.choice(
        (*(("linear",), ("bilinear", "bicubic"), ("trilinear",))[rank - 1], "nearest", "nearest-exact", "area")
    )
    options: dict[str, Any] = {"mode": mode}
    if choices.chance(0.5):
        options["size"] = tuple(choices.integer(1, 9) for _ in range(rank))
    else:
        options["scale_factor"] = choices.choice((0.5, 1.5, 2, 0.7))
        if choices.chance(0.3):
            options["recompute_scale_factor"] = True
    if mode in ("linear", "bilinear", "bicubic", "trilinear"):
        options["align_corners"] = choices.chance(0.5)
        if mode in ("bilinear", "bicubic") and choices.chance(0.3):
            options["antialias"] = True
    return Apply(f"interpolate {options}", lambda x: F.interpolate(x, **options))


@layer(4, times=2)
def of_images(net: Network, shape: tuple[int, ...]) -> nn.Module:
    channels, kernel = shape[1], net.choices.integer(1, 3)
    return net.choice_of((
        lambda: nn.PixelShuffle(2), lambda: nn.PixelUnshuffle(2), lambda: nn.ChannelShuffle(net.groups(channels)),
        lambda: nn.Unfold(kernel, padding=1, stride=2), lambda: nn.Softmax2d(),
        lambda: nn.Sequential(nn.Unfold(kernel, padding=1), nn.Fold(shape[2:], kernel, padding=1)),
        lambda: Apply("channels_last", lambda x: x.contiguous(memory_format=torch.channels_last)),
        lambda: nn.Sequential(nn.Flatten(2), Apply("to sequence", lambda x: x.transpose(1, 2))),
        lambda: Apply("grid_sample", lambda x: F.grid_sample(
            x, F.affine_grid(torch.eye(2, 3).to(x).expand(len(x), 2, 3) * 0.8, x.shape, align_corners=False),
            align_corners=False)),
        lambda: Apply("mean", lambda x: x.mean((2, 3))),
    ))  # fmt: skip


@layer(2, 3, times=2)
def linear(net: Network, shape: tuple[int, ...]) -> nn.Module:
    return nn.Linear(shape[-1], net.choices.integer(1, 9), bias=net.choices.chance(0.7))


def _as_indices(x: Tensor) -> tuple[Tensor]:
    return ((x.detach().abs() * 3).long() % 7,)


@layer(2)
def of_rows(net: Network, shape: tuple[int, ...]) -> nn.Module:
    size = net.choices.integer(1, 6)
    return net.choice_of((
        lambda: First(nn.Bilinear(shape[1], shape[1], size), lambda x: (x, x.flip(1))),
        lambda: First(nn.Embedding(7, size, padding_idx=net.choices.choice((None, 0, 3))), _as_indices),
        lambda: First(nn.EmbeddingBag(7, size, mode=net.choices.choice(("sum", "mean", "max"))), _as_indices),
        lambda: First(nn.GRUCell(shape[1], size)),
        lambda: First(nn.LSTMCell(shape[1], size)),
        lambda: First(nn.RNNCell(shape[1], size)),
        lambda: Apply("unsqueeze", lambda x: x[:, :, None]),
        lambda: nn.Unflatten(1, (shape[1], 1, 1)),
    ))  # fmt: skip


@layer(3, times=5)
def of_sequences(net: Network, shape: tuple[int, ...]) -> nn.Module:
    choices, width = net.choices, shape[-1]
    heads, size, causal = net.groups(width), choices.integer(1, 5), choices.chance(0.4)
    activation, biased = choices.choice(("relu", "gelu")), choices.chance(0.7)
    options = {"num_layers": choices.integer(1, 2), "bidirectional": choices.chance(0.4), "bias": choices.chance(0.8),
               "batch_first": choices.chance(0.6)}  # fmt: skip

    def attended(x: Tensor) -> Tensor:
        heads_first = x.unflatten(-1, (heads, -1)).transpose(1, 2)
        return (
            F.scaled_dot_product_attention(heads_first, heads_first, heads_first.flip(1), is_causal=causal)
            .transpose(1, 2)
            .flatten(2)
        )

    def masked(x: Tensor) -> Tensor:
        mask = torch.ones(x.shape[1], x.shape[1], device=x.device).tril().bool()
        return F.scaled_dot_product_attention(x, x, x, attn_mask=mask if causal else mask.to(x.dtype))

    return net.choice_of((
        lambda: First(nn.LSTM(width, size, **options, proj_size=choices.choice((0, max(size - 1, 0))))),
        lambda: First(nn.GRU(width, size, **options)),
        lambda: First(nn.RNN(width, size, nonlinearity=choices.choice(("tanh", "relu")), **options)),
        lambda: First(
            nn.MultiheadAttention(width, heads, batch_first=True, bias=biased), lambda x: (x, x, x), need_weights=causal),
        lambda: First(nn.MultiheadAttention(width, heads, add_bias_kv=True, add_zero_attn=True), lambda x: (x, x.flip(0), x)),
        lambda: nn.TransformerEncoderLayer(width, heads, 2 * size, 0.0, activation, batch_first=True, norm_first=causal),
        lambda: First(
            nn.TransformerDecoderLayer(width, heads, 2 * size, 0.0, activation, batch_first=True), lambda x: (x, x.flip(1))),
        lambda: Apply(f"attention of {heads}, causal {causal}", attended), lambda: Apply(f"masked {causal}", masked),
        lambda: nn.Linear(width, size), lambda: Apply("transpose", lambda x: x.transpose(1, 2)),
        lambda: Apply("last", lambda x: x[:, -1]), lambda: nn.Flatten(), lambda: Apply("unsqueeze", lambda x: x[:, None]),
        lambda: Packed(nn.GRU(width, size, batch_first=True)),
    ))  # fmt: skip


class Packed(nn.Module):
    """A recurrent layer of sequences of different lengths."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: Tensor) -> Tensor:
        lengths = torch.tensor([max(x.shape[1] - one, 1) for one in range(len(x))])
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.module(packed)[0], batch_first=True)[0]
