"""Run NumPy's own tests with vkarray in the place of NumPy: `python tests/numpy_suite/run.py [FILE ...]`.

Without files, all of `FILES` run, for some hours on two cores. What became of each test is kept in build/numpy-suite, a file of
lines for each file of tests. The counts of a file go to docs/numpy-tests.json, of which docs/numpy-tests.md is written, so files
that do not run again keep theirs.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NUMPY = Path(numpy.__file__).parent
RESULTS = ROOT / "build" / "numpy-suite"
CRASHES = 20
RECORD, PAGE = ROOT / "docs" / "numpy-tests.json", ROOT / "docs" / "numpy-tests.md"
FILES = {
    "_core": "test_einsum test_function_base test_getlimits test_indexing test_item_selection test_multiarray test_numeric "
    "test_scalarmath test_shape_base test_ufunc test_umath test_umath_complex",
    "lib": "test_arraypad test_arraysetops test_function_base test_histograms test_index_tricks test_nanfunctions test_packbits "
    "test_polynomial test_shape_base test_stride_tricks test_twodim_base test_type_check test_ufunclike",
    "linalg": "test_linalg",
    "fft": "test_helper test_pocketfft",
}  # fmt: skip
LACKING = "types that devices lack: objects, strings, dates, structures, long double, other byte orders, metadata"
# Why a test failed, by the text of the error: the first pattern that is found.
CLASSES = (
    ("subclasses, and objects that stand for arrays",
     r"got (<class ')?[\w.]*(<locals>|[Ss]ubclass|[Mm]atrix|MaskedArray)|as out, got A\.|"
     r"'(matrix|ma|asmatrix|memmap|recarray|chararray|rec|view|__array_wrap__|__array_finalize__)'"),
    (LACKING,
     r"expected a data type|expected numbers, got|no dtype for NumPy|'(longdouble|clongdouble|void|object_|str_|bytes_|datetime64|"
     r"timedelta64|isnat|longcomplex)'|newbyteorder|fit any integer dtype|no integer type holds|got (None|'')|got <.* object at|"
     r"fractions\.Fraction|decimal\.Decimal|\bmetadata\b|_rational_tests"),
    ("NumPy's C, its buffers and its memory",
     r"bytes-like object|vkarray has no function of that name|SystemError|must be numpy\.ndarray|test needs ndarray|"
     r"always be written to|beginning of the memory|'(_?ctypes|data|__array_struct__|PZERO|BUFSIZE|lapack_lite|"
     r"_resolve_dtypes_and_context|_get_strided_loop|resolve_dtypes|setbufsize|getbufsize|get_handler_name|flagsobj)'|"
     r"buffers.* argument|MemoryError|OutOfMemory"),
    ("floating-point errors, of which devices do not tell", r"devices do not tell|DID NOT WARN|Items are not equal:\s*ACTUAL: 0"),
    ("other words of an error", r"Regex pattern did not match|^AssertionError: \".*\" does not match \""),
    ("NumPy's arrays beside vkarray's", r"got (a |an )?(vkarray array and a )?(numpy\.)?ndarray|Convert it with vkarray\.asarray"),
    ("more than 30 seconds on a processor", r"TimeoutError"),
    ("another name that vkarray does not have", r"AttributeError: .*has no attribute"),
    ("a type of numbers that a function does not take", r"TypeError: \w+: expected"),
    ("a parameter that is not there", r"TypeError: .*(unexpected keyword|positional argument|positional-only)"),
    ("no error where NumPy has one", r"DID NOT RAISE|not raised"),
    ("arrays of 0 dimensions where NumPy has scalars",
     r"^AssertionError.*(ACTUAL: <class 'vkarray|\n.*(isinstance\(|type\())"),
    ("the order in memory, and which arrays share it",
     r"^AssertionError.*\n.*(flags|strides|contiguous|fortran|\.base|owndata|shar|order|persist|refcount|sizeof| is (not )?\w)"),
    ("signatures and documentation", r"^AssertionError.*\n.*(sig|__doc__|__text_signature__|Signature)"),
    ("other values, types or texts", r"^AssertionError"),
    ("another error than NumPy's", ""),
)  # fmt: skip
ALL = [f"{folder}/tests/{name}.py" for folder, names in FILES.items() for name in names.split()]


def run(file: str, *options: str) -> list[dict[str, Any]]:
    """What became of the tests of a file of NumPy's that use what vkarray stands for."""
    lines = lines_of(file)
    lines.parent.mkdir(parents=True, exist_ok=True)
    lines.unlink(missing_ok=True)
    environment = {
        **os.environ, "NUMPY_SUITE_RESULTS": str(lines), "NPY_AVAILABLE_MEM": "1 GB",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE), os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", str(NUMPY / file), "-p", "plugin", "-p", "no:cacheprovider", "-q", "--tb=no",
               "-W", "ignore", "--assert=plain", f"--rootdir={NUMPY}", "-c", os.devnull, *options]  # fmt: skip
    for _ in range(CRASHES):  # tests of NumPy's own C may end the process; another one goes on after them
        done = subprocess.run(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
        if done.returncode >= 0:
            break
    return kept(file)


def lines_of(file: str) -> Path:
    return RESULTS / (file.replace("/", "-") + ".jsonl")


def kept(file: str) -> list[dict[str, Any]]:
    """What became of the tests of a file when it ran last."""
    lines = lines_of(file)
    every = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()] if lines.exists() else []
    return [line for line in every if "passed" in line]


