"""Fused optimizers and the scale of losses: step by step as on the CPU."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

import vkarray as vx
from vkarray.core.array import is_supported
from vkarray.torch import device as devices
from vkarray.torch.tensors.storage import FROM_TORCH

SHAPES = [(3, 4), (5,), (2, 2, 2), (0,), ()]


def _trained(device: str, options: dict, scale: float | None) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(6)
    parameters = [torch.randn(shape, generator=generator).to(device).requires_grad_() for shape in SHAPES]
    optimizer = torch.optim.Adagrad(parameters, lr=0.1, fused=True, **options)
    for _ in range(3):
        for one in parameters:
            one.grad = torch.randn(one.shape, generator=generator).to(device) * (scale or 1)
        if scale is not None:
            optimizer.grad_scale = torch.tensor(scale, device=device)
            optimizer.found_inf = torch.tensor(0.0, device=device)
        optimizer.step()
    return [one.detach().cpu() for one in parameters]


@pytest.mark.parametrize(
    ("decay", "rate_decay", "maximize"), [*itertools.product((0.0, 0.1), (0.0, 0.5), (False, True))]
)  # fmt: skip
@pytest.mark.parametrize("scale", [None, 8.0])
def test_adagrad_takes_the_steps_of_the_cpu(decay, rate_decay, maximize, scale):
    options = {"weight_decay": decay, "lr_decay": rate_decay, "maximize": maximize}
    expected = _trained("cpu", options, scale)
    for ours, its in zip(_trained("vulkan", options, scale), expected, strict=True):
        torch.testing.assert_close(ours, its, rtol=1e-5, atol=1e-6)


def test_adagrad_skips_the_step_where_gradients_overflowed():
    parameter, total = torch.ones(3, device="vulkan"), torch.zeros(3, device="vulkan")
    one, step = torch.ones((), device="vulkan"), torch.ones((), device="vulkan")
    torch._fused_adagrad_(
        [parameter], [torch.ones(3, device="vulkan")], [total], [step], lr=0.1, lr_decay=0.0, weight_decay=0.0, eps=1e-10,
        maximize=False, found_inf=one,
    )  # fmt: skip
    assert parameter.cpu().tolist() == [1, 1, 1]
    assert total.cpu().tolist() == [0, 0, 0]


@pytest.mark.parametrize("found", [0.0, 1.0])
@pytest.mark.parametrize("tracker", [0, 1, 2])
@pytest.mark.parametrize("scale", [4.0, 3e38], ids=["ordinary scale", "scale that would overflow"])
def test_scale_of_losses_is_updated_as_on_the_cpu(found, tracker, scale):
    made = []
    for device in ("cpu", "vulkan"):
        given = [
            torch.tensor([scale], device=device),
            torch.tensor([tracker], dtype=torch.int32, device=device),
            torch.tensor([found], device=device),
        ]
        result = torch._amp_update_scale_(*given, 2.0, 0.5, 3)
        assert result is given[0]
        made.append([one.cpu().tolist() for one in given])
    assert made[1] == made[0]


@pytest.mark.skipif(
    not is_supported(vx.float64, vx.asarray(0.0).device),
    reason="the device has no shaderFloat64, in which PyTorch's scaler takes the reciprocal of its scale",
)
def test_scaler_skips_a_step_of_infinite_gradients():
    parameter = torch.nn.Parameter(torch.ones(3, device="vulkan"))
    optimizer = torch.optim.SGD([parameter], lr=0.5)
    scaler = torch.amp.GradScaler("vulkan", init_scale=4.0)
    scales = []
    for factor in (1.0, math.inf, 1.0):
        optimizer.zero_grad()
        scaler.scale((parameter * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [4, 2, 2]
    assert parameter.detach().cpu().tolist() == [0, 0, 0]


KINDS = {
    "SGD": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "Adam": (torch.optim.Adam, {"lr": 0.05, "amsgrad": True}),
    "AdamW": (torch.optim.AdamW, {"lr": 0.05}),
    "RMSprop": (torch.optim.RMSprop, {"lr": 0.01, "momentum": 0.5}),
    "Adagrad": (torch.optim.Adagrad, {"lr": 0.1}),
}
HOWS = [("foreach", name) for name in KINDS] + [("fused", name) for name in ("SGD", "Adam", "AdamW", "Adagrad")]


def _replaced(parameters: list[torch.Tensor], optimizer: torch.optim.Optimizer, turn: int, device: str) -> None:
    """What users do to parameters between two steps: each time another change, which leaves the same values everywhere."""
    first, second = parameters[:2]
    with torch.no_grad():
        if turn == 1:
            first.data = first.data.clone()
        elif turn == 2:  # the memory stays, and is seen in another way
            first.data = first.data.t()
        elif turn == 3:
            longer = torch.cat([torch.zeros(3, device=device), second.data])
            second.set_(longer.untyped_storage(), 3, second.shape, second.stride())
        elif turn == 4:
            values = parameters[2].data.clone()
            parameters[2].data = torch.empty(0, device=device)
            parameters[2].data = values
        elif turn == 5:
            optimizer.load_state_dict(optimizer.state_dict())


@pytest.mark.parametrize(("how", "name"), HOWS)
def test_parameters_may_change_between_steps(how, name):
    make, options = KINDS[name]
    trained = []
    for device in ("cpu", "vulkan"):
        generator = torch.Generator().manual_seed(3)
        shapes = [(4, 4), (5,), (2, 3), (0,), (7,)]
        parameters = [torch.randn(shape, generator=generator).to(device).requires_grad_() for shape in shapes]
        groups = [{"params": parameters[:3]}, {"params": parameters[3:], "lr": 0.02}]
        # The fused steps of the CPU take no notice of strides.
        optimizer = make(groups, **options, **{how if device == "vulkan" else "foreach": True})
        for turn in range(8):
            _replaced(parameters, optimizer, turn, device)
            optimizer.zero_grad(set_to_none=turn % 2 == 0)
            for place, one in enumerate(parameters):
                gradient = torch.randn(one.shape, generator=generator).to(device)
                if turn == 6 and place == 4:
                    one.grad = None
                elif turn == 7 and place == 0:  # of other strides than the parameter
                    one.grad = gradient.t().contiguous().t()
                elif one.grad is not None:
                    one.grad.add_(gradient)
                else:
                    one.grad = gradient
            torch.nn.utils.clip_grad_norm_(parameters, 2.0)
            optimizer.step()
        trained.append([one.detach().cpu() for one in parameters])
    for ours, its in zip(trained[1], trained[0], strict=True):
        torch.testing.assert_close(ours, its, rtol=1e-4, atol=1e-5)


def test_lists_are_looked_at_each_time():
    """What was known of a list holds for tensors that look the same alone."""
    x, y = torch.arange(6.0, device="vulkan").reshape(2, 3), torch.ones(4, device="vulkan")
    for _ in range(3):
        torch._foreach_add_([x, y], 1.0)
    x.data = x.data[:, 1:]  # has gaps
    torch._foreach_add_([x, y], 1.0)
    assert x.tolist() == [[5, 6], [8, 9]]
    wide = torch.full((2, 2), 7.0, device="vulkan")
    x.data = wide.half()
    torch._foreach_add_([x, y], 1.0)
    assert x.tolist() == [[8, 8], [8, 8]]
    assert y.tolist() == [6] * 4
    del wide
    views = list(torch.zeros(3, 4, device="vulkan"))  # of one storage
    torch._foreach_add_(views, [1.0, 2.0, 3.0])
    assert [one.tolist() for one in torch._foreach_mul(views, views)] == [[1] * 4, [4] * 4, [9] * 4]


def _commands(function, *arguments) -> int:
    """How many commands a call gives to the device, beside those that write the table of a list."""
    function(*arguments)
    queue = devices.at(0).queue
    before = queue.serial
    function(*arguments)
    return queue.serial - before


@pytest.mark.parametrize("wrong", [None, math.inf, math.nan])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_gradients_are_unscaled_as_on_the_cpu(dtype, wrong):
    if not is_supported(FROM_TORCH[dtype], devices.at(0)):
        pytest.skip(f"the device has no {dtype}")
    generator = torch.Generator().manual_seed(4)
    gradients = [torch.randn(shape, generator=generator).to(dtype) for shape in SHAPES]
    if wrong is not None:
        gradients[2].view(-1)[3] = wrong
    results = []
    for device in ("cpu", "vulkan"):
        moved, found = [one.clone().to(device) for one in gradients], torch.zeros(1, device=device)
        unscale = torch._amp_foreach_non_finite_check_and_unscale_
        unscale(moved, found, torch.full((1,), 0.3, device=device))
        results.append([one.cpu() for one in (*moved, found)])
        if device == "vulkan":
            assert _commands(unscale, moved, found, torch.ones(1, device=device)) <= 2, "one dispatch for all"
    for ours, its in zip(*results, strict=True):
        torch.testing.assert_close(ours, its, rtol=0, atol=0, equal_nan=True)


def test_strides_along_one_element_keep_a_list_together():
    """Gradients of what was broadcast have such strides."""
    like = {"device": "vulkan"}
    lists = [
        [torch.ones(4, **like), torch.arange(6.0, **like).as_strided((1, 1, 6), strides)]
        for strides in ((6, 6, 1), (99, 6, 1))
    ]
    assert _commands(torch._foreach_add_, *lists) <= 2
    assert lists[0][1].tolist() == [[[3.0 * one for one in range(6)]]]


# Operators on lists that write into tensors, which autograd has to know of. Others of the kind are PyTorch's own formulas.
WRITING = sorted(
    f"{name}.{overload}"
    for name in dir(torch.ops.aten)
    if name.startswith("_foreach_") and name.endswith("_")
    for overload in getattr(torch.ops.aten, name).overloads()
    if overload != "out"
)


def _arguments_of(operator: torch._ops.OpOverload, lists: list[list[torch.Tensor]]) -> list[object]:
    """Arguments for an operator on lists: tensors that are given, and ones for numbers."""
    given, own = [], iter(lists)
    for one in operator._schema.arguments:
        kind = str(one.type)
        if one.has_default_value() or one.kwarg_only:
            break
        if kind == "List[Tensor]":
            given.append(next(own))
        elif kind.startswith("List["):
            given.append([1.0] * len(lists[0]))
        else:
            given.append(torch.ones((), device=lists[0][0].device) if kind == "Tensor" else 1.0)
    return given


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("given", ["dense", "strided"])
def test_autograd_knows_what_lists_are_written_to(name: str, given: str) -> None:
    packet, overload = name.split(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload)
    shape = (2, 6) if given == "dense" else (4, 6)
    lists = [
        [torch.rand(shape, device="vulkan")[:2, :: 1 if given == "dense" else 2] for _ in range(2)] for _ in range(4)
    ]
    arguments = _arguments_of(operator, lists)
    if any(str(one.type) == "Tensor" for one in operator._schema.arguments[2:]):  # of numbers, on the CPU
        arguments[-1] = torch.ones(2)
    before = [one._version for one in lists[0]]
    operator(*arguments)
    assert all(one._version > version for one, version in zip(lists[0], before, strict=True))


def test_steps_between_two_losses_are_noticed() -> None:
    for options in ({}, {"foreach": True}, {"foreach": False}):
        weight = torch.ones(3, device="vulkan", requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.5, **options)
        first, second = weight.sum(), weight.square().sum()
        first.backward()
        optimizer.step()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            second.backward()
