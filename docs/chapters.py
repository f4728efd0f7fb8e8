"""The functions of the namespace by chapter, and their list as Markdown."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from sections import escaped, split

import vkarray

BEYOND = "Beyond the standard"
CHAPTERS = {"beyond": BEYOND, "kernels": "Searching functions"}  # by the folder of a module, where that says it
EXTENSIONS = [name for name in ("linalg", "fft", "random") if name in vkarray.__all__]


def defined_in(path: Path) -> set[str]:
    """The names that a module assigns or defines itself."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def functions_of(module: ModuleType) -> set[str]:
    """The public names of a module that are neither types, modules nor values."""
    return {
        name
        for name in module.__all__
        if callable(value := getattr(module, name)) and not isinstance(value, (type, vkarray.core.dtypes.DType))
    }


def chapters() -> dict[str, list[str]]:
    """The functions of the namespace by chapter of the standard; what is beyond it, or in no chapter's file, comes last."""
    found: dict[str, set[str]] = {
        "Creation functions": {"from_dlpack"},
        "Inspection functions": {"check_api_version"},
    }
    public = functions_of(vkarray)
    package = Path(vkarray.__file__).parent
    for path in sorted([*package.glob("ops/*.py"), *package.glob("ops/beyond/*.py"), package / "kernels/compact.py"]):
        module = importlib.import_module(".".join(["vkarray", *path.relative_to(package).with_suffix("").parts]))
        own = {name for name in defined_in(path) & public if getattr(vkarray, name) is getattr(module, name)}
        chapter = CHAPTERS.get(path.parent.name, f"{path.stem.replace('_', ' ').capitalize()} functions")
        found.setdefault(chapter, set()).update(own)
    homes = {id(getattr(vkarray, name)): title for title, names in found.items() for name in names}
    for name in public.difference(*found.values()):  # another name of a function is in its chapter
        found.setdefault(homes.get(id(getattr(vkarray, name)), BEYOND), set()).add(name)
    beyond = found.pop(BEYOND)
    return {title: sorted(names) for title, names in [*sorted(found.items()), (BEYOND, beyond)] if names}


def summary(text: str) -> str:
    """The first paragraph of a docstring, as the cell of a table."""
    return escaped(" ".join(split(text.strip().partition("\n\n")[0])[""].split()), lambda name: None)


def table(module: str, documentation: Mapping[str, str], folder: str = "") -> str:
    """A row for each name: a link to its page in `folder`, and the summary of its docstring."""
    rows = [
        f"| [`{name}`]({folder}{module}.{name}.md) | {summary(text)} |" for name, text in sorted(documentation.items())
    ]
    return "\n".join(["| | |", "| --- | --- |", *rows])


def _documentation(module: ModuleType, names: Iterable[str]) -> dict[str, str]:
    return {name: getattr(module, name).__doc__ or "" for name in names}


def tables() -> str:
    """The whole namespace: a table for each chapter of the standard, one for what is beyond it, one for each extension."""
    folder = "generated/reference/"
    sections = [
        f"## {title}\n\n{table('vkarray', _documentation(vkarray, names), folder)}"
        for title, names in chapters().items()
    ]
    for name in EXTENSIONS:
        module = importlib.import_module(f"vkarray.{name}")
        rows = table(f"vkarray.{name}", _documentation(module, functions_of(module)), folder)
        sections.append(f"## The namespace `vx.{name}`\n\n{rows}")
    return "\n\n".join(sections)
