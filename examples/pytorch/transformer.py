"""Train a small transformer to predict the next character of an English text, on Vulkan and on the CPU.

    python examples/pytorch/transformer.py

The text is real: scikit-learn's descriptions of its data sets. Three layers with causal attention, 128 channels. The exit status
is 1 when the losses differ from the CPU's by more than a thousandth, or when the last is not well below the first.
"""

from __future__ import annotations

import torch
from comparison import compare, options
from sklearn import datasets
from torch import nn
from torch.nn import functional

import vkarray.torch

LENGTH, BATCH, CHANNELS, HEADS, LAYERS = 64, 16, 128, 4, 3


class Block(nn.Module):
    """Causal self-attention and two linear layers, each after a layer norm and beside a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(CHANNELS) for _ in range(2))
        self.queries_keys_values = nn.Linear(CHANNELS, 3 * CHANNELS)
        self.output = nn.Linear(CHANNELS, CHANNELS)
        self.feed_forward = nn.Sequential(
            nn.Linear(CHANNELS, 4 * CHANNELS), nn.GELU(), nn.Linear(4 * CHANNELS, CHANNELS)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        heads = self.queries_keys_values(self.norms[0](x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(*heads.unbind(), is_causal=True)
        x = x + self.output(attended.transpose(1, 2).reshape(batch, length, CHANNELS))
        return x + self.feed_forward(self.norms[1](x))


class Transformer(nn.Module):
    """Characters to scores of the next character."""

    def __init__(self, characters: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, CHANNELS)
        self.positions = nn.Embedding(LENGTH, CHANNELS)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(CHANNELS)
        self.scores = nn.Linear(CHANNELS, characters)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        x = self.characters(text) + self.positions(torch.arange(text.shape[1], device=text.device))
        return self.scores(self.norm(self.blocks(x)))


def loss(model: nn.Module, text: torch.Tensor) -> torch.Tensor:
    scores = model(text[:, :-1])
    return functional.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten())


def main() -> int:
    arguments = options(__doc__, steps=100)
    torch.manual_seed(0)
    loaders = (
        datasets.load_iris,
        datasets.load_digits,
        datasets.load_wine,
        datasets.load_breast_cancer,
        datasets.load_diabetes,
    )
    text = "\n".join(load().DESCR for load in loaders)
    alphabet = sorted(set(text))
    codes = torch.tensor([alphabet.index(character) for character in text])
    starts = torch.randint(len(codes) - LENGTH - 1, (arguments.steps, BATCH, 1))
    batches = [(codes[rows + torch.arange(LENGTH + 1)],) for rows in starts]
    with vkarray.torch.strict(arguments.strict):
        model, agrees = compare(Transformer(len(alphabet)), loss, batches, arguments.device, 1e-3, limit=1e-3)
        with torch.no_grad():
            first, last = (float(loss(each.eval(), batches[-1][0].to(arguments.device)))
                           for each in (Transformer(len(alphabet)).to(arguments.device), model))  # fmt: skip
    print(f"Loss of a batch before training {first:.3f}, after it {last:.3f}, of {len(alphabet)} characters.")
    return 0 if agrees and (arguments.steps < 50 or last < 0.8 * first) else 1


if __name__ == "__main__":
    raise SystemExit(main())
