"""A representative part of the suite under each debugging mode, and without the features that many devices lack.

The whole suite passes under each of these too: set the variables and run `./dev test`.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray.configuration import SWITCHES
from vkarray.kernels.rows import ROWS

TESTS = Path(__file__).parent
MODES = {
    "validation layers": {"VKARRAY_VALIDATION": "1"},
    "guard bytes": {"VKARRAY_GUARD": "1"},
    "barrier checker": {"VKARRAY_CHECK_BARRIERS": "1"},
    "comparison with NumPy": {"VKARRAY_COMPARE": "1"},
    "no mapped memory": {"VKARRAY_PROFILE": "incoherent-memory", "VKARRAY_DISABLE": "hostVisibleDeviceMemory"},
    "32-bit types only": {"VKARRAY_PROFILE": "phone"},
    "few features": {"VKARRAY_PROFILE": "v3d"},
}
# One part of every family of shaders: elementwise, copies, reductions, scans, products, gather and scatter, joins by place,
# user kernels.
SELECTION = {
    "test_array.py": "operators or pickling or scalars",
    "test_compile.py": "normalised or out_of_range",
    "test_compile_places.py": "layouts or reversed or stencil or operators or shifted",
    "test_dlpack.py": "",
    "test_manipulation.py": "every_dtype or test_values",
    "test_indexing.py": "keys_read or keys_write or test_take or every_dtype",
    "test_reductions.py": "rows_columns or test_empty or special_values",
    "test_scans.py": "rows_columns or infinities",
    "test_searching.py": "where or searchsorted",
    "test_nn_indexing.py": "scatter_reduce and float32",
    "test_threads.py": "",
    "test_user_kernel.py": "",
    "test_kernels_of_one_line.py": "raw or places or share",
    "test_reduction_kernel.py": "several_inputs or no_elements or given",
}
# What only GPUs run: arguments in uniform buffers, batches that signal nothing, kernels that meet in shared memory.
AS_GPU = {
    "test_array.py": "operators or pickling or scalars",
    "test_compile.py": "normalised",
    "test_compile_places.py": "layouts or reversed or stencil or operators or shifted",
    "test_matmul.py": "test_vecdot and (int32 or float32)",
    "test_reductions.py": "test_empty",
    "test_scans.py": "infinities",
    "test_searching.py": "where",
}
COMMAND = """
import os, sys, pytest
for name, words in {selection!r}.items():
    plugins = [part for plugin in {plugins!r} for part in ("-p", plugin)]
    code = pytest.main([os.path.join({tests!r}, name), "-q", "-x", "-p", "no:cacheprovider", *plugins, "-k", words])
    if code: sys.exit(f"{{name}}: pytest ended with {{code!r}}")
"""


@pytest.fixture(scope="module")
def missing_layers() -> str:
    """Why there are no validation layers, if so."""
    command = "import vkarray as vx, sys\ntry: vx.asarray(0)\nexcept vx.DeviceError as error: sys.exit(str(error))"
    environment = os.environ | {"VKARRAY_VALIDATION": "1"}
    done = subprocess.run([sys.executable, "-c", command], env=environment, capture_output=True, text=True, check=False)
    return done.stderr.strip() if "is not installed" in done.stderr else ""


@pytest.mark.parametrize("mode", MODES)
def test_mode(mode, missing_layers):
    if mode == "validation layers" and missing_layers:
        pytest.skip(missing_layers)
    run(SELECTION, MODES[mode])


def run(selection: dict[str, str], switches: dict[str, str], plugins: tuple[str, ...] = ()) -> None:
    """Run a selection of the tests under switches, in a process of its own."""
    assert set(switches) <= {switch.variable for switch in SWITCHES}
    command = COMMAND.format(selection=selection, tests=str(TESTS), plugins=plugins)
    # Plugins that happen to be installed may object to each other.
    environment = os.environ | switches | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", command], env=environment, cwd=TESTS.parent, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert done.stdout.count(" passed") == len(selection)


def test_what_only_gpus_run(missing_layers):
    """A CPU driver that passes for a GPU, under the validation layers where these are installed."""
    run(AS_GPU, {} if missing_layers else MODES["validation layers"], ("as_gpu",))


def test_comparison_finds_a_wrong_result():
    """A row whose expression is not what its name says is found out, also in place."""
    row = dataclasses.replace(ROWS["subtract"], name="add", operations={})
    x = vx.asarray([1, 2, 3], dtype=vx.int32)
    with vx.config(compare=True):
        assert (x + 1).tolist() == [2, 3, 4]
        x += 1
        with pytest.raises(
            vx.ValidationError, match=r"^add of int32: 3 of 3 elements differ from NumPy's, the first at"
        ):
            row(x, 1)


def test_the_comparison_allows_for_what_numpy_loses() -> None:
    """exp(x1) + exp(x2) is near 1 here: NumPy's logaddexp is off by thousands of units."""
    first = np.linspace(-3, -0.01, 1000).astype(np.float32)
    second = (np.log(-np.expm1(first.astype(np.float64))) + 1e-6).astype(np.float32)
    for dtype in supported([vx.float32, vx.float64]):
        x1, x2 = (vx.asarray(values, dtype=dtype) for values in (first, second))
        with vx.config(compare=True):
            small = vx.logaddexp(x1, x2)
        assert float(vx.max(vx.abs(small))) < 1e-5
