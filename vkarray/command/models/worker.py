"""A process that checks models: see `processes`."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

from .. import processes


def prepare() -> tuple[list[str], Callable[[dict[str, Any]], Iterator[dict[str, Any]]]]:
    """The names of the rows of the packages that are installed, and what checks parts of one."""
    import torch

    from ... import torch as bridge
    from . import checks, rows

    bridge.register_device()  # where there is CUDA too, it has to be asked for
    torch.set_num_threads(1)  # the tensors are small: threads would wait for each other
    known = rows.known()

    def respond(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        _, row = known[request["entry"]]
        for part in request["parts"]:
            yield {"about": {"part": part}}
            yield checks.check(row, part)
        gc.collect()

    return [f"{package}: {row.name}" for package, row in known], respond


if __name__ == "__main__":
    processes.answer(prepare)
