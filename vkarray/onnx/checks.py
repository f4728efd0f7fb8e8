"""What a node may be like, by ONNX's own description of its operator: asked before anything runs."""

from __future__ import annotations

import functools
from typing import Any

import onnx
from onnx import AttributeProto, defs

_SCATTERS = dict.fromkeys(("ScatterElements", "ScatterND"), ("none", "add", "mul", "max", "min"))
_LAYERS = dict.fromkeys(("RNN", "GRU", "LSTM"), ("forward", "reverse", "bidirectional"))
# The words that attributes take, by operator; without a name those of all others. ONNX has them as prose alone.
_WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "auto_pad": {"": ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")},
    "direction": {"BitShift": ("LEFT", "RIGHT"), **_LAYERS},
    "reduction": {**_SCATTERS, "": ("none", "mean", "sum")},
    "approximate": {"Gelu": ("none", "tanh")},
    "padding_mode": {"GridSample": ("zeros", "border", "reflection")},
    "nearest_mode": {"Resize": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")},
    "keep_aspect_ratio_policy": {"Resize": ("stretch", "not_larger", "not_smaller")},
    "coordinate_transformation_mode": {
        "Resize": (
            "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn",
            "tf_crop_and_resize",
        ),
        "RoiAlign": ("half_pixel", "output_half_pixel"),
    },
    "mode": {
        "DepthToSpace": ("DCR", "CRD"),
        "Pad": ("constant", "reflect", "edge", "wrap"),
        "Resize": ("nearest", "linear", "cubic"),
        "Upsample": ("nearest", "linear", "bilinear"),
        "RoiAlign": ("avg", "max"),
        "GridSample": ("linear", "nearest", "cubic", "bilinear", "bicubic"),
        "TensorScatter": ("linear", "circular"),
    },
}  # fmt: skip

# What ONNX Runtime's optimizer writes into models of any version.
_EARLIER = ("LayerNormalization",)
# What a version took away as it came, and exporters wrote until the next one: it scales groups and no channels.
_WRITTEN = ("GroupNormalization",)


@functools.cache
def schema_of(domain: str, name: str, version: int) -> Any:
    """ONNX's description of an operator in a version of its domain, or None."""
    try:
        return defs.get_schema(name, version, domain)
    except defs.SchemaError:
        return None


@functools.cache
def _first_version(domain: str, name: str) -> int | None:
    found = [
        one.since_version for one in defs.get_all_schemas_with_history() if (one.domain, one.name) == (domain, name)
    ]
    return min(found, default=None)


@functools.cache
def defaults(domain: str, name: str, version: int) -> dict[str, float]:
    """The numbers that attributes are where a node leaves them out: float32, as those in files."""
    schema = schema_of(domain, name, version)
    listed = () if schema is None else schema.attributes.values()
    return {one.name: one.default_value.f for one in listed if one.default_value.type == AttributeProto.FLOAT}


def check_node(text: str, domain: str, proto: onnx.NodeProto, version: int) -> None:
    """Raises ValueError for a node that is not as ONNX describes its operator; `text` names the node."""
    schema = schema_of(domain, proto.op_type, version)
    if schema is None:
        first = _first_version(domain, proto.op_type)
        if first is not None and first > version and proto.op_type not in _EARLIER:
            raise ValueError(
                f"{text} is of an operator that there is from version {first} on. Export the model with it or a later one."
            )
        return
    if schema.deprecated and proto.op_type not in _WRITTEN:
        raise ValueError(
            f"{text} is of an operator that version {schema.since_version} took away. Export the model with an earlier version, or "
            f"convert it by onnx.version_converter.convert_version."
        )
    _check_counts(text, proto, schema)
    for attribute in proto.attribute:
        _check_attribute(text, proto, schema, attribute)


def _check_counts(text: str, proto: onnx.NodeProto, schema: Any) -> None:
    for what, given, low, high in (
        ("inputs", proto.input, schema.min_input, schema.max_input),
        ("outputs", proto.output, schema.min_output, schema.max_output),
    ):
        count = len(given)
        while count > high and not given[count - 1]:  # without a name: left out
            count -= 1
        if not low <= count <= high:
            wanted = str(low) if low == high else f"{low} to {high}" if high < 1 << 20 else f"{low} or more"
            raise ValueError(f"{text} has {count} {what}, and the operator has {wanted}. Export the model again.")
    kinds = defs.OpSchema.FormalParameterOption
    for place, name in enumerate(proto.input):
        one = schema.inputs[min(place, len(schema.inputs) - 1)]
        if not name and (one.option == kinds.Single or (one.option == kinds.Variadic and one.is_homogeneous)):
            raise ValueError(f"{text} lacks its input {one.name!r}, which the operator needs. Export the model again.")


def _check_attribute(text: str, proto: onnx.NodeProto, schema: Any, attribute: AttributeProto) -> None:
    name = attribute.name
    described = schema.attributes.get(name)
    if described is None:
        known = ", ".join(schema.attributes) or "none"
        raise ValueError(
            f"{text} has the attribute {name!r}, which the operator does not have: it has {known}. Export the model again."
        )
    kind, wanted = int(attribute.type), int(described.type)
    if not attribute.ref_attr_name and kind != wanted:
        names = AttributeProto.AttributeType
        raise ValueError(
            f"{text}: the attribute {name!r} is of the kind {_kind(names, kind)}, expected {_kind(names, wanted)}. "
            f"Export the model again."
        )
    of_operators = _WORDS.get(name, {})
    words = of_operators.get(proto.op_type, of_operators.get("", ()))
    if kind == AttributeProto.STRING and words and attribute.s.decode("utf-8", "replace") not in words:
        raise ValueError(
            f"{text}: the attribute {name!r} is {attribute.s.decode('utf-8', 'replace')!r}, expected one of "
            f"{', '.join(map(repr, words))}. Export the model again."
        )


def _kind(names: Any, number: int) -> str:
    return str(names.Name(number)) if number in names.values() else str(number)
