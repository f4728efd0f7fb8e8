"""`--profile PATH` of commands that compute: a timeline of what they do, and tables of it."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import VkArrayError
from ..profiling.block import Profile, profile


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Give a command the argument."""
    parser.add_argument(
        "--profile", type=Path, metavar="TRACE",
        help="write a timeline to this file, for https://ui.perfetto.dev, and print the time by operation and by kernel",
    )  # fmt: skip


@contextlib.contextmanager
def profiled(path: Path | None) -> Iterator[Profile | None]:
    """Profile a block where there is a path, and print the tables after it. Raises VkArrayError where no file can be written."""
    if path is None:
        yield None
        return
    with contextlib.ExitStack() as stack:
        try:
            seen = stack.enter_context(profile(path))
        except OSError as error:
            why = str(error).removeprefix("profile: ") if error.errno is None else f"{os.strerror(error.errno)}."
            raise VkArrayError(f"--profile={path}: the file cannot be written: {why}") from None
        yield seen
    print(seen, seen.kernels(), sep="\n\n", file=sys.stderr)
