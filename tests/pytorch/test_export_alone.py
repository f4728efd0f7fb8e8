"""Exported models, run in a process where neither PyTorch nor a compiler is: the same bits as where they were made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_program_alone import check_alone
from torch import nn

import vkarray.torch


class Pictures(nn.Sequential):
    """Convolutions, a norm, and scores."""

    def __init__(self) -> None:
        layers = [
            nn.Conv2d(3, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(4, 5),
        ]
        super().__init__(*layers, nn.Softmax(-1))


class Words(nn.Module):
    """Numbers of words, looked up, and a layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.layer(self.table(words))


class Steps(nn.Module):
    """A recurrent layer, of which the last step is ranked."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(4, 6, batch_first=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = self.layer(x)[0][:, -1]
        return found.topk(3)


def exported() -> Iterator[tuple[str, Any, list[Any]]]:
    rows = {
        "pictures": (Pictures(), np.random.default_rng(0).standard_normal((2, 3, 8, 8), np.float32)),
        "words": (Words(), np.asarray([[3, 1, 9], [0, 0, 2]])),
        "steps": (Steps(), np.random.default_rng(1).standard_normal((2, 5, 4), np.float32)),
    }
    for name, (model, given) in rows.items():
        yield name, vkarray.torch.export(model.eval(), (torch.from_numpy(given),)), [given]


@pytest.mark.filterwarnings("ignore:The tensor attributes")  # of PyTorch's own recurrent layers
def test_exported_models_run_alone(tmp_path: Path) -> None:
    assert check_alone(exported(), tmp_path) == 3
