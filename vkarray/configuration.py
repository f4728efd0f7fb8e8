"""The one table of switches.

Each is read from its environment variable at first use; ``config(debug=2)`` overrides it for a block of code.
Overrides hold for the whole process, all threads included. Switches marked *when a device opens* take effect for
devices opened inside the block.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import ConfigurationError


def _boolean(value: Any) -> bool:
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
        "": False,
    }
    word = str(value).strip().lower()
    if word not in words:
        raise ValueError("expected 0 or 1")
    return words[word]


def _whole(value: Any, largest: float, expected: str) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number <= largest:
        raise ValueError(expected)
    return number


def _level(value: Any) -> int:
    return _whole(value, 5, "expected a level from 0 to 5")


def _names(value: Any) -> frozenset[str]:
    parts: Iterable[str] = value.split(",") if isinstance(value, str) else value
    return frozenset(part.strip() for part in parts if part.strip())


def _ordered_names(value: Any) -> tuple[str, ...]:
    parts: Iterable[str] = value.split(",") if isinstance(value, str) else value
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _floating_name(value: Any) -> str:
    name = str(getattr(value, "name", value))
    if name not in ("float32", "float64"):
        raise ValueError("expected float32 or float64")
    return name


def _time_of_checks(value: Any) -> str:
    if value not in ("now", "later"):
        raise ValueError("expected now or later")
    return str(value)


def _optional_count(value: Any) -> int | None:
    return None if value is None else _whole(value, math.inf, "expected a whole number, 0 or more")


def _optional_text(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)


def _directory(value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)) or value == "":
        raise ValueError("expected a directory")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:  # from a ~ without a home
        raise ValueError(f"expected a directory: {str(error).rstrip('.')}") from None


# By `sys.platform`: the variable that names the folder of caches, and that folder in the user's own.
_CACHES = {
    "linux": ("XDG_CACHE_HOME", ".cache"),
    "darwin": ("XDG_CACHE_HOME", "Library/Caches"),
    "win32": ("LOCALAPPDATA", "AppData/Local"),
}


def _default_cache() -> Path | None:
    variable, folder = _CACHES.get(sys.platform, _CACHES["linux"])
    base = os.environ.get(variable, "")
    try:  # a relative path says nothing: XDG Base Directory Specification
        return (Path(base) if os.path.isabs(base) else Path.home() / folder) / "vkarray"
    except RuntimeError:  # no HOME, and a user without a line in passwd, as in containers: nothing is kept
        return None


@dataclass(frozen=True)
class Switch:
    """One line of the table: attribute name, environment variable, parser, default and documentation."""

    name: str
    variable: str
    parse: Callable[[Any], Any]
    default: Callable[[], Any]
    values: str
    text: str


def _switch(name: str, parse: Callable[[Any], Any], default: Any, values: str, text: str) -> Switch:
    return Switch(
        name, "VKARRAY_" + name.upper(), parse, default if callable(default) else lambda: default, values, text
    )


SWITCHES: tuple[Switch, ...] = (
    _switch(
        "debug",
        _level,
        0,
        "0-5",
        "1 device and cache misses; 2 one line per dispatch with µs and GB/s; 3 variant and layout; 4 GLSL; 5 SPIR-V.",
    ),
    _switch(
        "device",
        _optional_text,
        None,
        "index, part of the name, or UUID, also as a URI (`vulkan://0`)",
        "The default device, as `vkarray devices` lists them.",
    ),
    _switch(
        "disable",
        _names,
        frozenset,
        "names, comma-separated",
        "Features to treat as absent, by their Vulkan names or those in `_vk/features.py` (when a device opens).",
    ),
    _switch(
        "profile",
        _ordered_names,
        tuple,
        "names, comma-separated",
        "Features and limits of real devices to impose on the one that runs: `adreno-630`, `mali-g610`, `v3d`, `apple-m1`, "
        "`intel-xe`, `rdna3`, or `phone`, and others in `_vk/profiles.py` (when a device opens).",
    ),
    _switch(
        "validation",
        _boolean,
        False,
        "0 or 1",
        "Run under VK_LAYER_KHRONOS_validation; every warning or error raises (when a device opens).",
    ),
    _switch(
        "guard",
        _boolean,
        False,
        "0 or 1",
        "Guard bytes round every allocation, checked on release and on synchronize (when a device opens).",
    ),
    _switch(
        "check_barriers",
        _boolean,
        False,
        "0 or 1",
        "Log the address ranges and barriers of each batch and verify them by brute force (when a device opens).",
    ),
    _switch(
        "default_float",
        _floating_name,
        "float32",
        "float32 or float64",
        "The type of Python floats, and of what integers lead to: NumPy's own types with float64 (see `set_default_dtype`).",
    ),
    _switch(
        "check",
        _time_of_checks,
        "now",
        "now or later",
        "When wrong values, such as an index out of range, are told: at the call where the host sees the device's memory (CPU "
        "drivers, integrated GPUs), or later: when a value is next read. Elsewhere it is always later.",
    ),
    _switch(
        "compile",
        _boolean,
        True,
        "0 or 1",
        "Run what `vkarray.compile` made as programs; 0 runs the functions as they are.",
    ),
    _switch(
        "contract",
        _boolean,
        False,
        "0 or 1",
        "Let compiled functions round a product and the sum that it goes into once (fused multiply-add): faster where arithmetic "
        "takes the time, but with other last bits than calls one by one, and than other devices.",
    ),
    _switch(
        "approximate",
        _boolean,
        False,
        "0 or 1",
        "Let compiled functions compute quotients, roots and elementary functions of float32 by fewer instructions, some units in "
        "the last place off: faster where arithmetic takes the time, but with other last bits than calls one by one, and than "
        "other devices.",
    ),
    _switch("compare", _boolean, False, "0 or 1", "Compare the result of every operation with NumPy's."),
    _switch(
        "cache",
        _directory,
        _default_cache,
        "directory",
        "Where compiled shaders and pipelines are kept; default `$XDG_CACHE_HOME/vkarray`, else `~/.cache/vkarray`, "
        "on macOS `~/Library/Caches/vkarray`, on Windows `%LOCALAPPDATA%\\vkarray`.",
    ),
    _switch(
        "cpu_threads",
        _optional_count,
        None,
        "number",
        "Worker threads of a CPU driver (sets LP_NUM_THREADS); 0 makes small operations much cheaper "
        "and large ones 2-3 times slower (before the first device opens).",
    ),
)

_BY_NAME = {switch.name: switch for switch in SWITCHES}


class Configuration:
    """The values in force, one attribute per switch. Never changed in place: an override makes a new one."""

    __slots__ = tuple(_BY_NAME)

    debug: int
    device: str | None
    disable: frozenset[str]
    profile: tuple[str, ...]
    validation: bool
    guard: bool
    check_barriers: bool
    check: str
    default_float: str
    compile: bool
    contract: bool
    approximate: bool
    compare: bool
    cache: Path | None
    cpu_threads: int | None

    def __init__(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


_lock = threading.RLock()  # a signal handler may change a switch, too
_environment: dict[str, Any] | None = None
_overrides: list[dict[str, Any]] = []
active: Configuration | None = None  # see `current`; what asks at every call looks here first
default_floats: dict[int, str] = {}  # by threads that have another one than the configuration; nearly always empty
shows_dispatches = False  # whether debug is 2, for who asks at each dispatch


def _parse(switch: Switch, value: Any, origin: str) -> Any:
    try:
        return switch.parse(value)
    except (TypeError, ValueError) as error:
        values = "" if str(error).startswith("expected ") else f" ({switch.values})"
        raise ConfigurationError(f"{origin} is {value!r}; {error}{values}. {switch.text}") from None


def _warn_of_unknown_variables() -> None:
    known = [switch.variable for switch in SWITCHES]
    unknown = sorted(name for name in os.environ if name.startswith("VKARRAY_") and name not in known)
    if unknown:
        warnings.warn(
            f"The environment variable {', '.join(unknown)} is no switch of vkarray; those are {', '.join(known)}.",
            stacklevel=2,
        )


def _rebuild() -> Configuration:
    global _environment, active, shows_dispatches
    if _environment is None:
        _warn_of_unknown_variables()
        _environment = {
            switch.name: _parse(switch, os.environ[switch.variable], f"The environment variable {switch.variable}")
            if os.environ.get(switch.variable)  # an empty one is as good as none
            else switch.default()
            for switch in SWITCHES
        }
    values = dict(_environment)
    for override in _overrides:
        values.update(override)
    active = Configuration(values)
    shows_dispatches = active.debug > 1
    return active


def current() -> Configuration:
    """The configuration in force; cheap enough for every call."""
    return active or reload()


def default_float() -> str:
    """The default floating type in this thread."""
    if default_floats and (name := default_floats.get(threading.get_ident())) is not None:
        return name
    found: str = (active or current()).default_float
    return found


@contextmanager
def with_default_float(name: str) -> Iterator[None]:
    """A block of code of this thread with another default floating type: others go on with theirs."""
    thread = threading.get_ident()
    before = default_floats.get(thread)
    try:
        default_floats[thread] = name
        yield
    finally:
        if before is None:
            default_floats.pop(thread, None)
        else:
            default_floats[thread] = before


def reload() -> Configuration:
    """Read the environment again (the first call of :func:`current` does it too)."""
    global _environment
    with _lock:
        _environment = None
        return _rebuild()


def set_value(name: str, value: Any) -> None:
    """Set a switch for the rest of the process, where no block overrides it. Raises `ConfigurationError` as `config` does."""
    parsed = _parse(_BY_NAME[name], value, f"config: {name}")
    current()
    with _lock:
        assert _environment is not None
        _environment[name] = parsed
        _rebuild()


@contextmanager
def config(**values: Any) -> Iterator[Configuration]:
    """Override switches for a block: ``with vx.config(debug=2): ...``.

    The names are those below (``VKARRAY_DEBUG`` is ``debug``). Raises ``ConfigurationError`` for an unknown
    name or a value out of range. Overrides are process-wide; blocks nest, and may end in any order.
    """
    unknown = sorted(set(values) - set(_BY_NAME))
    if unknown:
        raise ConfigurationError(
            f"config: unknown switch {', '.join(unknown)}; the switches are {', '.join(_BY_NAME)}."
        )
    override = {name: _parse(_BY_NAME[name], value, f"config: {name}") for name, value in values.items()}
    current()
    with _lock:
        _overrides.append(override)
        active = _rebuild()
    try:
        yield active
    finally:
        with _lock:
            _overrides[:] = [other for other in _overrides if other is not override]
            _rebuild()


config.__doc__ = "\n".join(
    [f"{config.__doc__}", *(f"    {switch.name} ({switch.values}): {switch.text}" for switch in SWITCHES)]
)


def table() -> str:
    """The switches as a Markdown table, for the documentation."""
    rows = [f"| `{s.variable}` | `{s.name}` | {s.values} | {s.text} |" for s in SWITCHES]
    return "\n".join(["| Variable | In `vx.config` | Values | Meaning |", "| --- | --- | --- | --- |", *rows])
