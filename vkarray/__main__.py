"""The command line: ``vkarray COMMAND`` or ``python -m vkarray COMMAND``."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import signal
import sys

from . import __version__
from .errors import VkArrayError

# Each command is a module of vkarray.command with add_arguments(parser) and run(arguments) -> exit status, imported
# only when it is the one asked for.
COMMANDS = {
    "devices": "list the Vulkan devices, which one is the default, and why a device was refused",
    "info": "print a report of versions, drivers and settings to paste into a bug report",
    "accuracy": "measure the largest error of every function against an independent reference",
    "bench": "measure throughput and time per call, beside the other libraries that are installed",
    "operators": "run PyTorch's operators on the device and compare them with the CPU",
    "models": "run models of packages that build on PyTorch and compare them with the CPU",
    "compile": "make the file of a program of an ONNX model",
    "run": "run a program from a file on arrays, and print or write its results",
    "show": "show what is in the file of a program: operations, kernels, memory, shaders",
    "benchmark": "measure a program from a file: first call, median, throughput, memory",
    "warm": "prepare kernels ahead, so that first calls do not wait for the driver's compiler",
    "tune": "measure which kernels are fastest on a device, and remember the choices",
}


class _Help(argparse.HelpFormatter):
    """Keeps the lines of examples, and fills those of other texts."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    listing = "\n".join(f"  {name:<10}{text}" for name, text in COMMANDS.items())
    parser = argparse.ArgumentParser(
        "vkarray",
        usage="vkarray [-h] [--version] COMMAND ...",
        description="NumPy-like arrays on any Vulkan device.",
        epilog=f"commands:\n{listing}\n\n`vkarray COMMAND --help` tells more about one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"vkarray {__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of those below")
    rest = parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    rest.required = False  # or Python 3.11 asks for them where the command is missing
    choice = parser.parse_args(arguments)

    try:
        status = _run(choice)
        sys.stdout.flush()
        return status
    except VkArrayError as error:
        print(f"vkarray {choice.command}: {str(error).removeprefix('vkarray: ')}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # such as of a disk that is full
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python tries to write it again
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"vkarray {choice.command}: {where}{error.strerror or error}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"vkarray {choice.command}: interrupted.", file=sys.stderr)
        return 128 + signal.SIGINT  # as shells do


def _run(choice: argparse.Namespace) -> int:
    """Run the command that was chosen."""
    module = importlib.import_module(f"vkarray.command.{choice.command}")
    if isinstance(sys.stdout, io.TextIOWrapper):  # whose encoding, or whose paths, may be of another kind
        sys.stdout.reconfigure(errors="backslashreplace")
    options = argparse.ArgumentParser(
        f"vkarray {choice.command}",
        description=module.__doc__,
        epilog=getattr(module, "EXAMPLES", None),
        formatter_class=_Help,
    )
    module.add_arguments(options)
    return int(module.run(options.parse_args(choice.arguments)))


if __name__ == "__main__":
    sys.exit(main())
