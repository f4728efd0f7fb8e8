// Functions that NumPy has beyond the standard's, for float64.
#ifndef LIB_FLOAT64_MATHEMATICS
#define LIB_FLOAT64_MATHEMATICS
#include "lib/float64/arithmetic.glsl"
#include "lib/float64/error_free.glsl"
#include "lib/float64/exponential.glsl"
#include "lib/float64/logarithmic.glsl"
#include "lib/float64/rounding.glsl"

// The remainder of truncated division, with the sign of a.
double vx_fmod(double a, double b) {
    if (vx_is_nan(b) || !vx_is_finite(a) || b == 0.0lf) return VX_NAN_DOUBLE;
    if (vx_is_infinite(b)) return a;
    double magnitude;
    return vx_copysign(vx_truncated_remainder(a, b, magnitude), a);
}

double vx_fmax(double a, double b) {
    if (vx_is_nan(a)) return b;
    return vx_is_nan(b) ? a : vx_maximum(a, b);
}

double vx_fmin(double a, double b) {
    if (vx_is_nan(a)) return b;
    return vx_is_nan(b) ? a : vx_minimum(a, b);
}

double vx_heaviside(double x, double at_zero) {
    if (vx_is_nan(x)) return x;
    if (vx_is_zero(x)) return at_zero;
    return vx_signbit(x) ? 0.0lf : 1.0lf;
}

// With x = m 2^(3k), 1 <= m < 8: Newton's iteration for 1 / cbrt(m) from a seed of the bits, then the root by its exact residual.
double vx_cbrt(double x) {
    if (vx_is_zero(x) || !vx_is_finite(x)) return x;
    int exponent;
    precise double m = vx_normalize(vx_absolute(x), exponent);
    int third = (exponent + 1200) / 3 - 400;
    m = m * vx_double_power_of_two(exponent - 3 * third);
    precise double y = packDouble2x32(uvec2(0u, 0x553EF0FFu - vx_high_word(m) / 3u));
    const double share = 0.3333333333333333lf;
    for (int i = 0; i < 4; ++i) {
        precise double next = y + y * (1.0lf - m * y * y * y) * share;
        y = next;
    }
    precise double root = m * y * y;
    dvec2 square = vx_two_product(root, root);
    dvec2 cube = vx_two_product(square.x, root);
    precise double residual = ((m - cube.x) - cube.y) - square.y * root;
    precise double result = root + residual * (y * y) * share;
    return vx_copysign(vx_scale(result, third), x);
}

// greater + log2(1 + 2^(less - greater)). Where the two cancel, the error is 2^-65 of the greater.
double vx_logaddexp2(double a, double b) {
    if (vx_is_nan(a) || vx_is_nan(b)) return VX_NAN_DOUBLE;
    double greater = vx_maximum(a, b);
    double less = vx_minimum(a, b);
    if (vx_is_infinite(greater) || vx_is_infinite(less)) return greater;
    dvec2 difference = vx_two_sum(less, -greater);
    if (difference.x == 0.0lf) {
        precise double doubled = greater + 1.0lf;
        return doubled;
    }
    if (difference.x < -1200.0lf) return greater;
    precise double shifted = difference.x + 6755399441055744.0lf;
    precise double fraction = difference.x - (shifted - 6755399441055744.0lf);
    int whole = int(unpackDouble2x32(shifted).x);
    const dvec2 log_2 = dvec2(0.6931471805599453lf, 2.3190468138462996e-17lf);
    const dvec2 inverse = dvec2(1.4426950408889634lf, 2.0355273740931033e-17lf);
    int k;
    dvec2 power = vx_pair_exp(vx_pair_multiply(log_2, vx_fast_two_sum(fraction, difference.y)), k);
    if (whole + k < -70) {
        precise double far = greater + vx_scale(vx_pair_multiply(power, inverse).x, whole + k);
        return far;
    }
    precise dvec2 p = power * vx_double_power_of_two(whole + k);
    // Half of 1 + p where p is large: the logarithm of what is near 1 has a small relative error.
    bool large = p.x > 0.414213lf;
    dvec2 sum = vx_pair_add(dvec2(1.0lf, 0.0lf), p);
    precise dvec2 near = sum * (large ? 0.5lf : 1.0lf);
    dvec2 total = vx_two_sum(greater, large ? 1.0lf : 0.0lf);
    return vx_pair_add(total, vx_pair_multiply(vx_pair_log(near, 0), inverse)).x;
}

