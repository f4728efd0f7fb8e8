"""Sphinx configuration. Made from the code are the switches, the list of functions, and the pages of the reference."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import vkarray
from vkarray import configuration

sys.path.insert(0, str(Path(__file__).parent))
import chapters
import pages

if TYPE_CHECKING:  # the tests read this file without Sphinx
    from sphinx.application import Sphinx

project = "vkarray"
author = "The vkarray developers"
copyright = "2026, The vkarray developers"
release = version = vkarray.__version__

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["generated/*.md"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "thumbnail_size": (320, 320),
    "write_computation_times": False,
    "image_srcset": [],
}
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # annotations name types that are not public
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "vkarray"
html_logo = html_favicon = "static/logo.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "getting-started": []}
html_theme_options = {
    "logo": {"text": "vkarray"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}


def generate(app: Sphinx) -> None:
    """Write what is made from the code. A page that has not changed keeps its time, and is not read again."""
    folder = Path(app.srcdir) / "generated"
    made = {"switches": configuration.table(), "functions": chapters.tables(), **pages.pages()}
    for path in folder.glob("reference/*.md"):
        if f"reference/{path.stem}" not in made:
            path.unlink(missing_ok=True)
    for name, text in made.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != f"{text}\n":
            path.write_text(f"{text}\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", generate)
