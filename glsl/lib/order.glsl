// Floating-point numbers of up to 32 bits as unsigned integers in the same order, so that a search among them compares
// integers. `word` holds the bits of a number from the highest bit down, `infinity` those of infinity.
#ifndef LIB_ORDER
#define LIB_ORDER

// For the largest number: -infinity is 0, +0 is above -0, every NaN is above infinity.
uint vx_max_key(uint word, uint infinity) {
    uint ascending = word ^ (uint(int(word) >> 31) | 0x80000000u);
    return ascending - (0x7FFFFFFFu - infinity);
}

// For the smallest number: infinity is the largest integer, every NaN is below -infinity.
uint vx_min_key(uint word, uint infinity) {
    uint ascending = word ^ (uint(int(word) >> 31) | 0x80000000u);
    return ascending + (0x7FFFFFFFu - infinity);
}

// The bits of the number that has a key, of one NaN for all.
uint vx_key_value(uint ascending, uint infinity) {
    uint word = ascending ^ (~uint(int(ascending) >> 31) | 0x80000000u);
    return (word & 0x7FFFFFFFu) > infinity ? infinity | (0x80000000u - infinity) >> 1 : word;
}

uint vx_max_value(uint key, uint infinity) { return vx_key_value(key + (0x7FFFFFFFu - infinity), infinity); }
uint vx_min_value(uint key, uint infinity) { return vx_key_value(key - (0x7FFFFFFFu - infinity), infinity); }

// For the place of the first largest number: -0 equals +0, and every NaN the other.
uint vx_argmax_key(uint word, uint infinity) {
    uint negative = uint(int(word) >> 31);
    uint ascending = (word & 0x7FFFFFFFu ^ negative) - negative;
    return min(ascending + infinity, 2u * infinity + 1u);
}

uint vx_argmin_key(uint word, uint infinity) { return ~vx_argmax_key(word ^ 0x80000000u, infinity); }

#endif
