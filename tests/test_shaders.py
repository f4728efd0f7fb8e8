"""Where the SPIR-V of a variant comes from, and what its keys hold: nothing stale, nothing foreign is ever run."""

from __future__ import annotations

import dataclasses
import random
import re
import shutil
import struct

import pytest

from vkarray import configuration
from vkarray._vk import spirv
from vkarray.command import catalogue
from vkarray.errors import ShaderError
from vkarray.shaders import archive as archive_of_shaders
from vkarray.shaders import compiler, files, relative, shipped
from vkarray.shaders import module as spirv_module
from vkarray.shaders import source as shaders
from vkarray.shaders.source import Variant

SOURCE = "#version 460\nlayout(local_size_x = 1) in;\nvoid main() {}\n"


COMPUTING = {"EXPRESSION", "MAP", "COMBINE", "FINISH"}  # what a template computes of elements


def covering(variants):
    """Variants that have between them all that templates compute of elements, and all ways to the elements of each type.

    What is computed stands in a function of its own, the same for all ways: both are not compiled with each other's every choice.
    """
    variants, seen = list(variants), set()
    random.Random(0).shuffle(variants)
    for variant in variants:
        names = {name for name, _ in variant.defines}
        inside = {name for name in names if name in {*COMPUTING, "LIBRARY", "T"} or name.endswith("_COMPUTE")}
        parts = (inside, names - {*COMPUTING, "LIBRARY"}) if names & COMPUTING else (names,)
        whole = variant.template, variant.text
        found = {(whole, *(define for define in variant.defines if define[0] in part)) for part in parts}
        if not found <= seen:
            yield variant
        seen |= found


@pytest.mark.parametrize("family", catalogue.FAMILIES, ids=lambda family: f"{family.__module__}.{family.__name__}")
def test_the_shaders_that_the_wheel_carries_compile(family):
    failures = []
    for variant in covering(part for shader in family(catalogue.PROFILES[0]) for part in shader.parts):
        try:
            shaders.spirv(variant)
        except ShaderError as error:
            failures.append(str(error))
    assert not failures, f"{len(failures)} shaders of this family do not compile:\n{failures[0]}"


def module(number):
    """A whole module that says, as the number of its generator, which one it is."""
    instructions = [
        [14, 0, 1],  # OpMemoryModel Logical GLSL450
        [15, 5, 1, int.from_bytes(b"main", "little"), 0],  # OpEntryPoint GLCompute
        [19, 2],  # OpTypeVoid
        [33, 3, 2],  # OpTypeFunction
        [54, 2, 1, 0, 3],  # OpFunction
        [248, 4],  # OpLabel
        [253],  # OpReturn
        [56],  # OpFunctionEnd
    ]
    words = [word for one in instructions for word in (len(one) << 16 | one[0], *one[1:])]
    return struct.pack(f"<{5 + len(words)}I", spirv_module.MAGIC, 0x10500, number, 5, 0, *words)


