"""What ONNX's checker and reference say of a model, in a process of its own: they may hang, and end the process."""

from __future__ import annotations

import contextlib
import multiprocessing
import warnings
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

SECONDS = 20  # for one model


class Unknown(Exception):
    """Nothing is known of the model: the referee hung, or ended."""


class Referee:
    """A process that answers for one model after the other."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Any = None

    def __call__(self, model: Any, arrays: dict[str, np.ndarray]) -> tuple[str, Any]:
        """Why ONNX refuses a model, or nothing; and what the reference has for arrays, or its error. Raises Unknown."""
        if self._process is None or not self._process.is_alive():
            context = multiprocessing.get_context("spawn")
            self._pipe, other = context.Pipe()
            self._process = context.Process(target=_serve, args=(other,), daemon=True)
            self._process.start()
            other.close()
        try:
            self._pipe.send((model.SerializeToString(), arrays))
            if self._pipe.poll(SECONDS):
                return self._pipe.recv()
        except (EOFError, OSError):
            pass
        self._process.kill()
        self._process.join()
        self._process = None
        raise Unknown


def _serve(pipe: Any) -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with contextlib.suppress(EOFError, OSError):
        while True:
            content, arrays = pipe.recv()
            model = onnx.load_model_from_string(content)
            pipe.send((_refused(model), _expected(model, arrays)))


def _refused(model: Any) -> str:
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    try:
        _open(copied.graph, onnx.TensorProto.FLOAT)  # this check wants types and shapes, and compares them with nothing
        onnx.checker.check_model(copied)
        _open(copied.graph, 0)
        onnx.shape_inference.infer_shapes(copied, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def _open(graph: Any, kind: int) -> None:
    """Leave out what a graph says of its results, which may be wrong of a case that was changed; `kind` is of their elements."""
    del graph.value_info[:]
    for one in graph.output:
        if one.type.WhichOneof("value") in (None, "tensor_type"):
            one.type.tensor_type.elem_type = kind
            one.type.tensor_type.ClearField("shape")
            if kind:
                one.type.tensor_type.shape.SetInParent()
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _open(attribute.g, kind)


def _expected(model: Any, arrays: dict[str, np.ndarray]) -> Any:
    try:
        known = {one.name for one in model.graph.input}
        found = ReferenceEvaluator(model).run(None, {name: one for name, one in arrays.items() if name in known})
        return [one if isinstance(one, list) else np.asarray(one) for one in found]
    except Exception as error:
        return RuntimeError(f"{type(error).__name__}: {error!s:.400}")
