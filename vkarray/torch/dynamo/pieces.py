"""Graphs of aten operators as programs: the bridge's own rows run on tensors that show traced arrays.

A row sees arrays that have a shape, a type and strides, and does with them what it does in a call without `torch.compile`. So a
program computes the same bits. What cannot be traced is split off, and runs as it does without.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx

from ... import configuration
from ..._vk import watch
from ..._vk.watch import watches
from ...core.array import VkArray
from ...core.tokens import Noticed, stand_in
from ...errors import TraceError
from ...graph.compile import MOST, Call, Compiled, switches
from ...graph.executable import Executable
from ...graph.explain import Explanation, Told
from ...graph.trace import Value
from ...graph.ways import Once
from ...kernels.signature import sharing
from .. import device as devices
from ..aten import attention
from ..dispatch.results import inferred
from ..seeds import current
from ..tensors.storage import Look, array_of, look_of_array, shown, tensor_over
from .arguments import Arguments
from .split import Parts, is_part_of, levels, log, obstacle


class Untraced(Exception):
    """Nodes of a graph that cannot be traced, each with the reason."""

    def __init__(self, nodes: dict[fx.Node, str]) -> None:
        super().__init__(", ".join(f"{node}: {reason}" for node, reason in nodes.items()))
        self.nodes = nodes


class _Given(NamedTuple):
    """A result that is an argument itself."""

    place: int


class _View(NamedTuple):
    """A result in the memory of an argument, or of a result before it."""

    of: int
    is_argument: bool
    look: Look
    dtype: torch.dtype


class _Result(NamedTuple):
    """Which of the results of a program it is."""

    number: int


class _Programmed(NamedTuple):
    """How calls of one signature run: a program, how its results become tensors, and what the graph returns."""

    program: Executable | None  # None where they run operator by operator
    reason: str
    made: tuple[Look | _View | Tensor, ...]
    form: Any


class Piece:
    """A graph, or a part of one, that runs as programs: one for each signature of its arguments."""

    def __init__(self, module: fx.GraphModule, name: str) -> None:
        self.module, self.name, self.profiled_name = module, name, f"torch.compile({name})"
        self.parts: Parts | None = None  # where some of it cannot be traced
        self.untraced: dict[str, str] = {}  # operators that are not, with the reasons
        self.pieces: list[Piece] = []
        self.arguments = Arguments()
        self.known: dict[tuple[Any, ...], _Programmed] = {}
        self.rows: list[int] = []  # the lengths that rows have had, of graphs for several
        self.streams: dict[Any, None] = {}  # of random numbers, which it draws from
        self.drawing: dict[Any, None] = {}  # devices whose random numbers these are
        self._lock = threading.RLock()
        reasons = {node: obstacle(node) for node in module.graph.nodes if node.op not in _NO_WORK}
        self._split({node: reason for node, reason in reasons.items() if reason})

    def __call__(self, *args: Any) -> Any:
        """What the graph returns."""
        if self.parts is not None:
            return self.parts(*args)
        if watches and (observing := watch.observer()) is not None:
            return observing.call(self, args, {})
        settings = configuration.current()
        if not settings.compile or settings.compare or (watches and watch.current() is not None):
            return self.module(*args)
        noted = self.arguments(args)
        if noted is None:
            return self.module(*args)
        key, buffers, addresses = noted
        key += switches(settings)
        if len(buffers) > 1:
            key.append(sharing(buffers, addresses))
        found = self.known.get((*key, *self._places()))
        if found is None:
            try:
                found = self._trace(key, args)
            except Untraced as error:
                self._split(error.nodes)
                return self(*args)
        if found.program is None or not found.program.constants.isdisjoint(map(id, buffers)):
            return self.module(*args)
        memory = iter(found.program.memory(buffers, addresses, ()))
        results: list[Tensor] = []
        for one in found.made:
            if type(one) is Look:
                results.append(tensor_over(next(memory)[0], one))
            elif type(one) is _View:
                results.append(_view(one, (args if one.is_argument else results)[one.of], *next(memory)))
            else:
                results.append(one)
        return _filled(found.form, results, args)

    # -- tracing

    def _places(self) -> tuple[int, ...]:
        """Where in a block of words each stream of random numbers is: the device's own, perhaps with a new seed."""
        for device in self.drawing:
            current(device)
        return tuple([stream.position % 4 for stream in self.streams])

    def _trace(self, key: Sequence[Any], args: Sequence[Any]) -> _Programmed:
        """How calls of a signature run. Raises Untraced."""
        with self._lock:
            given = [array_of(one) for one in args if isinstance(one, Tensor)]
            body = _Body(self.module, args)
            compiled = Compiled(lambda *arrays: body(*arrays))  # no object that would have to stay as it is
            compiled.name = self.name
            way = Once(compiled.function)
            way.rows, way.runs, way.calls = self.rows, False, False  # errors of nodes are told by the graph
            device = self._device(given)
            current(device)  # which exists from now on, and is none that the graph makes
            try:
                made = compiled.traced(Call(tuple(given), {}, given, (), device), Noticed(), stand_in, way)
            except TraceError as error:  # of no node alone
                raise Untraced(dict.fromkeys(_drawing(self.module.graph), str(error))) from None
            self.streams.update(compiled.streams)
            self.drawing.update(dict.fromkeys([device] if compiled.streams else ()))
            if made.program is None:
                log.info("%s runs operator by operator, since %s", self.name, made.reason)
            found = _Programmed(made.program, made.reason, tuple(body.made()), body.form)
            if len(self.known) >= MOST:
                self.known.clear()
            self.known[(*key, *self._places())] = found
            return found

    def _device(self, given: Sequence[VkArray]) -> Any:
        """The device of the arguments, or of what the graph makes."""
        if given:
            return given[0]._device
        made = (node.meta.get("val") for node in self.module.graph.nodes)
        return devices.chosen(next((one.device for one in made if isinstance(one, Tensor)), None))

    def _split(self, nodes: dict[fx.Node, str]) -> None:
        """From now on run these nodes as they are, and the others as programs before, between and after them."""
        parts = levels(self.module.graph, nodes)
        if len(set(parts.values())) < 2 and not nodes:
            return
        for node, reason in nodes.items():
            self.untraced.setdefault(str(node.target), reason)
            log.info("%s: %s runs without a program, since %s", self.name, node.format_node(), reason)

        def runner(module: fx.GraphModule, part: int) -> Callable[..., Any]:
            if part % 2:
                return module
            self.pieces.append(Piece(module, f"{self.name}.{len(self.pieces)}"))
            return self.pieces[-1]

        self.parts = Parts(self.module, parts, runner)

    def _explanation(self) -> Explanation:
        return Explanation(self.name, [Told(one.program, one.reason) for one in self.known.values()])

    def explain(self, indent: str = "") -> str:
        """What became of the graph: the programs, and what runs without."""
        lines = []
        for name, reason in self.untraced.items():
            lines.append(f"{indent}{name} runs without a program: {reason}")
        if self.parts is None:
            lines += [indent + line for line in str(self._explanation()).splitlines()]
        for one in self.pieces:
            lines.append(one.explain(indent))
        return "\n".join(lines)


