"""Shared memory in the shaders of reductions and scans: a barrier between what is written and what is read.

CPU drivers run the invocations of a workgroup in turn and give right results without some barriers that GPUs need, so
the shaders themselves are looked at.
"""

from __future__ import annotations

import pytest

import vkarray as vx
from vkarray import shaders
from vkarray._vk import spirv
from vkarray.ops import catalogue, reductions

VARIABLE, LOAD, STORE, ACCESS, BARRIER, LABEL, LOOP = 59, 61, 62, 65, 224, 248, 246
WORKGROUP = 4


def events(module: bytes) -> list[str]:
    """What a shader does to shared memory, in the order of its text: load, store, barrier, and where loops begin and end."""
    words = spirv.words_of(module, "test")
    shared, ends, found = set(), [], []
    for opcode, operands in spirv.instructions(words, "test"):
        if (opcode == VARIABLE and operands[2] == WORKGROUP) or (opcode == ACCESS and operands[2] in shared):
            shared.add(operands[1])
        elif opcode == LOAD and operands[2] in shared:
            found.append("load")
        elif opcode == STORE and operands[0] in shared:
            found.append("store")
        elif opcode == BARRIER:
            found.append("barrier")
        elif opcode == LOOP:
            ends.append(operands[0])
            found.append("begin")
        elif opcode == LABEL and operands[0] in ends:
            ends.remove(operands[0])
            found.append("end")
    return found


def races(found: list[str]) -> list[str]:
    """Pairs of accesses without a barrier in between; what stands in a loop follows itself."""
    wrong: list[str] = []
    rounds: list[str] = []
    starts: list[int] = []
    for event in found:
        if event == "begin":
            starts.append(len(rounds))
        elif event == "end":
            rounds += rounds[starts.pop() :]
        else:
            rounds.append(event)
    last = "barrier"
    for event in rounds:
        if {last, event} == {"load", "store"}:
            wrong.append(f"{event} after {last}")
        last = event
    return wrong


def shared_variants() -> list[shaders.Variant]:
    device = vx.asarray(0).device
    made = [*reductions.variants(device), *catalogue.scan_variants(device)]
    chosen = {}
    for variant in made:
        if any(name == "SHARED" for name, _ in variant.defines):
            chosen.setdefault((variant.template, variant.label.split()[0]), variant)
    return list(chosen.values())


@pytest.mark.parametrize("variant", shared_variants(), ids=lambda variant: variant.label)
def test_a_barrier_stands_between_writing_and_reading(variant):
    found = events(shaders.spirv(variant))
    assert {"load", "store", "barrier"} <= set(found)
    assert not races(found)


def test_races_are_noticed():
    assert races(["store", "load"]) == ["load after store"]
    assert races(["store", "barrier", "load", "store"]) == ["store after load"]
    assert races(["begin", "store", "barrier", "load", "end"]) == ["store after load"]
    assert not races(["begin", "store", "barrier", "load", "barrier", "end", "store", "barrier", "load"])
