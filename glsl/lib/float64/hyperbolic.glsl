#ifndef LIB_FLOAT64_HYPERBOLIC
#define LIB_FLOAT64_HYPERBOLIC

#include "lib/float64/bits.glsl"
#include "lib/float64/error_free.glsl"
#include "lib/float64/exponential.glsl"

// Largest errors measured, in ULP: sinh 0.53, cosh 0.52, tanh 0.53.

// exp(x) = growing 2^k and exp(-x) = decaying 2^k, for 0 <= x <= 800: one reduction and one pair of polynomials
// (sinh r, cosh r - 1) serve both.
void vx_two_exponentials(double x, out dvec2 growing, out dvec2 decaying, out int k) {
    dvec2 sine, cosine_less_1;
    vx_small_hyperbolic(vx_reduce_log_2(dvec2(x, 0.0lf), k), sine, cosine_less_1);
    growing = vx_pair_add(vx_pair_add(cosine_less_1, sine), 1.0lf);
    decaying = vx_pair_add(vx_pair_add(cosine_less_1, -sine), 1.0lf);
    precise double factor = vx_double_power_of_two(max(-2 * k, -200));
    precise dvec2 scaled = decaying * factor;
    decaying = scaled;
}

// Below 2^-27, x is the result of sinh and tanh to less than 0.1 ULP.
bool vx_is_small(double x) { return (vx_high_word(x) & 0x7FFFFFFFu) < 0x3E400000u; }

double vx_sinh(double x) {
    if (vx_is_nan(x) || vx_is_small(x)) return x;
    dvec2 growing, decaying;
    int k;
    vx_two_exponentials(vx_limit_exponent(vx_absolute(x)), growing, decaying, k);
    return vx_negate_if(vx_scale(vx_pair_add(growing, -decaying).x, k - 1), vx_signbit(x));
}

double vx_cosh(double x) {
    if (vx_is_nan(x)) return x;
    dvec2 growing, decaying;
    int k;
    vx_two_exponentials(vx_limit_exponent(vx_absolute(x)), growing, decaying, k);
    return vx_scale(vx_pair_add(growing, decaying).x, k - 1);
}

double vx_tanh(double x) {
    if (vx_is_nan(x) || vx_is_small(x)) return x;
    dvec2 growing, decaying;
    int k;
    vx_two_exponentials(vx_limit_exponent(vx_absolute(x)), growing, decaying, k);
    dvec2 quotient = vx_pair_divide(vx_pair_add(growing, -decaying), vx_pair_add(growing, decaying));
    return vx_negate_if(quotient.x, vx_signbit(x));
}

#endif
