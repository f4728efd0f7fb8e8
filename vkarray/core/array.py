"""The array object: a buffer, an offset, a shape, strides, a dtype and a device. No mathematics.

Its operators are written out in `operators.py` and its methods in `methods.py`; both call `operations`, a table that `vkarray.ops`
fills by name.
"""

from __future__ import annotations

import math
import types
from collections.abc import Iterator, Sequence
from typing import Any

from .. import _vk
from ..errors import DeviceError, FeatureError
from . import dtypes, layout, promotion
from .called import called
from .dtypes import DType
from .methods import Methods, operations
from .operators import Operators

__all__ = ["VkArray"]

# Device features that a dtype cannot exist without.
_NEEDED_FEATURES = {
    dtypes.int64: "shaderInt64",
    dtypes.uint64: "shaderInt64",
    dtypes.float64: "shaderFloat64",
    dtypes.complex128: "shaderFloat64",
}
_SMALL_STORAGE = {8: "storageBuffer8BitAccess", 16: "storageBuffer16BitAccess"}


# What a device without the types of 64 bits has in their place.
_SHORTER = {
    dtypes.int64: dtypes.int32, dtypes.uint64: dtypes.uint32,
    dtypes.float64: dtypes.float32, dtypes.complex128: dtypes.complex64,
}  # fmt: skip


def is_supported(dtype: DType, device: _vk.Device) -> bool:
    """Whether the device has the features that the dtype needs."""
    needed = _NEEDED_FEATURES.get(dtype)
    return needed is None or needed in device.features


def check_supported(dtype: DType, device: _vk.Device, function: str, operands: Sequence[Any] = ()) -> None:
    """Raise FeatureError when the device cannot compute with `dtype`: nothing is demoted silently.

    The operands are those whose types lead to it, if it is the type of none of them.
    """
    if is_supported(dtype, device):
        return
    feature, instead = _NEEDED_FEATURES[dtype], _SHORTER[dtype]
    given = dict.fromkeys(operand._dtype.name for operand in operands if type(operand) is VkArray)
    promotes = f"{' with '.join(given)} leads to {dtype}, and " if given and dtype.name not in given else ""
    remedy = "Convert one of them (astype)" if promotes else f"Ask for {instead} (dtype=vkarray.{instead}, or astype)"
    raise FeatureError(
        f"{called(function)}: {promotes}the device {device.name!r} has no {feature}{device.physical.switched_off(feature)}, so "
        f"{dtype} arrays do not exist on it. {remedy}, or choose another device.",
        (feature,),
    )


def storage_itemsize(dtype: DType, device: _vk.Device) -> int:
    """Bytes of one element in device memory: 4 for an 8- or 16-bit type on a device without such storage."""
    feature = _SMALL_STORAGE.get(dtype.bits)
    return dtype.itemsize if feature is None or feature in device.features else 4


def box_of(array: VkArray) -> layout.Box:
    """Which elements of its memory are an array's."""
    return layout.Box(array._offset, array._shape, array._strides, storage_itemsize(array._dtype, array._device))


def default_dtype(kind: str, device: _vk.Device) -> DType:
    """The dtype of a Python bool, int, float or complex: int64 (int32 where missing), and the default floating type's."""
    if kind == "int":
        return dtypes.int64 if "shaderInt64" in device.features else dtypes.int32
    if kind == "bool":
        return dtypes.bool_
    floating = available(dtypes.default_floating(), device)
    return floating if kind == "float" else dtypes.COMPLEX_OF[floating]


def _of_python(kind: str) -> DType:
    """What Python's int, float and complex mean as types: those of its numbers on the default device, where there is one."""
    try:
        return default_dtype(kind, _vk.open_device(None))
    except DeviceError:
        return dtypes.default(kind)


dtypes.of_python = _of_python


def beside_scalar(dtype: DType, kind: int, device: _vk.Device | None) -> DType:
    """The type of an array of `dtype` beside a Python scalar (`promotion.scalar_kind`): of bools and an integer the default one."""
    promoted = promotion.promote_scalar_kind(dtype, kind)
    return default_dtype("int", device) if promoted is not dtype and promoted is dtypes.int64 and device else promoted


