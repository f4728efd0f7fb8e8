"""Run a program from a file, on the arrays given, and print or write its results.

Inputs come in the order that `vkarray show` lists, in the notation of IREE: `--input=2x3xf32=1 2 3 4 5 6`, `--input=2x3xf32=0` for
equal elements, `--input=f32=1.5` for no dimensions, `--input=@picture.npy`.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import vkarray as vx

from .._vk import open_device
from ..errors import DeviceError
from ..programs import notation
from ..programs.program import Program, load_program
from ..programs.signature import leaves_of
from . import profiled


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    of_program(parser)
    parser.add_argument(
        "--output", action="append", default=[], metavar="@FILE|+FILE",
        help="write a result as an .npy file, or append it to one with +; in the order of the results (default: print them)",
    )  # fmt: skip
    profiled.add_argument(parser)


def of_program(parser: argparse.ArgumentParser) -> None:
    """Declare the file, the device and the inputs."""
    parser.add_argument("program", metavar="PROGRAM", help="the file, such as model.vkp")
    device_argument(parser)
    parser.add_argument(
        "--input", action="append", default=[], metavar="VALUE", help="such as 2x3xf32=0 or @picture.npy; once for each input"
    )  # fmt: skip


def device_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the device."""
    parser.add_argument(
        "--device", type=opened, help="index, part of the name, UUID, or URI such as vulkan://0 (default: the best one)"
    )


def opened(text: str) -> Any:
    """The device that the argument names. Raises DeviceError."""
    try:
        return open_device(text)
    except DeviceError as error:
        raise DeviceError(f"--device={text}: {str(error).removeprefix('vkarray: ')}") from None


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status: 2 for inputs that do not fit."""
    try:
        program = load_program(arguments.program, arguments.device)
        given = inputs(program, arguments.input)
        if len(arguments.output) > len(program.outputs):
            raise ValueError(
                f"{len(arguments.output)} times --output, and {program!r} has {len(program.outputs)} results"
            )
        with profiled.profiled(arguments.profile):
            results = program.with_inputs(given)
            made = [value for _, value in leaves_of(results) if isinstance(value, vx.VkArray)]
            program.device.synchronize()
        for number, (one, array) in enumerate(zip(program.outputs, made, strict=True)):
            if number < len(arguments.output):
                notation.write(arguments.output[number], array)
            else:
                print(f"{one.name}: {notation.told_values(array)}")
    except (ValueError, TypeError, OSError) as error:
        print(f"vkarray run: {error}", file=sys.stderr)
        return 2
    return 0


def inputs(program: Program, texts: list[str]) -> list[Any]:
    """The inputs that texts stand for. Raises ValueError, which names the input that does not fit."""
    if len(texts) != len(program.inputs):
        listed = "; ".join(f"--input={notation.usage(one)}" for one in program.inputs)
        raise ValueError(f"{len(texts)} times --input, and {program.name} takes {len(program.inputs)}: {listed}")
    return [notation.read(text, one, program.device) for text, one in zip(texts, program.inputs, strict=True)]
