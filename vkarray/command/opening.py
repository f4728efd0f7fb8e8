"""Files of programs that commands read, and what is told where they cannot."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import Any

from ..programs.program import Program, load_program


def add_program(parser: argparse.ArgumentParser) -> None:
    """Declare the file."""
    parser.add_argument("program", metavar="PROGRAM", help="the file of a program, such as model.vkp")


def keep(option: str, path: Any, what: str) -> None:
    """Check that a file that is to be written is not one that is read. Raises ValueError that names the option."""
    try:
        same = os.path.samefile(path, what)
    except OSError:  # one of them is not there
        same = False
    if same:
        raise ValueError(f"{option}={path}: this is the file that is read, which would be lost. Give another name.")


def once(paths: Iterable[tuple[str, Any]]) -> None:
    """Check that files that are to be written, with their options, are several. Raises ValueError that names the second option."""
    found = set()
    for option, path in paths:
        real = os.path.realpath(path)
        if real in found and (os.path.isfile(real) or not os.path.exists(real)):  # such as /dev/null is written again
            raise ValueError(
                f"{option}={path}: this file is written already, and that would be lost. Give another name."
            )
        found.add(real)


def program(path: str, device: Any) -> Program:
    """The program in a file. Raises ValueError where that cannot be read, ProgramError where it is damaged or something else."""
    if str(path).endswith(".onnx"):
        raise ValueError(f"PROGRAM {path}: this is an ONNX model. Make a program of it: vkarray compile {path}")
    try:
        return load_program(path, device)
    except OSError as error:
        raise ValueError(f"PROGRAM {path}: the file cannot be read: {error.strerror}.") from None
