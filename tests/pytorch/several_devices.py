"""Tests that need two devices. `test_several_devices.py` runs them in a process that has them."""

from __future__ import annotations

import copy
import io
import threading
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import vkarray as vx
import vkarray.torch as vt
from vkarray.core.array import is_supported
from vkarray.torch import device as devices
from vkarray.torch.tensors.storage import FROM_TORCH

FIRST, SECOND = torch.device("vulkan", 0), torch.device("vulkan", 1)
SUPPORTED = [
    dtype for dtype, ours in FROM_TORCH.items() if all(is_supported(ours, devices.at(index)) for index in range(2))
]


@pytest.fixture(autouse=True)
def _first_device_is_current():
    torch.vulkan.set_device(0)
    with vt.strict():
        yield
    assert torch.vulkan.current_device() == 0, "a test left another device behind"


def values(shape, dtype=torch.float32):
    """Numbers of a type, the same on every call."""
    numbers = np.asarray(np.random.default_rng(0).integers(0, 100, size=shape))
    return torch.as_tensor(numbers % 2 == 0 if dtype is torch.bool else numbers).to(dtype)


# -- which device ------------------------------------------------------------------------------------------------------


def test_all_devices_are_there():
    assert torch.vulkan.device_count() == torch.accelerator.device_count() >= 2
    assert devices.at(0) is vx.asarray(0).device, "vulkan:0 is not the device that VKARRAY_DEVICE selects"
    assert devices.at(1) is not devices.at(0)
    listed = vx.__array_namespace_info__().devices()
    assert [torch.vulkan.device_name(index) for index in range(len(listed))] == [
        devices.at(index).name for index in range(len(listed))
    ]
    assert {devices.at(index) for index in range(len(listed))} == set(listed)


def test_names_without_an_index_mean_the_current_device():
    makes = {
        "ones": lambda: torch.ones(2, device="vulkan"),
        "tensor": lambda: torch.tensor([1.0], device="vulkan"),
        "to": lambda: torch.ones(2).to("vulkan"),
        "strided": lambda: torch.empty_strided((2, 2), (3, 1), device="vulkan"),
        "parameter": lambda: nn.Linear(2, 2, device="vulkan").weight,
        "storage": lambda: torch.UntypedStorage(8, device="vulkan"),
        "generator": lambda: torch.Generator("vulkan"),
        "random": lambda: torch.randperm(5, device="vulkan"),
        "double to": lambda: torch.ops.aten._to_copy(torch.ones(2, device=FIRST), device=torch.device("vulkan")),
    }
    contexts = {
        "torch.vulkan.device(1)": lambda: torch.vulkan.device(1),
        'torch.vulkan.device("vulkan:1")': lambda: torch.vulkan.device("vulkan:1"),
        "torch.accelerator.device_index(1)": lambda: torch.accelerator.device_index(1),
    }
    for name, context in contexts.items():
        for _ in range(4):  # plans are made meanwhile
            with context():
                assert torch.vulkan.current_device() == torch.accelerator.current_device_index() == 1, name
                assert {what: make().device for what, make in makes.items()} == dict.fromkeys(makes, SECOND), name
            assert torch.vulkan.current_device() == torch.accelerator.current_device_index() == 0, name
            assert {what: make().device for what, make in makes.items()} == dict.fromkeys(makes, FIRST), name
    with torch.vulkan.device(None), torch.vulkan.device(-1):
        assert torch.vulkan.current_device() == 0
    with SECOND:
        assert torch.ones(2).device == SECOND
    torch.accelerator.set_device_index(1)
    assert torch.vulkan.current_device() == 1
    torch.vulkan.set_device("vulkan:0")
    assert torch.accelerator.current_device_index() == 0


def test_each_thread_has_a_current_device():
    seen = []
    with torch.vulkan.device(1):
        thread = threading.Thread(target=lambda: seen.append(torch.ones(2, device="vulkan").device))
        thread.start()
        thread.join()
    assert seen == [FIRST]


def test_devices_that_are_not_there():
    count = torch.vulkan.device_count()
    message = f"expected a device from 0 to {count - 1}"
    for call in (torch.vulkan.set_device, torch.vulkan.device, torch.vulkan.synchronize, torch.vulkan.device_name):
        with pytest.raises(ValueError, match=message):
            call(count)
    for make in (lambda: torch.ones(2, device=f"vulkan:{count}"), lambda: torch.ones(2).to(f"vulkan:{count}")):
        with pytest.raises(RuntimeError, match=message):
            make()
    with pytest.raises(ValueError, match="of the type vulkan"):
        torch.vulkan.set_device("cpu")


