"""Fine-tune MobileNetV2 to tell two photographs apart by their patches, on Vulkan and on the CPU.

    python examples/pytorch/mobilenet.py

The network is that of Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks (2018), table 2, at a quarter of its
width, written out here; the pictures are patches of scikit-learn's two photographs, a temple and a flower. As usual in
fine-tuning, the statistics of the normalizations are fixed (here to those of the patches, as the weights are random) and
only the last layers learn; with all 53 layers of random weights learning, rounding errors alone lead two runs on one CPU apart.
The exit status is 1 when the losses differ from the CPU's by more than a thousandth.
"""

from __future__ import annotations

import torch
from comparison import compare, options
from sklearn.datasets import load_sample_images
from torch import nn
from torch.nn import functional

import vkarray.torch

SIDE, BATCH, WIDTH = 64, 16, 0.25
LEARNING = 6  # the last modules: one inverted residual, a convolution and the classifier
# Expansion, channels, blocks and stride of the first block of each stage: table 2 of the paper.
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def convolution(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """A convolution without bias, and its batch normalization."""
    return [
        nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class InvertedResidual(nn.Module):
    """Expand by a 1 x 1 convolution, filter each channel by itself, project back; with a shortcut where shapes agree."""

    def __init__(self, inputs: int, outputs: int, expansion: int, stride: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        expand = [] if expansion == 1 else [*convolution(inputs, hidden, 1), nn.ReLU6()]
        self.layers = nn.Sequential(
            *expand,
            *convolution(hidden, hidden, 3, stride, groups=hidden),
            nn.ReLU6(),
            *convolution(hidden, outputs, 1),
        )
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.layers(x) if self.shortcut else self.layers(x)


def mobilenet(classes: int, width: float) -> nn.Sequential:
    """MobileNetV2 with its channels multiplied by `width` and rounded to multiples of 8."""

    def channels(count: int) -> int:
        return max(8, round(count * width / 8) * 8)

    inputs = channels(32)
    layers: list[nn.Module] = [*convolution(3, inputs, 3, 2), nn.ReLU6()]
    for expansion, count, blocks, stride in STAGES:
        for block in range(blocks):
            layers.append(InvertedResidual(inputs, channels(count), expansion, stride if block == 0 else 1))
            inputs = channels(count)
    layers += [
        *convolution(inputs, 1280, 1),
        nn.ReLU6(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(1280, classes),
    ]
    return nn.Sequential(*layers)


def loss(model: nn.Module, pictures: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(model(pictures), labels)


def prepare(model: nn.Sequential, batches: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
    """Fix the statistics of the normalizations to those of the batches, and all weights but those of the last modules."""
    normalizations = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for module in normalizations:
        module.momentum = None  # a mean over all batches
    with torch.no_grad():
        for pictures, _ in batches:
            model(pictures)
    for module in normalizations:
        module.eval()
    model[:-LEARNING].requires_grad_(False)


def patches(steps: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of random patches, and which photograph each is of."""
    photographs = [torch.tensor(picture).permute(2, 0, 1).float().div(255) for picture in load_sample_images().images]
    batches = []
    for _ in range(steps):
        labels = torch.randint(len(photographs), (BATCH,))
        cut = []
        for label in labels:
            picture = photographs[label]
            top, left = (int(torch.randint(length - SIDE, ())) for length in picture.shape[1:])
            cut.append(picture[:, top : top + SIDE, left : left + SIDE])
        batches.append((torch.stack(cut), labels))
    return batches


def main() -> int:
    arguments = options(__doc__, steps=20)
    torch.manual_seed(0)
    with vkarray.torch.strict(arguments.strict):
        batches = patches(arguments.steps)
        model = mobilenet(2, WIDTH)
        prepare(model, batches)
        _, agrees = compare(model, loss, batches, arguments.device, learning_rate=1e-3, limit=1e-3)
    return 0 if agrees else 1


if __name__ == "__main__":
    raise SystemExit(main())
