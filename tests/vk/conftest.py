"""Fixtures for the tests of the Vulkan layer. They need no part of vkarray but configuration, errors, cache and _vk."""

import os

os.environ.setdefault("LP_NUM_THREADS", "0")  # llvmpipe without worker threads: small dispatches take 1 µs, not 46

import pytest
from vulkan_program import device_of_its_own

from vkarray import _vk, configuration


@pytest.fixture(scope="session")
def device():
    return _vk.open_device()


@pytest.fixture(scope="session")
def staging_device():
    """The same device without mapped device memory: every transfer goes through the staging ring."""
    # And without a feature that nothing needs, so that it is another device also where mapping is switched off anyway.
    with configuration.config(disable="hostVisibleDeviceMemory,externalMemoryHost"):
        return _vk.open_device()


@pytest.fixture
def own_device():
    """A device of its own, which the test may break; everything it made must be released when it closes."""
    with device_of_its_own("subgroupQuad,subgroupClustered") as opened:
        yield opened
