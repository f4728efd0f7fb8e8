"""Functions of users applied to parts of arrays, with NumPy's names: `apply_along_axis`, `apply_over_axes`, `vectorize`."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ...core import layout
from ...core.array import ArrayLike, VkArray, operations
from ...core.dtypes import as_dtype
from .. import creation
from ..manipulation import broadcast_to, expand_dims, moveaxis, permute_dims, reshape
from ..ufunc import ufunc
from .arguments import arrays_of


def _indices(shape: Sequence[int]) -> Any:
    return itertools.product(*map(range, shape))


def _assembled(results: Sequence[Any], shape: tuple[int, ...], dtype: Any = None) -> VkArray:
    """Results of calls, one after the other in C order, as an array: their own dimensions come last."""
    made = creation.asarray(list(results), dtype=dtype)
    return reshape(made, (*shape, *made._shape[1:]))


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> VkArray:
    """What a function makes of each of the rows of an array along an axis.

    Parameters: func1d (called with an array of 1 dimension, once for each row); axis; arr; args, kwargs (given to the
    function). Returns an array in which the dimensions of the function's result stand in place of the axis.
    Raises IndexError for an axis out of range, ValueError where there are no rows and for results of different shapes. A
    function that takes the axis itself, such as `sum`, is faster without this one.
    """
    (x,) = arrays_of("apply_along_axis", [arr])
    axis = layout.normalize_axis(axis, x.ndim, "apply_along_axis")
    rows = moveaxis(x, axis, -1)
    shape = rows._shape[:-1]
    if 0 in shape:
        raise ValueError(f"apply_along_axis: an array of shape {x._shape} has no rows along axis {axis}.")
    made = _assembled([func1d(rows[(*index, ...)], *args, **kwargs) for index in _indices(shape)], shape)
    own = made.ndim - len(shape)
    order = [*range(axis), *range(made.ndim - own, made.ndim), *range(axis, len(shape))]
    return permute_dims(made, order)


def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: int | Sequence[int]) -> VkArray:
    """What a function makes of an array along one axis after the other, which keep the length 1.

    Parameters: func (called with an array and an axis; it may drop the axis); a; axes. Raises ValueError where the function
    drops more dimensions, IndexError for an axis out of range.
    """
    (x,) = arrays_of("apply_over_axes", [a])
    rank = x.ndim
    for axis in layout.as_integers(axes, "apply_over_axes", "axes"):
        own = axis + rank if axis < 0 else axis
        result = func(x, own)
        x = result if result.ndim == rank else expand_dims(result, own)
        if x.ndim != rank:
            raise ValueError(
                f"apply_over_axes: expected {rank} or {rank - 1} dimensions of the function, got {result.ndim}."
            )
    return x


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """A function of Python's numbers made an elementwise function, with `reduce`, `accumulate` and `outer`.

    Parameters: func (of `nin` numbers, of which it makes `nout`); identity (what `reduce` gives for no elements). Results have the
    types of the numbers that it makes, where NumPy has objects. It is called for each element, as by `vectorize`.
    Raises TypeError and ValueError as `vectorize`.
    """
    name = f"{getattr(func, '__name__', 'function')} (vectorized)"
    return ufunc(name, vectorize(func), nin, nout, None, func.__doc__ or "", identity)


_CORE = re.compile(r"\(([^()]*)\)")


def _dimensions(text: str) -> list[tuple[str, ...]]:
    """The names of the dimensions of each operand: "(m,n),(n)" to ("m", "n") and ("n",)."""
    return [tuple(name.strip() for name in part.split(",") if name.strip()) for part in _CORE.findall(text)]


class vectorize:
    """A function of numbers made one of arrays.

    The function is called once with arrays of the broadcast shape. Where it cannot take them (it raises TypeError,
    ValueError, AttributeError, IndexError or KeyError, or returns no arrays of that shape), it is called for each element
    with Python's numbers, which is slow.

    Parameters: pyfunc; otypes (the types of its results: a string of NumPy's letters or a list); doc; excluded (numbers and
    names of parameters that are given as they are); cache (changes nothing); signature (such as "(m,n),(n)->(m)": the
    dimensions that the function takes and returns; it is called for each of the others). Without pyfunc it is a decorator.
    Raises ValueError for arrays without elements where otypes are not given and for another signature.
    """

    def __init__(
        self, pyfunc: Callable[..., Any] | None = None, otypes: Any = None, doc: str | None = None,
        excluded: Collection[int | str] | None = None, cache: bool = False, signature: str | None = None,
    ) -> None:  # fmt: skip
        if pyfunc is not None and not callable(pyfunc):
            raise TypeError(f"vectorize: expected a function, got {pyfunc!r:.60}.")
        self.pyfunc, self.cache, self.signature, self.excluded = pyfunc, cache, signature, set(excluded or ())
        self.otypes = None if otypes is None else [as_dtype(one, "vectorize") for one in otypes]
        self.doc = doc
        self.__doc__ = pyfunc.__doc__ if pyfunc is not None and doc is None else doc
        self.__name__ = getattr(pyfunc, "__name__", "vectorize")
        if signature is not None and not re.fullmatch(r"(\s*\(.*\)\s*,?)*->(\s*\(.*\)\s*,?)+", signature):
            raise ValueError(f"vectorize: expected a signature such as '(m,n),(n)->(m)', got {signature!r}.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results, one array or a tuple of them."""
        if self.pyfunc is None:
            return vectorize(args[0], self.otypes, self.doc, self.excluded, self.cache, self.signature)
        places: list[Any] = [place for place in range(len(args)) if place not in self.excluded]
        places += [name for name in kwargs if name not in self.excluded]
        given = [args[place] if isinstance(place, int) else kwargs[place] for place in places]

        function = self.pyfunc

        def call(*values: Any) -> Any:
            own = dict(zip(places, values, strict=True))
            return function(
                *(own.get(place, value) for place, value in enumerate(args)),
                **{name: own.get(name, value) for name, value in kwargs.items()},
            )

        if not given:
            return call()
        arrays = arrays_of("vectorize", given)
        if self.signature is not None:
            return self._by_signature(call, arrays)
        shape = layout.broadcast_shapes([x._shape for x in arrays], "vectorize")
        arrays = [broadcast_to(x, shape) for x in arrays]
        found = self._at_once(call, arrays, shape) if shape else None
        if found is None:
            found = self._one_by_one(call, arrays, shape)
        return found if isinstance(found, tuple) else self._typed(0, found)

    def _typed(self, place: int, result: Any) -> VkArray:
        return result if self.otypes is None else operations["astype"](result, self.otypes[place])

    def _at_once(self, call: Callable[..., Any], arrays: list[VkArray], shape: tuple[int, ...]) -> Any:
        """The results of one call with arrays; None where the function does not take them."""
        try:
            found = call(*arrays)
        except (TypeError, ValueError, AttributeError, LookupError):
            return None
        results = found if isinstance(found, tuple) else (found,)
        if any(type(one) is not VkArray or one._shape != shape for one in results):
            return None
        return tuple(self._typed(place, one) for place, one in enumerate(results)) if found is results else found

    def _one_by_one(self, call: Callable[..., Any], arrays: list[VkArray], shape: tuple[int, ...]) -> Any:
        """The results of a call for each element."""
        columns = [reshape(x, (-1,)).tolist() for x in arrays]
        return self._collected([call(*values) for values in zip(*columns, strict=True)], shape)

    def _collected(self, results: list[Any], shape: tuple[int, ...]) -> Any:
        if not results:
            if self.otypes is None:
                raise ValueError("vectorize: arrays without elements need otypes.")
            made = tuple(creation.empty(shape, dtype=dtype) for dtype in self.otypes)
            return made if len(made) > 1 else made[0]
        if not isinstance(results[0], tuple):
            return _assembled(results, shape, self.otypes and self.otypes[0])
        types: Sequence[Any] = self.otypes or [None] * len(results[0])
        return tuple(
            _assembled(own, shape, dtype) for own, dtype in zip(zip(*results, strict=True), types, strict=True)
        )

    def _by_signature(self, call: Callable[..., Any], arrays: list[VkArray]) -> Any:
        """The results of a call for each index of the dimensions that the signature does not name."""
        assert self.signature is not None
        cores = _dimensions(self.signature.partition("->")[0])
        if len(cores) != len(arrays):
            raise ValueError(f"vectorize: expected {len(cores)} arguments for {self.signature!r}, got {len(arrays)}.")
        lengths: dict[str, int] = {}
        for x, names in zip(arrays, cores, strict=True):
            if x.ndim < len(names):
                raise ValueError(f"vectorize: an array of shape {x._shape} lacks dimensions of {self.signature!r}.")
            for name, length in zip(names, x._shape[x.ndim - len(names) :], strict=True):
                if lengths.setdefault(name, length) != length:
                    raise ValueError(f"vectorize: dimension {name!r} has lengths {lengths[name]} and {length}.")
        outer = [x._shape[: x.ndim - len(names)] for x, names in zip(arrays, cores, strict=True)]
        shape = layout.broadcast_shapes(outer, "vectorize")
        whole = [
            broadcast_to(x, (*shape, *x._shape[x.ndim - len(names) :])) for x, names in zip(arrays, cores, strict=True)
        ]
        if math.prod(shape) == 0:
            raise ValueError("vectorize: arrays without elements to call the function for.")
        return self._collected([call(*(x[(*index, ...)] for x in whole)) for index in _indices(shape)], shape)
