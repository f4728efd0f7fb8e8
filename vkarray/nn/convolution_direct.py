"""The sums of a convolution (see `convolution`) that are added directly, where groups have few channels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import device_caches
from ..core import dtypes
from ..core.array import VkArray, is_supported, storage_itemsize
from ..core.dtypes import CATEGORIES, DTYPES, DType
from ..kernels import launch, texels
from ..kernels.launch import uses_shared_memory
from ..kernels.product.parts import partial_array
from ..kernels.product.sums import sum_partial
from ..kernels.reductions import partial_dtype
from ..kernels.row_kernels import HALF_FEATURES
from ..shaders.source import Variant
from .windows import Windows, batches, part, side_by_side, taken

if TYPE_CHECKING:
    from ..kernels.launch import Defines, Device

_FEW_CHANNELS = (
    8  # of `made` in a group: below that, and with so few pairs of channels, products of matrices do not pay
)
_FEW_PAIRS = 64
# Products in a sum, and turns of a loop, for one invocation: llvmpipe ends all its loops after 65,535 turns together.
_LONGEST_SUM = 1 << 15
# Windows of common widths and strides along the last dimension have kernels that take several neighbours at a time.
_WIDTHS, _STEPS = (3, 5, 7), (1, 2)
_BLOCK = 4
_IN_ROWS = ("float16", "bfloat16", "float32")
# Square ones have kernels whose invocations take so many places of a column, and share what they read with their neighbours;
# of float16 on devices that convert it alone: compilers take minutes for so many conversions.
_COLUMN = 8
# On CPU drivers, which read texels at once, invocations take so many rows, by the width, and as many columns as share three texels.
_ROWS = {3: 4, 5: 2, 7: 2}
_SHARED = 9  # elements of three texels that are there wherever the first one lies
# Invocations that a gradient of a weight keeps busy, and how many may share a sum.
_BUSY = {"gpu": 1 << 17, "cpu": 1 << 6}
_LANES = (32, 256)


class Problem(NamedTuple):
    """A convolution without its operands."""

    windows: Windows
    groups: int
    slid: int  # channels of a group
    made: int

    @property
    def rows(self) -> int:
        """Elements of a column."""
        return self.slid * self.windows.taps

    @property
    def direct(self) -> bool:
        """Whether products of matrices do not pay."""
        few = self.made < _FEW_CHANNELS or self.made * self.slid <= _FEW_PAIRS * min(self.groups, 2)
        return few and max(self.made, self.slid) * self.windows.taps <= _LONGEST_SUM

    def in_rows(self, dtype: DType) -> bool:
        """Whether there are kernels that take several neighbours at a time."""
        width, step, apart = self.windows.kernel[2], self.windows.stride[2], self.windows.dilation[2]
        return width in _WIDTHS and step in _STEPS and apart == 1 and dtype.name in _IN_ROWS

    def in_columns(self, dtype: DType, device: Device) -> bool:
        """Whether there are kernels that take several neighbours of a column at a time, and convert nothing by themselves."""
        windows = self.windows
        square = all(one[1] == one[2] for one in (windows.kernel, windows.stride, windows.dilation))
        return square and self.in_rows(dtype) and (dtype is not dtypes.float16 or device.features >= HALF_FEATURES)

    @property
    def blocks(self) -> int:
        """What those kernels take at a time."""
        depth, height, width = self.windows.output
        return depth * height * -(-width // _BLOCK)

    @property
    def columns(self) -> int:
        """What kernels for square windows take at a time."""
        depth, height, width = self.windows.output
        return depth * -(-height // _COLUMN) * width

    @property
    def tiles(self) -> int:
        """What kernels that read texels take at a time."""
        depth, height, width = self.windows.output
        rows, columns = _tile(self.windows.kernel[2], self.windows.stride[2])
        return depth * -(-height // rows) * -(-width // columns)


def _tile(width: int, step: int) -> tuple[int, int]:
    """Rows and columns that an invocation takes which reads texels."""
    return _ROWS[width], (_SHARED - width) // step + 1


# -- variants ---------------------------------------------------------------------------------------------------------


@device_caches.cache
def _variant(
    template: str, source: DType, target: DType, device: Device, rows: tuple[int, int] | None = None
) -> Variant:
    """The shader of a template, for windows of a width and stride."""
    defines: Defines = (*launch.operand_defines("A", source), *launch.operand_defines("R", target))
    defines += launch.compute_defines(source) + launch.feature_defines((source, target), device)
    label = f"{template.removeprefix('nn/')} {source}"
    if rows is not None:
        defines += (("WIDTH", str(rows[0])), ("STEP", str(rows[1])))
        if template == "nn/convolution_texels":
            defines += tuple(zip(("ROWS", "COLUMNS"), map(str, _tile(*rows)), strict=True))
        else:
            defines += (("BLOCK", str(_COLUMN if template == "nn/convolution_square" else _BLOCK)),)
        label += f" ({rows[0]} wide, {rows[1]} apart)"
    if template == "nn/convolution_square" and source is dtypes.float16:  # which the device converts
        own = {"A_STORAGE": "float16_t", "A_LOAD": "float", "A_STORE": "float16_t", "HARDWARE_HALF": "1"}
        defines = (*(pair for pair in defines if pair[0] not in own), *own.items())
    return Variant(template, defines, label)


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype in DTYPES.values():
        if dtype in CATEGORIES["real numeric"] and is_supported(dtype, device):
            yield _variant("nn/convolution_direct", dtype, dtype, device)
        if dtype in CATEGORIES["real floating"] and is_supported(dtype, device):
            yield _variant("nn/convolution_weight", dtype, partial_dtype(dtype), device)
        if dtype.name in _IN_ROWS:
            for rows in itertools.product(_WIDTHS, _STEPS):
                yield _variant("nn/convolution_rows", dtype, dtype, device, rows)
                if dtype is not dtypes.float16 or storage_itemsize(dtype, device) == 2:
                    yield _variant("nn/convolution_square", dtype, dtype, device, rows)
                yield _variant("nn/convolution_weight_rows", dtype, partial_dtype(dtype), device, rows)
                if dtype is dtypes.float32 and launch.has_texels(device):
                    yield _variant("nn/convolution_texels", dtype, dtype, device, rows)


def _chosen(template: str, dtype: DType, target: DType, problem: Problem, device: Device) -> Variant:
    if not problem.in_rows(dtype):
        return _variant(template, dtype, target, device)
    windows = problem.windows
    name = "nn/convolution_rows" if template.endswith("direct") else "nn/convolution_weight_rows"
    return _variant(name, dtype, target, device, (windows.kernel[2], windows.stride[2]))


# -- sums -------------------------------------------------------------------------------------------------------------


def add_directly(
    source: VkArray, weight: VkArray, bias: VkArray | None, problem: Problem, result: VkArray, transposed: bool
) -> None:
    """result = what windows over `source` make or, where `transposed`, what they slide over; `weight` is contiguous."""
    device, windows = result._device, problem.windows
    source = side_by_side(source, windows)
    from_, to = (problem.made, problem.slid) if transposed else (problem.slid, problem.made)
    of_made, of_slid = problem.rows, windows.taps
    weight_from, weight_to = (of_made, of_slid) if transposed else (of_slid, of_made)
    in_columns = not transposed and problem.in_columns(source._dtype, device)
    rows = (windows.kernel[2], windows.stride[2])
    if transposed:
        variant, invocations = _variant("nn/convolution_direct", source._dtype, source._dtype, device), windows.inputs
    elif in_columns:
        variant = _variant("nn/convolution_square", source._dtype, source._dtype, device, rows)
        invocations = problem.columns
    else:
        variant = _chosen("nn/convolution_direct", source._dtype, source._dtype, problem, device)
        invocations = problem.blocks if problem.in_rows(source._dtype) else windows.outputs
    for one, target in batches("convolution", (source, result)):
        words = (*windows.words, *taken(one), *taken(target))
        n, channels = target._shape[:2]
        bound = _bindings(one, weight) if in_columns else None
        operands: dict[str, Any] = {"a": one, "weight": weight}
        chosen, count = variant, n * channels * (invocations if bound is None else problem.tiles)
        if bound is not None:
            chosen = _variant("nn/convolution_texels", source._dtype, source._dtype, device, rows)
            operands = _places(bound, one, weight)
        fields = {
            **operands,
            "bias": 0 if bias is None else bias,
            "r": target,
            "words": words,
            "count": count,
            "channels": channels,
            "from": from_,
            "to": to,
            "weight_from": weight_from,
            "weight_to": weight_to,
            "weight_group": problem.made * problem.rows,
            "bias_step": 0 if bias is None else taken(bias)[0],
        }
        groups = launch.groups_for(count, device.limits)
        constants = ((1, int(transposed)), (2, int(bias is not None)))
        launch.dispatch(chosen, device, groups, fields, writes=("r",), constants=constants, bindings=bound or ())


def _bindings(source: VkArray, weight: VkArray) -> list[texels.Binding] | None:
    """The bindings by which what windows slide over and the weight are read in texels; None where addresses are faster."""
    device = source._device
    reads = source.size * source._dtype.itemsize
    if (
        not device.limits.is_cpu
        or source._dtype is not dtypes.float32
        or not launch.has_texels(device)
        or texels.are_few(reads)
    ):
        return None
    made = [texels.binding_of_elements(one, number, reads) for number, one in enumerate((source, weight))]
    return None if None in made else made  # type: ignore[return-value]


def _places(bound: Sequence[texels.Binding], *operands: VkArray) -> dict[str, int]:
    """Where operands begin in what is bound, and its last texels."""
    found = {}
    for name, one, binding in zip(("a", "weight"), operands, bound, strict=True):
        found[name] = one._offset - binding.offset // one._dtype.itemsize
        found[f"{name}_last"] = binding.texels - 1
    return found


def add_weight_directly(slid: VkArray, made: VkArray, problem: Problem, result: VkArray) -> None:
    """result = the gradient of the weight, between what windows slide over and the gradient of what they make."""
    device, windows, dtype = result._device, problem.windows, result._dtype
    slid, made = side_by_side(slid, windows), side_by_side(made, windows)
    in_rows, kind = problem.in_rows(dtype), device.limits.kind
    sums = math.prod(result._shape) // (windows.kernel[2] if in_rows else 1)
    turns = problem.blocks if in_rows else windows.outputs
    lanes = 1
    if uses_shared_memory(device):
        lanes = next((few for few in _LANES if sums * few >= _BUSY[kind] or turns <= 4 * few), _LANES[-1])
    wanted = max(1, min(slid._shape[0], _BUSY[kind] // (sums * lanes)))
    length = -(-slid._shape[0] // wanted)
    span = min(turns, _LONGEST_SUM * lanes)
    length = max(1, min(length, _LONGEST_SUM * lanes // span))
    cut = list(batches("convolution_backward", (slid, made)))
    lengths = [min(length, one._shape[0]) for one, _ in cut]
    parts = [-(-one._shape[0] // few) * -(-turns // span) for (one, _), few in zip(cut, lengths, strict=True)]
    total = sum(parts)
    if total == 1 and partial_dtype(dtype) is dtype:
        target = result._view((1, *result._shape), (0, *result._strides))
    else:
        target = partial_array(result, total)
    variant = _chosen("nn/convolution_weight", dtype, target._dtype, problem, device)
    first = 0
    for (one, other), few, many in zip(cut, lengths, parts, strict=True):
        words = (*windows.words, *taken(one), *taken(other))
        count = many * sums
        fields = {
            "x": one,
            "gradient": other,
            "r": part(target, first, many),
            "words": words,
            "count": count,
            "sums": sums,
            "batch": one._shape[0],
            "part": few,
            "span": span,
            "from": problem.slid,
            "to": problem.made,
        }
        groups = launch.groups_for(count * lanes, device.limits)
        launch.dispatch(variant, device, groups, fields, writes=("r",), constants=((1, lanes),))
        first += many
    if target._buffer is not result._buffer:
        sum_partial(target, result)
