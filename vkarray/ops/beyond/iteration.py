"""`nditer`: a walk through the elements of arrays that broadcast against each other, which waits for the device at each value."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ...core import layout
from ...core.array import VkArray
from ...core.dtypes import DType, as_dtype
from .. import creation
from ..data_type import result_type
from ..manipulation import broadcast_to
from .arguments import arrays_of

# Flags that say what is given; the others say how NumPy may copy, which nothing depends on.
_GIVEN = frozenset(("multi_index", "c_index", "f_index", "external_loop", "zerosize_ok"))
_ACCEPTED = frozenset(
    ("buffered", "common_dtype", "copy_if_overlap", "delay_bufalloc", "grow_inner", "ranged", "reduce_ok", "refs_ok")
)


class nditer:
    """A walk through the elements of arrays, each a view of 0 dimensions; `x[...] = value` changes an array.

    Parameters: op (an array, or a sequence of arrays, lists and None for a result that the walk makes); flags ("multi_index",
    "c_index" or "f_index": what the walk tells of its place; "external_loop": rows in place of elements; "zerosize_ok"; others
    change nothing); op_flags (accepted: all arrays can be written to); op_dtypes (of the results that the walk makes); order ("C",
    "F", "A", or "K": as elements lie in memory). casting and buffersize change nothing.
    Raises ValueError for another flag or order, for "external_loop" beside an index, for shapes that do not broadcast and for no
    elements without "zerosize_ok", TypeError for op_axes and itershape.
    """

    def __init__(
        self, op: Any, flags: Sequence[str] | None = None, op_flags: Any = None, op_dtypes: Any = None, order: str = "K",
        casting: str = "safe", op_axes: Any = None, itershape: Any = None, buffersize: int = 0,
    ) -> None:  # fmt: skip
        self._flags = frozenset(flags or ())
        unknown = self._flags - _GIVEN - _ACCEPTED
        if unknown or order not in tuple("CFAK"):
            raise ValueError(
                f"nditer: unknown flag {sorted(unknown)} or order {order!r}; there are {sorted(_GIVEN | _ACCEPTED)}."
            )
        if op_axes is not None or itershape is not None:
            raise TypeError(
                "nditer: it takes neither op_axes nor itershape. Transpose the arrays, or broadcast them, first."
            )
        given = list(op) if isinstance(op, (list, tuple)) else [op]
        made = iter(arrays_of("nditer", [one for one in given if one is not None]))
        arrays = [None if one is None else next(made) for one in given]
        known = [one for one in arrays if one is not None]
        self.shape = layout.broadcast_shapes([one._shape for one in known], "nditer")
        types = [op_dtypes] * len(arrays) if not isinstance(op_dtypes, (list, tuple)) else op_dtypes
        self.operands = tuple(
            creation.empty(self.shape, dtype=result_type(*known) if dtype is None else as_dtype(dtype), device=known[0]._device)
            if one is None else one
            for one, dtype in zip(arrays, types, strict=True)
        )  # fmt: skip
        self.ndim, self.nop, self.itersize = len(self.shape), len(given), math.prod(self.shape)
        if not self.itersize and "zerosize_ok" not in self._flags:
            raise ValueError(
                f"nditer: arrays of shape {self.shape} have no elements; the flag zerosize_ok allows that."
            )
        self.has_multi_index, self.has_index = "multi_index" in self._flags, bool(self._flags & {"c_index", "f_index"})
        self._whole = [broadcast_to(one, self.shape) for one in self.operands]
        self._axes = self._order(order)
        self._inner: tuple[int, ...] = ()
        if "external_loop" in self._flags:
            if self.has_multi_index or self.has_index:
                raise ValueError("nditer: external_loop has no indices of elements. Leave out either flag.")
            backwards = tuple(
                slice(None, None, -1 if (axis, True) in self._axes else None) for axis in range(self.ndim)
            )
            self._whole = [one[(*backwards, ...)] for one in self._whole]
            self._axes = [(axis, False) for axis, _ in self._axes]
            self._inner = self._rows()
        self.reset()

    def _order(self, order: str) -> list[tuple[int, bool]]:
        """The dimensions, the outermost first, and whether each is walked backwards."""
        axes = range(self.ndim)
        if order == "A":
            order = "F" if all(one.flags.f_contiguous and not one.flags.c_contiguous for one in self._whole) else "C"
        if order != "K":
            return [(axis, False) for axis in (axes if order == "C" else reversed(axes))]
        steps = [[one._strides[axis] for one in self._whole] for axis in axes]

        def comes_later(axis: int, other: int) -> int:
            """1 for a dimension before another whose elements lie further apart in all arrays that have both."""
            first, second = sorted((axis, other))
            pairs = [(abs(a), abs(b)) for a, b in zip(steps[first], steps[second], strict=True) if a and b]
            swapped = bool(pairs) and all(a < b for a, b in pairs)
            return 1 if swapped == (axis == first) else -1

        ordered = sorted(axes, key=functools.cmp_to_key(comes_later))
        return [(axis, max(steps[axis]) <= 0 and min(steps[axis]) < 0) for axis in ordered]

    def _rows(self) -> tuple[int, ...]:
        """The dimensions that are given at once: the innermost ones whose elements lie at equal distances."""
        inner = [axis for axis, _ in self._axes[-1:]]
        for axis, _ in reversed(self._axes[:-1]):
            last = inner[0]
            if any(one._strides[axis] != one._strides[last] * one._shape[last] for one in self._whole):
                break
            inner.insert(0, axis)
        return tuple(inner)

    def reset(self) -> None:
        """Begin anew."""
        self._left = [(axis, back) for axis, back in self._axes if axis not in self._inner]
        lengths = [range(self.shape[axis])[:: -1 if back else 1] for axis, back in self._left]
        self._places = itertools.product(*lengths) if self.itersize else iter(())
        self._begun = False
        self.iterindex = -1
        self.iternext()

    def iternext(self) -> bool:
        """Go on; whether there is another element."""
        place = next(self._places, None)
        self.finished = place is None
        if place is not None:
            self._place = dict(zip((axis for axis, _ in self._left), place, strict=True))
            self.iterindex += 1
        return not self.finished

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._begun:
            self.iternext()
        self._begun = True
        if self.finished:
            raise StopIteration
        return self.value

    @property
    def value(self) -> Any:
        """The element of each array, a view of it: one, or a tuple of several."""
        found = tuple(self._element(one) for one in self._whole)
        return found if self.nop > 1 else found[0]

    def _element(self, x: VkArray) -> VkArray:
        if not self._inner:
            return x[(*self.multi_index, ...)]
        last = self._inner[-1]
        first = sum(self._place[axis] * x._strides[axis] for axis in self._place)
        length = math.prod(self.shape[axis] for axis in self._inner)
        return x._view((length,), (x._strides[last],), first)

    def __getitem__(self, place: Any) -> Any:
        """The element of one of the arrays; of a slice, a tuple of them."""
        chosen = self._whole[place]
        return tuple(map(self._element, chosen)) if isinstance(chosen, list) else self._element(chosen)

    def __setitem__(self, place: int, value: Any) -> None:
        self[place][...] = value

    def __len__(self) -> int:
        return self.nop

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The indices of the element."""
        return tuple(self._place[axis] for axis in range(self.ndim))

    @property
    def index(self) -> int:
        """The place of the element in an array in C order, or in Fortran order with "f_index"."""
        axes = range(self.ndim)
        number = 0
        for axis in reversed(axes) if "f_index" in self._flags else axes:
            number = number * self.shape[axis] + self._place[axis]
        return number

    @property
    def itviews(self) -> tuple[VkArray, ...]:
        """The arrays, broadcast to one shape."""
        return tuple(self._whole)

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """The types of the arrays."""
        return tuple(one._dtype for one in self.operands)

    def close(self) -> None:
        """Nothing: what is written is in the arrays already."""

    def __enter__(self) -> nditer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
