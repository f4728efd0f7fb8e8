#ifndef LIB_INTEGER_POWER
#define LIB_INTEGER_POWER

#include "lib/integer/arithmetic.glsl"

// Wraps modulo 2^BITS. NumPy raises for a negative exponent; here that is the exact value rounded towards zero
// (1 for 1, +-1 for -1, else 0), and 0 for 0, which has no value.
T vx_pow(T base, T exponent) {
    bool odd = (VX_UNSIGNED(exponent) & VX_UNSIGNED(1)) != VX_UNSIGNED(0);
    if (vx_is_negative_integer(exponent)) {
        if (vx_magnitude(base) != VX_UNSIGNED(1)) return T(0);
        return odd ? base : T(1);
    }
    VX_UNSIGNED result = VX_UNSIGNED(1);
    VX_UNSIGNED square = VX_UNSIGNED(base);
    for (VX_UNSIGNED rest = VX_UNSIGNED(exponent); rest != VX_UNSIGNED(0); rest >>= 1) {
        if ((rest & VX_UNSIGNED(1)) != VX_UNSIGNED(0)) result *= square;
        square *= square;
    }
    return T(result);
}

#endif
