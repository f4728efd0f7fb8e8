"""Layers of neural networks on the device: gradients by finite differences, layouts, PyTorch's errors, whole models."""

from __future__ import annotations

import importlib.util

import pytest
import torch
from checks import assert_passes_as_on_the_cpu
from torch import nn
from torch.nn import functional

import vkarray as vx
import vkarray.torch
from vkarray.core.array import is_supported

DOUBLE = is_supported(vx.float64, vx.asarray(0.0).device)


def device(*shape: int, low: float = -1.0, dtype=torch.float64) -> torch.Tensor:
    """A leaf on the device whose gradients are checked."""
    values = torch.rand(shape, dtype=dtype, generator=torch.Generator().manual_seed(sum(shape))) * 2 + low
    return values.to("vulkan").requires_grad_()


def _batch_norm(x, w, b):
    return functional.batch_norm(x, None, None, w, b, training=True)


def _embedding(w):
    return functional.embedding(torch.tensor([[1, 2, 1], [0, 3, 1]], device="vulkan"), w)


def _scatter(x, y):
    return x.scatter_add(1, torch.tensor([[0, 2, 0, 1]] * 3, device="vulkan"), y)


def _index_put(x, y):
    places = torch.tensor([0, 2, 0], device="vulkan")
    return x.index_put((places,), y, accumulate=True)


def _nll_loss(x):
    weight = torch.tensor([1.0, 2.0, 0.5, 1.0], dtype=torch.float64, device="vulkan")
    return functional.cross_entropy(x, torch.tensor([0, 3, 2], device="vulkan"), weight, ignore_index=2)


def _attention(q, k, v, mask):
    return functional.scaled_dot_product_attention(q, k, v, mask)


GRADIENTS = {
    "softmax": (lambda x: x.softmax(1), (3, 5, 2)), "log_softmax": (lambda x: x.log_softmax(-1), (3, 5)),
    "layer_norm": (lambda x, w, b: functional.layer_norm(x, (4, 5), w, b), (3, 4, 5), (4, 5), (4, 5)),
    "rms_norm": (lambda x, w: functional.rms_norm(x, (5,), w), (3, 5), (5,)),
    "group_norm": (lambda x, w, b: functional.group_norm(x, 2, w, b), (2, 4, 3, 2), (4,), (4,)),
    "batch_norm": (_batch_norm, (4, 3, 2), (3,), (3,)),
    "embedding": (_embedding, (4, 3)), "nll_loss": (_nll_loss, (3, 4)),
    "gather": (lambda x: x.gather(1, torch.tensor([[0, 2, 2]] * 3, device="vulkan")), (3, 4)),
    "scatter_add": (_scatter, (3, 4), (3, 4)), "index_put": (_index_put, (3, 2), (3, 2)),
    "index": (lambda x: x[torch.tensor([0, 2, 2], device="vulkan"), 1:], (3, 4)),
    "attention": (_attention, (1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 3), (3, 5)),
    "causal attention": (
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True), *[(1, 2, 4, 4)] * 3,
    ),
    "grouped attention": (
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, enable_gqa=True), (1, 4, 3, 4), (1, 2, 3, 4),
        (1, 2, 3, 4),
    ),
    "sort": (lambda x: x.sort(dim=0, descending=True)[0], (5, 3)), "topk": (lambda x: x.topk(2)[0], (3, 5)),
}  # fmt: skip


@pytest.mark.skipif(not DOUBLE, reason="finite differences need float64")
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    function, *shapes = GRADIENTS[name]
    assert torch.autograd.gradcheck(function, [device(*shape) for shape in shapes], nondet_tol=0)


LAYERS = {
    "softmax": lambda x: x.softmax(1), "layer_norm": lambda x: functional.layer_norm(x, x.shape[2:]),
    "group_norm": lambda x: functional.group_norm(x, 2),
    "batch_norm": lambda x: functional.batch_norm(x, None, None, training=True),
    "gather": lambda x: x.gather(1, torch.zeros((2, 3, 2, 2), dtype=torch.int64, device=x.device)),
    "attention": lambda x: functional.scaled_dot_product_attention(x, x, x), "sort": lambda x: x.sort(1)[0],
    "index": lambda x: x[:, torch.tensor([1, 0], device=x.device)], "mask": lambda x: x[x > 0],
}  # fmt: skip
LAYOUTS = {
    "channels_last": lambda x: x.contiguous(memory_format=torch.channels_last), "transposed": lambda x: x.mT.contiguous().mT,
    "sliced": lambda x: x.repeat(1, 2, 1, 1)[:, : x.shape[1]], "stepped": lambda x: x.repeat_interleave(2, 3)[..., ::2],
    "expanded": lambda x: x[:1].expand(x.shape),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LAYERS)
def test_results_do_not_depend_on_layout(name, layout):
    x = LAYOUTS[layout](torch.randn(4, 4, 6, 6, generator=torch.Generator().manual_seed(0)))
    expected = LAYERS[name](x)
    got = LAYERS[name](LAYOUTS[layout](x.contiguous().to("vulkan")))
    # A few roundings of numbers up to 4.
    torch.testing.assert_close(got.cpu(), expected, rtol=2e-6, atol=4e-6)


