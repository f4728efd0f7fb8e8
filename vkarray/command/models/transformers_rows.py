"""What rows of models of the package transformers are made of."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from .rows import Inputs, Row, integers

WORDS: dict[str, Any] = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 98,
}  # fmt: skip
# Wide enough that attention is not uniform and gradients reach all layers.
INITIAL: dict[str, Any] = {"initializer_range": 0.2}
UNSET: Any = object()  # what a configuration does not know, and another row has
MODES = ("greedy", "beam", "sampling", "static cache")
ALL_MODES = (*MODES, "without cache", "prompt lookup", "assisted")


def row(
    name: str,
    kind: str,
    given: Any,
    modes: tuple[str, ...] = (),
    draws: bool = False,
    unstable: str = "",
    trains: bool = True,
    **configuration: Any,
) -> Row:
    """A row of a model class, of the small configuration."""

    def make() -> torch.nn.Module:
        found = getattr(importlib.import_module("transformers"), kind)
        given = {key: value for key, value in (INITIAL | configuration).items() if value is not UNSET}
        config = found.config_class(**given)
        for key, value in vars(config).items():
            if "drop" in key and isinstance(value, float):
                setattr(config, key, 0.0)
        model: torch.nn.Module = found(config)
        return model

    return Row(name, f"transformers.{kind}", make, given, modes, draws, unstable, trains)


def words() -> Inputs:
    """Two sentences, the second one padded before its words, and the words that follow."""
    ids = integers(2, 98, 2, 9)
    mask = torch.ones_like(ids)
    mask[1, :3] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}
