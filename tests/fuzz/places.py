"""Views, indexing, operations in place, and functions that move elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from chain import Chain, Step, rounded, same_bits, wider
from difference import Difference
from registry import operation, scalar, shown, tolerance

import vkarray as vx
from vkarray.core.dtypes import CATEGORIES


def _key(chain: Chain, shape: tuple[int, ...], advanced: bool) -> Any:
    """A random index: integers, slices with any step, new axes, an ellipsis; with `advanced` also arrays and masks."""
    if advanced and chain.chance(0.3) and shape:
        return chain.random.random(shape) < 0.4
    key: list[Any] = []
    dims = list(shape)
    while dims and chain.chance(0.85):
        side = dims.pop(0)
        kind = chain.integer(0, 9)
        if kind <= 2 and side:
            key.append(chain.integer(-side, side - 1))
        elif kind == 3 and advanced and side and not any(isinstance(one, np.ndarray) for one in key):
            key.append(chain.random.permutation(side)[: chain.integer(0, side)])
        else:
            step = chain.choice((1, 1, 1, 2, 3, -1, -1, -2))
            ends = [chain.choice((None, chain.integer(-side - 1, side + 1))) for _ in range(2)]
            key.append(slice(*ends, step))
    if chain.chance(0.15):
        key.insert(chain.integer(0, len(key)), None)
    if chain.chance(0.1) and not any(isinstance(one, np.ndarray) for one in key):
        key.append(...)
    return tuple(key)


def _ours(chain: Chain, key: Any) -> Any:
    """The key with arrays of vkarray for NumPy's."""
    if isinstance(key, tuple):
        return tuple(_ours(chain, one) for one in key)
    return chain.places(key) if isinstance(key, np.ndarray) else key


@operation(12)
def view(chain: Chain) -> Step:
    x = chain.entry()
    key = _key(chain, x.host.shape, advanced=False)
    found = x.host[(*key, ...)] if ... not in key else x.host[key]
    ours = (*key, ...) if ... not in key else key
    return Step(lambda: f"{shown(x)}[{ours}]", lambda: x.array[ours], found.copy(), x.array.dtype, view_of=found)


@operation(5)
def transposed(chain: Chain) -> Step:
    x = chain.entry()
    order = tuple(int(one) for one in chain.random.permutation(x.host.ndim))
    found = x.host.transpose(order)

    def run():
        return vx.permute_dims(x.array, order)

    return Step(lambda: f"permute_dims({shown(x)}, {order})", run, found.copy(), x.array.dtype, view_of=found)


@operation(8)
def read_by_key(chain: Chain) -> Step:
    x = chain.entry()
    key = _key(chain, x.host.shape, advanced=True)
    expected = np.array(x.host[key])
    return Step(
        lambda: f"{shown(x)}[{key!r}] copied",
        lambda: vx.asarray(x.array[_ours(chain, key)], copy=True),
        expected,
        x.array.dtype,
    )


@operation(8)
def write_by_key(chain: Chain) -> Step:
    x = chain.entry()
    key = _key(chain, x.host.shape, advanced=True)
    place = x.host[key]
    if chain.chance(0.5) or isinstance(key, np.ndarray):
        value: Any = scalar(chain, x.array.dtype)
        host = value
    else:
        given = chain.beside(np.shape(place), None, x.array.dtype)
        if given.host.ndim > np.ndim(place):
            return write_by_key(chain)
        host, value = given.host.copy(), vx.asarray(given.array, copy=True)

    def text():
        return f"{shown(x)}[{key!r}] = {host!r}"

    def run() -> None:
        x.array[_ours(chain, key)] = value
        with np.errstate(over="ignore"):
            x.host[key] = rounded(host, x.array.dtype)
        if not same_bits(np.asarray(x.array), x.host):
            raise Difference(f"{text()}: got {np.asarray(x.array)!r}, expected {x.host!r}")

    return Step(text, run, None)


@operation(8)
def in_place(chain: Chain) -> Step | None:
    x = chain.entry("numeric")
    name, symbol = chain.choice((("add", "+="), ("subtract", "-="), ("multiply", "*=")))
    dtype = x.array.dtype
    if dtype.category == "complex floating" and name == "multiply":
        return None
    if chain.chance(0.4):
        other: Any = scalar(chain, dtype)
        host = other
    else:
        given = chain.beside(x.host.shape, None, dtype)
        other, host = given.array, given.host
        if np.broadcast_shapes(host.shape, x.host.shape) != x.host.shape:
            return None

    def text():
        return f"{shown(x)} {symbol} {host!r:.300}"

    with np.errstate(all="ignore"):
        wanted = rounded(getattr(np, name)(x.host, rounded(host, dtype)), dtype)

    def run() -> None:
        array = x.array
        if name == "add":
            array += other
        elif name == "subtract":
            array -= other
        else:
            array *= other
        is_value = not x.host.shape and not hasattr(x.array, "_is_place")  # the operator makes another one
        if is_value == (array is x.array):
            raise Difference(f"{text()}: {'changed a value' if is_value else 'left the array as it was'}")
        if not is_value:
            x.host[...] = wanted
        if not same_bits(np.asarray(array), wanted):
            raise Difference(f"{text()}: got {np.asarray(array)!r}, expected {wanted!r}")

    return Step(text, run, None)


