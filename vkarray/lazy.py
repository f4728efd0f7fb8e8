"""Names of packages whose modules are imported when the names are first asked for. Importing this gives vkarray its own."""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # no module of the standard library is waited for before the package has its `__getattr__`
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

_PACKAGE = __name__.rpartition(".")[0]

# What many programs never use of the namespace, and where it is.
NAMESPACE = {
    "Dim": "graph.dimensions",
    "ElementwiseKernel": "kernels.elementwise_kernel",
    "Program": "programs.program",
    "ReductionKernel": "kernels.reduction_kernel",
    "compile": "graph.compile",
    "kernel": "kernels.user",
    "load_program": "programs.program",
    "nditer": "ops.beyond.iteration",
    "polynomial": "polynomial",
    "profile": "profiling.block",
    "random": "random",
    "show_config": "command.info",
    "testing": "testing",
    "typing": "typing",
}


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names have their homes in modules below it; a module's own name leads to itself."""

    def get(name: str) -> Any:
        _check_imported(package, name, sys.modules[_PACKAGE])
        if name not in homes:
            from .absent import remedy

            instead = remedy(name) if package == _PACKAGE else ""
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}{instead}", name=name, obj=sys.modules[package]
            )
        module = importlib.import_module(f"{package}.{homes[name]}")
        _check_imported(package, name, module)
        value = module if homes[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get


def _check_imported(package: str, name: str, module: ModuleType) -> None:
    """Raise AttributeError if this thread is importing the module further up its stack; for another thread Python has waited."""
    if getattr(module.__spec__, "_initializing", False):
        raise AttributeError(
            f"{package}.{name}: {module.__name__} is still being imported, and this code runs in the middle of that: a signal "
            "handler, a finalizer, or a module that is imported in a circle. Import it before that code can run.",
            name=name, obj=sys.modules[package],
        )  # fmt: skip


vars(sys.modules[_PACKAGE])["__getattr__"] = lazy(_PACKAGE, NAMESPACE)
