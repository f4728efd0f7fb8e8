"""`vkarray.profile` on other devices and clocks, in forked processes, with Ctrl-C at any line, and what it does not change."""

from __future__ import annotations

import inspect
import json
import math
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from strikes import Strike

import vkarray as vx
from vkarray import _vk, configuration, profiling
from vkarray._vk import clock, faults, timing
from vkarray._vk.clock import Sample
from vkarray._vk.watch import watches
from vkarray.errors import DeviceLostError
from vkarray.profiling import track
from vkarray.profiling.block import Profile
from vkarray.profiling.calls import CALLS
from vkarray.profiling.trace_file import HOST
from vkarray.profiling.track import Command, Track


def trace_of(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    trace = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda value: pytest.fail(f"{value} in JSON"))
    return [one for one in trace["traceEvents"] if one["ph"] == "X"], trace["otherData"]


@pytest.fixture
def timestamps() -> None:
    if "timestamps" not in _vk.open_device().features:
        pytest.skip("the device takes no timestamps (timestampValidBits is 0)")


@pytest.mark.usefixtures("timestamps")
def test_without_calibrated_timestamps_the_clock_is_estimated(tmp_path: Path) -> None:
    with configuration.config(disable="calibratedTimestamps"):
        x = vx.ones(100)
        with vx.profile(tmp_path / "trace.json"):  # the device is one of its own
            for _ in range(5):
                x + 1
            x.device.synchronize()
        x.device.close()
    events, told = trace_of(tmp_path / "trace.json")
    (device,) = told["devices"]
    assert device["clock"] == clock.ESTIMATED
    slack = device["uncertainty in ns"] * 1e-3
    kernels = [one for one in events if one["cat"] == "kernel"]
    recorded = min(one["ts"] for one in events if one["name"] == "record")
    waited = max(one["ts"] + one["dur"] for one in events if one["name"] == "wait")
    assert len(kernels) == 5
    assert all(one["ts"] >= recorded - slack and one["ts"] + one["dur"] <= waited + slack for one in kernels)


def test_a_device_without_timestamps_says_so(tmp_path: Path) -> None:
    with configuration.config(disable="timestamps"):
        x = vx.ones(100)
        with vx.profile(tmp_path / "trace.json") as seen:
            x + x
        x.device.close()
    (row,) = seen.table()
    assert (row.operation, row.calls, row.dispatches, row.total) == ("add", 1, 1, 0)
    assert row.host > 0
    assert row.gigabytes_per_second is row.gigaflops is None
    assert "takes no timestamps" in str(seen)
    events, told = trace_of(tmp_path / "trace.json")
    assert {one["pid"] for one in events} == {HOST}
    assert "no timestamps" in told["devices"][0]["clock"]


@pytest.mark.usefixtures("timestamps")
def test_each_device_has_a_track_also_one_that_is_opened_in_the_block(tmp_path: Path) -> None:
    x = vx.ones(100)
    with vx.profile(tmp_path / "trace.json") as seen:
        x + x
        with configuration.config(disable="subgroupVote"):
            y = vx.ones(100)
            y * y
    try:
        events, told = trace_of(tmp_path / "trace.json")
        processes = [device["process"] for device in told["devices"]]
        assert len(set(processes)) == 2
        assert {one["name"] for one in events if one["pid"] == processes[0]} == {"add"}
        assert {one["name"] for one in events if one["pid"] == processes[1]} == {"ones", "multiply"}
        assert not y.device.queue.timing_sinks
        assert {row.operation for row in seen.table()} >= {"add", "multiply"}
    finally:
        y.device.close()


@pytest.mark.usefixtures("timestamps")
def test_a_lost_device_is_told_and_the_file_is_written(tmp_path: Path) -> None:
    with configuration.config(disable="subgroupVote"):
        x = vx.ones(100)

    def block() -> None:
        with vx.profile(tmp_path / "trace.json"):
            x + x
            x.device.synchronize()
            x * x
            faults._faults.append(fault)

    fault = faults.Fault(-4, "vkQueueSubmit", 1, True)
    with pytest.raises(DeviceLostError):
        block()
    faults._faults.remove(fault)
    events, told = trace_of(tmp_path / "trace.json")
    assert [one["name"] for one in events if one["pid"] != HOST] == ["add"]
    assert told["errors"][0].startswith("DeviceLostError")
    x.device.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork processes")
