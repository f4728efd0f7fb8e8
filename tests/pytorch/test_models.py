"""Models of `transformers`, small and with random weights, against the CPU: outputs, steps of training, generated text.

`test_layers.py` and `test_convolution.py` look at the gradients of single passes; here are the sharper bounds, and programs.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from checks import needs_int64, settle
from torch.nn import functional as F

transformers = pytest.importorskip("transformers")
pytestmark = needs_int64

DEVICE = "vulkan"
EPS = torch.finfo(torch.float32).eps
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
WORDS = {**SIZES, "vocab_size": 99, "max_position_embeddings": 32}
TOKENS = {"input_ids": torch.randint(99, (2, 17), generator=torch.Generator().manual_seed(1))}


def _images(size: int, count: int = 2) -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(1))}


def _whisper() -> torch.nn.Module:
    config = transformers.WhisperConfig(
        d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=64, num_mel_bins=8, max_source_positions=50,
        decoder_layers=1, decoder_attention_heads=4, decoder_ffn_dim=64, vocab_size=99, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    return transformers.WhisperModel(config).encoder


def _sound() -> dict[str, torch.Tensor]:
    return {"input_features": torch.randn(2, 8, 100, generator=torch.Generator().manual_seed(1))}


def _mobilenet(**configuration: Any) -> torch.nn.Module:
    model = transformers.MobileNetV2ForImageClassification(
        transformers.MobileNetV2Config(depth_multiplier=0.35, image_size=64, num_labels=4, **configuration)
    )
    settle(model, _images(64, 8))
    return model


GPT2 = {
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "vocab_size": 99,
    "n_positions": 32,
    "eos_token_id": 98,
    "bos_token_id": 98,
}
# How a model is made, what it is given, and how many roundings of the largest number its output may be off: some dozens for each
# layer, and more where many layers follow each other.
MODELS = {
    "BERT": (lambda: transformers.BertModel(transformers.BertConfig(**WORDS)), TOKENS, 64),
    "GPT-2": (lambda: transformers.GPT2Model(transformers.GPT2Config(**GPT2)), TOKENS, 64),
    "Llama": (
        lambda: transformers.LlamaModel(transformers.LlamaConfig(**WORDS, num_key_value_heads=2)), TOKENS, 64,
    ),
    "ViT": (lambda: transformers.ViTModel(transformers.ViTConfig(**SIZES, image_size=32, patch_size=8)), _images(32), 64),
    "Whisper encoder": (_whisper, _sound(), 64),
    "MobileNetV2": (_mobilenet, _images(64), 1024),
}  # fmt: skip


def made(name: str) -> torch.nn.Module:
    """A model on the CPU, the same on every call."""
    torch.manual_seed(0)
    return MODELS[name][0]().eval()


def moved(given: dict[str, torch.Tensor], dtype: torch.dtype | None = None) -> dict[str, torch.Tensor]:
    """Inputs on the device."""
    return {key: one.to(DEVICE, dtype if one.is_floating_point() else None) for key, one in given.items()}


@pytest.mark.parametrize("name", MODELS)
def test_outputs(name):
    model, (_, given, roundings) = made(name), MODELS[name]
    with torch.inference_mode():
        expected = model(**given)[0]
        got = model.to(DEVICE)(**moved(given))[0].cpu()
    assert expected.abs().max() > 0.01
    torch.testing.assert_close(got, expected, rtol=0, atol=roundings * EPS * float(expected.abs().max()))


# In bfloat16 the CPU's own MobileNetV2 is off by as much as its output is large.
@pytest.mark.parametrize(
    ("name", "dtype"), [("BERT", torch.float16), ("BERT", torch.bfloat16), ("MobileNetV2", torch.float16)]
)
def test_outputs_of_short_types(name, dtype):
    """As near to float32 as the CPU's of the type are, and finite."""
    model, (_, given, _) = made(name), MODELS[name]
    with torch.inference_mode():
        exact = model(**given)[0]
        short = {key: one.to(dtype) if one.is_floating_point() else one for key, one in given.items()}
        expected = copy.deepcopy(model).to(dtype)(**short)[0].float()
        got = model.to(DEVICE, dtype)(**moved(given, dtype))[0].cpu().float()
    allowed = 2 * float((expected - exact).abs().max())
    assert 0 < allowed < float(exact.abs().max())
    torch.testing.assert_close(got, exact, rtol=0, atol=allowed)


