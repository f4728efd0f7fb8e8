"""Recurrent layers: RNN, LSTM and GRU, a step of one direction at a time.

Sources: S. Hochreiter, J. Schmidhuber, "Long short-term memory" (1997), with peepholes of F. Gers; K. Cho et al. (2014).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import vkarray as vx

from ...nn import indexing as nn
from ...nn import pointwise
from ..interpreter import Call
from ..table import INSIDE, operator

_Function = Callable[[Any], Any]

# The activations, of an array and two numbers, and these where a model does not give them.
_ACTIVATIONS: dict[str, tuple[Callable[[Any, float, float], Any], float | None, float | None]] = {
    "relu": (lambda x, a, b: pointwise.apply("relu", x), None, None),
    "tanh": (lambda x, a, b: vx.tanh(x), None, None),
    "sigmoid": (lambda x, a, b: pointwise.apply("sigmoid", x), None, None),
    "softsign": (lambda x, a, b: x / (1 + vx.abs(x)), None, None),
    "softplus": (lambda x, a, b: pointwise.apply("softplus", x, 1.0, math.inf), None, None),
    "affine": (lambda x, a, b: x * a + b, 1.0, 0.0),
    "leakyrelu": (lambda x, a, b: pointwise.apply("leaky_relu", x, a), 0.01, None),
    "thresholdedrelu": (lambda x, a, b: pointwise.apply("threshold", x, a, 0.0), 1.0, None),
    "scaledtanh": (lambda x, a, b: a * vx.tanh(b * x), 1.0, 1.0),
    "hardsigmoid": (lambda x, a, b: vx.clip(x * a + b, 0, 1), 0.2, 0.5),
    "elu": (lambda x, a, b: pointwise.apply("elu", x, a, 1.0), 1.0, None),
}


class Layer(NamedTuple):
    """What all directions of a layer share: attributes, and what `lengths` of sequences are valid."""

    call: Call
    activations: list[_Function]
    clip: float
    lengths: Any


def _functions(names: Sequence[str], alpha: Any, beta: Any) -> list[_Function]:
    alphas, betas = iter(alpha or ()), iter(beta or ())
    found: list[_Function] = []
    for name in names:
        if name.lower() not in _ACTIVATIONS:
            raise NotImplementedError(f"the activation {name!r} is none of {', '.join(_ACTIVATIONS)}")
        function, a, b = _ACTIVATIONS[name.lower()]
        a = a if a is None else next(alphas, a)
        b = b if b is None else next(betas, b)
        found.append(functools.partial(_with_numbers, function, a, b))
    return found


def _with_numbers(function: Callable[..., Any], a: float | None, b: float | None, x: Any) -> Any:
    return function(x, a, b)


def _turned(layer: Layer, x: Any) -> Any:
    """Sequences (steps, batch, ...) from their last valid element to the first."""
    if layer.lengths is None:
        return vx.flip(x, axis=0)
    steps = vx.reshape(layer.call.array(range(x.shape[0]), "int64"), (-1, 1))
    lengths = vx.astype(layer.lengths, layer.call.int64)
    places = vx.where(steps < lengths, lengths - 1 - steps, steps)
    return nn.gather(x, 0, vx.broadcast_to(vx.reshape(places, (*places.shape, 1)), x.shape))


def _clipped(layer: Layer, x: Any) -> Any:
    return vx.clip(x, -layer.clip, layer.clip) if layer.clip else x


def _steps(
    layer: Layer, x: Any, states: list[Any], step: Callable[[Any, list[Any]], list[Any]]
) -> tuple[Any, list[Any]]:
    """The first state after each step (steps, batch, hidden), and all states after the last."""
    made = []
    for number in range(x.shape[0]):
        new = step(x[number], states)
        if layer.lengths is None:
            states, shown = new, new[0]
        else:
            valid = vx.reshape(layer.lengths > number, (-1, 1))
            states = [vx.where(valid, one, old) for one, old in zip(new, states, strict=True)]
            shown = vx.where(valid, new[0], vx.zeros_like(new[0]))
        made.append(shown)
    return vx.stack(made), states


def _layer(
    call: Call, gates: int, x: Any, w: Any, r: Any, b: Any, lengths: Any, initial: list[Any], attributes: dict[str, Any],
    default: Sequence[str], cell: Callable[..., Callable[[Any, list[Any]], list[Any]]],
) -> Any:  # fmt: skip
    """The outputs of a layer. `cell` makes the step of a direction, of its recurrent weights and biases."""
    direction, sideways = attributes.get("direction", "forward"), attributes.get("layout", 0)
    count, hidden = 2 if direction == "bidirectional" else 1, r.shape[-1]
    wanted: dict[str, tuple[Any, tuple[int, ...]]] = {
        "W": (w, (count, gates * hidden, x.shape[-1])),
        "R": (r, (count, gates * hidden, hidden)),
        "B": (b, (count, 2 * gates * hidden)),
    }
    for name, (one, shape) in wanted.items():
        if one is not None and tuple(one.shape) != shape:
            raise ValueError(f"its input {name!r} has the shape {tuple(one.shape)}, expected {shape}")
    if x.ndim != 3 or attributes.get("hidden_size", hidden) != hidden:
        raise ValueError(
            f"it has sequences of shape {tuple(x.shape)} and the attribute 'hidden_size' {attributes.get('hidden_size', hidden)}, "
            f"expected 3 dimensions, and {hidden} as its recurrent weights have"
        )
    names = attributes.get("activations") or list(default) * count
    functions = _functions(names, attributes.get("activation_alpha"), attributes.get("activation_beta"))
    x = vx.permute_dims(x, (1, 0, 2)) if sideways else x
    results, lasts = [], []
    for number in range(count):
        each = len(default)
        layer = Layer(call, functions[number * each : (number + 1) * each], attributes.get("clip", 0.0), lengths)
        backwards = direction == "reverse" or number == 1
        zero = vx.zeros((x.shape[1], hidden), dtype=x.dtype, device=x.device)
        states = [
            zero if one is None else one[:, number] if sideways else one[number] for one in initial
        ]  # fmt: skip
        bias = vx.zeros(2 * gates * hidden, dtype=x.dtype, device=x.device) if b is None else b[number]
        given = _turned(layer, x) if backwards else x
        of_input = vx.matmul(given, w[number].T) + bias[: gates * hidden]
        made, last = _steps(layer, of_input, states, cell(layer, number, r[number].T, bias[gates * hidden :]))
        results.append(_turned(layer, made) if backwards else made)
        lasts.append(last)
    found = vx.stack(results, axis=1)
    if sideways:
        found = vx.permute_dims(found, (2, 0, 1, 3))
    return found, *(vx.stack(list(one), axis=1 if sideways else 0) for one in zip(*lasts, strict=True))


def _parts(x: Any, count: int) -> Iterator[Any]:
    width = x.shape[-1] // count
    return (x[..., place * width : (place + 1) * width] for place in range(count))


@operator("RNN", half=INSIDE)
def _rnn(
    call: Call, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None, **attributes: Any
) -> Any:
    def cell(layer: Layer, number: int, recurrent: Any, bias: Any) -> Any:
        def step(of_input: Any, states: list[Any]) -> list[Any]:
            return [layer.activations[0](_clipped(layer, of_input + vx.matmul(states[0], recurrent) + bias))]

        return step

    return _layer(call, 1, x, w, r, b, lengths, [h], attributes, ("Tanh",), cell)


@operator("LSTM", half=INSIDE)
def _lstm(
    call: Call, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None, c: Any = None, p: Any = None,
    **attributes: Any,
) -> Any:  # fmt: skip
    coupled = attributes.get("input_forget", 0)

    def cell(layer: Layer, number: int, recurrent: Any, bias: Any) -> Any:
        f, g, h_of = layer.activations
        peepholes = [None] * 3 if p is None else list(_parts(p[number], 3))

        def seen(gate: Any, peephole: Any, state: Any) -> Any:
            return _clipped(layer, gate if peephole is None else gate + peephole * state)

        def step(of_input: Any, states: list[Any]) -> list[Any]:
            hidden, state = states
            inward, outward, forget, candidate = _parts(of_input + vx.matmul(hidden, recurrent) + bias, 4)
            inward = f(seen(inward, peepholes[0], state))
            forget = 1 - inward if coupled else f(seen(forget, peepholes[2], state))
            new = forget * state + inward * g(_clipped(layer, candidate))
            return [f(seen(outward, peepholes[1], new)) * h_of(new), new]

        return step

    return _layer(call, 4, x, w, r, b, lengths, [h, c], attributes, ("Sigmoid", "Tanh", "Tanh"), cell)


@operator("GRU", half=INSIDE)
def _gru(
    call: Call, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None, **attributes: Any
) -> Any:
    after = attributes.get("linear_before_reset", 0)

    def cell(layer: Layer, number: int, recurrent: Any, bias: Any) -> Any:
        f, g = layer.activations
        width = recurrent.shape[0]

        def step(of_input: Any, states: list[Any]) -> list[Any]:
            (hidden,) = states
            update, reset, new = _parts(of_input, 3)
            if after:
                own_update, own_reset, own_new = _parts(vx.matmul(hidden, recurrent) + bias, 3)
            else:
                own_update, own_reset = _parts(vx.matmul(hidden, recurrent[:, : 2 * width]) + bias[: 2 * width], 2)
            update, reset = f(_clipped(layer, update + own_update)), f(_clipped(layer, reset + own_reset))
            if after:
                new = new + reset * own_new
            else:
                new = new + vx.matmul(reset * hidden, recurrent[:, 2 * width :]) + bias[2 * width :]
            return [(1 - update) * g(_clipped(layer, new)) + update * hidden]

        return step

    return _layer(call, 3, x, w, r, b, lengths, [h], attributes, ("Sigmoid", "Tanh"), cell)
