"""Modules that move to the device: parameters stay the same objects, tied ones stay tied, optimizers go on with them."""

from __future__ import annotations

import gc
import warnings
import weakref

import pytest
import torch
from torch import nn

from vkarray.torch.tensors import storage


def tied() -> nn.Sequential:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3), nn.BatchNorm1d(3))
    model[1].weight = model[0].weight
    return model


def test_tied_parameters_stay_tied():
    model = tied()
    weight = model[0].weight
    values = weight.detach().clone()
    for move in (lambda: model.to("vulkan"), lambda: model.half(), lambda: model.float(), lambda: model.cpu()):
        move()
        assert model[0].weight is weight
        assert model[1].weight is weight
    torch.testing.assert_close(weight.detach(), values, rtol=1e-3, atol=1e-3)


def test_gradients_and_buffers_move_too():
    model = tied()
    model(torch.randn(4, 3)).sum().backward()
    model.to("vulkan")
    assert {one.device.type for one in (*model.parameters(), *model.buffers())} == {"vulkan"}
    assert {one.grad.device.type for one in model.parameters()} == {"vulkan"}


def test_an_optimizer_made_before_the_move_steps_the_parameters():
    model = tied()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model.to("vulkan")
    before = model[0].weight.detach().cpu().clone()
    model(torch.randn(4, 3).to("vulkan")).square().mul(torch.arange(3.0).to("vulkan")).sum().backward()
    optimizer.step()
    assert not torch.equal(model[0].weight.detach().cpu(), before)


