// Floating-point numbers as unsigned integers T of 32 or 64 BITS in the same order, so that a search among them compares
// integers. `word` holds the bits of a number from the highest bit down, `infinity` those of infinity.
#ifndef LIB_ORDER
#define LIB_ORDER

#if BITS == 64
#define VX_SIGN_BIT packUint2x32(uvec2(0u, 0x80000000u))
#define VX_SIGN_OF(word) T(int64_t(word) >> 63)
#else
#define VX_SIGN_BIT 0x80000000u
#define VX_SIGN_OF(word) uint(int(word) >> 31)
#endif
#define VX_BELOW_SIGN (VX_SIGN_BIT - T(1))

// For the largest number: -infinity is 0, +0 is above -0, every NaN is above infinity.
T vx_max_key(T word, T infinity) {
    T ascending = word ^ (VX_SIGN_OF(word) | VX_SIGN_BIT);
    return ascending - (VX_BELOW_SIGN - infinity);
}

// For the smallest number: infinity is the largest integer, every NaN is below -infinity.
T vx_min_key(T word, T infinity) {
    T ascending = word ^ (VX_SIGN_OF(word) | VX_SIGN_BIT);
    return ascending + (VX_BELOW_SIGN - infinity);
}

// The bits of the number that has a key, of one NaN for all.
T vx_key_value(T ascending, T infinity) {
    T word = ascending ^ (~VX_SIGN_OF(ascending) | VX_SIGN_BIT);
    return (word & VX_BELOW_SIGN) > infinity ? infinity | (VX_SIGN_BIT - infinity) >> 1 : word;
}

T vx_max_value(T key, T infinity) { return vx_key_value(key + (VX_BELOW_SIGN - infinity), infinity); }
T vx_min_value(T key, T infinity) { return vx_key_value(key - (VX_BELOW_SIGN - infinity), infinity); }

// For the place of the first largest number: -0 equals +0, and every NaN the other.
T vx_argmax_key(T word, T infinity) {
    T negative = VX_SIGN_OF(word);
    T ascending = (word & VX_BELOW_SIGN ^ negative) - negative;
    return min(ascending + infinity, T(2) * infinity + T(1));
}

T vx_argmin_key(T word, T infinity) { return ~vx_argmax_key(word ^ VX_SIGN_BIT, infinity); }

#endif
