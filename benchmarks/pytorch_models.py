"""Measure models of the package `transformers` on PyTorch's device `vulkan` beside another of its devices.

    python benchmarks/pytorch_models.py --output benchmarks/NAME-pytorch.json

The weights are random, so nothing is downloaded. Each model's output is compared with that of the peer (CUDA where it is there,
else the CPU) before anything is timed. Then the two take turns; times are from the call until the device is done, medians
of several rounds, and the ratio is the peer's time over vulkan's: above 1, vulkan is faster. `host` is the time that calling takes
without waiting for the device, by operator: what Python costs. Operators that run on the CPU instead are counted and named.

With `--train` a call is a step of training: forth, back, and AdamW. Each device has a process of its own, since PyTorch has one
accelerator in a process for backward passes; losses and gradients are compared before the table is made.

With `--compile` the model on vulkan is compiled by `torch.compile(backend="vulkan")`, and with `--compile-peer` the peer's by
`torch.compile`, in one of its modes: `default`, or `reduce-overhead` for CUDA graphs.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when transformers is imported

import torch
import transformers
from torch.utils._python_dispatch import TorchDispatchMode

import vkarray as vx
import vkarray.torch

BUSY_SECONDS = 0.2  # calls of one turn take about so long
WARM = 6  # steps of training before how many of them make a turn is found out


class Model(NamedTuple):
    """A model, what it is given, and how many tokens or images that is for each element of the batch."""

    make: Callable[[], torch.nn.Module]
    inputs: Callable[[int], dict[str, torch.Tensor]]
    unit: str
    each: int
    batches: tuple[int, ...]


def _tokens(vocabulary: int, length: int) -> Callable[[int], dict[str, torch.Tensor]]:
    def inputs(batch: int) -> dict[str, torch.Tensor]:
        return {"input_ids": torch.randint(vocabulary, (batch, length))}

    return inputs


def _values(name: str, *shape: int) -> Callable[[int], dict[str, torch.Tensor]]:
    def inputs(batch: int) -> dict[str, torch.Tensor]:
        return {name: torch.randn(batch, *shape)}

    return inputs


def _whisper() -> torch.nn.Module:
    config = transformers.WhisperConfig(d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536)
    return transformers.WhisperModel(config).encoder


def models(small: bool) -> dict[str, Model]:
    """The models, of their usual sizes or, for a CPU, much smaller."""
    t, length = transformers, 32 if small else 256
    few = {"num_hidden_layers": 2} if small else {}
    batches = (1, 2) if small else (1, 8, 32)
    llama = t.LlamaConfig(
        vocab_size=8192, hidden_size=768, intermediate_size=2048, num_attention_heads=12, num_key_value_heads=4,
        **({"num_hidden_layers": 12} | few),
    )  # fmt: skip
    gpt2 = t.GPT2Config(**({"n_layer": 2} if small else {}))
    return {
        "BERT": Model(lambda: t.BertModel(t.BertConfig(**few)), _tokens(30522, length), "tokens", length, batches),
        "GPT-2": Model(lambda: t.GPT2Model(gpt2), _tokens(50257, length), "tokens", length, batches),
        "Llama": Model(lambda: t.LlamaModel(llama), _tokens(8192, length), "tokens", length, batches),
        "ViT": Model(lambda: t.ViTModel(t.ViTConfig(**few)), _values("pixel_values", 3, 224, 224), "images", 1, batches),
        "MobileNetV2": Model(
            lambda: t.MobileNetV2Model(t.MobileNetV2Config()), _values("pixel_values", 3, 224, 224), "images", 1,
            batches if small else (1, 32, 128),
        ),
        "Whisper encoder": Model(_whisper, _values("input_features", 80, 3000), "seconds of sound", 30, batches),
    }  # fmt: skip


class Counting(TorchDispatchMode):
    """Counts the operators that reach the device."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def output(model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    result: torch.Tensor = model(**inputs)[0]
    return result