def test_memory_is_counted_apart():
    torch.ones(1, device=SECOND)
    before = [torch.vulkan.memory_allocated(index) for index in range(2)]
    held = torch.empty(1 << 20, device=SECOND)
    assert torch.vulkan.memory_allocated(0) == before[0]
    assert torch.vulkan.memory_allocated(SECOND) >= before[1] + held.nbytes


def test_storages_of_two_devices_have_no_address_in_common():
    # Drivers hand out the same device addresses on each of their devices.
    here, there = (torch.ones(4, device=on) for on in (FIRST, SECOND))
    assert here.data_ptr() == vt.as_array(here)._buffer.address
    assert there.data_ptr() == vt.as_array(there)._buffer.address ^ 1 << 57
    strided = torch.ones(4, 4, device=SECOND)[::2]
    assert strided.data_ptr() == vt.as_array(strided)._buffer.address ^ 1 << 57


# -- copies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", SUPPORTED, ids=str)
def test_copies(dtype):
    host = values((4, 6, 5), dtype)
    for view in (
        lambda x: x,
        lambda x: x.transpose(0, 2),
        lambda x: x[1:, ::2],
        lambda x: x[:, 3:3],
        lambda x: x[0, 0, 0],
    ):
        for source, target in ((FIRST, SECOND), (SECOND, FIRST)):
            there = view(host.to(source)).to(target, non_blocking=True)
            assert there.device == target
            assert torch.equal(there.cpu(), view(host))
            into = torch.zeros_like(host, device=target)
            assert view(into).copy_(view(host.to(source)), non_blocking=True).device == target
            assert torch.equal(view(into.cpu()), view(host))
            written, expected = (one.to(torch.complex64).count_nonzero() for one in (into.cpu(), view(host)))
            assert written == expected, "a copy wrote beside its target"


def test_copies_convert():
    host = values((7, 3)) / 8
    for given in (torch.float32, torch.float16, torch.int32, torch.bool, torch.complex64):
        for wanted in (torch.float32, torch.bfloat16, torch.int16, torch.uint8, torch.bool, torch.complex64):
            if wanted in SUPPORTED and not (given.is_complex and not wanted.is_complex):
                there = host.to(given).to(FIRST).to(SECOND, wanted)
                assert torch.equal(there.cpu(), host.to(given).to(wanted)), f"{given} to {wanted}"
                into = torch.zeros(3, 7, dtype=wanted, device=SECOND).t()
                into.copy_(host.to(given).to(FIRST))
                assert torch.equal(into.cpu(), host.to(given).to(wanted)), f"{given} into {wanted}"


def test_copies_of_conjugates_and_broadcasts():
    host = torch.complex(values((3, 4)), values((3, 4)) - 50)
    assert torch.equal(host.to(FIRST).conj().to(SECOND).cpu(), host.conj())
    assert torch.equal(host.to(FIRST).mH.imag.to(SECOND).cpu(), host.mH.imag)
    into = torch.zeros(2, 3, 4, dtype=torch.complex64, device=SECOND)
    assert torch.equal(into.copy_(host.to(FIRST)).cpu(), host.expand(2, 3, 4))


def test_arrays():
    array = vx.asarray([1.0, 2.0], device=devices.at(1))
    assert vt.to_torch(array, device="vulkan").device == SECOND
    assert vt.to_torch(array, device="vulkan:0").device == FIRST
    assert vt.to_torch(array, device="vulkan:0").tolist() == [1, 2]
    assert vt.as_array(torch.ones(2, device=SECOND)).device is devices.at(1)
    assert vt.to_vulkan(torch.ones(2, device=SECOND)).device is devices.at(1)


# -- operators ---------------------------------------------------------------------------------------------------------

