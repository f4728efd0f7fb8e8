// Sine, cosine and tangent of float32 for every finite argument.
#ifndef LIB_FLOAT32_TRIGONOMETRIC
#define LIB_FLOAT32_TRIGONOMETRIC
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"

// 32 bits of 2 / pi (Payne and Hanek 1983), after one word of zeros.
uint vx_two_over_pi(int word) {
    return word < 4
        ? (word < 2 ? (word == 0 ? 0u : 0xA2F9836Eu) : (word == 2 ? 0x4E441529u : 0xFC2757D1u))
        : (word < 6 ? (word == 4 ? 0xF534DDC0u : 0xDB629599u) : (word == 6 ? 0x3C439041u : 0xFE5163ABu));
}

uint vx_two_over_pi_from(int bit) {
    int word = bit >> 5;
    int offset = bit & 31;
    return (vx_two_over_pi(word) << offset) | ((vx_two_over_pi(word + 1) >> 1) >> (31 - offset));
}

// |x| = n pi / 2 + (r.x + r.y) for finite |x| >= 2^9, `turns` is n modulo 4: the bits of 2 / pi that matter, times the significand.
vec2 vx_reduce_huge(float x, out uint turns) {
    ivec2 parts = vx_decompose(vx_magnitude_bits(x));
    int first = parts.y - 120;
    uint significand = uint(parts.x);
    uint low_high, low_low, middle_high, middle_low, carry;
    umulExtended(significand, vx_two_over_pi_from(first + 64), low_high, low_low);
    umulExtended(significand, vx_two_over_pi_from(first + 32), middle_high, middle_low);
    uint middle = uaddCarry(middle_low, low_high, carry);
    uint high = significand * vx_two_over_pi_from(first) + middle_high + carry;
    // The quotient modulo 4 in units of 2^-62: round it, keep the rest as sign, magnitude.
    turns = (high + 0x20000000u) >> 30;
    high = (high << 2) | (middle >> 30);
    middle <<= 2;
    bool negative = (high & 0x80000000u) != 0u;
    if (negative) {
        middle = ~middle + 1u;
        high = ~high + (middle == 0u ? 1u : 0u);
    }
    int shift = 31 - findMSB(high);
    high = (high << shift) | ((middle >> 1) >> (31 - shift));
    middle <<= shift;
    precise float fraction_low = float(((high & 0xFFu) << 16) | (middle >> 16)) * 5.96046448e-8;
    vec2 r = vx_pair_multiply(vec2(float(high >> 8), fraction_low), vec2(1.57079637, -4.37113883e-8));
    precise float unit = vx_power_of_two(-24 - shift) * (negative ? -1.0 : 1.0);
    precise vec2 result = r * unit;
    return result;
}

// x = n pi / 2 + (r.x + r.y), |r.x| <= 0.79, the last bits of `turns` are those of n, for |x| < 2^9.6: Cody and Waite's reduction
// in three parts. n has 9 bits and the first two parts have 15, so that n times a part and all but the last differences are exact.
vec2 vx_reduce_moderate(float x, out uint turns) {
    precise float shifted = x * 0.636619747 + 12582912.0;
    turns = floatBitsToUint(shifted);
    precise float n = shifted - 12582912.0;
    float first = vx_add_exact_product(x, n, -1.57080078);
    float high = vx_add_exact_product(first, n, 4.45451587e-6);
    precise float moved = first - high;
    precise float low = vx_add_exact_product(moved, n, 4.45451587e-6) - n * 6.07710059e-11;
    return vec2(high, low);
}

// The same for any finite x.
vec2 vx_reduce_angle(float x, out uint turns) {
    if (vx_magnitude_bits(x) < 0x44490000u) {
        return vx_reduce_moderate(x, turns);
    }
    precise vec2 r = vx_reduce_huge(x, turns);
    if (vx_sign_bits(x) != 0u) {
        turns = 0u - turns;
        r = -r;
    }
    return r;
}

