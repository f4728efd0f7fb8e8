"""torchvision's operators on the device, against its kernels for the CPU, forth and back."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
import torch

torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed", exc_type=ImportError)
from torchvision import ops  # noqa: E402 - only where there is torchvision

import vkarray as vx  # noqa: E402
from vkarray.core.array import is_supported  # noqa: E402

from checks import needs_int64  # noqa: E402 isort: skip

pytestmark = needs_int64
DOUBLE = is_supported(vx.float64, vx.asarray(0.0).device)
# x and y of two corners: inside, over the border, outside, smaller than a pixel, of no size, the wrong way, the whole picture.
CORNERS = [
    [1, 2, 7, 8], [-3, -2, 4, 3], [6, 5, 14, 12], [20, 20, 25, 30], [2.2, 3.1, 2.6, 3.3], [4, 4, 4, 4], [5, 6, 3, 2],
    [0, 0, 11, 9], [2.5, 1.5, 8.5, 7.5], [0, 0, 100, 90],
]  # fmt: skip
GRIDS = [(1, 1), (3, 2), (7, 7)]


def _pictures(channels: int, dtype=torch.float32, low: int = -8) -> torch.Tensor:
    generator = torch.Generator().manual_seed(channels)
    return torch.randint(low, 9, (2, channels, 10, 12), generator=generator).to(dtype) / 4


def _regions(dtype=torch.float32) -> torch.Tensor:
    rows = [[picture, *one] for one, picture in zip(CORNERS, itertools.cycle((0, 1)), strict=False)]
    return torch.tensor(rows, dtype=dtype)


def _compare(function, *given: torch.Tensor, rtol: float = 1e-5, atol: float = 1e-5) -> None:
    """Results, and the gradients of all floating-point arguments of which the CPU has one."""
    made = []
    for device in ("cpu", "vulkan"):
        inputs = [one.detach().to(device).requires_grad_() for one in given]
        result = function(*inputs)
        weights = torch.rand(result.shape, generator=torch.Generator().manual_seed(9)).to(result.dtype)
        if result.numel():
            (result * weights.to(device)).sum().backward()
        made.append([result.detach().cpu(), *[None if one.grad is None else one.grad.cpu() for one in inputs]])
    for its, ours in zip(*made, strict=True):
        assert (its is None) == (ours is None)
        if its is not None:
            torch.testing.assert_close(ours, its, rtol=rtol, atol=atol, equal_nan=True)


OPERATORS = {
    "roi_align": lambda grid, scale: (1, ops.RoIAlign(grid, scale, 2)),
    "roi_align of half pixels": lambda grid, scale: (1, ops.RoIAlign(grid, scale, 2, aligned=True)),
    "roi_align of as many points as pixels": lambda grid, scale: (1, ops.RoIAlign(grid, scale, -1)),
    "roi_pool": lambda grid, scale: (1, ops.RoIPool(grid, scale)),
    "ps_roi_align": lambda grid, scale: (grid[0] * grid[1], ops.PSRoIAlign(grid, scale, 2)),
    "ps_roi_pool": lambda grid, scale: (grid[0] * grid[1], ops.PSRoIPool(grid, scale)),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("scale", [1.0, 0.4])
@pytest.mark.parametrize("dtype", [torch.float32, *([torch.float64] if DOUBLE else [])], ids=str)
def test_regions_are_pooled_as_on_the_cpu(name, grid, scale, dtype):
    multiple, operator = OPERATORS[name](grid, scale)
    regions = _regions(dtype)
    _compare(lambda x: operator(x, regions.to(x.device)), _pictures(2 * multiple, dtype))


@pytest.mark.parametrize("name", OPERATORS)
def test_no_regions(name):
    multiple, operator = OPERATORS[name]((2, 2), 1.0)
    x = _pictures(2 * multiple).to("vulkan").requires_grad_()
    result = operator(x, torch.zeros(0, 5, device="vulkan"))
    assert result.shape == (0, 2, 2, 2)
    result.sum().backward()
    assert not x.grad.cpu().any()


@pytest.mark.parametrize("name", ["roi_align", "roi_pool"])
def test_many_regions_are_seen_to_in_parts(name):
    _, operator = OPERATORS[name]((7, 7), 1.0)
    generator = torch.Generator().manual_seed(3)
    corners = torch.rand(700, 2, generator=generator) * 8
    regions = torch.cat([torch.zeros(700, 1), corners, corners + 1 + torch.rand(700, 2, generator=generator) * 3], 1)
    _compare(lambda x: operator(x, regions.to(x.device)), _pictures(1)[:1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_region_of_no_picture_is_no_number(name):
    multiple, operator = OPERATORS[name]((2, 2), 1.0)
    x = _pictures(multiple).to("vulkan").requires_grad_()
    result = operator(x, torch.tensor([[2.0, 0, 0, 4, 4], [-1.0, 0, 0, 4, 4]], device="vulkan"))
    assert result.isnan().all()
    result.sum().backward()
    assert not x.grad.cpu().any()


def test_regions_in_16_bits():
    operator = ops.RoIAlign((3, 2), 1.0, 2)
    x, regions = _pictures(2, torch.float16), _regions(torch.float16)
    expected = operator(x.float(), regions.float())
    torch.testing.assert_close(
        operator(x.to("vulkan"), regions.to("vulkan")).cpu(), expected.half(), rtol=1e-3, atol=1e-3
    )
    with torch.autocast("vulkan", torch.float16):
        mixed = operator(x.to("vulkan"), regions.float().to("vulkan"))
    assert mixed.dtype is torch.float16
    torch.testing.assert_close(mixed.cpu(), expected.half(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 500, 3000])
@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.5, 1.0])
def test_boxes_are_suppressed_as_on_the_cpu(count, threshold):
    generator = torch.Generator().manual_seed(count)
    corners = torch.randint(0, 60, (count, 2), generator=generator).float()
    boxes = torch.cat([corners, corners + torch.randint(0, 30, (count, 2), generator=generator)], 1)
    scores = torch.randint(0, 50, (count,), generator=generator) / 50  # many are equal
    kinds = torch.randint(0, 3, (count,), generator=generator)
    moved = [one.to("vulkan") for one in (boxes, scores, kinds)]
    assert ops.nms(*moved[:2], threshold).cpu().tolist() == ops.nms(boxes, scores, threshold).tolist()
    # Of many boxes the CPU sorts those with equal scores in any order.
    batched = ops.batched_nms(*moved, threshold).cpu().sort().values
    assert batched.tolist() == ops.batched_nms(boxes, scores, kinds, threshold).sort().values.tolist()


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ([(3,), (3,)], "2d tensor"),
        ([(3, 5), (3,)], "4 elements"),
        ([(3, 4), (3, 1)], "1d tensor"),
        ([(3, 4), (2,)], "same"),
    ],
)
def test_boxes_of_other_shapes_are_refused(shapes, words):
    boxes, scores = (torch.zeros(shape, device="vulkan") for shape in shapes)
    with pytest.raises(RuntimeError, match=words):
        ops.nms(boxes, scores, 0.5)


DEFORMED = {
    "plain": {}, "with a stride": {"stride": (2, 1), "padding": (1, 2)}, "dilated": {"dilation": (2, 1), "padding": 2},
    "in groups": {"groups": 2}, "with groups of offsets": {"offset_groups": 2, "padding": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", DEFORMED)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("offsets", ["zero", "of whole pixels", "between pixels"])
def test_deformable_convolution_is_as_on_the_cpu(name, masked, offsets):
    options = dict(DEFORMED[name])
    groups, offset_groups = options.pop("groups", 1), options.pop("offset_groups", 1)
    generator = torch.Generator().manual_seed(len(name))
    x = torch.randn(2, 4, 7, 6, generator=generator)
    weight = torch.randn(4, 4 // groups, 3, 2, generator=generator)
    bias = torch.randn(4, generator=generator)
    like = torch.nn.functional.conv2d(x, torch.zeros(1, 4, 3, 2), **options)
    shape = (2, 12 * offset_groups, *like.shape[2:])
    offset = {
        "zero": torch.zeros(shape), "of whole pixels": torch.randint(-9, 9, shape, generator=generator).float(),
        "between pixels": torch.randn(shape, generator=generator) * 3,
    }[offsets]  # fmt: skip
    mask = torch.rand(2, 6 * offset_groups, *like.shape[2:], generator=generator)

    def convolve(x, offset, weight, bias, *mask):
        return ops.deform_conv2d(x, offset, weight, bias, mask=mask[0] if mask else None, **options)

    _compare(convolve, x, offset, weight, bias, *([mask] if masked else []), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("first", ["torchvision", "vkarray.torch"])
def test_the_order_of_imports_does_not_matter(first):
    second = {"torchvision": "vkarray.torch", "vkarray.torch": "torchvision"}[first]
    program = (
        f"import torch, {first}, {second}; from vkarray.torch import strict; strict.on(); "
        "print(torchvision.ops.nms(torch.tensor([[0., 0, 2, 2]] * 2, device='vulkan'), torch.ones(2, device='vulkan'), 0.5))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300)
    assert "tensor([0], device='vulkan:0')" in done.stdout, done.stderr
