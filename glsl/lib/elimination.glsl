#ifndef LIB_ELIMINATION
#define LIB_ELIMINATION

// What the factorisations by elimination share, for a real or complex type T. REAL is the type of its parts.
#ifdef COMPLEX
#define COMPLEX_T  // COMPLEX itself is also the type of a pair of real numbers
#endif
#include "lib/product.glsl"
#include "lib/complex/pairs.glsl"

#ifdef COMPLEX_T
#define VX_REAL_PART(Z) Z.x
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
// a / b by the quotient of real numbers, b scaled so that its square neither overflows nor vanishes.
T vx_quotient(T a, T b) {
    REAL larger = vx_larger_part(b);
    int exponent = vx_is_zero(larger) || !vx_isfinite(larger) ? 0 : vx_binary_exponent(larger);
    b = vx_scale_complex(b, -exponent);
    precise REAL norm = b.x * b.x + b.y * b.y;
    precise T product = T(a.x * b.x + a.y * b.y, a.y * b.x - a.x * b.y);
    return vx_scale_complex(T(vx_divide(product.x, norm), vx_divide(product.y, norm)), -exponent);
}
#else
#define VX_REAL_PART(Z) Z
T vx_conjugate_if(T z, bool conjugate) { return z; }
bool vx_vanishes(T z) { return vx_is_zero(z); }
REAL vx_size(T z) { return vx_absolute(z); }
T vx_scaled(T x, int n) { return vx_scale_complex(PAIR(x, VX_ZERO), n).x; }
T vx_quotient(T a, T b) { return vx_divide(a, b); }
#endif

#endif
