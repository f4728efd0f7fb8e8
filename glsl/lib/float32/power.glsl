// Powers and roots of float32.
#ifndef LIB_FLOAT32_POWER
#define LIB_FLOAT32_POWER
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/logarithmic.glsl"

// The root of the bits of a positive normal number, correctly rounded. Newton's iteration for 1 / sqrt(m) from a seed of the bits,
// m in [0.5, 2) with the significand of x and its exponent's last bit, gives the root within 3 ULP; with the exact remainder it
// rounds right for each of the 2^24 m.
uint vx_root_of_normal(uint bits) {
    uint m_bits = (bits & 0x00FFFFFFu) | 0x3F000000u;
    precise float m = uintBitsToFloat(m_bits);
    precise float half_m = 0.5 * m;
    precise float y = uintBitsToFloat(0x5F3759DFu - (m_bits >> 1));
    y = y * (1.5 - half_m * y * y);
    y = y * (1.5 - half_m * y * y);
    y = y * (1.5 - half_m * y * y);
    precise float root = m * y;
    vec2 part = vx_split(root);
    precise float twice = -2.0 * part.x;
    float remainder = vx_add_exact_product(m, -part.x, part.x);
    remainder = vx_add_exact_product(vx_add_exact_product(remainder, twice, part.y), -part.y, part.y);
    root = root + remainder * (0.5 * y);
    return floatBitsToUint(root) + uint(int(bits - m_bits) >> 1);
}

