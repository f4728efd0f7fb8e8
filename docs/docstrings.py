"""The reference: every public name with its signature and its whole docstring, as pages in Markdown.

The names of `vkarray.torch` come from syntax trees, since PyTorch need not be installed where the documentation is made.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import vkarray
from vkarray.core.dtypes import DType

CONSTANTS = {
    "e": "Euler's number.",
    "inf": "Infinity, as a Python float.",
    "nan": "Not a number, as a Python float.",
    "newaxis": "None: in a key of indexing, a new dimension of length 1.",
    "pi": "The ratio of a circle's circumference to its diameter.",
}


class Entry(NamedTuple):
    """One name: the kind of its directive, its name below the module, its signature, its docstring, and its members."""

    kind: str
    name: str
    signature: str
    text: str
    members: tuple[Entry, ...] = ()


class _Written:
    """An annotation as it is written in the code."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


# -- from objects -------------------------------------------------------------------------------------------------------


def signature_of(function: Callable[..., Any]) -> str:
    """The parameters and the result, with annotations as written."""

    def written(annotation: Any) -> Any:
        return _Written(annotation) if isinstance(annotation, str) else annotation

    try:
        found = inspect.signature(function)
    except ValueError:  # of a class that is made in C
        return "(*args)"
    parameters = [
        each.replace(annotation=written(each.annotation)) for each in found.parameters.values() if each.name != "self"
    ]
    return str(found.replace(parameters=parameters, return_annotation=written(found.return_annotation)))


def documentation_of(value: Any) -> str:
    """The whole docstring."""
    return inspect.cleandoc(value.__doc__ or "")


def members_of(owner: type) -> Iterator[Entry]:
    """The public methods and properties of a class."""
    for name in dir(owner):
        value = inspect.getattr_static(owner, name)
        if name.startswith("_") or not value.__doc__:
            continue
        if inspect.isroutine(value):
            yield Entry("method", name, signature_of(getattr(owner, name)), documentation_of(value))
        elif isinstance(value, property):
            yield Entry("property", name, "", documentation_of(value))


def entry_of(name: str, value: Any) -> Entry:
    """The entry of a public name."""
    if isinstance(value, type) and issubclass(value, Exception):
        return Entry("exception", name, "", documentation_of(value))
    if isinstance(value, type):
        return Entry("class", name, "", documentation_of(value), tuple(members_of(value)))
    if isinstance(value, DType):
        return Entry("data", name, "", f"A data type: {value.kind}, {value.bits} bits.")
    if name in CONSTANTS:
        return Entry("data", name, "", CONSTANTS[name])
    return Entry("function", name, signature_of(value), documentation_of(value))


# -- from syntax trees ----------------------------------------------------------------------------------------------------


def _signature(node: ast.FunctionDef) -> str:
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({re.sub(r'^(self|cls)(, )?', '', ast.unparse(node.args))}){result}"


def _definition(path: Path, name: str) -> Entry:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            text = inspect.cleandoc(ast.get_docstring(node) or "")
            if isinstance(node, ast.FunctionDef):
                return Entry("function", name, _signature(node), text)
            own = (each for each in node.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"))
            members = tuple(
                Entry("method", each.name, _signature(each), inspect.cleandoc(ast.get_docstring(each) or ""))
                for each in own
            )
            bases = {ast.unparse(base) for base in node.bases}
            kind = "exception" if any(base.endswith(("Error", "Warning")) for base in bases) else "class"
            return Entry(kind, name, "", text, members)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == name for target in node.targets):
            made = ast.unparse(node.value).partition("(")[0]  # an object of a class beside it
            return _definition(path, made)._replace(kind="data", name=name)
    raise LookupError(f"{path} does not define {name}.")


def entries_of_package(package: Path) -> Iterator[Entry]:
    """The entries of all names in `__all__` of a package that is not imported."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    homes: dict[str, Path] = {}
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            homes |= {each.name: package.joinpath(*node.module.split(".")).with_suffix(".py") for each in node.names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ast.literal_eval(node.value)
    for name in sorted(names):
        yield _definition(homes[name], name)


# -- as Markdown ------------------------------------------------------------------------------------------------------------


PARTS = ("Parameters", "Returns", "Raises", "Errors", "Method", "Standard")  # of docstrings: paragraphs of their own


def _escaped(text: str) -> str:
    """Text whose stars and the like stand for themselves, except in code."""
    pieces = re.split(r"(`+[^`]+`+)", text)
    return "".join(each if each.startswith("`") else re.sub(r"([*_<|$])", r"\\\1", each) for each in pieces)


def markdown(text: str) -> str:
    """A docstring as Markdown: examples and what is indented are code, all else is text."""
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n|\n(?=>>>)(?<!\n>>>)", text):
        if block.startswith((">>>", "    ")):
            blocks.append(f"```{'pycon' if block.startswith('>>>') else 'text'}\n{block}\n```")
        else:
            blocks += map(_escaped, re.split(rf"\n(?={'|'.join(PARTS)})", block))
    return "\n\n".join(blocks)


def directive(entry: Entry, depth: int = 4) -> str:
    """An entry as a directive of Sphinx, its members inside."""
    fence = "`" * (depth + 2 * bool(entry.members))
    inner = [directive(member, depth) for member in entry.members]
    head = f"{fence}{{py:{entry.kind}}} {entry.name}{entry.signature}"
    return "\n".join([head, "", markdown(entry.text), "", *inner, fence, ""])


def page(title: str, module: str, entries: Iterable[Entry], introduction: str = "") -> str:
    """A page of the reference."""
    head = [f"# {title}", "", introduction, "", f"```{{py:currentmodule}} {module}", "```", ""]
    return "\n".join([*head, *map(directive, entries)])


def pages(chapters: dict[str, list[str]]) -> dict[str, str]:
    """All pages by their file names: the chapters of functions, the namespaces, and what else is public."""
    found: dict[str, str] = {}

    def add(title: str, names: Iterable[str]) -> None:
        file = title.lower().replace(" ", "-")
        found[file] = page(title, "vkarray", [entry_of(name, getattr(vkarray, name)) for name in sorted(names)])

    public = {name: getattr(vkarray, name) for name in vkarray.__all__}
    add("Arrays", ["VkArray"])
    add("Data types and constants", [name for name, value in public.items()
                                     if isinstance(value, DType) or name in CONSTANTS])  # fmt: skip
    for title, names in chapters.items():
        add(title, names)
    errors = [name for name, value in public.items() if isinstance(value, type) and issubclass(value, Exception)]
    add("Errors", errors)
    for name in ("linalg", "fft", "random"):
        module = getattr(vkarray, name)
        entries = [entry_of(each, getattr(module, each)) for each in sorted(module.__all__)]
        text = markdown(documentation_of(module))
        found[name] = page(f"The namespace {name}", f"vkarray.{name}", entries, text)
    package = Path(vkarray.__file__).parent / "torch"
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    found["torch"] = page("PyTorch", "vkarray.torch", entries_of_package(package), markdown(text))
    return found