OPERATORS = {
    "arithmetic": lambda x: (x + 1) * x / 3 - x.square(),
    "number on the CPU": lambda x: x * torch.tensor(2.5) + torch.tensor(3),
    "number on the CPU first": lambda x: torch.maximum(torch.tensor(0.5), x),
    "reductions": lambda x: x.sum(0) + x.mean() + x.amax(1) + x.std(),
    "products": lambda x: x @ x + torch.bmm(x[None], x[None])[0] + torch.addmm(x, x, x, alpha=0.5),
    "softmax": lambda x: x.softmax(-1),
    "sort": lambda x: x.sort().values + x.topk(2).indices.sum(),
    "index": lambda x: x[[3, 1]] + x[x.argmax(1)][:2],
    "index by the CPU": lambda x: x[torch.tensor([1, 0])],
    "mask": lambda x: x[x > 50],
    "put": lambda x: x.clone().index_put_((torch.tensor([1]),), torch.tensor(3.0)),
    "where": lambda x: torch.where(x > 50, x, 0),
    "cat": lambda x: torch.cat([x, x[:1]]),
    "ranges": lambda x: torch.arange(4, device=x.device) + torch.linspace(0, 1, 4, device=x.device),
    "eye": lambda x: x * torch.eye(4, device=x.device),
    "triangles": lambda x: x.tril() + torch.triu_indices(4, 4, 1, device=x.device).sum(),
    "cumulative": lambda x: x.cumsum(0) + x.cummax(1).values + x.logcumsumexp(0),
    "unique": lambda x: x.unique(dim=0),
    "mode": lambda x: x.mode().values,
    "histogram": lambda x: x.flatten().histc(5, 0, 100),
    "bincount": lambda x: x.flatten().int().bincount(),
    "distances": lambda x: torch.cdist(x, x) + torch.nn.functional.pdist(x).sum(),
    "solve": lambda x: torch.linalg.solve(x + 100 * torch.eye(4, device=x.device), x),
    "lstsq": lambda x: torch.linalg.lstsq(x, x[:, :1], driver="gelsd").solution,
    "eigenvalues": lambda x: torch.linalg.eigvalsh(x + x.mT),
    "fft": lambda x: torch.fft.rfft(x).abs(),
    "convolution": lambda x: torch.nn.functional.conv2d(x[None, None], x[None, None, :2, :2]),
    "pooling": lambda x: torch.nn.functional.max_pool2d(x[None, None], 2),
    "embedding": lambda x: torch.nn.functional.embedding(torch.tensor([1, 2], device=x.device), x),
    "bag": lambda x: torch.nn.functional.embedding_bag(torch.tensor([[1, 2]], device=x.device), x),
    "ctc": lambda x: torch.nn.functional.ctc_loss(
        x[:, None].log_softmax(-1), torch.ones(1, 2, dtype=torch.int64, device=x.device), torch.tensor([4]), torch.tensor([2])
    ),
    "attention": lambda x: torch.nn.functional.scaled_dot_product_attention(*[x[None, None]] * 3),
    "layer norm": lambda x: torch.nn.functional.layer_norm(x, (4,)),
    "grid": lambda x: torch.nn.functional.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
    "new": lambda x: x.new_zeros(4) + torch.zeros_like(x) + torch.full_like(x, 2),
    "resize": lambda x: x.clone().resize_(2, 2),
    "repeat": lambda x: x.repeat(2, 1).repeat_interleave(2, 0),
    "out": lambda x: torch.add(x, x, out=torch.empty_like(x)),
    "lists": lambda x: torch._foreach_add([x, x[0]], [x, x[0]])[0],
    "complex": lambda x: torch.view_as_real(torch.polar(x, x)),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_stay_on_their_device(name):
    """Whichever device is the current one, also when plans repeat what was recorded on the other."""
    operator, host = OPERATORS[name], values((4, 4)) + 0.25 * torch.eye(4)
    expected = operator(host)
    for _ in range(4):
        for on in (SECOND, FIRST):
            made = operator(host.to(on))
            assert made.device == on
            torch.testing.assert_close(made.cpu(), expected, rtol=1e-3, atol=1e-3)


def test_operators_on_the_cpu_come_back():
    with vt.strict(False), warnings.catch_warnings():
        warnings.simplefilter("ignore", vt.FallbackWarning)
        assert {one.device for one in torch.geqrf(torch.eye(3, device=SECOND))} == {SECOND}


MIXED = {
    "binary": lambda x, y: x + y,
    "number of the other device": lambda x, y: x * y.sum(),
    "in place": lambda x, y: x.mul_(y),
    "out": lambda x, y: torch.add(x, x, out=y),
    "product": lambda x, y: x @ y,
    "where": lambda x, y: torch.where(x > 0, x, y),
    "cat": lambda x, y: torch.cat([x, y]),
    "index": lambda x, y: x[y.long()],
    "put": lambda x, y: x.index_put_((torch.tensor([0], device=SECOND),), y[0, 0]),
    "gather": lambda x, y: x.gather(0, y.long()),
    "layer norm": lambda x, y: torch.nn.functional.layer_norm(x, (2,), y[0], y[0]),
    "linear": lambda x, y: torch.nn.functional.linear(x, y),
    "attention": lambda x, y: torch.nn.functional.scaled_dot_product_attention(
        x[None, None], y[None, None], y[None, None]
    ),
    "convolution": lambda x, y: torch.nn.functional.conv2d(x[None, None], y[None, None]),
    "embedding": lambda x, y: torch.nn.functional.embedding(y.long(), x),
    "conjugate": lambda x, y: x.to(torch.complex64).conj() + y,
    "equal": lambda x, y: torch.equal(x, y),
    "dot": lambda x, y: x[0].dot(y[0]),
    "foreach": lambda x, y: torch._foreach_add([x], [y]),
    "lists of arrays": lambda x, y: torch.stack([x, y]),
    "CPU fallback": lambda x, y: torch.ormqr(x, x[0], y),
}


@pytest.mark.parametrize("name", MIXED)
def test_tensors_of_two_devices_do_not_mix(name):
    for _ in range(4):
        for x, y in ((FIRST, SECOND), (SECOND, FIRST)):
            with (
                vt.strict(False),
                pytest.raises(RuntimeError, match=r"found at least two devices, vulkan:[01] and vulkan:[01]!"),
            ):
                MIXED[name](torch.ones(2, 2, device=x), torch.ones(2, 2, device=y))


def test_lists_may_be_of_several_devices():
    lists = [torch.ones(3, device=FIRST), torch.ones(3, device=SECOND)]
    torch._foreach_add_(lists, [torch.full((3,), 2.0, device=on) for on in (FIRST, SECOND)])
    assert [(one.device, one.tolist()) for one in lists] == [(FIRST, [3, 3, 3]), (SECOND, [3, 3, 3])]


# -- gradients ---------------------------------------------------------------------------------------------------------


class Split(nn.Module):
    """Layers on two devices: the result of the first moves to the second in the middle, and comes back."""

    def __init__(self, here, there):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second, self.third = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2)
        self.here, self.there = torch.device(here), torch.device(there)
        self.first.to(here), self.second.to(there), self.third.to(here)

    def forward(self, x):
        x = torch.relu(self.first(x.to(self.here)))
        x = torch.tanh(self.second(x.to(self.there)))
        return self.third(x.to(self.here))


