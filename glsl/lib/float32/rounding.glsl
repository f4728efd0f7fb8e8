// Rounding to integers from the bits: exact for every input, -0 and the sign of zero kept, NaN and infinity returned.
#ifndef LIB_FLOAT32_ROUNDING
#define LIB_FLOAT32_ROUNDING
#include "lib/float32/bits.glsl"

float vx_trunc(float x) {
    int exponent = int(vx_magnitude_bits(x) >> 23) - 127;
    if (exponent >= 23) {
        return x;
    }
    uint fraction = exponent < 0 ? 0x7FFFFFFFu : 0x007FFFFFu >> exponent;
    return uintBitsToFloat(floatBitsToUint(x) & ~fraction);
}

float vx_floor(float x) {
    precise float truncated = vx_trunc(x);
    bool below = vx_sign_bits(x) != 0u && floatBitsToUint(truncated) != floatBitsToUint(x);
    precise float lower = truncated - 1.0;
    return below ? lower : truncated;
}

float vx_ceil(float x) {
    return vx_flip_sign(vx_floor(vx_flip_sign(x, 0x80000000u)), 0x80000000u);
}

// Half to even: adding 2^23 leaves no bits for the fraction, and the addition rounds.
float vx_round(float x) {
    uint bits = vx_magnitude_bits(x);
    precise float shifted = uintBitsToFloat(bits) + 8388608.0;
    precise float rounded = shifted - 8388608.0;
    return bits < 0x4B000000u ? vx_with_sign(rounded, vx_sign_bits(x)) : x;
}

#endif
