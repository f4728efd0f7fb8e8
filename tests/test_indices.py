"""No kernel reads or writes at an index below 0: what that does is undefined, and NVIDIA takes such an index for one of 4 GB.

Each call runs as it is and once more on a device whose kernels take 0 for an index below it: results are the same bits.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import plan_cases
import pytest
from plan_cases import CALLS, Maker

import vkarray as vx
from vkarray import configuration
from vkarray._vk import profiles, ready
from vkarray.nn import attention, convolution, normalization, pooling, softmax
from vkarray.shaders import module

_IMPORT, _EXTENDED, _MEMORY_MODEL, _INTEGER, _POINTER, _CONSTANT, _FUNCTION = 11, 12, 14, 21, 32, 43, 54
_CHAINS = (65, 66)  # OpAccessChain, OpInBoundsAccessChain
_PHYSICAL_STORAGE_BUFFER, _LARGER = 5349, 42


def from_zero(words: tuple[int, ...], name: str) -> tuple[int, ...]:
    """The module with the larger of 0 and each 32-bit index that is no constant into memory with an address."""
    library, zero, bound = words[3], words[3] + 1, words[3] + 2
    types: dict[int, int] = {}
    integers, pointers, constants = [], set(), set()
    made = list(words[: module.HEADER_WORDS])
    place, in_functions = module.HEADER_WORDS, False
    text = b"GLSL.std.450\0\0\0\0"
    for opcode, operands in module.instructions(words, name):
        whole = words[place : place + len(operands) + 1]
        place += len(whole)
        if opcode == _INTEGER and operands[1] == 32:
            integers.append(operands[0])
        elif opcode == _POINTER and operands[1] == _PHYSICAL_STORAGE_BUFFER:
            pointers.add(operands[0])
        elif opcode == _CONSTANT:
            constants.add(operands[1])
        elif opcode == _MEMORY_MODEL:
            made += [6 << 16 | _IMPORT, library, *np.frombuffer(text, np.uint32).tolist()]
        elif opcode == _FUNCTION and not in_functions:
            in_functions = True
            made += [4 << 16 | _CONSTANT, integers[0], zero, 0]
        if module.result_place(whole[0]) == 2:
            types[operands[1]] = operands[0]
        if opcode in _CHAINS and operands[0] in pointers:
            indices = []
            for index in operands[3:]:
                if index not in constants and types.get(index) in integers:
                    made += [7 << 16 | _EXTENDED, types[index], bound, library, _LARGER, index, zero]
                    index, bound = bound, bound + 1
                indices.append(index)
            whole = (whole[0], *operands[:3], *indices)
        made += whole
    made[3] = bound
    return tuple(made)


@pytest.fixture(scope="module", autouse=True)
def changed():
    """Kernels of devices with the profile "from-zero" take 0 for an index below it."""
    of = ready.of

    def changing(physical: Any, on: Any, code: bytes, name: str, specialization: Any) -> ready.Ready:
        made = of(physical, on, code, name, specialization)
        if "from-zero" not in configuration.current().profile:
            return made
        words = from_zero(tuple(memoryview(made.code).cast("I")), name)
        return made._replace(code=array("I", words).tobytes())

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(profiles.PROFILES, "from-zero", profiles.Profile("of the tests"))
        patch.setattr(ready, "of", changing)
        yield


def content(value: Any) -> Any:
    """What a call gave, in bytes."""
    if isinstance(value, (tuple, list)):
        return [content(one) for one in value]
    return (value.shape, np.asarray(value).tobytes()) if isinstance(value, vx.VkArray) else value


def both(call: Callable[[], Any]) -> list[Any]:
    """What a call gives on the device as it is, and on the one whose kernels are changed."""
    found = []
    for profile in ((), ("from-zero",)):
        with vx.config(profile=(*configuration.current().profile, *profile)):
            try:
                found.append(content(call()))
            except (TypeError, ValueError, IndexError) as error:
                found.append(str(error))
    return found


def test_an_index_below_0_is_found(device: Any) -> None:
    if not device.limits.is_cpu:
        pytest.skip(f"such an index is undefined, and {device.name} may be lost by it")
    before = vx.ElementwiseKernel("raw T x", "T y", "y = x[int(i) - 1]", "before")
    ours, theirs = both(lambda: before(vx.arange(9, dtype="float32")[1:], size=8))
    assert ours != theirs


FUNCTIONS = plan_cases.functions()
SKIPPED = ("from_shape.empty", "rows.")  # what holds no values; each row of elementwise functions takes the same path


@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith(SKIPPED)])
def test_functions_with_plans(name: str) -> None:
    for place, arguments_of in enumerate(CALLS[name]):

        def call(place: int = place, arguments_of: Any = arguments_of) -> Any:
            maker = Maker(place, vx.float32, "negative")
            *arguments, last = arguments_of(maker)
            names = last if type(last) is dict else {}
            found = FUNCTIONS[name](*(arguments if names else (*arguments, last)), **names)
            return found, maker.bases

        ours, theirs = both(call)
        assert ours == theirs, f"call {place} of {name} uses an index below 0"


# Functions of x, an array of several dimensions whose strides are all below 0, of each family of kernels.
LARGER: dict[str, Callable[[vx.VkArray], Any]] = {
    "add": lambda x: x + x.mT[..., :1, :],
    "exp": vx.exp,
    "matmul": lambda x: x @ x.mT,
    "matvec": lambda x: vx.matvec(x, x[..., 0, :]),
    "tensordot": lambda x: vx.tensordot(x, x, axes=((0, 1), (0, 1))),
    "einsum": lambda x: vx.einsum("...ij,...kj->...i", x, x),
    **{
        name: lambda x, name=name: (getattr(vx, name)(x, axis=-1), getattr(vx, name)(x, axis=1))
        for name in ("sum", "var", "argmax", "cumulative_sum", "diff", "all")
    },
    "sort": lambda x: (vx.sort(x), vx.argsort(x, axis=1), vx.median(x, axis=0)),
    "total": lambda x: (vx.sum(x), vx.max(x), vx.argmin(x)),
    "softmax": lambda x: (softmax.softmax(x), softmax.log_softmax(x, axis=-2)),
    "layer_norm": lambda x: normalization.layer_norm(x, x.shape[-1:]),
    "convolution": lambda x: (
        convolution.convolution(x[:, None], x[:2, None, :3, :3], padding=1),
        convolution.convolution(x[:, None], x[:1, None, :3, :3], transposed=True, stride=2),
    ),
    "max_pool": lambda x: pooling.max_pool(x[:, None], 2),
    "attention": lambda x: attention.attention(x[:, None], x[:, None], x[:, None], causal=True)[0],
    **{
        name: lambda x, name=name: getattr(vx.fft, name)(x)
        for name in ("fft", "rfft", "ifftn", "irfft", "hfft", "fftshift")
    },
    "take": lambda x: (vx.take(x, vx.asarray([3, -1]), axis=-1), x[:, vx.asarray([0, 2])], x[x > 1]),
    "put": lambda x: (vx.put_along_axis(x, vx.argsort(x, axis=-1)[..., ::-1], x, -1), x)[1],
    "assign": lambda x: (x.__setitem__((slice(None), slice(1, None)), x[:, :-1].copy()), x)[1],
    "searchsorted": lambda x: vx.searchsorted(vx.sort(x[0, 0]), x),
    "unique": lambda x: vx.unique_all(vx.round(x)),
    "histogram": lambda x: vx.histogram(x, 9),
    "where": lambda x: vx.where(x > 0, x, x[..., ::-1]),
    "concat": lambda x: vx.concat([x, x], axis=1),
    "pad": lambda x: vx.pad(x, 2, "reflect"),
    "solve": lambda x: vx.linalg.solve(square(x), x),
    "inv": lambda x: (vx.linalg.inv(square(x)), vx.linalg.det(square(x))),
    "cholesky": lambda x: (vx.linalg.cholesky(square(x)), vx.linalg.cholesky(square(x), upper=True)),
    "qr": vx.linalg.qr,
    "svd": vx.linalg.svd,
    "eigh": lambda x: vx.linalg.eigh(square(x)),
    "eig": lambda x: vx.linalg.eig(square(x)),
    "compiled": lambda x: vx.compile(lambda y: vx.sum(vx.exp(-y) * y, axis=-1, keepdims=True) + y)(x),
}


def square(x: vx.VkArray) -> vx.VkArray:
    """Symmetric positive definite matrices whose strides are below 0."""
    lengths = x.shape[-2]
    return vx.flip(vx.flip(x, axis=-1) @ x.mT[..., ::-1, :] + 99 * vx.eye(lengths))[...]


@pytest.mark.parametrize("tables", ["cpu", "gpu"])
@pytest.mark.parametrize("name", LARGER)
def test_larger_arrays(name: str, tables: str) -> None:
    """Also with the kernels that the tables for GPUs choose."""

    def call() -> Any:
        host = np.random.default_rng(1).normal(size=(2, 70, 65)).astype(np.float32)
        return LARGER[name](vx.asarray(host)[::-1, ::-1, ::-1])

    with vx.config(profile=(*configuration.current().profile, *(("gpu",) if tables == "gpu" else ()))):
        ours, theirs = both(call)
    assert ours == theirs, f"{name} uses an index below 0"
