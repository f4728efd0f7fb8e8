"""Some 600 calls of ordinary sizes, which take the kernels that users of a device wait for.

Each family makes pairs of a label and a function without arguments. Types that a device lacks have no calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import vkarray as vx
from vkarray.command.bench.programs import PROGRAMS
from vkarray.core.array import is_supported
from vkarray.nn import attention, convolution, normalization, pooling, softmax

Call = tuple[str, Callable[[], Any]]


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


TWO_OPERANDS = words("""add subtract multiply divide pow remainder floor_divide atan2 hypot maximum minimum less equal copysign
    logaddexp""")
ELEMENTWISE = TWO_OPERANDS + words("""abs sqrt exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh
    acosh atanh floor ceil trunc round sign isnan isfinite isinf square negative reciprocal""")
REDUCTIONS = words("sum prod max min mean std var argmax argmin all any count_nonzero cumulative_sum cumulative_prod")
ALONG = words("sum max mean var argmax cumulative_sum sort argsort median")
ONE_DIMENSION = words("sort argsort unique_values unique_counts nonzero median diff flip nansum histogram")
DECOMPOSITIONS = words("inv cholesky qr det slogdet svdvals svd eigvalsh eigh")


def types(*names: str) -> list[Any]:
    """Those of these types that the device has."""
    device = vx.asarray(0).device
    return [getattr(vx, name) for name in names if is_supported(getattr(vx, name), device)]


def of(module: Any, name: str, *arguments: Any, **options: Any) -> Callable[[], Any]:
    """The call of a function that is looked up now."""
    function = getattr(module, name)
    return lambda: function(*arguments, **options)


def elementwise() -> Iterator[Call]:
    """One operation on vectors, transposes and rows."""
    x = vx.zeros((1 << 20,), dtype=vx.float32)
    for name in ELEMENTWISE:
        yield f"{name} float32", of(vx, name, *((x, x) if name in TWO_OPERANDS else (x,)))
    for dtype in types("float16", "bfloat16", "float64", "int8", "int32", "uint8", "int64", "complex64"):
        x, y = vx.zeros((1 << 20,), dtype=dtype), vx.zeros((1024, 1024), dtype=dtype)
        for name in ("add", "multiply", "abs", "square", "equal", "pow"):
            yield f"{name} {dtype}", of(vx, name, *((x,) if name in ("abs", "square") else (x, x)))
        yield f"add a number {dtype}", lambda x=x: x + 1
        yield f"add a transpose {dtype}", lambda y=y: y.T + y
        yield f"add a row {dtype}", lambda y=y: y + y[0]
        yield (
            f"astype {dtype}",
            of(vx, "astype", x, vx.float32 if dtype.category != "complex floating" else vx.complex64),
        )
    for dtype in types("float16", "float32", "float64", "complex64"):
        for name in ("exp", "log", "sin", "tanh"):
            yield f"{name} {dtype}", of(vx, name, vx.zeros((1 << 20,), dtype=dtype))


def reductions() -> Iterator[Call]:
    """Reductions and scans of all elements and along axes."""
    for dtype in types("float16", "bfloat16", "float32", "float64", "int8", "int32", "uint8", "complex64"):
        x, y = vx.zeros((1 << 21,), dtype=dtype), vx.zeros((1024, 1024), dtype=dtype)
        unordered = dtype.category == "complex floating"
        for name in REDUCTIONS:
            if not (unordered and name in ("max", "min", "argmax", "argmin", "std", "var")):
                yield f"{name} {dtype}", of(vx, name, x)
        for name in ALONG:
            if not (unordered and name in ("max", "argmax", "var", "sort", "argsort", "median")):
                for axis in (0, 1):
                    yield f"{name} {dtype} axis {axis}", of(vx, name, y, axis=axis)


def arrangement() -> Iterator[Call]:
    """Sorting, searching, indexing, joining."""
    for dtype in types("float16", "float32", "float64", "int32", "uint8"):
        x, y = vx.zeros((1 << 20,), dtype=dtype), vx.zeros((1024, 1024), dtype=dtype)
        places = vx.zeros((1000,), dtype=vx.int32)
        for name in ONE_DIMENSION:
            yield f"{name} {dtype}", of(vx, name, x)
        yield f"take {dtype}", of(vx, "take", x, places)
        yield f"index with integers {dtype}", lambda y=y, places=places: y[places, places]
        yield f"index with a mask {dtype}", lambda y=y: y[y > 0]
        yield f"assign with integers {dtype}", lambda x=x, places=places: x.__setitem__(places, 1)
        yield f"assign with a mask {dtype}", lambda y=y: y.__setitem__(y > 0, 1)
        yield f"where {dtype}", lambda y=y: vx.where(y > 0, y, y.T)
        yield f"concat {dtype}", of(vx, "concat", [x, x])
        yield f"stack {dtype}", of(vx, "stack", [y, y], axis=-1)
        yield f"searchsorted {dtype}", of(vx, "searchsorted", x, x)
        yield f"roll {dtype}", of(vx, "roll", x, 3)
        yield f"pad {dtype}", of(vx, "pad", y, 2)
        yield f"tril {dtype}", of(vx, "tril", y)


def products() -> Iterator[Call]:
    """Products of matrices and vectors."""
    for dtype in types("float16", "bfloat16", "float32", "float64", "int8", "int32", "int64", "complex64"):
        for size in (64, 512, 4096 if dtype.itemsize < 8 else 2048):
            a = vx.zeros((size, size), dtype=dtype)
            yield f"matmul {dtype} {size}", lambda a=a: a @ a
            yield f"matmul of a transpose {dtype} {size}", lambda a=a: a.T @ a
            yield f"matrix by vector {dtype} {size}", lambda a=a: a @ a[0]
        stack = vx.zeros((64, 32, 32), dtype=dtype)
        yield f"matmul of a stack {dtype}", lambda stack=stack: stack @ stack
        yield f"einsum {dtype}", of(vx, "einsum", "bij,bjk->bik", stack, stack)
        yield f"outer {dtype}", of(vx, "outer", a[0], a[0])


def decompositions() -> Iterator[Call]:
    """Systems, factorisations, eigenvalues."""
    for dtype in types("float32", "float64", "complex64"):
        for size in (64, 512, 1500):
            a = vx.zeros((size, size), dtype=dtype)
            yield f"solve {dtype} {size}", of(vx.linalg, "solve", a, a)
            for name in DECOMPOSITIONS:
                yield f"{name} {dtype} {size}", of(vx.linalg, name, a)
        stack = vx.zeros((1000, 8, 8), dtype=dtype)
        for name in ("inv", "cholesky", "qr", "svd", "eigh"):
            yield f"{name} of a stack {dtype}", of(vx.linalg, name, stack)


def transforms() -> Iterator[Call]:
    """Fourier transforms and random numbers."""
    for dtype in types("float32", "float64", "complex64"):
        name = "fft" if dtype is vx.complex64 else "rfft"
        for size in (100, 1024, 4096, 1 << 16, 1 << 20, 1009):
            yield f"{name} {dtype} {size}", of(vx.fft, name, vx.zeros((4, size), dtype=dtype))
        yield f"{name}n {dtype}", of(vx.fft, f"{name}n", vx.zeros((512, 512), dtype=dtype))
    for name in ("normal", "uniform", "exponential"):
        yield name, of(vx.random, name, size=(1000, 1000))
    yield "integers", of(vx.random.default_rng(0), "integers", 0, 100, (1000, 1000))
    yield "permutation", of(vx.random, "permutation", 100000)


def networks() -> Iterator[Call]:
    """What layers of networks call."""
    for dtype in types("float16", "bfloat16", "float32"):
        for shape in ((4096, 1024), (16, 65536), (4096, 50)):
            rows, weight = vx.zeros(shape, dtype=dtype), vx.zeros(shape[1:], dtype=dtype)
            yield f"softmax {dtype} {shape}", of(softmax, "softmax", rows)
            yield f"softmax axis 0 {dtype} {shape}", of(softmax, "softmax", rows, axis=0)
            yield f"log_softmax {dtype} {shape}", of(softmax, "log_softmax", rows)
            yield f"softmax_backward {dtype} {shape}", of(softmax, "softmax_backward", rows, rows)
            yield f"layer_norm {dtype} {shape}", of(normalization, "layer_norm", rows, shape[1:], weight, weight)
            yield f"rms_norm {dtype} {shape}", of(normalization, "rms_norm", rows, shape[1:], weight)
        query, image = vx.zeros((2, 8, 512, 64), dtype=dtype), vx.zeros((4, 64, 56, 56), dtype=dtype)
        yield f"attention {dtype}", of(attention, "attention", query, query, query)
        yield f"causal attention {dtype}", of(attention, "attend", query, query, query, causal=True)
        for taps in (1, 3, 7):
            weight = vx.zeros((64, 64, taps, taps), dtype=dtype)
            yield f"convolution {dtype} {taps}", of(convolution, "convolution", image, weight, padding=taps // 2)
        yield f"max_pool {dtype}", of(pooling, "max_pool", image, 2)
        yield f"avg_pool {dtype}", of(pooling, "avg_pool", image, 2)


def compiled() -> Iterator[Call]:
    """Compiled functions."""
    for dtype in types("float16", "float32", "float64"):
        x, weight = vx.zeros((1024, 1024), dtype=dtype), vx.zeros((1024,), dtype=dtype)
        functions: dict[str, Callable[..., Any]] = {
            "chain": lambda x, w: vx.tanh(x * w + 1) * vx.exp(-x * x),
            "softmax": lambda x, w: _softmax(x * w),
            "normalization": lambda x, w: (
                (x - vx.mean(x, axis=-1, keepdims=True)) / (vx.std(x, axis=-1, keepdims=True) + 1) * w
            ),
            "sum of a chain": lambda x, w: vx.sum(vx.sqrt(x * x + w)),
            "product and activation": lambda x, w: vx.maximum(x @ x + w, 0),
        }
        for name, function in functions.items():
            yield f"compiled {name} {dtype}", _run(function, x, weight)


def _softmax(x: Any) -> Any:
    powers = vx.exp(x - vx.max(x, axis=-1, keepdims=True))
    return powers / vx.sum(powers, axis=-1, keepdims=True)


def _run(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: vx.compile(function)(*arguments)


def functions() -> Iterator[Call]:
    """Each elementwise function of float32, after a copy."""
    x = vx.zeros((1 << 20,), dtype=vx.float32)
    yield "copy", of(vx, "positive", x)
    for name in ELEMENTWISE:
        yield name, of(vx, name, *((x, x) if name in TWO_OPERANDS else (x,)))


def programs() -> Iterator[Call]:
    """The compiled programs of the benchmarks that compute much for each element."""
    names = words("gelu swiglu Black-Scholes haversine focal Adam grey xorshift")
    for program in PROGRAMS:
        if program.name.split()[0] in names:
            arrays = [vx.empty(one.shape, dtype=getattr(vx, one.dtype)) for one in program.inputs(1 << 20)]
            yield program.name, _run(functools.partial(program.function, vx), *arrays)


FAMILIES = (elementwise, reductions, arrangement, products, decompositions, transforms, networks, compiled)
COUNTED = (functions, programs)
