"""Calls of every function that has plans: arrays of each layout, and scalars. A function is known by its module and its name."""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from reference import host_dtype

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES, DType
from vkarray.kernels import planned
from vkarray.kernels.reductions import REDUCTIONS
from vkarray.kernels.rows import ROWS, Row
from vkarray.ops import indexing

LAYOUTS = ("contiguous", "offset", "transposed", "negative", "broadcast", "0-d", "empty")
SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf)


# Modules of `ops/beyond` with calls here. Those of NumPy's other functions are called several times in tests/test_numpy_*.py.
BEYOND = ("closeness", "einsum", "histogram", "ndarray", "pad", "quantile", "random")


def functions() -> dict[str, Any]:
    """All functions with plans, by the last part of their module's name and their own."""
    found = {}
    for one in gc.get_objects():
        if type(one) is types.FunctionType and one.__code__.co_filename == planned.__file__ and "plans" in (
            one.__code__.co_freevars
        ):  # fmt: skip
            module = (
                "rows" if isinstance(getattr(one, "row", None), Row) else one.__wrapped__.__module__.rpartition(".")[2]
            )
            if not one.__wrapped__.__module__.startswith("vkarray.ops.beyond.") or module in BEYOND:
                found[f"{module}.{one.__name__}"] = one
    return found


def plans_of(function: Any) -> planned.Plans:
    """The plans of a function."""
    return dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))["plans"].cell_contents


def _element(x: vx.VkArray) -> vx.VkArray:
    """A view of the first element, if there is one."""
    return x[(0,) * x.ndim + (...,)] if x.size else x


