#ifndef LIB_SORT_KEY
#define LIB_SORT_KEY
#include "lib/element.glsl"

// The key of an element: unsigned words that are ordered as the elements are. NaN is all ones, and comes last in both
// directions (or 0, and first); -0 has the key of +0. A complex number has the key of its real part before that of its imaginary part,
// and before both the class of numpy.sort: no NaN, imaginary part NaN, real part NaN, both.

layout(constant_id = 1) const uint DIGIT_BITS = 8u;
layout(constant_id = 2) const uint FORM = 0u;        // of an element, or of a complex one's parts
layout(constant_id = 3) const uint SIGN = 0u;        // the top bit of a part (of its high word)
layout(constant_id = 4) const uint INFINITE = 0u;    // FLOATING: the magnitude of infinity (its high word)
layout(constant_id = 5) const bool COMPLEX = false;
layout(constant_id = 6) const uint DIRECTION = 0u;   // ascending, descending, or descending with NaN first

#define UNSIGNED 0u
#define SIGNED 1u
#define FLOATING 2u

#define DESCENDING (DIRECTION != 0u)
#define NAN_FIRST (DIRECTION == 2u)

const uint BINS = 1u << DIGIT_BITS;

// The key of a value of up to 32 bits.
uint vx_key(uint word) {
    uint mask = SIGN | SIGN - 1u;
    uint key = word & mask;
    if (FORM == SIGNED) key ^= SIGN;
    if (FORM == FLOATING) {
        uint magnitude = word & SIGN - 1u;
        if (magnitude > INFINITE) return NAN_FIRST ? 0u : mask;
        key = magnitude == 0u || key == magnitude ? magnitude | SIGN : key ^ mask;
    }
    return DESCENDING ? key ^ mask : key;
}

// The key of a value of 64 bits, low word first.
uvec2 vx_key(uvec2 words) {
    uvec2 key = words;
    if (FORM == SIGNED) key.y ^= 0x80000000u;
    if (FORM == FLOATING) {
        uint magnitude = words.y & 0x7FFFFFFFu;
        if (magnitude > INFINITE || magnitude == INFINITE && words.x != 0u) return uvec2(NAN_FIRST ? 0u : 0xFFFFFFFFu);
        bool negative = words.y != magnitude && (magnitude | words.x) != 0u;
        key = negative ? ~words : uvec2(words.x, magnitude | 0x80000000u);
    }
    return DESCENDING ? ~key : key;
}

// The digit that begins at bit `shift` of the key. The class of a complex number follows the bits of its parts.
uint vx_digit(ELEMENT element, uint shift) {
#if ELEMENT_BYTES <= 4
    return vx_key(element) >> shift & BINS - 1u;
#elif ELEMENT_BYTES == 8
    uvec2 key = COMPLEX ? uvec2(vx_key(element.y), vx_key(element.x)) : vx_key(element);
    if (shift == 64u) return uint(key.y == 0xFFFFFFFFu) << 1 | uint(key.x == 0xFFFFFFFFu);
    return (shift < 32u ? key.x : key.y) >> (shift & 31u) & BINS - 1u;
#else
    uvec2 real = vx_key(element.xy);
    uvec2 imaginary = vx_key(element.zw);
    if (shift == 128u) return uint(real == uvec2(0xFFFFFFFFu)) << 1 | uint(imaginary == uvec2(0xFFFFFFFFu));
    uvec2 key = shift < 64u ? imaginary : real;
    return ((shift & 32u) == 0u ? key.x : key.y) >> (shift & 31u) & BINS - 1u;
#endif
}

#endif
