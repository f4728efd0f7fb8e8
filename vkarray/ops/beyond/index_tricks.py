"""Keys, grids and the numbers of elements, with NumPy's names: `r_`, `mgrid`, `ix_`, `unravel_index` and others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...core import dtypes, layout, promotion
from ...core.array import ArrayLike, VkArray, default_dtype, held
from ...core.dtypes import DType, as_dtype
from ...kernels.compact import coordinates
from ...kernels.conversion import cast
from ...kernels.faults import WrongValue, check_values
from ...kernels.launch import as_device
from ...kernels.planned import planned, recordable
from ...kernels.rows import as_array
from .. import creation
from ..elementwise import add, multiply
from ..manipulation import broadcast_arrays, broadcast_to, concat, reshape, stack
from .arguments import array_of, arrays_of, index_type
from .choosing import common_type
from .placing import coordinates_of, in_mode

# -- keys -------------------------------------------------------------------------------------------------------


class IndexExpression:
    """Makes a key out of what stands in brackets: `s_[1:3, ::2]` is `(slice(1, 3), slice(None, None, 2))`."""

    def __init__(self, maketuple: bool) -> None:
        self.maketuple = maketuple  # whether a single entry becomes a tuple

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self.maketuple and not isinstance(key, tuple) else key


s_, index_exp = IndexExpression(False), IndexExpression(True)


@planned
def _open_mesh(arrays: list[VkArray]) -> list[VkArray]:
    return [reshape(x, (1,) * k + x._shape + (1,) * (len(arrays) - k - 1)) for k, x in enumerate(arrays)]


@recordable
def ix_(*args: ArrayLike) -> tuple[VkArray, ...]:
    """A key that selects every combination of the indices in several sequences: one array for each dimension.

    Parameters: args (integers or bools, of 1 dimension each; bools stand for the places of the true ones). Returns views
    that broadcast against each other. Raises ValueError for another rank.
    """
    arrays = arrays_of("ix_", args)
    for place, x in enumerate(arrays):
        if x.ndim != 1:
            raise ValueError(f"ix_: expected sequences of 1 dimension, got shape {x._shape}.")
        if x.size == 0 and isinstance(args[place], (list, tuple, range)):
            arrays[place] = index_type(x)  # the type of an empty list says nothing
        elif x._dtype is dtypes.bool_:
            (arrays[place],) = coordinates(x)
    return tuple(_open_mesh(arrays))


class ndindex:
    """The indices of an array of a shape, in C order, as tuples of Python's integers.

    Parameters: shape (a tuple or integers). Raises ValueError for a negative length.
    """

    def __init__(self, *shape: Any) -> None:
        lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        self._indices = itertools.product(*map(range, creation.as_shape(lengths, "ndindex")))

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return self

    def __next__(self) -> tuple[int, ...]:
        return next(self._indices)


class ndenumerate:
    """The indices and the elements of an array, in C order: tuples of integers, and Python's numbers.

    The elements are those at the time of the call, which waits for the device. Raises TypeError for what is no array or
    list.
    """

    def __init__(self, arr: ArrayLike) -> None:
        x = arrays_of("ndenumerate", [arr])[0]
        self._pairs = zip(ndindex(x._shape), reshape(x, (-1,)).tolist(), strict=True)

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], Any]]:
        return self

    def __next__(self) -> tuple[tuple[int, ...], Any]:
        return next(self._pairs)


# -- grids ------------------------------------------------------------------------------------------------------


@planned(creates=True)
def indices(
    dimensions: Sequence[int], dtype: DType | None = None, sparse: bool = False, *, device: Any = None
) -> VkArray | tuple[VkArray, ...]:
    """The indices of all elements of an array of a shape.

    Parameters: dimensions (the shape); dtype (the default integer type by default); sparse (as one array for each
    dimension, which broadcast against each other). Returns an array whose first dimension counts the dimensions, or a tuple
    of arrays. Raises ValueError for a negative length, TypeError for lengths that are no integers.
    """
    shape = creation.as_shape(tuple(dimensions), "indices", "dimensions")
    target = as_device(device)
    wanted = default_dtype("int", target) if dtype is None else as_dtype(dtype, "indices")
    rank = len(shape)
    rows = [
        reshape(
            creation.arange(length, dtype=wanted, device=target), (1,) * axis + (length,) + (1,) * (rank - axis - 1)
        )
        for axis, length in enumerate(shape)
    ]
    if sparse:
        return tuple(rows)
    if not rows:
        return creation.empty((0,), dtype=wanted, device=target)
    return stack([broadcast_to(row, shape) for row in rows], axis=0)


class _Progression(NamedTuple):
    """The values of a slice: `start:stop:step`, or `start:stop:5j`, whose step is their number.

    `kind` is that of Python's numbers among the limits, `types` are those of arrays and NumPy's scalars.
    """

    start: Any
    step: Any
    length: int
    kind: int
    types: tuple[DType, ...]


def _progression(part: slice) -> _Progression:
    given: list[Any] = [0 if part.start is None else part.start, part.stop, 1 if part.step is None else part.step]
    types = tuple(dtypes.DTYPES[one.dtype.name] for one in given if hasattr(one, "dtype"))
    start, stop, step = (one.item() if hasattr(one, "item") else one for one in given)
    kind = max(_INTEGER, *map(promotion.scalar_kind, (start, stop)))
    if isinstance(step, complex):
        count, real = int(abs(step)), tuple(dtypes.REAL_OF.get(one, one) for one in types)
        return _Progression(start, (stop - start) / (count - 1) if count > 1 else 1, count, max(kind, _FLOAT), real)
    count = max(math.ceil((stop - start) / step), 0)
    return _Progression(start, step, count, max(kind, promotion.scalar_kind(step)), types)


_INTEGER, _FLOAT = promotion.KIND_NAMES.index("int"), promotion.KIND_NAMES.index("float")


class Grid:
    """Makes the coordinates of a grid out of slices, of which an imaginary step is the number: `mgrid[0:3, 0:1:5j]` has 3 by 5."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key: slice | tuple[slice, ...]) -> VkArray | tuple[VkArray, ...]:
        several = isinstance(key, tuple)
        parts = [_progression(part) for part in (key if isinstance(key, tuple) else (key,))]
        target = as_device(None)
        kind = max((_INTEGER, *(part.kind for part in parts)))
        # A single slice with a real step is `arange`, whose type that of a scalar does not change.
        types = [one for part in parts for one in part.types] if several or _counts(key) else []
        dtype = (
            held(promotion.promote_scalar_kind(promotion.promote_all(types), kind), target) if types
            else default_dtype(promotion.KIND_NAMES[kind], target)
        )  # fmt: skip
        rows = []
        for part in parts:
            numbers = creation.arange(part.length, dtype=default_dtype("int", target), device=target)
            rows.append(add(multiply(cast(numbers, dtype), part.step), part.start))
        if not several:
            return rows[0]
        if self.sparse or not rows:
            return tuple(_open_mesh(rows)) if self.sparse else creation.empty((0,), dtype=dtype, device=target)
        return stack(broadcast_arrays(*_open_mesh(rows)), axis=0)


