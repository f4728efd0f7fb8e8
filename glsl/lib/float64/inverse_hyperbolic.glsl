#ifndef LIB_FLOAT64_INVERSE_HYPERBOLIC
#define LIB_FLOAT64_INVERSE_HYPERBOLIC

#include "lib/float64/bits.glsl"
#include "lib/float64/error_free.glsl"
#include "lib/float64/logarithmic.glsl"

// Largest errors measured, in ULP: asinh, acosh and atanh 0.501. All three are the logarithm of a pair. Below 2^-27, x is the result of asinh and atanh to less than 0.2 ULP; above,
// the pair 1 + x + ... still holds the result to 2^-75.

// log(|x| + sqrt(x^2 + 1)); log(2 |x|) from 2^60 on.
double vx_asinh(double x) {
    double magnitude = vx_absolute(x);
    if (!vx_is_finite(x) || magnitude < 7.450580596923828e-09lf) return x;
    dvec2 argument = dvec2(magnitude, 0.0lf);
    bool large = magnitude > 1152921504606846976.0lf;
    if (!large) argument = vx_pair_add(vx_pair_sqrt(vx_pair_add(vx_two_product(x, x), 1.0lf)), magnitude);
    return vx_negate_if(vx_pair_log(argument, large ? 1 : 0).x, vx_signbit(x));
}

// log(x + sqrt((x - 1) (x + 1))); log(2 x) from 2^60 on.
double vx_acosh(double x) {
    if (vx_is_nan(x)) return x;
    if (x < 1.0lf) return VX_NAN_DOUBLE;
    if (x == 1.0lf) return 0.0lf;
    if (vx_is_infinite(x)) return x;
    dvec2 argument = dvec2(x, 0.0lf);
    bool large = x > 1152921504606846976.0lf;
    if (!large) {
        dvec2 square_less_1 = vx_pair_multiply(vx_two_sum(x, -1.0lf), vx_two_sum(x, 1.0lf));
        argument = vx_pair_add(vx_pair_sqrt(square_less_1), x);
    }
    return vx_pair_log(argument, large ? 1 : 0).x;
}

// log((1 + |x|) / (1 - |x|)) / 2.
double vx_atanh(double x) {
    double magnitude = vx_absolute(x);
    if (vx_is_nan(x) || magnitude < 7.450580596923828e-09lf) return x;
    if (magnitude > 1.0lf) return VX_NAN_DOUBLE;
    if (magnitude == 1.0lf) return vx_negate_if(VX_INFINITY_DOUBLE, vx_signbit(x));
    dvec2 argument = vx_pair_divide(vx_two_sum(1.0lf, magnitude), vx_two_sum(1.0lf, -magnitude));
    precise double half_logarithm = 0.5lf * vx_pair_log(argument, 0).x;
    return vx_negate_if(half_logarithm, vx_signbit(x));
}

#endif
