"""Attention follows the CPU for every rank, mask and type: results, gradients, errors, inside vmap and compiled."""

from __future__ import annotations

import functools
import itertools

import pytest
import torch
from checks import needs_int64
from torch import nn
from torch.nn import functional as F

import vkarray as vx
import vkarray.torch
from vkarray.core.array import is_supported

DEVICE = "vulkan"

# Shapes of query, key and value. Those of 4 dimensions with the same batches go to a kernel of attention, others to PyTorch's
# composition of products and a softmax.
SHAPES = {
    "2 dimensions": ((5, 8), (7, 8), (7, 6)),
    "3 dimensions": ((4, 5, 8), (4, 7, 8), (4, 7, 6)),
    "4 dimensions": ((2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 6)),
    "5 dimensions": ((2, 3, 4, 5, 8), (2, 3, 4, 7, 8), (2, 3, 4, 7, 6)),
    "broadcast batches of keys": ((2, 4, 5, 8), (1, 4, 7, 8), (1, 4, 7, 6)),
    "broadcast batches of queries": ((1, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 6)),
    "one key for all queries' heads": ((2, 4, 5, 8), (2, 1, 7, 8), (2, 1, 7, 6)),
    "one value for all heads": ((2, 4, 5, 8), (2, 4, 7, 8), (2, 1, 7, 6)),
    "other ranks": ((4, 5, 8), (2, 4, 7, 8), (7, 6)),
    "grouped, 3 dimensions": ((4, 5, 8), (2, 7, 8), (2, 7, 6)),
    "grouped": ((2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 6)),
    "grouped, 5 dimensions": ((2, 2, 4, 5, 8), (2, 2, 2, 7, 8), (2, 2, 2, 7, 6)),
    "grouped, unequal": ((2, 4, 5, 8), (2, 2, 7, 8), (2, 1, 7, 6)),
    "grouped, no multiple": ((2, 4, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6)),
    "no queries": ((2, 4, 0, 8), (2, 4, 7, 8), (2, 4, 7, 6)),
    "no keys": ((2, 4, 5, 8), (2, 4, 0, 8), (2, 4, 0, 6)),
    "no batches": ((0, 4, 5, 8), (0, 4, 7, 8), (0, 4, 7, 6)),
    "no features": ((2, 4, 5, 0), (2, 4, 7, 0), (2, 4, 7, 6)),
    "no values": ((2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 0)),
    "1 dimension": ((8,), (8,), (8,)),
    "unequal features": ((2, 4, 5, 8), (2, 4, 7, 9), (2, 4, 7, 6)),
    "unequal lengths": ((2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 6, 6)),
}  # fmt: skip

# How a mask broadcasts: its shape from the batch dimensions of the scores, their rows and columns.
MASKS = {
    "whole": lambda batch, rows, columns: (*batch, rows, columns),
    "of all batches": lambda batch, rows, columns: (rows, columns),
    "a row": lambda batch, rows, columns: (1, columns),
    "a column": lambda batch, rows, columns: (*(1,) * len(batch), rows, 1),
    "too long": lambda batch, rows, columns: (rows + 1, columns),
    "too many dimensions": lambda batch, rows, columns: (3, 1, *batch, rows, columns),
}  # fmt: skip

MASK_TYPES = (torch.bool, torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64)
TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
TOLERANCE = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2, torch.float64: 1e-10}
HAS_FLOAT64 = is_supported(vx.float64, vx.asarray(0.0).device)


