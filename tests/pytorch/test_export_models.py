"""Models of transformers and diffusers as programs, small and with random weights, against the CPU."""

from __future__ import annotations

import pytest
import torch
from checks import needs_int64
from test_export import arrays, assert_agrees

import vkarray.torch

transformers = pytest.importorskip("transformers")
pytestmark = needs_int64

from test_models import GPT2, MODELS, TOKENS, made  # noqa: E402 - which needs the package too

LENGTHS = {0: torch.export.Dim("batch", min=1, max=8), 1: torch.export.Dim("length", min=2, max=32)}
WITHOUT_CACHE = {**TOKENS, "use_cache": False}


def _residual() -> torch.nn.Module:
    """ResNet-50, but for its widths."""
    sizes = {"embedding_size": 8, "hidden_sizes": [16, 16, 32, 32], "depths": [3, 4, 6, 3]}
    return transformers.ResNetModel(transformers.ResNetConfig(**sizes))


def _t5() -> torch.nn.Module:
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1, "num_heads": 4, "vocab_size": 99}
    return transformers.T5Model(transformers.T5Config(**sizes, decoder_start_token_id=0))


def _swin() -> torch.nn.Module:
    sizes = {
        "image_size": 32,
        "patch_size": 2,
        "embed_dim": 16,
        "depths": [2, 2],
        "num_heads": [2, 4],
        "window_size": 4,
    }
    return transformers.SwinModel(transformers.SwinConfig(**sizes))


# Models besides those of `test_models.py`, what they are given, and how many roundings they may be off.
FURTHER = {
    "ResNet-50": (_residual, {"pixel_values": torch.rand(2, 3, 64, 64)}, 1024),
    "T5": (_t5, {**WITHOUT_CACHE, "decoder_input_ids": TOKENS["input_ids"][:, :5]}, 256),
    "Swin": (_swin, {"pixel_values": torch.rand(2, 3, 32, 32)}, 256),
}


@pytest.mark.parametrize("name", [*MODELS, *FURTHER])
def test_models(name, tmp_path):
    if name in FURTHER:
        torch.manual_seed(0)
        make, given, roundings = FURTHER[name]
        model = make().eval()
    else:
        model, (_, given, roundings) = made(name), MODELS[name]
        given = {**given, "use_cache": False} if name in ("GPT-2", "Llama") else given
    program = vkarray.torch.export(model, (), given)
    assert_agrees(program, model, (), given, tmp_path / "model.vkp", roundings)


@pytest.mark.parametrize("name", ["BERT", "Llama"])
def test_batches_and_lengths_vary(name, tmp_path):
    model = made(name)
    given = {"input_ids": TOKENS["input_ids"], "attention_mask": torch.ones_like(TOKENS["input_ids"])}
    given |= {"use_cache": False} if name == "Llama" else {}
    shapes = {key: LENGTHS if isinstance(one, torch.Tensor) else None for key, one in given.items()}
    program = vkarray.torch.export(model, (), given, dynamic_shapes=shapes)
    for batch, length in ((1, 3), (5, 30)):
        tokens = torch.randint(99, (batch, length))
        others = given | {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        assert_agrees(program, model, (), others, tmp_path / "model.vkp", 64)


def test_steps_of_generation(tmp_path):
    """A program for the beginning returns the cache, which one for the next token takes."""
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2)).eval()
    tokens = TOKENS["input_ids"]
    with torch.inference_mode():
        expected = model(tokens, use_cache=False).logits[:, -1:]
        # transformers 5.24 calls ``cache`` what earlier versions call ``past_key_values``.
        ((name, cache),) = [(key, one) for key, one in model(tokens[:, :-1]).items() if key != "logits"]
    first = vkarray.torch.export(model, (), {"input_ids": tokens[:, :-1]})
    following = vkarray.torch.export(model, (), {"input_ids": tokens[:, -1:], name: cache})
    kept = first(input_ids=arrays(tokens[:, :-1]))[name]
    got = following(input_ids=arrays(tokens[:, -1:]), **{name: kept})
    assert got[name]["key_cache"][0].shape[2] == tokens.shape[1]
    torch.testing.assert_close(vkarray.torch.to_torch(got["logits"]), expected, rtol=1e-4, atol=1e-5)


def test_tied_weights_are_there_once(tmp_path):
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2 | {"vocab_size": 5000})).eval()
    program = vkarray.torch.export(model, (), WITHOUT_CACHE)
    path = tmp_path / "model.vkp"
    program.save(path, targets=())
    embedding = model.lm_head.weight
    assert embedding is model.transformer.wte.weight
    assert path.stat().st_size < 2 * embedding.nbytes


def test_a_network_of_diffusion(tmp_path):
    diffusers = pytest.importorskip("diffusers")
    torch.manual_seed(0)
    model = diffusers.UNet2DConditionModel(
        sample_size=16, block_out_channels=(16, 32), layers_per_block=1, cross_attention_dim=32, attention_head_dim=8,
        norm_num_groups=8, down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    ).eval()  # fmt: skip
    args = torch.randn(2, 4, 16, 16), torch.tensor([10, 20]), torch.randn(2, 7, 32)
    program = vkarray.torch.export(model, args)
    assert [one.name for one in program.inputs] == ["sample", "timestep", "encoder_hidden_states"]
    assert_agrees(program, model, args, {}, tmp_path / "model.vkp", 512)
