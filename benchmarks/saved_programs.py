"""Measure models as saved programs beside PyTorch and ONNX Runtime.

    python benchmarks/saved_programs.py --output benchmarks/NAME-programs.json

Each model of `pytorch_models.py`, and ResNet-50, is exported by `vkarray.torch.export` and saved. A new process, which has no
PyTorch and no shader compiler and whose caches are empty, loads the file. The first result is timed from the start of that process,
and again in a second one, which finds what the first has left in the caches. Then calls are timed until the device is done.
The peers compute the same in processes of their own: PyTorch on CUDA, or on the CPU where there is none, as it is and compiled by
`torch.compile`, and ONNX Runtime on the processors. Results are compared with those of PyTorch on the CPU before anything is timed.
Weights are random. Times are medians; a ratio is the peer's time over the program's: above 1, the program is faster.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when transformers is imported

import numpy as np

BUSY_SECONDS = 0.3  # calls of one turn take about so long
ALLOWED = 1e-3  # of the largest output
TURNS = 5
PEERS = ("eager", "torch.compile", "onnxruntime")


def models(small: bool) -> dict[str, Any]:
    import pytorch_models
    import transformers

    sizes = {"embedding_size": 16, "hidden_sizes": [16, 32], "depths": [1, 1]} if small else {}
    image = pytorch_models._values("pixel_values", 3, 224, 224)
    resnet = pytorch_models.Model(
        lambda: transformers.ResNetModel(transformers.ResNetConfig(**sizes)), image, "images", 1, (1, 32)
    )
    return pytorch_models.models(small) | {"ResNet-50": resnet}


def made(name: str, batch: int, small: bool) -> tuple[Any, dict[str, Any]]:
    """A model on the CPU, and the arguments of a call, always the same."""
    import pytorch_models
    import torch

    torch.manual_seed(0)
    model = models(small)[name]
    network = model.make().eval()
    network.config.return_dict = False
    pytorch_models.settle(network, model.inputs(2))
    return network, model.inputs(batch)


def save(name: str, batch: int, folder: Path, small: bool, onnx: bool) -> None:
    """Write the program, its arguments, and what PyTorch computes on the CPU."""
    import torch

    import vkarray.torch

    network, inputs = made(name, batch, small)
    with torch.inference_mode():
        expected = network(**inputs)[0]
    np.savez(folder / "values.npz", expected=expected.numpy(), **{key: value.numpy() for key, value in inputs.items()})
    vkarray.torch.export(First(network), (), inputs).save(folder / "program.vkp")
    if onnx:
        torch.onnx.export(
            First(network), (), str(folder / "model.onnx"), kwargs=inputs, dynamo=True, external_data=False,
            verbose=False,
        )  # fmt: skip


def First(network: Any) -> Any:
    """A model that returns the first of what another returns."""
    import torch

    class Wrapped(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, **inputs: Any) -> Any:
            return self.network(**inputs)[0]

    return Wrapped().eval()


def median(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """The time of one call until the device is done."""

    def turn(repeats: int) -> float:
        wait()
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        wait()
        return (time.perf_counter() - start) / repeats

    turn(3)
    repeats = max(1, min(100, round(BUSY_SECONDS / turn(2))))
    return statistics.median(turn(repeats) for _ in range(TURNS))


def check(what: str, found: Any, expected: Any) -> float:
    difference = float(np.abs(found - expected).max()) / float(np.abs(expected).max())
    if not difference < ALLOWED:
        raise SystemExit(f"{what}: the results differ by {difference:.1e} of the largest: nothing was timed.")
    return difference


def run(folder: Path, began: float, calls: bool) -> dict[str, Any]:
    """The figures of the program: in a new process, which began at `began`."""
    import vkarray as vx

    values = dict(np.load(folder / "values.npz"))
    expected = values.pop("expected")
    program = vx.load_program(folder / "program.vkp")
    inputs = {name: vx.asarray(value) for name, value in values.items()}
    result = program(**inputs)
    found = np.asarray(result)
    first = time.time() - began
    figures = {"first": first, "difference": check("the program", found, expected)}
    if calls:
        figures["seconds"] = median(lambda: program(**inputs), result.device.synchronize)
        figures["peak"] = result.device.memory_statistics()["bytes_peak"]
        about = result.device.description
        figures["device"], figures["driver"] = result.device.name, str(about.driver)
    return figures


def run_peer(peer: str, name: str, batch: int, folder: Path, small: bool) -> float:
    """The time of a call of another library."""
    expected = np.load(folder / "values.npz")["expected"]
    if peer == "onnxruntime":
        import onnxruntime

        session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
        values = dict(np.load(folder / "values.npz"))
        given = {one.name: values[one.name] for one in session.get_inputs()}
        check(peer, session.run(None, given)[0], expected)
        return median(lambda: session.run(None, given), lambda: None)
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network, inputs = made(name, batch, small)
    network, there = network.to(device), {key: value.to(device) for key, value in inputs.items()}
    called = torch.compile(network, mode="reduce-overhead") if peer == "torch.compile" else network
    with torch.inference_mode():
        check(peer, called(**there)[0].cpu().numpy(), expected)
        return median(lambda: called(**there), torch.cuda.synchronize if device == "cuda" else lambda: None)


def child(*words: Any, **environment: str) -> Any:
    """What a process of its own finds."""
    command = [sys.executable, __file__, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)
    if done.returncode:
        return None, (done.stderr.strip() or "?").splitlines()[-1]
    return json.loads(done.stdout.splitlines()[-1]), ""


def alone(cache: Path) -> dict[str, str]:
    """The environment of a process that finds no shader compiler, and nothing of earlier processes but what lies in the cache."""
    folders = [one for one in os.environ["PATH"].split(os.pathsep) if not Path(one, "glslangValidator").exists()]
    caches = ("XDG_CACHE_HOME", "__GL_SHADER_DISK_CACHE_PATH", "MESA_SHADER_CACHE_DIR")
    cache.mkdir(exist_ok=True)
    return {"PATH": os.pathsep.join(folders)} | dict.fromkeys(caches, str(cache))


def measure(name: str, batch: int, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """A row of the table."""
    row: dict[str, Any] = {"model": name, "batch": batch, "bytes": (folder / "program.vkp").stat().st_size}
    environment = alone(folder / "cache")
    for key, calls in (("cold", 0), ("warm", 1)):
        row[key], fault = child("--run", folder, "--began", time.time(), "--calls", calls, **environment)
        if fault:
            raise SystemExit(f"{name}, batch {batch}: {fault}")
    row["peers"] = {}
    for peer in arguments.peers.split(","):
        if peer and not (peer == "onnxruntime" and not (folder / "model.onnx").exists()):
            found, fault = child(
                "--run-peer", peer, "--of", name, "--batch", batch, "--folder", folder, *arguments.size
            )
            row["peers"][peer] = found
            if fault:
                print(f"{name}, batch {batch}, {peer}: {fault}", file=sys.stderr)
    return row


def line(row: dict[str, Any], peers: list[str]) -> str:
    warm = row["warm"]
    own = warm["seconds"]
    ratios = (row["peers"].get(one) for one in peers)
    columns = [row["model"], row["batch"], f"{own * 1e3:.2f} ms", f"{row['batch'] / own:,.0f}"]
    columns += ["" if one is None else f"{one * 1e3:.2f} ms, {one / own:.2f}" for one in ratios]
    columns += [f"{row['cold']['first']:.2f} s", f"{warm['first']:.2f} s", f"{row['bytes'] / 1e6:.1f} MB"]
    columns += [f"{warm['peak'] / 1e6:.0f} MB", f"{warm['difference']:.0e}"]
    return f"| {' | '.join(map(str, columns))} |"


def write(path: Path, head: str, rows: list[dict[str, Any]], peers: list[str]) -> None:
    """The rows so far, as JSON and as a table."""
    import vkarray as vx

    about = {
        "device": rows[0]["warm"]["device"], "driver": rows[0]["warm"]["driver"], "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "vkarray": vx.__version__, "python": platform.python_version(),
    }  # fmt: skip
    path.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n", encoding="utf-8")
    title = ", ".join(f"{key} {value}" for key, value in about.items())
    table = "\n".join([head, *(line(row, peers) for row in rows)])
    path.with_suffix(".md").write_text(f"{title}\n\n{table}\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="NAMES", help="beginnings of models' names, comma-separated")
    parser.add_argument("--batches", default="1,32", metavar="NUMBERS", help="comma-separated (%(default)s)")
    parser.add_argument("--peers", default=",".join(PEERS), metavar="NAMES", help="comma-separated (%(default)s)")
    parser.add_argument("--small", action="store_true", help="much smaller models (what a CPU gets)")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where the figures go as JSON, and the table beside it"
    )
    for name in ("--save", "--run", "--folder"):
        parser.add_argument(name, type=Path, help=argparse.SUPPRESS)
    for name in ("--run-peer", "--of"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    for name, kind in (("--began", float), ("--calls", int), ("--batch", int), ("--onnx", int)):
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.save:
        save(given.of, given.batch, given.save, given.small, bool(given.onnx))
        print("{}")
        return 0
    if given.run:
        print(json.dumps(run(given.run, given.began, bool(given.calls))))
        return 0
    if given.run_peer:
        print(json.dumps(run_peer(given.run_peer, given.of, given.batch, given.folder, given.small)))
        return 0
    given.size = ["--small"] if given.small else []
    beginnings = tuple(given.only.lower().split(","))
    names = [name for name in models(given.small) if name.lower().startswith(beginnings)]
    chosen = [(name, int(batch)) for name in names for batch in given.batches.split(",")]
    peers, rows = [one for one in given.peers.split(",") if one], []
    head = "| model | batch | a call | each second | " + " | ".join(f"{one}, ratio" for one in peers)
    head += " | first result | in a later process | file | peak memory | difference |"
    head += "\n| --- | ---: | ---: | ---: |" + " ---: |" * (len(peers) + 5)
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2)) as pool:
        folders = {each: Path(top, f"{index}") for index, each in enumerate(chosen)}
        for folder in folders.values():
            folder.mkdir()
        onnx = int("onnxruntime" in peers and None not in map(importlib.util.find_spec, ("onnxruntime", "onnxscript")))
        saved = {
            each: pool.submit(
                child, "--save", folder, "--of", each[0], "--batch", each[1], "--onnx", onnx, *given.size, CUDA_VISIBLE_DEVICES=""
            )
            for each, folder in folders.items()
        }  # fmt: skip
        for each, future in saved.items():
            if future.result()[1]:
                raise SystemExit(f"{each[0]}, batch {each[1]}: {future.result()[1]}")
        print(head, flush=True)
        for each, folder in folders.items():
            rows.append(measure(*each, folder, given))
            print(line(rows[-1], peers), flush=True)
            if given.output is not None:
                write(given.output, head, rows, peers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
