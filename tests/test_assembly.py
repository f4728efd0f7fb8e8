"""Elementwise kernels as they are linked: valid for all devices, of the parts that the archive has, kept on disk."""

from __future__ import annotations

import pytest
from validator import complaint, needs_validator

import vkarray as vx
from vkarray.command import catalogue
from vkarray.kernels.conversion import cast_operation
from vkarray.kernels.rows import ROWS
from vkarray.shaders import assembly
from vkarray.shaders import source as shaders
from vkarray.shaders.assembly import Assembly

OPERATIONS = [
    ROWS["add"].operation(vx.int8), ROWS["add"].operation(vx.float16), ROWS["equal"].operation(vx.complex128),
    ROWS["sin"].operation(vx.float64), cast_operation(vx.float32, vx.complex64), cast_operation(vx.bool, vx.int64),
]  # fmt: skip


@needs_validator
@pytest.mark.parametrize("profile", catalogue.PROFILES[:: len(catalogue.PROFILES) - 1], ids=["all features", "none"])
def test_linked_modules_are_valid(profile):
    for operation in OPERATIONS:
        if any(dtype is vx.int64 for dtype in operation.results) and "shaderInt64" not in profile.features:
            continue
        for variant in operation.variants(profile):
            assert not complaint(shaders.spirv(variant)), variant.label


def test_operations_of_one_layout_share_a_shell():
    profile = catalogue.PROFILES[0]
    made = [
        ROWS[name].operation(dtype).variant(profile, True)
        for name in ("add", "pow")
        for dtype in (vx.float32, vx.int32)
    ]
    assert all(isinstance(one, Assembly) for one in made)
    assert len({one.shell for one in made}) == 1
    assert len({one.function for one in made}) == len(made)


def test_what_is_linked_is_kept_on_disk(monkeypatch, tmp_path):
    variant = OPERATIONS[0].variant(catalogue.PROFILES[0], True)
    with vx.config(cache=tmp_path):
        found = variant.code()
        monkeypatch.setattr(assembly, "Linker", None)
        assert variant.code() == found
        monkeypatch.setattr(assembly, "_linker", lambda: "another one")
        with pytest.raises(TypeError):
            variant.code()
