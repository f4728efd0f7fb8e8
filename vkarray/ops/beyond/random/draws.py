"""What all distributions share: the stream, the device, and how numbers of a row become an array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .... import configuration
from ....core import dtypes, layout
from ....core.array import VkArray, check_supported, default_dtype, empty, is_supported
from ....core.dtypes import DType, as_dtype
from ....kernels import launch
from ....kernels.conversion import cast
from ....kernels.planned import watches
from ....kernels.rows import as_operand
from ....kernels.signature import SHAPES
from ....shaders.source import Variant
from . import kernels
from .parameters import ANY, Limits, Operand, in_memory, operand, shape_of
from .stream import Philox

if TYPE_CHECKING:
    from ....kernels.launch import Device

KNOWN = 1024  # sizes of which a generator remembers what they mean
Size = int | Sequence[int] | None
Given = dict[str, tuple[Any, Limits]]  # parameters by name, and what they may be


class Draws:
    """Random numbers from a stream, on a device."""

    def __init__(self, bit_generator: Any = None, *, device: Any = None) -> None:
        self._stream = bit_generator if isinstance(bit_generator, Philox) else Philox(bit_generator)
        self._device = launch.as_device(device)
        self._known: dict[tuple[Any, ...], tuple[Variant, DType, int, int]] = {}  # see `_standard`

    @property
    def device(self) -> Device:
        """The device of the arrays that are made."""
        return self._device

    @property
    def bit_generator(self) -> Philox:
        """The stream of words that the numbers are made of, with its `state`."""
        return self._stream

    @property
    def state(self) -> dict[str, int]:
        """The `state` of the bit generator: the key, the number of words taken and that of generators spawned.

        Assigning raises TypeError for other names and values that are no integers, ValueError for integers out of range.
        """
        return self._stream.state

    @state.setter
    def state(self, value: dict[str, int]) -> None:
        self._stream.state = value

    # Copies go on alike; a pickled generator is on the default device, as a pickled array is.

    def __getstate__(self) -> dict[str, int]:
        return self.state

    def __setstate__(self, state: dict[str, int]) -> None:
        Draws.__init__(self, 0)
        self.state = state

    def __copy__(self) -> Any:
        copied = type(self)(0, device=self._device)
        copied.state = self.state
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.__copy__()

    def __repr__(self) -> str:
        state = self.state
        name = type(self).__name__
        return f"<vkarray.random.{name} (Philox4x32-10), key {state['key']:#018x}, position {state['position']}>"

    # -- arrays of numbers ----------------------------------------------------------------------------------------

    def _filled(
        self, variant: Variant, result: VkArray, words: int, parameters: dict[str, int] | None = None
    ) -> VkArray:
        """Fill a contiguous array with the next numbers, of `words` words each."""
        given = parameters or {}
        kernels.fill(result, variant, words, *self._stream.place(result.size, words), tuple(given), *given.values())
        return result

    def _dtype(self, function: str, dtype: Any) -> DType:
        """The floating-point type of the numbers."""
        wanted = default_dtype("float", self._device) if dtype is None else as_dtype(dtype, function)
        if wanted is dtypes.float32:  # which all devices have
            return wanted
        if wanted not in kernels.FLOATING:
            raise TypeError(
                f"{function}: expected dtype float32 or float64, got {wanted}. Convert the numbers: astype."
            )
        check_supported(wanted, self._device, function)
        return wanted

    def _widest(self) -> DType:
        """The type that counts are drawn in: float64, where the device has it, for it holds more of them."""
        return dtypes.float64 if is_supported(dtypes.float64, self._device) else dtypes.float32

    def _operands(self, function: str, given: Given, dtype: DType) -> list[Operand]:
        device = self._device
        return [
            value if type(value) is float and limits is ANY else operand(function, name, value, limits, dtype, device)
            for name, (value, limits) in given.items()
        ]

    def _standard(
        self, function: str, row: str, size: Size, dtype: Any = None, out: VkArray | None = None
    ) -> VkArray:  # fmt: skip
        """Numbers of a row of STANDARD. What a size and a type mean is found out at the first call."""
        if out is not None or watches or type(size) is not tuple or tuple(map(type, size)) not in SHAPES:
            wanted = self._dtype(function, dtype)
            target = self._target(function, shape_of(function, size_of(size, out), []), wanted, out)
            return put(self._filled(kernels.standard_variant(row, wanted), target, wanted.bits // 32), out)
        default = None if type(dtype) is DType else configuration.default_float()
        key = (row, size, dtype, default) if dtype is None or type(dtype) is DType else ()
        found = self._known.get(key)
        if found is None:
            wanted = self._dtype(function, dtype)
            count = math.prod(shape_of(function, size, []))
            found = kernels.standard_variant(row, wanted), wanted, count, wanted.bits // 32
            if key:
                if len(self._known) >= KNOWN:
                    self._known.clear()
                self._known[key] = found
        variant, wanted, count, words = found
        return kernels.numbers(size, wanted, self._device, variant, *self._stream.next_place(count, words))

    def _target(self, function: str, shape: tuple[int, ...], dtype: DType, out: VkArray | None) -> VkArray:
        """A contiguous array to fill: `out` itself where it is one."""
        if out is None:
            return empty(shape, dtype, self._device)
        if type(out) is not VkArray:
            raise TypeError(f"{function}: expected a vkarray array as out, got {type(out).__name__}.")
        if out._dtype is not dtype or out._device is not self._device:
            raise TypeError(
                f"{function}: expected out of {dtype} on {self._device}, got {out._dtype} on {out._device}."
            )
        if out._shape != shape:
            raise ValueError(f"{function}: expected out of shape {shape}, got {out._shape}.")
        return out if out._contiguous else empty(shape, dtype, self._device)

    def _scaled(
        self, function: str, row: str, loc: Operand, scale: Operand, size: Size, dtype: DType
    ) -> VkArray:  # fmt: skip
        """loc + scale * number of a row of STANDARD."""
        are_numbers = type(loc) is float and type(scale) is float
        result = self._standard(function, row, size if are_numbers else shape_of(function, size, [loc, scale]), dtype)
        if are_numbers and loc == 0 and scale == 1:
            return result
        operands = [as_operand(function, value, dtype, result) for value in (loc, scale)]
        return launch.elementwise(kernels.affine(dtype), (result, *operands), result)

    def _located(self, function: str, row: str, given: Given, size: Size, dtype: Any) -> VkArray:
        """loc + scale * number, of the parameters given."""
        wanted = self._dtype(function, dtype)
        loc, scale = self._operands(function, given, wanted)
        return self._scaled(function, row, loc, scale, size, wanted)

    def _drawn(
        self, row: str, operands: list[Operand], shape: tuple[int, ...], dtype: DType, target: VkArray | None = None
    ) -> VkArray:
        """Numbers of a row of DRAWN, whose parameters broadcast to a shape."""
        result = empty(shape, dtype, self._device) if target is None else target
        arrays = [in_memory(one, shape, dtype, self._device) for one in operands]
        a, b, c = arrays + arrays[:1] * (3 - len(arrays))
        variant = kernels.drawn_variant(row, dtype)
        key, block, _ = self._stream.place(result.size, kernels.WORDS_OF_BLOCK)
        kernels.fill_drawn(result, a, b, c, variant, key, block)
        return result

    def _numbers(self, function: str, given: Given, size: Size, dtype: Any) -> VkArray:
        """Floating-point numbers of the row named like the function."""
        wanted = self._dtype(function, dtype)
        operands = self._operands(function, given, wanted)
        return self._drawn(function, operands, shape_of(function, size, operands), wanted)

    def _counts(self, function: str, given: Given, size: Size) -> VkArray:
        """Integers of the row named like the function."""
        wide = self._widest()
        operands = self._operands(function, given, wide)
        return self._whole(self._drawn(function, operands, shape_of(function, size, operands), wide))

    def _whole(self, counts: VkArray) -> VkArray:
        return cast(counts, default_dtype("int", self._device))


def size_of(size: Size, out: VkArray | None) -> Size:
    """The size that is wanted: that of `out` where none is given."""
    return out._shape if size is None and type(out) is VkArray else size


def put(made: VkArray, out: VkArray | None) -> VkArray:
    """What was made, or `out` with its numbers."""
    if out is None or made is out:
        return made
    out[...] = made
    return out


def drawn(generator: Draws, row: str, *parameters: VkArray) -> VkArray:
    """Numbers of a row of DRAWN for parameters of one floating-point type that broadcast; NaN where they are wrong."""
    shape = layout.broadcast_shapes([one._shape for one in parameters], row)
    return generator._drawn(row, list(parameters), shape, parameters[0]._dtype)
