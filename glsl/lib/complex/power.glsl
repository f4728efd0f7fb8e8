#ifndef LIB_COMPLEX_POWER
#define LIB_COMPLEX_POWER

#include "lib/complex/arithmetic.glsl"
#include "lib/complex/exponential.glsl"
#include "lib/complex/logarithmic.glsl"
#ifdef DOUBLE
#define VX_LN2_REST 2.3190468138462996e-17lf
// Terms of the exponential series that pairs need for arguments below 1/64.
#define VX_SERIES_TERMS 11
#define VX_EXPONENT_LIMIT 2000.0lf
#define VX_1_OVER_6 0.16666666666666666lf
#define VX_1_OVER_24 0.041666666666666664lf
#define VX_1_OVER_120 0.008333333333333333lf
#else
#define VX_LN2_REST -1.9046542e-9
#define VX_SERIES_TERMS 6
#define VX_EXPONENT_LIMIT 240.0
#define VX_1_OVER_6 0.166666667
#define VX_1_OVER_24 0.0416666679
#define VX_1_OVER_120 0.00833333377
#endif

COMPLEX vx_sqrt(COMPLEX z) {
    if (vx_isinf(z.y)) return COMPLEX(VX_INFINITY, z.y);
    if (vx_isinf(z.x)) {
        REAL small = vx_isnan(z.y) ? VX_NAN : VX_ZERO;
        return z.x > VX_ZERO ? COMPLEX(z.x, vx_copysign(small, z.y)) : COMPLEX(small, vx_copysign(VX_INFINITY, z.y));
    }
    if (vx_either_nan(z)) return COMPLEX(VX_NAN, VX_NAN);
    PAIR real_part, imaginary_part;
    vx_pair_complex_root(PAIR(z.x, VX_ZERO), vx_absolute(z.y), real_part, imaginary_part);
    return COMPLEX(real_part.x, vx_copysign(imaginary_part.x, z.y));
}

struct ComplexPair {
    PAIR real_part;
    PAIR imaginary_part;
};

ComplexPair vx_add(ComplexPair a, ComplexPair b) {
    return ComplexPair(vx_pair_sum(a.real_part, b.real_part), vx_pair_sum(a.imaginary_part, b.imaginary_part));
}

ComplexPair vx_multiply(ComplexPair a, ComplexPair b) {
    return ComplexPair(
        vx_pair_sum(vx_pair_multiply(a.real_part, b.real_part), -vx_pair_multiply(a.imaginary_part, b.imaginary_part)),
        vx_pair_sum(vx_pair_multiply(a.real_part, b.imaginary_part), vx_pair_multiply(a.imaginary_part, b.real_part)));
}

ComplexPair vx_widen(COMPLEX z) { return ComplexPair(PAIR(z.x, VX_ZERO), PAIR(z.y, VX_ZERO)); }

// exp(z) - 1 for |z| < 4 to a relative error near that of pairs: the series for z / 256, then (1 + e)^2 - 1 = 2 e + e^2
// eight times.
ComplexPair vx_pair_expm1(COMPLEX z) {
    precise COMPLEX fraction = z * REAL(0.00390625);
    ComplexPair part = vx_widen(fraction);
    ComplexPair result = vx_widen(COMPLEX(VX_ONE, VX_ZERO));
    for (int n = VX_SERIES_TERMS; n > 1; --n) {
        result = vx_multiply(part, result);
        PAIR divisor = PAIR(REAL(n), VX_ZERO);
        result.real_part = vx_pair_sum(PAIR(VX_ONE, VX_ZERO), vx_pair_divide(result.real_part, divisor));
        result.imaginary_part = vx_pair_divide(result.imaginary_part, divisor);
    }
    result = vx_multiply(part, result);
    for (int doubling = 0; doubling < 8; ++doubling) {
        result = vx_add(vx_multiply(result, result), vx_add(result, result));
    }
    return result;
}

// log z for finite z that is not 0, to a relative error that leaves w log z right to the last bits of the result:
// a logarithm of working precision and one step of Newton's method, log z = l + (z exp(-l) - 1), with z - 1 and
// exp(-l) - 1 in pairs. A power of 2 is taken off first.
ComplexPair vx_pair_log_complex(COMPLEX z) {
    int exponent = vx_binary_exponent(vx_larger_part(z));
    if (exponent == -1) exponent = 0;
    z = vx_scale_complex(z, -exponent);
    ComplexPair less_1 = ComplexPair(vx_two_sum(z.x, -VX_ONE), PAIR(z.y, VX_ZERO));
    ComplexPair result = less_1;
    // For a z this near 1, less_1 is the logarithm, and working with parts of it might underflow.
    if (vx_larger_part(COMPLEX(less_1.real_part.x, z.y)) > VX_TINY * VX_TINY * VX_TINY * VX_TINY) {
        COMPLEX guess = vx_log(z);
        ComplexPair inverse_less_1 = vx_pair_expm1(-guess);
        ComplexPair rest = vx_add(vx_add(less_1, inverse_less_1), vx_multiply(less_1, inverse_less_1));
        result = vx_add(vx_widen(guess), rest);
    }
    PAIR ln2 = vx_pair_multiply(PAIR(VX_LN2, VX_LN2_REST), PAIR(REAL(exponent), VX_ZERO));
    result.real_part = vx_pair_sum(ln2, result.real_part);
    return result;
}

