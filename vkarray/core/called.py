"""Which public function the user's code has called, for errors that functions raise which that one calls in its turn."""

from __future__ import annotations

import sys
from types import FrameType

_PACKAGE = __name__.partition(".")[0]
_SPACES = ("", ".linalg", ".fft", ".random")
_OBJECTS = ("VkArray", "Generator", "RandomState")  # whose methods users call


def called(function: str) -> str:
    """The outermost function of a public name between the user's code and here; `function` where there is none."""
    spaces = [vars(sys.modules[_PACKAGE + space]) for space in _SPACES if _PACKAGE + space in sys.modules]
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        name, own = frame.f_code.co_name, frame.f_locals.get("self")
        of = getattr(own, "__name__", None) if type(own).__name__ in ("ufunc", "gufunc") else None
        if of is not None:
            function = of if name.startswith("_") else f"{of}.{name}"
        elif not name.startswith("_") and (type(own).__name__ in _OBJECTS or any(name in space for space in spaces)):
            function = name
        frame = frame.f_back
    return function
