"""Compiling shaders ahead: the archive of the wheel, and what lies beside the sources."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from . import archive, compiler, shipped, source
from .files import source_folder
from .relative import without_names
from .source import Variant

_LINKED = ("elementwise", "fused", "functions/")  # templates of modules that kernels are linked of


def write_archive(variants: Iterable[Variant], path: Path, workers: int = 2) -> int:
    """Compile `variants` and write them as the archive that travels inside the wheel; returns how many there are."""
    from concurrent.futures import ThreadPoolExecutor

    sources = {}
    for variant in sorted(variants, key=lambda one: one.template):  # the archive wants those together that are alike
        text = source.resolve(variant)
        sources[source.digest(text)] = (text, variant)

    def build(item: tuple[str, tuple[str, Variant]]) -> tuple[str, bytes]:
        digest, (text, variant) = item
        return digest, without_names(source.spirv_of_source(text, variant.label))

    path.parent.mkdir(parents=True, exist_ok=True)
    parts = {digest for digest, (_, variant) in sources.items() if variant.template.startswith(_LINKED)}
    with ThreadPoolExecutor(workers) as pool:
        archive.write(path, pool.map(build, sources.items()), parts)
    return len(sources)


def write_shipped(variants: Iterable[Variant]) -> int:
    """Compile `variants` and write them as `glsl/compiled/` with its manifest; returns how many there are."""
    files, compiled = {}, {}
    for variant in variants:
        text = source.resolve(variant)
        name = files[source.digest(text)] = re.sub(r"\W+", "_", variant.label).strip("_") + ".spv"
        compiled[name] = compiler.compile_glsl(text, variant.label)
    folder = source_folder() / "compiled"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.spv"):
        old.unlink()
    for name, code in compiled.items():
        (folder / name).write_bytes(code)
    sums = {name: hashlib.sha256(code).hexdigest() for name, code in compiled.items()}
    manifest = {"compiler": compiler.version(), "files": files, "sha256": sums}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    shipped.shipped.cache_clear()
    return len(files)
