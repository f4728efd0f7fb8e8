"""Modules as a device takes them, with what matters of them: kept on disk, since rewriting one takes Python milliseconds.

An entry is the length of a JSON text, the text, which is filled up to whole words, and SPIR-V.
"""

from __future__ import annotations

import functools
import hashlib
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..cache import DiskCache
from ..shaders import module as layout
from . import cpu_modules, dead_code, features, fields, known_arguments, spirv, unrolled
from .fields import Field

if TYPE_CHECKING:
    from .physical_device import FloatControls, PhysicalDevice

Constants = tuple[tuple[int, int], ...]

_LENGTH = struct.Struct("<I")
_SETS = ("capabilities", "float_widths")
_TUPLES = ("version", "local_size", "addresses")
_PLAIN = ("entry_name", "shared_bytes", "push_constant_bytes", "counts_groups")


class Ready(NamedTuple):
    """What a kernel is made of: its needs, whose words are none, SPIR-V, and specialization constants, with those of the device."""

    needs: spirv.Module
    code: bytes
    constants: Constants


def _is_entry(content: bytes) -> bool:
    """Whether it has both parts; that they are what was stored its checksum tells."""
    if len(content) < _LENGTH.size:
        return False
    begin = _LENGTH.size + _LENGTH.unpack_from(content)[0]
    return len(content) > begin and begin % 4 == 0 == len(content) % 4


CACHE = DiskCache("modules", _is_entry)


def of(
    physical: PhysicalDevice, on: frozenset[str], code: bytes, name: str, specialization: Constants,
    rolled: bool | None = None,
) -> Ready:  # fmt: skip
    """What a device with these features takes for a module; `rolled`: whether loops are written out, if not as the device needs.

    Raises ShaderError for a damaged module.
    """
    controls, is_cpu = physical.float_controls, physical.limits.is_cpu
    rolled = physical.limits.rolled_loops if rolled is None else rolled
    known = [one in on for one in features.ARITHMETIC]
    key = f"{rules()} {hashlib.sha256(code).hexdigest()} {specialization} {_listed(controls)} {known} {is_cpu} {rolled}"
    stored = CACHE.get(key)
    if stored is not None:
        return _read(stored)
    made = _made(controls, is_cpu, rolled, on, code, name, specialization)
    CACHE.put(key, _written(made))
    return made


def _made(
    controls: FloatControls, is_cpu: bool, rolled: bool, on: frozenset[str], code: bytes, name: str,
    specialization: Constants,
) -> Ready:  # fmt: skip
    module = spirv.read(code, name, dict(specialization))
    wanted = float_controls(controls, module.float_widths)
    words = spirv.add_float_controls(module, name, wanted)
    known = {one: int(one in on) for one in features.ARITHMETIC}
    for one, capability in features.ARITHMETIC_OF_CONTROLS.items():
        known[one] &= 32 in wanted.get(capability, ())
    constants = (*specialization, *((number, known[one]) for one, number in features.ARITHMETIC.items()))
    words = dead_code.without_dead_code(words, name, dict(constants))
    if rolled:
        words = unrolled.unrolled(words, name, dict(constants))
    if is_cpu and module.arguments:
        words = cpu_modules.behind_push_constant(words, name)
    module.words = ()
    return Ready(module, struct.pack(f"<{len(words)}I", *words), constants)


def float_controls(controls: FloatControls, used: frozenset[int]) -> dict[int, frozenset[int]]:
    """Capability -> the widths, of those in use, for which the device can keep what IEEE 754 asks for."""
    wanted: dict[int, frozenset[int]] = {}
    for capability, (attribute, _) in spirv.FLOAT_CONTROLS.items():
        offered = getattr(controls, attribute) & used
        independence = {
            "denorm_preserve": controls.denorm_independence,
            "rounding_mode_rte": controls.rounding_independence,
        }.get(attribute, "all")
        if independence == "none" and offered != used:
            offered = frozenset()
        elif independence == "32" and {16, 64} <= used and not {16, 64} <= offered:
            offered &= {32}
        if offered:
            wanted[capability] = offered
    return wanted


def _written(made: Ready) -> bytes:
    needs = made.needs
    table: dict[str, Any] = {one: sorted(getattr(needs, one)) for one in _SETS}
    table |= {one: getattr(needs, one) for one in (*_TUPLES, *_PLAIN)}
    table |= {"bindings": list(needs.bindings.items()), "arguments": needs.arguments, "constants": made.constants}
    text = json.dumps(table, separators=(",", ":")).encode()
    text = text.ljust(-(-len(text) // 4) * 4)
    return _LENGTH.pack(len(text)) + text + made.code


def _read(stored: bytes) -> Ready:
    begin = _LENGTH.size + _LENGTH.unpack_from(stored)[0]
    table = json.loads(stored[_LENGTH.size : begin])
    read: dict[str, Any] = {one: table[one] for one in _PLAIN}
    read |= {one: frozenset(table[one]) for one in _SETS} | {one: tuple(table[one]) for one in _TUPLES}
    arguments = tuple(Field(*one) for one in table["arguments"])
    needs = spirv.Module(words=(), entry_point=0, bindings=dict(table["bindings"]), arguments=arguments, **read)
    return Ready(needs, stored[begin:], tuple((number, value) for number, value in table["constants"]))


def _listed(controls: FloatControls) -> Mapping[str, Any]:
    return {one: sorted(value) if isinstance(value, frozenset) else value for one, value in vars(controls).items()}


@functools.cache
def rules() -> str:
    """What tells these modules from those that other versions of vkarray make."""
    files = [
        spirv.__file__,
        cpu_modules.__file__,
        dead_code.__file__,
        unrolled.__file__,
        known_arguments.__file__,
        features.__file__,
        fields.__file__,
        str(layout.__file__),
        __file__,
    ]
    return hashlib.sha256(b"".join(Path(one).read_bytes() for one in files)).hexdigest()
