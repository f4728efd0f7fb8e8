#ifndef LIB_INTEGER_MATHEMATICS
#define LIB_INTEGER_MATHEMATICS

#include "lib/pointwise.glsl"

T vx_fmax(T a, T b) { return vx_maximum(a, b); }
T vx_fmin(T a, T b) { return vx_minimum(a, b); }

// The number of bits that are 1 in the magnitude.
uint vx_bit_count(T x) {
    VX_UNSIGNED magnitude = vx_magnitude(x);
#if BITS == 64
    return uint(bitCount(uint(magnitude)) + bitCount(uint(magnitude >> 32)));
#else
    return uint(bitCount(magnitude & uint(0xFFFFFFFFu >> (32 - BITS))));
#endif
}

#endif
