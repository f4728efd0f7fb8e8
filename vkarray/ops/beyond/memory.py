"""What methods of NumPy's arrays do with their memory: `view`, `resize`, `flags`, and `flat`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...core import dtypes, layout
from ...core.array import VkArray, array_in, check_supported, operations, storage_itemsize
from ...core.dtypes import as_dtype
from ...core.key import check_index
from ...core.layout import is_contiguous
from ...core.operators import Elements
from ...kernels import launch
from .. import creation
from ..manipulation import reshape
from .arguments import values_for
from .placing import over_and_over, put_flat

# -- view -------------------------------------------------------------------------------------------------------


_HALVES = {dtypes.uint16, dtypes.float16, dtypes.bfloat16}  # stored alike, in 16 bits or the lower half of 32


def view(x: VkArray, dtype: Any = None) -> VkArray:
    """A view of the same memory, as elements of another type where one is given.

    The last dimension becomes shorter or longer where the sizes of the types differ.
    Raises ValueError where that cannot be: for 0 dimensions, for elements that are not side by side, for lengths and places
    that the sizes do not divide; TypeError where the device stores one of the types with another size.
    """
    wanted = x._dtype if dtype is None else as_dtype(dtype, "view")
    if wanted is x._dtype:
        return x._view(x._shape, x._strides)
    check_supported(wanted, x._device, "view")
    for one in () if {x._dtype, wanted} <= _HALVES else (x._dtype, wanted):
        if storage_itemsize(one, x._device) != one.itemsize:
            raise TypeError(f"view: the device stores {one} in 32 bits. Convert the array with astype instead.")
    old, new = x._dtype.itemsize, wanted.itemsize
    if old == new:
        return array_in(x._buffer, x._offset, x._shape, x._strides, wanted, x._device)
    if x.ndim == 0 or (x._strides[-1] != 1 and x._shape[-1] != 1 and x.size):
        raise ValueError(
            f"view: {wanted} has another size than {x._dtype}, so the elements of the last dimension have to lie side by side; "
            f"they have shape {x._shape} and strides {x._strides}. Copy the array first."
        )
    length, (strides,) = x._shape[-1], layout.taken_strides(x._shape[:-1], [x._strides[:-1]])
    if length * old % new or (x.size and any(places * old % new for places in (x._offset, *strides))):
        raise ValueError(
            f"view: {length} elements of {x._dtype}, {x._offset} elements after the beginning of the memory, do not divide into "
            f"elements of {wanted}. Copy the array, or take another part of it."
        )
    shape = (*x._shape[:-1], length * old // new)
    return array_in(
        x._buffer, x._offset * old // new, shape, (*(s * old // new for s in strides), 1), wanted, x._device
    )


def byteswap(x: VkArray, inplace: bool = False) -> VkArray:
    """The array with the bytes of each element, or of each part of a complex one, in the other order."""
    size = x._dtype.bits // 8
    if size == 1:
        return x if inplace else creation.copied(x)
    swapped = view(reshape(launch.contiguous(x), (-1,)), dtypes.uint8)
    swapped = launch.contiguous(reshape(swapped, (-1, size))[:, ::-1])
    result = reshape(view(reshape(swapped, (-1,)), x._dtype), x._shape)
    if not inplace:
        return result
    operations["setitem"](x, ..., result)
    return x


# -- resize -----------------------------------------------------------------------------------------------------


def resize_in_place(x: VkArray, shape: Any) -> None:
    """Give an array new memory of another shape, with its elements in C order first and zeros after them.

    Views of the array keep the memory that it had. Raises ValueError for a negative length.
    """
    wanted = creation.as_shape(shape, "resize")
    count = min(x.size, math.prod(wanted))
    made = creation.zeros((math.prod(wanted),), dtype=x._dtype, device=x._device)
    if count:
        made[:count] = reshape(x, (-1,))[:count]
    x._buffer, x._offset, x._shape = made._buffer, made._offset, wanted
    x._strides, x._contiguous, x._look = layout.contiguous_strides(wanted), True, None


# -- flags ------------------------------------------------------------------------------------------------------

_FLAGS = {
    "C_CONTIGUOUS": "c_contiguous", "C": "c_contiguous", "CONTIGUOUS": "c_contiguous", "F_CONTIGUOUS": "f_contiguous",
    "F": "f_contiguous", "FORTRAN": "f_contiguous", "OWNDATA": "owndata", "O": "owndata", "WRITEABLE": "writeable",
    "W": "writeable", "ALIGNED": "aligned", "A": "aligned", "WRITEBACKIFCOPY": "writebackifcopy", "X": "writebackifcopy",
    "FNC": "fnc", "FORC": "forc", "BEHAVED": "behaved", "B": "behaved", "CARRAY": "carray", "CA": "carray",
    "FARRAY": "farray", "FA": "farray",
}  # fmt: skip
_SHOWN = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")


class Flags:
    """What is known of the memory of an array, by NumPy's names: as attributes, and as keys.

    Attributes: c_contiguous and f_contiguous (in C's and in Fortran's order without gaps), contiguous and fortran, owndata
    (the array has all of its memory), writeable, aligned and behaved (always true), writebackifcopy (always false), fnc (in
    Fortran's order and not in C's), forc (in one of both), carray and farray. `writeable` may be set, to true alone.
    """

    writebackifcopy = False
    aligned = behaved = True

    def __init__(self, x: VkArray) -> None:
        self.c_contiguous = x._contiguous
        self.f_contiguous = is_contiguous(x._shape[::-1], x._strides[::-1])
        self.owndata = x._offset == 0 and x.size * storage_itemsize(x._dtype, x._device) == x._buffer.nbytes
        self.contiguous = self.carray = self.c_contiguous
        self.fortran = self.f_contiguous
        self.fnc = self.f_contiguous and not self.c_contiguous
        self.forc = self.f_contiguous or self.c_contiguous
        self.farray = self.fnc

    @property
    def writeable(self) -> bool:
        """Whether the elements may be assigned to: always. Raises ValueError when it is set to false."""
        return True

    @writeable.setter
    def writeable(self, value: bool) -> None:
        if not value:
            raise ValueError("flags: arrays of a device can always be written to. Give away a copy instead.")

    def __getitem__(self, name: str) -> bool:
        if name not in _FLAGS:
            raise KeyError(f"flags: unknown flag {name!r}; expected one of {', '.join(_FLAGS)}.")
        return getattr(self, _FLAGS[name])

    def __setitem__(self, name: str, value: bool) -> None:
        if _FLAGS.get(name) != "writeable":
            raise KeyError(f"flags: {name!r} cannot be set.")
        self.writeable = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and all(self[name] == other[name] for name in _SHOWN)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "\n".join(f"  {name} : {self[name]}" for name in _SHOWN) + "\n"


# -- flat -------------------------------------------------------------------------------------------------------


class Flat(Elements):
    """The elements of an array in C order: to iterate over, to index and to assign to.

    Attributes: base (the array), index (how many elements it has gone over), coords (the coordinates of the next one).
    Iteration gives Python's numbers, which are read at its beginning; it waits for the device. Keys are integers, slices,
    `...`, and lists or arrays of integers or bools; what they give is a copy. Values that are assigned are taken over and
    over.
    Raises IndexError for other keys and for an integer out of range.
    """

    def __init__(self, x: VkArray) -> None:
        self.base, self.index = x, 0
        self._values: list[Any] | None = None

    @property
    def coords(self) -> tuple[int, ...]:
        """The coordinates of the next element of an iteration."""
        steps = layout.contiguous_strides(self.base._shape)
        inner = zip(self.base._shape, steps, strict=True)
        return tuple(self.index // step % n if axis else self.index // step for axis, (n, step) in enumerate(inner))

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._values is None:
            self._values = reshape(self.base, (-1,)).tolist()
        if self.index >= len(self._values):
            raise StopIteration
        self.index += 1
        return self._values[self.index - 1]

    def copy(self) -> VkArray:
        """The elements in one dimension, in new memory."""
        return reshape(self.base, (-1,), copy=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return operations["to_numpy_protocol"](self.copy(), dtype, copy)

    def _key(self, key: Any) -> Any:
        """The one entry of a key; an integer as the coordinates of an element."""
        if isinstance(key, tuple):
            if len(key) > 1:
                raise IndexError(f"flat: expected one index, got {len(key)}.")
            key = key[0] if key else ...
        if key is None:
            raise IndexError("flat: expected an integer, a slice, `...`, or integers or bools, got None.")
        if hasattr(key, "__index__") and not isinstance(key, bool) and not (type(key) is VkArray and key.ndim):
            number = check_index(int(key), 0, self.base.size, "flat")
            steps = layout.contiguous_strides(self.base._shape)
            return tuple(number // step % length for length, step in zip(self.base._shape, steps, strict=True))
        return key

    def __getitem__(self, key: Any) -> VkArray:
        key = self._key(key)
        return launch.copy(self.base[key] if isinstance(key, tuple) else reshape(self.base, (-1,))[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, tuple) and not key:
            raise IndexError("flat: expected an index to assign to, got (). Write x.flat[...] for all elements.")
        x, key = self.base, self._key(key)
        values = values_for("flat", value, x)
        if values.size == 0:
            return
        if isinstance(key, tuple):
            x[key] = reshape(values, (-1,))[0]
            return
        if layout.reshaped_strides(x._shape, x._strides, (x.size,)) is not None:
            flat = reshape(x, (-1,))
            if values.size == 1:
                flat[key] = reshape(values, ())
                return
            if key is Ellipsis or isinstance(key, slice):
                part = flat[key]
                part[...] = over_and_over(values, part.size)
                return
        put_flat(x, creation.arange(x.size, device=x._device)[key], values)

    def __repr__(self) -> str:
        return f"<flat of {self.base!r}>"

    def __eq__(self, other: Any) -> Any:
        return self.copy() == _plain(other)

    def __ne__(self, other: Any) -> Any:
        return self.copy() != _plain(other)

    def __lt__(self, other: Any) -> Any:
        return self.copy() < _plain(other)

    def __le__(self, other: Any) -> Any:
        return self.copy() <= _plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.copy() > _plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.copy() >= _plain(other)

    __hash__ = None  # type: ignore[assignment]


def _plain(other: Any) -> Any:
    return other.copy() if isinstance(other, Flat) else other


operations.update(byteswap=byteswap, flags=Flags, flat=Flat, resize_in_place=resize_in_place, view=view)
