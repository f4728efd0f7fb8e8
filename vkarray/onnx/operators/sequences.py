"""Sequences of arrays, which the host keeps as lists, and values that may be missing, which are None."""

from __future__ import annotations

from typing import Any

import numpy as np

import vkarray as vx

from ..interpreter import Call, Known, shape_of
from ..table import axis_of, operator


def _place(call: Call, position: Any, last: int) -> int:
    return last if position is None else int(call.on_host(position).reshape(-1)[0])


@operator("SequenceConstruct", since=11, nested=True)
def _construct(call: Call, *inputs: Any) -> Any:
    return list(inputs)


@operator("SequenceEmpty", since=11, nested=True)
def _empty(call: Call, *, dtype: int = 1) -> Any:
    return []


@operator("SequenceAt", since=11, nested=True, host=(1,))
def _at(call: Call, sequence: Any, position: Any) -> Any:
    return sequence[_place(call, position, -1)]


@operator("SequenceInsert", since=11, nested=True, host=(2,))
def _insert(call: Call, sequence: Any, value: Any, position: Any = None) -> Any:
    place = _place(call, position, len(sequence))
    return [*sequence[:place], value, *sequence[place:]]


@operator("SequenceErase", since=11, nested=True, host=(1,))
def _erase(call: Call, sequence: Any, position: Any = None) -> Any:
    place = _place(call, position, -1) % len(sequence)
    return [*sequence[:place], *sequence[place + 1 :]]


@operator("SequenceLength", since=11, nested=True)
def _length(call: Call, sequence: Any) -> Any:
    return np.asarray(len(sequence), np.int64)


@operator("ConcatFromSequence", since=11, nested=True)
def _concat(call: Call, sequence: Any, *, axis: int, new_axis: int = 0) -> Any:
    on_host = all(type(one) is Known for one in sequence)
    xp: Any = np if on_host else vx
    arrays = [one.host if on_host else call.on_device(one) for one in sequence]
    return (xp.stack if new_axis else xp.concat)(arrays, axis=axis)


@operator("SplitToSequence", since=11, nested=True, host=(1,))
def _split(call: Call, x: Any, split: Any = None, *, axis: int = 0, keepdims: int = 1) -> Any:
    axis = axis_of(axis, len(shape_of(x)))
    length = shape_of(x)[axis]
    x = x.host if type(x) is Known else x
    before = (slice(None),) * axis
    if split is None:
        keys: list[Any] = [slice(place, place + 1) if keepdims else place for place in range(length)]
    else:
        sizes = call.on_host(split)
        if (sizes < 0).any() or (sizes.sum() != length if sizes.ndim else sizes == 0):
            raise ValueError(
                f"expected parts whose lengths sum to {length}, or one length from 1 on, got {sizes.tolist()}"
            )
        ends = np.cumsum(sizes).tolist() if sizes.ndim else [*range(int(sizes), length, int(sizes)), length]
        keys = [slice(first, last) for first, last in zip([0, *ends[:-1]], ends, strict=True)]
    parts = [x[(*before, key)] for key in keys]
    return [Known(np.asarray(one)) if isinstance(one, (np.ndarray, np.generic)) else one for one in parts]


@operator("Optional", since=15, nested=True)
def _optional(call: Call, value: Any = None, *, type: Any = None) -> Any:
    return value


@operator("OptionalHasElement", since=15, nested=True)
def _has_element(call: Call, value: Any = None) -> Any:
    return np.asarray(value is not None)


@operator("OptionalGetElement", since=15, nested=True)
def _get_element(call: Call, value: Any) -> Any:
    if value is None:
        raise ValueError("the optional value is not there")
    return value