def test_a_forked_process_leaves_the_block_to_its_parent(tmp_path: Path) -> None:
    x = vx.ones(100)
    with vx.profile(tmp_path / "trace.json"):
        x + x
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if not watches and not timing.everywhere else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        x * x
    assert {one["name"] for one in trace_of(tmp_path / "trace.json")[0]} >= {"add", "multiply"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork processes")
def test_a_block_that_a_forked_process_ends_writes_nothing(tmp_path: Path) -> None:
    x = vx.ones(100)
    with vx.profile(tmp_path / "trace.json") as seen:
        x + x
        child = os.fork()
        if child == 0:
            code = 1
            try:
                seen.__exit__(None, None, None)
                code = 0 if not (tmp_path / "trace.json").exists() else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    trace_of(tmp_path / "trace.json")


def test_numbers_that_json_lacks_are_text(tmp_path: Path) -> None:
    x = vx.ones(3)
    with vx.profile(tmp_path / "trace.json"):
        x * math.nan
        vx.full(2, math.inf)
    calls = [one["args"]["arguments"] for one in trace_of(tmp_path / "trace.json")[0] if one["cat"] == "call"]
    assert calls == [["float32[3]", "nan"], ["2", "inf"]]


@pytest.mark.usefixtures("timestamps")
@pytest.mark.parametrize("threads", [1, 3])
def test_long_blocks_are_written_in_parts(threads: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(track, "EVENTS", 64)
    monkeypatch.setattr(track, "SECONDS", 0)
    x, kept = vx.ones(16), [0]

    def compute() -> None:
        for _ in range(1000):
            x + x
            kept.append(max(len(one.raw) for one in list(seen._tracks.values())))

    with vx.profile(tmp_path / "trace.json") as seen:
        workers = [threading.Thread(target=compute) for _ in range(threads)]
        for one in workers:
            one.start()
        for one in workers:
            one.join(120)
            assert not one.is_alive(), "threads wait for each other"
    assert max(kept) < 64 + 2 * timing.MOST_TIMED, "more is kept than a part"
    events, _ = trace_of(tmp_path / "trace.json")
    kernels = sorted((one for one in events if one["cat"] == "kernel"), key=lambda one: one["args"]["serial"])
    assert len({one["args"]["serial"] for one in kernels}) == len(kernels) == 1000 * threads
    ends = [one["ts"] + one["dur"] for one in kernels]
    assert all(one["ts"] >= before - 0.002 for one, before in zip(kernels[1:], ends, strict=False)), "they overlap"
    (row,) = seen.table()
    assert row.calls == row.dispatches == 1000 * threads


@pytest.mark.parametrize("bits", [64, 48, 36, 32])
@pytest.mark.parametrize("period", [1.0, 52.08])
def test_counters_wrap(bits: int, period: float) -> None:
    mask, host = (1 << bits) - 1, 10**15
    begin = mask - round(0.5e9 / period)  # half a second before the counter begins anew

    def ticks(at: float) -> int:
        return (begin + round((at - host) / period)) & mask

    class Stand:
        """A clock of a device that begins its count anew."""

        way = "a test's"

        def __init__(self, moments: list[float]) -> None:
            self.moments = moments

        def sample(self) -> Sample:
            at = self.moments.pop(0)
            return Sample(round(at), ticks(at), 1)

    class Gate:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    limits = SimpleNamespace(timestamp_valid_bits=bits, timestamp_period=period)
    device = SimpleNamespace(
        features={"timestamps"},
        limits=limits,
        gate=Gate(),
        open=True,
        lost=None,
        queue=SimpleNamespace(retire=lambda: None),
    )
    found = Track.__new__(Track)
    moments = [host, host + 3e9]
    found.device, found.has_times, found.raw, found.uncertainty, found.end = device, True, {}, 0, 0.0  # type: ignore[assignment]
    found.mask, found.half, found.clock = mask, 1 << bits - 1, Stand(moments)  # type: ignore[assignment]
    found.first, found.early = found.clock.sample(), 0.0
    times = [host + 0.4e9, host + 0.6e9, host + 2.9e9]
    command = Command("add", None, None, "add", (1, 1, 1), 0, 0, None, {})
    for serial, at in enumerate(times):
        found.raw[serial] = (command, round(at - 1e6), ticks(at), ticks(at + 1e5))
    done = list(found.part())
    assert [one.begin for one in done] == pytest.approx(times, abs=2 * period + 1)
    assert [one.duration for one in done] == pytest.approx([1e5] * 3, abs=2 * period)


@pytest.mark.parametrize("drift", [-5e-5, 0.0, 5e-5])  # parts by which the device's clock is fast
@pytest.mark.parametrize("seconds", [0.002, 1.0, 60.0])
def test_a_clock_that_drifts_is_followed(drift: float, seconds: float) -> None:
    host = 10**15

    def ticks(at: float) -> int:
        return 10**12 + round((at - host) * (1 + drift))

    end = host + seconds * 1e9
    found = Track.__new__(Track)
    found.device = SimpleNamespace(limits=SimpleNamespace(timestamp_period=1.0))  # type: ignore[assignment]
    found.mask, found.half, found.end, found.early = (1 << 64) - 1, 1 << 63, 0.0, 0.0
    times = [host + part * seconds * 1e9 for part in (0.1, 0.5, 0.9)]
    command = Command("add", None, None, "add", (1, 1, 1), 0, 0, None, {})
    raw = {serial: (command, round(at - 100), ticks(at), ticks(at + 1000)) for serial, at in enumerate(times)}
    done = found._placed(raw, Sample(host, ticks(host), 3), Sample(round(end), ticks(end), 3))
    assert [one.begin for one in done] == pytest.approx(times, abs=120)
    assert [one.duration for one in done] == pytest.approx([1000] * 3, abs=2)
    assert found.early < 120


def test_a_command_that_seems_to_begin_too_early_is_told() -> None:
    found = Track.__new__(Track)
    found.device = SimpleNamespace(limits=SimpleNamespace(timestamp_period=1.0))  # type: ignore[assignment]
    found.mask, found.half, found.end, found.early = (1 << 64) - 1, 1 << 63, 0.0, 0.0
    command = Command("add", None, None, "add", (1, 1, 1), 0, 0, None, {})
    (done,) = found._placed({1: (command, 10_500, 400, 500)}, Sample(10_000, 0, 3), Sample(11_000, 1000, 3))
    assert (done.begin, found.early) == (10_400, 100)


def test_a_sample_is_as_uncertain_as_the_time_around_it() -> None:
    sample = Sample(1000, 7, 2)
    assert clock.within(999, sample, 1001).uncertainty == 2
    assert clock.within(990, sample, 1001).uncertainty == 10
    assert clock.within(999, sample, 64_000).uncertainty == 63_000
    assert clock.within(1000, Sample(1000, 7, 0), 1000).uncertainty == 1


def frames_of(x: Any, y: Any) -> list[str]:
    """The functions in Python that a warm `x + y` enters."""
    entered: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            entered.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}")

    sys.setprofile(note)
    try:
        x + y
    finally:
        sys.setprofile(None)
    return entered


def test_calls_outside_of_blocks_take_the_same_way() -> None:
    x, y = vx.ones(10), vx.ones(10)
    for _ in range(4):
        x + y
    x.device.synchronize()
    before = frames_of(x, y)
    with vx.profile():
        x + y
    x.device.synchronize()
    after = frames_of(x, y)
    assert before == after
    folder = Path(profiling.__file__).parent
    assert not {one.partition(":")[0] for one in after} & {path.name for path in folder.glob("*.py")}


@pytest.mark.usefixtures("timestamps")
def test_after_ctrl_c_nothing_stays_behind(tmp_path: Path) -> None:
    files = {str(path) for path in Path(profiling.__file__).parent.glob("*.py")}
    x = vx.ones(10)
    x.device.synchronize()

    def block() -> None:
        blocks.append(vx.profile(tmp_path / "trace.json"))
        with blocks[-1]:
            x + x

    def hit() -> None:
        raise KeyboardInterrupt

    lines, first = inspect.getsourcelines(Profile.__exit__)
    beginning = first + next(number for number, line in enumerate(lines) if line.strip() == "try:")
    blocks: list[Profile] = []
    block()
    number, struck = 1, 0
    while True:
        (tmp_path / "trace.json").unlink(missing_ok=True)
        strike = Strike(number, hit, files)
        try:
            with strike:
                block()
        except KeyboardInterrupt:
            struck += 1
            # CPython lets it in before a function can catch it: Python 3.12 counts the first line to what stands before.
            if strike.where in (f"block.py:{beginning} (line)", f"block.py:{beginning + 1} (line)") and watches:
                blocks[-1].__exit__(None, None, None)
        assert not x.device.gate._is_owned(), strike.where
        assert not CALLS.lock._is_owned(), strike.where  # type: ignore[attr-defined]
        assert not watches, strike.where
        assert not timing.everywhere, strike.where
        assert not x.device.queue.timing_sinks, strike.where
        assert {one.name for one in tmp_path.iterdir()} <= {"trace.json"}, strike.where
        if (tmp_path / "trace.json").exists():
            trace_of(tmp_path / "trace.json")
        if strike.where is None:
            break
        number += 7 if number > 20 else 1
    assert struck > 50
    block()
    assert {one["name"] for one in trace_of(tmp_path / "trace.json")[0] if one["cat"] == "call"} == {"add"}
    assert np.asarray(x + x).tolist() == [2.0] * 10