class Maker:
    """Makes the arguments of a call: the same ones for the same seed."""

    def __init__(self, seed: int, dtype: DType, layout: str) -> None:
        self.random, self.dtype, self.layout = np.random.default_rng(seed), dtype, layout
        self.bases: list[vx.VkArray] = []

    def values(self, shape: tuple[int, ...], dtype: DType, special: bool = False) -> np.ndarray:
        """Random values for an array of this type."""
        if dtype is vx.bool:
            return self.random.integers(0, 2, shape).astype(bool)
        if dtype in CATEGORIES["integer"]:
            return self.random.integers(0 if dtype.category == "unsigned integer" else -20, 20, shape).astype(
                dtype.name
            )
        values = self.random.normal(size=shape) * 3
        if special and values.size:
            values.flat[self.random.integers(0, values.size)] = self.random.choice(SPECIAL)
        if dtype.category == "complex floating":
            values = values + 1j * self.random.normal(size=shape)
        return values.astype(host_dtype(dtype))

    def x(self, *shape: int, dtype: DType | None = None, special: bool = True, values: Any = None) -> vx.VkArray:
        """An array of the layout, on which 0 dimensions and no elements are shapes."""
        dtype = dtype or self.dtype
        shape = (shape or (4, 3)) if values is None else values.shape
        if values is None and self.layout in ("0-d", "empty"):
            shape = () if self.layout == "0-d" else (0, *shape[1:])
        width = {"offset": shape[:1] and (shape[0] + 1, *shape[1:]), "transposed": shape[::-1]}.get(self.layout, shape)
        if self.layout == "broadcast" and shape and values is None:
            width = (1, *shape[1:])
        host = self.values(width, dtype, special)
        view = {
            "offset": lambda: host[1:] if shape else host,
            "transposed": lambda: host.T,
            "negative": lambda: host[(slice(None, None, -1),) * len(shape)],
            "broadcast": lambda: np.broadcast_to(host, shape),
        }.get(self.layout, lambda: host)()
        if values is not None:
            if self.layout == "broadcast":
                host = view = np.array(values)
            view[...] = values
        base = vx.asarray(host, dtype=dtype)
        self.bases.append(base)
        steps = tuple(stride // host.itemsize for stride in view.strides)
        first = (view.__array_interface__["data"][0] - host.__array_interface__["data"][0]) // host.itemsize
        return base._view(view.shape, steps, first)

    def flat(self, *shape: int, dtype: DType | None = None) -> vx.VkArray:
        """A contiguous array, whatever the layout of the others."""
        base = vx.asarray(self.values(shape, dtype or self.dtype), dtype=dtype or self.dtype)
        self.bases.append(base)
        return base

    def index(self, *shape: int, below: int = 3) -> vx.VkArray:
        """Indices."""
        return self.x(values=self.random.integers(-below, below, shape).astype(np.int32), dtype=vx.int32)

    def mask(self, *shape: int) -> vx.VkArray:
        """Truth values."""
        return self.x(*shape, dtype=vx.bool)

    def definite(self, length: int = 4) -> vx.VkArray:
        """A symmetric (or Hermitian) matrix with positive eigenvalues, of a type that is factored."""
        if self.dtype.bits < 32 or self.dtype not in CATEGORIES["floating-point"]:
            raise TypeError
        values = self.values((length, length), self.dtype)
        values = values @ values.conj().T + length * np.eye(length)
        return self.x(values=values.astype(host_dtype(self.dtype)))


# Kernels of one line. Complex numbers are added and multiplied by their parts.
SCALED = vx.ElementwiseKernel("T x, U y, T s", "T z", "z = T(T(x) * s) + x + T(y)", "scaled")
SHIFTED = vx.ElementwiseKernel("raw T x", "T y", "y = x.size() == 0 ? T(0) : x[(i + 1) % x.size()]", "shifted")
TOTAL = vx.ReductionKernel("T x", "T y", "x", "T(a) == a ? T(T(a) == b ? a : b) : b", "y = a", 0, "total")
DOT = vx.ReductionKernel("T x, T y, T s", "T z", "x == y ? s : x", "a == b ? a : b", "z = a", 0, "dot")

Call = Callable[[Maker], tuple[Any, ...]]  # the arguments; the last one may be a dict of those with names


def _rows() -> Iterator[tuple[str, list[Call]]]:
    for name, row in ROWS.items():
        yield f"rows.{name}", {
            1: [lambda a: (a.x(),)],
            2: [lambda a: (a.x(), a.x()), lambda a: (a.x(4, 3), a.flat(3))],
            3: [lambda a: (a.x(), a.x(), a.x()), lambda a: (a.x(), a.flat(1), a.flat(3))],
        }[row.operands]  # fmt: skip


_REDUCED: list[Call] = [
    lambda a: (a.x(),), lambda a: (a.x(), {"axis": 0}), lambda a: (a.x(5, 2, 3), {"axis": (0, -1), "keepdims": True}),
]  # fmt: skip
_ALONG: list[Call] = [lambda a: (a.x(),), lambda a: (a.x(), {"axis": 0})]
_TRANSFORMED: list[Call] = [lambda a: (a.x(),), lambda a: (a.x(6, 2), {"axis": 0, "n": 5, "norm": "ortho"})]
_SEVERAL: list[Call] = [lambda a: (a.x(),), lambda a: (a.x(6, 2), {"axes": (0,), "norm": "forward"})]
_MATRIX: list[Call] = [lambda a: (a.definite(),)]
_LIKE: list[Call] = [lambda a: (a.x(),), lambda a: (a.x(), {"dtype": vx.int32})]
_SHIFTED: list[Call] = [lambda a: (a.x(),), lambda a: (a.x(), {"axes": 1})]

CALLS: dict[str, list[Call]] = {
    **dict(_rows()),
    **{f"reducing.{name}": _REDUCED for name in REDUCTIONS if name not in ("mean", "var", "std", "argmax", "argmin")},
    "compact._counted": [lambda a: (a.flat(200, dtype=vx.bool), 0, 200), lambda a: (a.flat(200, dtype=vx.bool), 64, 70)],
    "compact._all_elements": [lambda a: (a.flat(200), a.x(values=np.ones(200, bool), dtype=vx.bool))],  # none is undefined
    "compact._all_coordinates": [lambda a: (a.x(values=np.ones((5, 30), bool), dtype=vx.bool),)],
    "elementwise_kernel._call": [
        lambda a: (SCALED, a.x(), a.flat(3), 1), lambda a: (SCALED, a.x(), a.x(), 2, a.x()),
        lambda a: (SHIFTED, a.x(5), {"size": 4}), lambda a: (SHIFTED, x := a.flat(5), x),
    ],
    "reduction_kernel._call": [
        lambda a: (TOTAL, a.x(), {"axes": None, "keepdims": False}),
        lambda a: (TOTAL, a.x(5, 2, 3), {"axes": (0, -1), "keepdims": True}),
        lambda a: (DOT, a.x(), a.flat(3), 2, {"axes": (0,), "keepdims": False}),
        lambda a: (TOTAL, a.x(), a.flat(3), {"axes": (0,), "keepdims": False}),
    ],
    "from_shape.empty": [lambda a: ((2, 3), {"dtype": a.dtype})],
    "from_shape.zeros": [lambda a: ((2, 3), {"dtype": a.dtype}), lambda a: (7,)],
    "from_shape.ones": [lambda a: ((2, 3), {"dtype": a.dtype}), lambda a: ([7],)],
    "from_shape.full": [lambda a: ((2, 3), 5, {"dtype": a.dtype}), lambda a: (3, 2.5), lambda a: (3, True)],
    "from_shape.empty_like": _LIKE,
    "from_shape.zeros_like": _LIKE,
    "from_shape.ones_like": _LIKE,
    "from_shape.full_like": [lambda a: (a.x(), 3), lambda a: (a.x(), 3, {"dtype": vx.float32})],
    "from_values.copied": [lambda a: (a.x(),)],
    "ranges.arange": [lambda a: (7,), lambda a: (1.5, 9, 0.5), lambda a: (9, 1, -2, {"dtype": a.dtype})],
    "ranges.spaced": [lambda a: (0, 1, 5, None, None, True), lambda a: (0.5, 2j, 6, None, None, False)],
    "ranges.meshgrid": [lambda a: (a.flat(3), a.flat(4)), lambda a: (a.flat(3), a.flat(4), {"sparse": True})],
    "from_shape.eye": [lambda a: (3,), lambda a: (3, 5, {"k": -1, "dtype": a.dtype})],
    "triangles.tril": [lambda a: (a.x(),), lambda a: (a.x(2, 3, 3), {"k": 1})],
    "triangles.triu": [lambda a: (a.x(),), lambda a: (a.x(2, 3, 3), {"k": 1})],
    "data_type.astype": [lambda a: (a.x(), vx.float32), lambda a: (a.x(), a.dtype, {"copy": False}),
                         lambda a: (a.x(), a.dtype), lambda a: (a.x(), vx.bool)],
    "elementwise.clip": [lambda a: (a.x(),), lambda a: (a.x(), a.x(), a.flat(3)), lambda a: (a.x(), None, 2),
                         lambda a: (a.x(), {"min": 1})],
    "ufunc._into": [lambda a: ("add", a.x(), "same_kind", a.x(), a.x()),
                    lambda a: ("multiply", a.flat(4, 3), "same_kind", a.x(), 3),
                    lambda a: ("less", a.mask(4, 3), "same_kind", a.x(), a.x()),
                    lambda a: ("subtract", a.flat(4, 3), "unsafe", a.x(3), a.x())],
    "elementwise.in_place": [lambda a: ("add", a.x(), a.x()), lambda a: ("multiply", a.x(), 3),
                             lambda a: ("pow", a.x(), a.flat(1)), lambda a: ("matmul", a.flat(3, 3), a.x(3, 3))],
    "indexing._selected": [
        lambda a: (a.x(), slice(None, None, -1), 1), lambda a: (a.x(), -1), lambda a: (a.x(), slice(True, None)),
        lambda a: (a.x(), Ellipsis, None, slice(1, 3)), lambda a: (a.x(), a.index(2, below=4)),
        lambda a: (a.x(), slice(None), a.index(2)), lambda a: (a.x(), a.mask(4, 3)),
    ],
    "indexing._value": [lambda a: (_element(a.x(3)),)],
    "indexing._assign": [lambda a: (x := a.x(), 3, x.shape, x.element_strides),
                         lambda a: (x := a.x(), a.flat(1), x.shape, x.element_strides),
                         lambda a: (x := a.x(), a.mask(4, 3), x.shape, x.element_strides)],
    "indexing._assign_at": [
        lambda a: (a.x(), (slice(None, None, -1), 1), 2, indexing.SETITEM, False), lambda a: (a.x(), 1, 2, indexing.SETITEM, False),
        lambda a: (a.x(), (Ellipsis, slice(1, 3)), a.flat(2), indexing.SETITEM, False),
        lambda a: (a.x(), vx.asarray([0, 2]), 2, indexing.SETITEM, False),
        lambda a: (a.x(), (slice(None), a.index(1)), a.flat(1), indexing.SETITEM, True),
        lambda a: (a.x(), a.mask(4, 3), 2, indexing.SETITEM, False),
    ],
    "indexing.take": [lambda a: (a.x(6), a.index(2, 2)), lambda a: (a.x(), a.index(5), {"axis": 1})],
    "indexing.take_along_axis": [lambda a: (a.x(), a.index(4, 2)), lambda a: (a.x(), a.index(1, 3), {"axis": 0})],
    "linear_algebra.matmul": [lambda a: (a.x(3, 3), a.x(3, 3)), lambda a: (a.x(4, 3), a.flat(3)),
                              lambda a: (a.flat(2, 2, 4), a.x(4, 3))],
    "linear_algebra.matrix_transpose": [lambda a: (a.x(),)],
    "linear_algebra.vecdot": [lambda a: (a.x(), a.x()), lambda a: (a.x(), a.x(), {"axis": 0})],
    "linear_algebra.tensordot": [lambda a: (a.x(3, 3), a.x(3, 3)), lambda a: (a.x(3, 3), a.x(3, 3), {"axes": ((0,), [1])}),
                                 lambda a: (a.x(), a.x(), {"axes": 0})],
    "basic.cross": [lambda a: (a.x(), a.x()), lambda a: (a.x(3, 4), a.x(3, 4), {"axis": 0})],
    "basic.diagonal": [lambda a: (a.x(),), lambda a: (a.x(), {"offset": -1})],
    "basic.matrix_power": [lambda a: (a.definite(), 3), lambda a: (a.definite(), -1), lambda a: (a.definite(), 0)],
    "basic.outer": [lambda a: (a.x(4), a.x(3))],
    "basic.trace": [lambda a: (a.x(),), lambda a: (a.x(), {"offset": 1, "dtype": vx.float32})],
    "cholesky.triangles_of": [lambda a: (a.definite(), False), lambda a: (a.definite(), True)],
    "eigh._decomposed": _MATRIX,
    "eigh._values_of": _MATRIX,
    "lu.det": _MATRIX,
    "lu.inverted": _MATRIX,
    "norm.norm": [lambda a: (a.x(),), lambda a: (a.x(), {"axis": 1})],
    "tensors.multi_dot": [lambda a: ([a.definite(), a.definite()],)],
    "lu.slogdet": _MATRIX,
    "lu._solved": [lambda a: (a.definite(), a.flat(4, 1), ()), lambda a: (a.definite(), a.definite(), ())],
    "norm.matrix_norm": [lambda a: (a.x(),), *(
        lambda a, order=order: (a.x(special=False), {"ord": order}) for order in ("nuc", 1, -1, 2.0, np.inf, -float("inf"))
    )],
    "norm.vector_norm": [lambda a: (a.x(),), *(
        lambda a, order=order: (a.x(), {"ord": order, "axis": 0}) for order in (0, 1.0, 2.0, 3.0, float("inf"), -1.5)
    )],
    "qr.qr": [lambda a: (a.x(special=False),), lambda a: (a.x(5, 2, special=False), {"mode": "complete"})],
    "svd.svd": [lambda a: (a.x(special=False),), lambda a: (a.x(special=False), {"full_matrices": False})],
    "svd.svdvals": [lambda a: (a.x(special=False),)],
    "svd.matrix_rank": [lambda a: (a.definite(),), lambda a: (a.x(special=False), {"rtol": 0.1}),
                        lambda a: (a.definite(), {"rtol": vx.asarray(0.25)})],
    "svd.pinv": [lambda a: (a.definite(),), lambda a: (a.x(special=False), {"rtol": 0.1})],
    "manipulation.broadcast_arrays": [lambda a: (a.x(), a.flat(3)), lambda a: (a.x(),), lambda a: (x := a.x(), x)],
    "manipulation.broadcast_to": [lambda a: (a.x(), (2, 4, 3)), lambda a: (a.x(), a.x().shape)],
    "manipulation.concat": [lambda a: ([a.x(), a.flat(2, 3)],), lambda a: ((a.x(), a.x()), {"axis": None}),
                            lambda a: ([a.x(), a.x(4, 3, dtype=vx.float32)], {"axis": 1}), lambda a: ([a.x()],)],
    "manipulation.stack": [lambda a: ([a.x(), a.x()],), lambda a: ((a.x(),), {"axis": -1})],
    "manipulation.unstack": [lambda a: (a.x(),), lambda a: (a.x(1, 3),), lambda a: (a.x(), {"axis": 1})],
    "manipulation.expand_dims": [lambda a: (a.x(), 1), lambda a: (a.x(), (0, -1))],
    "manipulation.flip": [lambda a: (a.x(),), lambda a: (a.x(), {"axis": (1,)})],
    "manipulation.moveaxis": [lambda a: (a.x(2, 3, 4), 0, -1), lambda a: (a.x(2, 3, 4), (0, 1), (1, 2))],
    "manipulation.permute_dims": [lambda a: (a.x(), (1, 0))],
    "manipulation.repeat": [lambda a: (a.x(), 2), lambda a: (a.x(), 3, {"axis": 1}),
                            lambda a: (a.x(), vx.asarray([1, 0, 2]), {"axis": 1})],
    "manipulation.reshape": [lambda a: (a.x(), (-1,)), lambda a: (a.x(), (3, 4), {"copy": True}), lambda a: (a.x(), -1),
                             lambda a: (a.x(), (2, 2, 3), {"copy": False})],
    "manipulation.roll": [lambda a: (a.x(), 2), lambda a: (a.x(), (1, -1), {"axis": (0, 1)})],
    "manipulation.squeeze": [lambda a: (a.x(1, 3), 0), lambda a: (a.x(), ())],
    "manipulation.tile": [lambda a: (a.x(), (2, 1)), lambda a: (a.x(), 2), lambda a: (a.x(), (1, 1))],
    "searching.argmax": _ALONG,
    "searching.argmin": [*_ALONG, lambda a: (a.x(), {"axis": 1, "keepdims": True})],
    "searching.searchsorted": [lambda a: (vx.sort(a.flat(7)), a.x()), lambda a: (a.flat(7), a.x(), {"side": "right"}),
                               lambda a: (y := a.flat(5), a.x(), {"sorter": vx.argsort(y)})],
    "searching._chosen": [lambda a: (a.mask(4, 3), a.x(), a.flat(3)), lambda a: (a.mask(4, 3), a.x(), 2),
                        lambda a: (a.mask(4, 3), 1, 2.5)],
    "set.isin": [lambda a: (a.x(), a.flat(5)), lambda a: (a.x(), a.flat(5), {"invert": True}), lambda a: (a.x(), 3)],
    "sorting.sort": [*_ALONG, lambda a: (a.x(5, 40), {"descending": True})],
    "sorting.argsort": [*_ALONG, lambda a: (a.x(5, 40), {"descending": True})],
    "statistical.cumulative_sum": [*_ALONG, lambda a: (a.x(), {"axis": 1, "include_initial": True})],
    "statistical.cumulative_prod": [*_ALONG, lambda a: (a.x(), {"axis": 1, "dtype": vx.float32})],
    "statistical.mean": [*_REDUCED, lambda a: (a.x(), {"axis": 1, "where": a.mask(4, 3)})],
    "statistical.var": [*_REDUCED, lambda a: (a.x(), {"correction": 1.5})],
    "statistical.std": [*_REDUCED, lambda a: (a.x(), {"axis": 1, "correction": 1})],
    "utility.diff": [*_ALONG, lambda a: (a.x(), {"n": 2, "prepend": a.flat(4, 1)})],
    "frequencies.fftshift": _SHIFTED,
    "frequencies.ifftshift": _SHIFTED,
    **{f"functions.{name}": _TRANSFORMED for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"functions.{name}": _SEVERAL for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    "closeness.isclose": [lambda a: (a.x(), a.x()), lambda a: (a.x(), 3, {"rtol": 0.5, "atol": 1.0, "equal_nan": True})],
    "einsum.einsum": [lambda a: ("ij,kj->ik", a.x(), a.x()), lambda a: ("ii->i", a.x(3, 3)), lambda a: ("ij->ji", a.x()),
                      lambda a: ("ij,jk,kl", a.x(), a.flat(3, 2), a.flat(2, 2))],
    "ndarray.cumsum": [lambda a: (a.x(), None, None), lambda a: (a.x(), 1, vx.float32)],
    "ndarray.cumprod": [lambda a: (a.x(), None, None), lambda a: (a.x(), 0, None)],
    "ndarray.diagonal": [lambda a: (a.x(), 1, 0, 1), lambda a: (a.x(2, 3, 4), -1, 2, 0)],
    "ndarray.dot": [lambda a: (a.x(3, 3), a.x(3, 3)), lambda a: (a.x(), 2), lambda a: (a.x(3), a.x(3))],
    "ndarray.ravel": [lambda a: (a.x(),)],
    "ndarray.real_view": [lambda a: (a.x(),)],
    "ndarray.imag_view": [lambda a: (a.x(),)],
    "ndarray.around": [lambda a: (a.x(), 2), lambda a: (a.x(), -1), lambda a: (a.x(), 0)],
    "ndarray.swapaxes": [lambda a: (a.x(), 0, 1)],
    "ndarray.take": [lambda a: (a.x(), a.index(5), None), lambda a: (a.x(), [0, 2], 1)],
    "ndarray.transpose": [lambda a: (a.x(),), lambda a: (a.x(), (1, 0))],
    "pad.pad": [lambda a: (a.x(), 1), lambda a: (a.x(), ((1, 0), (0, 2)), "reflect"),
                lambda a: (a.x(), 2, "linear_ramp", {"end_values": 1.5}),
                lambda a: (a.x(), 1, {"constant_values": ((1, 2), (3, 4))})],
    "quantile.median": _REDUCED,
    "quantile.quantile": [lambda a: (a.x(), 0.5), lambda a: (a.x(), [0.1, 0.9], {"axis": 0, "method": "nearest"})],
    "quantile.nanmedian": _REDUCED,
    "quantile.nanquantile": [lambda a: (a.x(), 0.5), lambda a: (a.x(), [0.1, 0.9], {"axis": 0, "method": "hazen"})],
    "quantile.nanpercentile": [lambda a: (a.x(), 30.0), lambda a: (a.x(), 20, {"axis": 1})],
    "quantile.percentile": [lambda a: (a.x(), 30.0), lambda a: (a.x(), 20, {"axis": 1, "method": "weibull"})],
}  # fmt: skip

# Calls with a scalar s as an operand, for each way of giving one.
Given = Callable[[Maker, Any], tuple[Any, ...]]


def _scalar_rows() -> Iterator[tuple[str, list[Given]]]:
    for name, row in ROWS.items():
        if row.operands == 2:
            yield f"rows.{name}", [lambda a, s: (a.flat(3), s), lambda a, s: (s, a.flat(3))]
        elif row.operands == 3:
            yield f"rows.{name}", [lambda a, s: (a.flat(3), s, a.flat(3)), lambda a, s: (s, a.flat(3), s)]


SCALARS: dict[str, list[Given]] = {
    **dict(_scalar_rows()),
    "from_shape.full": [lambda a, s: ((2,), s), lambda a, s: ((2,), s, {"dtype": a.dtype}), lambda a, s: (s, 1.0)],
    "from_shape.full_like": [lambda a, s: (a.flat(2), s)],
    "ranges.arange": [lambda a, s: (s,), lambda a, s: (0, s, 3), lambda a, s: (5, -5, s, {"dtype": a.dtype}),
                        lambda a, s: (s, 4.5)],
    "ranges.spaced": [lambda a, s: (0.5, s, 4, None, None, True), lambda a, s: (0, s, 1, None, None, True),
                         lambda a, s: (s, s, 3, None, None, False), lambda a, s: (0.0, 1.0, s, None, None, True)],
    "elementwise.clip": [lambda a, s: (a.flat(4), s, s), lambda a, s: (a.flat(4), None, s), lambda a, s: (a.flat(4), s, a.flat(4))],
    "elementwise_kernel._call": [lambda a, s: (SCALED, a.flat(4), a.flat(4), s), lambda a, s: (SCALED, s, a.flat(4), s)],
    "reduction_kernel._call": [lambda a, s: (DOT, a.flat(4), a.flat(4), s, {"axes": None, "keepdims": False})],
    "ufunc._into": [lambda a, s: ("add", a.flat(4), "same_kind", a.flat(4), s),
                    lambda a, s: ("pow", a.flat(4), "unsafe", s, a.flat(4))],
    "elementwise.in_place": [lambda a, s: ("add", a.flat(4), s), lambda a, s: ("pow", a.flat(4), s)],
    "indexing._assign": [lambda a, s: (a.flat(4), s, (4,), (1,))],
    "indexing._assign_at": [
        lambda a, s: (a.flat(4), 1, s, indexing.SETITEM, False), lambda a, s: (a.flat(4), s, 2, indexing.SETITEM, False),
        lambda a, s: (a.flat(4), slice(1, 3), s, indexing.SETITEM, False),
        lambda a, s: (a.flat(4), a.mask(4), s, indexing.SETITEM, False),
        lambda a, s: (a.flat(4), vx.asarray([0, 2]), s, indexing.SETITEM, False),
    ],
    "norm.vector_norm": [lambda a, s: (a.flat(4), {"ord": s})],
    "norm.matrix_norm": [lambda a, s: (a.flat(3, 3), {"ord": s})],
    "svd.matrix_rank": [lambda a, s: (a.flat(3, 3), {"rtol": s})],
    "svd.pinv": [lambda a, s: (a.flat(3, 3), {"rtol": s})],
    "searching.searchsorted": [lambda a, s: (vx.sort(a.flat(7)), s)],
    "searching._chosen": [lambda a, s: (a.mask(4), s, a.flat(4)), lambda a, s: (a.mask(4), s, s), lambda a, s: (a.mask(4), 1, s)],
    "set.isin": [lambda a, s: (a.flat(4), s), lambda a, s: (s, a.flat(4))],
    "statistical.var": [lambda a, s: (a.flat(4), {"correction": s})],
    "statistical.std": [lambda a, s: (a.flat(4), {"correction": s})],
    "closeness.isclose": [lambda a, s: (a.flat(4), s), lambda a, s: (a.flat(4), a.flat(4), {"rtol": s}),
                          lambda a, s: (a.flat(4), a.flat(4), {"atol": s})],
    "ndarray.dot": [lambda a, s: (a.flat(4), s)],
    "ndarray.around": [lambda a, s: (a.flat(4), s)],
    "pad.pad": [lambda a, s: (a.flat(4), 1, {"constant_values": s}),
                lambda a, s: (a.flat(4), 1, "constant", {"constant_values": (s, 1.0)}),
                lambda a, s: (a.flat(4), 2, "linear_ramp", {"end_values": s})],
    "quantile.quantile": [lambda a, s: (a.flat(4), s), lambda a, s: (a.flat(4), [0.5, s])],
    "quantile.percentile": [lambda a, s: (a.flat(4), s)],
    "einsum.einsum": [lambda a, s: ("i,->i", a.flat(4), s)],
}  # fmt: skip

FLOATS = (1.0, 0.0, -0.0, np.nan.real, 0.5, 2.0, np.inf, -np.inf, 1e300, -1e300, 5e-324, 1e-40, 65519.9, 65520.0,
          3.4028235677973366e38, 3.3999e38, -2.5, 0.1)  # fmt: skip
INTEGERS = (1, 0, 2, -1, 3, 127, 128, -128, -129, 255, 256, 70000, 2**24 + 1, 2**31 - 1, 2**31, -(2**31), 2**53 + 1,
            2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64, 10**30, 10**400, 10**5000)  # fmt: skip
COMPLEX = (1 + 0j, 0j, -0j, complex(np.nan, 1), complex(0, np.inf), 1e300 + 1j, 0.5 - 2j, 5e-324j, 2 + 0j)
BOOLS = (True, False)
# Values of one type: those that plans are made with, and those that the plans then get.
MAKERS = {float: (0.5, 0.0, np.nan, 1e300), int: (1, 0, 70000, 2**64), complex: (0.5 - 2j, 0j), bool: (True,)}
VALUES = {float: FLOATS, int: INTEGERS, complex: COMPLEX, bool: BOOLS}
