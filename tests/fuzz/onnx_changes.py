"""Changes of ONNX models: each function changes a case at random, or returns False where it finds nothing that it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from choices import Choices
from onnx import AttributeProto, TensorProto, defs, helper, numpy_helper

NUMBERS = (0, 1, -1, 2, -2, 3, -3, 4, 5, 7, 100, -100)
HUGE = (2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63))
FRACTIONS = (0.0, -0.5, 0.5, 1.0, 2.0, -1.0, 1e3, float("inf"), float("nan"))
WORDS = (
    "constant", "edge", "reflect", "wrap", "none", "add", "mul", "max", "min", "linear", "nearest", "cubic", "bilinear", "bicubic",
    "zeros", "border", "reflection", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", "asymmetric", "half_pixel", "align_corners",
    "pytorch_half_pixel", "tf_crop_and_resize", "floor", "ceil", "round_prefer_ceil", "stretch", "not_larger", "not_smaller", "DCR",
    "CRD", "forward", "reverse", "bidirectional", "tanh", "avg", "output_half_pixel", "mean", "sum", "LEFT", "RIGHT", "", "bogus",
)  # fmt: skip
DTYPES = (
    "float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool", "complex64",
)  # fmt: skip
# Attributes that are 0 or 1, of which other numbers mean one thing here and another there.
FLAGS = (
    "keepdims", "fmod", "align_corners", "exclusive", "reverse", "count_include_pad", "ceil_mode", "upper", "largest", "sorted",
    "is_causal", "training_mode", "select_last_index", "allowzero", "noop_with_empty_axes", "inverse", "onesided", "transA",
    "transB", "new_axis", "center_point_box", "storage_order", "antialias", "exclude_outside", "saturate", "linear_before_reset",
    "input_forget", "layout", "interleaved",
)  # fmt: skip
SIZE = 1 << 16  # elements of an input, at most


class Case:
    """A model, and arrays for its inputs by name; `damaged` are the bytes of a file in place of the model."""

    def __init__(self, name: str, model: onnx.ModelProto, arrays: dict[str, np.ndarray]) -> None:
        self.name, self.model, self.arrays = name, model, arrays
        self.changes: list[str] = []
        self.damaged: bytes | None = None

    @property
    def graph(self) -> Any:
        """The graph of the model."""
        return self.model.graph

    @property
    def version(self) -> int:
        """Of ONNX's own operators."""
        return next((one.version for one in self.model.opset_import if not one.domain), 0)

    def describe(self) -> None:
        """Write the types and ranks of the inputs anew, and of the outputs nothing that may be wrong."""
        for one in self.graph.input:
            if one.name in self.arrays:
                array = self.arrays[one.name]
                one.CopyFrom(
                    helper.make_tensor_value_info(one.name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                )


Change = Callable[[Case, Choices], bool]
CHANGES: list[Change] = []


def change(times: int = 1) -> Callable[[Change], Change]:
    """Enter a change."""

    def enter(function: Change) -> Change:
        CHANGES.extend([function] * times)
        return function

    return enter


def _node(case: Case, random: Choices) -> Any:
    return random.choice(case.graph.node)


def _schema(case: Case, node: Any) -> Any:
    try:
        return defs.get_schema(node.op_type, case.version, node.domain)
    except defs.SchemaError:
        return None


def _number(random: Choices) -> int:
    return random.choice(NUMBERS if random.chance(0.9) else HUGE)


@change(3)
def version(case: Case, random: Choices) -> bool:
    """Another version of the operators."""
    for one in case.model.opset_import:
        if not one.domain:
            one.version = random.integer(7, 24)
            return True
    return False


@change(2)
def older(case: Case, random: Choices) -> bool:
    """A version in which an input was an attribute, which it becomes."""
    node = _node(case, random)
    now = _schema(case, node)
    if now is None:
        return False
    for wanted in random.random.permutation(np.arange(7, 20)).tolist():
        try:
            then = defs.get_schema(node.op_type, wanted, node.domain)
        except defs.SchemaError:
            continue
        names = [one.name for one in now.inputs[: len(node.input)]]
        moved = [place for place, name in enumerate(names) if name in then.attributes and name not in now.attributes]
        if not moved or any(node.input[place] not in (*case.arrays, "") for place in moved):
            continue
        for place in moved[::-1]:
            name = node.input[place]
            if name:
                kind = then.attributes[names[place]].type
                value = [one + 0 for one in case.arrays[name].ravel().tolist()] or [0]  # of a truth 0 or 1
                whole = kind in (defs.OpSchema.AttrType.INT, defs.OpSchema.AttrType.FLOAT)
                node.attribute.append(helper.make_attribute(names[place], value[0] if whole else value))
            del node.input[place]
        for one in case.model.opset_import:
            if not one.domain:
                one.version = wanted
        return True
    return False


@change(6)
def attribute(case: Case, random: Choices) -> bool:
    """Another value of an attribute, or one less."""
    node = _node(case, random)
    if not node.attribute:
        return False
    one = random.choice(node.attribute)
    if random.chance(0.1):
        node.attribute.remove(one)
    elif one.name in FLAGS:
        one.i = 0 if one.i else 1
    elif one.type == AttributeProto.INT:
        one.i = one.i + random.choice((1, -1)) if random.chance(0.5) and abs(one.i) < 1 << 40 else _number(random)
    elif one.type == AttributeProto.FLOAT:
        one.f = random.choice(FRACTIONS[:-2])  # finite
    elif one.type == AttributeProto.STRING:
        one.s = random.choice(WORDS).encode()
    elif one.type == AttributeProto.INTS:
        listed = _edited(list(one.ints), random)
        del one.ints[:]
        one.ints.extend(listed)
    elif one.type == AttributeProto.FLOATS:
        listed = _edited(list(one.floats), random, FRACTIONS)
        del one.floats[:]
        one.floats.extend(listed)
    else:
        return False
    return True


def _edited(listed: list[Any], random: Choices, values: Any = None) -> list[Any]:
    """A list with another element, one less, one more, or in another order."""
    place = random.integer(0, max(len(listed) - 1, 0))
    what = random.integer(0, 4)
    value = _number(random) if values is None else random.choice(values)
    if what == 0 and listed:
        del listed[place]
    elif what == 1:
        listed.insert(place, value)
    elif what == 2:
        listed = [listed[one] for one in random.random.permutation(len(listed)).tolist()]
    elif listed:
        listed[place] = value
    return listed


@change(4)
def axis(case: Case, random: Choices) -> bool:
    """An axis just inside or outside of the dimensions, as an attribute or an input."""
    node = _node(case, random)
    schema = _schema(case, node)
    if schema is None or not node.input or node.input[0] not in case.arrays:
        return False
    rank = case.arrays[node.input[0]].ndim
    number = random.choice((-rank - 2, -rank - 1, -rank, -1, 0, rank - 1, rank, rank + 1))
    places = [
        place for place, one in enumerate(schema.inputs[: len(node.input)])
        if one.name in ("axis", "axes") and node.input[place] in case.arrays
    ]  # fmt: skip
    if places:
        name = node.input[random.choice(places)]
        given = case.arrays[name].copy()
        if not given.size:
            return False
        given.ravel()[random.integer(0, given.size - 1)] = number
        case.arrays[name] = given
        return True
    names = [name for name in schema.attributes if "axis" in name or "axes" in name or name in ("perm", "batch_dims")]
    if not names:
        return False
    name = random.choice(names)
    there = [one for one in node.attribute if one.name == name]
    listed = schema.attributes[name].type == defs.OpSchema.AttrType.INTS
    value = _edited([*there[0].ints], random, (number,)) if listed and there else [number] if listed else number
    for one in there:
        node.attribute.remove(one)
    added = onnx.AttributeProto(name=name, type=AttributeProto.INTS if listed else AttributeProto.INT)
    added.ints.extend(value) if listed else setattr(added, "i", value)
    node.attribute.append(added)
    return True


@change()
def more_attributes(case: Case, random: Choices) -> bool:
    """An attribute that the node left out, or one that there is not."""
    node = _node(case, random)
    schema = _schema(case, node)
    if schema is None:
        return False
    kinds: dict[Any, Callable[[str], Any]] = {
        defs.OpSchema.AttrType.INT: lambda name: random.integer(0, 1) if name in FLAGS else _number(random),
        defs.OpSchema.AttrType.FLOAT: lambda _: random.choice(FRACTIONS[:-2]),
        defs.OpSchema.AttrType.STRING: lambda _: random.choice(WORDS),
        defs.OpSchema.AttrType.INTS: lambda _: [_number(random)],
    }
    there = {one.name for one in node.attribute}
    lacking = [name for name, one in schema.attributes.items() if name not in there and one.type in kinds]
    if random.chance(0.1):
        node.attribute.append(helper.make_attribute("bogus", 1))
    elif lacking:
        name = random.choice(lacking)
        node.attribute.append(helper.make_attribute(name, kinds[schema.attributes[name].type](name)))
    else:
        return False
    return True


@change(2)
def inputs(case: Case, random: Choices) -> bool:
    """An input left out, cut off, given twice or at another place."""
    node = _node(case, random)
    if not node.input:
        return False
    place, other = (random.integer(0, len(node.input) - 1) for _ in range(2))
    what = random.integer(0, 4)
    if what == 0:
        node.input[place] = ""
    elif what == 1:
        del node.input[place:]
    elif what == 2:
        node.input[place] = node.input[other]
    elif what == 3:
        first, second = node.input[place], node.input[other]
        node.input[place], node.input[other] = second, first
    else:
        node.input.append(node.input[place])
    return True


@change(4)
def shape(case: Case, random: Choices) -> bool:
    """Another shape of an input: a dimension less, one more, another length."""
    names = [name for name, one in case.arrays.items() if one.size <= SIZE]
    if not names:
        return False
    name = random.choice(names)
    array = case.arrays[name]
    lengths = list(array.shape)
    place = random.integer(0, max(len(lengths) - 1, 0))
    what = random.integer(0, 4)
    if what == 0 and lengths:
        array = (
            np.take(array, 0, place) if array.size else np.zeros(lengths[:place] + lengths[place + 1 :], array.dtype)
        )
    elif what == 1:
        array = np.expand_dims(array, place)
    elif lengths:
        lengths[place] = random.choice((0, 1, 2, lengths[place] + 1, max(lengths[place] - 1, 0)))
        array = np.resize(array, lengths) if array.size else np.zeros(lengths, array.dtype)
    else:
        array = np.resize(array, (random.integer(0, 3),))
    case.arrays[name] = np.asarray(array)
    return True


@change(2)
def dtype(case: Case, random: Choices) -> bool:
    """Another type: of one input, or of all that have the type."""
    if not case.arrays:
        return False
    name = random.choice(case.arrays)
    before, wanted = case.arrays[name].dtype, np.dtype(random.choice(DTYPES))
    alone = random.chance(0.3)
    for one, array in case.arrays.items():
        if one == name or (array.dtype == before and not alone):
            case.arrays[one] = array.astype(wanted)
    return True


@change(3)
def values(case: Case, random: Choices) -> bool:
    """Another element of an input."""
    names = [name for name, one in case.arrays.items() if 0 < one.size <= SIZE and name not in ("trips", "trip_count")]
    if not names:
        return False
    few = [name for name in names if case.arrays[name].dtype.kind == "i" and case.arrays[name].size < 10]
    name = random.choice(few if few and random.chance(0.7) else names)
    array = case.arrays[name].copy()
    value: Any = random.choice(FRACTIONS) if array.dtype.kind in "fc" else _number(random)
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        value = min(max(value, limits.min), limits.max)
    array.reshape(-1)[random.integer(0, array.size - 1)] = value
    case.arrays[name] = array
    return True


@change(3)
def initializer(case: Case, random: Choices) -> bool:
    """An input as an initializer, and still among the inputs or not."""
    if not case.arrays:
        return False
    name = random.choice(case.arrays)
    array = case.arrays.pop(name)
    case.graph.initializer.append(numpy_helper.from_array(array, name))
    if random.chance(0.7):
        kept = [one for one in case.graph.input if one.name != name]
        del case.graph.input[:]
        case.graph.input.extend(kept)
    return True


@change()
def outputs(case: Case, random: Choices) -> bool:
    """An output without a name, one more, or one less."""
    node = _node(case, random)
    schema = _schema(case, node)
    what = random.integer(0, 2)
    named = {one.name for one in case.graph.output}
    if what == 0 and schema is not None and len(node.output) < min(schema.max_output, 6):
        node.output.append(f"more{len(node.output)}")
        case.graph.output.append(onnx.ValueInfoProto(name=node.output[-1]))
    elif what == 1 and len(node.output) > 1:
        place = random.integer(0, len(node.output) - 1)
        kept = [one for one in case.graph.output if one.name != node.output[place]]
        if not kept:
            return False
        node.output[place] = ""
        del case.graph.output[:]
        case.graph.output.extend(kept)
    elif what == 2 and len(named) > 1:
        del case.graph.output[-1]
    else:
        return False
    return True


@change()
def names(case: Case, random: Choices) -> bool:
    """A name that nothing makes, or that two nodes make; nodes in another order."""
    node = _node(case, random)
    what = random.integer(0, 3)
    if what == 0 and node.input:
        node.input[random.integer(0, len(node.input) - 1)] = random.choice(("nothing", *node.output))
    elif what == 1:
        case.graph.node.append(node)
    elif what == 2:
        node.op_type = random.choice(("Bogus", *(one.name for one in defs.get_all_schemas())))
    elif what == 3 and case.graph.output:
        case.graph.output[0].name = random.choice(("nothing", *case.arrays))
    else:
        return False
    return True


def _untyped(names: Any) -> list[Any]:
    return [onnx.ValueInfoProto(name=one) for one in names]


@change(2)
def nested(case: Case, random: Choices) -> bool:
    """The nodes in a branch, or in the body of a loop or a scan, which takes the inputs from outside."""
    if not case.graph.node or any(one.type.WhichOneof("value") != "tensor_type" for one in case.graph.output):
        return False
    outer = [one.name for one in case.graph.output]
    body = onnx.GraphProto(name="body")
    body.node.extend(case.graph.node)
    what = random.choice(("If", "Loop", "Scan"))
    if what == "If":
        body.output.extend(case.graph.output)
        other = onnx.GraphProto()
        other.CopyFrom(body)
        node = helper.make_node("If", ["choice"], outer, then_branch=body, else_branch=other)
        added = {"choice": np.asarray(random.chance(0.5))}
    elif what == "Loop":
        body.input.append(helper.make_tensor_value_info("step", TensorProto.INT64, ()))
        body.input.append(helper.make_tensor_value_info("on", TensorProto.BOOL, ()))
        body.node.append(helper.make_node("Identity", ["on"], ["still"]))
        body.output.append(helper.make_tensor_value_info("still", TensorProto.BOOL, ()))
        body.output.extend(case.graph.output)
        node = helper.make_node("Loop", ["trips", random.choice(("", "go"))], outer, body=body)
        added = {"trips": np.asarray(random.choice((1, 2, 2, 3, 0, -1)))}
        if node.input[1]:
            added["go"] = np.asarray(random.chance(0.9))
    else:
        body.input.append(helper.make_tensor_value_info("part", TensorProto.FLOAT, ()))
        body.output.extend(case.graph.output)
        attributes = {"num_scan_inputs": random.choice((1, 1, 1, 1, 0, 2, -1))}
        if random.chance(0.3):
            attributes["scan_input_axes"] = [random.choice((0, -1, 1))]
        if random.chance(0.3):
            attributes["scan_output_axes"] = [random.choice((0, 0, -1, 1, 9, -9)) for _ in outer]
        if random.chance(0.3):
            attributes["scan_output_directions"] = [random.choice((0, 1, 1, 2)) for _ in outer]
        node = helper.make_node("Scan", ["parts"], outer, body=body, **attributes)
        added = {"parts": np.zeros(random.choice((1, 2, 3)), np.float32)}
    if set(added) & {one.name for one in case.graph.input}:
        return False
    del case.graph.node[:]
    case.graph.node.append(node)
    for name, array in added.items():
        case.arrays[name] = array
        case.graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ()))
    del case.graph.output[:]
    case.graph.output.extend(_untyped(outer))
    return True


@change()
def damaged(case: Case, random: Choices) -> bool:
    """Bytes of the file: changed, cut off, put in."""
    data = bytearray(case.model.SerializeToString())
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        place = random.integer(0, len(data) - 1)
        what = random.integer(0, 5)
        if what == 0:
            data[place:place] = random.random.bytes(random.integer(1, 4))
        elif what == 1:
            del data[place : place + random.integer(1, 8)]
        elif what == 2 and random.chance(0.2):
            del data[place + 1 :]
        else:
            data[place] = random.integer(0, 255)
        if not data:
            break
    case.damaged = bytes(data)
    return True
