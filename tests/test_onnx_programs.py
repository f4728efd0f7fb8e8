"""Operators of ONNX in files of programs: the bits of the model, or an error that names the node and says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

from onnx_suite import cases
from test_onnx import FLOAT, model, node, value

import vkarray as vx
import vkarray.onnx

CASES = [
    ("attention", "test_attention_3d_attn_mask"), ("deformconv", "test_deform_conv_with_mask_bias"),
    ("hardmax", "test_hardmax_axis_1"), ("onehot", "test_onehot_with_axis"),
    ("reversesequence", "test_reversesequence_time"), ("roialign", "test_roialign_aligned_true"),
    ("roialign", "test_roialign_mode_max"), ("scatternd", "test_scatternd_add"),
    ("sequenceinsert", "test_sequence_insert_at_front"), ("splittosequence", "test_split_to_sequence_1"),
    ("tensorscatter", "test_tensorscatter_circular"),
]  # fmt: skip


def _bytes(value: Any) -> list[bytes]:
    listed = value if isinstance(value, (list, tuple)) else (value,)
    return [each for one in listed for each in (_bytes(one) if isinstance(one, list) else [np.asarray(one).tobytes()])]


@pytest.mark.parametrize(("module", "name"), CASES, ids=[name for _, name in CASES])
def test_saved_program_has_the_bits_of_the_model(module: str, name: str, tmp_path: Path) -> None:
    case = cases.of_module(module)[name]
    loaded = vkarray.onnx.load(case.model)
    given = [
        [vx.asarray(part) for part in one] if isinstance(one, list) else one
        for one in cases._given(case.data_sets[0][0])
    ]
    program = loaded.program(*given)
    program.save(tmp_path / "m.vkp", targets=())
    kept = [
        one for one, described in zip(given, loaded.inputs, strict=True) if described.name not in loaded._needs.inputs
    ]
    arrays = [one if isinstance(one, list) else vx.asarray(one) for one in kept]
    assert _bytes(vx.load_program(tmp_path / "m.vkp")(*arrays)) == _bytes(loaded(*given))


def test_largest_of_regions_is_in_a_program(tmp_path: Path) -> None:
    made = model(
        [node("MaxRoiPool", "x rois", "y", pooled_shape=[2, 2], spatial_scale=0.5)],
        [value("x", FLOAT, [1, 2, 8, 8]), value("rois", FLOAT, ["n", 5])], [value("y", FLOAT, None)],
    )  # fmt: skip
    x = np.random.default_rng(0).standard_normal((1, 2, 8, 8)).astype(np.float32)
    rois = np.array([[0, 0, 0, 15, 15], [0, 4, 2, 9, 13], [0, 1, 1, 3, 3]], np.float32)
    loaded = vkarray.onnx.load(made)
    program = loaded.program(x, rois[:2], dynamic={"n": vx.Dim("n", max=100)})
    program.save(tmp_path / "m.vkp", targets=())
    for count in (1, 3):
        found = vx.load_program(tmp_path / "m.vkp")(vx.asarray(x), vx.asarray(rois[:count]))
        assert _bytes(found) == _bytes(loaded(x, rois[:count]))


def test_means_of_windows_over_what_was_computed_are_in_a_program(tmp_path: Path) -> None:
    made = model(
        [node("Relu", "x", "r"), node("AveragePool", "r", "y", kernel_shape=[3, 3], pads=[1, 1, 1, 1])],
        [value("x", FLOAT, [1, 2, 5, 5])], [value("y", FLOAT, None)],
    )  # fmt: skip
    x = np.random.default_rng(0).standard_normal((1, 2, 5, 5)).astype(np.float32)
    loaded = vkarray.onnx.load(made)
    loaded.program(x).save(tmp_path / "m.vkp", targets=())
    assert _bytes(vx.load_program(tmp_path / "m.vkp")(vx.asarray(x))) == _bytes(loaded(x))


@pytest.mark.parametrize("operator", ["NonZero", "Unique"])
def test_results_of_a_length_by_values_say_what_to_do(operator: str) -> None:
    made = model(
        [node("Relu", "x", "r"), node(operator, "r", "y")], [value("x", FLOAT, [4])], [value("y", FLOAT, None)]
    )
    with pytest.raises(
        vx.TraceError, match=rf"node 'the {operator}' .*depends on the values\. Cut the model before this"
    ):
        vkarray.onnx.load(made).program(np.zeros(4, np.float32))


def test_random_numbers_are_told() -> None:
    made = model(
        [node("Dropout", "x half training", "y", seed=3)], [value("x", FLOAT, [4])], [value("y", FLOAT, [4])],
        {"half": np.float32(0.5), "training": np.array(True)},
    )  # fmt: skip
    with pytest.raises(vx.TraceError, match=r"it makes a generator of random numbers, .* at node 'the Dropout'"):
        vkarray.onnx.load(made).program(np.zeros(4, np.float32))


def test_what_follows_a_model_is_told_by_its_own_line() -> None:
    loaded = vkarray.onnx.load(model([node("Relu", "x", "y")], [value("x", FLOAT, [2])], [value("y", FLOAT, None)]))
    with pytest.raises(vx.TraceError, match=r"generator of random numbers.* at .*test_onnx_programs\.py"):
        vx.Program(lambda x: loaded(x) + vx.random.default_rng(1).uniform(size=2), (vx.zeros(2),))


@pytest.mark.parametrize("name", ["/encoder/layer.0:1/Add", "/encoder" * 99])
def test_names_of_nodes_come_from_files_as_they_are(name: str, tmp_path: Path) -> None:
    made = model([node("Sin", "x", "y")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])])
    made.graph.node[0].name = name
    program = vkarray.onnx.load(made).program(np.zeros(2, np.float32))
    program.save(tmp_path / "m.vkp", targets=())
    assert f"node {name!r}"[:256] in str(vx.load_program(tmp_path / "m.vkp").explain())
