"""Fixtures for the tests of the Vulkan layer. They need no part of vkarray but configuration, errors, cache and _vk."""

import os

os.environ.setdefault("LP_NUM_THREADS", "0")  # llvmpipe without worker threads: small dispatches take 1 µs, not 46

import pytest

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
    from vkarray._vk import api

    _vk.enumerate_devices()  # the instance is made once and stays
    before = api.live_objects()
    # Switches of its own, so that no other test has opened the same device; tests of guards and checks turn those on themselves.
    with configuration.config(disable="subgroupQuad,subgroupClustered", guard=False, check_barriers=False):
        opened = _vk.open_device()
        yield opened
    opened.close()
    left = {kind: count for kind, count in api.live_objects().items() if count > before.get(kind, 0)}
    assert not left, f"Vulkan objects were not released when the device closed: {left}"