def gradients(model, x, steps=5):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    made = [loss, norm, *model.parameters(), *(one.grad for one in model.parameters())]
    return [one.detach().cpu() for one in made]


@pytest.mark.parametrize("in_thread", [False, True])
def test_training_across_devices(in_thread):
    x, made = values((6, 4)) / 50, []
    expected = gradients(Split("cpu", "cpu"), x)
    model = Split(FIRST, SECOND)
    run = lambda: made.extend(gradients(model, x))  # noqa: E731
    if in_thread:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    else:
        run()
    torch.testing.assert_close(made, expected, rtol=1e-4, atol=1e-5)
    assert {one.grad.device for one in model.second.parameters()} == {SECOND}
    assert {one.grad.device for one in model.first.parameters()} == {FIRST}


def test_backward_passes_have_the_device_of_the_forward_pass_as_the_current_one():
    class Shifted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + torch.ones(3, device=x.device)

        @staticmethod
        def backward(ctx, gradient):
            return gradient + torch.ones(3, device="vulkan")

    for on in (SECOND, FIRST):
        x = torch.zeros(3, device=on, requires_grad=True)
        Shifted.apply(x).sum().backward()
        assert x.grad.tolist() == [2, 2, 2]
        assert torch.vulkan.current_device() == 0


def _raise(gradient):
    raise KeyError("mine")


