#ifndef LIB_FLOAT64_CLASSIFICATION
#define LIB_FLOAT64_CLASSIFICATION

#include "lib/float64/bits.glsl" // vx_isnan, vx_isinf, vx_isfinite

#endif