def _values(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def _mask(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """A mask that forbids every third score, and all of the second row where there is one."""
    allowed = torch.arange(torch.Size(shape).numel()).reshape(shape) % 3 != 0
    if len(shape) > 1 and shape[-2] > 1:
        allowed[..., 1, :] = False
    if dtype is torch.bool:
        return allowed
    numbers = _values(*shape, seed=9).to(dtype)
    return numbers if dtype is torch.int64 else numbers.masked_fill(~allowed, -torch.inf)


def _followed(where, given, mask, gradients, **options):
    """The result and the gradients of a call on a device, or the type of its error."""
    own = [one.clone().to(where).requires_grad_(gradients) for one in given]
    mask = None if mask is None else mask.clone().to(where)
    if gradients and mask is not None and mask.is_floating_point():
        own.append(mask.requires_grad_())
    try:
        result = F.scaled_dot_product_attention(*own[:3], mask, **options)
        if gradients:
            weights = torch.linspace(1, 2, result.numel()).to(result.dtype).reshape(result.shape)
            (result * weights.to(where)).sum().backward()
    except (IndexError, RuntimeError, ValueError) as error:
        return type(error)
    made = [result, *(one.grad for one in own)] if gradients else [result]
    return [None if one is None else one.detach().cpu() for one in made]


def _assert_as_on_the_cpu(given, mask=None, **options):
    for gradients in (True, False):
        expected, got = (_followed(where, given, mask, gradients, **options) for where in ("cpu", DEVICE))
        if isinstance(expected, type):
            assert got is expected
        else:
            assert not isinstance(got, type), got
            bound = max(TOLERANCE[one.dtype] for one in given)
            torch.testing.assert_close(got, expected, rtol=bound, atol=bound)


def _operands(shapes, dtype=torch.float32):
    return [_values(*shape, seed=place).to(dtype) for place, shape in enumerate(shapes)]


def _batch(shapes):
    return torch.broadcast_shapes(*(shape[:-2] for shape in shapes))


@needs_int64
@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_with_every_mask_follows_the_cpu(name):
    shapes = SHAPES[name]
    options = {"enable_gqa": name.startswith("grouped")}
    given = _operands(shapes)
    for option in ({}, {"is_causal": True}, {"scale": 0.3}, {"scale": -0.7}):
        _assert_as_on_the_cpu(given, **option, **options)
    if name == "1 dimension":
        return
    batch = shapes[0][:-2] if options["enable_gqa"] else _batch(shapes)
    for (kind, shape_of), dtype in itertools.product(MASKS.items(), (torch.bool, torch.float32)):
        if dtype is torch.bool or kind != "too many dimensions":
            mask = _mask(shape_of(batch, shapes[0][-2], shapes[1][-2]), dtype)
            _assert_as_on_the_cpu(given, mask, **options)
    _assert_as_on_the_cpu(given, _mask((shapes[0][-2], shapes[1][-2]), torch.bool), is_causal=True, **options)


@needs_int64
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["3 dimensions", "4 dimensions", "one key for all queries' heads", "grouped"])
def test_every_type_with_every_type_of_mask_follows_the_cpu(name, dtype):
    if not HAS_FLOAT64 and dtype is torch.float64:
        pytest.skip("the device has no shaderFloat64")
    shapes = SHAPES[name]
    given = _operands(shapes, dtype)
    options = {"enable_gqa": name == "grouped"}
    _assert_as_on_the_cpu(given, **options)
    for mask_type in MASK_TYPES if HAS_FLOAT64 else [one for one in MASK_TYPES if one is not torch.float64]:
        shape = (*shapes[0][:-1], shapes[1][-2])
        _assert_as_on_the_cpu(given, _mask(shape, mask_type), **options)


# Layouts of an operand (2, 4, 6, 8), and of its transposed.
LAYOUTS = {
    "transposed heads": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "transposed features": lambda x: x.mT.contiguous().mT,
    "stepped": lambda x: torch.stack([x, -x], -1).flatten(-2)[..., ::2],
    "sliced": lambda x: torch.cat([x, -x], 2)[:, :, : x.shape[2]],
    "expanded heads": lambda x: x[:, :1].expand(x.shape),
    "expanded batches": lambda x: x[:1].expand(x.shape),
}  # fmt: skip


@needs_int64
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_do_not_change_attention(layout):
    place = LAYOUTS[layout]
    for rank in (3, 4):
        given = [one if rank == 4 else one[0] for one in _operands([(2, 4, 6, 8)] * 3)]
        laid = [place(one) if rank == 4 else place(one[None].expand(2, *one.shape))[0] for one in given]
        for dtype in (torch.bool, torch.float32):
            mask = place(_mask((2, 4, 6, 6), torch.float32)) > -9
            mask = mask if dtype is torch.bool else mask.to(dtype)
            mask = mask if rank == 4 else mask[0]
            expected = F.scaled_dot_product_attention(*laid, mask)
            on_device = [
                place(one.to(DEVICE)) if rank == 4 else one.to(DEVICE) for one in (given if rank == 4 else laid)
            ]
            got = F.scaled_dot_product_attention(*on_device, mask.to(DEVICE))
            torch.testing.assert_close(got.cpu(), expected, rtol=1e-5, atol=1e-5)


@needs_int64
@pytest.mark.parametrize("rank", [2, 3, 4, 5])
def test_dropout_keeps_probabilities_times_its_scale(rank):
    # With a unit matrix as value the result is what dropout made of the probabilities.
    heads = (2, 2, 2)[: rank - 2]
    query, key = (_values(*heads, 64, 8, seed=seed).to(DEVICE) for seed in (0, 1))
    value = torch.eye(64, device=DEVICE).expand(*heads, 64, 64)
    mask = _mask((64, 64), torch.bool).to(DEVICE)
    probabilities = F.scaled_dot_product_attention(query, key, value, mask)
    dropped = F.scaled_dot_product_attention(query, key, value, mask, dropout_p=0.25)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], (probabilities / 0.75)[kept], rtol=1e-6, atol=0)
    share = float(kept.sum() / (probabilities != 0).sum())
    assert 0.7 < share < 0.8
    assert not F.scaled_dot_product_attention(query, key, value, dropout_p=1.0).any()


