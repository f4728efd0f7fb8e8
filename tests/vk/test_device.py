"""Finding, choosing, opening and closing devices; the errors that users meet there."""

import os
import re

import pytest
from vulkan_program import run_python

from vkarray import _vk, configuration
from vkarray.errors import ConfigurationError, DeviceError


def test_importing_opens_nothing_and_does_not_load_vulkan():
    done = run_python("import sys, vkarray._vk; print('vulkan' in sys.modules)")
    assert done.stdout == "False\n", f"importing vkarray._vk loads the Vulkan binding: {done.stderr}"


def test_descriptions_and_default(device):
    found = _vk.enumerate_devices()
    assert [d.index for d in found] == list(range(len(found))), "indices are not the positions"
    assert [d.index for d in found if d.is_default] == [_vk.open_device().index], "not exactly one default"
    assert found[device.index].uuid == device.uuid
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", device.uuid)
    assert device.description.memory_bytes > 0
    assert re.fullmatch(r"1\.[2-9]\.\d+", device.description.api_version)


def test_limits_are_those_that_vulkan_guarantees_or_better(device):
    limits = device.limits
    assert limits.max_push_constants_size >= 128
    assert limits.max_shared_memory_size >= 16384
    assert min(limits.max_workgroup_count) >= 65535
    assert 1 <= limits.min_subgroup_size <= limits.subgroup_size <= limits.max_subgroup_size <= 128
    assert "subgroupBasic" in limits.subgroup_operations | configuration.current().disable
    assert {"bufferDeviceAddress", "timelineSemaphore"} <= device.features


def test_one_device_object_however_it_is_named(device):
    word = device.name.split()[0].upper()
    for selector in (None, device.index, str(device.index), device.uuid, word):
        assert _vk.open_device(selector) is device, f"open_device({selector!r}) makes another device"
    with configuration.config(device=device.uuid):
        assert _vk.open_device() is device, "VKARRAY_DEVICE makes another device"


@pytest.mark.parametrize("selector", [99, "no such card", "-1"])
def test_selector_that_matches_nothing_lists_what_exists(device, selector):
    with pytest.raises(DeviceError) as caught:
        _vk.open_device(selector)
    assert str(caught.value).startswith(f"vkarray: no Vulkan device matches {selector!r}. The devices are 0: ")
    assert device.name in str(caught.value)


def test_disabled_feature_is_gone_from_device_and_description():
    with configuration.config(disable="shaderFloat64,subgroupArithmetic"):
        opened = _vk.open_device()
        description = _vk.enumerate_devices()[opened.index]
    for features in (opened.features, description.features, opened.limits.subgroup_operations):
        assert not features & {"shaderFloat64", "subgroupArithmetic"}, "VKARRAY_DISABLE leaves a feature on"


def test_disabling_an_unknown_feature_is_an_error():
    with (
        configuration.config(disable="shaderFloat46"),
        pytest.raises(ConfigurationError, match="shaderFloat46; known are"),
    ):
        _vk.open_device()


def test_device_below_the_floor_is_refused_with_the_reason(device):
    reason = "VKARRAY_DISABLE switches bufferDeviceAddress off, which vkarray cannot do without"
    with configuration.config(disable="bufferDeviceAddress"):
        found = _vk.enumerate_devices()
        assert [(d.usable, d.refusal, d.is_default) for d in found] == [(False, reason, False)] * len(found)
        with pytest.raises(
            DeviceError, match=f"no Vulkan device can be used. 0: .*refused: {reason}.*mesa-vulkan-drivers"
        ):
            _vk.open_device()
        with pytest.raises(DeviceError, match=f"cannot be used: {reason}"):
            _vk.open_device(device.index)


OPEN = """
from vkarray import _vk, errors
try:
    _vk.open_device()
except errors.DeviceError as error:
    print(error)
"""


