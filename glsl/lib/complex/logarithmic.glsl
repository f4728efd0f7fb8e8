#ifndef LIB_COMPLEX_LOGARITHMIC
#define LIB_COMPLEX_LOGARITHMIC

#include "lib/complex/pairs.glsl"
#ifdef DOUBLE
#include "lib/float64/logarithmic.glsl"
#include "lib/float64/inverse_trigonometric.glsl"
#define VX_LOG2_E 1.4426950408889634lf
#define VX_LOG10_E 0.4342944819032518lf
#define VX_LOG10_2 0.3010299956639812lf
#else
#include "lib/float32/logarithmic.glsl"
#include "lib/float32/inverse_trigonometric.glsl"
#define VX_LOG2_E 1.44269504
#define VX_LOG10_E 0.434294482
#define VX_LOG10_2 0.301029996
#endif

// log(s.x + s.y) - log(s.x), which matters only where log(s.x) is small, and that is near 1.
REAL vx_log_of_pair_rest(PAIR s) {
    precise REAL rest = s.x > 0.5 && s.x < 2.0 ? s.y * (2.0 - s.x) : VX_ZERO;
    return rest;
}

// log((s.x + s.y) 2^exponent) for a normal pair, and log(1 + d.x + d.y), both right where they are small.
REAL vx_log_of_scaled_pair(PAIR s, int exponent) {
#ifdef DOUBLE
    return vx_pair_log(s, exponent).x;
#else
    precise float result = vx_log(s.x) + vx_log_of_pair_rest(s) + VX_LN2 * float(exponent);
    return result;
#endif
}

REAL vx_log_of_one_plus_pair(PAIR d) {
#ifdef DOUBLE
    PAIR sum = vx_two_sum(1.0lf, d.x);
    precise double rest = sum.y + d.y;
    return vx_pair_log(vx_fast_two_sum(sum.x, rest), 0).x;
#else
    vec2 logarithm = vx_log1p_of_pair(d);
    precise float result = logarithm.x + logarithm.y;
    return result;
#endif
}

// |z|^2 = (x + y) 2^(2 exponent) for finite z that is not 0. A pair, so that its logarithm is right near |z| = 1.
PAIR vx_squared_modulus(COMPLEX z, out int exponent) {
    exponent = vx_excess_exponent(z);
    z = vx_scale_complex(z, -exponent);
    return vx_pair_sum(vx_two_product(z.x, z.x), vx_two_product(z.y, z.y));
}

// log |z| where no square is needed: true and the value in result.
bool vx_log_modulus_special(COMPLEX z, out REAL result) {
    result = VX_INFINITY;
    if (vx_either_infinite(z)) return true;
    result = VX_NAN;
    if (vx_either_nan(z)) return true;
    result = -VX_INFINITY;
    return vx_is_zero(z.x) && vx_is_zero(z.y);
}

COMPLEX vx_log(COMPLEX z) {
    precise COMPLEX result = COMPLEX(VX_ZERO, vx_atan2(z.y, z.x));
    if (vx_log_modulus_special(z, result.x)) return result;
    int exponent;
    PAIR square = vx_squared_modulus(z, exponent);
    result.x = 0.5 * vx_log_of_scaled_pair(square, 2 * exponent);
    return result;
}

COMPLEX vx_log2(COMPLEX z) {
    precise COMPLEX result = COMPLEX(VX_ZERO, vx_atan2(z.y, z.x) * VX_LOG2_E);
    if (vx_log_modulus_special(z, result.x)) return result;
    int exponent;
    PAIR square = vx_squared_modulus(z, exponent);
    result.x = 0.5 * (vx_log2(square.x) + VX_LOG2_E * vx_log_of_pair_rest(square)) + REAL(exponent);
    return result;
}

COMPLEX vx_log10(COMPLEX z) {
    precise COMPLEX result = COMPLEX(VX_ZERO, vx_atan2(z.y, z.x) * VX_LOG10_E);
    if (vx_log_modulus_special(z, result.x)) return result;
    int exponent;
    PAIR square = vx_squared_modulus(z, exponent);
    result.x = 0.5 * (vx_log10(square.x) + VX_LOG10_E * vx_log_of_pair_rest(square)) + VX_LOG10_2 * REAL(exponent);
    return result;
}

// log |1 + z| = log1p(2 x + x^2 + y^2) / 2 near 0, else that of 1 + z.
COMPLEX vx_log1p(COMPLEX z) {
    precise REAL shifted = VX_ONE + z.x;
    precise COMPLEX result = COMPLEX(VX_ZERO, vx_atan2(z.y, shifted));
    COMPLEX moved = COMPLEX(shifted, z.y);
    if (vx_log_modulus_special(moved, result.x)) return result;
    if (vx_larger_part(z) < 0.5) {
        PAIR square = vx_pair_sum(vx_two_product(z.x, z.x), vx_two_product(z.y, z.y));
        result.x = 0.5 * vx_log_of_one_plus_pair(vx_pair_sum(PAIR(2.0 * z.x, VX_ZERO), square));
        return result;
    }
    int exponent;
    PAIR square = vx_squared_modulus(moved, exponent);
    result.x = 0.5 * vx_log_of_scaled_pair(square, 2 * exponent);
    return result;
}

#endif
