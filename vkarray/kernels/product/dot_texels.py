"""Sums of rows on CPU drivers, which load texels of 16 bytes at once: `sums` asks for `bindings`, and then calls `run`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ... import device_caches
from ...core import dtypes
from ...core.array import VkArray, is_supported, storage_itemsize
from ...core.dtypes import DType
from ...shaders.source import Variant
from .. import launch, texels
from ..dispatch import dispatch
from ..reductions import partial_dtype
from . import linked
from .stacks import Product, Slice, operand_defines

if TYPE_CHECKING:
    from ..launch import Device
    from ..texels import Binding

_TYPES = (
    dtypes.float32, dtypes.int32, dtypes.uint32, dtypes.float64, dtypes.int64, dtypes.uint64, dtypes.complex64,
)  # fmt: skip
_A_ALONG_K, _A_ACROSS, _B_ALONG_K = 1, 2, 3  # the specialization constants


@device_caches.cache
def variant(term: str, source: DType, target: DType, device: Device) -> Variant:
    """Sums of `source` elements, stored as `target`; `term` is as in `sums`."""
    own = (("NEXT", term), ("PACK", str(16 // source.itemsize)), ("TEXEL", f"TEXEL_{source.name}"))
    defines = operand_defines(source, target, device)
    return Variant("product/dot_texels", (*defines, *own), f"dot in texels {source} to {target}: {term}")


def variants(terms: tuple[str, str, str], device: Device) -> Iterator[Variant]:
    """Every variant that sums on a device of these features use: products keep their type, parts of sums are stored as others."""
    product, conjugated, part = terms
    if launch.has_texels(device):
        for source in _TYPES:
            if is_supported(source, device):
                yield variant(product, source, source, device)
                if source.category == "complex floating":
                    yield variant(conjugated, source, source, device)
                for target in dtypes.DTYPES.values():
                    if is_supported(target, device) and partial_dtype(target) is source:
                        yield variant(part, source, target, device)


def bindings(a: VkArray, b: VkArray, rows: int) -> list[Binding] | None:
    """The bindings by which a kernel reads the operands of so many sums; None where addresses are faster, or the only way."""
    device = a._device
    if not device.limits.is_cpu or a._dtype not in _TYPES or not launch.has_texels(device):
        return None
    itemsize = storage_itemsize(a._dtype, device)
    reads = rows * a._shape[-1] * itemsize
    if itemsize != a._dtype.itemsize or texels.are_few(reads):
        return None
    made = []
    for number, one in enumerate((a, b)):
        bound = texels.binding_of_elements(one, number, reads)
        if bound is None:
            return None
        made.append(bound)
    return made


def run(term: str, slice_: Slice, product: Product, steps: tuple[int, ...], bound: Sequence[Binding]) -> None:
    """The sums of a slice."""
    a, b, result, epilogue = product
    device, itemsize = result._device, a._dtype.itemsize
    pack = 16 // itemsize
    first = [
        one._offset + offset - binding.offset // itemsize
        for one, offset, binding in zip((a, b), slice_.offsets, bound, strict=False)
    ]

    def along_k(number: int) -> bool:
        others = (first[number], *slice_.strides[number])
        return steps[number] == 1 and not any(step % pack for step in others)

    *outer, row = slice_.strides[0]
    across = (
        len(outer) > 0 and row == 1 and slice_.strides[1][-1] == 0 and slice_.sizes[-1] % pack == 0
        and not any(step % pack for step in (first[0], steps[0], *outer))
    )  # fmt: skip
    constants = (_A_ALONG_K, int(along_k(0))), (_A_ACROSS, int(across)), (_B_ALONG_K, int(along_k(1)))
    kind = variant(term, a._dtype, result._dtype, device)
    kernel = linked.kernel(epilogue, kind, result._dtype, device, launch.WORKGROUP_SIZE, constants)
    groups = launch.groups_for(slice_.count // (pack if across else 1), device.limits, kernel.local_size[0])
    fields = {**slice_.fields, "a": first[0], "b": first[1], "a_k": steps[0], "b_k": steps[1]}
    dispatch(kernel, groups, fields, writes=("r",), bindings=bound)
