"""The same bits on every driver: shaders leave compilers no freedom, and results are those recorded in bits.json.

`python tests/test_reproducibility.py` records them anew, after a change of a library function that was meant.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from reference import flushes_subnormals, host_dtype, supported

import vkarray as vx
from vkarray._vk import spirv
from vkarray.command import catalogue
from vkarray.command.accuracy.measure import is_device_arithmetic
from vkarray.kernels import launch, reductions
from vkarray.kernels.rows import ROWS
from vkarray.ops.beyond import closeness, histogram, quantile, random
from vkarray.shaders import compiler, files
from vkarray.shaders import source as shaders

RECORD = Path(__file__).parent / "bits.json"
FLOATING = [vx.float16, vx.bfloat16, vx.float32, vx.float64, vx.complex64, vx.complex128]
CASES = [
    (name, dtype) for name, row in ROWS.items() for dtype in supported(row.accepted()) if dtype in FLOATING
]  # fmt: skip

# A first guess that is corrected to the nearest number, whatever it is, and the device's own root, which is taken where it is exact
# (`exactRoot`): glsl/lib/float32/power.glsl.
SEEDS = {(name, number): text for name in ("sqrt", "std") for number, text in ((31, "Sqrt"), (32, "InverseSqrt"))}

# Functions that add products without rounding error by fma, which may then be fused or not: `vx_add_exact_product`.
FMA = "GLSL.std.450 instruction 50"
# First those that do so for float32, then those whose functions of complex64 do so by other ways.
ADD_EXACT_PRODUCTS = [
    "acos", "acosh", "asin", "asinh", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2",
    "logaddexp", "logaddexp2", "pow", "sin", "sinh", "sqrt", "std", "tan", "tanh",
]  # fmt: skip
# What a quotient leaves is taken by fma alone where that rounds once (`fusedMultiplyAdd`): glsl/lib/float32/arithmetic.glsl.
TAKE_WHAT_IS_LEFT = ["remainder"]
ADD_EXACT_PRODUCTS_OF_PARTS = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "log1p"]

# Opcodes of SPIR-V 1.6.
DECORATE, EXTENDED_INSTRUCTION, FUNCTION = 71, 12, 54
ROUNDED = {129: "OpFAdd", 131: "OpFSub", 133: "OpFMul", 136: "OpFDiv", 142: "OpVectorTimesScalar", 148: "OpDot"}
REMAINDERS = {140: "OpFRem", 141: "OpFMod"}
NO_CONTRACTION = 42
# Functions of GLSL.std.450 that are exact: rounding to integers, minima, bits. Not among them are the elementary
# functions, fma, mix, inversesqrt, length and the like.
EXACT = {
    1: "Round", 2: "RoundEven", 3: "Trunc", 4: "FAbs", 5: "SAbs", 8: "Floor", 9: "Ceil", 38: "UMin", 39: "SMin",
    41: "UMax", 42: "SMax", 43: "FClamp", 44: "UClamp", 45: "SClamp", 53: "Ldexp", 58: "PackHalf2x16", 59: "PackDouble2x32",
    62: "UnpackHalf2x16", 65: "UnpackDouble2x32", 73: "FindILsb", 74: "FindSMsb", 75: "FindUMsb",
}  # fmt: skip


def freedoms(module: bytes) -> list[str]:
    """The instructions of a shader that a driver may evaluate in more than one way."""
    words = spirv.words_of(module, "test")
    instructions = list(spirv.instructions(words, "test"))
    fixed = {operands[0] for opcode, operands in instructions if opcode == DECORATE and operands[1] == NO_CONTRACTION}
    found = []
    for opcode, operands in instructions:
        if opcode in ROUNDED and operands[1] not in fixed:
            found.append(f"{ROUNDED[opcode]} without NoContraction")
        elif opcode in REMAINDERS:
            found.append(REMAINDERS[opcode])
        elif opcode == EXTENDED_INSTRUCTION and operands[3] not in EXACT:
            found.append(f"GLSL.std.450 instruction {operands[3]}")
    return found


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_shader_leaves_no_freedom(name, dtype, device):
    variant = ROWS[name].operation(dtype).variant(device, flat=False)
    seeds = [f"GLSL.std.450 instruction {number}" for function, number in SEEDS if function == name]
    fused = name in ADD_EXACT_PRODUCTS + ADD_EXACT_PRODUCTS_OF_PARTS + TAKE_WHAT_IS_LEFT
    allowed = {*seeds, FMA} if fused else set(seeds)
    found = set(freedoms(shaders.spirv(variant))) - allowed
    assert not found, f"{name} of {dtype}: {', '.join(sorted(found))}"


@pytest.mark.parametrize("family", [closeness, histogram, quantile, random], ids=lambda module: module.__name__)
def test_shaders_beyond_rows_leave_no_freedom(family, device):
    seeds = {f"GLSL.std.450 instruction {number}" for _, number in SEEDS}  # random numbers take roots and logarithms
    for variant in family.variants(device):
        words, *_ = variant.label.removeprefix("random ").split()
        inverted = variant.label.startswith("random") and words not in ("uniforms", "integers")
        allowed = {*seeds, FMA} if inverted else set()
        found = set(freedoms(shaders.spirv(variant))) - allowed
        assert not found, f"{variant.label}: {', '.join(sorted(found))}"


def sums_and_products() -> list[shaders.Variant]:
    """One shader of each reduction and scan whose results are rounded, on float32 and complex64."""
    made = [*reductions.variants(vx.asarray(0).device), *catalogue.scan_variants(vx.asarray(0).device)]
    wanted = {"float32", "complex64"}
    chosen = {variant.label: variant for variant in made if wanted & set(variant.label.replace("(", " ").split())}
    return list(chosen.values())


@pytest.mark.parametrize("variant", sums_and_products(), ids=lambda variant: variant.label)
def test_reduction_leaves_no_freedom(variant):
    seeds = {f"GLSL.std.450 instruction {number}" for function, number in SEEDS if variant.label.startswith(function)}
    if variant.label.split()[0] in ADD_EXACT_PRODUCTS:
        seeds.add(FMA)
    found = set(freedoms(shaders.spirv(variant))) - seeds
    assert not found, f"{variant.label}: {', '.join(sorted(found))}"


def test_freedom_is_noticed():
    source = """#version 460
        layout(binding = 0) buffer Values { float x[]; };
        void main() { x[0] = x[1] * x[2] + x[3]; x[4] = %s; }"""
    assert len(freedoms(compiler.compile_glsl(source % "0.0", "test"))) == 2
    assert "GLSL.std.450 instruction 50" in freedoms(compiler.compile_glsl(source % "fma(x[1], x[2], x[3])", "test"))
    assert "GLSL.std.450 instruction 13" in freedoms(compiler.compile_glsl(source % "sin(x[1])", "test"))


def scattered(count: int, dtype, start: int) -> np.ndarray:
    """Values of all magnitudes and signs, the same with every version of NumPy: odd multiples of the golden ratio."""
    host = host_dtype(dtype)
    if dtype in (vx.complex64, vx.complex128):
        part = vx.float32 if dtype is vx.complex64 else vx.float64
        result = np.empty(count, host)
        result.real, result.imag = scattered(count, part, start), scattered(count, part, start + count)
        return result
    mixed = np.arange(start + 1, start + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    bits = (mixed >> np.uint64(64 - 8 * host.itemsize)).astype(f"u{host.itemsize}")
    any_magnitude = bits.view(host)
    moderate = ((mixed >> np.uint64(12)).astype(np.float64) / 2.0**52 * 40 - 20).astype(host)
    values = np.where(np.arange(count) % 2, any_magnitude, moderate)
    if dtype is vx.bfloat16:
        values = (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return values


def digest(name: str, dtype) -> str:
    """A hash of results, NaN of all kinds alike."""
    row = ROWS[name]
    operands = [vx.asarray(scattered(4096, dtype, 10_000 * place), dtype=dtype) for place in range(row.operands)]
    values = np.asarray(row(*operands))
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag])
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return hashlib.sha256(values.tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_results_are_the_recorded_bits(name, dtype):
    if is_device_arithmetic(ROWS[name], dtype) and flushes_subnormals(dtype):
        pytest.skip(
            "this driver's own arithmetic turns subnormal numbers into zeros (Vulkan leaves that open without "
            "DenormPreserve)"
        )
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    assert digest(name, dtype) == recorded[f"{name} {dtype}"], (
        f"{name} of {dtype} gives other bits than recorded. If the function was changed on purpose, run {__file__}."
    )


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, vx.float32) for name in ADD_EXACT_PRODUCTS if name in ROWS]
    + [(name, vx.complex64) for name in ADD_EXACT_PRODUCTS_OF_PARTS],
    ids=str,
)
def test_products_that_a_device_may_fuse_are_exact(name, dtype, monkeypatch):
    """The same bits with each product added in float64: rounded once, as by a device that fuses."""
    if not supported([vx.float64]):
        return
    row = ROWS[name]
    count = 1 << (16 if dtype is vx.complex64 else 19)
    operands = [vx.asarray(scattered(count, dtype, 10_000 * place), dtype=dtype) for place in range(row.operands)]
    separate = np.asarray(row(*operands))

    read, replaced = files.file_text, []

    def file(path: str) -> str:
        text = read(path)
        fused = text.replace("fma(a, b, sum)", "float(double(a) * double(b) + double(sum))")
        replaced.extend([path] * (text != fused))
        return fused

    operation = row.operation(dtype)
    monkeypatch.setattr(shaders, "file_text", file)
    monkeypatch.setattr(shaders, "_body", shaders._body.__wrapped__)
    monkeypatch.setattr(shaders, "_compiled", {})
    monkeypatch.setattr(launch, "kernel", launch.kernel.__wrapped__)
    monkeypatch.setattr(operation, "kernels", {})
    fused = np.asarray(row(*operands))
    assert "lib/float32/error_free.glsl" in replaced
    np.testing.assert_array_equal(fused, separate)  # as numbers; signs of zeros below
    parts = [np.stack([x.real, x.imag]) if x.dtype.kind == "c" else x for x in (fused, separate)]
    np.testing.assert_array_equal(*(np.signbit(np.where(np.isnan(x), 0, x)) for x in parts))


def test_record_is_complete():
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    names = {f"{name} {dtype}" for name, row in ROWS.items() for dtype in row.accepted() if dtype in FLOATING}
    assert set(recorded) == names


if __name__ == "__main__":
    found = {f"{name} {dtype}": digest(name, dtype) for name, dtype in CASES}
    RECORD.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
