"""Models of the package transformers: those that continue text here, others in modules beside this one."""

from __future__ import annotations

from typing import Any

from . import transformers_pictures, transformers_sequences, transformers_signals
from .rows import Row
from .transformers_rows import ALL_MODES, MODES, WORDS, row, words


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
    decoder(
        "GPT-Neo",
        "GPTNeoForCausalLM",
        num_layers=2,
        num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=4,
    ),
    decoder("StableLM", "StableLmForCausalLM", **KEYS),
    decoder("OLMo", "OlmoForCausalLM", **KEYS),
    decoder("Cohere", "CohereForCausalLM", **KEYS),
    decoder("Mixtral", "MixtralForCausalLM", **EXPERTS),
    decoder("Qwen2-MoE", "Qwen2MoeForCausalLM", **EXPERTS, shared_expert_intermediate_size=32),
    decoder("Mamba", "MambaForCausalLM", ("greedy", "sampling"), state_size=8),
    decoder("Starcoder2", "Starcoder2ForCausalLM", **KEYS),
    decoder(
        "Mamba 2", "Mamba2ForCausalLM", ("greedy",), num_heads=8, head_dim=8, n_groups=1, state_size=8, chunk_size=4
    ),
    decoder("RWKV", "RwkvForCausalLM", ("greedy",), attention_hidden_size=32, context_length=32),
    decoder(
        "Jamba",
        "JambaForCausalLM",
        ("greedy",),
        **EXPERTS,
        attn_layer_period=2,
        attn_layer_offset=1,
        expert_layer_period=2,
        mamba_d_state=4,
        mamba_dt_rank=4,
        use_mamba_kernels=False,
    ),
    decoder(
        "DBRX",
        "DbrxForCausalLM",
        ("greedy",),
        d_model=32,
        n_heads=4,
        n_layers=2,
        max_seq_len=64,
        attn_config={"kv_n_heads": 2, "clip_qkv": 8.0, "rope_theta": 1e4},
        ffn_config={"ffn_hidden_size": 32, "moe_num_experts": 4, "moe_top_k": 2, "hidden_size": 32},
    ),
    decoder("MPT", "MptForCausalLM", d_model=32, n_heads=4, n_layers=2, max_seq_len=64),
    decoder("OLMoE", "OlmoeForCausalLM", ("greedy",), **EXPERTS),
    decoder(
        "DeepSeek v3",
        "DeepseekV3ForCausalLM",
        ("greedy", "static cache"),
        num_key_value_heads=4,
        n_routed_experts=4,
        n_shared_experts=1,
        num_experts_per_tok=2,
        moe_intermediate_size=32,
        n_group=2,
        topk_group=1,
        first_k_dense_replace=1,
        q_lora_rank=16,
        kv_lora_rank=16,
        qk_nope_head_dim=8,
        qk_rope_head_dim=8,
        v_head_dim=8,
    ),
    decoder("Granite", "GraniteForCausalLM", **KEYS),
    decoder("Persimmon", "PersimmonForCausalLM"),
    decoder("XGLM", "XGLMForCausalLM", ("greedy", "beam"), d_model=32, ffn_dim=64, num_layers=2, attention_heads=4),
    decoder("BioGPT", "BioGptForCausalLM", ("greedy", "beam")),
    decoder(
        "CodeGen",
        "CodeGenForCausalLM",
        ("greedy", "sampling"),
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=64,
        rotary_dim=4,
    ),
    decoder("GPT-BigCode", "GPTBigCodeForCausalLM", ("greedy",), n_embd=32, n_layer=2, n_head=4, n_positions=64),
    decoder(
        "RecurrentGemma",
        "RecurrentGemmaForCausalLM",
        ("greedy",),
        **KEYS,
        lru_width=32,
        attention_window_size=8,
        block_types=["recurrent", "attention"],
    ),
    *transformers_sequences.ROWS,
    *transformers_pictures.ROWS,
    *transformers_signals.ROWS,
]
