"""Programs that draw random numbers: saved and loaded, others in each call, and the same ones from a seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkarray as vx
from vkarray.programs import description
from vkarray.programs.container import Container
from vkarray.programs.encoding import Wrong

own = vx.random.default_rng(5)
other = vx.random.RandomState(6)

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "of the module": lambda x: x + vx.random.normal(size=x.shape),
    "of a generator": lambda x: (own.uniform(size=3), own.integers(0, x.shape[0] + 1, size=4)),
    "of several": lambda x: (
        x * own.random(),
        x + other.rand(64),
        vx.random.permutation(x),
        own.standard_normal((2, 2)),
    ),
    "dropout": lambda x: vx.where(vx.random.random(x.shape) < 0.5, x / 0.5, 0),
    "of parameters": lambda x: own.gamma(vx.abs(x) + 1, size=x.shape),
    "by keywords": lambda x: own.choice(9, size=x.shape[0], replace=True) + vx.random.poisson(lam=3.0, size=x.shape[0]),
}


def bits(found: Any) -> list[bytes]:
    return [np.asarray(one).tobytes() for one in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_seed_gives_the_same_numbers_from_a_file(name: str, dynamic: bool, tmp_path: Path) -> None:
    x = vx.linspace(0.5, 2.0, 64)
    program = vx.Program(FUNCTIONS[name], (x,), dynamic={"x": {0: vx.Dim("n", max=99)}} if dynamic else None)
    program.save(tmp_path / "model.vkp", targets=())
    loaded = [vx.load_program(tmp_path / "model.vkp") for _ in range(2)]
    made = []
    for one in (program, *loaded):
        one.seed(3)
        made.append([bits(one(x)) for _ in range(3)])
    assert made[0] == made[1] == made[2]
    assert made[0][0] != made[0][1]
    for one in loaded:
        one.seed()
    assert bits(loaded[0](x)) != bits(loaded[1](x))


def test_programs_that_are_loaded_differ(tmp_path: Path) -> None:
    vx.Program(FUNCTIONS["of the module"], (vx.ones(3),)).save(tmp_path / "model.vkp", targets=())
    found = {bits(vx.load_program(tmp_path / "model.vkp")(vx.ones(3)))[0] for _ in range(4)}
    assert len(found) == 4


def test_the_numbers_are_those_of_a_generator_of_the_seed(tmp_path: Path) -> None:
    vx.Program(lambda x: x + vx.random.uniform(size=5), (vx.ones(5),)).save(tmp_path / "model.vkp", targets=())
    loaded, generator = vx.load_program(tmp_path / "model.vkp"), vx.random.default_rng(11)
    loaded.seed(11)
    for _ in range(3):
        assert bits(loaded(vx.zeros(5))) == bits(generator.uniform(size=5))


def test_shaders_for_devices_are_found(tmp_path: Path) -> None:
    program = vx.Program(FUNCTIONS["dropout"], (vx.ones(8),))
    program.save(tmp_path / "model.vkp", targets=("any",))
    assert len(Container(tmp_path / "model.vkp").parts["shaders"])
    vx.load_program(tmp_path / "model.vkp").seed(1)


def test_what_is_no_program_is_told() -> None:
    x = vx.ones(4)
    with pytest.raises(vx.TraceError, match=r"it makes a generator of random numbers, .* at .*test_program_random\.py"):
        vx.Program(lambda x: x + vx.random.default_rng(3).normal(size=4), (x,))
    with pytest.raises(vx.TraceError, match=r"it changes the state of random numbers at .*test_program_random\.py"):
        vx.Program(lambda x: (vx.random.seed(3), x + vx.random.normal(size=4))[1], (x,))
    with pytest.raises(ValueError, match="seed of 0 or more"):
        vx.Program(FUNCTIONS["dropout"], (x,)).seed(-1)


def test_a_draw_without_a_generator_is_refused(tmp_path: Path) -> None:
    vx.Program(FUNCTIONS["of the module"], (vx.ones(3),)).save(tmp_path / "model.vkp", targets=())
    table = json.loads(bytes(Container(tmp_path / "model.vkp").parts["program"]))
    (call,) = [one for one in table["calls"] if one[0] == "random.normal"]
    for wrong in ([], [{"value": 0}], [{"generator": -1}], [{"generator": 1 << 20}], [{"generator": None}]):
        call[1] = wrong
        with pytest.raises(Wrong, match="generator"):
            description.read(table)
    for name in ("random.seed", "random.get_state", "random.bytes", "random.spawn", "random.default_rng"):
        call[0] = name
        with pytest.raises(Wrong, match="which this vkarray does not have"):
            description.read(table)
