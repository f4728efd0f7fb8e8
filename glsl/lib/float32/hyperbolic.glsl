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

// An odd polynomial below 0.527, else 2 / (1 + E) - 1 with E = exp(-2 |x|): 1 / (1 + E) is y (1 + u + u^2 + ...) with a guess y of 12
// bits, whose error u = 1 - (1 + E) y is almost exact, so that nearly all of the error is that of the last addition. 0.76 ULP over
// all inputs.
float vx_tanh(float x) {
    uint bits = vx_magnitude_bits(x);
    precise float z = x * x;
    precise float p = 0.0211680029 + z * -0.00642452948;
    p = -0.053873349 + z * p;
    p = 0.133327648 + z * p;
    p = -0.333333224 + z * p;
    precise float result = x + x * z * p;
    if (bits >= 0x3F070000u) {
        // tanh(10) rounds to 1.
        precise float magnitude = uintBitsToFloat(min(bits, 0x41200000u));
        precise float shifted = magnitude * -2.88539004 + 12582912.0;
        precise float n = shifted - 12582912.0;
        precise float r = (-2.0 * magnitude - n * 0.693145752) - n * 1.42860677e-6;
        precise float q = 0.5 + r * vx_exp_polynomial(r);
        precise float less = r + r * r * q;
        vec2 power = vx_fast_two_sum(1.0, less);
        float scale = uintBitsToFloat((floatBitsToUint(shifted) << 23) + 0x3F800000u);
        precise vec2 e = vec2(power.x * scale, power.y * scale);
        vec2 sum = vx_fast_two_sum(1.0, e.x);
        precise float low = sum.y + e.y;
        precise float guess = 2.57721972 + sum.x * (-2.20122647 + sum.x * 0.623135567);
        float y = uintBitsToFloat(floatBitsToUint(guess) & 0xFFFFF000u);
        vec2 part = vx_split(sum.x);
        precise float u = ((1.0 - part.x * y) - part.y * y) - low * y;
        precise float twice = 2.0 * y;
        precise float quotient = (twice - 1.0) + twice * (u + u * u);
        result = bits > 0x7F800000u ? VX_FLOAT32_NAN : vx_flip_sign(quotient, vx_sign_bits(x));
    }
    return bits < 0x38800000u ? x : result;
}

#endif
