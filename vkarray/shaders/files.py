"""The folder of the shaders, and the texts in it."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from ..errors import ShaderError

PACKAGE = Path(__file__).parents[1]


@functools.cache
def source_folder() -> Path:
    """The folder of the shaders: `glsl/` of the checkout, or its copy inside the installed package."""
    checkout = PACKAGE.parent / "glsl"
    return checkout if checkout.is_dir() else PACKAGE / "_data" / "glsl"


@functools.cache
def _real_folders(folder: Path) -> tuple[str, str]:
    """Where the files of the shader folder lie: there, or where the package lies that is installed as symbolic links."""
    return os.path.realpath(folder), os.path.join(
        os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "_data", "glsl"
    )


def inside(path: str) -> Path:
    """The file of that path below the shader folder. Raises ShaderError for one that lies elsewhere."""
    folder = source_folder()
    found = Path(os.path.realpath(folder / path))
    if not any(found.is_relative_to(root) for root in _real_folders(folder)):
        raise ShaderError(
            f"The shader file {path} lies outside of the folder of the shaders, {folder}; include files below it alone, by "
            "paths that are relative to it."
        )
    return found


@functools.cache
def file_text(path: str) -> str:
    """The text of a file below the shader folder. Raises ShaderError where it cannot be read."""
    try:
        return inside(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # the second one from text that is not UTF-8
        raise ShaderError(f"The shader file glsl/{path} cannot be read ({error}); reinstall vkarray.") from error
