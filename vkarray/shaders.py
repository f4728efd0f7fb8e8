"""From a variant (template + defines) to SPIR-V.

A shader is plain GLSL, specialised by `#define` and `#include` alone. `spirv` looks in this order: memory, the archive
that travels inside the wheel, `glsl/compiled/`, the disk cache, and last the compiler (`glslangValidator`), whose result
is cached. The key of the archive is a hash of the resolved source and the target; the disk cache adds the compiler's
version. `glsl/compiled/` holds what needs a newer compiler than Debian 12 has; its manifest maps the same hash to a file,
so a module whose source has changed since is never used.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from . import archive, configuration
from .cache import DiskCache
from .errors import ShaderError

TARGET = "vulkan1.2"
_NEWER = {"GL_NV_cooperative_matrix2": "vulkan1.3"}  # targets of what such extensions are in
COMPILER = "glslangValidator"
CACHE = DiskCache("spirv")
_PACKAGE = Path(__file__).parent
_INCLUDE = re.compile(r'[ \t]*#include[ \t]+(?:"([^"]+)"|(\w+))')
_INSTALL = "Install it (Debian and Ubuntu: apt install glslang-tools) and run again."


class Variant(NamedTuple):
    """One specialisation of a template: the file below `glsl/` without its suffix, defines, and a name for people."""

    template: str
    defines: tuple[tuple[str, str], ...]
    label: str


@functools.cache
def source_folder() -> Path:
    """The folder of the shaders: `glsl/` of the checkout, or its copy inside the installed package."""
    checkout = _PACKAGE.parent / "glsl"
    return checkout if checkout.is_dir() else _PACKAGE / "_data" / "glsl"


@functools.cache
def _file(path: str) -> str:
    try:
        return (source_folder() / path).read_text(encoding="utf-8")
    except OSError as error:
        raise ShaderError(f"The shader file glsl/{path} cannot be read ({error}); reinstall vkarray.") from error


def _included(path: str, values: dict[str, str]) -> str:
    """The text of a file with its includes inlined; `#include NAME` takes the path that the define NAME holds.

    Library files have include guards, so a repeated include is dropped where the first one is certain to have been
    read (it stood in no #if but guards), and where the file is being read already.
    """
    seen: set[str] = set()

    def expand(path: str, certain: bool, open_files: tuple[str, ...]) -> list[str]:
        if path in seen or path in open_files:
            return []
        if certain:
            seen.add(path)
        lines, depth = [], 0
        for line in _file(path).splitlines():
            directive = line.lstrip()
            if directive.startswith("#if"):
                depth += not directive.startswith("#ifndef LIB_")
            elif directive.startswith("#endif"):
                depth = max(depth - 1, 0)
            include = _INCLUDE.match(line)
            if include is None:
                lines.append(line)
            elif name := include[1] or values[include[2]].strip('"'):
                lines += expand(name, certain and depth == 0, (*open_files, path))
        return lines

    return "\n".join(expand(path, True, ()))


@functools.lru_cache(maxsize=4096)
def _body(template: str, includes: tuple[tuple[str, str], ...]) -> str:
    return _included(f"{template}.comp", dict(includes))


def resolve(variant: Variant) -> str:
    """The complete GLSL of a variant: version, defines, template with its includes."""
    includes = tuple((name, value) for name, value in variant.defines if value.startswith('"'))
    lines = [f"#define {name} {value}" for name, value in variant.defines if not value.startswith('"')]
    return "\n".join(["#version 460", *lines, _body(variant.template, includes)])


def _digest(text: str) -> str:
    return hashlib.sha256(f"{TARGET}\0{text}".encode()).hexdigest()


@functools.cache
def compiler() -> str | None:
    """The path of the shader compiler, or None where there is none."""
    return shutil.which(COMPILER)


@functools.cache
def compiler_version() -> str:
    """What the compiler says of its version; part of the disk cache's key."""
    path = compiler()
    if path is None:
        return "none"
    marker = Path(path).stat()
    # Asking takes a process start, so the answer is kept under the program's path, size and time.
    key = f"version of {path} {marker.st_size} {marker.st_mtime_ns}"
    known = CACHE.get(key)
    if known is None:
        known = subprocess.run([path, "--version"], capture_output=True, check=False).stdout
        CACHE.put(key, known)
    return known.decode(errors="replace").split("\n", 1)[0]


@functools.cache
def _archive() -> archive.Archive | None:
    try:
        return archive.Archive(archive_path())
    except (OSError, ValueError):  # in a checkout there is none
        return None


def archive_path() -> Path:
    """Where the wheel has its archive of compiled shaders."""
    return _PACKAGE / "_data" / "spirv.archive"


def _from_archive(digest: str) -> bytes | None:
    """The SPIR-V under that digest; None where it is missing or damaged."""
    found = _archive()
    return None if found is None else found.get(digest)


@functools.cache
def shipped() -> dict[str, Any]:
    """The manifest of `glsl/compiled/`: the compiler that made it, and the file of every source's digest."""
    path = source_folder() / "compiled" / "manifest.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"compiler": "none", "files": {}}


def _from_shipped(digest: str) -> bytes | None:
    """The SPIR-V beside the sources under that digest; None where there is none."""
    name = shipped()["files"].get(digest)
    return None if name is None else (source_folder() / "compiled" / name).read_bytes()


def disassembly(code: bytes, label: str) -> str:
    """The module as text by `spirv-dis`; without that, its size and how to see more."""
    path = shutil.which("spirv-dis")
    if path is None:
        return (
            f"vkarray: {label}: {len(code)} bytes of SPIR-V. spirv-dis, which shows them as text, is not installed "
            "(Debian and Ubuntu: apt install spirv-tools)."
        )
    done = subprocess.run([path, "-"], input=code, capture_output=True, check=False)
    return f"; vkarray: {label}\n{(done.stdout or done.stderr).decode(errors='replace')}"


def compile_glsl(source: str, label: str, details: str = "") -> bytes:
    """Compile a complete GLSL compute shader. Raises ShaderError with the compiler's own words."""
    path = compiler()
    if path is None:
        raise ShaderError(
            f"{label}: this shader is not among those that come with vkarray, and there is no {COMPILER} on this "
            f"machine to compile it. {_INSTALL}"
        )
    with tempfile.TemporaryDirectory(prefix="vkarray-") as folder:
        output_path = Path(folder, "shader.spv")
        Path(folder, "shader.comp").write_text(source, encoding="utf-8")
        target = next((_NEWER[one] for one in _NEWER if f"#extension {one} " in source), TARGET)
        done = subprocess.run(
            [path, "--target-env", target, "-V", "-o", "shader.spv", "shader.comp"],
            capture_output=True, text=True, check=False, cwd=folder,
        )  # fmt: skip
        if done.returncode != 0 or not output_path.exists():
            said = done.stdout + done.stderr or f"{COMPILER} ended with status {done.returncode} and said nothing."
            raise ShaderError(_compile_message(source, said, label, details))
        return output_path.read_bytes()


def _compile_message(source: str, output: str, label: str, details: str) -> str:
    """The compiler's errors, each with the line of source it speaks of."""
    lines = source.splitlines()
    shown = []
    for line in output.splitlines():
        found = re.match(r"ERROR: (?:.*?:(\d+): )?(.*)", line)
        if found and found[1]:
            number = int(found[1])
            code = lines[number - 1].strip() if 0 < number <= len(lines) else ""
            shown.append(f"  line {number}: {found[2]}\n    {code}")
        elif found and not shown:  # of the shader as a whole, such as a missing main
            shown.append(f"  {found[2]}")
    body = "\n".join(shown) or output.strip()
    return f"{label}: the shader does not compile.\n{body}" + (f"\n{details}" if details else "")


_lock = threading.Lock()
_compiled: dict[Variant, bytes] = {}


def _after_fork() -> None:
    """A child has locks that nobody will release."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def spirv(variant: Variant) -> bytes:
    """The SPIR-V of a variant, compiled at most once. Raises ShaderError naming the variant and its defines."""
    found = _compiled.get(variant)
    if found is not None:
        return found
    with _lock:
        found = _compiled.get(variant)
        if found is None:
            details = "Defines: " + ", ".join(f"{name}={value}" for name, value in variant.defines)
            found = _compiled[variant] = spirv_of_source(resolve(variant), variant.label, details)
    return found


def spirv_of_source(source: str, label: str, details: str = "") -> bytes:
    """The SPIR-V of a complete GLSL source, from the archive, the disk cache or the compiler."""
    debug = configuration.current().debug
    if debug >= 4:
        print(source, file=sys.stderr)
    found = _found_or_compiled(source, label, details, debug)
    if debug >= 5:
        print(disassembly(found, label), file=sys.stderr)
    return found


def _found_or_compiled(source: str, label: str, details: str, debug: int) -> bytes:
    digest = _digest(source)
    found = _from_archive(digest) or _from_shipped(digest)
    if found is not None:
        CACHE.hits += 1
        return found
    key = digest + compiler_version()
    found = CACHE.get(key)
    if found is None:
        start = time.perf_counter()
        found = compile_glsl(source, label, details)
        CACHE.compiles += 1
        if debug >= 1:
            print(f"vkarray: compiled {label} in {(time.perf_counter() - start) * 1e3:.0f} ms", file=sys.stderr)
        CACHE.put(key, found)
    return found


def write_archive(variants: Iterable[Variant], path: Path, workers: int = 2) -> int:
    """Compile `variants` and write them as the archive that travels inside the wheel; returns how many there are."""
    from concurrent.futures import ThreadPoolExecutor

    sources = {}
    for variant in variants:
        source = resolve(variant)
        sources[_digest(source)] = (source, variant)

    def build(item: tuple[str, tuple[str, Variant]]) -> tuple[str, bytes]:
        digest, (source, variant) = item
        return digest, spirv_of_source(source, variant.label)

    path.parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(workers) as pool:
        archive.write(path, pool.map(build, sources.items()))
    return len(sources)


def write_shipped(variants: Iterable[Variant]) -> int:
    """Compile `variants` and write them as `glsl/compiled/` with its manifest; returns how many there are."""
    files, compiled = {}, {}
    for variant in variants:
        source = resolve(variant)
        name = files[_digest(source)] = re.sub(r"\W+", "_", variant.label).strip("_") + ".spv"
        compiled[name] = compile_glsl(source, variant.label)
    folder = source_folder() / "compiled"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.spv"):
        old.unlink()
    for name, code in compiled.items():
        (folder / name).write_bytes(code)
    manifest = {"compiler": compiler_version(), "files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    shipped.cache_clear()
    return len(files)