def weight_norm(layer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return nn.utils.weight_norm(layer)


# What may know a model's parameters when it moves.
KNOWN_TO = {
    "nothing": lambda model: None,
    "a loss": lambda model: model(torch.ones(4, 3)).sum(),
    "a graph that was gone through": lambda model: [model(torch.ones(4, 3)).sum().backward(retain_graph=True)],
    "a view": lambda model: model[0].weight.view(9),
    "a view without history": lambda model: model[0].weight.detach()[1:],
    "a row": lambda model: model[0].weight[0],
    "a weak reference": lambda model: weakref.ref(model[0].weight),
    "a dictionary of weak keys": lambda model: weakref.WeakKeyDictionary({model[0].weight: 1}),
    "an edge of the graph": lambda model: torch.autograd.graph.get_gradient_edge(model[0].weight),
    "an optimizer with state": lambda model: torch.optim.AdamW(model.parameters()),
    "hooks": lambda model: [one.register_hook(lambda gradient: None) for one in model.parameters()],
    "a compiled module": lambda model: (
        compiled := torch.compile(model, backend="aot_eager"),
        compiled(torch.ones(4, 3)),
    ),
    "a copy of the list of parameters": lambda model: list(model.parameters()),
}


@pytest.mark.parametrize("who", KNOWN_TO)
def test_parameters_stay_themselves_whoever_knows_them(who):
    model = tied()
    model.eval()
    known, weight = KNOWN_TO[who](model), model[0].weight
    expected = model(torch.ones(4, 3)).detach()
    for device in ("vulkan", "cpu", "vulkan"):
        model.to(device)
        assert {one.device.type for one in (*model.parameters(), *model.buffers())} == {device}
        assert model[0].weight is model[1].weight is weight
        assert type(weight) is nn.Parameter
        torch.testing.assert_close(model(torch.ones(4, 3).to(device)).detach().cpu(), expected)
    model(torch.ones(4, 3).to("vulkan")).sum().backward()
    assert weight.grad.device.type == "vulkan"
    if who == "a weak reference":
        assert known() is weight


def test_modules_move_in_a_profiler():
    """It holds weak references in C++, with which PyTorch exchanges no tensor: parameters may be new ones."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    recorded = {"profile_memory": True, "with_stack": True, "record_shapes": True}
    with torch.profiler.profile(activities=activities, acc_events=True, **recorded):  # PyTorch 2.11 warns without it
        model = tied()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model(torch.ones(4, 3)).sum().backward()
        optimizer.step()
        for device in ("vulkan", "cpu", "vulkan"):
            model.to(device)
            assert {one.device.type for one in (*model.parameters(), *model.buffers())} == {device}
            assert {one.grad.device.type for one in model.parameters()} == {device}
            assert model[0].weight is model[1].weight
            model(torch.ones(4, 3).to(device)).sum().backward()


@pytest.mark.parametrize("wrap", [weight_norm, nn.utils.parametrizations.weight_norm, nn.utils.parametrizations.orthogonal,
                                  nn.utils.parametrizations.spectral_norm], ids=lambda wrap: wrap.__name__)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*geqrf:vkarray.torch.FallbackWarning")
def test_layers_whose_weight_is_computed_move(wrap):
    layer = wrap(nn.Linear(3, 3)).eval()
    expected = layer(torch.ones(1, 3)).detach()
    for device in ("vulkan", "cpu", "vulkan"):
        layer.to(device)
        assert {one.device.type for one in layer.parameters()} == {device}
        torch.testing.assert_close(layer(torch.ones(1, 3).to(device)).detach().cpu(), expected)


def test_a_graph_from_before_the_move_gives_its_gradients_to_the_parameters():
    expected, model = tied(), tied()
    model.load_state_dict(expected.state_dict())
    x = torch.randn(4, 3)
    losses = [one(x).square().mul(torch.arange(3.0)).sum() for one in (expected, model)]
    model.to("vulkan")
    for loss in losses:
        loss.backward()
    for one, other in zip(model.parameters(), expected.parameters(), strict=True):
        assert one.grad.device.type == "vulkan"
        torch.testing.assert_close(one.grad.cpu(), other.grad)


def test_hooks_and_gradients_are_kept():
    model, seen = tied(), []
    handle = model[0].weight.register_hook(lambda gradient: seen.append(gradient.device.type))
    model[0].bias.register_post_accumulate_grad_hook(lambda parameter: seen.append(parameter.grad.shape))
    model(torch.ones(4, 3)).sum().backward()
    gradients = [one.grad for one in model.parameters()]
    seen.clear()
    model.to("vulkan")
    assert all(one.grad is other for one, other in zip(model.parameters(), gradients, strict=True))
    model(torch.ones(4, 3).to("vulkan")).sum().backward()
    assert sorted(map(str, seen)) == ["torch.Size([3])", "vulkan"]
    handle.remove()
    model(torch.ones(4, 3).to("vulkan")).sum().backward()
    assert seen.count("vulkan") == 1


def test_a_module_stays_whole_where_a_tensor_cannot_move():
    model = tied()
    model.register_buffer("odd", torch.zeros(3).to(torch.float8_e4m3fn))
    model(torch.ones(4, 3)).sum().backward()

    def tensors():
        return [*model.parameters(), *model.buffers(), *(one.grad for one in model.parameters())]

    kept = tensors()
    values = [one.detach().double() for one in kept]
    with pytest.raises(TypeError, match="float8"):
        model.to("vulkan")
    for one, other, value in zip(tensors(), kept, values, strict=True):
        assert one is other
        assert one.is_cpu
        assert one.detach().double().equal(value)


def test_parameters_that_pytorch_does_not_exchange_are_replaced(monkeypatch):
    model, calls, seen, swap = tied(), [], [], torch._C._swap_tensor_impl
    model(torch.ones(4, 3)).sum().backward()
    model[0].weight.register_hook(lambda gradient: seen.append(gradient.device.type))

    def refuse(first, second):
        calls.append(first)
        if len(calls) == 3:
            raise RuntimeError("Expected single reference")
        swap(first, second)

    monkeypatch.setattr(torch._C, "_swap_tensor_impl", refuse)
    before = list(model.parameters())
    model.to("vulkan")
    assert {one.device.type for one in (*model.parameters(), *model.buffers())} == {"vulkan"}
    assert {one.grad.device.type for one in model.parameters()} == {"vulkan"}
    assert all(one.is_cpu and one.grad.is_cpu for one in before)
    assert model[0].weight is model[1].weight
    model(torch.ones(4, 3).to("vulkan")).sum().backward()
    assert seen == ["vulkan"]


def test_modules_without_values_move():
    with torch.device("meta"):
        model = tied()
    weight = model[0].weight
    model.to_empty(device="vulkan")
    assert model[0].weight is weight
    assert weight.device.type == "vulkan"
    lazy = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d()).to("vulkan")
    assert lazy(torch.ones(3, 2, device="vulkan")).device.type == "vulkan"
    assert {one.device.type for one in (*lazy.parameters(), *lazy.buffers())} == {"vulkan"}


def test_moving_leaves_no_memory_behind():
    gc.collect()
    before, model = storage.live(), tied()
    loss = model(torch.ones(4, 3)).sum()
    for _ in range(3):
        model.to("vulkan").cpu()
    del loss
    gc.collect()
    assert storage.live() == before


def test_modules_of_other_devices_move_as_before():
    model = tied()
    weight = model[0].weight
    model.double()
    assert model[0].weight is weight
    assert not torch.__future__.get_swap_module_params_on_conversion()
