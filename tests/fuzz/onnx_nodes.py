"""The nodes that random ONNX models try: each function gives one for the values that there are, or None where none fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from onnx import helper

if TYPE_CHECKING:
    from onnx_models import Random

TYPES = ("float32",) * 8 + ("float16", "float64", "int64", "int64", "int32", "int8", "uint8", "bool")
FLOATS = ("float16", "float32", "float64")
NUMBERS = (*FLOATS, "int32", "int64")


class Value(NamedTuple):
    """A value of the model: what the reference has for it, and how far from it another computation may be."""

    name: str
    array: np.ndarray
    away: float
    constant: bool = False

    @property
    def is_float(self) -> bool:
        return self.array.dtype.kind == "f"


class Node(NamedTuple):
    """A node to be tried: `gain` is by how much it enlarges differences; `exact` whether it only moves or compares numbers."""

    operator: str
    inputs: list[Value | None]
    attributes: dict[str, Any]
    gain: float = 2.0
    exact: bool = False
    outputs: int = 1


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast."""
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True


MAKERS: list[Callable[[Random], Node | None]] = []


def maker(times: int = 1) -> Callable[[Callable[[Random], Node | None]], Callable[[Random], Node | None]]:
    def enter(function: Callable[[Random], Node | None]) -> Callable[[Random], Node | None]:
        MAKERS.extend([function] * times)
        return function

    return enter


def _is_exact(one: Value) -> bool:
    return one.away == 0


@maker(4)
def smooth(random: Random) -> Node | None:
    x = random.pick(lambda one: one.is_float)
    operators = (
        "Relu Sigmoid Tanh Abs Neg Identity Erf Softplus Softsign Elu Selu LeakyRelu HardSigmoid Sin Cos ThresholdedRelu Atan "
        "HardSwish Celu" + " Mish" * (random.version >= 18) + " Gelu" * (random.version >= 20)
    )
    operator = random.choice(operators.split())
    if x is None or (operator == "ThresholdedRelu" and x.away):
        return None
    if operator in ("Erf", "Gelu", "HardSwish") and x.array.dtype == np.float64:
        return None  # which the reference rounds to float32, or computes by its constants
    return Node(operator, [x], {}, exact=operator in ("Relu", "Abs", "Neg", "Identity"))


@maker(2)
def bounded(random: Random) -> Node | None:
    operator, low, high = random.choice(
        [("Sqrt", 0.1, 1e4), ("Log", 0.1, 1e4), ("Exp", -5, 5), ("Reciprocal", 0.2, 1e4), ("Asin", -0.9, 0.9), ("Tan", -1, 1),
         ("Acos", -0.9, 0.9), ("Sinh", -3, 3), ("Cosh", -3, 3), ("Asinh", -100, 100), ("Acosh", 1.1, 100), ("Atanh", -0.9, 0.9)]
    )  # fmt: skip
    x = random.pick(
        lambda one: one.is_float and one.array.size > 0 and low <= one.array.min() and one.array.max() <= high
    )
    return None if x is None else Node(operator, [x], {}, gain=200 if operator == "Exp" else 30)


@maker(2)
def into_bounds(random: Random) -> Node | None:
    x = random.pick(lambda one: one.is_float)
    if x is None:
        return None
    low = float(random.choice((-0.9, 0.1, 0.2)))
    limits: list[Value | None] = [
        random.constant(low, x.array.dtype.name),
        random.constant(low + 0.7, x.array.dtype.name),
    ]
    if random.chance(0.2):
        limits[random.integer(0, 1)] = None
    return Node("Clip", [x, *limits], {}, exact=True)


