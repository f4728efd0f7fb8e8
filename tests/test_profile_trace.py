"""`vkarray.profile`: each dispatch is on the timeline once, under the public name of what it is for, and in the table."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vkarray as vx
from vkarray import _vk
from vkarray._vk.timing import Sink
from vkarray._vk.watch import watches
from vkarray.profiling.trace_file import HOST

Event = dict[str, Any]


class Work:
    """Arrays for calls."""

    def __init__(self) -> None:
        numbers = np.random.default_rng(1).normal(size=(2, 24, 24)).astype(np.float32)
        self.x, self.y = (vx.asarray(one) for one in numbers)
        self.positive = self.x > 0
        self.places = vx.asarray([3, 1, 2])
        self.numbers = numbers[0]
        self.compiled = vx.compile(lambda x, y: (x + y) * x - vx.sum(x, axis=0))
        self.recorded = vx.compile(lambda x, y: vx.sort(vx.cumulative_sum(x @ y, axis=0) @ x + vx.sort(y) @ y))


def _user_kernel(work: Work) -> Any:
    run = vx.kernel(
        """
        layout(binding = 0) readonly buffer A { uint a[]; };
        layout(binding = 1) writeonly buffer R { uint r[]; };
        void main() { if (gl_GlobalInvocationID.x < r.length()) r[gl_GlobalInvocationID.x] = a[gl_GlobalInvocationID.x] + 1u; }
        """,
        name="count up",
    )
    result = vx.zeros(32, dtype=vx.uint32)
    run(vx.ones(32, dtype=vx.uint32), result, invocations=32)
    return result


def _assigned(work: Work) -> Any:
    result = vx.asarray(work.x, copy=True)
    result[1:3] = 2.0
    return result


# A call of each family, and the operations that it has to show.
CALLS: dict[str, tuple[Callable[[Work], Any], set[str]]] = {
    "operator": (lambda work: work.x + work.y, {"add"}),
    "function": (lambda work: vx.exp(work.x), {"exp"}),
    "strided": (lambda work: work.x.T * work.y, {"multiply"}),
    "where": (lambda work: vx.where(work.positive, work.x, work.y), {"where"}),
    "reduction": (lambda work: vx.sum(work.x, axis=1), {"sum"}),
    "statistics": (lambda work: vx.std(work.x, axis=0), {"std"}),
    "product": (lambda work: work.x @ work.y, {"matmul"}),
    "einsum": (lambda work: vx.einsum("ij,kj->ik", work.x, work.y), {"einsum"}),
    "scan": (lambda work: vx.cumulative_sum(work.x, axis=1), {"cumulative_sum"}),
    "sort": (lambda work: vx.sort(work.x), {"sort"}),
    "fft": (lambda work: vx.fft.fft(work.x), {"fft.fft"}),
    "solve": (lambda work: vx.linalg.solve(work.x, work.y), {"linalg.solve"}),
    "mask": (lambda work: work.x[work.positive], {"VkArray.__getitem__"}),
    "index": (lambda work: vx.take(work.x, work.places, axis=0), {"take"}),
    "assignment": (_assigned, {"VkArray.__setitem__"}),
    "from the host": (lambda work: vx.asarray(work.numbers) * 2, {"asarray", "multiply"}),
    "copy": (lambda work: work.x.copy(), {"VkArray.copy"}),
    "random": (lambda work: vx.random.default_rng(3).normal(size=(8, 8)), {"random.Generator.normal"}),
    "compiled": (lambda work: work.compiled(work.x, work.y), {"compile(Work.__init__.<locals>.<lambda>)"}),
    "recorded": (lambda work: work.recorded(work.x, work.y), {"compile(Work.__init__.<locals>.<lambda>)"}),
    "kernel of a user": (_user_kernel, {"count up"}),
}


class Counted(Sink):
    """The dispatches and transfers that queues took, counted beside the profile."""

    transfers = True

    def __init__(self) -> None:
        self.count = 0

    def noted(self, note: Any, reads: Any, writes: Any) -> None:
        self.count += 1


@pytest.fixture(scope="module")
def work() -> Work:
    return Work()


@pytest.fixture(autouse=True)
def device() -> _vk.Device:
    found = _vk.open_device()
    found.synchronize()
    if "timestamps" not in found.features:
        pytest.skip("the device takes no timestamps (timestampValidBits is 0)")
    return found


def events_of(path: Path) -> tuple[list[Event], dict[str, Any]]:
    def refused(value: str) -> None:
        raise AssertionError(f"{value} is no JSON")

    trace = json.loads(path.read_text(encoding="utf-8"), parse_constant=refused)
    assert all(isinstance(value, (int, float)) and value >= 0 for one in trace["traceEvents"] for value in (
        one.get("ts", 0), one.get("dur", 0)))  # fmt: skip
    return [one for one in trace["traceEvents"] if one["ph"] == "X"], trace["otherData"]


def on_device(events: list[Event]) -> list[Event]:
    return [one for one in events if one["pid"] != HOST]


def end(event: Event) -> float:
    return float(event["ts"] + event["dur"])


@pytest.mark.parametrize("turn", ["first", "watched", "planned"])
@pytest.mark.parametrize("name", CALLS)
def test_each_dispatch_is_there_once(name: str, turn: str, work: Work, device: _vk.Device, tmp_path: Path) -> None:
    call, operations = CALLS[name]
    for _ in range(("first", "watched", "planned").index(turn)):
        call(work)
    expected = np.asarray(call(work)) if name != "random" else None
    counted = Counted()
    device.queue.timing_sinks.append(counted)
    try:
        with vx.profile(tmp_path / "trace.json") as seen:
            result = call(work)
    finally:
        device.queue.timing_sinks.remove(counted)
    if expected is not None:
        assert np.asarray(result).tobytes() == expected.tobytes(), "other bits under the profile"
    events, told = events_of(tmp_path / "trace.json")
    kernels = on_device(events)
    assert len(kernels) == len({one["args"]["serial"] for one in kernels}) == counted.count
    assert {one["name"] for one in kernels} | {row.operation for row in seen.table()} >= operations
    assert all(one["dur"] > 0 for one in kernels)

    # On one clock: after the host has begun to record it, and before the block ended.
    slack = told["devices"][0]["uncertainty in ns"] * 1e-3 + 0.01 if kernels else 0.0
    submissions = sorted(
        (one["args"]["submission"], one["ts"]) for one in events if one["name"] == "record" and one["pid"] == HOST
    )
    for one in kernels:
        begun = next(time for last, time in submissions if last >= one["args"]["serial"])
        assert one["ts"] >= begun - slack, "before the host gave it"
    waits = [end(one) for one in events if one["pid"] == HOST and one["name"] == "wait"]
    assert not kernels or max(map(end, kernels)) <= max(waits) + slack, "after the host has seen it done"

    # The table is the sum of the trace.
    rows = {row.operation: row for row in seen.table()}
    assert sum(row.dispatches for row in rows.values()) == sum(one["cat"] == "kernel" for one in kernels)
    for operation, row in rows.items():
        own = [one for one in kernels if one["name"] == operation]
        assert row.dispatches == sum(one["cat"] == "kernel" for one in own)
        assert row.total == pytest.approx(sum(one["dur"] for one in own) * 1e-6, abs=1e-9 * (len(own) + 1))
        assert row.bytes == sum(one["args"]["bytes read"] + one["args"]["bytes written"] for one in own)
    assert not rows or not kernels or sum(row.share for row in rows.values()) == pytest.approx(1)
    by_kernel = {row.operation: row for row in seen.table("kernel")}
    assert by_kernel.keys() == {one["args"]["kernel"] for one in kernels}
    for name, row in by_kernel.items():
        own = [one for one in kernels if one["args"]["kernel"] == name]
        assert row.calls == len(own)
        assert row.total == pytest.approx(sum(one["dur"] for one in own) * 1e-6, abs=1e-9 * (len(own) + 1))


def test_a_call_tells_what_it_does(work: Work, tmp_path: Path) -> None:
    work.x @ work.y
    with vx.profile(tmp_path / "trace.json") as seen:
        work.x @ work.y
    kernels = on_device(events_of(tmp_path / "trace.json")[0])
    (told,) = [one["args"] for one in kernels if one["cat"] == "kernel"]
    assert told["arguments"] == ["float32[24, 24]", "float32[24, 24]"]
    assert told["bytes read"] == 2 * 4 * 24 * 24
    assert told["bytes written"] == 4 * 24 * 24
    (row,) = seen.table()
    assert (row.operation, row.calls, row.dispatches, row.operations) == ("matmul", 1, 1, 2 * 24**3)
    assert row.total == row.median > 0
    assert "matmul" in str(seen)
    assert "matmul" in seen.kernels()
    with pytest.raises(ValueError, match=r"profile: table by 'line'; expected one of 'operation', 'kernel'\."):
        seen.table("line")


COUNTS: dict[str, tuple[Callable[[Work], Any], int]] = {
    "add": (lambda work: work.x + work.y, 24 * 24),
    "exp": (lambda work: vx.exp(work.x), 24 * 24),
    "sum": (lambda work: vx.sum(work.x, axis=0), 24 * 24),
    "matmul": (lambda work: work.x @ work.y, 2 * 24**3),
    "fft.fft": (lambda work: vx.fft.fft(work.x), round(5 * 24 * 24 * math.log2(24))),
    "fft.rfft": (lambda work: vx.fft.rfft(work.x, axis=0), round(2.5 * 24 * 24 * math.log2(24))),
    "fft.fftn": (lambda work: vx.fft.fftn(work.x), round(5 * 24 * 24 * math.log2(24 * 24))),
}


@pytest.mark.parametrize("operation", COUNTS)
def test_operations_are_counted(operation: str, work: Work) -> None:
    call, count = COUNTS[operation]
    call(work)
    with vx.profile() as seen:
        call(work)
    rows = {row.operation: row for row in seen.table()}
    assert rows[operation].operations == count
    assert rows[operation].gigaflops == pytest.approx(count / rows[operation].total * 1e-9)


def test_operations_that_nobody_counts_are_left_out(work: Work) -> None:
    with vx.profile() as seen:
        vx.linalg.solve(work.x, work.y)
    (row,) = (row for row in seen.table() if row.operation == "linalg.solve")
    assert row.operations is row.gigaflops is None


def test_outside_of_blocks_nothing_is_seen(work: Work, device: _vk.Device) -> None:
    with vx.profile():
        pass
    assert not device.queue.timing_sinks
    assert not watches
    with vx.profile() as seen:
        pass
    work.x + work.y
    assert seen.table() == []


def test_blocks_nest(work: Work) -> None:
    with vx.profile() as outer:
        work.x + work.y
        with vx.profile() as inner:
            work.x * work.y
        work.x - work.y
    assert {row.operation for row in inner.table()} == {"multiply"}
    assert {row.operation for row in outer.table()} == {"add", "multiply", "subtract"}
    assert all(row.calls == row.dispatches == 1 and row.total > 0 for row in (*inner.table(), *outer.table()))


def test_threads_have_tracks(work: Work, tmp_path: Path) -> None:
    together = threading.Barrier(3)

    def compute() -> None:
        together.wait()
        for _ in range(20):
            work.x + work.y
        together.wait()

    with vx.profile(tmp_path / "trace.json") as seen:
        threads = [threading.Thread(target=compute, name=f"worker {number}") for number in range(3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    events, _ = events_of(tmp_path / "trace.json")
    (row,) = seen.table()
    assert (row.calls, row.dispatches) == (60, 60)
    assert len({one["tid"] for one in events if one["cat"] == "call"}) == 3


def test_a_block_that_raises_is_written(work: Work, tmp_path: Path) -> None:
    for number, error in enumerate((ZeroDivisionError, KeyboardInterrupt)):
        path = tmp_path / f"{number}.json"

        def block(path: Path = path, error: type[BaseException] = error) -> None:
            with vx.profile(path):
                work.x + work.y
                raise error("so")

        with pytest.raises(error):
            block()
        events, told = events_of(path)
        assert [one["name"] for one in on_device(events) if one["cat"] == "kernel"] == ["add"]
        assert told["errors"] == [f"{error.__name__}: so"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["0.json", "1.json"], "parts are left behind"


def test_a_path_that_cannot_be_written_is_told_at_the_beginning(work: Work, device: _vk.Device, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "none" / "trace.json", tmp_path / "file" / "trace.json", tmp_path, "/dev/null"):
        ran = False
        with pytest.raises(OSError, match="profile"), vx.profile(path):
            ran = True
        assert not ran
    assert not device.queue.timing_sinks
    assert os.path.exists("/dev/null")


def test_a_profile_is_for_one_block() -> None:
    seen = vx.profile()
    with seen:
        pass
    with pytest.raises(RuntimeError, match="has begun before"), seen:
        pass
