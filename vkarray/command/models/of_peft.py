"""Adapters of the package peft on a small model of transformers."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from .of_transformers import KEYS, decoder
from .rows import Row

_MODEL = decoder("Mistral", "MistralForCausalLM", **KEYS)


def _row(kind: str, generates: bool = True, **options: Any) -> Row:
    def make() -> torch.nn.Module:
        peft = importlib.import_module("peft")
        model: torch.nn.Module = peft.get_peft_model(
            _MODEL.make(), getattr(peft, kind)(task_type="CAUSAL_LM", **options)
        )
        return model

    return Row(kind, f"peft.{kind}", make, _MODEL.given, ("greedy",) if generates else ())


_PROJECTED = ["q_proj", "v_proj"]

ROWS = [
    _row("LoraConfig", r=4, target_modules=_PROJECTED),
    _row("LoraConfig", r=4, target_modules=_PROJECTED, use_dora=True)._replace(name="LoraConfig, DoRA"),
    _row("IA3Config", target_modules=[*_PROJECTED, "down_proj"], feedforward_modules=["down_proj"]),
    _row("PrefixTuningConfig", num_virtual_tokens=4),
    _row("PromptTuningConfig", num_virtual_tokens=4),
    _row("LoHaConfig", r=4, target_modules=_PROJECTED),
    _row("LoKrConfig", r=4, target_modules=_PROJECTED),
    _row("AdaLoraConfig", generates=False, target_r=4, init_r=4, total_step=10, target_modules=_PROJECTED),
    _row("OFTConfig", r=4, oft_block_size=0, target_modules=_PROJECTED),
    _row("VeraConfig", r=4, target_modules=_PROJECTED),
]
