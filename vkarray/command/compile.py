"""Make the file of a program of an ONNX model: `vkarray.load_program` reads it where neither ONNX nor a compiler is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..errors import TraceError
from ..graph.dimensions import Dim
from ..programs.targets import TARGETS
from . import opening
from . import run as running

EXAMPLES = """examples:
  vkarray compile model.onnx --size batch=1            the batch is 1; writes model.vkp
  vkarray compile model.onnx --dynamic batch=1:64      the batch varies from 1 to 64
  vkarray compile model.onnx --size batch=1 --dtype float16 --target phone -o small.vkp
  vkarray compile gpt.onnx --dynamic past=0:1024 --dynamic new --dynamic "mask=past + new"
  vkarray run model.vkp --input=@picture.npy           runs it"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("model", metavar="MODEL", help="the model: a file of ONNX, such as model.onnx")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write (default: the model's name with .vkp)"
    )
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="NAME=LENGTH",
        help="fix the length of a dimension that the model names, such as batch=1; once for each",
    )
    parser.add_argument(
        "--dynamic", action="append", default=[], metavar="NAME=MIN:MAX",
        help="let the length of a dimension that the model names vary, such as batch=1:64; once for each. Bounds may be left out: "
        "batch, batch=2:, batch=:64. One that follows from others is arithmetic with these, such as \"mask=past + new\"",
    )  # fmt: skip
    parser.add_argument(
        "--dtype",
        choices=("float16", "bfloat16"),
        help="compute in this type what the model has as float32; inputs and outputs stay (default: float32 stays)",
    )
    parser.add_argument(
        "--target", action="append", metavar="NAME", choices=sorted(TARGETS),
        help="devices whose shaders the file is to have, so that it runs there without a compiler; once for each: any (GPUs, CPU "
        "drivers and phones), float16 (those without 64-bit numbers), phone (the least that Vulkan 1.2 has) (default: any)",
    )  # fmt: skip
    running.device_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the file, say what it takes and returns, and return the exit status: 2 for what cannot be compiled or written."""
    try:
        from ..onnx import lengths
    except ModuleNotFoundError as error:
        return _failed(str(error))
    output = arguments.output or Path(arguments.model).with_suffix(".vkp")
    try:
        if str(arguments.model).endswith(".vkp"):
            raise ValueError(
                f"{arguments.model}: this is a program already, which `vkarray run` runs. Expected an ONNX model."
            )
        opening.keep("--output", output, arguments.model)
        sizes = _once("--size", [_size(one) for one in arguments.size])
        dynamic = _once("--dynamic", [_dimension(one) for one in arguments.dynamic])
        model = _loaded(arguments)
        _check_names(model.inputs, sizes, dynamic)
        dims = {name: one for name, one in dynamic.items() if isinstance(one, Dim)}
        sizes |= {
            name: max(2, dim.min) if dim.max is None else min(dim.max, max(2, dim.min)) for name, dim in dims.items()
        }
        for name, text in dynamic.items():
            if isinstance(text, str):
                dynamic[name], sizes[name] = _computed(name, text, dims), _computed(name, text, sizes)
        sizes = {**sizes, **lengths.derived(model.inputs, sizes)}
        examples = [_example(one, sizes, model.device) for one in model.inputs]
        program = model.program(*examples, dynamic=dynamic)
        _save(program, output, arguments.target)
    except (ValueError, TypeError, NotImplementedError, OSError, TraceError) as error:
        return _failed(str(error))
    print(f"{output}: {_told_bytes(Path(output).stat().st_size)}\n{program!r}")
    return 0


def _told_bytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def _failed(why: str) -> int:
    print(f"vkarray compile: {why}", file=sys.stderr)
    return 2


def _loaded(arguments: argparse.Namespace) -> Any:
    import vkarray.onnx

    try:
        return vkarray.onnx.load(arguments.model, device=arguments.device, dtype=arguments.dtype)
    except OSError as error:
        raise ValueError(f"{arguments.model}: the model cannot be read: {error.strerror or error}.") from None


def _save(program: Any, output: Any, targets: list[str] | None) -> None:
    try:
        program.save(output, targets=targets or ("any",))
    except OSError as error:
        raise ValueError(f"--output {output}: the file cannot be written: {error.strerror or error}.") from None


def _once(option: str, given: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one in given:
        if found.setdefault(name, one) != one:
            raise ValueError(f"{option} {name} is given twice, with {found[name]} and {one}. Give it once.")
    return found


def _check_names(inputs: Any, sizes: dict[str, int], dynamic: dict[str, Any]) -> None:
    names = list(dict.fromkeys(one for put in inputs for one in put.shape or () if isinstance(one, str)))
    for option, given in (("--size", sizes), ("--dynamic", dynamic)):
        for name in given:
            if name not in names:
                known = ", ".join(names) or "none"
                raise ValueError(f"{option} {name}: no input of the model has a length of that name. It has {known}.")
    for name in sizes:
        if name in dynamic:
            raise ValueError(f"--size {name} and --dynamic {name}: a length is fixed or varies. Give one of the two.")


def _size(text: str) -> tuple[str, int]:
    name, _, length = text.partition("=")
    if not name or not length.isdigit():
        raise ValueError(f"expected --size NAME=LENGTH, such as --size batch=1, got {text!r}")
    return name, int(length)


def _dimension(text: str) -> tuple[str, Dim | str]:
    name, given, bounds = text.partition("=")
    if name and any(map(str.isalpha, bounds)):  # it follows from others
        return name, bounds
    least, colon, most = bounds.partition(":")
    if not name or (given and not colon) or not all(one.isdigit() for one in (least, most) if one):
        raise ValueError(
            f"expected --dynamic NAME=MIN:MAX, such as --dynamic batch=1:64, or --size for one length, got {text!r}"
        )
    if least and most and int(most) < int(least):
        raise ValueError(
            f"--dynamic {text}: the least length is more than the greatest. Give --dynamic {name}={most}:{least}"
        )
    return name, Dim(name, min=int(least or min(1, int(most or 1))), max=int(most) if most else None)


def _computed(name: str, text: str, known: dict[str, Any]) -> Any:
    from ..onnx import lengths

    try:
        return lengths.computed(text, known)
    except ValueError as error:
        raise ValueError(
            f"--dynamic {name}={text}: {error}. Write arithmetic of whole numbers and of lengths that other --dynamic name, such "
            f"as --dynamic past --dynamic {name}=past+1"
        ) from None


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
