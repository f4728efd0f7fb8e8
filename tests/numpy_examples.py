"""NumPy's own examples, from its docstrings, run with vkarray in the place of NumPy.

`python tests/numpy_examples.py` writes docs/numpy-examples.md; with names of functions, it shows what differs in their examples.
An example counts when NumPy itself prints here what its docstring says, so results that vary, and what needs other packages, are
left out. Printed results are compared as numbers and words: spaces do not count, numbers may differ by what NumPy's eight digits
round, and a value of one element is the same as `array(3.)`, `np.float64(3.0)` and `3.0`.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import math
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy

import vkarray

PAGE = Path(__file__).parent.parent / "docs" / "numpy-examples.md"
MODULES = ("", "linalg", "fft", "random", "lib.stride_tricks")
VARIES = re.compile(r"#\s*(may vary|random|uninitialized|doctest: \+SKIP)", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.])", re.IGNORECASE)
TOKEN = re.compile(rf"{NUMBER.pattern}|\w+|[^\w\s]", re.IGNORECASE)
# What is the same: NumPy's scalars are values of no dimensions here.
SAME = (
    (re.compile(r"\b(?:np|numpy|vkarray)\.(True|False)_?"), r"\1"),
    (re.compile(r"\b(?:np|numpy)\.(?:u?int|float|complex|bool)\w*\(([^()]*|\([^()]*\))\)"), r"\1"),
    (re.compile(r"\barray\((?!\s*\[)([^()\[\],]*)(?:,\s*dtype=\w+)?\)"), r"\1"),
    (re.compile(r"\barray\(\(([^()\[\],]*)\)(?:,\s*dtype=\w+)?\)"), r"(\1)"),
    (re.compile(r"\bdtype\('(\w+)'\)"), r"\1"),
    (re.compile(r"\b(?:vkarray|numpy|np)\."), ""),
    (re.compile(r",\s*(?=[\])])"), ""),
)


NUMPY = tuple(map(int, numpy.__version__.split(".")[:2]))
# Why examples of these functions print something else.
REASONS = {
    "strings, dates, structured types and Python objects, which vkarray does not have":
        "argsort array array_repr asanyarray asarray can_cast concat diff dtype frombuffer fromfile fromiter frompyfunc genfromtxt "
        "isin isreal isrealobj issubdtype lexsort load loadtxt mean ndarray.copy ndarray.fill ndarray.sort ndarray.view outer "
        "promote_types shape tensordot unique zeros linalg.cholesky linalg.outer linalg.tensordot",
    "memory is in C's order and that of the device, can always be written to, and views do not know what they are of":
        "ascontiguousarray asfortranarray atleast_2d isfortran nditer ravel require ndarray.base ndarray.byteswap ndarray.resize "
        "ndarray.setflags",
    "random numbers are other ones": "corrcoef random.default_rng ndarray.item",
    "elements are arrays of 0 dimensions, types and classes have their own names":
        "bitwise_left_shift common_type flatiter ndarray.flat ndarray.tolist random.random_integers random.random_sample "
        "trim_zeros ufunc.ntypes ufunc.types vectorize",
    "other errors of rounding, another sign of an eigenvector, or another order of equal choices":
        "fft.rfft2 ldexp linalg.eig linalg.eigh linalg.inv partition sinh",
    "the standard's eigenvalues of general matrices are complex": "linalg.eigvals" if NUMPY < (2, 5) else "",  # as NumPy 2.5's
    "devices do not tell of floating-point errors": "geterr seterr",
    "functions of arrays take no polynomials": "poly1d",
    "what overlaps itself cannot be written to": "lib.stride_tricks.sliding_window_view",
    "NumPy's casting same_value is not there": "ndarray.astype",
    "the example is of a private module": "ufunc.signature",
}  # fmt: skip


class Example(NamedTuple):
    """An example: its number in the docstring, its source, what NumPy says, what vkarray printed, and whether that is the same."""

    number: int
    source: str
    wanted: str
    printed: str
    same: bool


def documented() -> Iterator[tuple[str, str]]:
    """The names that NumPy and vkarray both have, with NumPy's docstrings; one name of those that mean the same."""
    seen = set()
    for module in MODULES:
        theirs, ours = resolve(numpy, module), resolve(vkarray, module)
        for name in sorted(dir(ours)):
            found = getattr(theirs, name, None)
            if not name.startswith("_") and callable(found) and id(found) not in seen:
                seen.add(id(found))
                yield f"{module}.{name}".lstrip("."), found.__doc__ or ""
    for owner in ("ndarray", "ufunc"):
        ours = vkarray.ndarray if owner == "ndarray" else type(vkarray.add)
        for name in sorted(dir(ours)):
            if not name.startswith("_") and hasattr(getattr(numpy, owner), name):
                yield f"{owner}.{name}", getattr(numpy, owner).__dict__[name].__doc__ or ""


