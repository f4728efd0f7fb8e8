"""One model on the device, compared with the CPU: outputs, a step of training, generated text."""

from __future__ import annotations

import dataclasses
import random
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as tree
from torch.utils._python_dispatch import TorchDispatchMode

from ... import torch as bridge
from .rows import Row

DEVICE = "vulkan"
EPS = torch.finfo(torch.float32).eps
LEARNING_RATE = 0.01

# The options of `generate`; `assisted` has the model itself as its assistant.
MODES: dict[str, dict[str, Any]] = {
    "greedy": {},
    "without cache": {"use_cache": False},
    "beam": {"num_beams": 3},
    "sampling": {"do_sample": True, "top_k": 20, "top_p": 0.9, "temperature": 1.5},
    "static cache": {"cache_implementation": "static"},
    "prompt lookup": {"prompt_lookup_num_tokens": 2},
    "assisted": {"assistant_model": None},
}


# Modes of one sentence at a time.
SINGLE = ("prompt lookup", "assisted")


class Mismatch(Exception):
    """The device's result is not the CPU's."""


class _DrawnOnCPU(TorchDispatchMode):
    """Operators that draw random numbers do so on the CPU, from its generator, so that both devices have the same."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if (
            torch.Tag.nondeterministic_seeded not in func.tags or "attention" in func._schema.name
        ):  # which drops nothing out
            return func(*args, **kwargs)
        written = args[0] if func._schema.is_mutable else None
        made = func(*_moved(args, "cpu"), **_moved(kwargs, "cpu"))
        where = {one.device for one in _tensors([args, kwargs])} | {kwargs.get("device")} - {None}
        if written is not None:
            return written.copy_(made)
        return _moved(made, next(iter(where), torch.device("cpu")))


def parts(row: Row) -> list[str]:
    """What is checked of a row."""
    return ["outputs", *(["training"] if row.trains else []), *(f"generate: {mode}" for mode in row.generates)]


def check(row: Row, part: str) -> dict[str, Any]:
    """Check one part of a row. Returns a record of the outcome, and of the operators that ran on the CPU."""
    record: dict[str, Any] = {"part": part, "status": "pass", "message": ""}
    bridge.reset_fallbacks()
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            record["error"] = _PARTS[part.partition(":")[0]](row, part.partition(": ")[2])
        except Exception as error:
            kind = "" if isinstance(error, Mismatch) else f"{type(error).__name__}: "
            record |= {"status": "fail", "message": f"{kind}{error}"[:500]}
    record["seconds"] = round(time.perf_counter() - began, 1)
    record["fallbacks"] = {name: counted.calls for name, counted in sorted(bridge.fallbacks().items()) if counted.calls}
    return record


# -- running ----------------------------------------------------------------------------------------------------------


def _seeded() -> None:
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


@contextmanager
def _drawing(row: Row) -> Iterator[None]:
    _seeded()
    with _DrawnOnCPU() if row.draws else nullcontext():
        yield


def _made(row: Row, where: str, dtype: torch.dtype = torch.float32, moved_by: float = 0.0) -> torch.nn.Module:
    """The model, the same on every call, but for weights that are off by a share; nothing is dropped out."""
    _seeded()
    model = row.make()
    for module in model.modules():
        for name, value in vars(module).items():
            drops = "drop" in name or (name == "p" and type(module).__name__.startswith(("Dropout", "StochasticDepth")))
            if drops and isinstance(value, float):
                setattr(module, name, 0.0)
    with torch.no_grad():
        for one in model.parameters():
            if not one.any():  # biases, and what is nothing at first, as adapters: others could be wrong unseen
                one.normal_(std=0.1)
        for one in model.parameters() if moved_by else ():
            one.mul_(1 + moved_by * (2 * torch.rand(one.shape) - 1))
    return model.to(where, dtype) if dtype is not torch.float32 else model.to(where)


def _given(row: Row, where: str, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
    def one(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return leaf.to(where, dtype if leaf.dtype is torch.float32 else None)

    given: dict[str, Any] = tree.tree_map(one, row.given())
    return given


def _moved(value: Any, where: Any) -> Any:
    def one(leaf: Any) -> Any:
        if isinstance(leaf, torch.device):
            return torch.device(where)
        return leaf.to(where) if isinstance(leaf, torch.Tensor) else leaf

    return tree.tree_map(one, value)


def _named(value: Any, name: str = "output") -> Iterator[tuple[str, Any]]:
    """The tensors and numbers in nested results, with their names."""
    if isinstance(value, torch.Tensor | int | float):
        yield name, value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _named(one, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for key, one in enumerate(value):
            yield from _named(one, f"{name}[{key}]")
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _named(getattr(value, field.name), f"{name}.{field.name}")


def _tensors(value: Any) -> list[torch.Tensor]:
    return [one for _, one in _named(value) if isinstance(one, torch.Tensor)]


# -- comparing --------------------------------------------------------------------------------------------------------


class Tolerance:
    """How near numbers must be: relative to themselves, and to a size."""

    def __init__(self, relative: float, of_size: float) -> None:
        self.relative, self.of_size = relative, of_size


OUTPUTS, GRADIENTS = Tolerance(1e-4, 1e-5), Tolerance(1e-3, 1e-5)


def compare(actual: Any, expected: Any, tolerance: Tolerance, size: float | None = None) -> float:
    """Raise Mismatch unless both hold the same names, types and shapes, and near numbers. Returns the largest error by size.

    The size that errors are relative to is that of the largest number, or 1 where that is larger.
    """
    ours, theirs = list(_named(actual)), list(_named(expected))
    if [name for name, _ in ours] != [name for name, _ in theirs]:
        raise Mismatch(f"results {[name for name, _ in ours]}, expected {[name for name, _ in theirs]}")
    worst = 0.0
    for (name, one), (_, other) in zip(ours, theirs, strict=True):
        if not isinstance(other, torch.Tensor):
            one, other = (torch.as_tensor(each) for each in (one, other))
        elif one.device.type != DEVICE and other.ndim:
            raise Mismatch(f"{name} is on {one.device}")
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            raise Mismatch(f"{name}: {one.dtype} {list(one.shape)}, expected {other.dtype} {list(other.shape)}")
        if not other.numel():
            continue
        one, other = one.detach().cpu(), other.detach().cpu()
        if not (other.is_floating_point() or other.is_complex()):
            if not torch.equal(one, other):
                raise Mismatch(
                    f"{name}: {int((one != other).sum())} of {other.numel()} numbers of {other.dtype} differ"
                )
            continue
        finite = other[other.isfinite()]
        largest = float(finite.abs().max()) if finite.numel() else 0.0
        of = min(1.0, largest) if size is None else size
        try:
            torch.testing.assert_close(one, other, rtol=tolerance.relative, atol=tolerance.of_size * of, equal_nan=True)
        except AssertionError as error:
            raise Mismatch(f"{name}: {' '.join(str(error).split())}; largest {largest:.3g}") from None
        if largest:
            worst = max(worst, float((one - other)[other.isfinite()].abs().max()) / largest)
    return worst


def _must_say_something(values: Any) -> None:
    if not any(bool((one.isfinite() & (one != 0)).any()) for one in _tensors(values)):
        raise Mismatch("the row has nothing to compare: all results of the CPU are zero or not finite")


def _as_near_as_the_cpu(passes: Callable[..., list[torch.Tensor]]) -> float:
    """Compare where rounding carries the CPU itself far: results are as near to float64 as its own, but for a factor, or as
    those of weights that are off by as many roundings as a layer makes forwards and backwards."""
    exact, got = passes("cpu", torch.float64), passes(DEVICE)
    peer, other = passes("cpu"), passes("cpu", torch.float64, 32 * EPS)
    worst = 0.0
    for place, (wanted, actual, near, moved) in enumerate(zip(exact, got, peer, other, strict=True)):
        wanted, actual, near, moved = (one.detach().cpu().double() for one in (wanted, actual, near, moved))
        largest = float(wanted.abs().max())
        apart = [float((one - wanted).abs().max()) for one in (actual, near, moved)]
        allowed = max(8 * apart[1], apart[2]) + 64 * EPS * largest + 1e-9
        if not apart[0] <= allowed:
            raise Mismatch(f"result {place}: off by {apart[0]:.3g}, allowed are {allowed:.3g}; largest {largest:.3g}")
        worst = max(worst, apart[0] / largest if largest else 0.0)
    return worst


# -- the parts --------------------------------------------------------------------------------------------------------


def _outputs(row: Row, _: str) -> float:
    def run(where: str, dtype: torch.dtype = torch.float32, moved_by: float = 0.0) -> Any:
        model = _made(row, where, dtype, moved_by).eval()
        with torch.no_grad(), _drawing(row):
            return model(**_given(row, where, dtype))

    if row.unstable:
        return _as_near_as_the_cpu(
            lambda *how: [one for one in _tensors(run(*how)) if one.is_floating_point() and one.numel()]
        )
    expected = run("cpu")
    _must_say_something(expected)
    return compare(run(DEVICE), expected, OUTPUTS)


def _loss(result: Any) -> tuple[torch.Tensor, float]:
    """The model's own loss, or a fixed weighted mean of what it gives; and the size of what is added up."""
    loss = getattr(result, "loss", None)
    if isinstance(loss, torch.Tensor) and loss.requires_grad:
        return loss.sum(), float(loss.detach().abs().sum())
    generator = torch.Generator().manual_seed(2)
    floats = [each.real + each.imag if each.is_complex() else each for each in _tensors(result) if each.requires_grad]
    terms = [one * torch.randn(one.shape, generator=generator).to(one.device, one.dtype) for one in floats]
    size = sum(float(one.detach().abs().mean()) for one in terms)
    return torch.stack([one.mean() for one in terms]).sum(), size


