"""What a file holds, as nodes with their rows: read once, when a model is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, defs, inliner

from . import checks, table, types
from .table import Row
from .types import Description

_OLDEST, _NEWEST = 6, 28  # versions of `ai.onnx`


@dataclass
class Node:
    """A call of an operator. Names of inputs and outputs that are not there are empty."""

    row: Row
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    version: int
    captured: list[str] = field(default_factory=list)  # what graphs inside take from outside
    finished: list[str] = field(default_factory=list)  # what nobody reads after it
    on_host: bool = False  # whether its results are needed there

    @property
    def graphs(self) -> list[Graph]:
        """The graphs among the attributes."""
        return [one for one in self.attributes.values() if isinstance(one, Graph)]

    def __str__(self) -> str:
        return f"node {self.name!r} ({operator_text(self.row.domain, self.row.name, self.version)})"


@dataclass
class Graph:
    """Nodes in an order in which they may run."""

    name: str
    nodes: list[Node]
    inputs: list[Description]
    outputs: list[Description]
    constants: dict[str, np.ndarray[Any, Any]]
    captured: list[str] = field(default_factory=list)

    def everywhere(self) -> Iterator[Graph]:
        """This graph and those inside."""
        yield self
        for node in self.nodes:
            for graph in node.graphs:
                yield from graph.everywhere()


def name_of(node: onnx.NodeProto) -> str:
    """The name of a node of a file, or of its first result."""
    return node.name or next((one for one in node.output if one), "")


def operator_text(domain: str, name: str, version: int) -> str:
    """An operator as messages name it."""
    return f"{name}, domain {domain or 'ai.onnx'!r}, version {version}"


def read(source: Any) -> tuple[onnx.ModelProto, str]:
    """The model of a file, of bytes or of `onnx.ModelProto`, and the folder of its external data.

    Raises ValueError for what is no model, OSError for a file that cannot be read.
    """
    if isinstance(source, onnx.ModelProto):
        return source, ""
    if isinstance(source, (bytes, bytearray, memoryview)):
        content, folder, what = bytes(source), "", "what was given"
    else:
        path = Path(os.fspath(source))
        content, folder, what = path.read_bytes(), str(path.parent), f"{str(path)!r}"
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:
        raise ValueError(f"onnx.load: {what} is no ONNX model, or is damaged: {error}") from error
    if not model.HasField("graph") or not model.opset_import:
        raise ValueError(
            f"onnx.load: {what} holds no graph of operators, so it is no ONNX model, or is damaged. Export it again."
        )
    return model, folder


def versions_of(model: onnx.ModelProto) -> dict[str, int]:
    """The version of each domain of operators. Raises ValueError for one that is too old or too new."""
    versions = {"" if one.domain == "ai.onnx" else one.domain: one.version for one in model.opset_import}
    if not _OLDEST <= versions.get("", _OLDEST) <= _NEWEST:
        raise ValueError(
            f"onnx.load: the model is of version {versions['']} of ONNX's operators, and those from {_OLDEST} to {_NEWEST} are "
            f"read. Convert it by onnx.version_converter.convert_version."
        )
    return versions


def inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its own functions, and those that ONNX defines as functions and have no row, put in place of their calls."""
    versions_of(model)
    try:
        if model.functions:
            model = _inlined_own(model)
        for _ in range(4):  # what a body calls may be a function itself
            versions = versions_of(model)
            wanted = sorted(
                {one for one in _without_row(model.graph, versions) if table.has_body(*one, versions[one[0]])}
            )
            if not wanted:
                break
            before = model
            model = onnx.ModelProto.FromString(model.SerializeToString())
            _write_defaults(model.graph, set(wanted), versions)
            _write_types(model.graph)
            model = inliner.inline_selected_functions(model, wanted, inline_schema_functions=True)
            if model == before:
                break
    except Exception as error:  # ONNX's own, of many kinds
        if str(error).startswith("onnx.load: "):
            raise
        raise ValueError(
            f"onnx.load: the functions of the model cannot be put in place of their calls: {error}"
        ) from error
    return model


