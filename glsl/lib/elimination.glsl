#ifndef LIB_ELIMINATION
#define LIB_ELIMINATION

// What the factorisations by elimination share, for a real or complex type T. REAL is the type of its parts.
#ifdef COMPLEX
#define COMPLEX_T  // COMPLEX itself is also the type of a pair of real numbers
#endif
#include "lib/product.glsl"
#include "lib/complex/pairs.glsl"

// Numbers between 1 / HUGE and HUGE have a reciprocal that is a normal number.
#ifdef DOUBLE
#define VX_HUGE 1e300lf
#else
#define VX_HUGE 1e37
#endif

// About 1 / b for vx_quotient_by; 0 where b is too large or too small for that.
REAL vx_inverse_of(REAL b) {
    REAL size = vx_absolute(b);
    return size > VX_ONE / VX_HUGE && size < VX_HUGE ? vx_reciprocal_approximation(b) : VX_ZERO;
}

// a / b from the reciprocal of b within 2 ULP, corrected once: exact where a / b is, and much shorter than a division.
REAL vx_quotient_by(REAL a, REAL b, REAL inverse) {
    precise REAL quotient = a * inverse;
    if (!vx_isfinite(quotient)) return quotient;
    PAIR product = vx_two_product(quotient, b);
    precise REAL corrected = quotient + ((a - product.x) - product.y) * inverse;
    return corrected;
}

#ifdef COMPLEX_T
#define VX_REAL_PART(Z) Z.x
T vx_select(T otherwise, T chosen, bool condition) { return mix(otherwise, chosen, bvec2(condition)); }
T vx_conjugate_if(T z, bool conjugate) { return conjugate ? vx_conjugated(z) : z; }
bool vx_vanishes(T z) { return vx_is_zero(z.x) && vx_is_zero(z.y); }
// How large a pivot is, as LAPACK has it: the sum of the parts.
REAL vx_size(T z) {
    precise REAL sum = vx_absolute(z.x) + vx_absolute(z.y);
    return sum;
}
T vx_scaled(T z, int n) { return vx_scale_complex(z, n); }
// Textbook product: its error is small beside the modulus.
T vx_multiply(T a, T b) {
    precise T product = T(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
    return product;
}
// sum + a * b. Not fused: fma takes subnormal numbers for zero on some devices, and a subnormal pivot is a pivot.
T vx_add_product(T a, T b, T sum) {
    precise T total = T(a.x * b.x + (sum.x - a.y * b.y), a.x * b.y + (a.y * b.x + sum.y));
    return total;
}
// a / b by the quotient of real numbers, b scaled so that its square neither overflows nor vanishes.
T vx_quotient_of_any(T a, T b) {
    REAL larger = vx_larger_part(b);
    int exponent = vx_is_zero(larger) || !vx_isfinite(larger) ? 0 : vx_binary_exponent(larger);
    b = vx_scale_complex(b, -exponent);
    precise REAL norm = b.x * b.x + b.y * b.y;
    precise T product = T(a.x * b.x + a.y * b.y, a.y * b.x - a.x * b.y);
    return vx_scale_complex(T(vx_divide(product.x, norm), vx_divide(product.y, norm)), -exponent);
}
// 1 / b; 0 where b is too large or too small for that.
T vx_inverse(T b) {
    REAL larger = vx_larger_part(b);
    if (!(larger > VX_ONE / VX_HUGE && larger < VX_HUGE)) return T(VX_ZERO, VX_ZERO);
    int exponent = vx_binary_exponent(larger);
    precise T scaled = b * vx_two_to_the(-exponent);
    precise REAL norm = scaled.x * scaled.x + scaled.y * scaled.y;
    precise REAL factor = vx_reciprocal_approximation(norm) * vx_two_to_the(-exponent);
    precise T inverse = T(scaled.x * factor, -scaled.y * factor);
    return inverse;
}
// a / b, where `inverse` is vx_inverse(b): for one divisor and many dividends.
T vx_quotient(T a, T b, T inverse) { return vx_vanishes(inverse) ? vx_quotient_of_any(a, b) : vx_multiply(a, inverse); }
#else
#define VX_REAL_PART(Z) Z
T vx_select(T otherwise, T chosen, bool condition) { return mix(otherwise, chosen, condition); }
T vx_conjugate_if(T z, bool conjugate) { return z; }
bool vx_vanishes(T z) { return vx_is_zero(z); }
REAL vx_size(T z) { return vx_absolute(z); }
T vx_scaled(T x, int n) { return vx_scale_complex(PAIR(x, VX_ZERO), n).x; }
T vx_add_product(T a, T b, T sum) {
    precise T total = a * b + sum;
    return total;
}
T vx_quotient(T a, T b, T inverse) { return vx_is_zero(inverse) ? vx_divide(a, b) : vx_quotient_by(a, b, inverse); }
T vx_inverse(T b) { return vx_inverse_of(b); }
#endif

// The power of two by which b has to be multiplied before vx_rounded_inverse, for it would be too large or too small; mostly 0.
int vx_inverse_shift(T b) {
#ifdef COMPLEX_T
    REAL larger = vx_larger_part(b);
#else
    REAL larger = vx_absolute(b);
#endif
    if (larger > VX_ONE / VX_HUGE && larger < VX_HUGE) return 0;
    return vx_is_zero(larger) || !vx_isfinite(larger) ? 0 : -vx_binary_exponent(larger);
}

// 1 / b: for real numbers the nearest one but for rare exceptions, 0 for infinity and 0, NaN for NaN.
T vx_rounded_inverse(T b) {
    T inverse = vx_inverse(b);
#ifdef COMPLEX_T
    return vx_either_nan(b) ? b : inverse;
#else
    return vx_is_zero(inverse) && !vx_is_nan(b) ? inverse : vx_quotient_by(VX_ONE, b, inverse);
#endif
}

// a / b, where b needs no power of two and `inverse` is vx_rounded_inverse(b).
T vx_quotient_within(T a, T b, T inverse) {
#ifdef COMPLEX_T
    return vx_multiply(a, inverse);
#else
    return vx_isinf(b) ? vx_multiply(a, inverse) : vx_quotient_by(a, b, inverse);
#endif
}

#endif
