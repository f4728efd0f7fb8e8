// The modified Bessel function of the first kind of order 0, for float32: within 0.6 ULP.
#ifndef LIB_FLOAT32_BESSEL
#define LIB_FLOAT32_BESSEL
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/exponential.glsl"

// 1 / k!^2 as pairs, that of the largest k first.
const vec2 VX_I0_SERIES_FLOAT32[19] = vec2[](
    vec2(2.43959629e-32, -2.70398756e-40), vec2(7.90429184e-30, 5.34501029e-38), vec2(2.28434031e-27, 5.00536343e-35),
    vec2(5.84791119e-25, 1.28137304e-32), vec2(1.31578011e-22, -5.94229209e-30), vec2(2.57892895e-20, -5.58844059e-28),
    vec2(4.35838983e-18, -8.81853123e-27), vec2(6.27608109e-16, 2.51999108e-23), vec2(7.5940583e-14, 1.24924427e-21),
    vec2(7.59405819e-12, 2.33344652e-19), vec2(6.15118734e-10, -1.04840407e-18), vec2(3.9367599e-08, -6.70978605e-17),
    vec2(1.92901234e-06, 3.81763213e-15), vec2(6.94444461e-05, -1.68155464e-12), vec2(0.00173611112, -1.29350359e-11),
    vec2(0.027777778, -2.06960574e-10), vec2(0.25, 0.0), vec2(1.0, 0.0), vec2(1.0, 0.0));
// The coefficients of (8 x)^-k in the asymptotic series (Abramowitz and Stegun, 9.7.1), that of the largest k first.
const float VX_I0_ASYMPTOTIC_FLOAT32[14] = float[](
    5.22656941e+17, 1.00373074e+16, 2.08775995e+14, 4.73593912e+12, 1.18130008e+11, 3.27229926e+09, 101905512.0,
    3623307.25, 150077.812, 7441.875, 459.375, 37.5, 4.5, 1.0);

float vx_i0(float given) {
    float x = uintBitsToFloat(vx_magnitude_bits(given));
    if (vx_is_nan(x) || vx_is_infinite(x)) return x;
    if (x < 10.0) {
        // The powers of (x / 2)^2 in pairs.
        vec2 square = vx_two_product(0.5 * x, 0.5 * x);
        vec2 sum = VX_I0_SERIES_FLOAT32[0];
        for (int k = 1; k < VX_I0_SERIES_FLOAT32.length(); ++k) {
            sum = vx_pair_add(VX_I0_SERIES_FLOAT32[k], vx_pair_multiply(sum, square));
        }
        return x < 0.0001 ? 1.0 : sum.x;
    }
    precise float limited = x > 100.0 ? 100.0 : x;
    precise float inverse = 0.125 / limited;
    precise float rest = VX_I0_ASYMPTOTIC_FLOAT32[0];
    for (int k = 1; k < VX_I0_ASYMPTOTIC_FLOAT32.length(); ++k) rest = VX_I0_ASYMPTOTIC_FLOAT32[k] + rest * inverse;
    // exp(x) (1 + rest / 8 x) / sqrt(2 pi x), the exponent of the power apart.
    vec3 r = vx_exp_reduce(limited);
    vec2 power = vx_fast_two_sum(1.0, r.x);
    precise float tail = power.y + vx_exp_tail(r.x, r.y);
    precise float grown = rest * inverse;
    vec2 product = vx_pair_multiply(vx_fast_two_sum(power.x, tail), vec2(1.0, grown));
    vec2 root = vx_pair_sqrt(vx_pair_multiply(vec2(6.28318548, -1.74845553e-7), vec2(limited, 0.0)));
    return vx_scale(vx_pair_divide(product, root).x, vx_exp_exponent(r.z));
}

#endif
