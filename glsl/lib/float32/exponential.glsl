// Exponentials of float32: argument reduction after Cody and Waite, minimax polynomials, the leading sum kept as a pair.
#ifndef LIB_FLOAT32_EXPONENTIAL
#define LIB_FLOAT32_EXPONENTIAL
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"

// x = n log(2) + (x + y) with n an integer, |x| <= 0.347: returned as (x, y, 1.5 2^23 + n), where the last bits are those
// of n. For |x| < 150.
vec3 vx_exp_reduce(float x) {
    precise float shifted = x * 1.44269502 + 12582912.0;
    precise float n = shifted - 12582912.0;
    float high = vx_add_exact_product(x, n, -0.693145752);  // 16 bits of log(2): the difference is exact too
    precise float low = n * 1.42860677e-6;
    precise float reduced = high - low;
    precise float error = (high - reduced) - low;
    return vec3(reduced, error, shifted);
}

int vx_exp_exponent(float shifted) {
    return floatBitsToInt(shifted) - 0x4B400000;
}

// (exp(r) - 1 - r - r^2 / 2) / r^3 for a reduced r; error 2^-31 of (exp(r) - 1) / r^3.
float vx_exp_polynomial(float r) {
    precise float q = 0.00139333971 + r * 0.000199611692;
    q = 0.00833318941 + r * q;
    q = 0.0416664816 + r * q;
    q = 0.166666672 + r * q;
    return q;
}

// (exp(r) - 1 - r) / r^2 for a reduced r with one term less; error 2^-28 of exp(r) / r^2.
float vx_exp_short_polynomial(float r) {
    precise float q = 0.008368676 + r * 0.0013820666;
    q = 0.041668266 + r * q;
    q = 0.16666521 + r * q;
    q = 0.49999994 + r * q;
    return q;
}

// exp(r + c) - 1 - r for a reduced r and its error c.
float vx_exp_tail(float r, float c) {
    precise float q = 0.5 + r * vx_exp_polynomial(r);
    precise float tail = r * r * q + (c + c * r);
    return tail;
}

// exp(x) = 2^n y as (y, 1.5 2^23 + n), for |x| < 150.
vec2 vx_exp_parts(float x) {
    vec3 r = vx_exp_reduce(x);
    vec2 sum = vx_fast_two_sum(1.0, r.x);
    precise float y = sum.x + (sum.y + vx_exp_tail(r.x, r.y));
    return vec2(y, r.z);
}

// As vx_exp_parts, in fewer instructions: one term less, and r needs no error, since what it is rounded from is added to 1 itself.
#define VX_EXP_USUAL(X, RESULT) \
    precise float shifted = X * 1.44269502 + 12582912.0; \
    precise float n = shifted - 12582912.0; \
    precise float high = vx_add_exact_product(X, n, -0.693145752); \
    precise float low = n * 1.42860677e-6; \
    precise float r = high - low; \
    vec2 sum = vx_fast_two_sum(1.0, high); \
    precise float y = sum.x + (sum.y + (r * r * vx_exp_short_polynomial(r) - low)); \
    float RESULT = uintBitsToFloat(floatBitsToUint(y) + (floatBitsToUint(shifted) << 23));

float vx_exp_usual(float x) {
    VX_EXP_USUAL(x, result)
    return result;
}

// Below 87 the result is a normal number, and no exponent has to be looked at.
bool vx_exp_is_rare(float x) { return !vx_is_below(x, 87.0); }

float vx_exp_rare(float x) {
    float result = vx_is_nan(x) ? VX_FLOAT32_NAN : (vx_sign_bits(x) != 0u ? 0.0 : VX_FLOAT32_INFINITY);
    if (vx_is_below(x, 150.0)) {  // arrays may be full of -infinity, for which this is not worth computing
        vec2 parts = vx_exp_parts(x);
        result = vx_scale(parts.x, vx_exp_exponent(parts.y));
    }
    return result;
}

// 0.77 ULP over all inputs (subnormal results are rounded twice). One function without others: NVIDIA's compiler makes calls of its
// parts, with which softmax took 1.5 times as long.
float vx_exp(float x) {
    VX_EXP_USUAL(x, result)
    if (vx_magnitude_bits(x) >= 0x42AE0000u) {
        precise float clamped = x > 89.0 ? 89.0 : (x < -104.0 ? -104.0 : x);
        vec2 parts = vx_exp_parts(clamped);
        result = vx_is_nan(x) ? VX_FLOAT32_NAN : vx_scale(parts.x, vx_exp_exponent(parts.y));
    }
    return result;
}

// 2^(x + c) for |x| < 2^20 and an error c below an ULP of x.
float vx_exp2_of_pair(float x, float c) {
    precise float n = (x + 12582912.0) - 12582912.0;
    precise float r = x - n;
    // r log(2) as an exact product of 12 by 12 bits and a remainder, then as a reduced argument of exp.
    vec2 halves = vx_split(r);
    precise float high = halves.x * 0.693115234;
    precise float low = halves.y * 0.693115234 + (r * 3.19461833e-5 + c * 0.693147182);
    vec2 reduced = vx_fast_two_sum(high, low);
    vec2 sum = vx_fast_two_sum(1.0, reduced.x);
    precise float y = sum.x + (sum.y + vx_exp_tail(reduced.x, reduced.y));
    return vx_scale(y, int(n));
}

// 0.77 ULP over all inputs (subnormal results are rounded twice); exact for integers.
float vx_exp2(float x) {
    precise float clamped = x > 129.0 ? 129.0 : (x < -151.0 ? -151.0 : x);
    return vx_is_nan(x) ? VX_FLOAT32_NAN : vx_exp2_of_pair(clamped, 0.0);
}

// 0.71 ULP over all inputs.
float vx_expm1(float x) {
    precise float clamped = x > 89.0 ? 89.0 : (x < -18.0 ? -18.0 : x);
    vec3 r = vx_exp_reduce(clamped);
    int n = vx_exp_exponent(r.z);
    // 2^n (exp(r) - 1 + (1 - 2^-n))
    precise float one = n > 64 ? 0.0 : vx_power_of_two(-n);
    precise float offset = 1.0 - one;
    precise float offset_error = (1.0 - offset) - one;
    vec2 sum = vx_fast_two_sum(offset, r.x);
    // r^2 / 2 exactly: where n = 1 the sum cancels down to 0.15.
    vec2 square = vx_split_square(r.x);
    vec2 total = vx_fast_two_sum(sum.x, 0.5 * square.x);
    precise float tail = 0.5 * square.y + (r.x * r.x * r.x * vx_exp_polynomial(r.x) + (r.y + r.y * r.x));
    precise float y = total.x + (total.y + (sum.y + (offset_error + tail)));
    bool tiny = vx_magnitude_bits(x) < 0x33000000u;
    float result = tiny ? x : vx_scale(y, n);
    return vx_is_nan(x) ? VX_FLOAT32_NAN : result;
}

#endif
