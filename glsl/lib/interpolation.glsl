// Numbers between two others.
#ifndef LIB_INTERPOLATION
#define LIB_INTERPOLATION

#ifdef DOUBLE
#include "lib/float64/bits.glsl"
#else
#include "lib/float32/arithmetic.glsl"
#endif

// The number a fraction 0 <= c < 1 of the way from a to b, counted from the nearer one, so that it rounds well at both ends.
// Where the difference overflows, or one of the two is infinite, their weighted sum.
T vx_interpolate(T a, T b, T c) {
    if (c == T(0) || a == b) return a;
    precise T difference = b - a;
    precise T rest = T(1) - c;
    precise T result = c < T(0.5) ? a + difference * c : b - difference * rest;
    precise T weighted = a * rest + b * c;
    return vx_is_infinite(difference) ? weighted : result;
}

// (a + b) / 2 without overflow, and without halving subnormal numbers.
T vx_middle(T a, T b) {
    bool small = vx_absolute(a) < T(1) && vx_absolute(b) < T(1);
    precise T result = small ? (a + b) * T(0.5) : a * T(0.5) + b * T(0.5);
    return result;
}

#endif