def _written_out(query, key, value, mask):
    added = mask if mask.is_floating_point() else torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    none = added.isneginf().all(-1, keepdim=True)  # rows that look at nothing are zeros
    scores = (query @ key.mT) / query.shape[-1] ** 0.5 + added.masked_fill(none, 0.0)
    return scores.softmax(-1).masked_fill(none, 0.0) @ value


@needs_int64
@pytest.mark.filterwarnings("ignore:.*torch.jit.script")  # of which forward derivatives remind
@pytest.mark.parametrize("dtype", [torch.bool, torch.float32])
@pytest.mark.parametrize("rank", [3, 4, 5])
def test_attention_inside_transforms_and_compiled(rank, dtype):
    shapes = [one[-rank:] for one in SHAPES["5 dimensions"]]
    given, mask = _operands(shapes), _mask((shapes[0][-2], shapes[1][-2]), dtype)

    def attend(query, key, value, mask):
        return F.scaled_dot_product_attention(query, key, value, mask)

    def slope(*given):
        return torch.func.grad(lambda *one: attend(*one).square().sum(), argnums=(0, 1, 2))(*given)

    calls = {
        "vmap": torch.vmap(attend, in_dims=(0, 0, 0, None)),
        "vmap of the query": torch.vmap(lambda q, k, v, m: attend(q, k[0], v[0], m), in_dims=(0, None, None, None)),
        "vmap of the mask": lambda q, k, v, m: torch.vmap(attend, in_dims=(None, None, None, 0))(
            q, k, v, torch.stack([m, m.flip(0)])
        ),
        "grad": slope,
        "grad inside vmap": torch.vmap(slope, in_dims=(0, 0, 0, None)),
        "forward derivatives": lambda *given: torch.func.jvp(lambda *one: attend(*one, given[3]), given[:3], given[:3])[
            1
        ],
        "compiled": torch.compile(attend, backend="aot_eager"),
    }
    for name, call in calls.items():
        if name == "grad inside vmap":  # on the CPU PyTorch's own kernel may look for the memory of such tensors
            each = [slope(*(one[place] for one in given), mask) for place in range(given[0].shape[0])]
            expected = tuple(torch.stack(one) for one in zip(*each, strict=True))
        elif name == "forward derivatives":  # which the CPU's kernel has not
            written = functools.partial(_written_out, mask=mask)
            expected = torch.func.jvp(written, tuple(given), tuple(given))[1]
        else:
            expected = call(*given, mask)
        got = call(*(one.to(DEVICE) for one in given), mask.to(DEVICE))
        found = [one.cpu() for one in got] if isinstance(got, tuple) else got.cpu()
        torch.testing.assert_close(
            found, list(expected) if isinstance(expected, tuple) else expected, rtol=1e-5, atol=1e-5,
            msg=lambda text, at=name: f"{at}: {text}",
        )  # fmt: skip


@needs_int64
@pytest.mark.parametrize("dtype", [torch.bool, torch.float32])
@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("kind", ["rows", "heads", "padding", "both"])
def test_multihead_attention_follows_the_cpu(kind, weights, dtype):
    # Here a mask of bools is true where nothing may be looked at.
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    x = _values(3, 5, 8)
    rows = {"rows": (5, 5), "heads": (6, 5, 5), "both": (5, 5)}.get(kind)
    mask = padding = None
    if rows is not None:
        forbidden = torch.arange(torch.Size(rows).numel()).reshape(rows) % 4 == 1
        mask = forbidden if dtype is torch.bool else torch.zeros(rows).masked_fill(forbidden, -torch.inf)
    if kind in ("padding", "both"):
        forbidden = torch.arange(5) >= torch.tensor([[5], [3], [4]])
        padding = forbidden if dtype is torch.bool else torch.zeros(3, 5).masked_fill(forbidden, -torch.inf)
    results = []
    for where in ("cpu", DEVICE):
        for training in (True, False):
            layer.to(where).train(training).zero_grad()
            own = [None if one is None else one.to(where) for one in (x, mask, padding)]
            made, shares = layer(
                own[0], own[0], own[0], attn_mask=own[1], key_padding_mask=own[2], need_weights=weights
            )  # fmt: skip
            made.square().sum().backward()
            gradient = layer.in_proj_weight.grad
            results.append([one.detach().cpu().clone() for one in (made, gradient, shares) if one is not None])
    torch.testing.assert_close(results[2:], results[:2], rtol=1e-4, atol=1e-5)
