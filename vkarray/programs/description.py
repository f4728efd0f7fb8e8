"""What a file says of a program, as JSON, and back: inputs, outputs, constants, and the calls that the program makes.

What is read is checked before anything is made of it: each name is one of the table's, each place one that is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from ..core import dtypes
from ..core.array import VkArray
from ..graph.dimensions import Dim
from ..graph.lengths import OPERATIONS, Derived
from ..graph.nest import parts_of
from ..graph.stand_ins import Slot
from ..graph.tape import SHORT, Entry, leaves
from ..ops.beyond.random import Draws
from .container import Container, damaged, parsed
from .encoding import Decoder, Encoder, FormDecoder, OwnGenerator, Wrong, noted
from .names import find
from .signature import Input, Length, Output, dims_of

_NUMBERS: dict[str, type] = {one.__name__: one for one in (int, float, complex)}
_KINDS = ("constant", "numpy", "numpy_scalar")
_MANY = 65536  # inputs, outputs, dimensions or constants at most
_RANK = 64
_LINE = 256  # characters of where a call is
_IN_FILE = re.compile(r".*?([^/\\]*:\d+(?: in [^/\\]*)?)", re.DOTALL)  # such as /home/me/model.py:12 in encoder.0


class Kept(NamedTuple):
    """A constant of a file: its kind, the name of its type, and whether in-place operators change it."""

    kind: str
    dtype: str
    is_place: bool


class Description(NamedTuple):
    """A program without the elements of its constants."""

    name: str
    vkarray: str  # the version that made it
    default_float: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    arguments: Any
    parameters: tuple[str | None, ...]  # the names of those that come by place
    form: Any
    entries: Sequence[Entry]
    constants: tuple[Kept, ...]
    shaders: Any = None


def written(what: Description, encoder: Encoder) -> dict[str, Any]:
    """As JSON. Raises TypeError for what files cannot hold."""
    dims = dims_of(what.inputs)
    calls = []
    for function, args, kwargs, form, line in what.entries:
        if isinstance(form, ModuleType):  # the library itself, whose functions are noted by themselves
            continue
        found = noted(function, args, kwargs)
        called = getattr(function, "__qualname__", function)
        if found is None:
            raise TypeError(f"a call of {called} at {line}")
        name, given, options = found
        try:
            calls.append(
                [
                    name,
                    [encoder(one) for one in given],
                    {key: encoder(one) for key, one in options.items()},
                    encoder(form),
                    _short(line),
                ]
            )
        except TypeError as error:
            raise TypeError(f"{error}, in a call of {called} at {line}") from None
    return {
        "name": what.name,
        "vkarray": what.vkarray,
        "default_float": what.default_float,
        "dimensions": [{"name": one.name, "min": one.min, "max": one.max} for one in dims],
        "inputs": [_input(one, dims, encoder) for one in what.inputs],
        "outputs": [
            {"name": one.name, "dtype": one.dtype.name, "shape": _lengths(one.shape, dims)} for one in what.outputs
        ],
        "arguments": _of_nest("arguments", what.arguments, encoder),
        "parameters": [*what.parameters],
        "results": _of_nest("results", what.form, encoder),
        "constants": [_constant(one) for one in encoder.constants],
        "calls": calls,
        "shaders": what.shaders,
    }


def _of_nest(called: str, value: Any, encoder: Encoder) -> Any:
    if called == "arguments" and any(isinstance(one, Draws) for one in leaves(value)):
        raise TypeError(
            "a generator of random numbers among its arguments: let the function draw from one that is made outside"
        )
    try:
        return encoder(value)
    except TypeError as error:
        raise TypeError(f"{error}, among its {called}") from None


def _short(line: str) -> str:
    """A place in a file without the folders of the machine, or that of a node as it is; not longer than one may be."""
    in_file = _IN_FILE.fullmatch(line)
    return (line if in_file is None else in_file[1])[:_LINE]


def _input(one: Input, dims: list[Dim], encoder: Encoder) -> dict[str, Any]:
    if one.shape is None:
        return {"name": one.name, "dtype": one.dtype.__name__, "shape": None, "value": encoder(one.value)}
    return {"name": one.name, "dtype": one.dtype.name, "shape": _lengths(one.shape, dims), "value": None}


def _lengths(shape: Sequence[Length], dims: list[Dim]) -> list[Any]:
    return [_listed(one, dims) for one in shape]


def _listed(one: Length, dims: list[Dim]) -> Any:
    if isinstance(one, Derived):
        return {"derived": [one.operation, _listed(one.left, dims), _listed(one.right, dims)]}
    return {"dimension": dims.index(one)} if isinstance(one, Dim) else one


def _constant(value: Any) -> dict[str, Any]:
    if type(value) is VkArray:
        return {"kind": "constant", "dtype": value.dtype.name, "is_place": hasattr(value, "_is_place")}
    kind = (
        "numpy" if hasattr(value, "flags") and value.ndim >= 0 and type(value).__name__ == "ndarray" else "numpy_scalar"
    )
    return {"kind": kind, "dtype": value.dtype.name, "is_place": False}


def types(what: Description) -> list[str]:
    """The names of the types that a program takes, makes and holds."""
    of_arrays = [one.dtype.name for one in what.inputs if one.shape is not None]
    return sorted({*of_arrays, *(one.dtype.name for one in what.outputs), *(one.dtype for one in what.constants)})


# -- reading --------------------------------------------------------------------------------------------------------------


def of_file(file: Container) -> Description:
    """What a file says. Raises ProgramError where that is damaged."""
    try:
        return read(parsed(file.path, bytes(file.parts["program"])))
    except (Wrong, RecursionError) as error:
        raise damaged(file.path, f"its description of the program is damaged: {error}") from None


def read(table: Any) -> Description:
    """What JSON says. Raises Wrong for all that `written` does not write."""
    fields = _fields(
        table, "name", "vkarray", "default_float", "dimensions", "inputs", "outputs", "arguments", "parameters",
        "results", "constants", "calls", "shaders",
    )  # fmt: skip
    if fields["default_float"] not in ("float32", "float64"):
        raise Wrong(f"default_float is {fields['default_float']!r:.40}")
    dims = [_dim(one) for one in _list(fields["dimensions"], "dimensions")]
    if len({one.name for one in dims}) != len(dims):
        raise Wrong("two dimensions have one name")
    constants = tuple(_kept(one) for one in _list(fields["constants"], "constants"))
    kinds = [one.kind for one in constants]
    plain = Decoder(0, 0, ())
    inputs = tuple(_input_of(one, dims, plain) for one in _list(fields["inputs"], "inputs"))
    outputs = tuple(_output_of(one, dims) for one in _list(fields["outputs"], "outputs"))
    own = set(dims_of(inputs))
    shapes = [one.shape or () for one in inputs] + [one.shape for one in outputs]
    for one in (length for shape in shapes for length in shape):
        if (isinstance(one, Dim) and one not in own) or (isinstance(one, Derived) and not own.issuperset(one.dims)):
            raise Wrong(f"no input has the dimensions of the length {one}")
    for puts in (inputs, outputs):
        if len({one.name for one in puts}) != len(puts):
            raise Wrong("two inputs or two outputs have one name")
    numbers = sum(one.shape is None for one in inputs)
    values = len(inputs) - numbers
    entries = []
    for call in _list(fields["calls"], "calls", SHORT):
        entry, values = _entry(call, values, numbers, kinds)
        entries.append(entry)
    return Description(
        _text(fields["name"]), _text(fields["vkarray"]), fields["default_float"], inputs, outputs,
        _arguments(Decoder(len(inputs), 0, kinds)(fields["arguments"]), len(inputs)), _parameters(fields["parameters"]),
        Decoder(values, numbers, kinds)(fields["results"]), entries, constants, fields["shaders"],
    )  # fmt: skip


def _fields(table: Any, *names: str) -> dict[str, Any]:
    if type(table) is not dict or set(table) != set(names):
        raise Wrong(f"{table!r:.60} has other entries than {', '.join(names)}")
    return table


def _list(value: Any, what: str, most: int = _MANY) -> list[Any]:
    if type(value) is not list or len(value) > most:
        raise Wrong(f"{what} is no list of at most {most}")
    return value


def _text(value: Any) -> str:
    if type(value) is not str or not 0 < len(value) <= 256 or not value.isprintable():
        raise Wrong(f"{value!r:.60} is no name, which has 1 to 256 characters that can be printed")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 48:
        raise Wrong(f"{value!r:.40} is no length, which is below 2**48")
    return value


def _dim(row: Any) -> Dim:
    fields = _fields(row, "name", "min", "max")
    least, most = _whole(fields["min"]), None if fields["max"] is None else _whole(fields["max"])
    if most is not None and most < least:
        raise Wrong(f"the dimension {fields['name']!r:.40} has no length")
    return Dim(_text(fields["name"]), min=least, max=most)


def _length(value: Any, dims: list[Dim]) -> int | Dim | Derived:
    if type(value) is not dict:
        return _whole(value)
    if "derived" in value:
        return _derived(_fields(value, "derived")["derived"], dims)
    place = _whole(_fields(value, "dimension")["dimension"])
    if place >= len(dims):
        raise Wrong(f"there is no dimension {place}")
    return dims[place]


def _derived(value: Any, dims: list[Dim]) -> Derived:
    if type(value) is not list or len(value) != 3 or type(value[0]) is not str or value[0] not in OPERATIONS:
        raise Wrong(f"{value!r:.60} is no length")
    try:
        return Derived(value[0], *[_length(one, dims) for one in value[1:]])
    except ValueError as error:
        raise Wrong(str(error)) from None


def _dtype(value: Any) -> Any:
    if type(value) is not str or value not in dtypes.DTYPES:
        raise Wrong(f"there is no type {value!r:.40}")
    return dtypes.DTYPES[value]


def _input_of(row: Any, dims: list[Dim], plain: Decoder) -> Input:
    fields = _fields(row, "name", "dtype", "shape", "value")
    name, shape = _text(fields["name"]), fields["shape"]
    value: Any = plain(fields["value"])
    if shape is None:
        if type(fields["dtype"]) is not str or fields["dtype"] not in _NUMBERS:
            raise Wrong(f"there are no numbers of the type {fields['dtype']!r:.40}")
        kind = _NUMBERS[fields["dtype"]]
        if type(value) not in (kind, type(None)):
            raise Wrong(f"{name} is to be {value!r:.40}")
        return Input(name, kind, None, value)
    if value is not None:
        raise Wrong(f"{name} is an array, and to be {value!r:.40}")
    return Input(name, _dtype(fields["dtype"]), tuple(_length(one, dims) for one in _list(shape, "a shape", _RANK)))


def _output_of(row: Any, dims: list[Dim]) -> Output:
    fields = _fields(row, "name", "dtype", "shape")
    shape = tuple(None if one is None else _length(one, dims) for one in _list(fields["shape"], "a shape", _RANK))
    return Output(_text(fields["name"]), _dtype(fields["dtype"]), shape)


def _kept(row: Any) -> Kept:
    fields = _fields(row, "kind", "dtype", "is_place")
    if fields["kind"] not in _KINDS or type(fields["is_place"]) is not bool:
        raise Wrong(f"{row!r:.60} is no constant")
    return Kept(fields["kind"], _dtype(fields["dtype"]).name, fields["is_place"])


def _entry(call: Any, values: int, numbers: int, kinds: list[str]) -> tuple[Entry, int]:
    if type(call) is not list or len(call) != 5:
        raise Wrong(f"{call!r:.60} is no call")
    name, args, kwargs, form, line = call
    function = find(name) if type(name) is str else None
    if function is None:
        raise Wrong(f"it calls {name!r:.60}, which this vkarray does not have")
    if type(args) is not list or type(kwargs) is not dict or type(line) is not str or len(line) > _LINE:
        raise Wrong(f"{call!r:.60} is no call")
    given = Decoder(values, numbers, kinds)
    if name.startswith("random.") and (not args or type(given(args[0])) is not OwnGenerator):
        raise Wrong(f"{name} has no generator of random numbers")
    made = FormDecoder(values, numbers, kinds)
    entry = Entry(
        function,
        tuple([given(one) for one in args]),
        {key: given(one) for key, one in kwargs.items()},
        made(form),
        line,
    )
    return entry, made.values


def _arguments(nest: Any, count: int) -> Any:
    """The nest of arguments: a tuple and a dictionary in which each input stands once, in order."""
    if type(nest) is not tuple or len(nest) != 2 or type(nest[0]) is not tuple or type(nest[1]) is not dict:
        raise Wrong("its arguments are damaged")
    found = list(_slots(nest))
    if found != list(range(count)):
        raise Wrong("its arguments are damaged: its inputs stand at other places")
    return nest


def _parameters(names: Any) -> tuple[str | None, ...]:
    found = tuple(None if one is None else _text(one) for one in _list(names, "parameters"))
    own = [one for one in found if one is not None]
    if len(set(own)) != len(own):
        raise Wrong("two parameters have one name")
    return found


def _slots(nest: Any) -> Any:
    if type(nest) is Slot:
        yield nest.place
    elif type(nest) is slice or isinstance(nest, (tuple, list, dict)):
        for _, one in parts_of(nest) or ():
            yield from _slots(one)


def named_constants(constants: Sequence[Kept]) -> Mapping[str, str]:
    """The names and types of the constants in the file of weights."""
    return {str(number): one.dtype for number, one in enumerate(constants)}
