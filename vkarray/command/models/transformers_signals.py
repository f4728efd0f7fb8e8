"""Models of the package transformers that hear, speak, forecast and decide."""

from __future__ import annotations

from typing import Any

import torch

from .rows import Inputs, integers, numbers
from .transformers_rows import row


def _sound() -> Inputs:
    return {"input_values": numbers(2, 800), "labels": integers(2, 32, 2, 3)}


HEARS: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "conv_dim": (16, 16, 16),
    "conv_stride": (5, 4, 2), "conv_kernel": (10, 3, 2), "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4,
    "vocab_size": 32, "num_feat_extract_layers": 3, "mask_time_prob": 0.0, "mask_feature_prob": 0.0, "pad_token_id": 0,
    "ctc_loss_reduction": "mean",
}  # fmt: skip
SPEAKS: dict[str, Any] = {
    "hidden_size": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "vocab_size": 99, "num_mel_bins": 8, "speaker_embedding_dim": 8,
    "speech_decoder_prenet_units": 32, "speech_decoder_postnet_units": 16, "speech_decoder_prenet_dropout": 0.0,
}  # fmt: skip


def _spoken() -> Inputs:
    return {
        "input_ids": integers(2, 98, 2, 7), "attention_mask": torch.ones(2, 7, dtype=torch.int64),
        "speaker_embeddings": numbers(2, 8), "labels": numbers(2, 8, 8, seed=2),
    }  # fmt: skip


def _series() -> Inputs:
    """Ten values of before, which have lags up to 3, and four to come."""
    return {
        "past_values": numbers(2, 13).exp(), "past_time_features": numbers(2, 13, 2, seed=2),
        "past_observed_mask": torch.ones(2, 13), "future_values": numbers(2, 4, seed=3).exp(),
        "future_time_features": numbers(2, 4, 2, seed=4),
    }  # fmt: skip


FORECASTS: dict[str, Any] = {
    "prediction_length": 4, "context_length": 10, "lags_sequence": [1, 2, 3], "num_time_features": 2, "d_model": 32,
    "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}  # fmt: skip


def _decisions() -> Inputs:
    return {
        "states": numbers(2, 5, 6), "actions": numbers(2, 5, 3, seed=2), "rewards": numbers(2, 5, 1, seed=3),
        "returns_to_go": numbers(2, 5, 1, seed=4), "timesteps": torch.arange(5).expand(2, 5).contiguous(),
        "attention_mask": torch.ones(2, 5, dtype=torch.int64),
    }  # fmt: skip


WHISPER: dict[str, Any] = {
    "d_model": 32, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 64, "num_mel_bins": 8,
    "max_source_positions": 50, "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 64, "vocab_size": 99,
    "max_target_positions": 32, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 98, "decoder_start_token_id": 1,
    "suppress_tokens": None, "begin_suppress_tokens": None, "init_std": 0.2,
}  # fmt: skip


def _video() -> dict[str, Any]:
    """Two videos of four pictures, and their classes."""
    return {"pixel_values": numbers(2, 4, 3, 16, 16), "labels": integers(0, 4, 2)}


_OF_VIDEO: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 16,
    "patch_size": 8, "num_frames": 4, "num_labels": 4,
}  # fmt: skip

ROWS = [
    row("Wav2Vec2", "Wav2Vec2ForCTC", _sound, **HEARS),
    row("HuBERT", "HubertForCTC", _sound, **HEARS),
    row("WavLM", "WavLMForCTC", _sound, **HEARS),
    row(
        "Data2Vec audio",
        "Data2VecAudioForCTC",
        _sound,
        **HEARS | {"num_conv_pos_embeddings": 2, "conv_pos_kernel_size": 5},
    ),
    row("SEW", "SEWForCTC", _sound, **HEARS, squeeze_factor=2),
    row("SpeechT5", "SpeechT5ForTextToSpeech", _spoken, (), True, **SPEAKS),
    row(
        "VITS",
        "VitsModel",
        lambda: {"input_ids": integers(2, 30, 2, 7)},
        (),
        True,
        trains=False,
        vocab_size=38,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        ffn_dim=32,
        flow_size=16,
        spectrogram_bins=9,
        upsample_initial_channel=16,
        upsample_rates=[4, 4],
        upsample_kernel_sizes=[8, 8],
        resblock_kernel_sizes=[3],
        resblock_dilation_sizes=[[1, 3]],
        prior_encoder_num_flows=2,
        posterior_encoder_num_wavenet_layers=2,
        prior_encoder_num_wavenet_layers=2,
        duration_predictor_num_flows=2,
        depth_separable_num_layers=2,
    ),
    row(
        "Whisper",
        "WhisperForConditionalGeneration",
        lambda: {"input_features": numbers(2, 8, 100), "labels": integers(2, 98, 2, 7)},
        ("greedy", "beam"),
        **WHISPER,
    ),
    row(
        "AST",
        "ASTForAudioClassification",
        lambda: {"input_values": numbers(2, 24, 16), "labels": integers(0, 4, 2)},
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        patch_size=4,
        frequency_stride=4,
        time_stride=4,
        max_length=24,
        num_mel_bins=16,
        num_labels=4,
    ),
    row("Time-series Transformer", "TimeSeriesTransformerForPrediction", _series, **FORECASTS),
    row("Informer", "InformerForPrediction", _series, (), True, **FORECASTS),
    row("Autoformer", "AutoformerForPrediction", _series, **FORECASTS, label_length=4, moving_average=3),
    row(
        "PatchTST",
        "PatchTSTForPrediction",
        lambda: {"past_values": numbers(2, 16, 3), "future_values": numbers(2, 4, 3, seed=2)},
        num_input_channels=3,
        context_length=16,
        patch_length=4,
        patch_stride=4,
        d_model=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        ffn_dim=64,
        prediction_length=4,
    ),
    row(
        "Decision Transformer",
        "DecisionTransformerModel",
        _decisions,
        state_dim=6,
        act_dim=3,
        hidden_size=32,
        n_layer=2,
        n_head=4,
        max_ep_len=16,
        n_positions=64,
    ),
    row(
        "VideoMAE",
        "VideoMAEForVideoClassification",
        _video,
        **_OF_VIDEO,
    ),
    row(
        "TimeSformer",
        "TimesformerForVideoClassification",
        _video,
        **_OF_VIDEO,
    ),
]