// The coefficients of r^2, r^4, ... in sin(pi r) / (pi r) from r^4 on, that of the highest power first.
const double VX_SINC_FLOAT64[12] = double[](
    -7.743082723388031e-16lf, 5.507458912150965e-14lf, -3.3481335350440666e-12lf, 1.7165384749821432e-10lf,
    -7.304711822217775e-09lf, 2.5312174041370274e-07lf, -6.975873661656381e-06lf, 0.000148428793031071lf,
    -0.0023460810354558235lf, 0.0261478478176548lf, -0.19075182412208422lf, 0.8117424252833536lf);

// sin(pi x) / (pi x) = (-1)^n (r / x) sin(pi r) / (pi r) for x = n + r, |r| <= 1/2, in pairs. 0 for integers, 1 for 0.
double vx_sinc(double x) {
    if (!vx_is_finite(x)) return VX_NAN_DOUBLE;
    precise double n = vx_round(x);
    precise double r = x - n;
    dvec2 z = vx_two_product(r, r);
    precise double rest = VX_SINC_FLOAT64[0];
    for (int k = 1; k < VX_SINC_FLOAT64.length(); ++k) rest = VX_SINC_FLOAT64[k] + rest * z.x;
    rest = rest * z.x * z.x;
    dvec2 first = vx_pair_multiply(z, dvec2(-1.6449340668482264lf, -3.040672350398476e-17lf));
    dvec2 sum = vx_fast_two_sum(1.0lf, first.x);
    precise double low = sum.y + (first.y + rest);
    sum = vx_fast_two_sum(sum.x, low);
    if (n == 0.0lf) return sum.x;
    if (r == 0.0lf) return 0.0lf;
    dvec2 quotient = vx_pair_divide(vx_pair_multiply(sum, r), dvec2(x, 0.0lf));
    precise double half_n = 0.5lf * n;
    bool odd = vx_absolute(n) < 9007199254740992.0lf && vx_trunc(half_n) != half_n;
    return vx_negate_if(quotient.x, odd);
}

// x = significand 2^exponent with 1/2 <= |significand| < 1; zeros, infinities and NaN are their own.
double vx_significand(double x) {
    if (vx_is_zero(x) || !vx_is_finite(x)) return x;
    int exponent;
    precise double part = 0.5lf * vx_normalize(x, exponent);
    return part;
}

int vx_exponent_of(double x) {
    if (vx_is_zero(x) || !vx_is_finite(x)) return 0;
    int exponent;
    vx_normalize(x, exponent);
    return exponent + 1;
}

// x 2^n, rounded once.
double vx_ldexp(double x, int n) {
    if (vx_is_zero(x) || !vx_is_finite(x)) return x;
    int exponent;
    double part = vx_normalize(x, exponent);
    return vx_scale(part, exponent + clamp(n, -4000, 4000));
}

double vx_fraction(double x) {
    precise double part = x - vx_trunc(x);
    return vx_copysign(vx_is_infinite(x) ? 0.0lf : part, x);
}

// The distance to the next number away from 0.
double vx_spacing(double x) {
    if (!vx_is_finite(x)) return VX_NAN_DOUBLE;
    uvec2 bits = unpackDouble2x32(vx_absolute(x));
    if (bits.y == 0x7FEFFFFFu && bits.x == 0xFFFFFFFFu) return vx_copysign(VX_INFINITY_DOUBLE, x);
    int exponent = max(int(bits.y >> 20), 1);
    uvec2 unit = exponent > 52 ? uvec2(0u, uint(exponent - 52) << 20)
        : exponent > 32 ? uvec2(0u, 1u << (exponent - 33)) : uvec2(1u << (exponent - 1), 0u);
    return vx_copysign(packDouble2x32(unit), vx_is_zero(x) ? 1.0lf : x);
}

#endif
