"""Products as data: operands, what becomes of them, and the slices of stacks that dispatches take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import device_caches
from ...core import layout
from ...core.array import VkArray
from ...core.dtypes import DType
from .. import launch
from ..dispatch import pointer
from .epilogue import NOTHING, Epilogue

if TYPE_CHECKING:
    from ..._vk.pointer import Pointer
    from ..launch import Defines, Device


class Product(NamedTuple):
    """result = a @ b, with the steps of an epilogue before it is stored.

    a, b and the result are of shapes (..., m, k), (..., k, n) and (..., m, n), none of them empty. The stacks of a and b broadcast
    to that of the result, whose rows are contiguous; addends have its shape.
    """

    a: VkArray
    b: VkArray
    result: VkArray
    epilogue: Epilogue = NOTHING

    def broadcast(self) -> Product:
        """The same with stacks of the shape of the result's."""
        batch, (m, n), k = self.result._shape[:-2], self.result._shape[-2:], self.a._shape[-1]
        views = (
            x._view(shape, layout.broadcast_strides(x._shape, x._strides, shape))
            for x, shape in ((self.a, (*batch, m, k)), (self.b, (*batch, k, n)))
        )
        return self._replace(a=next(views), b=next(views))

    def fold(self) -> Product:
        """A stack times one matrix as a single product, where the rows of the stack can be walked as one dimension."""
        a, b, result, epilogue = self
        if len(result._shape) > 2 and not any(b._strides[:-2]):
            strides = [x._strides[:-1] for x in (a, result, *epilogue.addends)]
            if len(layout.collapse(result._shape[:-1], strides)[0]) == 1:
                one = b._view(b._shape[-2:], b._strides[-2:])
                return Product(_folded(a), one, _folded(result), epilogue.seen(_folded))
        return self

    @property
    def operands(self) -> tuple[VkArray, ...]:
        """The arrays that are read besides those of the epilogue."""
        return self.a, self.b

    @property
    def also_writes(self) -> tuple[VkArray, ...]:
        """The arrays that are written besides the result."""
        return ()

    def takes(self, addend: VkArray) -> bool:
        """Whether kernels can read an array beside the elements."""
        return True

    def seen(self, view: Callable[[VkArray], VkArray]) -> Product:
        """The same of views of all arrays."""
        return Product(view(self.a), view(self.b), view(self.result), self.epilogue.seen(view))

    def piece(self, axis: int, first: int, last: int) -> Product:
        """The part from `first` up to `last` along an axis of the result but its last."""
        a, b, result, epilogue = self

        def part(x: VkArray) -> VkArray:
            return piece_of(x, axis, first, last)

        return Product(part(a), b if axis == -2 else part(b), part(result), epilogue.seen(part))


def _folded(array: VkArray) -> VkArray:
    """The array with all dimensions but the last as one."""
    shape, (steps,) = layout.collapse(array._shape[:-1], [array._strides[:-1]])
    return array._view((*shape, array._shape[-1]), (*steps, array._strides[-1]))


def piece_of(array: VkArray, axis: int, first: int, last: int) -> VkArray:
    """The part of an array from `first` up to `last` along an axis."""
    shape = list(array._shape)
    shape[axis] = last - first
    return array._view(tuple(shape), array._strides, first * array._strides[axis])


@device_caches.cache
def operand_defines(source: DType, target: DType, device: Device) -> Defines:
    """The macros of kernels that multiply elements of `source` and store `target`."""
    operands = {"A": source, "B": source, "R": target}
    named = tuple(define for name, dtype in operands.items() for define in launch.operand_defines(name, dtype))
    return named + launch.compute_defines(target) + launch.feature_defines((source, target), device)


def taken_steps(length: int, *strides: int) -> tuple[int, ...]:
    """The strides along a dimension, zero where it has one element (any stride is allowed there, however large)."""
    return strides if length > 1 else (0,) * len(strides)


class Slice(NamedTuple):
    """What one dispatch covers: as much of a stack as 32-bit indices reach; of a, b, the result and what is added to it from
    `places` on. `steps` are those of what is added along rows and columns of the result."""

    inner: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: list[tuple[int, ...]]
    offsets: list[int]
    places: list[Pointer]
    k: int
    part: int
    epilogue: Epilogue
    steps: tuple[int, ...]

    @property
    def along_k(self) -> int:
        """A divisor of the lengths of all parts of the summed dimension."""
        return math.gcd(self.k, self.part) if self.part < self.k else self.k

    @property
    def count(self) -> int:  # type: ignore[override]
        return math.prod(self.sizes)

    @property
    def fields(self) -> dict[str, Any]:
        """The arguments that all kernels of stacks have."""
        a, b, result, *addends = self.places
        layout_ = [*self.sizes, *(stride for strides in self.strides for stride in strides), *self.steps]
        return {
            "a": a, "b": b, "r": result, **self.epilogue.fields(addends), "count": self.count, "k": self.k,
            "part": self.part, "rank": len(self.sizes), "layout_": layout_,
        }  # fmt: skip

    def matrix_fields(self, m: int, n: int, a_m: int, a_k: int, b_k: int, b_n: int, r_m: int) -> dict[str, Any]:
        """The arguments that all kernels of matrix products have: rows, columns, and strides of the operands."""
        return self.fields | {"m": m, "n": n, "a_m": a_m, "a_k": a_k, "b_k": b_k, "b_n": b_n, "r_m": r_m}


class Stack:
    """A stack of products: its dimensions in a, b, the result and what is added to it, and the parts of the summed dimension as
    the first of them. Of `matrices` the last two dimensions are not of the stack."""

    def __init__(
        self, product: Product, shape: layout.Shape, strides: Sequence[layout.Strides], part_strides: tuple[int, int, int],
        k: int, part: int, matrices: bool = True,
    ) -> None:  # fmt: skip
        self.epilogue = product.epilogue
        addends = self.epilogue.addends
        self.operands, self.k, self.part = (product.a, product.b, product.result, *addends), k, part
        self.shape = (-(-k // part), *shape)
        steps = (*part_strides, *(0 for _ in addends))
        self.strides = [(step, *outer) for outer, step in zip(strides, steps, strict=True)]
        self.addend_steps = [layout.taken_strides(x._shape, [x._strides])[0][-2:] for x in addends if matrices]

    def slices(
        self, inner: tuple[int, ...], inner_strides: Sequence[tuple[int, ...]], limit: int
    ) -> Iterator[Slice]:  # fmt: skip
        """The slices, with `inner` dimensions (rows and columns of a tile) that are cut as well but not stacked."""
        rank = len(self.shape)
        own_strides = (*inner_strides, *(self.addend_steps if inner else ((),) * len(self.epilogue.addends)))
        strides = [(*outer, *own) for outer, own in zip(self.strides, own_strides, strict=True)]
        which_part = (1, *(0,) * (rank - 1 + len(inner)))
        whole = (*self.shape, *inner)
        flat = tuple(step for steps in self.addend_steps for step in steps)
        for shape, taken, (*offsets, first) in layout.index_slices(whole, [*strides, which_part], limit):
            sizes = shape[:rank]
            own = [outer[:rank] for outer in taken[:-1]]
            places = [pointer(array, offset) for array, offset in zip(self.operands, offsets, strict=True)]
            k = min(self.k - first * self.part, sizes[0] * self.part)
            yield Slice(shape[rank:], sizes, own, offsets, places, k, self.part, self.epilogue, flat)
