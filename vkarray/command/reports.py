"""Reports of earlier runs, in files of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import VkArrayError


@contextmanager
def opened(file: Path) -> Iterator[Any]:
    """The report in a file, for a block that takes from it what it needs. Raises VkArrayError when it does not hold that."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise VkArrayError(f"{file} cannot be read ({error}).") from error
    try:
        yield json.loads(content)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise VkArrayError(
            f"{file} is not a whole report of this command ({type(error).__name__}: {error}); write it anew."
        ) from error
