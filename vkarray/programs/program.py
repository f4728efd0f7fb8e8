"""`vkarray.Program`: what a function does for given arguments, as an object that is called, saved and loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _vk, configuration
from ..core.array import VkArray
from ..graph import nest
from ..graph.compile import Compiled
from ..graph.dimensions import Dim, Dynamic
from ..graph.explain import Explanation
from ..graph.player import Player, taped
from ..graph.stand_ins import Slot
from ..graph.tape import Tape
from ..shaders.source import bring
from . import container, description, tensors
from .description import Description
from .encoding import Constant, Encoder, OwnDevice, Wrong
from .names import version
from .signature import Input, Output, argument_names, checked, inputs_of, leaves_of
from .targets import collect, modules_of
from .tensors import Tensor


class Program:
    """What a function of arrays does, as an object that can be called, saved and loaded again.

    Parameters: function (of arrays and numbers, in any nest of tuples, lists and dictionaries; it calls functions of this library);
    args, kwargs (arguments that it is made for: the shapes and types count, and the values do not); dynamic (the axes whose
    lengths vary, as for `vkarray.compile`); inputs, outputs (names for the arrays and numbers that it takes and returns, in their
    order; by default those of the parameters, and `output`); name.
    The function is called once, with stand-ins for the arguments, and the calls of the library that it makes are noted. A program
    repeats them. Arrays from elsewhere than the arguments, such as weights, are constants of the program.
    Attributes: `name`, `inputs` and `outputs` (of each the name, type and shape, with a `Dim` where the length varies), `device`.
    Raises TraceError for a function that cannot be a program, such as one that reads values, and what the function raises.
    """

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *,
        dynamic: Mapping[str, Any] | None = None, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        if isinstance(function, Compiled):
            dynamic = dynamic if dynamic is not None else function.dynamic
            function = function.function
        if not callable(function):
            raise TypeError(f"Program: expected a function, got {function!r:.60}.")
        compiled = Compiled(function, None)
        args, kwargs = tuple(args), dict(kwargs or {})
        leaves = [value for _, value in leaves_of((args, kwargs))]
        arrays = [one for one in leaves if type(one) is VkArray]
        self.name = name or compiled.name
        self.device: _vk.Device = arrays[0].device if arrays else _vk.open_device(None)
        self.default_float = configuration.current().default_float
        axes = {} if dynamic is None else Dynamic(function, dynamic).axes(args, kwargs)
        called = argument_names(function, args, kwargs)
        given = inputs_of(leaves, _named("inputs", inputs, called), axes)
        self._sizes = sizes = checked(self.name, given, leaves, self.device)
        self._player = taped(compiled, args, kwargs, axes, self.device)
        decided = _decided(self._player.tape, leaves)
        self.inputs = tuple(
            one._replace(value=decided.get(number)) if one.shape is None else one for number, one in enumerate(given)
        )
        places = iter(range(len(leaves)))
        self._arguments = nest.rebuilt((args, kwargs), lambda value: Slot(next(places)))
        self.outputs = _outputs(self._player, self.inputs, leaves, sizes, outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns for these arguments, in the same nest.

        Raises TypeError and ValueError for arguments of other types, shapes and lengths than the inputs have.
        """
        leaves: list[Any] = []
        self._collect(self._arguments, (args, kwargs), leaves, "its arguments")
        checked(self.name, self.inputs, leaves, self.device)
        return self._player(*leaves)

    def __repr__(self) -> str:
        taken, made = (", ".join(map(str, puts)) for puts in (self.inputs, self.outputs))
        return f"<Program {self.name}: {taken or 'nothing'} -> {made or 'nothing'}>"

    def explain(self) -> Explanation:
        """What the program does on its device: operations, kernels, what was fused, memory. Printed, it is a text."""
        return self._player.explain()

    def save(self, path: str | os.PathLike[str], *, targets: Sequence[str] = ("any",)) -> None:
        """Write the program to a file, which `vkarray.load_program` reads.

        Parameters: path; targets (the devices whose shaders the file is to have, so that it runs there without a compiler: names
        in `vkarray.programs.targets.TARGETS`, such as "any", "float16" and "phone"; none: no shaders).
        Raises TypeError for what files cannot hold, such as random numbers, ValueError for an unknown target, FeatureError where
        devices of a target lack a type that the program takes, and OSError where the file cannot be written.
        """
        encoder, tape = Encoder(), self._player.tape
        shaders = collect(tape, self.inputs, self._sizes, self.device, self.default_float, targets)
        what = Description(
            self.name, version(), self.default_float, self.inputs, self.outputs, self._arguments, tape.form, tape.entries, (),
            shaders.listed(),
        )  # fmt: skip
        try:
            listed = description.written(what, encoder)
            weights = tensors.written({str(number): Tensor.of(one) for number, one in enumerate(encoder.constants)})
        except TypeError as error:
            raise TypeError(
                f"save: a file of a program cannot hold {error}. A file holds calls of the library's functions with arrays, "
                "numbers, texts, types, slices, and tuples, lists and dictionaries of these."
            ) from None
        text = container.json.dumps(listed, allow_nan=False, separators=(",", ":")).encode()
        container.write(path, {"program": text, "weights": weights, "shaders": shaders.data()})

    @classmethod
    def _of_file(cls, path: str | os.PathLike[str], device: Any, shaders: bool, memory: int | None) -> Program:
        file = container.Container(path)
        try:
            what = description.read(container.parsed(path, bytes(file.parts["program"])))
        except (Wrong, RecursionError) as error:
            raise container.damaged(path, f"its description of the program is damaged: {error}") from None
        modules = modules_of(path, what.shaders, file.parts["shaders"])
        if shaders:
            bring(modules)
        kept = tensors.read(path, file.parts["weights"], description.named_constants(what.constants))
        self = cls.__new__(cls)
        self.device = device if isinstance(device, _vk.Device) else _vk.open_device(device)
        self.name, self.default_float, self._sizes = what.name, what.default_float, {}
        self.inputs, self.outputs, self._arguments = what.inputs, what.outputs, what.arguments
        most = max(size for size, _ in self.device.physical.heaps) if memory is None else memory
        self._player = Player(_tape(what, kept, self.device), self.device, what.default_float, most)
        return self

    def _collect(self, form: Any, value: Any, leaves: list[Any], path: str) -> None:
        """The arrays and numbers of arguments, which are a nest like that of the inputs."""
        if type(form) is Slot:
            leaves.append(value)
            return
        parts = nest.parts_of(form)
        if parts is None:
            if type(value) is not type(form) or value != form:
                raise ValueError(
                    f"{self.name}: expected {form!r:.40} among {path}, for which it was made, got {value!r:.40}."
                )
            return
        others = nest.parts_of(value)
        if others is None or [name for name, _ in parts] != [name for name, _ in others]:
            expected = f"{len(self.inputs)} inputs: {', '.join(map(str, self.inputs))}"
            raise TypeError(f"{self.name}: {path} are {_shown(value)}. Expected {_shown(form)}, which hold {expected}.")
        for (name, part), (_, other) in zip(parts, others, strict=True):
            below = path if path == "its arguments" else f"{path}[{name!r}]"
            self._collect(part, other, leaves, below)


