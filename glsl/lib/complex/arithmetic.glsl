#ifndef LIB_COMPLEX_ARITHMETIC
#define LIB_COMPLEX_ARITHMETIC

#include "lib/complex/pairs.glsl"
#include "lib/complex/classification.glsl"
#ifdef DOUBLE
#include "lib/float64/power.glsl"
#else
#include "lib/float32/power.glsl"
#endif

COMPLEX vx_negative(COMPLEX z) { return COMPLEX(vx_negative(z.x), vx_negative(z.y)); }
COMPLEX vx_conj(COMPLEX z) { return COMPLEX(z.x, vx_negative(z.y)); }

// The textbook formula, which the standard asks for: error below sqrt(5) / 2 eps of the modulus (Brent, Percival
// and Zimmermann, Math. Comp. 76, 2007). An infinite factor gives what the formula gives.
COMPLEX vx_multiply(COMPLEX a, COMPLEX b) {
    precise REAL real_part = a.x * b.x - a.y * b.y;
    precise REAL imaginary_part = a.x * b.y + a.y * b.x;
    return COMPLEX(real_part, imaginary_part);
}

COMPLEX vx_square(COMPLEX z) { return vx_multiply(z, z); }

// Both operands are scaled to a moderate size, so nothing overflows that should not; numerator and denominator are
// pairs, so each part of the quotient is rounded about once. Zeros and infinities as C99 Annex G: a number other
// than 0 by 0 is infinite, an infinity by a number too, a number by an infinity is 0.
COMPLEX vx_divide(COMPLEX a, COMPLEX b) {
    if (vx_either_nan(b) || vx_either_nan(a) && !(vx_either_infinite(a) && vx_isfinite(b))) {
        return COMPLEX(VX_NAN, VX_NAN);
    }
    if (vx_is_zero(b.x) && vx_is_zero(b.y)) {
        precise COMPLEX quotient = a * vx_copysign(VX_INFINITY, b.x);
        return quotient;
    }
    bool infinite_by = vx_either_infinite(a), by_infinite = vx_either_infinite(b);
    if (infinite_by && by_infinite) return COMPLEX(VX_NAN, VX_NAN);
    if (infinite_by) {
        a = COMPLEX(vx_copysign(vx_isinf(a.x) ? VX_ONE : VX_ZERO, a.x), vx_copysign(vx_isinf(a.y) ? VX_ONE : VX_ZERO, a.y));
    }
    if (by_infinite) {
        b = COMPLEX(vx_copysign(vx_isinf(b.x) ? VX_ONE : VX_ZERO, b.x), vx_copysign(vx_isinf(b.y) ? VX_ONE : VX_ZERO, b.y));
    }
    int a_excess = vx_excess_exponent(a), b_excess = vx_excess_exponent(b);
    a = vx_scale_complex(a, -a_excess);
    b = vx_scale_complex(b, -b_excess);
    PAIR norm = vx_pair_sum(vx_two_product(b.x, b.x), vx_two_product(b.y, b.y));
    PAIR real_part = vx_pair_sum(vx_two_product(a.x, b.x), vx_two_product(a.y, b.y));
    PAIR imaginary_part = vx_pair_sum(vx_two_product(a.y, b.x), vx_two_product(-a.x, b.y));
    COMPLEX quotient = COMPLEX(vx_pair_divide(real_part, norm).x, vx_pair_divide(imaginary_part, norm).x);
    // Sums in pairs lose the sign of a zero.
    precise COMPLEX plain = COMPLEX(a.x * b.x + a.y * b.y, a.y * b.x - a.x * b.y);
    if (vx_is_zero(quotient.x)) quotient.x = plain.x;
    if (vx_is_zero(quotient.y)) quotient.y = plain.y;
    if (infinite_by || by_infinite) {
        precise COMPLEX limit = quotient * (by_infinite ? VX_ZERO : VX_INFINITY);
        return limit;
    }
    return vx_scale_complex(quotient, a_excess - b_excess);
}

// conj(z) / |z|^2, as the quotient.
COMPLEX vx_reciprocal(COMPLEX z) {
    if (vx_either_nan(z)) return COMPLEX(VX_NAN, VX_NAN);
    REAL real_part = VX_ZERO, imaginary_part = VX_ZERO;
    int excess = 0;
    if (vx_is_zero(z.x) && vx_is_zero(z.y)) {
        real_part = VX_INFINITY;
        imaginary_part = VX_NAN;
    } else if (!vx_either_infinite(z)) {
        excess = vx_excess_exponent(z);
        z = vx_scale_complex(z, -excess);
        PAIR norm = vx_pair_sum(vx_two_product(z.x, z.x), vx_two_product(z.y, z.y));
        real_part = vx_pair_divide(PAIR(z.x, VX_ZERO), norm).x;
        imaginary_part = vx_pair_divide(PAIR(-z.y, VX_ZERO), norm).x;
    }
    // Sums in pairs lose the sign of a zero.
    return vx_scale_complex(COMPLEX(vx_copysign(real_part, z.x), vx_copysign(imaginary_part, -z.y)), -excess);
}

REAL vx_absolute(COMPLEX z) { return vx_hypot(z.x, z.y); }

// z / |z|, and 0 for 0; an infinity along an axis has that direction, as in NumPy.
COMPLEX vx_sign(COMPLEX z) {
    if (vx_either_nan(z) || vx_isinf(z.x) && vx_isinf(z.y)) return COMPLEX(VX_NAN, VX_NAN);
    REAL larger = vx_larger_part(z);
    if (vx_is_zero(larger)) return COMPLEX(VX_ZERO, VX_ZERO);
    if (vx_isinf(larger)) {
        return COMPLEX(vx_isinf(z.x) ? vx_copysign(VX_ONE, z.x) : VX_ZERO, vx_isinf(z.y) ? vx_copysign(VX_ONE, z.y) : VX_ZERO);
    }
    COMPLEX scaled = vx_scale_complex(z, -vx_binary_exponent(larger));
    PAIR modulus = vx_pair_sqrt(vx_pair_sum(vx_two_product(scaled.x, scaled.x), vx_two_product(scaled.y, scaled.y)));
    // A part that vanishes keeps its sign.
    return COMPLEX(vx_copysign(vx_pair_divide(PAIR(scaled.x, VX_ZERO), modulus).x, z.x),
        vx_copysign(vx_pair_divide(PAIR(scaled.y, VX_ZERO), modulus).x, z.y));
}

#endif
