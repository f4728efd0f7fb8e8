"""What the reference tells of a public name: its signature, its docstring, its members.

The names of `vkarray.torch` come from syntax trees, since PyTorch need not be installed where the documentation is made.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import vkarray
from vkarray.core.dtypes import DType

CONSTANTS = {
    "e": "Euler's number.",
    "euler_gamma": "Euler's constant: the limit of the difference between the harmonic numbers and the logarithm.",
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
    own = value.name if isinstance(value, DType) else getattr(value, "__name__", name)
    if isinstance(value, (type, DType)) and own != name and own in vkarray.__all__:
        return Entry("data", name, "", f"Another name of `{own}`.")
    if isinstance(value, type):
        return Entry("class", name, "", documentation_of(value), tuple(members_of(value)))
    if isinstance(value, DType):
        return Entry("data", name, "", f"A data type: {value.category}, {8 * value.itemsize} bits.")
    if not callable(value):
        return Entry("data", name, "", CONSTANTS.get(name) or documentation_of(value))
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
            home = package.joinpath(*node.module.split("."))
            home = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
            homes |= {each.name: home for each in node.names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ast.literal_eval(node.value)
    for name in sorted(names):
        yield _definition(homes[name], name)
