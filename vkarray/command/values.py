"""What options of several commands take: checked when the command line is read, before any work is done."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def count(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no count; expected a whole number, 1 or more")
    return int(text)


def written(text: str) -> Path:
    """A file that can be written."""
    path = Path(text)
    why = ""
    if path.is_dir():
        why = "it is a folder"
    elif not path.parent.is_dir():
        why = f"there is no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        why = "you may not write there"
    if why:
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be written: {why}. Expected a file in a folder that is there"
        )
    return path
