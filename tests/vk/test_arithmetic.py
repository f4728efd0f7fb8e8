"""What kernels rely on of a driver's own float32 arithmetic: it gives the bits that integers give."""

import numpy as np
import pytest

import vkarray as vx
from vkarray._vk import features

# A function that takes the device's word for it, and what needs no such word, of a and b.
PAIRS = {
    "keepsNaN": [
        (f"vx_{name}(a, b) ? 1.0 : 0.0", f"!vx_either_is_nan(a, b) && vx_ordered_bits(a) {sign} vx_ordered_bits(b) ? 1.0 : 0.0")
        for name, sign in (("equal", "=="), ("less", "<"), ("less_equal", "<="))
    ]
    + [
        ("vx_maximum(a, b)", "vx_either_is_nan(a, b) ? VX_FLOAT32_NAN : larger(a, b) ? a : b"),
        ("vx_minimum(a, b)", "vx_either_is_nan(a, b) ? VX_FLOAT32_NAN : larger(a, b) ? b : a"),
    ],
    "exactDivision": [("vx_divide(a, b)", "vx_divide_by_integers(a, b)")],
    "exactSubnormalDivision": [("vx_divide(a, b)", "vx_divide_by_integers(a, b)")],
    "exactRoot": [("vx_sqrt(a)", "by_bits(a)")],
    "fusedMultiplyAdd": [
        ("vx_sqrt(a)", "by_bits(a)"),
        ("a >= 1.3234890e-23 && a <= 8.507059e37 ? vx_sqrt_by_remainders(a) : by_bits(a)", "by_bits(a)"),
        ("vx_remainder(a, b)", "vx_remainder_by_integers(a, b)"),
        ("vx_remainder(a, near(a, b))", "vx_remainder_by_integers(a, near(a, b))"),
    ],
    "exactHalf": [
        ("vx_float16_from_bits(x & 0xFFFFu)", "vx_float16_from_bits_by_integers(x & 0xFFFFu)"),
        ("vx_float16_from_bits(x >> 16)", "vx_float16_from_bits_by_integers(x >> 16)"),
        ("half_of(vx_float16_to_bits(a))", "half_of(vx_float16_to_bits_by_integers(a))"),
        ("half_of(vx_float16_to_bits(between(a)))", "half_of(vx_float16_to_bits_by_integers(between(a)))"),
    ],
}  # fmt: skip

