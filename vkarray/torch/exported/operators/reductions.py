"""Sums, means, extremes, norms, and what runs along a dimension."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import vkarray as vx

from ....nn import indexing, softmax
from ..table import RESULT, row

Dims = int | Sequence[int] | None


def _axes(x: Any, dim: Dims) -> Any:
    """The dimensions; PyTorch's empty list names all."""
    if isinstance(dim, int):
        return dim if x.ndim else None
    return (tuple(dim) if x.ndim else None) if dim else None


def _reduction(name: str) -> Callable[..., Any]:
    def function(call: Any, x: Any, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
        x = call.cast(x) if name in _CONVERTED else x
        return getattr(vx, name)(x, axis=_axes(x, dim), keepdims=keepdim)

    return function


_CONVERTED = ("sum", "prod", "mean")
_REDUCTIONS = {
    "sum": ("sum", "sum.dim_IntList"), "mean": ("mean", "mean.dim"), "prod": ("prod", "prod.dim_int"),
    "max": ("amax", "max"), "min": ("amin", "min"), "any": ("any", "any.dim", "any.dims"),
    "all": ("all", "all.dim", "all.dims"), "nansum": ("nansum",), "count_nonzero": (),
}  # fmt: skip
for _name, _operators in _REDUCTIONS.items():
    row(*_operators)(_reduction(_name))


@row("sum", "mean", "prod")
def _of_all(call: Any, x: Any, dtype: Any = None) -> Any:
    return getattr(vx, call.name)(call.cast(x))


@row("count_nonzero", "count_nonzero.dim_IntList")
def _count(call: Any, x: Any, dim: Dims = None) -> Any:
    return vx.sum(vx.astype(x != 0, vx.int64), axis=_axes(x, dim))


@row("max.dim", "min.dim")
def _extreme(call: Any, x: Any, dim: int, keepdim: bool = False) -> Any:
    best, place = (vx.max, vx.argmax) if call.name == "max" else (vx.min, vx.argmin)
    if x.ndim == 0:
        return x, vx.zeros((), dtype=vx.int64)
    return best(x, axis=dim, keepdims=keepdim), place(x, axis=dim, keepdims=keepdim)


@row("aminmax")
def _extremes(call: Any, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return tuple(best(x, axis=_axes(x, dim), keepdims=keepdim) for best in (vx.min, vx.max))


@row("argmax", "argmin")
def _place(call: Any, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    found = vx.argmax if call.name == "argmax" else vx.argmin
    if x.ndim == 0:
        return vx.zeros((), dtype=vx.int64)
    return found(x, axis=dim, keepdims=keepdim)


def _spread(call: Any, x: Any, dim: Dims, correction: Any, keepdim: bool) -> Any:
    correction = 1 if correction is None else correction
    function = vx.std if call.name.startswith("std") else vx.var
    return function(x, axis=_axes(x, dim), correction=correction, keepdims=keepdim)


@row("var.correction", "std.correction")
def _deviation(call: Any, x: Any, dim: Dims = None, correction: Any = 1, keepdim: bool = False) -> Any:
    return _spread(call, x, dim, correction, keepdim)


@row("var_mean.correction", "std_mean.correction")
def _deviation_and_mean(call: Any, x: Any, dim: Dims = None, correction: Any = 1, keepdim: bool = False) -> Any:
    return _spread(call, x, dim, correction, keepdim), vx.mean(x, axis=_axes(x, dim), keepdims=keepdim)


@row("linalg_vector_norm", "norm.ScalarOpt_dim", "norm.Scalar")
def _norm(call: Any, x: Any, order: Any = 2, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    axis = _axes(x, dim)
    size = vx.abs(x)
    order = 2 if order is None else order
    if order in (math.inf, -math.inf):
        return (vx.max if order > 0 else vx.min)(size, axis=axis, keepdims=keepdim)
    if order == 0:
        return vx.sum(call.cast(size != 0), axis=axis, keepdims=keepdim)
    if order == 1:
        return vx.sum(size, axis=axis, keepdims=keepdim)
    if order == 2:
        return vx.sqrt(vx.sum(size * size, axis=axis, keepdims=keepdim))
    return vx.pow(vx.sum(vx.pow(size, order), axis=axis, keepdims=keepdim), 1 / order)


@row("logsumexp", promotes=RESULT)
def _log_of_sum(call: Any, x: Any, dim: Dims, keepdim: bool = False) -> Any:
    axis = _axes(x, dim)
    most = vx.max(x, axis=axis, keepdims=True)
    most = vx.where(vx.isfinite(most), most, 0)
    found = vx.log(vx.sum(vx.exp(x - most), axis=axis, keepdims=True)) + most
    return found if keepdim else vx.squeeze(found, axis=axis) if x.ndim else found


@row("_softmax", "softmax.int", "_safe_softmax", "special_softmax")
def _softmax(call: Any, x: Any, dim: int, *_: Any, **options: Any) -> Any:
    if call.name == "_safe_softmax" and x.ndim:
        rows = call.cast(x) if dim in (-1, x.ndim - 1) else vx.moveaxis(call.cast(x), dim, -1)
        found = softmax.masked_softmax(rows) if x.ndim > 1 else softmax.masked_softmax(rows[None])[0]
        return found if dim in (-1, x.ndim - 1) else vx.moveaxis(found, -1, dim)
    return softmax.softmax(call.cast(x), axis=dim) if x.ndim else vx.ones_like(call.cast(x))


@row("_log_softmax", "log_softmax.int", "special_log_softmax")
def _log_softmax(call: Any, x: Any, dim: int, *_: Any, **options: Any) -> Any:
    return softmax.log_softmax(call.cast(x), axis=dim) if x.ndim else vx.zeros_like(call.cast(x))


# -- along a dimension ------------------------------------------------------------------------------------------------


@row("cumsum", "cumprod")
def _running(call: Any, x: Any, dim: int, dtype: Any = None) -> Any:
    function = vx.cumulative_sum if call.name == "cumsum" else vx.cumulative_prod
    return function(call.cast(x), axis=dim) if x.ndim else x


@row("cummax", "cummin")
def _running_extreme(call: Any, x: Any, dim: int) -> Any:
    """The extreme up to each place, and the last place that has it."""
    if x.ndim == 0:
        return x, vx.zeros((), dtype=vx.int64)
    found = (vx.maximum if call.name == "cummax" else vx.minimum).accumulate(x, axis=dim)
    shape = [1] * x.ndim
    shape[dim] = -1
    places = vx.reshape(vx.arange(x.shape[dim], dtype=vx.int64), tuple(shape))
    is_new = (x == found) | vx.isnan(x) if vx.isdtype(call.dtype, "real floating") else x == found
    return found, vx.maximum.accumulate(vx.where(is_new, places, 0), axis=dim)


@row("logcumsumexp")
def _running_log_of_sum(call: Any, x: Any, dim: int) -> Any:
    return vx.logaddexp.accumulate(x, axis=dim) if x.ndim else x


@row("topk")
def _largest(call: Any, x: Any, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    return indexing.topk(x, k, axis=dim, largest=largest)


@row("sort", "sort.stable")
def _sort(call: Any, x: Any, *rest: Any, **named: Any) -> Any:
    dim, descending = _order(call, rest, named)
    return indexing.sort(x, axis=dim, descending=descending) if x.ndim else (x, vx.zeros((), dtype=vx.int64))


@row("argsort", "argsort.stable")
def _order_of(call: Any, x: Any, *rest: Any, **named: Any) -> Any:
    dim, descending = _order(call, rest, named)
    return indexing.sort(x, axis=dim, descending=descending)[1]


def _order(call: Any, rest: Sequence[Any], named: dict[str, Any]) -> tuple[int, bool]:
    names = ("stable", "dim", "descending") if call.overload == "stable" else ("dim", "descending")
    given = {**dict(zip(names, rest, strict=False)), **named}
    return given.get("dim", -1), given.get("descending", False)


@row("kthvalue")
def _kth(call: Any, x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    if x.ndim == 0:
        return x, vx.zeros((), dtype=vx.int64)
    parts = indexing.sort(x, axis=dim)
    found = [vx.take(one, vx.asarray([k - 1]), axis=dim) for one in parts]
    return [one if keepdim else vx.squeeze(one, axis=dim) for one in found]


@row("median.dim", "nanmedian.dim")
def _median(call: Any, x: Any, dim: int, keepdim: bool = False) -> Any:
    """The lower of the two in the middle. Behind the numbers stand those that are NaN: the first of them, unless none counts."""
    if x.ndim == 0:
        return x, vx.zeros((), dtype=vx.int64)
    unknown = vx.sum(vx.astype(vx.isnan(x), vx.int64), axis=dim, keepdims=True)
    numbers = x.shape[dim] - unknown
    middle = (vx.maximum(numbers, 1) - 1) // 2
    place = middle if call.name == "nanmedian" else vx.where(unknown > 0, numbers, middle)
    found = [vx.take_along_axis(one, place, axis=dim) for one in indexing.sort(x, axis=dim)]
    return [one if keepdim else vx.squeeze(one, axis=dim) for one in found]


@row("median", "nanmedian")
def _median_of_all(call: Any, x: Any) -> Any:
    return _median(call, vx.reshape(x, (-1,)), 0)[0]
