"""Sphinx configuration. Made from the code are the switches, the list of operations, and the pages of the reference."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import vkarray
from vkarray import configuration

sys.path.insert(0, str(Path(__file__).parent))
import docstrings

project = "vkarray"
author = "The vkarray developers"
copyright = "2026, The vkarray developers"
release = version = vkarray.__version__

extensions = ["myst_parser"]
exclude_patterns = ["generated/*.md"]
html_theme = "alabaster"
html_theme_options = {"description": vkarray.__doc__.splitlines()[0], "page_width": "1080px"}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
myst_heading_anchors = 3
python_maximum_signature_line_length = 100


# The files in `vkarray/ops` that are not named after their chapter.
BEYOND = "Beyond the standard"
CHAPTERS = {"beyond": BEYOND, "kernels": "Searching functions"}  # by the folder of a module, where that says it
EXTENSIONS = [name for name in ("linalg", "fft", "random") if hasattr(vkarray, name)]


def defined_in(path: Path) -> set[str]:
    """The names that a module assigns or defines itself."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def summary(function: Callable[..., object]) -> str:
    """The first paragraph of a docstring, as the cell of a table; the chapter is its heading."""
    text = " ".join((function.__doc__ or "").strip().partition("\n\n")[0].split())
    return re.sub(r" Standard(: [^:]*)?\.$", "", text).replace("|", "\\|")


def table(title: str, module: ModuleType, names: Iterable[str]) -> str:
    rows = [f"| `{name}` | {summary(getattr(module, name))} |" for name in sorted(names)]
    return "\n".join([f"## {title}", "", "| Function | |", "| --- | --- |", *rows])


def chapters() -> dict[str, list[str]]:
    """The functions of the namespace by chapter of the standard; what is beyond it comes last."""
    found: dict[str, set[str]] = {
        "Creation functions": {"from_dlpack"},
        "Inspection functions": {"check_api_version"},
        BEYOND: {"ElementwiseKernel", "kernel", "config", "cache_stats", "load", "save", "savez"},
    }
    package = Path(vkarray.__file__).parent
    for path in sorted([*package.glob("ops/*.py"), *package.glob("ops/beyond/*.py"), package / "kernels/compact.py"]):
        module = importlib.import_module(".".join(["vkarray", *path.relative_to(package).with_suffix("").parts]))
        public = {name for name in defined_in(path) if getattr(vkarray, name, path) is getattr(module, name)}
        chapter = CHAPTERS.get(path.parent.name, f"{path.stem.replace('_', ' ').capitalize()} functions")
        found.setdefault(chapter, set()).update(name for name in public if callable(getattr(module, name)))
    beyond = found.pop(BEYOND)
    return {title: sorted(names) for title, names in [*sorted(found.items()), (BEYOND, beyond)] if names}


def operations() -> str:
    """The namespace as Markdown: a table per chapter of the standard, one for what is beyond it, one per extension."""
    sections = [table(title, vkarray, names) for title, names in chapters().items()]
    for name in EXTENSIONS:
        module = importlib.import_module(f"vkarray.{name}")
        functions = {function for function in module.__all__ if not isinstance(getattr(module, function), type)}
        sections.append(table(f"The namespace `vx.{name}`", module, functions))
    return "\n\n".join(sections)


folder = Path(__file__).parent / "generated"
(folder / "reference").mkdir(parents=True, exist_ok=True)
made = {"switches": configuration.table(), "operations": operations()}
made |= {f"reference/{name}": text for name, text in docstrings.pages(chapters()).items()}
for old in folder.glob("reference/*.md"):
    if f"reference/{old.stem}" not in made:
        old.unlink(missing_ok=True)
for name, text in made.items():
    (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")