@maker(6)
def arithmetic(random: Random) -> Node | None:
    x = random.pick(lambda one: one.array.dtype != bool)
    if x is None:
        return None
    y = random.partner(x)
    pair = [x, y] if random.chance(0.5) else [y, x]
    operator = random.choice(("Add", "Sub", "Mul", "Max", "Min", "Div", "Sum", "Mean", "Pow", "PRelu", "Mod"))
    if operator == "Div" and (not pair[1].array.all() or np.abs(pair[1].array).min(initial=1) < 0.1):
        return None
    if operator == "Pow" and (np.min(pair[0].array, initial=1) < 0.1 or np.abs(pair[1].array).max(initial=0) > 3):
        return None
    attributes = {}
    if operator == "Mod":
        if x.is_float and (x.away or y.away):
            return None
        if np.abs(pair[1].array).min(initial=1) == 0:
            return None
        attributes = {"fmod": 1} if x.is_float or random.chance(0.3) else {}
    more = [random.partner(x)] if operator in ("Max", "Min", "Sum", "Mean") and random.chance(0.3) else []
    largest = max(float(np.abs(one.array.astype(np.float64)).max(initial=1)) for one in pair)
    gain = {"Mul": largest, "Div": 100.0, "Pow": 500.0, "PRelu": largest}.get(operator, 1.0) + 1
    return Node(operator, [*pair, *more], attributes, gain=gain, exact=operator in ("Max", "Min"))


@maker(2)
def compared(random: Random) -> Node | None:
    x = random.pick(_is_exact)
    if x is None:
        return None
    y = random.partner(x)
    if y.away:
        return None
    names = (
        ("And", "Or", "Xor", "Equal")
        if x.array.dtype == bool
        else ("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual")
    )
    return Node(random.choice(names), [x, y], {})


@maker()
def turned(random: Random) -> Node | None:
    x = random.pick(lambda one: _is_exact(one) and one.array.dtype != bool)
    if x is None:
        return None
    names = ["Sign", "Abs", "Neg"] + (["Floor", "Ceil", "Round", "IsNaN", "IsInf"] if x.is_float else ["BitwiseNot"])
    return Node(random.choice(names), [x], {}, exact=True)


@maker()
def logical(random: Random) -> Node | None:
    x = random.pick(lambda one: one.array.dtype == bool)
    return None if x is None else Node("Not", [x], {})


@maker()
def cast(random: Random) -> Node | None:
    x = random.pick(lambda one: True)
    to = random.choice(sorted(set(TYPES)))
    if x is None or (x.away and to not in FLOATS):
        return None
    if x.is_float and to in ("uint8", "int8") and (x.array.size and (x.array.min() < 0 or x.array.max() > 100)):
        return None
    return Node("Cast", [x], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(to))})


@maker(2)
def chosen(random: Random) -> Node | None:
    x = random.pick(lambda one: True)
    if x is None:
        return None
    return Node("Where", [random.partner(x, "bool"), x, random.partner(x)], {}, exact=True)


@maker(3)
def product(random: Random) -> Node | None:
    x = random.pick(lambda one: one.array.dtype.name in NUMBERS and one.array.ndim > 0)
    if x is None:
        return None
    inner, dtype = x.array.shape[-1], x.array.dtype.name
    if random.chance(0.3) and x.array.ndim == 2:
        flip = random.integer(0, 1)
        width = random.integer(1, 5)
        y = random.add(random.numbers(dtype, (width, inner) if flip else (inner, width)), random.chance(0.8))
        bias = (
            []
            if random.chance(0.3)
            else [random.add(random.numbers(dtype, random.choice(((), (width,), (1, width)))), True)]
        )
        alpha = {} if random.chance(0.5) else {"alpha": 0.5, "beta": 2.0}
        return Node("Gemm", [x, y, *bias], {"transB": flip, **alpha}, gain=4.0 * inner)
    found = [one for one in random.values if one.array.dtype == x.array.dtype and one.array.ndim > 0]
    y = random.choice(found)
    if random.chance(0.6):
        y = random.add(random.numbers(dtype, (*random.shape(0, 1), inner, random.integer(1, 5))), random.chance(0.7))
    return Node("MatMul", [x, y], {}, gain=4.0 * inner)


