// Inverse hyperbolic functions of float32: logarithms of pairs, near zero odd minimax polynomials.
#ifndef LIB_FLOAT32_INVERSE_HYPERBOLIC
#define LIB_FLOAT32_INVERSE_HYPERBOLIC
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/logarithmic.glsl"

// log(|x| + sqrt(x^2 + 1)), beyond 2^13 log(2 |x|). 0.60 ULP over all inputs.
float vx_asinh(float x) {
    uint bits = vx_magnitude_bits(x);
    if (bits < 0x3F000000u) {
        precise float z = x * x;
        precise float p = -0.020049911 + z * 0.00925719365;
        p = 0.0300336313 + z * p;
        p = -0.0446160994 + z * p;
        p = 0.0749990717 + z * p;
        p = -0.166666657 + z * p;
        precise float result = x + x * z * p;
        return bits < 0x38800000u ? x : result;
    }
    if (bits >= 0x7F800000u) {
        return bits > 0x7F800000u ? VX_FLOAT32_NAN : x;
    }
    precise float magnitude = uintBitsToFloat(bits);
    vec2 argument = vec2(magnitude, 0.0);
    precise float doublings = 1.0;
    if (bits < 0x46000000u) {
        vec2 square = vx_two_product(magnitude, magnitude);
        vec2 sum = vx_two_sum(square.x, 1.0);
        precise float low = sum.y + square.y;
        vec2 root = vx_pair_sqrt(vec2(sum.x, low));
        argument = vx_pair_add(root, argument);
        doublings = 0.0;
    }
    vec2 logarithm = vx_log_of_pair(argument, doublings);
    precise float result = logarithm.x + logarithm.y;
    return vx_flip_sign(result, vx_sign_bits(x));
}

// log1p(t + sqrt(2 t + t^2)) with t = x - 1, beyond 2^13 log(2 x). 0.65 ULP over all inputs.
float vx_acosh(float x) {
    uint bits = floatBitsToUint(x);
    if (bits - 0x3F800000u >= 0x40000000u) {
        return bits == 0x7F800000u ? x : VX_FLOAT32_NAN;
    }
    if (bits >= 0x46000000u) {
        vec2 logarithm = vx_log_of_pair(vec2(x, 0.0), 1.0);
        precise float result = logarithm.x + logarithm.y;
        return result;
    }
    precise float t = x - 1.0;
    vec2 square = vx_two_product(t, t);
    precise float twice = 2.0 * t;
    vec2 sum = vx_two_sum(twice, square.x);
    precise float low = sum.y + square.y;
    vec2 root = vx_pair_sqrt(vec2(sum.x, low));
    vec2 logarithm = vx_log1p_of_pair(vx_pair_add(root, vec2(t, 0.0)));
    precise float result = logarithm.x + logarithm.y;
    return result;
}

// log((1 + |x|) / (1 - |x|)) / 2. 0.71 ULP over all inputs.
float vx_atanh(float x) {
    uint bits = vx_magnitude_bits(x);
    if (bits < 0x3F000000u) {
        precise float z = x * x;
        precise float p = 0.0214613676 + z * 0.1793347;
        p = 0.103918217 + z * p;
        p = 0.109477431 + z * p;
        p = 0.142966449 + z * p;
        p = 0.199996486 + z * p;
        p = 0.333333373 + z * p;
        precise float result = x + x * z * p;
        return bits < 0x38800000u ? x : result;
    }
    if (bits >= 0x3F800000u) {
        return bits == 0x3F800000u ? uintBitsToFloat(0x7F800000u | vx_sign_bits(x)) : VX_FLOAT32_NAN;
    }
    precise float magnitude = uintBitsToFloat(bits);
    vec2 quotient = vx_pair_divide(vx_two_sum(1.0, magnitude), vec2(1.0 - magnitude, 0.0));
    vec2 logarithm = vx_log_of_pair(quotient, 0.0);
    precise float result = 0.5 * (logarithm.x + logarithm.y);
    return vx_flip_sign(result, vx_sign_bits(x));
}

#endif
