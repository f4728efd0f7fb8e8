"""A trace as a file: JSON in the Trace Event Format, which Perfetto and chrome://tracing open.

Events are written as they come, beside the file that they are for; that is there whole, or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import Any

CHUNK = 1 << 18  # characters that are kept before they are written
_BEGIN, _BETWEEN = '{"displayTimeUnit":"ns","traceEvents":[\n', ",\n"


class TraceFile:
    """Takes events. Raises OSError where the file cannot be written, which the beginning tells already."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.realpath(path)
        folder, name = os.path.split(self.path)
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise OSError(f"profile: {self.path} is no file that a trace could replace. Name another path.")
        try:
            self.handle, self.begun = tempfile.mkstemp(".part", f".{name}.", folder)
        except OSError as error:
            raise type(error)(
                error.errno, f"profile: no trace can be written to {self.path} ({error.strerror})"
            ) from None
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(self.begun, 0o666 & ~umask)  # as of any new file: mkstemp's are the owner's alone
        self.process, self.waiting, self.length, self.first = os.getpid(), [_BEGIN], 0, True

    def add(self, event: dict[str, Any]) -> None:
        """Take an event."""
        text = json.dumps(event, separators=(",", ":"), allow_nan=False)
        self.waiting.append(text if self.first else _BETWEEN + text)
        self.first = False
        self.length += len(text)
        if self.length >= CHUNK:
            self._write()

    def close(self, metadata: dict[str, Any]) -> None:
        """End the file, and put it where it belongs."""
        try:
            self.waiting.append(f'\n],"otherData":{json.dumps(metadata, allow_nan=False)}}}\n')
            self._write()
            os.replace(self.begun, self.path)
        finally:
            self.drop()

    def drop(self) -> None:
        """Leave nothing behind but a file that is whole."""
        handle, self.handle = self.handle, -1
        if handle >= 0:
            os.close(handle)
            if self.process == os.getpid():  # else it is a parent's, which goes on writing
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.begun)

    def _write(self) -> None:
        data, self.waiting, self.length = memoryview("".join(self.waiting).encode()), [], 0
        while data:
            data = data[os.write(self.handle, data) :]
