"""Models and schedulers of the package diffusers."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from .rows import Call, Inputs, Row, integers, numbers


def _row(kind: str, given: Callable[[], Inputs], draws: bool = False, **configuration: Any) -> Row:
    def make() -> torch.nn.Module:
        model: torch.nn.Module = getattr(importlib.import_module("diffusers"), kind)(**configuration)
        return model

    return Row(kind, f"diffusers.{kind}", make, given, draws=draws)


def _noisy(channels: int = 4, size: int = 16, **others: Callable[[], torch.Tensor]) -> Callable[[], Inputs]:
    return lambda: {
        "sample": numbers(2, channels, size, size), "timestep": torch.tensor([3, 40]),
        **{name: make() for name, make in others.items()},
    }  # fmt: skip


def _states() -> torch.Tensor:
    return numbers(2, 5, 32, seed=2)


def _loop(kind: str) -> Row:
    """Some steps of a scheduler with a model of one convolution."""

    def make() -> torch.nn.Module:
        diffusers = importlib.import_module("diffusers")

        def run(model: torch.nn.Module, sample: torch.Tensor) -> torch.Tensor:
            scheduler = getattr(diffusers, kind)(num_train_timesteps=100)
            scheduler.set_timesteps(4, device=sample.device)
            sample = sample * scheduler.init_noise_sigma
            for step in scheduler.timesteps:
                noise = model(scheduler.scale_model_input(sample, step))
                sample = scheduler.step(noise, step, sample).prev_sample
            return sample

        return Call(run, torch.nn.Conv2d(3, 3, 3, padding=1))

    return Row(f"{kind}, 4 steps", f"diffusers.{kind}", make, lambda: {"sample": numbers(2, 3, 8, 8)}, draws=True)


BLOCKS: dict[str, Any] = {"block_out_channels": (16, 32), "layers_per_block": 1, "norm_num_groups": 4}
CROSS: dict[str, Any] = {
    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "cross_attention_dim": 32, "attention_head_dim": 4, **BLOCKS,
}  # fmt: skip
CODER: dict[str, Any] = {
    "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2, "latent_channels": 4, **BLOCKS,
}  # fmt: skip

ROWS = [
    _row(
        "UNet2DModel",
        _noisy(3),
        sample_size=16,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        **BLOCKS,
    ),
    _row(
        "UNet2DConditionModel",
        _noisy(encoder_hidden_states=_states),
        sample_size=16,
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        **CROSS,
    ),
    _row(
        "ControlNetModel",
        _noisy(encoder_hidden_states=_states, controlnet_cond=lambda: numbers(2, 3, 32, 32)),
        conditioning_embedding_out_channels=(16, 32),
        **CROSS,
    ),
    _row("AutoencoderKL", lambda: {"sample": numbers(2, 3, 16, 16), "sample_posterior": True}, True, **CODER),
    _row("VQModel", lambda: {"sample": numbers(2, 3, 16, 16)}, num_vq_embeddings=16, **CODER),
    _row(
        "DiTTransformer2DModel",
        lambda: {
            "hidden_states": numbers(2, 4, 8, 8),
            "timestep": torch.tensor([3, 40]),
            "class_labels": integers(0, 10, 2),
        },
        num_attention_heads=4,
        attention_head_dim=8,
        in_channels=4,
        num_layers=2,
        sample_size=8,
        num_embeds_ada_norm=10,
        norm_num_groups=4,
    ),
    _row(
        "SD3Transformer2DModel",
        lambda: {
            "hidden_states": numbers(2, 4, 8, 8),
            "timestep": torch.tensor([3, 40]),
            "encoder_hidden_states": numbers(2, 5, 32, seed=2),
            "pooled_projections": numbers(2, 16, seed=3),
        },
        sample_size=8,
        patch_size=2,
        in_channels=4,
        num_layers=2,
        attention_head_dim=8,
        num_attention_heads=4,
        joint_attention_dim=32,
        caption_projection_dim=32,
        pooled_projection_dim=16,
        out_channels=4,
        pos_embed_max_size=8,
    ),
    *(
        _loop(kind)
        for kind in (
            "DDPMScheduler",
            "DDIMScheduler",
            "EulerDiscreteScheduler",
            "DPMSolverMultistepScheduler",
            "PNDMScheduler",
            "LMSDiscreteScheduler",
            "UniPCMultistepScheduler",
            "HeunDiscreteScheduler",
        )
    ),
]