_NO_WORK = ("placeholder", "get_attr", "output")


def _drawing(graph: fx.Graph) -> Iterable[fx.Node]:
    return [node for node in graph.nodes if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())]


def _filled(form: Any, results: Sequence[Tensor], args: Sequence[Any]) -> Any:
    kind = type(form)
    if kind is tuple or kind is list:
        return kind([_filled(one, results, args) for one in form])
    if kind is _Result:
        return results[form.number]
    return args[form.place] if kind is _Given else form


def _view(what: _View, base: Tensor, buffer: Any, first: int) -> Tensor:
    """A view of a tensor, which shares its version: at a byte of its memory."""
    offset = first // (what.look.stored or what.dtype.itemsize)
    if what.dtype is base.dtype:
        return base.as_strided(what.look.shape, what.look.strides, offset)
    made = torch.empty(0, dtype=what.dtype, device=base.device)
    return made.set_(base.untyped_storage(), offset, what.look.shape, what.look.strides)


class _Body:
    """A graph as a function of arrays, for one trace."""

    def __init__(self, module: fx.GraphModule, args: Sequence[Any]) -> None:
        self.module, self.args = module, args
        self.form: Any = None
        self.given: list[VkArray] = []
        self.arrays: list[VkArray] = []
        self.tensors: list[Tensor] = []

    def __call__(self, *arrays: VkArray) -> list[VkArray]:
        self.given = list(arrays)
        tensors = iter([shown(one) for one in arrays])
        args = [next(tensors) if isinstance(one, Tensor) else one for one in self.args]
        interpreter = _Interpreter(self.module)
        with torch.no_grad():
            found = interpreter.run(*args)
            if interpreter.untraced:
                raise Untraced(interpreter.untraced)
            places = {id(one): place for place, one in enumerate(args) if isinstance(one, Tensor)}
            self.form = self._noted(found, places)
        return self.arrays

    def _noted(self, value: Any, places: dict[int, int]) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)([self._noted(one, places) for one in value])
        if not isinstance(value, Tensor):
            return value
        if id(value) in places:
            return _Given(places[id(value)])
        self.tensors.append(value.resolve_conj().resolve_neg())
        self.arrays.append(array_of(self.tensors[-1]))
        return _Result(len(self.arrays) - 1)

    def made(self) -> Iterable[Look | _View | Tensor]:
        """How each result becomes a tensor."""
        which = [place for place, one in enumerate(self.args) if isinstance(one, Tensor)]
        argument = {id(one._buffer): place for place, one in zip(reversed(which), reversed(self.given), strict=True)}
        before: dict[int, int] = {}
        for number, (array, tensor) in enumerate(zip(self.arrays, self.tensors, strict=True)):
            memory = array._buffer
            if type(memory) is not Value:
                yield tensor
            elif id(memory) in argument or id(memory) in before:
                of = argument.get(id(memory), before.get(id(memory)))
                assert of is not None
                yield _View(of, id(memory) in argument, look_of_array(array), tensor.dtype)
            else:
                before[id(memory)] = number
                yield look_of_array(array)


