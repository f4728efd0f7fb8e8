"""Reductions and running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core import dtypes
from ...core.array import VkArray
from ...core.dtypes import DType
from ...kernels import launch
from ...kernels.conversion import cast
from ...ops import elementwise, searching, statistical, utility
from ...ops.linalg.norm import vector_norm
from ..dispatch.fallback import Unsupported
from ..dispatch.table import native

Dims = int | Sequence[int] | None


def axes(x: VkArray, dim: Dims) -> tuple[int, ...] | None:
    """Dimensions as vkarray takes them: None for none given, which means all; none of an array without dimensions."""
    if dim is None or dim == []:
        return None
    listed = [dim] if isinstance(dim, int) else dim
    return tuple(each % x.ndim for each in listed) if x.ndim else ()


def _converted(x: VkArray, dtype: DType | None) -> VkArray:
    return x if dtype is None else cast(x, dtype)


def _numeric(x: VkArray) -> VkArray:
    """Bool as integers of 8 bits: their largest and smallest are found alike."""
    return cast(x, dtypes.uint8) if x._dtype is dtypes.bool_ else x


def _sum(x: VkArray, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> VkArray:
    return statistical.sum(x, axis=axes(x, dim), keepdims=keepdim, dtype=dtype)


def _nansum(x: VkArray, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> VkArray:
    if x._dtype.category == "real floating":
        x = searching.where(elementwise.isnan(x), 0, x)
    return _sum(x, dim, keepdim, dtype=dtype)


def _mean(x: VkArray, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> VkArray:
    return statistical.mean(_converted(x, dtype), axis=axes(x, dim), keepdims=keepdim)


def _product(x: VkArray, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> VkArray:
    if dtype is dtypes.bool_:
        return utility.all(x, axis=axes(x, dim), keepdims=keepdim)
    return statistical.prod(x, axis=axes(x, dim), keepdims=keepdim, dtype=dtype)


def _extreme(function: Callable[..., VkArray]) -> Callable[..., VkArray]:
    def reduced(x: VkArray, dim: Dims = None, keepdim: bool = False) -> VkArray:
        if dim is None and 0 in x._shape:
            raise RuntimeError(
                f"{function.__name__}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
                f"dim with the 'dim' argument."
            )
        return function(_numeric(x), axis=axes(x, dim), keepdims=keepdim)

    reduced.__module__ = __name__
    return reduced


def _extreme_and_place(function: Callable[..., VkArray], place: Callable[..., VkArray]) -> Callable[..., Any]:
    def reduced(x: VkArray, dim: int, keepdim: bool = False) -> tuple[VkArray, VkArray]:
        return _extreme(function)(x, dim, keepdim), _place(place)(x, dim, keepdim)

    reduced.__module__ = __name__
    return reduced


def _place(function: Callable[..., VkArray]) -> Callable[..., VkArray]:
    def reduced(x: VkArray, dim: int | None = None, keepdim: bool = False) -> VkArray:
        if x.ndim == 0:
            x = x._view((1,), (0,))
            return function(_numeric(x), axis=0)
        return function(_numeric(x), axis=None if dim is None else dim % x.ndim, keepdims=keepdim)

    reduced.__module__ = __name__
    return reduced


_largest, _smallest = _extreme(statistical.max), _extreme(statistical.min)


def _both(x: VkArray, *, dim: int | None = None, keepdim: bool = False) -> tuple[VkArray, VkArray]:
    return _smallest(x, dim, keepdim), _largest(x, dim, keepdim)


def _test(function: Callable[..., VkArray]) -> Callable[..., VkArray]:
    def reduced(x: VkArray, dim: Dims = None, keepdim: bool = False) -> VkArray:
        return function(x, axis=axes(x, dim), keepdims=keepdim)

    reduced.__module__ = __name__
    return reduced


def _spread(function: Callable[..., VkArray]) -> Callable[..., VkArray]:
    def reduced(x: VkArray, dim: Dims = None, *, correction: Any = None, keepdim: bool = False) -> VkArray:
        if x._dtype.category != "real floating":
            raise Unsupported(f"vkarray has no variance of {x._dtype}")
        return function(x, axis=axes(x, dim), correction=1 if correction is None else correction, keepdims=keepdim)

    reduced.__module__ = __name__
    return reduced


def _spread_and_mean(function: Callable[..., VkArray]) -> Callable[..., Any]:
    spread = _spread(function)

    def reduced(x: VkArray, dim: Dims = None, *, correction: Any = None, keepdim: bool = False) -> Any:
        return spread(x, dim, correction=correction, keepdim=keepdim), _mean(x, dim, keepdim)

    reduced.__module__ = __name__
    return reduced


def _vector_norm(
    x: VkArray, ord: Any = 2, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> VkArray:  # fmt: skip
    return vector_norm(_converted(x, dtype), axis=axes(x, dim), ord=ord, keepdims=keepdim)


def _from_the_front(x: Any, ord: Any = 2, dim: Dims = None, *rest: Any) -> tuple[Any, ...]:
    """The arguments without negative dimensions: PyTorch 2.11 keeps one of length 1 that is counted from the end."""
    listed = [dim] if isinstance(dim, int) else dim
    inside = listed is not None and all(-x.ndim <= each < x.ndim for each in listed)
    return x, ord, [each % x.ndim for each in listed] if listed and inside else dim, *rest


def _norm(x: VkArray, p: Any, dim: Dims, keepdim: bool = False, *, dtype: DType | None = None) -> VkArray:
    return _vector_norm(x, 2 if p is None else p, dim, keepdim, dtype=dtype)


def _running(function: Callable[..., VkArray]) -> Callable[..., VkArray]:
    def scanned(x: VkArray, dim: int, *, dtype: DType | None = None) -> VkArray:
        if x.ndim == 0:
            return launch.copy(_converted(x, dtype))
        return function(x, axis=dim % x.ndim, dtype=dtype)

    scanned.__module__ = __name__
    return scanned


native("sum.dim_IntList", _sum)
native("nansum", _nansum)
native("mean.dim", _mean)
native("prod.default prod.dim_int", _product)
native("amax max.default", _largest)
native("amin min.default", _smallest)
native("aminmax", _both)
native("max.dim", _extreme_and_place(statistical.max, searching.argmax))
native("min.dim", _extreme_and_place(statistical.min, searching.argmin))
native("argmax", _place(searching.argmax))
native("argmin", _place(searching.argmin))
native("any.default any.dim any.dims", _test(utility.any))
native("all.default all.dim all.dims", _test(utility.all))
native("count_nonzero.dim_IntList", _test(searching.count_nonzero))
native("var.correction", _spread(statistical.var))
native("std.correction", _spread(statistical.std))
native("var_mean.correction", _spread_and_mean(statistical.var))
native("std_mean.correction", _spread_and_mean(statistical.std))
native("linalg_vector_norm", _vector_norm, adapt=_from_the_front)
native("norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype", _norm)
native("cumsum", _running(statistical.cumulative_sum))
native("cumprod", _running(statistical.cumulative_prod))
