"""Packages that vkarray does not need, and parts of it do: where one is missing, the import says what to install."""

from __future__ import annotations

import importlib


def needs(part: str, package: str) -> None:
    """Import a package that a part is built on. The extra of its name brings it. Raises ModuleNotFoundError, which says so."""
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{part} needs the package {package}, which cannot be imported ({error}). Install it: "
            f"pip install 'vkarray[{package}]'.",
            name=error.name,
        ) from None
