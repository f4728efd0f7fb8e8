"""The shaders that a program takes: which ones on which devices, as the part of a file, and how they are found there.

A program decides on each device which kernels it takes. So it is prepared for devices of several kinds: for the device that is
there, with features and limits of others imposed on it (see `_vk/profiles.py`), for several lengths of dimensions. Arrays have
no memory meanwhile, and nothing is run. The file gets the parts that kernels are linked of, under the digests of their sources.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import _vk
from ..core.array import VkArray, check_supported, empty
from ..errors import FeatureError
from ..graph import nest
from ..graph.dimensions import Dim
from ..graph.player import Player
from ..graph.tape import Tape
from ..ops.beyond.random import Draws, RandomState
from ..shaders import source
from ..shaders.source import Variant, digest, resolve, spirv
from .container import damaged
from .signature import Input, dims_of, given

# The profiles of each target; a program for "any" is prepared for those of them whose types it can do with.
TARGETS: dict[str, tuple[tuple[str, ...], ...]] = {
    "any": (
        (),
        ("gpu",),
        ("adreno-630", "gpu"),
        ("intel-xe", "gpu"),
        ("rdna3", "gpu"),
        ("v3d", "gpu"),
        ("phone",),
        ("phone", "gpu"),
    ),
    "float16": (("no-float64",), ("no-float64", "gpu"), ("adreno-630", "gpu")),
    "phone": (("phone",), ("phone", "gpu")),
}
# Of dynamic dimensions, besides their greatest length and the one that a program was made with.
_LENGTHS = (1, 3, 64)


class Shaders:
    """The modules of a file by digest, and which of them each target takes."""

    def __init__(self, modules: Mapping[str, bytes], targets: Mapping[str, Iterable[str]]) -> None:
        self.modules = dict(sorted(modules.items()))
        self.targets = {name: sorted(taken) for name, taken in targets.items()}

    def listed(self) -> dict[str, Any]:
        """As JSON."""
        places = {named: place for place, named in enumerate(self.modules)}
        return {
            "targets": {name: [places[named] for named in taken] for name, taken in self.targets.items()},
            "modules": [[named, len(code)] for named, code in self.modules.items()],
        }

    def data(self) -> bytes:
        """The modules, one after the other."""
        return b"".join(self.modules.values())


def collect(
    tape: Tape, inputs: Sequence[Input], sizes: Mapping[Dim, int], device: _vk.Device, default_float: str,
    targets: Sequence[str],
) -> Shaders:  # fmt: skip
    """The shaders that a program takes on targets. Raises ValueError for an unknown target, FeatureError and ShaderError."""
    unknown = [name for name in targets if name not in TARGETS]
    if unknown:
        raise ValueError(f"save: unknown target {', '.join(map(repr, unknown))}. Targets are {', '.join(TARGETS)}.")
    modules: dict[str, bytes] = {}
    found: dict[str, set[str]] = {}
    for name in targets:
        taken = found[name] = set()
        for profiles in TARGETS[name]:
            try:
                variants = _of_profiles(tape, inputs, sizes, device, default_float, profiles)
            except FeatureError as error:
                if name != "any":
                    raise FeatureError(
                        f"save: devices of the target {name!r} cannot run it. {error}", error.features
                    ) from None
                continue
            for variant in variants:
                named = digest(resolve(variant))
                modules[named] = spirv(variant)
                taken.add(named)
    return Shaders(modules, found)


def _of_profiles(
    tape: Tape, inputs: Sequence[Input], sizes: Mapping[Dim, int], device: _vk.Device, default_float: str,
    profiles: tuple[str, ...],
) -> list[Variant]:  # fmt: skip
    other = _vk.under_profiles(device.index, profiles)
    try:
        for one in inputs:
            if one.shape is not None:
                check_supported(one.dtype, other, one.name)
        player = Player(_elsewhere(tape, other), other, default_float)
        with source.collected() as variants:
            for lengths in _lengths(inputs, sizes):
                try:
                    player.prepare([given(one, lengths) for one in inputs])
                except (TypeError, ValueError, IndexError):  # of lengths that it is not for
                    if lengths == sizes:
                        raise
        return list(variants)
    finally:
        other.close()


def _lengths(inputs: Sequence[Input], sizes: Mapping[Dim, int]) -> list[dict[Dim, int]]:
    """The lengths of dimensions for which kernels are made: all of them short, all of them long."""
    dims = dims_of(inputs)
    if not dims:
        return [{}]
    tried = [{dim: min(max(length, dim.min), dim.max or length) for dim in dims} for length in _LENGTHS]
    tried += [
        {dim: dim.max for dim in dims if dim.max is not None} | {dim: 1024 for dim in dims if dim.max is None},
        dict(sizes),
    ]
    return [one for number, one in enumerate(tried) if len(one) == len(dims) and one not in tried[:number]]


def _elsewhere(tape: Tape, device: _vk.Device) -> Tape:
    """A tape whose constants are on another device, with any values."""
    made: dict[int, VkArray] = {}

    def moved(value: Any) -> Any:
        if type(value) is VkArray:
            if id(value) not in made:
                check_supported(value.dtype, device, "save")
                made[id(value)] = empty(value.shape, value.dtype, device)
                if hasattr(value, "_is_place"):
                    made[id(value)]._is_place = True
            return made[id(value)]
        if isinstance(value, _vk.Device):
            return device
        if isinstance(value, Draws):
            return RandomState(value.bit_generator, device=device)
        return nest.mapped(value, moved)

    return tape.mapped(moved)


def modules_of(path: Any, listed: Any, data: memoryview) -> dict[str, memoryview]:
    """The modules of a file by digest. Raises ProgramError where they are damaged."""
    wrong = damaged(path, "its list of shaders is damaged")
    if type(listed) is not dict or set(listed) != {"targets", "modules"}:
        raise wrong
    rows, targets = listed["modules"], listed["targets"]
    if type(rows) is not list or type(targets) is not dict:
        raise wrong
    for name, places in targets.items():
        if (
            len(name) > 64
            or type(places) is not list
            or any(type(one) is not int or not 0 <= one < len(rows) for one in places)
        ):
            raise wrong
    found: dict[str, memoryview] = {}
    end = 0
    for row in rows:
        if type(row) is not list or len(row) != 2 or type(row[0]) is not str or type(row[1]) is not int or row[1] < 0:
            raise wrong
        named, length = row
        if len(named) != hashlib.sha256().digest_size * 2 or named in found or end + length > len(data):
            raise wrong
        found[named], end = data[end : end + length], end + length
    if end != len(data):
        raise wrong
    return found
