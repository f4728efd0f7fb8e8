"""Plans: an operator whose signature comes again is recorded again, for other memory, with the same results."""

from __future__ import annotations

import functools
import itertools
import math
import threading

import pytest
import torch
import torch.nn.functional as F

import vkarray as vx
from vkarray.kernels import planned, tuning

DEVICE = "vulkan"
CALLS = 5  # the first runs as it is, the second is traced, the others are repeated


@pytest.fixture(autouse=True)
def fresh():
    """No plans of earlier tests."""
    planned.forget()


class Repeated:
    """How many plans were run since the last `clear`."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.before = planned.statistics()["repeated"]

    def __len__(self):
        return planned.statistics()["repeated"] - self.before


@pytest.fixture
def repeated():
    return Repeated()


@functools.cache
def supported(dtype):
    """Whether the device computes with a type."""
    try:
        return torch.ones(1, device=DEVICE, dtype=dtype).cpu() is not None
    except vx.FeatureError:
        return False


def made(shapes, call, dtype=torch.float32):
    """Small whole numbers and halves, different for each call: sums of their products are exact in float32."""
    generator = torch.Generator().manual_seed(call)
    return [(torch.randint(-8, 9, shape, generator=generator) / 2).to(dtype) for shape in shapes]


def inplace_sum(x, y):
    x = x.clone()
    x.add_(y)
    return x.relu_()


# Operators of models: name -> (function, shapes of its tensors, largest difference in units of the result's last place).
OPERATORS = {
    "add": (torch.add, [(3, 5), (3, 5)], 0),
    "add, broadcast": (torch.add, [(3, 5), (5,)], 0),
    "multiply by a number": (lambda x: x * 1.5, [(3, 5)], 0),
    "clamp": (lambda x: x.clamp(-1, 2), [(3, 5)], 0),
    "in place": (inplace_sum, [(3, 5), (3, 5)], 0),
    "gelu": (F.gelu, [(3, 5)], 8),
    "silu": (F.silu, [(3, 5)], 8),
    "mm": (torch.mm, [(4, 6), (6, 3)], 0),
    "mm, transposed": (lambda x, y: x @ y.T, [(4, 6), (3, 6)], 0),
    "bmm": (torch.bmm, [(2, 4, 6), (2, 6, 3)], 0),
    "matmul": (torch.matmul, [(2, 3, 4, 6), (2, 3, 6, 5)], 0),
    "addmm": (lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2), [(3,), (4, 6), (6, 3)], 0),
    "linear": (F.linear, [(2, 4, 6), (3, 6), (3,)], 0),
    "layer norm": (lambda x, w, b: F.layer_norm(x, (6,), w, b), [(4, 6), (6,), (6,)], 64),
    "batch norm": (lambda x, m, v, w, b: F.batch_norm(x, m, v * v + 1, w, b), [(2, 3, 4, 4), *[(3,)] * 4], 64),
    "softmax": (lambda x: x.softmax(-1), [(4, 7)], 8),
    "attention": (F.scaled_dot_product_attention, [(1, 2, 4, 8), (1, 2, 5, 8), (1, 2, 5, 8)], 64),
    "attention of groups": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        [(2, 4, 4, 8), (2, 2, 5, 8), (2, 2, 5, 8)],
        64,
    ),  # its stacks of products have dimensions that do not merge
    "convolution": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [(2, 3, 6, 6), (4, 3, 3, 3), (4,)], 0),
    "convolution of channels": (lambda x, w: F.conv2d(x, w, groups=3), [(2, 3, 6, 6), (3, 1, 3, 3)], 0),
    "cat": (lambda x, y: torch.cat([x, y], 1), [(3, 2), (3, 4)], 0),
    "contiguous": (lambda x: x.transpose(1, 2).contiguous(), [(2, 3, 4, 5)], 0),
    "sum": (torch.sum, [(3, 5)], 0),
    "mean": (lambda x: x.mean(-1, keepdim=True), [(3, 4)], 0),
    "where": (lambda x, y: torch.where(x > 0, x, y), [(3, 5), (3, 5)], 0),
    "maximum": (lambda x: x.amax(1), [(3, 5)], 0),
}


def close(found, expected, units):
    """Whether two results agree within units of the last place of the largest value."""
    scale = max(float(expected.abs().max()), 1) * torch.finfo(expected.dtype).eps
    return found.shape == expected.shape and float((found.cpu() - expected).abs().max()) <= units * scale


@pytest.mark.parametrize("name", OPERATORS)
def test_calls_of_one_signature(name, repeated):
    function, shapes, units = OPERATORS[name]
    kept = []
    with torch.inference_mode():
        for call in range(CALLS):
            tensors = made(shapes, call)
            there = [one.to(DEVICE) for one in tensors]
            found = function(*there)
            kept.append((there, found, function(*tensors)))
    for _, found, expected in kept:  # none of them was written over
        assert close(found, expected, units)
    assert len(repeated) >= CALLS - 2


# Large enough for kernels that read texels, on devices that have these.
LARGE = {
    "add": (torch.add, [(200, 400), (200, 400)]),
    "mm": (torch.mm, [(128, 160), (160, 96)]),
    "sum": (lambda x: x.sum(1), [(300, 400)]),
    "views": (lambda x, y: x[1:] + y[1:], [(257, 512), (257, 512)]),
    "of itself": (lambda x: x + x, [(200, 400)]),
}


@pytest.mark.parametrize("name", LARGE)
def test_calls_of_large_tensors(name, repeated):
    function, shapes = LARGE[name]
    with torch.inference_mode():
        for call in range(CALLS):
            tensors = made(shapes, call)
            assert torch.equal(function(*[one.to(DEVICE) for one in tensors]).cpu(), function(*tensors))
    assert len(repeated) >= CALLS - 2


@pytest.mark.parametrize("name", ["mm", "linear", "softmax", "layer norm", "attention", "cat", "sum"])
def test_calls_in_16_bits(name):
    function, shapes, _ = OPERATORS[name]
    if not supported(torch.float16):
        return
    with torch.inference_mode():
        for call in range(CALLS):
            tensors = made(shapes, call, torch.float16)
            found = function(*[one.to(DEVICE) for one in tensors]).cpu().float()
            assert close(found, function(*[one.float() for one in tensors]), 2.0**14)  # 2 units of float16


def test_views_have_plans_of_their_own(repeated):
    host = torch.arange(96.0)
    there = host.to(DEVICE)
    for call in range(3 * CALLS):
        start = (0, 1, 16)[call % 3]
        views = [one[start : start + 24].view(4, 6) for one in (host, there)]
        assert torch.equal(views[1].sum(1).cpu(), views[0].sum(1))
        assert torch.equal((views[1] @ views[1].T).cpu(), views[0] @ views[0].T)
    assert repeated


def test_tensors_that_share_memory():
    x, y = made([(4, 4), (4, 4)], 0)
    there = [x.to(DEVICE), y.to(DEVICE)]
    for _ in range(CALLS):
        for one, other in ((0, 0), (0, 1), (1, 1), (1, 0)):
            assert torch.equal((there[one] @ there[other]).cpu(), (x, y)[one] @ (x, y)[other])
        assert torch.equal(torch.cat([there[0], there[1], there[0]]).cpu(), torch.cat([x, y, x]))


def test_changes_in_place_are_seen():
    x = torch.ones(4, 4)
    there, weight = x.to(DEVICE), torch.eye(4).to(DEVICE)
    for call in range(CALLS):
        there.add_(call)
        x.add_(call)
        there[1].mul_(2)
        x[1].mul_(2)
        assert torch.equal((there @ weight).cpu(), x)


def test_written_statistics():
    shape, running = (4, 3, 5), [torch.zeros(3), torch.ones(3)]
    there = [one.to(DEVICE) for one in running]
    for call in range(CALLS):
        (x,) = made([shape], call)
        expected = F.batch_norm(x, *running, training=True)
        assert close(F.batch_norm(x.to(DEVICE), *there, training=True), expected, 64)
        for one, other in zip(there, running, strict=True):
            assert close(one, other, 8)


def test_scalars_of_one_signature(repeated):
    x = torch.tensor([1.0, -2.0])
    there = x.to(DEVICE)
    for _ in range(CALLS):
        for number in (0.0, -0.0, 1, 1.0, True, 2.5, 1e300, -math.inf):
            found, expected = there * number, x * number
            assert found.dtype == expected.dtype
            assert torch.equal(torch.signbit(found.cpu()), torch.signbit(expected))
            assert torch.equal(found.cpu(), expected)
    repeated.clear()
    assert torch.equal((there * 0.75).cpu(), x * 0.75), "a plan for other numbers gives a wrong result"
    assert repeated, "a number that was not met before takes the long way"


# What has a floating-point argument whose value no code decides by: x of (4, 3, 5), and that number.
OF_A_NUMBER = {
    "batch_norm, momentum": lambda x, number: F.batch_norm(x, *statistics(x), training=True, momentum=number),
    "layer_norm": lambda x, number: F.layer_norm(x, (5,), eps=number),
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "celu": F.celu,
    "softplus": F.softplus,
    "hardshrink": F.hardshrink,
    "softshrink": F.softshrink,
    "threshold": lambda x, number: F.threshold(x, 0.25, number),
    "hardtanh": lambda x, number: F.hardtanh(x, -number, number),
    "huber_loss": lambda x, number: F.huber_loss(x, x * 2, delta=number),
    "smooth_l1_loss": lambda x, number: F.smooth_l1_loss(x, x * 2, beta=number),
    "lerp": lambda x, number: torch.lerp(x, x * 2, number),
    "add, alpha": lambda x, number: torch.add(x, x, alpha=number),
    "clamp": lambda x, number: torch.clamp(x, max=number),
    "attention, scale": lambda x, number: F.scaled_dot_product_attention(x, x, x, scale=number),
    "renorm": lambda x, number: torch.renorm(x, 2, 0, number),
}


def statistics(x):
    return torch.zeros(3, device=x.device), torch.ones(3, device=x.device)


@pytest.mark.parametrize("name", OF_A_NUMBER)
def test_other_numbers_have_the_same_plan(name, repeated):
    function = OF_A_NUMBER[name]
    (x,) = made([(4, 3, 5)], 0)
    there = x.to(DEVICE)
    for call in range(CALLS):
        function(there, 0.5 + call / 8)
    before = planned.statistics()["watched"]
    for number in (0.3125, 0.75, 0.0625):
        assert close(function(there, number), function(x, number), 64)
    assert planned.statistics()["watched"] == before, "a number that was not met before makes a plan anew"


def test_no_elements():
    for _ in range(CALLS):
        assert torch.mm(torch.ones(0, 3, device=DEVICE), torch.ones(3, 2, device=DEVICE)).shape == (0, 2)
        assert torch.equal(
            torch.mm(torch.ones(2, 0, device=DEVICE), torch.ones(0, 2, device=DEVICE)).cpu(), torch.zeros(2, 2)
        )
        assert float(torch.ones(0, device=DEVICE).sum().cpu()) == 0


def test_indices_out_of_range_are_found():
    table = torch.arange(12.0).view(4, 3)
    there = table.to(DEVICE)
    for call in range(CALLS + 2):
        good = torch.tensor([call % 4, 1], dtype=torch.int32)
        assert torch.equal(F.embedding(good.to(DEVICE), there).cpu(), table[good])
        assert torch.equal(there[good.to(DEVICE)].cpu(), table[good])
        bad = there.index_select(0, torch.tensor([4, 0], dtype=torch.int32).to(DEVICE))
        with pytest.raises(IndexError):
            bad.cpu()
        assert torch.equal(there.index_select(0, good.to(DEVICE)).cpu(), table[good])


def test_writing_at_indices(repeated):
    for call in range(CALLS):
        x, rows = made([(6, 4), (2, 4)], call)
        places = torch.tensor([call % 6, (call + 2) % 6], dtype=torch.int32)
        there = x.to(DEVICE)
        there[places.to(DEVICE)] = rows.to(DEVICE)
        x[places.long()] = rows
        assert torch.equal(there.cpu(), x)
        there.index_put_((places.to(DEVICE),), rows.to(DEVICE), accumulate=True)
        assert torch.equal(there.cpu(), x.index_put_((places.long(),), rows, accumulate=True))
        there[there > 2] = -1.0
        x[x > 2] = -1.0
        assert torch.equal(there.cpu(), x)
        assert torch.equal(there.repeat(2, 3).cpu(), x.repeat(2, 3))
    assert repeated


def test_random_numbers_differ():
    x = torch.ones(1000, device=DEVICE)
    torch.manual_seed(3)
    drawn = [F.dropout(x).cpu() for _ in range(CALLS)]
    torch.manual_seed(3)
    again = [F.dropout(x).cpu() for _ in range(CALLS)]
    assert all(torch.equal(one, other) for one, other in zip(drawn, again, strict=True))
    assert all(not torch.equal(one, drawn[0]) for one in drawn[1:])
    assert all(not torch.equal(torch.rand_like(x).cpu(), drawn[0]) for _ in range(CALLS))


def test_results_that_depend_on_values(repeated):
    for call in range(CALLS):
        mask = torch.arange(8) < call
        assert torch.equal(torch.arange(8.0).to(DEVICE)[mask.to(DEVICE)].cpu(), torch.arange(8.0)[mask])
        if supported(torch.int64):
            assert len(torch.nonzero(mask.to(DEVICE))) == call


def test_errors_come_again():
    for _ in range(CALLS):
        with pytest.raises(RuntimeError):
            torch.mm(torch.ones(2, 3, device=DEVICE), torch.ones(2, 3, device=DEVICE))


def test_threads():
    x, y = made([(16, 16), (16, 16)], 0)
    failures = []

    def work(number):
        own = (x + number).to(DEVICE), y.to(DEVICE)
        for _ in range(20):
            if not torch.equal((own[0] @ own[1]).cpu(), (x + number) @ y):
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_memory_that_was_given_back():
    device = vx.asarray(0.0).device
    for call in range(CALLS):
        tensors = made([(64, 64), (64, 64)], call)
        assert torch.equal((tensors[0].to(DEVICE) @ tensors[1].to(DEVICE)).cpu(), tensors[0] @ tensors[1])
        del tensors
        device.empty_cache()


def test_other_choices_of_kernels_make_other_plans(repeated):
    x, y = (one.to(DEVICE) for one in made([(8, 8), (8, 8)], 0))
    for _ in range(CALLS):
        torch.mm(x, y)
    assert repeated
    repeated.clear()
    with tuning.trying("matmul", ""):
        torch.mm(x, y)
    assert not repeated


def test_comparing_with_numpy_passes_no_plan(repeated):
    x = torch.ones(4, device=DEVICE)
    for _ in range(CALLS):
        x.sum()
    repeated.clear()
    with vx.config(compare=True):
        x.sum()
    assert not repeated


def test_many_signatures_are_forgotten(monkeypatch):
    monkeypatch.setattr(planned, "GENERATION", 8)
    for _ in range(3):
        for length in range(1, 12):
            x = torch.arange(float(length))
            assert torch.equal(x.to(DEVICE).sum().cpu(), x.sum())
    assert planned.statistics()["signatures"] <= 16


# -- operators that PyTorch composes of others ------------------------------------------------------------------------


COMPOSED = ["linear", "matmul", "layer norm", "batch norm", "convolution", "attention"]


@pytest.mark.parametrize("name", COMPOSED)
def test_gradients_are_recorded(name):
    function, shapes, units = OPERATORS[name]
    if name == "attention" and not supported(torch.int64):
        return  # its operator returns seeds of that type
    for call in range(CALLS):
        with torch.no_grad():  # plans, which calls with gradients must not meet
            result = function(*[one.to(DEVICE) for one in made(shapes, call)])
        assert not result.requires_grad
        tensors = made(shapes, call)
        hosts = [one.clone().requires_grad_() for one in tensors]
        theres = [one.to(DEVICE).requires_grad_() for one in tensors]
        if name == "batch norm":  # running statistics take no gradient
            for one in (*hosts[1:3], *theres[1:3]):
                one.requires_grad_(False)
        with torch.no_grad():
            assert not function(*theres).requires_grad
        found, expected = function(*theres), function(*hosts)
        assert close(found.detach(), expected.detach(), units)
        (found * found).sum().backward()
        (expected * expected).sum().backward()
        for one, other in zip(theres, hosts, strict=True):
            if other.requires_grad:
                assert close(one.grad, other.grad, 4096)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")  # PyTorch's own, of its formulas
@pytest.mark.parametrize("name", ["linear", "matmul"])
def test_forward_derivatives_are_recorded(name):
    function, shapes, _ = OPERATORS[name]
    for call in range(CALLS):
        tensors, directions = made(shapes, call), made(shapes, call + 100)
        with torch.no_grad():
            function(*[one.to(DEVICE) for one in tensors])
            _, expected = torch.func.jvp(function, tuple(tensors), tuple(directions))
            primals, tangents = (tuple(one.to(DEVICE) for one in each) for each in (tensors, directions))
            _, found = torch.func.jvp(function, primals, tangents)
        assert close(found, expected, 64)


def test_modes_see_the_parts():
    seen = []

    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x, weight = (one.to(DEVICE) for one in made([(2, 4), (3, 4)], 0))
    for _ in range(CALLS):
        with torch.no_grad():
            expected = F.linear(x, weight)
            with Mode():
                found = F.linear(x, weight)
        assert torch.equal(found.cpu(), expected.cpu())
    assert "aten.mm.default" in seen


def test_conversions_and_padding(repeated):
    for call in range(CALLS):
        (x,) = made([(3, 5)], call)
        there = x.to(DEVICE)
        assert torch.equal(there.to(torch.int32).cpu(), x.to(torch.int32))
        assert torch.equal(F.pad(there, (1, 2, 0, 1), value=call).cpu(), F.pad(x, (1, 2, 0, 1), value=call))
        assert torch.equal(F.pad(there, (1, 2)).cpu(), F.pad(x, (1, 2)))
        assert torch.equal(there.to("cpu", torch.float64), x.double())
    assert repeated


LINEAR = {
    "vector": ((5,), (7, 5), (7,)), "matrix": ((4, 5), (7, 5), (7,)), "stack": ((2, 3, 4, 5), (7, 5), None),
    "no rows": ((0, 5), (7, 5), (7,)), "weight of one row": ((3, 4, 5), (5,), None), "bias of one": ((3, 5), (7, 5), (1,)),
    "bias of all": ((3, 5), (7, 5), (3, 7)),
}  # fmt: skip


@pytest.mark.parametrize("name", LINEAR)
def test_gradients_of_linear(name):
    shapes = [one for one in LINEAR[name] if one is not None]
    for call in range(CALLS):
        hosts = [one.requires_grad_() for one in made(shapes, call)]
        theres = [one.detach().to(DEVICE).requires_grad_() for one in hosts]
        for wanted in itertools.product((False, True), repeat=len(shapes)):
            if not any(wanted):
                continue
            found = []
            for given in (theres, hosts):
                taken = [one if want else one.detach() for one, want in zip(given, wanted, strict=True)]
                inputs = [one for one, want in zip(taken, wanted, strict=True) if want]
                first = torch.autograd.grad(F.linear(*taken).sin().sum(), inputs, create_graph=True)
                total = sum(one.square().sum() for one in first)
                second = torch.autograd.grad(total, inputs, allow_unused=True) if total.requires_grad else ()
                found.append([*first, *second])
            for one, other in zip(*found, strict=True):
                assert (one is None) == (other is None)
                assert one is None or not one.numel() or close(one.detach(), other.detach(), 4096)


@pytest.mark.filterwarnings("error")
def test_gradients_of_linear_for_many_results_at_once():
    x, weight, bias = made([(3, 5), (7, 5), (7,)], 0)
    for _ in range(CALLS):
        found = [
            torch.func.vmap(
                torch.func.grad(lambda w, b, row: F.linear(row, w, b).sin().sum(), (0, 1)), (None, None, 0)
            )(*(one.to(where) for one in (weight, bias, x)))
            for where in (DEVICE, "cpu")
        ]
        for one, other in zip(*found, strict=True):
            assert close(one, other, 64)
        jacobians = [
            torch.autograd.functional.jacobian(
                F.linear, tuple(one.to(where) for one in (x, weight, bias)), vectorize=True
            )
            for where in (DEVICE, "cpu")
        ]
        for one, other in zip(*jacobians, strict=True):
            assert close(one, other, 64)
