"""From a variant (template + defines) to SPIR-V.

A shader is plain GLSL, specialised by `#define` and `#include` alone. `spirv` looks in this order: memory, the archive
that travels inside the wheel, `glsl/compiled/`, where there is no compiler the files of programs that are loaded, the disk
cache, and last the compiler (`glslangValidator`), whose result is cached. The key of the archive and of programs is a hash of
the resolved source and the target; the disk cache adds the compiler's version. `glsl/compiled/` holds what needs a newer
compiler than Debian 12 has; its manifest maps the same hash to a file, so a module whose source has changed since is never
used. Each of them counts as absent where it is damaged: a module is used, and stored, only when it reads to its end.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .. import configuration
from ..cache import DiskCache
from ..errors import ShaderError, remedy
from . import archive
from .advice import advice
from .module import is_whole

if TYPE_CHECKING:
    import subprocess

TARGET = "vulkan1.2"
_NEWER = {"GL_NV_cooperative_matrix2": "vulkan1.3"}  # targets of what such extensions are in
COMPILER = "glslangValidator"
CACHE = DiskCache("spirv", is_whole)
_PACKAGE = Path(__file__).parents[1]
_VERSIONS = DiskCache("compiler", lambda said: b"\n" in said)
_INCLUDE = re.compile(r'[ \t]*#include[ \t]+(?:"([^"]+)"|(\w+))')
_ANY_INCLUDE = re.compile(r"^\s*#\s*include\b", re.MULTILINE)
_CONSEQUENCES = ("compilation terminated", "'' : missing #endif")  # errors of the compiler that follow from one before
_LINE = re.compile(r"\s*#\s*line\s+(\d+)(?:\s+(\d+))?")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INSTALL = remedy("compiler")
_ROOM = "Make room there, or name another folder in the environment variable TMPDIR, and run again."
_damaged: dict[str, None] = {}  # why some of what came with vkarray cannot be used, in order


class Text(NamedTuple):
    """GLSL that does not lie in a file. Its `#line n k` says that what follows is line n of the source k, counted from 1.

    `sources` has of each what it is called and what its author wrote; `details` is what errors of the compiler end with.
    """

    code: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    details: str = ""


NO_TEXT = Text()


class Variant(NamedTuple):
    """One specialisation of a template: the file below `glsl/` without its suffix, defines, and a name for people.

    `text` takes the place of the template's `#include TEXT`.
    """

    template: str
    defines: tuple[tuple[str, str], ...]
    label: str
    text: Text = NO_TEXT

    @property
    def parts(self) -> tuple[Variant, ...]:
        """Itself."""
        return (self,)

    def code(self) -> bytes:
        """Its SPIR-V. Raises ShaderError naming the variant and its defines."""
        text = self.text
        if not text.code:
            text = Text(details=f"Defines: {', '.join(f'{name}={value}' for name, value in self.defines)}")
        return spirv_of_source(resolve(self), self.label, text)


class Shader(Protocol):
    """What SPIR-V is made of: a variant, or an assembly of several (vkarray/shaders/assembly.py)."""

    @property
    def label(self) -> str:
        """A name for people."""

    @property
    def template(self) -> str:
        """The file below `glsl/` where it begins, without its suffix."""

    @property
    def defines(self) -> tuple[tuple[str, str], ...]:
        """What tells it from others of its kind."""

    @property
    def parts(self) -> tuple[Variant, ...]:
        """The variants that are compiled."""

    def code(self) -> bytes:
        """Its SPIR-V, made anew."""

    def __hash__(self) -> int: ...


@functools.cache
def source_folder() -> Path:
    """The folder of the shaders: `glsl/` of the checkout, or its copy inside the installed package."""
    checkout = _PACKAGE.parent / "glsl"
    return checkout if checkout.is_dir() else _PACKAGE / "_data" / "glsl"


@functools.cache
def _real_folders(folder: Path) -> tuple[str, str]:
    """Where the files of the shader folder lie: there, or where the package lies that is installed as symbolic links."""
    return os.path.realpath(folder), os.path.join(
        os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "_data", "glsl"
    )


def _inside(path: str) -> Path:
    """The file of that path below the shader folder. Raises ShaderError for one that lies elsewhere."""
    folder = source_folder()
    found = Path(os.path.realpath(folder / path))
    if not any(found.is_relative_to(root) for root in _real_folders(folder)):
        raise ShaderError(
            f"The shader file {path} lies outside of the folder of the shaders, {folder}; include files below it alone, by "
            "paths that are relative to it."
        )
    return found


@functools.cache
def file_text(path: str) -> str:
    """The text of a file below the shader folder. Raises ShaderError where it cannot be read."""
    try:
        return _inside(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # the second one from text that is not UTF-8
        raise ShaderError(f"The shader file glsl/{path} cannot be read ({error}); reinstall vkarray.") from error


def included(paths: Iterable[str], values: dict[str, str]) -> str:
    """The text of files with their includes inlined; `#include NAME` takes the path that the define NAME holds.

    Library files have include guards, so a repeated include is dropped where the first one is certain to have been
    read (it stood in no #if but guards), and where the file is being read already.
    """
    seen: set[str] = set()

    def expand(path: str, certain: bool, open_files: tuple[str, ...]) -> Iterator[str]:
        if path in seen or path in open_files:
            return
        if certain:
            seen.add(path)
        for text, include, conditional in _pieces(file_text(path)):
            if text is not None:
                yield text
            if include is None:
                continue
            line, literal, define = include
            name = literal or values.get(define)
            if name is None:
                raise ShaderError(f'The shader file glsl/{path} has {line}; define {define} as a path in "".')
            if name := name.strip('"'):
                yield from expand(name, certain and not conditional, (*open_files, path))

    return "\n".join(text for path in paths for text in expand(path, True, ()))


class _Piece(NamedTuple):
    """Lines of a file up to one that includes another file, if any."""

    text: str | None  # None: there are none
    include: tuple[str, str | None, str] | None  # the line, the path that it names, and the define that it names
    conditional: bool  # it stands in an #if other than a guard


@functools.lru_cache(maxsize=1024)
def _pieces(text: str) -> tuple[_Piece, ...]:
    """A file's text, cut where it includes others; `#include TEXT` is for `resolve`."""
    pieces, lines, depth = [], list[str](), 0
    for line in text.splitlines():
        directive = line.lstrip()
        if directive.startswith("#if"):
            depth += not directive.startswith("#ifndef LIB_")
        elif directive.startswith("#endif"):
            depth = max(depth - 1, 0)
        include = _INCLUDE.match(line)
        if include is None or include[2] == "TEXT":
            lines.append(line)
            continue
        pieces.append(_Piece("\n".join(lines) if lines else None, (line.strip(), include[1], include[2]), depth > 0))
        lines = []
    return (*pieces, _Piece("\n".join(lines) if lines else None, None, False))


@functools.lru_cache(maxsize=4096)
def _body(template: str, includes: tuple[tuple[str, str], ...]) -> str:
    return included([f"{template}.comp"], dict(includes))


def resolve(variant: Variant) -> str:
    """The complete GLSL of a variant: version, defines, template with its includes."""
    includes = tuple((name, value) for name, value in variant.defines if value.startswith('"'))
    lines = [f"#define {name} {value}" for name, value in variant.defines if not value.startswith('"')]
    body = _body(variant.template, includes).replace("#include TEXT", variant.text.code)
    return "\n".join(["#version 460", *lines, body])


def digest(text: str) -> str:
    """What the archive and the manifest know the source of a shader by."""
    return hashlib.sha256(f"{TARGET}\0{text}".encode()).hexdigest()


@functools.cache
def compiler() -> str | None:
    """The absolute path of the shader compiler, or None where there is none."""
    import shutil  # here and below what only compiling needs, which most processes never do: a tenth of the import

    path = shutil.which(COMPILER)
    return None if path is None else os.path.abspath(path)  # it runs in another folder


@functools.cache
def compiler_version() -> str:
    """What the compiler says of its version; part of the disk cache's key. Raises ShaderError where it cannot be run."""
    path = compiler()
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


@functools.cache
def _archive() -> archive.Archive | None:
    path = archive_path()
    try:
        return archive.Archive(path)
    except FileNotFoundError:  # in a checkout there is none
        return None
    except (OSError, ValueError) as error:
        _damaged[str(error)] = None
        return None


def archive_path() -> Path:
    """Where the wheel has its archive of compiled shaders."""
    return _PACKAGE / "_data" / "spirv.archive"


def _from_archive(digest: str) -> bytes | None:
    found = _archive()
    return None if found is None else found.get(digest)


@functools.cache
def shipped() -> dict[str, Any]:
    """The manifest of `glsl/compiled/`: the compiler that made it, the file of every source's digest, each file's SHA-256."""
    import json

    path = source_folder() / "compiled" / "manifest.json"
    empty: dict[str, Any] = {"compiler": "none", "files": {}, "sha256": {}}
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        texts = [manifest["compiler"], *manifest["files"].values(), *manifest["sha256"].values()]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("something else than text")
    except FileNotFoundError:
        return empty
    except (OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        _damaged[f"{path} is damaged ({error!r})."] = None
        return empty
    return manifest


def _from_shipped(digest: str) -> bytes | None:
    manifest = shipped()
    name = manifest["files"].get(digest)
    if name is None:
        return None
    path = _inside(f"compiled/{name}")
    code = path.read_bytes()
    if hashlib.sha256(code).hexdigest() != manifest["sha256"].get(name):
        raise ValueError(f"{path} is damaged: it does not match its SHA-256 in manifest.json.")
    return code


def _that_came_with_vkarray(digest: str) -> bytes | None:
    """The SPIR-V under that digest from the archive or from beside the sources; None where it is missing or damaged."""
    for find in (_from_archive, _from_shipped):
        try:
            found = find(digest)
            if found is not None and not is_whole(found):
                raise ValueError(f"The module {digest} that came with vkarray does not read to its end.")
        except (OSError, ValueError, ShaderError) as error:
            _damaged[str(error)] = None
        else:
            if found is not None:
                return found
    return None


def damage() -> str:
    """What is damaged of the compiled shaders that came with vkarray: of their lists, and of those asked for so far."""
    _archive()
    shipped()
    return " ".join(_damaged)


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
    path = compiler()
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


# So long a thread waits for another one that makes the same shader. Not for ever: that one may have ended in Ctrl-C, or a
# signal handler in it may wait for a lock that this one holds.
PATIENCE_SECONDS = 10.0


class _Making(threading.Event):
    """The making of a shader's SPIR-V by a thread; set when it is over."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.get_ident()


_compiled: dict[Shader, bytes] = {}
_making: dict[Shader, _Making] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_making.clear)  # a child has no thread but one


def spirv(variant: Shader) -> bytes:
    """The SPIR-V of a shader, which threads that need it at once make once.

    A signal handler or finalizer that needs the shader which its own thread is making makes it too. Raises ShaderError.
    """
    if _collected and (collecting := _collected.get(threading.get_ident())) is not None:
        collecting.update(dict.fromkeys(variant.parts))
    found = _compiled.get(variant)
    if found is not None:
        return found
    mine = _Making()
    first = _making.setdefault(variant, mine)
    if first.thread != mine.thread:
        first.wait(PATIENCE_SECONDS)
    try:
        found = _compiled.get(variant)
        if found is None:
            found = _compiled[variant] = variant.code()
    finally:
        _making.pop(variant, None)
        mine.set()
    return found


def spirv_of_source(source: str, label: str, text: Text = NO_TEXT) -> bytes:
    """The SPIR-V of a complete GLSL source, from the archive, the disk cache or the compiler."""
    try:
        source.encode()
    except UnicodeEncodeError as error:
        raise ShaderError(f"{label}: the source is not text that UTF-8 can hold ({error}); read it anew.") from error
    debug = configuration.current().debug
    if debug >= 4:
        print(source, file=sys.stderr)
    found = _found_or_compiled(source, label, text, debug)
    if debug >= 5:
        print(disassembly(found, label), file=sys.stderr)
    return found


def _kept(named: str) -> str:
    """The key in the disk cache of what the archive has under a digest, or nothing."""
    known = _archive()
    return f"{named} of {known.checksum}" if known is not None and named in known else ""


def identity(variant: Variant) -> str:
    """What tells the SPIR-V of a variant from all other: its source, and the archive, the file of a program or the compiler."""
    named = digest(resolve(variant))
    brought = _brought(named)
    if kept := _kept(named):
        return kept
    return named + (compiler_version() if brought is None else f" as {hashlib.sha256(brought).hexdigest()}")


# What files of programs have brought, by digest.
_of_programs: dict[str, Any] = {}


def bring(modules: Mapping[str, Any]) -> None:
    """Take modules from the file of a program, by digest: for shaders that did not come with vkarray, where there is no compiler.

    They are not stored in the cache on disk, nor is what is linked of them found there under the name of anything else.
    """
    _of_programs.update(modules)


def _brought(named: str) -> bytes | None:
    found = _of_programs.get(named)
    return bytes(found) if found is not None and compiler() is None and is_whole(bytes(found)) else None


_collected: dict[int, dict[Variant, None]] = {}  # by thread


@contextmanager
def collected() -> Iterator[dict[Variant, None]]:
    """What a block of code asks for: all variants of shaders, whether they were made before or not."""
    thread = threading.get_ident()
    found: dict[Variant, None] = {}
    _collected[thread] = found
    try:
        yield found
    finally:
        del _collected[thread]


def _found_or_compiled(source: str, label: str, text: Text, debug: int) -> bytes:
    named = digest(source)
    kept = _kept(named)
    if kept and (found := CACHE.get(kept)) is not None:  # a file is read faster than a block of the archive
        return found
    found = _that_came_with_vkarray(named)
    if found is not None:
        CACHE.hits += 1
        if kept:
            CACHE.put(kept, found)
        return found
    found = _brought(named)
    if found is not None:
        return found
    key = named + compiler_version()
    found = CACHE.get(key)
    if found is None:
        start = time.perf_counter()
        found = compile_glsl(source, label, text)
        CACHE.compiles += 1
        if debug >= 1:
            print(f"vkarray: compiled {label} in {(time.perf_counter() - start) * 1e3:.0f} ms", file=sys.stderr)
        CACHE.put(key, found)
    return found