def available(dtype: DType, device: _vk.Device | None) -> DType:
    """What integers lead to on a device: float32 in place of NumPy's float64, unless float64 is the default floating type.

    Only for types that integers lead to: what a user names is never replaced (`check_supported` refuses it).
    """
    if dtype not in _SHORTER or dtype.kind not in "fc":
        return dtype
    if dtypes.default_floating() is dtypes.float32:
        return _SHORTER[dtype]
    return dtype if device is None else held(dtype, device)


def held(dtype: DType, device: _vk.Device) -> DType:
    """The type itself, or that of half its bits where the device lacks it: for what types lead to, not for what a user names."""
    return dtype if is_supported(dtype, device) else _SHORTER[dtype]


def floating(x: VkArray) -> DType:
    """The floating-point type that a function of x computes in: its own, for integers and bool the default one."""
    return x._dtype if x._dtype in dtypes.CATEGORIES["floating-point"] else available(dtypes.float64, x._device)


ArrayLike = Any  # to functions: an array, or a number, list or scalar of NumPy's, of which they make one
StrongLike = Any  # the same, but a Python number has a type of its own also beside an array, as in NumPy's `asarray`


class VkArray(Operators, Methods):
    """An array in the memory of a Vulkan device.

    Made by `vkarray.asarray`, `vkarray.zeros` and the like. Slices, transposes and broadcasts are views of the same memory;
    operations return at once and the host waits only when it reads a value.

    Parameters, as NumPy's: shape; dtype (the default floating type by default); buffer (whose memory the elements are in: an
    array, which the new one is a view of, or bytes, which are copied; without it the values are undefined); offset and
    strides (in bytes, in the buffer); order (of the elements in the buffer, without strides: "C" or "F").
    Raises TypeError for a buffer that is too small, ValueError for strides that reach outside of it.
    """

    # `_is_place` is set for an array of 0 dimensions that in-place operators change: others are values, as NumPy's scalars are,
    # and `x += 1` gives the name x another one.
    __slots__ = (
        "__weakref__", "_buffer", "_contiguous", "_device", "_dtype", "_is_place", "_look", "_offset", "_shape", "_strides",
    )  # fmt: skip

    _buffer: _vk.Buffer
    _offset: int
    _shape: tuple[int, ...]
    _strides: tuple[int, ...]
    _dtype: DType
    _device: _vk.Device
    _look: Any  # what plans know it by
    _contiguous: bool
    _is_place: bool

    __array_priority__ = 1000
    __class_getitem__: Any = classmethod(types.GenericAlias)  # for annotations: ndarray[Any, dtype[float32]]

    def __init__(
        self, shape: int | Sequence[int], dtype: Any = None, buffer: Any = None, offset: int = 0,
        strides: Sequence[int] | None = None, order: str | None = None,
    ) -> None:  # fmt: skip
        made = operations["ndarray"](shape, dtype, buffer, offset, strides, order)
        for name in ("_buffer", "_offset", "_shape", "_strides", "_dtype", "_device", "_look", "_contiguous"):
            setattr(self, name, getattr(made, name))

    # -- attributes ---------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The data type of the elements."""
        return self._dtype

    @property
    def device(self) -> _vk.Device:
        """The device that holds the elements."""
        return self._device

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions. Assigned, the same elements with another shape.

        Raises ValueError for another number of elements, and where only a copy could have that shape.
        """
        return self._shape

    @shape.setter
    def shape(self, shape: int | Sequence[int]) -> None:
        view = operations["reshape"](self, shape, copy=False)
        self._shape, self._strides, self._contiguous, self._look = view._shape, view._strides, view._contiguous, None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """The step along each dimension in bytes, as NumPy counts it."""
        itemsize = self._dtype.itemsize
        return tuple(stride * itemsize for stride in self._strides)

    @property
    def element_strides(self) -> tuple[int, ...]:
        """The step along each dimension in elements."""
        return self._strides

    @property
    def base(self) -> None:
        """None: which array a view was made from is not kept."""
        return None

    @property
    def itemsize(self) -> int:
        """Bytes of one element on the host."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements on the host."""
        return self.size * self._dtype.itemsize

    @property
    def T(self) -> VkArray:
        """The array with its dimensions in reverse order, a view."""
        return self._view(self._shape[::-1], self._strides[::-1])

    @property
    def mT(self) -> VkArray:
        """The last two dimensions swapped, a view. Raises ValueError for fewer than 2 dimensions."""
        if self.ndim < 2:
            raise ValueError(f"mT: expected at least 2 dimensions, got {self.ndim} (shape {self._shape}).")
        shape, strides = self._shape, self._strides
        return self._view((*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2]))

    def _view(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> VkArray:
        """A view of the same memory; `offset` counts elements from this array's first."""
        return array_in(self._buffer, self._offset + offset, shape, strides, self._dtype, self._device)

    def _permuted(self, order: Sequence[int]) -> VkArray:
        """A view with the dimensions in another order."""
        return self._view(tuple(self._shape[axis] for axis in order), tuple(self._strides[axis] for axis in order))

    @property
    def _address(self) -> int:
        """The device address of the first element."""
        return self._buffer.address + self._offset * storage_itemsize(self._dtype, self._device)

    # -- the standard's protocol methods -----------------------------------------------------------------------

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The module `vkarray` (standard, "array object"). Raises ValueError for an unknown version."""
        import vkarray

        vkarray.check_api_version(api_version)
        return vkarray

    def to_device(self, device: _vk.Device | str | int, /, *, stream: None = None) -> VkArray:
        """This array on another device (itself when it is there already). Raises DeviceError for an unknown device."""
        return operations["to_device"](self, device, stream=stream)

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:  # fmt: skip
        """A DLPack capsule of this array (see `vkarray.from_dlpack`)."""
        return operations["to_dlpack"](self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(kDLVulkan, index of the device)."""
        return operations["dlpack_device"](self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """A NumPy array with a copy of the values; `np.asarray(x)` calls this. Raises ValueError for copy=False."""
        return operations["to_numpy_protocol"](self, dtype, copy)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """A ufunc of NumPy's: vkarray's own of that name computes it (NEP 13). Raises TypeError beside a NumPy array."""
        return operations["array_ufunc"](self, function, method, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function of NumPy's: vkarray's own of that name computes it (NEP 18). Raises TypeError where there is none."""
        return operations["array_function"](self, function, types, args, kwargs)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The values as NumPy describes memory: a copy on the host. AttributeError for bfloat16, which NumPy lacks."""
        if self._dtype is dtypes.bfloat16:
            raise AttributeError(
                "__array_interface__: NumPy has no bfloat16. Convert the array with astype(vkarray.float32)."
            )
        values = operations["to_numpy_protocol"](self, None, None)
        return {
            "shape": self._shape, "typestr": self._dtype.str, "version": 3, "data": values, "strides": values.strides,
        }  # fmt: skip

    def __reduce__(self) -> tuple:
        return operations["unpickle"], (operations["to_numpy"](self), self._dtype.name)

    def __repr__(self) -> str:
        return operations["repr"](self)

    def __str__(self) -> str:
        return operations["str"](self)

    def __format__(self, specification: str) -> str:
        if specification and self.ndim:
            raise TypeError(
                f"format: an array of shape {self._shape} takes no specification, got {specification!r}. "
                f"Format its elements, or use vkarray.array2string."
            )
        return format(self.item() if specification else str(self), specification)

    # -- reading values -----------------------------------------------------------------------------------------

    def _scalar(self, method: str) -> Any:
        if self._shape == ():
            return operations["scalar"](self)
        if self.size != 1:
            raise TypeError(
                f"{method}: only an array of one element converts to a Python scalar, got shape {self._shape}. "
                f"Index it, or use .tolist()."
            )
        return operations["scalar"](self._view((), ()))

    def __bool__(self) -> bool:
        if self.size != 1:
            which = "an array with more than one element" if self.size else "an empty array"
            raise ValueError(
                f"__bool__: the truth value of {which} is ambiguous; it has shape {self._shape}. "
                f"Use x.any() or x.all()."
            )
        return bool(self._scalar("__bool__"))

    def __int__(self) -> int:
        return int(self._real_scalar("__int__"))

    def __float__(self) -> float:
        if self._shape == () and self._dtype.kind != "c":
            return float(operations["scalar"](self))
        return float(self._real_scalar("__float__"))

    def __complex__(self) -> complex:
        return complex(self._scalar("__complex__"))

    def __index__(self) -> int:
        if self._shape != ():
            raise TypeError(f"__index__: only an array of 0 dimensions can be an index, got shape {self._shape}.")
        if self._dtype not in dtypes.CATEGORIES["integer"]:
            raise TypeError(
                f"__index__: only an integer array can be an index, got {self._dtype}. Convert it with int."
            )
        return int(self._real_scalar("__index__"))

    def _real_scalar(self, method: str) -> Any:
        if self._dtype.category == "complex floating":
            raise TypeError(f"{method}: {self._dtype} has no real value; use vkarray.real(x) or complex(x).")
        return operations["scalar"](self) if self._shape == () else self._scalar(method)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len: an array of 0 dimensions has no length. Use x.size, or vkarray.atleast_1d.")
        return self._shape[0]

    def __iter__(self) -> Iterator[VkArray]:
        if not self._shape:
            raise TypeError("iter: an array of 0 dimensions has nothing to iterate over.")
        source = operations["copy"](self) if len(self._shape) == 1 else self  # its elements are values of their own
        strides, shape, step = source._strides[1:], source._shape[1:], source._strides[0]
        return (source._view(shape, strides, index * step) for index in range(self._shape[0]))

    def __contains__(self, value: Any) -> bool:
        found = self == value  # with None or a text nothing is equal
        return bool(found if isinstance(found, bool) else found.any())

    def __getitem__(self, key: Any, /) -> VkArray:
        return operations["getitem"](self, key)

    def __setitem__(self, key: Any, value: Any, /) -> None:
        operations["setitem"](self, key, value)

    def __delitem__(self, key: Any, /) -> None:
        raise ValueError(
            "del: elements of an array cannot be taken out of it. Use vkarray.delete, which returns another array."
        )

    def __hash__(self) -> int:
        if self._shape != ():
            raise TypeError(f"__hash__: an array of shape {self._shape} has no hash. Use a number, or x.tobytes().")
        return hash(operations["scalar"](self))

    def __round__(self, ndigits: int | None = None) -> Any:
        if self._shape == () and ndigits is None:
            return round(self._scalar("__round__"))
        return operations["round_decimals"](self, ndigits or 0)

    def __trunc__(self) -> int:
        return math.trunc(self._real_scalar("__trunc__"))


_new = object.__new__


def array_in(
    buffer: _vk.Buffer, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: DType, device: _vk.Device,
    contiguous: bool | None = None,
) -> VkArray:  # fmt: skip
    """The array of the elements in a buffer from `offset` on; offset and strides count elements."""
    x = _new(VkArray)
    x._buffer = buffer
    x._offset = offset
    x._shape = shape
    x._strides = strides
    x._dtype = dtype
    x._device = device
    x._look = None
    x._contiguous = layout.is_contiguous(shape, strides) if contiguous is None else contiguous
    return x


def empty(shape: tuple[int, ...], dtype: DType, device: _vk.Device) -> VkArray:
    """A new contiguous array with undefined values. The caller has checked that the device supports `dtype`."""
    buffer = device.allocate(math.prod(shape) * storage_itemsize(dtype, device))
    return array_in(buffer, 0, shape, layout.contiguous_strides(shape), dtype, device, True)
