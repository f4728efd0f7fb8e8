"""Modules as devices take them: what is kept on disk is what would be made anew."""

import dataclasses
import struct
from types import SimpleNamespace

import pytest
from test_dead_code import LINES
from vulkan_program import COMBINE, compile_glsl

from vkarray import configuration
from vkarray._vk import ready, spirv
from vkarray._vk.physical_device import FloatControls
from vkarray.errors import ShaderError
from vkarray.shaders.module import is_whole

CODES = {
    "arguments": LINES.replace("STATEMENT", "if (FLAG) x += uint(float(NUMBER) * 1.5);").replace("BODY", ""),
    "push constants": COMBINE,
}
CONSTANTS = ((1, 5), (2, 1))
CONTROLS = FloatControls(frozenset((32,)), frozenset((32, 64)), frozenset(), "all", "32")


@pytest.fixture(autouse=True)
def own_folder(tmp_path):
    with configuration.config(cache=tmp_path):
        yield


@pytest.fixture
def counted():
    """How often entries were found since the test began."""
    begun = ready.CACHE.hits
    return lambda: ready.CACHE.hits - begun


def a_device(controls=CONTROLS, is_cpu=True, rolled=False):
    return SimpleNamespace(float_controls=controls, limits=SimpleNamespace(is_cpu=is_cpu, rolled_loops=rolled))


def made(name, *, constants=CONSTANTS, on=frozenset(("exactRoot",)), **device):
    physical = a_device(**device)
    return ready.of(physical, on, compile_glsl(CODES[name]), name, constants)


def shown(one):
    """What kernels look at."""
    unread = ("words", "entry_point", "accesses", "push_constants", "numbers")
    fields = [field.name for field in dataclasses.fields(spirv.Module) if field.name not in unread]
    return [getattr(one.needs, field) for field in fields], one.code, one.constants


@pytest.mark.parametrize("is_cpu", [False, True], ids=["of a GPU", "of a CPU driver"])
@pytest.mark.parametrize("name", CODES)
def test_what_is_kept_is_what_was_made(name, is_cpu, counted):
    first = made(name, is_cpu=is_cpu)
    assert counted() == 0
    assert shown(made(name, is_cpu=is_cpu)) == shown(first)
    assert counted() == 1
    assert is_whole(first.code)


@pytest.mark.parametrize(
    "other",
    [
        {"is_cpu": False},
        {"constants": ((1, 6), (2, 1))},
        {"controls": dataclasses.replace(CONTROLS, signed_zero_inf_nan_preserve=frozenset())},
        {"on": frozenset()},
    ],
    ids=lambda other: next(iter(other)),
)
def test_devices_and_constants_have_entries_of_their_own(other, counted):
    first = made("arguments")
    assert shown(made("arguments", **other)) != shown(first)
    assert counted() == 0


def test_drivers_that_want_loops_written_out_have_entries_of_their_own(counted):
    made("arguments")
    made("arguments", rolled=True)
    assert counted() == 0


def test_versions_of_vkarray_have_entries_of_their_own(counted, monkeypatch):
    made("arguments")
    monkeypatch.setattr(ready, "rules", lambda: "another version's")
    made("arguments")
    assert counted() == 0


@pytest.mark.parametrize("place", [0, 40, -1])
def test_a_damaged_entry_is_made_anew(place, tmp_path, counted):
    first = made("arguments")
    (entry,) = (tmp_path / "modules").iterdir()
    content = bytearray(entry.read_bytes())
    content[place] ^= 1
    entry.write_bytes(content)
    assert shown(made("arguments")) == shown(first)
    assert counted() == 0


@pytest.mark.parametrize("content", [b"", b"1", struct.pack("<I", 4) + b"{}  ", struct.pack("<I", 2) + b"{}1234"])
def test_what_has_no_module_is_no_entry(content):
    ready.CACHE.put("key", content)
    assert ready.CACHE.get("key") is None


def test_damaged_modules_are_refused_and_not_kept(tmp_path):
    with pytest.raises(ShaderError, match="Kernel bad: the SPIR-V module"):
        ready.of(a_device(), frozenset(), compile_glsl(COMBINE)[:400], "bad", ())
    assert not (tmp_path / "modules").exists()
