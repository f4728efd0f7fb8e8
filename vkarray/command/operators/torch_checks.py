"""One entry of PyTorch's databases of operators and optimisers on the device, compared with the CPU."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree as tree
from torch.utils._python_dispatch import TorchDispatchMode

from ... import torch as bridge
from ...torch.dispatch.table import TABLE, full_name
from ...torch.tensors.storage import FROM_TORCH
from . import torch_optimizers, torch_traced

FORWARD = ("float32", "float16", "int64", "bool")
BACKWARD = ("float32",)
TRACED = ("float32", "complex64", "int64")

# How near results must be: for the short type what PyTorch's own comparison of CUDA with the CPU asks for
# (`TestCommon.test_compare_cpu`), for the long one ten times nearer.
TOLERANCES = {torch.float32: 1e-4, torch.complex64: 1e-4, torch.float16: 1e-3}

# Operators that round logits to float16 in between, by 2^-8 where these are between 8 and 16: two of them make a loss.
ROUNDED = {"nn.functional.linear_cross_entropy": 2 * 2**-8}

# Operators whose result is whatever was in memory.
UNINITIALIZED = {"empty", "empty_like", "new_empty", "empty_permuted", "empty_strided", "new_empty_strided"}


# Operators whose other arguments are on the CPU, as for CUDA.
ON_CPU = {"tensor_split"}


# Operators whose places of equal elements are anyone's: what lies there is compared.
PLACES = {"sort", "argsort", "topk", "kthvalue", "mode"}

# Operators whose errors are small beside the largest element alone.
NORMWISE = {"matrix_exp"}

# Operators whose gradients are as far from the truth on the CPU as the CPU's rounding carries them: ours may be twice as far.
UNSTABLE = {"logcumsumexp"}

# Operators whose eigenvalues come in anyone's order.
ANY_ORDER = {"linalg.eig", "linalg.eigvals"}

# Operators that keep the statistics of float16 in float32, and give those used without training as well, as on CUDA.
STATISTICS = {"native_layer_norm", "native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update"}


class Mismatch(Exception):
    """The device's result is not the CPU's."""


def entries() -> list[Any]:
    """PyTorch's databases of operators and optimisers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages that PyTorch's tests import where they are installed, as numba
        from torch.testing._internal.common_methods_invocations import op_db

        return [*op_db, *torch_optimizers.entries()]


def title(entry: Any) -> str:
    """The name of an entry, with that of its variant."""
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else str(entry.name)


def moved(value: Any) -> Any:
    """A sample's arguments with tensors, and names of the device, on `vulkan`; views stay views of what they show."""

    def one(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            held = leaf.untyped_storage().nbytes() // leaf.itemsize
            base = leaf.detach().as_strided((held,), (1,), 0).to("vulkan")
            view = base.as_strided(leaf.shape, leaf.stride(), leaf.storage_offset())
            return (view.conj() if leaf.is_conj() else view).requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.device) or leaf == "cpu":
            return torch.device("vulkan", 0)
        return leaf

    return tree.tree_map(one, value)


def _arguments(sample: Any) -> tuple[Any, Any, Any]:
    return sample.input, sample.args, sample.kwargs


