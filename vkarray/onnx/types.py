"""ONNX's types of elements and values, and what they are here."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto, numpy_helper

import vkarray as vx

from ..core import array
from ..core.array import VkArray
from ..core.dtypes import DTYPES, DType

_NAMES = {
    "FLOAT": "float32", "DOUBLE": "float64", "FLOAT16": "float16", "BFLOAT16": "bfloat16", "COMPLEX64": "complex64",
    "COMPLEX128": "complex128", "BOOL": "bool", "INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64",
    "UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64",
}  # fmt: skip
_TYPES = {int(TensorProto.DataType.Value(name)): DTYPES[ours] for name, ours in _NAMES.items()}
# Of 4 bits, which constants may have that are made numbers of by their scales, and nothing else.
_NARROW = {int(TensorProto.DataType.Value(name)): DTYPES[ours] for name, ours in (("INT4", "int8"), ("UINT4", "uint8"))}

FLOATS = ("float16", "bfloat16", "float32", "float64")


class Description(NamedTuple):
    """An input or output of a model. Dimensions of the shape are lengths, names of lengths, or None; it is None if unknown."""

    name: str
    dtype: DType | None
    shape: tuple[int | str | None, ...] | None
    kind: str = "tensor"


def dtype_of(number: int, what: str) -> DType:
    """The type of elements for ONNX's number of it. Raises NotImplementedError for types that vkarray lacks."""
    found = _TYPES.get(int(number))
    if found is None:
        known = {value: name for name, value in TensorProto.DataType.items()}
        raise NotImplementedError(
            f"{what} has elements of the type {known.get(int(number), number)}, which vkarray does not have. Convert the model to "
            f"one of {', '.join(sorted(_NAMES))}."
        )
    return found


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """NumPy's type of the same name; bfloat16 is that of ml_dtypes, which ONNX brings along."""
    if dtype.name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype.name)


def held(dtype: DType, device: Any) -> DType:
    """The type of a device's arrays for one of ONNX's: int32 for int64 where the device lacks that, and likewise uint32."""
    return array.held(dtype, device) if dtype.kind in "iu" else dtype


def array_on(host: np.ndarray[Any, Any], device: Any) -> VkArray:
    """NumPy's array on a device. Raises FeatureError for values that the type which is held there has no room for."""
    if host.dtype.name not in DTYPES:
        raise NotImplementedError(
            f"onnx.load: a constant of the model has elements of the type {host.dtype}, such as texts, which vkarray does not have."
        )
    dtype = held(DTYPES[host.dtype.name], device)
    if dtype.name != host.dtype.name:
        limits = np.iinfo(dtype.name)
        if not host.size or (limits.min <= host.min() and host.max() <= limits.max):
            host = host.astype(dtype.name)
    return vx.asarray(host, device=device)


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy's type is one of real floating-point numbers."""
    return dtype.name in FLOATS


def roundoff(dtype: np.dtype[Any]) -> float:
    """The greatest relative error of a number that is rounded to NumPy's type."""
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps) / 2


def is_narrow(tensor: TensorProto) -> bool:
    """Whether a tensor has integers of 4 bits."""
    return tensor.data_type in _NARROW


def numpy_array(tensor: TensorProto, folder: str, what: str, widened: bool = False) -> np.ndarray[Any, Any]:
    """A tensor of a file, with integers of 4 bits `widened` to 8, or refused.

    Raises NotImplementedError for other types, ValueError for a tensor that holds something else.
    """
    dtype = _NARROW[tensor.data_type] if widened and is_narrow(tensor) else dtype_of(tensor.data_type, what)
    try:
        found = numpy_helper.to_array(tensor, base_dir=folder)
    except Exception as error:
        raise ValueError(f"{what} cannot be read: {error}") from error
    return np.ascontiguousarray(found, dtype=numpy_dtype(dtype)).reshape(found.shape)


def described(value: Any) -> Description:
    """What a graph says of an input or output."""
    kind = value.type.WhichOneof("value") or "tensor_type"
    if kind != "tensor_type":
        return Description(value.name, None, None, kind.removesuffix("_type"))
    tensor = value.type.tensor_type
    dtype = dtype_of(tensor.elem_type, f"{value.name!r}") if tensor.elem_type else None
    if not tensor.HasField("shape"):
        return Description(value.name, dtype, None)
    shape = tuple(  # some exporters write -1 for a length that they do not know
        (one.dim_value if one.dim_value >= 0 else None) if one.HasField("dim_value") else one.dim_param or None
        for one in tensor.shape.dim
    )
    return Description(value.name, dtype, shape)
