#ifndef LIB_FLOAT64_CLASSIFICATION
#define LIB_FLOAT64_CLASSIFICATION

#include "lib/float64/bits.glsl"

bool vx_isnan(double x) { return vx_is_nan(x); }
bool vx_isinf(double x) { return vx_is_infinite(x); }
bool vx_isfinite(double x) { return vx_is_finite(x); }

#endif