def class_of(result: dict[str, Any]) -> str:
    """The class of a failure, by the error and, on a line of its own, the statement of the test."""
    text = f"{' '.join(result['error'].split())}\n{result['statement']}"
    return next(name for name, pattern in CLASSES if re.search(pattern, text))


def counts(results: list[dict[str, Any]]) -> dict[str, int]:
    """How many tests pass, under "passed", and how many fail for each class of reasons."""
    return dict(collections.Counter("passed" if one["passed"] else class_of(one) for one in results).most_common())


def share(one: dict[str, int]) -> str:
    passed, total = one.get("passed", 0), sum(one.values())
    return f"{passed} of {total} ({passed / max(total, 1):.0%})"


def page(record: dict[str, dict[str, int]]) -> str:
    """The page: the share that passes of each file, and why tests fail."""
    every: collections.Counter[str] = collections.Counter()
    for one in record.values():
        every.update(one)
    lines = [
        "# NumPy's tests",
        "",
        f"The tests of NumPy {numpy.__version__} of its arrays and functions, run with vkarray in the place of NumPy, with float64 "
        f"as the default floating type: {share(every)} pass; without those of types that devices lack, "
        f"{share({name: count for name, count in every.items() if name != LACKING})}. Tests count that use a function which "
        "vkarray stands for, and that NumPy does not skip. `python tests/numpy_suite/run.py` writes this page.",
        "",
        "| File | Pass | Most of the others for |",
        "| --- | --- | --- |",
    ]
    for file in filter(record.__contains__, ALL):
        classes = collections.Counter(record[file])
        classes.pop("passed", None)
        why = "; ".join(f"{name} ({count})" for name, count in classes.most_common(2))
        lines.append(f"| `numpy/{file}` | {share(record[file])} | {why} |")
    lines += ["", "| Why tests fail | Tests |", "| --- | --- |"]
    lines += [f"| {name} | {count} |" for name, count in every.most_common() if name != "passed"]
    return "\n".join(lines) + "\n"


def main(files: list[str]) -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    for file in files or ALL:
        record[file] = counts(run(file))
        print(file, share(record[file]), flush=True)
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        PAGE.write_text(page(record), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"of the tests (default: all): {', '.join(ALL)}")
    asked = parser.parse_args().files
    if unknown := [file for file in asked if file not in ALL]:  # what is written would count no tests of them
        parser.error(f"got {unknown[0]!r}; --help has the files that there are")
    main(asked)
