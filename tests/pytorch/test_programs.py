"""What programs do with tensors on the device: training, saving, copying, casting, compiling."""

from __future__ import annotations

import copy
import io
import math
import os
import pickle
import subprocess
import sys

import pytest
import torch
from checks import needs_int64, no_memory_held

import vkarray.torch as vt

DEVICE = "vulkan"


def mlp():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4))


def trained(model, where, steps):
    """The losses of some steps of gradient descent with momentum."""
    model = copy.deepcopy(model).to(where)
    generator = torch.Generator().manual_seed(1)
    x, y = (torch.randn(64, n, generator=generator).to(where) for n in (16, 4))
    velocities = [torch.zeros_like(parameter) for parameter in model.parameters()]
    losses = []
    for _ in range(steps):
        loss = (model(x) - y).square().mean()
        loss.backward()
        with torch.no_grad():
            for parameter, velocity in zip(model.parameters(), velocities, strict=True):
                velocity.mul_(0.9).add_(parameter.grad)
                parameter.sub_(velocity, alpha=0.05)
                parameter.grad = None
        losses.append(loss.detach())
    return torch.stack(losses).cpu()


def test_training_follows_the_cpu():
    model = mlp()
    expected, actual = trained(model, "cpu", 100), trained(model, DEVICE, 100)
    assert expected[-1] < 0.7 * expected[0]
    torch.testing.assert_close(actual, expected, rtol=1e-3, atol=0)


def cnn():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.BatchNorm2d(2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Dropout(0.1), torch.nn.Linear(8, 3),
    )  # fmt: skip


class Transformer(torch.nn.Module):
    """A word after those before it, by one layer of attention."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(5, 8)
        self.norm = torch.nn.LayerNorm(8)
        self.attended = torch.nn.Linear(8, 24)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, words):
        x = self.embedding(words)
        of_heads = self.attended(self.norm(x)).unflatten(2, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(*of_heads, dropout_p=0.1, is_causal=True)
        return self.head(x + y.transpose(1, 2).flatten(2))


def stepped(model, x, y, steps):
    """Steps of AdamW, with a loss that is read as a program reads it."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    total = torch.zeros((), device=DEVICE)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x).flatten(0, -2), y.flatten())
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item()


def pictures():
    return cnn(), torch.randn(4, 1, 4, 4), torch.tensor([0, 1, 2, 0])


def words():
    return Transformer(), torch.tensor([[0, 1, 2, 3], [4, 3, 2, 1]]), torch.tensor([[1, 2, 3, 4], [3, 2, 1, 0]])


def test_training_does_not_grow():
    model = mlp().to(DEVICE)
    trained(model, DEVICE, 3)
    with no_memory_held(constants=16):
        trained(model, DEVICE, 1000)


@needs_int64
@pytest.mark.parametrize("task", [pictures, words])
def test_training_of_networks_does_not_grow(task):
    model, x, y = (one.to(DEVICE) for one in task())
    stepped(model, x, y, 3)
    model.zero_grad()
    with no_memory_held(constants=16):
        assert math.isfinite(stepped(model, x, y, 1000))
        model.zero_grad()


def test_save_and_load():
    model = mlp().to(DEVICE)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    for where in (None, "cpu", DEVICE):
        file.seek(0)
        loaded = torch.load(file, map_location=where)
        for name, parameter in model.state_dict().items():
            assert loaded[name].device.type == (where or DEVICE)
            assert torch.equal(loaded[name].cpu(), parameter.cpu())
    fresh = mlp().to(DEVICE)
    fresh.load_state_dict(loaded)


def test_saved_views_share_memory():
    base = torch.arange(10, dtype=torch.float32, device=DEVICE)
    file = io.BytesIO()
    torch.save([base, base[2:6]], file)
    file.seek(0)
    whole, part = torch.load(file)
    part[1] = -5
    assert whole.tolist() == [0, 1, 2, -5, 4, 5, 6, 7, 8, 9]


def test_copies():
    tensor = torch.arange(6, dtype=torch.float32, device=DEVICE).view(2, 3).t()
    for copied in (copy.deepcopy(tensor), copy.copy(tensor), pickle.loads(pickle.dumps(tensor))):
        assert copied.device.type == DEVICE
        assert copied.stride() == tensor.stride()
        assert copied.tolist() == tensor.tolist()


