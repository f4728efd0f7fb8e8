// Powers and roots of float32.
#ifndef LIB_FLOAT32_POWER
#define LIB_FLOAT32_POWER
#include "lib/float32/bits.glsl"

// Correctly rounded: an integer root of 25 bits from the hardware's inverse square root, corrected by the exact remainder.
float vx_sqrt(float x) {
    uint bits = floatBitsToUint(x);
    if (bits - 1u >= 0x7F7FFFFFu) {
        bool kept = vx_is_zero(x) || bits == 0x7F800000u;
        return kept ? x : VX_FLOAT32_NAN;
    }
    ivec2 parts = vx_decompose(bits);
    int odd = (parts.y + 1) & 1;
    int significand = parts.x << odd;
    precise float square = float(significand) * 33554432.0;
    precise float inverse = inversesqrt(square);
    int root = int(square * inverse);
    int remainder = (significand << 25) - root * root;
    int correction = int(float(remainder) * (0.5 * inverse));
    remainder -= correction * (2 * root + correction);
    root += correction;
    if (remainder < 0) {
        root -= 1;
        remainder += 2 * root + 1;
    }
    if (remainder > 2 * root) {
        remainder -= 2 * root + 1;
        root += 1;
    }
    uint rounded = vx_shift_right_rounded(uint(root << 1) | (remainder != 0 ? 1u : 0u), 2);
    return uintBitsToFloat((uint((parts.y - odd + 127) / 2 - 1) << 23) + rounded);
}

#endif