def _given(entry: Any, arguments: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """A sample's arguments for the device."""
    given, args, kwargs = moved(arguments)
    return (given, *arguments[1:]) if entry.name in ON_CPU else (given, args, kwargs)


def _on_device(arguments: Any) -> bool:
    """Whether anything in a sample's arguments names the device."""
    leaves = [getattr(leaf, "device", leaf) for leaf in tree.tree_leaves(arguments)]
    return any(isinstance(leaf, torch.device) and leaf.type == "vulkan" for leaf in leaves)


def tensors(value: Any) -> list[torch.Tensor]:
    """All tensors in nested lists, tuples and dictionaries."""
    return [leaf for leaf in tree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def compare(actual: Any, expected: Any, by_value: bool = True, normwise: bool = False, rounded: float = 0.0) -> None:
    """Raise Mismatch unless both hold the same types and shapes, and near values."""
    ours, theirs = tree.tree_leaves(actual), tree.tree_leaves(expected)
    if len(ours) != len(theirs):
        raise Mismatch(f"{len(ours)} results, expected {len(theirs)}")
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(other, torch.Tensor):
            if not isinstance(one, torch.Tensor):
                raise Mismatch(f"{one!r}, expected a tensor")
            if one.device.type != "vulkan":
                raise Mismatch(f"a result is on {one.device}")
            if (one.dtype, one.shape) != (other.dtype, other.shape):
                raise Mismatch(f"{one.dtype} {list(one.shape)}, expected {other.dtype} {list(other.shape)}")
            if by_value:
                _near(one, other, normwise, rounded)
        elif by_value and not isinstance(one, torch.Tensor) and one != other and not (one != one and other != other):
            raise Mismatch(f"{one!r}, expected {other!r}")


def _near(one: torch.Tensor, other: torch.Tensor, normwise: bool, rounded: float) -> None:
    if other.layout is not torch.strided:
        raise Mismatch(f"layout {other.layout}")
    tolerance = TOLERANCES.get(other.dtype, 0.0 if not other.dtype.is_floating_point else 1e-5)
    mine, theirs = one.detach().cpu(), other.detach()
    finite = theirs[theirs.isfinite()]
    size = float(finite.abs().max()) if normwise and finite.numel() else 1.0
    try:
        least = max(tolerance * size, rounded if other.dtype is torch.float16 else 0.0)
        torch.testing.assert_close(mine, theirs, rtol=tolerance, atol=least, equal_nan=True)
    except AssertionError as error:
        raise Mismatch(" ".join(str(error).split())) from None


def gradients(result: Any, inputs: list[torch.Tensor]) -> list[Any]:
    """The gradients of a fixed weighted sum of the results."""
    outputs = [one for one in tensors(result) if one.requires_grad]
    if not outputs or not inputs:
        return []
    generator = torch.Generator().manual_seed(1)
    # The same weights for float64, which judges float32, as for that.
    drawn = [torch.float32 if one.dtype is torch.float64 else one.dtype for one in outputs]
    weights = [
        torch.randn(one.shape, generator=generator, dtype=dtype).to(one.device, one.dtype)
        for one, dtype in zip(outputs, drawn, strict=True)
    ]
    grads = torch.autograd.grad(outputs, inputs, weights, allow_unused=True)
    return [torch.zeros_like(x) if grad is None else grad for x, grad in zip(inputs, grads, strict=True)]


def _copied(value: Any) -> Any:
    """A sample's arguments with copies of the tensors: some operators write into them."""
    return tree.tree_map(lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf, value)


def _draws(entry: Any, arguments: Any) -> bool:
    """Whether an entry takes random numbers, on the CPU."""
    if "wrapper_set_seed" in getattr(getattr(entry.op, "__code__", None), "co_names", ()):
        return True
    given, args, kwargs = _copied(arguments)
    before = torch.get_rng_state()
    entry(given, *args, **kwargs)
    return not torch.equal(torch.get_rng_state(), before)


def _in_float32(entry: Any, arguments: Any) -> Any:
    """The CPU's result for float16 arguments converted to float32, rounded to float16: it often rounds in between."""
    if torch.float16 not in [one.dtype for one in tensors(arguments)] + tree.tree_leaves(arguments):
        return None

    def converted(source: torch.dtype, target: torch.dtype, value: Any) -> Any:
        def one(leaf: Any) -> Any:
            if isinstance(leaf, torch.Tensor):
                return leaf.to(target) if leaf.dtype is source else leaf
            return target if leaf is source else leaf

        return tree.tree_map(one, value)

    given, args, kwargs = converted(torch.float16, torch.float32, arguments)
    return converted(torch.float32, torch.float16, entry(given, *args, **kwargs))


def _check_truth(entry: Any, sample: Any, copies: Any, ours: list[Any], theirs: list[Any]) -> None:
    """Raise Mismatch where our gradients are more than twice as far from those in float64 as the CPU's."""

    def wide(leaf: Any) -> Any:
        return leaf.double().requires_grad_(leaf.is_floating_point()) if isinstance(leaf, torch.Tensor) else leaf

    given, args, kwargs = tree.tree_map(wide, copies)
    inputs = [one for one in tensors((given, args, kwargs)) if one.requires_grad]
    exact = gradients(_processed(entry, sample, entry(given, *args, **kwargs)), inputs)
    for one, other, truth in zip(ours, theirs, exact, strict=True):
        errors = [float((each.cpu().double() - truth).abs().max()) for each in (one, other)]
        if not errors[0] <= 2 * errors[1]:
            raise Mismatch(f"gradients with an error of {errors[0]:.3g}, the CPU's is {errors[1]:.3g}")


def _same_places(x: torch.Tensor, ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    """Whether elements at two sets of places along one dimension are equal."""
    for axis in range(x.ndim):
        one, other = (each if each.ndim == x.ndim else each.unsqueeze(axis) for each in (ours, theirs))
        fits = all(each.shape[k] <= x.shape[k] for each in (one, other) for k in range(x.ndim) if k != axis)
        within = one.numel() and max(int(one.max()), int(other.max())) < x.shape[axis]
        if fits and within and torch.equal(x.gather(axis, one), x.gather(axis, other)):
            return True
    return False


def _processed(entry: Any, sample: Any, result: Any) -> Any:
    """A result without what is anyone's choice: as the database says (signs of vectors), and eigenvalues in order."""
    result = sample.output_process_fn_grad(result)
    if entry.name not in ANY_ORDER:
        return result
    values = tensors(result)[0].detach().cpu()
    order = (values.real + values.imag if values.is_complex() else values).argsort(-1).to(tensors(result)[0].device)
    ordered = [tensors(result)[0].gather(-1, order)]
    ordered += [one.gather(-1, order.unsqueeze(-2).expand(one.shape)) for one in tensors(result)[1:]]
    return tuple(ordered)


def check_sample(entry: Any, sample: Any, backward: bool) -> bool:
    """Compare one sample; False where the CPU has no result to compare with."""
    arguments = _arguments(sample)
    if any(one.layout is not torch.strided for one in tensors(arguments)):
        return False
    given, args, kwargs = _given(entry, arguments)
    if not _on_device((given, args, kwargs)):
        return False
    try:
        by_value = entry.name not in UNINITIALIZED and not _draws(entry, arguments)
        copies = _copied(arguments)
        expected = entry(sample.input, *sample.args, **sample.kwargs)
        if any(one.layout is not torch.strided or one.dtype not in FROM_TORCH for one in tensors(expected)):
            return False
        expected = _processed(entry, sample, expected)
        theirs = [one for one in tensors(arguments) if one.requires_grad]
        expected_gradients = gradients(expected, theirs) if backward and by_value else []
    except Exception:
        return False
    outputs = result = _processed(entry, sample, entry(given, *args, **kwargs))
    if entry.name in STATISTICS:
        pairs = zip(tuple(result), tuple(expected), strict=True)
        result = [one.to(other.dtype) if other.numel() else one.new_empty(0, dtype=other.dtype) for one, other in pairs]
    if entry.name in PLACES and _same_places(copies[0], tensors(result)[-1].cpu(), tensors(expected)[-1]):
        result, expected = tensors(result)[:-1], tensors(expected)[:-1]
    normwise = entry.name in NORMWISE
    try:
        compare(result, expected, by_value, normwise, ROUNDED.get(entry.name, 0.0))
    except Mismatch:
        wide = _in_float32(entry, copies)
        if wide is None:
            raise
        compare(result, _processed(entry, sample, wide))
    if backward and by_value:
        inputs = [one for one in tensors((given, args, kwargs)) if one.requires_grad]
        made = gradients(outputs, inputs)
        try:
            compare(made, expected_gradients, normwise=normwise)
        except Mismatch:
            if entry.name not in UNSTABLE:
                raise
            _check_truth(entry, sample, copies, made, expected_gradients)
    return True


def check_traced(entry: Any, sample: Any) -> bool:
    """Compare what the operators of a sample return, forth and back, with what PyTorch says when it traces them.

    The arguments come as they are and in another order in memory. False where the CPU takes neither.
    """
    if any(one.layout is not torch.strided for one in tensors(_arguments(sample))):
        return False
    checked = False
    for arguments in (torch_traced.turned(_arguments(sample)), _arguments(sample)):
        given = _given(entry, arguments)
        try:
            takes = _passes(entry, sample, arguments)
        except Exception:
            takes = False
        if takes:
            with torch_traced.Compared() as seen:
                _passes(entry, sample, given)
            for differences in seen.differences.values():
                raise Mismatch(differences[0])
        checked |= takes
    return checked


def _passes(entry: Any, sample: Any, arguments: tuple[Any, Any, Any]) -> bool:
    """Run a sample forth and back; False where a result is of a kind that the device has not."""
    given, args, kwargs = arguments
    result = entry(given, *args, **kwargs)
    if any(one.layout is not torch.strided or one.dtype not in FROM_TORCH for one in tensors(result)):
        return False
    gradients(sample.output_process_fn_grad(result), [one for one in tensors(arguments) if one.requires_grad])
    return True


class _Formulas(TorchDispatchMode):
    """Notes whether an operator has a row with PyTorch's own formula."""

    found = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        row = TABLE.get(full_name(func)) if _on_device((args, kwargs)) else None
        self.found |= row is not None and row.kind == "decomposed"
        return func(*args, **(kwargs or {}))


def is_decomposed(entry: Any, sample: Any, backward: bool) -> bool:
    """Whether PyTorch's own formulas, in terms of other operators, have a part in computing a sample."""
    given, args, kwargs = _given(entry, _arguments(sample))
    with _Formulas() as seen:
        result = sample.output_process_fn_grad(entry(given, *args, **kwargs))
        if backward:
            gradients(result, [one for one in tensors((given, args, kwargs)) if one.requires_grad])
    return seen.found


def cases(entry: Any, dtypes: list[str]) -> Iterator[tuple[str, str]]:
    """(dtype, direction) of what an entry is checked for."""
    for name in FORWARD:
        if name in dtypes and entry.supports_dtype(getattr(torch, name), "cpu"):
            yield name, "forward"
    for name in BACKWARD:
        if name in dtypes and entry.supports_autograd and entry.supports_dtype(getattr(torch, name), "cpu"):
            yield name, "backward"
    for name in TRACED:
        if name in dtypes and entry.supports_dtype(getattr(torch, name), "cpu"):
            yield name, "traced"


def check(entry: Any, dtype: str, direction: str, samples: int, strict: bool = False) -> dict[str, Any]:
    """Check some samples of an entry. Returns a record of the outcome, and of what ran on the CPU, which `strict` forbids."""
    record: dict[str, Any] = {"dtype": dtype, "direction": direction, "samples": 0, "status": "pass", "message": ""}
    backward = direction == "backward" or (direction == "traced" and entry.supports_autograd and dtype in BACKWARD)
    bridge.reset_fallbacks()
    with warnings.catch_warnings(), bridge.strict(strict):
        warnings.simplefilter("ignore")
        try:
            inputs = entry.sample_inputs("cpu", getattr(torch, dtype), requires_grad=backward)
            for sample in itertools.islice(inputs, samples):
                traced = direction == "traced"
                checked = check_traced(entry, sample) if traced else check_sample(entry, sample, backward)
                record["samples"] += checked
                if checked and not traced and "decomposed" not in record:
                    record["decomposed"] = is_decomposed(entry, sample, backward)
        except Exception as error:
            kind = "" if isinstance(error, Mismatch) else f"{type(error).__name__}: "
            record |= {"status": "fail", "message": f"{kind}{error}"[:500]}
    if record["samples"] == 0 and record["status"] == "pass":
        record["status"] = "skip"
    record["fallbacks"] = sorted(bridge.fallbacks())
    return record