class _Smooth(TorchFunctionMode):
    """SiLU in place of rectifiers: rounding turns these on and off, and with them gradients below."""

    RECTIFIERS = (
        functional.relu, functional.relu6, functional.hardswish, functional.hardsigmoid, functional.hardtanh, torch.relu,
        torch.relu_, torch.Tensor.relu, torch.Tensor.relu_,
    )  # fmt: skip

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in self.RECTIFIERS:
            return functional.silu(args[0] if args else (kwargs or {})["input"])
        return func(*args, **(kwargs or {}))


def _step(
    row: Row, where: str, dtype: torch.dtype = torch.float32, moved_by: float = 0.0
) -> tuple[torch.Tensor, dict[str, torch.Tensor], dict[str, torch.Tensor], dict[str, float]]:
    """Loss, gradients, what a step of AdamW adds to the parameters (of inputs where there are none), and the sizes of all."""
    model, given = _made(row, where, dtype, moved_by).train(), _given(row, where, dtype)
    trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
    if not trained:
        trained = {name: one.requires_grad_() for name, one in given.items()
                   if isinstance(one, torch.Tensor) and one.is_floating_point()}  # fmt: skip
    before = {name: one.detach().clone() for name, one in trained.items()}
    with _drawing(row), _Smooth() if row.unstable else nullcontext():
        loss, size = _loss(model(**given))
        loss.backward()
    gradients = {name: one.grad.clone() for name, one in trained.items() if one.grad is not None}
    # As large as the largest gradient, so that no change is by the sign of a gradient of rounding errors.
    eps = max([float(one.abs().max()) for one in gradients.values() if one.numel()], default=1.0) or 1.0
    torch.optim.AdamW(trained.values(), lr=LEARNING_RATE, eps=eps).step()
    sizes = {"loss": size} | {name: float(one.abs().max()) if one.numel() else 0.0 for name, one in before.items()}
    return loss, gradients, {name: one.detach() - before[name] for name, one in trained.items()}, sizes


