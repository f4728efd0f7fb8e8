"""Wrong values that kernels note on the device: every type and layout, limits included, told at the next read, once."""

from __future__ import annotations

import numpy as np
import pytest

import vkarray as vx
from vkarray.core import checks
from vkarray.core.array import is_supported
from vkarray.kernels import faults

DEVICE = vx.asarray(0).device
FAULT = faults.WrongValue(ValueError, "here: {value} is wrong.")
INTEGERS = [
    name
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    if is_supported(getattr(vx, name), DEVICE)
]
FLOATS = [name for name in ("float16", "bfloat16", "float32", "float64") if is_supported(getattr(vx, name), DEVICE)]


def _found(fault, x, *limits, **options):
    """The error of a check when the host reads next, or None."""
    faults.check_values(fault, x, *limits, **options)
    try:
        float(vx.asarray(1.0))
    except ValueError as error:
        assert float(vx.asarray(1.0)) == 1  # it is told once
        return str(error).partition(" (It was asked for")[0]  # where it comes later, the line is named
    return None


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_outside_of_limits_are_noted(name):
    dtype = getattr(vx, name)
    info = np.iinfo(name)
    for value in (info.min, 0, 1, 5, 6, info.max):
        x = vx.asarray(np.array([3, value, 3], name))
        inside = 1 <= value <= 5
        assert _found(FAULT, x, 1, 5) == (None if inside else f"here: {value} is wrong.")
        assert _found(FAULT, x, value, value, within=True) == f"here: {value} is wrong."
    x = vx.asarray([0, 0], dtype=dtype)
    assert _found(FAULT, x, -(1 << 63), (1 << 63) - 1) is None  # limits that the type does not reach
    assert _found(FAULT, x, 1 << 62, (1 << 63) - 1) is not None
    assert _found(FAULT, x, -9, -1) is not None
    assert _found(FAULT, x[:0], 1, 0) is None


@pytest.mark.parametrize("name", FLOATS)
def test_numbers_outside_of_limits_and_no_numbers_are_noted(name):
    dtype = getattr(vx, name)
    for value in (-np.inf, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, np.inf, np.nan):
        x = vx.astype(vx.asarray(np.array([0.25, value], np.float32)), dtype)
        assert _found(FAULT, x, 0, 1) == (None if 0 <= value <= 1 else f"here: {value:g} is wrong.")


FAILING = {  # calls that look for wrong values on the device and raise another error
    "shapes": lambda x, y: x**y,
    "the shape of out": lambda x, y: vx.pow(x, y[:1], out=vx.zeros(3, dtype=vx.int32)),
    "the type of out": lambda x, y: vx.pow(x, y[:2], out=vx.zeros(2, dtype=vx.uint8)),
    "no array as out": lambda x, y: vx.pow(x, y[:2], out=np.zeros(2)),
    "the shape of where": lambda x, y: vx.pow(x, y[:2], where=vx.asarray([True] * 3)),
    "the type of where": lambda x, y: vx.pow(x, y[:2], where=vx.asarray([1.0, 0.0])),
    "where and out": lambda x, y: vx.pow(x, y[:2], out=vx.zeros(3, dtype=vx.int32), where=vx.asarray([True, False])),
    "in place": lambda x, y: vx.asarray([1, 2], dtype=vx.uint8).__ipow__(y[:2]),
    "values": lambda x, y: vx.put(x, y, "a"),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_call_that_fails_leaves_no_check(told_later, name):
    x, y = vx.asarray([2, 3], dtype=vx.int32), vx.asarray([-1, -2, -3], dtype=vx.int32)
    for _ in range(3):  # by itself, watched, and once it is known to have no plan
        with pytest.raises((ValueError, TypeError)):
            FAILING[name](x, y)
        assert float(vx.asarray(1.0)) == 1


def test_who_waits_for_the_device_is_told(told_later):
    x = vx.asarray([1, 2, 3])
    for raises in (lambda: x ** vx.asarray([1, -2, 3]), vx.compile(lambda: vx.take(x, vx.asarray([7])))):
        raises()
        with pytest.raises((ValueError, IndexError), match="It was asked for at"):
            x.device.synchronize()
        x.device.synchronize()  # once


def test_shapes_are_looked_at_before_values_are(told_later):
    with pytest.raises(ValueError, match="broadcast"):
        vx.asarray([2, 3]) ** vx.asarray([-1, -2, -3])
    assert float(vx.asarray(1.0)) == 1


DRAWS = {
    "normal": lambda draws, x: draws.normal(0, x), "poisson": lambda draws, x: draws.poisson(x),
    "exponential": lambda draws, x: draws.exponential(x), "gamma": lambda draws, x: draws.gamma(x),
    "multinomial": lambda draws, x: draws.multinomial(3, vx.asarray([0.5, 0.8, 0.1])),
}  # fmt: skip


@pytest.mark.skipif(
    not faults.tells_at_once(DEVICE),
    reason="values are told later where the host has no cached view of the device's memory",
)
@pytest.mark.parametrize("name", DRAWS)
def test_draws_tell_of_their_parameters_at_once(name):
    draws, x = vx.random.default_rng(0), vx.asarray([-1.0, 2.0])
    for _ in range(4):  # also when the kernels of the draw are repeated by a plan
        with pytest.raises(ValueError, match="expected"):
            DRAWS[name](draws, x)
        assert float(vx.asarray(1.0)) == 1


LAYOUTS = {
    "transposed": lambda x: x.T, "stepped": lambda x: x[:, ::2], "reversed": lambda x: x[::-1, ::-1],
    "offset": lambda x: x[1:, 1:], "broadcast": lambda x: vx.broadcast_to(x[:, :1], (6, 9)),
    "broadcast rows": lambda x: vx.broadcast_to(x[1], (5, 8)), "scalar": lambda x: x[1, 2],
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_check_sees_the_elements_of_a_view_and_no_others(layout):
    for place in range(6 * 8):
        values = np.zeros(48, np.int32)
        values[place] = 7
        view = LAYOUTS[layout](vx.asarray(values.reshape(6, 8)))
        assert (_found(FAULT, view, 0, 6) is not None) == bool((np.asarray(view) == 7).any())


def test_the_first_fault_is_told_and_waiting_for_values_forgets_it():
    faults.check_values(FAULT, vx.asarray([9]), 0, 1)
    faults.check_values(faults.WrongValue(ValueError, "another"), vx.asarray([9]), 0, 1)
    with pytest.raises(ValueError, match="here: 9 is wrong"):
        checks.run(DEVICE)
    checks.run(DEVICE)
