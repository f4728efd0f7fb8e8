"""ONNX's own cases of operators, changed: what `vkarray.onnx.load` makes of one, against ONNX's checker and its reference.

A case is a model of one operator with inputs. Changed are the version of the operators, attributes, axes, types, shapes and values
of inputs, which inputs and outputs there are, what is an initializer, the graph around the node, and bytes of the file. What
ONNX's checker refuses has to be refused, with the name of the node; where all agree to compute, the values have to agree.
Nothing may end the process, hang, or raise another error.
"""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from choices import Single
from difference import Difference
from onnx_changes import CHANGES, Case
from referee import Referee, Unknown

sys.path.insert(0, str(Path(__file__).parent.parent))

from onnx_suite import cases

import vkarray.onnx

STEPS = 1
# Whether to tell of what is refused here alone as well: the reference takes much that ONNX's text does not allow.
REFUSALS = bool(os.environ.get("FUZZ_REFUSALS"))
SECONDS = 40  # of the processor that a model may take
# What ONNX refuses and vkarray computes: operators take more types than ONNX allows them, what a graph says of shapes inside is
# not looked at, and some refusals are of the checker's own making.
LENIENT = (
    "typestr", "unsupported type", "TypeInferenceError", "inconsistent type", "ParseData type mismatch",
    "Inferred shape and existing shape differ",
    "number of inferred and declared dimensions", "in initializer but not in graph input", "already exists",
    "Dimension mismatch in unification",
    "Invalid tensor data type 0",
    "One and only one of the attributes 'value'", "score_mod output type mismatch",
    "Can't merge shape info", "prob_mod output type mismatch", "No Op registered for LayerNormalization", "Field '",
    "Neither 'split' input nor 'num_outputs'",
)  # fmt: skip
# Where the reference is wrong: it takes no absolute values for the sum of an L1 norm, puts lists of branches into lists, looks at
# as many channels of LRN as there are pictures, clips no layers, makes float32 of grids and roots of negative scales, has NaN of
# more than a transform of NaN has, samples integers in integers, and has 1 / 255 for the scale of zeros. Products of integers
# differ where halves are rounded; casts of numbers out of bounds are what the processor makes of them.
WRONG = (
    "l1normalization", "if_opt", "lrn", "globalmaxpool", "globalaveragepool", "rnn", "gru", "lstm", "affinegrid", "affine_grid",
    "attention", "qlinear", "dynamicquantizelinear", "gridsample", "dft", "stft", "cast", "castlike", "shrink",
)  # fmt: skip
# Before a version it has the rules of that version.
FORMER = {"softmax": 13, "hardmax": 13, "batchnorm": 15, "lppool": 18}
NAMED = re.compile(r"onnx\.load|node '|the input '|expected the inputs")


REFEREE = Referee()


class Late(BaseException):
    """What is raised when the time is up."""


class Chain(Single):
    """The case of a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.made: Case | None = None

    def take(self, _: Any) -> None:
        """Compare. Raises Difference."""
        faulthandler.dump_traceback_later(300, exit=True)  # in the driver's code no signal is looked at
        signal.signal(signal.SIGPROF, _late)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                told = self.differing()
        except Late:
            told = f"takes more than {SECONDS} s"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()
        if told:
            raise Difference(f"{self.text()}\n{told}")

    def text(self) -> str:
        """The case, as messages show it."""
        made = self.made
        if made is None:
            return "no case"
        given = ", ".join(
            f"{name}: {one.dtype}{list(one.shape)} {one.tolist()!r:.150}" for name, one in made.arrays.items()
        )
        return f"{made.name} changed by {made.changes}, with {given}\n{onnx.printer.to_text(made.model):.3000}"

    def differing(self) -> str:
        """What differs, or nothing."""
        made = self.made = self.case()
        for _ in range(self.integer(1, 3)):
            one = self.choice(CHANGES)
            if made.damaged is None and one(made, self):
                made.changes.append(one.__name__)
        made.describe()
        if any(one.op_type == "Loop" and not any(one.input[:1]) for one in made.graph.node):
            return ""  # which may go on for ever
        model: Any = made.damaged or made.model
        compiled = self.chance(0.3)
        found = _ours(model, made.arrays, compiled)
        if isinstance(found, str) or (isinstance(found, Exception) and made.damaged is not None):
            return found if isinstance(found, str) else ""
        if made.damaged is not None:
            made.model, _ = vkarray.onnx._graph.read(made.damaged)
        try:
            refused, expected = REFEREE(made.model, made.arrays)
        except Unknown:
            return ""
        if not refused and (isinstance(expected, Exception) or wrong(made)):
            return ""  # much is not there, or is right of other models alone
        if refused and any(np.min(made.arrays.get(name, 1), initial=1) < 1 for name in ("trips", "go")):
            return ""  # of a body that is never run
        return compared(found, refused, expected, "Loop" in {one.op_type for one in made.graph.node})

    def case(self) -> Case:
        """A copy of one of ONNX's cases, whose inputs and outputs are arrays."""
        listed = cases.names()
        while True:
            module = self.choice(listed)
            name = self.choice(listed[module])
            base = cases.of_module(module)[name]
            if cases.reason(base) or cases.is_random(name) or not base.data_sets or "dropout" in name:
                continue
            given = cases._given(base.data_sets[0][0])
            if not all(isinstance(one, np.ndarray) and one.size < 1 << 12 for one in given):
                continue
            model = onnx.ModelProto()
            model.CopyFrom(base.model)
            return Case(name, model, {one.name: array for one, array in zip(model.graph.input, given, strict=True)})


