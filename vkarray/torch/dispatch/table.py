"""The table of operators: a row binds an operator of PyTorch's `aten` to a function on arrays.

What a result looks like (shape, type, strides) is said by PyTorch itself: the operator runs on its `meta` device, once for
each signature, which also raises PyTorch's own errors for wrong shapes and types. A row only computes. Variants that write
into an argument (`add_`, `add.out`) come from the row of the operator that returns a new tensor.

    native("mm", vx.matmul)                 # a function of arrays, for all overloads of the operator that need a kernel
    native("max.dim", _max_of_dimension)    # for one overload (and its variants that write into an argument)
    elementwise("mul", multiply.row)        # a row of GLSL, see pointwise.py
    decomposed("addcdiv", "frac")           # PyTorch's own formula, in terms of other operators
    direct("fill_.Scalar", _fill)           # a kernel that takes and returns tensors itself
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...core import layout
from ...core.array import VkArray
from ...errors import FeatureError
from ...kernels.conversion import cast
from ..tensors.storage import FROM_TORCH, array_of, extent, is_dense, shares_storage
from ..tensors.transfer import assign
from . import fallback
from .fallback import Unsupported
from .plans import planned
from .results import Result, inferred, listed, signature, tensor_of

Kernel = Callable[..., Any]

library = torch.library.Library("aten", "IMPL")
_SIGNATURES = 4096


class Entry(NamedTuple):
    """What a row says of one overload: "native", "decomposed" or "metadata" (views), and the row's chapter."""

    kind: str
    chapter: str


TABLE: dict[str, Entry] = {}  # by the name of the overload, without "aten::"


# -- operators and their variants -------------------------------------------------------------------------------------


_EXPLICIT = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def full_name(op: Any) -> str:
    """The name of an overload as the dispatcher writes it, without "aten::"."""
    name: str = op._schema.name.removeprefix("aten::")
    return name if op._overloadname == "default" else f"{name}.{op._overloadname}"


