"""What all tests share: the device, and which types it has."""

from __future__ import annotations

import os

os.environ.setdefault("LP_NUM_THREADS", "0")  # a CPU driver's small dispatches cost far less without worker threads
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when SciPy is imported

import pytest

import vkarray as vx
from vkarray.kernels import planned


@pytest.fixture(autouse=True)
def fresh_plans():
    """No plans of earlier tests, so that what a test meets does not depend on them."""
    planned.forget()


@pytest.fixture(scope="session")
def device():
    return vx.asarray(0).device
