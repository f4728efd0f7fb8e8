"""Features and limits of real devices, imposed on the one that runs: what a device with them does, and what it says."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import imposed
import lacking
import numpy as np
import pytest

import vkarray as vx
from vkarray import configuration
from vkarray._vk import features, profiles
from vkarray._vk.physical_device import Limits
from vkarray.core import dtypes
from vkarray.core.array import is_supported

REAL = [name for name, profile in profiles.PROFILES.items() if profile.subgroup]


@pytest.fixture(params=REAL)
def posing(request):
    """A device as each profile in turn."""
    with vx.config(profile=request.param):
        yield vx.asarray(0).device


def test_rows_name_what_exists():
    names = {field.name for field in dataclasses.fields(Limits)}
    for name, profile in profiles.PROFILES.items():
        assert profile.source, f"{name} does not say where its values are from"
        assert profile.absent <= features.KNOWN, f"{name}: {profile.absent - features.KNOWN}"
        assert set(profile.limits) <= names, f"{name}: {set(profile.limits) - names}"


def test_the_switch_names_all_real_devices():
    text = next(switch.text for switch in configuration.SWITCHES if switch.name == "profile")
    assert all(f"`{name}`" in text for name in REAL)


def test_unknown_names_are_errors_that_list_the_names():
    with (
        vx.config(profile="v3d,raspberry"),
        pytest.raises(vx.ConfigurationError, match=r"VKARRAY_PROFILE: unknown profile raspberry; known are .*v3d"),
    ):
        vx.asarray(0)


def test_a_device_keeps_to_its_own_limits_and_to_the_profile(posing):
    with vx.config(profile=""):  # also where the suite runs under one
        device = vx.asarray(0).device
    name = posing.description.profiles[-1]
    profile, own, limits = profiles.PROFILES[name], device.limits, posing.limits
    assert (
        posing.features | {"hostVisibleDeviceMemory"}
        == (device.features | {"hostVisibleDeviceMemory"}) - profile.absent
    )
    assert limits.max_shared_memory_size == min(own.max_shared_memory_size, profile.limits["max_shared_memory_size"])
    assert limits.max_workgroup_invocations == min(
        own.max_workgroup_invocations, profile.limits["max_workgroup_invocations"]
    )
    for field in dataclasses.fields(Limits):
        theirs, ours = getattr(limits, field.name), getattr(own, field.name)
        if field.name.startswith("max_") and field.name != "max_subgroup_size":
            assert theirs <= ours, f"{name} gives {field.name} of {theirs} to a device of {ours}"
    assert limits.min_subgroup_size <= own.min_subgroup_size <= own.max_subgroup_size <= limits.max_subgroup_size
    assert repr(posing).endswith(f"as {name}>")


def test_names_join():
    with vx.config(profile="v3d, phone", disable="subgroupBasic"):
        device = vx.asarray(0).device
    assert device.limits.max_workgroup_invocations == 128, "the smaller limit"
    assert device.limits.max_storage_buffers == 4
    assert not device.features & {"shaderInt64", "storageBuffer8BitAccess", "subgroupBasic"}


def test_types_that_a_profile_lacks_are_refused_with_what_to_use(posing):
    for dtype in dtypes.DTYPES.values():
        if is_supported(dtype, posing):
            assert vx.zeros(3, dtype=dtype).dtype is dtype
        else:
            name = posing.description.profiles[-1]
            told = rf"\(VKARRAY_PROFILE={name} switches shader\w+ off\), so {dtype} arrays do not exist on it. Ask for"
            with pytest.raises(vx.FeatureError, match=told):
                vx.zeros(3, dtype=dtype)


@pytest.mark.parametrize(
    "call",
    [
        lambda: vx.zeros(3, dtype="float64"), lambda: vx.zeros(3, dtype="int64"), lambda: vx.asarray(np.arange(3)),
        lambda: vx.ones(3).astype(vx.complex128),
    ],
)  # fmt: skip
def test_types_that_a_test_names_are_known(call):
    with vx.config(profile="v3d"), pytest.raises(vx.FeatureError) as raised:
        call()
    assert lacking.was_named(raised.value)


def test_types_that_the_library_asks_for_by_itself_are_its_fault():
    function = {"astype": vx.astype, "wide": vx.int64}
    place = str(Path(vx.__file__).parent / "example.py")  # a function of the package, as tracebacks show it
    exec(compile("def widened(x):\n    return astype(x, wide)", place, "exec"), function)
    with vx.config(profile="v3d"), pytest.raises(vx.FeatureError) as raised:
        function["widened"](vx.ones(3))
    assert not lacking.was_named(raised.value)


def test_the_profile_that_takes_a_type_away_is_named():
    with vx.config(profile="intel-xe,phone"):
        with pytest.raises(
            vx.FeatureError, match=r"has no shaderInt64 \(VKARRAY_PROFILE=phone switches shaderInt64 off\), so"
        ):
            vx.zeros(3, dtype=vx.int64)
        with pytest.raises(vx.FeatureError, match=r"has no shaderFloat64 \(VKARRAY_PROFILE=intel-xe switches"):
            vx.zeros(3, dtype=vx.float64)
    with (
        vx.config(disable="shaderFloat64", profile="v3d"),
        pytest.raises(vx.FeatureError, match=r"has no shaderFloat64 \(VKARRAY_DISABLE switches"),
    ):
        vx.zeros(3, dtype=vx.float64)


@pytest.mark.parametrize("profile", ["phone", "v3d"])
def test_numbers_take_the_default_types_of_devices_without_64_bits(profile):
    with vx.config(profile=profile, default_float="float64"):
        mask, x = vx.asarray([True, False]), vx.asarray([1, 2])
        assert vx.result_type(mask, 1) is (mask + 1).dtype is (2 - mask).dtype is vx.int32
        assert np.asarray(mask + 1).tolist() == [2, 1]
        assert (mask + np.int64(3)).dtype is (x * np.int64(3)).dtype is vx.int32
        assert (mask + np.uint64(3)).dtype is vx.uint32
        assert np.asarray(x * np.int64(3)).tolist() == [3, 6]
        assert vx.compile(lambda x: x + 1)(mask).dtype is vx.int32
        assert vx.fft.fftfreq(5).dtype is vx.fft.rfftfreq(5).dtype is vx.float32
        assert vx.mgrid[0 : np.int64(4) : 2j].dtype is vx.sum(x, out=vx.zeros((), dtype=vx.float32)).dtype is vx.float32
        assert vx.mgrid[0 : np.int64(4), 0:2].dtype is vx.int32
        assert vx.take(x, list(np.asarray([1, 0]))).tolist() == [2, 1]
        for large in (np.int64(2**31), [np.int64(1), np.int64(2**31)]):
            with pytest.raises(OverflowError, match="out of bounds for int32"):
                vx.add(x, large)
        with pytest.raises(vx.FeatureError, match="so int64 arrays do not exist"):
            vx.asarray([1], dtype=vx.uint32) + x  # nothing that was named is shortened
        with pytest.raises(vx.FeatureError, match=r"^ndarray: .* so int64 arrays do not exist"):
            vx.ndarray((2,), vx.int64, x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint16"])
def test_compiled_rows_take_storage_of_8_and_16_bits_without_arithmetic(dtype):
    """Of the profiles, v3d has the storage alone."""

    def function(x):
        largest = vx.max(x, axis=-1, keepdims=True)
        return (x - largest) * 2, (x == largest) & vx.any(x > 1, axis=-1, keepdims=True)

    with vx.config(profile="v3d"):
        x = vx.astype(vx.asarray(np.random.default_rng(0).integers(0, 9, (5, 90)), dtype="int32"), dtype)
        for found, expected in zip(vx.compile(function)(x), function(x), strict=True):
            assert found.dtype is expected.dtype
            np.testing.assert_array_equal(*(np.asarray(vx.astype(one, "float32")) for one in (found, expected)))


def test_functions_of_each_family_compute_the_same(device, posing):
    """Elementwise functions, reductions, scans, sorting and products, with the same bits.

    The radices of a Fourier transform and the blocks of a factorisation follow the device's shared memory and registers, and so
    do their roundings.
    """

    def results(on):
        generator = np.random.default_rng(5)
        x = vx.asarray(generator.standard_normal((37, 300)), dtype=vx.float32, device=on)
        square = vx.asarray(generator.standard_normal((65, 65)), dtype=vx.float32, device=on)
        values = (
            vx.exp(x) + x, vx.sum(x, axis=1), vx.cumulative_sum(x, axis=1), vx.sort(x, axis=1), x @ x.mT, vx.max(x),
            vx.take(x, vx.asarray([3, 5], device=on), axis=0),
        )  # fmt: skip
        rounded = vx.fft.fft(vx.astype(x, vx.complex64)), vx.linalg.solve(square, square[:, :3])
        return [np.asarray(value) for value in values], *map(np.asarray, rounded)

    (ours, our_transform, our_solution), (theirs, their_transform, _) = results(posing), results(device)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(our_solution, np.eye(65, 3), atol=1e-5)
    error = np.linalg.norm(our_transform - their_transform, axis=1) / np.linalg.norm(their_transform, axis=1)
    assert error.max() < 5e-7, "each transform is within 4 units in the last place of the norm"


def test_the_command_line_shows_the_profile(monkeypatch):
    monkeypatch.setenv("VKARRAY_PROFILE", "phone")
    for command in ("devices", "info"):
        done = subprocess.run([sys.executable, "-m", "vkarray", command], capture_output=True, text=True, check=True)
        assert "PROFILE  phone, imposed by VKARRAY_PROFILE" in done.stdout


def test_rows_of_a_run_take_the_place_of_earlier_ones(monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{imposed.BEGIN}\n{imposed.END}after\n", encoding="utf-8")
    monkeypatch.setattr(imposed, "PAGE", page)
    old, other = (["v3d", tests, "driver", "date", "commit", "1", "2", "3", "4"] for tests in ("all", "first cases"))
    new = [*old[:5], "7", "0", "0", "1"]
    for rows in ([old], [other], [["adreno-630,gpu", *old[1:]]], [new]):
        imposed.write(rows)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    lines = [imposed.cells(line) for line in text.splitlines() if line.startswith("| ")]
    assert lines[2:] == [["adreno-630,gpu", *old[1:]], new, other]


def test_profiles_that_do_not_exist_are_named(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["imposed.py", "v3d,raspberry"])
    with pytest.raises(SystemExit):
        imposed.main()
    assert "unknown profile raspberry; known are adreno-630" in capsys.readouterr().err