def _moved(chain: Chain) -> tuple[str, tuple[Any, ...], dict[str, Any]] | None:
    """A function that moves elements, its arguments after the array, and options; None where the array has no such."""
    return chain.choice((
        ("flip", (), {}), ("roll", (chain.integer(-9, 9),), {}), ("expand_dims", (), {"axis": 0}),
        ("tile", ((2,),), {}), ("repeat", (chain.integer(0, 3),), {}), ("ravel", (), {}), ("sort", (), {}), ("reshape", (), {}),
        ("tril", (), {"k": chain.integer(-2, 2)}), ("triu", (), {"k": chain.integer(-2, 2)}), ("cumsum", (), {}),
        ("concat", (), {}), ("stack", (), {}), ("diff", (), {}), ("take", (), {}), ("broadcast_to", (), {}),
        ("argsort", (), {}), ("unique_values", (), {}), ("searchsorted", (), {}), ("nonzero", (), {}), ("pad", (), {}),
    ))  # fmt: skip


@operation(24)
def moved(chain: Chain) -> Step | None:
    found = _moved(chain)
    assert found is not None
    name, arguments, options = found
    return MOVES.get(name, _plain_move)(chain, name, arguments, options)


def _plain_move(chain: Chain, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Step | None:
    x = chain.entry(least=2 if name in ("tril", "triu") else 1)
    if name in ("flip", "roll", "repeat"):
        options = {"axis": chain.axis(x.host.ndim)}
    expected = getattr(np, name)(x.host, *arguments, **options)

    def text():
        return f"{name}({shown(x)}, {arguments}, {options})"

    def run():
        return getattr(vx, name)(x.array, *arguments, **options)

    return Step(text, run, expected, x.array.dtype, may_share=name in ("flip", "expand_dims"))


def _ravel(chain: Chain, *_: Any) -> Step:
    x = chain.entry()
    return Step(
        lambda: f"reshape({shown(x)}, -1)",
        lambda: vx.reshape(x.array, (x.host.size,)),
        x.host.reshape(-1).copy(),
        x.array.dtype,
        may_share=True,
    )


def _reshape(chain: Chain, *_: Any) -> Step:
    x = chain.entry()
    size, shape = x.host.size, []
    while size > 1 and chain.chance(0.7):
        side = chain.choice(one for one in range(1, min(size, 9) + 1) if size % one == 0)
        shape.append(side)
        size //= side
    target = tuple(int(one) for one in chain.random.permutation([*shape, size]))
    return Step(
        lambda: f"reshape({shown(x)}, {target})",
        lambda: vx.reshape(x.array, target),
        x.host.reshape(target).copy(),
        x.array.dtype,
        may_share=True,
    )


def _sort(chain: Chain, name: str, *_: Any) -> Step:
    x, descending = chain.entry("real", least=1), chain.chance(0.3)
    axis = chain.axis(x.host.ndim)
    if name == "sort":
        expected = np.flip(np.sort(x.host, axis=axis), axis) if descending else np.sort(x.host, axis=axis)
        if descending and "floating" in x.array.dtype.category and np.any(np.isnan(x.host)):
            descending, expected = False, np.sort(x.host, axis=axis)

        def run():
            return vx.sort(x.array, axis=axis, descending=descending)

        return Step(lambda: f"sort({shown(x)}, {axis}, {descending})", run, expected, x.array.dtype)

    def run():
        return vx.argsort(x.array, axis=axis)

    return Step(lambda: f"argsort({shown(x)}, {axis})", run, np.argsort(x.host, axis=axis, stable=True))


def _cumulative(chain: Chain, *_: Any) -> Step | None:
    x = chain.entry("numeric", least=1)
    axis, dtype = chain.axis(x.host.ndim), x.array.dtype
    if dtype in CATEGORIES["integer"]:
        expected: Any = chain.held(np.cumsum(x.host, axis=axis))
        bound = None
    else:
        exact = x.host.astype(wider(dtype))
        if not np.all(np.isfinite(exact)):
            return None
        with np.errstate(over="ignore"):
            expected = np.cumsum(exact, axis=axis)
            bound = tolerance(dtype, 4, np.abs(expected)) + (x.host.shape[axis] + 4) * vx.finfo(dtype).eps * np.cumsum(
                np.abs(exact), axis=axis
            )
    return Step(
        lambda: f"cumulative_sum({shown(x)}, {axis})",
        lambda: vx.cumulative_sum(x.array, axis=axis),
        expected,
        None,
        bound,
    )


def _joined(chain: Chain, name: str, *_: Any) -> Step:
    x = chain.entry(least=1)
    count = chain.integer(1, 3)
    others = [x, *(chain.fresh(x.array.dtype, x.host.shape) for _ in range(count - 1))]
    axis = chain.axis(x.host.ndim)
    expected = getattr(np, name)([one.host for one in others], axis=axis)

    def run():
        return getattr(vx, name)([one.array for one in others], axis=axis)

    return Step(lambda: f"{name}({', '.join(map(shown, others))}, {axis})", run, expected, x.array.dtype)


def _diff(chain: Chain, *_: Any) -> Step | None:
    x = chain.entry("real numeric", least=1)
    axis = chain.axis(x.host.ndim)
    with np.errstate(all="ignore"):
        expected = rounded(np.diff(x.host, axis=axis), x.array.dtype)
    return Step(lambda: f"diff({shown(x)}, {axis})", lambda: vx.diff(x.array, axis=axis), expected, x.array.dtype)


def _take(chain: Chain, *_: Any) -> Step | None:
    x = chain.entry(least=1)
    axis = chain.axis(x.host.ndim)
    side = x.host.shape[axis]
    if not side:
        return None
    places = chain.random.integers(-side, side, chain.integer(0, 9))

    def run():
        return vx.take(x.array, chain.places(places), axis=axis)

    return Step(lambda: f"take({shown(x)}, {places}, {axis})", run, np.take(x.host, places, axis=axis), x.array.dtype)


def _broadcast(chain: Chain, *_: Any) -> Step:
    x = chain.entry(most=3)
    shape = (chain.integer(1, 4), *(chain.integer(1, 4) if side == 1 else side for side in x.host.shape))
    expected = np.broadcast_to(x.host, shape)

    def run():
        return vx.asarray(vx.broadcast_to(x.array, shape), copy=True)

    return Step(lambda: f"broadcast_to({shown(x)}, {shape})", run, expected, x.array.dtype)


def _unique(chain: Chain, *_: Any) -> Step | None:
    x = chain.entry("real")
    if "floating" in x.array.dtype.category and np.any(np.isnan(x.host)):
        return None
    expected = np.unique(x.host if x.array.dtype is vx.bool else x.host + x.host.dtype.type(0))  # -0.0 is 0.0
    return Step(
        lambda: f"unique_values({shown(x)})", lambda: vx.sort(vx.unique_values(x.array)), expected, x.array.dtype
    )


def _searched(chain: Chain, *_: Any) -> Step | None:
    x = chain.entry("real numeric")
    table = chain.fresh(x.array.dtype, (chain.integer(1, 40),))
    if any("floating" in one.array.dtype.category and np.any(np.isnan(one.host)) for one in (x, table)):
        return None
    ordered, side = np.sort(table.host), chain.choice(("left", "right"))

    def run():
        return vx.searchsorted(vx.asarray(ordered, dtype=x.array.dtype), x.array, side=side)

    return Step(
        lambda: f"searchsorted({ordered!r:.200}, {shown(x)}, {side})", run, np.searchsorted(ordered, x.host, side=side)
    )


def _nonzero(chain: Chain, *_: Any) -> Step:
    x = chain.entry(least=1)
    place = chain.integer(0, x.host.ndim - 1)
    return Step(lambda: f"nonzero({shown(x)})[{place}]", lambda: vx.nonzero(x.array)[place], np.nonzero(x.host)[place])


def _padded(chain: Chain, *_: Any) -> Step | None:
    x = chain.entry(least=1, most=3)
    widths = [(chain.integer(0, 3), chain.integer(0, 3)) for _ in x.host.shape]
    mode = chain.choice(("constant", "edge", "wrap", "reflect", "symmetric"))
    if mode != "constant" and (0 in x.host.shape or (mode == "reflect" and min(x.host.shape) < 2)):
        return None
    return Step(
        lambda: f"pad({shown(x)}, {widths}, {mode})",
        lambda: vx.pad(x.array, widths, mode),
        np.pad(x.host, widths, mode),
        x.array.dtype,
    )


MOVES: dict[str, Callable[..., Step | None]] = {
    "ravel": _ravel, "reshape": _reshape, "sort": _sort, "argsort": _sort, "cumsum": _cumulative, "concat": _joined,
    "stack": _joined, "diff": _diff, "take": _take, "broadcast_to": _broadcast, "unique_values": _unique,
    "searchsorted": _searched, "nonzero": _nonzero, "pad": _padded,
}  # fmt: skip
