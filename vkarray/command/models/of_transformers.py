"""Models of the package transformers that read and write words."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from .rows import Inputs, Row, integers

WORDS: dict[str, Any] = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 98,
}  # fmt: skip
# Wide enough that attention is not uniform and gradients reach all layers.
INITIAL: dict[str, Any] = {"initializer_range": 0.2}
MODES = ("greedy", "beam", "sampling", "static cache")
ALL_MODES = (*MODES, "without cache", "prompt lookup", "assisted")


def row(
    name: str,
    kind: str,
    given: Any,
    modes: tuple[str, ...] = (),
    draws: bool = False,
    unstable: str = "",
    **configuration: Any,
) -> Row:
    """A row of a model class, of the small configuration."""

    def make() -> torch.nn.Module:
        found = getattr(importlib.import_module("transformers"), kind)
        config = found.config_class(**INITIAL | configuration)
        for key, value in vars(config).items():
            if "drop" in key and isinstance(value, float):
                setattr(config, key, 0.0)
        model: torch.nn.Module = found(config)
        return model

    return Row(name, f"transformers.{kind}", make, given, modes, draws, unstable)


def words() -> Inputs:
    """Two sentences, the second one padded before its words, and the words that follow."""
    ids = integers(2, 98, 2, 9)
    mask = torch.ones_like(ids)
    mask[1, :3] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


def decoder(name: str, kind: str, modes: tuple[str, ...] = MODES, **configuration: Any) -> Row:
    """A row of a model that continues text."""
    return row(name, kind, words, modes, **WORDS | configuration)


KEYS: dict[str, Any] = {"num_key_value_heads": 2}
EXPERTS: dict[str, Any] = {
    **KEYS,
    "num_local_experts": 4,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
}

ROWS = [
    decoder("Mistral", "MistralForCausalLM", ALL_MODES, **KEYS, sliding_window=4),
    decoder("Qwen2", "Qwen2ForCausalLM", **KEYS),
    decoder("Qwen3", "Qwen3ForCausalLM", **KEYS, head_dim=8),
    decoder("Phi", "PhiForCausalLM"),
    decoder("Phi-3", "Phi3ForCausalLM", **KEYS),
    decoder("Gemma", "GemmaForCausalLM", **KEYS, head_dim=8),
    decoder("Gemma 2", "Gemma2ForCausalLM", **KEYS, head_dim=8, sliding_window=4),
    decoder("Falcon", "FalconForCausalLM"),
    decoder("OPT", "OPTForCausalLM", ffn_dim=64, word_embed_proj_dim=32),
    decoder("BLOOM", "BloomForCausalLM", n_layer=2, n_head=4),
    decoder("GPT-NeoX", "GPTNeoXForCausalLM"),
    decoder("GPT-J", "GPTJForCausalLM", n_embd=32, n_layer=2, n_head=4, n_positions=64, rotary_dim=4),
    decoder("GPT-Neo", "GPTNeoForCausalLM", num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=4),
    decoder("StableLM", "StableLmForCausalLM", **KEYS),
    decoder("OLMo", "OlmoForCausalLM", **KEYS),
    decoder("Cohere", "CohereForCausalLM", **KEYS),
    decoder("Mixtral", "MixtralForCausalLM", **EXPERTS),
    decoder("Qwen2-MoE", "Qwen2MoeForCausalLM", **EXPERTS, shared_expert_intermediate_size=32),
    decoder("Mamba", "MambaForCausalLM", ("greedy", "sampling"), state_size=8),
    decoder("Starcoder2", "Starcoder2ForCausalLM", **KEYS),
]  # fmt: skip
