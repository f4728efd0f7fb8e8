"""Imports point down only, and importing vkarray touches no device."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vkarray"
STANDARD_LIBRARY = sys.stdlib_module_names

GROUND = {"cache", "configuration", "device_caches", "errors"}
ARRAYS = {"core", "io.interchange", "io.printing", "shaders"}  # an array converts and prints itself

# What each module may import from vkarray, and from outside the standard library. The first prefix that matches a
# module's dotted name holds; a prefix allows itself. `*` is everything.
RULES: dict[str, tuple[set[str], set[str]]] = {
    "errors": (set(), set()),
    "absent": (set(), set()),
    "device_caches": (set(), set()),
    "extras": (set(), set()),
    "lazy": ({"absent"}, set()),
    "configuration": ({"errors"}, set()),
    "exceptions": ({"errors"}, set()),
    "whole_files": (set(), set()),
    "cache": ({"configuration", "errors", "whole_files"}, set()),
    "_vk.api": ({"_vk", "configuration", "errors"}, {"vulkan"}),
    "_vk": ({*GROUND, "lazy", "shaders.module", "shaders.parsed"}, set()),
    "shaders.archive": ({"shaders.relative"}, set()),
    "shaders.relative": ({"shaders.module"}, set()),
    "shaders.module": ({"errors"}, set()),
    "shaders": (GROUND, set()),
    "core.dtypes": ({"configuration", "errors"}, {"numpy"}),  # a type says which of NumPy's it is
    "core.promotion": ({"core.dtypes", "core.tokens", "errors"}, set()),
    "core.tokens": (set(), set()),
    "core.layout": ({"errors"}, set()),
    "core.key": ({"core.layout"}, set()),
    "core.checks": (set(), set()),
    "core.methods": ({"core.layout"}, set()),
    "core.operators": ({"core.methods", "core.promotion", "core.tokens"}, set()),
    "core": ({*GROUND, *ARRAYS, "_vk"}, set()),
    "io.interchange": ({*GROUND, *ARRAYS, "_vk"}, {"numpy"}),
    "io.printing": ({"core", "io.interchange"}, {"numpy"}),
    "io": ({"core", "io", "kernels", "ops"}, {"numpy"}),
    "kernels.walk": ({"core.layout"}, set()),
    "kernels.tuning": ({"cache", "device_caches"}, set()),
    "kernels.compare": ({*GROUND, *ARRAYS, "kernels"}, {"numpy"}),  # the debugging mode that compares with NumPy
    "kernels": ({*GROUND, *ARRAYS, "_vk"}, set()),
    "ops.creation": ({*GROUND, *ARRAYS, "kernels"}, {"numpy"}),  # asarray takes what NumPy can read
    "ops.beyond.random.parameters": ({*GROUND, *ARRAYS, "kernels", "ops"}, {"numpy"}),  # lists are checked on the host
    "ops.beyond.protocols": ({"core", "io.interchange"}, {"numpy"}),  # NumPy's protocols
    "ops.inspection": ({"_vk", "core", "kernels", "ops"}, set()),
    "ops": ({*GROUND, *ARRAYS, "kernels"}, set()),
    "programs": (
        {*GROUND, *ARRAYS, "_vk", "graph", "nn", "ops", "fft", "lib", "linalg", "polynomial", "whole_files"},
        {"numpy"},
    ),
    "graph": ({*GROUND, *ARRAYS, "_vk", "kernels"}, set()),
    "nn": ({*GROUND, *ARRAYS, "kernels", "ops"}, set()),
    "profiling": ({"_vk", "core", "errors"}, set()),
    "fft": ({"ops"}, set()),
    "lib": ({"lazy", "ops"}, set()),
    "testing": ({"core", "io"}, {"numpy"}),
    "typing": ({"core"}, set()),
    "linalg": ({"errors", "ops"}, set()),
    "polynomial": ({"core", "lazy", "ops", "polynomial"}, set()),
    "random": ({"_vk", "ops"}, {"numpy"}),  # whose SeedSequence is this library's
    "onnx": ({"*"}, {"ml_dtypes", "numpy", "onnx"}),
    "dask": ({"_vk", "configuration", "core", "ops"}, {"dask"}),
    "command": ({"*"}, {"*"}),
    "torch.guard": ({"*"}, {"cffi", "torch"}),  # it calls into PyTorch's C++
    "torch": ({"*"}, {"torch"}),
    "__main__": ({"*"}, set()),
    "__init__": ({"*"}, set()),
}
FORBIDDEN_MODULES = {name: {"subprocess"} for name in ("core", "kernels", "nn", "ops")}


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
    assert not covered("kernels.launch", RULES["core.layout"][0])
    assert not covered("torch", RULES["ops"][0])
    assert covered("_vk.device", RULES["core"][0])


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


IMPORTING = """
import sys

told, others, places, inside = [], [], [], False

def strike(frame, event, argument):
    global inside
    if "vkarray" not in frame.f_code.co_filename or frame.f_code.co_filename.endswith("lazy.py"):
        return None
    if "__getattr__" not in vars(sys.modules["vkarray"]):  # while its first module is imported, Python tells
        return strike
    if inside:
        return None
    if event in ("line", "call") and (frame.f_code, frame.f_lineno) not in passed:
        passed.add((frame.f_code, frame.f_lineno))
        inside = True
        try:
            compute()
        except AttributeError as error:
            (told if "is still being imported" in str(error) else others).append(error)
        except Exception as error:
            others.append(error)
        inside = False
    return strike

def compute():
    import vkarray as vx

    places.append(hasattr(vx, "add"))
    x = vx.arange(3)
    assert (x * x + vx.linalg.norm(x[1:])).shape == vx.random.random(3).shape

passed = set()
sys.settrace(strike)
import vkarray as vx
sys.settrace(None)
assert not others, others[:3]
assert len(told) > 1000, len(told)
assert any(places) and not all(places)
passed.clear()
told.clear()
sys.settrace(strike)
drawn = vx.random.default_rng(0).random(3)
sys.settrace(None)
assert told and not others, others[:3]
assert drawn.shape == (3,) and vx.polynomial.Polynomial([1, 2])(1) == 3 and vx.compile(vx.sin)(drawn).shape == (3,)
"""


def test_code_in_the_middle_of_the_import_is_told_of_it() -> None:
    """A signal handler or a finalizer that computes with arrays may run at any line of the first import."""
    done = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