@needs_int64
def test_repr():
    assert repr(torch.arange(3, device=DEVICE)) == "tensor([0, 1, 2], device='vulkan:0')"
    assert repr(torch.full((2,), 0.5, device=DEVICE)) == "tensor([0.5000, 0.5000], device='vulkan:0')"
    assert repr(torch.tensor([True], device=DEVICE)) == "tensor([True], device='vulkan:0')"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast(dtype):
    model = mlp().to(DEVICE)
    x = torch.randn(8, 16, device=DEVICE)
    with torch.autocast(DEVICE, dtype=dtype):
        y = model(x)
        assert y.dtype is dtype
        assert (y @ y.t()).dtype is dtype
        assert y.exp().dtype is torch.float32
        assert y.sum().dtype is torch.float32
        assert torch.cat([y, y.float()]).dtype is torch.float32
        y.float().square().sum().backward()
    assert model[0].weight.grad.dtype is torch.float32
    torch.testing.assert_close(y.float(), model(x), rtol=0, atol=0.03)
    assert model(x).dtype is torch.float32


def test_compile_and_export():
    model = mlp().to(DEVICE)
    x = torch.randn(8, 16, device=DEVICE)
    expected = model(x)
    assert torch.equal(torch.compile(model, backend="aot_eager")(x), expected)
    assert torch.equal(torch.export.export(model, (x,)).module()(x), expected)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # PyTorch's own use
def test_transforms_of_functions():
    x = torch.randn(5, 8, device=DEVICE)
    host = x.cpu()
    torch.testing.assert_close(torch.func.vmap(lambda row: row @ row)(x).cpu(), host.square().sum(1))
    torch.testing.assert_close(torch.func.grad(lambda v: v.pow(3).sum())(x).cpu(), 3 * host.square())
    hessian = torch.func.hessian(lambda v: v.square().sum())(x[0])
    torch.testing.assert_close(hessian.cpu(), 2 * torch.eye(8))


def test_profiler_sees_operators():
    model = mlp().to(DEVICE)
    x = torch.randn(8, 16, device=DEVICE)
    # PyTorch 2.14 crashes with its own choice on every device of this kind.
    activities = [torch.profiler.ProfilerActivity.CPU] if torch.__version__.startswith("2.14.") else None
    with (
        torch.profiler.profile(activities=activities, acc_events=True) as profile,
        torch.profiler.record_function("mine"),
    ):
        model(x)
    names = {event.key for event in profile.key_averages()}
    assert {"mine", "aten::addmm", "aten::gelu"} <= names


@needs_int64
def test_random_numbers_repeat():
    def numbers():
        x = torch.empty(100, device=DEVICE)
        drawn = [torch.rand(5, device=DEVICE), torch.randn(5, device=DEVICE), torch.randint(9, (5,), device=DEVICE)]
        return torch.cat(
            [*(one.float() for one in drawn), x.exponential_(), x.bernoulli_(0.3), torch.dropout(x, 0.5, True)]
        )

    torch.manual_seed(7)
    first, state = numbers(), torch.vulkan.get_rng_state()
    second = numbers()
    torch.manual_seed(7)
    assert torch.equal(numbers(), first)
    torch.vulkan.set_rng_state(state)
    assert torch.equal(numbers(), second)
    assert not torch.equal(first, second)


@needs_int64
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_distributions(dtype):
    count = 1 << 16
    x = torch.empty(count, device=DEVICE, dtype=dtype)
    deviations = 5 / count**0.5  # five standard deviations of a mean
    uniform = x.uniform_().float().cpu()
    assert 0 <= uniform.min() <= uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < deviations * 12**-0.5 + torch.finfo(dtype).eps / 2
    normal = x.normal_(3, 2).float().cpu()
    assert abs(normal.mean() - 3) < 2 * deviations + torch.finfo(dtype).eps
    assert abs(normal.std() - 2) < 2 * deviations
    assert abs(x.bernoulli_(0.25).float().cpu().mean() - 0.25) < deviations
    kept = torch.dropout(torch.ones(count, device=DEVICE, dtype=dtype), 0.25, True).float().cpu()
    assert set(kept.unique().tolist()) == {0.0, torch.tensor(1 / 0.75, dtype=dtype).item()}
    assert sorted(torch.randperm(1000, device=DEVICE).tolist()) == list(range(1000))


