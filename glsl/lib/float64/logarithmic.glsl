#ifndef LIB_FLOAT64_LOGARITHMIC
#define LIB_FLOAT64_LOGARITHMIC

#include "lib/float64/bits.glsl"
#include "lib/float64/error_free.glsl"
#include "lib/float64/exponential.glsl"

// Largest errors measured, in ULP: log, log2, log10 and log1p 0.501, logaddexp 0.60 (0.75 where the result is subnormal).

// log(x 2^exponent) for a normal pair x > 0, relative error below 2^-67 (the power function needs that much).
// x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh(s) with s = (m - 1) / (m + 1): s, s^3 and s^5 in pairs, a
// minimax polynomial in s^2 for the rest (Muller's Handbook, 11.4).
dvec2 vx_pair_log(dvec2 x, int exponent) {
    uvec2 bits = unpackDouble2x32(x.x);
    uint shifted = bits.y + 0x00095F62u; // so that the exponent field steps at sqrt(2)
    int e = int(shifted >> 20) - 1023;
    precise double m = packDouble2x32(uvec2(bits.x, (shifted & 0xFFFFFu) + 0x3FE6A09Eu));
    precise double m_rest = x.y * vx_double_power_of_two(max(-e, -1023));

    precise double m_less_1 = m - 1.0lf;
    dvec2 s = vx_pair_divide(vx_two_sum(m_less_1, m_rest), vx_pair_add(vx_two_sum(m, 1.0lf), m_rest));
    dvec2 z = vx_pair_multiply(s, s);
    precise double rest = -4.67367278115334e-18lf + z.x * (0.2857142857145887lf + z.x * (0.22222222215287857lf
        + z.x * (0.18181819078860378lf + z.x * (0.1538454540429763lf + z.x * (0.13336687689006363lf
        + z.x * (0.11668330936497466lf + z.x * 0.12036613645728476lf))))));
    dvec2 series = vx_pair_multiply(vx_fast_two_sum(0.39999999999999936lf, rest), z);
    series = vx_pair_add(dvec2(0.6666666666666666lf, 3.7485461122838874e-17lf), series);
    series = vx_pair_multiply(vx_pair_multiply(series, z), s);
    precise dvec2 twice = 2.0lf * s;
    dvec2 log_m = vx_pair_add(twice, series);

    precise double whole = double(e + exponent);
    precise double high = whole * 0.6931471803691238lf; // exact: 32 bits of log 2
    precise double low = whole * 1.9082149292705877e-10lf;
    return vx_pair_add(vx_two_sum(high, low), log_m);
}

// log x for x > 0, finite and possibly subnormal.
dvec2 vx_pair_log(double x) {
    bool subnormal = vx_high_word(x) < 0x00100000u;
    precise double normal = x * (subnormal ? 18014398509481984.0lf : 1.0lf);
    return vx_pair_log(dvec2(normal, 0.0lf), subnormal ? -54 : 0);
}

// log x / log(base) for the given 1 / log(base); special cases of all logarithms.
double vx_log_scaled(double x, dvec2 factor) {
    if (vx_is_nan(x)) return x;
    if (x == 0.0lf) return -VX_INFINITY_DOUBLE;
    if (vx_signbit(x)) return VX_NAN_DOUBLE;
    if (vx_is_infinite(x)) return x;
    dvec2 logarithm = vx_pair_log(x);
    if (factor.x != 1.0lf) logarithm = vx_pair_multiply(logarithm, factor);
    return logarithm.x;
}

double vx_log(double x) { return vx_log_scaled(x, dvec2(1.0lf, 0.0lf)); }
double vx_log2(double x) { return vx_log_scaled(x, dvec2(1.4426950408889634lf, 2.0355273740931033e-17lf)); }
double vx_log10(double x) { return vx_log_scaled(x, dvec2(0.4342944819032518lf, 1.098319650216765e-17lf)); }