def resolve(package: Any, module: str) -> Any:
    for part in filter(None, module.split(".")):
        package = getattr(package, part)
    return package


def run(name: str, text: str, package: str) -> dict[int, tuple[doctest.Example, str]]:
    """What each example with a printed result printed with a package in the place of NumPy."""
    test = doctest.DocTestParser().get_doctest(text, {"np": sys.modules[package]}, name, name, 0)
    for example in test.examples:
        example.source = re.sub(
            r"^(\s*(?:import|from)\s+)numpy\b", rf"\g<1>{package}", example.source, flags=re.MULTILINE
        )
        example.options.clear()
    printed: dict[int, tuple[doctest.Example, str]] = {}

    class Runner(doctest.DocTestRunner):
        def report_success(self, out, test, example, got):
            printed[test.examples.index(example)] = example, got

        report_failure = report_success

        def report_unexpected_exception(self, out, test, example, exception):
            printed[test.examples.index(example)] = example, f"{exception[0].__name__}: {exception[1]}"

    class Checker(doctest.OutputChecker):
        def check_output(self, want, got, flags):
            return True

    Runner(Checker()).run(test, out=lambda text: None)
    return printed


def examples(name: str, text: str) -> list[Example]:
    """The examples of a docstring that count, as vkarray does them."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        with numpy.printoptions():
            theirs = run(name, text, "numpy")
        counted = {}
        for number, (example, printed) in theirs.items():
            wanted = example.want or example.exc_msg or ""
            if wanted and not VARIES.search(wanted + example.source) and same(printed, wanted):
                counted[number] = wanted
        if not counted:
            return []
        with numpy.printoptions(), vkarray.errstate(), vkarray.config(default_float="float64"):
            ours = run(name, text, "vkarray")
    return [
        Example(number, ours[number][0].source, wanted, ours[number][1], same(ours[number][1], wanted))
        for number, wanted in counted.items()
    ]


def same(printed: str, wanted: str) -> bool:
    """Whether two printed results say the same; of errors, whether their classes are the same."""
    error = re.match(r"(?:\w+\.)*(\w*(?:Error|Exception|Warning))\b", wanted)
    if error:
        return bool(re.match(rf"(?:\w+\.)*{error[1]}\b", printed))
    ours, theirs = tokens(printed), tokens(wanted)
    return len(ours) == len(theirs) and all(map(alike, ours, theirs))


def tokens(text: str) -> list[str]:
    text = re.sub(r"#.*", "", text).replace("<BLANKLINE>", "")
    for pattern, replacement in SAME:
        text = pattern.sub(replacement, text)
    text = re.sub(r"(?<=[\d.j)\]])(?=[-+])", " ", text)  # the parts of complex numbers
    return TOKEN.findall(text)


def alike(one: str, other: str) -> bool:
    if one == other:
        return True
    if not (NUMBER.fullmatch(one) and NUMBER.fullmatch(other)):
        return False
    places = len(other.partition(".")[2].lower().partition("e")[0]) if "e" not in other.lower() else 8
    return math.isclose(
        float(one), float(other), rel_tol=1e-7, abs_tol=max(1e-12, 1.1 * 10.0**-places if "." in other else 0)
    )


def everything() -> dict[str, list[Example]]:
    """The examples that count of all functions, in a folder of their own for the files that they write."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return {name: found for name, text in documented() if (found := examples(name, text))}


def share(found: list[Example]) -> str:
    return f"{sum(example.same for example in found)} of {len(found)}"


def page(found: dict[str, list[Example]]) -> str:
    """The page: how many examples print the same, and where not all of a function's do, why."""
    every = [example for one in found.values() for example in one]
    lines = [
        "# NumPy's examples",
        "",
        f"The examples in the docstrings of NumPy {numpy.__version__}, run with vkarray in the place of NumPy, with float64 as the "
        f"default floating type: {share(every)} print the same ({sum(example.same for example in every) / len(every):.1%}), "
        f"of {len(found)} functions and methods. Examples count whose results NumPy itself prints as its docstrings say.",
        "`python tests/numpy_examples.py` writes this page; with names of functions, it shows what differs in their examples.",
        "",
        "| Function | Print the same | The others |",
        "| --- | --- | --- |",
    ]
    for reason, names in REASONS.items():
        lines += [f"| `{name}` | {share(found[name])} | {reason} |" for name in names.split() if name in found]
    whole = [f"`{name}`" for name, one in found.items() if all(example.same for example in one)]
    return "\n".join([*lines, "", f"All examples print the same of {', '.join(whole)}."]) + "\n"


def main(names: list[str]) -> None:
    if not names:
        PAGE.write_text(page(everything()), encoding="utf-8")
    texts = dict(documented())
    for name in names:
        for example in examples(name, texts[name]):
            if not example.same:
                print(f"--- {name} [{example.number}]\n>>> {example.source}{example.wanted}GOT {example.printed}")


if __name__ == "__main__":
    main(sys.argv[1:])