@needs_int64
def test_further_distributions():
    count = 1 << 16
    x = torch.empty(count, device=DEVICE)
    deviation = 5 * 0.5 / count**0.5  # five standard deviations of a share, at most
    assert abs((x.cauchy_(1, 2).cpu() < 3).float().mean() - 0.75) < deviation
    assert abs((x.log_normal_(1, 2).log().cpu() < 3).float().mean() - 0.8413447) < deviation
    trials = x.geometric_(0.25).cpu()
    assert trials.min() == 1
    assert abs((trials > 2).float().mean() - 0.75**2) < deviation
    mean, std = torch.tensor([0.0, 5.0], device=DEVICE).repeat(count // 2), torch.tensor(2.0, device=DEVICE)
    assert abs(
        (torch.normal(mean, std).cpu() < 2).float().view(-1, 2).mean(0) - torch.tensor([0.8413, 0.0668])
    ).max() < (2 * deviation)
    chances = torch.tensor([[0.0, 1.0, 3.0], [2.0, 0.0, 2.0]], device=DEVICE)
    drawn = torch.multinomial(chances, count, replacement=True).cpu()
    shares = torch.stack([row.bincount(minlength=3) for row in drawn]) / count
    assert (shares - chances.cpu() / 4).abs().max() < deviation
    assert shares[0, 0] == shares[1, 1] == 0
    assert torch.multinomial(chances.repeat(100, 1), 2).sort(-1).values[:2].tolist() == [[1, 2], [0, 2]]
    first = torch.multinomial(chances[:1].repeat(count, 1), 2)[:, 0].cpu()
    assert abs((first == 2).float().mean() - 0.75) < deviation
    for given, count, message in (([1.0, -1.0], 1, "element < 0"), ([0.0, 0.0], 1, "<= 0"), ([1.0, 1.0], 3, "without")):
        with pytest.raises(RuntimeError, match=message):
            torch.multinomial(torch.tensor(given, device=DEVICE), count)


@needs_int64
def test_generators_have_streams_of_their_own():
    def numbers(generator):
        drawn = [
            torch.randn(5, device=DEVICE, generator=generator),
            torch.randint(9, (5,), device=DEVICE, generator=generator),
            torch.empty(5, device=DEVICE).bernoulli_(0.5, generator=generator),
            torch.normal(torch.zeros(5, device=DEVICE), 2.0, generator=generator),
            torch.randperm(5, device=DEVICE, generator=generator),
        ]
        return [value for one in drawn for value in one.tolist()]

    generator = torch.Generator(device=DEVICE).manual_seed(3)
    assert generator.device.type == DEVICE
    assert generator.initial_seed() == 3
    state, of_device = generator.get_state(), torch.vulkan.get_rng_state()
    first, second = numbers(generator), numbers(generator)
    assert torch.equal(torch.vulkan.get_rng_state(), of_device)
    assert numbers(torch.Generator(DEVICE).manual_seed(3)) == first != second
    generator.set_state(state)
    assert numbers(generator) == first
    for copied in (copy.deepcopy(generator), pickle.loads(pickle.dumps(generator)), generator.clone_state()):
        assert (numbers(copied), copied.initial_seed()) == (second, 3)
    others = [torch.Generator(), torch.default_generator, generator]
    assert [one.device.type for one in others] == ["cpu", "cpu", DEVICE]
    assert all(isinstance(one, torch.Generator) for one in others)


def test_generator_of_another_device_is_refused():
    with pytest.raises(RuntimeError, match="Expected a 'vulkan' device type for generator"):
        torch.rand(3, device=DEVICE, generator=torch.Generator())


@needs_int64
def test_errors_are_those_of_pytorch():
    x = torch.ones(2, 3, device=DEVICE)
    cases = [
        (lambda t: t + t.new_ones(4), RuntimeError),
        (lambda t: t @ t, RuntimeError),
        (lambda t: t.sum(5), IndexError),
        (lambda t: t.add_(t.new_ones(5, 2, 3)), RuntimeError),
        (lambda t: t.long().add_(1.5), RuntimeError),
        (lambda t: t.expand(4, 2, 3).add_(1), RuntimeError),
        (lambda t: t.flatten()[1:].add_(t.flatten()[:-1]), RuntimeError),
        (lambda t: torch.cat([t, t.new_ones(3, 4)]), RuntimeError),
        (lambda t: t.bool() - t.bool(), RuntimeError),
        (lambda t: torch.add(t, t, out=t.new_ones(2, 3).long()), RuntimeError),
    ]
    for function, kind in cases:
        with pytest.raises(kind) as expected:
            function(x.cpu())
        with pytest.raises(kind) as actual:
            function(x)
        assert str(actual.value) == str(expected.value)
    with pytest.raises(RuntimeError, match="same device"):
        x + torch.ones(2, 3)


@needs_int64
def test_scalars_on_the_cpu_mix():
    x = torch.arange(3, dtype=torch.float32, device=DEVICE)
    assert (x * torch.tensor(2.5)).tolist() == [0, 2.5, 5]
    assert (torch.tensor(2.5) - x).tolist() == [2.5, 1.5, 0.5]
    assert (x.long() + torch.tensor(1.5)).dtype is torch.float32
    assert torch.where(x > 0, x, torch.tensor(-1.0)).tolist() == [-1, 1, 2]


@needs_int64
@pytest.mark.parametrize(
    "args", [(5,), (2, 7), (7, 2, -2), (0.0, 1.0, 0.375), (1, 2, 0.5), (1.0, 2.0, 1.0), (3, 3)], ids=str
)
def test_ranges(args):
    for _ in range(2):  # the length is remembered
        expected = torch.arange(*args, dtype=torch.float32)
        assert torch.equal(torch.arange(*args, dtype=torch.float32, device=DEVICE).cpu(), expected)
    out = torch.empty(0, dtype=torch.float32, device=DEVICE)
    torch.arange(*args, out=out)
    assert torch.equal(out.cpu(), torch.arange(*args, out=torch.empty(0)))


@pytest.mark.parametrize("args", [(0, 1, 0), (0, -1), (0, float("inf"))], ids=str)
def test_ranges_that_cannot_be(args):
    with pytest.raises(RuntimeError) as expected:
        torch.arange(*args)
    for _ in range(2):
        with pytest.raises(RuntimeError) as found:
            torch.arange(*args, device=DEVICE)
        assert str(found.value).splitlines()[0] == str(expected.value).splitlines()[0]


def test_resize():
    x = torch.arange(4, device=DEVICE)
    x.resize_(6)[4:] = 9
    assert x.tolist() == [0, 1, 2, 3, 9, 9]
    out = torch.empty(0, device=DEVICE)
    torch.add(torch.ones(2, 2, device=DEVICE), 1, out=out)
    assert out.tolist() == [[2, 2], [2, 2]]


@needs_int64
def test_layout_does_not_matter():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 5)
    layouts = [
        x.to(DEVICE), x.to(DEVICE, memory_format=torch.channels_last), x.permute(3, 1, 0, 2).to(DEVICE).permute(2, 1, 3, 0),
        torch.cat([x, x], -1)[..., :5].to(DEVICE), x.to(DEVICE)[:, :, torch.arange(4, device=DEVICE)],
    ]  # fmt: skip
    for function in (
        lambda t: t * 2 + t, lambda t: t.sum((1, 3)), lambda t: t.exp().mean(), lambda t: t.amax(2), lambda t: t.flatten(1),
        lambda t: t @ t.mT, lambda t: t.cumsum(1), lambda t: torch.cat([t, t], 2), lambda t: t.var(0), lambda t: t.argmax(3),
        lambda t: torch.where(t > 0, t, -t), lambda t: t.clone().mul_(3),
    ):  # fmt: skip
        results = [function(each).cpu() for each in layouts]
        for other in results[1:]:
            torch.testing.assert_close(other, results[0], rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(results[0], function(x), rtol=1e-5, atol=1e-5)


def test_strides_of_results_are_pytorchs():
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    y = x.permute(2, 0, 3, 1)
    for function in (lambda t: t + 1, lambda t: t.exp(), lambda t: t > 0, lambda t: t + t[:1], lambda t: t.clone()):
        for host in (x, y, x[:, :2], y[::2]):
            assert function(host.to(DEVICE)).stride() == function(host).stride()


def test_zero_size():
    empty = torch.empty(0, 3, device=DEVICE)
    assert (empty + 1).shape == (0, 3)
    assert empty.sum().item() == 0
    assert empty.sum(0).tolist() == [0, 0, 0]
    assert (empty.t() @ empty).tolist() == [[0] * 3] * 3
    assert torch.cat([empty, torch.ones(1, 3, device=DEVICE)]).shape == (1, 3)
    assert vt.as_array(empty).shape == (0, 3)


def test_tensors_are_printed_without_float64():
    """PyTorch would measure the numbers in float64."""
    program = """
import torch, vkarray.torch
x = torch.tensor([1.5, -2e-7, float("inf")])
for one in (x, x[:0], x[0], torch.arange(3000.0), x.to(torch.float16), x != 0, torch.tensor([1 + 2j])):
    on_device = repr(one.to("vulkan")).replace(", device='vulkan:0'", "")
    assert "".join(on_device.split()) == "".join(repr(one).split()), (on_device, one)
"""
    environment = os.environ | {"VKARRAY_DISABLE": "shaderFloat64"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