def has_kernel(op: Any, key: str) -> bool:
    """Whether PyTorch registers a kernel of an operator under a dispatch key."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{full_name(op)}", key))


def comes_by_itself(op: Any) -> bool:
    """Whether PyTorch computes an overload on any device in terms of others."""
    return has_kernel(op, "CompositeImplicitAutograd") or has_kernel(op, "CompositeExplicitAutograd")


def overloads(packet: str) -> Iterator[Any]:
    """The overloads of an operator that the dispatcher knows (others are TorchScript's)."""
    found = getattr(torch.ops.aten, packet, None)
    for name in () if found is None else found.overloads():
        op = getattr(found, name)
        if torch._C._dispatch_has_kernel(f"aten::{full_name(op)}"):
            yield op


def written(op: Any) -> list[str]:
    """The names of the arguments that an overload writes to."""
    return [one.name for one in op._schema.arguments if one.alias_info is not None and one.alias_info.is_write]


def _types(op: Any, without: Sequence[str] = ()) -> list[str]:
    return [str(one.type) for one in op._schema.arguments if one.name not in without]


def functional(name: str) -> list[Any]:
    """The overloads that a row of this name is for: the one named, or all that return new tensors and need a kernel.

    One that PyTorch computes through the variant that writes needs that variant's kernel, so it gets one as well.
    """
    packet, _, overload = name.partition(".")
    if overload:
        return [getattr(getattr(torch.ops.aten, packet), overload)]
    found = [op for op in overloads(packet) if not written(op) and _needs_kernel(op)]
    return found or [getattr(torch.ops.aten, packet).default]


def _needs_kernel(op: Any) -> bool:
    if not comes_by_itself(op):
        return True
    composite = has_kernel(op, "CompositeImplicitAutograd")
    return not composite and any(True for _ in (*in_place_variants(op), *out_variants(op)))


def in_place_variants(op: Any) -> Iterator[Any]:
    """The overloads that do the same to their first argument."""
    for other in overloads(f"{op._schema.name.removeprefix('aten::')}_"):
        if written(other) == ["self"] and _types(other) == _types(op) and not comes_by_itself(other):
            yield other


def out_variants(op: Any) -> Iterator[Any]:
    """The overloads that do the same into arguments that are given."""
    for other in overloads(op._schema.name.removeprefix("aten::")):
        targets = written(other)
        if (
            len(targets) == len(op._schema.returns)
            and _types(other, targets) == _types(op)
            and not comes_by_itself(other)
        ):
            yield other


def register(op: Any, kernel: Kernel, kind: str, chapter: str) -> None:
    """Give an overload its kernel on the device, and enter it in the table.

    Raises ValueError for one that PyTorch composes of others under autograd: a kernel would lose the gradients.
    """
    if has_kernel(op, "CompositeImplicitAutograd") and not any(has_kernel(op, key) for key in ("CPU", *_EXPLICIT)):
        raise ValueError(
            f"aten.{full_name(op)} is composed of other operators, and differentiated through them: no row."
        )
    if kind != "metadata":
        if not hasattr(kernel, "is_planned"):
            kernel = fallback.on_one_device(kernel) if _takes_several(op) else fallback.observed(kernel)
        kernel.profiled_name = f"aten.{full_name(op).removesuffix('_overrideable')}"  # type: ignore[attr-defined]
    library.impl(op, kernel, "PrivateUse1")
    TABLE[full_name(op)] = Entry(kind, chapter)


_OF_SEVERAL_DEVICES = ("aten::_copy_from", "aten::_foreach_")  # these copy, or take each tensor by itself


def _takes_several(op: Any) -> bool:
    """Whether an overload takes several tensors, and all of them on one device. (Plans look at that by themselves.)"""
    types = [str(one.type) for one in op._schema.arguments]
    count = sum(("Tensor" in name) + ("List" in name and "Tensor" in name) for name in types)
    return count > 1 and not op._schema.name.startswith(_OF_SEVERAL_DEVICES)


def _chapter(function: Any) -> str:
    return str(getattr(function, "__module__", "")).rpartition(".")[2]


# -- what is written to --------------------------------------------------------------------------------------------------


# PyTorch's own names of its types, for its error texts.
SCALAR_NAMES = {
    torch.bool: "Bool", torch.uint8: "Byte", torch.int8: "Char", torch.int16: "Short", torch.int32: "Int",
    torch.int64: "Long", torch.float16: "Half", torch.bfloat16: "BFloat16", torch.float32: "Float",
    torch.float64: "Double", torch.complex64: "ComplexFloat", torch.complex128: "ComplexDouble",
}  # fmt: skip


def check_castable(source: torch.dtype, target: torch.dtype) -> None:
    """Raise PyTorch's RuntimeError where a result cannot be written into a tensor of another kind."""
    if source is not target and not torch.can_cast(source, target):
        names = [SCALAR_NAMES.get(each, str(each)) for each in (source, target)]
        raise RuntimeError(f"result type {names[0]} can't be cast to the desired output type {names[1]}")


def check_target(target: Tensor, inputs: Sequence[Any] = ()) -> None:
    """Raise PyTorch's RuntimeErrors for a written tensor whose elements share memory, with each other or with an input's.

    Like PyTorch, this does not look for the latter where either tensor has gaps, such as every other column: kernels then
    read everything before they write (`launch.elementwise` copies such inputs).
    """
    if layout.has_internal_overlap(target.shape, target.stride()) and target.numel() > 1:
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    for one in inputs:
        if isinstance(one, Tensor) and one is not target and not one.is_cpu and shares_storage(one, target):
            first, last = extent(one)
            low, high = extent(target)
            same = (first, last) == (low, high) and one.stride() == target.stride()
            whole = all(is_dense(each.shape, each.stride()) for each in (one, target))
            if whole and not same and first < high and low < last:
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                    "single memory location. Please clone() the tensor before performing the operation."
                )


def check_broadcast(shape: Sequence[int], target: Tensor) -> None:
    """Raise PyTorch's RuntimeError where the result of an in-place operation has another shape than its target."""
    if tuple(shape) != target.shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(shape)}")


def resized(out: Tensor, shape: Sequence[int]) -> Tensor:
    """An argument `out` with the shape of the result, resized where it has another one, as PyTorch does."""
    if tuple(out.shape) != tuple(shape):
        if out.numel():  # PyTorch warns of it
            torch._prims_common.wrappers._maybe_resize_out(out, shape)
        else:
            out.resize_(shape)
    return out


