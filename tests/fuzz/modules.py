"""Random networks on the device `vulkan` and on the CPU: results, gradients and steps of training agree."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import torch
from choices import Single
from difference import Difference
from networks import Network
from tensors import close
from torch import Tensor, nn

import vkarray.torch  # noqa: F401 - the device

STEPS = 1
LAYOUTS = ("contiguous", "contiguous", "transposed", "expanded", "sliced", "channels_last")
OPTIMIZERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}), ("SGD", {"lr": 0.05}), ("AdamW", {"lr": 0.01, "amsgrad": True}),
    ("Adam", {"lr": 0.01, "foreach": False}), ("Adam", {"lr": 0.01, "fused": True}), ("RMSprop", {"lr": 0.01, "centered": True}),
    ("Adagrad", {"lr": 0.05}), ("Adadelta", {}), ("NAdam", {"lr": 0.01}), ("RAdam", {"lr": 0.01}), ("Adamax", {"lr": 0.01}),
    ("ASGD", {"lr": 0.05}),
)  # fmt: skip

Way = Callable[["Chain", nn.Module, Tensor], list[Tensor]]
WAYS: list[Way] = []


def way(function: Way) -> Way:
    """Enter a way of using a network: what it gives is compared."""
    WAYS.append(function)
    return function


def loss_of(found: Tensor) -> Tensor:
    """A number in which each element has a weight of its own."""
    weights = torch.linspace(-1, 1.3, max(found.numel(), 1), dtype=torch.float64)[: found.numel()].reshape(found.shape)
    return (found * weights.to(found.dtype).to(found.device)).sum()


@way
def evaluated(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    with torch.inference_mode() if chain.of_seed(2) else torch.no_grad():
        return [model.eval()(x)]


@way
def trained(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    """Two steps of an optimizer, and what the model gives then."""
    x, seen = x.requires_grad_(), []
    name, options = OPTIMIZERS[chain.of_seed(len(OPTIMIZERS))]
    parameters = list(model.parameters())
    optimizer = getattr(torch.optim, name)(parameters, **options) if parameters else None
    for _ in range(2):
        found = model(x)
        for one in (x, *parameters):
            one.grad = None
        loss_of(found).backward()
        seen += [found, x.grad, *(one.grad.clone() for one in parameters if one.grad is not None)]
        if optimizer is not None and chain.of_seed(2):
            nn.utils.clip_grad_norm_(parameters, 0.5)
        if optimizer is not None and chain.steps:
            optimizer.step()
    if chain.steps:
        seen += [*parameters, *model.buffers()]
        return [*seen, model.eval()(x)]
    return seen


@way
def retained(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    """Gradients twice of one graph, added up, with hooks that change them."""
    x = x.requires_grad_()
    seen: list[Tensor] = []
    handles = [
        one.register_full_backward_hook(lambda _, given, out: seen.append(out[0])) for one in list(model.children())[:1]
    ]
    found = model(x)
    found.register_hook(lambda gradient: gradient * 2)
    for parameter in list(model.parameters())[:1]:
        parameter.register_hook(lambda gradient: gradient + 1)
        parameter.register_post_accumulate_grad_hook(lambda one: seen.append(one.grad.clone()))
    loss_of(found).backward(retain_graph=True)
    loss_of(found * found).backward()
    for one in handles:
        one.remove()
    return [found, x.grad, *(one.grad for one in model.parameters()), *seen]


@way
def checkpointed(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    x = x.requires_grad_()
    found = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=bool(chain.of_seed(2)))
    loss_of(found).backward()
    return [found, x.grad, *(one.grad for one in model.parameters())]


@way
def differentiated_twice(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    x = x.requires_grad_()
    found = model(x)
    (first,) = torch.autograd.grad(loss_of(found), x, create_graph=True)
    if not first.requires_grad:
        return [found, first]
    parameters = [x, *model.parameters()]
    second = torch.autograd.grad(loss_of(first * first), parameters, allow_unused=True)
    return [found, first, *(one for one in second if one is not None)]


def _functional(model: nn.Module) -> tuple[dict[str, Tensor], Callable[..., Tensor]]:
    parameters = {name: one.detach() for name, one in model.named_parameters()}
    buffers = {name: one.detach().clone() for name, one in model.named_buffers()}
    return parameters, lambda given, x: torch.func.functional_call(model, {**given, **buffers}, (x,))


@way
def transformed(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    """Gradients by torch.func."""
    parameters, call = _functional(model.eval())
    gradients, value = torch.func.grad_and_value(lambda given: loss_of(call(given, x)))(parameters)
    return [value, *gradients.values()]


@way
def pushed_forward(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    """Forward derivatives."""
    parameters, call = _functional(model.eval())
    return list(torch.func.jvp(lambda one: call(parameters, one), (x,), (torch.cos(x),)))


@way
def pulled_back(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    parameters, call = _functional(model.eval())
    found, pull = torch.func.vjp(call, parameters, x)
    gradients, of_x = pull(torch.cos(found))
    return [found, of_x, *gradients.values()]


@way
def per_sample(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    """Gradients of each sample, by vmap."""
    parameters, call = _functional(model.eval())
    each = torch.func.vmap(torch.func.grad(lambda given, one: loss_of(call(given, one[None]))), (None, 0))
    return list(each(parameters, x).values())


@way
def mapped(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    """Several inputs, by vmap."""
    parameters, call = _functional(model.eval())
    return [torch.func.vmap(lambda one: call(parameters, one))(torch.stack([x, x.flip(0), x * 2]))]


@way
def cast_by_autocast(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    x = x.float().requires_grad_()
    model = model.float()
    with torch.autocast(x.device.type, torch.bfloat16):
        found = model(x)
    loss_of(found.float()).backward()
    return [one.bfloat16() for one in (found, x.grad, *(one.grad for one in model.parameters())) if one is not None]


@way
def compiled(chain: Chain, model: nn.Module, x: Tensor) -> list[Tensor]:
    """By torch.compile, on the device alone."""
    torch._dynamo.reset()
    called = (
        torch.compile(model, backend="vulkan", dynamic=bool(chain.of_seed(2))) if x.device.type == "vulkan" else model
    )
    seen = []
    for count in (len(x), len(x), 1):
        given = x.detach()[:count].clone().requires_grad_()
        found = called(given)
        for one in model.parameters():
            one.grad = None
        loss_of(found).backward()
        seen += [found, given.grad, *(one.grad for one in model.parameters())]
    return seen


class Chain(Single):
    """A network, its input, and one way of using both."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        torch.manual_seed(seed)
        self.model = Network(self, self.integer(1, 6))
        self.way: Way = self.choice(WAYS[:-1]) if self.chance(0.95) else compiled
        self.steps = self.chance(0.7)
        # Optimizers that divide by what gradients are like make much of what rounding leaves of them.
        wide = self.way is trained and self.steps
        self.dtype = torch.float64 if wide else self.choice((torch.float64, torch.float64, torch.float32))
        self.model.to(self.dtype)
        with torch.no_grad():
            for one in self.model.buffers():  # running statistics of their own
                if one.is_floating_point():
                    one.add_(torch.rand(one.shape, dtype=one.dtype) * 0.3)
        if self.chance(0.5):
            self.model.eval()
        self.layout = self.choice(LAYOUTS)
        self.x = self._input()

    def of_seed(self, count: int) -> int:
        """A number below `count`, the same one on both devices."""
        return (self.seed * 2654435761 >> 7) % count

    def _input(self) -> Tensor:
        shape = self.model.shape
        if self.layout == "transposed":
            return torch.randn(shape[::-1], dtype=self.dtype).permute(*range(len(shape))[::-1])
        if self.layout == "expanded":
            return torch.randn((shape[0], 1, *shape[2:]), dtype=self.dtype).expand(shape)
        if self.layout == "sliced":
            return torch.randn((*shape[:-1], 2 * shape[-1] + 1), dtype=self.dtype)[..., 1::2]
        x = torch.randn(shape, dtype=self.dtype)
        if self.layout == "channels_last" and len(shape) in (4, 5):
            return x.contiguous(memory_format=torch.channels_last if len(shape) == 4 else torch.channels_last_3d)
        return x

    def run(self, device: str, away: float = 0.0) -> list[Tensor] | Exception:
        """What the way gives on a device, or its error; of an input and weights that are `away` from what they are."""
        model, x = copy.deepcopy(self.model), self.x.clone(memory_format=torch.preserve_format)
        if away:
            with torch.no_grad():
                for one in (x, *model.parameters()):
                    one += (one.abs() + 0.1) * away * torch.randn(one.shape, dtype=one.dtype)
        model, x = model.to(device), x.to(device)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = self.way(self, model, x)
                return [one.detach().cpu() for one in found if one is not None]
        except Exception as error:
            return error

    def is_open(self, number: int, ours: Tensor, theirs: Tensor) -> bool:
        """Whether the last bits of what is given decide as much: as of the variance of equal numbers."""
        for _ in range(3):
            found = self.run("cpu", 4 * torch.finfo(self.dtype).eps)
            if isinstance(found, Exception) or found[number].shape != theirs.shape:
                return True
            both = torch.isfinite(ours) & torch.isfinite(theirs)
            if float((ours - theirs)[both].abs().max()) <= 50 * float((found[number] - theirs)[both].abs().max()):
                return True
        return False

    def text(self) -> str:
        kind = f"{str(self.dtype)[6:]}{list(self.x.shape)} {self.layout}, strides {list(self.x.stride())}"
        return f"{self.way.__name__} of {kind}, {'training' if self.model.training else 'evaluation'}: {self.model}"

    def take(self, _: Any) -> None:
        """Compare. Raises Difference."""
        theirs = self.run("cpu")
        ours = self.run("vulkan")
        if isinstance(theirs, Exception) or isinstance(ours, Exception):
            if isinstance(theirs, Exception):  # of transformations much is not there
                return
            raise Difference(f"{said(ours)} on vulkan, {said(theirs)} on the CPU, from {self.text()}")
        if len(ours) != len(theirs):
            raise Difference(f"{len(ours)} results, on the CPU {len(theirs)}, from {self.text()}")
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if one.shape != other.shape or one.dtype != other.dtype:
                kinds = [f"{each.dtype}{list(each.shape)}" for each in (one, other)]
                raise Difference(f"result {number} is {kinds[0]}, on the CPU {kinds[1]}, from {self.text()}")
            if not close(one, other, least=1.0) and not self.is_open(number, one, other):
                away = (one - other).abs().max()
                values = f"{one.flatten()[:8]}, on the CPU {other.flatten()[:8]}"
                raise Difference(f"result {number} of {len(ours)} is off by {away}: {values}, from {self.text()}")


def said(error: Any) -> str:
    return f"{type(error).__name__}: {error!s:.600}" if isinstance(error, Exception) else "no error"


def network(chain: Chain) -> Any:
    return chain


OPERATIONS = [(1, network)]
