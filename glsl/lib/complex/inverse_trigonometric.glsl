#ifndef LIB_COMPLEX_INVERSE_TRIGONOMETRIC
#define LIB_COMPLEX_INVERSE_TRIGONOMETRIC

#include "lib/complex/arithmetic.glsl"
#include "lib/complex/logarithmic.glsl"

// Kahan (Branch Cuts for Complex Elementary Functions, 1987): with a + i b = sqrt(1 - x + i |y|) and
// c + i d = sqrt(1 + x + i |y|), none of the sums below cancels:
//   asin z = atan2(x, a c + b d) +- i asinh(a d + b c),   acos z = 2 atan2(a, c) -+ i asinh(a d + b c)
void vx_arc_parts(COMPLEX z, out REAL arcsine, out REAL arccosine, out REAL height) {
    PAIR a, b, c, d;
    REAL y = vx_absolute(z.y);
    vx_pair_complex_root(vx_two_sum(VX_ONE, -z.x), y, a, b);
    vx_pair_complex_root(vx_two_sum(VX_ONE, z.x), y, c, d);
    precise REAL twice = 2.0 * vx_atan2(a.x, c.x);
    arccosine = twice;
    // asinh(q) is log(2 q) for large q, which is kept from overflow by a factor 2^-40, else log(1 + q + q^2 / (1 + sqrt(1 + q^2))).
    bool large = vx_larger_part(z) > VX_LARGE;
    REAL part = large ? REAL(9.094947017729282e-13) : VX_ONE;
    PAIR p = vx_pair_sum(vx_pair_multiply(a, c), vx_pair_multiply(b, d));
    precise PAIR c_part = c * part, d_part = d * part;
    PAIR q = vx_pair_sum(vx_pair_multiply(a, d_part), vx_pair_multiply(b, c_part));
    arcsine = vx_atan2(z.x, large ? y : p.x);
    if (large) {
        height = vx_log_of_scaled_pair(q, 41);
    } else {
        PAIR one = PAIR(VX_ONE, VX_ZERO);
        PAIR square = vx_pair_multiply(q, q);
        PAIR root = vx_pair_sqrt(vx_pair_sum(one, square));
        height = vx_log_of_one_plus_pair(vx_pair_sum(q, vx_pair_divide(square, vx_pair_sum(one, root))));
    }
    height = vx_copysign(height, z.y);
}

COMPLEX vx_asin(COMPLEX z) {
    if (vx_either_infinite(z)) return COMPLEX(vx_atan2(z.x, vx_absolute(z.y)), vx_copysign(VX_INFINITY, z.y));
    if (vx_either_nan(z)) return COMPLEX(vx_is_zero(z.x) ? z.x : VX_NAN, VX_NAN);
    if (vx_larger_part(z) < VX_TINY) return z;
    REAL arcsine, arccosine, height;
    vx_arc_parts(z, arcsine, arccosine, height);
    return COMPLEX(arcsine, height);
}

COMPLEX vx_acos(COMPLEX z) {
    if (vx_either_infinite(z)) return COMPLEX(vx_atan2(vx_absolute(z.y), z.x), -vx_copysign(VX_INFINITY, z.y));
    if (vx_either_nan(z)) return COMPLEX(vx_is_zero(z.x) ? VX_PI * 0.5 : VX_NAN, VX_NAN);
    REAL arcsine, arccosine, height;
    vx_arc_parts(z, arcsine, arccosine, height);
    return COMPLEX(arccosine, -height);
}

// With p = |y|: atan2(2 x, (1 - p) (1 + p) - x^2) / 2 +- i log(1 + 4 p / ((1 - p)^2 + x^2)) / 4
COMPLEX vx_atan(COMPLEX z) {
    precise REAL p = vx_absolute(z.y);
    if (vx_either_nan(z)) {
        bool vanishes = vx_either_infinite(z) || vx_is_zero(z.y);
        return COMPLEX(vx_isinf(z.x) ? vx_copysign(VX_PI * 0.5, z.x) : VX_NAN, vanishes ? vx_copysign(VX_ZERO, z.y) : VX_NAN);
    }
    REAL larger = vx_larger_part(z);
    if (larger < VX_TINY) return z;
    precise COMPLEX result;
    if (larger > VX_LARGE) {
        result = COMPLEX(VX_PI * 0.5, -vx_reciprocal(COMPLEX(z.x, p)).y);
    } else if (p == VX_ONE && vx_absolute(z.x) < VX_TINY) {
        // Beside the branch point, where x^2 would underflow.
        result.x = vx_is_zero(z.x) ? VX_ZERO : VX_PI * 0.25 + vx_absolute(z.x) * 0.25;
        result.y = 0.5 * (VX_LN2 - vx_log(vx_absolute(z.x)));
    } else {
        PAIR difference = vx_two_sum(VX_ONE, -p);
        PAIR square = vx_two_product(z.x, z.x);
        PAIR norm = vx_pair_sum(vx_pair_multiply(difference, difference), square);
        PAIR cosine = vx_pair_sum(vx_pair_multiply(difference, vx_two_sum(VX_ONE, p)), -square);
        result.x = 0.5 * vx_atan2(2.0 * vx_absolute(z.x), cosine.x);
        PAIR ratio = vx_pair_divide(PAIR(4.0 * p, VX_ZERO), norm);
        result.y = 0.25 * vx_log_of_one_plus_pair(ratio);
    }
    return COMPLEX(vx_copysign(result.x, z.x), vx_copysign(result.y, z.y));
}

#endif
