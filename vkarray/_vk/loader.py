"""Where the Vulkan loader lies on systems that do not look there by themselves: Homebrew, LunarG's SDK, MacPorts, conda."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Of systems, by `sys.platform`: folders, and what lies there. MoltenVK, named last, does without a loader.
_FOLDERS: dict[str, tuple[str, ...]] = {
    "darwin": (
        "$VULKAN_SDK/lib", "/opt/homebrew/lib", "/usr/local/lib", "{home}/VulkanSDK/*/macOS/lib", "/opt/local/lib",
        "{prefix}/lib",
    ),
    "linux": ("{prefix}/lib",),
    "win32": ("{prefix}/Library/bin",),
}  # fmt: skip
_NAMES: dict[str, tuple[str, ...]] = {
    "darwin": ("libvulkan.1.dylib", "libvulkan.dylib", "libMoltenVK.dylib"),
    "linux": ("libvulkan.so.1",),
    "win32": ("vulkan-1.dll",),
}
# Lists of drivers, as seen from the folder of the loader, for a loader that does not look there.
_DRIVERS = ("share/vulkan/icd.d", "etc/vulkan/icd.d")
_CHOSEN = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES")


def candidates() -> Iterator[Path]:
    """Loaders in the usual places of this system; of several versions of an SDK the newest first."""
    home, prefix = os.path.expanduser("~"), sys.prefix
    names = _NAMES.get(sys.platform, ())
    folders = [os.path.expandvars(folder).format(home=home, prefix=prefix) for folder in _FOLDERS.get(sys.platform, ())]
    for name in names:
        for folder in folders:
            if os.path.isabs(folder):
                root, _, rest = folder.partition("*")
                found = Path(root).glob(f"*{rest}/{name}") if rest else [Path(folder, name)]
                yield from sorted((path for path in found if path.exists()), key=_version, reverse=True)


def _version(path: Path) -> list[tuple[int, ...]]:
    """The numbers in the parts of a path."""
    return [tuple(int(number) for number in part.split(".") if number.isdigit()) for part in path.parts]


class _Opener:
    """The binding's ffi, but that it opens one library in place of any."""

    def __init__(self, ffi: Any, path: Path) -> None:
        self.ffi, self.path = ffi, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ffi, name)

    def dlopen(self, _name: str, flags: int = 0) -> Any:
        return self.ffi.dlopen(str(self.path), flags)


@contextmanager
def in_usual_places() -> Iterator[None]:
    """While the binding is imported again, it opens the loader that lies in a usual place. Raises OSError where none does."""
    path = next(candidates(), None)
    if path is None:
        raise OSError("no Vulkan loader in the usual places")
    definitions: Any = sys.modules["vulkan._vulkancache"]  # which the first attempt has imported
    ffi = definitions.ffi
    definitions.ffi = _Opener(ffi, path)
    try:
        yield
    finally:
        definitions.ffi = ffi
    for name in ("vulkan", "vulkan._vulkan"):
        module: Any = sys.modules[name]
        module.ffi = ffi
    _add_drivers(path)


def _add_drivers(loader: Path) -> None:
    """Tell a loader of the drivers that came with it, unless the user has named some."""
    if any(name in os.environ for name in _CHOSEN):
        return
    found = sorted(file for folder in _DRIVERS for file in (loader.parent.parent / folder).glob("*.json"))
    if found:
        os.environ["VK_ADD_DRIVER_FILES"] = os.pathsep.join(map(str, found))
