#ifndef LIB_FLOAT64_ARITHMETIC
#define LIB_FLOAT64_ARITHMETIC

#include "lib/float64/bits.glsl"
#include "lib/float64/error_free.glsl"
#include "lib/float64/rounding.glsl"

double vx_multiply(double a, double b) {
    precise double product = a * b;
    return product;
}

double vx_square(double x) { return vx_multiply(x, x); }

// Correctly rounded: a quotient of the significands from the reciprocal, corrected twice by its exact residual; the
// second time exactly, for no quotient of doubles lies half-way between two. A subnormal result rounds once more,
// and there the residual breaks the ties that the first rounding made.
double vx_divide(double a, double b) {
    bool negative = vx_signbit(a) != vx_signbit(b);
    bool zero_by = a == 0.0lf, by_zero = b == 0.0lf;
    bool infinite_by = vx_is_infinite(a), by_infinite = vx_is_infinite(b);
    if (vx_is_nan(a) || vx_is_nan(b) || zero_by && by_zero || infinite_by && by_infinite) return VX_NAN_DOUBLE;
    if (infinite_by || by_zero) return vx_negate_if(VX_INFINITY_DOUBLE, negative);
    if (zero_by || by_infinite) return vx_negate_if(0.0lf, negative);

    int a_exponent, b_exponent;
    precise double dividend = vx_normalize(vx_absolute(a), a_exponent);
    precise double divisor = vx_normalize(vx_absolute(b), b_exponent);
    int exponent = a_exponent - b_exponent;
    if (dividend < divisor) {
        dividend = dividend * 2.0lf;
        exponent -= 1;
    }
    const double ulp = 2.220446049250313e-16lf;
    precise double reciprocal = vx_reciprocal_approximation(divisor);
    precise double quotient = dividend * reciprocal;
    quotient = quotient + vx_division_residual(dividend, quotient, divisor) * reciprocal;
    precise double residual = vx_division_residual(dividend, quotient, divisor);
    precise double half_step = divisor * (0.5lf * ulp);
    if (residual > half_step) {
        quotient = quotient + ulp;
        residual = -half_step;
    } else if (residual < -half_step) {
        quotient = quotient - ulp;
        residual = half_step;
    }
    exponent = max(exponent, -1090);
    precise double result = vx_scale(quotient, exponent);
    if (exponent < -1022 && residual != 0.0lf) {
        precise double dropped = quotient - vx_scale(result * 1.8014398509481984e16lf, -exponent - 54);
        if (vx_absolute(dropped) == vx_double_power_of_two(-1075 - exponent)) {
            quotient = quotient + (residual > 0.0lf ? ulp : -ulp);
            result = vx_scale(quotient, exponent);
        }
    }
    return vx_negate_if(result, negative);
}

double vx_reciprocal(double x) { return vx_divide(1.0lf, x); }

// The remainder of a / b with the sign of a, exact, for finite a and b, b not 0: long division, 48 bits of the
// quotient a step. Also the magnitude of the quotient truncated to an integer, exact below 2^53.
double vx_truncated_remainder(double a, double b, out double magnitude) {
    precise double whole = 0.0lf;
    magnitude = whole;
    if (a == 0.0lf || vx_absolute(a) < vx_absolute(b)) return a;
    int a_exponent, b_exponent;
    precise double rest = vx_normalize(vx_absolute(a), a_exponent);
    precise double divisor = vx_normalize(vx_absolute(b), b_exponent);
    double reciprocal = vx_reciprocal_approximation(divisor);
    int left = a_exponent - b_exponent;
    for (bool more = true; more; ) {
        int shift = min(left, 48);
        left -= shift;
        more = left > 0;
        double step = vx_double_power_of_two(shift);
        rest = rest * step;
        precise double quotient = rest * reciprocal;
        quotient = vx_round(quotient);
        rest = vx_division_residual(rest, quotient, divisor);
        whole = whole * step + quotient;
    }
    if (rest < 0.0lf) {
        rest = rest + divisor;
        whole = whole - 1.0lf;
    }
    magnitude = whole;
    // The remainder is a multiple of the least bit of b, so scaling is exact.
    int part = b_exponent >> 1;
    rest = rest * vx_double_power_of_two(part) * vx_double_power_of_two(b_exponent - part);
    return vx_copysign(rest, a);
}

// Python's a % b: the sign of b (also for a zero result), a - floor(a / b) b rounded once.
double vx_remainder(double a, double b) {
    if (vx_is_nan(a) || vx_is_nan(b) || vx_is_infinite(a) || b == 0.0lf) return VX_NAN_DOUBLE;
    bool same_sign = vx_signbit(a) == vx_signbit(b);
    if (vx_is_infinite(b)) return same_sign || a == 0.0lf ? vx_copysign(a, b) : b;
    double magnitude;
    precise double rest = vx_truncated_remainder(a, b, magnitude);
    if (rest == 0.0lf) return vx_copysign(rest, b);
    if (!same_sign) rest = rest + b;
    return rest;
}

// The floor of the exact quotient, as in NumPy and Python, while it is below 2^53, and the rounded quotient from there
// on. Infinite operands as the array API standard prefers, floor(a / b) of the limit, where Python gives NaN or -1.
double vx_floor_divide(double a, double b) {
    precise double quotient = vx_divide(a, b);
    if (!vx_is_finite(a) || !vx_is_finite(b) || a == 0.0lf || b == 0.0lf) return quotient;
    if (vx_absolute(quotient) >= 9007199254740992.0lf) return quotient;
    double magnitude;
    bool exact = vx_truncated_remainder(a, b, magnitude) == 0.0lf;
    bool negative = vx_signbit(a) != vx_signbit(b);
    quotient = magnitude;
    if (negative && !exact) quotient = quotient + 1.0lf;
    return vx_negate_if(quotient, negative);
}

double vx_sign(double x) {
    if (vx_is_nan(x)) return x;
    if (x == 0.0lf) return 0.0lf;
    return vx_copysign(1.0lf, x); // Mesa makes its own sign() of comparisons with 0, and that of -0 is -0
}

// NaN if either is; +0 is greater than -0 (IEEE 754-2019 maximum and minimum).
double vx_maximum(double a, double b) {
    double larger = a == b ? packDouble2x32(unpackDouble2x32(a) & unpackDouble2x32(b)) : a > b ? a : b;
    return vx_is_nan(a) || vx_is_nan(b) ? VX_NAN_DOUBLE : larger;
}

double vx_minimum(double a, double b) {
    double smaller = a == b ? packDouble2x32(unpackDouble2x32(a) | unpackDouble2x32(b)) : a < b ? a : b;
    return vx_is_nan(a) || vx_is_nan(b) ? VX_NAN_DOUBLE : smaller;
}

double vx_clip(double x, double low, double high) { return vx_minimum(vx_maximum(x, low), high); }

double vx_nextafter(double x, double towards) {
    if (vx_is_nan(x)) return x;
    if (vx_is_nan(towards) || x == towards) return towards;
    if (x == 0.0lf) return vx_copysign(packDouble2x32(uvec2(1u, 0u)), towards);
    uvec2 bits = unpackDouble2x32(x);
    bool grows = (x < towards) == (x > 0.0lf);
    if (grows) {
        bits.x += 1u;
        if (bits.x == 0u) bits.y += 1u;
    } else {
        if (bits.x == 0u) bits.y -= 1u;
        bits.x -= 1u;
    }
    return packDouble2x32(bits);
}

#endif