// z^n for a whole n of at most 64 by squaring, exact where the result is.
COMPLEX vx_whole_power(COMPLEX z, int n) {
    int exponent = vx_binary_exponent(vx_larger_part(z));
    ComplexPair square = vx_widen(vx_scale_complex(z, -exponent));
    ComplexPair product = vx_widen(COMPLEX(VX_ONE, VX_ZERO));
    for (int rest = abs(n); rest != 0; rest >>= 1) {
        if ((rest & 1) != 0) product = vx_multiply(product, square);
        if (rest != 1) square = vx_multiply(square, square);
    }
    COMPLEX result = COMPLEX(product.real_part.x, product.imaginary_part.x);
    if (n < 0) result = vx_reciprocal(result);
    return vx_scale_complex(result, exponent * n);
}

// exp(w log z) with the logarithm and its product with w in pairs; z^0 = 1 and 0^w = 0 for positive real parts of w, as
// in NumPy. The error grows once w log z has an imaginary part beyond 2^19 (complex128: 2^45).
COMPLEX vx_pow(COMPLEX z, COMPLEX w) {
    if (vx_is_zero(w.y)) {
        if (vx_is_zero(w.x)) return COMPLEX(VX_ONE, VX_ZERO);
        if (w.x == VX_ONE) return z;
    }
    if (!vx_isfinite(z) || !vx_isfinite(w)) return vx_exp(vx_multiply(w, vx_log(z)));
    if (vx_is_zero(z.x) && vx_is_zero(z.y)) {
        return w.x > VX_ZERO ? COMPLEX(VX_ZERO, VX_ZERO) : COMPLEX(VX_NAN, VX_NAN);
    }
    if (vx_is_zero(w.y) && vx_absolute(w.x) <= 64.0) {
        int n = int(w.x);
        if (REAL(n) == w.x) return vx_whole_power(z, n);
    }
    ComplexPair logarithm = vx_pair_log_complex(z);
    // The excess of a huge w goes to the logarithm as far as that is small, and to the product, which may overflow then.
    int excess = max(vx_excess_exponent(w), 0);
    int small = -vx_binary_exponent(vx_larger_part(COMPLEX(logarithm.real_part.x, logarithm.imaginary_part.x)));
    int inner = clamp(small, 0, excess);
    w = vx_scale_complex(w, -excess);
    logarithm.real_part = vx_scale_complex(logarithm.real_part, inner);
    logarithm.imaginary_part = vx_scale_complex(logarithm.imaginary_part, inner);
    ComplexPair product = vx_multiply(vx_widen(w), logarithm);
    PAIR real_part = vx_scale_complex(product.real_part, excess - inner);
    PAIR imaginary_part = vx_scale_complex(product.imaginary_part, excess - inner);
    COMPLEX argument = COMPLEX(real_part.x, imaginary_part.x);
    if (vx_absolute(argument.x) > VX_EXPONENT_LIMIT && vx_isinf(argument.y)) argument.y = VX_ZERO; // 0 or infinite anyway
    if (!vx_isfinite(argument) || vx_absolute(argument.x) > VX_EXPONENT_LIMIT) return vx_exp(argument);
    // Scaled to a modulus near 1, so that the low parts count before anything overflows or underflows.
    int exponent = int(clamp(argument.x * VX_LOG2_E, -VX_EXPONENT_LIMIT, VX_EXPONENT_LIMIT));
    COMPLEX result = vx_exp_scaled(argument.x, argument.y, -exponent);
    // exp of the low parts, less 1. That of the angle counts up to 1/16; beyond, the angle itself is not known.
    precise REAL angle = vx_absolute(imaginary_part.y) > 0.0625 ? VX_ZERO : imaginary_part.y;
    precise REAL square = angle * angle;
    precise COMPLEX rest = COMPLEX(square * (square * VX_1_OVER_24 - 0.5),
        angle - angle * square * (VX_1_OVER_6 - square * VX_1_OVER_120));
    rest = rest + COMPLEX(VX_ONE + rest.x, rest.y) * real_part.y;
    precise COMPLEX corrected = result + vx_multiply(result, rest);
    return vx_scale_complex(corrected, exponent);
}

#endif
