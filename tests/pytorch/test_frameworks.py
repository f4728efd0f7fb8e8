"""What frameworks ask of a device: streams, events, memory, properties, methods, `torch.accelerator`, and clear refusals."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import vkarray as vx
import vkarray.torch
from vkarray.torch.dispatch.fallback import FallbackError


def busy():
    """Work for the device."""
    x = torch.ones(64, 64, device="vulkan")
    for _ in range(5):
        x = x @ x * 0.01
    return x


# -- streams and events -----------------------------------------------------------------------------------------------


def test_streams_keep_the_order():
    first, second = torch.vulkan.Stream(), torch.vulkan.Stream(priority=-1)
    assert isinstance(first, torch.Stream)
    assert first.device == torch.device("vulkan", 0)
    with torch.vulkan.stream(first):
        assert torch.vulkan.current_stream() is first
        made = busy()
        with second:
            assert torch.vulkan.current_stream() is second
            second.wait_stream(first)
            twice = made * 2
            made.record_stream(second)
        assert torch.vulkan.current_stream() is first
    assert torch.vulkan.current_stream() == torch.vulkan.default_stream() == torch.accelerator.current_stream()
    torch.vulkan.current_stream().wait_stream(second)
    first.synchronize()
    assert first.query()
    assert torch.equal(twice, made * 2)
    with torch.vulkan.stream(None):
        assert torch.vulkan.current_stream() == torch.vulkan.default_stream()
    torch.accelerator.set_stream(second)
    assert torch.accelerator.current_stream() == torch.vulkan.current_stream() == second
    torch.vulkan.set_stream(torch.vulkan.default_stream("vulkan:0"))


def test_events_are_places_in_the_queue():
    start, middle, end = (torch.vulkan.Event(enable_timing=timed) for timed in (True, False, True))
    assert middle.query()
    start.record()
    busy()
    middle.record(torch.vulkan.current_stream())
    middle.wait()
    middle.synchronize()
    assert middle.query()
    busy()
    end.record()
    assert 0 < start.elapsed_time(end) < 60_000
    assert torch.vulkan.current_stream().record_event().device == torch.device("vulkan", 0)
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(middle)


def test_events_that_are_not_waited_for_come_to_pass():
    busy()
    event = torch.vulkan.current_stream().record_event()
    while not event.query():
        pass


# -- the accelerator --------------------------------------------------------------------------------------------------

ARGUMENTS = {"set_device_index": (0,), "set_device_idx": (0,), "device_index": (0,)}


@pytest.mark.parametrize(
    "name", [name for name in torch.accelerator.__all__ if name != "Graph"]
)  # which records CUDA's
@pytest.mark.filterwarnings("ignore:.*deprecated", "ignore:Use `")
def test_functions_of_the_accelerator(name):
    function = getattr(torch.accelerator, name)
    if name == "set_stream":
        function(torch.accelerator.current_stream())
    else:
        function(*ARGUMENTS.get(name, ()))


def test_the_accelerator_tells_what_the_device_tells():
    held = torch.ones(1 << 20, device="vulkan")
    assert torch.accelerator.current_accelerator() == torch.device("vulkan")
    assert torch.accelerator.is_available()
    assert torch.accelerator.device_count() == torch.vulkan.device_count()
    assert torch.accelerator.current_device_index() == torch.vulkan.current_device()
    assert torch.accelerator.memory_allocated() == torch.vulkan.memory_allocated() >= held.nbytes
    assert torch.accelerator.memory_reserved() == torch.vulkan.memory_reserved()
    assert torch.accelerator.get_device_capability()["supported_dtypes"] >= {torch.float32, torch.bfloat16}
    with torch.accelerator.device_index(0):
        torch.accelerator.synchronize()
        torch.accelerator.synchronize("vulkan:0")


# -- memory -----------------------------------------------------------------------------------------------------------


def test_peaks_of_memory():
    torch.vulkan.empty_cache()
    held = torch.empty(1 << 22, device="vulkan")
    torch.vulkan.reset_peak_memory_stats()
    before = torch.vulkan.max_memory_allocated()
    assert before == torch.vulkan.memory_allocated() >= held.nbytes
    torch.empty(1 << 25, device="vulkan")
    assert torch.vulkan.max_memory_allocated() >= before + (1 << 27)
    assert torch.vulkan.max_memory_reserved() >= torch.vulkan.max_memory_allocated()
    torch.vulkan.empty_cache()
    assert torch.vulkan.memory_reserved() < torch.vulkan.max_memory_reserved()
    torch.vulkan.reset_max_memory_allocated()
    assert torch.vulkan.max_memory_allocated() == torch.vulkan.memory_allocated()
    free, total = torch.vulkan.mem_get_info()
    assert 0 < free <= total == torch.vulkan.get_device_properties().total_memory
    stats = torch.vulkan.memory_stats()
    assert stats["allocated_bytes.all.current"] == torch.vulkan.memory_allocated()
    assert f"{stats['reserved_bytes.all.peak']:,}" in torch.vulkan.memory_summary()


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError, torch.cuda.OutOfMemoryError, vx.OutOfMemoryError, MemoryError]
)
@pytest.mark.parametrize("make", [
    lambda: torch.empty(1 << 50, device="vulkan"), lambda: torch.ones(1, device="vulkan").expand(1 << 50).clone(),
    lambda: torch.ones(1 << 22, 1, device="vulkan") @ torch.ones(1, 1 << 22, device="vulkan"),
])  # fmt: skip
def test_memory_that_is_not_there(make, error):
    with pytest.raises(error, match="bytes were asked for"):
        make()


# -- properties -------------------------------------------------------------------------------------------------------


def test_properties():
    found = torch.vulkan.get_device_properties("vulkan:0")
    assert found.name == torch.vulkan.get_device_name() == torch.vulkan.get_device_name(0) == torch.vulkan.device_name()
    assert found.total_memory > 0
    assert found.features == vx.asarray(0).device.physical.description.features
    assert found.limits.max_workgroup_invocations >= 128
    assert torch.vulkan.get_device_capability() >= (1, 2)
    assert torch.vulkan.is_bf16_supported() == (torch.bfloat16 in vkarray.torch.properties.supported_dtypes())
    torch.vulkan.init()
    with pytest.raises(ValueError, match="99"):
        torch.vulkan.get_device_properties(99)


# -- methods ----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_methods_that_move():
    host = torch.arange(4.0)
    moved = host.vulkan()
    assert moved.is_vulkan
    assert not host.is_vulkan
    assert moved.vulkan() is moved
    assert host.vulkan(0).device == host.vulkan("vulkan:0").device == moved.device
    model = nn.Linear(2, 2)
    assert model.vulkan() is model
    assert model.weight.is_vulkan
    for storage in (host.untyped_storage(), host.storage()):
        there = storage.vulkan()
        assert there.is_vulkan
        assert not storage.is_vulkan
        assert list(there.cpu()) == list(storage)
    packed = nn.utils.rnn.pack_sequence([host[:3], host[:2]])
    assert packed.vulkan().is_vulkan
    assert not packed.is_vulkan


def test_copies_that_are_not_waited_for():
    x = torch.arange(6.0, device="vulkan").view(2, 3)
    for copy in (
        lambda one: one.to("cpu", non_blocking=True), lambda one: one.cpu().to("vulkan", non_blocking=True),
        lambda one: one.to("cpu", torch.float16, non_blocking=True), lambda one: torch.empty(2, 3).copy_(one, True),
    ):  # fmt: skip
        for one in (x, x.t().contiguous().t(), x[:, :]):
            assert copy(one).flatten().tolist() == list(range(6))


def test_storages_that_give_memory_back_and_take_it_again():
    storage = torch.ones(8, device="vulkan").untyped_storage()
    assert storage.resize_(0).resize_(32) is storage
    with pytest.raises(NotImplementedError, match=r"tensor\.resize_"):
        storage.resize_(1 << 20)


# -- what the device has none of --------------------------------------------------------------------------------------

MISSING = {
    "sparse": [
        lambda x: x.to_sparse(), lambda x: torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2), device="vulkan"),
        lambda x: x.cpu().to_sparse().to("vulkan"), lambda x: torch.zeros(3, layout=torch.sparse_coo, device="vulkan"),
        lambda x: nn.Embedding(3, 2, sparse=True, device="vulkan")(torch.tensor([1], device="vulkan")).sum().backward(),
    ],
    "compressed sparse": [
        lambda x: x.to_sparse_csr(), lambda x: torch.sparse_csr_tensor([0, 1], [0], [1.0], device="vulkan"),
        lambda x: x.cpu().to_sparse_csc().to("vulkan"), lambda x: x.to_sparse_bsr((1, 1)),
    ],
    "quantized": [
        lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
        lambda x: torch.quantize_per_tensor(x.cpu(), 0.1, 0, torch.quint8).to("vulkan"),
        lambda x: torch.quantize_per_channel(x, torch.ones(2).vulkan(), torch.zeros(2).vulkan(), 0, torch.quint8),
    ],
    "MKL-DNN": [lambda x: x.to_mkldnn()],
    "nested strided": [lambda x: torch.nested.nested_tensor([x, x[:1]]) + 1],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "make"), [(kind, make) for kind, makes in MISSING.items() for make in makes])
@pytest.mark.filterwarnings("ignore")
def test_kinds_of_tensors_that_are_missing_say_so(kind, make):
    with vkarray.torch.strict(False), pytest.raises(NotImplementedError, match=f"vulkan has no {kind} tensors. \\w"):
        make(torch.eye(2, device="vulkan"))


@pytest.mark.parametrize(
    "make", [lambda x: x.chalf(), lambda x: torch.zeros(2, dtype=torch.complex32, device="vulkan")]
)
def test_complex32_says_what_to_use(make):
    with pytest.raises((TypeError, FallbackError), match="complex64"):
        make(torch.ones(2, device="vulkan"))
