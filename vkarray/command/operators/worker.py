"""A process that checks entries: their numbers come in, a line of JSON for each goes out."""

from __future__ import annotations

import json
import os
import sys

# What is printed by others must not come between the lines of JSON.
_OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def main() -> None:
    """Answer until there is no more to read."""
    from . import torch_checks as checks

    checks.bridge.register_device()  # where there is CUDA too, it has to be asked for
    checks.torch.set_num_threads(1)  # the tensors are small: threads would wait for each other
    database = checks.entries()
    print(json.dumps([checks.title(entry) for entry in database]), file=_OUT, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        entry = database[request["entry"]]
        for dtype, direction in checks.cases(entry, request["dtypes"]):
            print(json.dumps({"about": [dtype, direction]}), file=_OUT, flush=True)
            print(
                json.dumps(checks.check(entry, dtype, direction, request["samples"], request["strict"])),
                file=_OUT,
                flush=True,
            )
        print(json.dumps(None), file=_OUT, flush=True)


if __name__ == "__main__":
    main()
