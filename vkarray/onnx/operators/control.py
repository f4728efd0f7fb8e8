"""Control flow, which the host runs: branches, loops, and steps along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

import vkarray as vx

from ..graph import Graph
from ..interpreter import Call, Known, shape_of
from ..table import axis_of, each_of, operator
from ..types import numpy_dtype


def _is_true(call: Call, value: Any) -> bool:
    return bool(call.on_host(value).reshape(-1)[0])


@operator("If", nested=True)
def _branch(call: Call, condition: Any, *, then_branch: Graph, else_branch: Graph) -> Any:
    return tuple(call.run(then_branch if _is_true(call, condition) else else_branch, []))


def _stacked(call: Call, values: list[Any], body: Graph, place: int, axis: int = 0) -> Any:
    """What steps made, side by side; without a step an array without elements, of the type and shape that the body says."""
    if not values:
        described = body.outputs[place]
        shape = [one if isinstance(one, int) else 1 for one in described.shape or ()]
        axis = axis_of(axis, len(shape) + 1)
        dtype = np.dtype(np.float32) if described.dtype is None else numpy_dtype(described.dtype)
        return np.zeros((*shape[:axis], 0, *shape[axis:]), dtype)
    axis = axis_of(axis, len(shape_of(values[0])) + 1)
    if all(type(one) is Known for one in values):
        return np.stack([one.host for one in values], axis=axis)
    return vx.stack([call.on_device(one) for one in values], axis=axis)


@operator("Loop", nested=True)
def _loop(call: Call, trips: Any, condition: Any = None, *carried: Any, body: Graph) -> Any:
    most = None if trips is None else int(call.on_host(trips).reshape(-1)[0])
    goes_on = condition is None or _is_true(call, condition)
    values = list(carried)
    if len(body.inputs) != 2 + len(values) or len(body.outputs) != 1 + len(call.node.outputs):
        raise ValueError(
            f"its body has {len(body.inputs)} inputs and {len(body.outputs)} outputs, expected {2 + len(values)} and "
            f"{1 + len(call.node.outputs)}"
        )
    made: list[list[Any]] = [[] for _ in body.outputs[1 + len(values) :]]
    step = 0
    while goes_on and (most is None or step < most):
        found = call.run(body, [Known(np.asarray(step, np.int64)), Known(np.asarray(goes_on)), *values])
        goes_on = _is_true(call, found[0])
        values = found[1 : 1 + len(values)]
        for one, value in zip(made, found[1 + len(values) :], strict=True):
            one.append(value)
        step += 1
    first = 1 + len(values)
    return (*values, *(_stacked(call, one, body, first + place) for place, one in enumerate(made)))


def _slice(value: Any, place: int, axis: int) -> Any:
    key: Any = (*(slice(None),) * axis, place)
    return Known(np.asarray(value.host[key])) if type(value) is Known else value[key]


def _directions(given: Any, count: int) -> list[int]:
    found = [0] * count if given is None else list(given)
    if len(found) != count or not {0, 1}.issuperset(found):
        raise ValueError(f"its directions are {found}, expected {count} of 0, forward, or 1, backward")
    return found


@operator("Scan", since=9, nested=True)
def _scan(
    call: Call, *inputs: Any, body: Graph, num_scan_inputs: int, scan_input_axes: Any = None, scan_input_directions: Any = None,
    scan_output_axes: Any = None, scan_output_directions: Any = None,
) -> Any:  # fmt: skip
    if not 1 <= num_scan_inputs <= len(inputs):
        raise ValueError(f"its attribute 'num_scan_inputs' is {num_scan_inputs}, and it has {len(inputs)} inputs")
    if (len(body.inputs), len(body.outputs)) != (len(inputs), len(call.node.outputs)):
        raise ValueError(
            f"its body has {len(body.inputs)} inputs and {len(body.outputs)} outputs, expected {len(inputs)} and "
            f"{len(call.node.outputs)}"
        )
    count = len(inputs) - num_scan_inputs
    values, scanned = list(inputs[:count]), inputs[count:]
    axes = [
        axis_of(axis, len(shape_of(one)))
        for axis, one in zip(scan_input_axes or [0] * len(scanned), scanned, strict=True)
    ]
    backwards = _directions(scan_input_directions, len(scanned))
    turned = _directions(scan_output_directions, len(body.outputs) - count)
    lengths = {shape_of(one)[axis] for one, axis in zip(scanned, axes, strict=True)}
    if len(lengths) > 1:
        raise ValueError(f"what it scans has different lengths: {sorted(lengths)}")
    (steps,) = lengths
    made: list[list[Any]] = [[] for _ in body.outputs[count:]]
    for step in range(steps):
        places = [steps - 1 - step if back else step for back in backwards]
        parts = [_slice(one, place, axis) for one, place, axis in zip(scanned, places, axes, strict=True)]
        found = call.run(body, [*values, *parts])
        values = found[:count]
        for one, value in zip(made, found[count:], strict=True):
            one.append(value)
    places = each_of("scan_output_axes", scan_output_axes, len(made), 0, -(1 << 31))
    results = [
        _stacked(call, one[::-1] if back else one, body, count + place, axis)
        for place, (one, axis, back) in enumerate(zip(made, places, turned, strict=True))
    ]
    return (*values, *results)


@operator("Scan", since=8, nested=True)
def _scan_of_batches(
    call: Call, lengths: Any, *inputs: Any, body: Graph, num_scan_inputs: int, directions: Any = None
) -> Any:
    """As in version 8: for each element of a batch, the first dimension of all."""
    if lengths is not None:
        raise NotImplementedError(
            "vkarray has no Scan of sequences of several lengths. Export the model with version 9 or later."
        )
    each = [
        _scan(
            call, *(_slice(one, number, 0) for one in inputs), body=body, num_scan_inputs=num_scan_inputs,
            scan_input_directions=directions,
        )
        for number in range(shape_of(inputs[0])[0])
    ]  # fmt: skip
    wrapped = [[Known(one) if isinstance(one, np.ndarray) else one for one in made] for made in each]
    return tuple(_stacked(call, list(of), body, place) for place, of in enumerate(zip(*wrapped, strict=True)))
