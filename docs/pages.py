"""The pages of the reference: one for each function and class, and one for each chapter."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import chapters
import sections
import sessions
from docstrings import Entry, documentation_of, entries_of_package, entry_of

import vkarray
from vkarray.core.dtypes import DType

PAGED = ("function", "class")  # these have a page each; what is smaller is on the page of its chapter


def _links(module: str) -> sections.Link:
    """Links to the names of a module's reference and of the main namespace."""
    public = {"vkarray": set(vkarray.__all__)}
    public |= {f"vkarray.{name}": set(getattr(vkarray, name).__all__) for name in chapters.EXTENSIONS}

    def link(name: str) -> str | None:
        if re.fullmatch(r"((vx|vkarray)\.)?\w+(\.\w+)?", name):
            for space in (module, "vkarray"):
                inner, _, last = re.sub(r"^(vx|vkarray)\.", "", name).rpartition(".")
                if last in public.get(f"vkarray.{inner}" if inner else space, ()) and last not in (
                    "e",
                    "bool",
                    "random",
                ):
                    return f"{{py:obj}}`{name} <{f'vkarray.{inner}' if inner else space}.{last}>`"
        return None

    return link


def _names(signature: str) -> list[str]:
    """The parameters of a signature."""
    return re.findall(r"(?:^\(|, |\*)(\w+)(?=[:,=)])", signature)


def _body(entry: Entry, module: str) -> str:
    """What the docstring says, without its examples."""
    text = (
        re.split(r"\n\s*\n(?=>>>)|\n(?=>>>)(?<!\n>>>)|\A(?=>>>)", entry.text)[0]
        if entry.kind == "function"
        else entry.text
    )
    return sections.markdown(text, _names(entry.signature), module, entry.name, _links(module))


def directive(entry: Entry, module: str, depth: int = 4) -> str:
    """An entry as a directive of Sphinx, its members inside."""
    fence = "`" * (depth + 2 * bool(entry.members))
    inner = [directive(member, module, depth) for member in entry.members]
    signature = re.sub(r"\b_?DType\b", "dtype", entry.signature)  # its public name, which has a page
    head = f"{fence}{{py:{entry.kind}}} {entry.name}{signature}"
    options = [":no-index:"] if entry.name == "bool" else []  # or annotations of Python's type would lead there
    return "\n".join([head, *options, "", _body(entry, module), "", *inner, fence, ""])


def _example(entry: Entry, module: str) -> str:
    """The section of examples of a function: its docstring's, else one that is run now."""
    if own := re.search(r"^>>>.*", entry.text, re.MULTILINE | re.DOTALL):
        shown: str | None = own[0]
    else:  # PyTorch need not be installed here
        shown = sessions.example(module, entry.name) if module != "vkarray.torch" else None
    return f"```{{rubric}} Examples\n```\n\n```pycon\n{shown}\n```\n" if shown else ""


def page(entry: Entry, module: str) -> str:
    """The page of a function or class."""
    told = _example(entry, module) if entry.kind == "function" else ""
    current = f"```{{py:currentmodule}} {module}\n```\n"
    return "\n".join([f"# {module}.{entry.name}", "", current, directive(entry, module), told])


def pages() -> dict[str, str]:
    """All pages by their file names."""
    found: dict[str, str] = {}

    def add(title: str, module: str, entries: Iterable[Entry], introduction: str = "", file: str = "") -> None:
        """A chapter: what has pages as a table of links, all else in full."""
        entries = sorted(entries, key=lambda entry: entry.text.startswith("Another name"))
        paged = [entry for entry in entries if entry.kind in PAGED]
        role = "currentmodule" if module == "vkarray" else "module"
        head = [f"# {title}", "", introduction, "", f"```{{py:{role}}} {module}", "```", ""]
        body: list[str] = []
        if paged:
            tree = [f"{entry.name} <{module}.{entry.name}>" for entry in paged]
            rows = chapters.table(module, {entry.name: entry.text for entry in paged})
            body = [rows, "", "```{toctree}", ":hidden:", "", *tree, "```"]
        rest = [directive(entry, module) for entry in entries if entry.kind not in PAGED]
        found[f"reference/{file or title.lower().replace(' ', '-')}"] = "\n".join([*head, *body, *rest])
        found.update({f"reference/{module}.{entry.name}": page(entry, module) for entry in paged})

    public = {name: getattr(vkarray, name) for name in vkarray.__all__}
    types = {name: value for name, value in public.items() if isinstance(value, type)}
    data = {
        name for name, value in public.items() if isinstance(value, DType) or type(types.get(name, type)) is not type
    }
    groups = {
        "Arrays": {name for name, value in types.items() if value is vkarray.VkArray},
        "Data types": {*data, "dtype"} & set(public),
        **chapters.chapters(),
        "Errors": {name for name, value in types.items() if issubclass(value, Exception)},
    }
    named = {name for name, value in public.items() if not isinstance(value, ModuleType)}
    rest = named.difference(*groups.values())
    groups[chapters.BEYOND] = [*groups[chapters.BEYOND], *rest & set(types)]
    groups["Constants"] = rest - set(types)
    for title, names in groups.items():
        add(title, "vkarray", [entry_of(name, public[name]) for name in sorted(names)])
    for name in chapters.EXTENSIONS:
        module = getattr(vkarray, name)
        entries = [entry_of(each, getattr(module, each)) for each in sorted(module.__all__)]
        add(
            f"The namespace {name}",
            module.__name__,
            entries,
            sections.prose(documentation_of(module), _links("")),
            name,
        )
    package = Path(vkarray.__file__).parent / "torch"
    text = inspect.cleandoc(ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or "")
    add("PyTorch", "vkarray.torch", entries_of_package(package), sections.prose(text, _links("")), "torch")
    return found