def test_missing_driver_names_the_package(tmp_path):
    nothing = str(tmp_path / "none.json")
    done = run_python(OPEN, VK_ICD_FILENAMES=nothing, VK_DRIVER_FILES=nothing)
    assert done.stdout.startswith(
        "vkarray: no Vulkan driver was found. On Debian or Ubuntu `apt install mesa-vulkan-drivers`"
    ), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("exception", "message"),
    [
        (
            "OSError('no library')",
            "vkarray: the Vulkan loader (libvulkan.so.1) was not found. On Debian or Ubuntu run "
            "`apt install libvulkan1 mesa-vulkan-drivers`",
        ),
        ("ImportError('no module')", "vkarray: the package `vulkan` cannot be imported (no module)"),
    ],
)
def test_missing_loader_or_binding_names_the_package(tmp_path, exception, message):
    (tmp_path / "vulkan.py").write_text(f"raise {exception}\n")
    path = os.pathsep.join([str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep), os.getcwd()])
    done = run_python(OPEN, PYTHONPATH=path)
    assert done.stdout.startswith(message), done.stdout + done.stderr


def test_closed_device_refuses_and_opens_again(own_device):
    buffer = own_device.allocate(64)
    own_device.close()
    for use in (own_device.synchronize, lambda: own_device.allocate(64), lambda: own_device.upload(buffer, 0, b"x")):
        with pytest.raises(DeviceError, match="was closed"):
            use()
    buffer = None  # its memory is gone: releasing it must be harmless
    again = _vk.open_device()
    assert again is not own_device, "open_device returns a closed device"
    again.close()


def test_devices_side_by_side_do_not_share_memory(device, staging_device):
    assert device is not staging_device
    first, second = device.allocate(256), staging_device.allocate(256)
    device.upload(first, 0, b"a" * 256)
    staging_device.upload(second, 0, b"b" * 256)
    out = bytearray(256)
    device.download(first, 0, out)
    assert out == b"a" * 256
    staging_device.download(second, 0, out)
    assert out == b"b" * 256


FORK = """
import os, sys
from vkarray import _vk, errors
if {use_before}:
    device = _vk.open_device()
    buffer = device.allocate(16)
    device.upload(buffer, 0, bytes(16))
child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
def attempts():
    if {use_before}:
        yield lambda: device.allocate(16)
        yield lambda: device.upload(buffer, 0, bytes(16))
        yield lambda: device.download(buffer, 0, bytearray(16))
        yield lambda: device.copy(buffer, 0, buffer, 8, 8)
        yield lambda: device.mapped(buffer)
        yield device.synchronize
        yield lambda: device.kernel(b"", "name")
        yield lambda: device.dispatch(None, b"", (1, 1, 1), (), ())
        yield device.empty_cache
    yield _vk.open_device
    yield _vk.enumerate_devices
for attempt in attempts():
    try:
        attempt()
        print("ok")
    except errors.ForkError as error:
        print("ForkError" if "'spawn'" in str(error) else error)
sys.stdout.flush()
os._exit(0)  # as the children of multiprocessing do: the exit handlers of NVIDIA's driver wait for threads that are not there
"""


def test_child_forked_before_first_use_works():
    done = run_python(FORK.format(use_before=False))
    assert (done.stdout, done.returncode) == ("ok\nok\n", 0), done.stderr


def test_child_forked_after_first_use_gets_an_error_from_every_call():
    done = run_python(FORK.format(use_before=True))
    assert (done.stdout, done.returncode) == ("ForkError\n" * 11, 0), done.stdout + done.stderr


def test_instance_without_a_device_is_released_at_exit():
    done = run_python("""
import atexit
from vkarray._vk import api
atexit.register(lambda: print(api.live_objects()))
from vkarray import _vk
_vk.enumerate_devices()
""")
    assert (done.stdout, done.stderr) == ("{}\n", "")


def test_everything_is_released_at_exit():
    done = run_python("""
import atexit
from vkarray._vk import api
atexit.register(lambda: print(api.live_objects()))
from vkarray import _vk
device = _vk.open_device()
kept = device.allocate(100)
""")
    assert done.stdout == "{}\n", (
        f"objects are alive after the process has closed its devices: {done.stdout}{done.stderr}"
    )
