"""Damaged, foreign and cut off shaders on disk: they count as absent where they can be made anew, and are named elsewhere."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import vkarray as vx
from vkarray import cache, configuration
from vkarray.command import info
from vkarray.errors import ShaderError
from vkarray.shaders import archive as archive_of_shaders
from vkarray.shaders import compiler, files, shipped
from vkarray.shaders import module as spirv_module
from vkarray.shaders import source as shaders
from vkarray.shaders.source import Variant

SOURCE = """#version 460
layout(local_size_x = 1) in;
layout(binding = 0) buffer X { uint x[]; };
uint twice(uint value) { return value * 2u; }
uint thrice(uint value) { return value * 3u; }
void main() { x[0] = twice(x[1]) + thrice(x[2]); }
"""
CODE = compiler.compile_glsl(SOURCE, "example")
DIGEST = shaders.digest(SOURCE)


@pytest.mark.parametrize("length", range(0, len(CODE), 4))
def test_a_module_that_is_cut_off_is_not_whole(length):
    assert spirv_module.is_whole(CODE)
    assert not spirv_module.is_whole(CODE[:length]), "a part of a module passes for a whole one"
    assert not spirv_module.is_whole(CODE[:length].ljust(len(CODE), b"\0")), "a hole in a module is not seen"
    with pytest.raises(ShaderError, match=r"^Kernel example: "):
        spirv_module.words_of(CODE[:length], "example")


# --- the archive of the wheel, and the modules beside the sources ----------------------------------------------------


@pytest.fixture
def forgotten(monkeypatch):
    """Nothing of what came with vkarray has been read."""
    monkeypatch.setattr(shipped, "_damaged", {})
    for function in (shipped.the_archive, shipped.shipped, files.source_folder, files.file_text):
        function.cache_clear()
    yield
    for function in (shipped.the_archive, shipped.shipped, files.source_folder, files.file_text):
        function.cache_clear()


@pytest.fixture
def package(forgotten, monkeypatch, tmp_path):
    """A folder as of an installed package, with an archive of one module, and one module beside its sources."""
    folder = tmp_path / "vkarray"
    compiled = folder / "_data" / "glsl" / "compiled"
    compiled.mkdir(parents=True)
    archive_of_shaders.write(folder / "_data" / "spirv.archive", [(DIGEST, CODE)])
    (compiled / "one.spv").write_bytes(CODE)
    manifest = {
        "compiler": "some compiler",
        "files": {shaders.digest("shipped"): "one.spv"},
        "sha256": {"one.spv": hashlib.sha256(CODE).hexdigest()},
    }
    (compiled / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setattr(files, "PACKAGE", folder)
    return folder / "_data"


def mutations(content: bytes, count: int):
    """The content with bits flipped, bytes removed, zeroed, added or moved: as disks and careless copies do."""
    generator = random.Random(14)
    for _ in range(count):
        data = bytearray(content)
        start = generator.randrange(len(data))
        end = min(len(data), start + generator.choice([1, 4, 16, 300]))
        match generator.randrange(5):
            case 0:
                data[start] ^= 1 << generator.randrange(8)
            case 1:
                del data[start:end]
            case 2:
                data[start:end] = bytes(end - start)
            case 3:
                data[start:start] = generator.randbytes(end - start)
            case 4:
                del data[start:]
        if data != content:
            yield bytes(data)


@pytest.mark.parametrize("file", ["spirv.archive", "glsl/compiled/one.spv", "glsl/compiled/manifest.json"])
def test_what_came_with_vkarray_is_used_whole_or_not_at_all(package, file):
    digest = DIGEST if file == "spirv.archive" else shaders.digest("shipped")
    assert shipped.that_came_with_vkarray(digest) == CODE
    path, damaged = package / file, 0
    for content in (b"", b"{}", b"null", b'{"files": 3}', b"[" * 9999, *mutations(path.read_bytes(), 500)):
        path.write_bytes(content)
        shipped.the_archive.cache_clear()
        shipped.shipped.cache_clear()
        shipped._damaged.clear()
        found = shipped.that_came_with_vkarray(digest)
        assert found in (None, CODE), "a damaged module is used"
        damaged += file.split("/")[-1] in shipped.damage()
        if file != "glsl/compiled/manifest.json":
            assert found is None, "damage is not seen"
            assert str(path) in shipped.damage(), "the damaged file is not named"
    assert damaged, "no damage is told"


def test_a_manifest_that_points_elsewhere_is_not_followed(package):
    (package / "elsewhere.spv").write_bytes(CODE)
    path = package / "glsl" / "compiled" / "manifest.json"
    path.write_text(path.read_text().replace("one.spv", "../../elsewhere.spv"))
    assert shipped.that_came_with_vkarray(shaders.digest("shipped")) is None
    assert "elsewhere.spv lies outside of the folder of the shaders" in shipped.damage()


def test_a_damaged_archive_is_named_where_there_is_no_compiler(package, monkeypatch, tmp_path):
    path = package / "spirv.archive"
    path.write_bytes(path.read_bytes()[:-1])
    with configuration.config(cache=tmp_path / "cache"):
        assert shaders.spirv_of_source(SOURCE, "example") == CODE, "with a compiler the shader is made anew"
        shaders.CACHE.clear()
        monkeypatch.setattr(compiler, "executable", lambda: None)
        compiler.version.cache_clear()
        assert "spirv.archive is damaged" in dict(info.facts())["compiled shaders"]
        with pytest.raises(
            ShaderError, match=r"^example: .*spirv\.archive is damaged: it should have .* Reinstall vkarray"
        ):
            shaders.spirv_of_source(SOURCE, "example")
    compiler.version.cache_clear()


def test_a_forked_child_reads_the_archive_as_well(package):
    assert shipped._from_archive(DIGEST) == CODE
    child = os.fork()
    if not child:
        os._exit(shipped._from_archive(DIGEST) != CODE)
    assert os.waitpid(child, 0)[1] == 0
    assert shipped._from_archive(DIGEST) == CODE


# --- the disk cache and the compiler ---------------------------------------------------------------------------------


def test_a_stored_module_that_is_cut_off_is_made_anew(tmp_path, monkeypatch):
    with configuration.config(cache=tmp_path):
        key = DIGEST + compiler.version()
        for length in range(0, len(CODE), 100):
            with monkeypatch.context() as patch:
                patch.setattr(shaders.CACHE, "is_whole", lambda content: True)
                shaders.CACHE.put(key, CODE[:length])
                assert shaders.CACHE.get(key) == CODE[:length]
            assert shaders.spirv_of_source(SOURCE, "example") == CODE, "a part of a module comes out of the cache"
            assert shaders.CACHE.get(key) == CODE, "the whole module is not stored in its place"


@pytest.fixture
def pretended(tmp_path, monkeypatch):
    """A function that puts a compiler in PATH, which is a program in Python; an empty cache."""

    def install(program: str, version: str = "print('Pretended 1.0')") -> None:
        path = tmp_path / "bin" / compiler.COMPILER
        path.parent.mkdir(exist_ok=True)
        lines = ["import os, sys", f"if '--version' in sys.argv: {version}", f"else: {program}"]
        path.write_text(f"#!{sys.executable} -S\n" + "\n".join(lines) + "\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(path.parent))
        for function in (compiler.executable, compiler.version):
            function.cache_clear()

    with configuration.config(cache=tmp_path / "cache"):
        yield install
    for function in (compiler.executable, compiler.version):
        function.cache_clear()


@pytest.mark.parametrize("length", [0, 4, 100, len(CODE) - 4, len(CODE) - 1])
def test_a_short_file_of_the_compiler_is_an_error_and_is_not_kept(pretended, length):
    pretended(f"open('shader.spv', 'wb').write({CODE[:length]!r})")
    expected = rf"^example: .*ended without an error, but the {length} bytes .* bytes free\. .* TMPDIR"
    for _ in range(2):
        with pytest.raises(ShaderError, match=expected):
            shaders.spirv_of_source(SOURCE, "example")
    assert shaders.CACHE.statistics()["bytes"] == 0, "the cache keeps a module that is cut off"
    pretended(f"open('shader.spv', 'wb').write({CODE!r})")
    assert shaders.spirv_of_source(SOURCE, "example") == CODE


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("pass", "ended with status 0 and said nothing"),
        ("os.kill(os.getpid(), 9)", "ended with status -9 and said nothing"),
        ("os.write(1, b'ERROR: \\xff\\xfe\\n'); sys.exit(1)", "does not compile.\n  \ufffd\ufffd"),
        ("os.write(2, b'\\x80'); sys.exit(1)", "does not compile.\n\ufffd"),
        ("os.mkdir('shader.spv')", "Is a directory"),
    ],
    ids=["nothing", "killed", "other text", "other bytes", "a folder"],
)
def test_whatever_the_compiler_does_is_a_clear_error(pretended, program, expected):
    pretended(program)
    with pytest.raises(ShaderError) as caught:
        shaders.spirv_of_source(SOURCE, "example")
    assert expected in str(caught.value)


@pytest.mark.parametrize("version", ["pass", "sys.exit(1)", "os.write(1, b'cut of')", "print('1.0'); sys.exit(3)"])
def test_a_compiler_that_does_not_say_its_version_is_told_by_its_file(pretended, version):
    pretended(f"open('shader.spv', 'wb').write({CODE!r})", version)
    assert compiler.COMPILER in (before := compiler.version())
    assert cache.statistics()["compiler"]["bytes"] == 0, "a version that was not said is kept"
    assert shaders.spirv_of_source(SOURCE, "example") == CODE
    pretended(f"open('shader.spv', 'wb').write({CODE!r})  # another program", version)
    assert compiler.version() != before


def test_a_compiler_that_cannot_be_started_is_named(pretended, tmp_path):
    pretended("pass")
    (tmp_path / "bin" / compiler.COMPILER).write_bytes(b"\x7fELF, but no program")
    with pytest.raises(ShaderError, match=rf"{compiler.COMPILER} cannot be started .* Install it"):
        shaders.spirv_of_source(SOURCE, "example")
    assert "cannot be started" in dict(info.facts())["shader compiler"]
    (tmp_path / "bin" / compiler.COMPILER).unlink()
    with pytest.raises(ShaderError, match=rf"{compiler.COMPILER} cannot be read .* Install it"):
        shaders.spirv_of_source(SOURCE, "example")


def test_a_compiler_in_a_relative_folder_is_found(pretended, tmp_path, monkeypatch):
    pretended(f"open('shader.spv', 'wb').write({CODE!r})")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "bin")
    assert shaders.spirv_of_source(SOURCE, "example") == CODE


def test_without_a_folder_for_temporary_files(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(ShaderError, match=r"^example: .* temporary files in .*missing fail .* TMPDIR"):
        compiler.compile_glsl(SOURCE, "example")


def test_a_compiler_that_may_not_write_all(pretended, tmp_path):
    """The real one, with a limit of bytes in a file, which it notices as little as a full disk."""
    real = compiler.executable()
    pretended("pass")
    script = f'#!/bin/sh\ntrap "" XFSZ\nulimit -f 1\nexec {real} "$@"\n'
    (tmp_path / "bin" / compiler.COMPILER).write_text(script)
    with pytest.raises(ShaderError, match=r"^example: .*ended without an error, but the (512|1024) bytes .* TMPDIR"):
        shaders.spirv_of_source(SOURCE, "example")
    assert shaders.CACHE.statistics()["bytes"] == 0


def test_on_a_full_disk(tmp_path, monkeypatch):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40k", "none", tmp_path], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted: {mounted.stderr.decode(errors='replace').strip()}")
    try:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        said = []
        for taken in range(0, 40960, 4096):
            (tmp_path / "other").write_bytes(bytes(taken))
            try:
                assert compiler.compile_glsl(SOURCE, "example") == CODE
            except ShaderError as error:
                said.append(str(error))
        assert said, "the disk was never full"
        assert not [message for message in said if "TMPDIR" not in message]
    finally:
        subprocess.run(["umount", tmp_path], check=True)


# --- sources ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def sources(package, tmp_path):
    """The shader folder of a package."""
    (tmp_path / "secret").write_text("secret\n")
    folder = package / "glsl"
    (folder / "lib").mkdir()
    (folder / "lib" / "good.glsl").write_text("good\n")
    (folder / "link.glsl").symlink_to(tmp_path / "secret")
    (folder / "inner.glsl").symlink_to(folder / "lib" / "good.glsl")
    (folder / "loop.glsl").symlink_to(folder / "loop.glsl")
    (folder / "latin.glsl").write_bytes("// Größe\n".encode("latin-1"))
    (folder / "folder.glsl").mkdir()
    return folder


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../../secret", "lies outside of the folder of the shaders"),
        ("../../../../../../../../../../etc/passwd", "lies outside of the folder of the shaders"),
        ("/etc/passwd", "lies outside of the folder of the shaders"),
        ("link.glsl", "lies outside of the folder of the shaders"),
        ("lib/../../../../secret", "lies outside of the folder of the shaders"),
        ("loop.glsl", "cannot be read"),
        ("latin.glsl", "cannot be read"),
        ("folder.glsl", "cannot be read"),
        ("missing.glsl", "cannot be read"),
        ("nul\0.glsl", "cannot be read"),
    ],
)
@pytest.mark.parametrize("how", ["named", "defined", "template"])
def test_sources_are_files_of_the_shader_folder(sources, path, expected, how):
    shaders._body.cache_clear()
    includes = () if how == "named" else (("LIBRARY", f'"{path}"'),)
    (sources / "example.comp").write_text(f'#include "{path}"\n' if how == "named" else "#include LIBRARY\n")
    template = path if how == "template" else "example"
    with pytest.raises(ShaderError, match=expected if how != "template" else "lies outside|cannot be read"):
        shaders.resolve(Variant(template, includes, "example"))


def test_links_inside_the_shader_folder_are_followed(sources):
    shaders._body.cache_clear()
    (sources / "example.comp").write_text('#include "inner.glsl"\n#include "lib/../lib/good.glsl"\n')
    assert shaders.resolve(Variant("example", (), "example")).count("good") == 2


def test_an_installation_of_symbolic_links_has_its_sources(tmp_path):
    """As package managers make it that keep one copy of each package."""
    package = Path(shaders.__file__).parents[1]
    stored, linked = tmp_path / "stored" / "vkarray", tmp_path / "linked" / "vkarray"
    shutil.copytree(package, stored, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(files.source_folder(), stored / "_data" / "glsl", dirs_exist_ok=True)
    shutil.copytree(stored, linked, copy_function=lambda source, target: Path(target).symlink_to(source))
    program = (
        "from vkarray.shaders import files\nfrom vkarray.shaders import source as shaders\n"
        "assert str(files.PACKAGE) == __import__('sys').argv[1], files.PACKAGE\n"
        "assert 'main' in shaders.resolve(shaders.Variant('index/gather', (('ELEMENT_BYTES', '4'),), 'example'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, linked], env={**os.environ, "PYTHONPATH": str(linked.parent)},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_library_that_is_not_defined_is_named(sources):
    (sources / "example.comp").write_text("#include NOWHERE\n")
    with pytest.raises(ShaderError, match=r"glsl/example\.comp has #include NOWHERE; define NOWHERE"):
        shaders.included(["example.comp"], {})


@pytest.mark.parametrize(
    "line",
    [
        '#include "../../etc/passwd"',
        '  # include "/etc/passwd"',
        "#include <x>",
        '#inc\\\nlude "x"',
        '#/* */include "x"',
    ],
)
def test_a_kernel_includes_no_files(line):
    source = f"#version 460\n#extension GL_GOOGLE_include_directive : enable\n{line}\nvoid main() {{}}"
    with pytest.raises(ShaderError, match=r"^user kernel: a shader cannot #include files"):
        vx.kernel(source)


def test_comments_may_speak_of_includes():
    vx.kernel('// #include "x"\n/*\n#include "y"\n*/\nvoid main() {}')


def test_a_source_that_is_no_text_is_named():
    with pytest.raises(ShaderError, match=r"^user kernel: the source is not text that UTF-8 can hold"):
        vx.kernel("void main() {} // \udcff")
