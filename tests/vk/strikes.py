"""What strikes in the middle of a function: Ctrl-C or other code, at each place where CPython may let it in."""

import collections
import linecache
import opcode
import sys
from pathlib import Path

from vkarray import _vk

FILES = {
    str(Path(_vk.__file__).with_name(f"{name}.py"))
    for name in ("api", "descriptors", "lease", "progress", "queue", "recorder", "timing", "transfer")
}

TIMES = 2


class Strike:
    """While it is on, ``hit()`` is called once, at place number ``nth`` of the files; ``where`` says where that was.

    A place is the begin of a line, or the return from a call within a line, the first times that it is passed. The end of
    a `with` block is none: CPython lets nothing in between its last call and that of `__exit__`.
    """

    def __init__(self, nth, hit, files=FILES):
        self.left, self.hit, self.files, self.where = nth, hit, files, None
        self.called = {}
        self.passed = collections.Counter()

    def __enter__(self):
        self.before = sys.gettrace()
        sys._getframe().f_trace_opcodes = True  # else Python 3.12 reports none until the next settrace
        sys.settrace(self.frame)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)

    def frame(self, frame, event, argument):
        if self.where is not None or frame.f_code.co_filename not in self.files:
            return None
        frame.f_trace_opcodes = True
        return self.place

    def place(self, frame, event, argument):
        if event == "opcode":
            returned = self.called.get(frame, False)
            self.called[frame] = _instruction(frame).startswith("CALL")
            if not returned:
                return self.place
        elif event == "return":
            self.called.pop(frame, None)
            return self.place
        elif event != "line" or _ends_with(frame):
            return self.place
        passed = (frame.f_code, frame.f_lasti, event)
        self.passed[passed] += 1
        if self.passed[passed] > TIMES:
            return self.place
        self.left -= 1
        if self.left == 0:
            self.where = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} ({event})"
            self.called.clear()
            self.hit()
        return None if self.where else self.place


def _instruction(frame):
    return opcode.opname[frame.f_code.co_code[frame.f_lasti]]


def _ends_with(frame):
    """Whether a `with` block is about to be left."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return line.lstrip().startswith("with ") and _instruction(frame) == "LOAD_CONST"
