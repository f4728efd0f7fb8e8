// Powers and roots of float32.
#ifndef LIB_FLOAT32_POWER
#define LIB_FLOAT32_POWER
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/logarithmic.glsl"

// Correctly rounded. Newton's iteration for 1 / sqrt(m) from a seed of the bits, m in [0.5, 2) with the significand of x and
// its exponent's last bit, gives the root within 3 ULP; with the exact remainder it rounds right for each of the 2^24 m.
float vx_sqrt(float x) {
    uint bits = floatBitsToUint(x);
    if (bits - 1u >= 0x7F7FFFFFu) {
        bool kept = vx_is_zero(x) || bits == 0x7F800000u;
        return kept ? x : VX_FLOAT32_NAN;
    }
    uint down = 0u;
    if (bits < 0x00800000u) {
        bits = floatBitsToUint(vx_scale_up_subnormal(x));
        down = 12u << 23;
    }
    uint m_bits = (bits & 0x00FFFFFFu) | 0x3F000000u;
    precise float m = uintBitsToFloat(m_bits);
    precise float half_m = 0.5 * m;
    precise float y = uintBitsToFloat(0x5F3759DFu - (m_bits >> 1));
    y = y * (1.5 - half_m * y * y);
    y = y * (1.5 - half_m * y * y);
    y = y * (1.5 - half_m * y * y);
    precise float root = m * y;
    vec2 part = vx_split(root);
    precise float remainder = ((m - part.x * part.x) - 2.0 * part.x * part.y) - part.y * part.y;
    root = root + remainder * (0.5 * y);
    return uintBitsToFloat(floatBitsToUint(root) + uint(int(bits - m_bits) >> 1) - down);
}

// sqrt(a^2 + b^2) without overflow or underflow on the way; infinite where either is infinite. 0.76 ULP on samples, 0.51 where the result is normal.
float vx_hypot(float a, float b) {
    uint larger = max(vx_magnitude_bits(a), vx_magnitude_bits(b));
    uint smaller = min(vx_magnitude_bits(a), vx_magnitude_bits(b));
    if (larger >= 0x7F800000u) {
        return vx_is_infinite(a) || vx_is_infinite(b) ? VX_FLOAT32_INFINITY : VX_FLOAT32_NAN;
    }
    if (smaller == 0u) {
        return uintBitsToFloat(larger);
    }
    // Scaled by bits so that the larger is in [1, 2).
    ivec2 above = vx_decompose(larger);
    ivec2 below = vx_decompose(smaller);
    precise float x = uintBitsToFloat((uint(above.x) & 0x007FFFFFu) | 0x3F800000u);
    precise float y = uintBitsToFloat((uint(below.x) & 0x007FFFFFu) | (uint(127 - min(above.y - below.y, 30)) << 23));
    vec2 root = vx_pair_sqrt(vx_pair_add(vx_split_square(x), vx_split_square(y)));
    return vx_scale(root.x, above.y - 127);
}

// log2 of a positive finite x as a pair, relative error about 2^-36: with x = 2^e (1 + f), s = f / (2 + f) and
// log(1 + f) = 2 s + s^3 (2/3 + s^2 (2/5 + ...)), all but the last polynomial in pairs.
vec2 vx_log2_pair(float x) {
    vec2 reduced = vx_log_reduce(x);
    vec2 s = vx_pair_divide(vec2(reduced.x, 0.0), vx_fast_two_sum(2.0, reduced.x));
    vec2 z = vx_pair_multiply(s, s);
    precise float p = 0.221810594 + z.x * 0.195278898;
    p = 0.285719573 + z.x * p;
    p = 0.399999976 + z.x * p;
    precise float next = z.x * p;
    vec2 sum = vx_fast_two_sum(0.666666687, next);
    precise float low = sum.y + (z.y * p - 1.98682155e-8);
    vec2 tail = vx_pair_multiply(vx_pair_multiply(s, z), vec2(sum.x, low));
    precise vec2 twice = vec2(2.0 * s.x, 2.0 * s.y);
    vec2 logarithm = vx_pair_add(twice, tail);
    return vx_pair_add(vec2(reduced.y, 0.0), vx_pair_multiply(logarithm, vec2(1.44269502, 1.92596303e-8)));
}

// 0 for a y that is no integer, 1 for an odd one, 2 for an even one (infinities too).
int vx_integer_parity(float y) {
    uint bits = vx_magnitude_bits(y);
    if (bits < 0x3F800000u) {
        return bits == 0u ? 2 : 0;
    }
    int places = max(150 - int(bits >> 23), 0);
    uint significand = (bits & 0x007FFFFFu) | 0x00800000u;
    if ((significand & ((1u << places) - 1u)) != 0u) {
        return 0;
    }
    return bits < 0x4B800000u && ((significand >> places) & 1u) == 1u ? 1 : 2;
}

// x^y with all special cases of C99 Annex F: 2^(y log2 |x|) from pairs. 0.77 ULP on samples, 0.63 where the result is normal.
float vx_pow(float x, float y) {
    uint x_bits = vx_magnitude_bits(x);
    uint y_bits = vx_magnitude_bits(y);
    if (y_bits == 0u || floatBitsToUint(x) == 0x3F800000u) {
        return 1.0;
    }
    if (x_bits > 0x7F800000u || y_bits > 0x7F800000u) {
        return VX_FLOAT32_NAN;
    }
    int parity = vx_integer_parity(y);
    uint sign = parity == 1 ? vx_sign_bits(x) : 0u;
    bool inverse = vx_sign_bits(y) != 0u;
    if (x_bits == 0u || x_bits == 0x7F800000u) {
        return uintBitsToFloat(sign | ((x_bits == 0u) == inverse ? 0x7F800000u : 0u));
    }
    if (y_bits == 0x7F800000u) {
        uint limit = (x_bits < 0x3F800000u) == inverse ? 0x7F800000u : 0u;
        return x_bits == 0x3F800000u ? 1.0 : uintBitsToFloat(limit);
    }
    if (vx_sign_bits(x) != 0u && parity == 0) {
        return VX_FLOAT32_NAN;
    }
    vec2 logarithm = vx_log2_pair(uintBitsToFloat(x_bits));
    // |log2 x| is 2^-24 at least, or 0: the result no longer changes with |y| beyond 2^40.
    precise float power = uintBitsToFloat(min(y_bits, 0x53800000u) | vx_sign_bits(y));
    precise float estimate = power * logarithm.x;
    if (estimate > 160.0 || estimate < -160.0) {
        return uintBitsToFloat(sign | (estimate > 0.0 ? 0x7F800000u : 0u));
    }
    vec2 product = vx_two_product(power, logarithm.x);
    precise float error = product.y + power * logarithm.y;
    return vx_flip_sign(vx_exp2_of_pair(product.x, error), sign);
}

#endif
