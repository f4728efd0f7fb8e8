"""Models of the package transformers that look at pictures, alone and with words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .of_torchvision import RECTIFIED
from .rows import Inputs, Row, integers, numbers
from .transformers_rows import UNSET, row

SIZES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32,
    "patch_size": 8, "num_labels": 4,
}  # fmt: skip
WORDS: dict[str, Any] = {
    **SIZES,
    "vocab_size": 99,
    "max_position_embeddings": 32,
    "eos_token_id": 98,
    "projection_dim": 16,
}


def _pictures(size: int = 32, **others: Callable[[], Any]) -> Callable[[], Inputs]:
    return lambda: {"pixel_values": numbers(2, 3, size, size), **{name: make() for name, make in others.items()}}


def _read() -> Inputs:
    """Pictures and as many sentences."""
    ids = integers(2, 97, 2, 7)
    ids[:, -1] = 98
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": numbers(2, 3, 32, 32)}


def _labels() -> torch.Tensor:
    return integers(0, 4, 2)


def _classes(
    name: str, kind: str, size: int = 32, unstable: str = "", draws: bool = False, **configuration: Any
) -> Row:
    return row(
        name, kind, _pictures(size, labels=_labels), (), draws, unstable, **SIZES | {"image_size": size} | configuration
    )


def _boxes() -> list[dict[str, torch.Tensor]]:
    return [
        {"class_labels": integers(0, 4, 2, seed=seed), "boxes": numbers(2, 4, seed=seed).sigmoid() / 2}
        for seed in (1, 2)
    ]


def _masks() -> list[torch.Tensor]:
    return [(numbers(2, 32, 32, seed=seed) > 0).float() for seed in (1, 2)]


SWIN: dict[str, Any] = {"embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "window_size": 4, "patch_size": 4}
WINDOWED: dict[str, Any] = {**SWIN, "num_attention_heads": UNSET, "num_hidden_layers": UNSET}
BACKBONE: dict[str, Any] = {"model_type": "swin", **SWIN, "image_size": 32, "out_features": ["stage1", "stage2"]}
DETECTOR: dict[str, Any] = {
    "d_model": 32, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "num_queries": 6, "use_timm_backbone": False, "backbone": None, "num_labels": 4,
}  # fmt: skip
RESNET: dict[str, Any] = {
    "model_type": "resnet", "embedding_size": 16, "hidden_sizes": [16, 32, 32, 32], "depths": [1, 1, 1, 1], "layer_type": "basic",
    "hidden_act": "silu", "out_features": ["stage4"],
}  # fmt: skip
BOTH: dict[str, Any] = {"text_config": WORDS, "vision_config": SIZES, "projection_dim": 16}

ROWS = [
    _classes("Swin", "SwinForImageClassification", **WINDOWED),
    _classes("Swin v2", "Swinv2ForImageClassification", **WINDOWED),
    _classes("ConvNeXt", "ConvNextForImageClassification", depths=[1, 1], hidden_sizes=[16, 32], num_stages=2),
    _classes("ConvNeXt v2", "ConvNextV2ForImageClassification", depths=[1, 1], hidden_sizes=[16, 32], num_stages=2),
    _classes("DeiT", "DeiTForImageClassification"),
    _classes("BEiT", "BeitForImageClassification", use_relative_position_bias=True, use_mask_token=False),
    _classes("DINOv2", "Dinov2ForImageClassification"),
    _classes("ViT MSN", "ViTMSNForImageClassification"),
    _classes(
        "PVT",
        "PvtForImageClassification",
        64,
        hidden_sizes=[16, 16, 32, 32],
        depths=[1] * 4,
        num_attention_heads=[1, 2, 2, 4],
        num_encoder_blocks=4,
    ),
    _classes(
        "FocalNet",
        "FocalNetForImageClassification",
        embed_dim=16,
        depths=[1, 1],
        focal_levels=[2, 2],
        focal_windows=[3, 3],
        patch_size=4,
        hidden_sizes=[16, 32],
    ),
    _classes("PoolFormer", "PoolFormerForImageClassification", 64, hidden_sizes=[16, 16, 32, 32], depths=[1] * 4),
    _classes(
        "LeViT",
        "LevitForImageClassification",
        64,
        RECTIFIED,
        patch_size=16,
        hidden_sizes=[16, 32, 32],
        num_attention_heads=[2, 2, 2],
        depths=[1, 1, 1],
        key_dim=[8, 8, 8],
        down_ops=[["Subsample", 8, 2, 2, 2, 2], ["Subsample", 8, 4, 2, 2, 2]],
    ),
    _classes("ResNet", "ResNetForImageClassification", 32, RECTIFIED, **{**RESNET, "model_type": "resnet"}),
    _classes(
        "CvT", "CvtForImageClassification", 64, RECTIFIED, embed_dim=[16, 32, 32], num_heads=[1, 2, 2], depth=[1, 2, 3]
    ),
    _classes(
        "MobileViT",
        "MobileViTForImageClassification",
        32,
        RECTIFIED,
        hidden_sizes=[16, 16, 32],
        neck_hidden_sizes=[8, 8, 16, 16, 16, 16, 32],
    ),
    row(
        "ViTMAE",
        "ViTMAEForPreTraining",
        _pictures(),
        (),
        True,
        **SIZES,
        decoder_hidden_size=32,
        decoder_num_hidden_layers=1,
        decoder_num_attention_heads=4,
        decoder_intermediate_size=64,
    ),
    row(
        "SegFormer",
        "SegformerForSemanticSegmentation",
        _pictures(64, labels=lambda: integers(0, 4, 2, 64, 64)),
        (),
        False,
        RECTIFIED,
        hidden_sizes=[8, 16, 16, 32],
        depths=[1] * 4,
        num_attention_heads=[1, 2, 2, 4],
        decoder_hidden_size=32,
        num_labels=4,
    ),
    row(
        "DPT",
        "DPTForDepthEstimation",
        _pictures(),
        unstable="numbers of some hundreds cancel",
        **SIZES | {"num_hidden_layers": 4},
        backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 8, 16, 16],
        fusion_hidden_size=16,
        is_hybrid=False,
    ),
    row("DETR", "DetrForObjectDetection", _pictures(64, labels=_boxes), backbone_config=RESNET, **DETECTOR),
    row(
        "Deformable DETR",
        "DeformableDetrForObjectDetection",
        _pictures(64, labels=_boxes),
        **DETECTOR,
        backbone_config={**RESNET, "out_features": ["stage3", "stage4"]},
        num_feature_levels=2,
    ),
    row(
        "YOLOS",
        "YolosForObjectDetection",
        _pictures(32, labels=_boxes),
        **SIZES | {"image_size": [32, 32]},
        num_detection_tokens=6,
    ),
    row(
        "Mask2Former",
        "Mask2FormerForUniversalSegmentation",
        _pictures(64, mask_labels=_masks, class_labels=lambda: [integers(0, 4, 2), integers(0, 4, 2, seed=2)]),
        (),
        True,
        backbone_config={
            **BACKBONE,
            "depths": [1] * 4,
            "num_heads": [2] * 4,
            "image_size": 64,
            "window_size": 2,
            "out_features": ["stage1", "stage2", "stage3", "stage4"],
        },
        feature_size=32,
        mask_feature_size=32,
        hidden_dim=32,
        encoder_feedforward_dim=64,
        encoder_layers=1,
        decoder_layers=2,
        num_attention_heads=4,
        dim_feedforward=64,
        num_queries=6,
        num_labels=4,
        train_num_points=64,
    ),
    row(
        "SAM",
        "SamModel",
        lambda: {
            "pixel_values": numbers(1, 3, 32, 32),
            "input_points": torch.tensor([[[[8.0, 9.0], [20.0, 5.0]]]]),
            "multimask_output": True,
        },
        vision_config={
            "hidden_size": 32,
            "output_channels": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": 32,
            "patch_size": 4,
            "mlp_dim": 64,
            "window_size": 4,
            "global_attn_indexes": [1],
            "num_pos_feats": 8,
        },
        prompt_encoder_config={"hidden_size": 16, "image_size": 32, "patch_size": 4, "mask_input_channels": 4},
        mask_decoder_config={"hidden_size": 16, "mlp_dim": 32, "num_attention_heads": 2, "iou_head_hidden_dim": 16},
    ),
    row("CLIP", "CLIPModel", lambda: {**_read(), "return_loss": True}, **BOTH),
    row("SigLIP", "SiglipModel", lambda: {**_read(), "return_loss": True}, **BOTH),
    row(
        "BLIP",
        "BlipForConditionalGeneration",
        lambda: {**_read(), "labels": integers(2, 97, 2, 7, seed=2)},
        **BOTH
        | {
            "text_config": {
                **WORDS,
                "encoder_hidden_size": 32,
                "bos_token_id": 1,
                "sep_token_id": 97,
                "pad_token_id": 0,
            }
        },
        image_text_hidden_size=16,
    ),
    row(
        "ViLT",
        "ViltModel",
        lambda: {**_read(), "pixel_mask": torch.ones(2, 32, 32, dtype=torch.int64)},
        (),
        True,
        **WORDS,
    ),
    row(
        "LLaVA",
        "LlavaForConditionalGeneration",
        lambda: {
            "input_ids": torch.cat([torch.full((2, 16), 97), integers(2, 97, 2, 7)], 1),
            "pixel_values": numbers(2, 3, 32, 32),
            "labels": integers(2, 97, 2, 23),
        },
        ("greedy",),
        text_config={"model_type": "llama", **WORDS, "max_position_embeddings": 64, "num_key_value_heads": 2},
        vision_config={"model_type": "clip_vision_model", **SIZES},
        image_token_index=97,
        image_seq_length=16,
    ),
]
