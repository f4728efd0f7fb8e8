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

// tanh of 1 <= x: with E = 2 exp(-2 x), 1 - 2 / (1 + exp(2 x)) is 1 - E + E^2 h(E), a polynomial h for 1 / (2 + E). E is 2^n (1 + less);
// 1 - 2^n has no error, so only small numbers are rounded before the last addition. Polynomials are divided by the factor that takes all
// odd powers but one out of them, for which their squares are there already (Eve 1964).
float vx_tanh_above(float x) {
    float clamped = x > 9.5 ? 9.5 : x;  // tanh(9.02) rounds to 1
    precise float shifted = clamped * -2.88539004 + 12582912.0;
    precise float n = shifted - 12582912.0;
    precise float r = clamped + n * 0.346573591;  // 21 bits: exact for |n| < 9
    precise float r_squared = r * r;
    precise float q = (r_squared + 4.978841) * (0.22630252 + r * (-0.26779762 + r * 0.088452265)) + 0.8732756;
    precise float bent = r_squared * q;
    float less = vx_add_exact_product(bent, r, -2.0);
    float scale = uintBitsToFloat((floatBitsToUint(shifted) << 23) + 0x40000000u);
    float e = vx_add_exact_product(scale, scale, less);
    precise float e_squared = e * e;
    precise float h = (e_squared + 5.6513594) * (0.12056806 + e * -0.04415513) + -0.18139036;
    precise float rest = e_squared * h;
    precise float result = (1.0 - scale) + vx_add_exact_product(rest, -scale, less);
    return result;
}

// An odd polynomial below 1: x - x z / 4, z = x^2, which is added without error, and the rest of the series. 0.91 ULP over all inputs.
float vx_tanh(float x) {
    precise float z = x * x;
    precise float p = 0.0023012212 + z * -0.00035841123;
    p = -0.007945927 + z * p;
    p = 0.0214865468 + z * p;
    p = -0.0538797677 + z * p;
    p = 0.133323446 + z * p;
    p = -0.083332956 + z * p;
    precise float cube = x * z;
    vec2 sum = vx_fast_two_sum_of_product(x, cube, -0.25);
    precise float result = sum.x + (sum.y + cube * p);
    // After the polynomial, so that there is no branch before it. NaN is not in it, and comes out of the polynomial.
    if (abs(x) >= 1.0) {
        result = vx_flip_sign(vx_tanh_above(abs(x)), vx_sign_bits(x));
    }
    return abs(x) < 0.00006103515625 ? x : result;  // chosen in the branch above, it would be slower on a GPU
}

#endif