def _everywhere(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Nodes, and those of the graphs in their attributes."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                yield from _everywhere(inner.node)


def _inlined_own(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its own functions in place of their calls. Those of other versions of the operators are converted."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    defaults = {(one.domain, one.name, one.overload): one.attribute_proto for one in model.functions}
    for nodes in (model.graph.node, *(one.node for one in model.functions)):
        for node in _everywhere(nodes):
            there = {one.name for one in node.attribute}  # ONNX's inliner does not know of what calls leave out
            given = defaults.get((node.domain, node.op_type, node.overload), ())
            node.attribute.extend(one for one in given if one.name not in there)
    return inliner.inline_local_functions(model, convert_version=True)


def _write_defaults(graph: onnx.GraphProto, functions: set[tuple[str, str]], versions: dict[str, int]) -> None:
    """Write the attributes that calls of functions leave out: bodies refer to them."""
    for node in _everywhere(graph.node):
        domain = "" if node.domain == "ai.onnx" else node.domain
        if (domain, node.op_type) in functions:
            schema = defs.get_schema(node.op_type, versions[domain], domain)
            text = operator_text(domain, node.op_type, versions[domain])
            checks.check_node(f"onnx.load: node {name_of(node)!r} ({text})", domain, node, versions[domain])
            there = {one.name for one in node.attribute}
            node.attribute.extend(
                one.default_value
                for name, one in schema.attributes.items()
                if name not in there and one.default_value.name
            )


def _write_types(graph: onnx.GraphProto) -> None:
    """Write the types of initializers, which some bodies are chosen by."""
    described = {one.name for one in (*graph.input, *graph.value_info)}
    graph.value_info.extend(
        onnx.helper.make_tensor_value_info(one.name, one.data_type, one.dims)
        for one in graph.initializer
        if one.name not in described
    )
    if "" not in described:  # ONNX asks for the types of inputs that are left out as well
        graph.value_info.append(onnx.helper.make_tensor_value_info("", onnx.TensorProto.FLOAT, None))


def _without_row(graph: onnx.GraphProto, versions: dict[str, int]) -> Iterator[tuple[str, str]]:
    for node in _everywhere(graph.node):
        domain = "" if node.domain == "ai.onnx" else node.domain
        if domain in versions and table.find(domain, node.op_type, versions[domain]) is None:
            yield domain, node.op_type


class Reader:
    """Makes graphs of those of a file."""

    def __init__(self, versions: dict[str, int], folder: str) -> None:
        self.versions, self.folder = versions, folder
        self._names = 0

    def graph(self, proto: onnx.GraphProto, outer: frozenset[str] = frozenset()) -> Graph:
        """A graph; `outer` are the names that it may take from outside. Raises ValueError and NotImplementedError."""
        dequantized = _dequantized(proto) if any(map(types.is_narrow, proto.initializer)) else set()
        constants = {
            one.name: types.numpy_array(
                one, self.folder, f"onnx.load: the initializer {one.name!r}", one.name in dequantized
            )
            for one in proto.initializer
        }
        if proto.sparse_initializer:
            raise NotImplementedError(
                "onnx.load: the graph has sparse initializers, which vkarray does not have. Export it with dense ones."
            )
        inputs = [_described(one) for one in proto.input if one.name not in constants]
        known = {*constants, *(one.name for one in inputs)}
        graph = Graph(proto.name, [], inputs, [_described(one) for one in proto.output], constants)
        captured: dict[str, None] = {}
        for number, one in enumerate(proto.node):
            node = self._node(one, number, outer | known)
            for name in (*node.inputs, *node.captured):
                if name and name not in known:
                    if name not in outer:
                        raise ValueError(
                            f"onnx.load: {node} reads {name!r}, which nothing before it makes: the file is damaged, or its nodes "
                            f"are in no order in which they can run. Export it again."
                        )
                    captured[name] = None
            for name in node.outputs:
                if name and name in known:
                    raise ValueError(
                        f"onnx.load: {node} makes {name!r}, which is there already. Export the model again."
                    )
                known.update([name] if name else [])
            graph.nodes.append(node)
        for output in graph.outputs:
            if output.name not in known:
                if output.name not in outer:
                    raise ValueError(f"onnx.load: nothing makes the output {output.name!r}. Export the model again.")
                captured[output.name] = None
        graph.captured = list(captured)
        note_last_uses(graph)
        return graph

    def _node(self, proto: onnx.NodeProto, number: int, outer: frozenset[str]) -> Node:
        domain = "" if proto.domain == "ai.onnx" else proto.domain
        name = name_of(proto) or f"number {number}"
        version = self.versions.get(domain)
        if version is None:
            raise ValueError(
                f"onnx.load: node {name!r} is of the domain {domain!r}, and the model names no version of it."
            )
        row = table.find(domain, proto.op_type, version)
        if row is None:
            advice = (
                "ONNX Runtime's optimizer makes operators of this domain: give the model as it was before."
                if domain == "com.microsoft"
                else "Export the model with another version or without this operator, or give it a function body in the model."
            )
            raise NotImplementedError(
                f"onnx.load: node {name!r} is of an operator that vkarray does not have: "
                f"{operator_text(domain, proto.op_type, version)}. {advice}"
            )
        text = f"onnx.load: node {name!r} ({operator_text(domain, proto.op_type, version)})"
        checks.check_node(text, domain, proto, version)
        attributes: dict[str, Any] = dict(checks.defaults(domain, proto.op_type, version))
        attributes |= {one.name: self._attribute(one, text, outer) for one in proto.attribute}
        node = Node(row, name, list(proto.input), list(proto.output), attributes, version)
        node.captured = list(dict.fromkeys(one for graph in node.graphs for one in graph.captured))
        return node

    def _attribute(self, proto: AttributeProto, node: str, outer: frozenset[str]) -> Any:
        if proto.ref_attr_name:
            raise ValueError(f"{node}: the attribute {proto.name!r} refers to a function that there is not.")
        if proto.type == AttributeProto.GRAPH:
            return self.graph(proto.g, outer)
        if proto.type == AttributeProto.TENSOR:
            return types.numpy_array(proto.t, self.folder, f"{node}: the attribute {proto.name!r}")
        if proto.type == AttributeProto.STRING:
            return proto.s.decode("utf-8", "replace")
        if proto.type == AttributeProto.STRINGS:
            return [one.decode("utf-8", "replace") for one in proto.strings]
        if proto.type in (AttributeProto.INT, AttributeProto.INTS, AttributeProto.FLOAT, AttributeProto.FLOATS):
            found = onnx.helper.get_attribute_value(proto)
            return found if isinstance(found, (int, float)) else list(found)
        if proto.type == AttributeProto.TYPE_PROTO:
            return proto.tp
        kind = AttributeProto.AttributeType.Name(proto.type)
        raise NotImplementedError(
            f"{node}: the attribute {proto.name!r} is of the kind {kind}, which vkarray does not have."
        )


def _dequantized(graph: onnx.GraphProto) -> set[str]:
    """The initializers that DequantizeLinear takes and nothing else."""
    read: dict[str, set[str]] = {one.name: {"Identity"} for one in graph.output}
    for node in _everywhere(graph.node):
        for name in node.input:
            read.setdefault(name, set()).add(node.op_type)
    return {one.name for one in graph.initializer if read.get(one.name) == {"DequantizeLinear"}}


def _described(value: Any) -> Description:
    try:
        return types.described(value)
    except NotImplementedError as error:
        raise NotImplementedError(f"onnx.load: {error}") from None


def note_last_uses(graph: Graph) -> None:
    """Note of each node which values nobody reads after it."""
    kept = {one.name for one in graph.outputs}
    seen: set[str] = set()
    made = {name for node in graph.nodes for name in node.outputs if name}
    for node in reversed(graph.nodes):
        used = {name for name in (*node.inputs, *node.captured, *node.outputs) if name in made}
        node.finished = sorted(used - seen - kept)
        seen |= used