@pytest.mark.parametrize("on", [FIRST, SECOND], ids=str)
@pytest.mark.parametrize("current", [0, 1])
def test_errors_pass_guards_of_devices(on, current):
    """PyTorch puts the current device back while an error of Python's unwinds its C++: neither may be lost."""
    with torch.vulkan.device(current):
        for _ in range(100):  # Python specializes functions that run often
            x = torch.ones(3, device=on, requires_grad=True)
            y = x * 2
            y.register_hook(_raise)
            with pytest.raises(KeyError, match="mine"):
                y.sum().backward()
            assert torch.vulkan.current_device() == current
        with torch._subclasses.FakeTensorMode() as mode:
            fake = mode.from_tensor(torch.ones(3, device=on))
            for call in (fake.nonzero, lambda: fake[fake > 0], lambda: fake.nonzero(as_tuple=True)):
                with pytest.raises(torch._subclasses.fake_tensor.DynamicOutputShapeException):
                    call()
                assert torch.vulkan.current_device() == current


def test_errors_pass_guards_in_threads_that_never_asked():
    def run():
        try:
            x = torch.ones(3, device=SECOND, requires_grad=True)
            x.register_hook(_raise)
            x.sum().backward()
        except Exception as error:
            caught.append(error)

    caught = []
    for _ in range(5):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert [type(one) for one in caught] == [KeyError] * 5


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "vulkan"])
@pytest.mark.parametrize("on", [FIRST, SECOND], ids=str)
def test_compiled_functions_find_what_is_not_zero(backend, on):
    torch.compiler.reset()
    x = torch.tensor([0.0, 1.0, 2.0], device=on)
    with vt.strict(False), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.compile(lambda x: x.nonzero() * 2, backend=backend)(x).tolist() == [[2], [4]]
        assert torch.compile(lambda x: x[x > 1].sum(), backend=backend)(x).tolist() == 2


def test_tensors_without_memory_know_their_device():
    with torch._subclasses.FakeTensorMode() as mode:
        fake = mode.from_tensor(torch.ones(2, device=SECOND))
        assert (fake + 1).device == SECOND
        assert fake.to(FIRST).device == FIRST


def test_gradients_of_gradients_across_devices():
    def twice(here, there):
        x = torch.tensor([1.0, 2.0, 3.0], device=here, requires_grad=True)
        y = (x**3).to(there).sin().to(here)
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        slope.square().sum().backward()
        return x.grad.cpu()

    torch.testing.assert_close(twice(FIRST, SECOND), twice("cpu", "cpu"), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints_keep_the_random_numbers_of_all_devices(reentrant):
    weights = torch.ones(64, device=FIRST, requires_grad=True)
    there = torch.ones(64, device=SECOND)  # PyTorch keeps the numbers of the devices that arguments are on

    def part(x, y):
        return nn.functional.dropout(nn.functional.dropout(x, 0.5).to(SECOND) * y, 0.5)

    torch.manual_seed(3)
    plain = part(weights, there)
    plain.sum().backward()
    expected, weights.grad = weights.grad, None
    torch.manual_seed(3)
    checkpoint(part, weights, there, use_reentrant=reentrant).sum().backward()
    assert torch.equal(weights.grad, expected)
    assert torch.equal(weights.grad.cpu(), plain.detach().cpu()), "the mask of the second pass is another one"


@pytest.mark.parametrize("options", [{"foreach": True}, {"foreach": False}, {"fused": True}], ids=str)
@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW])
def test_optimizers_take_parameters_of_two_devices(kind, options):
    results = []
    for pair in ((FIRST, SECOND), ("cpu", "cpu")):
        parameters = [nn.Parameter(torch.ones(5, device=on)) for on in pair]
        optimizer = kind(parameters, lr=0.1, weight_decay=0.1, **(options if pair[0] == FIRST else {}))
        for step in range(3):
            for one in parameters:
                one.grad = torch.full_like(one, step + 0.5)
            optimizer.step()
        results.append([one.detach().cpu() for one in parameters])
    torch.testing.assert_close(*results)


def test_autocast():
    x = torch.ones(4, 4, device=SECOND)
    with torch.autocast("vulkan", dtype=torch.float16):
        assert (x @ x).dtype is torch.float16
        assert (x @ x).device == SECOND


# -- random numbers ----------------------------------------------------------------------------------------------------


