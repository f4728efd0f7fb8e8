"""`--peer` of `vkarray benchmark`: ONNX Runtime on the same inputs, with the ONNX model that a program was made of."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.array import VkArray
from ..errors import VkArrayError
from ..programs.program import Program

PACKAGE = "onnxruntime"


class Compared(NamedTuple):
    """Who computed, the seconds of its calls, and of each output its name and how far the results are apart."""

    name: str
    seconds: list[float]
    results: list[tuple[str, str]]


def path_of(given: str, program: str) -> Path:
    """The file of the model: the one given, or for "" the one beside a program.

    Raises VkArrayError where there is no such file, or no ONNX Runtime.
    """
    path = Path(given) if given else Path(program).with_suffix(".onnx")
    if not path.is_file():
        raise VkArrayError(f"--peer: there is no file {path}. Give the ONNX model: --peer=model.onnx.")
    if importlib.util.find_spec(PACKAGE) is None:
        raise VkArrayError(f"--peer: ONNX Runtime is not installed. Install it: pip install {PACKAGE}")
    return path


def compared(
    path: Path, program: Program, given: Sequence[Any], results: Sequence[VkArray],
    measured: Callable[[Callable[[], Any]], list[float]],
) -> Compared:  # fmt: skip
    """Run a model on the inputs of a program, which gave these results. Raises VkArrayError where that cannot be."""
    runtime = importlib.import_module(PACKAGE)
    # That of Azure computes nothing on this machine.
    providers = [one for one in runtime.get_available_providers() if not one.startswith("Azure")]
    try:
        session = runtime.InferenceSession(str(path), providers=providers)
        inputs = _matched("inputs", [one.name for one in session.get_inputs()], [one.name for one in program.inputs])
        outputs = _matched(
            "outputs", [one.name for one in session.get_outputs()], [one.name for one in program.outputs]
        )
        feed = dict(zip(inputs, map(np.asarray, given), strict=True))
        found = session.run(outputs, feed)
        seconds = measured(lambda: session.run(outputs, feed))
    except VkArrayError:
        raise
    except Exception as error:  # which are of its own classes
        raise VkArrayError(f"--peer: ONNX Runtime cannot run {path} on these inputs: {error}") from None
    told = [
        (one.name, difference(np.asarray(ours), np.asarray(theirs)))
        for one, ours, theirs in zip(program.outputs, results, found, strict=True)
    ]
    return Compared(f"ONNX Runtime {runtime.__version__} ({session.get_providers()[0]})", seconds, told)


def _matched(kind: str, theirs: list[str], ours: list[str]) -> list[str]:
    """The model's names in the order of the program's: the same ones where both have them, else by place."""
    if len(theirs) != len(ours):
        raise VkArrayError(
            f"--peer: the model has {len(theirs)} {kind}, {', '.join(theirs)}, and the program {len(ours)}, {', '.join(ours)}. "
            "Give the model that the program was made of."
        )
    return ours if set(theirs) == set(ours) else theirs


def difference(ours: Any, theirs: Any) -> str:
    """How far a result is from another one, in a text."""
    if ours.shape != theirs.shape:
        return f"has the shape {ours.shape}, and that of the peer {theirs.shape}"
    same = (ours == theirs) | ((ours != ours) & (theirs != theirs))  # NaN is as good as NaN
    if same.all() or ours.dtype.kind not in "fc":
        return f"{np.count_nonzero(~same)} of {ours.size} elements differ"
    with np.errstate(invalid="ignore"):  # of infinities
        apart = np.max(np.abs(ours - theirs)[~same])
    largest = np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0)
    return f"at most {apart:.2g} apart, of values up to {largest:.2g}"
