"""Compiling shaders ahead: the archive of the wheel, and what lies beside the sources."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from . import archive, source
from .relative import without_names
from .source import Shader, Variant


def write_archive(made: Iterable[Shader], path: Path, workers: int = 2) -> int:
    """Compile what shaders are made of, and write it as the archive that travels inside the wheel; returns how many modules."""
    from concurrent.futures import ThreadPoolExecutor

    sources = {}
    parts = dict.fromkeys(part for shader in made for part in shader.parts)
    for variant in sorted(parts, key=lambda part: part.template):  # the archive wants those together that are alike
        text = source.resolve(variant)
        sources[source.digest(text)] = (text, variant)

    def build(item: tuple[str, tuple[str, Variant]]) -> tuple[str, bytes]:
        digest, (text, variant) = item
        return digest, without_names(source.spirv_of_source(text, variant.label))

    path.parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(workers) as pool:
        archive.write(path, pool.map(build, sources.items()))
    return len(sources)


def write_shipped(variants: Iterable[Variant]) -> int:
    """Compile `variants` and write them as `glsl/compiled/` with its manifest; returns how many there are."""
    files, compiled = {}, {}
    for variant in variants:
        text = source.resolve(variant)
        name = files[source.digest(text)] = re.sub(r"\W+", "_", variant.label).strip("_") + ".spv"
        compiled[name] = source.compile_glsl(text, variant.label)
    folder = source.source_folder() / "compiled"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.spv"):
        old.unlink()
    for name, code in compiled.items():
        (folder / name).write_bytes(code)
    sums = {name: hashlib.sha256(code).hexdigest() for name, code in compiled.items()}
    manifest = {"compiler": source.compiler_version(), "files": files, "sha256": sums}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    source.shipped.cache_clear()
    return len(files)