ERRORS = {
    "layer_norm": lambda x: functional.layer_norm(x, (4,)),
    "group_norm": lambda x: functional.group_norm(x, 5),
    "batch_norm": lambda x: functional.batch_norm(x, None, None, torch.ones(5, device=x.device), training=True),
    "softmax": lambda x: x.softmax(7),
    "gather": lambda x: x.gather(0, torch.zeros((2, 9), dtype=torch.int64, device=x.device)),
    "gather type": lambda x: x.gather(0, x),
    "index": lambda x: x[torch.zeros(2, dtype=torch.int64, device=x.device), torch.zeros(3, dtype=torch.int64, device=x.device)],
    "mask": lambda x: x[torch.ones(3, dtype=torch.bool, device=x.device)],
    "index_put": lambda x: x.index_put_((torch.zeros(2, dtype=torch.int64, device=x.device),), torch.ones(3, device=x.device)),
    "topk": lambda x: x.topk(7), "nll_loss": lambda x: functional.nll_loss(x, torch.zeros(3, dtype=torch.int64, device=x.device)),
    "embedding": lambda x: functional.embedding(x, x),
    "attention": lambda x: functional.scaled_dot_product_attention(x, x[:, :4], x),
    "index_add": lambda x: x.index_add(0, torch.zeros(2, dtype=torch.int64, device=x.device), x[:3]),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_the_cpu(name):
    x = torch.randn(4, 6)
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever the CPU raises
        ERRORS[name](x)
    with pytest.raises(expected.type):
        ERRORS[name](x.to("vulkan"))


def test_an_index_out_of_range_raises():
    x = torch.zeros(4, 3, device="vulkan")
    with pytest.raises(IndexError):
        x[torch.tensor([0, 9], device="vulkan")].cpu()


@pytest.mark.parametrize("options", [{}, {"foreach": True}, {"fused": True}, {"foreach": False}])
@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
def test_optimizers_step_as_on_the_cpu(kind, options):
    results = []
    for where, given in (("cpu", {}), ("vulkan", options)):
        parameters = [torch.linspace(-1, 1, count).reshape(shape).to(where).requires_grad_()
                      for count, shape in ((3, (3,)), (280, (40, 7)), (16, (2, 2, 2, 2)), (1, ()))]  # fmt: skip
        parameters[2] = parameters[2].detach().to(memory_format=torch.channels_last).requires_grad_()
        optimizer = kind(parameters, lr=0.1, weight_decay=0.01, **given)
        for step in range(3):
            for one in parameters:
                one.grad = torch.linspace(-2, 1, one.numel()).roll(step).reshape(one.shape).to(where)
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
        results.append([one.detach().cpu() for one in parameters])
    for expected, got in zip(*results, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("case", ["plain", "causal", "bool", "added", "grouped"])
def test_attention_of_16_bits_without_gradients(dtype, case):
    """By one kernel where the device has fragments: scores of float32, powers and results rounded to the type."""
    torch.manual_seed(0)
    heads = 2 if case == "grouped" else 4
    q, k, v = (torch.randn(2, 20, count, 16, dtype=dtype).transpose(1, 2) for count in (4, heads, heads))
    mask = {"bool": torch.rand(2, 1, 20, 20) < 0.7, "added": torch.randn(20, 20, dtype=dtype)}.get(case)
    options = {"is_causal": case == "causal", "enable_gqa": case == "grouped"}
    with torch.no_grad():
        wide = mask.double() if case == "added" else mask
        expected = functional.scaled_dot_product_attention(*(one.double() for one in (q, k, v)), wide, **options)
        on_device = [one.to("vulkan") for one in (q, k, v)] + [None if mask is None else mask.to("vulkan")]
        found = functional.scaled_dot_product_attention(*on_device, **options).cpu()
    assert found.dtype is dtype
    # Scores of about 4 and powers may be rounded to the type, and so is the result.
    bound = 8 * torch.finfo(dtype).eps * v.abs().max()
    assert (found.double() - expected).abs().max() < bound


def test_dropout_in_attention_is_undone_by_none():
    q = torch.randn(1, 2, 5, 8).to("vulkan")
    torch.manual_seed(3)
    first = functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
    torch.manual_seed(3)
    assert torch.equal(functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5).cpu(), first.cpu())
    assert not torch.equal(functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5).cpu(), first.cpu())


# -- models -----------------------------------------------------------------------------------------------------------

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 99}
MODELS = {
    "BERT": ("BertForSequenceClassification", "BertConfig", {**SIZES, "max_position_embeddings": 32}),
    "GPT-2": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99, "n_positions": 32}),
    "Llama": ("LlamaForCausalLM", "LlamaConfig", {**SIZES, "num_key_value_heads": 2, "max_position_embeddings": 32}),
}  # fmt: skip


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="needs transformers")
@pytest.mark.parametrize("name", MODELS)
def test_models_of_transformers(name):
    """Forward and backward without the CPU (the tests run in strict mode), with padding."""
    import transformers

    model_name, configuration, sizes = MODELS[name]
    torch.manual_seed(0)
    model = getattr(transformers, model_name)(getattr(transformers, configuration)(**sizes)).eval()
    tokens = torch.randint(0, 99, (2, 17))
    mask = torch.ones_like(tokens)
    mask[1, 10:] = 0
    given = {"input_ids": tokens, "attention_mask": mask, "labels": torch.tensor([0, 1]) if name == "BERT" else tokens}

    def passes(where):
        result = model(**{each: value.to(where) for each, value in given.items()})
        result.loss.backward()
        return result.logits

    assert_passes_as_on_the_cpu(model, passes)
