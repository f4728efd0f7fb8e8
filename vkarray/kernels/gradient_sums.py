"""The two sums that normalizations ask for on the way back: of gradients, and of gradients times normalized elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import device_caches
from ..core.array import VkArray, empty, is_supported, storage_itemsize
from ..core.dtypes import DType
from ..shaders.source import Variant
from . import launch
from .dispatch import pointer
from .reduction_run import Run
from .reduction_types import partial_dtype
from .reductions import REDUCTIONS
from .row_kernels import FLOATING

if TYPE_CHECKING:
    from .launch import Device


@device_caches.cache
def _variant(dtype: DType, device: Device, shared: bool) -> Variant:
    """The shader for gradients of a type; with `shared` invocations meet in shared memory."""
    real = partial_dtype(dtype)
    defines = dict(REDUCTIONS["sum"].variant(device, (dtype, real, real), False, shared, False).defines)
    vector, two = 16 // real.itemsize, "dvec2" if real.bits == 64 else "vec2"
    defines |= {"VECTOR": str(vector), "ALIGN": str(vector * storage_itemsize(dtype, device))}
    defines |= {"SEVERAL": "2", "PRODUCTS": "1", "A_COMPUTE": two, "P_COMPUTE": two}
    way = "shared" if shared else "serial"
    return Variant("reduce", tuple(defines.items()), f"sums of gradients {dtype} ({way})")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype in FLOATING:
        if is_supported(dtype, device):
            yield from (_variant(dtype, device, shared) for shared in (False, True))


class _Sums(Run):
    """The dispatch that reduces gradients and their products to states of chunks, which are sums of floating-point numbers."""

    plain = False
    writes = ("states",)

    def __init__(
        self, gradient: VkArray, x: VkArray, mean: VkArray, rstd: VkArray, axes: Sequence[int], shape: tuple[int, ...],
        alike: int,
    ) -> None:  # fmt: skip
        """`shape` is that of the rows, of which `alike` neighbours each have one mean and one rstd."""
        real = partial_dtype(x._dtype)
        self.other, self.other_place = x, pointer(x)
        self.mean, self.rstd, self.alike = mean, rstd, alike
        rows = empty(shape, real, x._device)
        super().__init__(REDUCTIONS["sum"], gradient, axes, rows, (x._dtype, real, real), (0.0, 0.0), None)

    def make_contiguous(self, kept: Sequence[int], axes: Sequence[int]) -> None:
        """The same of both."""
        super().make_contiguous(kept, axes)
        self.other = launch.copy(self.other._permuted((*kept, *axes)))
        self.other_place = pointer(self.other)

    def input(self, states: bool) -> tuple[int, int]:
        """As of a sum of what is computed in the type of the states."""
        return storage_itemsize(self.types[0], self.device), 16 // self.types[1].itemsize

    def is_aligned(self, nbytes: int) -> bool:
        """Whether both begin at a multiple of so many bytes."""
        return self.place.is_aligned(nbytes) and self.other_place.is_aligned(nbytes)

    def fields(self, target: VkArray, written: int, read: int, first_row: int) -> dict[str, Any]:
        """Where states go, and the other array with its means."""
        of_gradients = pointer(target).after(written)
        return {
            "states": (of_gradients, of_gradients.after(target.size // 2 * target._dtype.itemsize)),
            "b": self.other_place.after(read), "mean": self.mean, "rstd": self.rstd, "first_row": first_row,
            "alike": self.alike,
        }  # fmt: skip

    def variant(self, states: bool, shared: bool, texels: bool) -> Variant:
        """The kernel."""
        return _variant(self.types[0], self.device, shared)

    def run(self) -> VkArray:
        """The sums of all rows."""
        itemsize, vector = self.input(False)
        steps, chunks = self.cut(vector)
        states = empty((2, *self.result._shape, chunks), self.types[1], self.device)
        self.dispatch(states, False, itemsize, vector, steps, chunks)
        if chunks == 1:
            return states._view(states._shape[:-1], states._strides[:-1])
        return REDUCTIONS["sum"].run(states, (states.ndim - 1,))


def sums(
    gradient: VkArray, x: VkArray, mean: VkArray, rstd: VkArray, axes: tuple[int, ...], alike: int = 1
) -> VkArray:  # fmt: skip
    """The sums over axes of gradients, and of gradients times (x - mean) * rstd, as an array of two for each row.

    x and gradient are contiguous; mean and rstd too, and of the type computed in, with a number for `alike` neighbouring rows each.
    """
    shape = tuple(size for axis, size in enumerate(x._shape) if axis not in axes)
    if not x.size:
        zero = launch.scalar(0.0, partial_dtype(x._dtype), x._device)
        result = empty((2, *shape), zero._dtype, x._device)
        return launch.elementwise(launch.copy_operation(zero._dtype), (zero,), result)
    return _Sums(gradient, x, mean, rstd, axes, shape, alike).run()
