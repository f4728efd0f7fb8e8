// Hyperbolic functions of float32 from exponentials kept as pairs, near zero odd minimax polynomials.
#ifndef LIB_FLOAT32_HYPERBOLIC
#define LIB_FLOAT32_HYPERBOLIC
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/exponential.glsl"

// exp(r + c) for a reduced r, as a pair.
vec2 vx_exp_pair(float r, float c) {
    vec2 sum = vx_fast_two_sum(1.0, r);
    precise float low = sum.y + vx_exp_tail(r, c);
    return vx_fast_two_sum(sum.x, low);
}

// (exp(x) + sign exp(-x)) / 2 for 0 <= x, without overflow before the result's.
float vx_exp_mean(float x, float sign) {
    vec3 r = vx_exp_reduce(x > 92.0 ? 92.0 : x);
    int n = vx_exp_exponent(r.z);
    vec2 growing = vx_exp_pair(r.x, r.y);
    vec2 falling = vx_exp_pair(-r.x, -r.y);
    precise float factor = sign * (n > 30 ? 0.0 : vx_power_of_two(-2 * n));
    vec2 sum = vx_two_sum(growing.x, factor * falling.x);
    precise float y = sum.x + (sum.y + (growing.y + factor * falling.y));
    return vx_scale(y, n - 1);
}

// 0.79 ULP over all inputs.
float vx_sinh(float x) {
    uint bits = vx_magnitude_bits(x);
    if (bits < 0x3F800000u) {
        precise float z = x * x;
        precise float p = 0.0001984142 + z * 2.79153846e-6;
        p = 0.00833331607 + z * p;
        p = 0.166666672 + z * p;
        precise float result = x + x * z * p;
        return bits < 0x38800000u ? x : result;
    }
    return bits > 0x7F800000u ? VX_FLOAT32_NAN : vx_flip_sign(vx_exp_mean(uintBitsToFloat(bits), -1.0), vx_sign_bits(x));
}

// 0.63 ULP over all inputs.
float vx_cosh(float x) {
    uint bits = vx_magnitude_bits(x);
    return bits > 0x7F800000u ? VX_FLOAT32_NAN : vx_exp_mean(uintBitsToFloat(bits), 1.0);
}

// 1 - 2 / (exp(2 x) + 1), or a polynomial below 0.625. 0.79 ULP over all inputs.
float vx_tanh(float x) {
    uint bits = vx_magnitude_bits(x);
    precise float result;
    if (bits < 0x3F200000u) {
        precise float z = x * x;
        precise float p = -0.00819558278 + z * 0.00215823436;
        p = 0.0217088815 + z * p;
        p = -0.0539484732 + z * p;
        p = 0.133332223 + z * p;
        p = -0.333333313 + z * p;
        result = x + x * z * p;
        return bits < 0x38800000u ? x : result;
    }
    // tanh(10) rounds to 1.
    precise float magnitude = uintBitsToFloat(min(bits, 0x41200000u));
    vec3 r = vx_exp_reduce(2.0 * magnitude);
    vec2 power = vx_exp_pair(r.x, r.y);
    precise float scale = vx_power_of_two(vx_exp_exponent(r.z));
    vec2 denominator = vx_pair_add(vec2(power.x * scale, power.y * scale), vec2(1.0, 0.0));
    vec2 quotient = vx_pair_divide(vec2(2.0, 0.0), denominator);
    vec2 sum = vx_fast_two_sum(1.0, -quotient.x);
    result = sum.x + (sum.y - quotient.y);
    return bits > 0x7F800000u ? VX_FLOAT32_NAN : vx_flip_sign(result, vx_sign_bits(x));
}

#endif
