"""From a variant (template + defines) to SPIR-V.

A shader is plain GLSL, specialised by `#define` and `#include` alone. `spirv` looks in this order: memory, the archive that
travels inside the wheel and `glsl/compiled/` (`shipped.py`), where there is no compiler the files of programs that are loaded,
the disk cache, and last the compiler (`compiler.py`), whose result is cached. The key of the archive and of programs is a hash
of the resolved source and the target; the disk cache adds the compiler's version. Each of them counts as absent where it is
damaged: a module is used, and stored, only when it reads to its end.
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
from typing import Any, NamedTuple, Protocol

from .. import configuration
from ..cache import DiskCache
from ..errors import ShaderError
from . import compiler, shipped
from .compiler import NO_TEXT, Text
from .files import file_text
from .module import is_whole

CACHE = DiskCache("spirv", is_whole)
_INCLUDE = re.compile(r'[ \t]*#include[ \t]+(?:"([^"]+)"|(\w+))')


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
    pieces, depth, begin, lines = [], 0, 0, text.splitlines()
    for number, line in enumerate(lines):
        if "#" not in line:
            continue
        directive = line.lstrip()
        if directive.startswith("#if"):
            depth += not directive.startswith("#ifndef LIB_")
        elif directive.startswith("#endif"):
            depth = max(depth - 1, 0)
        include = _INCLUDE.match(line)
        if include is not None and include[2] != "TEXT":
            before = "\n".join(lines[begin:number]) if number > begin else None
            pieces.append(_Piece(before, (line.strip(), include[1], include[2]), depth > 0))
            begin = number + 1
    return (*pieces, _Piece("\n".join(lines[begin:]) if len(lines) > begin else None, None, False))


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
    return hashlib.sha256(f"{compiler.TARGET}\0{text}".encode()).hexdigest()


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
        print(compiler.disassembly(found, label), file=sys.stderr)
    return found


def _kept(named: str) -> str:
    """The key in the disk cache of what the archive has under a digest, or nothing."""
    known = shipped.the_archive()
    return f"{named} of {known.checksum}" if known is not None and named in known else ""


def identity(variant: Variant) -> str:
    """What tells the SPIR-V of a variant from all other: its source, and the archive, the file of a program or the compiler."""
    named = digest(resolve(variant))
    brought = _brought(named)
    if kept := _kept(named):
        return kept
    return named + (compiler.version() if brought is None else f" as {hashlib.sha256(brought).hexdigest()}")


# What files of programs have brought, by digest.
_of_programs: dict[str, Any] = {}


def bring(modules: Mapping[str, Any]) -> None:
    """Take modules from the file of a program, by digest: for shaders that did not come with vkarray, where there is no compiler.

    They are not stored in the cache on disk, nor is what is linked of them found there under the name of anything else.
    """
    _of_programs.update(modules)


def _brought(named: str) -> bytes | None:
    found = _of_programs.get(named)
    return bytes(found) if found is not None and compiler.executable() is None and is_whole(bytes(found)) else None


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
    found = shipped.that_came_with_vkarray(named)
    if found is not None:
        CACHE.hits += 1
        if kept:
            CACHE.put(kept, found)
        return found
    found = _brought(named)
    if found is not None:
        return found
    key = named + compiler.version()
    found = CACHE.get(key)
    if found is None:
        start = time.perf_counter()
        found = compiler.compile_glsl(source, label, text)
        CACHE.compiles += 1
        if debug >= 1:
            print(f"vkarray: compiled {label} in {(time.perf_counter() - start) * 1e3:.0f} ms", file=sys.stderr)
        CACHE.put(key, found)
    return found