// sin(r.x + r.y) as a pair for a reduced r.
vec2 vx_sin_reduced(vec2 r) {
    precise float z = r.x * r.x;
    precise float p = -0.000198502807 + z * 2.80425547e-6;
    p = 0.00833337288 + z * p;
    p = -0.166666672 + z * p;
    precise float tail = r.x * z * p + (r.y - 0.5 * z * r.y);
    return vec2(r.x, tail);
}

// cos(r.x + r.y) as a pair for a reduced r.
vec2 vx_cos_reduced(vec2 r) {
    vec2 square = vx_split_square(r.x);
    precise float z = square.x + square.y;
    precise float p = -0.0013887313 + z * 2.44329567e-5;
    p = 0.0416666456 + z * p;
    vec2 sum = vx_fast_two_sum(1.0, -0.5 * square.x);
    precise float tail = sum.y + ((z * z * p - 0.5 * square.y) - r.x * r.y);
    return vec2(sum.x, tail);
}

// The sine of a reduced angle and some quarter turns: r + r z p + ..., or 1 - z / 2 + z z p + ... with another p, z = r^2. Choosing what
// goes into one sum takes less than two sums.
float vx_sine_after(vec2 angle, uint turns) {
    bool odd = (turns & 1u) != 0u;
    float r = angle.x;
    precise float z = r * r;
    float w = vx_add_exact_product(1.0, z, -0.5);
    precise float moved = 1.0 - w;
    float w_error = vx_add_exact_product(moved, z, -0.5);
    precise float p = (odd ? -0.001388731 : 0.008332189) + z * (odd ? 2.4432327e-5 : -0.00019518283);
    p = (odd ? 0.041666646 : -0.16666655) + z * p;
    precise float factor = (odd ? z : r) * z;
    precise float share = (odd ? r : w) * angle.y;
    precise float rest = odd ? w_error - share : share;
    precise float result = (odd ? w : r) + (factor * p + rest);
    return vx_flip_sign(result, (turns & 2u) << 30);
}

float vx_sine_of_other(float x, uint quarters) {
    if (vx_magnitude_bits(x) >= 0x7F800000u) {
        return VX_FLOAT32_NAN;
    }
    uint turns;
    vec2 angle = vx_reduce_angle(x, turns);
    return vx_sine_after(angle, turns + quarters);
}

float vx_sine_of_moderate(float x, uint quarters) {
    uint turns;
    vec2 angle = vx_reduce_moderate(x, turns);
    return vx_sine_after(angle, turns + quarters);
}

float vx_sin_usual(float x) { return vx_sine_of_moderate(x, 0u); }
bool vx_sin_is_rare(float x) { return vx_magnitude_bits(x) - 0x38800000u >= 0x0BC90000u; }
float vx_sin_rare(float x) { return vx_is_below(x, 0.00006103515625) ? x : vx_sine_of_other(x, 0u); }
VX_OF_PARTS(vx_sin)  // 0.81 ULP over all inputs

float vx_cos_usual(float x) { return vx_sine_of_moderate(x, 1u); }
bool vx_cos_is_rare(float x) { return !vx_is_below(x, 804.0); }
float vx_cos_rare(float x) { return vx_sine_of_other(x, 1u); }
VX_OF_PARTS(vx_cos)  // 0.81 ULP over all inputs

// The quotient of sine and cosine as pairs. 0.94 ULP over all inputs.
float vx_tan(float x) {
    uint bits = vx_magnitude_bits(x);
    if (bits >= 0x7F800000u) {
        return VX_FLOAT32_NAN;
    }
    uint turns;
    vec2 r = vx_reduce_angle(x, turns);
    vec2 sine = vx_sin_reduced(r);
    vec2 cosine = vx_cos_reduced(r);
    sine = vx_fast_two_sum(sine.x, sine.y);
    cosine = vx_fast_two_sum(cosine.x, cosine.y);
    bool swapped = (turns & 1u) != 0u;
    precise vec2 numerator = swapped ? vec2(-cosine.x, -cosine.y) : sine;
    precise vec2 denominator = swapped ? sine : cosine;
    vec2 quotient = vx_pair_divide(numerator, denominator);
    return bits < 0x38800000u ? x : quotient.x;
}

#endif
