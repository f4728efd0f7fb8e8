"""Run the tests of SciPy and scikit-learn that take arrays of any library: `python tests/array_api_suites/run.py [FILE ...]`.

They run with vkarray; where one fails, also with array-api-strict, which has what the array API standard says and nothing besides.
Without files, all of `FILES` run, for an hour or so, and docs/scipy-tests.md is written. What became of each test is kept in
build/array-api-suites, a file of lines for each library and file of tests.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from importlib import metadata, util
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PACKAGES = Path(util.find_spec("scipy").origin).parent.parent
RESULTS = ROOT / "build" / "array-api-suites"
PAGE = ROOT / "docs" / "scipy-tests.md"
FILES = {
    "scipy/_lib": "test__util test_array_api",
    "scipy/cluster": "test_hierarchy test_vq",
    "scipy/constants": "test_constants",
    "scipy/differentiate": "test_differentiate",
    "scipy/fft": "test_basic test_fftlog test_helper test_real_transforms",
    "scipy/integrate": "test_cubature test_quadrature test_tanhsinh",
    "scipy/interpolate": "test_polyint test_rbfinterp test_rgi",
    "scipy/linalg": "test_procrustes test_special_matrices",
    "scipy/optimize": "test_bracket test_chandrupatla test_optimize",
    "scipy/signal": "test_bsplines test_cont2discrete test_filter_design test_fir_filter_design test_ltisys test_savitzky_golay "
    "test_signaltools test_splines test_upfirdn test_windows",
    "scipy/spatial/transform": "test_rigid_transform test_rotation test_rotation_spline",
    "scipy/special": "test_logsumexp test_support_alternative_backends",
    "scipy/stats": "test_continued_fraction test_correlation test_device_dtype test_entropy test_hypotests test_morestats "
    "test_quantile test_rank test_resampling test_stats test_variation",
    "sklearn": "test_calibration test_kernel_approximation test_naive_bayes test_pipeline",
    "sklearn/_loss": "test_link test_loss",
    "sklearn/decomposition": "test_pca",
    "sklearn/linear_model": "test_logistic test_ridge",
    "sklearn/linear_model/_glm": "test_glm",
    "sklearn/metrics": "test_classification test_common test_pairwise",
    "sklearn/metrics/cluster": "test_common test_supervised",
    "sklearn/mixture": "test_gaussian_mixture",
    "sklearn/model_selection": "test_search test_split test_validation",
    "sklearn/preprocessing": "test_data test_label test_polynomial",
    "sklearn/utils": "test_array_api test_extmath test_indexing test_multiclass test_optimize test_stats test_validation",
}  # fmt: skip
ALL = [f"{folder}/tests/{name}.py" for folder, names in FILES.items() for name in names.split()]

Results = dict[str, dict[str, Any]]  # of tests by their names


def run(file: str, library: str) -> None:
    """Run the tests of a file that take arrays of any library."""
    lines = RESULTS / library / (file.replace("/", "-") + ".jsonl")
    lines.parent.mkdir(parents=True, exist_ok=True)
    lines.unlink(missing_ok=True)
    environment = {
        **os.environ, "SCIPY_ARRAY_API": "1", "VKARRAY_DEFAULT_FLOAT": "float64", "ARRAY_API_NAMESPACE": library,
        "ARRAY_API_RESULTS": str(lines), "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE), os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", str(PACKAGES / file), "-p", "plugin", "-p", "no:cacheprovider", "-q", "--tb=no",
               "-W", "ignore", f"--rootdir={PACKAGES / file.partition('/')[0]}", "-c", os.devnull, "-m", "not slow"]  # fmt: skip
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def results(file: str, library: str) -> Results:
    """What became of the tests of a file."""
    lines = RESULTS / library / (file.replace("/", "-") + ".jsonl")
    every = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()] if lines.exists() else []
    return {line["test"]: line for line in every}


def share(found: Results) -> str:
    """How many of the tests that were not skipped pass."""
    outcomes = [result["outcome"] for result in found.values()]
    return f"{outcomes.count('passed')} of {len(outcomes) - outcomes.count('skipped')}"


def failed(found: Results) -> Results:
    return {test: result for test, result in found.items() if result["outcome"] == "failed"}


def page() -> str:
    """The page: how many tests pass, and what those that fail say."""
    found = {file: results(file, "vkarray") for file in ALL}
    versions = {name: metadata.version(name) for name in ("scipy", "scikit-learn", "array_api_strict")}
    every = {f"{file}::{test}": one for file, tests in found.items() for test, one in tests.items()}
    lines = [
        "# SciPy's and scikit-learn's tests",
        "",
        f"The tests of SciPy {versions['scipy']} and scikit-learn {versions['scikit-learn']} that take arrays of any library, run "
        f"with float64 as the default floating type: {share(every)} pass. Tests that these libraries skip do not count, nor slow "
        "ones, nor those that SciPy has for lazy libraries alone. `python tests/array_api_suites/run.py` writes this page.",
        "",
        "| File | Pass |",
        "| --- | --- |",
        *(f"| `{file}` | {share(tests)} |" for file, tests in found.items()),
        "",
        "NumPy's functions, given arrays of vkarray's, compute on the device and return arrays of vkarray's, and nothing is copied "
        "to the device silently ([Coming from NumPy](coming-from-numpy.md)). Code that calls them and goes on with NumPy's arrays "
        "beside the results gets the TypeError below.",
        "",
        f"What the others say, and what becomes of them with array-api-strict {versions['array_api_strict']}:",
        "",
        "| Test | Error | With array-api-strict |",
        "| --- | --- | --- |",
    ]
    for file, tests in found.items():
        strict = results(file, "array_api_strict")
        for test, result in failed(tests).items():
            error = " ".join(result["error"].split())[:160].replace("|", "\\|").replace("<", "&lt;")
            there = strict[test]["outcome"] if test in strict else "fails, as expected"
            lines.append(f"| `{test.partition('::')[2]}` of `{file}` | {error} | {there} |")
    return "\n".join(lines) + "\n"


def main(files: list[str]) -> None:
    for file in files or ALL:
        run(file, "vkarray")
        found = results(file, "vkarray")
        print(file, share(found), flush=True)
        if failed(found):
            run(file, "array_api_strict")
    if not files:
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"of the tests (default: all): {', '.join(ALL)}")
    asked = parser.parse_args().files
    if unknown := [file for file in asked if file not in ALL]:  # what is written would count no tests of them
        parser.error(f"got {unknown[0]!r}; --help has the files that there are")
    main(asked)
