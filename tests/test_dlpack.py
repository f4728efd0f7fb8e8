"""DLPack both ways: views where memory is mapped, copies elsewhere, and the life time of capsules."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from reference import host_dtype, supported

import vkarray as vx
from vkarray.core import dtypes
from vkarray.core.array import storage_itemsize
from vkarray.io import dlpack

DTYPES = supported(dtypes.DTYPES.values())
MAPPED = "hostVisibleDeviceMemory"  # the feature's name in VKARRAY_DISABLE


def is_viewable(x: vx.VkArray) -> bool:
    """Whether the host sees the memory of x, in a format that NumPy has."""
    own = storage_itemsize(x.dtype, x.device) == x.dtype.itemsize and x.dtype is not vx.bfloat16
    return own and x.device.mapped(x._buffer) is not None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_copies_for_the_host(dtype):
    values = np.arange(6).reshape(2, 3).astype(host_dtype(dtype))
    x = vx.asarray(values, dtype=dtype)
    for view, expected in ((x, values), (x.T, values.T), (x[::-1, 1:], values[::-1, 1:])):
        got = np.from_dlpack(view, device="cpu")
        assert got.dtype == values.dtype
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.from_dlpack(view, device="cpu", copy=True), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_views_of_mapped_memory(dtype):
    x = vx.asarray(np.arange(12).reshape(3, 4).astype(host_dtype(dtype)), dtype=dtype)
    if not is_viewable(x):
        with pytest.raises(BufferError, match="not visible to the host"):
            np.from_dlpack(x, device="cpu", copy=False)
        return
    for part in (x, x.T, x[::-1, ::2], x[1]):
        view = np.from_dlpack(part, device="cpu", copy=False)
        np.testing.assert_array_equal(view, np.asarray(part))
        assert view.strides == part.strides


def test_a_view_shares_memory():
    x = vx.arange(6, dtype=vx.int32)
    if not is_viewable(x):
        pytest.skip(f"{x.device.name} does not map its memory into the host's address space")
    view = np.from_dlpack(x[1:], device="cpu", copy=False)
    x[2] = 50
    x.device.synchronize()
    assert view.tolist() == [1, 50, 3, 4, 5]
    del x
    gc.collect()
    assert view.tolist() == [1, 50, 3, 4, 5], "the view keeps the memory alive"


def test_a_device_without_mapped_memory_gives_copies_only(device):
    with vx.config(disable=MAPPED):
        x = vx.asarray([1.0, 2.0], device=device.index)
    assert MAPPED not in x.device.features
    assert np.from_dlpack(x, device="cpu").tolist() == [1.0, 2.0]
    with pytest.raises(BufferError, match=r"not visible to the host.*Use copy=None or copy=True"):
        np.from_dlpack(x, device="cpu", copy=False)


def test_device():
    x = vx.ones((2,))
    assert x.__dlpack_device__() == (7, x.device.index)
    with pytest.raises(BufferError, match=r"cannot export to device \(2, 0\)"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="no streams"):
        x.__dlpack__(stream=1)


def test_numpy_to_vkarray():
    values = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    for part in (values, values.T, values[:, ::2]):
        x = vx.from_dlpack(part)
        assert x.dtype is vx.float32
        np.testing.assert_array_equal(np.asarray(x), part)
    with pytest.raises(BufferError, match="copy=False"):
        vx.from_dlpack(values, copy=False)
    with pytest.raises(TypeError, match="expected an object with __dlpack__"):
        vx.from_dlpack([1, 2])


def test_vkarray_to_vkarray():
    x = vx.arange(6)
    same = vx.from_dlpack(x)
    same[0] = 9
    assert x.tolist() == [9, 1, 2, 3, 4, 5]
    other = vx.from_dlpack(x, copy=True)
    other[0] = 1
    assert x[0] == 9
    assert vx.from_dlpack(x[::2], copy=False).tolist() == [9, 2, 4]


def test_foreign_vulkan_memory_is_refused():
    class Foreign:
        def __dlpack__(self, **options):
            raise AssertionError("nothing may ask for the capsule")

        def __dlpack_device__(self):
            return 7, 0

    with pytest.raises(BufferError, match="belongs to another library"):
        vx.from_dlpack(Foreign())


def test_capsules_release_what_they_hold():
    x = vx.arange(100, dtype=vx.float32)
    held = weakref.ref(x)
    capsules = [x.__dlpack__() for _ in range(10)]
    del x
    gc.collect()
    assert held() is not None, "capsules keep the array alive"
    del capsules
    gc.collect()
    assert held() is None


def test_numpy_refuses_device_memory_in_its_own_words():
    """A capsule is released while the consumer's exception is on its way, and must leave that alone."""
    x = vx.arange(3)
    with pytest.raises((RuntimeError, BufferError), match="Unsupported device"):  # the second since NumPy 2.5
        np.from_dlpack(x)
    assert np.from_dlpack(x, device="cpu").tolist() == [0, 1, 2]


def test_memory_returns_after_views_and_capsules(device):
    def in_use():
        gc.collect()
        device.synchronize()
        return device.memory_statistics()["bytes_in_use"]

    x = vx.arange(1000, dtype=vx.float32)
    start = in_use()
    for copy in (None, True):
        for _ in range(20):
            capsule = x.__dlpack__(copy=copy)
            values = np.from_dlpack(x + 1, device="cpu")
    del capsule, values
    assert in_use() == start


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_device_capsules_of_every_dtype(dtype):
    x = vx.zeros((2,), dtype=dtype)
    if storage_itemsize(dtype, x.device) == dtype.itemsize:
        assert "dltensor" in repr(x.__dlpack__())
    else:
        with pytest.raises(BufferError, match=f"stores {dtype} in 32 bits"):
            x.__dlpack__()


def test_fields_of_a_device_capsule():
    x = vx.zeros((3, 4), dtype=vx.int32)[1:, ::-2]
    capsule = x.__dlpack__()
    pointer = dlpack._capsule_pointer(capsule, b"dltensor")
    tensor = dlpack._DLManagedTensor.from_address(pointer).dl_tensor
    assert tensor.data + tensor.byte_offset == x._address
    assert (tensor.device.device_type, tensor.device.device_id) == x.__dlpack_device__()
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (0, 32, 1)
    assert tuple(tensor.shape[: tensor.ndim]) == x.shape == (2, 2)
    assert tuple(tensor.strides[: tensor.ndim]) == x.element_strides == (4, -2)


@pytest.mark.usefixtures("told_later")
def test_export_of_device_memory_checks_indices():
    result = vx.take(vx.arange(3), vx.asarray([5]))
    with pytest.raises(IndexError, match="take: index 5"):
        result.__dlpack__()
    assert result.tolist() == [0]