@pytest.mark.parametrize("name", ["BERT", "MobileNetV2"])
def test_a_step_of_training(name):
    """Loss, gradients and new parameters are as near to float64 as the CPU's, but for a factor, for sums are in another order;
    or as those of weights that are off by as many roundings as a layer makes forwards and backwards, for the CPU has luck.

    The activation has to be smooth for that. With MobileNetV2's ReLU6 an activation that rounding moves past 0 or 6 changes
    gradients by itself, through batch norm over few values those of all layers below: the CPU, given inputs that are off by one
    rounding, is then off by a thousand times more than without. `test_elementwise.py` has ReLU6 alone.
    """
    torch.manual_seed(0)
    if name == "BERT":
        configuration = transformers.BertConfig(
            **WORDS, hidden_dropout_prob=0, attention_probs_dropout_prob=0, num_labels=4
        )
        model, given = transformers.BertForSequenceClassification(configuration), TOKENS
    else:
        model, given = _mobilenet(hidden_act="silu"), _images(32, 8)
        model.dropout.p = 0.0

    def step(where: str, dtype: torch.dtype, moved_by: float = 0.0) -> list[torch.Tensor]:
        trained = copy.deepcopy(model).train().to(where, dtype)
        with torch.no_grad():
            for one in trained.parameters() if moved_by else ():
                one.mul_(1 + moved_by * (2 * torch.rand(one.shape, dtype=dtype) - 1))
        optimizer = torch.optim.AdamW(trained.parameters(), lr=1e-3, eps=1e-3)
        inputs = {key: one.to(where, dtype if one.is_floating_point() else None) for key, one in given.items()}
        logits = trained(**inputs).logits
        loss = F.cross_entropy(logits, torch.arange(len(logits), device=where) % 4)
        loss.backward()
        optimizer.step()
        parameters = list(trained.parameters())
        return [one.detach().cpu().double() for one in (loss, *[one.grad for one in parameters], *parameters)]

    exact, got = step("cpu", torch.float64), step(DEVICE, torch.float32)
    expected, moved = step("cpu", torch.float32), step("cpu", torch.float64, 32 * EPS)
    for wanted, actual, peer, other in zip(exact, got, expected, moved, strict=True):
        largest = float(wanted.abs().max())
        near = max(8 * float((peer - wanted).abs().max()), float((other - wanted).abs().max()))
        allowed = near + 64 * EPS * largest
        torch.testing.assert_close(actual, wanted, rtol=0, atol=allowed + 1e-9)


@pytest.mark.parametrize("name", ["GPT-2", "Llama"])
def test_text_is_generated_with_a_cache(name):
    torch.manual_seed(0)
    if name == "GPT-2":
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2)).eval()
    else:
        configuration = transformers.LlamaConfig(**WORDS, num_key_value_heads=2, eos_token_id=98, bos_token_id=98)
        model = transformers.LlamaForCausalLM(configuration).eval()
    prompt = TOKENS["input_ids"][:, :5]
    mask = torch.ones_like(prompt)
    mask[1, :2] = 0  # padding before the shorter prompt
    options = {"max_new_tokens": 6, "do_sample": False, "use_cache": True, "pad_token_id": 98}
    expected = model.generate(prompt, attention_mask=mask, **options)
    got = model.to(DEVICE).generate(prompt.to(DEVICE), attention_mask=mask.to(DEVICE), **options)
    assert got.device.type == DEVICE
    assert got.tolist() == expected.tolist()
