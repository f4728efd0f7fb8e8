"""Random orders and choices."""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import Any

from ....core import dtypes, layout
from ....core.array import VkArray, default_dtype, empty, is_supported
from ....core.operators import is_sequence
from ....kernels.compact import nonzero
from ....kernels.conversion import cast
from ....kernels.overriding import or_own_array
from ... import creation, data_type, statistical
from ...elementwise import divide
from ...indexing import take, take_along_axis
from ...manipulation import reshape
from ...searching import count_nonzero, searchsorted
from ...sorting import argsort
from . import kernels
from .counts import Counts
from .draws import Size, put
from .stream import natural


class Order(Counts):
    """Permutations, and choices from arrays."""

    def _order(self, count: int) -> VkArray:
        """The integers below `count` in random order: sorted by random keys of 64 bits, the lower halves first.

        Two keys are equal, and their places then not random, with a probability of less than count**2 / 2**65.
        """
        lower, upper = (self.integers(1 << 32, size=count, dtype=dtypes.uint32) for _ in range(2))
        order = argsort(lower)
        return take(order, argsort(take(upper, order)))

    def _array(self, function: str, name: str, x: Any) -> VkArray | int:
        """An array, or the integers below a number, to put in order or choose from."""
        x = or_own_array(x)
        if type(x) is VkArray and x._shape:
            return x
        if is_sequence(x) or getattr(x, "ndim", False):
            return creation.asarray(x, device=self._device)
        try:
            return natural(function, name, x)
        except TypeError:
            kind = IndexError if type(x) is VkArray else TypeError  # as NumPy for arrays of 0 dimensions
            raise kind(f"{function}: expected an integer or an array as {name}, got {x!r:.60}.") from None

    def permutation(self, x: Any, axis: int = 0) -> VkArray:
        """The integers below x, or a copy of the array or list x with its slices along an axis, in random order.

        Raises ValueError for a negative integer and an array of 0 dimensions, IndexError for an axis out of range.
        Method: a stable sort by 64-bit random keys.
        """
        found = self._array("permutation", "x", x)
        if type(found) is not VkArray:
            return self._order(int(found))
        axis = layout.normalize_axis(axis, found.ndim, "permutation")
        return take(found, self._order(found._shape[axis]), axis=axis)

    def shuffle(self, x: VkArray | MutableSequence[Any], axis: int = 0) -> None:
        """Put the slices of an array along an axis, or the elements of a list, in random order, in place.

        Raises TypeError for anything else; other errors and method as `permutation`.
        """
        if type(x) is VkArray:
            x[...] = self.permutation(x, axis)
        elif isinstance(x, MutableSequence):
            layout.normalize_axis(axis, 1, "shuffle")
            x[:] = [x[place] for place in self._order(len(x)).tolist()]
        else:
            raise TypeError(f"shuffle: expected a vkarray array or a list, got {type(x).__name__}. Use permutation.")

    def permuted(self, x: Any, *, axis: int | None = None, out: VkArray | None = None) -> VkArray:
        """A copy of x with the elements of each row along an axis in a random order of its own.

        Parameters: x (an array or a list); axis (None: all elements are one row); out (an array like x, x itself for one, which
        is filled and returned). Raises IndexError for an axis out of range, TypeError and ValueError for another array as out.
        Method: as `permutation`.
        """
        x = creation.asarray(x, device=self._device)
        if out is not None and (type(out) is not VkArray or out._dtype is not x._dtype):
            raise TypeError(
                f"permuted: expected an array of {x._dtype} as out, got {getattr(out, 'dtype', type(out))}."
            )
        if out is not None and out._shape != x._shape:
            raise ValueError(f"permuted: expected out of shape {x._shape}, got {out._shape}.")
        if axis is None:
            rows = reshape(x, (-1,)) if x.size else x
            return put(reshape(take(rows, self._order(x.size)), x._shape) if x.size else x, out)
        axis = layout.normalize_axis(axis, x.ndim, "permuted")
        lower, upper = (self.integers(1 << 32, size=x._shape, dtype=dtypes.uint32) for _ in range(2))
        order = argsort(lower, axis=axis)
        order = take_along_axis(order, argsort(take_along_axis(upper, order, axis=axis), axis=axis), axis=axis)
        return put(take_along_axis(x, order, axis=axis), out)

    def choice(
        self, a: Any, size: Size = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> VkArray:
        """Elements of a (slices along an axis; integers below a for an integer) chosen at random.

        Parameters: a (an integer, an array or a list); size; replace (False: each at most once); p (their probabilities: an
        array or a list of sum 1; all alike by default); axis; shuffle (without `replace` the order is always random).
        Returns an array of shape a.shape[:axis] + size + a.shape[axis + 1:].
        Raises ValueError for nothing to choose from, for more elements than there are (of positive probability) without
        `replace`, and for probabilities of another number, negative ones, or another sum than 1.
        Method: with `replace` integers, or a binary search in the running sums of p; else a random order, or with p the
        order of exponential numbers over p (Efraimidis and Spirakis, Information Processing Letters 97, 2006).
        """
        found = self._array("choice", "a", a)
        count = (
            found._shape[layout.normalize_axis(axis, found.ndim, "choice")] if type(found) is VkArray else int(found)
        )
        shape = () if size is None else creation.as_shape(size, "choice", "size")
        drawn = math.prod(shape)
        if drawn and count == 0:
            raise ValueError("choice: there is nothing to choose from: a is empty.")
        if not replace and drawn > count:
            raise ValueError(f"choice: expected at most {count} elements without replacement, got size {size}.")
        places = self._places(count, drawn, replace, None if p is None else self._probabilities(p, count))
        places = places._view(shape, layout.contiguous_strides(shape))
        return take(found, places, axis=axis) if type(found) is VkArray else places

    def _places(self, count: int, drawn: int, replace: bool, weights: VkArray | None) -> VkArray:
        """So many of the integers below `count`, by their weights."""
        if drawn == 0:
            return empty((0,), default_dtype("int", self._device), self._device)
        if weights is None:
            return self.integers(count, size=drawn) if replace else self._order(count)[:drawn]
        if replace:
            # Elements of probability 0 are left out: rounding in the running sums must not choose them.
            support = nonzero(weights)[0]
            sums = statistical.cumulative_sum(take(weights, support))
            numbers = self._standard("choice", "uniforms", drawn, sums._dtype)
            return take(support, searchsorted(divide(sums, sums[-1]), numbers, side="right"))
        positive = int(count_nonzero(weights))
        if drawn > positive:
            raise ValueError(
                f"choice: {drawn} elements without replacement, but only {positive} probabilities are not 0."
            )
        keys = divide(self._standard("choice", "exponentials", count, weights._dtype), weights)
        return argsort(keys)[:drawn]

    def _probabilities(self, p: Any, count: int) -> VkArray:
        """p as an array of the widest floating-point type. Raises ValueError unless they are probabilities of `count`."""
        widest = dtypes.float64 if is_supported(dtypes.float64, self._device) else dtypes.float32
        given = p if hasattr(p, "dtype") else creation.asarray(p, dtype=widest, device=self._device)
        given = creation.asarray(given, device=self._device)
        weights = cast(given, widest)
        if weights._shape != (count,):
            raise ValueError(f"choice: expected {count} probabilities in one dimension, got shape {weights._shape}.")
        total = float(statistical.sum(weights)) if count else 1.0
        precise = given._dtype if given._dtype in kernels.FLOATING else widest
        tolerance = math.sqrt(data_type.finfo(precise).eps)
        least = float(statistical.min(weights)) if count else 0.0
        if not (least >= 0 and abs(total - 1) <= tolerance):
            got = f"a sum of {total}" if least >= 0 else f"{least} among them"
            raise ValueError(f"choice: expected probabilities of 0 or more and of sum 1, got {got}.")
        return weights
