// NaN and infinity from the bits: compilers may assume x == x, and built-in isnan is not required to work.
#ifndef LIB_FLOAT32_CLASSIFICATION
#define LIB_FLOAT32_CLASSIFICATION
#include "lib/float32/bits.glsl"

bool vx_isnan(float x) {
    return vx_is_nan(x);
}

bool vx_isinf(float x) {
    return vx_is_infinite(x);
}

bool vx_isfinite(float x) {
    return vx_magnitude_bits(x) < 0x7F800000u;
}

#endif
