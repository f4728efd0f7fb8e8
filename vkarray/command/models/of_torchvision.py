"""Models of the package torchvision, with few classes and channels."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from .rows import Call, Inputs, Row, integers, numbers, pictures


def _row(name: str, kind: str, given: Callable[[], Inputs], unstable: str = "", **configuration: Any) -> Row:
    def make() -> torch.nn.Module:
        module, _, function = kind.rpartition(".")
        models = importlib.import_module(f"torchvision.models{'.' if module else ''}{module}")
        found = getattr(models, function)
        model: torch.nn.Module = found(**configuration, **{} if isinstance(found, type) else {"weights": None})
        return model

    return Row(name, f"torchvision.models.{kind}", make, given, unstable=unstable)


RECTIFIED = "batch normalization over few numbers. In training rectifiers are replaced by SiLU."
CLASSES: dict[str, Any] = {"num_classes": 4}


def _tiny_backbone() -> torch.nn.Module:
    backbone = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, 2, 1), torch.nn.SiLU(), torch.nn.Conv2d(8, 16, 3, 2, 1), torch.nn.SiLU()
    )
    backbone.out_channels = 16
    return backbone


def _detector(kind: str) -> Callable[[], torch.nn.Module]:
    """A detector on a tiny backbone, which takes a batch of pictures and, in training, boxes, labels and masks."""

    def make() -> torch.nn.Module:
        detection = importlib.import_module("torchvision.models.detection")
        anchors = importlib.import_module("torchvision.models.detection.anchor_utils").AnchorGenerator
        pool = importlib.import_module("torchvision.ops").MultiScaleRoIAlign
        sizes = {"min_size": 32, "max_size": 32, "num_classes": 4}
        pools = {"box_roi_pool": pool(["0"], 4, 2)} | (
            {"mask_roi_pool": pool(["0"], 6, 2)} if kind == "MaskRCNN" else {}
        )
        given: dict[str, Any] = {"rpn_anchor_generator": anchors(((8, 16),), ((0.5, 1.0, 2.0),)), **sizes, **pools}
        detector = getattr(detection, kind)(_tiny_backbone(), **given)

        def run(model: torch.nn.Module, pictures: torch.Tensor, boxes: torch.Tensor, labels: torch.Tensor) -> Any:
            if not model.training:
                return model(list(pictures))
            masks = torch.ones(2, 2, 32, 32, dtype=torch.uint8, device=boxes.device)
            targets = [
                {"boxes": box, "labels": label, "masks": mask}
                for box, label, mask in zip(boxes, labels, masks, strict=True)
            ]
            return model(list(pictures), targets)

        return Call(run, detector)

    return make


def _scenes() -> Inputs:
    boxes = [[[2.0, 3.0, 14.0, 15.0], [10.0, 8.0, 30.0, 28.0]], [[0.0, 4.0, 20.0, 22.0], [16.0, 1.0, 31.0, 12.0]]]
    return {"pictures": numbers(2, 3, 32, 32).sigmoid(), "boxes": torch.tensor(boxes), "labels": integers(1, 4, 2, 2)}


def _detection(kind: str) -> Row:
    return Row(kind, f"torchvision.models.detection.{kind}", _detector(kind), _scenes, draws=True)


def _flow() -> torch.nn.Module:
    raft = importlib.import_module("torchvision.models.optical_flow").raft_small(weights=None)
    return Call(lambda model, first, second: model(first, second, num_flow_updates=2), raft)


ROWS = [
    _row("ResNet-18", "resnet18", pictures(64, 4), RECTIFIED, **CLASSES),
    _row("ResNeXt-50", "resnext50_32x4d", pictures(32, 4), RECTIFIED, **CLASSES),
    _row("DenseNet", "densenet.DenseNet", pictures(64, 4), RECTIFIED, **CLASSES),
    _row("SqueezeNet", "squeezenet1_1", pictures(64, 2), **CLASSES),
    _row("GoogLeNet", "googlenet", pictures(64, 4), RECTIFIED, aux_logits=False, init_weights=True, **CLASSES),
    _row("ShuffleNet v2", "shufflenet_v2_x0_5", pictures(64, 4), RECTIFIED, **CLASSES),
    _row("MNASNet", "mnasnet0_5", pictures(64, 4), RECTIFIED, **CLASSES),
    _row("MobileNet v3", "mobilenet_v3_small", pictures(64, 4), RECTIFIED, **CLASSES),
    _row("EfficientNet", "efficientnet_b0", pictures(64, 4), RECTIFIED, **CLASSES),
    _row("RegNet", "regnet_y_400mf", pictures(64, 4), RECTIFIED, **CLASSES),
    _row("ConvNeXt", "convnext_tiny", pictures(32, 2), **CLASSES),
    _row(
        "ViT",
        "vision_transformer.VisionTransformer",
        pictures(32, 2),
        image_size=32,
        patch_size=8,
        num_layers=2,
        num_heads=4,
        hidden_dim=32,
        mlp_dim=64,
        **CLASSES,
    ),
    _row(
        "Swin",
        "swin_transformer.SwinTransformer",
        pictures(32, 2),
        patch_size=[4, 4],
        embed_dim=16,
        depths=[2, 2],
        num_heads=[2, 4],
        window_size=[4, 4],
        **CLASSES,
    ),
    _row(
        "MaxViT",
        "maxvit.MaxVit",
        pictures(32, 4),
        RECTIFIED,
        input_size=(32, 32),
        stem_channels=8,
        partition_size=4,
        block_channels=[8, 16],
        block_layers=[1, 1],
        head_dim=8,
        stochastic_depth_prob=0.0,
        **CLASSES,
    ),
    _row(
        "DeepLab v3",
        "segmentation.deeplabv3_mobilenet_v3_large",
        pictures(32, 2),
        RECTIFIED,
        weights_backbone=None,
        **CLASSES,
    ),
    _row("R3D", "video.r3d_18", lambda: {"x": numbers(2, 3, 4, 16, 16)}, RECTIFIED, **CLASSES),
    Row(
        "RAFT",
        "torchvision.models.optical_flow.raft_small",
        _flow,
        lambda: {"first": numbers(1, 3, 128, 128), "second": numbers(1, 3, 128, 128, seed=2)},
    ),
    _detection("FasterRCNN"),
    _detection("MaskRCNN"),
]
