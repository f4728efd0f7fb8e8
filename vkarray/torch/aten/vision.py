"""The operators of torchvision: regions of pictures, suppression of boxes, deformable convolutions.

They are registered by name, so that it does not matter whether torchvision is imported before, after or never.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ...nn import suppression
from ...nn.regions import Bins, pool, pool_backward
from ..autocast import in_float32
from ..dispatch.fallback import on_one_device
from ..tensors.storage import array_of, wrap

_library = torch.library.Library("torchvision", "IMPL")
_WIDE = (torch.float32, torch.float64)


# -- regions of pictures ----------------------------------------------------------------------------------------------


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype in _WIDE else x.float()


def _check_regions(name: str, x: Tensor, regions: Tensor) -> None:
    """Raise RuntimeError for what torchvision refuses."""
    if regions.ndim != 2 or regions.shape[1] != 5:
        raise RuntimeError(f"{name}: rois must have shape as Tensor[K, 5], got {list(regions.shape)}")
    if x.dtype is not regions.dtype or not x.is_floating_point():
        raise RuntimeError(
            f"{name}: expected tensors of one floating-point type, got {x.dtype} and rois of {regions.dtype}. Use rois.to(x)."
        )


def _pooled(name: str, x: Tensor, regions: Tensor, bins: Bins) -> tuple[Tensor, Tensor]:
    _check_regions(name, x, regions)
    if x.ndim != 4:
        raise RuntimeError(f"{name}: expected input of shape (N, C, H, W), got {list(x.shape)}")
    if bins.of_channels and x.shape[1] % (bins.rows * bins.columns):
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")
    made, places = pool(array_of(_wide(x)), array_of(_wide(regions)), bins)
    return wrap(made).to(x.dtype), wrap(places)


def _pooled_back(name: str, gradient: Tensor, regions: Tensor, size: tuple[int, ...], bins: Bins) -> Tensor:
    _check_regions(name, gradient, regions)
    return wrap(pool_backward(array_of(_wide(gradient)), array_of(_wide(regions)), size, bins)).to(gradient.dtype)


def _roi_align(
    x: Tensor, rois: Tensor, scale: float, rows: int, columns: int, sampling: int, aligned: bool
) -> Tensor:  # fmt: skip
    bins = Bins(rows, columns, scale, True, False, aligned, sampling)
    return _pooled("roi_align", x, rois, bins)[0]


def _roi_align_backward(
    gradient: Tensor, rois: Tensor, scale: float, rows: int, columns: int, batch: int, channels: int, height: int,
    width: int, sampling: int, aligned: bool,
) -> Tensor:  # fmt: skip
    bins = Bins(rows, columns, scale, True, False, aligned, sampling)
    return _pooled_back("roi_align", gradient, rois, (batch, channels, height, width), bins)


def _ps_roi_align(
    x: Tensor, rois: Tensor, scale: float, rows: int, columns: int, sampling: int
) -> tuple[Tensor, Tensor]:  # fmt: skip
    return _pooled("ps_roi_align", x, rois, Bins(rows, columns, scale, True, True, True, sampling))


def _ps_roi_align_backward(
    gradient: Tensor, rois: Tensor, mapping: Tensor, scale: float, rows: int, columns: int, sampling: int, batch: int,
    channels: int, height: int, width: int,
) -> Tensor:  # fmt: skip
    bins = Bins(rows, columns, scale, True, True, True, sampling)
    return _pooled_back("ps_roi_align", gradient, rois, (batch, channels, height, width), bins)


def _roi_pool(x: Tensor, rois: Tensor, scale: float, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    return _pooled("roi_pool", x, rois, Bins(rows, columns, scale, False))


def _roi_pool_backward(
    gradient: Tensor, rois: Tensor, places: Tensor, scale: float, rows: int, columns: int, batch: int, channels: int,
    height: int, width: int,
) -> Tensor:  # fmt: skip
    """The gradient of each bin goes to its largest pixel, if it has one."""
    _check_regions("roi_pool", gradient, rois)
    planes = rois[:, 0].long().reshape(-1, 1) * channels + torch.arange(channels, device=gradient.device)
    planes = planes.reshape(-1, channels, 1, 1)
    some = (places >= 0) & (planes >= 0) & (planes < batch * channels)
    at = torch.where(some, planes * (height * width) + places, 0)
    given = torch.where(some, _wide(gradient), 0)
    made = torch.zeros(batch * channels * height * width, dtype=given.dtype, device=gradient.device)
    if made.numel():
        made.index_add_(0, at.reshape(-1), given.reshape(-1))
    return made.reshape(batch, channels, height, width).to(gradient.dtype)


def _ps_roi_pool(x: Tensor, rois: Tensor, scale: float, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    return _pooled("ps_roi_pool", x, rois, Bins(rows, columns, scale, False, True))


def _ps_roi_pool_backward(
    gradient: Tensor, rois: Tensor, mapping: Tensor, scale: float, rows: int, columns: int, batch: int, channels: int,
    height: int, width: int,
) -> Tensor:  # fmt: skip
    bins = Bins(rows, columns, scale, False, True)
    return _pooled_back("ps_roi_pool", gradient, rois, (batch, channels, height, width), bins)


# -- boxes ------------------------------------------------------------------------------------------------------------


def _nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """The places of the boxes that are kept, the best first. Waits for the device: how many there are depends on the values."""
    if boxes.ndim != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {boxes.ndim}D")
    if boxes.shape[1] != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {boxes.shape[1]}")
    if scores.ndim != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.ndim}D")
    if boxes.shape[0] != scores.shape[0]:
        raise RuntimeError(
            f"boxes and scores should have same number of elements in dimension 0, got {boxes.shape[0]} and {scores.shape[0]}"
        )
    if not boxes.is_floating_point():
        raise RuntimeError(f"nms: expected boxes of a floating-point type, got {boxes.dtype}. Use boxes.float().")
    order = scores.argsort(stable=True, descending=True)
    kept = wrap(suppression.kept(array_of(_wide(boxes)[order]), threshold))
    return order[kept.bool()]


# -- deformable convolution -------------------------------------------------------------------------------------------


def _taken(x: Tensor, places: tuple[Tensor, Tensor]) -> Tensor:
    """The values of x (N, G, C, H, W) between pixels, at places (N, G, ...) in units of pixels: (N, G, C, ...), 0 outside."""
    size, shape = x.shape[-2:], places[0].shape[2:]
    flat, result = x.flatten(3), None
    for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
        index: Any = 0
        weight: Any = 1
        for place, length, step in zip(places, size, corner, strict=True):
            first = place.floor()
            taken = first + step
            inside = (taken >= 0) & (taken < length)
            index = index * length + torch.where(inside, taken, 0).long()
            near = place - first if step else 1 - (place - first)
            weight = weight * torch.where(inside, near, torch.zeros_like(place))
        index = index.flatten(2).unsqueeze(2).expand(-1, -1, x.shape[2], -1)
        part = flat.gather(3, index) * weight.flatten(2).unsqueeze(2)
        result = part if result is None else result + part
    assert result is not None
    return result.reshape(*x.shape[:3], *shape)


def _deform_conv2d(
    x: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor, stride_h: int, stride_w: int, pad_h: int,
    pad_w: int, dilation_h: int, dilation_w: int, groups: int, offset_groups: int, use_mask: bool,
) -> Tensor:  # fmt: skip
    """A convolution whose taps lie off their places, by `offset`, and count with the factors `mask`; gradients by its parts.

    Source: J. Dai et al., "Deformable convolutional networks" (2017); X. Zhu et al., version 2 (2019).
    """
    batch, channels = x.shape[:2]
    features, _, kernel_h, kernel_w = weight.shape
    taps = kernel_h * kernel_w
    out_h = (x.shape[2] + 2 * pad_h - (dilation_h * (kernel_h - 1) + 1)) // stride_h + 1
    out_w = (x.shape[3] + 2 * pad_w - (dilation_w * (kernel_w - 1) + 1)) // stride_w + 1
    expected = [batch, 2 * taps * offset_groups, out_h, out_w]
    if list(offset.shape) != expected:
        raise RuntimeError(f"deform_conv2d: expected offset of shape {expected}, got {list(offset.shape)}")
    if use_mask and list(mask.shape) != [batch, taps * offset_groups, out_h, out_w]:
        raise RuntimeError(
            f"deform_conv2d: expected mask of shape {[batch, taps * offset_groups, out_h, out_w]}, got {list(mask.shape)}"
        )
    if channels % offset_groups or channels != weight.shape[1] * groups or features % groups:
        raise RuntimeError(
            f"deform_conv2d: {channels} channels and weight of shape {list(weight.shape)} do not fit {groups} groups and "
            f"{offset_groups} groups of offsets"
        )
    moved = _wide(offset).reshape(batch, offset_groups, taps, 2, out_h, out_w)
    axes = []
    for axis, (kernel, size, step, pad, apart) in enumerate(
        ((kernel_h, out_h, stride_h, pad_h, dilation_h), (kernel_w, out_w, stride_w, pad_w, dilation_w))
    ):
        starts = torch.arange(size, device=x.device, dtype=moved.dtype) * step - pad
        tap = torch.arange(kernel, device=x.device, dtype=moved.dtype) * apart
        places = (tap.reshape(-1, 1) + starts).reshape(*((kernel, 1, size, 1) if axis == 0 else (1, kernel, 1, size)))
        axes.append(moved[:, :, :, axis] + places.expand(kernel_h, kernel_w, out_h, out_w).reshape(taps, out_h, out_w))
    grouped = _wide(x).reshape(batch, offset_groups, channels // offset_groups, *x.shape[2:])
    columns = _taken(grouped, (axes[0], axes[1]))
    if use_mask:
        columns = columns * _wide(mask).reshape(batch, offset_groups, 1, taps, out_h, out_w)
    columns = columns.reshape(batch, groups, channels // groups * taps, out_h * out_w)
    kernels = _wide(weight).reshape(1, groups, features // groups, channels // groups * taps)
    result = (kernels @ columns).reshape(batch, features, out_h, out_w) + _wide(bias).reshape(-1, 1, 1)
    return result.to(x.dtype)


_OPERATORS: dict[str, Callable[..., Any]] = {
    "roi_align": _roi_align, "ps_roi_align": _ps_roi_align, "roi_pool": _roi_pool, "ps_roi_pool": _ps_roi_pool,
    "nms": _nms, "deform_conv2d": _deform_conv2d,
}  # fmt: skip
_BACKWARD: dict[str, Callable[..., Any]] = {
    "_roi_align_backward": _roi_align_backward, "_ps_roi_align_backward": _ps_roi_align_backward,
    "_roi_pool_backward": _roi_pool_backward, "_ps_roi_pool_backward": _ps_roi_pool_backward,
}  # fmt: skip
for _name, _kernel in (_OPERATORS | _BACKWARD).items():
    _checked = on_one_device(_kernel)
    _checked.profiled_name = f"torchvision.{_name}"  # type: ignore[attr-defined]
    _library.impl(_name, _checked, "PrivateUse1")
for _name in _OPERATORS:
    _library.impl(_name, in_float32(functools.partial(getattr, torch.ops.torchvision, _name)), "AutocastPrivateUse1")
# Before torchvision's own gradient, which calls an operator for it: that of the formula is made of others.
_library.impl("deform_conv2d", _deform_conv2d, "AutogradPrivateUse1")
