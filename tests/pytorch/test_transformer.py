"""Attention modules in evaluation, which call one operator of PyTorch's for a whole layer: as on the CPU, padded and not."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from checks import needs_int64
from torch import nn

BATCH, LENGTH, WIDTH, HEADS = 3, 5, 16, 4
# How many elements of each sequence are none: left-aligned padding, none, and padding anywhere.
PADDING = {
    "without padding": None,
    "padded at the end": [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0], [0, 1, 1, 1, 1]],
    "padded anywhere": [[1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 1, 0, 1, 1]],
}


def _padding(name: str) -> torch.Tensor | None:
    return None if PADDING[name] is None else torch.tensor(PADDING[name], dtype=torch.bool)


def _moved(value: torch.Tensor | None) -> torch.Tensor | None:
    return None if value is None else value.to("vulkan")


@needs_int64
@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize(("activation", "norm_first"), [*itertools.product(("relu", "gelu"), (False, True))])
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")  # of the CPU's own way
def test_encoder_is_as_on_the_cpu(padding, activation, norm_first, gradients):
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(
        WIDTH, HEADS, 24, activation=activation, norm_first=norm_first, batch_first=True, dtype=torch.float32
    )
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=not norm_first).eval()
    x, mask = torch.randn(BATCH, LENGTH, WIDTH), _padding(padding)
    with torch.set_grad_enabled(gradients):
        expected = encoder(x, src_key_padding_mask=mask).detach()
        actual = encoder.to("vulkan")(x.to("vulkan"), src_key_padding_mask=_moved(mask)).cpu()
    assert actual.shape == expected.shape
    kept = slice(None) if mask is None else ~mask  # PyTorch leaves zeros in place of padding where it nests tensors
    torch.testing.assert_close(actual[kept], expected[kept], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("weights", ["none", "averaged", "of each head"])
def test_multi_head_attention_is_as_on_the_cpu(padding, causal, weights):
    torch.manual_seed(2)
    module = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).eval()
    x, mask = torch.randn(BATCH, LENGTH, WIDTH), _padding(padding)
    if causal and mask is not None:
        mask[:, 0] = False  # a row that may look at nothing has no result
    scores = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1) if causal else None
    options = {"need_weights": weights != "none", "average_attn_weights": weights == "averaged"}
    with torch.inference_mode():
        expected, its_weights = module(x, x, x, key_padding_mask=mask, attn_mask=scores, **options)
        y = x.to("vulkan")
        actual, our_weights = module.to("vulkan")(
            y, y, y, key_padding_mask=_moved(mask), attn_mask=_moved(scores), **options
        )
    torch.testing.assert_close(actual.cpu(), expected, rtol=1e-4, atol=1e-5)
    assert (our_weights is None) == (its_weights is None)
    if its_weights is not None:
        torch.testing.assert_close(our_weights.cpu(), its_weights, rtol=1e-4, atol=1e-6)


def test_queries_keys_and_values_may_differ():
    torch.manual_seed(3)
    given = [torch.randn(2, 4, 8) for _ in range(3)]
    weights = [torch.randn(24, 8), torch.randn(24), torch.randn(8, 8), torch.randn(8)]
    expected = torch._native_multi_head_attention(*given, 8, 2, *weights)
    moved = [one.to("vulkan") for one in (*given, *weights)]
    actual = torch._native_multi_head_attention(*moved[:3], 8, 2, *moved[3:])
    for ours, its in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), its, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_softmax_leaves_out_what_is_masked(kind):
    generator = torch.Generator().manual_seed(4)
    scores = torch.randn(2, 3, 4, 4, generator=generator)
    shape = {0: (4, 4), 1: (2, 4), 2: (2, 3, 4, 4)}[kind]
    mask = torch.rand(shape, generator=generator) < 0.4
    mask[..., 0] = False
    expected = torch._masked_softmax(scores, mask, 3, kind)
    actual = torch._masked_softmax(scores.to("vulkan"), mask.to("vulkan"), 3, kind)
    torch.testing.assert_close(actual.cpu(), expected)
    gradient = torch.randn(scores.shape, generator=generator)
    spread = mask if kind != 1 else mask.reshape(2, 1, 1, 4)
    spread = spread.expand(scores.shape).contiguous()
    expected = torch.ops.aten._masked_softmax_backward(gradient, expected, spread, 3)
    actual = torch.ops.aten._masked_softmax_backward(gradient.to("vulkan"), actual, spread.to("vulkan"), 3)
    torch.testing.assert_close(actual.cpu(), expected)


def test_queries_come_divided_by_the_root_of_their_length():
    qkv, bias = torch.arange(48.0).reshape(1, 4, 12), torch.arange(12.0)
    expected = torch.ops.aten._transform_bias_rescale_qkv(qkv, bias, 2)
    actual = torch.ops.aten._transform_bias_rescale_qkv(qkv.to("vulkan"), bias.to("vulkan"), 2)
    for ours, its in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), its, rtol=1e-6, atol=1e-6)
    assert math.isclose(float(actual[0][0, 0, 0, 1]), 2 / math.sqrt(2), rel_tol=1e-6)


def test_nested_tensors_of_masks_are_refused_with_a_remedy():
    x, mask = torch.zeros(2, 3, 4, device="vulkan"), torch.ones(2, 3, dtype=torch.bool, device="vulkan")
    with pytest.raises(NotImplementedError, match="enable_nested_tensor=False"):
        torch._nested_tensor_from_mask(x, mask, mask_check=False)
