"""The cases of ONNX's own backend tests (`onnx.backend.test`), and which of them vkarray does not compute as they say.

`cases.json` names them by the module of the package that makes them, so that nothing is made before a case is run.
"""

from __future__ import annotations

import fnmatch
import functools
import importlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

import vkarray.onnx
from vkarray.core.array import is_supported
from vkarray.core.dtypes import DTYPES

LIST = Path(__file__).parent / "cases.json"

# Why cases raise an error: patterns of their names. That each of them does is tested.
REASONS: dict[str, tuple[str, ...]] = {
    "operators of training": (
        "test_adagrad*", "test_adam*", "test_momentum*", "test_nesterov*", "simple/test_gradient_of_*",
    ),
    "traditional machine learning (ai.onnx.ml)": (
        "test_ai_onnx_ml_array_feature_extractor", "test_ai_onnx_ml_binarizer", "test_ai_onnx_ml_tree_ensemble*",
    ),
    "words counted (TfIdfVectorizer)": ("test_tfidfvectorizer_*",),
    "files of pictures (ImageDecoder)": ("test_image_decoder_*",),
    "a version of the operators below 6": ("test_not_2d", "test_not_3d", "test_not_4d"),
}  # fmt: skip
TYPES = "types that vkarray does not have"

# Cases whose numbers are others by rounding, with the tolerances that they keep: float16, whose last place is more than ONNX's
# tolerance, and noise of the size of 2e-7 where 0 is right.
ROUNDED: dict[str, tuple[float, float]] = {
    "test_attention_4d_gqa_with_past_and_present_fp16": (2e-3, 1e-7),
    "test_attention_4d_fp16": (2e-3, 1e-7),
    "test_attention_4d_causal_fp16": (2e-3, 1e-7),
    "test_attention_4d_causal_fp16_expanded": (2e-3, 1e-7),
    "test_dft_inverse": (1e-3, 1e-6),
    "test_dft_inverse_opset19": (1e-3, 1e-6),
}
# Cases that compare with numbers of NumPy's generator: of these the types and shapes are compared.
RANDOM = ("test_bernoulli*", "test_training_dropout", "test_training_dropout_mask", "test_training_dropout_default*")

# Cases whose numbers are others than the text of their operator says, with those that follow from the text, which PyTorch and ONNX
# Runtime have as well: Resize moves an element of the result by (length_original - 1) / (length_resized - 1), and these cases take
# the length that is not rounded down yet for length_resized.
OTHERWISE = {
    "test_resize_downsample_scales_cubic_align_corners": [[[[1.0, 2.5, 4.0], [7.0, 8.5, 10.0], [13.0, 14.5, 16.0]]]],
    "test_resize_downsample_scales_linear_align_corners": [[[[1.0, 4.0]]]],
}

_LACKING = {
    number for name, number in TensorProto.DataType.items()
    if name == "STRING" or name.startswith(("FLOAT4", "FLOAT6", "FLOAT8", "INT4", "UINT4", "INT2", "UINT2"))
}  # fmt: skip


def names() -> dict[str, list[str]]:
    """The names of the cases by their module."""
    found: dict[str, list[str]] = json.loads(LIST.read_text())["cases"]
    return found


@functools.cache
def of_module(module: str) -> dict[str, Any]:
    """The cases that a module of the package makes, by name. All have to be made by this function."""
    from onnx.backend.test.case import node

    before = len(node._NodeTestCases)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        importlib.import_module(f"onnx.backend.test.case.node.{module}")
    return {case.name: case for case in node._NodeTestCases[before:]}


def modules() -> list[str]:
    """The modules of the package that make cases."""
    from onnx.backend.test.case import node

    (folder,) = node.__path__
    found = (path.relative_to(folder).with_suffix("").parts for path in Path(folder).rglob("*.py"))
    return sorted(".".join(parts) for parts in found if not parts[-1].startswith("_"))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def in_files() -> dict[str, Path]:
    """The cases that the package has as files, by name: their folders."""
    root = Path(onnx.__file__).parent / "backend" / "test" / "data"
    folders = (
        folder for kind in ("pytorch-converted", "pytorch-operator", "simple") for folder in (root / kind).iterdir()
    )
    return {f"{one.parent.name}/{one.name}": one for one in sorted(folders) if (one / "model.onnx").exists()}


