"""Shared memory in the shaders of reductions and scans: a barrier between what is written and what is read.

CPU drivers run the invocations of a workgroup in turn and give right results without some barriers that GPUs need, so
the shaders themselves are looked at.
"""

from __future__ import annotations

import itertools

import pytest

import vkarray as vx
from vkarray._vk import spirv
from vkarray.command import catalogue
from vkarray.kernels import reductions
from vkarray.shaders import source as shaders

NAME, ENTRY, CONSTANT, FUNCTION, CALL, VARIABLE, LOAD, STORE, ACCESS = 5, 15, 43, 54, 57, 59, 61, 62, 65
BARRIER, LABEL, LOOP = 224, 248, 246
WORKGROUP, SUBGROUP_SCOPE = 4, 3
# Functions of this name touch elements that no other invocation touches until a barrier that stands outside of them.
ALONE = "_in_place("


def events(module: bytes) -> list[str]:
    """What a shader does to shared memory, in the order of its text: load and store of a variable (by its number), barrier,
    meet (a barrier of a subgroup, or else of the workgroup), where loops begin and end; functions stand where they are called."""
    words = spirv.words_of(module, "test")
    shared: dict[int, int] = {}
    constants: dict[int, int] = {}
    names: dict[int, str] = {}
    ends: list[int] = []
    functions: dict[int, list[str]] = {}
    found: list[str] = []
    entry = 0
    for opcode, operands in spirv.instructions(words, "test"):
        if opcode == NAME:
            names[operands[0]] = b"".join(word.to_bytes(4, "little") for word in operands[1:]).decode()
        elif opcode == ENTRY:
            entry = operands[1]
        elif opcode == FUNCTION:
            found = functions[operands[1]] = []
        elif opcode == CALL:
            found.append(f"call {operands[2]}")
        elif opcode == CONSTANT:
            constants[operands[1]] = operands[2]
        elif opcode == VARIABLE and operands[2] == WORKGROUP:
            shared[operands[1]] = operands[1]
        elif opcode == ACCESS and operands[2] in shared:
            shared[operands[1]] = shared[operands[2]]
        elif opcode == LOAD and operands[2] in shared:
            found.append(f"load {shared[operands[2]]}")
        elif opcode == STORE and operands[0] in shared:
            found.append(f"store {shared[operands[0]]}")
        elif opcode == BARRIER and constants[operands[0]] == SUBGROUP_SCOPE:
            found.append("meet")
        elif opcode == BARRIER and found[-1:] != ["meet"]:
            found.append("barrier")
        elif opcode == LOOP:
            ends.append(operands[0])
            found.append("begin")
        elif opcode == LABEL and operands[0] in ends:
            ends.remove(operands[0])
            found.append("end")

    def written_out(number: int) -> list[str]:
        if ALONE in names.get(number, ""):
            return []
        parts = [
            written_out(int(event.split()[1])) if event.startswith("call") else [event] for event in functions[number]
        ]
        return list(itertools.chain.from_iterable(parts))

    return written_out(entry)


def races(found: list[str], between: tuple[str, ...] = ("barrier", "meet")) -> list[str]:
    """Pairs of accesses to a variable without a barrier in between; what stands in a loop follows itself."""
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
    last: dict[str, str] = {}
    for event in rounds:
        if event in ("barrier", "meet"):
            if event in between:
                last.clear()
            continue
        access, variable = event.split()
        before = last.setdefault(variable, access)
        if before != access:
            wrong.append(f"{event} after {before}")
        last[variable] = access
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
    assert {"load", "store", "barrier"} <= {event.split()[0] for event in found}
    assert not races(found)
    # Subgroups keep to themselves in one variable at most.
    assert len({race.split()[1] for race in races(found, ("barrier",))}) <= ("meet" in found)


def test_races_are_noticed():
    assert races(["store 1", "load 1"]) == ["load 1 after store"]
    assert races(["store 1", "barrier", "load 1", "store 1"]) == ["store 1 after load"]
    assert races(["begin", "store 1", "barrier", "load 1", "end"]) == ["store 1 after load"]
    assert not races(["store 1", "meet", "load 1"])
    assert races(["store 1", "meet", "load 1"], ("barrier",)) == ["load 1 after store"]
    assert races(["store 1", "store 2", "load 1"]) == ["load 1 after store"]
    assert not races(["store 1", "load 2", "barrier", "load 1", "store 2"])
    assert not races(["begin", "store 1", "barrier", "load 1", "barrier", "end", "store 1", "barrier", "load 1"])
