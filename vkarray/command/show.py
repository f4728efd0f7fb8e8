"""Show what is in the file of a program: inputs, outputs, operations, kernels, memory, weights, shaders, and what it requires."""

from __future__ import annotations

import argparse
import collections
import sys
from pathlib import Path

from ..errors import counted
from ..programs import description, picture
from ..programs.container import Container
from ..programs.names import names
from ..programs.signature import bounds, dims_of
from . import opening
from . import run as running


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    opening.add_program(parser)
    running.device_argument(parser)
    parser.add_argument("--calls", action="store_true", help="list each call of the library's functions")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the graph into this file, for a browser")


def run(arguments: argparse.Namespace) -> int:
    """Print what is in the file. Returns 2 for a file that cannot be read."""
    try:
        program = opening.program(arguments.program, arguments.device)
        file = Container(arguments.program)
        what = description.of_file(file)
        if arguments.svg is not None:
            opening.keep("--svg", arguments.svg, arguments.program)
            arguments.svg.write_text(picture.svg(program), encoding="utf-8")
    except ValueError as error:
        print(f"vkarray show: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"vkarray show: --svg={arguments.svg}: the file cannot be written: {error.strerror}.", file=sys.stderr)
        return 2
    print(f"{what.name}, by vkarray {what.vkarray}: {file.nbytes} bytes")
    for title, lines in (
        ("inputs", list(map(str, what.inputs))),
        ("outputs", list(map(str, program.outputs))),
        ("dimensions", [bounds(one) for one in dims_of(what.inputs)]),
    ):
        if lines:
            print(f"{title}:", *lines, sep="\n   ")
    nbytes = program.weights.nbytes if program.weights else 0
    print(f"weights: {counted(len(what.constants), 'array')}, {counted(nbytes, 'byte')}")
    shaders = what.shaders
    print(f"shaders: {counted(len(shaders['modules']), 'module')}, {counted(len(file.parts['shaders']), 'byte')}")
    for name, places in shaders["targets"].items():
        size = sum(shaders["modules"][one][1] for one in places)
        print(f"   {name}: {counted(len(places), 'module')}, {counted(size, 'byte')}")
    called = [names().get(id(one.function), "?") for one in what.entries]
    print(f"calls: {len(called)}")
    if arguments.calls:
        for entry, name in zip(what.entries, called, strict=True):
            print(f"   {name:32} {entry.line}")
    else:
        for name, count in collections.Counter(called).most_common():
            print(f"   {count:>5} {name}")
    print(f"requires: arrays of {', '.join(description.types(what))}")
    lengths = ", ".join(f"{one.name} of {max(one.min, 1)}" for one in dims_of(program.inputs))
    print(f"on {program.device.name}{f', for {lengths}' if lengths else ''}:")
    print(program.explain())
    return 0
