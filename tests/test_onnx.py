"""ONNX models: what is computed where, what is refused, and how it is told."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is an extra")

from onnx import TensorProto, helper, numpy_helper, reference

import vkarray as vx
import vkarray.onnx
from vkarray.__main__ import main
from vkarray.core.array import is_supported

FLOAT, DOUBLE, INT64, BOOL = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.BOOL


def value(name: str, dtype: int, shape: Any) -> Any:
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes: Any, inputs: Any, outputs: Any, constants: Any = None, version: int = 18, **options: Any) -> Any:
    """A model; `constants` are arrays by name."""
    tensors = [numpy_helper.from_array(np.asarray(one), name) for name, one in (constants or {}).items()]
    graph = helper.make_graph(nodes, "test", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], **options)


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(operator, inputs.split(), outputs.split(), name=f"the {operator}", **attributes)


def perceptron() -> Any:
    rng = np.random.default_rng(0)
    constants = {
        "w": rng.standard_normal((4, 3), np.float32), "b": rng.standard_normal(3, np.float32), "one": np.float32(1)
    }  # fmt: skip
    nodes = [node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("Add", "r one", "y")]
    return model(nodes, [value("x", FLOAT, ["batch", 4])], [value("y", FLOAT, ["batch", 3])], constants)


def test_model_describes_and_computes() -> None:
    loaded = vkarray.onnx.load(perceptron())
    assert loaded.inputs == [("x", vx.float32, ("batch", 4), "tensor")]
    assert loaded.outputs == [("y", vx.float32, ("batch", 3), "tensor")]
    x = np.random.default_rng(1).standard_normal((5, 4), np.float32)
    weights = {one.name: numpy_helper.to_array(one) for one in perceptron().graph.initializer}
    expected = np.maximum(x @ weights["w"] + weights["b"], 0) + 1
    for found in (loaded(x), loaded(x=x), loaded(vx.asarray(x))):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)


def test_compiled_model_gives_the_same_bits() -> None:
    compiled, eager = vkarray.onnx.load(perceptron()), vkarray.onnx.load(perceptron(), compile=False)
    x = np.random.default_rng(1).standard_normal((5, 4), np.float32)
    assert np.asarray(compiled(x)).tobytes() == np.asarray(eager(x)).tobytes()
    assert "test: compiled" in str(compiled.explain())
    assert len(compiled.explain().program.programs) == 1
    assert eager.explain().program is None


@pytest.mark.parametrize(
    ("args", "named", "error", "text"),
    [
        ((), {}, TypeError, "got nothing for 'x'"),
        ((1, 2), {}, TypeError, "got 2 arrays"),
        ((), {"z": 1}, TypeError, "got 'z'"),
        ((np.zeros((2, 4)),), {}, ValueError, "expected the input 'x' as float32, got float64"),
        ((np.zeros((2, 5), np.float32),), {}, ValueError, r"of shape \(batch = 2, 4\), got \(2, 5\)"),
        ((np.zeros(4, np.float32),), {}, ValueError, r"got \(4,\)"),
    ],
)
def test_wrong_inputs_are_told(args: Any, named: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        vkarray.onnx.load(perceptron())(*args, **named)


def test_lengths_of_one_name_are_equal() -> None:
    added = model(
        [node("Add", "x y", "z")], [value("x", FLOAT, ["n"]), value("y", FLOAT, ["n"])], [value("z", FLOAT, ["n"])]
    )
    with pytest.raises(ValueError, match=r"expected the input 'y' of shape \(n = 2\), got \(3,\)"):
        vkarray.onnx.load(added)(np.zeros(2, np.float32), np.zeros(3, np.float32))


def shaped() -> Any:
    """x as rows of its last dimension, by arithmetic of shapes."""
    nodes = [
        node("Shape", "x", "shape"), node("Gather", "shape last", "width"), node("Concat", "rest width", "wanted", axis=0),
        node("Reshape", "x wanted", "y"),
    ]  # fmt: skip
    constants = {"last": np.array([-1]), "rest": np.array([-1])}
    return model(nodes, [value("x", FLOAT, [None, None, None])], [value("y", FLOAT, None)], constants)


def test_arithmetic_of_shapes_reads_nothing() -> None:
    loaded = vkarray.onnx.load(shaped())
    assert not loaded.explain().reads
    assert [loaded(np.zeros(shape, np.float32)).shape for shape in ((2, 3, 4), (1, 5, 6))] == [(6, 4), (5, 6)]


def test_values_of_an_input_decide_by_value() -> None:
    loaded = vkarray.onnx.load(
        model(
            [node("Reshape", "x s", "y")], [value("x", FLOAT, [6]), value("s", INT64, [2])], [value("y", FLOAT, None)]
        )
    )
    assert loaded.explain().values == ["s"]
    x = np.arange(6, dtype=np.float32)
    assert [loaded(x, np.array(s)).shape for s in ((2, 3), (3, 2), (2, 3))] == [(2, 3), (3, 2), (2, 3)]
    assert len(loaded.explain().program.programs) == 2
    with pytest.raises(ValueError, match=r"node 'the Reshape' \(Reshape, domain 'ai.onnx', version 18\)"):
        loaded(x, np.array((4, 4)))


def test_what_needs_values_is_named_and_computed_one_by_one() -> None:
    loaded = vkarray.onnx.load(
        model(
            [node("Relu", "x", "r"), node("NonZero", "r", "y")], [value("x", FLOAT, ["n"])], [value("y", INT64, None)]
        )
    )
    ((where, why),) = loaded.explain().reads
    assert where == "node 'the NonZero' (NonZero, domain 'ai.onnx', version 18)"
    assert why == "how many results there are depends on the values"
    assert np.asarray(loaded(np.array([1, -1, 2], np.float32))).tolist() == [[0, 2]]
    with pytest.raises(vx.TraceError, match="the NonZero"):
        loaded.program(np.array([1, -1, 2], np.float32))


def test_devices_without_int64_hold_it_as_int32() -> None:
    nodes = [
        node("NonZero", "x", "places"), node("Gather", "x i", "chosen"), node("Add", "i large", "sum"),
        node("ArgMax", "x", "most"), node("Cast", "x", "whole", to=INT64),
    ]  # fmt: skip
    outputs = {"places": INT64, "chosen": FLOAT, "sum": INT64, "most": INT64, "whole": INT64}
    for large, fits in ((2**31 - 10, True), (2**31, False)):
        made = model(
            nodes, [value("x", FLOAT, [3]), value("i", INT64, [2])],
            [value(name, dtype, None) for name, dtype in outputs.items()], {"large": np.full(2, large)},
        )  # fmt: skip
        with vx.config(profile="phone"):
            if not fits:
                with pytest.raises(vx.FeatureError, match="has no shaderInt64"):
                    vkarray.onnx.load(made)
                continue
            loaded = vkarray.onnx.load(made)
            for indices in (np.array([2, 1]), vx.asarray([2, 1])):
                found = loaded(np.array([1, 0, 2.5], np.float32), indices)
                assert [str(one.dtype) for one in found] == ["int32", "float32", "int32", "int32", "int32"]
                assert [np.asarray(one).tolist() for one in found] == [
                    [[0, 2]], [2.5, 0], [large + 2, large + 1], [2], [1, 0, 2]
                ]  # fmt: skip
            with pytest.raises(vx.FeatureError, match="has no shaderInt64"):
                loaded(np.array([1, 0, 2.5], np.float32), np.array([2**31, 1]))


def test_types_that_the_device_lacks_are_refused_at_their_node() -> None:
    for name, given in (("Cast", FLOAT), ("BitCast", INT64)):
        made = model([node(name, "x", "y", to=DOUBLE)], [value("x", given, [2])], [value("y", DOUBLE, [2])], version=26)
        with vx.config(profile="phone"), pytest.raises(vx.FeatureError, match=f"{name}.*no shaderFloat64"):
            vkarray.onnx.load(made)(np.ones(2, np.float32 if given == FLOAT else np.int64))


def test_step_that_reads_a_computed_value_is_named() -> None:
    nodes = [
        node("ReduceMax", "x", "top", keepdims=0),
        node("Cast", "top", "count", to=INT64),
        node("Range", "zero count one", "y"),
    ]
    loaded = vkarray.onnx.load(
        model(
            [node("Exp", "x", "e"), node("MatMul", "e x", "p"), *nodes[1:]],
            [value("x", FLOAT, [2])], [value("y", INT64, None)], {"zero": np.int64(0), "one": np.int64(1), "top": np.float32(0)},
        )
    )  # fmt: skip
    assert not loaded.explain().reads
    nodes[0] = node("ArgMax", "x", "top", keepdims=0)
    deciding = model(
        [node("MatMul", "x x", "p"), node("Cast", "p", "count", to=INT64), nodes[2]],
        [value("x", FLOAT, [2])], [value("y", INT64, None)], {"zero": np.int64(0), "one": np.int64(1)},
    )  # fmt: skip
    found = vkarray.onnx.load(deciding)
    ((where, why),) = found.explain().reads
    assert "the Range" in where
    assert "it needs the value of 'count', made by node 'the Cast'" in why
    assert np.asarray(found(np.array([1, 2], np.float32))).tolist() == [0, 1, 2, 3, 4]


def branches() -> Any:
    inner = [
        helper.make_graph([node(operator, "x", name)], name, [], [value(name, FLOAT, None)])
        for operator, name in (("Neg", "negative"), ("Identity", "same"))
    ]
    return model(
        [node("If", "c", "y", then_branch=inner[0], else_branch=inner[1])],
        [value("c", BOOL, []), value("x", FLOAT, [2])], [value("y", FLOAT, None)],
    )  # fmt: skip


def test_branch_takes_what_is_outside_and_is_traced_for_each_condition() -> None:
    loaded = vkarray.onnx.load(branches())
    x = np.array([1, -2], np.float32)
    assert np.asarray(loaded(np.array(True), x)).tolist() == [-1, 2]
    assert np.asarray(loaded(np.array(False), x)).tolist() == [1, -2]
    assert loaded.explain().values == ["c"]


def loop(trips: str) -> Any:
    body = helper.make_graph(
        [node("Add", "carried carried", "twice"), node("Identity", "go", "goes"), node("Identity", "twice", "shown")], "body",
        [value("i", INT64, []), value("go", BOOL, []), value("carried", FLOAT, [1])],
        [value("goes", BOOL, []), value("twice", FLOAT, [1]), value("shown", FLOAT, [1])],
    )  # fmt: skip
    inputs = [value("x", FLOAT, [1]), *([value("n", INT64, [])] if trips == "n" else [])]
    return model(
        [node("Loop", f"{trips} yes x", "last all", body=body)], inputs,
        [value("last", FLOAT, [1]), value("all", FLOAT, None)], {"yes": np.array(True), "three": np.int64(3)},
    )  # fmt: skip


def test_loop_of_known_steps_is_compiled() -> None:
    loaded = vkarray.onnx.load(loop("three"))
    last, every = loaded(np.ones(1, np.float32))
    assert not loaded.explain().reads
    assert np.asarray(last).tolist() == [8]
    assert np.asarray(every).tolist() == [[2], [4], [8]]


def test_loop_of_no_steps_gives_no_elements() -> None:
    last, every = vkarray.onnx.load(loop("n"))(np.ones(1, np.float32), np.int64(0).reshape(()))
    assert np.asarray(last).tolist() == [1]
    assert every.shape == (0, 1)


def test_functions_of_the_model_and_of_onnx_are_put_in_place() -> None:
    versions = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    square = helper.make_function("own", "Square", ["a"], ["b"], [node("Mul", "a a", "b")], versions[:1])
    made = model(
        [helper.make_node("Square", ["x"], ["s"], domain="own"), node("CenterCropPad", "s shape", "y")],
        [value("x", FLOAT, [3])], [value("y", FLOAT, None)], {"shape": np.array([5])}, functions=[square],
    )  # fmt: skip
    made.opset_import.append(versions[1])
    assert np.asarray(vkarray.onnx.load(made)(np.array([1, 2, 3], np.float32))).tolist() == [0, 1, 4, 9, 0]


def check_by_reference(made: Any, *inputs: Any, tolerance: float = 1e-5) -> None:
    names = [one.name for one in made.graph.input]
    expected = reference.ReferenceEvaluator(made).run(None, dict(zip(names, inputs, strict=True)))[0]
    np.testing.assert_allclose(
        np.asarray(vkarray.onnx.load(made)(*inputs)), expected, rtol=tolerance, atol=tolerance, strict=True
    )


@pytest.mark.parametrize(
    "operator",
    ["Celu", "Elu", "Erf", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Relu", "Selu", "Shrink", "Sigmoid", "Softplus",
     "Softsign", "Tanh", "ThresholdedRelu"],
)  # fmt: skip
def test_activations_of_special_values(operator: str) -> None:
    x = np.array([-np.inf, -100, -1.5, -0.5, -0.0, 0, 0.5, 1.0, 1.5, 100, np.inf, np.nan], np.float32)
    made = model([node(operator, "x", "y")], [value("x", FLOAT, [12])], [value("y", FLOAT, [12])])
    with np.errstate(all="ignore"):
        check_by_reference(made, x)


@pytest.mark.parametrize(("version", "scales"), [(18, 2), (20, 2), (21, 4)])
def test_normalization_of_groups_scales_groups_until_version_21(version: int, scales: int) -> None:
    rng = np.random.default_rng(0)
    constants = {name: rng.standard_normal(scales, np.float32) for name in ("scale", "bias")}
    nodes = [node("GroupNormalization", "x scale bias", "y", num_groups=2)]
    made = model(nodes, [value("x", FLOAT, [2, 4, 3])], [value("y", FLOAT, [2, 4, 3])], constants, version)
    check_by_reference(made, rng.standard_normal((2, 4, 3), np.float32), tolerance=1e-4)


@pytest.mark.parametrize("dtype", [None, TensorProto.DOUBLE])
@pytest.mark.parametrize("seed", [None, 3.0])
def test_bernoulli_is_true_with_its_probability(seed: float | None, dtype: int | None) -> None:
    given = {name: one for name, one in (("seed", seed), ("dtype", dtype)) if one is not None}
    made = model(
        [node("Bernoulli", "p", "y", **given)], [value("p", FLOAT, [3000])], [value("y", dtype or FLOAT, [3000])]
    )
    drawn = np.asarray(vkarray.onnx.load(made)(np.repeat(np.array([0, 0.2, 1], np.float32), 1000))).reshape(3, 1000)
    assert set(np.unique(drawn)) == {0, 1}
    assert (drawn[0].sum(), drawn[2].sum()) == (0, 1000)
    assert 120 < drawn[1].sum() < 280


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("size", [(1, 1, 3, 4), (2, 3, 5, 2), (1, 2, 3, 5, 4), (2, 1, 2, 3, 2)], ids=str)
def test_affine_grids(size: tuple[int, ...], align_corners: int) -> None:
    rank = len(size) - 2
    theta = np.random.default_rng(2).standard_normal((size[0], rank, rank + 1), np.float32)
    nodes = [node("AffineGrid", "theta size", "y", align_corners=align_corners)]
    made = model(nodes, [value("theta", FLOAT, theta.shape)], [value("y", FLOAT, None)], {"size": np.array(size)}, 20)
    check_by_reference(made, theta)


@pytest.mark.parametrize("x", [0, 3, [0, 2], [[1, 0], [0, 1]]], ids=str)
def test_places_of_what_is_not_zero(x: Any) -> None:
    x = np.array(x, np.float32)
    made = model([node("NonZero", "x", "y")], [value("x", FLOAT, x.shape)], [value("y", TensorProto.INT64, None)])
    expected = np.stack(np.nonzero(x)) if x.ndim else np.zeros((0, int(x != 0)), np.int64)
    np.testing.assert_array_equal(np.asarray(vkarray.onnx.load(made)(x)), expected, strict=True)


@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_sizes_that_keep_their_ratio_are_of_one_scale(policy: str, mode: str) -> None:
    nodes = [
        helper.make_node(
            "Resize", ["x", "", "", "sizes"], ["y"], mode=mode, axes=[2, 3], keep_aspect_ratio_policy=policy
        )
    ]
    made = model(nodes, [value("x", FLOAT, [1, 2, 4, 5])], [value("y", FLOAT, None)], {"sizes": np.array([7, 8])})
    check_by_reference(made, np.random.default_rng(1).standard_normal((1, 2, 4, 5), np.float32), tolerance=1e-4)


def test_external_data(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(perceptron(), path, save_as_external_data=True, size_threshold=0, location="weights.bin")
    x = np.ones((1, 4), np.float32)
    expected = np.asarray(vkarray.onnx.load(perceptron())(x))
    assert np.asarray(vkarray.onnx.load(path)(x)).tolist() == expected.tolist()
    (tmp_path / "weights.bin").write_bytes(b"short")
    with pytest.raises(ValueError, match=r"onnx\.load: the initializer '\w+' cannot be read"):
        vkarray.onnx.load(path)
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(ValueError, match=r"onnx\.load: the initializer '\w+' cannot be read"):
        vkarray.onnx.load(path)


def test_unknown_operators_and_types_are_named() -> None:
    x, y = [value("x", FLOAT, [2])], [value("y", FLOAT, [2])]
    with pytest.raises(NotImplementedError, match=r"node 'the Gone' .* Gone, domain 'ai.onnx', version 18\. Export"):
        vkarray.onnx.load(model([node("Gone", "x", "y")], x, y))
    with pytest.raises(ValueError, match=r"of the domain 'com.microsoft', and the model names no version"):
        vkarray.onnx.load(model([helper.make_node("Gelu", ["x"], ["y"], domain="com.microsoft")], x, y))
    with pytest.raises(NotImplementedError, match="'x' has elements of the type STRING, which vkarray does not have"):
        vkarray.onnx.load(model([node("Identity", "x", "y")], [value("x", TensorProto.STRING, [2])], y))
    for version in (5, 29):
        with pytest.raises(
            ValueError, match=rf"of version {version} of ONNX's operators, and those from 6 to 28 are read"
        ):
            vkarray.onnx.load(model([node("Relu", "x", "y")], x, y, version=version))


def test_graphs_that_cannot_run_are_refused() -> None:
    x, y = [value("x", FLOAT, [2])], [value("y", FLOAT, [2])]
    with pytest.raises(ValueError, match="reads 'z', which nothing before it makes"):
        vkarray.onnx.load(model([node("Add", "x z", "y")], x, y))
    with pytest.raises(ValueError, match="makes 'x', which is there already"):
        vkarray.onnx.load(model([node("Relu", "x", "x")], x, y))
    with pytest.raises(ValueError, match="nothing makes the output 'y'"):
        vkarray.onnx.load(model([node("Relu", "x", "z")], x, y))
    with pytest.raises(
        ValueError, match=r"node 'the Transpose' .*has the attribute 'order', which the operator does not have"
    ):
        vkarray.onnx.load(model([node("Transpose", "x", "y", order=[0])], x, y))(np.zeros(2, np.float32))


# The node, its constants by name, and what is said of it.
WRONG: dict[str, tuple[Any, dict[str, Any], str]] = {
    "too few inputs": (node("Add", "x", "y"), {}, r"has 1 inputs, and the operator has 2\."),
    "too many inputs": (node("Relu", "x x", "y"), {}, r"has 2 inputs, and the operator has 1\."),
    "too few of many": (node("Resize", "", "y"), {}, r"has 0 inputs, and the operator has 1 to 4\."),
    "too few of any": (node("Concat", "", "y", axis=0), {}, r"has 0 inputs, and the operator has 1 or more\."),
    "too many outputs": (node("Relu", "x", "y z"), {}, r"has 2 outputs, and the operator has 1\."),
    "an axis of Unsqueeze": (node("Unsqueeze", "x a", "y"), {"a": [5]}, "its axis is 5, and there are 3 dimensions"),
    "axes of Unsqueeze": (node("Unsqueeze", "x a", "y"), {"a": [1, 1]}, r"its axes \[1, 1\] name one of them twice"),
    "an axis of Flatten": (node("Flatten", "x", "y", axis=3), {}, "its axis is 3, and there are 2 dimensions"),
    "an axis of ArgMax": (node("ArgMax", "x", "y", axis=2), {}, "its axis is 2, and there are 2 dimensions"),
    "an axis of CumSum": (node("CumSum", "x a", "y"), {"a": np.int64(-3)}, "its axis is -3, and there are 2 dimensions"),
    "an axis of ReduceSumSquare": (
        node("ReduceSumSquare", "x a", "y"), {"a": [2]}, "its axis is 2, and there are 2 dimensions"
    ),
    "an axis of LayerNormalization": (
        node("LayerNormalization", "x s", "y", axis=4), {"s": np.ones(3, np.float32)}, "its axis is 4, and there are 2"
    ),
    "an axis of Split": (node("Split", "x", "y", axis=-4, num_outputs=1), {}, "its axis is -4, and there are 2 dimensions"),
    "an axis of ScatterElements": (
        node("ScatterElements", "x i x", "y", axis=3), {"i": [[0, 1, 2]] * 2}, "its axis is 3, and there are 2 dimensions"
    ),
    "an axis of Pad": (node("Pad", "x p v a", "y"), {"p": [1, 1], "v": np.float32(0), "a": [2]}, "its axis is 2, and there"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_nodes_that_no_operator_allows_are_refused(name: str) -> None:
    wrong, constants, text = WRONG[name]
    made = model([wrong], [value("x", FLOAT, [2, 3])], [value("y", FLOAT, None)], constants)
    with pytest.raises(ValueError, match=rf"node 'the {wrong.op_type}' .*{text}"):
        vkarray.onnx.load(made)(np.zeros((2, 3), np.float32))


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x07", bytes(1000)])
def test_bytes_that_are_no_model_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"onnx\.load: what was given (is|holds) no"):
        vkarray.onnx.load(content)


@pytest.mark.parametrize("made", [perceptron, shaped, branches, lambda: loop("three")])
def test_damaged_files_raise_errors_alone(made: Any) -> None:
    content, draw = made().SerializeToString(), random.Random(0)
    for _ in range(150):
        damaged = bytearray(content[: draw.choice((len(content), draw.randrange(len(content))))])
        for _ in range(draw.randrange(4)):
            if damaged:
                damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            vkarray.onnx.load(bytes(damaged), compile=False)
        except (ValueError, NotImplementedError):
            pass


def test_model_is_saved_as_a_program(tmp_path: Path) -> None:
    loaded = vkarray.onnx.load(perceptron())
    x = np.random.default_rng(1).standard_normal((5, 4), np.float32)
    program = loaded.program(x)
    assert [one.name for one in program.inputs] == ["x"]
    assert [one.name for one in program.outputs] == ["y"]
    program.save(tmp_path / "model.vkp", targets=())
    again = vx.load_program(tmp_path / "model.vkp")
    (found,) = again(vx.asarray(x))
    assert np.asarray(found).tobytes() == np.asarray(loaded(x)).tobytes()


def test_command_makes_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(perceptron(), path)
    assert main(["compile", str(path)]) == 2
    assert "Give lengths, such as --size batch=1" in capsys.readouterr().err
    assert main(["compile", str(path), "--device=vulkan://77"]) == 1
    assert "vkarray compile: --device=vulkan://77: no Vulkan device matches" in capsys.readouterr().err
    index = vx.ones(1).device.index
    assert main(["compile", str(path), "--size", "batch=2", f"--device=vulkan://{index}"]) == 0
    assert "x: (2, 4) float32 -> y: (2, 3) float32" in capsys.readouterr().out
    (found,) = vx.load_program(tmp_path / "model.vkp")(vx.ones((2, 4), dtype=vx.float32))
    assert found.shape == (2, 3)
    path.write_bytes(b"nothing")
    assert main(["compile", str(path)]) == 2
    assert "is no ONNX model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [("HardSigmoid", {"alpha": 0.2, "beta": 0.5}), ("Elu", {"alpha": 1.0}), ("LeakyRelu", {"alpha": 0.01})],
)
def test_attributes_that_are_left_out_are_those_of_files(operator: str, attributes: dict[str, float]) -> None:
    """Numbers in files are float32, and so are those that ONNX says where a node has none: float64 shows it."""
    wide = is_supported(vx.float64, vx.asarray(0).device)
    kind = TensorProto.DOUBLE if wide else FLOAT
    x = np.linspace(-2, 2, 9, dtype=np.float64 if wide else np.float32)
    described = [value("x", kind, [9])], [value("y", kind, [9])]
    found = [
        np.asarray(vkarray.onnx.load(model([node(operator, "x", "y", **given)], *described))(x))
        for given in (attributes, {})
    ]
    assert found[0].tobytes() == found[1].tobytes()
