"""The library's caches hold so many kernels of a device at most, since pipelines take memory; what is dropped is made again."""

from __future__ import annotations

import gc
import itertools
import threading

import numpy as np
import pytest

import vkarray as vx
from vkarray._vk import profiles
from vkarray.kernels import kernel_caches, planned

NAMES = ("exp", "log1p", "sin", "cos", "tan", "sqrt", "floor", "abs")
MOST = 20


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> vx.Device:
    """A device of its own whose caches hold few kernels."""
    planned.forget()
    kernel_caches.forget()
    gc.collect()
    for kind in kernel_caches.MOST:
        monkeypatch.setitem(kernel_caches.MOST, kind, MOST)
        monkeypatch.setitem(kernel_caches._bounds, kind, MOST + len(kernel_caches._made[kind]))
    with vx.config(profile="few-kernels"):
        return vx.asarray(0).device


@pytest.fixture(autouse=True)
def profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(profiles.PROFILES, "few-kernels", profiles.Profile("of the tests"))


def chains(device: vx.Device) -> None:
    x = vx.asarray(np.linspace(0, 1, 12, dtype=np.float32), device=device)
    for first, second in itertools.product(NAMES, NAMES):
        compiled = vx.compile(lambda x, first=first, second=second: getattr(vx, first)(getattr(vx, second)(x)))
        eager = getattr(vx, first)(getattr(vx, second)(x))
        assert np.asarray(compiled(x)).tobytes() == np.asarray(eager).tobytes(), (first, second)


def test_kernels_are_so_many_at_most(few: vx.Device) -> None:
    most, others = 0, sum(map(len, kernel_caches._made.values()))
    for _ in range(2):  # what is dropped is made again
        planned.forget()
        chains(few)
        planned.forget()
        gc.collect()
        most = max(most, len(few.kernels))
    assert most <= 2 * (MOST + len(NAMES) + others), "what others keep counts, and the bound is twice what stays"


def test_plans_and_programs_keep_their_kernels(few: vx.Device) -> None:
    x = vx.asarray(np.arange(6, dtype=np.float32), device=few)
    compiled = vx.compile(lambda x: vx.sum(vx.exp(x) * 2) + 1)
    expected = [np.asarray(compiled(x)).tobytes() for _ in range(3)]
    kernel_caches.forget()
    gc.collect()
    assert [np.asarray(compiled(x)).tobytes() for _ in range(3)] == expected
    assert np.asarray(x + x).tolist() == [0, 2, 4, 6, 8, 10]


def test_caches_may_be_emptied_while_threads_compute(few: vx.Device) -> None:
    failures: list[BaseException] = []

    def compute() -> None:
        try:
            x = vx.asarray(np.arange(100, dtype=np.float32), device=few)
            for _ in range(30):
                assert float(vx.sum(vx.sqrt(x * x) + 1)) == 5050.0
        except BaseException as error:  # told below
            failures.append(error)

    threads = [threading.Thread(target=compute) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        kernel_caches.forget()
        planned.forget()
    assert failures == []
