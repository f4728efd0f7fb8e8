"""What all tests share: the device, and which types it has."""

from __future__ import annotations

import gc
import os

os.environ.setdefault("LP_NUM_THREADS", "0")  # a CPU driver's small dispatches cost far less without worker threads
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when SciPy is imported

import lacking
import pytest

import vkarray as vx
from vkarray import configuration
from vkarray._vk import profiles
from vkarray.kernels import planned


@pytest.fixture(autouse=True)
def fresh_plans():
    """No plans of earlier tests, so that what a test meets does not depend on them."""
    planned.forget()


@pytest.fixture
def numpy_types():
    """Results of the types that NumPy gives them: integers lead to float64."""
    with vx.config(default_float="float64"):
        yield


@pytest.fixture
def told_later():
    """Wrong values are told at the next read, as where the host does not see the device's memory."""
    with vx.config(check="later"):
        yield


@pytest.fixture(scope="session", autouse=True)
def device():
    """The default device. It is opened before any test, as some run on one with a profile of their own."""
    return vx.asarray(0).device


@pytest.fixture(scope="session")
def few_workgroups():
    """A device of its own on which 3 workgroups lie along a dimension, where others have 65535: a dispatch of more fails."""
    limits = {"max_workgroup_count": (3, 65535, 65535)}
    profiles.PROFILES["few-workgroups"] = profiles.Profile("of the tests", limits=limits)
    with vx.config(profile=(*configuration.current().profile, "few-workgroups")):
        device = vx.asarray(0, device=0).device
    dispatch = device.dispatch

    def checked(kernel, arguments, groups, *rest):
        assert groups[0] <= 3, f"{kernel.name}: {groups} workgroups"
        dispatch(kernel, arguments, groups, *rest)

    device.dispatch = checked
    return device


# Files whose tests start processes, wait for threads, or draw examples for long: `--first` and `--quick` leave them out.
SLOW = {
    "test_closing.py", "test_command_line.py", "test_damaged_shaders.py", "test_dev_script.py",
    "test_documentation.py", "test_fuzz.py", "test_imports.py", "test_many_workgroups.py", "test_modes.py",
    "test_numpy_examples.py", "test_numpy_suite.py", "test_oracle.py",
    "test_plan_rules.py", "test_plans.py", "test_profiles.py", "test_reentry.py", "test_strikes.py", "test_threads.py",
    "test_views_of_closed_devices.py", "test_systems.py",
}  # fmt: skip


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "needs(*types_and_features, **limits): what the device must have, see tests/lacking.py"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    if lacks := lacking.of_marks(item.iter_markers("needs")):
        pytest.skip(lacks)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except vx.FeatureError as error:
        if lacking.was_named(error):
            pytest.skip(str(error))
        raise


def pytest_addoption(parser):
    parser.addoption("--first", action="store_true", help="the first case of every test, without slow files")
    parser.addoption("--quick", action="store_true", help="the first case of every sixth test, without slow files")


def pytest_collection_finish():
    gc.freeze()  # some 500,000 objects of the tests themselves, which the collector need not look at again and again


def pytest_collection_modifyitems(config, items):
    if config.getoption("quick") or config.getoption("first"):
        first = {}
        for item in items:
            if item.path.name not in SLOW:
                first.setdefault(item.nodeid.partition("[")[0], item)
        chosen = set(list(first.values())[:: 6 if config.getoption("quick") else 1])
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]
