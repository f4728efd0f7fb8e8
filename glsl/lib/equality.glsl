// Whether two numbers are equal, without a float comparison, which may take subnormal numbers for zero.
#ifndef LIB_EQUALITY
#define LIB_EQUALITY
#include "lib/float32/bits.glsl"

bool vx_equals(float a, float b) { return !vx_is_nan(a) && vx_ordered_bits(a) == vx_ordered_bits(b); }

bool vx_equals(vec2 a, vec2 b) { return vx_equals(a.x, b.x) && vx_equals(a.y, b.y); }

#endif
