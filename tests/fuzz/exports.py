"""Random networks as programs: what they return is what PyTorch does on the CPU, saved and loaded the same bits."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from choices import Single
from difference import Difference
from modules import said
from networks import Network
from tensors import close
from torch import Tensor

import vkarray as vx
import vkarray.torch

STEPS = 1
# What PyTorch's own export cannot do, and what programs say that they do not.
REFUSALS = ("random numbers", "depends on values", "torch.export")


class Chain(Single):
    """A network, and the program that it becomes."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        torch.manual_seed(seed)
        self.model = Network(self, self.integer(1, 7)).eval()
        self.dtype = self.choice((torch.float32, torch.float64, torch.float64))
        self.model.to(self.dtype)
        with torch.no_grad():
            for one in self.model.buffers():
                if one.is_floating_point():
                    one.add_(torch.rand(one.shape, dtype=one.dtype) * 0.3)
        self.varies = self.chance(0.4) and self.model.shape[0] > 1

    def input(self, count: int) -> Tensor:
        return torch.randn((count, *self.model.shape[1:]), dtype=self.dtype)

    def text(self) -> str:
        kind = f"{str(self.dtype)[6:]}{list(self.model.shape)}{', whose batch varies' if self.varies else ''}"
        return f"export for {kind}: {self.model}"

    def take(self, _: Any) -> None:
        """Compare. Raises Difference."""
        count = self.model.shape[0]
        dynamic = ({0: torch.export.Dim("count", min=1, max=64)},) if self.varies else None
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            try:
                torch.export.export(self.model, (self.input(count),), dynamic_shapes=dynamic, strict=False)
            except Exception:  # PyTorch's own
                return
            try:
                program = vkarray.torch.export(self.model, (self.input(count),), dynamic_shapes=dynamic)
            except Exception as error:
                if any(one in str(error) for one in REFUSALS):
                    return
                raise Difference(f"{said(error)}, from {self.text()}") from None
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "network.vkp"
                program.save(path, targets=())
                loaded = vx.load_program(path)
                for number in (count, *((count + 1, 1) if self.varies else ())):
                    self._compare(number, program, loaded)

    def _compare(self, count: int, program: Any, loaded: Any) -> None:
        x = self.input(count)
        theirs = self.model(x)
        given = vkarray.torch.to_vulkan(x)
        ours, again = (vkarray.torch.to_torch(one(given)) for one in (program, loaded))
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            kinds = [f"{one.dtype}{list(one.shape)}" for one in (ours, theirs)]
            raise Difference(f"for {count} {kinds[0]}, on the CPU {kinds[1]}, from {self.text()}")
        if not torch.equal(torch.nan_to_num(ours), torch.nan_to_num(again)):
            raise Difference(f"for {count} {ours.flatten()[:8]}, loaded {again.flatten()[:8]}, from {self.text()}")
        if not close(ours, theirs, least=1.0):
            away = [
                self.model(x * (1 + 4 * torch.finfo(self.dtype).eps * torch.randn(x.shape, dtype=x.dtype)))
                for _ in range(3)
            ]
            spread = max(float((one - theirs).abs().max()) for one in away)
            if float((ours - theirs).abs().max()) > 50 * spread:
                values = f"{ours.flatten()[:8]}, on the CPU {theirs.flatten()[:8]}"
                raise Difference(f"for {count} off by {(ours - theirs).abs().max()}: {values}, from {self.text()}")


def network(chain: Chain) -> Any:
    return chain


OPERATIONS = [(1, network)]
