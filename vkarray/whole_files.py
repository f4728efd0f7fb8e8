"""Files that are written in one step: whoever reads one meanwhile reads the one before, and Ctrl-C leaves nothing half done."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path


def write(path: Path, content: Iterable[bytes | bytearray | memoryview], mode: int = 0o666) -> None:
    """Write parts one after the other in place of what there was. Raises OSError; then all is as before."""
    # Named before it is there, so that it is known wherever Ctrl-C strikes.
    temporary = path.with_name(f".new-{os.urandom(16).hex()}")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            for part in content:
                file.write(part)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):  # it is not there yet, or in its place
            os.unlink(temporary)
        raise
