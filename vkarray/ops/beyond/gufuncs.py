"""Products of vectors and matrices as functions of NumPy's generalized form: with `axes`, `axis`, `keepdims` and `dtype`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ...core import layout
from ...core.array import VkArray
from .. import creation, linear_algebra
from ..loops import cast_operands, loop
from ..manipulation import expand_dims, moveaxis
from ..ufunc import ufunc, write
from . import products

_TYPES = [f"{one}{one}->{one}" for one in "?bBhHiIlLqQefdFD"]


class gufunc(ufunc):
    """A function of vectors or matrices, the last dimensions of its operands; the others broadcast. Made by vkarray.

    `signature` names these dimensions. Parameters of a call: the operands (arrays or lists); out; axes (a list of the dimensions
    of each operand and of the result); axis (the same one for all operands, where each has one); keepdims (keep it, of length 1);
    dtype (that to compute in); casting (what may be written to `out`, "same_kind" by default).
    """

    signature: str

    def __init__(self, call: Callable[..., Any], signature: str) -> None:
        super().__init__(call.__name__, call, 2, 1, None, call.__doc__ or "")
        self.signature = signature
        taken, returned = signature.split("->")
        self._cores = [part.count(",") + 1 for part in taken.split("),(")]
        self._result = returned.count(",") + 1 if returned != "()" else 0
        self.__signature__ = inspect.signature(call)

    @property
    def types(self) -> list[str]:
        """NumPy's letters of the types it computes in: "ff->f"."""
        return list(_TYPES)

    def _of_two(self, method: str) -> ufunc:
        raise RuntimeError(f"{self.__name__}.{method}: only elementwise functions have it.")

    def at(self, array: VkArray, indices: Any, second: Any = None, /) -> None:
        """Only elementwise functions have it. Raises TypeError."""
        raise TypeError(f"{self.__name__}.at: only elementwise functions have it.")

    def _with(  # type: ignore[override]
        self, operands: tuple[Any, ...], out: Any = None, axes: Any = None, axis: Any = None, keepdims: bool = False,
        dtype: Any = None, casting: str = "same_kind", order: str = "K", subok: bool = True, sig: Any = None,
        signature: Any = None,
    ) -> VkArray:  # fmt: skip
        """A call with options."""
        name = self.__name__
        operands, (target,) = self._outs(operands, out)
        types = loop(self, dtype, sig, signature)
        arrays = [
            creation.asarray(one)
            for one in (operands if types is None else cast_operands(self, operands, types, casting))
        ]
        wanted = self._axes(arrays, axes, axis, keepdims)
        if wanted is not None:
            last = [tuple(range(-len(one), 0)) for one in wanted]
            arrays = [moveaxis(x, one, end) for x, one, end in zip(arrays, wanted, last, strict=False)]
        result = self.call(*arrays)
        if keepdims:
            result = expand_dims(result, axis=-1)
        if wanted is not None and (self._result or keepdims):
            result = moveaxis(result, tuple(range(-len(wanted[-1]), 0)), wanted[-1])
        return result if target is None else write(name, target, result, True, casting, broadcasts=True)

    def _axes(self, arrays: Sequence[VkArray], axes: Any, axis: Any, keepdims: bool) -> list[tuple[int, ...]] | None:
        """The dimensions of each operand and of the result; None for the last ones."""
        name = self.__name__
        single = not self._result and set(self._cores) == {1}
        if (axis is not None or keepdims) and not single:
            raise TypeError(f"{name}: it has neither axis nor keepdims; its dimensions are {self.signature}. Use axes.")
        if axis is not None:
            if axes is not None:
                raise TypeError(f"{name}: expected axes or axis, got both.")
            one = (layout.as_integer(axis, name, "axis"),)
            rank = min(x.ndim for x in arrays)
            if rank and not -rank <= one[0] < rank:
                shapes = " and ".join(str(x.shape) for x in arrays)
                raise IndexError(
                    f"{name}: axis {one[0]} is out of range for shapes {shapes}; expected -{rank} to -1, counted from the "
                    "last dimension."
                )
            return [one, one, one if keepdims else ()]
        if axes is None:
            return None
        if not isinstance(axes, list):
            raise TypeError(f"{name}: expected axes as a list, got {axes!r}.")
        listed = [layout.as_integers(one, name, "axes") for one in axes]
        # A vector has one dimension where a matrix may stand.
        cores = [min(core, x.ndim) for core, x in zip(self._cores, arrays, strict=True)]
        dropped = sum(core - own for core, own in zip(self._cores, cores, strict=True)) if "?" in self.signature else 0
        expected = [*cores, self._result - dropped if self._result else int(keepdims)]
        if len(listed) == len(arrays) and expected[-1] <= 1 and not self._result:
            listed.append((-1,) * expected[-1])
        if list(map(len, listed)) != expected:
            raise ValueError(
                f"{name}: expected axes with {expected} entries for the operands and the result, got {axes!r}."
            )
        return listed


matmul = gufunc(linear_algebra.matmul, "(n?,k),(k,m?)->(n?,m?)")
vecdot = gufunc(linear_algebra.vecdot, "(n),(n)->()")
matvec = gufunc(products.matvec, "(m,n),(n)->(m)")
vecmat = gufunc(products.vecmat, "(n),(n,m)->(m)")
