"""Make the file of a program of an ONNX model: `vkarray.load_program` reads it where neither ONNX nor a compiler is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..errors import TraceError
from ..graph.dimensions import Dim
from ..programs.targets import TARGETS
from . import run as running


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("model", help="the model: a file of ONNX")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write (default: the model's name with .vkp)"
    )
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="NAME=LENGTH",
        help="the length of a dimension that the model names",
    )
    parser.add_argument(
        "--dynamic", action="append", default=[], metavar="NAME=MIN:MAX",
        help="a dimension that the model names and whose length varies; the bounds may be left out: NAME, NAME=2:, NAME=:64",
    )  # fmt: skip
    parser.add_argument(
        "--dtype", choices=("float16", "bfloat16"), help="what float32 becomes inside (default: it stays)"
    )
    parser.add_argument(
        "--target", action="append", metavar="NAME", choices=sorted(TARGETS),
        help=f"devices whose shaders the file is to have: {', '.join(sorted(TARGETS))} (default: any)",
    )  # fmt: skip
    running.device_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and say what it takes and returns."""
    try:
        import vkarray.onnx
        from vkarray.onnx import lengths
    except ModuleNotFoundError as error:
        return _failed(f"{error}. Reading models takes the package onnx: pip install 'vkarray[onnx]'")
    output = arguments.output or Path(arguments.model).with_suffix(".vkp")
    try:
        sizes = dict(_size(one) for one in arguments.size)
        model = vkarray.onnx.load(arguments.model, device=arguments.device, dtype=arguments.dtype)
        dynamic = dict(_dimension(one) for one in arguments.dynamic)
        sizes |= {
            name: max(2, dim.min) if dim.max is None else min(dim.max, max(2, dim.min)) for name, dim in dynamic.items()
        }
        sizes = {**sizes, **lengths.derived(model.inputs, sizes)}
        examples = [_example(one, sizes, model.device) for one in model.inputs]
        program = model.program(*examples, dynamic=dynamic)
        program.save(output, targets=arguments.target or ("any",))
    except (ValueError, TypeError, NotImplementedError, OSError, TraceError) as error:
        return _failed(str(error))
    print(f"{output}: {Path(output).stat().st_size / 1e6:.1f} MB\n{program!r}")
    return 0


def _failed(why: str) -> int:
    print(f"vkarray compile: {why}", file=sys.stderr)
    return 1


def _size(text: str) -> tuple[str, int]:
    name, _, length = text.partition("=")
    if not name or not length.isdigit():
        raise ValueError(f"expected --size NAME=LENGTH, such as --size batch=1, got {text!r}")
    return name, int(length)


def _dimension(text: str) -> tuple[str, Dim]:
    name, given, bounds = text.partition("=")
    least, colon, most = bounds.partition(":")
    if not name or (given and not colon) or not all(one.isdigit() for one in (least, most) if one):
        raise ValueError(f"expected --dynamic NAME=MIN:MAX, such as --dynamic batch=1:64, got {text!r}")
    return name, Dim(name, min=int(least or 1), max=int(most) if most else None)


def _example(described: Any, sizes: dict[str, int], device: Any) -> Any:
    """Zeros of the type and shape of an input."""
    import vkarray as vx

    unknown = [one for one in described.shape or (None,) if not isinstance(one, int) and one not in sizes]
    if unknown or described.dtype is None:
        names = " ".join(f"--size {one}=1" for one in unknown if one)
        raise ValueError(
            f"the model leaves the shape of the input {described.name!r} open: {described.shape}. "
            + (f"Give lengths, such as {names}, or --dynamic" if names else "Export it with a shape")
        )
    return vx.zeros(tuple(sizes.get(one, one) for one in described.shape), dtype=described.dtype, device=device)
