"""Fused kernels of costly functions as GPUs have them: an invocation loads two packs before it stores one."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import vkarray as vx
from vkarray import configuration
from vkarray.kernels import evaluation

pytestmark = pytest.mark.skipif(
    configuration.current().compare, reason="functions run as they are while results are compared"
)

FUNCTIONS = {
    "one operand": lambda x, y: vx.exp(x) * 2.5 + 1,
    "two operands and a number for all": lambda x, y: vx.tanh(x) * y + y[:1],
    "several results": lambda x, y: (vx.sin(x) + y, vx.cos(x) - y),
    "results of other sizes": lambda x, y: (vx.exp(x) > y, vx.astype(vx.exp(x) * y, vx.float16)),
    "in place": lambda x, y: in_place(x, y),
}


def in_place(x: Any, y: Any) -> Any:
    y *= vx.exp(x)
    return y + x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pairs_of_packs_give_the_bits_of_calls(name: str, device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[Any, ...]] = []
    code = evaluation.code

    def noted(*arguments: Any) -> bytes:
        made.append(arguments)
        return code(*arguments)

    monkeypatch.setattr(evaluation, "code", noted)
    evaluation._kernel.cache_clear()
    monkeypatch.setattr(device, "limits", dataclasses.replace(device.limits, is_cpu=False))
    random, compiled = np.random.default_rng(4), vx.compile(FUNCTIONS[name])
    group = 4 * 256
    for count in (1, 3, 4, 7, 8, 9, group - 1, group, group + 5, 2 * group - 1, 2 * group, 2 * group + 1, 9001):
        x, y = (random.uniform(-2, 2, count).astype(np.float32) for _ in range(2))
        found, expected = (
            [np.asarray(one).tobytes() for one in (results if isinstance(results, tuple) else (results,))]
            for results in (function(vx.asarray(x), vx.asarray(y)) for function in (compiled, FUNCTIONS[name]))
        )
        assert found == expected, count
    evaluation._kernel.cache_clear()
    assert any(arguments[-1] is True for arguments in made)
