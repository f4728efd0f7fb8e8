#ifndef LIB_FLOAT64_EXPONENTIAL
#define LIB_FLOAT64_EXPONENTIAL

#include "lib/float64/bits.glsl"
#include "lib/float64/error_free.glsl"

// Largest errors measured, in ULP (where the result is subnormal, it is rounded twice: 0.75): exp 0.52, exp2 0.52,
// expm1 0.55.

// x = k log 2 + r, |r| < 0.3475, after Cody and Waite: log 2 in two parts, the first of 42 bits, so that k times it and
// the subtraction are exact for |x| < 1000.
dvec2 vx_reduce_log_2(dvec2 x, out int k) {
    precise double shifted = x.x * 1.4426950408889634lf + 6755399441055744.0lf;
    k = int(unpackDouble2x32(shifted).x);
    precise double whole = shifted - 6755399441055744.0lf;
    precise double high = x.x - whole * 0.6931471805598903lf;
    precise double low = x.y - whole * 5.497923018708371e-14lf;
    return vx_two_sum(high, low);
}

// sinh r and cosh r - 1 for |r| < 0.3475, relative error below 2^-58: minimax polynomials in r^2 beyond the first term.
void vx_small_hyperbolic(dvec2 r, out dvec2 sine, out dvec2 cosine_less_1) {
    dvec2 z = vx_two_product(r.x, r.x);
    precise double cosine_rest = 0.5lf * z.y + r.x * r.y + z.x * z.x * (0.041666666666666685lf
        + z.x * (0.0013888888888873253lf + z.x * (2.4801587349316537e-05lf
        + z.x * (2.7557251682114465e-07lf + z.x * 2.0921823127866444e-09lf))));
    cosine_less_1 = vx_fast_two_sum(0.5lf * z.x, cosine_rest);
    precise double sine_rest = r.y + r.y * cosine_less_1.x + r.x * (z.x * (0.16666666666666677lf
        + z.x * (0.008333333333321378lf + z.x * (0.00019841269886853357lf
        + z.x * (2.7557243401597635e-06lf + z.x * 2.5109342255123898e-08lf)))));
    sine = vx_fast_two_sum(r.x, sine_rest);
}

// exp(x) = (1 + result) 2^k for |x| < 1000; the result lies in [-0.3, 0.42], relative error below 2^-57.
dvec2 vx_exp_less_1(dvec2 x, out int k) {
    dvec2 sine, cosine_less_1;
    vx_small_hyperbolic(vx_reduce_log_2(x, k), sine, cosine_less_1);
    return vx_pair_add(sine, cosine_less_1);
}

// exp(x) = result 2^k for |x| < 1000; the result lies in [0.7, 1.42], relative error below 2^-58.
dvec2 vx_pair_exp(dvec2 x, out int k) { return vx_pair_add(vx_exp_less_1(x, k), 1.0lf); }

// Beyond 800 every result has overflowed or underflowed.
double vx_limit_exponent(double x) { return x > 800.0lf ? 800.0lf : x < -800.0lf ? -800.0lf : x; }

// exp of the pair, rounded, times 2^k.
double vx_exp(double x) {
    if (vx_is_nan(x)) return x;
    int k;
    dvec2 power = vx_pair_exp(dvec2(vx_limit_exponent(x), 0.0lf), k);
    return vx_scale(power.x, k);
}

// 2^x = 2^k exp((x - k) log 2): exact for whole x.
double vx_exp2(double x) {
    if (vx_is_nan(x)) return x;
    if (x > 1100.0lf) return VX_INFINITY_DOUBLE;
    if (x < -1100.0lf) return 0.0lf;
    precise double shifted = x + 6755399441055744.0lf;
    precise double fraction = x - (shifted - 6755399441055744.0lf);
    int whole = int(unpackDouble2x32(shifted).x);
    int k;
    dvec2 power = vx_pair_exp(vx_pair_multiply(dvec2(0.6931471805599453lf, 2.3190468138462996e-17lf), fraction), k);
    return vx_scale(power.x, k + whole);
}

// 2^k (1 + q) - 1 = (2^k - 1) + 2^k q, in pairs.
double vx_expm1(double x) {
    if (vx_is_nan(x) || x == 0.0lf) return x;
    int k;
    dvec2 q = vx_exp_less_1(dvec2(vx_limit_exponent(x), 0.0lf), k);
    if (k > 100) return vx_scale(vx_pair_add(q, 1.0lf).x, k);
    if (k < -100) return -1.0lf;
    precise double power = vx_double_power_of_two(k);
    precise dvec2 scaled = q * power;
    return vx_pair_add(vx_two_sum(power, -1.0lf), scaled).x;
}

#endif
