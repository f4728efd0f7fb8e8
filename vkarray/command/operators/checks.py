"""One entry of PyTorch's database of operators on the device, compared with the CPU."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree as tree

from ... import torch as bridge

FORWARD = ("float32", "float16", "int64", "bool")
BACKWARD = ("float32",)

# How near results must be: for the short type what PyTorch's own comparison of CUDA with the CPU asks for
# (`TestCommon.test_compare_cpu`), for the long one ten times nearer.
TOLERANCES = {torch.float32: 1e-4, torch.complex64: 1e-4, torch.float16: 1e-3}

# Operators whose result is whatever was in memory.
UNINITIALIZED = {"empty", "empty_like", "new_empty", "empty_permuted", "empty_strided", "new_empty_strided"}


class Mismatch(Exception):
    """The device's result is not the CPU's."""


def entries() -> list[Any]:
    """PyTorch's database of operators."""
    from torch.testing._internal.common_methods_invocations import op_db

    return list(op_db)


def title(entry: Any) -> str:
    """The name of an entry, with that of its variant."""
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else str(entry.name)


def moved(value: Any) -> Any:
    """A sample's arguments with tensors, and names of the device, on `vulkan`."""

    def one(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().to("vulkan").requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.device) or leaf == "cpu":
            return torch.device("vulkan", 0)
        return leaf

    return tree.tree_map(one, value)


def tensors(value: Any) -> list[torch.Tensor]:
    """All tensors in nested lists, tuples and dictionaries."""
    return [leaf for leaf in tree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def compare(actual: Any, expected: Any, by_value: bool = True) -> None:
    """Raise Mismatch unless both hold the same types and shapes, and near values."""
    ours, theirs = tree.tree_leaves(actual), tree.tree_leaves(expected)
    if len(ours) != len(theirs):
        raise Mismatch(f"{len(ours)} results, expected {len(theirs)}")
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(other, torch.Tensor):
            if one.device.type != "vulkan":
                raise Mismatch(f"a result is on {one.device}")
            if (one.dtype, one.shape) != (other.dtype, other.shape):
                raise Mismatch(f"{one.dtype} {list(one.shape)}, expected {other.dtype} {list(other.shape)}")
            if by_value:
                _near(one, other)
        elif by_value and one != other and not (one != one and other != other):
            raise Mismatch(f"{one!r}, expected {other!r}")


def _near(one: torch.Tensor, other: torch.Tensor) -> None:
    if other.layout is not torch.strided:
        raise Mismatch(f"layout {other.layout}")
    tolerance = TOLERANCES.get(other.dtype, 0.0 if not other.dtype.is_floating_point else 1e-5)
    try:
        torch.testing.assert_close(one.detach().cpu(), other.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)
    except AssertionError as error:
        raise Mismatch(" ".join(str(error).split())) from None


def gradients(result: Any, inputs: list[torch.Tensor]) -> list[Any]:
    """The gradients of a fixed weighted sum of the results."""
    outputs = [one for one in tensors(result) if one.requires_grad]
    if not outputs or not inputs:
        return []
    generator = torch.Generator().manual_seed(1)
    weights = [torch.randn(one.shape, generator=generator, dtype=one.dtype).to(one.device) for one in outputs]
    return list(torch.autograd.grad(outputs, inputs, weights, allow_unused=True))


def _is_random(entry: Any, sample: Any) -> bool:
    """Whether two runs on the CPU differ."""
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        results.append(entry(sample.input, *sample.args, **sample.kwargs))
    pairs = zip(tensors(results[0]), tensors(results[1]), strict=False)
    return not all(torch.equal(one.nan_to_num(), other.nan_to_num()) for one, other in pairs)


def check_sample(entry: Any, sample: Any, backward: bool) -> bool:
    """Compare one sample; False where the CPU has no result to compare with."""
    try:
        torch.manual_seed(0)
        expected = entry(sample.input, *sample.args, **sample.kwargs)
        by_value = entry.name not in UNINITIALIZED and not _is_random(entry, sample)
    except Exception:
        return False
    if any(one.layout is not torch.strided for one in tensors((expected, sample.input, sample.args))):
        return False
    torch.manual_seed(0)
    given, args, kwargs = moved(sample.input), moved(sample.args), moved(sample.kwargs)
    result = entry(given, *args, **kwargs)
    compare(result, expected, by_value)
    if backward and by_value:
        theirs = [one for one in tensors((sample.input, sample.args, sample.kwargs)) if one.requires_grad]
        ours = [one for one in tensors((given, args, kwargs)) if one.requires_grad]
        compare(gradients(result, ours), gradients(expected, theirs))
    return True


def cases(entry: Any, dtypes: list[str]) -> Iterator[tuple[str, str]]:
    """(dtype, direction) of what an entry is checked for."""
    for name in FORWARD:
        if name in dtypes and entry.supports_dtype(getattr(torch, name), "cpu"):
            yield name, "forward"
    for name in BACKWARD:
        if name in dtypes and entry.supports_autograd and entry.supports_dtype(getattr(torch, name), "cpu"):
            yield name, "backward"


def check(entry: Any, dtype: str, direction: str, samples: int) -> dict[str, Any]:
    """Check some samples of an entry. Returns a record of the outcome, and of what ran on the CPU."""
    record: dict[str, Any] = {"dtype": dtype, "direction": direction, "samples": 0, "status": "pass", "message": ""}
    backward = direction == "backward"
    bridge.reset_fallbacks()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            taken = itertools.islice(entry.sample_inputs("cpu", getattr(torch, dtype), requires_grad=backward), samples)
            for sample in taken:
                record["samples"] += check_sample(entry, sample, backward)
        except Exception as error:
            kind = "" if isinstance(error, Mismatch) else f"{type(error).__name__}: "
            record |= {"status": "fail", "message": f"{kind}{error}"[:500]}
    if record["samples"] == 0 and record["status"] == "pass":
        record["status"] = "skip"
    record["fallbacks"] = sorted(bridge.fallbacks())
    return record
