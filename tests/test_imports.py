"""Imports point down only, and importing vkarray touches no device."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vkarray"
STANDARD_LIBRARY = sys.stdlib_module_names

OPERATIONS = {
    "array",
    "checks",
    "configuration",
    "dtypes",
    "errors",
    "interchange",
    "layout",
    "ops",
    "promotion",
    "shaders",
    "tuning",
}

# What each module may import from vkarray, and from outside the standard library. The first prefix that matches a
# module's dotted name holds; a prefix allows itself. `*` is everything.
RULES: dict[str, tuple[set[str], set[str]]] = {
    "errors": (set(), set()),
    "configuration": ({"errors"}, set()),
    "cache": ({"configuration", "errors"}, set()),
    "_vk.api": ({"_vk", "configuration", "errors"}, {"vulkan"}),
    "spirv_module": ({"errors"}, set()),
    "_vk": ({"configuration", "errors", "cache", "spirv_module"}, set()),
    "tuning": ({"cache"}, set()),
    "dtypes": ({"errors"}, set()),
    "promotion": ({"dtypes", "errors"}, set()),
    "layout": ({"errors"}, set()),
    "walk": ({"layout"}, set()),
    "archive": (set(), set()),
    "shaders": ({"archive", "cache", "configuration", "dtypes", "errors", "spirv_module"}, set()),
    "checks": (set(), set()),
    "methods": (set(), set()),
    "array": (
        {
            "_vk",
            "configuration",
            "dtypes",
            "errors",
            "interchange",
            "layout",
            "methods",
            "printing",
            "promotion",
            "shaders",
        },
        set(),
    ),
    "interchange": ({"_vk", "array", "checks", "configuration", "dtypes", "errors", "layout", "promotion"}, {"numpy"}),
    "printing": ({"array", "dtypes", "interchange", "layout"}, {"numpy"}),
    "ops.scalars": ({"_vk", "array", "dtypes"}, set()),
    "ops.texels": ({"_vk", "array"}, set()),
    "ops.launch": (
        {
            "_vk",
            "array",
            "configuration",
            "dtypes",
            "errors",
            "layout",
            "ops.scalars",
            "ops.texels",
            "promotion",
            "shaders",
            "walk",
        },
        set(),
    ),
    "ops.creation": (OPERATIONS, {"numpy"}),  # asarray takes what NumPy can read
    "ops.compare": (OPERATIONS, {"numpy"}),  # the debugging mode that compares with NumPy
    "ops": (OPERATIONS, set()),
    "dlpack": ({"array", "checks", "dtypes", "interchange", "ops"}, {"numpy"}),
    "inspection": ({"_vk", "array", "dtypes", "ops"}, set()),
    "fft": ({"ops"}, set()),
    "linalg": ({"ops"}, set()),
    "random": ({"ops"}, set()),
    "other_names": (set(), set()),
    "files": ({"array", "dtypes", "interchange", "ops"}, {"numpy"}),
    "user_kernel": ({"_vk", "array", "dtypes", "errors", "shaders"}, set()),
    "command": ({"*"}, {"*"}),
    "torch.guard": ({"*"}, {"cffi", "torch"}),  # it calls into PyTorch's C++
    "torch": ({"*"}, {"torch"}),
    "__main__": ({"*"}, set()),
    "__init__": ({"*"}, set()),
}
FORBIDDEN_MODULES = {"ops": {"subprocess"}, "array": {"subprocess"}, "layout": {"subprocess"}}


def modules() -> list[str]:
    return sorted(".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py"))


def rule_for(module: str) -> str:
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if ".".join(parts[:length]) in RULES:
            return ".".join(parts[:length])
    pytest.fail(f"vkarray/{module.replace('.', '/')}.py has no row in RULES: say what it may import")


def imported(module: str) -> tuple[set[str], set[str]]:
    """The modules of vkarray that a module imports, as dotted names below vkarray, and the top-level names of others."""
    path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    inside, outside = set(), set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    # A name that is only used in annotations is not knowledge: what `if TYPE_CHECKING:` imports is never run.
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = ["vkarray", *module.split(".")][: -node.level] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{source}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            top, _, below = name.partition(".")
            if top != "vkarray":
                outside.add(top)
            elif below:
                inside.add(as_module(below))
    return inside, outside - {"__future__"}


def as_module(name: str) -> str:
    """`a.b.name` to `a.b` where `name` is not a module itself; a name of the package itself is `__init__`."""
    while name and not (PACKAGE.joinpath(*name.split(".")).with_suffix(".py").is_file() or is_package(name)):
        name = name.rpartition(".")[0]
    return name or "__init__"


def is_package(name: str) -> bool:
    return PACKAGE.joinpath(*name.split("."), "__init__.py").is_file()


def covered(module: str, allowed: set[str]) -> bool:
    return "*" in allowed or any(module == each or module.startswith(each + ".") for each in allowed)


@pytest.mark.parametrize("module", modules())
def test_imports_point_down(module: str) -> None:
    rule = rule_for(module)
    allowed_inside, allowed_outside = RULES[rule]
    inside, outside = imported(module)
    upward = {name for name in inside if not covered(name, allowed_inside | {rule})}
    assert not upward, f"{module} may import {sorted(allowed_inside) or 'nothing'} from vkarray, not {sorted(upward)}"
    foreign = outside - STANDARD_LIBRARY
    assert "*" in allowed_outside or foreign <= allowed_outside, (
        f"{module} may not import {sorted(foreign - allowed_outside)}"
    )
    assert not outside & FORBIDDEN_MODULES.get(module.split(".")[0], set())


def test_rule_catches_upward_import() -> None:
    assert not covered("ops.launch", RULES["layout"][0])
    assert not covered("_vk", RULES["ops"][0])
    assert covered("_vk.device", RULES["array"][0])


def test_rules_name_existing_modules() -> None:
    names = set(modules())
    stale = [rule for rule in RULES if rule not in names and not is_package(rule)]
    assert not stale, f"RULES has rows for modules that do not exist: {stale}"


def test_import_opens_no_device() -> None:
    program = (
        "import sys, vkarray; "
        "loaded = [name for name in ('vulkan', 'torch', 'numpy.testing') if name in sys.modules]; "
        "assert not loaded, f'import vkarray imported {loaded}'; "
        "assert 'libvulkan' not in open('/proc/self/maps').read(), 'import vkarray loaded the Vulkan loader'"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
