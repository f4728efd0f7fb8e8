// Comparisons, as of integers where the device's own may take subnormal numbers for zero.
#ifndef LIB_FLOAT32_COMPARISON
#define LIB_FLOAT32_COMPARISON
#include "lib/float32/bits.glsl"

bool vx_either_is_nan(float a, float b) { return vx_is_nan(a) || vx_is_nan(b); }

bool vx_equal(float a, float b) {
    if (VX_KEEPS_NAN && !vx_may_be_taken_for_zeros(a, b)) return a == b;
    return !vx_is_nan(a) && vx_ordered_bits(a) == vx_ordered_bits(b);
}
bool vx_less(float a, float b) {
    if (VX_KEEPS_NAN && !vx_may_be_taken_for_zeros(a, b)) return a < b;
    return !vx_either_is_nan(a, b) && vx_ordered_bits(a) < vx_ordered_bits(b);
}
bool vx_less_equal(float a, float b) {
    if (VX_KEEPS_NAN && !vx_may_be_taken_for_zeros(a, b)) return a <= b;
    return !vx_either_is_nan(a, b) && vx_ordered_bits(a) <= vx_ordered_bits(b);
}

// Complex numbers.
bool vx_equal(vec2 a, vec2 b) { return vx_equal(a.x, b.x) && vx_equal(a.y, b.y); }
// As NumPy orders them: by the real part, then by the imaginary one.
bool vx_less(vec2 a, vec2 b) {
    return vx_less(a.x, b.x) && !vx_either_is_nan(a.y, b.y) || vx_equal(a.x, b.x) && vx_less(a.y, b.y);
}
bool vx_less_equal(vec2 a, vec2 b) {
    return vx_less(a.x, b.x) && !vx_either_is_nan(a.y, b.y) || vx_equal(a.x, b.x) && vx_less_equal(a.y, b.y);
}

#endif
