"""Functions and modules of the package kornia on small pictures."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from .rows import Call, Inputs, Row, integers, numbers


def _pictures() -> Inputs:
    return {"x": numbers(2, 3, 24, 24).sigmoid()}


def _pair() -> Inputs:
    return {"x": numbers(2, 3, 24, 24).sigmoid(), "y": numbers(2, 3, 24, 24, seed=2).sigmoid()}


def _labelled() -> Inputs:
    return {"x": numbers(2, 4, 8, 8), "y": integers(0, 4, 2, 8, 8)}


def _row(
    kind: str, given: Callable[[], Inputs], *args: Any, name: str = "", trains: bool = True, **options: Any
) -> Row:
    """A function, called with the inputs and some options, or a class, made with these."""

    def make() -> torch.nn.Module:
        module, _, last = kind.rpartition(".")
        found = getattr(importlib.import_module(f"kornia.{module}"), last)
        if isinstance(found, type):
            made = found(*args, **options)
            return Call(lambda model, **inputs: model(*inputs.values()), made)
        return Call(lambda **inputs: found(*inputs.values(), *args, **options))

    return Row(name or kind, f"kornia.{kind}", make, given, draws=kind.startswith("augmentation"), trains=trains)


def _points() -> Inputs:
    return {"x": numbers(2, 8, 2).sigmoid() * 20, "y": numbers(2, 8, 2, seed=2).sigmoid() * 20}


def _warped() -> Inputs:
    matrix = torch.tensor([[1.0, 0.1, 2.0], [-0.1, 0.9, 1.0], [0.001, 0.002, 1.0]]).expand(2, 3, 3).contiguous()
    return {"x": numbers(2, 3, 24, 24).sigmoid(), "matrix": matrix}


def _affine() -> Inputs:
    return {"x": numbers(2, 3, 24, 24).sigmoid(), "matrix": _warped()["matrix"][:, :2].contiguous()}


def _angles() -> Inputs:
    return {"x": numbers(5, 3)}


ROWS = [
    _row("filters.gaussian_blur2d", _pictures, (5, 5), (1.5, 1.5)),
    _row("filters.box_blur", _pictures, (3, 3)),
    _row("filters.median_blur", _pictures, (3, 3)),
    _row("filters.bilateral_blur", _pictures, (3, 3), 0.1, (1.5, 1.5)),
    _row("filters.sobel", _pictures),
    _row("filters.laplacian", _pictures, 3),
    _row("filters.canny", _pictures, trains=False),
    _row("filters.motion_blur", _pictures, 5, 35.0, 0.5),
    _row("filters.unsharp_mask", _pictures, (3, 3), (1.5, 1.5)),
    _row("color.rgb_to_hsv", _pictures),
    _row("color.rgb_to_lab", _pictures),
    _row("color.rgb_to_ycbcr", _pictures),
    _row("enhance.adjust_hue", _pictures, 0.2),
    _row("enhance.equalize", _pictures, trains=False),
    _row("enhance.equalize_clahe", lambda: {"x": numbers(2, 3, 32, 32).sigmoid()}, trains=False, grid_size=(4, 4)),
    _row("morphology.dilation", lambda: {**_pictures(), "kernel": torch.ones(3, 3)}),
    _row("geometry.warp_perspective", _warped, (20, 22)),
    _row("geometry.warp_affine", _affine, (20, 22)),
    _row("geometry.resize", _pictures, (17, 31)),
    _row("geometry.elastic_transform2d", lambda: {**_pictures(), "noise": numbers(2, 2, 24, 24, seed=2)}),
    _row("geometry.find_homography_dlt", _points),
    _row("geometry.conversions.axis_angle_to_rotation_matrix", _angles),
    _row("geometry.conversions.rotation_matrix_to_quaternion", lambda: {"x": torch.linalg.qr(numbers(5, 3, 3))[0]}),
    _row("losses.ssim_loss", _pair, 5),
    _row("losses.psnr_loss", _pair, 1.0),
    _row("losses.total_variation", _pictures),
    _row("losses.focal_loss", _labelled, 0.5, reduction="mean"),
    _row("losses.dice_loss", _labelled),
    _row("losses.tversky_loss", _labelled, 0.4, 0.6),
    _row("losses.lovasz_softmax_loss", _labelled),
    _row("losses.charbonnier_loss", _pair),
    _row("augmentation.ColorJitter", _pictures, 0.1, 0.1, 0.1, 0.1, p=1.0),
    _row("augmentation.RandomAffine", _pictures, 15.0, p=1.0),
    _row("augmentation.RandomPerspective", _pictures, p=1.0),
    _row("augmentation.RandomErasing", _pictures, p=1.0),
    _row("augmentation.RandomCrop", _pictures, (16, 16)),
    _row("augmentation.RandomGaussianNoise", _pictures, p=1.0),
    _row("feature.harris_response", _pictures),
]
