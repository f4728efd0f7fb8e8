"""Modules that move to the device or from it keep their parameters: the same objects, shared where they were shared.

PyTorch changes the data of a parameter in place where both devices are its own, and makes new parameters for other devices:
tied weights would come apart, and an optimizer would go on with the old ones. Here the parameter gets the tensor that was made on
the other device, and what still needs the old one (a graph, a view) keeps that. All tensors are made before the first is exchanged,
so that a module stays as it was where one of them cannot be.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

_apply = nn.Module._apply

Function = Callable[[Tensor], Tensor]


def _moves(module: nn.Module, function: Function) -> bool:
    """Whether the function takes tensors of the module to the device, or from it to another."""
    for kind in {one.device for one in itertools.chain(module.parameters(), module.buffers())}:
        try:
            other = function(torch.empty(0, device=kind)).device
        except Exception:  # not a function of any tensor: PyTorch says what is wrong with it, or nothing
            return False
        if kind.type != other.type and "vulkan" in (kind.type, other.type):
            return True
    return False


def _content(tensor: Tensor) -> Tensor:
    """What can be copied of a tensor: one that is not initialized yet forbids most of its functions."""
    if not is_lazy(tensor):
        return tensor
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.data


class _Move(NamedTuple):
    """A parameter or a gradient, what was made of it on the other device, and the parameter's gradient."""

    tensor: Tensor
    made: Tensor
    gradient: Tensor | None = None


class _Made:
    """A function, and what it made of the tensors that it was called with."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.known: dict[int, tuple[Tensor, Tensor]] = {}  # by id: the tensor, what was made of it

    def __call__(self, tensor: Tensor) -> Tensor:
        if id(tensor) not in self.known:
            self.known[id(tensor)] = tensor, self.function(_content(tensor))
        return self.known[id(tensor)][1]

    def settle(self, tensor: Tensor) -> None:
        """Note that a tensor is what it has to be."""
        self.known[id(tensor)] = tensor, tensor

    def moves(self, module: nn.Module, recurse: bool) -> list[_Move]:
        """Make everything of a module; what is left to do with what came to another device."""
        found: list[_Move] = []
        for buffer in module.buffers(recurse):
            made = self(buffer)
            if is_lazy(buffer) and made.device.type != buffer.device.type:
                found.append(_Move(buffer, made))
        for one in module.parameters(recurse):
            with torch.no_grad():
                made, gradient = self(one), one.grad
                if (
                    made.device.type == one.device.type
                    or is_traceable_wrapper_subclass(made)
                    or isinstance(one, FakeTensor)
                ):
                    continue  # PyTorch keeps these objects by itself
                if gradient is not None:
                    found.append(_Move(gradient, self(gradient).requires_grad_(gradient.requires_grad)))
                found.append(_Move(one, made.requires_grad_(one.requires_grad), gradient))
        return found


def _copy_hooks(source: Tensor, target: Tensor) -> None:
    for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        setattr(target, name, getattr(source, name))  # the same dictionaries, which their handles remove them from


def _hand_over(old: Tensor, new: Tensor) -> None:
    """Let gradients of graphs that were made with the old tensor come to the new one."""

    def accumulate(old: Tensor) -> None:
        gradient, old.grad = old.grad, None
        if gradient is not None:
            with torch.no_grad():
                gradient = gradient.to(new.device, new.dtype)
                new.grad = gradient if new.grad is None else new.grad + gradient
            for hook in list((new._post_accumulate_grad_hooks or {}).values()):
                hook(new)

    old.register_post_accumulate_grad_hook(accumulate)


def _exchange(moves: list[_Move]) -> bool:
    """Give each tensor what was made of it. Without effect, and False, where PyTorch refuses one.

    `torch.utils.swap_tensors` refuses tensors that a graph, a view or a weak reference knows, though none of these minds.
    """
    done: list[_Move] = []
    try:
        for move in moves:
            torch._C._swap_tensor_impl(move.tensor, move.made)
            done.append(move)
    except RuntimeError:
        for move in reversed(done):
            torch._C._swap_tensor_impl(move.tensor, move.made)
        return False
    for new, old, gradient in moves:
        if isinstance(new, nn.Parameter):
            new.grad = gradient
        if new.requires_grad and new.is_leaf:
            _copy_hooks(new, new)  # Python has them already, the new contents do not
            _hand_over(old, new)
    return True


def _replace(module: nn.Module, moves: list[_Move]) -> list[_Move]:
    """Put new parameters in place of those that could not be exchanged, shared where they were shared."""
    made = {id(move.tensor): move.made for move in moves}
    new: dict[int, nn.Parameter] = {}
    for tensor, moved, gradient in moves:
        if isinstance(tensor, nn.Parameter):
            parameter = new[id(tensor)] = nn.Parameter(moved.detach(), tensor.requires_grad)
            parameter.__dict__.update(tensor.__dict__)
            if tensor.requires_grad:
                _copy_hooks(tensor, parameter)
            parameter.grad = made.get(id(gradient))
    for part in module.modules():
        for name, held in part._parameters.items():
            part._parameters[name] = new.get(id(held), held)
    return [_Move(one, one, one.grad) for one in new.values()]


def _applied(self: nn.Module, fn: Function, recurse: bool = True) -> Any:
    if isinstance(fn, _Made) or torch.__future__.get_overwrite_module_params_on_conversion() or not _moves(self, fn):
        return _apply(self, fn, recurse)
    made = _Made(fn)
    moves = made.moves(self, recurse)
    if not _exchange(moves):
        moves = _replace(self, moves)
    for tensor, _, gradient in moves:
        made.settle(tensor)
        if gradient is not None:
            made.settle(gradient)
    return _apply(self, made, recurse)


nn.Module._apply = _applied