SOURCE = """
#include <vkarray/float32>
layout(binding = 0) buffer Found { uint found[]; };
layout(push_constant) uniform Seed { uint seed; };
bool larger(float a, float b) {
    int left = vx_ordered_bits(a), right = vx_ordered_bits(b);
    return left > right || left == right && vx_sign_bits(a) == 0u;
}
// b with an exponent of a's or some 30 below.
float near(float a, float b) {
    uint below = floatBitsToUint(b) >> 23 & 31u, exponent = max(floatBitsToUint(a) >> 23 & 0xFFu, below + 1u) - below;
    return uintBitsToFloat(floatBitsToUint(b) & 0x807FFFFFu | exponent << 23);
}
// a in the range of float16 and beyond, half way between two of its numbers or next to that.
float between(float a) {
    uint bits = floatBitsToUint(a);
    uint significand = ((bits & 0x007FE000u) | 0x1000u) + (bits & 3u) - (bits >> 2 & 1u) * 2u;
    return uintBitsToFloat(bits & 0x80000000u | (95u + (bits >> 23) % 50u) << 23 | significand & 0x007FFFFFu);
}
// The root of the integers that the bits of a are.
float by_bits(float a) {
    uint bits = floatBitsToUint(a);
    if (bits - 0x00800000u < 0x7F000000u) return uintBitsToFloat(vx_root_of_normal(bits));
    if (bits - 1u < 0x007FFFFFu) {
        return uintBitsToFloat(vx_root_of_normal(floatBitsToUint(vx_scale_up_subnormal(a))) - (12u << 23));
    }
    return vx_is_zero(a) || bits == 0x7F800000u ? a : VX_FLOAT32_NAN;
}
float float16_of(uint bits) { return vx_float16_from_bits_by_integers(bits & 0xFFFFu); }
// The number of float16 next to a product with what lies half way between two of its numbers.
float float16_by_half_way(uint factor, uint bits) {
    float half_way = 0.5 * (float16_of(bits) + float16_of(bits + 1u));
    return float16_of(vx_float16_to_bits_by_integers(float16_of(factor) * half_way));
}
float half_of(uint bits) { return uintBitsToFloat(bits | 0x40000000u); }
uint mixed(uint x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
// Numbers of all exponents, or of few, with significands that are random, or near to powers of 2.
uint number(uint word, uint kind) {
    uint other = mixed(word ^ 0x9E3779B9u);
    uint extreme = other % 3u + 253u * (other >> 8 & 1u);
    uint exponent = (kind & 1u) != 0u ? 126u + other % 3u : (kind & 2u) != 0u ? extreme : other % 256u;
    uint significand = (kind & 4u) != 0u ? (word & 0x3Fu) * ((word & 0x40u) != 0u ? 1u : 0xFFFFFFFFu) : word;
    return (other & 0x80000000u) | exponent << 23 | (significand & 0x007FFFFFu);
}
void main() {
    uint place = gl_GlobalInvocationID.x;
    uint word = mixed(place + seed * 0x85EBCA6Bu);
    uint x = number(word, place >> 4), y = number(mixed(word), place >> 7);
    if ((place & 8u) != 0u) {  // a quotient near to a number
        precise float product = uintBitsToFloat(x) * uintBitsToFloat(y);
        x = floatBitsToUint(product) + (place & 3u) - 1u;
    }
    float a = uintBitsToFloat(x), b = uintBitsToFloat(y);
    float got = DEVICE, expected = INTEGERS;
    if (floatBitsToUint(got) != floatBitsToUint(expected)) {
        uint number = atomicAdd(found[0], 1u);
        if (number < 4u) {
            found[4u * number + 1u] = x;
            found[4u * number + 2u] = y;
            found[4u * number + 3u] = floatBitsToUint(got);
            found[4u * number + 4u] = floatBitsToUint(expected);
        }
    }
}
"""


PAIRS["keepsSubnormals"] = PAIRS["keepsNaN"]


def compare(name, device, integers, rounds=8):
    """Assert that what a device makes of a and b is what integers make of them."""
    kernel = vx.kernel(SOURCE.replace("DEVICE", device).replace("INTEGERS", integers), name=name)
    found = vx.zeros(17, dtype=vx.uint32)
    for seed in range(rounds):
        kernel(found, groups=(1024, 1, 1), seed=seed)
    count, *words = np.asarray(found).tolist()
    assert count == 0, (
        f"{device} differs from {integers} for {count} of {rounds * 1024 * 256} pairs: a, b, got, expected "
        f"{[f'{word:08x}' for word in words[:4]]}"
    )


@pytest.mark.parametrize("name", features.ARITHMETIC)
def test_what_is_taken_for_exact_is_exact(name):
    features_here = vx.asarray(0.0).device.features
    if name not in features_here:
        pytest.skip(f"this driver is not known for {name}, so no kernel relies on it")
    for device, integers in PAIRS[name]:
        compare(name, device, integers)


@pytest.mark.parametrize("kind", ["any numbers", "a quotient near to where rounding changes"])
def test_quotients_of_float16_need_products_alone(kind):
    left = "float16_of(x)" if kind == "any numbers" else "float16_by_half_way(y, x)"
    quotient = "half_of(vx_float16_to_bits_by_integers({}({}, {})))"
    compare(
        "float16",
        quotient.format("vx_divide_float16_by_products", left, "float16_of(y)"),
        quotient.format("vx_divide_by_integers", left, "float16_of(y)"),
        32,
    )


def test_every_fact_has_a_pair_to_compare():
    assert set(PAIRS) == set(features.ARITHMETIC)
    assert frozenset().union(*features.ARITHMETIC_OF_DRIVERS.values()) <= set(features.ARITHMETIC)