def settle(model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> None:
    """Give batch normalization the statistics of its inputs: without them the outputs of random weights vanish.

    Those of a whole MobileNetV2 are zeros in float16, and there would be nothing to compare.
    """
    momenta = {one: one.momentum for one in model.modules() if isinstance(one, torch.nn.modules.batchnorm._BatchNorm)}
    for one in momenta:
        one.momentum = None  # the average over all batches, here one
        one.train()
    if momenta:
        with torch.inference_mode():
            model(**inputs)
    for one, momentum in momenta.items():
        one.momentum = momentum  # without one, each step of training reads how many batches there were
    model.eval()


def wait(device: str) -> None:
    """Until the device is done."""
    if device != "cpu":
        getattr(torch, device).synchronize()


def seconds(call: Callable[[], Any], device: str, repeats: int) -> tuple[float, float]:
    """The time of one call until the device is done, and until the calls alone have returned."""
    wait(device)
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    called = time.perf_counter() - start
    wait(device)
    return (time.perf_counter() - start) / repeats, called / repeats


def compiled(model: torch.nn.Module, device: str, arguments: argparse.Namespace) -> Any:
    """The model as it is to be called: compiled where that was asked for."""
    if device == "vulkan":
        return torch.compile(model, backend="vulkan") if arguments.compile else model
    return torch.compile(model, mode=arguments.compile_peer) if arguments.compile_peer else model


def measure(name: str, model: Model, batch: int, dtype: torch.dtype, arguments: argparse.Namespace) -> dict[str, Any]:
    """One model with one size of batch, checked and timed on both devices."""
    peer, rounds = arguments.peer, arguments.rounds
    torch._dynamo.reset()  # else PyTorch compiles the code of a class of modules no more after eight times
    torch.manual_seed(0)
    made = model.make().eval()
    settle(made, model.inputs(2))
    inputs = model.inputs(batch)
    calls: dict[str, Callable[[], torch.Tensor]] = {}
    for device in (peer, "vulkan"):
        there = {key: value.to(device, dtype if value.is_floating_point() else None) for key, value in inputs.items()}
        moved = compiled(copy.deepcopy(made).to(device, dtype), device, arguments)
        calls[device] = lambda moved=moved, there=there: output(moved, there)
    with torch.inference_mode():
        expected = calls[peer]().float().cpu()
        vkarray.torch.reset_fallbacks()
        with contextlib.nullcontext(Counting()) if arguments.compile else Counting() as counted:
            found = calls["vulkan"]().float().cpu()
        fallbacks = {str(key): str(value) for key, value in vkarray.torch.fallbacks().items()}
        largest = float(expected.abs().max())
        if largest == 0:
            raise SystemExit(f"{name}: all outputs on {peer} are zeros in {dtype}: they prove nothing.")
        difference = float((found - expected).abs().max()) / largest
        allowed = 1e-3
        if dtype is not torch.float32:  # 3e-2, or where the type itself costs more, what it costs the peer
            exact = output(copy.deepcopy(made).to(peer), {key: value.to(peer) for key, value in inputs.items()})
            allowed = max(3e-2, float((expected - exact.float().cpu()).abs().max()) / largest)
            del exact
        if not difference < allowed:
            raise SystemExit(f"{name}: the outputs differ by {difference:.1e} of the largest: nothing was timed.")
        repeats = {
            device: max(1, min(50, round(BUSY_SECONDS / max(seconds(call, device, 1)[0], 1e-6))))
            for device, call in calls.items()
        }
        times: dict[str, list[tuple[float, float]]] = {device: [] for device in calls}
        for _ in range(rounds):
            for device, call in calls.items():
                times[device].append(seconds(call, device, repeats[device]))
    whole = {device: statistics.median(each[0] for each in taken) for device, taken in times.items()}
    host = {device: statistics.median(each[1] for each in taken) for device, taken in times.items()}
    return {
        "model": name, "batch": batch, "dtype": str(dtype).removeprefix("torch."), "unit": model.unit,
        "rate": {device: batch * model.each / value for device, value in whole.items()},
        "seconds": whole, "host": {device: value / (counted.count or 1) for device, value in host.items()},
        "operators": counted.count, "ratio": whole[peer] / whole["vulkan"], "difference": difference,
        "fallbacks": fallbacks,
    }  # fmt: skip


def line(row: dict[str, Any], peer: str) -> str:
    """A row of the table."""
    rate, host = row["rate"], row["host"]
    return (
        f"| {row['model']} | {row['dtype']} | {row['batch']} | {rate['vulkan']:,.0f} {row['unit']}/s | {rate[peer]:,.0f} "
        f"| {row['ratio']:.2f} | {row['operators']} | {host['vulkan'] * 1e6:.1f} µs | {host[peer] * 1e6:.1f} µs "
        f"| {row['difference']:.0e} | {len(row['fallbacks'])} |"
    )


def train(name: str, model: Model, batch: int, device: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Steps of training of one model on one device. Without dropout, so that devices agree; batch normalization is in training."""
    torch.manual_seed(0)
    made = model.make().eval()
    settle(made, model.inputs(2))
    inputs = {key: value.to(device) for key, value in model.inputs(batch).items()}
    for one in made.modules():
        one.train(isinstance(one, torch.nn.modules.batchnorm._BatchNorm))
    made.to(device)
    optimizer = torch.optim.AdamW(made.parameters(), lr=1e-5)
    called, rounds = compiled(made, device, arguments), arguments.rounds

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = output(called, inputs).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    loss = float(step().detach())
    norms = [float(one.grad.norm()) for one in made.parameters() if one.grad is not None]
    seconds(step, device, WARM)  # kernels are compiled, and plans made
    repeats = max(1, min(50, round(BUSY_SECONDS / max(seconds(step, device, 2)[0], 1e-6))))
    times = [seconds(step, device, repeats) for _ in range(rounds)]
    whole, host = (statistics.median(taken) for taken in zip(*times, strict=True))
    return {"model": name, "batch": batch, "loss": loss, "norms": norms, "seconds": whole, "host": host}


TRAINED = (1, 16)  # batches


def measure_training(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Rows of the table of `--train`: the figures of the peer's process beside those of vulkan's."""
    found = {}
    for device in (arguments.peer, "vulkan"):
        command = [sys.executable, __file__, *sys.argv[1:], "--train-on", device]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found[device] = json.loads(done.stdout.splitlines()[-1])
    rows = []
    for peer, vulkan in zip(*found.values(), strict=True):
        largest = max(peer["norms"])
        differences = [abs(one - other) / largest for one, other in zip(peer["norms"], vulkan["norms"], strict=True)]
        difference = max(*differences, abs(peer["loss"] - vulkan["loss"]) / abs(peer["loss"]))
        if not difference < 1e-2:
            raise SystemExit(f"{peer['model']}, batch {peer['batch']}: losses or gradients differ by {difference:.1e}.")
        rows.append({
            "model": peer["model"], "batch": peer["batch"], "ratio": peer["seconds"] / vulkan["seconds"],
            "seconds": {"vulkan": vulkan["seconds"], arguments.peer: peer["seconds"]},
            "host": {"vulkan": vulkan["host"], arguments.peer: peer["host"]}, "difference": difference,
        })  # fmt: skip
    return rows


def line_of_training(row: dict[str, Any], peer: str) -> str:
    """A row of the table of `--train`."""
    times = (1e3 * row[kind][device] for kind in ("seconds", "host") for device in ("vulkan", peer))
    columns = " | ".join(f"{time:.2f} ms" for time in times)
    return f"| {row['model']} | {row['batch']} | {columns} | {row['ratio']:.2f} | {row['difference']:.0e} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="cuda" if torch.cuda.is_available() else "cpu", help="(%(default)s)")
    parser.add_argument("--only", default="", metavar="NAMES", help="beginnings of models' names, comma-separated")
    parser.add_argument("--batches", default="", metavar="NUMBERS", help="instead of each model's own, comma-separated")
    parser.add_argument("--dtype", default="float32", metavar="NAMES", help="comma-separated (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of which medians are taken (%(default)s)")
    parser.add_argument("--small", action="store_true", help="much smaller models (what a CPU gets)")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where the figures go as JSON, and the table beside it"
    )
    parser.add_argument("--compile", action="store_true", help="vulkan's models by torch.compile(backend='vulkan')")
    parser.add_argument("--compile-peer", default="", metavar="MODE", help="the peer's by a mode of torch.compile")
    parser.add_argument("--train", action="store_true", help="steps of training, in batches of 1 and 16")
    parser.add_argument("--train-on", metavar="DEVICE", help=argparse.SUPPRESS)  # in the process of one device
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    batches = tuple(int(each) for each in arguments.batches.split(",") if each)
    beginnings = tuple(arguments.only.lower().split(","))
    chosen = [
        (name, model, batch)
        for name, model in models(arguments.small or arguments.peer == "cpu").items()
        for batch in (batches or (TRAINED if arguments.train else model.batches))
        if name.lower().startswith(beginnings)
    ]
    if arguments.train_on:
        if arguments.train_on == "vulkan":
            vkarray.torch.register_device()
        print(json.dumps([train(*each, arguments.train_on, arguments) for each in chosen]))
        return 0
    vkarray.torch.register_device()  # in place of CUDA, whose forward passes go on
    device = vx.asarray(0.0).device
    print(f"{device.name}, {device.description.driver}, PyTorch {torch.__version__}\n")
    peer = arguments.peer
    if arguments.train:
        head = (
            f"| model | batch | vulkan | {peer} | host | host {peer} | ratio | difference |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        )
        rows = measure_training(arguments)
        lines = [line_of_training(row, peer) for row in rows]
        print("\n".join([head, *lines]))
    else:
        head = (
            f"| model | type | batch | vulkan | {peer} | ratio | operators | host | host {peer} | difference "
            "| on the CPU |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        )
        print(head, flush=True)
        rows, lines = [], []
        for each in chosen:
            for dtype in arguments.dtype.split(","):
                rows.append(measure(*each, getattr(torch, dtype), arguments))
                lines.append(line(rows[-1], peer))
                print(lines[-1], flush=True)
    if arguments.output is not None:
        about = {
            "device": device.name, "driver": device.description.driver, "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "torch": torch.__version__, "transformers": transformers.__version__, "vkarray": vx.__version__,
            "python": platform.python_version(), "peer": arguments.peer,
        }  # fmt: skip
        arguments.output.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n", encoding="utf-8")
        title = ", ".join(f"{key} {value}" for key, value in about.items())
        arguments.output.with_suffix(".md").write_text(
            f"{title}\n\n{head}\n" + "\n".join(lines) + "\n", encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