SOURCES = [path for path in sorted(files.source_folder().rglob("*")) if path.suffix in (".comp", ".glsl")]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_shader_asks_for_the_size_of_its_subgroup(path):
    """A compiler may answer with a constant that is not how many invocations of the subgroup run; `vx_lanes` counts them."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert "gl_SubgroupSize" not in code, f"{path.name} reads gl_SubgroupSize: include lib/lanes.glsl, call vx_lanes()"


@pytest.fixture
def compiled(monkeypatch):
    """The sources that reach the compiler, which answers with a numbered module; the cache is a dictionary."""
    sources, stored = [], {}

    def compile_glsl(source, label, details=""):
        sources.append(source)
        return module(len(sources))

    monkeypatch.setattr(compiler, "compile_glsl", compile_glsl)
    monkeypatch.setattr(shaders.CACHE, "get", stored.get)
    monkeypatch.setattr(shaders.CACHE, "put", stored.__setitem__)
    monkeypatch.setattr(shipped, "the_archive", lambda: None)
    return sources


def words(source=SOURCE):
    return shaders.spirv_of_source(source, "test")


def test_a_source_is_compiled_once(compiled):
    assert words() == words() == module(1)
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
        monkeypatch.setattr(compiler, "version", lambda: "Glslang Version: 11:99.0.0")
    else:
        monkeypatch.setattr(compiler, "TARGET", "vulkan1.3")
    assert words() != before, f"a shader of another {changed} comes out of the cache"


def test_the_archive_comes_before_cache_and_compiler(compiled, monkeypatch, tmp_path):
    words()
    path = tmp_path / "spirv.archive"
    written = {shaders.digest(f"{SOURCE}{number}"): module(number) for number in range(50)}
    archive_of_shaders.write(path, [*written.items(), (shaders.digest(SOURCE), module(99))])
    found = archive_of_shaders.Archive(path)
    monkeypatch.setattr(shipped, "the_archive", lambda: found)
    assert words() == module(99)
    assert words(SOURCE + "\n") == module(2), "a source that the archive lacks"
    assert {digest: found.get(digest) for digest in written} == written
    assert [found.get(digit * 64) for digit in "0f"] == [None, None]


def test_a_module_comes_out_of_the_cache_where_the_archive_has_been_read(compiled, monkeypatch, tmp_path):
    archive_of_shaders.write(tmp_path / "spirv.archive", [(shaders.digest(SOURCE), module(99))])
    found = archive_of_shaders.Archive(tmp_path / "spirv.archive")
    monkeypatch.setattr(shipped, "the_archive", lambda: found)
    assert words() == module(99)
    monkeypatch.setattr(found, "_block", None)
    assert words() == module(99), "the archive is read again"


EXAMPLES = {one.template: one for one in catalogue.standard_variants()}


@pytest.mark.parametrize("template", sorted(EXAMPLES))
def test_the_archive_gives_back_what_was_put_in(template, tmp_path, monkeypatch):
    """One variant of each template, and what is left of it without names: functions, and the members of structures."""
    monkeypatch.setattr(shipped, "the_archive", lambda: None)  # whose modules have no names any more
    monkeypatch.setattr(shaders, "_compiled", {})
    code = shaders.spirv(EXAMPLES[template])
    without = relative.without_names(code)
    archive_of_shaders.write(tmp_path / "one", [("ab" * 32, code), ("cd" * 32, without)])
    found = archive_of_shaders.Archive(tmp_path / "one")
    assert found.get("ab" * 32) == code
    assert found.get("cd" * 32) == without
    assert len(without) < len(code)
    read = [dataclasses.replace(spirv.read(one, "example", {}), words=()) for one in (without, code)]
    assert read[0] == read[1], "a name is missing that a kernel needs"


def test_every_define_and_every_included_file_is_in_the_source():
    plain = Variant("index/gather", (("ELEMENT_BYTES", "4"),), "plain")
    wide = Variant("index/gather", (("ELEMENT_BYTES", "8"),), "wide")
    first, second = shaders.resolve(plain), shaders.resolve(wide)
    assert first.replace("#define ELEMENT_BYTES 4", "#define ELEMENT_BYTES 8") == second != first
    assert "#include" not in first
    for guard in ("LIB_ELEMENT", "LIB_SELECTION"):
        assert first.count(f"#define {guard}\n") == 1, "an included file is missing, or there twice"


def test_the_label_makes_no_shader_of_its_own(compiled):
    defines = (("ELEMENT_BYTES", "4"),)
    assert shaders.spirv_of_source(shaders.resolve(Variant("index/gather", defines, "one")), "one") == (
        shaders.spirv_of_source(shaders.resolve(Variant("index/gather", defines, "other")), "other")
    )


def test_a_missing_file_is_named():
    with pytest.raises(ShaderError, match=r"The shader file glsl/no_such\.comp cannot be read .*; reinstall vkarray"):
        shaders.resolve(Variant("no_such", (), "missing"))


def test_level_5_shows_the_spirv(monkeypatch, capsys):
    source = "#version 460\nlayout(binding = 0) buffer X { float seen[]; };\nvoid main() { seen[0] = 1.0; }\n"
    with configuration.config(debug=5):
        code = shaders.spirv_of_source(source, "shown")
    said = capsys.readouterr().err
    assert source in said
    if shutil.which("spirv-dis"):
        assert "OpEntryPoint GLCompute" in said
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert compiler.disassembly(code, "shown").startswith(
        f"vkarray: shown: {len(code)} bytes of SPIR-V. spirv-dis, which"
    )