@maker(3)
def reduced(random: Random) -> Node | None:
    x = random.pick(lambda one: one.array.dtype.name in NUMBERS and one.array.size > 0)
    if x is None:
        return None
    operator = random.choice(("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp"))
    axes = (
        sorted({random.integer(-x.array.ndim, x.array.ndim - 1) % x.array.ndim for _ in range(2)})
        if x.array.ndim
        else []
    )
    axes = [axis - x.array.ndim if random.chance(0.3) else axis for axis in axes]
    attributes: dict[str, Any] = {"keepdims": random.integer(0, 1)}
    inputs: list[Value | None] = [x]
    if axes and random.chance(0.8):
        if random.version >= 18 or (operator == "Sum" and random.version >= 13):
            inputs.append(random.constant(axes, "int64"))
        else:
            attributes["axes"] = axes
    largest = float(np.abs(x.array.astype(np.float64)).max(initial=1))
    gain = {"Prod": max(1, largest) ** 3, "SumSquare": largest, "L2": 30.0, "LogSumExp": 4.0}.get(operator, 1.0) * (
        x.array.size + 1
    )
    return Node(f"Reduce{operator}", inputs, attributes, gain=gain, exact=operator in ("Max", "Min"))


@maker()
def places(random: Random) -> Node | None:
    x = random.pick(
        lambda one: _is_exact(one) and one.array.dtype != bool and one.array.ndim > 0 and one.array.size > 0
    )
    if x is None:
        return None
    axis = random.integer(-x.array.ndim, x.array.ndim - 1)
    attributes = {"axis": axis, "keepdims": random.integer(0, 1), "select_last_index": random.integer(0, 1)}
    return Node(random.choice(("ArgMax", "ArgMin")), [x], attributes)


@maker()
def running(random: Random) -> Node | None:
    x = random.pick(lambda one: one.array.dtype.name in ("float32", "float64", "int32", "int64") and one.array.ndim > 0)
    if x is None:
        return None
    axis = random.constant(random.integer(-x.array.ndim, x.array.ndim - 1), "int64")
    return Node("CumSum", [x, axis], {"exclusive": random.integer(0, 1), "reverse": random.integer(0, 1)}, gain=9.0)


@maker(2)
def normalized(random: Random) -> Node | None:
    x = random.pick(lambda one: one.is_float and one.array.ndim > 0 and one.array.size > 0)
    if x is None:
        return None
    axis = random.integer(-x.array.ndim, x.array.ndim - 1)
    operator = random.choice(("Softmax", "LogSoftmax", "LayerNormalization"))
    if operator != "LayerNormalization":
        return Node(operator, [x], {"axis": axis}, gain=10.0)
    if random.version < 17 or np.std(x.array.astype(np.float64)) < 0.1 or 1 in x.array.shape[axis:]:
        return None
    shape = x.array.shape[axis:]
    scale = [random.add(random.numbers(x.array.dtype.name, shape), True) for _ in range(random.integer(1, 2))]
    return Node("LayerNormalization", [x, *scale], {"axis": axis, "epsilon": 0.1}, gain=50.0)


@maker(2)
def batches(random: Random) -> Node | None:
    x = random.pick(lambda one: one.array.dtype in (np.float32, np.float64) and one.array.ndim >= 2)
    if x is None or random.version < 15:  # where the reference takes the statistics of the batch
        return None
    channels, dtype = x.array.shape[1], x.array.dtype.name
    given = [random.add(random.numbers(dtype, (channels,)), random.chance(0.9)) for _ in range(3)]
    variance = random.add(np.abs(random.numbers(dtype, (channels,))) + 1, True)
    return Node("BatchNormalization", [x, *given, variance], {"epsilon": 0.01}, gain=10.0)


