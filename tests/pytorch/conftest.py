"""Tests of the PyTorch bridge, collected only where PyTorch, an optional dependency, is installed.

The folder is not called `torch`: where PyTorch is missing, `import torch` would find it instead.
"""

from __future__ import annotations

import importlib.util
import os
import warnings

import pytest

collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["test_*.py"]

if not collect_ignore_glob:
    # Programs that tests run in processes of their own take the device from the import, which another accelerator would prevent.
    os.environ |= {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of an accelerator that no variable hides, which keeps the device away until asked for
        import vkarray.torch
    vkarray.torch.register_device()


@pytest.fixture(autouse=True)
def strict_mode():
    """No operator may run on the CPU, but in tests that leave strict mode themselves."""
    from vkarray.torch import strict

    with strict():
        yield
