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
from ..programs.program import Program
from ..programs.signature import leaves_of
from . import opening, profiled

EXAMPLES = """examples:
  vkarray show model.vkp                                    what the program takes and returns
  vkarray run model.vkp --input=@picture.npy                an array from a file of NumPy's
  vkarray run model.vkp --input=1x224x224x3xf32=0           zeros
  vkarray run model.vkp "--input=2x3xf32=1 2 3 4 5 6" --input=0.5 --output=@scores.npy
types of elements: i1, i8 to i64 (or si8 to si64), ui8 to ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>"""


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
    opening.add_program(parser)
    device_argument(parser)
    parser.add_argument(
        "--input", action="append", default=[], metavar="VALUE",
        help="an array such as 2x3xf32=0 or @picture.npy, or a number; once for each input, in their order",
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
        program = opening.program(arguments.program, arguments.device)
        given = inputs(program, arguments.input)
        for text in arguments.output:
            opening.keep("--output", text[1:], arguments.program)
        written = [("--output", text[1:]) for text in arguments.output if not text.startswith("+")]
        if arguments.profile is not None:
            written.append(("--profile", arguments.profile))
            for path in (arguments.program, *(text[1:] for text in arguments.input if text.startswith("@"))):
                opening.keep("--profile", arguments.profile, path)
        if len(arguments.output) > len(program.outputs):
            raise ValueError(
                f"{len(arguments.output)} times --output; expected at most {len(program.outputs)}, for "
                f"{', '.join(map(str, program.outputs))}."
            )
        opening.once(written)
        with profiled.profiled(arguments.profile):
            results = program.with_inputs(given)
            made = [value for _, value in leaves_of(results) if isinstance(value, vx.VkArray)]
            program.device.synchronize()
        for number, (one, array) in enumerate(zip(program.outputs, made, strict=True)):
            if number < len(arguments.output):
                notation.write(arguments.output[number], array)
            else:
                print(f"{one.name}: {notation.told_values(array)}")
    except (ValueError, TypeError) as error:
        print(f"vkarray run: {error}", file=sys.stderr)
        return 2
    return 0


def inputs(program: Program, texts: list[str]) -> list[Any]:
    """The inputs that texts stand for. Raises ValueError, which names the input that does not fit."""
    if len(texts) != len(program.inputs):
        listed = "; ".join(f"--input={notation.usage(one)}" for one in program.inputs)
        raise ValueError(f"{len(texts)} times --input; expected {len(program.inputs)}, in this order: {listed}.")
    return [notation.read(text, one, program.device) for text, one in zip(texts, program.inputs, strict=True)]
