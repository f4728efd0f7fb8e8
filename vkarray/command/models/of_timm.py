"""Models of the package timm, by its names, with few classes."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from .of_torchvision import RECTIFIED
from .rows import Row, pictures


def _row(name: str, size: int = 64, count: int = 2, unstable: str = "", **configuration: Any) -> Row:
    def make() -> torch.nn.Module:
        timm = importlib.import_module("timm")
        model: torch.nn.Module = timm.create_model(name, pretrained=False, num_classes=4, **configuration)
        return model

    return Row(name, "timm.create_model", make, pictures(size, count), unstable=unstable)


SMALL: dict[str, Any] = {"embed_dim": 32, "depth": 2, "num_heads": 4}

ROWS = [
    _row("vit_tiny_patch16_224", 32, img_size=32, patch_size=8, **SMALL),
    _row("deit_tiny_distilled_patch16_224", 32, img_size=32, patch_size=8, **SMALL),
    _row("beit_base_patch16_224", 32, img_size=32, patch_size=8, **SMALL),
    _row("eva02_tiny_patch14_224", 28, img_size=28, **SMALL),
    _row("cait_xxs24_224", 32, img_size=32, patch_size=8, **SMALL),
    _row("xcit_nano_12_p16_224", 32, 4, RECTIFIED, img_size=32, **SMALL),
    _row("mixer_s32_224", 32, img_size=32),
    _row("swinv2_cr_tiny_224", 64, img_size=64, window_size=4, embed_dim=16, depths=(1, 1), num_heads=(2, 4)),
    _row("convnextv2_atto", 32, depths=(1, 1, 1, 1), dims=(8, 16, 24, 32)),
    _row("poolformer_s12", 32),
    _row("edgenext_xx_small", 64, 4, RECTIFIED),
    _row("mobilevit_xxs", 64, 4, RECTIFIED),
    _row("resnet10t", 64, 4, RECTIFIED),
    _row("efficientnet_lite0", 64, 4, RECTIFIED),
    _row("ghostnet_050", 64, 4, RECTIFIED),
    _row("hardcorenas_a", 64, 4, RECTIFIED),
]
