#ifndef LIB_TWO_TO_THE
#define LIB_TWO_TO_THE

// 2^n where that is a normal number.
REAL vx_two_to_the(int n) {
#ifdef DOUBLE
    return packDouble2x32(uvec2(0u, uint(n + 1023) << 20));
#else
    return uintBitsToFloat(uint(n + 127) << 23);
#endif
}

#endif
