// Comparisons, as of integers where the device's own may take subnormal numbers for zero.
#ifndef LIB_FLOAT32_COMPARISON
#define LIB_FLOAT32_COMPARISON
#include "lib/float32/bits.glsl"

bool vx_either_is_nan(float a, float b) { return vx_is_nan(a) || vx_is_nan(b); }

// Numbers that the device calls equal may be different ones which it takes for zeros. Without a branch, which would part the loads
// of neighbouring elements; of the same number for all elements the order is computed once.
#define VX_BY_DEVICE_OR_BITS(COMPARE, SIGN) \
    bool alike = a == b, found = COMPARE; \
    if (VX_KEEPS_NAN && VX_KEEPS_SUBNORMALS) return found; \
    bool by_bits = vx_ordered_bits(a) SIGN vx_ordered_bits(b), among_alike = alike && by_bits; \
    return VX_KEEPS_NAN ? among_alike || found && !alike : by_bits && !vx_either_is_nan(a, b);

bool vx_equal(float a, float b) { VX_BY_DEVICE_OR_BITS(a == b, ==) }
bool vx_less(float a, float b) { VX_BY_DEVICE_OR_BITS(a < b, <) }
bool vx_less_equal(float a, float b) { VX_BY_DEVICE_OR_BITS(a <= b, <=) }

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
