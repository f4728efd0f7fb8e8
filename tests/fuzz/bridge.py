"""The operations of the bridge that chains are made of. A new one is a line in the table of its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from tensors import Chain, Pair, Step
from torch import Tensor

Operation = Callable[[Chain], Step | None]
OPERATIONS: list[tuple[int, Operation]] = []


def operation(weight: int) -> Callable[[Operation], Operation]:
    def enter(function: Operation) -> Operation:
        OPERATIONS.append((weight, function))
        return function

    return enter


def shown(pair: Pair) -> str:
    one = pair.theirs
    return f"{str(one.dtype)[6:]}{list(one.shape)} of strides {list(one.stride())} {one.tolist()!r:.300}"


def step(name: str, function: Callable[..., Any], operands: list[Pair], details: Any = "", **options: Any) -> Step:
    """A step whose text names the function, its tensors and what else it was given."""
    return Step(name, function, operands, lambda: f"{name}({'; '.join(map(shown, operands))}; {details})", **options)


def named(name: str) -> Callable[..., Any]:
    """A function of PyTorch: torch.name, Tensor.name or torch.nn.functional.name."""
    for place in (torch, F, Tensor, torch.special, torch.linalg):
        if hasattr(place, name):
            return getattr(place, name)  # type: ignore[no-any-return]
    raise LookupError(name)


UNARY = {
    "float": (
        "neg abs exp log log1p expm1 sqrt rsqrt sin cos tan tanh sigmoid erf erfc floor ceil round trunc frac sign square "
        "reciprocal relu gelu silu softplus elu leaky_relu hardswish hardtanh mish isnan isfinite atan asinh logit lgamma "
        "digamma sinc exp2 log2 log10 cosh sinh nan_to_num positive clone logsigmoid selu celu relu6 softsign signbit"
    ),
    "integer": "neg abs sign bitwise_not square clone positive exp sqrt sin float long bool",
    "complex": "neg abs conj real exp square angle clone reciprocal sgn imag",
    "bool": "logical_not bitwise_not float int long clone",
}
BINARY = {
    "float": (
        "add sub mul div maximum minimum pow atan2 fmod remainder eq ne lt le gt ge floor_divide copysign hypot xlogy "
        "logaddexp fmax fmin nextafter heaviside ldexp mse_loss smooth_l1_loss l1_loss"
    ),
    "integer": (
        "add sub mul div maximum minimum eq ne lt ge bitwise_and bitwise_or bitwise_xor gcd lcm remainder floor_divide fmod "
        "bitwise_left_shift"
    ),
    "complex": "add sub mul div eq ne",
    "bool": "logical_and logical_or logical_xor bitwise_and eq add mul",
}
OF_SAME_TYPE = {"nextafter", "heaviside", "copysign", "mse_loss", "smooth_l1_loss", "l1_loss", "ldexp"}
MAY_BE_ITSELF = {"conj", "real", "imag", "positive", "bool", "float", "long", "int"}
# The CPU's derivative of digamma is accurate to ten digits; lgamma's is digamma.
NO_GRADIENT = {
    "digamma", "lgamma",
    "floor", "ceil", "round", "trunc", "sign", "isnan", "isfinite", "signbit", "nextafter", "heaviside", "sgn", "angle",
    "floor_divide", "remainder", "fmod", "pow", "xlogy", "argmax", "argmin", "all", "any", "count_nonzero", "unique",
    "argsort", "amax", "amin", "sort", "median", "cummax", "topk", "kthvalue",
}  # fmt: skip


def _makes_complex32(one: Pair, other: Pair) -> bool:
    """Whether the common type is one that vkarray has not."""
    kinds = {one.theirs.dtype, other.theirs.dtype}
    return torch.float16 in kinds and any(kind.is_complex for kind in kinds)


def kind_of(chain: Chain) -> str:
    return chain.choice(("float", "float", "float", "integer", "integer", "complex", "bool"))


@operation(14)
def unary(chain: Chain) -> Step:
    kind = kind_of(chain)
    name, x = chain.choice(UNARY[kind].split()), chain.pair(kind)
    gradient = kind in ("float", "complex") and name not in NO_GRADIENT and chain.chance(0.3)
    return step(name, named(name), [x], gradient=gradient, is_view=name in MAY_BE_ITSELF)


@operation(16)
def binary(chain: Chain) -> Step:
    kind = kind_of(chain)
    name, x = chain.choice(BINARY[kind].split()), chain.pair(kind)
    y = chain.fresh(x.theirs.dtype, tuple(x.theirs.shape)) if name in OF_SAME_TYPE else chain.beside(x, kind)
    if chain.chance(0.2) and name not in OF_SAME_TYPE and kind in ("float", "integer"):
        scalar = chain.choice((2, 3, -1, 1)) if kind == "integer" else chain.choice((2, 0.5, -1.5, 3))
        return step(
            name,
            lambda one: getattr(one, name)(scalar) if hasattr(one, name) else named(name)(one, torch.tensor(scalar)),
            [x],
            scalar,
        )
    operands = [x, y] if chain.chance(0.7) or name in OF_SAME_TYPE else [y, x]
    gradient = kind == "float" and name not in NO_GRADIENT and chain.chance(0.25)
    return step(name, named(name), operands, gradient=gradient)


@operation(6)
def chosen(chain: Chain) -> Step | None:
    x = chain.pair()
    y, condition = chain.beside(x), chain.fresh(torch.bool, tuple(x.theirs.shape))
    if _makes_complex32(x, y):
        return None
    name, function = chain.choice((
        ("where", lambda a, b, c: torch.where(c, a, b)),
        ("masked_fill", lambda a, b, c: a.masked_fill(c, 1)),
        ("clamp", lambda a, b, c: torch.clamp(a, -1, 2)),
        ("masked_select", lambda a, b, c: torch.masked_select(a, c)),
        ("lerp", lambda a, b, c: torch.lerp(a, a * 2, 0.25)),
    ))  # fmt: skip
    return step(name, function, [x, y, condition])


@operation(5)
def converted(chain: Chain) -> Step | None:
    x, dtype = chain.pair(), chain.dtype()
    if x.theirs.dtype.is_complex and not dtype.is_complex:
        return None
    if dtype.is_floating_point or dtype.is_complex or not x.theirs.dtype.is_floating_point:
        return step("to", lambda one: one.to(dtype), [x], dtype, is_view=x.theirs.dtype == dtype)
    return (
        None
        if bool((x.theirs.double().abs() > 100).any() | torch.isnan(x.theirs).any()) or dtype is torch.uint8
        else step("to", lambda one: one.to(dtype), [x], dtype)
    )


REDUCTIONS = (
    "sum mean amax amin all any argmax argmin prod std var logsumexp softmax log_softmax cumsum cumprod count_nonzero norm "
    "median nansum sort flip cummax unique argsort topk kthvalue logcumsumexp"
)
OF_FLOATS = {"mean", "std", "var", "logsumexp", "softmax", "log_softmax", "norm", "nansum", "logcumsumexp"}


@operation(18)
def reduction(chain: Chain) -> Step:
    name = chain.choice(REDUCTIONS.split())
    kind = (
        "float"
        if name in OF_FLOATS
        else chain.choice(("float", "integer", "bool" if name in ("all", "any", "sum") else "float"))
    )
    x = chain.pair(kind, least=1)
    axis, keepdim = chain.integer(-x.theirs.ndim, x.theirs.ndim - 1), chain.chance(0.3)

    def function(one: Tensor) -> Any:
        if name in ("softmax", "log_softmax", "cumsum", "cumprod", "argsort", "logcumsumexp"):
            return getattr(torch, name)(one, axis) if name != "argsort" else torch.argsort(one, axis, stable=True)
        if name == "flip":
            return torch.flip(one, [axis])
        if name == "unique":
            return torch.unique(one, return_inverse=True, return_counts=True)
        if name == "count_nonzero":
            return torch.count_nonzero(one, axis)
        if name in ("sort", "cummax"):
            return torch.sort(one, axis, stable=True) if name == "sort" else torch.cummax(one, axis)
        if name == "topk":
            return torch.topk(one, min(2, one.shape[axis]), axis)[0]
        if name == "kthvalue":
            return torch.kthvalue(one, 1, axis)[0]
        if name == "median":
            return torch.median(one, axis)[0]
        return getattr(torch, name)(one, dim=axis, keepdim=keepdim)

    gradient = kind == "float" and name not in NO_GRADIENT and chain.chance(0.3)
    return step(name, function, [x], (axis, keepdim), gradient=gradient)


@operation(14)
def view(chain: Chain) -> Step:
    x = chain.pair(least=1)
    rank, axis = x.theirs.ndim, chain.integer(0, x.theirs.ndim - 1)
    side = x.theirs.shape[axis]
    order = [int(one) for one in chain.random.permutation(rank)]
    start = chain.integer(0, max(side - 1, 0))
    part, stride, other = chain.integer(0, side - start), chain.choice((1, 2, 3)), chain.integer(0, rank - 1)
    name, function = chain.choice((
        ("permute", lambda one: one.permute(order)), ("narrow", lambda one: one.narrow(axis, start, part)),
        ("slice", lambda one: one[(slice(None),) * axis + (slice(start, None, stride),)]),
        ("transpose", lambda one: one.transpose(axis, other)), ("unsqueeze", lambda one: one.unsqueeze(axis)),
        ("squeeze", lambda one: one.squeeze()), ("select", lambda one: one.select(axis, start)),
        ("reshape", lambda one: one.reshape(-1)), ("chunk", lambda one: one.chunk(2, axis)),
        ("flatten", lambda one: one.flatten()), ("movedim", lambda one: one.movedim(axis, other)),
        ("diagonal", lambda one: one.diagonal(0, axis, other)), ("unfold", lambda one: one.unfold(axis, 1, 1)),
    ))  # fmt: skip
    return step(name, function, [x], (axis, start, part, stride, order, other), is_view=True)


@operation(12)
def moved(chain: Chain) -> Step | None:
    x = chain.pair(least=1)
    if not x.theirs.numel():  # where nothing is read, no index is looked at
        return None
    rank, axis = x.theirs.ndim, chain.integer(-x.theirs.ndim, x.theirs.ndim - 1)
    count = chain.integer(0, 3)
    y = chain.fresh(x.theirs.dtype, tuple(x.theirs.shape))
    places = chain.fresh(torch.int64, (chain.integer(1, 5),))
    widths = [chain.integer(0, 2) for _ in range(2)]
    name, function = chain.choice((
        ("cat", lambda a, b, i: torch.cat([a, b], axis)), ("stack", lambda a, b, i: torch.stack([a, b], axis)),
        ("roll", lambda a, b, i: torch.roll(a, 2, axis)), ("repeat", lambda a, b, i: a.repeat(*[2] * rank)),
        ("repeat_interleave", lambda a, b, i: torch.repeat_interleave(a, count, axis)),
        ("index_select", lambda a, b, i: torch.index_select(a, axis, i)), ("take", lambda a, b, i: torch.take(a, i)),
        ("index", lambda a, b, i: a[i]), ("tril", lambda a, b, i: torch.tril(a)), ("pad", lambda a, b, i: F.pad(a, widths)),
        ("gather", lambda a, b, i: torch.gather(a, axis, torch.zeros_like(a, dtype=torch.int64))),
        ("nonzero", lambda a, b, i: torch.nonzero(a)), ("expand", lambda a, b, i: a.expand(2, *a.shape) + 0),
        ("bincount", lambda a, b, i: torch.bincount(i.abs())), ("one_hot", lambda a, b, i: F.one_hot(i, 8)),
        ("searchsorted", lambda a, b, i: torch.searchsorted(torch.sort(i)[0], i)),
    ))  # fmt: skip
    return step(name, function, [x, y, places], (axis, count, widths, places.theirs.tolist()))


@operation(12)
def in_place(chain: Chain) -> Step | None:
    x = chain.pair(chain.choice(("float", "float", "integer")))
    y, mask = chain.beside(x), chain.fresh(torch.bool, tuple(x.theirs.shape))
    if torch.broadcast_shapes(x.theirs.shape, y.theirs.shape) != x.theirs.shape:
        return None
    rank = x.theirs.ndim
    axis = chain.integer(-rank, rank - 1) if rank else 0
    if x.theirs.dtype is torch.uint8 and y.theirs.is_floating_point():  # what becomes of negative numbers is undefined
        return None
    if rank and not x.theirs.shape[axis]:  # the CPU has errors of its own there
        return None
    name, function = chain.choice((
        ("add_", lambda a, b, m: a.add_(b)), ("mul_", lambda a, b, m: a.mul_(b)), ("sub_", lambda a, b, m: a.sub_(b, alpha=2)),
        ("copy_", lambda a, b, m: a.copy_(b)), ("fill_", lambda a, b, m: a.fill_(3)), ("zero_", lambda a, b, m: a.zero_()),
        ("masked_fill_", lambda a, b, m: a.masked_fill_(m, 2)), ("clamp_", lambda a, b, m: a.clamp_(-2, 3)),
        ("neg_", lambda a, b, m: a.neg_()), ("set mask", lambda a, b, m: a.__setitem__(m, 1)),
        ("index_fill_", lambda a, b, m: a.index_fill_(axis, torch.zeros(1, dtype=torch.int64, device=a.device), 4)),
        ("addcmul_", lambda a, b, m: a.addcmul_(a, a)), ("lerp_", lambda a, b, m: a.lerp_(a * 2, 0.5)),
    ))  # fmt: skip
    return step(name, function, [x, y, mask], axis, in_place=True)


@operation(10)
def product(chain: Chain) -> Step:
    dtype = chain.choice((*chain.types["float"], *chain.types["complex"]))
    n, k, m, batch = chain.integer(1, 9), chain.integer(1, 9), chain.integer(1, 9), chain.integer(1, 3)
    name, shapes, function = chain.choice((
        ("mm", ((n, k), (k, m)), torch.mm), ("bmm", ((batch, n, k), (batch, k, m)), torch.bmm),
        ("matmul", ((batch, n, k), (k, m)), torch.matmul), ("mv", ((n, k), (k,)), torch.mv), ("dot", ((k,), (k,)), torch.dot),
        ("linear", ((batch, n, k), (m, k), (m,)), F.linear), ("addmm", ((m,), (n, k), (k, m)), torch.addmm),
        ("outer", ((n,), (m,)), torch.outer), ("einsum", ((n, k), (m, k)), lambda a, b: torch.einsum("ij,kj->ik", a, b)),
        ("baddbmm", ((batch, n, m), (batch, n, k), (batch, k, m)), torch.baddbmm),
    ))  # fmt: skip
    return step(name, function, [chain.fresh(dtype, shape) for shape in shapes], gradient=chain.chance(0.4))


@operation(12)
def layer(chain: Chain) -> Step:
    dtype = chain.choice([one for one in chain.types["float"] if one is not torch.float16])
    batch, channels, side = chain.integer(1, 3), chain.choice((2, 4)), chain.integer(4, 8)
    x, image = (batch, side, channels), (batch, channels, side, side)
    stride, padding, causal = chain.integer(1, 2), chain.integer(0, 1), chain.chance(0.5)
    name, shapes, function = chain.choice((
        ("layer_norm", (x, (channels,), (channels,)), lambda a, w, b: F.layer_norm(a, (channels,), w, b)),
        ("rms_norm", (x, (channels,)), lambda a, w: F.rms_norm(a, (channels,), w)),
        ("group_norm", (image, (channels,), (channels,)), lambda a, w, b: F.group_norm(a, 2, w, b)),
        # The CPU sums gradients of a batch of one in the wrong order where strides are not those of a whole tensor.
        ("batch_norm", (image, (channels,), (channels,)),
         lambda a, w, b: F.batch_norm(a if len(a) > 1 else a.contiguous(), None, None, w, b, True)),
        ("instance_norm", (image,), F.instance_norm),
        ("conv2d", (image, (4, channels, 3, 3), (4,)), lambda a, w, b: F.conv2d(a, w, b, stride, padding)),
        ("conv_transpose2d", (image, (channels, 3, 2, 2)), lambda a, w: F.conv_transpose2d(a, w, None, stride)),
        ("conv1d", ((batch, channels, side), (4, channels, 3)), lambda a, w: F.conv1d(a, w, None, stride, padding)),
        ("max_pool2d", (image,), lambda a: F.max_pool2d(a, 2, stride)),
        ("avg_pool2d", (image,), lambda a: F.avg_pool2d(a, 2, stride, padding)),
        ("adaptive_avg_pool2d", (image,), lambda a: F.adaptive_avg_pool2d(a, 3)),
        ("interpolate", (image,), lambda a: F.interpolate(a, scale_factor=2, mode="bilinear", align_corners=causal)),
        ("attention", (x, x, x), lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)),
        ("attention of heads", (image, image, image), lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)),
        ("glu", (x,), F.glu), ("normalize", (x,), F.normalize),
        ("pixel_shuffle", ((batch, 4, side, side),), lambda a: F.pixel_shuffle(a, 2)),
        ("cosine_similarity", (x, x), F.cosine_similarity),
        ("pairwise_distance", ((batch, side), (batch, side)), F.pairwise_distance),
        ("kl_div", (x, x), lambda a, b: F.kl_div(a.log_softmax(-1), b.softmax(-1), reduction="batchmean")),
        ("unfold of images", (image,), lambda a: F.unfold(a, 2, 1, padding, stride)),
        ("reflect pad", (image,), lambda a: F.pad(a, (1, 2, 0, 1), "reflect")),
    ))  # fmt: skip
    return step(
        name,
        function,
        [chain.fresh(dtype, shape) for shape in shapes],
        (stride, padding, causal),
        gradient=chain.chance(0.5),
    )


@operation(6)
def of_classes(chain: Chain) -> Step:
    dtype = chain.choice([one for one in chain.types["float"] if one.itemsize > 2])
    count, classes = chain.integer(1, 6), chain.integer(2, 7)
    # Now and then a class that is none, which each side refuses.
    targets = torch.from_numpy(chain.random.integers(0, classes + chain.chance(0.05), count))
    label, table = Pair(targets.to("vulkan"), targets), chain.fresh(dtype, (classes, 4))
    scores = chain.fresh(dtype, (count, classes))
    name, function = chain.choice((
        ("cross_entropy", lambda s, w, t: F.cross_entropy(s, t)), ("nll_loss", lambda s, w, t: F.nll_loss(s.log_softmax(-1), t)),
        ("embedding", lambda s, w, t: F.embedding(t, w)), ("embedding_bag", lambda s, w, t: F.embedding_bag(t, w, t[:1] * 0)),
        ("multi_margin_loss", lambda s, w, t: F.multi_margin_loss(s, t)),
        ("scatter_add", lambda s, w, t: s.scatter_add(1, t[:, None], s)),
        ("index_add", lambda s, w, t: w.index_add(0, t, s[:, :1].expand(-1, 4))),
        ("gather of classes", lambda s, w, t: s.gather(1, t[:, None])),
        ("one_hot of classes", lambda s, w, t: F.one_hot(t, classes)),
        ("smoothed", lambda s, w, t: F.cross_entropy(s, t, label_smoothing=0.1)),
        ("weighted", lambda s, w, t: F.cross_entropy(s, t, w[:, 0].abs().detach())),
    ))  # fmt: skip
    return step(name, function, [scores, table, label], gradient=chain.chance(0.5) and name != "one_hot of classes")


@operation(4)
def decomposed(chain: Chain) -> Step:
    dtype = chain.choice([one for one in (*chain.types["float"], *chain.types["complex"]) if one.itemsize > 2])
    n, batch = chain.integer(1, 6), chain.choice(((), (2,)))
    x = chain.fresh(dtype, (*batch, n, n))
    well = lambda a: a @ a.mH + n * torch.eye(n, dtype=dtype, device=a.device)  # noqa: E731
    name, function = chain.choice((
        ("solve", lambda a: torch.linalg.solve(well(a), a)), ("inv", lambda a: torch.linalg.inv(well(a))),
        ("det", lambda a: torch.linalg.det(well(a))), ("cholesky", lambda a: torch.linalg.cholesky(well(a))),
        ("svdvals", lambda a: torch.linalg.svdvals(well(a))), ("eigvalsh", lambda a: torch.linalg.eigvalsh(well(a))),
        ("qr", lambda a: torch.linalg.qr(well(a))[1].abs()),
        ("fft", torch.fft.fft), ("ifft2", torch.fft.ifft2), ("fftn", torch.fft.fftn),
        ("matrix_exp", lambda a: torch.linalg.matrix_exp(a / 10)), ("slogdet", lambda a: torch.linalg.slogdet(well(a))),
    ))  # fmt: skip
    return step(name, function, [x], gradient=chain.chance(0.3) and name not in ("slogdet",))
