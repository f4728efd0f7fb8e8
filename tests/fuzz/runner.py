"""Runs chains, here or in a process of its own."""

from __future__ import annotations

import importlib
import time
import traceback
from typing import Any

from difference import Difference

STEPS = 100  # operations of a chain
MODULES = {"onnx": "onnx_models", "onnx-cases": "onnx_cases"}  # of kinds whose name is another module's


def read_all_as_texels() -> None:
    """What CPU drivers do with large arrays, they do with small ones, too."""
    from vkarray.kernels import texels
    from vkarray.kernels.product import packs

    texels._FEW_BYTES = packs._FEW_PRODUCTS = 0
    packs._LEAST = dict.fromkeys(packs._LEAST, (1, 1, 1))


def run_chain(kind: str, seed: int) -> tuple[int, dict[str, int], str]:
    """Operations run, how often each, and the difference that ended the chain ("" for none)."""
    module = importlib.import_module(MODULES.get(kind, kind))
    chain = module.Chain(seed)
    operations = [operation for _, operation in module.OPERATIONS]
    shares = [weight / sum(weight for weight, _ in module.OPERATIONS) for weight, _ in module.OPERATIONS]
    done, counts, steps = 0, {}, getattr(module, "STEPS", STEPS)
    try:
        while done < steps:
            operation = chain.random.choice(operations, p=shares)
            step = operation(chain)
            if step is None:
                continue
            chain.take(step)
            done += 1
            counts[operation.__name__] = counts.get(operation.__name__, 0) + 1
            if done % 10 == 0:
                chain.check()
    except Difference as error:
        return done, counts, f"seed {seed}, operation {done}: {error}"
    except Exception:
        return (
            done,
            counts,
            f"seed {seed}, operation {done}, after {chain.last.text()[:300] if chain.last else None}:\n{traceback.format_exc()}",
        )
    return done, counts, ""


def work(
    kind: str, first: int, stride: int, chains: int, deadline: float, results: Any, small_as_large: bool = False
) -> None:
    """Run chains of every `stride`-th seed and send what they give."""
    if small_as_large:
        read_all_as_texels()
    for number in range(chains):
        if time.time() > deadline:
            break
        results.put(run_chain(kind, first + number * stride))
    results.put(None)
