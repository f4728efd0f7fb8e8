#ifndef LIB_FLOAT64_POWER
#define LIB_FLOAT64_POWER

#include "lib/float64/bits.glsl"
#include "lib/float64/error_free.glsl"
#include "lib/float64/rounding.glsl"
#include "lib/float64/exponential.glsl"
#include "lib/float64/logarithmic.glsl"

// Largest errors measured, in ULP (where the result is subnormal, it is rounded twice: 0.75): sqrt 0.5, pow 0.54,
// hypot 0.51.

// Correctly rounded: x = m 4^n with 1 <= m < 4; the root is corrected by its residual, then checked exactly against
// the two midpoints round it (m - (r +- u/2)^2 has the sign of residual -+ r u, both multiples of u^2 with u = 2^-52).
double vx_sqrt(double x) {
    if (vx_is_nan(x) || x == 0.0lf) return x;
    if (vx_signbit(x)) return VX_NAN_DOUBLE;
    if (vx_is_infinite(x)) return x;
    int exponent;
    precise double m = vx_normalize(x, exponent);
    if ((exponent & 1) != 0) m = m * 2.0lf;
    const double ulp = 2.220446049250313e-16lf;
    precise double root = vx_pair_sqrt(dvec2(m, 0.0lf)).x;
    precise double residual = vx_division_residual(m, root, root);
    precise double step = root * ulp;
    if (residual > step) root = root + ulp;
    else if (-residual >= step) root = root - ulp;
    return vx_scale(root, exponent >> 1);
}

// exp(y log |x|) with the logarithm to 2^-67, its product with y in a pair. Special cases as in C99 Annex F.
double vx_pow(double x, double y) {
    if (y == 2.0lf) {  // as `square`, and on a GPU at once where all exponents are 2
        precise double square = x * x;
        return square;
    }
    if (y == 0.0lf || x == 1.0lf) return 1.0lf;
    if (vx_is_nan(x) || vx_is_nan(y)) return VX_NAN_DOUBLE;
    double base = vx_absolute(x);
    bool whole = vx_trunc(y) == y;
    precise double half_y = 0.5lf * y;
    bool odd = whole && vx_absolute(y) < 9007199254740992.0lf && vx_trunc(half_y) != half_y;
    bool negative = odd && vx_signbit(x);
    bool y_negative = vx_signbit(y);
    if (base == 1.0lf && (vx_is_infinite(y) || whole)) return negative ? -1.0lf : 1.0lf;
    if (vx_is_infinite(y)) return (base > 1.0lf) != y_negative ? VX_INFINITY_DOUBLE : 0.0lf;
    if (base == 0.0lf || vx_is_infinite(base)) {
        bool infinite = (base == 0.0lf) == y_negative;
        return vx_negate_if(infinite ? VX_INFINITY_DOUBLE : 0.0lf, negative);
    }
    if (vx_signbit(x) && !whole) return VX_NAN_DOUBLE;

    // From 2^64 on, y decides between overflow and underflow alone.
    precise double factor = vx_absolute(y) < 18446744073709551616.0lf ? y : y_negative ? -18446744073709551616.0lf : 18446744073709551616.0lf;
    dvec2 product = vx_pair_multiply(vx_pair_log(base), factor);
    if (vx_absolute(product.x) > 800.0lf) product = dvec2(vx_limit_exponent(product.x), 0.0lf);
    int k;
    dvec2 power = vx_pair_exp(product, k);
    return vx_negate_if(vx_scale(power.x, k), negative);
}

// Operands scaled so that the greater lies in [1, 2), squares and root in pairs.
double vx_hypot(double a, double b) {
    if (vx_is_infinite(a) || vx_is_infinite(b)) return VX_INFINITY_DOUBLE;
    if (vx_is_nan(a) || vx_is_nan(b)) return VX_NAN_DOUBLE;
    double greater = vx_absolute(a);
    double less = vx_absolute(b);
    if (greater < less) {
        double swapped = greater;
        greater = less;
        less = swapped;
    }
    if (less == 0.0lf) return greater;
    int exponent;
    precise double scaled_greater = vx_normalize(greater, exponent);
    int part = -exponent >> 1;
    precise double scaled_less = less * vx_double_power_of_two(part) * vx_double_power_of_two(-exponent - part);
    dvec2 sum = vx_pair_add(vx_two_product(scaled_greater, scaled_greater), vx_two_product(scaled_less, scaled_less));
    return vx_scale(vx_pair_sqrt(sum).x, exponent);
}

#endif