// Correctly rounded. What is not a positive normal number comes after the usual case, which so has no branch in it.
float vx_sqrt(float x) {
    uint bits = floatBitsToUint(x);
    float result = uintBitsToFloat(vx_root_of_normal(bits));
    if (bits - 0x00800000u >= 0x7F000000u) {
        if (bits - 1u < 0x007FFFFFu) {
            result = uintBitsToFloat(vx_root_of_normal(floatBitsToUint(vx_scale_up_subnormal(x))) - (12u << 23));
        } else {
            result = vx_is_zero(x) || bits == 0x7F800000u ? x : VX_FLOAT32_NAN;
        }
    }
    return result;
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

// log2 of a positive normal number of these bits times 2^scale, as a pair whose first number has 12 bits, relative error about 2^-34
// (after Sun's fdlibm): with x = 2^e (1 + f) and s = f / (2 + f), log(1 + f) = 2/3 s (3 + s^2 + s^4 (3/5 + s^2 (3/7 + ...))), where s,
// what is in parentheses and the product are numbers of 12 bits, whose products are exact, and a rest.
vec2 vx_log2_pair(uint bits, int scale) {
    uint exponent = (bits - 0x3F3504F3u) & 0xFF800000u;
    precise float f = uintBitsToFloat(bits - exponent) - 1.0;
    precise float e = float(int(exponent) + scale * 0x00800000);  // times 2^23
    precise float d = 2.0 + f;
    float d_high = vx_split(d).x;
    precise float d_low = f - (d_high - 2.0);
    precise float guess = 1.4777559 + d * (-0.722444057 + d * 0.116862878);
    precise float error = 1.0 - d * guess;
    precise float reciprocal = guess + guess * (error + error * error);
    precise float rounded = f * reciprocal;
    float s_high = vx_split(rounded).x;
    precise float s_low = reciprocal * (vx_add_exact_product(f, -s_high, d_high) - s_high * d_low);  // d_low may have 13 bits
    precise float s = s_high + s_low;
    precise float z = s * s;
    precise float p = 0.60000026 + z * (0.428428054 + z * 0.345876724);
    precise float rest = z * z * p + s_low * (s_high + s);
    precise float factor = vx_add_exact_product(3.0, s_high, s_high) + rest;
    float factor_high = vx_split(factor).x;
    precise float beyond = factor_high - 3.0;
    precise float factor_low = rest - vx_add_exact_product(beyond, -s_high, s_high);
    precise float w = s_low * factor_high + s * factor_low;
    float product = vx_add_exact_product(w, s_high, factor_high);
    float product_high = vx_split(product).x;
    precise float product_low = w - vx_add_exact_product(product_high, -s_high, factor_high);
    // Times 2 / (3 log(2)).
    precise float low = product_high * 0.000126772051 + product_low * 0.961796701;
    float sum = vx_add_exact_product(vx_add_exact_product(low, product_high, 0.961669922), e, 1.1920928955078125e-7);
    float logarithm = vx_split(sum).x;
    float part = vx_add_exact_product(logarithm, e, -1.1920928955078125e-7);
    precise float logarithm_low = low - vx_add_exact_product(part, product_high, -0.961669922);
    return vec2(logarithm, logarithm_low);
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

// x^y, where something is special: x is negative, zero, infinite or NaN, y is zero, infinite or NaN, or the result is no normal number.
// Where |x| is finite and not 0, |x|^y is 2^exponent, and part.x + part.y times 2^n for the n nearest to it, of which the last bits of
// `shifted` tell. The special cases are those of C99 Annex F.
float vx_pow_rare(float x, float y, float exponent, vec2 part, float shifted) {
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
    if (exponent > 160.0 || exponent < -160.0) {
        return uintBitsToFloat(sign | (exponent > 0.0 ? 0x7F800000u : 0u));
    }
    // Rounded once where the result is subnormal: what is left of the significand decides beyond its last bit.
    vec2 power = vx_fast_two_sum(part.x, part.y);
    uint significand = ((floatBitsToUint(power.x) & 0x007FFFFFu) | 0x00800000u) << 2;
    significand += power.y > 0.0 ? 1u : (power.y < 0.0 ? 0xFFFFFFFFu : 0u);
    return uintBitsToFloat(sign | vx_compose(significand, int(floatBitsToUint(power.x) >> 23) + vx_exp_exponent(shifted)));
}

// |x|^y from the logarithm of |x|, a pair: its exponent, and part.x + part.y times 2^n for the n nearest to that, of which the last bits
// of `shifted` tell.
void vx_pow_parts(vec2 logarithm, float y, out float exponent, out vec2 part, out float shifted) {
    vec2 power = vx_split(y);
    precise float rest = y * logarithm.y;
    float low = vx_add_exact_product(rest, power.y, logarithm.x);
    float product = vx_add_exact_product(low, power.x, logarithm.x);
    precise float product_low = low - vx_add_exact_product(product, -power.x, logarithm.x);
    exponent = product;
    // 2^n 2^r, r log(2) as a pair.
    precise float far = product + 12582912.0;
    precise float n = far - 12582912.0;
    precise float r = product - n;
    vec2 halves = vx_split(r);
    precise float r_low = (halves.y + product_low) * 0.693147182 + halves.x * 3.19461833e-5;
    float reduced = vx_add_exact_product(r_low, halves.x, 0.693115234);
    vec2 sum = vx_fast_two_sum_of_product(1.0, halves.x, 0.693115234);
    precise float tail = sum.y + (reduced * reduced * vx_exp_short_polynomial(reduced) + r_low);
    part = vec2(sum.x, tail);
    shifted = far;
}

// 2^(y log2 |x|) from pairs. 0.75 ULP on samples.
float vx_pow(float x, float y) {
    uint bits = vx_magnitude_bits(x);
    float exponent, shifted;
    vec2 part;
    vx_pow_parts(vx_log2_pair(bits, 0), y, exponent, part, shifted);
    precise float significand = part.x + part.y;
    float result = uintBitsToFloat(floatBitsToUint(significand) + (floatBitsToUint(shifted) << 23));
    // Whatever is special in y makes the exponent great or NaN, but for x = 1 and y = 0, where the result is 1 as it should be.
    bool usual = floatBitsToUint(x) - 0x00800000u < 0x7F000000u && vx_magnitude_bits(exponent) < 0x42F80000u;
    if (!usual) {
        if (bits < 0x00800000u || vx_magnitude_bits(y) > 0x53800000u) {
            // |log2 x| is 2^-24 at least, or 0: the result no longer changes with |y| beyond 2^40.
            float power = uintBitsToFloat(min(vx_magnitude_bits(y), 0x53800000u) | vx_sign_bits(y));
            bool subnormal = bits < 0x00800000u;
            vec2 logarithm = vx_log2_pair(floatBitsToUint(vx_scale_up_subnormal(uintBitsToFloat(bits))), subnormal ? -24 : 0);
            vx_pow_parts(logarithm, power, exponent, part, shifted);
        }
        result = vx_pow_rare(x, y, exponent, part, shifted);
    }
    return result;
}

#endif
