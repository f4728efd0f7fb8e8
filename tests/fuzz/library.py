"""The operations of the library. A new one is a function with `@operation` in the file of its kind."""

from __future__ import annotations

import elements  # noqa: F401 - each file enters its operations when it is imported
import matrices  # noqa: F401
import places  # noqa: F401
import sums  # noqa: F401
from chain import Chain
from registry import OPERATIONS

__all__ = ["OPERATIONS", "Chain"]
