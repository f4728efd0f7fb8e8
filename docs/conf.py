"""Sphinx configuration. Two pages are made from tables in the code: the switches and the list of operations."""

from __future__ import annotations

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


def operations() -> str:
    """The namespace as Markdown, one table per chapter of the standard; the first sentence of each docstring."""
    chapters: dict[str, list[str]] = {}
    for name in sorted(vkarray.__all__, key=str.lower):
        function = getattr(vkarray, name)
        module = getattr(function, "__module__", "")
        if callable(function) and module.startswith("vkarray.ops."):
            chapter = module.removeprefix("vkarray.ops.").partition(".")[0]
            summary = (function.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            chapters.setdefault(chapter, []).append(f"| `{name}` | {' '.join(summary.split())} |")
    return "\n\n".join(
        "\n".join([f"## {chapter.replace('_', ' ').capitalize()}", "", "| Function | |", "| --- | --- |", *rows])
        for chapter, rows in sorted(chapters.items())
    )


folder = Path(__file__).parent / "generated"
folder.mkdir(exist_ok=True)
for name, text in (("switches", configuration.table()), ("operations", operations())):
    (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")
