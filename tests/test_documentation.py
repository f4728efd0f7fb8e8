"""Every example in README, docs and docstrings runs and shows what it says; what the pages name exists."""

from __future__ import annotations

import ast
import collections
import doctest
import importlib
import importlib.util
import inspect
import itertools
import re
import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest
from PIL import Image
from reference import supported

import vkarray
from demo import __main__ as demo
from demo import digits
from demo.report import Report
from vkarray import configuration
from vkarray.core.dtypes import DTYPES, DType

ROOT = Path(__file__).parent.parent
# The examples of the page on PyTorch need PyTorch, an optional dependency: `./dev pytorch` runs them.
NOT_RUN = () if importlib.util.find_spec("torch") else ("torch.md",)
PAGES = sorted(page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")) if page.name not in NOT_RUN)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SITE = runpy.run_path(str(ROOT / "docs/conf.py"))  # with the modules that make the reference
# Blocks that take packages which vkarray does not need say so in a comment before. Tests of their own run them.
FENCE = re.compile(r"^(?:<!-- needs ([\w, ]+) -->\n)?```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def python_examples(text: str) -> str:
    """The fenced Python blocks of a Markdown text that need no packages, each on its own lines, all else blanked."""
    kept = [""] * len(text.splitlines())
    for match in FENCE.finditer(text):
        if match[1]:
            continue
        first = text.count("\n", 0, match.start(2))
        for offset, line in enumerate(match[2].splitlines()):
            kept[first + offset] = line
    return "\n".join(kept) + "\n"


def failures(test: doctest.DocTest) -> str:
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    return "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where they may write files
    examples = python_examples(page.read_text(encoding="utf-8"))
    assert ">>>" in examples or "```python" not in page.read_text(encoding="utf-8"), (
        "a Python block without a prompt is never run"
    )
    if configuration.current().guard and "bytes_in_use" in examples:
        pytest.skip("VKARRAY_GUARD is on, and the examples count bytes without guards")
    if "dask" in examples:
        pytest.importorskip("dask", reason="the examples use Dask, which is not installed")
    missing = [name for name, dtype in DTYPES.items() if name in examples and dtype not in supported([dtype])]
    if missing:
        pytest.skip(f"the device has no {', '.join(missing)} (no shaderInt64, no shaderFloat64); the examples use them")
    if "demo-output/" in examples:
        leave_what_the_demo_leaves()
    if page.name == "torch.md":  # which says itself what happens beside CUDA
        give_pytorch_the_device()
    test = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
    assert not failures(test)


def give_pytorch_the_device() -> None:
    """The device `vulkan` in this process, also where PyTorch has another accelerator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("vkarray.torch").register_device()


def leave_what_the_demo_leaves() -> None:
    """The program of the demo, trained as there."""
    *_, weights = demo.read_digits(Report(vkarray), 25, numpy.random.default_rng(1))
    Path("demo-output").mkdir()
    digits.reader(*weights).save("demo-output/digits.vkp", targets=())


NEEDS = [(page, match) for page in PAGES for match in FENCE.finditer(page.read_text(encoding="utf-8")) if match[1]]


@pytest.mark.parametrize(("page", "match"), NEEDS, ids=[f"{page.name}-{match[1]}" for page, match in NEEDS])
def test_examples_that_need_packages(
    page: Path, match: re.Match[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = [name for name in re.findall(r"\w+", match[1]) if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(
            f"not installed: {', '.join(missing)}, which this example of {page.name} needs; ./dev pytorch has them"
        )
    if not supported([DTYPES["int64"]]):
        pytest.skip("the device has no shaderInt64, and tokens are int64")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT)
    test = doctest.DocTestParser().get_doctest(match[2], {"vx": vkarray}, page.name, str(page), match.start(2))
    assert not failures(test)


def documented_modules() -> list[str]:
    """All modules but those that need PyTorch, found without importing any: where PyTorch has CUDA, that import warns."""
    folder = Path(vkarray.__file__).parent
    parts = [path.relative_to(folder.parent).with_suffix("").parts for path in sorted(folder.rglob("*.py"))]
    names = [".".join(part for part in of_file if part != "__init__") for of_file in parts]
    needs_torch = (".torch", "vkarray.command.models")
    return [name for name in names if not name.endswith("__main__") and not any(map(name.__contains__, needs_torch))]


@pytest.mark.parametrize("name", documented_modules())
def test_examples_of_docstrings(name: str) -> None:
    if name == "vkarray.dask":
        pytest.importorskip("dask", reason="the module is for Dask, which is not installed")
    module = importlib.import_module(name)
    found = doctest.DocTestFinder(exclude_empty=True).find(module, globs={"vx": vkarray, "vkarray": vkarray})
    assert not "".join(failures(test) for test in found if test.examples)


def test_every_function_is_in_the_list_of_functions_once() -> None:
    listed = re.findall(r"^\| \[`(\w+)`\]\(\S+\) \| \S", SITE["chapters"].tables(), re.MULTILINE)
    public = {name for name in vars(vkarray) if not name.startswith("_") and callable(getattr(vkarray, name))}
    functions = {name for name in public if not isinstance(getattr(vkarray, name), (type, DType))}
    assert functions <= set(listed)
    namespaces = [module for module in vars(vkarray).values() if isinstance(module, ModuleType)]
    assert all(
        listed.count(name) <= 1 + sum(name in getattr(module, "__all__", ()) for module in namespaces)
        for name in listed
    )


def test_extraction_keeps_blocks_apart() -> None:
    text = "words\n```python\n>>> 1 + 1\n2\n```\nmore\n```python\n>>> 3\n4\n```\n"
    test = doctest.DocTestParser().get_doctest(python_examples(text), {}, "page", "page", 0)
    assert [(example.want, example.lineno) for example in test.examples] == [("2\n", 2), ("4\n", 7)]
    assert "Expected:\n    4\nGot:\n    3" in failures(test)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_pages_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    unknown = [name for name in re.findall(r"\bvx\.([A-Za-z_]\w*)", text) if not hasattr(vkarray, name)]
    assert not unknown, f"{page.name} speaks of vx.{', vx.'.join(unknown)}"
    switches = {switch.variable for switch in configuration.SWITCHES}
    assert set(re.findall(r"\bVKARRAY_[A-Z_]+\b", text)) <= switches
    commands = set(re.findall(r"\./dev ([a-z]+)", text))
    script = (ROOT / "dev").read_text(encoding="utf-8")
    assert all(re.search(rf"^    {command}( \| .*)?\)", script, re.MULTILINE) for command in commands)


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / "benchmarks").rglob("*.md")], ids=lambda page: page.name)
def test_links_between_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def public_functions() -> dict[str, Callable[..., Any]]:
    """What users call: the functions of the namespaces, and the methods of arrays and generators."""
    names = {None: [name for name in dir(vkarray) if name not in dir(vkarray.errors)]}
    names |= {each: getattr(vkarray, each).__all__ for each in ("linalg", "fft", "random")}
    found = {
        f"{space or 'vkarray'}.{name}": getattr(getattr(vkarray, space) if space else vkarray, name)
        for space, listed in names.items()
        for name in listed
        if not name.startswith("_")
    }
    for owner in (vkarray.VkArray, vkarray.random.Generator):
        found |= {f"{owner.__name__}.{name}": getattr(owner, name) for name in dir(owner) if not name.startswith("_")}
    return {name: function for name, function in found.items() if inspect.isroutine(function)}


def test_every_public_function_is_documented_with_types() -> None:
    public = public_functions()
    assert len(public) > 200
    assert not [name for name, function in public.items() if not (function.__doc__ or "").strip()]
    for name, function in public.items():
        signature = inspect.signature(function)
        parameters = [each for each in signature.parameters.values() if each.name != "self"]
        bare = [each.name for each in parameters if each.annotation is each.empty]
        assert not bare, f"{name} has parameters without a type"
        assert signature.return_annotation is not signature.empty, f"{name} has no type of its result"


def test_the_namespace_lists_what_is_public() -> None:
    listed = {name for name in dir(vkarray) if not name.startswith("__")}
    assert listed == set(vkarray.__all__)
    assert {"add", "bool", "fft", "pi", "newaxis", "float32", "kernel", "FeatureError"} <= listed
    modules = {name for name in listed if isinstance(getattr(vkarray, name), ModuleType)}
    assert modules == {"exceptions", "fft", "lib", "linalg", "polynomial", "random", "testing", "typing"}
    assert "annotations" not in listed


def test_docstrings_of_functions_tell_errors() -> None:
    functions = {name: each for name, each in public_functions().items() if not name.startswith("VkArray.")}
    assert not [name for name, each in functions.items() if not re.search("[Rr]aises|[Ee]rrors", each.__doc__ or "")]


# -- the page on the architecture ---------------------------------------------------------------------------------------

ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
SOURCES = sorted((ROOT / "vkarray").rglob("*.py"))


def definitions(path: Path) -> set[str]:
    """The functions, classes, methods and names that a file defines: inner ones after a dot, those of Python's too."""
    found: set[str] = set()

    def add(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(f"{prefix}{node.name}")
                add(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [each for target in targets for each in ast.walk(target)]
                found.update(f"{prefix}{each.id}" for each in names if isinstance(each, ast.Name))
                continue
            for block in ("body", "orelse", "finalbody", "handlers") if not prefix else ():
                if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    add(getattr(node, block, []), prefix)

    add(ast.parse(path.read_text(encoding="utf-8")).body, "")
    return found


def missing_files(text: str) -> list[str]:
    """The files of the repository that a page names and that are not there."""
    paths = re.findall(r"`((?:vkarray|glsl|tests|docs|benchmarks)/[\w/.-]*)`", text)
    return [path for path in paths if not (ROOT / path).exists()]


def missing_names(text: str) -> list[str]:
    """What a page names that is not there: files, and functions in the file that is named beside them."""
    missing = missing_files(text)
    beside = re.findall(r"`([\w.]+)` (?:in|\||\() ?`(vkarray/[\w/]+\.py)`", text)
    missing += [f"{name} in {path}" for path, name in {(path, name) for name, path in beside if path not in missing}
                if name not in definitions(ROOT / path)]  # fmt: skip
    known = {name for path in SOURCES for name in definitions(path)}
    known |= {name.rpartition(".")[2] for name in known} | set(vars(vkarray))
    named = re.findall(r"`([A-Za-z_]*(?:[a-z_][A-Z]|[A-Z][a-z]|_)\w*(?:\.\w+)*)`", text)
    switches = {switch.variable for switch in configuration.SWITCHES}
    return missing + [name for name in named if name not in known | switches and name.split(".")[0] not in PACKAGES]


PACKAGES = {path.stem for path in (ROOT / "vkarray").iterdir()} | {"ml_dtypes"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_exist(page: Path) -> None:
    recipes = page.name == "CONTRIBUTING.md"  # it names files that are to be written
    assert not missing_files(
        page.read_text(encoding="utf-8").partition("## Add a kernel family" if recipes else "\0")[0]
    )


def test_files_and_functions_of_the_architecture_exist() -> None:
    assert not missing_names(ARCHITECTURE)
    assert missing_names("`nothing_of_this_name` in `vkarray/core/array.py`, `vkarray/nowhere.py`")


def test_imports_of_the_architecture_are_the_rules() -> None:
    rules = runpy.run_path(str(ROOT / "tests/test_imports.py"))["RULES"]
    table = ARCHITECTURE.partition("| Module | May import")[2].partition("\n\n")[0].splitlines()[2:]
    every = {"everything": {"*"}, "nothing": set()}
    for line in table:
        modules, inside, outside = (cell.strip() for cell in line.strip("|").split("|"))
        for module in re.findall(r"`([\w.]+)`", modules):
            said = tuple(every.get(cell, set(re.findall(r"`([\w.]+)`", cell))) for cell in (inside, outside))
            assert said == rules[module], module
    missing = [path.stem for path in (ROOT / "vkarray").iterdir() if (path / "__init__.py").exists()
               and f"`{path.stem}`" not in "".join(table)]  # fmt: skip
    assert not missing


# -- the reference --------------------------------------------------------------------------------------------------------


def words(text: str) -> collections.Counter[str]:
    """The words of a text without what Markdown adds: its sentences may have moved to sections of their own."""
    return collections.Counter(
        re.findall(r"\w+", re.sub(r"\{py:obj\}`(\S+) <\S+>`", r"`\1`", text.replace("\\", "")).lower())
    )


def torch_names() -> dict[str, str]:
    """The public names of `vkarray.torch`, where PyTorch need not be installed, and docstrings of their definitions."""
    folder = ROOT / "vkarray/torch"
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    listed = next(ast.literal_eval(node.value) for node in tree.body
                  if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")  # fmt: skip
    nodes = [node for path in folder.rglob("*.py") for node in ast.parse(path.read_text(encoding="utf-8")).body]
    made = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in listed]
    found = {node.name: ast.get_docstring(node) or "" for node in made}
    assert set(found) == set(listed)
    return found


def test_every_public_name_is_in_the_reference_with_its_docstring() -> None:
    pages = SITE["pages"].pages()

    entries = collections.defaultdict(list)
    for page in pages.values():
        names = set(re.findall(r"^`+{py:(?:function|class|exception|data)} (\w+)", page, re.MULTILINE))
        for module, name in itertools.product(set(re.findall(r"module} (\S+)\n", page)), names):
            entries[module, name].append(page)

    def told(module: str, name: str, documentation: str | None) -> bool:
        found = entries[module, name]
        # "Standard: elementwise functions, `add`." is a link to that page.
        text = re.sub(r"Standard(: [^.`]*`(\w+\.)?(\w+)`)?", r"\3", inspect.cleandoc(documentation or ""))
        return len(found) == 1 and not words(text) - words(found[0]) - collections.Counter(SECTIONS)

    missing = [f"vkarray.torch.{name}" for name, said in torch_names().items() if not told("vkarray.torch", name, said)]
    for module in (vkarray, vkarray.linalg, vkarray.fft, vkarray.random):
        for name in module.__all__:
            value = getattr(module, name)
            alias = isinstance(value, type) and value.__name__ != name and value.__name__ in vkarray.__all__
            said = value.__doc__ if callable(value) and not alias and not isinstance(value, DType) else ""
            if not isinstance(value, ModuleType) and not told(module.__name__, name, said):
                missing.append(f"{module.__name__}.{name}")
    for module, owner in (("vkarray", vkarray.VkArray), ("vkarray.random", vkarray.random.Generator)):
        page = pages[f"reference/{module}.{owner.__name__}"]
        for name in (name for name in dir(owner) if not name.startswith("_")):
            said = inspect.cleandoc(inspect.getattr_static(owner, name).__doc__ or "")
            if f"}} {name}" not in page or words(said) - words(page) - collections.Counter(SECTIONS):
                missing.append(f"{owner.__name__}.{name}")
    assert not missing


SECTIONS = {"standard": 9, "where": 9, "and": 9}  # what sections say with fewer words


def test_every_function_has_an_example_that_runs() -> None:
    without = []
    for module in (vkarray, vkarray.linalg, vkarray.fft, vkarray.random):
        for name in SITE["chapters"].functions_of(module):
            own = ">>>" in (getattr(module, name).__doc__ or "")
            if not own and SITE["pages"].sessions.example(module.__name__, name) is None:
                without.append(f"{module.__name__}.{name}")
    assert not without, f"write an example in docs/examples.toml, or in the docstring, for {', '.join(without)}"
    listed = {f"{space}.{name}" for space, names in SITE["pages"].sessions.table().items() for name in names}
    public = {f"{module.__name__.rpartition('.')[2]}.{name}" for module in (vkarray, vkarray.linalg, vkarray.fft,
              vkarray.random) for name in module.__all__}  # fmt: skip
    assert listed <= public


def test_docstrings_become_sections() -> None:
    text = (
        "The sum.\n\nParameters: x (numeric); axis, an integer. Returns an array.\n"
        "Raises TypeError for text. It waits.\nMethod: a tree."
    )
    page = SITE["pages"].sections.markdown(text, ["x", "axis"])
    assert page == (
        "The sum.\n\n:Parameters:\n    x\n    : numeric\n\n    axis\n    : an integer.\n:Returns:\n    An array.\n"
        ":Raises:\n    TypeError\n    : for text\n:Method:\n    A tree.\n:Notes:\n    It waits."
    )


# -- the gallery ----------------------------------------------------------------------------------------------------------

PROGRAMS = sorted((ROOT / "examples/gallery").glob("*.py"))


def small(source: str) -> str:
    """A program with few steps and points, on a small picture."""
    head = re.search(r"^([A-Z]\w*(?:, [A-Z]\w*)*) = ([\d_, ]+)$", source, re.MULTILINE)
    assert head
    least = {"STEPS": 60, "SIZE": 32, "RADIUS": 2, "POINTS": 50, "STARS": 50, "WIDTH": 8}
    return source.replace(head[0], f"{head[1]} = {', '.join(str(least[name]) for name in head[1].split(', '))}")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_of_the_gallery_draw_a_picture(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 60
    exec(compile(small(source), path.name, "exec"), {"__name__": "program"})
    picture = numpy.asarray(Image.open(f"{path.stem}.png").convert("L"))
    assert picture.size >= 32 * 32
    assert picture.std() > 1, "the picture has one colour"


def test_the_gallery_has_ten_programs() -> None:
    assert len(PROGRAMS) == 10