def _training(row: Row, mode: str) -> float:
    if row.unstable:

        def passes(where: str, dtype: torch.dtype = torch.float32, moved_by: float = 0.0) -> list[torch.Tensor]:
            return [one for one in _tensors(_step(row, where, dtype, moved_by)[:3]) if one.numel()]

        return _as_near_as_the_cpu(passes)
    loss, gradients, changes, sizes = _step(row, "cpu")
    _must_say_something(gradients)
    our_loss, our_gradients, our_changes = _step(row, DEVICE)[:3]
    largest = max(float(one.abs().max()) for one in gradients.values() if one.numel())
    worst = compare({"loss": our_loss}, {"loss": loss}, OUTPUTS, sizes["loss"])
    for name, one in gradients.items():
        compare({name: our_gradients.get(name)}, {name: one}, GRADIENTS, largest)
        if one.numel():
            worst = max(worst, float((our_gradients[name].cpu() - one).abs().max()) / largest)
    compare(our_gradients.keys() - gradients.keys(), set(), GRADIENTS)
    for name, one in changes.items():  # which are no nearer than parameters are rounded
        rounded = 2 * EPS * sizes[name] / GRADIENTS.of_size
        compare({name: our_changes[name]}, {name: one}, GRADIENTS, max(LEARNING_RATE, rounded))
    return worst


def _generated(row: Row, mode: str) -> float:
    def run(where: str) -> Any:
        model, given = _made(row, where).eval(), _given(row, where)
        given = {name: one for name, one in given.items() if name not in ("labels", "decoder_input_ids")}
        given = {name: one[:1] for name, one in given.items()} if mode in SINGLE else given
        options = dict(MODES[mode])
        if "assistant_model" in options:
            options["assistant_model"] = _made(row, where).eval()
        with _DrawnOnCPU() if options.get("do_sample") else nullcontext():
            _seeded()
            made = model.generate(
                **given, **{"do_sample": False, "max_new_tokens": 6, "output_logits": True, "output_scores": True,
                            "return_dict_in_generate": True, "pad_token_id": 0, **options},
            )  # fmt: skip
        told = {"sequences": made.sequences, "logits": made.logits}
        return told | ({"sequences_scores": made.sequences_scores} if options.get("num_beams", 1) > 1 else {})

    expected = run("cpu")
    _must_say_something(expected["logits"])
    return compare(run(DEVICE), expected, OUTPUTS)


_PARTS: dict[str, Callable[[Row, str], float]] = {"outputs": _outputs, "training": _training, "generate": _generated}
