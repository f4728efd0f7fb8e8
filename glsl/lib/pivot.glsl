#ifndef LIB_PIVOT
#define LIB_PIVOT

// How large a candidate for a pivot is, as a KEY. Sizes are compared as integers, for float comparisons may take subnormal numbers
// for zero; NaN is the largest.
#ifdef DOUBLE
#define KEY uvec2  // the upper word is the second
#define NO_KEY uvec2(0u)
KEY key_of(T value) { return unpackDouble2x32(vx_size(value)); }
bool vx_is_larger(KEY a, KEY b) { return a.y > b.y || a.y == b.y && a.x > b.x; }
#else
#define KEY uint
#define NO_KEY 0u
KEY key_of(T value) { return floatBitsToUint(vx_size(value)); }
bool vx_is_larger(KEY a, KEY b) { return a > b; }
#endif

#define NOWHERE 0x7FFFFFFF  // the row of no candidate

// The larger of two candidates, of equal ones that in the upper row. No candidate is NO_KEY in row NOWHERE.
void vx_take_larger(inout KEY key, inout int row, KEY other_key, int other_row) {
    if (vx_is_larger(other_key, key) || other_key == key && other_row < row) {
        key = other_key;
        row = other_row;
    }
}

#endif
