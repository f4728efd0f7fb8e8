"""The shader compiler, `glslangValidator`: GLSL to SPIR-V, and its errors with the lines that they speak of."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..cache import DiskCache
from ..errors import ShaderError, remedy
from .advice import advice
from .module import is_whole
from .shipped import damage

if TYPE_CHECKING:
    import subprocess

TARGET = "vulkan1.2"
_NEWER = {"GL_NV_cooperative_matrix2": "vulkan1.3"}  # targets of what such extensions are in
COMPILER = "glslangValidator"
_VERSIONS = DiskCache("compiler", lambda said: b"\n" in said)
_ANY_INCLUDE = re.compile(r"^\s*#\s*include\b", re.MULTILINE)
_CONSEQUENCES = ("compilation terminated", "'' : missing #endif")  # errors of the compiler that follow from one before
_LINE = re.compile(r"\s*#\s*line\s+(\d+)(?:\s+(\d+))?")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INSTALL = remedy("compiler")
_ROOM = "Make room there, or name another folder in the environment variable TMPDIR, and run again."


class Text(NamedTuple):
    """GLSL that does not lie in a file. Its `#line n k` says that what follows is line n of the source k, counted from 1.

    `sources` has of each what it is called and what its author wrote; `details` is what errors of the compiler end with.
    """

    code: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    details: str = ""


NO_TEXT = Text()


@functools.cache
def executable() -> str | None:
    """The absolute path of the shader compiler, or None where there is none."""
    import shutil  # here and below what only compiling needs, which most processes never do: a tenth of the import

    path = shutil.which(COMPILER)
    return None if path is None else os.path.abspath(path)  # it runs in another folder


@functools.cache
def version() -> str:
    """What the compiler says of its version; part of the disk cache's key. Raises ShaderError where it cannot be run."""
    path = executable()
    if path is None:
        return "none"
    try:
        marker = Path(path).stat()
    except OSError as error:
        raise ShaderError(f"The shader compiler {path} cannot be read ({error}). {_INSTALL}") from error
    # Asking takes a process start, so the answer is kept under what changes with the program, also if clocks jump.
    key = f"version of {path} {marker.st_size} {marker.st_mtime_ns} {marker.st_ctime_ns} {marker.st_ino}"
    known = _VERSIONS.get(key)
    if known is None:
        done = _run([path, "--version"])
        if done.returncode != 0 or b"\n" not in done.stdout:
            return key  # it says nothing, so only the program itself tells it from others
        known = done.stdout
        _VERSIONS.put(key, known)
    return known.decode(errors="replace").split("\n", 1)[0].rstrip()


def _run(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    import subprocess

    try:
        return subprocess.run(command, capture_output=True, check=False, **options)
    except OSError as error:
        raise ShaderError(f"The program {command[0]} cannot be started ({error}). {_INSTALL}") from error


def disassembly(code: bytes, label: str) -> str:
    """The module as text by `spirv-dis`; without that, its size and how to see more."""
    import shutil

    path = shutil.which("spirv-dis")
    if path is None:
        return (
            f"vkarray: {label}: {len(code)} bytes of SPIR-V. spirv-dis, which shows them as text, is not installed "
            f"{remedy('disassembler')}."
        )
    done = _run([path, "-"], input=code)
    return f"; vkarray: {label}\n{(done.stdout or done.stderr).decode(errors='replace')}"


def compile_glsl(source: str, label: str, text: Text = NO_TEXT) -> bytes:
    """Compile a complete GLSL compute shader. Raises ShaderError with the compiler's own words."""
    if _ANY_INCLUDE.search(COMMENT.sub(" ", source.replace("\\\n", ""))):  # of files that the caches' keys do not know
        raise ShaderError(
            f"{label}: a shader cannot #include files; put their text into the source. The library's own functions come with "
            "a line such as #include <vkarray/float32>."
        )
    path = executable()
    if path is None:
        damaged = damage()
        advice = f"{damaged} Reinstall vkarray, or install the compiler." if damaged else _INSTALL
        raise ShaderError(
            f"{label}: this shader is not among those that come with vkarray, and there is no {COMPILER} on this "
            f"machine to compile it. {advice}"
        )
    import tempfile

    try:
        with tempfile.TemporaryDirectory(prefix="vkarray-", ignore_cleanup_errors=True) as folder:
            return _compile_in(Path(folder), path, source, label, text)
    except OSError as error:
        raise ShaderError(
            f"{label}: the shader cannot be compiled: temporary files in {tempfile.tempdir} fail ({error}). {_ROOM}"
        ) from error


def _compile_in(folder: Path, path: str, source: str, label: str, text: Text) -> bytes:
    output_path = folder / "shader.spv"
    (folder / "shader.comp").write_bytes(source.encode())
    target = next((_NEWER[one] for one in _NEWER if f"#extension {one} " in source), TARGET)
    done = _run([path, "--target-env", target, "-V", "-o", "shader.spv", "shader.comp"], cwd=folder)
    if done.returncode != 0 or not output_path.exists():
        said = (done.stdout + done.stderr).decode(errors="replace")
        said = said or f"{COMPILER} ended with status {done.returncode} and said nothing."
        raise ShaderError(_compile_message(source, said, label, text))
    code = output_path.read_bytes()
    if not is_whole(code):  # the compiler does not notice a full disk
        import shutil

        raise ShaderError(
            f"{label}: {path} ended without an error, but the {len(code)} bytes that it wrote are no whole SPIR-V module. "
            f"The folder for temporary files, {folder.parent}, has {shutil.disk_usage(folder).free} bytes free. {_ROOM}"
        )
    return code


def _numbered(source: str) -> dict[int, str]:
    """The lines of a source by the numbers that the compiler gives them: `#line n` says that of the next one."""
    numbered, number, own = {}, 1, True
    for line in source.splitlines():
        directive = _LINE.match(line)
        if directive:
            number, own = int(directive[1]), directive[2] in (None, "0")
        else:
            if own:
                numbered[number] = line
            number += 1
    return numbered


def _compile_message(source: str, output: str, label: str, text: Text) -> str:
    """The compiler's errors, each with the line of source it speaks of."""
    lines, shown = _numbered(source), []
    for line in output.splitlines():
        found = re.match(r"ERROR: (?:(.*?):(\d+): )?(.*)", line)
        if not found or any(told in line for told in _CONSEQUENCES):
            continue
        if found[2]:
            number, place = int(found[2]), int(found[1]) if found[1].isdigit() else 0
            where, said = f"line {number}", lines.get(number, "")
            if 0 < place <= len(text.sources):
                title, written = text.sources[place - 1]
                where += f" of {title}" if title else ""
                said = dict(enumerate(written.split("\n"), 1)).get(number, "")
            elif text.sources:
                where, said = "after the last line (are all brackets closed?)", ""
            shown.append(f"  {where}: {found[3].strip()}\n    {said.strip()}".rstrip())
            if told := advice(found[3], said):
                shown.append(f"    {told}")
        elif not shown:  # of the shader as a whole, such as a missing main
            shown.append(f"  {found[3]}")
    body = "\n".join(shown) or output.strip()
    return f"{label}: the shader does not compile.\n{body}" + (f"\n{text.details}" if text.details else "")
