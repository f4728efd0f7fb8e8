"""A trace as a file: JSON in the Trace Event Format, which Perfetto and chrome://tracing open.

Events are written as they come, beside the file that they are for; that is there whole, or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from typing import Any

CHUNK = 1 << 18  # characters that are kept before they are written
HOST = 1  # the number of the host's process; those of devices follow
_BEGIN = (
    '{"displayTimeUnit":"ns","traceEvents":[\n'
    f'{{"name":"process_name","ph":"M","pid":{HOST},"tid":0,"args":{{"name":"host"}}}}'
)


class TraceFile:
    """Takes events once it is open. Raises OSError where the file cannot be written, which the opening tells already."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.realpath(path)
        folder, name = os.path.split(self.path)
        self.begun = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.part")
        self.handle, self.process, self.waiting, self.length, self.offset = -1, os.getpid(), [_BEGIN], 0, 0

    def open(self) -> None:
        """Begin to write."""
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise OSError(f"profile: {self.path} is no file that a trace could replace. Name another path.")
        try:
            self.handle = os.open(self.begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise type(error)(
                error.errno, f"profile: no trace can be written to {self.path} ({error.strerror})"
            ) from None

    def add(self, event: dict[str, Any]) -> None:
        """Take an event."""
        text = json.dumps(event, separators=(",", ":"), allow_nan=False)
        self.waiting.append(",\n" + text)
        self.length += len(text)
        if self.length >= CHUNK:
            self._write()

    def close(self, metadata: dict[str, Any]) -> None:
        """End the file, and put it where it belongs."""
        try:
            self.waiting.append(f'\n],"otherData":{json.dumps(metadata, allow_nan=False)}}}\n')
            self._write()
            handle, self.handle = self.handle, -1
            os.close(handle)  # Windows moves no file that is open
            os.replace(self.begun, self.path)
        finally:
            self.drop()

    def drop(self) -> None:
        """Leave nothing behind but a file that is whole."""
        handle, self.handle = self.handle, -1
        if handle >= 0:
            os.close(handle)
        if self.process == os.getpid():  # else it is a parent's, which goes on writing
            with contextlib.suppress(OSError):
                os.unlink(self.begun)

    def _write(self) -> None:
        """Write what waits; once more does no harm, where Ctrl-C has struck in the middle."""
        count = len(self.waiting)
        data = memoryview("".join(self.waiting[:count]).encode())
        os.lseek(self.handle, self.offset, os.SEEK_SET)
        done, end = 0, self.offset + len(data)
        while done < len(data):
            done += os.write(self.handle, data[done:])
        rest = self.waiting[count:]
        self.waiting, self.length, self.offset = rest, 0, end  # one step
