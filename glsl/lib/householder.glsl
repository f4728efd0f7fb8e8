// Householder reflectors H = I - tau v v^H with v = (1, ...), for real and complex matrices (LAPACK's xLARFG).
#ifndef LIB_HOUSEHOLDER
#define LIB_HOUSEHOLDER
#include "lib/dtypes.glsl"
#include "lib/product.glsl"

#ifndef COMPLEX
#define REAL T
#endif

// Squares below SMALL_SQUARE may have lost digits to underflow. Then a vector is scaled up, by 2^LARGEST_SHIFT at most; the
// square of what is above LARGE overflows.
#ifdef DOUBLE
#define SMALL_SQUARE 2.409919865102884e-181lf
#define LARGEST_SHIFT 500
#define LARGE 2.037035976334486e90lf
#define ELEMENT_SHIFT 3u
#else
#define SMALL_SQUARE 8.673617379884035e-19
#define LARGEST_SHIFT 60
#define LARGE 1099511627776.0
#define ELEMENT_SHIFT 2u
#endif

#ifdef COMPLEX
#define FROM_REAL(x) T(x, REAL(0))
REAL vx_real(T z) { return z.x; }
T vx_times(T a, T b) {
    precise T product = T(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
    return product;
}
REAL vx_squared(T z) {
    precise REAL square = z.x * z.x + z.y * z.y;
    return square;
}
REAL vx_larger_part(T z) { return max(abs(z.x), abs(z.y)); }
T vx_conjugate(T z) { return vx_conjugated(z); }
#else
#define FROM_REAL(x) (x)
REAL vx_real(T z) { return z; }
T vx_times(T a, T b) {
    precise T product = a * b;
    return product;
}
REAL vx_squared(T z) { return vx_times(z, z); }
REAL vx_larger_part(T z) { return abs(z); }
T vx_conjugate(T z) { return z; }
#endif

T vx_scaled(T z, REAL factor) {
    precise T product = z * factor;
    return product;
}

#include "lib/two_to_the.glsl"

// z 2^n in two steps, for 2^n may not be representable.
T vx_shifted(T z, int n) {
    int first = n >> 1;
    return vx_scaled(vx_scaled(z, vx_two_to_the(first)), vx_two_to_the(n - first));
}

// floor(log2 x) for x >= 0 (a number about that of the smallest subnormal for 0), MAXIMUM_EXPONENT for infinity and NaN.
int vx_exponent_of(REAL x) {
#ifdef DOUBLE
    uint high = unpackDouble2x32(x).y & 0x7FFFFFFFu;
    if (high < 0x00100000u) return max(findMSB(high), 0) - 1042;
    return int(high >> 20) - 1023;
#define MAXIMUM_EXPONENT 1024
#else
    uint bits = floatBitsToUint(x) & 0x7FFFFFFFu;
    if (bits < 0x00800000u) return max(findMSB(bits), 0) - 149;
    return int(bits >> 23) - 127;
#define MAXIMUM_EXPONENT 128
#endif
}

// The larger exponent of the parts. As integers, those of infinity and NaN are the largest.
int vx_largest_exponent(T z) {
#ifdef COMPLEX
    return max(vx_exponent_of(z.x), vx_exponent_of(z.y));
#else
    return vx_exponent_of(z);
#endif
}

// H^H (alpha, x) = (beta, 0) with v = (1, scale x), from the square of the norm of x, which is not 0.
void vx_reflector(T alpha, REAL square, out REAL beta, out T tau, out T scale) {
    REAL larger = vx_larger_part(alpha);
    precise REAL norm = REAL(0);
    if (larger > LARGE) norm = larger * sqrt(vx_squared(alpha / larger));
    else norm = sqrt(vx_squared(alpha) + square);
    beta = vx_real(alpha) < REAL(0) ? norm : -norm;
    precise T difference = (FROM_REAL(beta) - alpha) / beta;
    tau = difference;
    // scale = 1 / (alpha - beta) = -1 / (tau beta), where 1 <= |tau| <= 2.
    precise T inverse = -vx_conjugate(difference) / vx_squared(difference) / beta;
    scale = inverse;
}

// base + a b elements.
uvec2 vx_address(uvec2 base, uint a, uint b) {
    uint high, low, carry;
    umulExtended(a, b, high, low);
#ifdef COMPLEX
    const uint shift = ELEMENT_SHIFT + 1u;
#else
    const uint shift = ELEMENT_SHIFT;
#endif
    high = high << shift | low >> (32u - shift);
    low = uaddCarry(base.x, low << shift, carry);
    return uvec2(low, base.y + high + carry);
}

// for (uint i = FIRST; i < END; i += STEP), UNROLL turns at a time: loads overlap, and llvmpipe, which leaves a shader's
// loops after 65,535 turns in all, gets further.
#define UNROLL 4u
#define EACH(i, FIRST, END, STEP) \
    for (uint i##_first = FIRST; i##_first < (END); i##_first += UNROLL * (STEP)) \
        [[unroll]] for (uint i##_turn = 0u, i = i##_first; i##_turn < UNROLL; ++i##_turn, i += (STEP)) if (i < (END))

#endif
