#ifndef LIB_NORM
#define LIB_NORM

// A power of 2 that brings a magnitude x near 1 when it multiplies it: 2^-floor(log2 x), kept within the normal numbers.
#ifdef DOUBLE
T vx_inverse_scale(T x) {
    int exponent = int(unpackDouble2x32(x).y >> 20 & 0x7FFu);
    return packDouble2x32(uvec2(0u, uint(max(2046 - exponent, 1)) << 20));
}
#else
T vx_inverse_scale(T x) {
    int exponent = int(floatBitsToUint(x) >> 23 & 0xFFu);
    return uintBitsToFloat(uint(max(254 - exponent, 1)) << 23);
}
#endif

#endif