def wrong(made: Case) -> bool:
    """Whether the reference may be."""
    names = (*WRONG, *(name for name, version in FORMER.items() if made.version < version))
    return any(one in made.name or one in {node.op_type.lower() for node in made.graph.node} for one in names)


def _late(*_: Any) -> None:
    raise Late


def _ours(model: Any, arrays: dict[str, np.ndarray], compiled: bool) -> Any:
    """The results, the error if it is one that is right, or what is wrong with it."""
    try:
        loaded = vkarray.onnx.load(model, compile=compiled)
        names = {one.name for one in loaded.inputs}
        found = loaded(**{name: one for name, one in arrays.items() if name in names})
        return [one if one is None else cases._numpy(one) for one in (found if isinstance(found, tuple) else (found,))]
    except (ValueError, NotImplementedError) as error:
        return error if NAMED.search(str(error)) else f"refused without a name: {type(error).__name__}: {error}"
    except TypeError as error:
        return error if "expected the inputs" in str(error) else f"raises {type(error).__name__}: {error}"
    except IndexError as error:  # which the device finds when values are read
        return error if "out of bounds" in str(error) else f"raises {type(error).__name__}: {error}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"


def compared(found: Any, refused: str, expected: Any, loops: bool) -> str:
    """What differs, or nothing. Of what a loop stacks the reference has the elements, in another shape."""
    if isinstance(found, Exception):
        if not REFUSALS or refused or isinstance(expected, Exception) or isinstance(found, NotImplementedError):
            return ""
        return f"refused: {found}\nand the reference has {expected!r:.300}"
    if any(one in refused for one in LENIENT):
        return ""
    if refused:
        return f"computes {found!r:.300}, which ONNX refuses: {refused}"
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        if loops and isinstance(other, np.ndarray) and isinstance(one, np.ndarray) and one.size == other.size:
            other = other.reshape(one.shape)
        told = _unlike(one, other)
        if told:
            return f"output {number} {told}: {one!r:.400}, expected {other!r:.400}"
    return ""


def _unlike(found: Any, wanted: Any) -> str:
    if isinstance(wanted, (list, tuple)):
        if not isinstance(found, list) or len(found) != len(wanted):
            return "is of another length"
        return next(filter(None, map(_unlike, found, wanted)), "")
    if found is None or wanted is None or isinstance(found, list):
        return "" if type(found) is type(wanted) else "is of another kind"
    wanted = np.asarray(wanted)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"is {found.dtype}{found.shape} in place of {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind not in "fcV":
        return "has other values" if (found != wanted).any() else ""
    exact = {"float16": 5e-3, "bfloat16": 5e-2}.get(wanted.dtype.name, 1e-3)
    if wanted.dtype.name == "bfloat16":
        found, wanted = found.astype(np.float32), wanted.astype(np.float32)
    size = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
    return (
        "" if np.allclose(found, wanted, rtol=exact, atol=exact * size + 1e-6, equal_nan=True) else "has other values"
    )


def case(chain: Chain) -> Any:
    return chain


OPERATIONS = [(1, case)]
