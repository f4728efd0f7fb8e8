"""`vkarray bench` on small sizes: it checks, measures and reports. How fast anything is, is no matter of a test."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import vkarray as vx
from vkarray.__main__ import main
from vkarray.command import bench, examples, libraries
from vkarray.command.bench import chart, compilers, growth, measure, programs, report, start, work

SMALL = ["--size", "4096", "--matrix", "32", "--rounds", "1", "--peers", "numpy"]


def run(tmp_path, *arguments: str, status: int = 0) -> dict:
    output = tmp_path / "report.json"
    assert main(["bench", *SMALL, *arguments, "--output", str(output)]) == status
    return json.loads(output.read_text(encoding="utf-8"))


def names(chapter: str) -> list[str]:
    return [each.name for each in bench.CHAPTERS[chapter](work.Sizes(4096, 32))]


@pytest.mark.parametrize("chapter", bench.CHAPTERS)
def test_every_work_is_checked_and_measured(chapter, tmp_path, capsys) -> None:
    found = run(tmp_path, "--only", chapter)
    lacking = {reason.split(", vkarray: ")[0] for reason in found["left_out"] if ", vkarray: FeatureError" in reason}
    mine = {row["work"]: row for row in found["rows"] if row["mine"] is not None}
    assert [*mine] == [name for name in names(chapter) if name not in lacking]
    assert all(row["mine"] > 0 and row["results"][0]["host_seconds"] > 0 for row in mine.values())
    printed = capsys.readouterr().out
    table = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert all(f"\n  {name}: " in printed and f"\n| {name} | " in table for name in mine)
    assert found["device"] in table


@pytest.mark.parametrize("matrix", [1, 4, 8, 32, 1024, 8192])
def test_names_are_unique_and_no_work_is_empty(matrix) -> None:
    everything = [each for works in bench.CHAPTERS.values() for each in works(work.Sizes(4096, matrix))]
    assert len({each.name for each in everything}) == len(everything)
    assert all(each.amount is None or each.amount > 0 for each in everything)


class Counted(np.ndarray):
    """An array that counts what is computed with it."""

    count = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        Counted.count += 1
        plain = [np.asarray(each) for each in inputs]
        if options.get("out"):
            options["out"] = tuple(np.asarray(each) for each in options["out"])
        return np.asarray(getattr(ufunc, method)(*plain, **options)).view(Counted)


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.name)
def test_programs_have_5_to_200_operations(program) -> None:
    Counted.count = 0
    program.function(libraries.Library().functions, *(each.make().view(Counted) for each in program.inputs(1024)))
    assert 5 <= Counted.count <= 200


def test_programs_run_in_every_form(tmp_path) -> None:
    found = run(tmp_path, "--only", "swiglu,exp")
    rows = {row["work"]: [result["library"] for result in row["results"]] for row in found["rows"]}
    assert rows["exp"] == ["vkarray", "NumPy"]
    assert rows["swiglu"][:3] == ["vkarray", "NumPy", "vkarray eager"]
    swiglu = next(row for row in found["rows"] if row["work"] == "swiglu")
    assert swiglu["unit"] == "ms" and swiglu["ratios"]["vkarray eager"] > 0  # noqa: PT018
    medians = {line["peer"]: line["goal"] for line in found["summary"] if line["chapter"] == "programs"}
    assert medians["NumPy"] == 1.0
    assert medians["vkarray eager"] is None


def test_programs_are_compiled_once() -> None:
    made, calls = [], []

    def compiles(function):
        made.append(function)
        return lambda *arrays: (calls.append(arrays), function(*arrays))[1]

    library = libraries.Library()
    library.compiles = compiles
    program = next(each for each in programs.PROGRAMS if each.name == "gelu")
    results = measure.Measurement([library], 3, 1.0).measure("", programs.work_of(program, 1024))
    assert [result.rounds for result in results] == [3]
    assert len(made) == 1 < len(calls)


@pytest.mark.parametrize("name", ["gelu", "k-means", "Adam", "heat", "Monte Carlo option"])
def test_wrong_results_of_programs_are_found(name) -> None:
    program = next(each for each in programs.PROGRAMS if each.name == name)
    work_of, library = programs.work_of(program, 4096), libraries.Library()
    inputs = tuple(each.make() for each in work_of.inputs)
    right = work_of.run(library.functions, *inputs)
    assert work_of.check(library, right, inputs)
    last = right[-1] if isinstance(right, tuple) else right
    for wrong in (last * 1.01 + 0.01, np.stack([last, last])):
        assert not work_of.check(library, (*right[:-1], wrong) if isinstance(right, tuple) else wrong, inputs)


def test_expressions_for_numexpr() -> None:
    functions = {"exp": np.exp, "where": np.where}
    texts = []

    def evaluate(text, given, _):
        texts.append(text)
        return eval(text, functions, given)

    numexpr = SimpleNamespace(evaluate=evaluate, expressions=SimpleNamespace(functions=functions))
    xp = compilers._Formulas(numexpr)

    def program(x, y):
        last = x.shape[0] - 1
        return xp.where(x[:last] > 0.5, -x[1:], 2.0 / x[1:]), 1 - xp.exp(y) * y

    evaluated = compilers._Evaluated(numexpr, program)
    for seed in (0, 1):
        x, y = np.random.default_rng(seed).random((2, 8), dtype=np.float32)
        first, second = evaluated(x, y)
        np.testing.assert_array_equal(first, np.where(x[:-1] > 0.5, -x[1:], 2 / x[1:]))
        np.testing.assert_array_equal(second, 1 - np.exp(y) * y)
        assert first.dtype == second.dtype == np.float32
    assert texts[:2] == texts[2:]

    def squared(x):
        for _ in range(20):
            x = x * x
        return x

    with pytest.raises(NotImplementedError, match="repeats what is used twice"):
        compilers._Evaluated(numexpr, squared)(x)
    with pytest.raises(NotImplementedError, match="no function cumulative_sum"):
        compilers._Evaluated(numexpr, lambda x: xp.cumulative_sum(x))(x)
    with pytest.raises(NotImplementedError, match="parts of arguments alone"):
        compilers._Evaluated(numexpr, lambda x: (x + x)[1:])(x)


def test_fresh_processes(tmp_path) -> None:
    found = run(tmp_path, "--only", "import,first result")
    times = {row["work"]: row["mine"] for row in found["rows"]}
    assert list(times) == list(start.GOALS)[:2]
    assert 0 < times["import"] < times["first result"]
    assert {goal["goal"] for row in found["rows"] for goal in row["goals"]} == {"0.15 s", "0.3 s"}


def test_first_calls(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(start, "_first_calls", lambda what, *rest: told[what])
    call = {"name": "exp", "seconds": 0.25, "processor": 0.2, "driver": 0.1, "pipelines": 1, "right": True}
    told = {"ordinary": [call, call | {"name": "sin"}], "namespace": [call | {"later": call, "name": "fft.fft"}]}
    found = run(tmp_path, "--only", "first calls,slowest first call,later process,every function")
    assert [row["mine"] for row in found["rows"]] == [0.5, 0.25, 0.5, 0.25]
    lines = capsys.readouterr().out.splitlines()
    together = next(line for line in lines if line.startswith("  all 2 "))
    assert together.split()[2:] == ["500", "400", "200", "2", "500", "400"]
    assert any(line.startswith("  fft.fft ") for line in lines)


def test_first_calls_are_measured_in_processes_of_their_own(tmp_path) -> None:
    """The second process finds in the caches what the first one has made; results are compared with NumPy's."""
    code = "from vkarray.command import examples as e; e.ORDINARY = {k: e.ORDINARY[k] for k in ('exp', 'sum')}; "
    code += (
        "e.functions = lambda: [('vkarray', 'sin')]; from vkarray.command.bench import first_calls; first_calls.main()"
    )
    for what, expected in (("ordinary", ["exp", "sum"]), ("ordinary", ["exp", "sum"]), ("namespace", ["sin"])):
        command = [sys.executable, "-c", code, what, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        calls = [json.loads(line) for line in done.stdout.splitlines()]
        assert [call["name"] for call in calls] == expected
        for call in calls:
            assert call["right"]
            assert call["pipelines"] >= 1
            assert call["seconds"] > 0 < call["driver"] <= call["processor"]
    assert not examples.is_right("exp", np.ones((100, 100)), 100)
    assert not examples.is_right("exp", np.ones(100), 100)


def test_every_name_is_found_in_a_list() -> None:
    known = [*(name for chapter in bench.CHAPTERS for name in names(chapter)), "sum all"]
    assert any("," in name for name in known)
    assert work.listed(", ".join(known), known) == known
    assert work.listed("sum, nonsense,add", known) == ["sum", "nonsense", "add"]


def test_only(tmp_path, capsys) -> None:
    found = run(tmp_path, "--only", "sum all,add,cholesky")
    assert [row["work"] for row in found["rows"]] == ["add", "sum all", "cholesky 4", "cholesky 8"]
    assert main(["bench", "--only", "sum,nonsense,vector"]) == 2
    assert "unknown work nonsense; chapters are elementwise, " in capsys.readouterr().out


def test_a_wrong_result_is_not_timed(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(libraries.Vkarray, "host", lambda self, x: np.asarray(x) * 1.01)
    found = run(tmp_path, "--only", "matmul 32,exp,sum all", status=1)
    assert [row["mine"] for row in found["rows"]] == [None] * 3
    assert all([result["library"] for result in row["results"]] == ["NumPy"] for row in found["rows"])
    assert "exp, vkarray: the result is wrong; not timed" in found["left_out"]


def test_what_a_library_cannot_do_is_left_out_with_the_reason(tmp_path, monkeypatch) -> None:
    def fails(x):
        raise NotImplementedError("no such function")

    monkeypatch.setitem(libraries._OF_NUMPY, "exp", fails)
    found = run(tmp_path, "--only", "exp")
    assert [result["library"] for result in found["rows"][0]["results"]] == ["vkarray"]
    assert found["left_out"] == ["exp, NumPy: NotImplementedError: no such function"]


def test_a_slow_peer_takes_one_turn() -> None:
    slow = libraries.Library(own={"wait": lambda x: (time.sleep(0.02), x)[1]})
    mine = libraries.Library("vkarray", own={"wait": lambda x: x})
    values = (work.Values("uniform", (4,)),)
    waiting = work.Work("wait", "", values, lambda xp, x: xp.wait(x), work.of_rows(np.asarray), unit="µs")
    measurement = measure.Measurement([mine, slow], 5, 0.01)
    assert [result.rounds for result in measurement.measure("", waiting)] == [5, 1]
    impatient = measure.Measurement([mine, slow], 5, 1e-4)
    assert [result.library for result in impatient.measure("", waiting)] == ["vkarray"]
    assert "one call took" in impatient.left_out[0]


RESULT = measure.Result("chapter", "work", "vkarray", 1, 2.0, 1.0, "TFLOP/s", 10.0, 20.0)


@pytest.mark.parametrize(
    ("goal", "measured", "met"),
    [
        (work.Goal("peer", ratio=1.5), 1.5, True),
        (work.Goal("peer", ratio=1.6), 1.5, False),
        (work.Goal("peer", rate=20.0), 20.0, True),
        (work.Goal("peer", rate=21.0), 20.0, False),
        (work.Goal("vkarray", seconds=2.0), 2.0, True),
        (work.Goal("vkarray", seconds=1.9), 2.0, False),
    ],
)
def test_goals(goal, measured, met) -> None:
    results = {"vkarray": RESULT, "peer": replace(RESULT, library="peer", device_seconds=1.5)}
    line = report.check_goal(goal, results, "gpu")
    assert line is not None
    assert (line.measured, line.met) == (measured, met)
    assert report.check_goal(replace(goal, kind="cpu"), results, "gpu") is None
    assert report.check_goal(goal, {"vkarray": RESULT} if goal.peer == "peer" else {}, "gpu") is None


@pytest.mark.parametrize(("seconds", "text"), [(0.15, "0.15 s"), (40e-6, "40 µs"), (2e-6, "2 µs")])
def test_goals_of_time_in_words(seconds, text) -> None:
    assert work.Goal("vkarray", seconds=seconds).text == text


def test_summary() -> None:
    ratios = {"a": {"CuPy": 0.5, "NumPy": 3.0}, "b": {"CuPy": 2.0}, "c": {"CuPy": 1.5}}
    rows = [{"chapter": "calls", "work": name, "ratios": found} for name, found in ratios.items()]
    cupy, numpy = report.summary(rows, {"calls": [work.Goal("CuPy", 1.6)]})
    assert (cupy["works"], cupy["median"], cupy["worst"], cupy["of"]) == (3, 1.5, 0.5, "a")
    assert (cupy["goal"], cupy["met"]) == (1.6, False)
    assert (numpy["works"], numpy["median"], numpy["goal"], numpy["met"]) == (1, 3.0, None, None)
    table = report.summary_table({"summary": [cupy, numpy]})
    assert "| calls | CuPy | 3 | 1.5 | 0.5, a | 1.6: missed |" in table
    assert "| calls | NumPy | 1 | 3 | 3, a |  |" in table


def test_calls_of_every_kind() -> None:
    found = {name.partition(":")[0] for name in names("calls") if ":" in name}
    assert {"view", "creation", "scalar", "in place", "reduction", "product", "8 x 8", "random", "waiting"} <= found
    assert len(names("calls")) > 40


def test_calls_in_place_change_nothing_of_the_others() -> None:
    numpy = libraries.Library()
    measurement = measure.Measurement([numpy], 1, 1.0)
    values = work.Values("uniform", (64, 64))
    before = measurement.store.device(values, numpy).copy()
    for each in bench.CHAPTERS["calls"](work.Sizes(4096, 32, on_cpu=True)):
        if each.name.startswith("in place"):
            measurement.measure("calls", each)
    np.testing.assert_array_equal(measurement.store.device(values, numpy), before)


def test_ratios_compare_one_clock() -> None:
    on_host = replace(RESULT, library="peer", device_seconds=None, host_seconds=5.0)
    assert report.ratio(RESULT, on_host) == 2.5


def test_shares_are_of_the_fastest_copy_and_product_or_the_peak_given(tmp_path) -> None:
    found = run(tmp_path, "--only", "copy,exp,matmul 32,matmul 16", "--peak", "float32=0.5")
    rows = {row["work"]: row for row in found["rows"]}
    copies = [result["device"] or result["host"] for result in rows["copy"]["results"]]
    assert found["limits"] == {"copy": max(copies), "float32": 0.5}
    assert rows["exp"]["share"] == pytest.approx(rows["exp"]["mine"] / max(copies))
    assert rows["matmul 32"]["share"] == pytest.approx(rows["matmul 32"]["mine"] / 0.5)


def test_growth(tmp_path, capsys) -> None:
    found = run(tmp_path, "--growth")
    points = {(point["curve"], point["size"]) for point in found["points"] if point["library"] == "vkarray"}
    for curve in growth.curves(4096, 32):
        assert {(curve.name, size) for size in curve.sizes()} <= points
    assert min(size for curve, size in points if curve == "add") == 1
    assert "matmul: µs" in capsys.readouterr().out
    assert main(["bench", *SMALL, "--growth", "--only", "add,product"]) == 2
    assert "unknown curve product; curves are add, sum all, " in capsys.readouterr().out


@pytest.mark.parametrize("peak", ["float32", "float32=", "float32=0", "float32=-1", "float32=nan"])
def test_a_peak_is_a_number_above_0(peak, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--peak", peak])
    assert f"expected TYPE=TFLOPS above 0 such as float32=67, got {peak}" in capsys.readouterr().err


def test_why_there_is_no_picture(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(chart.importlib.util, "find_spec", lambda name: None)
    path = tmp_path / "report.json"
    for rows, reason in (
        ([], "it has no figures beside"),
        ([{"ratios": {"NumPy": 1.0}}], "matplotlib is not installed"),
    ):
        path.write_text(json.dumps({"rows": rows}), encoding="utf-8")
        assert main(["bench", "--draw", str(path)]) == 1
        assert f"no picture of {path}: {reason}" in capsys.readouterr().out


def test_pictures(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    run(tmp_path, "--only", "add,sum all,cholesky")
    picture = tmp_path / "report.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    picture.unlink()
    assert main(["bench", "--draw", str(tmp_path / "report.json")]) == 0
    assert picture.exists()
    run(tmp_path, "--growth", "--only", "add")
    assert (tmp_path / "report.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--size", "0"], "'0' is no count; expected a whole number, 1 or more"),
        (["--matrix", "-3"], "'-3' is no count; expected a whole number, 1 or more"),
        (["--peak", "float32"], "expected TYPE=TFLOPS above 0 such as float32=67, got float32"),
        (["--peak", "float32=0"], "expected TYPE=TFLOPS above 0 such as float32=67, got float32=0"),
    ],
)
def test_wrong_options_are_refused(option, message, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["bench", *option])
    assert message in capsys.readouterr().err


def test_every_library_on_the_device_of_the_test_is_there() -> None:
    device = vx.asarray(0).device
    assert [library.name for library in libraries.installed(device, ["numpy"])] == ["vkarray", "NumPy"]
