#ifndef LIB_COMPLEX_PAIRS
#define LIB_COMPLEX_PAIRS

// What the complex functions share. They are written once for both precisions: REAL is float or double, COMPLEX
// its vector of two, PAIR the same type used as an unevaluated sum x + y of about twice the precision, which keeps
// what a function loses on the way far below its final rounding.

#ifdef DOUBLE
#include "lib/float64/classification.glsl"
#include "lib/float64/arithmetic.glsl"
#include "lib/float64/error_free.glsl"
#ifndef REAL
#define REAL double
#define COMPLEX dvec2
#endif
#define VX_NAN packDouble2x32(uvec2(0u, 0x7FF80000u))
#define VX_INFINITY packDouble2x32(uvec2(0u, 0x7FF00000u))
#define VX_PI 3.141592653589793lf
#define VX_LN2 0.6931471805599453lf
// Beyond LARGE, 1 + z^2 rounds to z^2, and below TINY, z + z^3 to z; both with room to spare.
#define VX_LARGE 1152921504606846976.0lf
#define VX_TINY 3.725290298461914e-9lf
// Numbers with exponents up to this can be multiplied and divided four at a time.
#define VX_MODERATE_EXPONENT 200
#define VX_SCALE_LIMIT 2040
#else
#include "lib/float32/classification.glsl"
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/error_free.glsl"
#ifndef REAL
#define REAL float
#define COMPLEX vec2
#endif
#define VX_NAN uintBitsToFloat(0x7FC00000u)
#define VX_INFINITY uintBitsToFloat(0x7F800000u)
#define VX_PI 3.14159265
#define VX_LN2 0.693147181
#define VX_LARGE 268435456.0
#define VX_TINY 1.220703125e-4
#define VX_MODERATE_EXPONENT 20
#define VX_SCALE_LIMIT 250
#endif
#define PAIR COMPLEX

#define VX_ZERO REAL(0.0)
#define VX_ONE REAL(1.0)

bool vx_either_nan(COMPLEX z) { return vx_isnan(z.x) || vx_isnan(z.y); }
bool vx_either_infinite(COMPLEX z) { return vx_isinf(z.x) || vx_isinf(z.y); }

COMPLEX vx_swap(COMPLEX z) { return COMPLEX(z.y, z.x); }

// The larger magnitude of the two parts, neither being NaN.
REAL vx_larger_part(COMPLEX z) {
    REAL x = vx_absolute(z.x), y = vx_absolute(z.y);
    return x > y ? x : y;
}

// floor(log2 x) for finite x > 0.
int vx_binary_exponent(REAL x) {
#ifdef DOUBLE
    precise REAL normal = x < 2.2250738585072014e-308lf ? x * 18014398509481984.0lf : x;
    return int(unpackDouble2x32(normal).y >> 20) - (x < 2.2250738585072014e-308lf ? 1077 : 1023);
#else
    uint bits = floatBitsToUint(x);
    return bits < 0x00800000u ? findMSB(bits) - 149 : int(bits >> 23) - 127;
#endif
}

#include "lib/two_to_the.glsl"

// z 2^n in two steps, for 2^n may not be representable; beyond the limit everything overflows or vanishes.
COMPLEX vx_scale_complex(COMPLEX z, int n) {
    n = clamp(n, -VX_SCALE_LIMIT, VX_SCALE_LIMIT);
    int first = n >> 1;
    precise COMPLEX scaled = z * vx_two_to_the(first);
    scaled = scaled * vx_two_to_the(n - first);
    return scaled;
}

// The n for which z 2^-n has parts of moderate size; 0 where z has.
int vx_excess_exponent(COMPLEX z) {
    REAL larger = vx_larger_part(z);
    if (vx_is_zero(larger)) return 0;
    int exponent = vx_binary_exponent(larger);
    return exponent - clamp(exponent, -VX_MODERATE_EXPONENT, VX_MODERATE_EXPONENT);
}

// Relative error about twice the square of the working precision's, of the sum of the magnitudes.
PAIR vx_pair_sum(PAIR a, PAIR b) {
    PAIR sum = vx_two_sum(a.x, b.x);
    precise REAL rest = sum.y + (a.y + b.y);
    return vx_fast_two_sum(sum.x, rest);
}

PAIR vx_pair_sum_of_squares(PAIR a, PAIR b) { return vx_pair_sum(vx_pair_multiply(a, a), vx_pair_multiply(b, b)); }

// The principal square root of x + i y for finite operands and y >= 0: the real part from the sum that does not
// cancel, sqrt((|z| + |x|) / 2), z scaled so that squares stay in range, the other one by division; or the reverse.
void vx_pair_complex_root(PAIR x, REAL y, out PAIR real_part, out PAIR imaginary_part) {
    real_part = PAIR(VX_ZERO, VX_ZERO);
    imaginary_part = real_part;
    REAL larger = vx_larger_part(COMPLEX(x.x, y));
    if (vx_is_zero(larger)) return;
    int shift = vx_binary_exponent(larger) >> 1;
    bool negative = x.x < VX_ZERO;
    x = vx_scale_complex(negative ? -x : x, -2 * shift);
    PAIR height = vx_scale_complex(PAIR(y, VX_ZERO), -2 * shift);
    PAIR modulus = vx_pair_sqrt(vx_pair_sum_of_squares(x, height));
    precise PAIR half_sum = vx_pair_sum(modulus, x) * REAL(0.5);
    PAIR root = vx_pair_sqrt(half_sum);
    PAIR quotient = PAIR(VX_ZERO, VX_ZERO);
    precise PAIR twice = root * REAL(2.0);
    if (!vx_is_zero(y)) {
        int exponent = vx_binary_exponent(y);
        quotient = vx_pair_divide(vx_scale_complex(PAIR(y, VX_ZERO), -exponent), twice);
        quotient = vx_scale_complex(quotient, exponent - shift);
    }
    precise PAIR sum = root * vx_two_to_the(shift);
    real_part = negative ? quotient : sum;
    imaginary_part = negative ? sum : quotient;
}

#endif
