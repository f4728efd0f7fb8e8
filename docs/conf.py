"""Sphinx configuration. Two pages are made from tables in the code: the switches and the list of operations."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import vkarray
from vkarray import configuration

project = "vkarray"
author = "The vkarray developers"
copyright = "2026, The vkarray developers"
release = version = vkarray.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["generated"]
html_theme = "alabaster"
html_theme_options = {"description": vkarray.__doc__.splitlines()[0], "page_width": "1080px"}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"


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
    """The first paragraph of a docstring, as the cell of a table."""
    return " ".join((function.__doc__ or "").strip().partition("\n\n")[0].split()).replace("|", "\\|")


def operations() -> str:
    """The namespace as Markdown, one table per chapter of the standard."""
    sections = []
    for path in sorted(Path(vkarray.__file__).parent.glob("ops/*.py")):
        public = sorted(name for name in defined_in(path) if callable(getattr(vkarray, name, None)))
        if public:
            rows = [f"| `{name}` | {summary(getattr(vkarray, name))} |" for name in public]
            title = path.stem.replace("_", " ").capitalize()
            sections.append("\n".join([f"## {title}", "", "| Function | |", "| --- | --- |", *rows]))
    return "\n\n".join(sections)


folder = Path(__file__).parent / "generated"
folder.mkdir(exist_ok=True)
for name, text in (("switches", configuration.table()), ("operations", operations())):
    (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")
