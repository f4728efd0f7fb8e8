// Elementwise functions of networks and their gradients, written once for all types that they compute in: T is float,
// double or an integer type.
#ifndef LIB_POINTWISE
#define LIB_POINTWISE

#if defined(BITS)

#include "lib/integer/arithmetic.glsl"

// The remainder of truncated division, with the sign of the dividend; 0 for a divisor of 0.
T vx_fmod(T a, T b) {
    if (b == T(0)) return T(0);
    VX_UNSIGNED rest = vx_magnitude(a) % vx_magnitude(b);
    return T(vx_is_negative_integer(a) ? VX_UNSIGNED(0) - rest : rest);
}

// The quotient rounded towards zero; 0 for a divisor of 0.
T vx_truncated_divide(T a, T b) {
    if (b == T(0)) return T(0);
    VX_UNSIGNED quotient = vx_magnitude(a) / vx_magnitude(b);
    return T(vx_is_negative_integer(a) != vx_is_negative_integer(b) ? VX_UNSIGNED(0) - quotient : quotient);
}

#else

#ifdef DOUBLE
#include "lib/float64/arithmetic.glsl"
#include "lib/float64/rounding.glsl"
#include "lib/float64/exponential.glsl"
#else
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/rounding.glsl"
#include "lib/float32/exponential.glsl"
#endif

T vx_fmod(T a, T b) {
    return vx_copysign(vx_remainder(vx_absolute(a), vx_absolute(b)), a);
}

T vx_truncated_divide(T a, T b) {
    return vx_trunc(vx_divide(a, b));
}

T vx_sigmoid(T x) {
    precise T e = vx_exp(-vx_absolute(x));
    return vx_divide(x < T(0) ? e : T(1), T(1) + e);
}

// max(x, 0), NaN for NaN.
T vx_relu(T x) {
    return x <= T(0) ? T(0) : x;
}

#endif

#endif
