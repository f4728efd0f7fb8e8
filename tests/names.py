"""The names of NumPy's functions beside those of CuPy, JAX and vkarray: `python tests/names.py` writes docs/names.md.

tests/names has the names that CuPy and JAX take from NumPy, as their documentation lists them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy

import vkarray

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "names.md"
MODULES = {
    "": "The main namespace", "linalg": "Linear algebra", "fft": "Fourier transforms", "random": "Random numbers",
}  # fmt: skip


def has(package: Any, name: str) -> bool:
    for part in name.split("."):
        package = getattr(package, part, None)
    return package is not None


def listed(library: str) -> set[str]:
    """The names of NumPy's that a library has."""
    return set((HERE / "names" / f"{library}.txt").read_text(encoding="utf-8").split())


def names() -> list[str]:
    """NumPy's public functions, types and constants."""
    found = []
    for module in MODULES:
        package = getattr(numpy, module) if module else numpy
        for name in sorted(getattr(package, "__all__", dir(package))):
            value = getattr(package, name, None)
            if not name.startswith("_") and value is not None and not isinstance(value, type(numpy)):
                found.append(f"{module}.{name}".lstrip("."))
    return found


def page() -> str:
    """The page: a table for each module, with a mark for each library that has a name."""
    cupy, jax = listed("cupy"), listed("jax")
    theirs = names()
    counts = {
        "NumPy": len(theirs), "vkarray": sum(has(vkarray, name) for name in theirs), "CuPy": len(cupy & set(theirs)),
        "jax.numpy": len(jax & set(theirs)),
    }  # fmt: skip
    lines = [
        "# NumPy's names",
        "",
        f"Which of the public names of NumPy {numpy.__version__} vkarray has, and which CuPy and `jax.numpy`, as their "
        f"documentation lists them: {', '.join(f'{library} {count}' for library, count in counts.items())}. JAX has random "
        "numbers of another form.",
        "`python tests/names.py` writes this page.",
    ]
    for module, title in MODULES.items():
        lines += ["", f"## {title}", "", "| NumPy | vkarray | CuPy | jax.numpy |", "| --- | --- | --- | --- |"]
        for name in theirs:
            if name.rpartition(".")[0] == module:
                marks = (has(vkarray, name), name in cupy, name in jax)
                lines.append(f"| `{name}` | {' | '.join('yes' if mark else '' for mark in marks)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
