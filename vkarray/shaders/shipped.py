"""The SPIR-V that comes with vkarray: the archive in the wheel, and `glsl/compiled/`.

What needs a newer compiler than Debian 12 has lies in `glsl/compiled/`; its manifest maps the digest of a source to a file, so a
module whose source has changed since is never used. What is damaged counts as absent.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

from ..errors import ShaderError
from . import archive, files
from .module import is_whole

_damaged: dict[str, None] = {}  # why some of it cannot be used, in order


@functools.cache
def the_archive() -> archive.Archive | None:
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
    return files.PACKAGE / "_data" / "spirv.archive"


def _from_archive(digest: str) -> bytes | None:
    found = the_archive()
    return None if found is None else found.get(digest)


@functools.cache
def shipped() -> dict[str, Any]:
    """The manifest of `glsl/compiled/`: the compiler that made it, the file of every source's digest, each file's SHA-256."""
    import json

    path = files.source_folder() / "compiled" / "manifest.json"
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
    path = files.inside(f"compiled/{name}")
    code = path.read_bytes()
    if hashlib.sha256(code).hexdigest() != manifest["sha256"].get(name):
        raise ValueError(f"{path} is damaged: it does not match its SHA-256 in manifest.json.")
    return code


def that_came_with_vkarray(digest: str) -> bytes | None:
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
    the_archive()
    shipped()
    return " ".join(_damaged)