def of_folder(name: str, folder: Path) -> Any:
    """A case of files."""
    from onnx.backend.test.case.test_case import TestCase

    model = onnx.load(folder / "model.onnx")
    given = {one.name for one in model.graph.initializer}
    inputs = [one for one in model.graph.input if one.name not in given]
    sets = [
        (_read(one, "input", inputs), _read(one, "output", model.graph.output))
        for one in sorted(folder.glob("test_data_set_*"))
    ]
    return TestCase(
        name=name,
        model_name=name,
        url=None,
        model_dir=None,
        model=model,
        data_sets=sets,
        kind="files",
        rtol=1e-3,
        atol=1e-7,
    )


def _read(folder: Path, what: str, values: Any) -> list[Any]:
    """The inputs or outputs of a case of files, of which strings and lists of arrays have files of another kind."""
    found: list[Any] = []
    for number, value in enumerate(values):
        content = (folder / f"{what}_{number}.pb").read_bytes()
        if value.type.WhichOneof("value") == "sequence_type":
            found.append(numpy_helper.to_list(onnx.SequenceProto.FromString(content)))
        else:
            found.append(numpy_helper.to_array(onnx.TensorProto.FromString(content)))
    return found


def is_random(name: str) -> bool:
    """Whether a case compares with random numbers."""
    return _matches(name, RANDOM)


def reason(case: Any) -> str:
    """Why a case raises an error, or nothing."""
    if _types(case.model.graph) & _LACKING:
        return TYPES
    return next((why for why, patterns in REASONS.items() if _matches(case.name, patterns)), "")


def lacking(case: Any) -> str:
    """The types which a case names and the device lacks, without integers, which it holds in 32 bits; or nothing."""
    device = vkarray.asarray(0).device
    named = {vkarray.onnx.types.dtype_of(number, case.name) for number in _types(case.model.graph) if number}
    return " and ".join(
        sorted(one.name for one in named if not is_supported(vkarray.onnx.types.held(one, device), device))
    )


def _types(graph: Any) -> set[int]:
    """The types of the elements that a graph names."""
    found = {one.data_type for one in graph.initializer}
    for value in (*graph.input, *graph.output):
        kind = value.type
        while kind.WhichOneof("value") in ("sequence_type", "optional_type"):
            kind = getattr(kind, kind.WhichOneof("value")).elem_type
        found.add(kind.tensor_type.elem_type)
    for node in graph.node:
        for attribute in node.attribute:
            found.update([attribute.t.data_type] if attribute.HasField("t") else [])
            found.update([attribute.i] if attribute.name in ("to", "dtype", "output_dtype") else [])
    return found


def _given(values: Any) -> list[Any]:
    return [numpy_helper.to_array(one) if isinstance(one, TensorProto) else one for one in values]


def _numpy(value: Any) -> Any:
    """A result as NumPy's arrays of its own types."""
    if isinstance(value, list):
        return [_numpy(one) for one in value]
    array = np.asarray(value)
    return array.astype(vkarray.onnx.types.numpy_dtype(value.dtype))


def check(case: Any, rtol: float | None = None, atol: float | None = None, compile: bool = False) -> None:
    """Run a case. Raises AssertionError for other results."""
    model = vkarray.onnx.load(case.model, compile=compile)
    for inputs, outputs in case.data_sets:
        found = model(*_given(inputs))
        listed = found if isinstance(found, tuple) else (found,)
        expected = [np.float32(OTHERWISE[case.name])] if case.name in OTHERWISE else _given(outputs)
        assert len(listed) == len(expected)
        for one, wanted in zip(listed, expected, strict=True):
            _compare(case.name, _numpy(one), wanted, rtol or case.rtol, atol or case.atol)


def _compare(name: str, found: Any, wanted: Any, rtol: float, atol: float) -> None:
    if isinstance(wanted, (list, tuple)):
        assert isinstance(found, list)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            _compare(name, one, other, rtol, atol)
        return
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape, f"{name}: shape {found.shape}, expected {wanted.shape}"
    dtype = _held(wanted.dtype)
    assert found.dtype == dtype, f"{name}: {found.dtype}, expected {dtype}"
    if wanted.dtype.name == "bfloat16":  # as ONNX's own runner: two units in the last place
        found, wanted, rtol = found.astype(np.float32), wanted.astype(np.float32), max(rtol, 2**-6)
    if not is_random(name):
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)


def _held(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the device's arrays for one of a model."""
    types, device = vkarray.onnx.types, vkarray.asarray(0).device
    return types.numpy_dtype(types.held(DTYPES[dtype.name], device))


def write() -> None:
    """Write the list of cases anew."""
    found = {module: sorted(of_module(module)) for module in modules()}
    content = {"onnx": onnx.__version__, "cases": {module: cases for module, cases in found.items() if cases}}
    LIST.write_text(json.dumps(content, indent=1) + "\n")
