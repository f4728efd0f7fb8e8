"""Which versions of PyTorch the bridge runs on: it stands on private interfaces, so others are refused, with a reason."""

from __future__ import annotations

import torch

OLDEST, NEWEST = (2, 11), (2, 15)


def check(version: str = torch.__version__) -> None:
    """Raise ImportError unless PyTorch is of a version that the tests cover."""
    release = tuple(int(part) for part in version.split("+")[0].split(".")[:2])
    if not OLDEST <= release <= NEWEST:
        spelled = [".".join(map(str, each)) for each in (OLDEST, NEWEST)]
        raise ImportError(
            f"vkarray.torch: expected PyTorch {spelled[0]} to {spelled[1]}, got {version}. It is built on interfaces of "
            f"PyTorch that change between versions. Install a supported one: pip install 'vkarray[torch]'."
        )


check()