# Operators that have less to do where nobody takes more than their first result.
ALONE: dict[Any, Callable[..., Any]] = {
    torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default: attention.result_alone
}


def _takes_first_alone(node: fx.Node) -> bool:
    return all(is_part_of(user) is node and user.args[1] == 0 for user in node.users)


class _Interpreter(fx.Interpreter):
    """Runs a graph on traced tensors. Nodes that cannot be traced get results that stand for theirs, and are noted."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.untraced: dict[fx.Node, str] = {}

    def run_node(self, node: fx.Node) -> Any:
        """What a node returns."""
        trace = watch.tracer()
        trace.line = f"%{node.name}"
        try:
            alone = ALONE.get(node.target) if _takes_first_alone(node) else None
            if alone is not None:
                args, kwargs = self.fetch_args_kwargs_from_env(node)
                return alone(*args, **kwargs)
            return super().run_node(node)
        except TraceError as error:
            self.untraced[node] = trace.reason or str(error)
        finally:
            trace.line, trace.reason = "", None
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        try:
            return _standing(inferred(node.target, args, kwargs))
        except Exception:  # what comes after it is looked at when its part is traced
            raise Untraced(self.untraced) from None


def _standing(value: Any) -> Any:
    """Tensors without values that look like what an operator says."""
    if isinstance(value, (list, tuple)):
        return type(value)([_standing(one) for one in value])
    if isinstance(value, Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="vulkan")
    return value
