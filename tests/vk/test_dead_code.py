"""What drivers get of a module: no code that the constants rule out, on CPUs arguments behind a push constant; the same results."""

import itertools
import struct

import numpy as np
import pytest
from validator import complaint, needs_validator
from vulkan_program import HEAD, compile_glsl, download, upload

from vkarray._vk import cpu_modules, dead_code, spirv
from vkarray.command.catalogue import standard_variants
from vkarray.shaders.module import instructions, words_of
from vkarray.shaders.source import spirv as spirv_of

LINES = f"""{HEAD}
layout(local_size_x = 64) in;
layout(constant_id = 1) const uint NUMBER = 7u;
layout(constant_id = 2) const bool FLAG = true;
layout(buffer_reference, std430) buffer Words {{ uint data[]; }};
layout(set = 1, binding = 0, scalar) uniform Arguments {{ Words a; Words target; }} arguments;
uint twice(uint x) {{ return 2u * x; }}
uint sum_to(uint x) {{ uint sum = 0u; for (uint k = 0u; k <= x; ++k) {{ BODY sum += k; }} return sum; }}
void main() {{
    uint i = gl_GlobalInvocationID.x;
    uint x = arguments.a.data[i];
    STATEMENT
    arguments.target.data[i] = x;
}}
"""
# A statement on x, what the loop of `sum_to` begins with, and what both make of x for a number and a flag.
CASES = {
    "both sides": ("if (FLAG) x += NUMBER; else x = twice(x);", "", lambda x, n, f: x + n if f else 2 * x),
    "comparison": ("if (NUMBER > 3u) x = twice(x);", "", lambda x, n, f: 2 * x if n > 3 else x),
    "bits": ("if ((NUMBER & 4u) != 0u) x = twice(x); else if (FLAG) x += 1u;", "",
             lambda x, n, f: 2 * x if n & 4 else x + f),
    "one side known": ("if (FLAG || x > 20u) x += 3u;", "", lambda x, n, f: x + 3 if f or x > 20 else x),
    "short circuit": ("if (FLAG && twice(x) > 20u && NUMBER > 3u) x += 3u;", "",
                      lambda x, n, f: x + 3 if f and 2 * x > 20 and n > 3 else x),
    "either": ("if (FLAG || twice(x) > 20u) x += 3u; else x += 4u;", "", lambda x, n, f: x + 3 if f or 2 * x > 20 else x + 4),
    "not": ("if (!(FLAG && twice(x) > 20u)) x += 3u;", "", lambda x, n, f: x if f and 2 * x > 20 else x + 3),
    "return": ("if (FLAG) { if (x > 20u) return; arguments.target.data[i] = x + NUMBER; return; } x += 1u;", "",
               lambda x, n, f: (0 if x > 20 else x + n) if f else x + 1),
    "loop": ("x = sum_to(x);", "if (FLAG && k > NUMBER) break; if (!FLAG) continue;",
             lambda x, n, f: sum(range(min(x, n) + 1)) if f else 0),
    "loop that ends": ("x = sum_to(x);", "if (FLAG) break;", lambda x, n, f: 0 if f else sum(range(x + 1))),
    "loop of no turns": ("for (uint k = 0u; k < NUMBER - 3u && !FLAG; ++k) x += k;", "",
                         lambda x, n, f: x if f else x + sum(range(n - 3))),
    "switch": ("switch (NUMBER) { case 3u: x += 1u; case 4u: if (FLAG) break; x += 2u; default: x += 4u; }", "",
               lambda x, n, f: x + {3: 1, 4: 0, 7: 4}[n] + (0 if f or n == 7 else 6)),
    "choice": ("x = FLAG ? twice(x) : NUMBER == 7u ? sum_to(x) : x;", "",
               lambda x, n, f: 2 * x if f else sum(range(x + 1)) if n == 7 else x),
}  # fmt: skip
UNDECIDED = {"loop of no turns", "switch"}  # whose choices are left to the driver
WORDS = np.arange(64, dtype=np.uint32)


def specialized(name):
    """The shader of a case, each pair of constants, and the values that they give."""
    statement, body, expected = CASES[name]
    code = compile_glsl(LINES.replace("STATEMENT", statement).replace("BODY", body))
    for number, flag in itertools.product((3, 4, 7), (False, True)):
        yield code, {1: number, 2: int(flag)}, [expected(int(x), number, flag) for x in WORDS]


@pytest.mark.parametrize("name", CASES)
def test_results_stay(device, name):
    a = upload(device, WORDS)
    for code, constants, expected in specialized(name):
        module = spirv.read(code, name, constants)
        words = module.words
        left = dead_code.without_dead_code(words, name, constants)
        kernel = device.kernel(struct.pack(f"<{len(left)}I", *left), name, tuple(constants.items()))
        target = upload(device, np.zeros_like(WORDS))
        device.dispatch(kernel, struct.pack("<2Q", a.address, target.address), (1, 1, 1), [a], [target])
        assert download(device, target).tolist() == expected, constants


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_left_that_never_runs(name):
    """A choice by the flag alone is made, and functions of the other side go."""
    sizes = set()
    for code, constants, _ in specialized(name):
        words = words_of(code, name)
        left = dead_code.without_dead_code(words, name, constants)
        assert dead_code.without_dead_code(left, name, constants) == left
        known = spirv.constants(words, name, constants)
        opcodes = list(instructions(left, name))
        decided = [
            before == 247 and opcode == 250 and operands[0] in known
            for (before, _), (opcode, operands) in itertools.pairwise(opcodes)
        ]
        assert not any(decided)
        called = {operands[2] for opcode, operands in opcodes if opcode == 57}
        entered = {operands[1] for opcode, operands in opcodes if opcode == 15}
        assert {operands[1] for opcode, operands in opcodes if opcode == 54} == called | entered
        sizes.add(len(left))
    assert max(sizes) < len(words)
    assert len(sizes) > 1 or name in UNDECIDED


@needs_validator
@pytest.mark.parametrize("name", CASES)
def test_modules_stay_valid(name):
    for code, constants, _ in specialized(name):
        left = dead_code.without_dead_code(words_of(code, name), name, constants)
        made = cpu_modules.behind_push_constant(left, name)
        assert spirv.read(struct.pack(f"<{len(made)}I", *made), name, constants).push_constant_bytes == 4
        assert not complaint(made), constants


@pytest.mark.parametrize(
    "variant", [one for one in standard_variants() if "cooperative" in one.label], ids=lambda x: x.label
)
def test_functions_that_other_instructions_name_stay(variant):
    """Those that matrices of NV_cooperative_matrix2 are reduced with, or computed by: NVIDIA's compiler crashes without them."""
    words = words_of(spirv_of(variant), variant.label)
    left = dead_code.without_dead_code(words, variant.label, {})

    def functions(words):
        return {operands[1] for opcode, operands in instructions(words, variant.label) if opcode == 54}

    place = {5366: 4, 5369: 3}  # of the function in OpCooperativeMatrixReduceNV and OpCooperativeMatrixPerElementOpNV
    named = {operands[place[one]] for one, operands in instructions(left, variant.label) if one in place}
    assert named <= functions(left)
    assert bool(named) == ("with reductions" in variant.label)
