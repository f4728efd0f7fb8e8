"""Programs: made by tracing, called, saved and loaded; the same bits as the function itself."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkarray as vx


def values(shape: Any, seed: int = 0, dtype: Any = np.float32) -> vx.VkArray:
    return vx.asarray((np.random.default_rng(seed).standard_normal(shape) * 3).astype(dtype))


def same(found: Any, expected: Any) -> None:
    """The same nest with the same bits."""
    if isinstance(expected, dict):
        assert isinstance(found, dict)
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, (tuple, list)):
        assert isinstance(found, (tuple, list))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    if not isinstance(expected, vx.VkArray):
        assert type(found) is type(expected)
        assert found == expected
        return
    assert found.dtype is expected.dtype
    assert found.shape == expected.shape
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


def loaded(program: vx.Program, folder: Path, targets: tuple[str, ...] = ("any",)) -> vx.Program:
    program.save(folder / "model.vkp", targets=targets)
    return vx.load_program(folder / "model.vkp")


def layer(x, w):
    return vx.maximum(x @ w + 1, 0)


def test_saved_program_has_the_same_bits(tmp_path: Path) -> None:
    batch = vx.Dim("batch", max=64)
    w = values((4, 3), 1)
    program = vx.Program(layer, (values((2, 4)), w), dynamic={"x": {0: batch}}, name="layer")
    again = loaded(program, tmp_path)
    assert (
        str(again)
        == str(program)
        == "<Program layer: x: (batch, 4) float32, w: (4, 3) float32 -> output: (batch, 3) float32>"
    )
    assert again.inputs == program.inputs
    assert again.outputs == program.outputs
    for length in (1, 2, 63, 64):
        x = values((length, 4), length)
        same(program(x, w), layer(x, w))
        same(again(x, w), layer(x, w))


def test_weights_are_constants(tmp_path: Path) -> None:
    w, b = values((4, 3), 1), np.arange(3, dtype=np.float32)

    def function(x):
        return {"sum": x @ w + vx.asarray(b), "half": (w.T * 0.5, 2)}

    program = vx.Program(function, (values((2, 4)),))
    again = loaded(program, tmp_path)
    x = values((2, 4), 5)
    same(program(x), function(x))
    same(again(x), function(x))
    assert [one.name for one in again.outputs] == ["sum", "half[0]"]


WRONG: dict[str, tuple[Callable[[], tuple[Any, ...]], type[Exception], str]] = {
    "type": (lambda: (values((2, 4)), values((4, 3), dtype=np.float16)), TypeError, "w has the type float16; expected float32"),
    "no array": (lambda: (1.0, values((4, 3))), TypeError, r"x is of type float; expected an array, \(batch, 4\) float32"),
    "NumPy's": (lambda: (np.ones((2, 4), "f4"), values((4, 3))), TypeError, "x is of type ndarray; expected an array"),
    "rank": (lambda: (values(4), values((4, 3))), ValueError, r"x has the shape \(4,\); expected \(batch, 4\)"),
    "length": (lambda: (values((2, 5)), values((4, 3))), ValueError, r"x has the shape \(2, 5\); expected \(batch, 4\)"),
    "bound": (lambda: (values((65, 4)), values((4, 3))), ValueError, "dimension 0 of x has length 65; expected batch from 1 to 64"),
    "count": (lambda: (values((2, 4)),), TypeError, "got VkArray; expected 2 arguments, which hold 2 inputs: x: "),
    "none": (tuple, TypeError, "got nothing; expected 2 arguments"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name: str) -> None:
    arguments, error, text = WRONG[name]
    program = vx.Program(layer, (values((2, 4)), values((4, 3))), dynamic={"x": {0: vx.Dim("batch", max=64)}})
    with pytest.raises(error, match=text):
        program(*arguments())


def test_programs_of_one_file_share_weights(tmp_path: Path) -> None:
    w = values((64, 64), 1)
    program = vx.Program(lambda x: x @ w, (values((2, 64)),))
    program.save(tmp_path / "model.vkp", targets=())
    one, other = (vx.load_program(tmp_path / "model.vkp") for _ in range(2))
    before = one.device.memory.statistics()["bytes_in_use"]
    third = vx.load_program(tmp_path / "model.vkp")
    assert one.device.memory.statistics()["bytes_in_use"] - before < w.nbytes
    for each in (one, other, third):
        same(each(values((2, 64))), values((2, 64)) @ w)


def test_program_that_changes_a_constant_has_it_for_itself(tmp_path: Path) -> None:
    count = vx.zeros(3)

    def counted(x):
        count[...] += 1
        return x + count

    program = vx.Program(counted, (vx.zeros(3),))
    program.save(tmp_path / "model.vkp", targets=())
    one, other = (vx.load_program(tmp_path / "model.vkp") for _ in range(2))
    found = [float(each(vx.zeros(3))[0]) for each in (one, one, other, one, other)]
    assert found == [1, 2, 1, 3, 2]
    with vx.config(compile=False):
        assert float(vx.load_program(tmp_path / "model.vkp")(vx.zeros(3))[0]) == 1
        assert float(other(vx.zeros(3))[0]) == 3
    assert float(count[0]) == 0


def test_prepare_makes_the_kernels_of_calls(tmp_path: Path) -> None:
    program = vx.Program(layer, (values((2, 4)), values((4, 3))), dynamic={"x": {0: vx.Dim("batch", max=64)}})
    again = loaded(program, tmp_path)
    again.prepare(batch=8)
    assert len(again.explain().programs) == 1
    again(values((8, 4)), values((4, 3)))
    assert len(again.explain().programs) == 1
    with pytest.raises(ValueError, match="batch is 65; expected batch from 1 to 64"):
        again.prepare(batch=65)
    with pytest.raises(TypeError, match="unknown dimension 'rows'"):
        again.prepare(rows=1)


def test_memory_is_bounded(tmp_path: Path) -> None:
    program = vx.Program(lambda x: vx.sum(vx.sort(vx.zeros((1000, 100)) + x, axis=0)), (values(100),))
    program.save(tmp_path / "model.vkp", targets=())
    vx.load_program(tmp_path / "model.vkp")(values(100))
    with pytest.raises(vx.OutOfMemoryError, match="bytes"):
        vx.load_program(tmp_path / "model.vkp", memory=1000)(values(100))


def test_shape_of_a_number_is_empty() -> None:
    program = vx.Program(lambda x: vx.zeros(vx.sum(x).shape) + vx.max(x), (vx.ones(3),))
    assert float(program(vx.asarray([1.0, 4.0, 2.0]))) == 4


def test_lengths_that_decide_are_told(tmp_path: Path) -> None:
    program = vx.Program(
        lambda x: x * 2 if x.shape[0] > 8 else x, (values(10),), dynamic={"x": {0: vx.Dim("length")}}, name="doubled"
    )
    again = loaded(program, tmp_path)
    for one in (program, again):
        same(one(values(9)), values(9) * 2)
        with pytest.raises(ValueError, match="doubled: its function decides by lengths or numbers"):
            one(values(4))


def test_numbers_may_vary_unless_they_decide(tmp_path: Path) -> None:
    def power(x, factor, times):
        for _ in range(times):
            x = x * factor
        return x

    again = loaded(vx.Program(power, (values(3), 2.0, 3)), tmp_path)
    assert [str(one) for one in again.inputs] == ["x: (3,) float32", "factor: float", "times: int = 3"]
    for factor in (2.0, -0.5, float("inf")):
        same(again(values(3), factor, 3), power(values(3), factor, 3))
    with pytest.raises(ValueError, match="times is 2, and the program was made for 3"):
        again(values(3), 2.0, 2)
    with pytest.raises(TypeError, match="factor is 2; expected a number of type float"):
        again(values(3), 2, 3)


# Functions of this library that no program can hold, each with why.
APART = "takes an array apart"
NO_PROGRAMS: dict[str, tuple[Callable[[vx.VkArray], Any], str]] = {
    "element": (lambda x: x.flat[3], "returns an object, Flat"), "elements": (lambda x: vx.sum(x.flat[1:3]), "object, Flat"),
    "rows": (lambda x: vx.apply_along_axis(vx.sin, 1, x), APART), "NumPy's": (lambda x: np.apply_along_axis(vx.sin, 1, x), APART),
    "axes": (lambda x: vx.apply_over_axes(vx.sum, x, [0]), APART), "numbers": (lambda x: vx.vectorize(float)(x), APART),
    "iterator": (lambda x: list(vx.nditer(x)), APART), "numbered": (lambda x: list(vx.ndenumerate(x)), APART),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_PROGRAMS)
def test_functions_that_no_program_holds_are_told(name: str) -> None:
    function, why = NO_PROGRAMS[name]
    with pytest.raises(vx.TraceError, match=rf"cannot be a program: .*{why}.* at .*test_program\.py"):
        vx.Program(function, (vx.ones((3, 2)),))


def test_programs_are_made_of_programs(tmp_path: Path) -> None:
    n = vx.Dim("n", max=16)

    def part(x, k):
        return {"half": (x * k)[: x.shape[0] // 2], "mean": vx.mean(x, axis=0)}

    def whole(x, k, of=part):
        return [of(vx.tanh(x), k), of(x, 3.0)["half"] + k]

    inner = vx.Program(part, (values((4, 2)), 2.0), dynamic={"x": {0: n}})
    for one in (inner, loaded(inner, tmp_path)):

        def outer(x, k, one=one):
            return whole(x, k, one)

        dynamic = {"x": {0: n}}
        program = vx.Program(outer, (values((4, 2)), 2.0), dynamic=dynamic)
        ways = (program, loaded(program, tmp_path), vx.compile(outer), vx.compile(outer, dynamic=dynamic))
        for way in ways:
            for length, k in ((4, 2.0), (9, 0.5), (4, -1.0)):
                same(way(values((length, 2)), k), whole(values((length, 2)), k))
        assert "no tape" not in str(ways[3].explain())
        with pytest.raises(ValueError, match=r"part: x has the shape \(4, 3\); expected \(n, 2\)"):
            vx.Program(outer, (values((4, 3)), 2.0))


def twice(x):
    return x * 2


LONG = "n" * 257
NAMED: dict[str, Callable[[], vx.Program]] = {
    "long": lambda: vx.Program(twice, (values(3),), name=LONG), "lines": lambda: vx.Program(twice, (values(3),), name="a\nb"),
    "input": lambda: vx.Program(twice, (values(3),), inputs=["a\tb"]),
    "no input": lambda: vx.Program(twice, (values(3),), inputs=[""]),
    "key": lambda: vx.Program(lambda x: {LONG: x + 1}, (values(3),)), "bound": lambda: of_dim(vx.Dim("n", max=1 << 60)),
    "dimension": lambda: of_dim(vx.Dim(LONG)),
    "one name": lambda: vx.Program(lambda x, *rest, **named: x + rest[0] + named["rest0"], (values(3),) * 2, {"rest0": values(3)}),
}  # fmt: skip


def of_dim(dim: vx.Dim) -> vx.Program:
    return vx.Program(twice, (values(3),), dynamic={"x": {0: dim}})


@pytest.mark.parametrize("name", NAMED)
def test_no_file_is_written_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    program = NAMED[name]()
    with pytest.raises(
        ValueError, match=r"save: a file of a program cannot hold this one: .*(no name|no length|one name)"
    ):
        program.save(tmp_path / "model.vkp", targets=())
    assert not list(tmp_path.iterdir())


def test_names_and_lengths_are_checked() -> None:
    with pytest.raises(TypeError, match="name is 3; expected a text"):
        vx.Program(twice, (values(3),), name=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"prepare: n is 2\.5; expected an integer"):
        of_dim(vx.Dim("n")).prepare(n=2.5)  # type: ignore[arg-type]


# -- copies, and what happens in other threads and handlers ---------------------------------------------------------------


def test_copies_draw_and_write_by_themselves(tmp_path: Path) -> None:
    def noisy(x):
        return x + vx.random.uniform(size=3), x * 2

    made = vx.Program(noisy, (values(3),))
    for program in (made, loaded(made, tmp_path)):
        program.seed(5)
        deep, shallow = copy.deepcopy(program), copy.copy(program)
        first = program(values(3))
        same(deep(values(3)), first)
        deep.seed(9)
        second = program(values(3))
        program.seed(5)
        same([shallow(values(3)), program(values(3))], [first, second])  # those of a shallow copy are the program's own
    sums = vx.zeros(3)

    def adding(x):
        sums[...] += x
        return sums + 0

    program = vx.Program(adding, (values(3),))
    other = copy.deepcopy(program)
    same(program(vx.ones(3)), vx.ones(3))
    same(other(vx.ones(3)), vx.ones(3))


def test_programs_are_saved_not_pickled() -> None:
    with pytest.raises(TypeError, match=r"twice: a program cannot be pickled. Write it to a file with save\(path\)"):
        pickle.dumps(vx.Program(twice, (values(3),)))


def test_lengths_that_are_declared_are_not_warned_of() -> None:
    program = of_dim(vx.Dim("n", min=0, max=64))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for length in range(1, 30):
            same(program(values(length)), values(length) * 2)


HARMLESS = {"compile": False, "debug": 1}
DECIDING = {"default_float": "float64", "approximate": True, "check": "later"}


@pytest.mark.parametrize("name", [*HARMLESS, *DECIDING])
def test_switches_that_change_in_a_function(name: str) -> None:
    """Another thread may change them at any time, since they hold for all."""

    def function(x):
        with vx.config(**{name: (HARMLESS | DECIDING)[name]}):
            return vx.sum(x) + 1

    if name in HARMLESS:
        same(vx.Program(function, (values(3),))(values(3)), function(values(3)))
    else:
        with pytest.raises(
            vx.TraceError, match=rf"the configuration changes \({name}\), in it or in another thread, at "
        ):
            vx.Program(function, (values(3),))


def test_other_threads_keep_their_default_type_while_a_program_is_called() -> None:
    """A program has the type that it was made with, also when its first call traces it."""
    with vx.config(default_float="float64"):
        program = of_dim(vx.Dim("n", max=200))
        mean = vx.Program(lambda x: vx.mean(x), (vx.arange(3),), dynamic={"x": {0: vx.Dim("n", max=200)}})
    found, stop = set(), threading.Event()

    def other() -> None:
        while not stop.is_set():
            found.add(vx.ones(2).dtype.name)
            found.add(vx.mean(vx.arange(3)).dtype.name)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        types = {mean(vx.arange(length)).dtype.name for length in range(1, 100)}
        types.add(program(values(4)).dtype.name)
    finally:
        stop.set()
        thread.join()
    assert types == {"float64", "float32"}  # the second one is that of its argument
    assert found == {"float32"}
