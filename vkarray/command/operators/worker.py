"""A process that checks entries: see `processes`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import processes


def prepare() -> tuple[list[str], Callable[[dict[str, Any]], Iterator[dict[str, Any]]]]:
    """The names of the entries, and what checks one for some types."""
    from . import torch_checks as checks

    checks.bridge.register_device()  # where there is CUDA too, it has to be asked for
    checks.torch.set_num_threads(1)  # the tensors are small: threads would wait for each other
    database = checks.entries()

    def respond(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        entry = database[request["entry"]]
        for dtype, direction in checks.cases(entry, request["parts"]):
            yield {"about": {"dtype": dtype, "direction": direction}}
            yield checks.check(entry, dtype, direction, request["samples"], request["strict"])

    return [checks.title(entry) for entry in database], respond


if __name__ == "__main__":
    processes.answer(prepare)