@maker(3)
def convolved(random: Random) -> Node | None:
    x = random.pick(lambda one: one.array.dtype in (np.float32, np.float64) and 3 <= one.array.ndim <= 4)
    if x is None:
        return None
    channels, dtype, rank = x.array.shape[1], x.array.dtype.name, x.array.ndim - 2
    group = channels if random.chance(0.3) else 1
    features = group * random.integer(1, 3)
    kernel = tuple(random.integer(1, 3) for _ in range(rank))
    operator = "ConvTranspose" if random.chance(0.25) else "Conv"
    shape = (
        (channels, features // group, *kernel)
        if operator == "ConvTranspose"
        else (features, channels // group, *kernel)
    )
    inputs: list[Value | None] = [x, random.add(random.numbers(dtype, shape), random.chance(0.9))]
    if random.chance(0.5):
        inputs.append(random.add(random.numbers(dtype, (features,)), True))
    attributes: dict[str, Any] = {"group": group, "kernel_shape": kernel}
    if random.chance(0.5):
        attributes["strides"] = [random.integer(1, 2) for _ in range(rank)]
    if random.chance(0.5) and operator == "Conv":
        attributes["pads"] = [random.integer(0, 1) for _ in range(2 * rank)]
    if random.chance(0.2) and operator == "Conv":
        attributes["dilations"] = [random.integer(1, 2) for _ in range(rank)]
    pads, apart = attributes.get("pads", [0] * 2 * rank), attributes.get("dilations", [1] * rank)
    room = [length + pads[axis] + pads[axis + rank] for axis, length in enumerate(x.array.shape[2:])]
    if operator == "Conv" and any(
        have <= gap * (taps - 1) for have, gap, taps in zip(room, apart, kernel, strict=True)
    ):
        return None  # no window fits
    if group > 1 and operator == "ConvTranspose":
        return None  # which the reference does not compute
    return Node(operator, inputs, attributes, gain=8.0 * float(np.prod(kernel)) * channels)


@maker()
def pooled(random: Random) -> Node | None:
    x = random.pick(lambda one: one.array.dtype in (np.float32, np.float64) and 3 <= one.array.ndim <= 4)
    if x is None:
        return None
    rank = x.array.ndim - 2
    operator = random.choice(("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"))
    if operator == "GlobalMaxPool" and rank != 2:
        return None  # which the reference computes along other axes
    if operator.startswith("Global"):
        return Node(operator, [x], {}, gain=4.0)
    attributes: dict[str, Any] = {
        "kernel_shape": [random.integer(1, 3) for _ in range(rank)], "strides": [random.integer(1, 2) for _ in range(rank)],
    }  # fmt: skip
    if any(taps > length for taps, length in zip(attributes["kernel_shape"], x.array.shape[2:], strict=True)):
        return None  # no window fits
    return Node(operator, [x], attributes, gain=4.0, exact=operator == "MaxPool")


@maker(6)
def reshaped(random: Random) -> Node | None:
    x = random.pick(lambda one: True)
    if x is None:
        return None
    shape, rank = list(x.array.shape), x.array.ndim
    what = random.choice(("Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile"))
    if what == "Transpose":
        return Node(
            what,
            [x],
            {"perm": [int(one) for one in random.random.permutation(rank)]} if random.chance(0.8) and rank else {},
            exact=True,
        )
    if what == "Flatten":
        return Node(what, [x], {"axis": random.integer(-rank, rank)}, exact=True)
    if what == "Reshape":
        wanted = [*shape] if random.chance(0.3) else [-1, *shape[2:]] if rank >= 2 else [-1, 1]
        if random.chance(0.3) and rank:
            wanted = [0] + [-1] * (rank > 1)
        return Node(what, [x, random.constant(wanted, "int64")], {}, exact=True)
    if what == "Squeeze":
        ones = [axis for axis, length in enumerate(shape) if length == 1]
        return Node(
            what, [x, random.constant(ones[:1], "int64")] if ones and random.chance(0.7) else [x], {}, exact=True
        )
    if what == "Unsqueeze":
        return Node(what, [x, random.constant([random.integer(-rank - 1, rank)], "int64")], {}, exact=True)
    if what == "Expand":
        wanted = [random.integer(1, 3) if length == 1 else length for length in shape]
        return Node(what, [x, random.constant([2, *wanted] if random.chance(0.3) else wanted, "int64")], {}, exact=True)
    return Node(what, [x, random.constant([random.integer(1, 2) for _ in shape], "int64")], {}, exact=True)


@maker(3)
def cut(random: Random) -> Node | None:
    x = random.pick(lambda one: one.array.ndim > 0)
    if x is None:
        return None
    rank = x.array.ndim
    axis = random.integer(0, rank - 1)
    length = x.array.shape[axis]
    if not x.array.size:
        return None
    what = random.choice(
        ("Slice", "Slice", "Split", "Concat", "Gather", "GatherElements", "Pad", "Trilu", "TopK", "ScatterElements")
    )
    if what == "Slice":
        ends = [
            random.integer(-length - 1, length + 1),
            random.choice((random.integer(-length - 1, length + 1), 2**31, 2**63 - 1, -(2**63) + 1)),
        ]
        given = [*ends, axis - rank * random.integer(0, 1), random.choice((1, 1, 2, -1, -2, 3))]
        return Node(what, [x, *(random.constant([one], "int64") for one in given)], {}, exact=True)
    if what == "Split" and length > 1:
        return Node(what, [x, random.constant([1, length - 1], "int64")], {"axis": axis}, exact=True, outputs=2)
    if what == "Concat":
        found = [
            one for one in random.values
            if one.array.dtype == x.array.dtype and one.array.ndim == rank
            and np.delete(one.array.shape, axis).tolist() == np.delete(x.array.shape, axis).tolist()
        ]  # fmt: skip
        return Node(
            what,
            [random.choice(found) for _ in range(random.integer(1, 3))],
            {"axis": axis - rank * random.integer(0, 1)},
            exact=True,
        )
    if what == "Gather":
        indices = random.add(random.random.integers(-length, length, random.shape(0, 2)), random.chance(0.6))
        return Node(what, [x, indices], {"axis": axis}, exact=True)
    if what in ("GatherElements", "ScatterElements"):
        shape = tuple(random.integer(1, one) for one in x.array.shape)
        if what == "ScatterElements":
            shape = (*shape[:axis], 1, *shape[axis + 1 :])  # no place twice
        indices = random.add(random.random.integers(-length, length, shape), random.chance(0.6))
        more = [random.add(random.numbers(x.array.dtype.name, shape), False)] if what == "ScatterElements" else []
        return Node(what, [x, indices, *more], {"axis": axis}, exact=True)
    if what == "Pad":
        mode = random.choice(("constant", "edge", "reflect"))
        pads = [
            random.integer(0, min(2, (one - 1) if mode == "reflect" else 2)) for one in (*x.array.shape, *x.array.shape)
        ]
        return Node(what, [x, random.constant(pads, "int64")], {"mode": mode}, exact=True)
    if what == "Trilu" and rank >= 2 and random.version >= 14:
        return Node(
            what, [x, random.constant(random.integer(-2, 2), "int64")], {"upper": random.integer(0, 1)}, exact=True
        )
    if what == "TopK" and _is_exact(x) and x.array.dtype != bool:
        attributes = {"axis": axis, "largest": random.integer(0, 1)}
        return Node(what, [x, random.constant([random.integer(1, length)], "int64")], attributes, exact=True, outputs=2)
    return None


@maker(3)
def of_shapes(random: Random) -> Node | None:
    x = random.pick(lambda one: True)
    if x is None:
        return None
    what = random.choice(("Shape", "Size", "ConstantOfShape", "Range", "EyeLike", "Reshape", "Expand", "OneHot"))
    if what in ("Shape", "Size"):
        return Node(what, [x], {})
    small = random.pick(
        lambda one: one.array.dtype == np.int64 and one.array.ndim == 1 and one.array.size < 5 and (one.array > 0).all()
    )
    if what == "EyeLike":
        return Node(what, [x], {"k": random.integer(-1, 1)})
    if what == "OneHot":
        indices = random.pick(lambda one: one.array.dtype == np.int64)
        values = random.constant([0, 3], random.choice(("float32", "int64")))
        return (
            None
            if indices is None
            else Node(
                what,
                [indices, random.constant(random.integer(1, 6), "int64"), values],
                {"axis": random.choice((-1, 0))},
            )
        )
    if small is None:
        return None
    if what == "ConstantOfShape":
        return Node(what, [small], {"value": helper.make_tensor("value", 1, [1], [2.0])} if random.chance(0.7) else {})
    if what == "Range":
        number = random.pick(lambda one: one.array.dtype == np.int64 and one.array.ndim == 0)
        return (
            None
            if number is None
            else Node(what, [random.constant(0, "int64"), number, random.constant(random.choice((1, 2)), "int64")], {})
        )
    if what == "Reshape" and small.array.prod() != x.array.size:
        return None
    return Node(what, [x, small], {}, exact=True)