double vx_log1p(double x) {
    if (vx_is_nan(x) || vx_absolute(x) < 5.551115123125783e-17lf) return x;
    if (x == -1.0lf) return -VX_INFINITY_DOUBLE;
    if (x < -1.0lf) return VX_NAN_DOUBLE;
    if (vx_is_infinite(x)) return x;
    return vx_pair_log(vx_two_sum(1.0lf, x), 0).x;
}

// exp(x) = (1 + result) 2^k for -800 < x <= 0, result and exp(x) - 1 (where k = 0) to a relative error below 2^-98:
// Cody and Waite's reduction with a third part of log 2, then Taylor's series in pairs; 24 terms do.
dvec2 vx_exp_less_1_series(double x, int terms, out int k) {
    precise double shifted = x * 1.4426950408889634lf + 6755399441055744.0lf;
    k = int(unpackDouble2x32(shifted).x);
    precise double whole = shifted - 6755399441055744.0lf;
    precise double high = x - whole * 0.6931471805598903lf;
    precise double low = -whole * 1.94704509238075e-31lf;
    dvec2 r = vx_pair_add(vx_pair_add(vx_two_product(whole, -5.497923018708371e-14lf), high), low);
    dvec2 series = dvec2(1.0lf, 0.0lf);
    for (int n = terms; n > 1; --n) {
        series = vx_pair_add(vx_pair_multiply(series, vx_pair_divide(r, dvec2(double(n), 0.0lf))), 1.0lf);
    }
    return vx_pair_multiply(series, r);
}

// greater + log1p(exp(less - greater)), in pairs throughout. Where the terms may cancel (exp a + exp b is nearly 1), it is
// log1p((exp(greater) - 1) + exp(less)) with more accurate powers: within 1 ULP while the result exceeds 2^-44 of the
// greater operand; below, the error stays under 2^-97 of that operand.
double vx_logaddexp(double a, double b) {
    if (vx_is_nan(a) || vx_is_nan(b)) return VX_NAN_DOUBLE;
    double greater = a > b ? a : b;
    double less = a > b ? b : a;
    if (greater == 0.0lf) greater = 0.0lf; // the result is not -0
    if (vx_is_infinite(greater) || vx_is_infinite(less)) return greater;
    dvec2 difference = vx_two_sum(less, -greater);
    if (!(difference.x > -800.0lf)) return greater;
    int k;
    dvec2 power = vx_pair_exp(difference, k);
    power = dvec2(vx_scale(power.x, k), vx_scale(power.y, k));

    precise double u = -greater;
    precise double estimate = u * (1.0lf + u * (0.5lf + u * (0.16666666666666666lf + u * 0.041666666666666664lf)));
    precise double distance = power.x - estimate;
    bool cancels = u > 0.0lf && u < 0.75lf && vx_absolute(distance) < 0.125lf;
    int terms = cancels ? 24 : 0; // a loop that ends at once costs little where both ways are always taken
    int less_k;
    precise dvec2 less_power = vx_exp_less_1_series(cancels ? less : 0.0lf, terms, less_k);
    less_power = vx_pair_add(less_power, 1.0lf);
    precise dvec2 greater_power = vx_exp_less_1_series(cancels ? greater : 0.0lf, terms, k);
    if (cancels) {
        less_power = dvec2(vx_scale(less_power.x, less_k), vx_scale(less_power.y, less_k));
        if (k != 0) greater_power = vx_pair_add(greater_power * 0.5lf, -0.5lf);
        power = vx_pair_add(greater_power, less_power);
        greater = 0.0lf;
    }
    dvec2 logarithm;
    if (vx_absolute(power.x) < 1.8189894035458565e-12lf) {
        precise double rest = -power.x * power.x * (0.5lf - power.x * 0.3333333333333333lf);
        logarithm = vx_pair_add(power, rest);
    } else {
        logarithm = vx_pair_log(vx_pair_add(power, 1.0lf), 0);
    }
    return vx_pair_add(logarithm, greater).x;
}

#endif
