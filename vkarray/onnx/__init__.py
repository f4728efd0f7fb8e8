"""ONNX models as callables that compute with vkarray: `vkarray.onnx.load`. Needs the package `onnx`.

import vkarray.onnx
model = vkarray.onnx.load("model.onnx")
scores = model(pictures)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..extras import needs

needs("vkarray.onnx", "onnx")

from . import graph as _graph
from . import operators as _operators  # whose rows enter themselves in the table
from . import precision as _precision
from .model import Explanation as Explanation
from .model import Model as Model
from .types import Description as Description

if TYPE_CHECKING:
    import onnx

__all__ = ["Description", "Explanation", "Model", "load"]


def load(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto, *, device: Any = None, compile: bool = True, dtype: Any = None
) -> Model:  # fmt: skip
    """An ONNX model as a callable.

    Parameters: model (a path, the bytes of a file, or an `onnx.ModelProto`); device (as `vkarray.asarray` takes it); compile
    (whether it computes as a compiled function, where no values decide what it does); dtype ("float16" or "bfloat16": what float32
    becomes inside, but for operators that need its precision or range; inputs and outputs keep their types).
    Raises ValueError for a file that is damaged or no model, NotImplementedError for operators and types that vkarray lacks: it
    names the node, the operator, its domain and version. Raises OSError for a file that cannot be read.
    """
    half = _precision.checked(dtype)
    proto, folder = _graph.read(model)
    proto = _graph.inlined(proto)
    return Model(_graph.Reader(_graph.versions_of(proto), folder).graph(proto.graph), device, compile, half)