def _counts(part: Any) -> bool:
    """Whether the step of a slice is the number of its values: an imaginary number, of NumPy's also."""
    return isinstance(part.step, complex) or getattr(getattr(part.step, "dtype", None), "kind", "") == "c"


mgrid, ogrid = Grid(False), Grid(True)


class Concatenator:
    """Joins what stands in brackets: arrays, numbers, and slices, which are `arange`, or `linspace` with an imaginary step.

    A string in front says along which axis to join, to how many dimensions to bring the parts, and where their own
    dimensions are to begin: `r_["0,2,1", ...]`.
    """

    def __init__(self, axis: int, rank: int, start: int) -> None:
        self.axis, self.rank, self.start = axis, rank, start

    def __getitem__(self, key: Any) -> VkArray:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, rank, start = self.axis, self.rank, self.start
        if items and isinstance(items[0], str):
            directive = items.pop(0)
            try:
                axis, rank, start = (*map(int, directive.split(",")), *(axis, rank, start)[directive.count(",") + 1 :])
            except ValueError:
                raise ValueError(
                    f"r_: expected 'axis', 'axis,ndmin' or 'axis,ndmin,start', got {directive!r}."
                ) from None
        if any(isinstance(item, str) for item in items):
            raise ValueError("r_: a string may stand in front only.")
        like = next((item for item in items if type(item) is VkArray), creation.asarray(0))
        weak = [promotion.is_scalar(item) and not hasattr(item, "dtype") for item in items]
        parts = [
            item if number else _row(item, like) if isinstance(item, slice) else array_of("r_", item, like)
            for item, number in zip(items, weak, strict=True)
        ]
        if not parts:
            raise ValueError("r_: expected at least one array, number or slice, got none.")
        dtype = common_type("r_", parts, like)
        ranked = []
        for part, item, number in zip(parts, items, weak, strict=True):
            x = as_array("r_", part, dtype, like) if number else cast(part, dtype)
            ranked.append(
                x if x.ndim >= rank else _with_dimensions(x, rank, -1 if number else start, isinstance(item, slice))
            )
        return concat(ranked, axis=axis)

    def __len__(self) -> int:
        return 0


def _row(part: slice, like: VkArray) -> VkArray:
    """The values that a slice names."""
    start = 0 if part.start is None else part.start
    if _counts(part):
        return creation.linspace(start, part.stop, num=int(abs(part.step)), device=like._device)
    return creation.arange(start, part.stop, 1 if part.step is None else part.step, device=like._device)


