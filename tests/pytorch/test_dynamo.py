"""`torch.compile(..., backend="vulkan")`: compiled models beside the same models without, forth, back and in training."""

from __future__ import annotations

import copy
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo
from checks import no_memory_held
from torch import Tensor, nn

import vkarray as vx
from vkarray.errors import counted
from vkarray.kernels import evaluation, fused
from vkarray.torch import FallbackError, FallbackWarning, dynamo, reset_fallbacks, strict

# PyTorch's own, of modules that its compilers import.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    """No test sees the programs of another one."""
    torch.compiler.reset()
    torch.manual_seed(0)
    with strict(), torch._dynamo.config.patch(allow_rnn=True):
        yield


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, groups=2)
        self.out = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.norm(self.first(x)))
        x = torch.max_pool2d(torch.nn.functional.silu(self.second(x)), 2)
        found: Tensor = self.out(x.flatten(1))
        return found


class Recurrent(nn.Module):
    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.cell = kind(5, 6, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.cell(x)[0]
        return found


class Words(nn.Module):
    """Shares its parameters between both ends."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm, self.head = nn.Embedding(11, 8), nn.LayerNorm(8), nn.Linear(8, 11, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.head(self.norm(self.words(x)))
        return found


def _block(dropout: float = 0.0) -> nn.Module:
    return nn.TransformerEncoderLayer(8, 2, 16, dropout, "gelu", batch_first=True, norm_first=True)


# How to make a model, and its argument.
MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Tensor]]] = {
    "perceptron": (
        lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)),
        lambda: torch.randn(3, 8),
    ),
    "convolutional": (Convolutional, lambda: torch.randn(2, 1, 8, 8)),
    "transformer": (_block, lambda: torch.randn(2, 5, 8)),
    "dropout": (lambda: _block(0.3), lambda: torch.randn(2, 5, 8)),
    "GRU": (lambda: Recurrent(nn.GRU), lambda: torch.randn(2, 3, 5)),
    "LSTM": (lambda: Recurrent(nn.LSTM), lambda: torch.randn(2, 3, 5)),
    "tied words": (Words, lambda: torch.randint(11, (2, 4))),
}  # fmt: skip


def _pair(name: str) -> tuple[nn.Module, nn.Module, Tensor]:
    """A model, a copy that is compiled, and an argument."""
    make, argument = MODELS[name]
    model = make().to("vulkan")
    again = copy.deepcopy(model)
    return model, torch.compile(again, backend="vulkan"), argument().to("vulkan")


@pytest.mark.parametrize("name", MODELS)
def test_inference(name: str) -> None:
    model, compiled, x = _pair(name)
    with torch.no_grad():
        model.eval()
        compiled.eval()
        for _ in range(3):
            found, expected = compiled(x), model(x)
            assert found.stride() == expected.stride()
            torch.testing.assert_close(found, expected)
    assert dynamo.explain().startswith("inference")


@pytest.mark.parametrize("name", MODELS)
def test_training(name: str) -> None:
    """Losses, gradients, parameters and running statistics of a few steps, with the same random numbers."""
    model, compiled, x = _pair(name)
    steps = []
    for one in (model, compiled):
        torch.manual_seed(7)
        optimizer = torch.optim.SGD(one.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            loss = one(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps.append((loss, [each.grad for each in one.parameters()]))
    for found, expected in zip(steps[3:], steps[:3], strict=True):
        torch.testing.assert_close(found, expected)
    state = compiled._orig_mod.state_dict()  # type: ignore[union-attr, operator]
    for key, value in model.state_dict().items():
        torch.testing.assert_close(state[key], value)


# -- what functions do ------------------------------------------------------------------------------------------------


def _in_place(x: Tensor, y: Tensor) -> Tensor:
    x.add_(y)
    x[1:] *= 2
    return x + y


def _of_views(x: Tensor, y: Tensor) -> Tensor:
    x.add_(1)
    return x * y


def _aliased(x: Tensor) -> tuple[Tensor, ...]:
    y = x * 2
    return y, y[1:], x[:2], y.t(), x


def _broken(x: Tensor) -> Tensor:
    y = torch.sin(x) * 2
    if y.sum() > 0:
        return torch.cos(y) + 1
    return y - 1


def _drawn(x: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.rand_like(x) + torch.randn(3, device=x.device) * x, nn.functional.dropout(x, 0.5),
        torch.bernoulli(torch.full((3,), 0.5, device=x.device)), torch.randint(0, 5, (4,), device=x.device),
        torch.randperm(5, device=x.device),
    )  # fmt: skip


def _on_the_host(x: Tensor, factor: Tensor) -> Tensor:
    return torch.sin(x) * factor + torch.tensor([1.0, 2.0, 3.0], device=x.device)


def _of_values(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.sin(x) * 2
    return torch.cos(y)[torch.nonzero(y > 0)[:, 0]] + 1, y.sum().item() * x


def _conjugated(x: Tensor) -> tuple[Tensor, ...]:
    return x.conj() * 2, x.conj(), x.real


def _overlapping() -> tuple[Tensor, Tensor]:
    whole = torch.randn(6).to("vulkan")
    return whole[:4], whole[2:]


# Each with what makes its arguments.
FUNCTIONS: dict[str, tuple[Callable[..., object], Callable[[], tuple[Tensor, ...]]]] = {
    "in place": (_in_place, lambda: (torch.randn(3).to("vulkan"), torch.randn(3).to("vulkan"))),
    "views of one tensor": (_of_views, _overlapping),
    "aliases": (_aliased, lambda: (torch.randn(3, 3).to("vulkan"),)),
    "a branch by value": (_broken, lambda: (torch.randn(3).to("vulkan"),)),
    "places of true elements": (lambda x: torch.nonzero(x > 0) * 2, lambda: (torch.randn(3).to("vulkan"),)),
    "random numbers": (_drawn, lambda: (torch.randn(3).to("vulkan"),)),
    "numbers of the host": (_on_the_host, lambda: (torch.randn(3).to("vulkan"), torch.randn(()))),
    "shapes by value": (_of_values, lambda: (torch.randn(5).to("vulkan"),)),
    "conjugates": (_conjugated, lambda: (torch.randn(3, dtype=torch.complex64).to("vulkan"),)),
    "a gradient": (torch.func.grad(lambda x: (x**3).sum()), lambda: (torch.randn(3).to("vulkan"),)),
    "rows": (torch.vmap(lambda row: torch.softmax(row, 0)), lambda: (torch.randn(3, 4).to("vulkan"),)),
    "a solution": (lambda x: torch.linalg.solve(x @ x.T + 1, x), lambda: (torch.randn(3, 3).to("vulkan"),)),
    "a solution in steps": (  # by a kernel that reads what it writes
        lambda x: torch.linalg.ldl_solve(*torch.linalg.ldl_factor(x + x.T), x),
        lambda: (torch.randn(5, 5).to("vulkan"),),
    ),
    "lists": (
        lambda *xs: torch._foreach_addcmul(torch._foreach_mul(xs, 2.0), xs, xs, value=0.5),
        lambda: (torch.randn(3).to("vulkan"), torch.randn(2, 2).to("vulkan")),
    ),
}  # fmt: skip


def _copies(given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Tensors in other memory, which share it as those given do."""
    return copy.deepcopy(given)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    """Three calls with other values, of which the arguments are compared afterwards, too, and the random numbers."""
    function, make = FUNCTIONS[name]
    captures = {"capture_dynamic_output_shape_ops": True, "capture_scalar_outputs": True}
    with torch._dynamo.config.patch(captures if name == "shapes by value" else {}):
        compiled = torch.compile(function, backend="vulkan")
        for seed in range(3):
            given = make()
            same = _copies(given)
            torch.manual_seed(seed)
            expected = function(*given), function(*given), torch.vulkan.get_rng_state()
            torch.manual_seed(seed)
            found = compiled(*same), compiled(*same), torch.vulkan.get_rng_state()
            torch.testing.assert_close((found, same), (expected, given))
    assert "operations in" in dynamo.explain()


def test_results_share_memory_as_they_do_without() -> None:
    x = torch.randn(3, 3, device="vulkan")
    y, rows, view, turned, same = torch.compile(_aliased, backend="vulkan")(x)
    assert same is x
    assert y.untyped_storage().data_ptr() == rows.untyped_storage().data_ptr() == turned.untyped_storage().data_ptr()
    assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


@pytest.mark.parametrize("dynamic", [True, None])
def test_sizes_that_vary(dynamic: bool | None) -> None:
    def function(x: Tensor) -> Tensor:
        pairs = x.view(x.shape[0] // 2, 2, -1) * x.shape[0]
        return torch.softmax(pairs.sum(1), -1) + torch.arange(x.shape[1], device=x.device)

    compiled = torch.compile(function, backend="vulkan", dynamic=dynamic)
    for rows in (4, 6, 8, 4):
        x = torch.randn(rows, 3).to("vulkan").requires_grad_()
        found, expected = compiled(x), function(x)
        torch.testing.assert_close(found, expected)
        weights = torch.randn_like(found)
        torch.testing.assert_close(*(torch.autograd.grad((one * weights).sum(), x) for one in (found, expected)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast(dtype: torch.dtype) -> None:
    model, compiled, x = _pair("perceptron")
    found, expected = [], []
    for one, results in ((compiled, found), (model, expected)):
        with torch.autocast("vulkan", dtype):
            y = one(x)
        y.float().sum().backward()
        results += [y, *(each.grad for each in one.parameters())]
    assert found[0].dtype is dtype
    torch.testing.assert_close(found, expected)


def test_modes() -> None:
    """A model that is called without gradients, in inference mode and with gradients."""
    model, compiled, x = _pair("perceptron")
    with torch.inference_mode():
        found = compiled(x)
        assert found.is_inference()
        torch.testing.assert_close(found, model(x))
    with torch.no_grad():
        assert not compiled(x).requires_grad
    compiled(x).sum().backward()


def test_parameters_that_move() -> None:
    """Where parameters are is asked again in each call."""
    model, compiled, x = _pair("perceptron")
    with torch.no_grad():
        for factor in (1.0, 2.0):
            for one in (model, compiled._orig_mod):
                one[0].weight.data = one[0].weight.data * factor
            torch.testing.assert_close(compiled(x), model(x))


OPTIMIZERS = {
    "SGD": {"momentum": 0.9}, "Adam": {}, "AdamW": {"capturable": True}, "RMSprop": {"foreach": False}, "Adagrad": {},
    "NAdam": {},
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_optimizers(name: str) -> None:
    model = MODELS["perceptron"][0]().to("vulkan")
    again = copy.deepcopy(model)
    x = torch.randn(3, 8).to("vulkan")
    for one in (model, again):
        optimizer = getattr(torch.optim, name)(one.parameters(), lr=0.01, **OPTIMIZERS[name])
        step = optimizer.step if one is model else torch.compile(optimizer.step, backend="vulkan")
        for _ in range(3):
            optimizer.zero_grad()
            one(x).square().sum().backward()
            step()
    torch.testing.assert_close(list(again.parameters()), list(model.parameters()))
    assert "one kernel" in dynamo.explain()


@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "ASGD"])
def test_steps_of_groups_with_a_schedule(name: str, foreach: bool) -> None:
    """The steps are those of the CPU, and are counted: for each group, whose options differ, at rates that change."""
    found = []
    for device, compiles in (("cpu", False), ("vulkan", True)):
        torch._dynamo.reset()
        weights = [torch.nn.Parameter(torch.ones(2, device=device)) for _ in range(2)]
        groups = [{"params": weights[:1]}, {"params": weights[1:], "weight_decay": 0.25}]
        optimizer = getattr(torch.optim, name)(groups, lr=0.1, foreach=foreach)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        step = torch.compile(optimizer.step, backend="vulkan") if compiles else optimizer.step
        for number in range(3):
            for one in weights:
                one.grad = torch.full((2,), number + 1.0, device=device)
            step()
            schedule.step()
        assert [float(optimizer.state[one]["step"]) for one in weights] == [3.0, 3.0]
        found.append([one.detach().cpu() for one in weights])
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


def test_checkpoints_draw_the_same_numbers() -> None:
    model, compiled = MODELS["dropout"][0]().to("vulkan"), []
    x = torch.randn(2, 5, 8).to("vulkan")

    def forward(x: Tensor) -> Tensor:
        found: Tensor = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
        return found

    for one in (forward, torch.compile(forward, backend="vulkan")):
        torch.manual_seed(3)
        model.zero_grad()
        y = one(x)
        y.square().sum().backward()
        compiled.append([y, *(each.grad.clone() for each in model.parameters())])
    torch.testing.assert_close(compiled[1], compiled[0])


def test_what_the_cpu_computes_runs_between_programs() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        y = torch.sin(x) * 2
        return torch.hash_tensor(y), torch.cos(y) + 1

    x = torch.randn(5).to("vulkan")
    compiled = torch.compile(function, backend="vulkan")
    with strict(False):
        reset_fallbacks()
        with pytest.warns(FallbackWarning, match="hash_tensor"):
            found = compiled(x)
        torch.testing.assert_close(found, function(x))
    assert "aten.hash_tensor.default runs without a program: it runs on the CPU" in dynamo.explain()
    with pytest.raises(FallbackError, match="hash_tensor"):
        compiled(x)


def test_programs_leave_no_memory() -> None:
    _, compiled, x = _pair("transformer")
    for _ in range(3):
        compiled(x).sum().backward()
    compiled.zero_grad()
    with no_memory_held(0):
        compiled(x).sum().backward()
        compiled.zero_grad()


def test_attention_alone() -> None:
    """Without gradients attention is computed as it is without `torch.compile`, in the same bits."""
    x = torch.randn(1, 2, 5, 8).to("vulkan")
    attend = nn.functional.scaled_dot_product_attention
    with torch.no_grad():
        assert torch.equal(
            torch.compile(attend, backend="vulkan")(x, x, x, is_causal=True), attend(x, x, x, is_causal=True)
        )


# What follows a product, and how many dispatches are left.
CHAINS: dict[str, tuple[Callable[..., Tensor], int]] = {
    "an activation": (lambda y, x: nn.functional.gelu(y), 1),
    "another one": (lambda y, x: torch.relu(y), 1),
    "a sum": (lambda y, x: x + y, 1),
    "both": (lambda y, x: nn.functional.silu(y).view(2, 15) + x.view(2, 15), 1),
    "a sum of what is read again": (lambda y, x: (x + y) * y, 2),
    "a sum of rows": (lambda y, x: y + x[0, 0], 2),
    "a sum in another type": (lambda y, x: y + x.float(), 2),
    "a sum that is scaled": (lambda y, x: torch.add(y, x, alpha=2), 2),
    "two activations": (lambda y, x: torch.tanh(torch.relu(y)), 2),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", CHAINS)
def test_products_take_what_follows(name: str, bias: bool, dtype: torch.dtype) -> None:
    follow, dispatches = CHAINS[name]
    layer = nn.Linear(5, 5, bias).to("vulkan", dtype)
    x = torch.randn(2, 3, 5).to("vulkan", dtype)

    def function(x: Tensor) -> Tensor:
        return follow(layer(x), x)

    with torch.no_grad():
        assert torch.equal(torch.compile(function, backend="vulkan")(x), function(x))
    same = dtype is torch.float32 and name == "a sum in another type"  # it is none then
    assert f"in {counted(1 if same else dispatches, 'dispatch')}" in dynamo.explain()


def test_rows_of_integers_are_traced() -> None:
    """Of indices PyTorch says that the shape depends on values, which is so for masks alone."""
    x, rows = torch.randn(4, 3).to("vulkan"), torch.tensor([2, 0, -1]).to("vulkan")

    def function(x: Tensor) -> Tensor:
        return torch.sin(x)[rows] + 1

    assert torch.equal(torch.compile(function, backend="vulkan")(x), function(x))
    assert "without a program" not in dynamo.explain()


def test_inductor_says_which_backend_to_use() -> None:
    with pytest.raises(Exception, match=r'torch.compile\(..., backend="vulkan"\)'):
        torch.compile(torch.sin)(torch.ones(3, device="vulkan"))


def test_without_programs() -> None:
    """`vx.config(compile=False)` runs graphs as they are."""
    model, compiled, x = _pair("perceptron")
    with torch.no_grad(), vx.config(compile=False):
        torch.testing.assert_close(compiled(x), model(x))
    assert "0 programs" in dynamo.explain()


def test_the_switch_contract_has_programs_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    expressions: list[bool] = []
    monkeypatch.setattr(evaluation, "code", lambda expression, *rest: _noted(expressions, expression, *rest))
    evaluation._kernel.cache_clear()
    x = torch.linspace(0.5, 2, 7, device="vulkan")
    function = torch.compile(lambda x: torch.exp(x) * x + 2.5, backend="vulkan")
    for contract in (False, True, False, True):
        with vx.config(contract=contract):
            torch.testing.assert_close(function(x).cpu(), torch.exp(x.cpu()) * x.cpu() + 2.5)
    assert expressions == [False, True]


def test_the_switch_approximate_has_programs_of_its_own() -> None:
    x = torch.linspace(0.5, 2, 700, device="vulkan")
    function = torch.compile(lambda x: torch.exp(x) / (x + 2.5) - torch.log(x), backend="vulkan")
    exact = function(x).cpu()
    with vx.config(approximate=True):
        near = function(x).cpu()
    torch.testing.assert_close(near, exact)
    assert not torch.equal(near, exact)
    assert torch.equal(function(x).cpu(), exact)


def _noted(expressions: list[bool], expression: Any, *rest: Any) -> bytes:
    expressions.append(expression.contracts)
    return fused.code(expression, *rest)


def test_the_backend_is_listed() -> None:
    assert "vulkan" in torch.compiler.list_backends()


_BY_NAME = """
import sys, torch
sys.path.append({folder!r})
assert "vulkan" in torch.compiler.list_backends() and "vkarray" not in sys.modules
print(torch.compile(lambda x: x + 1, backend="vulkan")(torch.ones(2)).tolist())
print(torch.compile(lambda x: x + 1, backend="vulkan")(torch.ones(2, device="vulkan")).tolist())
"""


def test_the_installed_package_brings_the_backend(tmp_path: Path) -> None:
    """PyTorch finds the backend by its entry point, and imports the package when it is asked for."""
    root = Path(vx.__file__).parents[1]
    entries = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    (tmp_path / "another-0.dist-info").mkdir()
    lines = [f"{name} = {where}" for name, where in entries["torch_dynamo_backends"].items()]
    text = "\n".join(["[torch_dynamo_backends]", *lines])
    (tmp_path / "another-0.dist-info" / "entry_points.txt").write_text(text, encoding="utf-8")
    code = _BY_NAME.format(folder=str(tmp_path))
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=root, capture_output=True, text=True)
    assert ran.stdout.split("\n")[:2] == ["[2.0, 2.0]"] * 2, ran.stderr
