"""Every shader variant that the standard functions can ask for: what the wheel's archive holds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..core import dtypes
from ..core.array import is_supported
from ..kernels import faults, fused, launch, reductions, row_program_code
from ..kernels.conversion import cast_operation
from ..kernels.product import cooperative, strategies
from ..kernels.rows import ROWS
from ..nn import (
    attention_fragments,
    batch_norm,
    columns,
    convolution_direct,
    dropout,
    losses,
    normalization,
    optimizers,
    pointwise,
    pooling,
    regions,
    resample,
    sampling,
    softmax,
    special,
    suppression,
)
from ..ops import creation, indexing, searching, segments, sorting, statistical
from ..ops.beyond import closeness, histogram, mathematics, quantile, random
from ..ops.fourier import transform
from ..ops.linalg import cholesky, eig, eigh, ldl, lu, norm, qr, svd, triangular
from ..shaders.source import Shader, Variant


class Profile(NamedTuple):
    """What a variant depends on of a device: its features alone, so that none has to be there."""

    features: frozenset[str]


# A variant depends on these features; float64 only adds some.
_OPTIONAL = ("shaderInt64", "storageBuffer8BitAccess", "storageBuffer16BitAccess")
PROFILES = tuple(
    Profile(frozenset({"shaderFloat64", *itertools.compress(_OPTIONAL, present)}))
    for present in itertools.product((True, False), repeat=len(_OPTIONAL))
)


def elementwise_operations() -> Iterator[launch.Operation]:
    """The rows, conversions, copies and generators on all types."""
    for row in ROWS.values():
        for dtype in row.accepted():
            yield row.operation(dtype)
    for source, target in itertools.product(dtypes.DTYPES.values(), repeat=2):
        if not (source.category == "complex floating" and target.category not in ("complex floating", "bool")):
            yield cast_operation(source, target)
    for dtype in dtypes.DTYPES.values():
        yield from creation.operations_of(dtype)


def elementwise_variants(device: Any) -> Iterator[Shader]:
    """All access patterns of every elementwise operation whose types the device has."""
    for operation in elementwise_operations():
        if all(is_supported(dtype, device) for dtype in (*operation.inputs, operation.result, operation.compute)):
            yield from operation.variants(device)


def scan_variants(device: Any) -> Iterator[Shader]:
    """The cumulative functions."""
    for scan in statistical.SCANS:
        yield from scan.variants(device)


FAMILIES: tuple[Callable[[Any], Iterator[Shader]], ...] = (
    elementwise_variants, fused.variants, row_program_code.variants, reductions.variants,
    scan_variants, strategies.variants, indexing.variants,
    searching.variants, sorting.variants, random.variants, closeness.variants, faults.variants,
    quantile.variants, histogram.variants, mathematics.variants, transform.variants,
    batch_norm.variants, columns.variants, convolution_direct.variants, normalization.variants, pointwise.variants,
    special.variants, pooling.variants, regions.variants, suppression.variants, resample.variants, softmax.variants,
    attention_fragments.variants, sampling.variants,
    segments.variants,
    losses.variants, dropout.variants, optimizers.variants,
    cholesky.variants, eig.variants, eigh.variants, ldl.variants, lu.variants, norm.variants, qr.variants, svd.variants,
    triangular.variants,
)  # fmt: skip


def standard_variants() -> Iterator[Variant]:
    """The variants that the shaders of all families are made of, for all profiles, each once."""
    seen = set()
    for profile, family in itertools.product(PROFILES, FAMILIES):
        for variant in itertools.chain.from_iterable(shader.parts for shader in family(profile)):
            if variant not in seen:
                seen.add(variant)
                yield variant


def shipped_variants() -> Iterator[Variant]:
    """Those that are compiled into `glsl/compiled/`, for they need a newer compiler than most machines have."""
    yield from cooperative.variants()
    yield from attention_fragments.variants()
