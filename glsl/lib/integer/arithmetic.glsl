#ifndef LIB_INTEGER_ARITHMETIC
#define LIB_INTEGER_ARITHMETIC

// Written once for all integer dtypes: T (int, uint, int64_t, uint64_t), BITS (8, 16, 32, 64), SIGNED (0, 1).
// Results wrap modulo 2^BITS; those of 8 and 16 bits do so when they are stored. GLSL leaves / and % undefined
// for negative operands, so both work on magnitudes.

#if BITS == 64
#define VX_UNSIGNED uint64_t
#else
#define VX_UNSIGNED uint
#endif

VX_UNSIGNED vx_magnitude(T x) {
#if SIGNED
    return x < T(0) ? VX_UNSIGNED(0) - VX_UNSIGNED(x) : VX_UNSIGNED(x);
#else
    return x;
#endif
}

bool vx_is_negative_integer(T x) {
#if SIGNED
    return x < T(0);
#else
    return false;
#endif
}

T vx_multiply(T a, T b) { return T(VX_UNSIGNED(a) * VX_UNSIGNED(b)); }
T vx_square(T x) { return vx_multiply(x, x); }
T vx_absolute(T x) { return T(vx_magnitude(x)); }
T vx_sign(T x) { return vx_is_negative_integer(x) ? T(0) - T(1) : T(x != T(0) ? 1 : 0); }
T vx_maximum(T a, T b) { return a < b ? b : a; }
T vx_minimum(T a, T b) { return b < a ? b : a; }
T vx_clip(T x, T low, T high) { return vx_minimum(vx_maximum(x, low), high); }

// Rounds towards minus infinity; x / 0 is 0, as in NumPy.
T vx_floor_divide(T a, T b) {
    if (b == T(0)) return T(0);
    VX_UNSIGNED divisor = vx_magnitude(b);
    VX_UNSIGNED quotient = vx_magnitude(a) / divisor;
    if (vx_is_negative_integer(a) == vx_is_negative_integer(b)) return T(quotient);
    bool exact = quotient * divisor == vx_magnitude(a);
    return T(VX_UNSIGNED(0) - quotient - VX_UNSIGNED(exact ? 0 : 1));
}

// Takes the sign of the divisor; x % 0 is 0, as in NumPy.
T vx_remainder(T a, T b) {
    if (b == T(0)) return T(0);
    VX_UNSIGNED divisor = vx_magnitude(b);
    VX_UNSIGNED rest = vx_magnitude(a) % divisor;
    if (rest != VX_UNSIGNED(0) && vx_is_negative_integer(a) != vx_is_negative_integer(b)) rest = divisor - rest;
    return T(vx_is_negative_integer(b) ? VX_UNSIGNED(0) - rest : rest);
}

// A shift by BITS or more, or by a negative number, shifts every bit out, as in NumPy. Where the count is the same for all
// elements, what is computed of it alone is computed once.
VX_UNSIGNED vx_kept_bits(T count) {
    return VX_UNSIGNED(count) < VX_UNSIGNED(BITS) ? ~VX_UNSIGNED(0) : VX_UNSIGNED(0);
}

T vx_left_shift(T x, T count) {
    return T(VX_UNSIGNED(x) << (uint(count) & uint(BITS - 1)) & vx_kept_bits(count));
}

T vx_right_shift(T x, T count) {
#if SIGNED
    return x >> (VX_UNSIGNED(count) < VX_UNSIGNED(BITS) ? uint(count) : uint(BITS - 1));
#else
    return x >> (uint(count) & uint(BITS - 1)) & vx_kept_bits(count);
#endif
}

#endif
