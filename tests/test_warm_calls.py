"""Warm calls: how many commands and functions of Python they take, and that `out` gets the same bits at once as by a copy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference import supported

import vkarray as vx
from vkarray import configuration
from vkarray._vk import arguments, progress, queue, recorder
from vkarray.kernels import planned
from vkarray.ops import ufunc

pytestmark = pytest.mark.skipif(
    configuration.current().compare, reason="no call has a plan while results are compared with NumPy's"
)

# Calls, and the commands of each when it is warm.
COMMANDS = {
    "vx.add(x, y, out=out)": 1,
    "vx.add(x, 2, out=out)": 1,
    "vx.add(i, x, out=out)": 1,  # it converts on the way
    "vx.exp(x, out=x)": 1,
    "vx.add(x, y, out=out.T)": 1,
    "vx.add(x, x[0], out=out)": 1,
    "vx.less(x, y, out=mask)": 1,
    "vx.add(x, y, out=half)": 2,  # of another type
    "vx.add(x[0], y[0], out=out)": 2,  # of another shape
    "vx.add(out[::-1], x, out=out)": 2,  # it would read what it has written
    "vx.sum(x, axis=0, out=out[0])": 1,
    "vx.max(x, axis=1, out=out[:, 2])": 1,
    "vx.sum(x, axis=0, keepdims=True, out=out[1:2])": 1,
    "vx.sum(x, axis=0, out=half[0])": 3,
    "vx.sum(out, axis=0, out=out[0])": 2,
    "x.copy()": 1,
    "x.T.copy()": 1,
    "x.reshape(-1)": 0,
    "x[1:, ::2]": 0,
}


def names() -> dict[str, Any]:
    random = np.random.default_rng(7)
    x, y = (vx.asarray(random.standard_normal((6, 6)).astype(np.float32)) for _ in range(2))
    i = vx.asarray(random.integers(0, 9, (6, 6)).astype(np.int32))
    out, half = vx.zeros((6, 6), dtype=vx.float32), vx.zeros((6, 6), dtype=vx.float16)
    return {"vx": vx, "x": x, "y": y, "i": i, "out": out, "half": half, "mask": x > y}


@pytest.mark.parametrize("text", COMMANDS)
def test_commands_of_warm_calls(device: Any, text: str) -> None:
    call = eval(f"lambda: {text}", names())
    for _ in range(4):
        call()
    serial, repeated = device.queue.serial, planned.statistics()["repeated"]
    call()
    assert device.queue.serial - serial == COMMANDS[text]
    assert planned.statistics()["repeated"] > repeated


# Calls, and the most functions in Python that a warm one enters: with a submission where it waits, else without.
FRAMES = {
    "x + y": 12,
    "x + 1": 14,
    "vx.zeros((6, 6), dtype=vx.float32)": 12,
    "vx.reshape(x, (4, 9))": 5,
    "x[:, ::2]": 7,
    "x[..., 1]": 7,
    "vx.sum(x, axis=0)": 11,
    "vx.sum(x, axis=0, out=out[0])": 15,
    "generator.random((6, 6))": 15,
    "generator.standard_normal((6, 6))": 15,
    "vx.random.uniform(size=(6, 6))": 26,
    "np.asarray(x)": 28,
    "float(vx.sum(x))": 30,
}


# What depends on how far the driver's threads are, which a busy machine keeps from running: batches done, and what is made
# anew while those before are not, memory for arguments and command buffers.
ELSEWHERE = {code.__code__ for code in (arguments.ArgumentMemory._grown, queue.Queue.retire, recorder.Recorder.begin)}
# So does whether a call submits what waits, unless it has to.
SUBMITS = {"np.asarray(x)", "float(vx.sum(x))"}


def frames(call: Callable[[], Any], elsewhere: set[Any]) -> list[str]:
    """Functions in Python that a call enters: the fewest of many, without what is called by those that are left out."""
    found = []
    for _ in range(40):
        entered: list[Any] = []
        outer: list[Any] = []

        def see(frame: Any, event: str, _: Any, entered: list[Any] = entered, outer: list[Any] = outer) -> None:
            if event == "call" and not outer:
                entered.append(frame.f_code.co_name)
                if frame.f_code in elsewhere:
                    outer.append(frame)
            elif event == "return" and outer and frame is outer[0]:
                outer.clear()

        sys.setprofile(see)
        try:
            call()
        finally:
            sys.setprofile(None)
        found.append(entered)
    return min(found, key=len)


AS_A_GPU = ("gpu", "whole-window")


@pytest.fixture(scope="module")
def of_gpu() -> Any:
    """Names of arrays on a device that is waited for and read as a GPU is."""
    switches = configuration.current()
    if switches.guard or switches.check_barriers or switches.validation or switches.debug or switches.profile:
        pytest.skip("the switches in force make calls do more")
    with configuration.config(profile=AS_A_GPU):
        found = names() | {"np": np, "generator": vx.random.default_rng(0)}
    yield found
    found["x"].device.close()


@pytest.fixture
def on_gpu(of_gpu: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same names, where that is the default device."""
    # Who looks so long needs no other way to wait, however busy the machine is.
    monkeypatch.setattr(progress, "SPIN_SECONDS", 10)
    with configuration.config(profile=AS_A_GPU):
        yield of_gpu


