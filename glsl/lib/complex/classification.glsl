#ifndef LIB_COMPLEX_CLASSIFICATION
#define LIB_COMPLEX_CLASSIFICATION

#include "lib/complex/pairs.glsl"

bool vx_isnan(COMPLEX z) { return vx_either_nan(z); }
bool vx_isinf(COMPLEX z) { return vx_either_infinite(z); }
bool vx_isfinite(COMPLEX z) { return vx_isfinite(z.x) && vx_isfinite(z.y); }

#endif
