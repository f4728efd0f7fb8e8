"""`vkarray.Program`: what a function does for given arguments, as an object that is called, saved and loaded."""

from __future__ import annotations

import copy
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _vk, configuration
from ..core.array import VkArray, default_dtype
from ..core.dtypes import int32, int64
from ..graph import nest
from ..graph.compile import Bound, Compiled
from ..graph.dimensions import Dim, Dynamic
from ..graph.explain import Explanation
from ..graph.player import Player, taped
from ..graph.stand_ins import Slot
from ..graph.tape import Entry, Tape, leaves
from ..ops.beyond.random import Draws, Philox, RandomState
from ..shaders.source import bring
from . import container, description, tensors
from .binding import Binding, parameters_of
from .description import Description
from .encoding import Constant, Encoder, OwnDevice, OwnGenerator
from .fitting import varying
from .names import version
from .signature import (
    Input,
    Length,
    Output,
    argument_names,
    bounds,
    checked,
    dims_of,
    given,
    inputs_of,
    leaves_of,
)  # fmt: skip
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

    weights: Weights | None = None  # of its file
    _told = False  # whether the types of `outputs` are those of its device

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *,
        dynamic: Mapping[str, Any] | None = None, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        if isinstance(function, (Bound, Compiled)):
            dynamic = dynamic if dynamic is not None else function.dynamic
            function = function.plain
        if not callable(function):
            raise TypeError(f"Program: expected a function, got {function!r:.60}.")
        if not isinstance(args, Sequence) or isinstance(args, str):
            raise TypeError(
                f"Program: got arguments of type {type(args).__name__}. Expected a tuple of all arguments, such as (x,) for one "
                "array."
            )
        if not isinstance(name, (str, type(None))):
            raise TypeError(f"Program: name is {name!r:.40}; expected a text.")
        compiled = Compiled(function, None)
        args, kwargs = tuple(args), dict(kwargs or {})
        leaves = [value for _, value in leaves_of((args, kwargs))]
        arrays = [one for one in leaves if type(one) is VkArray]
        self.name = compiled.name = name or compiled.name
        self.device: _vk.Device = arrays[0].device if arrays else _vk.open_device(None)
        self.default_float = configuration.default_float()
        axes = {} if dynamic is None else Dynamic(function, dynamic).axes(args, kwargs)
        called = argument_names(function, args, kwargs)
        taken = inputs_of(leaves, _named("inputs", inputs, called), axes)
        self._sizes = checked(self.name, taken, leaves, self.device)
        self._player = taped(compiled, args, kwargs, axes, self.device)
        decided = _decided(self._player.tape, leaves)
        self.inputs = tuple(
            one._replace(value=decided.get(number)) if one.shape is None else one for number, one in enumerate(taken)
        )
        places = iter(range(len(leaves)))
        arguments = nest.rebuilt((args, kwargs), lambda value: Slot(next(places)))
        self.binding = Binding(self.name, self.inputs, arguments, parameters_of(function))
        self._outputs = _outputs(self._player, self.inputs, leaves, self._sizes, outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns for these arguments, in the same nest.

        They come as the function takes them, by place or by name, or by the names of the inputs. Those for which alone the program
        was made, such as texts and numbers that decide a shape, may be left out. Raises TypeError and ValueError for arguments of
        other types, shapes and lengths than the inputs have.
        """
        return self.with_inputs(self.binding.inputs_of(args, kwargs))

    def with_inputs(self, leaves: Sequence[Any]) -> Any:
        """The same for arrays and numbers in the order of `inputs`, without the nest that they come in."""
        if len(leaves) != len(self.inputs):
            raise TypeError(
                f"{self.name}: {len(leaves)} inputs; expected {len(self.inputs)}: {', '.join(map(str, self.inputs))}."
            )
        checked(self.name, self.inputs, leaves, self.device)
        return self._player(*leaves)

    def __copy__(self) -> Program:
        """The same calls, constants and generators of random numbers."""
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        """The same calls, with constants and generators of random numbers of their own, which go on where these stand."""

        def copied(value: Any) -> Any:
            return copy.deepcopy(value, memo) if isinstance(value, (VkArray, Draws)) else nest.mapped(value, copied)

        player, other = self._player, copy.copy(self)
        other._player = Player(player.tape.mapped(copied), self.device, self.default_float, player.most)
        other.binding = Binding(self.name, self.inputs, copied(self.binding.arguments), self.binding.parameters)
        other.weights = None
        return other

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{self.name}: a program cannot be pickled. Write it to a file with save(path), and read that with "
            "vkarray.load_program(path)."
        )

    def __repr__(self) -> str:
        taken, made = (", ".join(map(str, puts)) for puts in (self.inputs, self.outputs))
        return f"<Program {self.name}: {taken or 'nothing'} -> {made or 'nothing'}>"

    def explain(self) -> Explanation:
        """What the program does on its device: operations, kernels, what was fused, memory. Printed, it is a text.

        Before the first call it tells of the lengths that the program was made with, or of the least ones.
        """
        if not self._player.explain().programs:
            self.prepare()
        return self._player.explain()

    def prepare(self, **lengths: int) -> None:
        """Make the kernels that calls take, so that the first one does not wait for it. Nothing is run.

        Parameters: the lengths of dimensions, by their names (default: those that the program was made with, or the least ones).
        Raises TypeError for an unknown dimension, ValueError for a length out of bounds, and what calls raise but for values.
        """
        chosen = self._chosen("prepare", lengths)
        self._player.prepare([given(one, chosen) for one in self.inputs])

    def _chosen(self, what: str, lengths: Mapping[str, int]) -> dict[Dim, int]:
        """The lengths of all dimensions, where some are given by their names."""
        chosen = self._lengths()
        dims = {one.name: one for one in chosen}
        for name, length in lengths.items():
            if name not in dims:
                raise TypeError(f"{what}: unknown dimension {name!r}. {self.name} has {', '.join(dims) or 'none'}.")
            dim = dims[name]
            if not isinstance(length, int):
                raise TypeError(f"{what}: {name} is {length!r:.40}; expected an integer.")
            if length < dim.min or (dim.max is not None and length > dim.max):
                raise ValueError(f"{what}: {name} is {length}; expected {bounds(dim)}.")
            chosen[dim] = length
        return chosen

    def try_lengths(self, **lengths: int) -> None:
        """Raises ValueError where the program does not hold for lengths of its dimensions, with the line. Nothing is run."""
        try:
            self._player.returned([given(one, self._chosen("try_lengths", lengths)) for one in self.inputs])
        except Exception as error:
            raise ValueError(f"{self._player.followed}: {error}") from error

    def seed(self, seed: Any = None) -> None:
        """Start the random numbers that calls draw anew: those of `vkarray.random.default_rng(seed)`.

        Parameters: seed (an integer of 0 or more; None: one from the system, as of a program that is loaded). Of several
        generators that the function draws from, the first one gets the seed, and the second one the seed (seed, 1).
        Raises TypeError and ValueError for another seed.
        """
        drawn = [one for entry in self.calls for one in leaves((entry.args, entry.kwargs)) if isinstance(one, Draws)]
        for number, stream in enumerate(dict.fromkeys(one.bit_generator for one in drawn)):
            stream.state = Philox(seed if seed is None or not number else (seed, number)).state

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Of each result the name, type and shape. A file may be of a device whose default integer is another one."""
        if not self._told:
            default = default_dtype("int", self.device)
            if any(one.dtype is not default and one.dtype in (int32, int64) for one in self._outputs):
                lengths = self._lengths()
                found = self._player.returned([given(one, lengths) for one in self.inputs])
                types = [value.dtype for _, value in leaves_of(found) if type(value) is VkArray]
                pairs = zip(self._outputs, types, strict=True)
                self._outputs = tuple(one._replace(dtype=dtype) for one, dtype in pairs)
            self._told = True
        return self._outputs

    @property
    def calls(self) -> Sequence[Entry]:
        """The calls that it repeats. Slots stand for values: the arrays among the inputs, then what calls return."""
        return self._player.tape.entries

    @property
    def results(self) -> Any:
        """The nest that it returns, with slots."""
        return self._player.tape.form

    def shapes(self) -> dict[int, tuple[tuple[Length, ...], str]]:
        """Of the values that are arrays the shape and the name of the type, by the numbers of their slots."""
        sizes = self._lengths()

        def values(lengths: Mapping[Dim, int]) -> list[Any]:
            return self._player.values([given(one, lengths) for one in self.inputs])

        found = {place: one for place, one in enumerate(values(sizes)) if type(one) is VkArray}

        def again(lengths: Mapping[Dim, int]) -> list[tuple[int, ...]]:
            others = values(lengths)
            return [others[place].shape for place in found]

        shapes = varying(sizes, [one.shape for one in found.values()], again)
        return {place: (shape, one.dtype.name) for (place, one), shape in zip(found.items(), shapes, strict=True)}

    def _lengths(self) -> dict[Dim, int]:
        """Lengths of the dimensions: those that it was made with, or the least ones."""
        return {dim: self._sizes.get(dim, max(dim.min, 1)) for dim in dims_of(self.inputs)}

    def save(self, path: str | os.PathLike[str], *, targets: Sequence[str] = ("any",)) -> None:
        """Write the program to a file, which `vkarray.load_program` reads.

        Parameters: path; targets (the devices whose shaders the file is to have, so that it runs there without a compiler: names
        in `vkarray.programs.targets.TARGETS`, such as "any", "float16" and "phone"; none: no shaders).
        Raises TypeError for what files cannot hold, such as kernels of users, ValueError for an unknown target, FeatureError where
        devices of a target lack a type that the program takes, and OSError where the file cannot be written.
        """
        targets = (targets,) if isinstance(targets, str) else targets
        encoder, tape = Encoder(), self._player.tape
        shaders = collect(tape, self.inputs, self._sizes, self.device, self.default_float, targets)
        what = Description(
            self.name, version(), self.default_float, self.inputs, self.outputs, self.binding.arguments, self.binding.parameters,
            tape.form, tape.entries, (), shaders.listed(),
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
        try:
            description.read(container.json.loads(text))
        except description.Wrong as error:  # what is written is what can be read
            raise ValueError(f"save: a file of a program cannot hold this one: {error}.") from None
        container.write(path, {"program": text, "weights": weights, "shaders": shaders.data()})

    @classmethod
    def _of_file(cls, path: str | os.PathLike[str], device: Any, shaders: bool, memory: int | None) -> Program:
        file = container.Container(path)
        what = description.of_file(file)
        modules = modules_of(path, what.shaders, file.parts["shaders"])
        if shaders:
            bring(modules)
        kept = tensors.read(path, file.parts["weights"], description.named_constants(what.constants))
        self = cls.__new__(cls)
        self.device = device if isinstance(device, _vk.Device) else _vk.open_device(device)
        self.name, self.default_float, self._sizes = what.name, what.default_float, {}
        self.inputs, self._outputs = what.inputs, what.outputs
        most = self.device.physical.heap_bytes if memory is None else memory
        key = file.checksum, self.device
        weights = _loaded.setdefault(key, Weights(what, kept, self.device))
        drawing: dict[int, RandomState] = {}
        arguments = _bound(what.arguments, weights, drawing)
        self.binding = Binding(self.name, self.inputs, arguments, what.parameters)
        self._player = Player(_tape(what, weights, drawing), self.device, what.default_float, most)
        self._player.own = lambda: _tape(what, Weights(what, kept, self.device), drawing)
        self.weights = weights  # which is shared as long as a program has it
        return self


def load_program(
    path: str | os.PathLike[str], device: Any = None, *, shaders: bool = True, memory: int | None = None
) -> Program:
    """A program from a file that `Program.save` has written.

    Parameters: path; device (the device to run on, as for `vkarray.asarray`; None for the default); shaders (whether the file's
    shaders may serve where neither vkarray nor the machine has them; False for files of people whom you do not trust); memory (the
    bytes that a call may take besides its arguments; None: as many as the device has).
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
    is_list = not isinstance(given, str) and all(isinstance(one, str) for one in given)
    if not is_list or len(given) != len(own) or len(set(given)) != len(given):
        shown = repr(given if isinstance(given, str) else list(given))
        raise ValueError(
            f"Program: {what} names {shown:.80}; expected {len(own)} different names, for {', '.join(own)}."
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
    shapes = varying(
        sizes, [one.shape for _, one in found],
        lambda lengths: [one.shape for _, one in _returned(player, inputs, leaves, lengths)],
    )  # fmt: skip
    own = [f"output{path}" if path.startswith("[") else path or "output" for path, _ in found]
    return tuple(
        Output(name, one.dtype, shape)
        for name, shape, (_, one) in zip(_named("outputs", names, own), shapes, found, strict=True)
    )


def _returned(
    player: Player, inputs: Sequence[Input], leaves: Sequence[Any], sizes: Mapping[Dim, int]
) -> list[tuple[str, Any]]:
    those = [leaf if one.shape is None else given(one, sizes) for one, leaf in zip(inputs, leaves, strict=True)]
    return [(path, value) for path, value in leaves_of(player.returned(those)) if type(value) is VkArray]


class Weights:
    """The constants of a file on a device, each uploaded when it is first asked for."""

    def __init__(self, what: Description, kept: Mapping[str, Tensor], device: _vk.Device) -> None:
        self.kept, self.kinds, self.device = kept, what.constants, device
        self.arrays: dict[int, VkArray] = {}

    @property
    def nbytes(self) -> int:
        """How many they are in the file."""
        return sum(len(one.data) for one in self.kept.values())

    def __getitem__(self, one: Constant) -> Any:
        tensor = self.kept[str(one.place)]
        if one.kind != "constant":
            array = tensor.numpy()
            return array if one.kind == "numpy" else array[()]
        if one.place not in self.arrays:
            made = self.arrays[one.place] = tensor.array(self.device)
            if self.kinds[one.place].is_place:
                made._is_place = True
        return self.arrays[one.place]


# Those of files that are loaded, by what is in the file: programs share them.
_loaded: weakref.WeakValueDictionary[tuple[bytes, _vk.Device], Weights] = weakref.WeakValueDictionary()


def _bound(value: Any, weights: Weights, drawing: dict[int, RandomState]) -> Any:
    """A nest of a file with the arrays, the device and the generators of random numbers that stand-ins stand for."""
    if type(value) is Constant:
        return weights[value]
    if type(value) is OwnDevice:
        return weights.device
    if type(value) is OwnGenerator:
        if value.place not in drawing:
            drawing[value.place] = RandomState(device=weights.device)
        return drawing[value.place]
    if type(value) is slice or isinstance(value, (tuple, list, dict)):
        return nest.mapped(value, lambda part: _bound(part, weights, drawing))
    return value


def _tape(what: Description, weights: Weights, drawing: dict[int, RandomState]) -> Tape:
    """The calls of a file, with arrays of a device for its constants, and its generators of random numbers."""

    def bound(value: Any) -> Any:
        return _bound(value, weights, drawing)

    tape = Tape(what.name, bool(dims_of(what.inputs)))
    tape.values = None
    tape.entries = [
        one._replace(args=bound(one.args), kwargs=bound(one.kwargs), form=bound(one.form)) for one in what.entries
    ]
    tape.form = bound(what.form)
    tape.decide_by((), ())
    return tape