def load_program(
    path: str | os.PathLike[str], device: Any = None, *, shaders: bool = True, memory: int | None = None
) -> Program:
    """A program from a file that `Program.save` has written.

    Parameters: path; device (the device to run on, as for `vkarray.asarray`; None for the default); shaders (whether the file's
    shaders may serve where neither vkarray nor the machine has them; False for files of people whom you do not trust); memory (the
    bytes that a call may take besides its arguments; None: as many as the largest heap of the device has).
    Nothing in the file is run as Python code: it names functions out of a table of the library's.
    Raises ProgramError for a file that is cut off, damaged, something else or too new, OSError for one that cannot be read,
    FeatureError where the device lacks a type that the program takes. Calls raise OutOfMemoryError before they take more memory
    than they may.
    """
    return Program._of_file(path, device, shaders, memory)


def _named(what: str, given: Sequence[str] | None, own: Sequence[str]) -> Sequence[str]:
    """The names of inputs or outputs. Raises ValueError for too many, too few, or two that are alike."""
    if given is None:
        return own
    if len(given) != len(own) or len(set(given)) != len(given) or not all(isinstance(one, str) for one in given):
        raise ValueError(
            f"Program: {what} names {list(given)!r:.80}; expected {len(own)} different names, for {', '.join(own)}."
        )
    return given


