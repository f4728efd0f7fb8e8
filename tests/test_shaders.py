"""Where the SPIR-V of a variant comes from, and what its keys hold: nothing stale, nothing foreign is ever run."""

from __future__ import annotations

import zipfile

import pytest

from vkarray import shaders
from vkarray.errors import ShaderError
from vkarray.shaders import Variant

SOURCE = "#version 460\nlayout(local_size_x = 1) in;\nvoid main() {}\n"


@pytest.fixture
def compiled(monkeypatch):
    """The sources that reach the compiler, which answers with a number; the cache is a dictionary."""
    sources, stored = [], {}

    def compile_glsl(source, label, details=""):
        sources.append(source)
        return f"compiled {len(sources)}".encode()

    monkeypatch.setattr(shaders, "compile_glsl", compile_glsl)
    monkeypatch.setattr(shaders.CACHE, "get", stored.get)
    monkeypatch.setattr(shaders.CACHE, "put", stored.__setitem__)
    monkeypatch.setattr(shaders, "_archive", lambda: None)
    return sources


def words(source=SOURCE):
    return shaders.spirv_of_source(source, "test")


def test_a_source_is_compiled_once(compiled):
    assert words() == words() == b"compiled 1"
    assert compiled == [SOURCE]


@pytest.mark.parametrize("place", [0, len(SOURCE) // 2, len(SOURCE) - 1])
def test_any_other_source_is_compiled_anew(compiled, place):
    other = SOURCE[:place] + "\n" + SOURCE[place:]
    assert words() != words(other)
    assert compiled == [SOURCE, other]


@pytest.mark.parametrize("changed", ["compiler", "target"])
def test_what_another_compiler_or_target_made_is_not_used(compiled, monkeypatch, changed):
    before = words()
    if changed == "compiler":
        monkeypatch.setattr(shaders, "compiler_version", lambda: "Glslang Version: 11:99.0.0")
    else:
        monkeypatch.setattr(shaders, "TARGET", "vulkan1.3")
    assert words() != before, f"a shader of another {changed} comes out of the cache"


def test_the_archive_comes_before_cache_and_compiler(compiled, monkeypatch, tmp_path):
    words()
    with zipfile.ZipFile(tmp_path / "spirv.zip", "w") as archive:
        archive.writestr(shaders._digest(SOURCE), b"from the archive")
    with zipfile.ZipFile(tmp_path / "spirv.zip") as archive:
        monkeypatch.setattr(shaders, "_archive", lambda: archive)
        assert words() == b"from the archive"
        assert words(SOURCE + "\n") == b"compiled 2", "a source that the archive lacks"


def test_every_define_and_every_included_file_is_in_the_source():
    plain = Variant("gather", (("ELEMENT_BYTES", "4"),), "plain")
    wide = Variant("gather", (("ELEMENT_BYTES", "8"),), "wide")
    first, second = shaders.resolve(plain), shaders.resolve(wide)
    assert first.replace("#define ELEMENT_BYTES 4", "#define ELEMENT_BYTES 8") == second != first
    assert "#include" not in first
    for guard in ("LIB_ELEMENT", "LIB_SELECTION"):
        assert first.count(f"#define {guard}\n") == 1, "an included file is missing, or there twice"


def test_the_label_makes_no_shader_of_its_own(compiled):
    defines = (("ELEMENT_BYTES", "4"),)
    assert shaders.spirv_of_source(shaders.resolve(Variant("gather", defines, "one")), "one") == (
        shaders.spirv_of_source(shaders.resolve(Variant("gather", defines, "other")), "other")
    )


def test_a_missing_file_is_named():
    with pytest.raises(ShaderError, match=r"The shader file glsl/no_such\.comp cannot be read .*; reinstall vkarray"):
        shaders.resolve(Variant("no_such", (), "missing"))
