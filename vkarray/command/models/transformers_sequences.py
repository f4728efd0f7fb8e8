"""Models of the package transformers that read words, and those that read some and write others."""

from __future__ import annotations

from typing import Any

import torch

from .rows import Inputs, Row, integers
from .transformers_rows import UNSET, WORDS, row, words

MODES = ("greedy", "beam", "sampling")


def _masked(name: str, kind: str, given: Any = words, **configuration: Any) -> Row:
    """A row of a model that fills in words."""
    return row(name, kind, given, **WORDS | configuration)


def _pairs() -> Inputs:
    """Two sentences, the second one padded after its words, and what they are translated to."""
    ids = integers(3, 98, 2, 9)
    mask = torch.ones_like(ids)
    mask[1, 6:] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": integers(3, 98, 2, 7, seed=2)}


def _translator(name: str, kind: str, modes: tuple[str, ...] = MODES, **configuration: Any) -> Row:
    given = {
        "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "decoder_start_token_id": 2, "forced_eos_token_id": None,
    }  # fmt: skip
    return row(name, kind, _pairs, modes, **WORDS | given | configuration)


def _long(length: int) -> Any:
    """Sentences of some words without padding."""
    return lambda: {"input_ids": integers(2, 98, 2, length), "labels": integers(2, 98, 2, length, seed=2)}


T5: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "init_std": 0.2}

ROWS = [
    _masked("RoBERTa", "RobertaForMaskedLM", type_vocab_size=1),
    _masked("XLM-RoBERTa", "XLMRobertaForMaskedLM", type_vocab_size=1),
    _masked("ALBERT", "AlbertForMaskedLM", embedding_size=16),
    _masked("DistilBERT", "DistilBertForMaskedLM", dim=32, n_layers=2, n_heads=4, hidden_dim=64),
    _masked("ELECTRA", "ElectraForMaskedLM", embedding_size=16),
    _masked(
        "DeBERTa-v2", "DebertaV2ForMaskedLM", relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"]
    ),
    _masked("MPNet", "MPNetForMaskedLM"),
    _masked("Longformer", "LongformerForMaskedLM", attention_window=4, type_vocab_size=1),
    _masked("BigBird", "BigBirdForMaskedLM", attention_type="original_full"),
    _masked(
        "BigBird, sparse",
        "BigBirdForMaskedLM",
        _long(64),
        block_size=4,
        num_random_blocks=1,
        max_position_embeddings=128,
    ),
    _masked("ConvBERT", "ConvBertForMaskedLM", embedding_size=32, conv_kernel_size=3, head_ratio=2),
    _masked("FNet", "FNetForMaskedLM", _long(8), tpu_short_seq_length=8),
    _masked(
        "Funnel",
        "FunnelForMaskedLM",
        num_hidden_layers=UNSET,
        block_sizes=[1, 1],
        d_model=32,
        n_head=4,
        d_head=8,
        d_inner=64,
        num_decoder_layers=1,
    ),
    _masked("XLNet", "XLNetLMHeadModel", max_position_embeddings=UNSET, d_model=32, n_layer=2, n_head=4, d_inner=64),
    _masked("RoFormer", "RoFormerForMaskedLM", embedding_size=32),
    _masked("Nystromformer", "NystromformerForMaskedLM", _long(8), num_landmarks=4, segment_means_seq_len=8),
    _masked("ESM", "EsmForMaskedLM", mask_token_id=97, position_embedding_type="rotary"),
    _masked(
        "MobileBERT",
        "MobileBertForMaskedLM",
        unstable="its layers are not normalized, and numbers cancel",
        embedding_size=32,
        true_hidden_size=32,
        intra_bottleneck_size=32,
    ),
    _masked("SqueezeBERT", "SqueezeBertForMaskedLM", embedding_size=32),
    _masked(
        "Perceiver",
        "PerceiverForMaskedLM",
        _long(16),
        num_latents=8,
        d_latents=32,
        d_model=32,
        num_blocks=1,
        num_self_attends_per_block=2,
        num_self_attention_heads=4,
        num_cross_attention_heads=4,
        max_position_embeddings=16,
    ),
    _masked(
        "Reformer",
        "ReformerModelWithLMHead",
        _long(16),
        attn_layers=["local", "local"],
        attention_head_size=8,
        local_attn_chunk_length=4,
        axial_pos_shape=[4, 4],
        axial_pos_embds_dim=[16, 16],
        feed_forward_size=64,
        is_decoder=True,
    ),
    _translator("T5", "T5ForConditionalGeneration", (*MODES, "static cache"), **T5),
    _translator("mT5", "MT5ForConditionalGeneration", **T5, feed_forward_proj="gated-gelu"),
    _translator("Long T5", "LongT5ForConditionalGeneration", **T5, local_radius=3),
    _translator("BART", "BartForConditionalGeneration", (*MODES, "static cache")),
    _translator("mBART", "MBartForConditionalGeneration"),
    _translator("Pegasus", "PegasusForConditionalGeneration"),
    _translator("MarianMT", "MarianMTModel"),
    _translator("M2M-100", "M2M100ForConditionalGeneration"),
    _translator(
        "LED",
        "LEDForConditionalGeneration",
        ("greedy",),
        attention_window=4,
        max_encoder_position_embeddings=64,
        max_decoder_position_embeddings=64,
    ),
]
