"""Random numbers: `Generator`, a counter-based generator whose numbers are the same bits on every device.

The stream of a key is a sequence of 32-bit words, block n of four words being Philox4x32-10 of the counter n. A draw takes
the next words: one for each float32 or integer, two for each float64 or integer out of a range of more than 2**32. So any
invocation makes any number, and neither workgroups nor how a draw is split up matter.
"""

from __future__ import annotations

import functools
import hashlib
import math
import secrets
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ....core import dtypes, layout, promotion
from ....core.array import VkArray, check_supported, default_dtype, empty, is_supported, storage_itemsize
from ....core.dtypes import DType, as_dtype
from ....kernels import launch
from ....kernels.compact import nonzero
from ....kernels.dispatch import Fields, pointer
from ....kernels.gather import element_sizes
from ....kernels.planned import planned, refuse
from ....kernels.rows import as_operand, cast, check_operands
from ....kernels.signature import VALUES
from ....shaders.source import Variant
from ... import creation, data_type, statistical
from ...elementwise import divide, subtract
from ...indexing import take
from ...searching import count_nonzero, searchsorted
from ...sorting import argsort

if TYPE_CHECKING:
    from ....kernels.launch import Device

_WORDS_OF_BLOCK = 4
_DISTRIBUTIONS = ("vx_uniforms", "vx_normals", "vx_exponentials")
_FLOATING = (dtypes.float32, dtypes.float64)

Size = int | Sequence[int] | None


@functools.cache
def _variant(distribution: str, dtype: DType) -> Variant:
    of_type = (("T", "float"),) if dtype is dtypes.float32 else (("T", "double"), ("DOUBLE", "1"))
    defines = (("DISTRIBUTION", distribution), *of_type)
    return Variant("random/numbers", defines, f"random {distribution.removeprefix('vx_')} {dtype}")


@functools.cache
def _integer_variant(element_bytes: int, wide: bool) -> Variant:
    defines = [("ELEMENT_BYTES", str(element_bytes)), *([("WIDE", "1")] if wide else [])]
    return Variant("random/integers", tuple(defines), f"random integers {element_bytes} bytes{' wide' if wide else ''}")


