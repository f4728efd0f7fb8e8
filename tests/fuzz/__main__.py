"""Compare random chains of operations with NumPy's, or with PyTorch's on the CPU, or random programs with what
`vkarray.compile` makes of them, or random networks of PyTorch's modules with the CPU, or load damaged files of programs, or compare
random ONNX models, or ONNX's own cases changed at random, with ONNX's reference, for as long as you like.

    python tests/fuzz library --operations 1000000 --workers 2
    python tests/fuzz bridge --seconds 3600
    python tests/fuzz modules --seconds 600
    python tests/fuzz programs --chains 20000 --unoptimised
    python tests/fuzz files --operations 100000
    python tests/fuzz onnx --seconds 60
    python tests/fuzz onnx-cases --seconds 3600

Each difference is printed with the seed of its chain; `--seed N --chains 1` runs that chain again. Ends with status 1
if there was one.
"""

from __future__ import annotations

import os

os.environ.setdefault("VKARRAY_DEFAULT_FLOAT", "float64")  # with which results have NumPy's types
os.environ.setdefault("LP_NUM_THREADS", "0")  # a CPU driver's small dispatches cost far less without worker threads

import argparse
import multiprocessing
import queue
import sys
import time

from runner import STEPS, work


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=("library", "bridge", "modules", "programs", "files", "onnx", "onnx-cases"))
    parser.add_argument(
        "--operations", type=int, default=0, help=f"how many, in chains of {STEPS} (default: until the time is up)"
    )
    parser.add_argument(
        "--seconds", type=float, default=None, help="how long (default: 60, without limit if --operations is given)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first chain (default 0)")
    parser.add_argument("--chains", type=int, default=0, help="how many chains, instead of --operations")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--failures", type=int, default=20, help="stop after so many differences (default 20)")
    parser.add_argument(
        "--unoptimised",
        action="store_true",
        help="have llvmpipe compile without optimisation and for short vectors, which takes half the time: for many "
        "programs, whose time is the driver's. What its optimisation does to results is then not tested",
    )
    parser.add_argument(
        "--small-as-large",
        action="store_true",
        help="do with arrays of every size what CPU drivers do with large ones, which the chains have none of: read them as texels",
    )
    given = parser.parse_args()
    if given.unoptimised:
        os.environ |= {"GALLIVM_PERF": "nopt", "LP_NATIVE_VECTOR_WIDTH": "128"}  # the workers' drivers read these
    chains = given.chains or -(-given.operations // STEPS) or 1 << 40
    seconds = given.seconds if given.seconds is not None else (1e9 if given.operations or given.chains else 60.0)
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    began = time.time()
    share = -(-chains // given.workers)
    processes = [
        context.Process(
            target=work,
            args=(given.kind, given.seed + one, given.workers, share, began + seconds, results, given.small_as_large),
            daemon=given.kind != "onnx-cases",  # which have processes of their own
        )
        for one in range(given.workers)
    ]
    for process in processes:
        process.start()
    running, done, failures, shown = given.workers, 0, [], began
    counts: dict[str, int] = {}
    while running and len(failures) < given.failures:
        try:
            found = results.get(timeout=10)
        except queue.Empty:
            if not any(process.is_alive() for process in processes):
                failures.append(f"a process ended with status {[process.exitcode for process in processes]}")
                print(failures[-1], flush=True)
                break
            continue
        if found is None:
            running -= 1
            continue
        count, own, failure = found
        done += count
        for name, number in own.items():
            counts[name] = counts.get(name, 0) + number
        if failure:
            failures.append(failure)
            print(failure, flush=True)
        if time.time() - shown > 60:
            shown = time.time()
            print(f"{done} operations, {len(failures)} differences, {shown - began:.0f} s", flush=True)
    for process in processes:
        process.terminate()
    print(f"{given.kind}: {done} operations, {len(failures)} differences, {time.time() - began:.0f} s")
    print(", ".join(f"{name} {number}" for name, number in sorted(counts.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
