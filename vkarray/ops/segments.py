"""Elements that go to one place, joined in a fixed order: the places are sorted, and the elements of each joined in a tree.

So results are the same in every run and on every device.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import device_caches
from ..core import layout
from ..core.array import VkArray, empty, is_supported
from ..core.dtypes import CATEGORIES, DTYPES, DType
from ..kernels import launch
from ..kernels.reductions import partial_dtype
from ..shaders.source import Variant
from .sorting import sorted_rows

if TYPE_CHECKING:
    from ..kernels.launch import Device

# How elements of one place are joined, by the kind of their type.
REDUCES: dict[str, dict[str, str]] = {
    "sum": {"bool": "a || b", "else": "a + b"},
    "prod": {"bool": "a && b", "complex floating": "vx_multiply(a, b)", "else": "a * b"},
    "amax": {"bool": "a || b", "real floating": "vx_maximum(a, b)", "else": "max(a, b)"},
    "amin": {"bool": "a && b", "real floating": "vx_minimum(a, b)", "else": "min(a, b)"},
}  # fmt: skip
_REACH = 32


@device_caches.cache
def _variant(reduce: str, dtype: DType, device: Device) -> Variant:
    combine = REDUCES[reduce].get(dtype.category) or REDUCES[reduce]["else"]
    partial = partial_dtype(dtype)
    defines = [("COMBINE", combine), *launch.operand_defines("A", dtype), *launch.operand_defines("P", partial)]
    defines += launch.compute_defines(dtype)
    defines += launch.feature_defines((dtype, partial), device)
    defines.append(("LIBRARY", launch.library_path("arithmetic" if "vx_" in combine else None, dtype)))
    return Variant("index/segments", tuple(defines), f"{reduce} by place {dtype}")


def variants(device: Device) -> Iterator[Variant]:
    """The shaders of all types, for the archive."""
    for dtype in DTYPES.values():
        if is_supported(dtype, device):
            for reduce in REDUCES:
                if dtype in CATEGORIES["real"] or reduce in ("sum", "prod"):
                    yield _variant(reduce, dtype, device)


def join_by_place(
    function: str, target: VkArray, places: VkArray, values: VkArray, reduce: str = "sum", with_target: bool = True
) -> None:  # fmt: skip
    """Join `values` into the rows of `target` that `places` name, in place; rows that none names stay as they are.

    target: (rows, columns), contiguous; places: contiguous int32, all in range; values: (places, columns) of its dtype.
    `with_target`: what is there is joined as well, before the values. Raises ValueError for more than indices reach.
    """
    device, dtype = target._device, target._dtype
    count, columns = places.size, target._shape[1]
    if not count or not columns or not target.size:
        return
    if max(target.size, count * columns) > launch.index_limit(device, dtype, partial_dtype(dtype)):
        raise ValueError(
            f"{function}: {target.size} elements, and {count * columns} to join into them, are more than 32-bit offsets reach. "
            f"Join parts."
        )
    keys, order = sorted_rows(function, places._view((1, count), (count, 1)), False, True)
    assert order is not None
    values = launch.contiguous(values)
    levels = max(1, math.ceil(math.log(count, _REACH) - 1e-9))
    while _REACH**levels < count:
        levels += 1
    pieces = empty((count, columns), partial_dtype(dtype), device) if levels > 1 else target
    chosen = _variant(reduce, dtype, device)
    part = max(1, layout.INDEX_LIMIT // columns)
    for level in range(1, levels + 1):
        constants = ((1, int(level == 1)), (2, int(level == levels)), (3, int(with_target)))
        for first in range(0, count, part):
            own = min(part, count - first)
            fields = {
                "keys": keys,
                "places": order,
                "values": values,
                "pieces": pieces,
                "target": target,
                "count": count,
                "columns": columns,
                "first": first,
                "keys_of_dispatch": own,
                "span": _REACH**level,
            }
            groups = launch.groups_for(own * columns, device.limits)
            writes = ("target",) if level == levels else ("pieces",)
            launch.dispatch(chosen, device, groups, fields, writes=writes, constants=constants)