def _with_dimensions(x: VkArray, rank: int, start: int, row: bool) -> VkArray:
    """A view with dimensions of length 1 up to a rank, the own ones from a place on (-1: at the end)."""
    more = rank - x.ndim
    if row and start != -1:  # the values of a slice change places with the dimension named
        shape = [1] * rank
        shape[start] = x.size
        return reshape(x, shape)
    before = start + more + 1 if start < 0 else start
    return reshape(x, (1,) * before + x._shape + (1,) * (more - before))


r_, c_ = Concatenator(0, 1, -1), Concatenator(-1, 2, 0)


# -- numbers of elements ----------------------------------------------------------------------------------------

_NUMBER = WrongValue(ValueError, "unravel_index: index {value} is out of bounds for an array of {length} elements.")
_COORDINATE = WrongValue(ValueError, "ravel_multi_index: coordinate {value} is out of bounds for a length of {length}.")


_MOST = 2**63 - 1  # which the largest type of integers counts


def _integers(function: str, x: VkArray) -> VkArray:
    if x._dtype.kind == "b":
        return cast(x, default_dtype("int", x._device))
    if x._dtype.kind not in "iu":
        raise TypeError(f"{function}: indices must be integral, got {x._dtype}. Convert them with astype.")
    return index_type(x)


def _strides_of(function: str, shape: Any, order: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A shape, and how many elements a step along each dimension counts."""
    shape = creation.as_shape(shape, function)
    if math.prod(shape) > _MOST:
        raise ValueError(f"{function}: expected a shape of up to 2**63 - 1 elements, got {shape}.")
    strides = layout.contiguous_strides(shape if order == "C" else shape[::-1])
    return shape, strides if order == "C" else strides[::-1]


@planned
def unravel_index(indices: ArrayLike, shape: Sequence[int], order: str = "C") -> tuple[VkArray, ...]:
    """The coordinates of elements of an array of a shape, out of their numbers.

    Parameters: indices (integers); shape; order ("C": the last dimension changes first; "F": the first one does). Returns a
    tuple of arrays of the shape of indices, one for each dimension.
    Raises TypeError for other types, ValueError for another order and, at the next read of a value, for a number out of
    range.
    """
    order = layout.as_order("unravel_index", order, "CF")
    numbers = _integers("unravel_index", indices)
    lengths, _ = _strides_of("unravel_index", shape, order)
    if not lengths and numbers.ndim:
        raise ValueError("unravel_index: an array of 0 dimensions (a 0d array) has one index, and no list of them.")
    size = math.prod(lengths)
    check_values(_NUMBER, numbers, 0, size - 1, length=size)
    numbers = cast(numbers, default_dtype("int", numbers._device))
    found = coordinates_of(numbers, lengths if order == "C" else lengths[::-1])
    return found if order == "C" else found[::-1]


@planned
def ravel_multi_index(
    multi_index: Sequence[ArrayLike], dims: Sequence[int], mode: str | Sequence[str] = "raise", order: str = "C"
) -> VkArray:
    """The numbers of elements of an array of a shape, out of their coordinates.

    Parameters: multi_index (integers, one array for each dimension, which broadcast); dims (the shape); mode ("raise", or
    "wrap" and "clip", which take all integers; or a mode for each dimension); order ("C": the last dimension changes first;
    "F": the first one does).
    Raises TypeError for other types, ValueError for another number of coordinates, another mode or order and, at the next
    read of a value, for a coordinate out of range.
    """
    lengths, steps = _strides_of("ravel_multi_index", dims, layout.as_order("ravel_multi_index", order, "CF"))
    arrays = [_integers("ravel_multi_index", x) for x in arrays_of("ravel_multi_index", multi_index)]
    modes = (mode,) * len(lengths) if isinstance(mode, str) else tuple(mode)
    if not len(arrays) == len(lengths) == len(modes):
        raise ValueError(f"ravel_multi_index: expected {len(lengths)} coordinates, got {len(arrays)}.")
    if 0 in lengths and any(x.size for x in arrays):
        raise ValueError(
            f"ravel_multi_index: an array of shape {lengths} has no elements, and got coordinates of some."
        )
    total = None
    for x, length, step, own in zip(arrays, lengths, steps, modes, strict=True):
        if own == "raise":
            check_values(_COORDINATE, x, 0, length - 1, length=length)
        x = cast(in_mode("ravel_multi_index", x, length, own), default_dtype("int", x._device))
        part = multiply(x, step)
        total = part if total is None else add(total, part)
    if total is None:
        raise ValueError("ravel_multi_index: expected at least one dimension.")
    return total
