"""Where the SPIR-V of a variant comes from, and what its keys hold: nothing stale, nothing foreign is ever run."""

from __future__ import annotations

import os
import shutil
import zipfile

import pytest

from vkarray import configuration, shaders
from vkarray.errors import ShaderError
from vkarray.ops import catalogue
from vkarray.shaders import Variant

SOURCE = "#version 460\nlayout(local_size_x = 1) in;\nvoid main() {}\n"


@pytest.mark.parametrize("family", catalogue.FAMILIES, ids=lambda family: f"{family.__module__}.{family.__name__}")
def test_every_variant_that_the_wheel_carries_compiles(family):
    failures = []
    for variant in family(catalogue.PROFILES[0]):
        try:
            shaders.spirv(variant)
        except ShaderError as error:
            failures.append(str(error))
    assert not failures, f"{len(failures)} shaders of this family do not compile:\n{failures[0]}"


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


@pytest.fixture
def archive(monkeypatch, tmp_path):
    """An archive where the package has its own, with one entry: its path."""
    path = tmp_path / "_data" / "spirv.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(shaders._digest(SOURCE), bytes(range(256)) * 4)
    monkeypatch.setattr(shaders, "_PACKAGE", tmp_path)
    shaders._archive.cache_clear()
    yield path
    shaders._archive.cache_clear()


def test_a_forked_child_reads_the_archive_on_its_own(archive):
    shaders._from_archive(shaders._digest(SOURCE))
    file = shaders._archive().fp
    position = os.lseek(file.fileno(), 0, os.SEEK_SET)
    child = os.fork()
    if not child:
        os.lseek(shaders._archive().fp.fileno(), 11, os.SEEK_SET)
        found = shaders._from_archive(shaders._digest(SOURCE))
        os._exit(found != bytes(range(256)) * 4)
    assert os.waitpid(child, 0)[1] == 0
    assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == position, "parent and child share the position in the file"


@pytest.mark.parametrize("damage", ["content", "everything"])
def test_a_damaged_archive_counts_as_none(archive, damage):
    data = archive.read_bytes()
    archive.write_bytes(b"no archive" if damage == "everything" else data[:100] + b"???" + data[103:])
    assert shaders._from_archive(shaders._digest(SOURCE)) is None


def test_level_5_shows_the_spirv(monkeypatch, capsys):
    source = "#version 460\nlayout(binding = 0) buffer X { float seen[]; };\nvoid main() { seen[0] = 1.0; }\n"
    with configuration.config(debug=5):
        code = shaders.spirv_of_source(source, "shown")
    said = capsys.readouterr().err
    assert source in said
    if shutil.which("spirv-dis"):
        assert "OpEntryPoint GLCompute" in said
    monkeypatch.setattr(shaders.shutil, "which", lambda name: None)
    assert shaders.disassembly(code, "shown").startswith(
        f"vkarray: shown: {len(code)} bytes of SPIR-V. spirv-dis, which"
    )