@functools.cache
def _affine(dtype: DType) -> launch.Operation:
    """loc + scale * number."""
    return launch.Operation(f"scale random numbers {dtype}", "b + c * a", (dtype,) * 3, dtype, dtype)


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all distributions and types, for the archive."""
    for dtype in _FLOATING:
        if is_supported(dtype, device):
            for distribution in _DISTRIBUTIONS:
                yield _variant(distribution, dtype)
            yield from _affine(dtype).variants(device)
    for element_bytes in element_sizes(device):
        if element_bytes <= 8:
            yield _integer_variant(element_bytes, False)
    if is_supported(dtypes.uint64, device):
        yield _integer_variant(8, True)


def _key(*numbers: int) -> int:
    """A key of 64 bits for integers of 0 or more: a single one of 64 bits is the key itself, others are hashed."""
    if len(numbers) == 1 and numbers[0] >> 64 == 0:
        return numbers[0]
    digest = hashlib.blake2b(",".join(map(str, numbers)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


VALUES.add(Variant)


@planned(integers=True)
def _fill(
    result: VkArray, variant: Variant, words: int, key: int, block: int, skip: int, names: tuple[str, ...], *parameters: int
) -> None:  # fmt: skip
    """Fill a contiguous array with numbers of `words` words, from number `skip` of a block of the stream on."""
    device = result._device
    of_block = _WORDS_OF_BLOCK // words
    for first in range(0, result.size, layout.INDEX_LIMIT):
        count = min(result.size - first, layout.INDEX_LIMIT)
        further, begin = divmod(skip + first, of_block)
        fields = {
            "results": pointer(result, first),
            "key": key,
            "block": (block + further) & (1 << 64) - 1 if further else block,
            "skip": begin,
            "count": count,
            **dict(zip(names, parameters, strict=True)),
        }
        groups = launch.groups_for(-(-(begin + count) // of_block), device.limits)
        launch.dispatch(variant, device, groups, fields, writes=("results",))


class Generator:
    """Random numbers from a stream that a seed determines. Made by `vkarray.random.default_rng`.

    The same calls give the same bits on every device and driver (where the device has the dtype), and a draw of n and one
    of m numbers are those of a draw of n + m. `size` is a shape; None stands for one number, an array of 0 dimensions.
    Method: Philox4x32-10 (Salmon et al., SC'11), with the seed as its key.
    """

    def __init__(self, seed: int | Sequence[int] | None = None, *, device: Any = None) -> None:
        numbers = (secrets.randbits(64),) if seed is None else layout.as_integers(seed, "default_rng", "seed")
        if not numbers or any(one < 0 for one in numbers):
            raise ValueError(f"default_rng: expected a seed of 0 or more, got {seed!r}.")
        self._key = _key(*numbers)
        self._position = 0  # words taken from the stream
        self._children = 0
        self._device = launch.as_device(device)
        self._lock = threading.RLock()  # a signal handler may draw, too

    @property
    def device(self) -> Device:
        """The device of the arrays that are made."""
        return self._device

    @property
    def state(self) -> dict[str, int]:
        """The key, the number of words taken and that of generators spawned. Assign it to go back to a state.

        Assigning raises TypeError for other names and values that are no integers, ValueError for integers out of range.
        """
        with self._lock:
            return {"key": self._key, "position": self._position, "children": self._children}

    @state.setter
    def state(self, value: dict[str, int]) -> None:
        if not isinstance(value, dict) or value.keys() != {"key", "position", "children"}:
            raise TypeError(f"state: expected a dictionary of key, position and children, got {value!r:.60}.")
        key, position, children = (_natural("state", name, value[name]) for name in ("key", "position", "children"))
        if key >> 64:
            raise ValueError(f"state: expected a key of 64 bits, got {key:#x}.")
        with self._lock:
            self._key, self._position, self._children = key, position, children

    # Copies go on alike; a pickled generator is on the default device, as a pickled array is.

    def __getstate__(self) -> dict[str, int]:
        return self.state

    def __setstate__(self, state: dict[str, int]) -> None:
        Generator.__init__(self, 0)
        self.state = state

    def __copy__(self) -> Generator:
        copied = Generator(0, device=self._device)
        copied.state = self.state
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Generator:
        return self.__copy__()

    def spawn(self, count: int) -> list[Generator]:
        """New generators with streams of their own, which this one's state determines but its draws do not.

        Raises TypeError unless count is an integer, ValueError for a negative one.
        """
        count = _natural("spawn", "count", count)
        with self._lock:
            first = self._children
            self._children += count
        return [Generator((self._key, first + number), device=self._device) for number in range(count)]

    def __repr__(self) -> str:
        return f"<vkarray.random.Generator (Philox4x32-10), key {self._key:#018x}, position {self._position}>"

    # -- the stream -----------------------------------------------------------------------------------------------

    def _reserve(self, count: int, words: int) -> int:
        """The place in the stream of the first of `count` numbers of so many words each."""
        refuse("it draws random numbers")
        with self._lock:
            start = -(-self._position // words) * words
            self._position = start + count * words
        return start

    def _draw(self, variant: Variant, result: VkArray, words: int, parameters: Fields | None = None) -> VkArray:
        """Fill a contiguous array with the next numbers, of `words` words each."""
        block, skip = divmod(self._reserve(result.size, words) // words, _WORDS_OF_BLOCK // words)
        block &= (1 << 64) - 1
        given = parameters or {}
        _fill(result, variant, words, self._key, block, skip, tuple(given), *given.values())
        return result

    def _floating(self, function: str, distribution: str, size: Size, dtype: DType | None) -> VkArray:
        wanted = default_dtype("float", self._device) if dtype is None else as_dtype(dtype, function)
        if wanted not in _FLOATING:
            raise TypeError(
                f"{function}: expected dtype float32 or float64, got {wanted}. Convert the numbers: astype."
            )
        check_supported(wanted, self._device, function)
        shape = () if size is None else creation.as_shape(size, function, "size")
        return self._draw(_variant(distribution, wanted), empty(shape, wanted, self._device), wanted.bits // 32)

    def _scaled(
        self, function: str, distribution: str, loc: Any, scale: Any, size: Size, dtype: DType | None
    ) -> VkArray:  # fmt: skip
        """loc + scale * number, for numbers, or arrays that broadcast."""
        arrays = [value for value in (loc, scale) if type(value) is VkArray]
        if arrays:
            check_operands(function, [*arrays, launch.constant(0, dtypes.int32, self._device)])
        for name, value in (("loc", loc), ("scale", scale)):
            if type(value) is not VkArray and not promotion.is_real_scalar(value):
                raise TypeError(f"{function}: expected a real number or a vkarray array as {name}, got {value!r}.")
            if type(value) is VkArray:
                promotion.check_category(function, value._dtype, "real numeric")
        if arrays and size is None:
            size = layout.broadcast_shapes([value._shape for value in arrays], function)
        result = self._floating(function, distribution, size, dtype)
        for value in arrays:
            if layout.broadcast_shapes([value._shape, result._shape], function) != result._shape:
                raise ValueError(
                    f"{function}: a parameter of shape {value._shape} does not broadcast to {result._shape}."
                )
        if not arrays and loc == 0 and scale == 1:
            return result
        operands = [as_operand(function, value, result._dtype, result) for value in (loc, scale)]
        return launch.elementwise(_affine(result._dtype), (result, *operands), result)

    # -- distributions --------------------------------------------------------------------------------------------

    def random(self, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Numbers evenly distributed over [0, 1): multiples of 2**-24 in float32 (the default), of 2**-53 in float64.

        Parameters: size (an integer or a tuple; None for an array of 0 dimensions); dtype.
        Raises TypeError for another dtype, ValueError for a negative size, FeatureError for float64 where the device lacks it.
        """
        return self._floating("random", "vx_uniforms", size, dtype)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """low + (high - low) * random: numbers evenly distributed over [low, high) (where rounding does not reach high).

        Parameters: low, high (real numbers, or arrays that broadcast); size (default: the shape of those); dtype.
        Raises ValueError for a distance of the bounds that is not finite; other errors as for `random`.
        """
        if type(low) is VkArray or type(high) is VkArray:
            return self._scaled("uniform", "vx_uniforms", low, subtract(high, low), size, dtype)
        low, high = (promotion.as_float(bound, "uniform", name) for name, bound in (("low", low), ("high", high)))
        if not math.isfinite(high - low):
            raise ValueError(f"uniform: expected finite real numbers low and high, got {low!r} and {high!r}.")
        return self._scaled("uniform", "vx_uniforms", low, high - low, size, dtype)

    def standard_normal(self, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Normally distributed numbers of mean 0 and standard deviation 1, in float32 (the default) or float64.

        Parameters and errors as for `random`.
        Method: Box and Muller (1958): the logarithm and the sine are vkarray's own, so the bits are the same everywhere.
        """
        return self._floating("standard_normal", "vx_normals", size, dtype)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Normally distributed numbers of mean `loc` and standard deviation `scale`.

        Parameters: loc, scale (real numbers, or arrays that broadcast); size (default: the shape of those); dtype.
        Raises ValueError for a negative number as scale.
        """
        return self._scaled("normal", "vx_normals", loc, _not_negative("normal", scale), size, dtype)

    def standard_exponential(self, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Exponentially distributed numbers of mean 1, in float32 (the default) or float64: -log of an even one.

        Parameters and errors as for `random`.
        """
        return self._floating("standard_exponential", "vx_exponentials", size, dtype)

    def exponential(self, scale: Any = 1.0, size: Size = None, *, dtype: DType | None = None) -> VkArray:
        """Exponentially distributed numbers of mean `scale`, a real number or an array.

        Raises ValueError for a negative number as scale.
        """
        return self._scaled("exponential", "vx_exponentials", 0.0, _not_negative("exponential", scale), size, dtype)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Size = None,
        *,
        dtype: DType | None = None,
        endpoint: bool = False,
    ) -> VkArray:
        """Integers from low (0 without `high`) to high - 1 (to high with `endpoint`), all of them equally likely.

        Parameters: low, high (integers); size; dtype (any integer type or bool; default int64, int32 where the device has
        no int64). Raises ValueError for an empty range, OverflowError for bounds that the dtype does not hold.
        Method: multiplication and rejection (Lemire, 2019), exact; at most one in two words is rejected.
        """
        given = {"low": 0, "high": low} if high is None else {"low": low, "high": high}
        first, last = (layout.as_integer(bound, "integers", name) for name, bound in given.items())
        last -= not endpoint
        wanted = default_dtype("int", self._device) if dtype is None else as_dtype(dtype, "integers")
        promotion.check_category("integers", wanted, "integer or boolean")
        check_supported(wanted, self._device, "integers")
        if first > last:
            raise ValueError(f"integers: there is no integer from {first} to {last}; expected low below high.")
        for bound in (first, last):
            if wanted is dtypes.bool_ and bound not in (0, 1):
                raise OverflowError(f"integers: {bound} is out of bounds for bool (0 to 1).")
            if wanted is not dtypes.bool_:
                promotion.check_scalar_range("integers", bound, wanted)
        span = last - first + 1
        bits = 64 if span > 1 << 32 else 32
        parameters = {
            "low": first & (1 << 64) - 1,
            "range": span & (1 << bits) - 1,
            "threshold": (1 << bits) % span,
        }
        result = empty(() if size is None else creation.as_shape(size, "integers", "size"), wanted, self._device)
        return self._draw(
            _integer_variant(storage_itemsize(wanted, self._device), bits == 64), result, bits // 32, parameters
        )

    # -- order ----------------------------------------------------------------------------------------------------

    def _order(self, count: int) -> VkArray:
        """The integers below `count` in random order: sorted by random keys of 64 bits, the lower halves first.

        Two keys are equal, and their places then not random, with a probability of less than count**2 / 2**65.
        """
        lower, upper = (self.integers(1 << 32, size=count, dtype=dtypes.uint32) for _ in range(2))
        order = argsort(lower)
        return take(order, argsort(take(upper, order)))

    def permutation(self, x: int | VkArray, axis: int = 0) -> VkArray:
        """The integers below x, or a copy of the array x with its slices along an axis, in random order.

        Raises ValueError for a negative integer and an array of 0 dimensions, IndexError for an axis out of range.
        Method: a stable sort by 64-bit random keys.
        """
        if type(x) is not VkArray:
            return self._order(_population("permutation", "x", x))
        axis = layout.normalize_axis(axis, x.ndim, "permutation")
        return take(x, self._order(x._shape[axis]), axis=axis)

    def shuffle(self, x: VkArray, axis: int = 0) -> None:
        """Put the slices of x along an axis in random order, in place. Errors and method as `permutation`."""
        if type(x) is not VkArray:
            raise TypeError(f"shuffle: expected a vkarray array, got {type(x).__name__}. Use permutation.")
        x[...] = self.permutation(x, axis)

    def choice(
        self, a: int | VkArray, size: Size = None, replace: bool = True, p: Any = None, axis: int = 0
    ) -> VkArray:
        """Elements of a (slices along an axis; integers below a for an integer) chosen at random.

        Parameters: a; size; replace (False: each at most once); p (their probabilities: an array or a list of sum 1; all
        alike by default); axis. Returns an array of shape a.shape[:axis] + size + a.shape[axis + 1:].
        Raises ValueError for nothing to choose from, for more elements than there are (of positive probability) without
        `replace`, and for probabilities of another number, negative ones, or another sum than 1.
        Method: with `replace` integers, or a binary search in the running sums of p; else a random order, or with p the
        order of exponential numbers over p (Efraimidis and Spirakis, Information Processing Letters 97, 2006).
        """
        count = (
            _population("choice", "a", a)
            if type(a) is not VkArray
            else a._shape[layout.normalize_axis(axis, a.ndim, "choice")]
        )
        shape = () if size is None else creation.as_shape(size, "choice", "size")
        drawn = math.prod(shape)
        if drawn and count == 0:
            raise ValueError("choice: there is nothing to choose from: a is empty.")
        if not replace and drawn > count:
            raise ValueError(f"choice: expected at most {count} elements without replacement, got size {size}.")
        weights = None if p is None else self._probabilities(p, count)
        if drawn == 0:
            places = empty((0,), default_dtype("int", self._device), self._device)
        elif weights is None:
            places = self.integers(count, size=drawn) if replace else self._order(count)[:drawn]
        elif replace:
            # Elements of probability 0 are left out: rounding in the running sums must not choose them.
            support = nonzero(weights)[0]
            sums = statistical.cumulative_sum(take(weights, support))
            numbers = self.random(drawn, dtype=sums._dtype)
            places = take(support, searchsorted(divide(sums, sums[-1]), numbers, side="right"))
        else:
            positive = int(count_nonzero(weights))
            if drawn > positive:
                raise ValueError(
                    f"choice: {drawn} elements without replacement, but only {positive} probabilities are not 0."
                )
            keys = divide(self.standard_exponential(count, dtype=weights._dtype), weights)
            places = argsort(keys)[:drawn]
        places = places._view(shape, layout.contiguous_strides(shape))
        return take(a, places, axis=axis) if type(a) is VkArray else places

    def _probabilities(self, p: Any, count: int) -> VkArray:
        """p as an array of the widest floating-point type. Raises ValueError unless they are probabilities of `count`."""
        widest = dtypes.float64 if is_supported(dtypes.float64, self._device) else dtypes.float32
        given = p if hasattr(p, "dtype") else creation.asarray(p, dtype=widest, device=self._device)
        given = creation.asarray(given, device=self._device)
        weights = cast(given, widest)
        if weights._shape != (count,):
            raise ValueError(f"choice: expected {count} probabilities in one dimension, got shape {weights._shape}.")
        total = float(statistical.sum(weights)) if count else 1.0
        tolerance = math.sqrt(data_type.finfo(given._dtype if given._dtype in _FLOATING else widest).eps)
        least = float(statistical.min(weights)) if count else 0.0
        if not (least >= 0 and abs(total - 1) <= tolerance):
            got = f"a sum of {total}" if least >= 0 else f"{least} among them"
            raise ValueError(f"choice: expected probabilities of 0 or more and of sum 1, got {got}.")
        return weights


def _not_negative(function: str, scale: Any) -> Any:
    if promotion.is_real_scalar(scale) and scale < 0:
        raise ValueError(f"{function}: expected a scale of 0 or more, got {scale!r}.")
    return scale


def _natural(function: str, name: str, value: Any) -> int:
    """The parameter `name` as an integer of 0 or more. Raises TypeError and ValueError."""
    number = layout.as_integer(value, function, name)
    if number < 0:
        raise ValueError(f"{function}: expected {name} of 0 or more, got {number}.")
    return number


def _population(function: str, name: str, count: Any) -> int:
    try:
        return _natural(function, name, count)
    except TypeError:
        raise TypeError(
            f"{function}: expected an integer or a vkarray array as {name}, got {count!r:.60}. Use vkarray.asarray."
        ) from None
