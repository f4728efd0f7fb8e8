"""Chains of PyTorch's operations on the device `vulkan` and on the CPU at once: values, types, shapes and errors agree.

A call is made on both with the same arguments. What comes out of the device is what the chain goes on with on both sides, so
errors do not add up; views share memory on both sides.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from choices import Choices
from difference import Difference
from torch import Tensor

import vkarray as vx
import vkarray.torch
from vkarray.core.array import is_supported
from vkarray.torch.tensors.storage import FROM_TORCH

vkarray.torch.register_device()  # which waits to be asked where PyTorch has CUDA

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int32, torch.int64, torch.uint8, torch.int8, torch.int16]
COMPLEX = [torch.complex64, torch.complex128]
ENTRIES = 10
# Largest error beside the largest value of a result.
BOUNDS = {
    torch.float64: 1e-11, torch.complex128: 1e-11, torch.float32: 2e-5, torch.complex64: 2e-5, torch.float16: 1e-2,
    torch.bfloat16: 8e-2,
}  # fmt: skip


@dataclass(eq=False)
class Pair:
    """A tensor of the device and one of the CPU with the same values."""

    ours: Tensor
    theirs: Tensor


@dataclass
class Step:
    """A function of tensors, and the pairs that it is called with."""

    name: str
    function: Callable[..., Any]
    operands: list[Pair]
    text: Callable[[], str]
    gradient: bool = False
    is_view: bool = False
    in_place: bool = False


class Chain(Choices):
    """Some pairs, and a source of random choices."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        torch.manual_seed(seed)
        on = vx.asarray(0).device
        self.types = {
            kind: [one for one in listed if is_supported(FROM_TORCH[one], on)]
            for kind, listed in {"float": FLOATS, "integer": INTEGERS, "complex": COMPLEX, "bool": [torch.bool]}.items()
        }
        self.last: Step | None = None
        self.pairs = [self.fresh() for _ in range(4)]

    def dtype(self, kind: str | None = None) -> torch.dtype:
        kind = kind or self.choice(("float", "float", "float", "integer", "integer", "bool", "complex"))
        return self.choice(self.types[kind])

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        sides = [self.choice((1, 2, 3, 4, 5, 8)) for _ in range(self.integer(least, max(least, most)))]
        if sides and self.chance(0.03):
            sides[self.integer(0, len(sides) - 1)] = 0
        return tuple(sides)

    def values(self, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
        if dtype is torch.bool:
            return torch.rand(shape) < 0.5
        if dtype in INTEGERS:
            return torch.randint(0 if dtype is torch.uint8 else -6, 7, shape).to(dtype)
        return (torch.randn(shape, dtype=torch.complex128 if dtype in COMPLEX else torch.float64) * 2).to(dtype)

    def fresh(self, dtype: torch.dtype | None = None, shape: tuple[int, ...] | None = None) -> Pair:
        """New tensors of random values, of any layout."""
        shape = self.shape() if shape is None else shape
        theirs = self.values(dtype or self.dtype(), shape)
        if len(shape) > 1 and self.chance(0.25):
            order = [int(one) for one in self.random.permutation(len(shape))]
            theirs = theirs.permute(order).contiguous().permute([order.index(axis) for axis in range(len(shape))])
        return Pair(theirs.to("vulkan"), theirs)

    def pair(self, kind: str | None = None, least: int = 0, most: int = 5) -> Pair:
        """A pair of the chain of a kind of types and with so many dimensions, else a new one."""
        fitting = [
            one for one in self.pairs
            if (kind is None or one.theirs.dtype in self.types[kind]) and least <= one.theirs.ndim <= most
        ]  # fmt: skip
        if fitting and self.chance(0.75):
            return self.choice(fitting)
        return self.fresh(self.dtype(kind), self.shape(least, min(most, 4)))

    def beside(self, one: Pair, kind: str | None = None) -> Pair:
        """A new pair that broadcasts against another."""
        shape = [1 if self.chance(0.2) else side for side in one.theirs.shape][
            self.integer(0, one.theirs.ndim) if self.chance(0.2) else 0 :
        ]
        dtype = one.theirs.dtype if self.chance(0.6) else self.dtype(kind)
        return self.fresh(dtype, tuple(shape))

    # -- running ------------------------------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        """Make one call on both, compare, and keep what comes out. Raises Difference."""
        self.last = step
        theirs, refused = self._called(step, [one.theirs for one in step.operands])
        ours, error = self._called(step, [one.ours for one in step.operands])
        if refused is not None or error is not None:
            if (refused is None) != (error is None):
                raise Difference(
                    f"{step.name}: on vulkan {_said(error)}, on the CPU {_said(refused)}, from {step.text()}"
                )
            if step.in_place:  # what was written before the error is open
                self.pairs = [one for one in self.pairs if one not in step.operands] or [self.fresh()]
            return
        self._compare(step, "result", ours, theirs)
        listed = zip(_tensors(ours), _tensors(theirs), strict=True)
        if step.gradient:
            return
        for one, other in listed:
            if one.numel() > 4000 or one.ndim > 5 or one.layout is not torch.strided:
                continue
            with torch.no_grad():
                if not step.is_view and not step.in_place:
                    other = one.detach().cpu()
                elif not other.is_conj():
                    other.copy_(one.cpu())
            pair = Pair(one.detach(), other.detach())
            if len(self.pairs) < ENTRIES:
                self.pairs.append(pair)
            else:
                self.pairs[self.integer(0, ENTRIES - 1)] = pair

    def _called(
        self, step: Step, tensors: list[Tensor], rounded: torch.dtype | None = None
    ) -> tuple[Any, Exception | None]:
        """What a step gives, or its gradients for weights that are `rounded` to a type."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not step.gradient:
                    result = step.function(*tensors)
                    torch.vulkan.synchronize()  # values that are refused are told at the next look
                    return result, None
                leaves = [
                    one.detach().clone().requires_grad_(one.is_floating_point() or one.is_complex()) for one in tensors
                ]
                outputs = [one for one in _tensors(step.function(*leaves)) if one.requires_grad]
                wanted = [one for one in leaves if one.requires_grad]
                torch.vulkan.synchronize()
                if not outputs:
                    return [], None
                weights = [_weights(one, rounded or one.dtype) for one in outputs]
                found = torch.autograd.grad(outputs, wanted, weights, allow_unused=True)
                return [one.cpu() for one in found if one is not None], None
        except Exception as error:
            return None, error

    def _compare(self, step: Step, what: str, ours: Any, theirs: Any) -> None:
        first, second = _tensors(ours), _tensors(theirs)
        if len(first) != len(second):
            raise Difference(f"{step.name}: {len(first)} tensors, on the CPU {len(second)}, from {step.text()}")
        for one, other in zip(first, second, strict=True):
            if one.dtype != other.dtype or one.shape != other.shape:
                raise Difference(
                    f"{step.name}: {one.dtype} {list(one.shape)}, on the CPU {other.dtype} {list(other.shape)}, from {step.text()}"
                )
            # Gradients of norms and the like are small differences of large numbers.
            if not close(one.detach().cpu(), other.detach(), least=10.0 if step.gradient else 1e-2):
                if step.gradient and self._nearer_the_truth(step, first, second):
                    continue
                kind = "gradient" if step.gradient else what
                raise Difference(
                    f"{step.name}: {kind} {one.detach().cpu()}, on the CPU {other.detach()}, from {step.text()}"
                )

    def _nearer_the_truth(self, step: Step, ours: list[Tensor], theirs: list[Tensor]) -> bool:
        """Whether our gradients are nearer those of float64 than the CPU's: of rows of two, layer_norm's cancel out."""
        given = [one.theirs for one in step.operands]
        types = [one.dtype for one in given if one.is_floating_point()]
        if not types:
            return False
        wide = [one.double() if one.is_floating_point() else one for one in given]
        exact, _ = self._called(step, wide, functools.reduce(torch.promote_types, types))
        if exact is None or len(exact) != len(ours):
            return False
        errors = [
            [float((one.cpu().double() - true).abs().max()) for one in both]
            for *both, true in zip(ours, theirs, exact, strict=True)
        ]
        return all(first <= second for first, second in errors)

    def check(self) -> None:
        """Compare all pairs."""
        for one in self.pairs:
            if not close(one.ours.cpu(), one.theirs, exact=True):
                raise Difference(
                    f"memory was changed that nothing should have touched: {one.ours.cpu()}, expected {one.theirs}"
                )


def close(ours: Tensor, theirs: Tensor, exact: bool = False, least: float = 1e-2) -> bool:
    """Whether all values agree: within the bound of the type, beside the largest value and `least`, or as they are."""
    ours, theirs = ours.resolve_conj().resolve_neg(), theirs.resolve_conj().resolve_neg()
    bound = None if exact else BOUNDS.get(theirs.dtype)
    if bound is None:
        return bool(((ours == theirs) | ((ours != ours) & (theirs != theirs))).all())
    wide = torch.complex128 if theirs.is_complex() else torch.float64
    ours, theirs = ours.to(wide), theirs.to(wide)
    finite = torch.isfinite(theirs)
    if not bool((torch.isnan(ours) == torch.isnan(theirs)).all()):
        return False
    size = float(theirs[finite].abs().max()) if bool(finite.any()) else 0.0
    return bool(((ours - theirs).abs()[finite] <= bound * max(size, least)).all())


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [one for part in value for one in _tensors(part)]
    return []


def _weights(tensor: Tensor, rounded: torch.dtype) -> Tensor:
    """Different weights for the elements of a result, the same on each device."""
    flat = torch.linspace(-1, 1, tensor.numel(), dtype=torch.float64).reshape(tensor.shape)
    return flat.to(rounded).to(tensor.dtype).to(tensor.device)


def _said(error: Exception | None) -> str:
    return "no error" if error is None else f"{type(error).__name__}: {error!s:.300}"