@pytest.mark.parametrize("text", FRAMES)
def test_frames_of_warm_calls(on_gpu: dict[str, Any], text: str) -> None:
    call = eval(f"lambda: {text}", on_gpu)
    for _ in range(8):
        call()
    on_gpu["x"].device.synchronize()
    elsewhere = ELSEWHERE if text in SUBMITS else ELSEWHERE | {queue.Queue.submit.__code__}
    entered = frames(call, elsewhere)
    assert len(entered) <= FRAMES[text], f"entered: {', '.join(entered)}"


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["sum", "max", "all"])
def test_reductions_write_the_same_bits_to_out_at_once(name: str, keepdims: bool) -> None:
    function, random = getattr(vx, name), np.random.default_rng(5)
    own = random.standard_normal((5, 6, 7)).astype(np.float32)
    for axis in (0, (0, 2), None):
        x = vx.asarray(own)
        expected = np.asarray(function(x, axis=axis, keepdims=keepdims))
        dtype, shape = function(x).dtype, expected.shape
        wide = vx.zeros((*shape[:-1], 2 * shape[-1]) if shape else (2,), dtype=dtype)
        places = {
            "contiguous": vx.zeros(shape, dtype=dtype), "strided": wide[..., ::2] if shape else wide[1],
            "backward": wide[..., 1::2][..., ::-1] if shape else wide[0],
        }  # fmt: skip
        for other in supported([vx.float64]):
            places["of another type"] = vx.zeros(shape, dtype=other)
        if name != "all":
            places["of x"] = x.reshape(-1)[: expected.size].reshape(shape)
        for which, out in places.items():
            wanted = expected
            if name == "sum" and out.dtype != dtype:  # which is computed in the type of `out`, as NumPy does
                wanted = np.asarray(vx.sum(x, axis=axis, keepdims=keepdims, dtype=out.dtype))
            for _ in range(1 if which == "of x" else 3):  # which is not there any more the second time
                assert function(x, axis=axis, keepdims=keepdims, out=out) is out
                assert (np.asarray(out).astype(wanted.dtype) == wanted).all(), (which, axis)
            if which == "strided" and shape:
                assert not np.asarray(wide[..., 1::2]).any(), "it wrote between the elements of out"


@pytest.mark.parametrize("key", [[0, 2], [3, 3, 1], [-1, 0], ([1, 2], [0, 4]), (slice(1, 4), [0, 1])], ids=str)
def test_lists_in_keys_have_plans(key: Any) -> None:
    before, own = planned.statistics()["repeated"], np.arange(36, dtype=np.float32).reshape(6, 6)
    for call in range(5):
        x, host = vx.asarray(own + call), own + call
        np.testing.assert_array_equal(np.asarray(x[key]), host[key])
        x[key] = 2.5
        host[key] = 2.5
        np.testing.assert_array_equal(np.asarray(x), host)
    assert planned.statistics()["repeated"] - before >= 6
    with pytest.raises(IndexError, match="out of bounds"):
        _ = x[[0, 6]]


def outcome(call: Any, *arguments: Any) -> tuple[Any, ...]:
    """The bits that a call leaves, or its error."""
    try:
        return np.asarray(call(*arguments)).tobytes(), ""
    except (TypeError, ValueError, OverflowError) as error:
        return type(error), str(error)


def operands(own: vx.DType, which: str, out: vx.VkArray) -> list[Any]:
    """The first operand, and the second that a word means."""
    x = vx.asarray(np.random.default_rng(3).random((3, 4), np.float32) * 5).astype(own)
    second = {"array": x[::-1], "row": x[0], "int": 2, "float": 1.5, "out": out, "turned": out[::-1]}
    return [x, second[which]] if which else [x]


@pytest.mark.parametrize("own", [vx.float32, vx.int32, vx.bool, vx.complex64], ids=str)
@pytest.mark.parametrize("name", ["add", "less", "exp", "floor_divide"])
def test_out_takes_the_same_bits_as_a_result_that_is_copied(name: str, own: vx.DType) -> None:
    function = getattr(vx, name)

    def copied(wanted: vx.DType, which: str) -> vx.VkArray:
        out = vx.zeros((3, 4), dtype=wanted)
        return ufunc.write(name, out, function.call(*operands(own, which, out)), broadcasts=True)

    def at_once(wanted: vx.DType, which: str) -> vx.VkArray:
        out = vx.zeros((3, 4), dtype=wanted)
        assert function(*operands(own, which, out), out=out) is out
        return out

    for wanted in (vx.float32, vx.int32, vx.bool, vx.float16):
        for which in ("array", "row", "int", "float", "out", "turned") if function.nin == 2 else ("",):
            expected = outcome(copied, wanted, which)
            for _ in range(3):
                assert outcome(at_once, wanted, which) == expected, (wanted, which)


def test_views_without_elements_are_read() -> None:
    """They may begin beyond the memory that is there."""
    switches = configuration.current()
    without = (*switches.disable, "hostVisibleDeviceMemory")
    with configuration.config(profile=(*switches.profile, "incoherent-memory"), disable=without):
        x = vx.zeros((4, 0, 6))
    for view in (x, x[1:], x[..., 2:], x[3], x[::-1, :, 4]):
        assert np.asarray(view).shape == view.shape