def _decided(tape: Tape, leaves: Sequence[Any]) -> dict[int, Any]:
    """The numbers by which a tape decides, by their places among arrays and numbers."""
    numbers = [place for place, one in enumerate(leaves) if type(one) is not VkArray]
    return {numbers[place]: leaves[numbers[place]] for place in tape.decide}


def _outputs(
    player: Player,
    inputs: Sequence[Input],
    leaves: Sequence[Any],
    sizes: Mapping[Dim, int],
    names: Sequence[str] | None,
) -> tuple[Output, ...]:
    """What a program returns, found by tracing it, for another length of each dimension as well."""
    found = _returned(player, inputs, leaves, sizes)
    shapes: list[list[Any]] = [list(one.shape) for _, one in found]
    for dim, length in sizes.items():
        other = length + 1 if dim.max is None or length < dim.max else length - 1
        if other < dim.min:
            continue
        again = _returned(player, inputs, leaves, {**sizes, dim: other})
        for shape, (_, one), (_, before) in zip(shapes, again, found, strict=True):
            for axis, (new, old) in enumerate(zip(one.shape, before.shape, strict=True)):
                if new != old:
                    shape[axis] = dim if (old, new) == (length, other) and shape[axis] == old else None
    own = [f"output{path}" if path.startswith("[") else path or "output" for path, _ in found]
    return tuple(
        Output(name, one.dtype, tuple(shape))
        for name, shape, (_, one) in zip(_named("outputs", names, own), shapes, found, strict=True)
    )


def _returned(
    player: Player, inputs: Sequence[Input], leaves: Sequence[Any], sizes: Mapping[Dim, int]
) -> list[tuple[str, Any]]:
    given = [
        leaf if one.shape is None else (tuple(sizes[n] if isinstance(n, Dim) else n for n in one.shape), one.dtype)
        for one, leaf in zip(inputs, leaves, strict=True)
    ]
    return [(path, value) for path, value in leaves_of(player.returned(given)) if type(value) is VkArray]


def _tape(what: Description, kept: Mapping[str, Tensor], device: _vk.Device) -> Tape:
    """The calls of a file, with arrays of a device for its constants."""
    made: dict[int, Any] = {}

    def constant(one: Constant) -> Any:
        if one.place not in made:
            tensor = kept[str(one.place)]
            if one.kind == "constant":
                made[one.place] = tensor.array(device)
                if what.constants[one.place].is_place:
                    made[one.place]._is_place = True
            else:
                array = tensor.numpy()
                made[one.place] = array if one.kind == "numpy" else array[()]
        return made[one.place]

    def bound(value: Any) -> Any:
        if type(value) is Constant:
            return constant(value)
        if type(value) is OwnDevice:
            return device
        if type(value) is slice:
            return slice(bound(value.start), bound(value.stop), bound(value.step))
        if isinstance(value, (tuple, list, dict)):
            return nest.mapped(value, bound)
        return value

    tape = Tape(what.name)
    tape.values = None
    tape.entries = [
        one._replace(args=bound(one.args), kwargs=bound(one.kwargs), form=bound(one.form)) for one in what.entries
    ]
    tape.form = bound(what.form)
    tape.decide_by((), ())
    return tape


def _shown(value: Any) -> str:
    """What a nest is made of, at its top."""
    parts = nest.parts_of(value)
    if parts is None:
        return type(value).__name__
    if isinstance(value, dict):
        return f"a dictionary of {', '.join(map(repr, value)) or 'nothing'}"
    return f"{len(parts)} in a {type(value).__name__}"
