"""What operators return, beside what PyTorch tells programs that it traces (`torch.compile`, `torch.export`) that they do.

Traced programs run with tensors that have no memory. What these look like decides what is recorded: a view of a result
is possible later only where its real strides are those.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)
from torch.utils import _pytree as tree
from torch.utils._python_dispatch import TorchDispatchMode

# PyTorch knows the shapes of these results, or anything of these arguments, with values alone.
_UNKNOWN = (DataDependentOutputException, DynamicOutputShapeException, UnsupportedFakeTensorException)


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def places(tensor: torch.Tensor) -> list[int]:
    """The strides that say where elements are: those along dimensions of length 1, and without elements, do not."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return [stride for length, stride in steps if length > 1] if tensor.numel() else []


def storages(value: Any) -> list[int]:
    """The storages of all tensors in nested lists, tuples and dictionaries."""
    return [one.untyped_storage()._cdata for one in _tensors(value)]


def _looks(tensor: torch.Tensor, given: list[int]) -> dict[str, Any]:
    """What must agree, by its name."""
    return {
        "type": tensor.dtype, "shape": tuple(tensor.shape), "strides": places(tensor), "device": tensor.device,
        "offset": tensor.storage_offset(), "requires_grad": tensor.requires_grad,
        "conjugated": (tensor.is_conj(), tensor.is_neg()),
        "view of an argument": tensor.numel() > 0 and tensor.untyped_storage()._cdata in given,
    }  # fmt: skip


def _told(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return repr(value)
    return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)} with strides {list(value.stride())}"


class Compared(TorchDispatchMode):
    """Runs every operator a second time, without memory, and notes in `differences` where the results look otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.differences: dict[str, list[str]] = {}  # by the name of the operator
        self.compared: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = str(func).removeprefix("aten.")
        given = storages((args, kwargs))
        try:
            with warnings.catch_warnings(), FakeTensorMode() as mode:
                warnings.simplefilter("ignore")
                shown = tree.tree_map_only(torch.Tensor, mode.from_tensor, (args, kwargs))
                expected = func(*shown[0], **shown[1])
        except _UNKNOWN:
            return func(*args, **kwargs)
        except Exception as error:
            result = func(*args, **kwargs)  # may raise as well
            self._note(name, f"PyTorch cannot say: {error}", args, kwargs)
            return result
        result = func(*args, **kwargs)
        self.compared.add(name)
        for said in differences(result, expected, given, storages(shown)):
            self._note(name, said, args, kwargs)
        return result

    def _note(self, name: str, said: str, args: Any, kwargs: Any) -> None:
        arguments = ", ".join(map(_told, tree.tree_leaves((args, kwargs))))
        self.differences.setdefault(name, []).append(f"{name}: {said} (for {arguments})")


def differences(result: Any, expected: Any, given: list[int], shown: list[int]) -> Iterator[str]:
    """What differs between real results and those without memory, of real arguments and those without."""
    ours, theirs = tree.tree_leaves(result), tree.tree_leaves(expected)
    if len(ours) != len(theirs):
        yield f"{len(ours)} results, PyTorch says {len(theirs)}"
        return
    for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        where = f"result {place}: " if len(ours) > 1 else ""
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
            real, fake = _looks(one, given), _looks(other, shown)
            different = [key for key, value in real.items() if value != fake[key]]
            if different:
                yield f"{where}{', '.join(different)}: {_told(one)}, PyTorch says {_told(other)}"
        elif isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
            yield f"{where}{_told(one)}, PyTorch says {_told(other)}"


def turned(value: Any) -> Any:
    """A sample's arguments with the same elements in another order in memory: channels last, columns before rows."""

    def one(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.ndim < 2 or leaf.is_conj() or leaf.is_neg():
            return leaf
        last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(leaf.ndim)
        plain = leaf.detach()
        made = plain.mT.contiguous().mT if last is None else plain.contiguous(memory_format=last)
        return made.requires_grad_(leaf.requires_grad)

    return tree.tree_map(one, value)
