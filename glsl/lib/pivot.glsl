#ifndef LIB_PIVOT
#define LIB_PIVOT

// How large a candidate for a pivot is, as a KEY. Sizes are compared as integers, for float comparisons may take subnormal numbers for
// zero; NaN is the largest.
#ifdef DOUBLE
#define KEY double
KEY key_of(T value) {
    double size = vx_size(value);
    return vx_is_nan(size) ? VX_INFINITY : size;
}
#else
#define KEY uint
KEY key_of(T value) { return floatBitsToUint(vx_size(value)); }
#endif

#define NOWHERE 0x7FFFFFFF  // the row of no candidate

// The larger of two candidates, of equal ones that in the upper row. No candidate has the key 0.
void vx_take_larger(inout KEY key, inout int row, KEY other_key, int other_row) {
    if (other_key > key || other_key == key && other_row < row) {
        key = other_key;
        row = other_row;
    }
}

#endif