def with_out(function: Callable[..., Tensor], name: str = "out") -> Kernel:
    """The overload that writes the result of a function of tensors into the argument of this name."""

    def kernel(*args: Any, **kwargs: Any) -> Tensor:
        out = kwargs.pop(name)
        made = function(*args, **kwargs)
        return resized(out, made.shape).copy_(made)

    kernel.__module__ = function.__module__
    return kernel


# -- native rows ------------------------------------------------------------------------------------------------------


def argument(value: Any, beside: Sequence[Any] = ()) -> Any:
    """An argument as functions on arrays take it: arrays for tensors, vkarray's types for PyTorch's.

    Tensors without dimensions on the CPU move to the device of those `beside` them.
    """
    if isinstance(value, Tensor):
        if value.is_cpu and value.ndim == 0:
            value = value.to(fallback.device_of(beside))
        elif value.is_conj() or value.is_neg():  # PyTorch leaves it to the kernels of products to see that
            value = value.clone()
        return array_of(value)
    kind = type(value)
    if kind is list or kind is tuple:
        return [argument(one, beside) for one in value]
    return FROM_TORCH[value] if kind is torch.dtype else value


class Native:
    """The computing part of a row: from arguments to results that look as PyTorch says."""

    def __init__(self, op: Any, function: Kernel, adapt: Kernel | None = None) -> None:
        self.op, self.function, self.adapt = op, function, adapt
        self.known: dict[Any, list[Result | None]] = {}
        self.several = len(op._schema.returns) > 1 or str(op._schema.returns[0].type).startswith("List")

    def results(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Result | None]:
        key = (signature(args), signature(list(kwargs.items())) if kwargs else None)
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= _SIGNATURES:
                self.known.clear()
            asked = args if self.adapt is None else self.adapt(*args)
            found = self.known[key] = listed(inferred(self.op, asked, kwargs))
        return found

    def _computed(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[tuple[VkArray, Result] | None]:
        beside = (*args, *kwargs.values()) if kwargs else args
        arrays = [argument(value, beside) for value in args]
        named = {name: argument(value, beside) for name, value in kwargs.items()}
        wanted = self.results(args, kwargs)
        values = self.function(*arrays, **named)
        for value, result in zip(values if isinstance(values, (tuple, list)) else [values], wanted, strict=True):
            if value is None or result is None:
                yield None
            elif value._shape != result.shape:
                raise RuntimeError(f"{self.op}: the kernel's result has shape {value._shape}, expected {result.shape}.")
            else:
                yield value, result

    def __call__(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[VkArray | None]:
        """The results for what is written into tensors: their strides are left open."""
        return [one and cast(one[0], FROM_TORCH[one[1].dtype]) for one in self._computed(args, kwargs)]

    def tensors(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Tensor | None]:
        """The results as new tensors."""
        return [one and tensor_of(*one) for one in self._computed(args, kwargs)]


# What a row may raise before anything is written, when its kernels do not take these types: the CPU may.
REFUSALS = (Unsupported, TypeError, FeatureError)


def native(names: str, function: Kernel, *, state: bool = False, adapt: Kernel | None = None) -> None:
    """Rows for operators (names separated by spaces) that a function on arrays computes.

    The function gets the arguments of the overload that returns a new tensor, with arrays for tensors (None where one is
    left out), lists of arrays, and vkarray's types for PyTorch's; it returns an array, a tuple of them or None for an
    output that is not wanted. Its result is converted to the type that PyTorch says. It may raise Unsupported. What it
    records has to depend on the signature alone, or on a `state` of its own: then there are no plans (see plans.py).
    `adapt` gives the positional arguments that PyTorch is asked with what the result looks like.
    """
    remembered: Callable[[Kernel], Kernel] = (lambda kernel: kernel) if state else planned
    for name in names.split():
        for op in functional(name):
            compute = Native(op, function, adapt)
            register(op, remembered(returning_new(compute)), "native", _chapter(function))
            for other in in_place_variants(op):
                register(other, remembered(_in_place(other, compute)), "native", _chapter(function))
            for other in out_variants(op):
                register(other, _out(other, compute), "native", _chapter(function))


def returning_new(compute: Native) -> Kernel:
    """The kernel of an overload that returns new tensors."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        try:
            tensors = compute.tensors(args, kwargs)
        except REFUSALS as error:
            return fallback.run(compute.op, args, kwargs, reason(error))
        return tensors if compute.several else tensors[0]

    return kernel


def reason(error: Exception) -> str:
    return f"no shader computes it for these arguments ({error})"


def _in_place(op: Any, compute: Native) -> Kernel:
    def kernel(target: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_target(target)
        try:
            (value,) = compute((target, *args), kwargs)
        except REFUSALS as error:
            fallback.run(op, (target, *args), kwargs, reason(error))
            return target
        assert value is not None
        (wanted,) = compute.results((target, *args), kwargs)
        assert wanted is not None
        check_broadcast(wanted.shape, target)
        check_castable(wanted.dtype, target.dtype)
        assign(array_of(target), value)
        return target

    return kernel


def _out(op: Any, compute: Native) -> Kernel:
    names = written(op)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        targets = [kwargs.pop(name) for name in names]
        try:
            wanted = compute.results(args, kwargs)
            values = compute(args, kwargs)
        except REFUSALS as error:
            return fallback.run(op, args, {**kwargs, **dict(zip(names, targets, strict=True))}, reason(error))
        for target, value, result in zip(targets, values, wanted, strict=True):
            if value is not None and result is not None:
                check_castable(result.dtype, target.dtype)
                check_target(resized(target, result.shape))
                assign(array_of(target), value)
        return tuple(targets) if compute.several else targets[0]

    return kernel


# -- kernels of tensors -----------------------------------------------------------------------------------------------


def direct(names: str, kernel: Kernel, kind: str = "native", *, refuses: bool = False) -> None:
    """Rows for single overloads whose kernel takes and returns tensors itself, and may raise Unsupported if it `refuses`."""
    for name in names.split():
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default")
        register(op, _or_on_cpu(op, kernel) if refuses else kernel, kind, _chapter(kernel))


def _or_on_cpu(op: Any, kernel: Kernel) -> Kernel:
    def tried(*args: Any, **kwargs: Any) -> Any:
        try:
            return kernel(*args, **kwargs)
        except Unsupported as error:
            return fallback.run(op, args, kwargs, reason(error))

    return tried


def decomposed(names: str, chapter: str = "decompositions", check: Callable[..., Any] | None = None) -> None:
    """Rows for operators that PyTorch's own formula computes in terms of others.

    `check` gets the arguments before: it refuses values that the formula takes, but PyTorch's kernels do not, or returns
    the result where the formula has none.
    Raises LookupError for an operator that PyTorch has no formula for.
    """
    from torch._decomp import decomposition_table

    for name in names.split():
        for op in functional(name):
            formula = decomposition_table.get(op)
            if formula is None:
                raise LookupError(f"decomposed: PyTorch has no decomposition of aten.{full_name(op)}.")
            formula = formula if check is None else _after(check, formula)
            register(op, formula, "decomposed", chapter)
            for other in (*in_place_variants(op), *out_variants(op)):
                if full_name(other) not in TABLE:
                    register(other, _from_functional(other, op), "decomposed", chapter)


def _after(check: Callable[..., Any], formula: Kernel) -> Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        found = check(*args, **kwargs)
        return formula(*args, **kwargs) if found is None else found

    return kernel


def _from_functional(other: Any, op: Any) -> Kernel:
    """The kernel of a variant that writes: the result of the operator, copied."""
    names = written(other)
    in_place = names == ["self"]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if in_place:
            result = op(*args, **kwargs)
            check_broadcast(result.shape, args[0])
            check_castable(result.dtype, args[0].dtype)
            return args[0].copy_(result)
        targets = [kwargs.pop(name) for name in names]
        results = op(*args, **kwargs)
        for target, result in zip(targets, results if isinstance(results, (tuple, list)) else (results,), strict=True):
            check_castable(result.dtype, target.dtype)
            resized(target, result.shape).copy_(result)
        return tuple(targets) if len(targets) > 1 else targets[0]

    return kernel