def test_default_generators_are_apart():
    torch.manual_seed(5)
    both = [torch.rand(4, device=on) for on in (FIRST, SECOND)]
    assert torch.equal(both[0].cpu(), both[1].cpu()), "one seed, and other bits on the second device"
    first = torch.vulkan.get_rng_state(0)
    state = torch.vulkan.get_rng_state("vulkan:1")
    drawn = torch.rand(4, device=SECOND)
    assert torch.equal(torch.vulkan.get_rng_state(0), first), "numbers of one device were taken from the other's"
    torch.vulkan.set_rng_state(state, SECOND)
    assert torch.equal(torch.rand(4, device=SECOND), drawn)
    with torch.vulkan.device(1):
        torch.vulkan.manual_seed(7)
        assert torch.vulkan.initial_seed() == 7
    assert torch.vulkan.initial_seed() == 5
    torch.vulkan.manual_seed_all(9)
    assert [torch.vulkan.get_rng_state(index).tolist() for index in range(2)] == [
        torch.vulkan.get_rng_state(0).tolist()
    ] * 2
    with torch.random.fork_rng(devices=[0, 1], device_type="vulkan"):
        inside = [torch.rand(3, device=on) for on in (FIRST, SECOND)]
    assert all(torch.equal(torch.rand(3, device=one.device), one) for one in inside)


DRAWS = {
    "rand": lambda on, generator: torch.rand(5, device=on, generator=generator),
    "randn": lambda on, generator: torch.randn(5, device=on, generator=generator),
    "randint": lambda on, generator: torch.randint(9, (5,), device=on, generator=generator),
    "randperm": lambda on, generator: torch.randperm(5, device=on, generator=generator),
    "multinomial": lambda on, generator: torch.ones(5, device=on).multinomial(2, generator=generator),
    "bernoulli": lambda on, generator: torch.bernoulli(torch.full((5,), 0.5, device=on), generator=generator),
    "poisson": lambda on, generator: torch.poisson(torch.ones(5, device=on), generator=generator),
}


@pytest.mark.parametrize("on", [FIRST, SECOND], ids=str)
def test_generators(on):
    generator = torch.Generator(on)
    assert generator.device == generator.clone_state().device == copy.deepcopy(generator).device == on
    for name, draw in DRAWS.items():
        before = generator.get_state()
        drawn = draw(on, generator)
        generator.set_state(before)
        assert drawn.device == on, name
        assert torch.equal(draw(on, generator), drawn), name
        assert draw(on, None).device == on, name
    other = FIRST if on == SECOND else SECOND
    with pytest.raises(RuntimeError, match=f"Expected a '{other}' device for generator but found '{on}'"):
        torch.rand(3, device=other, generator=generator)


# -- modules and files -------------------------------------------------------------------------------------------------


def test_modules_move():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    expected = {name: one.clone() for name, one in model.state_dict().items()}
    for on in (SECOND, FIRST, SECOND, torch.device("cpu")):
        model.to(on)
        assert {one.device for one in model.state_dict().values()} == {on}
    assert all(torch.equal(one, expected[name]) for name, one in model.state_dict().items())
    there = copy.deepcopy(model.to(SECOND))
    assert {one.device for one in there.state_dict().values()} == {SECOND}
    here = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)).to(FIRST)
    here.load_state_dict(there.state_dict())
    assert all(torch.equal(one.cpu(), expected[name]) for name, one in here.state_dict().items())
    assert {one.device for one in here.state_dict().values()} == {FIRST}


def test_save_and_load():
    host = values((3, 4))
    file = io.BytesIO()
    torch.save({"first": host.to(FIRST), "second": host.to(SECOND)[1:]}, file)
    for location, expected in (
        (None, (FIRST, SECOND)),
        ("vulkan:1", (SECOND, SECOND)),
        (FIRST, (FIRST, FIRST)),
        ({"vulkan:0": "vulkan:1"}, (SECOND, SECOND)),
        ("cpu", (torch.device("cpu"),) * 2),
        ("vulkan", (FIRST, FIRST)),
    ):
        file.seek(0)
        loaded = torch.load(file, map_location=location)
        assert tuple(one.device for one in loaded.values()) == expected
        assert torch.equal(loaded["first"].cpu(), host)
        assert torch.equal(loaded["second"].cpu(), host[1:])
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"there are \d+ devices here"):
        torch.load(file, map_location="vulkan:63")


def test_storages():
    held = torch.ones(3, device=SECOND).untyped_storage()
    for one in (held.clone(), copy.deepcopy(held), torch.UntypedStorage(12, device="vulkan:1")):
        assert one.device == SECOND
    assert torch.tensor([], device=SECOND).set_(held.clone()).tolist() == [1, 1, 1]
